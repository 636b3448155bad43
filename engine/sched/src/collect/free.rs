//! Garbage collection at no cost: the control that shows what it costs otherwise (FLN-E7 "no GC").

use alloc::boxed::Box;

use flashlane_core::decide::{Collect, CollectDeclares, GcMode, GcPrecedence};
use flashlane_core::{Board, UnitId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "free",
    summary: "garbage collection takes no time: a control",
    source: "FLN-E7",
    params: &[],
    build: Build::Collect(&|_| Box::new(Free)),
};

/// Pages move and blocks are erased in no time.
#[derive(Debug)]
pub struct Free;

impl Collect for Free {
    fn declares(&self) -> CollectDeclares {
        CollectDeclares { mode: GcMode::Free, ..CollectDeclares::ASK }
    }

    fn precedence(&mut self, _: &Board, _: UnitId) -> GcPrecedence {
        GcPrecedence::User
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::goes_first;
    use GcPrecedence::User;

    #[test]
    fn collection_takes_no_time() {
        assert_eq!(Free.declares().mode, GcMode::Free, "victims are emptied at once");
        goes_first(Free, &[(9, User, "users go first"), (0, User, "users go first without free blocks too")]);
    }
}
