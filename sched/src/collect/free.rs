//! Garbage collection at no cost: the control that shows what it costs otherwise (FLN-E7 "no GC").

use flashlane_core::decide::{Collect, GcMode, GcPrecedence};
use flashlane_core::{Board, UnitId};

/// Pages move and blocks are erased in no time.
#[derive(Debug)]
pub struct Free;

impl Collect for Free {
    fn precedence(&mut self, _: &Board, _: UnitId) -> GcPrecedence {
        GcPrecedence::User
    }

    fn mode(&self) -> GcMode {
        GcMode::Free
    }
}
