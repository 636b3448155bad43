//! The server: one thread that owns the drive, the clock and the sockets.
//!
//! A round: the drive is advanced to now, what it has ended is answered; then the thread waits for the drive's next event or for a client,
//! sleeping until shortly before the event and polling from there on; then everything that clients have sent is given to the drive at one
//! instant, so that pages which belong together can meet. Without clients and events it sleeps.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use flashlane_core::decide::Scheduler;
use flashlane_core::{FlowId, Op, Time};
use flashlane_scenario::Change as RecordedChange;
use flashlane_sim::Schedulers;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{Timespec, epoll::Event};
use rustix::fd::{AsFd, OwnedFd};

use crate::connection::Connection;
use crate::contents::{Contents, Done, Job, Work};
use crate::control::{self, Asker, Asks, ControlRequest, Reply};
use crate::fuse::{Answer, Files, Requested};
use crate::kept::Kept;
use crate::listener::{Listener, SocketFile};
use crate::nbd::{Command, Error, Export, Kind};
use crate::power_cut::{Draw, PowerCut};
use crate::real_time::{Ended, RealTime};
use crate::record::Record;
use crate::snapshot::{self, Snapshot};
use crate::statistics::Statistics;
use crate::{Options, Report};

/// The most connections at a time; further ones are closed at once.
const MAX_CONNECTIONS: usize = 256;

/// Bytes that are read of a connection before the next one has its turn.
const READ_BYTES: usize = 256 << 10;

/// How long commands under way are waited for when the server ends.
const END: Duration = Duration::from_secs(5);

/// What the poll reports: a connection by its number, or one of these.
const LISTENER: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;
const CONTENTS: u64 = u64::MAX - 2;
const ASKS: u64 = u64::MAX - 3;
const FILES: u64 = u64::MAX - 4;

/// How long no clients are accepted after one could not be: without a rest the listener would report it again and again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why the power is not cut.
const UNKNOWN_LOSS: &str =
    "writes are done in the page buffer (device.buffer.write_back), and which of its pages a cut takes is not modelled";

/// A command of a client, from its arrival until it is answered.
#[derive(Debug)]
struct Asked {
    client: Client,
    export: usize,
    command: Command,
    /// When the drive ended it, simulated ns; how long it took.
    ended: (Time, u64),
}

/// Who waits for the answer.
#[derive(Debug)]
enum Client {
    /// A connection by its number, unless a later one has that now.
    Connection { number: usize, generation: u64 },
    /// The kernel, for whoever uses the file of the export.
    File(Answer),
}

impl Client {
    /// Bytes at the beginning of its write's sectors that are left alone.
    fn skipped(&self) -> u64 {
        match self {
            Client::Connection { .. } => 0,
            Client::File(answer) => answer.from() as u64,
        }
    }
}

/// The server while it runs.
pub(crate) struct Server {
    poll: OwnedFd,
    listener: Option<Listener>,
    stop: OwnedFd,
    exports: Arc<[Export]>,
    /// First byte of each export on the drive.
    first_byte: Vec<u64>,
    drive: RealTime<u64>,
    contents: Contents,
    /// Commands that the drive or the contents have, by ticket.
    asked: BTreeMap<u64, Asked>,
    next_ticket: u64,
    connections: Vec<Option<Connection>>,
    accepted: u64,
    spin: Duration,
    statistics: Statistics,
    fault: Option<String>,
    record: Option<Record>,
    /// The power is cut once the drive has been given so many commands.
    cut_after: Option<u64>,
    /// Where the drive's state goes at the end.
    kept: Option<Kept>,
    buffer: Vec<u8>,
    asks: Asks,
    asker: Asker,
    /// Asked while the scheduler is being changed.
    later: VecDeque<ControlRequest>,
    schedulers: Schedulers,
    scheduler: String,
    /// The scheduler that follows once the drive has drained.
    change: Option<Change>,
    /// Commands that came meanwhile.
    held: Vec<Asked>,
    /// Until when no clients are accepted.
    rests_until: Option<Instant>,
    files: Option<Files>,
    /// Removed at the end.
    _control: Option<SocketFile>,
}

/// A change of scheduler that waits until the drive has drained.
struct Change {
    at: Time,
    name: String,
    scheduler: Box<Scheduler>,
    answer: Sender<Reply>,
}

impl Server {
    /// A server that listens; bytes that arrive at `stop` end it.
    ///
    /// # Errors
    /// An address that cannot be listened at, a file that cannot be opened, in words.
    pub(crate) fn open(drive: flashlane_sim::Drive, options: &Options, stop: OwnedFd) -> Result<Server, String> {
        let export = |flow: &flashlane_scenario::FlowPlan| Export {
            name: flow.name.clone(),
            bytes: flow.range.length,
            preferred: drive.page_bytes,
            flushes: !drive.has_volatile_writes,
        };
        let exports: Arc<[Export]> = drive.flows.iter().map(export).collect();
        let first_byte = drive.flows.iter().map(|flow| flow.range.offset).collect();
        if options.power_cut.is_some() && drive.has_volatile_writes {
            return Err(format!("--power-cut: {UNKNOWN_LOSS}"));
        }
        let contents = Contents::open(&options.data, drive.bytes)?;
        let listener = options.nbd.as_ref().map(Listener::open).transpose()?;
        let statistics = Statistics::new(exports.len());
        let machine = |why: rustix::io::Errno| format!("cannot wait for clients: {why}");
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(machine)?;
        let watch = |fd: rustix::fd::BorrowedFd<'_>, data| {
            epoll::add(&poll, fd, EventData::new_u64(data), EventFlags::IN).map_err(machine)
        };
        if let Some(listener) = &listener {
            watch(listener.as_fd(), LISTENER)?;
        }
        watch(stop.as_fd(), SIGNALS)?;
        if let Contents::File(worker) = &contents {
            watch(worker.wakes().as_fd(), CONTENTS)?;
        }
        let (asker, asks) = control::pair().map_err(|why| format!("cannot wait for commands: {why}"))?;
        watch(asks.wakes().as_fd(), ASKS)?;
        let control = options.control.as_ref().map(|path| control::open(path, asker.clone())).transpose()?;
        let files = options.fuse.as_ref().map(|folder| Files::open(folder, &exports)).transpose()?;
        if let Some(files) = &files {
            watch(files.wakes().as_fd(), FILES)?;
        }
        // The last of the files, as they are there to stay.
        let record = options.record.as_ref().map(|path| Record::create(path, &drive.record_head)).transpose()?;
        let begun = options.record.as_deref().filter(|_| drive.is_used);
        let kept = options.state.as_ref().map(|state| Kept::take_away(state, begun)).transpose()?;
        Ok(Server {
            poll,
            listener,
            stop,
            exports,
            first_byte,
            drive: RealTime::new(drive.device, options.time_scale),
            contents,
            asked: BTreeMap::new(),
            next_ticket: 0,
            connections: Vec::new(),
            accepted: 0,
            spin: options.spin,
            statistics,
            fault: None,
            record,
            cut_after: options.power_cut,
            kept,
            buffer: vec![0; READ_BYTES],
            asks,
            asker,
            later: VecDeque::new(),
            schedulers: drive.schedulers,
            scheduler: drive.scheduler,
            change: None,
            held: Vec::new(),
            rests_until: None,
            files,
            _control: control,
        })
    }

    /// What other threads ask the server with.
    pub(crate) fn asker(&self) -> Asker {
        self.asker.clone()
    }

    /// Serves until it is stopped; `show` gets a line about the last second, at most once a second.
    ///
    /// # Errors
    /// The machine fails, in words.
    pub(crate) fn run(mut self, show: &mut dyn FnMut(&str)) -> Result<Report, String> {
        let mut ended = Vec::new();
        let mut events: Vec<Event> = Vec::with_capacity(256);
        let mut stopping: Option<Instant> = None;
        let mut shown = Instant::now();
        loop {
            let drained = self.advance(&mut ended);
            for one in ended.drain(..) {
                self.ended(one);
            }
            self.find_fault();
            if drained {
                self.change_scheduler();
            }
            self.exchange();
            let mut next = self.drive.next_event();
            if let Some(since) = stopping {
                let left = END.saturating_sub(since.elapsed());
                if self.asked.is_empty() && self.held.is_empty() || left.is_zero() {
                    break;
                }
                next = Some(next.map_or(left, |next| next.min(left)));
            }
            if let Some(left) = self.rest() {
                next = Some(next.map_or(left, |next| next.min(left)));
            }
            self.wait(next, &mut events)?;
            let is_to_end = self.take(&events);
            if self.is_cut() {
                break;
            }
            if is_to_end && stopping.is_none() {
                stopping = Some(Instant::now());
                self.begin_end();
            }
            if shown.elapsed() >= Duration::from_secs(1) {
                if let Some(line) = self.statistics.last_second(shown.elapsed()) {
                    show(&line);
                }
                shown = Instant::now();
            }
        }
        let cut = self.is_cut().then(|| self.cut_power());
        if cut.is_none() {
            self.refuse_the_rest();
        }
        let kept = self.keep_state();
        let Server { statistics, exports, fault, connections, record, files, .. } = self;
        let files_in_use = files.is_some_and(|files| !files.end());
        let refused = connections.iter().flatten().map(|connection| connection.session.refused()).sum::<u64>();
        let report = statistics.report(&exports, refused, fault);
        Ok(Report { recorded: record.map(Record::end), kept, cut, files_in_use, ..report })
    }

    /// Waits for clients, or for the drive's next event, which is so far away.
    fn wait(&self, next: Option<Duration>, events: &mut Vec<Event>) -> Result<(), String> {
        // The last part of a wait is polled: the system wakes a thread late.
        let limit = next.map(|next| next.saturating_sub(self.spin));
        let limit =
            limit.map(|limit| Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() });
        events.clear();
        match epoll::wait(&self.poll, rustix::buffer::spare_capacity(events), limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(why) => Err(format!("cannot wait for clients: {why}")),
        }
    }

    /// Takes what has happened, commands all at one instant; whether the server is to end.
    fn take(&mut self, events: &[Event]) -> bool {
        let (mut stop, mut asked) = (false, false);
        let (mut readable, mut requested) = (Vec::new(), Vec::new());
        for event in events {
            match event.data.u64() {
                LISTENER => self.accept(),
                SIGNALS => stop = true,
                CONTENTS => self.contents_done(),
                ASKS => asked = true,
                FILES => requested = self.files.as_mut().map(Files::take).unwrap_or_default(),
                number => readable.push(number as usize),
            }
        }
        if !readable.is_empty() || !requested.is_empty() {
            self.receive(&readable, requested);
        }
        if asked {
            self.later.extend(self.asks.take());
            self.do_asked();
        }
        stop
    }

    /// How long no clients are to be accepted; accepts them again once that is over.
    fn rest(&mut self) -> Option<Duration> {
        let left = self.rests_until?.saturating_duration_since(Instant::now());
        if left.is_zero() {
            self.rests_until = None;
            if let Some(listener) = &self.listener {
                let _ = epoll::add(&self.poll, listener, EventData::new_u64(LISTENER), EventFlags::IN);
            }
            return None;
        }
        Some(left)
    }

    /// Accepts every client that waits.
    fn accept(&mut self) {
        while let Some(accepted) = self.listener.as_ref().map(Listener::accept) {
            let socket = match accepted {
                Ok(socket) => socket,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return,
                Err(why) if matches!(why.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => {
                    continue;
                }
                Err(_) => {
                    // Out of descriptors or memory: until others have been closed.
                    if let Some(listener) = &self.listener {
                        let _ = epoll::delete(&self.poll, listener);
                        self.rests_until = Some(Instant::now() + ACCEPT_PAUSE);
                    }
                    return;
                }
            };
            let free = self.connections.iter().position(Option::is_none);
            let number = free.unwrap_or(self.connections.len());
            if number >= MAX_CONNECTIONS {
                self.statistics.turned_away += 1;
                continue;
            }
            if epoll::add(&self.poll, &socket, EventData::new_u64(number as u64), EventFlags::IN).is_err() {
                continue;
            }
            self.accepted += 1;
            let connection = Some(Connection::new(socket, Arc::clone(&self.exports), self.accepted));
            if number == self.connections.len() {
                self.connections.push(connection);
            } else {
                self.connections[number] = connection;
            }
        }
    }

    /// Gives the drive what these clients have sent, and what was requested of files.
    fn receive(&mut self, readable: &[usize], requested: Vec<Requested>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.give(readable, requested, |connection, commands| {
            if connection.wanted().0 && !connection.session.is_paused() {
                return connection.receive(&mut buffer, commands);
            }
            None
        });
        self.buffer = buffer;
    }

    /// Sends what can be sent, and gives the drive the commands that had to wait until others of their client were answered and sent. Some
    /// of them are answered at once, which makes room for more: until nothing is left to do but to wait.
    fn exchange(&mut self) {
        loop {
            self.send_all();
            let waits = |slot: &Option<Connection>| slot.as_ref().is_some_and(Connection::is_resumable);
            let waiting: Vec<usize> = (0..self.connections.len()).filter(|&i| waits(&self.connections[i])).collect();
            if waiting.is_empty() {
                return;
            }
            self.give(&waiting, Vec::new(), |connection, commands| connection.understand(&[], commands));
        }
    }

    /// Gives the drive the commands that `take` finds at these connections, and those requested of files, all at one instant.
    fn give(
        &mut self,
        numbers: &[usize],
        requested: Vec<Requested>,
        mut take: impl FnMut(&mut Connection, &mut Vec<Command>) -> Option<&'static str>,
    ) {
        let now = self.drive.now();
        let mut commands = Vec::new();
        let of_file = |Requested { export, command, answer }| {
            let client = Client::File(answer);
            Asked { client, export, command, ended: (now, 0) }
        };
        let mut all: Vec<Asked> = requested.into_iter().map(of_file).collect();
        for &number in numbers {
            let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else { continue };
            if let Some(reason) = take(connection, &mut commands) {
                self.statistics.broke(reason);
            }
            let (generation, Some(export)) = (connection.generation, connection.session.export()) else { continue };
            for command in commands.drain(..) {
                connection.under_way += 1;
                connection.held += command.length as usize;
                let client = Client::Connection { number, generation };
                all.push(Asked { client, export, command, ended: (now, 0) });
            }
        }
        match self.change {
            Some(_) => self.held.append(&mut all),
            None => self.submit_all(now, all),
        }
    }

    /// Gives the drive commands, all at one instant.
    fn submit_all(&mut self, now: Time, mut all: Vec<Asked>) {
        // A run submits the requests of an instant flow by flow: so that it can do again what is done here.
        all.sort_by_key(|asked| asked.export);
        all.into_iter().for_each(|asked| self.submit(now, asked));
    }

    /// Gives the drive a command.
    fn submit(&mut self, now: Time, asked: Asked) {
        if self.is_cut() {
            return self.held.push(asked);
        }
        let Asked { export, ref command, .. } = asked;
        let op = match &command.kind {
            Kind::Read => Op::Read,
            Kind::Write { .. } => Op::Write,
            Kind::Flush => {
                self.record.iter_mut().for_each(|record| record.add(now, export, command));
                return self.flush(asked);
            }
        };
        self.statistics.received(export, op);
        let extent = (self.first_byte[export] + command.offset, u64::from(command.length));
        if self.fault.is_none()
            && let Some(record) = &mut self.record
        {
            record.add(now, export, command);
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.asked.insert(ticket, asked);
        if let Err(ticket) = self.drive.submit(now, export as u16, op, extent, ticket) {
            self.fail(ticket, Error::Io);
        }
    }

    /// The drive holds nothing back: what it has ended is on the flash. What has been written is made durable where `--data` says.
    fn flush(&mut self, asked: Asked) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.statistics.received_flush(asked.export);
        self.asked.insert(ticket, asked);
        if self.fault.is_some() {
            return self.fail(ticket, Error::Io);
        }
        if let Some(done) = self.contents.act(Job { ticket, offset: 0, work: Work::Flush }) {
            self.answer(done);
        }
    }

    /// The drive has ended a command: its bytes are read or written now.
    fn ended(&mut self, ended: Ended<u64>) {
        let Some(asked) = self.asked.get_mut(&ended.of) else { return };
        asked.ended = (ended.at, ended.response_ns);
        let mut offset = self.first_byte[asked.export] + asked.command.offset;
        let work = match &mut asked.command.kind {
            Kind::Read => Work::Read(asked.command.length),
            Kind::Write { data, force } => {
                // What is less than the sectors of the command leaves the other bytes of them alone.
                offset += asked.client.skipped();
                Work::Write { data: std::mem::take(data), force: *force }
            }
            Kind::Flush => Work::Flush,
        };
        if let Some(done) = self.contents.act(Job { ticket: ended.of, offset, work }) {
            self.answer(done);
        }
    }

    /// Takes the jobs that the thread of the contents has done.
    fn contents_done(&mut self) {
        let Contents::File(worker) = &self.contents else { return };
        worker.clear();
        while let Contents::File(worker) = &self.contents
            && let Some(done) = worker.next_done()
        {
            self.answer(done);
        }
    }

    /// Answers a command whose bytes have been read or written.
    fn answer(&mut self, done: Done) {
        let Ok(data) = done.result else {
            self.statistics.file_failed();
            return self.fail(done.ticket, Error::Io);
        };
        let Some(asked) = self.asked.remove(&done.ticket) else { return };
        let (at, response_ns) = asked.ended;
        let Command { length, ref kind, .. } = asked.command;
        let late = self.drive.since(at);
        match kind {
            Kind::Read => self.statistics.completed(asked.export, Op::Read, length, response_ns, late),
            Kind::Write { .. } => self.statistics.completed(asked.export, Op::Write, length, response_ns, late),
            Kind::Flush => self.statistics.flushed(asked.export),
        }
        self.reply(asked, Ok(data));
    }

    fn fail(&mut self, ticket: u64, error: Error) {
        let Some(asked) = self.asked.remove(&ticket) else { return };
        self.statistics.failed(asked.export);
        self.reply(asked, Err(error));
    }

    /// Adds what became of a command, its bytes if it is a read, to what its client is sent.
    fn reply(&mut self, asked: Asked, outcome: Result<Vec<u8>, Error>) {
        let Command { cookie, offset, length, kind } = asked.command;
        let (number, generation) = match asked.client {
            Client::Connection { number, generation } => (number, generation),
            Client::File(answer) => {
                if let Some(files) = &mut self.files {
                    files.answer(answer, outcome);
                }
                return;
            }
        };
        let Some(connection) = &mut self.connections[number] else { return };
        if connection.generation != generation {
            return;
        }
        connection.under_way -= 1;
        connection.held -= length as usize;
        let is_read = matches!(kind, Kind::Read);
        connection.answer(|session, out| match outcome {
            Ok(data) if is_read => session.answer_read(out, cookie, offset, &data),
            Ok(_) => session.answer_done(out, cookie),
            Err(error) => session.fail(out, cookie, is_read, error),
        });
    }

    /// Once the drive has stopped, everything that it had is answered with an error.
    fn find_fault(&mut self) {
        if let Some((message, tickets)) = self.drive.fault() {
            self.fault.get_or_insert(message);
            tickets.into_iter().for_each(|ticket| self.fail(ticket, Error::Io));
        }
    }

    /// Sends what waits to be sent, closes what is over, and watches for what can come.
    fn send_all(&mut self) {
        // The file has what is answered: a replay of what a killed server left shows all that clients have seen.
        self.record.iter_mut().for_each(Record::flush);
        self.files.iter_mut().for_each(Files::send);
        for (number, slot) in self.connections.iter_mut().enumerate() {
            let Some(connection) = slot else { continue };
            connection.send();
            if connection.is_over() {
                self.statistics.closed(connection.session.refused());
                *slot = None;
                continue;
            }
            watch(&self.poll, number, connection);
        }
    }

    /// No more clients and no more commands.
    fn begin_end(&mut self) {
        self.listener = None;
        let _ = epoll::delete(&self.poll, &self.stop);
        self.connections.iter_mut().flatten().for_each(|connection| connection.closing = true);
        self.files.iter_mut().for_each(Files::close);
    }

    /// Keeps the drive's state for the next session, once it has done what was left to do.
    fn keep_state(&mut self) -> Option<Result<PathBuf, String>> {
        let kept = self.kept.take()?;
        self.drive.finish();
        if let Some((fault, _)) = self.drive.fault() {
            return Some(Err(self.fault.get_or_insert(fault).clone()));
        }
        Some(kept.store(self.schedulers.config(), self.drive.device()))
    }

    /// Whether the drive has been given as many commands as it may before the power is cut.
    fn is_cut(&self) -> bool {
        self.cut_after.is_some_and(|commands| self.next_ticket >= commands)
    }

    /// The power is cut: nothing more is answered, writes that were not answered have landed or not, and there is no state to keep.
    fn cut_power(&mut self) -> PowerCut {
        self.kept = None;
        self.record.iter_mut().for_each(Record::flush);
        let mut draw = Draw::new(self.schedulers.config().seed, self.schedulers.config().geometry.page_bytes);
        for (ticket, asked) in std::mem::take(&mut self.asked) {
            // The data of a write that the drive has ended is on its way to its place.
            let Kind::Write { data, force } = &asked.command.kind else { continue };
            let offset = self.first_byte[asked.export] + asked.command.offset + asked.client.skipped();
            for (offset, data) in draw.landed(offset, data).into_iter().filter(|_| !data.is_empty()) {
                let _ = self.contents.act(Job { ticket, offset, work: Work::Write { data, force: *force } });
            }
        }
        draw.cut
    }

    /// Answers what was not answered in time.
    fn refuse_the_rest(&mut self) {
        for asked in std::mem::take(&mut self.held) {
            self.statistics.failed(asked.export);
            self.reply(asked, Err(Error::Shutdown));
        }
        let left: Vec<u64> = self.asked.keys().copied().collect();
        left.into_iter().for_each(|ticket| self.fail(ticket, Error::Shutdown));
        self.send_all();
    }
}

// What others ask.

impl Server {
    /// Advances the drive; whether it has drained and another scheduler waits for that.
    fn advance(&mut self, ended: &mut Vec<Ended<u64>>) -> bool {
        match self.change {
            Some(_) => self.drive.drain(ended),
            None => {
                self.drive.advance(ended);
                false
            }
        }
    }

    /// Does what was asked, in order; what comes behind a change of scheduler waits until that is made.
    fn do_asked(&mut self) {
        while self.change.is_none()
            && let Some(ask) = self.later.pop_front()
        {
            match ask {
                ControlRequest::Snapshot(answer) => drop(answer.send(self.snapshot())),
                ControlRequest::Scheduler(name, answer) => self.begin_change(name, answer),
                ControlRequest::PowerCut(answer) => drop(answer.send(self.turn_off())),
                ControlRequest::Priority(flow, priority, answer) => {
                    drop(answer.send(self.set_priority(&flow, priority)))
                }
            }
        }
        let snapshot = (!self.later.is_empty()).then(|| self.snapshot());
        for ask in std::mem::take(&mut self.later) {
            match (ask, &snapshot) {
                (ControlRequest::Snapshot(answer), Some(snapshot)) => drop(answer.send(snapshot.clone())),
                (ask, _) => self.later.push_back(ask),
            }
        }
    }

    /// Cuts the power, unless it is not known what that takes.
    fn turn_off(&mut self) -> Reply {
        if !self.exports.iter().all(|export| export.flushes) {
            return Err(UNKNOWN_LOSS.to_owned());
        }
        self.cut_after = Some(0);
        Ok(control::CUT.to_owned())
    }

    /// From now on the drive gets no commands, until it has drained and its scheduler is another.
    fn begin_change(&mut self, name: String, answer: Sender<Reply>) {
        if let Some(fault) = &self.fault {
            let _ = answer.send(Err(fault.clone()));
            return;
        }
        match self.schedulers.named(&name) {
            Ok((scheduler, change)) => {
                let at = self.drive.now();
                self.record_change(at, &change);
                self.change = Some(Change { at, name, scheduler: Box::new(scheduler), answer });
            }
            Err(why) => drop(answer.send(Err(why.to_string()))),
        }
    }

    /// The drive has drained, or will not: the next scheduler decides.
    fn change_scheduler(&mut self) {
        let Some(Change { at, name, scheduler, answer }) = self.change.take() else { return };
        let reply = match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => {
                self.drive.change_scheduler(at, self.schedulers.config(), *scheduler);
                self.scheduler = name;
                Ok(format!("the scheduler is {} now", self.scheduler))
            }
        };
        let _ = answer.send(reply);
        let held = std::mem::take(&mut self.held);
        self.submit_all(self.drive.now(), held);
        self.do_asked();
    }

    fn set_priority(&mut self, flow: &str, priority: u8) -> Reply {
        let Some(number) = self.exports.iter().position(|export| export.name == flow) else {
            let names: Vec<&str> = self.exports.iter().map(|export| export.name.as_str()).collect();
            return Err(format!("{flow}: no such flow; there are {}", names.join(", ")));
        };
        let levels = self.schedulers.config().priorities;
        if priority >= levels {
            let most = levels - 1;
            return Err(format!(
                "priority {priority}: must be from 0 to {most} (device.front.priority_levels is {levels})"
            ));
        }
        let now = self.drive.now();
        self.record_change(now, &RecordedChange::Priority { flow: number as u16, priority });
        self.drive.set_priority(now, FlowId(number as u16), priority);
        Ok(format!("{flow} has priority {priority} from now on"))
    }

    fn record_change(&mut self, now: Time, change: &RecordedChange) {
        if let Some(record) = &mut self.record {
            record.add_line(&change.line(now.ns()));
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        let (exports, late) = self.statistics.so_far(&self.exports);
        let mut under_way = vec![0; self.exports.len()];
        self.asked.values().chain(&self.held).for_each(|asked| under_way[asked.export] += 1);
        let simulated_ns = self.drive.now().ns();
        let device = self.drive.device();
        Snapshot {
            real: self.drive.elapsed(),
            simulated_ns,
            time_scale: self.drive.scale(),
            scheduler: self.scheduler.clone(),
            next_scheduler: self.change.as_ref().map(|change| change.name.clone()),
            exports,
            priorities: device.board().flows.iter().map(|flow| flow.priority()).collect(),
            under_way,
            late,
            connections: self.connections.iter().flatten().count(),
            units: snapshot::units(device),
            units_per_channel: device.board().facts.geometry.units_per_channel() as usize,
            drive: device.totals(),
        }
    }
}

/// Watches a connection for what can be done with it. What is watched for nothing is taken out: the poll would report again and again that
/// the client is gone.
fn watch(poll: &OwnedFd, number: usize, connection: &mut Connection) {
    let wanted = connection.wanted();
    let watched = std::mem::replace(&mut connection.watched, wanted);
    if wanted == watched {
        return;
    }
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN, wanted.0);
    flags.set(EventFlags::OUT, wanted.1);
    let (socket, data) = (&connection.socket, EventData::new_u64(number as u64));
    let changed = match (watched, wanted) {
        (_, (false, false)) => epoll::delete(poll, socket),
        ((false, false), _) => epoll::add(poll, socket, data, flags),
        _ => epoll::modify(poll, socket, data, flags),
    };
    if changed.is_err() {
        connection.abandon();
    }
}
