//! Pairing the requests of runs that are made at the same time.
//!
//! Promises the same pairs whichever run ends first. Holds the response times of the run that the others are compared
//! with, and those of the others only until that run has ended.

use std::sync::OnceLock;

use super::simulation::Outcome;
use crate::error::RunError;
use flashlane_report::metrics::{Pairs, ResponseTimes};

/// The pairs of a comparison in progress.
#[derive(Default)]
pub(crate) struct Pairing {
    base: OnceLock<ResponseTimes>,
}

impl Pairing {
    /// Processes the outcome of a run. Pairs it if the base run has ended too, and then drops its response times.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(crate) fn add(&self, is_base: bool, outcome: &mut Outcome) -> Result<(), RunError> {
        if is_base {
            if let Some(responses) = outcome.responses.take() {
                // Cannot fail: only one run is the base.
                let _ = self.base.set(responses);
            }
            return Ok(());
        }
        self.pair(outcome)
    }

    fn pair(&self, outcome: &mut Outcome) -> Result<(), RunError> {
        if let Some(base) = self.base.get()
            && let Some(own) = outcome.responses.take()
        {
            outcome.pairs = Some(Pairs::of(base, &own)?);
        }
        Ok(())
    }

    /// Pairs the remaining runs once all have ended; `None` for runs without pairs.
    ///
    /// # Errors
    /// As [`Pairing::add`].
    pub(crate) fn finish(self, outcomes: &mut [Outcome]) -> Result<Vec<Option<Pairs>>, RunError> {
        outcomes.iter_mut().try_for_each(|outcome| self.pair(outcome))?;
        Ok(outcomes.iter_mut().map(|outcome| outcome.pairs.take()).collect())
    }
}
