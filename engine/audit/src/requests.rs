//! The account of requests: each submitted once, admitted once, served page by page, completed once.

use std::collections::BTreeSet;

use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, FlowId, Lpn, RequestId, Sequence, Time};
use flashlane_ssd::config::{Buffer, BufferOrder, Config, Service};

use super::link::Link;
use super::number_set::NumberSet;
use super::rule::{Log, Rule};

/// A request in flight.
#[derive(Debug)]
struct Open {
    flow: FlowId,
    op: Op,
    arrival: Time,
    pages: u32,
    /// First byte and length, unless it is a list of pages.
    extent: Option<(u64, u64)>,
    /// It is done when the flash has its pages.
    fua: bool,
    /// When it has crossed the link.
    here: Time,
    admitted: bool,
    /// Its place among what was admitted, where reads may wait behind writes without space.
    admission: u64,
    /// Pages served or unmapped, and of the latter those that had a copy.
    served: u32,
    mapped: u64,
    /// When the last of them was served, if that is known.
    served_at: Option<Time>,
    /// Transactions queued and not ended.
    live: u32,
    /// Cancelled writes whose successor has not ended.
    awaiting: u32,
}

/// All requests in flight, and the ids of all requests so far.
#[derive(Debug)]
pub(super) struct Requests {
    open: Sequence<Open>,
    seen: NumberSet,
    link: Link,
    /// The buffer loses dirty pages with the power.
    loses: bool,
    /// Commands are served in series.
    in_series: bool,
    /// Writes that the buffer has not stored whole, where reads wait behind them.
    without_space: Option<WithoutSpace>,
}

/// Writes in the device of which the buffer has not stored every page.
#[derive(Debug)]
struct WithoutSpace {
    /// By part of the buffer and place among what was admitted.
    writes: BTreeSet<(u16, u64)>,
    per_flow: bool,
    admissions: u64,
}

impl WithoutSpace {
    fn of(config: &Config) -> Option<WithoutSpace> {
        let per_flow = config.buffer.as_ref().is_some_and(|buffer| buffer.per_flow);
        may_hold_reads(config).then(|| WithoutSpace { writes: BTreeSet::new(), per_flow, admissions: 0 })
    }

    fn part(&self, flow: FlowId) -> u16 {
        if self.per_flow { flow.0 } else { 0 }
    }
}

/// Whether reads may wait behind writes that wait for space in the buffer.
pub(super) fn may_hold_reads(config: &Config) -> bool {
    let Config { front, buffer, .. } = config;
    let writes_wait = buffer.as_ref().is_some_and(|buffer| buffer.write_back) && front.service == Service::Parallel;
    writes_wait && front.order == BufferOrder::Shared
}

/// Whether a program may exist without having joined a queue, because it waits for the rest of its page or for an entry of the map. In a buffer that
/// reads rests the page waits before it has a program.
pub(super) fn writes_wait_for_reads(config: &Config) -> bool {
    config.ftl.read_modify_write && !config.buffer_reads_rests() || config.mapping.is_some()
}

/// A request that is submitted: its flow, operation and arrival, its pages and what it touches of them.
pub(super) type Coming = ((FlowId, Op, Time), u32, Option<(u64, u64)>);

impl Requests {
    pub(super) fn new(config: &Config, link: Link) -> Requests {
        let loses = config.buffer.as_ref().is_some_and(Buffer::is_volatile);
        let in_series = config.front.service != Service::Parallel;
        let without_space = WithoutSpace::of(config);
        Requests { open: Sequence::default(), seen: NumberSet::default(), link, loses, in_series, without_space }
    }

    pub(super) fn submitted(&mut self, id: RequestId, coming: Coming, fua: bool, log: &mut Log) {
        let ((flow, op, arrival), pages, extent) = coming;
        if log.check(self.seen.add(id.0), Rule::SubmitOnce, || format!("request {} came again.", id.0)) {
            let data = if op == Op::Write { self.link.bytes(pages, extent) } else { 0 };
            let crossed;
            (crossed, self.link.inward) = self.link.cross(self.link.inward, log.now, data);
            let here = self.link.processed(op, pages, crossed);
            let fua = fua && op == Op::Write && self.loses;
            let (admitted, admission, served, mapped, served_at, live, awaiting) = (false, 0, 0, 0, None, 0, 0);
            let fresh = Open {
                flow,
                op,
                arrival,
                pages,
                extent,
                fua,
                here,
                admitted,
                admission,
                served,
                mapped,
                served_at,
                live,
                awaiting,
            };
            self.open.insert(id.0, fresh);
        }
    }

    /// A request was admitted; `at_once` if it has nothing to wait for, should it be a flush.
    pub(super) fn admitted(&mut self, id: RequestId, at_once: bool, log: &mut Log) {
        let (now, memory) = (log.now, self.link.memory);
        let Some(open) = self.known(id, "admitted", log) else { return };
        let (again, here, flow) = (std::mem::replace(&mut open.admitted, true), open.here, open.flow);
        log.check(!again, Rule::AdmitOnce, || format!("request {} was admitted again.", id.0));
        log.check(now >= here, Rule::AdmitTime, || format!("request {} was admitted and is here at {here}.", id.0));
        if open.op == Op::Flush && at_once {
            open.served_at = Some(now + memory);
        }
        let (is_data, op) = (open.op.is_data(), open.op.name());
        if !again && !self.link.may_enter(is_data) {
            log.report(Rule::Alone, || format!("{op} {} was admitted.", id.0));
        }
        if !again && let Some((all, own)) = self.link.enters(flow) {
            log.report(Rule::InFlight, || {
                format!("request {} makes {all} commands in the device, {own} of its queue.", id.0)
            });
        }
        if !again {
            self.counts_admission(id);
        }
    }

    /// A page came from memory. `write_back`: whether a buffer may take writes.
    pub(super) fn serve_from_memory(&mut self, id: RequestId, write_back: bool, log: &mut Log) {
        let answers = log.now + self.link.memory;
        let Some(open) = self.known(id, "served from memory", log) else { return };
        open.served += 1;
        open.served_at = Some(answers);
        log.check(open.admitted, Rule::AdmitFirst, || format!("request {} had a page served.", id.0));
        let is_read = open.op == Op::Read;
        log.check(is_read || write_back, Rule::WriteFromMemory, || {
            format!("a page of write {} ended in memory on a device without a write-back buffer.", id.0)
        });
        if is_read {
            self.goes_in_order(id, log);
        } else {
            self.may_be_stored(id);
        }
    }

    /// A request is admitted: from now on reads wait behind it, if it is a write.
    fn counts_admission(&mut self, id: RequestId) {
        let (Some(without), Some(open)) = (&mut self.without_space, self.open.get_mut(id.0)) else { return };
        without.admissions += 1;
        open.admission = without.admissions;
        if open.op == Op::Write {
            without.writes.insert((without.part(open.flow), open.admission));
        }
    }

    /// A page of a write was stored or dropped: perhaps it was the last.
    fn may_be_stored(&mut self, id: RequestId) {
        let (Some(without), Some(open)) = (&mut self.without_space, self.open.get(id.0)) else { return };
        if open.served == open.pages {
            without.writes.remove(&(without.part(open.flow), open.admission));
        }
    }

    /// A page of a read is served or queued: no older write may wait for space.
    fn goes_in_order(&self, id: RequestId, log: &mut Log) {
        let (Some(without), Some(open)) = (&self.without_space, self.open.get(id.0)) else { return };
        let part = without.part(open.flow);
        let older = without.writes.range((part, 0)..(part, open.admission)).next();
        log.check(older.is_none(), Rule::SharedOrder, || format!("read {} goes before an older write.", id.0));
    }

    /// A page that waited for space in the buffer was trimmed: it is done, others perhaps only when the memory has served them.
    pub(super) fn page_dropped(&mut self, id: RequestId, log: &mut Log) {
        let now = log.now;
        let Some(open) = self.known(id, "told of a page that was dropped", log) else { return };
        open.served += 1;
        open.served_at = open.served_at.max(Some(now));
        log.check(open.admitted, Rule::AdmitFirst, || format!("request {} had a page dropped.", id.0));
        self.may_be_stored(id);
    }

    /// A page was served by the flash without a transaction.
    pub(super) fn serve_from_flash(&mut self, id: RequestId, log: &mut Log) {
        let Some(open) = self.known(id, "served by the flash", log) else { return };
        open.served += 1;
        log.check(open.admitted, Rule::AdmitFirst, || format!("request {} had a page served.", id.0));
    }

    /// A trim has unmapped a range of pages, `mapped` of which were mapped; `takes` gives the duration of a trim of so many mapped pages.
    pub(super) fn unmapped(
        &mut self,
        id: RequestId,
        (first, pages): (Lpn, u32),
        mapped: u64,
        page_bytes: u64,
        takes: impl Fn(u64) -> Duration,
        log: &mut Log,
    ) {
        let Some(open) = self.known(id, "unmapping", log) else { return };
        let fits = open.extent.is_none_or(|(start, length)| {
            let whole = start.div_ceil(page_bytes)..(start + length) / page_bytes;
            let range = u64::from(first.0)..u64::from(first.0) + u64::from(pages);
            range == whole || range.is_empty() && whole.is_empty()
        });
        let kind = open.op.name();
        log.check(fits && open.op.unmaps() && open.admitted, Rule::TrimPages, || {
            format!("{kind} {} unmaps {pages} pages from {} on.", id.0, first.0)
        });
        open.served += pages;
        open.mapped += mapped;
        open.served_at = Some(log.now + takes(open.mapped));
    }

    /// Whether a request in flight waits until the flash has its pages.
    pub(super) fn is_fua(&self, id: RequestId) -> bool {
        self.open.get(id.0).is_some_and(|open| open.fua)
    }

    /// The flow and operation of a request in flight.
    pub(super) fn kind(&self, id: RequestId) -> Option<(FlowId, Op)> {
        self.open.get(id.0).map(|open| (open.flow, open.op))
    }

    /// All that has been served of the request is ready at `at`.
    pub(super) fn ends_at(&mut self, id: RequestId, at: Time) {
        if let Some(open) = self.open.get_mut(id.0) {
            open.served_at = Some(at);
        }
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
        if open.op == Op::Read {
            self.goes_in_order(id, log);
        }
    }

    /// Bytes of page `lpn` that the request touches, of `page` in all; `None` if the request is no longer in flight. A device
    /// that `modifies` reads and writes whole pages for its writes.
    pub(super) fn touches(&self, id: RequestId, lpn: u64, page: u64, modifies: bool) -> Option<u64> {
        let open = self.open.get(id.0)?;
        Some(match open.extent {
            Some((first, length)) if open.op == Op::Read || !modifies => {
                let end = (first + length).min((lpn + 1) * page);
                end.saturating_sub(first.max(lpn * page))
            }
            _ => page,
        })
    }

    /// Whether the request is a read (then its reads are host reads, not the first half of a partial write).
    pub(super) fn is_read(&self, id: RequestId) -> bool {
        self.open.get(id.0).is_some_and(|open| open.op == Op::Read)
    }

    /// First byte and length of a write in flight that lists no pages.
    pub(super) fn bytes_of_write(&self, id: RequestId) -> Option<(u64, u64)> {
        self.open.get(id.0).filter(|open| open.op == Op::Write)?.extent
    }

    /// A transaction of the request ended. A request no longer in flight is ignored: its early completion was reported.
    pub(super) fn ended(&mut self, id: RequestId, op: FlashOp, now: Time) {
        if let Some(open) = self.open.get_mut(id.0) {
            open.live = open.live.saturating_sub(1);
            if (open.op == Op::Write) == (op == FlashOp::Program) {
                open.served += 1;
                open.served_at = Some(now);
            }
        }
    }

    /// A write of the request was cancelled and its successor has not ended yet.
    pub(super) fn awaits(&mut self, id: RequestId) {
        if let Some(open) = self.open.get_mut(id.0) {
            open.awaiting += 1;
        }
    }

    /// A successor ended, at `now` if that is known.
    pub(super) fn released(&mut self, id: RequestId, now: Option<Time>) {
        if let Some(open) = self.open.get_mut(id.0) {
            open.awaiting = open.awaiting.saturating_sub(1);
            open.served_at = now;
        }
    }

    /// A request completed. Returns whether it had to be in the flash by then.
    pub(super) fn completed(&mut self, id: RequestId, log: &mut Log) -> bool {
        let Some(open) = self.open.remove(id.0) else {
            let before = if self.seen.contains(id.0) { "a second time" } else { "without having been submitted" };
            log.report(Rule::CompleteOnce, || format!("request {} completed {before}.", id.0));
            return false;
        };
        if open.admitted {
            self.link.leaves(open.flow);
        }
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
        } else if let Some(served) = open.served_at.filter(|_| !open.fua || self.in_series) {
            let data = if open.op == Op::Read { self.link.bytes(open.pages, open.extent) } else { 0 };
            let due;
            (due, self.link.outward) = self.link.cross(self.link.outward, served, data);
            let rule = if open.op == Op::Flush { Rule::FlushTime } else { Rule::CompleteTime };
            log.check(now == due, rule, || {
                format!("request {} completed at {now}, due at {due}: its last page was served at {served}.", id.0)
            });
        }
        open.fua
    }

    /// Requests still in flight, in order of their ids.
    pub(super) fn leftover(&self) -> Vec<RequestId> {
        let mut ids: Vec<RequestId> = self.open.iter().map(|(id, _)| RequestId(id)).collect();
        ids.sort_unstable();
        ids
    }

    fn known(&mut self, id: RequestId, what: &str, log: &mut Log) -> Option<&mut Open> {
        let open = self.open.get_mut(id.0);
        if open.is_none() {
            let past = if self.seen.contains(id.0) { "is completed" } else { "was never submitted" };
            log.report(Rule::RequestKnown, || format!("request {} {past} and was {what}.", id.0));
        }
        open
    }
}
