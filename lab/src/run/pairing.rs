//! Pairing the requests of runs that are made at the same time.
//!
//! Promises the same pairs whichever run ends first. Holds eight bytes a request for the run that the others are
//! compared with, and for the others only until that run has ended.

use std::sync::OnceLock;

use super::simulation::Outcome;
use crate::metrics::{Pairs, ResponseTimes};

/// The pairs of a comparison in progress.
#[derive(Default)]
pub(super) struct Pairing {
    base: OnceLock<ResponseTimes>,
}

impl Pairing {
    /// Processes the outcome of a run. Pairs it if the base run has ended too, and then drops its response times.
    pub(super) fn add(&self, is_base: bool, outcome: &mut Outcome) {
        if is_base {
            if let Some(responses) = outcome.responses.take() {
                // Cannot fail: only one run is the base.
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

    /// Pairs the remaining runs once all have ended; `None` for runs without pairs.
    pub(super) fn finish(self, outcomes: &mut [Outcome]) -> Vec<Option<Pairs>> {
        outcomes.iter_mut().for_each(|outcome| self.pair(outcome));
        outcomes.iter_mut().map(|outcome| outcome.pairs.take()).collect()
    }
}
