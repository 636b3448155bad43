//! Write hit manager: a waiting write is dropped when a younger write of its page arrives (SOS, model 4.1.2 and model 4.3).

use alloc::boxed::Box;

use flashlane_core::decide::{Cancel, CancelDeclares};
use flashlane_core::{Board, TxnId};

use crate::entries::{AnswerEntry, Build};
use crate::params::{Param, Values};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "overwrite",
    summary: "a waiting write is dropped when a younger write of its page arrives",
    source: "SOS; model 4.1.2 WHM",
    params: PARAMS,
    build: Build::Cancel(&|v| Box::new(Overwrite::of(v))),
};

/// Whether the younger write takes the dropped one's place.
pub(crate) const INHERIT: Param = Param::switch(
    "cancel_inherit_place",
    0,
    "whether the younger write takes the place of the dropped one, not the tail (D-SOS-08); with order = \"tail\" only",
);

/// Parameters of [`Overwrite`].
pub(crate) const PARAMS: &[Param] = &[
    Param::switch(
        "cancel_ends_at_once",
        0,
        "whether a dropped write is done when it is dropped, not with the younger write (D-SOS-06)",
    ),
    INHERIT,
];

/// A younger write of the same page takes its place.
#[derive(Clone, Copy, Debug)]
pub struct Overwrite {
    ends_at_once: bool,
    inherits_place: bool,
}

impl Overwrite {
    /// The answer with a row's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Overwrite {
        Overwrite {
            ends_at_once: values.get("cancel_ends_at_once") == 1,
            inherits_place: values.get(INHERIT.name) == 1,
        }
    }
}

impl Cancel for Overwrite {
    fn declares(&self) -> CancelDeclares {
        CancelDeclares { ends_at_once: self.ends_at_once, inherits_place: self.inherits_place, ..CancelDeclares::ASK }
    }

    fn drops(&mut self, _: &Board, _: TxnId) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_younger_write_takes_the_place_of_an_older_one() {
        let mut board = crate::pick::testing::board(1, 1);
        let old = crate::pick::testing::program(&mut board, 0, 1);
        for (ends_at_once, inherits_place) in [(0, 0), (1, 0), (0, 1)] {
            let set = &[("cancel_ends_at_once", ends_at_once), ("cancel_inherit_place", inherits_place)];
            let mut answer = Overwrite::of(&Values { params: PARAMS, set, known: None });
            assert!(answer.drops(&board, old), "a write is dropped for a younger one of its page: {set:?}");
            let declared = answer.declares();
            assert!(!declared.keeps_all, "it does not say that all are kept");
            assert_eq!(declared.ends_at_once, ends_at_once == 1, "a dropped write is done at once if set: {set:?}");
            assert_eq!(declared.inherits_place, inherits_place == 1, "the younger takes its place if set: {set:?}");
        }
    }
}
