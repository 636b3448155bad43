//! The observers that take what a run does in batches, on whatever thread: the auditor, the writers of rows and timelines, the activity of the
//! dies.

use std::fmt::Write as _;

use flashlane_audit::{Auditor, Policy, Verdict};
use flashlane_core::Completion;
use flashlane_core::event::Stamped;
use flashlane_host::Seen;
use flashlane_report::metrics::Activity;

use super::RunError;
use super::request_rows::RequestRows;
use super::transactions::TransactionRecorder;

/// Gets the events of a device in order, some at a time.
pub type Watch = Box<dyn FnMut(&[Stamped]) + Send>;

/// What a run did, in order.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Stamped>,
    /// What else happened, each with the number of events before it.
    notes: Vec<(usize, Note)>,
}

/// What observers learn from the run and not from the device.
enum Note {
    /// A request completed; whether figures count it.
    Completed(Completion, bool),
    /// A thread of a host saw its request done.
    Seen(Seen),
    /// No request is outstanding or will come.
    RequestsAreOver,
    /// Another scheduler decides from here on.
    SchedulerChanges(Policy),
}

impl Batch {
    /// Bytes of an item of either kind.
    pub(super) const ITEM_BYTES: usize = size_of::<Stamped>() + size_of::<(usize, Note)>();

    pub(super) fn completed(&mut self, completion: &Completion, measured: bool) {
        self.note(Note::Completed(*completion, measured));
    }

    pub(super) fn seen(&mut self, seen: &Seen) {
        self.note(Note::Seen(*seen));
    }

    pub(super) fn scheduler_changes(&mut self, policy: Policy) {
        self.note(Note::SchedulerChanges(policy));
    }

    pub(super) fn requests_are_over(&mut self) {
        self.note(Note::RequestsAreOver);
    }

    fn note(&mut self, note: Note) {
        self.notes.push((self.events.len(), note));
    }

    /// Events and notes.
    pub(super) fn len(&self) -> usize {
        self.events.len() + self.notes.len()
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.notes.clear();
    }
}

/// Those that a run has.
#[derive(Default)]
pub(super) struct Watchers {
    pub(super) auditor: Option<Auditor>,
    pub(super) watch: Option<Watch>,
    pub(super) activity: Option<Activity>,
    pub(super) recorder: Option<TransactionRecorder>,
    pub(super) requests: Option<RequestRows>,
}

impl Watchers {
    /// Whether there are none.
    pub(super) fn are_none(&self) -> bool {
        self.auditor.is_none() && self.watch.is_none() && !self.need_completions()
    }

    /// Whether any of them needs completions.
    pub(super) fn need_completions(&self) -> bool {
        self.activity.is_some() || self.recorder.is_some() || self.requests.is_some()
    }

    /// Takes a batch.
    ///
    /// # Errors
    /// Rows that cannot be written.
    pub(super) fn take(&mut self, batch: &Batch) -> Result<(), RunError> {
        let mut passed = 0;
        for (before, note) in &batch.notes {
            self.events(&batch.events[passed..*before])?;
            passed = *before;
            self.note(note)?;
        }
        self.events(&batch.events[passed..])
    }

    fn events(&mut self, events: &[Stamped]) -> Result<(), RunError> {
        if let Some(auditor) = &mut self.auditor {
            events.iter().for_each(|stamped| auditor.observe(stamped));
        }
        if let Some(watch) = &mut self.watch {
            watch(events);
        }
        if let Some(activity) = &mut self.activity {
            events.iter().for_each(|stamped| activity.event(stamped));
        }
        if let Some(recorder) = &mut self.recorder {
            for stamped in events {
                recorder.event(stamped)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, note: &Note) -> Result<(), RunError> {
        match note {
            Note::Completed(completion, measured) => self.completed(completion, *measured)?,
            Note::Seen(seen) => {
                if let Some(rows) = &mut self.requests {
                    rows.seen(seen)?;
                }
            }
            Note::SchedulerChanges(policy) => {
                if let Some(auditor) = &mut self.auditor {
                    auditor.scheduler_changes(*policy);
                }
            }
            Note::RequestsAreOver => {
                if let Some(activity) = &mut self.activity {
                    activity.requests_are_over();
                }
            }
        }
        Ok(())
    }

    fn completed(&mut self, completion: &Completion, measured: bool) -> Result<(), RunError> {
        if let Some(activity) = &mut self.activity
            && measured
        {
            activity.completed(completion);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.completed(completion, measured)?;
        }
        if let Some(rows) = &mut self.requests {
            rows.completed(completion, measured)?;
        }
        Ok(())
    }
}

/// Turns the verdict of an audit that found violations into an error.
pub(super) fn audit_error(run: &str, verdict: &Verdict) -> RunError {
    let mut text = String::new();
    let _ = write!(text, "audit of {run}: {verdict}");
    RunError::Fault(text)
}
