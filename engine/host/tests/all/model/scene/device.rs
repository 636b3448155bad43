//! A small device with times from tables: units that do one command at a time, first come first served, and channels with one transfer
//! at a time. What it reports, and in which order, is what a tracker is told by a real one.

use std::collections::{BTreeMap, VecDeque};

use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::geometry::UnitKind;
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Duration, FlowId, Geometry, Lpn, Op, PlaneId, RequestId, Time, UnitId};
use flashlane_host::Io;

/// Dies of one plane that work by themselves, one a chip.
pub fn geometry(channels: u32, chips_per_channel: u32) -> Geometry {
    Geometry {
        channels,
        chips_per_channel,
        blocks_per_plane: 16,
        pages_per_block: 16,
        unit: UnitKind::Die,
        ..Geometry::plain()
    }
}

/// What a request of a scene meets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    /// All of its pages go to the flash.
    Flash,
    /// The memory serves all of them at its admission.
    Memory,
    /// The memory serves them a while later.
    Late,
    /// The memory serves the first, the flash the rest.
    Both,
}

/// Times and sizes, each by the number of what it belongs to, modulo the length of its table.
#[derive(Clone, Debug)]
pub struct Tables {
    pub geometry: Geometry,
    /// Array phases by transaction; those of programs take three times as long.
    pub array: Vec<u64>,
    /// Bytes of a page by request.
    pub bytes: Vec<u32>,
    /// A sector on the bus, ns; 0 for transfers without events.
    pub sector: u64,
    /// Between the pages of a command.
    pub gap: u64,
    /// From the last page to the completion, by request.
    pub link: Vec<u64>,
    pub fates: Vec<Fate>,
    /// From the submission to the completion of what the memory serves.
    pub memory: u64,
    /// Free pages that completions tell.
    pub free: Vec<Option<u32>>,
    /// Whether a unit does two pages of an operation as one command.
    pub pairs: bool,
    /// Transactions of the device's own: when, where and what.
    pub own: Vec<(u64, u16, FlashOp)>,
}

#[derive(Clone, Copy, Debug)]
struct Txn {
    number: u64,
    op: FlashOp,
    request: Option<u64>,
    bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Wants the bus, from an instant on.
    Wants(u64),
    /// Has it until an instant.
    Crosses(u64),
    Array(u64),
}

#[derive(Clone, Debug)]
struct Running {
    serial: u64,
    members: Vec<Txn>,
    /// Pages that have come out.
    out: usize,
    phase: Phase,
}

/// The device.
#[derive(Debug)]
pub struct Device {
    tables: Tables,
    queues: Vec<VecDeque<Txn>>,
    running: Vec<Option<Running>>,
    /// Requests with pages to come.
    open: BTreeMap<u64, u32>,
    /// When what ends: `true` for completions, `false` for pages that the memory serves late.
    ends: BTreeMap<(u64, u64), bool>,
    own: VecDeque<(u64, u16, FlashOp)>,
    txns: u64,
    commands: u64,
    pub events: Vec<Stamped>,
    /// Requests that have completed, and the free pages told.
    pub completions: Vec<(RequestId, Option<u32>)>,
}

fn value<T: Copy>(table: &[T], i: u64) -> T {
    table[i as usize % table.len()]
}

impl Device {
    pub fn new(tables: &Tables) -> Device {
        let units = tables.geometry.units() as usize;
        Device {
            tables: tables.clone(),
            queues: vec![VecDeque::new(); units],
            running: vec![None; units],
            open: BTreeMap::new(),
            ends: BTreeMap::new(),
            own: tables.own.iter().copied().collect(),
            txns: 0,
            commands: 0,
            events: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// When something happens next, decisions apart.
    pub fn next_event(&self) -> u64 {
        let of_unit = |running: &Running| match running.phase {
            Phase::Crosses(until) | Phase::Array(until) => until,
            Phase::Wants(_) => u64::MAX,
        };
        let units = self.running.iter().flatten().map(of_unit);
        let ends = self.ends.keys().map(|&(at, _)| at);
        units.chain(ends).chain(self.own.front().map(|own| own.0)).min().unwrap_or(u64::MAX)
    }

    fn report(&mut self, now: u64, event: Event) {
        self.events.push(Stamped { at: Time::from_ns(now), event });
    }

    /// A request comes.
    pub fn submit(&mut self, now: u64, io: &Io) {
        let (id, request) = (io.id.0, io.id);
        self.report(now, Event::Admitted { request });
        let fate = value(&self.tables.fates, id);
        if fate == Fate::Late {
            self.ends.insert((now + 1 + self.tables.memory / 2, id), false);
        }
        if matches!(fate, Fate::Memory | Fate::Both) {
            self.report(now, Event::PageFromMemory { request, lpn: Lpn(0) });
        }
        if matches!(fate, Fate::Memory | Fate::Late) {
            self.ends.insert((now + self.tables.memory + 2 * u64::from(fate == Fate::Late), id | 1 << 63), true);
            return;
        }
        let first = u32::from(fate == Fate::Both && io.pages > 1);
        self.open.insert(id, io.pages - first);
        let op = if io.op == Op::Read { FlashOp::Read } else { FlashOp::Program };
        let bytes = value(&self.tables.bytes, id);
        for i in first..io.pages {
            let unit = (io.page + u64::from(i)) % self.queues.len() as u64;
            self.enqueue(now, unit as usize, op, Some(id), bytes);
        }
    }

    fn enqueue(&mut self, now: u64, unit: usize, op: FlashOp, request: Option<u64>, bytes: u32) {
        let number = self.txns;
        self.txns += 1;
        self.queues[unit].push_back(Txn { number, op, request, bytes });
        let owner = if request.is_some() { Owner::User } else { Owner::Gc };
        let (flow, lpn, plane) = (FlowId(0), Lpn(0), PlaneId(unit as u16));
        let request = request.map(RequestId);
        self.report(now, Event::Queued { txn: number, request, flow, op, owner, lpn, plane, bytes });
    }

    /// Everything that ends or comes at `now`.
    pub fn advance(&mut self, now: u64) {
        while let Some((_, unit, op)) = self.own.pop_front_if(|own| own.0 <= now) {
            let bytes = value(&self.tables.bytes, u64::from(unit));
            self.enqueue(now, unit as usize % self.queues.len(), op, None, bytes);
        }
        self.flash(now);
        self.finish(now);
    }

    fn finish(&mut self, now: u64) {
        while let Some((&(at, id), &completes)) = self.ends.first_key_value()
            && at <= now
        {
            self.ends.pop_first();
            let request = RequestId(id & !(1 << 63));
            if completes {
                self.completions.push((request, value(&self.tables.free, request.0)));
            } else {
                self.report(now, Event::PageFromMemory { request, lpn: Lpn(0) });
            }
        }
    }

    /// The decisions of `now`: units with nothing to do begin their next command.
    pub fn decide(&mut self, now: u64) {
        for unit in 0..self.queues.len() {
            if self.running[unit].is_none() {
                self.begin(now, unit);
            }
        }
        self.flash(now);
        self.finish(now);
    }

    fn begin(&mut self, now: u64, unit: usize) {
        let Some(first) = self.queues[unit].pop_front() else { return };
        let mut members = vec![first];
        if self.tables.pairs && first.op != FlashOp::Erase {
            members.extend(self.queues[unit].pop_front_if(|txn| txn.op == first.op));
        }
        self.commands += 1;
        let serial = self.commands;
        for txn in members.iter().map(|txn| txn.number) {
            let slack = Duration::ZERO;
            self.report(now, Event::Dispatched { txn, command: serial, unit: UnitId(unit as u16), ppa: 0, slack });
        }
        let running = Running { serial, members, out: 0, phase: Phase::Wants(now) };
        let starts = first.op != FlashOp::Program;
        self.running[unit] = Some(running);
        if starts {
            self.start_array(now, unit);
        }
    }

    fn start_array(&mut self, now: u64, unit: usize) {
        let Some(running) = &mut self.running[unit] else { return };
        let factor = if running.members[0].op == FlashOp::Read { 1 } else { 3 };
        let until = now + value(&self.tables.array, running.members[0].number) * factor;
        running.phase = Phase::Array(until);
        let command = running.serial;
        self.report(now, Event::ArrayStarted { unit: UnitId(unit as u16), command, until: Time::from_ns(until) });
    }

    /// Lets the flash go on until nothing more happens at `now`.
    fn flash(&mut self, now: u64) {
        loop {
            let due = |running: &Option<Running>| {
                running.as_ref().is_some_and(|r| matches!(r.phase, Phase::Crosses(at) | Phase::Array(at) if at <= now))
            };
            if let Some(unit) = self.running.iter().position(due) {
                self.phase_over(now, unit);
            } else if !(0..self.tables.geometry.channels as u16).any(|channel| self.grant(now, channel)) {
                return;
            }
        }
    }

    /// A unit's phase ends at `now`.
    fn phase_over(&mut self, now: u64, unit: usize) {
        let Some(running) = &mut self.running[unit] else { return };
        let (op, crosses) = (running.members[0].op, matches!(running.phase, Phase::Crosses(_)));
        match (op, crosses) {
            (FlashOp::Program, true) => self.start_array(now, unit),
            (FlashOp::Read, false) => running.phase = Phase::Wants(now),
            (FlashOp::Read, true) => self.page_out(now, unit),
            _ => {
                let Some(Running { serial, members, .. }) = self.running[unit].take() else { return };
                self.report(now, Event::ArrayEnded { unit: UnitId(unit as u16), command: serial });
                members.into_iter().for_each(|txn| self.end(now, txn));
            }
        }
    }

    /// A page has come out: the next begins before its end is told.
    fn page_out(&mut self, now: u64, unit: usize) {
        let Some(running) = &mut self.running[unit] else { return };
        let txn = running.members[running.out];
        running.out += 1;
        let next = running.members.get(running.out).copied();
        match next {
            Some(next) => self.cross(now, unit, self.tables.gap + self.length(&next)),
            None => self.running[unit] = None,
        }
        self.end(now, txn);
    }

    fn length(&self, txn: &Txn) -> u64 {
        self.tables.sector * u64::from(txn.bytes / 512)
    }

    fn cross(&mut self, now: u64, unit: usize, length: u64) {
        let Some(running) = &mut self.running[unit] else { return };
        running.phase = Phase::Crosses(now + length);
        let (command, unit) = (running.serial, UnitId(unit as u16));
        let channel = self.tables.geometry.channel_of(unit);
        if length > 0 {
            self.report(now, Event::BusTaken { channel, unit, command, until: Time::from_ns(now + length) });
        }
    }

    /// Gives a free channel to the unit that has wanted it longest: pages that come out first, then the older command.
    fn grant(&mut self, now: u64, channel: u16) -> bool {
        let geometry = self.tables.geometry;
        let mut line = Vec::new();
        for (unit, running) in self.running.iter().enumerate() {
            let Some(running) = running.as_ref().filter(|_| geometry.channel_of(UnitId(unit as u16)).0 == channel)
            else {
                continue;
            };
            match running.phase {
                Phase::Crosses(_) => return false,
                Phase::Wants(since) => {
                    line.push((since, running.members[0].op == FlashOp::Program, running.serial, unit));
                }
                Phase::Array(_) => {}
            }
        }
        let Some(&(_, _, _, unit)) = line.iter().min() else { return false };
        let Some(running) = &self.running[unit] else { return false };
        let crossing =
            if running.members[0].op == FlashOp::Program { &running.members[..] } else { &running.members[..1] };
        let length = crossing.iter().map(|txn| self.length(txn)).sum();
        self.cross(now, unit, length);
        true
    }

    /// A transaction ends, and perhaps its request.
    fn end(&mut self, now: u64, txn: Txn) {
        self.report(now, Event::Ended { txn: txn.number, end: End::Flash, paused: Duration::ZERO });
        let Some(id) = txn.request else { return };
        let left = self.open.get_mut(&id).expect("a request of the scene");
        *left -= 1;
        if *left == 0 {
            self.open.remove(&id);
            self.ends.insert((now + value(&self.tables.link, id), id | 1 << 63), true);
        }
    }
}
