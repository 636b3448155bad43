//! Builds rows of transactions from a device's events.

use flashlane_core::event::{End, Event, Kinds, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Geometry, Time};

use super::rows::TransactionRow;
use super::waits::{CommandWaits, Waited, Waiting, Waits};
use crate::in_flight::{Change, InFlight};

/// Follows every transaction from its queue to its end.
#[derive(Debug)]
pub struct TransactionLog {
    geometry: Geometry,
    flight: InFlight<Accounted, CommandWaits>,
    waits: Waits,
}

/// How far the wait of a transaction has been accounted for, and its parts once it has begun.
#[derive(Clone, Copy, Debug, Default)]
struct Accounted {
    waiting: Waiting,
    waited: Waited,
}

impl TransactionLog {
    /// The events that it needs; for what transactions waited for ([`Waited`]) [`Kinds::PHASES`] too.
    pub const KINDS: Kinds = Kinds::QUEUES.and(Kinds::ESTIMATES);

    /// A log of a device of this shape.
    pub fn new(geometry: Geometry) -> TransactionLog {
        TransactionLog { geometry, flight: InFlight::default(), waits: Waits::default() }
    }

    /// Processes an event; returns the row of the transaction that it ends, if any.
    ///
    /// # Panics
    /// If the events are not those of a device: a transaction is dispatched or ends that was never queued.
    pub fn observe(&mut self, stamped: &Stamped) -> Option<TransactionRow> {
        let now = stamped.at.ns();
        match self.flight.follow(stamped) {
            Some(Change::Queued(txn)) => {
                let new = self.flight.transaction(txn);
                let unit = self.geometry.unit_of(new.plane);
                new.own.waiting = self.waits.queued(txn, unit, new.owner.collects());
            }
            Some(Change::Begun { txn, command, is_first }) => self.begun(txn, command, is_first, now),
            Some(Change::Ended { txn, end, paused }) => return Some(self.ended(txn, end, paused, stamped.at)),
            Some(Change::Moved(..) | Change::Paused(_) | Change::Resumed(..)) | None => {}
        }
        if let Event::BusTaken { command, until, .. } = stamped.event {
            if let Some(command) = self.flight.command_mut(command) {
                command.own.took_bus(now, until.ns());
            }
        } else if let Event::ArrayStarted { command, until, .. } = stamped.event
            && let Some(command) = self.flight.command_mut(command)
        {
            command.own.array(until.ns());
        }
        None
    }

    /// A transaction's command began: computes what the transaction waited for. If this is the first user command after
    /// the work that the unit had begun earlier, the waiting transactions that found that work get their residual.
    fn begun(&mut self, serial: u64, number: u64, is_first: bool, now: u64) {
        let gc = self.flight.transaction(serial).owner.collects();
        let Some(command) = self.flight.command_mut(number) else { return };
        let unit = command.unit;
        if is_first {
            command.own = CommandWaits::begun(gc, now);
            for other in self.waits.begun(unit, gc) {
                // A transaction that has ended, or was served in a pause, has its residual already.
                if let Some(open) = self.flight.get_mut(other)
                    && open.begun.is_none_or(|begun| begun.command == number)
                {
                    self.waits.resolve(&mut open.own.waiting, unit, open.queued.ns(), now);
                }
            }
        }
        let open = self.flight.transaction(serial);
        open.own.waited = self.waits.waited(open.own.waiting, unit, open.queued.ns(), now);
    }

    fn ended(&mut self, serial: u64, end: End, paused: Duration, now: Time) -> TransactionRow {
        let open = self.flight.transaction(serial).clone();
        let mut waited = open.own.waited;
        if let Some(command) = open.begun.and_then(|begun| self.flight.command(begun.command)) {
            waited.bus_ns = command.own.waited;
            if command.left == 0 {
                self.waits.over(command.unit, command.own, now.ns());
            }
        }
        if open.owner.collects() {
            self.waits.collected(self.geometry.unit_of(open.plane));
        }
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
            dispatch_ns: open.begun.map(|begun| begun.at.ns()),
            done_ns: now.ns(),
            paused_ns: paused.ns(),
            slack_ns: open.begun.map(|begun| begun.slack.ns()),
            cancelled: end != End::Flash,
            estimate: open.estimate.map(|(estimate, slack)| (estimate, slack.ns())),
            actual_slack_ns: None,
            waited,
        }
    }

    /// Number of transactions that were queued and have not ended.
    pub fn open(&self) -> usize {
        self.flight.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::Owner;
    use flashlane_core::geometry::Place;
    use flashlane_core::{FlowId, Lpn, RequestId, UnitId};

    fn geometry() -> Geometry {
        Geometry { channels: 2, chips_per_channel: 2, dies_per_chip: 2, planes_per_die: 2, ..Geometry::plain() }
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
    fn transactions_end_in_any_order() {
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
        assert_eq!(log.open(), 0);
    }

    #[test]
    #[should_panic(expected = "transaction 3 was never queued")]
    fn an_end_without_a_beginning_is_no_device() {
        TransactionLog::new(geometry()).observe(&ended(1, 3, End::Flash));
    }
}
