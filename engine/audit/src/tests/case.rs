//! Hand-made event streams: a device, its scheduler, its initial state, and the events it reports.

use flashlane_core::decide::{GcMode, SuspendPoints};
use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::geometry::UnitKind;
use flashlane_core::request::Op;
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{ChannelId, Duration, FlowId, Geometry, Lpn, PlaneId, Ppa, RequestId, Time, UnitId};
use flashlane_ssd::config::*;

use crate::{Auditor, Formula, KEPT, Policy, Start, Verdict};

/// Bus time of a whole page: 4096 bytes at 100 MB/s.
pub const X: u64 = 40_960;
/// Array times.
pub const READ: u64 = 40_000;
pub const PROGRAM: u64 = 200_000;
pub const ERASE: u64 = 1_000_000;
/// One of ten iterations of a program.
pub const ITERATION: u64 = 20_000;
pub const SUSPEND: u64 = 1_000;
pub const RESUME: u64 = 2_000;

/// Places of pages at the start (logical page, plane, physical page), and written pages (plane, block, count).
pub type Layout = (&'static [(u32, u16, u32)], &'static [(u16, u32, u32)]);

/// A layout as a formula.
struct LayoutFormula(Layout);

impl Formula for LayoutFormula {
    fn place(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        let lies = self.0.0.iter().find(|lies| lies.0 == lpn.0);
        lies.map(|&(_, plane, ppa)| (PlaneId(plane), Ppa(ppa)))
    }

    fn lpn_at(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
        let lies = self.0.0.iter().find(|lies| (lies.1, lies.2) == (plane.0, ppa.0));
        lies.map(|&(lpn, ..)| Lpn(lpn))
    }

    fn written(&self, plane: PlaneId, block: u32) -> u32 {
        self.0.1.iter().find(|fill| (fill.0, fill.1) == (plane.0, block)).map_or(0, |&(_, _, count)| count)
    }
}

/// A stream to be audited.
#[derive(Clone)]
pub struct Case {
    pub config: Config,
    pub policy: Policy,
    pub start: Option<Layout>,
    pub events: Vec<Stamped>,
    /// Whether events are observed in the order given; otherwise by time, those of one instant in the order given.
    pub as_given: bool,
}

/// Two channels of two chips of two dies of two planes of eight blocks of four pages; the chip is the unit, so unit u
/// has planes 4u to 4u + 3, and units 0 and 1 share channel 0.
pub fn config() -> Config {
    let plain = Config::plain(Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 2,
        planes_per_die: 2,
        blocks_per_plane: 8,
        pages_per_block: 4,
        page_bytes: 4096,
        metadata_bytes: 128,
        slots: 1,
        row_planes: 1,
        unit: UnitKind::Chip,
    });
    let array = |ns| Latency::Constant(Duration::from_ns(ns));
    Config {
        nand: Nand {
            read: array(READ),
            program: array(PROGRAM),
            erase: array(ERASE),
            iterations: 10,
            suspend: Duration::from_ns(SUSPEND),
            resume: Duration::from_ns(RESUME),
            suspend_limit: 1,
            ..plain.nand
        },
        bus: Bus { mega_transfers: 100, ..plain.bus },
        ftl: Ftl { logical_pages: 256, ..plain.ftl },
        gc: Gc { start_blocks: 2, separate_frontier: false, ..plain.gc },
        front: Front { protocol: Protocol::Nvme { depth: 64 }, in_flight: 64, queue_capacity: [64; 2], ..plain.front },
        flows: vec![FlowConfig::at_priority(0); 2],
        ..plain
    }
}

impl Case {
    /// An erased device that does nothing.
    pub fn new() -> Case {
        let mut config = config();
        config.check().unwrap();
        // More free blocks than a plane can have: scenes may collect as soon as a block is written.
        config.gc.start_blocks = config.geometry.blocks_per_plane;
        let policy = Policy {
            suspend_points: SuspendPoints::Boundary,
            gc_mode: GcMode::Transactions { pausable: true },
            binds_late: false,
            moves_take_time: false,
            cancelled_end_at_once: false,
            oldest_first: false,
        };
        Case { config, policy, start: None, events: Vec::new(), as_given: false }
    }

    /// The verdict if the whole start state is given at once.
    pub fn audit(&self) -> Verdict {
        let Some(layout) = self.start else { return self.audit_from(Start::Fresh) };
        let formula = LayoutFormula(layout);
        let (lpn_of, written) = (|plane, ppa| formula.lpn_at(plane, ppa), |plane, block| formula.written(plane, block));
        self.audit_from(Start::Known { lpn_of: &lpn_of, written: &written })
    }

    /// The verdict if the start state is given by a formula, block by block.
    pub fn audit_by_formula(&self) -> Verdict {
        self.audit_from(Start::Formula(Box::new(LayoutFormula(self.start.unwrap_or_default()))))
    }

    /// The verdict for this start state.
    pub fn audit_from(&self, start: Start<'_>) -> Verdict {
        let mut auditor = Auditor::new(&self.config, self.policy, start, KEPT);
        let mut events = self.events.clone();
        if !self.as_given {
            events.sort_by_key(|stamped| stamped.at);
        }
        events.iter().for_each(|stamped| auditor.observe(stamped));
        auditor.finish()
    }

    pub fn push(&mut self, at: u64, event: Event) {
        self.events.push(Stamped { at: Time::from_ns(at), event });
    }

    /// A request is submitted and admitted.
    pub fn submit(&mut self, at: u64, request: u64, op: Op, pages: u32) {
        let request = RequestId(request);
        let (arrival, extent) = (Time::from_ns(at), None);
        self.push(at, Event::Submitted { request, flow: FlowId(0), op, arrival, pages, fua: false, extent });
        self.push(at, Event::Admitted { request });
    }

    pub fn complete(&mut self, at: u64, request: u64) {
        self.push(at, Event::Completed { request: RequestId(request) });
    }

    /// A whole-page transaction joins its queue.
    pub fn queue(&mut self, at: u64, txn: u64, requester: Requester, op: FlashOp, lpn: u32, plane: u16) {
        let (owner, request) = match requester {
            Requester::Request(name) => (Owner::User, Some(RequestId(name))),
            Requester::Gc => (Owner::Gc, None),
            Requester::Buffer => (Owner::Buffer, None),
            Requester::Mapping => (Owner::Mapping, None),
        };
        let (plane, bytes) = (PlaneId(plane), if op == FlashOp::Erase { 0 } else { 4096 });
        self.push(at, Event::Queued { txn, request, flow: FlowId(0), op, owner, lpn: Lpn(lpn), plane, bytes });
    }

    pub fn dispatch(&mut self, at: u64, txn: u64, command: u64, unit: u16, ppa: u32) {
        self.push(at, Event::Dispatched { txn, command, unit: UnitId(unit), ppa, slack: Duration::ZERO });
    }

    pub fn map(&mut self, at: u64, lpn: u32, plane: u16, ppa: u32) {
        self.push(at, Event::Mapped { lpn: Lpn(lpn), plane: PlaneId(plane), ppa });
    }

    pub fn bus(&mut self, at: u64, unit: u16, command: u64, length: u64) {
        let until = Time::from_ns(at + length);
        self.push(at, Event::BusTaken { channel: ChannelId(unit / 2), unit: UnitId(unit), command, until });
    }

    pub fn array(&mut self, at: u64, unit: u16, command: u64, length: u64) {
        self.push(at, Event::ArrayStarted { unit: UnitId(unit), command, until: Time::from_ns(at + length) });
    }

    pub fn array_end(&mut self, at: u64, unit: u16, command: u64) {
        self.push(at, Event::ArrayEnded { unit: UnitId(unit), command });
    }

    pub fn end(&mut self, at: u64, txn: u64, end: End, paused: u64) {
        self.push(at, Event::Ended { txn, end, paused: Duration::from_ns(paused) });
    }

    /// A read alone, from dispatch to end; its data goes out `wait` after its array phase. Returns the end.
    pub fn read(&mut self, at: u64, txn: u64, command: u64, unit: u16, ppa: u32, wait: u64) -> u64 {
        self.dispatch(at, txn, command, unit, ppa);
        self.array(at, unit, command, READ);
        self.array_end(at + READ, unit, command);
        self.bus(at + READ + wait, unit, command, X);
        let done = at + READ + wait + X;
        self.end(done, txn, End::Flash, 0);
        done
    }

    /// A program alone, from dispatch to end. Returns the end.
    pub fn program(&mut self, at: u64, txn: u64, command: u64, lpn: u32, (plane, ppa): (u16, u32)) -> u64 {
        let unit = plane / 4;
        self.dispatch(at, txn, command, unit, ppa);
        self.map(at, lpn, plane, ppa);
        self.bus(at, unit, command, X);
        self.array(at + X, unit, command, PROGRAM);
        let done = at + X + PROGRAM;
        self.array_end(done, unit, command);
        self.end(done, txn, End::Flash, 0);
        done
    }

    /// A garbage-collection erase alone, from its queue to its end. Returns the end.
    pub fn erase(&mut self, at: u64, txn: u64, command: u64, plane: u16, block: u32) -> u64 {
        let unit = plane / 4;
        self.queue(at, txn, Requester::Gc, FlashOp::Erase, 0, plane);
        self.dispatch(at, txn, command, unit, block * 4);
        self.array(at, unit, command, ERASE);
        self.array_end(at + ERASE, unit, command);
        self.push(at + ERASE, Event::Erased { plane: PlaneId(plane), block });
        self.end(at + ERASE, txn, End::Flash, 0);
        at + ERASE
    }

    /// Index of the `n`th event (from 0) for which `is` holds.
    pub fn find(&self, n: usize, is: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().enumerate().filter(|(_, s)| is(&s.event)).nth(n).expect("the scene has that event").0
    }

    /// Changes the `n`th event for which `is` holds.
    pub fn change(&mut self, n: usize, is: impl Fn(&Event) -> bool, how: impl FnOnce(&mut Stamped)) {
        let index = self.find(n, is);
        how(&mut self.events[index]);
    }

    /// Leaves out the `n`th event for which `is` holds.
    pub fn leave_out(&mut self, n: usize, is: impl Fn(&Event) -> bool) {
        let index = self.find(n, is);
        self.events.remove(index);
    }

    /// Repeats the `n`th event for which `is` holds.
    pub fn repeat(&mut self, n: usize, is: impl Fn(&Event) -> bool) {
        let index = self.find(n, is);
        self.events.insert(index, self.events[index]);
    }

    /// Moves one event right after another, to that one's instant.
    pub fn put_after(&mut self, moved: impl Fn(&Event) -> bool, anchor: impl Fn(&Event) -> bool) {
        let event = self.events.remove(self.find(0, moved)).event;
        let index = self.find(0, anchor);
        self.events.insert(index + 1, Stamped { at: self.events[index].at, event });
    }

    /// Leaves out everything a unit did for a command.
    pub fn leave_out_command(&mut self, number: u64) {
        self.events.retain(|stamped| command_of(&stamped.event) != Some(number));
    }

    /// Delays all events from the first one on for which `is` holds by `by`; ends planned before stay as they were.
    pub fn delay(&mut self, is: impl Fn(&Event) -> bool, by: u64) {
        let index = self.find(0, is);
        for stamped in &mut self.events[index..] {
            stamped.at += Duration::from_ns(by);
            if let Event::BusTaken { until, .. } | Event::ArrayStarted { until, .. } = &mut stamped.event {
                *until += Duration::from_ns(by);
            }
        }
    }
}

/// The command an event is about.
pub fn command_of(event: &Event) -> Option<u64> {
    match *event {
        Event::Dispatched { command, .. }
        | Event::BusTaken { command, .. }
        | Event::ArrayStarted { command, .. }
        | Event::ArrayEnded { command, .. }
        | Event::Paused { command, .. } => Some(command),
        _ => None,
    }
}

/// What a transaction is for.
#[derive(Clone, Copy)]
pub enum Requester {
    Request(u64),
    Gc,
    Buffer,
    Mapping,
}
