//! Every write is programmed.

use alloc::boxed::Box;

use flashlane_core::decide::{Cancel, CancelDeclares};
use flashlane_core::{Board, TxnId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "keep",
    summary: "every write is programmed",
    source: "",
    params: &[],
    build: Build::Cancel(&|_| Box::new(Keep)),
};

/// No write is dropped.
#[derive(Debug)]
pub struct Keep;

impl Cancel for Keep {
    fn declares(&self) -> CancelDeclares {
        CancelDeclares { keeps_all: true, ..CancelDeclares::ASK }
    }

    fn drops(&mut self, _: &Board, _: TxnId) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_write_is_programmed() {
        let mut board = crate::pick::testing::board(1, 1);
        let old = crate::pick::testing::program(&mut board, 0, 1);
        assert!(!Keep.drops(&board, old), "no write is dropped for a younger one of its page");
        assert!(Keep.declares().keeps_all, "it says in advance that none is");
    }
}
