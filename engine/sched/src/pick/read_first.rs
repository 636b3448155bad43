//! Reads before writes, each in order of arrival (model 2.1.9 RP).

use alloc::boxed::Box;

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::{oldest, widen::widen};
use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "read-first",
    summary: "reads before writes, each in order",
    source: "model 2.1.9 RP",
    params: &[],
    build: Build::Pick(&|_| Box::new(ReadFirst)),
};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::begins;
    use Scope::{Any, Reads};

    #[test]
    fn reads_go_before_older_writes() {
        begins(
            ReadFirst,
            &[
                ("w1 r9", Any, "r9", "a read goes before an older write"),
                ("r1 r2", Any, "r1", "of reads the oldest goes"),
                ("w1 w2", Any, "w1", "of writes the oldest goes"),
                ("w1! w2", Any, "w2", "a write behind an older one of its page is passed over"),
                ("w1 r2 r3/1", Any, "r2 r3/1", "a read of another plane joins"),
                ("w1", Reads, "", "in a pause only reads go"),
                ("", Any, "", "of nothing nothing goes"),
            ],
        );
    }
}
