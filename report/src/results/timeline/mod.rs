//! A timeline of a run: a track for each channel, chip and die with what it does, for each flow with its requests, and
//! counters of what waits.
//!
//! Follows a device's events. Owns which tracks and slices there are; how they are written is `perfetto`'s and `chrome`'s. Promises
//! memory for what is in flight only, and a file of whole slices: what has not ended when the run ends is left out.

mod chrome;
mod perfetto;
mod sink;
mod slice;
mod tracks;

use std::io::{self, Write};

use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Geometry, Op, Owner, PlaneId, RequestId, UnitId};
use rustc_hash::FxHashMap;

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
    transactions: FxHashMap<u64, Transaction>,
    commands: FxHashMap<u64, Command>,
    requests: FxHashMap<u64, Request>,
    /// Transactions that wait at each unit: reads, writes, garbage collection's.
    waiting: Vec<[i64; 3]>,
    /// Counters that changed at `now`: unit and kind.
    changed: Vec<(usize, usize)>,
    /// The command that is beginning: its members come one after another.
    beginning: Option<u64>,
    /// Whether the window has begun.
    entered: bool,
    now: u64,
    failed: Option<io::Error>,
}

struct Transaction {
    request: Option<RequestId>,
    op: FlashOp,
    owner: Owner,
    lpn: u32,
    plane: PlaneId,
    command: Option<u64>,
}

struct Command {
    unit: UnitId,
    begun: u64,
    paused: Option<u64>,
    /// Whether its slice has begun in the file, and that of its pause.
    shown: bool,
    pause_shown: bool,
    members: Vec<u64>,
    page: Option<u64>,
    left: usize,
    name: &'static str,
    /// The dies of its members, with the last end on each.
    dies: Vec<(u32, u64)>,
}

struct Request {
    flow: FlowId,
    op: Op,
    arrival: u64,
    pages: u32,
    lane: usize,
    transactions: Vec<u64>,
}

/// What a command is called.
fn name(op: FlashOp, owner: Owner) -> &'static str {
    match (op, owner) {
        (FlashOp::Read, Owner::Gc) => "move: read",
        (FlashOp::Program, Owner::Gc) => "move: program",
        (FlashOp::Read, _) => "read",
        (FlashOp::Program, _) => "program",
        (FlashOp::Erase, _) => "erase",
    }
}

/// The beginning of a command's slice.
fn beginning(track: u64, command: &Command) -> Slice<'_> {
    let value = command.page.map(|page| ("page", page));
    Slice { value, arrives: &command.members, ..Slice::plain(track, command.name, command.begun, command.begun) }
}

/// Which counter a transaction belongs to.
fn kind(transaction: &Transaction) -> usize {
    match (transaction.owner, transaction.op) {
        (Owner::Gc, _) => 2,
        (_, FlashOp::Read) => 0,
        _ => 1,
    }
}

impl<W: Write> Timeline<W> {
    /// A timeline of a device of this shape with these flows, of what touches the instants `from` to `to`, ns.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(
        out: W,
        format: TimelineFormat,
        geometry: Geometry,
        flows: &[String],
        (from, to): (u64, u64),
    ) -> io::Result<Timeline<W>> {
        let mut sink = Sink::new(out, format)?;
        let tracks = Tracks::new(geometry, flows, &mut sink)?;
        Ok(Timeline {
            geometry,
            window: (from, to),
            sink,
            tracks,
            transactions: FxHashMap::default(),
            commands: FxHashMap::default(),
            requests: FxHashMap::default(),
            waiting: vec![[0; 3]; geometry.units() as usize],
            changed: Vec::new(),
            beginning: None,
            entered: false,
            now: 0,
            failed: None,
        })
    }

    /// Processes an event. The first error while writing is kept for [`Timeline::finish`].
    pub fn observe(&mut self, stamped: &Stamped) {
        if self.failed.is_none()
            && let Err(error) = self.event(stamped.at.ns(), &stamped.event)
        {
            self.failed = Some(error);
        }
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

    fn event(&mut self, now: u64, event: &Event) -> io::Result<()> {
        if self.beginning.is_some_and(|begun| !matches!(*event, Event::Dispatched { command, .. } if command == begun))
        {
            self.begin()?;
        }
        if now != self.now {
            self.flush_counters()?;
            self.now = now;
        }
        if !self.entered && now >= self.window.0 {
            self.enter()?;
        }
        match *event {
            Event::Submitted { request, flow, op, arrival, pages, .. } => {
                let lane = self.tracks.take_lane(flow, &mut self.sink)?;
                let transactions = Vec::new();
                let arrival = arrival.ns();
                self.requests.insert(request.0, Request { flow, op, arrival, pages, lane, transactions });
            }
            Event::Queued { txn, request, op, owner, lpn, plane, .. } => {
                let transaction = Transaction { request, op, owner, lpn: lpn.0, plane, command: None };
                self.count(self.geometry.unit_of(plane), kind(&transaction), 1);
                self.transactions.insert(txn, transaction);
            }
            Event::Moved { txn, plane } => self.moved(txn, plane),
            Event::Dispatched { txn, command, unit, .. } => self.dispatched(txn, command, unit, now),
            Event::BusTaken { channel, command, until, .. } => {
                let name = self.commands.get(&command).map_or("transfer", |command| command.name);
                let track = self.tracks.channel(channel);
                return self.slice(&Slice::plain(track, name, now, until.ns()));
            }
            Event::ArrayStarted { command, .. } => return self.resumed(command, now),
            Event::Paused { command, .. } => return self.paused(command, now),
            Event::Ended { txn, end, .. } => return self.ended(txn, end, now),
            Event::Completed { request } => return self.completed(request, now),
            Event::VictimChosen { plane, valid, .. } => {
                let track = self.tracks.unit(self.geometry.unit_of(plane));
                let slice =
                    Slice { value: Some(("valid pages", valid.into())), ..Slice::plain(track, "victim", now, now) };
                return self.slice(&slice);
            }
            Event::Admitted { .. }
            | Event::PageFromMemory { .. }
            | Event::PageInSeries { .. }
            | Event::Evicted { .. }
            | Event::Estimated { .. }
            | Event::ArrayEnded { .. }
            | Event::Mapped { .. }
            | Event::Erased { .. } => {}
        }
        Ok(())
    }

    fn moved(&mut self, txn: u64, plane: PlaneId) {
        let Some(transaction) = self.transactions.get_mut(&txn) else { return };
        let (from, kind) = (transaction.plane, kind(transaction));
        transaction.plane = plane;
        self.count(self.geometry.unit_of(from), kind, -1);
        self.count(self.geometry.unit_of(plane), kind, 1);
    }

    fn dispatched(&mut self, txn: u64, number: u64, unit: UnitId, now: u64) {
        let Some(transaction) = self.transactions.get_mut(&txn) else { return };
        transaction.command = Some(number);
        let (kind, name) = (kind(transaction), name(transaction.op, transaction.owner));
        if let Some(request) = transaction.request
            && let Some(request) = self.requests.get_mut(&request.0)
        {
            request.transactions.push(txn);
        }
        let page = (transaction.op != FlashOp::Erase).then_some(transaction.lpn.into());
        let has_request = transaction.request.is_some();
        let new = || Command {
            unit,
            begun: now,
            paused: None,
            shown: false,
            pause_shown: false,
            members: Vec::new(),
            page,
            left: 0,
            name,
            dies: Vec::new(),
        };
        let command = self.commands.entry(number).or_insert_with(new);
        if has_request {
            command.members.push(txn);
        }
        command.left += 1;
        self.beginning = Some(number);
        self.count(unit, kind, -1);
    }

    /// All members of the command that is beginning are known: begins its slice.
    fn begin(&mut self) -> io::Result<()> {
        let (from, to) = self.window;
        let Some(command) = self.beginning.take().and_then(|number| self.commands.get_mut(&number)) else {
            return Ok(());
        };
        if !(from..=to).contains(&command.begun) {
            return Ok(());
        }
        command.shown = true;
        self.sink.begin(&beginning(self.tracks.unit(command.unit), command))
    }

    /// The window begins: shows what began before it and has not ended, outermost first.
    fn enter(&mut self) -> io::Result<()> {
        self.entered = true;
        let mut open: Vec<(u64, u64)> =
            self.commands.iter().map(|(number, command)| (command.begun, *number)).collect();
        open.sort_unstable();
        for (_, number) in open {
            let Some(command) = self.commands.get_mut(&number).filter(|command| !command.shown) else { continue };
            command.shown = true;
            let track = self.tracks.unit(command.unit);
            self.sink.begin(&beginning(track, command))?;
            if let Some(since) = command.paused {
                command.pause_shown = true;
                self.sink.begin(&Slice::plain(track, "paused", since, since))?;
            }
        }
        Ok(())
    }

    fn paused(&mut self, number: u64, now: u64) -> io::Result<()> {
        let Some(command) = self.commands.get_mut(&number) else { return Ok(()) };
        command.paused = Some(now);
        command.pause_shown = command.shown && now <= self.window.1;
        if !command.pause_shown {
            return Ok(());
        }
        self.sink.begin(&Slice::plain(self.tracks.unit(command.unit), "paused", now, now))
    }

    /// The array phase of a command began; if it was paused, it is resumed.
    fn resumed(&mut self, number: u64, now: u64) -> io::Result<()> {
        let Some(command) = self.commands.get_mut(&number) else { return Ok(()) };
        if command.paused.take().is_none() || !std::mem::take(&mut command.pause_shown) {
            return Ok(());
        }
        self.sink.end(self.tracks.unit(command.unit), now)
    }

    fn ended(&mut self, txn: u64, end: End, now: u64) -> io::Result<()> {
        let Some(transaction) = self.transactions.remove(&txn) else { return Ok(()) };
        let Some(number) = transaction.command else {
            // It never reached the flash.
            debug_assert_ne!(end, End::Flash);
            self.count(self.geometry.unit_of(transaction.plane), kind(&transaction), -1);
            return Ok(());
        };
        let die = self.tracks.die_of(transaction.plane);
        let Some(command) = self.commands.get_mut(&number) else { return Ok(()) };
        match command.dies.iter_mut().find(|(known, _)| *known == die) {
            Some((_, last)) => *last = now,
            None => command.dies.push((die, now)),
        }
        command.left -= 1;
        if command.left > 0 {
            return Ok(());
        }
        let Some(command) = self.commands.remove(&number) else { return Ok(()) };
        if command.shown {
            self.sink.end(self.tracks.unit(command.unit), now)?;
        }
        if self.tracks.dies_apart() {
            for &(die, until) in &command.dies {
                let track = self.tracks.die(die);
                self.slice(&Slice::plain(track, command.name, command.begun, until))?;
            }
        }
        Ok(())
    }

    fn completed(&mut self, request: RequestId, now: u64) -> io::Result<()> {
        let Some(done) = self.requests.remove(&request.0) else { return Ok(()) };
        let track = self.tracks.lane(done.flow, done.lane);
        self.tracks.free_lane(done.flow, done.lane);
        let name = if done.op == Op::Read { "read request" } else { "write request" };
        let value = Some(("request", request.0));
        let (pages, leaves) = (Some(("pages", done.pages.into())), done.transactions.as_slice());
        self.slice(&Slice { value, second: pages, leaves, ..Slice::plain(track, name, done.arrival, now) })
    }

    fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let (from, to) = self.window;
        if slice.until < from || slice.begun > to {
            return Ok(());
        }
        self.sink.slice(slice)
    }

    fn count(&mut self, unit: UnitId, kind: usize, by: i64) {
        self.waiting[unit.index()][kind] += by;
        if !self.changed.contains(&(unit.index(), kind)) {
            self.changed.push((unit.index(), kind));
        }
    }

    /// Writes the counters that changed at the instant that is over.
    fn flush_counters(&mut self) -> io::Result<()> {
        let (from, to) = self.window;
        for (unit, kind) in std::mem::take(&mut self.changed) {
            if (from..=to).contains(&self.now) {
                let track = self.tracks.counter(unit, Kind::ALL[kind]);
                self.sink.counter(track, self.now, self.waiting[unit][kind])?;
            }
        }
        Ok(())
    }
}
