//! Reads before writes, each in order of arrival (model 2.1.9 RP).

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::{oldest, widen::widen};

/// Reads first.
#[derive(Debug)]
pub struct ReadFirst;

impl Pick for ReadFirst {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: true, ..PickDeclares::ASK }
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let mut lead = oldest(board, unit, FlashOp::Read);
        if lead.is_none() && scope == Scope::Any {
            lead = oldest(board, unit, FlashOp::Program);
        }
        if lead.is_some() {
            widen(board, lead, group);
        }
    }
}
