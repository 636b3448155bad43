//! The device's tracker (model 3.1.3; D-PRE-04, -05, -06, -15): everything observed is kept, and every mean and every prediction is made
//! from it anew.

use std::collections::BTreeMap;

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{ChannelId, Geometry, UnitId};
use flashlane_host::{Meter, Predictor};

use super::NEVER;

/// An I/O.
#[derive(Clone, Copy, Debug, Default)]
struct Tracked {
    small_read: bool,
    window: u64,
    admitted: Option<u64>,
    from_memory: bool,
    issued: bool,
    ready: Option<u64>,
    left: Option<u64>,
    bytes: u32,
    first_prediction: Option<u64>,
    predicted: Option<u64>,
    due: u64,
    sent: bool,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    request: Option<u64>,
    op: FlashOp,
    bytes: u32,
    command: Option<u64>,
}

#[derive(Debug)]
struct Command {
    unit: UnitId,
    op: FlashOp,
    pages: Vec<Page>,
    array: Option<(u64, u64)>,
    /// When its pages began to come out.
    began: Vec<u64>,
    ended: usize,
}

impl Command {
    fn is_on_bus(&self) -> bool {
        self.began.len() > self.ended
    }
}

#[derive(Debug)]
pub struct Tracker {
    predictor: Option<Predictor>,
    geometry: Geometry,
    /// Every flash time, and every time from data ready to completion.
    flash: Vec<u64>,
    rest: Vec<u64>,
    /// Every time on the bus and from there to the host, by bytes.
    crossing: Vec<(u32, u64)>,
    link: Vec<(u32, u64)>,
    ios: BTreeMap<u64, Tracked>,
    pages: BTreeMap<u64, Page>,
    commands: BTreeMap<u64, Command>,
    /// For each channel the instants from which commands wait for it, and until when it is taken.
    wanted: BTreeMap<u16, BTreeMap<u64, u64>>,
    taken: BTreeMap<u16, u64>,
}

/// The mean of the last three, to the nearest nanosecond.
fn mean(all: &[u64]) -> Option<u64> {
    let last = all.last_chunk::<3>()?;
    let sum: u64 = last.iter().sum();
    // Thirds: one is rounded down and two are rounded up.
    Some(sum / 3 + u64::from(sum % 3 == 2))
}

/// The mean for transfers of `bytes`: of the last three, if no other size with the same place in a table of 16 came between.
fn mean_of(all: &[(u32, u64)], bytes: u32) -> Option<u64> {
    let place = |bytes: u32| bytes / 512 % 16;
    let same = all.iter().filter(|other| place(other.0) == place(bytes));
    let last: Vec<u64> = same.rev().take_while(|other| other.0 == bytes).map(|other| other.1).take(3).collect();
    mean(&last)
}

impl Tracker {
    pub fn new(geometry: Geometry, predictor: Option<Predictor>) -> Tracker {
        Tracker {
            predictor,
            geometry,
            flash: Vec::new(),
            rest: Vec::new(),
            crossing: Vec::new(),
            link: Vec::new(),
            ios: BTreeMap::new(),
            pages: BTreeMap::new(),
            commands: BTreeMap::new(),
            wanted: BTreeMap::new(),
            taken: BTreeMap::new(),
        }
    }

    pub fn expect(&mut self, id: u64, small_read: bool, window: u64) {
        self.ios.insert(id, Tracked { small_read, window, ..Tracked::default() });
    }

    fn is_staged(&self) -> bool {
        self.predictor == Some(Predictor::Staged)
    }

    fn channel(&self, unit: UnitId) -> u16 {
        self.geometry.channel_of(unit).0
    }

    pub fn observe(&mut self, at: u64, event: &Event) {
        match *event {
            Event::Admitted { request } => self.io(request.0, |io| io.admitted = Some(at)),
            Event::PageFromMemory { request, .. } => {
                self.io(request.0, |io| io.from_memory = io.admitted == Some(at));
            }
            Event::Queued { txn, request, op, bytes, .. } => {
                let request = request.map(|id| id.0);
                if let Some(request) = request {
                    self.io(request, |io| (io.admitted, io.from_memory, io.bytes) = (None, false, bytes));
                }
                self.pages.insert(txn, Page { request, op, bytes, command: None });
            }
            _ if self.predictor.is_none() => {}
            Event::Dispatched { txn, command, unit, .. } => self.dispatched(at, txn, command, unit),
            Event::ArrayStarted { unit, command, until } => self.array_started(at, until.ns(), command, unit),
            Event::BusTaken { channel, command, until, .. } => self.bus_taken(at, until.ns(), command, channel),
            Event::Ended { txn, end, .. } => self.ended(at, txn, end),
            _ => {}
        }
    }

    fn io(&mut self, id: u64, change: impl FnOnce(&mut Tracked)) {
        if let Some(io) = self.ios.get_mut(&id) {
            change(io);
        }
    }

    fn dispatched(&mut self, at: u64, txn: u64, serial: u64, unit: UnitId) {
        let Some(page) = self.pages.get_mut(&txn) else { return };
        page.command = Some(serial);
        let page = *page;
        let new = || Command { unit, op: page.op, pages: Vec::new(), array: None, began: Vec::new(), ended: 0 };
        self.commands.entry(serial).or_insert_with(new).pages.push(page);
        if self.is_staged() && page.op == FlashOp::Program {
            self.requests_bus(unit, serial, at, at);
        }
    }

    /// A command requests its channel from `from` on.
    fn requests_bus(&mut self, unit: UnitId, serial: u64, from: u64, now: u64) {
        let channel = self.channel(unit);
        self.wanted.entry(channel).or_default().entry(serial).or_insert(from);
        self.predict_channel(channel, now);
    }

    fn array_started(&mut self, at: u64, until: u64, serial: u64, unit: UnitId) {
        let Some(command) = self.commands.get_mut(&serial) else { return };
        if command.op != FlashOp::Read {
            // Its data have arrived, even if that took no time on the bus.
            let channel = self.channel(unit);
            self.wanted.entry(channel).or_default().remove(&serial);
            return;
        }
        command.array = Some((at, until));
        let requests: Vec<u64> = command.pages.iter().filter_map(|page| page.request).collect();
        requests.iter().for_each(|&id| self.io(id, |io| io.issued = true));
        let Some(flash) = mean(&self.flash) else { return };
        if self.is_staged() {
            self.requests_bus(unit, serial, at + flash, at);
        } else if let Some(rest) = mean(&self.rest) {
            requests.iter().for_each(|&id| self.predict(id, at + flash + rest, at));
        }
    }

    fn bus_taken(&mut self, at: u64, until: u64, serial: u64, channel: ChannelId) {
        self.taken.insert(channel.0, until);
        let Some(command) = self.commands.get_mut(&serial) else { return };
        let comes_out = command.op == FlashOp::Read && command.array.is_some();
        if command.op == FlashOp::Program && command.pages.len() == 1 {
            self.crossing.push((command.pages[0].bytes, until - at));
        }
        if comes_out {
            self.begins_to_come_out(serial, at);
        } else {
            self.wanted.entry(channel.0).or_default().remove(&serial);
        }
        if self.is_staged() {
            self.predict_channel(channel.0, at);
        }
    }

    /// A page begins to come out. With the first it is known how long the flash took.
    fn begins_to_come_out(&mut self, serial: u64, at: u64) {
        let Some(command) = self.commands.get_mut(&serial) else { return };
        command.began.push(at);
        if let (1, Some((from, until))) = (command.began.len(), command.array) {
            self.flash.push(until - from);
            let requests: Vec<u64> = command.pages.iter().filter_map(|page| page.request).collect();
            requests.iter().for_each(|&id| self.io(id, |io| io.ready = Some(until)));
        }
    }

    fn ended(&mut self, at: u64, txn: u64, end: End) {
        let Some(Page { request, op, bytes, command: Some(serial) }) = self.pages.remove(&txn) else { return };
        if end != End::Flash || op != FlashOp::Read {
            return;
        }
        if self.commands.get(&serial).is_some_and(|command| !command.is_on_bus()) {
            self.begins_to_come_out(serial, at);
        }
        let Some(command) = self.commands.get_mut(&serial) else { return };
        self.crossing.push((bytes, at - command.began[command.ended]));
        command.ended += 1;
        let (unit, is_out) = (command.unit, command.ended == command.pages.len());
        if let Some(request) = request {
            self.io(request, |io| io.left = Some(at));
        }
        if is_out {
            let channel = self.channel(unit);
            self.wanted.entry(channel).or_default().remove(&serial);
        }
    }

    /// Predicts anew everything that is to come out on a channel: the command that has it goes on, then come the others in the order in
    /// which they want it.
    fn predict_channel(&mut self, channel: u16, now: u64) {
        let taken = self.taken.get(&channel).copied().unwrap_or(0);
        let wanted = self.wanted.get(&channel).cloned().unwrap_or_default();
        let mut line: Vec<(bool, u64, u64)> =
            wanted.iter().map(|(&serial, &from)| (self.commands[&serial].began.is_empty(), from, serial)).collect();
        line.sort_unstable();
        let mut free = taken.max(now);
        for (_, from, serial) in line {
            let command = &self.commands[&serial];
            let on_bus = command.is_on_bus();
            // Of the page on the bus the end is known. It is the last that began.
            let first = if on_bus { command.began.len() - 1 } else { command.ended };
            let mut end = from.max(free);
            let mut predictions = Vec::new();
            for (i, page) in command.pages.iter().enumerate().skip(first) {
                let crossing = mean_of(&self.crossing, page.bytes);
                end = if on_bus && i == first { taken } else { end + crossing.unwrap_or(0) };
                if let (FlashOp::Read, Some(id), Some(_), Some(link)) =
                    (page.op, page.request, crossing, mean_of(&self.link, page.bytes))
                {
                    predictions.push((id, end + link));
                }
            }
            free = end;
            for (id, predicted) in predictions {
                self.predict(id, predicted, now);
            }
        }
    }

    fn predict(&mut self, id: u64, predicted: u64, now: u64) {
        self.io(id, |io| {
            if io.small_read && !io.sent {
                io.first_prediction = io.first_prediction.or(Some(predicted));
                io.predicted = Some(predicted);
                io.due = predicted.saturating_sub(io.window).max(now);
            }
        });
    }

    fn unsent(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let predicted = |(&id, io): (&u64, &Tracked)| io.predicted.filter(|_| !io.sent).map(|at| (io.due, id, at));
        self.ios.iter().filter_map(predicted)
    }

    /// When the next message is due.
    pub fn next_message(&self) -> u64 {
        self.unsent().map(|(due, ..)| due).min().unwrap_or(NEVER)
    }

    /// Takes the next message that is due: the I/O, and the end it announces.
    pub fn message(&mut self, now: u64, meter: &mut Meter) -> Option<(u64, u64)> {
        let (_, id, announced) = self.unsent().filter(|&(due, ..)| due <= now).min()?;
        self.io(id, |io| io.sent = true);
        meter.messages += 1;
        Some((id, announced))
    }

    /// An I/O completes. Returns whether memory served all of it at once.
    pub fn completed(&mut self, id: u64, now: u64, meter: &mut Meter) -> bool {
        let Some(io) = self.ios.remove(&id) else { return false };
        if io.issued && io.small_read {
            self.rest.extend(io.ready.map(|ready| now - ready));
            self.link.extend(io.left.map(|left| (io.bytes, now - left)));
            meter.cold += u64::from(io.predicted.is_none());
        }
        if let (Some(first), Some(last)) = (io.first_prediction, io.predicted) {
            for (errors, predicted) in [(&mut meter.at_issue, first), (&mut meter.at_message, last)] {
                let error = i128::from(predicted) - i128::from(now);
                errors.count += 1;
                errors.sum_ns += error;
                errors.squares_ns += (error * error) as u128;
                errors.beyond_1us += u64::from(error.abs() >= 1_000);
            }
            meter.too_late += u64::from(!io.sent);
        }
        io.from_memory
    }
}
