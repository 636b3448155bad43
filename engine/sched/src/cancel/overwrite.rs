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
pub(crate) const INHERIT: Param = Param {
    name: "cancel_inherit_place",
    unit: "0 or 1",
    default: 0,
    min: 0,
    max: 1,
    help: "whether the younger write takes the place of the dropped one, not the tail (D-SOS-08); with order = \"tail\" only",
};

/// Parameters of [`Overwrite`].
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "cancel_ends_at_once",
        unit: "0 or 1",
        default: 0,
        min: 0,
        max: 1,
        help: "whether a dropped write is done when it is dropped, not with the younger write (D-SOS-06)",
    },
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
