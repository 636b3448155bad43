//! What looks on while a run is made: the auditor, and the writers of request and transaction rows.

use std::fmt::Write as _;

use flashlane_core::decide::Scheduler;
use flashlane_core::event::Stamped;
use flashlane_core::{Completion, PlaneId, Ppa};
use flashlane_ssd::{Config, Device};
use rustc_hash::FxHashMap;

use super::RunError;
use crate::audit::{Auditor, Policy, Start, Verdict};
use crate::metrics::{Responses, Slack};
use crate::results::{RequestRow, RowWriter, TransactionLog, TransactionRow};

/// Violations an audit spells out.
const KEPT: usize = 100;

/// Onlookers of one run.
#[derive(Default)]
pub struct Onlookers<'a> {
    /// Audits the run.
    pub audit: bool,
    /// Writes a row a request.
    pub requests: Option<RowWriter<RequestRow>>,
    /// Writes a row a transaction.
    pub transactions: Option<RowWriter<TransactionRow>>,
    /// Keeps the response time of every measured request.
    pub responses: bool,
    /// Measures the actual slack of every transaction of a measured request.
    pub slack: bool,
    /// Is shown every event of the device, in order.
    pub events: Option<&'a mut dyn FnMut(&Stamped)>,
}

/// What onlookers saw of a whole run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The auditor's word.
    pub(super) verdict: Option<Verdict>,
    /// Of every measured request.
    pub(super) responses: Option<Responses>,
    /// Of every transaction of one.
    pub(super) slack: Option<Slack>,
}

/// When the transactions of the requests under way ended.
#[derive(Default)]
struct Ends {
    slack: Slack,
    open: FxHashMap<u64, Vec<u64>>,
    spare: Vec<Vec<u64>>,
}

/// Onlookers at work.
pub(super) struct Watch<'a> {
    events: Option<&'a mut dyn FnMut(&Stamped)>,
    auditor: Option<Auditor>,
    requests: Option<RowWriter<RequestRow>>,
    /// Follows transactions for the two below.
    log: Option<TransactionLog>,
    transactions: Option<RowWriter<TransactionRow>>,
    ends: Option<Ends>,
    responses: Option<Responses>,
}

impl<'a> Watch<'a> {
    /// Sets the onlookers on `device`; `policy` is what its scheduler says it does.
    pub(super) fn new(onlookers: Onlookers<'a>, config: &Config, policy: Policy, device: &mut Device) -> Watch<'a> {
        let follows = onlookers.transactions.is_some() || onlookers.slack;
        if onlookers.audit || onlookers.events.is_some() || follows {
            device.report_events();
        }
        let auditor = onlookers.audit.then(|| {
            let owner = |plane: PlaneId, ppa: Ppa| device.owner_of(plane, ppa);
            let written = |plane: PlaneId, block: u32| device.written_in(plane, block);
            Auditor::new(config, policy, Start::Known { owner: &owner, written: &written }, KEPT)
        });
        Watch {
            events: onlookers.events,
            auditor,
            requests: onlookers.requests,
            log: follows.then(|| TransactionLog::new(config.geometry)),
            transactions: onlookers.transactions,
            ends: onlookers.slack.then(Ends::default),
            responses: onlookers.responses.then(Responses::default),
        }
    }

    /// Whether anybody looks at events.
    pub(super) fn wants_events(&self) -> bool {
        self.auditor.is_some() || self.log.is_some() || self.events.is_some()
    }

    /// Looks at the events since the last look.
    pub(super) fn events(&mut self, device: &mut Device) -> Result<(), RunError> {
        for stamped in device.events().drain(..) {
            if let Some(auditor) = &mut self.auditor {
                auditor.observe(&stamped);
            }
            if let Some(show) = &mut self.events {
                show(&stamped);
            }
            if let Some(row) = self.log.as_mut().and_then(|log| log.observe(&stamped)) {
                if let Some(ends) = &mut self.ends {
                    ends.ended(&row);
                }
                if let Some(rows) = &mut self.transactions {
                    rows.push(&row)?;
                }
            }
        }
        Ok(())
    }

    /// Looks at a completion; `measured` says whether figures count it.
    #[inline]
    pub(super) fn completion(&mut self, completion: &Completion, measured: bool) -> Result<(), RunError> {
        if let Some(responses) = &mut self.responses
            && measured
        {
            responses.note(completion);
        }
        if let Some(ends) = &mut self.ends {
            ends.completed(completion, measured);
        }
        if let Some(rows) = &mut self.requests {
            rows.push(&RequestRow(*completion))?;
        }
        Ok(())
    }

    /// The run is over: files are finished, the verdict is spoken.
    pub(super) fn finish(self) -> Result<Seen, RunError> {
        if let Some(rows) = self.requests {
            rows.finish()?;
        }
        if let Some(rows) = self.transactions {
            rows.finish()?;
        }
        Ok(Seen {
            verdict: self.auditor.map(Auditor::finish),
            responses: self.responses,
            slack: self.ends.map(|ends| ends.slack),
        })
    }
}

impl Ends {
    /// A transaction ended. One that a younger write superseded ends with that, which is a transaction of its own.
    fn ended(&mut self, row: &TransactionRow) {
        if let Some(request) = row.request
            && !row.cancelled
        {
            let spare = &mut self.spare;
            self.open.entry(request.0).or_insert_with(|| spare.pop().unwrap_or_default()).push(row.done_ns);
        }
    }

    /// A request completed: all its transactions have ended.
    fn completed(&mut self, completion: &Completion, measured: bool) {
        if let Some(mut ends) = self.open.remove(&completion.id.0) {
            if measured {
                self.slack.record(completion.op, completion.pages, &ends);
            }
            ends.clear();
            self.spare.push(ends);
        }
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
