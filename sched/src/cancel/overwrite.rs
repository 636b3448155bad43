//! Write hit manager: a waiting write is dropped when a younger write of its page arrives (SOS, model 4.1.2 and model 4.3).

use flashlane_core::decide::Cancel;
use flashlane_core::{Board, TxnId};

/// A younger write of the same page takes its place.
#[derive(Debug)]
pub struct Overwrite;

impl Cancel for Overwrite {
    fn drops(&mut self, _: &Board, _: TxnId) -> bool {
        true
    }
}
