//! Garbage collection goes first: its transactions beat user transactions on the unit until the victim is erased
//! (model 2.1.9 "non-preemptive"). Atomic garbage collection also may not be paused (D-SLK-14).

use alloc::boxed::Box;

use flashlane_core::decide::{Collect, CollectDeclares, GcMode, GcPrecedence};
use flashlane_core::{Board, UnitId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ATOMIC: AnswerEntry = AnswerEntry {
    name: "atomic",
    summary: "a victim is emptied and erased without a break",
    source: "D-SLK-14",
    params: &[],
    build: Build::Collect(&|_| Box::new(First::atomic())),
};

pub(crate) const NON_PREEMPTIVE: AnswerEntry = AnswerEntry {
    name: "non-preemptive",
    summary: "garbage collection beats user transactions until the victim is erased; reads may suspend its programs",
    source: "model 2.1.9",
    params: &[],
    build: Build::Collect(&|_| Box::new(First::non_preemptive())),
};

/// Garbage collection before everything.
#[derive(Debug)]
pub struct First {
    pausable: bool,
}

impl First {
    /// A victim is emptied and erased without a break.
    pub const fn atomic() -> First {
        First { pausable: false }
    }

    /// The scheduler may suspend its programs and its erase for a read.
    pub const fn non_preemptive() -> First {
        First { pausable: true }
    }
}

impl Collect for First {
    fn declares(&self) -> CollectDeclares {
        CollectDeclares {
            goes_first: true,
            mode: GcMode::Transactions { pausable: self.pausable },
            ..CollectDeclares::ASK
        }
    }

    fn precedence(&mut self, _: &Board, _: UnitId) -> GcPrecedence {
        GcPrecedence::Gc
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::goes_first;
    use GcPrecedence::Gc;

    #[test]
    fn collection_goes_before_everything() {
        let always = [(9, Gc, "it goes first with blocks to spare"), (0, Gc, "it goes first without free blocks")];
        goes_first(First::atomic(), &always);
        goes_first(First::non_preemptive(), &always);
        for (answer, pausable, rule) in [
            (First::atomic(), false, "nothing pauses an atomic collection"),
            (First::non_preemptive(), true, "reads may pause a non-preemptive collection's programs"),
        ] {
            assert!(answer.declares().goes_first, "it says in advance that it goes first");
            assert_eq!(answer.declares().mode, GcMode::Transactions { pausable }, "{rule}");
        }
    }
}
