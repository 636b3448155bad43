//! Commands of clients: the drive is given them, and once it has ended them their bytes are read or changed, and they are answered.

use std::ops::Range;

use flashlane_core::{Op, Time};

use super::Server;
use crate::Message;
use crate::contents::{Contents, Done, Job, Work};
use crate::fuse::Answer;
use crate::nbd::{Command, Error, Kind};
use crate::power_cut::{PageSampler, PowerCut};
use crate::real_time::Ended;
use crate::record::Record;

/// A command of a client, from its arrival until it is answered.
#[derive(Debug)]
pub(super) struct PendingCommand {
    pub(super) client: Client,
    pub(super) export: usize,
    pub(super) command: Command,
    /// When the drive ended it, simulated, and how many ns it took; `None` until then.
    pub(super) ended: Option<(Time, u64)>,
}

impl PendingCommand {
    /// The bytes of the drive that it reads or changes; the export begins at `first`.
    fn bytes(&self, first: u64, page: u64) -> Range<u64> {
        let from = first + self.command.offset;
        let all = from..from + self.command.length;
        match &self.command.kind {
            Kind::Write(data) => {
                // What is less than the sectors of the command leaves the other bytes of them alone.
                let from = from + self.client.skipped();
                from..from + data.len() as u64
            }
            Kind::Trim => self.client.trimmed(all, page),
            Kind::Read | Kind::WriteZeroes { .. } | Kind::Flush => all,
        }
    }
}

/// Who waits for the answer.
#[derive(Debug)]
pub(super) enum Client {
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

    /// The bytes that read as zeroes after its trim: the whole pages, and in a file with a hole all of the hole.
    fn trimmed(&self, range: Range<u64>, page: u64) -> Range<u64> {
        match self {
            Client::File(_) => range,
            Client::Connection { .. } => {
                let from = range.start.next_multiple_of(page);
                from..(range.end / page * page).max(from)
            }
        }
    }
}

/// What a command is for the drive.
fn op(kind: &Kind) -> Op {
    match kind {
        Kind::Read => Op::Read,
        Kind::Write(_) => Op::Write,
        Kind::Trim => Op::Trim,
        Kind::WriteZeroes { .. } => Op::WriteZeroes,
        Kind::Flush => Op::Flush,
    }
}

impl Server {
    /// Gives the drive commands, all at one instant.
    pub(super) fn submit_all(&mut self, now: Time, mut all: Vec<PendingCommand>) {
        // A run submits the requests of an instant flow by flow: so that it can do again what is done here.
        all.sort_by_key(|pending| pending.export);
        all.into_iter().for_each(|pending| self.submit(now, pending));
    }

    /// Gives the drive a command.
    fn submit(&mut self, now: Time, pending: PendingCommand) {
        if self.is_cut() {
            return self.held_back.push(pending);
        }
        let PendingCommand { export, ref command, .. } = pending;
        let (op, force) = (op(&command.kind), command.force && !self.ignores_flushes);
        self.statistics.received(export, op);
        if op == Op::Flush && self.ignores_flushes {
            return self.answer_ignored_flush(now, pending);
        }
        let (offset, length) = (command.offset, command.length);
        if self.fault.is_none()
            && let Some(record) = &mut self.record
        {
            record.add(now, export, op, (offset, length), force);
        }
        // A flush is one of the whole drive.
        let offset = if op == Op::Flush { 0 } else { self.first_byte[export] + offset };
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.pending.insert(ticket, pending);
        if let Err(ticket) = self.drive.submit(now, export as u16, op, (offset, length, force), ticket) {
            self.fail(ticket, Error::Io);
        }
    }

    /// Answers a flush at once, without doing it.
    fn answer_ignored_flush(&mut self, now: Time, mut pending: PendingCommand) {
        pending.ended = Some((now, 0));
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.pending.insert(ticket, pending);
        self.answer(Done { ticket, result: Ok(Vec::new()) });
    }

    /// The drive has ended a command: its bytes are read or changed now.
    pub(super) fn ended(&mut self, ended: Ended<u64>) {
        let page = u64::from(self.schedulers.config().geometry.page_bytes);
        let Some(pending) = self.pending.get_mut(&ended.of) else { return };
        pending.ended = Some((ended.at, ended.response_ns));
        let bytes = pending.bytes(self.first_byte[pending.export], page);
        let (length, force) = (bytes.end - bytes.start, pending.command.force);
        let work = match &mut pending.command.kind {
            Kind::Read => Work::Read(length as usize),
            Kind::Write(data) => Work::Write { data: std::mem::take(data), force, volatile: ended.volatile },
            Kind::Trim => Work::Zero { length, keep: false, force },
            Kind::WriteZeroes { keep } => Work::Zero { length, keep: *keep, force },
            Kind::Flush => Work::Flush,
        };
        if let Some(done) = self.contents.act(Job { ticket: ended.of, offset: bytes.start, work }) {
            self.answer(done);
        }
    }

    /// Takes the jobs that the thread of the contents has done.
    pub(super) fn contents_done(&mut self) {
        let Contents::File(worker) = &self.contents else { return };
        worker.wakeup().clear();
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
        let Some(pending) = self.pending.remove(&done.ticket) else { return };
        let Some((at, response_ns)) = pending.ended else { return };
        let Command { length, ref kind, .. } = pending.command;
        self.statistics.completed(pending.export, op(kind), length, response_ns, self.drive.since(at));
        self.reply(pending, Ok(data));
    }

    pub(super) fn fail(&mut self, ticket: u64, error: Error) {
        let Some(pending) = self.pending.remove(&ticket) else { return };
        self.statistics.failed(pending.export);
        self.reply(pending, Err(error));
    }

    /// Adds what became of a command, its bytes if it is a read, to what its client is sent.
    pub(super) fn reply(&mut self, pending: PendingCommand, outcome: Result<Vec<u8>, Error>) {
        let held = pending.command.held();
        let Command { cookie, offset, kind, .. } = pending.command;
        let (number, generation) = match pending.client {
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
        connection.held -= held;
        let is_read = matches!(kind, Kind::Read);
        connection.answer(|session, out| match outcome {
            Ok(data) if is_read => session.answer_read(out, cookie, offset, &data),
            Ok(_) => session.answer_done(out, cookie),
            Err(error) => session.fail(out, cookie, is_read, error),
        });
    }

    /// Once the drive has stopped, everything that it had is answered with an error.
    pub(super) fn find_fault(&mut self, say: &mut dyn FnMut(Message<'_>)) {
        if let Some((message, tickets)) = self.drive.fault() {
            if self.fault.is_none() {
                say(Message::Fault(&message));
            }
            self.fault.get_or_insert(message);
            tickets.into_iter().for_each(|ticket| self.fail(ticket, Error::Io));
        }
    }

    /// Whether the drive has been given as many commands as it may before the power is cut.
    pub(super) fn is_cut(&self) -> bool {
        self.cut_after.is_some_and(|commands| self.next_ticket >= commands)
    }

    /// The power is cut: nothing more is answered, what the drive had not ended has landed or not, what only the buffer had is lost or not,
    /// and there is no state to keep.
    pub(super) fn cut_power(&mut self) -> PowerCut {
        self.state = None;
        self.record.iter_mut().for_each(Record::flush);
        let page_bytes = self.schedulers.config().geometry.page_bytes;
        let mut sampler = PageSampler::new(self.schedulers.config().seed, page_bytes);
        let mut landed = Vec::new();
        // What the drive has ended is on its way to its place.
        for pending in std::mem::take(&mut self.pending).into_values().filter(|pending| pending.ended.is_none()) {
            if matches!(pending.command.kind, Kind::Read | Kind::Flush) {
                continue;
            }
            let bytes = pending.bytes(self.first_byte[pending.export], page_bytes.into());
            for part in sampler.landed(bytes.clone()) {
                let work = match &pending.command.kind {
                    Kind::Write(data) => {
                        let data =
                            data[(part.start - bytes.start) as usize..(part.end - bytes.start) as usize].to_vec();
                        Work::Write { data, force: false, volatile: Vec::new() }
                    }
                    kind => {
                        let keep = matches!(kind, Kind::WriteZeroes { keep: true });
                        Work::Zero { length: part.end - part.start, keep, force: false }
                    }
                };
                landed.push((part.start, work));
            }
        }
        if self.contents.cut_power(&mut sampler, landed).is_err() {
            self.statistics.file_failed();
        }
        sampler.cut
    }
}
