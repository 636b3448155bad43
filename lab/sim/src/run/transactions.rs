//! Records of single transactions: rows, accuracy of estimates, and response times for an oracle.
//!
//! Follows every transaction of a device through its events. The slack of a request's transactions is known only when
//! the request completes; their rows are held back until then.

use flashlane_core::event::Stamped;
use flashlane_core::{Completion, Duration, Lpn, RequestId};
use flashlane_sched::order::KnownResponses;
use flashlane_ssd::Config;
use rustc_hash::FxHashMap;

use crate::error::RunError;
use flashlane_report::metrics::Estimation;
use flashlane_report::results::{RowWriter, TransactionLog, TransactionRow};

/// Which records are to be made.
#[derive(Default)]
pub(crate) struct RecordOptions {
    pub(crate) rows: Option<RowWriter<TransactionRow>>,
    pub(crate) estimation: bool,
    pub(crate) known: bool,
}

/// The records of a whole run.
#[derive(Debug, Default)]
pub(crate) struct TransactionRecords {
    pub(crate) estimation: Option<Estimation>,
    pub(crate) known: Option<KnownResponses>,
}

/// Follows the transactions of a run.
pub(crate) struct TransactionRecorder {
    log: TransactionLog,
    rows: Option<RowWriter<TransactionRow>>,
    estimation: Option<Estimation>,
    known: Option<Vec<(RequestId, Lpn, Duration)>>,
    /// Rows of the requests in progress, and empty lists for reuse.
    held: FxHashMap<u64, Vec<TransactionRow>>,
    spare: Vec<Vec<TransactionRow>>,
}

impl TransactionRecorder {
    /// `None` when no record is asked for.
    pub(crate) fn new(options: RecordOptions, config: &Config) -> Option<TransactionRecorder> {
        let RecordOptions { rows, estimation, known } = options;
        (rows.is_some() || estimation || known).then(|| TransactionRecorder {
            log: TransactionLog::new(config.geometry),
            rows,
            estimation: estimation.then(Estimation::default),
            known: known.then(Vec::new),
            held: FxHashMap::default(),
            spare: Vec::new(),
        })
    }

    /// Processes an event.
    pub(crate) fn event(&mut self, stamped: &Stamped) -> Result<(), RunError> {
        let Some(row) = self.log.observe(stamped) else { return Ok(()) };
        let Some(request) = row.request else { return self.write(&row) };
        if let (Some(known), Some(lpn), false) = (&mut self.known, row.lpn, row.cancelled) {
            known.push((request, lpn, Duration::from_ns(row.response_ns())));
        }
        let spare = &mut self.spare;
        self.held.entry(request.0).or_insert_with(|| spare.pop().unwrap_or_default()).push(row);
        Ok(())
    }

    fn write(&mut self, row: &TransactionRow) -> Result<(), RunError> {
        if let Some(rows) = &mut self.rows {
            rows.push(row)?;
        }
        Ok(())
    }

    /// Processes the completion of a request, all of whose transactions have ended.
    pub(crate) fn completed(&mut self, completion: &Completion, measured: bool) -> Result<(), RunError> {
        let Some(mut held) = self.held.remove(&completion.id.0) else { return Ok(()) };
        // A write that was superseded while it waited is skipped: it ends with its successor, which is a transaction of
        // its own.
        let last = held.iter().filter(|row| !row.cancelled).map(|row| row.done_ns).max().unwrap_or(0);
        for row in &mut held {
            row.actual_slack_ns = (!row.cancelled).then(|| last - row.done_ns);
            if measured
                && completion.op.is_data()
                && let Some(estimation) = &mut self.estimation
                && let Some(sample) = row.sample()
            {
                estimation.record(completion.op, &sample);
            }
            self.write(row)?;
        }
        held.clear();
        self.spare.push(held);
        Ok(())
    }

    /// Ends the run's records and finishes the row file.
    pub(crate) fn finish(self) -> Result<TransactionRecords, RunError> {
        let TransactionRecorder { rows, estimation, known, .. } = self;
        if let Some(rows) = rows {
            rows.finish()?;
        }
        Ok(TransactionRecords { estimation, known: known.map(KnownResponses::new) })
    }
}
