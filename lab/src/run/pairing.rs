//! Pairing the requests of runs that are made at the same time.
//!
//! Promises the same pairs whatever run ends first. Keeps eight bytes a request of the run the others are compared
//! with, and of others only until that one has ended.

use std::sync::OnceLock;

use super::drive::Outcome;
use crate::metrics::{Pairs, Responses};

/// Pairs in the making.
#[derive(Default)]
pub(super) struct Pairing {
    base: OnceLock<Responses>,
}

impl Pairing {
    /// A run has ended. If the one to compare with has too, its pairs are made and its response times dropped.
    pub(super) fn hear(&self, is_base: bool, outcome: &mut Outcome) {
        if is_base {
            if let Some(responses) = outcome.responses.take() {
                // Only one run is the base.
                let _ = self.base.set(responses);
            }
        } else {
            self.pair(outcome);
        }
    }

    fn pair(&self, outcome: &mut Outcome) {
        if let Some(base) = self.base.get()
            && let Some(own) = outcome.responses.take()
        {
            outcome.pairs = Some(Pairs::of(base, &own));
        }
    }

    /// All have ended: the pairs of each, `None` where there are none.
    pub(super) fn finish(self, outcomes: &mut [Outcome]) -> Vec<Option<Pairs>> {
        outcomes.iter_mut().for_each(|outcome| self.pair(outcome));
        outcomes.iter_mut().map(|outcome| outcome.pairs.take()).collect()
    }
}
