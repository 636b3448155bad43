//! What looks on while a run is made: the auditor, and the writers of request and transaction rows.

use std::fmt::Write as _;

use flashlane_core::decide::Scheduler;
use flashlane_core::{Completion, PlaneId, Ppa};
use flashlane_ssd::{Config, Device};

use super::RunError;
use crate::audit::{Auditor, Policy, Start, Verdict};
use crate::results::{RequestRow, RowWriter, TransactionLog, TransactionRow};

/// Violations an audit spells out.
const KEPT: usize = 100;

/// Onlookers of one run.
#[derive(Default)]
pub struct Onlookers {
    /// Audits the run.
    pub audit: bool,
    /// Writes a row a request.
    pub requests: Option<RowWriter<RequestRow>>,
    /// Writes a row a transaction.
    pub transactions: Option<RowWriter<TransactionRow>>,
}

/// Onlookers at work.
pub(super) struct Watch {
    auditor: Option<Auditor>,
    requests: Option<RowWriter<RequestRow>>,
    transactions: Option<(TransactionLog, RowWriter<TransactionRow>)>,
}

impl Watch {
    /// Sets the onlookers on `device`; `policy` is what its scheduler says it does.
    pub(super) fn new(onlookers: Onlookers, config: &Config, policy: Policy, device: &mut Device) -> Watch {
        if onlookers.audit || onlookers.transactions.is_some() {
            device.report_events();
        }
        let auditor = onlookers.audit.then(|| {
            let owner = |plane: PlaneId, ppa: Ppa| device.owner_of(plane, ppa);
            let written = |plane: PlaneId, block: u32| device.written_in(plane, block);
            Auditor::new(config, policy, Start::Known { owner: &owner, written: &written }, KEPT)
        });
        let transactions = onlookers.transactions.map(|rows| (TransactionLog::new(config.geometry), rows));
        Watch { auditor, requests: onlookers.requests, transactions }
    }

    /// Whether anybody looks at events.
    pub(super) fn wants_events(&self) -> bool {
        self.auditor.is_some() || self.transactions.is_some()
    }

    /// Looks at the events since the last look.
    pub(super) fn events(&mut self, device: &mut Device) -> Result<(), RunError> {
        for stamped in device.events().drain(..) {
            if let Some(auditor) = &mut self.auditor {
                auditor.observe(&stamped);
            }
            if let Some((log, rows)) = &mut self.transactions
                && let Some(row) = log.observe(&stamped)
            {
                rows.push(&row)?;
            }
        }
        Ok(())
    }

    /// Looks at a completion.
    #[inline]
    pub(super) fn completion(&mut self, completion: &Completion) -> Result<(), RunError> {
        if let Some(rows) = &mut self.requests {
            rows.push(&RequestRow(*completion))?;
        }
        Ok(())
    }

    /// The run is over: files are finished, the verdict is spoken.
    pub(super) fn finish(self) -> Result<Option<Verdict>, RunError> {
        if let Some(rows) = self.requests {
            rows.finish()?;
        }
        if let Some((_, rows)) = self.transactions {
            rows.finish()?;
        }
        Ok(self.auditor.map(Auditor::finish))
    }
}

/// What a scheduler says it does, as far as an auditor must know.
pub(super) fn policy(scheduler: &Scheduler) -> Policy {
    Policy { moments: scheduler.preempt.moments(), style: scheduler.collect.style() }
}

/// An audit that found violations, as an error.
pub(super) fn complain(run: &str, verdict: &Verdict) -> RunError {
    let mut text = String::new();
    let _ = write!(text, "audit of {run}: {verdict}");
    RunError::Fault(text)
}
