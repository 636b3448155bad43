//! The ledger of requests: each submitted once, admitted once, served page by page, completed once.

use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, RequestId, Time};
use rustc_hash::FxHashMap;

use super::rule::{Log, Rule};
use super::seen::Seen;

/// A request in flight.
#[derive(Debug)]
struct Open {
    flow: FlowId,
    op: Op,
    arrival: Time,
    pages: u32,
    admitted: bool,
    /// Pages served.
    served: u32,
    /// Transactions queued and not ended.
    live: u32,
    /// Cancelled writes whose successor has not ended.
    awaiting: u32,
}

/// All requests in flight, and the names of all there ever were.
#[derive(Default, Debug)]
pub(super) struct Requests {
    open: FxHashMap<RequestId, Open>,
    seen: Seen,
}

impl Requests {
    pub(super) fn submitted(&mut self, id: RequestId, flow: FlowId, op: Op, arrival: Time, pages: u32, log: &mut Log) {
        if log.check(self.seen.add(id.0), Rule::SubmitOnce, || format!("request {} came again.", id.0)) {
            let fresh = Open { flow, op, arrival, pages, admitted: false, served: 0, live: 0, awaiting: 0 };
            self.open.insert(id, fresh);
        }
    }

    pub(super) fn admitted(&mut self, id: RequestId, log: &mut Log) {
        let Some(open) = self.known(id, "admitted", log) else { return };
        log.check(!open.admitted, Rule::AdmitOnce, || format!("request {} was admitted again.", id.0));
        open.admitted = true;
    }

    /// A page came from memory. `write_back`: whether a buffer may take writes.
    pub(super) fn serve_from_memory(&mut self, id: RequestId, write_back: bool, log: &mut Log) {
        let Some(open) = self.known(id, "served from memory", log) else { return };
        open.served += 1;
        log.check(open.admitted, Rule::AdmitFirst, || format!("request {} had a page served.", id.0));
        log.check(open.op == Op::Read || write_back, Rule::WriteFromMemory, || {
            format!("a page of write {} ended in memory on a device without a write-back buffer.", id.0)
        });
    }

    /// A transaction of the request joined a queue.
    pub(super) fn queued(&mut self, id: RequestId, flow: FlowId, op: FlashOp, modifies: bool, log: &mut Log) {
        let Some(open) = self.known(id, "given a transaction", log) else { return };
        open.live += 1;
        let fits = match (open.op, op) {
            (Op::Read, FlashOp::Read) | (Op::Write, FlashOp::Program) => true,
            (Op::Write, FlashOp::Read) => modifies,
            _ => false,
        };
        log.check(open.admitted, Rule::AdmitFirst, || format!("request {} was given a transaction.", id.0));
        log.check(fits && open.flow == flow, Rule::TxnShape, || {
            let (own, kind) = (open.flow.0, open.op.name());
            format!("{kind} request {} of flow {own} has a {} of flow {}.", id.0, op.name(), flow.0)
        });
    }

    /// Whether the request is a read (then its reads are host reads, not the first half of a partial write).
    pub(super) fn is_read(&self, id: RequestId) -> bool {
        self.open.get(&id).is_some_and(|open| open.op == Op::Read)
    }

    /// A transaction of the request ended. Silent when the request is gone: its early completion was reported.
    pub(super) fn ended(&mut self, id: RequestId, op: FlashOp) {
        if let Some(open) = self.open.get_mut(&id) {
            open.live = open.live.saturating_sub(1);
            open.served += u32::from((open.op == Op::Write) == (op == FlashOp::Program));
        }
    }

    /// A write of the request was cancelled and its successor has yet to end.
    pub(super) fn awaits(&mut self, id: RequestId) {
        if let Some(open) = self.open.get_mut(&id) {
            open.awaiting += 1;
        }
    }

    /// A successor ended.
    pub(super) fn released(&mut self, id: RequestId) {
        if let Some(open) = self.open.get_mut(&id) {
            open.awaiting = open.awaiting.saturating_sub(1);
        }
    }

    pub(super) fn completed(&mut self, id: RequestId, log: &mut Log) {
        let Some(open) = self.open.remove(&id) else {
            let before = if self.seen.contains(id.0) { "a second time" } else { "without having been submitted" };
            log.report(Rule::CompleteOnce, || format!("request {} completed {before}.", id.0));
            return;
        };
        let now = log.now;
        log.check(now >= open.arrival, Rule::NotBeforeArrival, || {
            format!("request {} arrives at {} and completed at {now}.", id.0, open.arrival)
        });
        if open.live > 0 {
            log.report(Rule::NotBeforeTransactions, || {
                format!("request {} completed with {} transactions to come.", id.0, open.live)
            });
        } else if open.served != open.pages {
            let (served, pages) = (open.served, open.pages);
            log.report(Rule::PageCount, || format!("request {} of {pages} pages completed with {served}.", id.0));
        } else if open.awaiting > 0 {
            log.report(Rule::NotBeforeSuccessor, || {
                format!("request {} completed with {} cancelled writes to be replaced.", id.0, open.awaiting)
            });
        }
    }

    /// Requests still in flight, in order of name.
    pub(super) fn leftover(&self) -> Vec<RequestId> {
        let mut ids: Vec<RequestId> = self.open.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    fn known(&mut self, id: RequestId, what: &str, log: &mut Log) -> Option<&mut Open> {
        let open = self.open.get_mut(&id);
        if open.is_none() {
            let past = if self.seen.contains(id.0) { "is completed" } else { "was never submitted" };
            log.report(Rule::RequestKnown, || format!("request {} {past} and was {what}.", id.0));
        }
        open
    }
}
