//! A timeline of a run: a track for each channel, chip and die with what it does, for each flow with its requests, and
//! counters of what waits.
//!
//! Follows a device's events. Owns which tracks and slices there are; how they are written is `perfetto`'s and `chrome`'s. Promises
//! memory for what is in flight only, and a file of whole slices: what has not ended when the run ends is left out.

mod chrome;
mod groups;
mod perfetto;
mod protobuf;
mod sink;
mod slice;
mod tracks;

use std::io::{self, Write};

use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Geometry, Op, Owner, RequestId, Time, UnitId};
use rustc_hash::FxHashMap;

use crate::in_flight::{Begun, Change, Command, InFlight, Transaction};

use sink::Sink;
use slice::Slice;
use tracks::{Kind, Tracks};

/// How a timeline is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimelineFormat {
    /// Perfetto's protobuf, with compressed packets.
    Perfetto,
    /// The JSON of Chrome's trace viewer, which Perfetto reads too.
    Chrome,
}

/// Writes a timeline.
pub struct Timeline<W: Write> {
    geometry: Geometry,
    /// First and last instant shown, ns.
    window: (u64, u64),
    sink: Sink<W>,
    tracks: Tracks,
    flight: InFlight<(), Shown>,
    requests: FxHashMap<u64, Request>,
    /// Transactions that wait at each unit: reads, writes, garbage collection's.
    waiting: Vec<[i64; 3]>,
    /// What the file says of them last.
    shown: Vec<[Option<i64>; 3]>,
    /// Counters that changed at `now`: unit and kind.
    changed: Vec<(usize, usize)>,
    /// The command that is beginning: its members come one after another.
    beginning: Option<u64>,
    /// Whether the window has begun.
    entered: bool,
    /// Whether nothing is shown yet.
    is_empty: bool,
    now: u64,
    failed: Option<io::Error>,
}

/// How a command is shown.
#[derive(Default)]
struct Shown {
    /// Whether its slice has begun in the file, and that of its pause.
    has_begun: bool,
    has_paused: bool,
    members: Vec<u64>,
    page: Option<u64>,
    name: &'static str,
    /// The dies of its members, with the last end on each.
    dies: Vec<(u32, u64)>,
}

struct Request {
    flow: FlowId,
    op: Op,
    /// When the device got it.
    submitted: u64,
    pages: u32,
    lane: usize,
    transactions: Vec<u64>,
}

/// What a command is called.
fn name(op: FlashOp, owner: Owner) -> &'static str {
    match (op, owner) {
        (FlashOp::Read, Owner::Gc) => "move: read",
        (FlashOp::Program, Owner::Gc) => "move: program",
        (FlashOp::Read, Owner::Mapping) => "map: read",
        (FlashOp::Program, Owner::Mapping) => "map: program",
        (FlashOp::Read, Owner::Fold) => "fold: read",
        (FlashOp::Program, Owner::Fold) => "fold: program",
        (FlashOp::Read, _) => "read",
        (FlashOp::Program, _) => "program",
        (FlashOp::Erase, _) => "erase",
    }
}

/// The beginning of a command's slice.
fn beginning(track: u64, command: &Command<Shown>) -> Slice<'_> {
    let (begun, Shown { name, page, members, .. }) = (command.begun.ns(), &command.own);
    let value = page.map(|page| ("page", page));
    Slice { value, arrives: members, ..Slice::plain(track, name, begun, begun) }
}

/// Which counter a transaction belongs to.
fn kind(transaction: &Transaction<()>) -> usize {
    match (transaction.owner, transaction.op) {
        (Owner::Gc | Owner::Fold, _) => 2,
        (_, FlashOp::Read) => 0,
        _ => 1,
    }
}

impl<W: Write + Send + 'static> Timeline<W> {
    /// A timeline of a device of this shape with these flows, of what touches the instants `from` to `to`, ns. What is compressed is so on a
    /// thread of its own if `apart`; the bytes are the same.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(
        out: W,
        format: TimelineFormat,
        geometry: Geometry,
        flows: &[String],
        (from, to): (u64, u64),
        apart: bool,
    ) -> io::Result<Timeline<W>> {
        let mut sink = Sink::new(out, format, apart)?;
        let tracks = Tracks::new(geometry, flows, &mut sink)?;
        Ok(Timeline {
            geometry,
            window: (from, to),
            sink,
            tracks,
            flight: InFlight::default(),
            requests: FxHashMap::default(),
            waiting: vec![[0; 3]; geometry.units() as usize],
            shown: vec![[None; 3]; geometry.units() as usize],
            changed: Vec::new(),
            beginning: None,
            entered: false,
            is_empty: true,
            now: 0,
            failed: None,
        })
    }

    /// Processes an event. The first error while writing is kept for [`Timeline::finish`].
    pub fn observe(&mut self, stamped: &Stamped) {
        if self.failed.is_none()
            && let Err(error) = self.event(stamped)
        {
            self.failed = Some(error);
        }
    }

    /// Whether nothing of the run so far falls into the window.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// When the last event was, ns.
    pub fn seen_until(&self) -> u64 {
        self.now
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.flush_counters()?;
        self.sink.finish()
    }

    fn event(&mut self, stamped: &Stamped) -> io::Result<()> {
        let now = stamped.at.ns();
        let joins = |begun| matches!(stamped.event, Event::Dispatched { command, .. } if command == begun);
        if self.beginning.is_some_and(|begun| !joins(begun)) {
            self.begin()?;
        }
        if now != self.now {
            self.flush_counters()?;
            self.now = now;
        }
        if !self.entered && now >= self.window.0 {
            self.enter()?;
        }
        match self.flight.follow(stamped) {
            Some(Change::Queued(txn)) => {
                let transaction = self.flight.transaction(txn);
                let (unit, kind) = (self.geometry.unit_of(transaction.plane), kind(transaction));
                self.count(unit, kind, 1);
            }
            Some(Change::Moved(txn, from)) => {
                let transaction = self.flight.transaction(txn);
                let (to, kind) = (self.geometry.unit_of(transaction.plane), kind(transaction));
                self.count(self.geometry.unit_of(from), kind, -1);
                self.count(to, kind, 1);
            }
            Some(Change::Begun { txn, command, is_first }) => self.begun(txn, command, is_first),
            Some(Change::Paused(command)) => return self.paused(command, now),
            Some(Change::Resumed(command, _)) => return self.resumed(command, now),
            Some(Change::Ended { txn, end, .. }) => return self.ended(txn, end, now),
            None => return self.other(&stamped.event, now),
        }
        Ok(())
    }

    /// Shows what happens to nothing in flight.
    fn other(&mut self, event: &Event, now: u64) -> io::Result<()> {
        match *event {
            Event::Submitted { request, flow, op, arrival, pages, .. } => {
                let lane = self.tracks.take_lane(flow, &mut self.sink)?;
                let transactions = Vec::new();
                self.requests.insert(request.0, Request { flow, op, submitted: now, pages, lane, transactions });
                self.held(request, flow, (arrival.ns(), now))
            }
            Event::BusTaken { channel, command, until, .. } => {
                let name = self.flight.command(command).map_or("transfer", |command| command.own.name);
                self.slice(&Slice::plain(self.tracks.channel(channel), name, now, until.ns()))
            }
            Event::Completed { request } => self.completed(request, now),
            Event::VictimChosen { plane, valid, .. } => {
                let track = self.tracks.unit(self.geometry.unit_of(plane));
                let value = Some(("valid pages", valid.into()));
                self.slice(&Slice { value, ..Slice::plain(track, "victim", now, now) })
            }
            _ => Ok(()),
        }
    }

    fn begun(&mut self, txn: u64, number: u64, is_first: bool) {
        let transaction = self.flight.transaction(txn);
        let Transaction { request, op, owner, lpn, .. } = *transaction;
        let kind = kind(transaction);
        if let Some(request) = request
            && let Some(request) = self.requests.get_mut(&request.0)
        {
            request.transactions.push(txn);
        }
        let Some(Command { unit, own, .. }) = self.flight.command_mut(number) else { return };
        if is_first {
            (own.name, own.page) = (name(op, owner), (op != FlashOp::Erase).then_some(lpn.0.into()));
        }
        if request.is_some() {
            own.members.push(txn);
        }
        let unit = *unit;
        self.beginning = Some(number);
        self.count(unit, kind, -1);
    }

    /// All members of the command that is beginning are known: begins its slice.
    fn begin(&mut self) -> io::Result<()> {
        let (from, to) = self.window;
        let Some(command) = self.beginning.take().and_then(|number| self.flight.command_mut(number)) else {
            return Ok(());
        };
        if !(from..=to).contains(&command.begun.ns()) {
            return Ok(());
        }
        (command.own.has_begun, self.is_empty) = (true, false);
        self.sink.begin(&beginning(self.tracks.unit(command.unit), command))
    }

    /// The window begins: shows what began before it and has not ended, outermost first.
    fn enter(&mut self) -> io::Result<()> {
        self.entered = true;
        let mut open: Vec<(Time, u64)> =
            self.flight.commands().map(|(number, command)| (command.begun, number)).collect();
        open.sort_unstable();
        for (_, number) in open {
            let command = self.flight.command_mut(number).filter(|command| !command.own.has_begun);
            let Some(command) = command else { continue };
            (command.own.has_begun, self.is_empty) = (true, false);
            let track = self.tracks.unit(command.unit);
            self.sink.begin(&beginning(track, command))?;
            if let Some(since) = command.paused {
                command.own.has_paused = true;
                self.sink.begin(&Slice::plain(track, "paused", since.ns(), since.ns()))?;
            }
        }
        Ok(())
    }

    fn paused(&mut self, number: u64, now: u64) -> io::Result<()> {
        let Some(Command { unit, own, .. }) = self.flight.command_mut(number) else { return Ok(()) };
        own.has_paused = own.has_begun && now <= self.window.1;
        if !own.has_paused {
            return Ok(());
        }
        self.sink.begin(&Slice::plain(self.tracks.unit(*unit), "paused", now, now))
    }

    fn resumed(&mut self, number: u64, now: u64) -> io::Result<()> {
        let Some(Command { unit, own, .. }) = self.flight.command_mut(number) else { return Ok(()) };
        if !std::mem::take(&mut own.has_paused) {
            return Ok(());
        }
        self.sink.end(self.tracks.unit(*unit), now)
    }

    fn ended(&mut self, txn: u64, end: End, now: u64) -> io::Result<()> {
        let transaction = self.flight.transaction(txn);
        let (plane, kind) = (transaction.plane, kind(transaction));
        let Some(Begun { command, .. }) = transaction.begun else {
            // It never reached the flash.
            debug_assert_ne!(end, End::Flash);
            self.count(self.geometry.unit_of(plane), kind, -1);
            return Ok(());
        };
        let die = self.tracks.die_of(plane);
        let Some(Command { unit, begun, left, own, .. }) = self.flight.command_mut(command) else { return Ok(()) };
        match own.dies.iter_mut().find(|(known, _)| *known == die) {
            Some((_, last)) => *last = now,
            None => own.dies.push((die, now)),
        }
        if *left > 0 {
            return Ok(());
        }
        let (unit, begun, own) = (*unit, begun.ns(), std::mem::take(own));
        if own.has_begun {
            self.sink.end(self.tracks.unit(unit), now)?;
        }
        if self.tracks.dies_apart() {
            for (die, until) in own.dies {
                self.slice(&Slice::plain(self.tracks.die(die), own.name, begun, until))?;
            }
        }
        Ok(())
    }

    fn completed(&mut self, request: RequestId, now: u64) -> io::Result<()> {
        let Some(done) = self.requests.remove(&request.0) else { return Ok(()) };
        let track = self.tracks.lane(done.flow, done.lane);
        self.tracks.free_lane(done.flow, done.lane);
        let name = match done.op {
            Op::Read => "read request",
            Op::Write => "write request",
            Op::Trim => "trim",
            Op::WriteZeroes => "write zeroes",
            Op::Flush => "flush",
        };
        let value = Some(("request", request.0));
        let (pages, leaves) = (Some(("pages", done.pages.into())), done.transactions.as_slice());
        self.slice(&Slice { value, second: pages, leaves, ..Slice::plain(track, name, done.submitted, now) })
    }

    /// Shows how long a block layer held a request back.
    fn held(&mut self, request: RequestId, flow: FlowId, (since, until): (u64, u64)) -> io::Result<()> {
        let (from, to) = self.window;
        if until == since || until < from || since > to {
            return Ok(());
        }
        let track = self.tracks.lane_above(flow, (since, until), &mut self.sink)?;
        let value = Some(("request", request.0));
        self.slice(&Slice { value, ..Slice::plain(track, "waits above the drive", since, until) })
    }

    fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let (from, to) = self.window;
        if slice.until < from || slice.begun > to {
            return Ok(());
        }
        self.is_empty = false;
        self.sink.slice(slice)
    }

    fn count(&mut self, unit: UnitId, kind: usize, by: i64) {
        self.waiting[unit.index()][kind] += by;
        if !self.changed.contains(&(unit.index(), kind)) {
            self.changed.push((unit.index(), kind));
        }
    }

    /// Writes the counters that have another value after the instant that is over than before it.
    fn flush_counters(&mut self) -> io::Result<()> {
        let (from, to) = self.window;
        let is_shown = (from..=to).contains(&self.now);
        for (unit, kind) in self.changed.drain(..) {
            let value = self.waiting[unit][kind];
            if is_shown && self.shown[unit][kind].replace(value) != Some(value) {
                self.sink.counter(self.tracks.counter(unit, Kind::ALL[kind]), self.now, value)?;
            }
        }
        Ok(())
    }
}
