//! Builds rows of transactions from a device's events.

use std::collections::VecDeque;

use flashlane_core::decide::Estimate;
use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Geometry, Lpn, Owner, PlaneId, RequestId, Time, UnitId};

use super::rows::TransactionRow;
use super::waits::{Waited, Waiting, Waits};

/// Follows every transaction from its queue to its end.
///
/// Stores the range of transactions from the oldest to the youngest that have not ended, so its memory is that of the
/// device's queues.
#[derive(Debug)]
pub struct TransactionLog {
    geometry: Geometry,
    /// Serial number of the front of `open`.
    first: u64,
    open: VecDeque<Option<Open>>,
    live: usize,
    waits: Waits,
}

/// A transaction that has not ended.
#[derive(Clone, Copy, Debug)]
struct Open {
    request: Option<RequestId>,
    flow: FlowId,
    op: FlashOp,
    owner: Owner,
    lpn: Lpn,
    plane: PlaneId,
    queued: Time,
    waiting: Waiting,
    waited: Waited,
    /// Its estimate, and the slack it had then.
    estimate: Option<(Estimate, u64)>,
    /// When its command began, the command's number, and the slack it had left then.
    dispatched: Option<(Time, u64, u64)>,
}

impl Open {
    fn is_gc(&self) -> bool {
        self.owner == Owner::Gc
    }
}

impl TransactionLog {
    /// A log of a device of this shape.
    pub fn new(geometry: Geometry) -> TransactionLog {
        TransactionLog { geometry, first: 0, open: VecDeque::new(), live: 0, waits: Waits::default() }
    }

    /// Processes an event; returns the row of the transaction that it ends, if any.
    ///
    /// # Panics
    /// If the events are not those of a device: a transaction is dispatched or ends that was never queued.
    pub fn observe(&mut self, stamped: &Stamped) -> Option<TransactionRow> {
        let now = stamped.at.ns();
        match stamped.event {
            Event::Queued { txn, request, flow, op, owner, lpn, plane, .. } => {
                let queued = stamped.at;
                let waiting = self.waits.queued(txn, self.geometry.unit_of(plane), owner == Owner::Gc);
                let waited = Waited::default();
                let (estimate, dispatched) = (None, None);
                let open = Open { request, flow, op, owner, lpn, plane, queued, waiting, waited, estimate, dispatched };
                self.insert(txn, open);
            }
            Event::Moved { txn, plane } => self.get(txn).plane = plane,
            Event::Estimated { txn, estimate, slack } => self.get(txn).estimate = Some((estimate, slack.ns())),
            Event::Dispatched { txn, slack, command, unit, .. } => {
                self.get(txn).dispatched = Some((stamped.at, command, slack.ns()));
                self.begun(txn, command, unit, now);
            }
            Event::BusTaken { command, until, .. } => self.waits.took_bus(command, now, until.ns()),
            Event::ArrayStarted { command, until, .. } => self.waits.array(command, until.ns()),
            Event::Ended { txn, end, paused } => {
                let mut open = self.remove(txn);
                if let Some((_, command, _)) = open.dispatched {
                    open.waited.bus_ns = self.waits.ended(command, now);
                }
                if open.is_gc() {
                    self.waits.collected(self.geometry.unit_of(open.plane));
                }
                return Some(self.row(open, stamped.at, end, paused.ns()));
            }
            Event::Submitted { .. }
            | Event::Admitted { .. }
            | Event::PageFromMemory { .. }
            | Event::PageInSeries { .. }
            | Event::Evicted { .. }
            | Event::ArrayEnded { .. }
            | Event::Paused { .. }
            | Event::Completed { .. }
            | Event::VictimChosen { .. }
            | Event::Mapped { .. }
            | Event::Erased { .. } => {}
        }
        None
    }

    /// A transaction's command began: computes what the transaction waited for. If this is the first user command after
    /// the work that the unit had begun earlier, the waiting transactions that found that work get their residual.
    fn begun(&mut self, serial: u64, command: u64, unit: UnitId, now: u64) {
        let gc = self.get(serial).is_gc();
        let others = self.waits.dispatched((command, unit), gc, now);
        for other in others {
            // A transaction that has ended, or was served in a pause, has its residual already.
            if let Some(Some(open)) = self.open.get_mut((other.wrapping_sub(self.first)) as usize)
                && open.dispatched.is_none_or(|(_, own, _)| own == command)
            {
                self.waits.resolve(&mut open.waiting, unit, open.queued.ns(), now);
            }
        }
        let (waiting, queued) = (self.get(serial).waiting, self.get(serial).queued.ns());
        self.get(serial).waited = self.waits.waited(waiting, unit, queued, now);
    }

    /// Number of transactions that were queued and have not ended.
    pub fn open(&self) -> usize {
        self.live
    }

    fn row(&self, open: Open, done: Time, end: End, paused_ns: u64) -> TransactionRow {
        let place = self.geometry.place_of(open.plane);
        TransactionRow {
            request: open.request,
            flow: open.flow,
            op: open.op,
            owner: open.owner,
            lpn: (open.op != FlashOp::Erase).then_some(open.lpn),
            channel: place.channel,
            chip: place.chip,
            die: place.die,
            plane: place.plane,
            enqueue_ns: open.queued.ns(),
            dispatch_ns: open.dispatched.map(|(at, ..)| at.ns()),
            done_ns: done.ns(),
            paused_ns,
            slack_ns: open.dispatched.map(|(.., slack)| slack),
            cancelled: end != End::Flash,
            estimate: open.estimate,
            actual_slack_ns: None,
            waited: open.waited,
        }
    }

    fn insert(&mut self, serial: u64, open: Open) {
        if self.live == 0 {
            self.open.clear();
            self.first = serial;
        }
        // A transaction that was held back joins its queue after younger ones.
        while serial < self.first {
            self.open.push_front(None);
            self.first -= 1;
        }
        let place = (serial - self.first) as usize;
        if place >= self.open.len() {
            self.open.resize(place + 1, None);
        }
        assert!(self.open[place].is_none(), "transaction {serial} queued twice");
        self.open[place] = Some(open);
        self.live += 1;
    }

    fn slot(&mut self, serial: u64) -> Option<&mut Option<Open>> {
        self.open.get_mut(serial.checked_sub(self.first)? as usize)
    }

    fn get(&mut self, serial: u64) -> &mut Open {
        let open = self.slot(serial).and_then(Option::as_mut);
        open.unwrap_or_else(|| panic!("transaction {serial} was never queued"))
    }

    fn remove(&mut self, serial: u64) -> Open {
        let open = self.slot(serial).and_then(Option::take);
        let open = open.unwrap_or_else(|| panic!("transaction {serial} was never queued"));
        self.live -= 1;
        while let Some(None) = self.open.front() {
            self.open.pop_front();
            self.first += 1;
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::geometry::{Place, UnitKind};
    use flashlane_core::{Duration, UnitId};

    fn geometry() -> Geometry {
        Geometry {
            channels: 2,
            chips_per_channel: 2,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 8,
            page_bytes: 4_096,
            metadata_bytes: 0,
            unit: UnitKind::Chip,
        }
    }

    fn queued(at: u64, txn: u64, request: Option<u64>, op: FlashOp, owner: Owner) -> Stamped {
        let plane = geometry().plane_at(Place { channel: 1, chip: 0, die: 1, plane: 1 });
        let (request, lpn) = (request.map(RequestId), Lpn(77));
        let event = Event::Queued { txn, request, flow: FlowId(3), op, owner, lpn, plane, bytes: 4_096 };
        Stamped { at: Time::from_ns(at), event }
    }

    fn dispatched(at: u64, txn: u64) -> Stamped {
        let slack = Duration::from_ns(40);
        Stamped {
            at: Time::from_ns(at),
            event: Event::Dispatched { txn, command: txn, unit: UnitId(2), ppa: 5, slack },
        }
    }

    fn ended(at: u64, txn: u64, end: End) -> Stamped {
        Stamped { at: Time::from_ns(at), event: Event::Ended { txn, end, paused: Duration::from_ns(6) } }
    }

    #[test]
    fn a_read_becomes_a_row_when_it_ends() {
        let mut log = TransactionLog::new(geometry());
        assert_eq!(log.observe(&queued(10, 0, Some(8), FlashOp::Read, Owner::User)), None);
        assert_eq!(log.observe(&dispatched(15, 0)), None);
        let row = log.observe(&ended(90, 0, End::Flash)).unwrap();
        assert_eq!(
            row,
            TransactionRow {
                request: Some(RequestId(8)),
                flow: FlowId(3),
                op: FlashOp::Read,
                owner: Owner::User,
                lpn: Some(Lpn(77)),
                channel: 1,
                chip: 0,
                die: 1,
                plane: 1,
                enqueue_ns: 10,
                dispatch_ns: Some(15),
                done_ns: 90,
                paused_ns: 6,
                slack_ns: Some(40),
                cancelled: false,
                estimate: None,
                actual_slack_ns: None,
                waited: Waited::default(),
            }
        );
        assert_eq!(log.open(), 0);
    }

    #[test]
    fn an_erase_has_no_page_and_a_superseded_write_no_dispatch() {
        let mut log = TransactionLog::new(geometry());
        log.observe(&queued(0, 4, None, FlashOp::Erase, Owner::Gc));
        log.observe(&queued(1, 5, Some(1), FlashOp::Program, Owner::User));
        let write = log.observe(&ended(7, 5, End::Cancelled)).unwrap();
        assert_eq!((write.dispatch_ns, write.slack_ns, write.cancelled), (None, None, true));
        log.observe(&dispatched(8, 4));
        let erase = log.observe(&ended(9, 4, End::Flash)).unwrap();
        assert_eq!((erase.lpn, erase.request, erase.cancelled), (None, None, false));
    }

    #[test]
    fn ends_in_any_order_and_late_queueing_keep_memory_small() {
        let mut log = TransactionLog::new(geometry());
        log.observe(&queued(0, 10, Some(0), FlashOp::Read, Owner::User));
        log.observe(&queued(1, 8, None, FlashOp::Program, Owner::Gc));
        for serial in 11..10_000 {
            log.observe(&queued(serial, serial, Some(serial), FlashOp::Read, Owner::User));
            log.observe(&dispatched(serial, serial));
            assert!(log.observe(&ended(serial + 1, serial, End::Flash)).is_some());
        }
        assert_eq!(log.open(), 2);
        assert!(log.observe(&ended(20_000, 8, End::Stale)).unwrap().cancelled);
        log.observe(&ended(20_001, 10, End::Flash));
        assert_eq!((log.open(), log.open.len()), (0, 0));
    }

    #[test]
    #[should_panic(expected = "transaction 3 was never queued")]
    fn an_end_without_a_beginning_is_no_device() {
        TransactionLog::new(geometry()).observe(&ended(1, 3, End::Flash));
    }
}
