//! The server: one thread that owns the drive, the clock and the sockets.
//!
//! A round: the drive is advanced to now, what it has ended is answered; then the thread waits for the drive's next event or for a client,
//! sleeping until shortly before the event and polling from there on; then everything that clients have sent is given to the drive at one
//! instant, so that pages which belong together can meet. Without clients and events it sleeps.

mod clients;
mod commands;
mod control;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flashlane_scenario::FlowPlan;
use flashlane_sim::{Drive, Schedulers};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{Timespec, epoll::Event};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::connection::Connection;
use crate::contents::{Contents, NewFile};
use crate::control::{ControlQueue, ControlRequest, ServerHandle, control_channel};
use crate::fuse::Files;
use crate::listener::{Listener, SocketFile};
use crate::nbd::{Error, Export};
use crate::real_time::RealTime;
use crate::record::Record;
use crate::state_file::StateFile;
use crate::statistics::Statistics;
use crate::{Address, Message, Options, Report};
use commands::PendingCommand;
use control::Change;

/// Bytes that are read of a connection before the next one has its turn.
const READ_BYTES: usize = 256 << 10;

/// How long commands under way are waited for when the server ends.
const END: Duration = Duration::from_secs(5);

/// What the poll reports: a connection by its number, or one of these.
const LISTENER: u64 = u64::MAX;
const SIGNALS: u64 = u64::MAX - 1;
const CONTENTS: u64 = u64::MAX - 2;
const CONTROL: u64 = u64::MAX - 3;
const FILES: u64 = u64::MAX - 4;

/// What clients can open: an export for each flow.
fn exports(drive: &Drive) -> Arc<[Export]> {
    let export =
        |flow: &FlowPlan| Export { name: flow.name.clone(), bytes: flow.range.length, preferred: drive.page_bytes };
    drive.flows.iter().map(export).collect()
}

/// A poll that reports each of these, by its number, when it becomes readable.
fn poll(watched: &[(BorrowedFd<'_>, u64)]) -> rustix::io::Result<OwnedFd> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for &(fd, number) in watched {
        epoll::add(&poll, fd, EventData::new_u64(number), EventFlags::IN)?;
    }
    Ok(poll)
}

/// The server while it runs.
pub(crate) struct Server {
    poll: OwnedFd,
    address: Option<Address>,
    metrics: Option<std::net::SocketAddr>,
    listener: Option<Listener>,
    stop: OwnedFd,
    exports: Arc<[Export]>,
    /// First byte of each export on the drive.
    first_byte: Vec<u64>,
    drive: RealTime<u64>,
    contents: Contents,
    /// Commands that the drive or the contents have, by ticket.
    pending: BTreeMap<u64, PendingCommand>,
    next_ticket: u64,
    connections: Vec<Option<Connection>>,
    accepted: u64,
    spin: Duration,
    statistics: Statistics,
    fault: Option<String>,
    record: Option<Record>,
    ignores_flushes: bool,
    /// The power is cut once the drive has been given so many commands.
    cut_after: Option<u64>,
    /// Where the drive's state goes at the end.
    state: Option<StateFile>,
    buffer: Vec<u8>,
    queue: ControlQueue,
    handle: ServerHandle,
    /// Requests that came while the scheduler is being changed.
    deferred: VecDeque<ControlRequest>,
    schedulers: Schedulers,
    scheduler: String,
    /// The scheduler that follows once the drive has drained.
    change: Option<Change>,
    /// Commands that came meanwhile.
    held_back: Vec<PendingCommand>,
    /// Until when no clients are accepted.
    accept_paused_until: Option<Instant>,
    /// How long a client may take to open an export, and before when none has taken so long.
    handshake: Duration,
    handshakes_until: Option<Instant>,
    files: Option<Files>,
    /// Removed at the end.
    _control: Option<SocketFile>,
}

impl Server {
    /// A server that listens; bytes that arrive at `stop` end it.
    ///
    /// # Errors
    /// An address that cannot be listened at, a file that cannot be opened, in words.
    pub(crate) fn open(drive: Drive, options: &Options, stop: OwnedFd) -> Result<Server, String> {
        let exports = exports(&drive);
        let first_byte = drive.flows.iter().map(|flow| flow.range.offset).collect();
        let (contents, new_file) = Contents::open(&options.data, drive.bytes, drive.page_bytes)?;
        let listener = options.nbd.as_ref().map(Listener::open).transpose()?;
        let statistics = Statistics::new(exports.len());
        let (handle, queue) = control_channel().map_err(|why| format!("cannot wait for commands: {why}"))?;
        let control = options.control.as_ref().map(|path| crate::control::open(path, handle.clone())).transpose()?;
        let files = options.fuse.as_ref().map(|folder| Files::open(folder, &exports)).transpose()?;
        let mut watched = vec![(stop.as_fd(), SIGNALS), (queue.wakeup().as_fd(), CONTROL)];
        watched.extend(listener.iter().map(|listener| (listener.as_fd(), LISTENER)));
        watched.extend(files.iter().map(|files| (files.wakeup().as_fd(), FILES)));
        if let Contents::File(worker) = &contents {
            watched.push((worker.wakeup().as_fd(), CONTENTS));
        }
        let poll = poll(&watched).map_err(|why| format!("cannot wait for clients: {why}"))?;
        let metrics = options.metrics.map(|address| crate::metrics::open(address, handle.clone())).transpose()?;
        // The last of the files, as they are there to stay.
        let record = options.record.as_ref().map(|path| Record::create(path, &drive.record_head)).transpose()?;
        let new_record = options.record.as_deref().map(NewFile::made);
        let record_of_used = options.record.as_deref().filter(|_| drive.is_used);
        let state = options.state.as_ref().map(|state| StateFile::take_away(state, record_of_used)).transpose()?;
        [Some(new_file), new_record].into_iter().flatten().for_each(NewFile::keep);
        let mut simulated = RealTime::new(drive.device, options.time_scale);
        if options.power_cut.is_some() || options.control.is_some() {
            simulated.follow_buffer();
        }
        Ok(Server {
            poll,
            address: listener.as_ref().zip(options.nbd.as_ref()).map(|(listener, asked)| listener.address(asked)),
            metrics,
            listener,
            stop,
            exports,
            first_byte,
            drive: simulated,
            contents,
            pending: BTreeMap::new(),
            next_ticket: 0,
            connections: Vec::new(),
            accepted: 0,
            spin: options.spin,
            statistics,
            fault: None,
            record,
            ignores_flushes: options.ignores_flushes,
            cut_after: options.power_cut,
            state,
            buffer: vec![0; READ_BYTES],
            queue,
            handle,
            deferred: VecDeque::new(),
            schedulers: drive.schedulers,
            scheduler: drive.scheduler,
            change: None,
            held_back: Vec::new(),
            accept_paused_until: None,
            handshake: options.handshake,
            handshakes_until: None,
            files,
            _control: control,
        })
    }

    /// What other threads control the server with.
    pub(crate) fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Where clients find it over NBD, and its figures.
    pub(crate) fn addresses(&self) -> (Option<Address>, Option<std::net::SocketAddr>) {
        (self.address.clone(), self.metrics)
    }

    /// Serves until it is stopped, and says meanwhile what happens.
    ///
    /// # Errors
    /// The machine fails, in words.
    pub(crate) fn run(mut self, say: &mut dyn FnMut(Message<'_>)) -> Result<Report, String> {
        let mut ended = Vec::new();
        let mut events: Vec<Event> = Vec::with_capacity(256);
        let mut stopping: Option<Instant> = None;
        let mut shown = Instant::now();
        loop {
            let drained = self.advance(&mut ended);
            let durable = self.drive.take_durable();
            if !durable.is_empty() {
                self.contents.durable(durable);
            }
            for one in ended.drain(..) {
                self.ended(one);
            }
            self.find_fault(say);
            if drained {
                self.change_scheduler();
            }
            let handshakes = self.end_handshakes();
            self.exchange();
            let event = self.drive.next_event();
            let left = stopping.map(|since| END.saturating_sub(since.elapsed()));
            if left.is_some_and(|left| left.is_zero() || self.pending.is_empty() && self.held_back.is_empty()) {
                break;
            }
            let next = [event, left, self.accept_pause(), handshakes].into_iter().flatten().min();
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
                if let Some(line) = self.statistics.last_second(shown.elapsed(), self.drive.scale()) {
                    say(Message::LastSecond(&line));
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
        let (mut stop, mut controlled) = (false, false);
        let (mut readable, mut requested) = (Vec::new(), Vec::new());
        for event in events {
            match event.data.u64() {
                LISTENER => self.accept(),
                SIGNALS => stop = true,
                CONTENTS => self.contents_done(),
                CONTROL => controlled = true,
                FILES => requested = self.files.as_mut().map(Files::take).unwrap_or_default(),
                number => readable.push(number as usize),
            }
        }
        if !readable.is_empty() || !requested.is_empty() {
            self.receive(&readable, requested);
        }
        if controlled {
            self.deferred.extend(self.queue.take());
            self.serve_control();
        }
        stop
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
        let state = self.state.take()?;
        self.drive.finish();
        if let Some((fault, _)) = self.drive.fault() {
            return Some(Err(self.fault.get_or_insert(fault).clone()));
        }
        Some(state.store(self.schedulers.config(), self.drive.device()))
    }

    /// Answers what was not answered in time.
    fn refuse_the_rest(&mut self) {
        self.contents.abandon();
        for command in std::mem::take(&mut self.held_back) {
            self.statistics.failed(command.export);
            self.reply(command, Err(Error::Shutdown));
        }
        let left: Vec<u64> = self.pending.keys().copied().collect();
        left.into_iter().for_each(|ticket| self.fail(ticket, Error::Shutdown));
        self.send_all();
    }
}
