//! Measures the actual slack of the transactions of every request, from the instants at which the flash ends them.

use flashlane_core::Completion;
use flashlane_core::event::PageEnd;
use rustc_hash::FxHashMap;

use flashlane_report::metrics::Slack;

/// Collects ends until their request completes.
#[derive(Default)]
pub(crate) struct ActualSlack {
    slack: Slack,
    /// By request in progress, the ends of its transactions so far, ns; and empty lists for reuse.
    ends: FxHashMap<u64, Vec<u64>>,
    spare: Vec<Vec<u64>>,
}

impl ActualSlack {
    /// Notes that a transaction has ended.
    pub(crate) fn ended(&mut self, end: &PageEnd) {
        let spare = &mut self.spare;
        self.ends.entry(end.request.0).or_insert_with(|| spare.pop().unwrap_or_default()).push(end.at.ns());
    }

    /// Counts the transactions of a completed request if it is `measured`. A write that was superseded while it waited is not among
    /// them: it ends with its successor, which is a transaction of its own.
    pub(crate) fn completed(&mut self, completion: &Completion, measured: bool) {
        let Some(mut ends) = self.ends.remove(&completion.id.0) else { return };
        if measured {
            self.slack.record(completion.op, completion.pages, &ends);
        }
        ends.clear();
        self.spare.push(ends);
    }

    /// The slack of all of them.
    pub(crate) fn finish(self) -> Slack {
        self.slack
    }
}
