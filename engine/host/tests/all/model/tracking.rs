//! The tracker by hand: what it predicts from the device's events, and when its messages are due. Times in microseconds; the flash takes 50, a page
//! crosses the channel in 10, and its completion arrives 2 later.

use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{ChannelId, Duration, FlowId, Lpn, PlaneId, RequestId, Time, UnitId};
use flashlane_host::{Meter, Predictor, Tracker};

use crate::model::scene::device::geometry;

fn at(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

/// A tracker of a channel with four units, and what it has counted.
struct Told {
    tracker: Tracker,
    meter: Meter,
}

impl Told {
    /// One that has seen three reads by themselves.
    fn warm(predictor: Predictor) -> Told {
        let mut told = Told { tracker: Tracker::new(geometry(1, 4), Some(predictor)), meter: Meter::default() };
        for id in 0..3 {
            let from = 100 * id;
            told.issued(id, 0, from);
            told.bus(id, 0, from + 50, from + 60);
            told.ended(id, from + 60);
            told.completed(id, from + 62);
        }
        told
    }

    fn tell(&mut self, us: u64, event: Event) {
        self.tracker.observe(&Stamped { at: at(us), event });
    }

    /// A page that becomes the command `txn`, or joins `command`. Only reads are the host's.
    fn dispatched(&mut self, txn: u64, command: u64, op: FlashOp, unit: u16, us: u64) {
        let request = (op == FlashOp::Read).then_some(RequestId(txn));
        if let Some(id) = request {
            self.tracker.expect(id, true, Duration::from_us(20));
        }
        let (flow, owner, lpn, plane) = (FlowId(0), Owner::User, Lpn(0), PlaneId(unit));
        self.tell(us, Event::Queued { txn, request, flow, op, owner, lpn, plane, bytes: 4096 });
        self.tell(us, Event::Dispatched { txn, command, unit: UnitId(unit), ppa: 0, slack: Duration::ZERO });
    }

    /// A read of one page is issued to its chip.
    fn issued(&mut self, id: u64, unit: u16, us: u64) {
        self.dispatched(id, id, FlashOp::Read, unit, us);
        self.array(id, unit, us, us + 50);
    }

    fn array(&mut self, command: u64, unit: u16, us: u64, until: u64) {
        self.tell(us, Event::ArrayStarted { unit: UnitId(unit), command, until: at(until) });
    }

    fn bus(&mut self, command: u64, unit: u16, us: u64, until: u64) {
        let (channel, unit) = (ChannelId(0), UnitId(unit));
        self.tell(us, Event::BusTaken { channel, unit, command, until: at(until) });
    }

    fn ended(&mut self, txn: u64, us: u64) {
        self.tell(us, Event::Ended { txn, end: End::Flash, paused: Duration::ZERO });
    }

    fn completed(&mut self, id: u64, us: u64) {
        self.tracker.completed(RequestId(id), at(us), &mut self.meter);
    }

    /// The messages that go out up to the end: when, for which I/O, and the end they announce.
    fn messages(&mut self) -> Vec<(u64, u64, u64)> {
        let mut all = Vec::new();
        while self.tracker.next_timer() != Time::NEVER {
            let now = self.tracker.next_timer();
            while let Some((id, announced)) = self.tracker.due(now, &mut self.meter) {
                all.push((now.ns() / 1_000, id.0, announced.ns() / 1_000));
            }
        }
        all
    }
}

/// Alone a read of 1,000 ends at 1,000 + 50 + 10 + 2.
#[test]
fn a_read_by_itself() {
    for predictor in [Predictor::AtIssue, Predictor::Staged] {
        let mut told = Told::warm(predictor);
        told.issued(10, 1, 1_000);
        assert_eq!(told.messages(), [(1_042, 10, 1_062)], "{predictor:?}");
    }
}

/// Something takes the channel from 1,030 to 1,060; the read is ready at 1,050 and crosses from 1,060 to 1,070.
#[test]
fn a_read_that_is_ready_while_the_bus_is_taken() {
    let of = |predictor| {
        let mut told = Told::warm(predictor);
        told.issued(10, 1, 1_000);
        told.bus(99, 3, 1_030, 1_060);
        told.messages()
    };
    assert_eq!(of(Predictor::Staged), [(1_052, 10, 1_072)]);
    assert_eq!(of(Predictor::AtIssue), [(1_042, 10, 1_062)], "the paper's does not look at the bus");
}

/// A read that is issued while the channel is taken for longer than it is in the flash: taken until 1,080, it crosses until 1,090.
#[test]
fn a_read_that_is_issued_while_the_bus_is_taken() {
    let mut told = Told::warm(Predictor::Staged);
    told.bus(99, 3, 1_000, 1_080);
    told.issued(10, 1, 1_010);
    assert_eq!(told.messages(), [(1_072, 10, 1_092)]);
}

/// Reads cross in the order in which they are ready: the one of 1,045 until 1,055, the one of 1,050 until 1,065. Of two that are ready at 1,060 the
/// older command goes first, though it was told of later.
#[test]
fn reads_cross_one_after_the_other() {
    let mut told = Told::warm(Predictor::Staged);
    for (id, unit, us) in [(11, 3, 995), (10, 0, 1_000), (13, 1, 1_010), (12, 2, 1_010)] {
        told.issued(id, unit, us);
    }
    let messages = told.messages();
    assert_eq!(messages, [(1_037, 11, 1_057), (1_047, 10, 1_067), (1_057, 12, 1_077), (1_067, 13, 1_087)]);
}

/// The read 12 is ready at 1,062. While another crosses, from 1,050 to 1,060, a program comes to want the channel: it would have it until 1,070, and the
/// read until 1,080. It takes 13, until 1,073, which makes the last three transfers 10, 10 and 13, 11 in the mean: the read until 1,084.
#[test]
fn a_program_that_wants_the_bus() {
    let crossing = || {
        let mut told = Told::warm(Predictor::Staged);
        told.issued(10, 0, 1_000);
        told.issued(12, 2, 1_012);
        told.bus(10, 0, 1_050, 1_060);
        told.dispatched(11, 11, FlashOp::Program, 1, 1_055);
        told
    };
    assert_eq!(crossing().messages().last(), Some(&(1_062, 12, 1_082)));
    let mut told = crossing();
    told.ended(10, 1_060);
    told.bus(11, 1, 1_060, 1_073);
    told.completed(10, 1_062);
    assert_eq!(told.messages(), [(1_066, 12, 1_086)]);
}

/// The second page of a command follows the first: 1,050 to 1,060 to 1,070. When the first is on the bus until 1,067 the second is behind it; when the
/// second is on the bus its end is known.
#[test]
fn pages_of_a_command_cross_in_turn() {
    let issued = || {
        let mut told = Told::warm(Predictor::Staged);
        told.dispatched(10, 10, FlashOp::Read, 0, 1_000);
        told.dispatched(11, 10, FlashOp::Read, 0, 1_000);
        told.array(10, 0, 1_000, 1_050);
        told
    };
    assert_eq!(issued().messages(), [(1_042, 10, 1_062), (1_052, 11, 1_072)]);
    let mut told = issued();
    told.bus(10, 0, 1_055, 1_067);
    assert_eq!(told.messages(), [(1_055, 10, 1_069), (1_059, 11, 1_079)]);
    let mut told = issued();
    told.bus(10, 0, 1_045, 1_055);
    told.bus(10, 0, 1_055, 1_058);
    told.ended(10, 1_055);
    assert_eq!(told.messages(), [(1_045, 10, 1_057), (1_055, 11, 1_060)]);
}

/// Where transfers take no time the bus is never seen taken: a program leaves the line when its array phase begins. A read of its unit is then predicted
/// once and right, when it is issued and when its message goes out.
#[test]
fn a_program_whose_data_take_no_time() {
    let mut told = Told::warm(Predictor::Staged);
    told.dispatched(10, 10, FlashOp::Program, 0, 1_000);
    told.array(10, 0, 1_000, 1_500);
    told.ended(10, 1_500);
    told.issued(11, 0, 1_500);
    assert_eq!(told.messages(), [(1_542, 11, 1_562)]);
    told.completed(11, 1_562);
    assert_eq!((told.meter.at_issue.count, told.meter.at_issue.squares_ns), (1, 0));
}

/// A read that ends before its message is due is counted as too late, and its message does not go out. A completion exactly a microsecond from the
/// prediction counts as off, one of 999 ns does not.
#[test]
fn predictions_are_counted() {
    let mut told = Told::warm(Predictor::AtIssue);
    told.issued(10, 1, 1_000);
    told.completed(10, 1_041);
    assert_eq!((told.messages(), told.meter.too_late, told.meter.cold), (vec![], 1, 3));
    assert_eq!((told.meter.at_message.sum_ns, told.meter.at_message.beyond_1us), (21_000, 1));
    for (id, from, after, beyond) in [(11, 2_000, 63_000, 2), (12, 3_000, 61_000, 3), (13, 4_000, 62_999, 3)] {
        told.issued(id, 1, from);
        assert_eq!(told.messages(), [(from + 42, id, from + 62)]);
        told.tracker.completed(RequestId(id), at(from) + Duration::from_ns(after), &mut told.meter);
        assert_eq!(told.meter.at_issue.beyond_1us, beyond);
    }
    assert_eq!(told.meter.at_issue.sum_ns, 21_000 - 1_000 + 1_000 - 999);
    assert_eq!((told.meter.at_issue.count, told.meter.too_late), (4, 1));
}

/// The memory has served a request if it gave all of its pages at the instant of its admission. One that needs a page of the flash too was not, whichever
/// of the two is told first.
#[test]
fn a_request_is_served_from_memory_as_a_whole_or_not() {
    let served = |steps: &[(u64, bool)]| {
        let mut told = Told { tracker: Tracker::new(geometry(1, 4), None), meter: Meter::default() };
        let request = RequestId(10);
        told.tracker.expect(request, false, Duration::ZERO);
        told.tell(1_000, Event::Admitted { request });
        for (i, &(us, memory)) in (0u32..).zip(steps) {
            let (lpn, plane, flow) = (Lpn(i), PlaneId(0), FlowId(0));
            let (op, owner) = (FlashOp::Read, Owner::User);
            let txn = u64::from(i);
            let of_flash = Event::Queued { txn, request: Some(request), flow, op, owner, lpn, plane, bytes: 4096 };
            told.tell(us, if memory { Event::PageFromMemory { request, lpn } } else { of_flash });
        }
        told.tracker.completed(request, at(2_000), &mut told.meter).from_memory
    };
    let (memory, flash) = ((1_000, true), (1_000, false));
    assert!(served(&[memory]) && served(&[memory, memory]));
    assert!(!served(&[flash]) && !served(&[memory, flash]) && !served(&[flash, memory]));
    assert!(!served(&[(1_001, true)]), "later than its admission");
}
