//! The device's side: follows each I/O through the device, and tells the host early that one is about to complete (model 3.1.3).
//!
//! Owns where each I/O is and since when, the averages of the components, and the timers. Promises that a prediction uses
//! only what a controller could have observed by then. Must never know what the host does with a message.

mod channel;
mod command;
mod predict;

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Geometry, RequestId, Sequence, Time, UnitId};

use crate::average::{Average3, BySize};
use crate::config::Predictor;
use crate::meter::Meter;
use channel::Channel;
use command::{Command, Page};

/// Instants of messages, the earliest first.
type Timers = BinaryHeap<Reverse<(Time, RequestId)>>;

/// An I/O the tracker follows. Where it is: it waits while `issued` is `NEVER`, is in the flash until `left`, then on its way to
/// the host.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    /// Whether it is a read of one page, the only kind that is predicted (D-PRE-06).
    small_read: bool,
    /// How early the host is to be notified of its completion.
    window: Duration,
    /// When it was admitted.
    admitted: Time,
    /// Whether every page so far came from memory at once.
    from_memory: bool,
    /// When its command was issued to the chip.
    issued: Time,
    /// When its page had been read, as far as is known.
    ready: Time,
    /// When its page had crossed the channel.
    left: Time,
    bytes: u32,
    /// When it will complete; `NEVER` without a prediction.
    predicted: Time,
    /// The prediction when it was issued.
    at_issue: Time,
    /// When its message is due.
    timer: Time,
    /// The instant of its entry in the heap that counts, which is not after `timer`; others are void.
    entered: Time,
    /// Whether its message was sent.
    sent: bool,
}

/// Follows the I/Os of a device.
#[derive(Debug)]
pub struct Tracker {
    predictor: Option<Predictor>,
    geometry: Geometry,
    /// Command issue to data ready.
    flash: Average3,
    /// Data ready to completion.
    dma: Average3,
    /// A page across the channel.
    transfer: BySize,
    /// The channel to the host.
    link: BySize,
    ios: Sequence<Tracked>,
    pages: Sequence<Page>,
    units: Vec<Command>,
    channels: Vec<Channel>,
    timers: Timers,
}

/// What a completed I/O turned out to have been.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// Whether the device's memory served all of it at once.
    pub from_memory: bool,
}

impl Tracker {
    /// The tracker of a device of this shape that has served nothing; without a predictor it only tells what was served from
    /// memory.
    pub fn new(geometry: Geometry, predictor: Option<Predictor>) -> Tracker {
        Tracker {
            predictor,
            geometry,
            flash: Average3::default(),
            dma: Average3::default(),
            transfer: BySize::default(),
            link: BySize::default(),
            ios: Sequence::default(),
            pages: Sequence::default(),
            units: alloc::vec![Command::default(); geometry.units() as usize],
            channels: alloc::vec![Channel::default(); geometry.channels as usize],
            timers: BinaryHeap::new(),
        }
    }

    /// An I/O is submitted; the host is to be notified `window` before its completion.
    #[inline]
    pub fn expect(&mut self, id: RequestId, small_read: bool, window: Duration) {
        let never = Time::NEVER;
        let tracked = Tracked {
            small_read,
            window,
            admitted: never,
            from_memory: false,
            issued: never,
            ready: never,
            left: never,
            bytes: 0,
            predicted: never,
            at_issue: never,
            timer: never,
            entered: never,
            sent: false,
        };
        self.ios.insert(id.0, tracked);
    }

    /// Takes in an event of the device.
    pub fn observe(&mut self, stamped: &Stamped) {
        let at = stamped.at;
        match stamped.event {
            Event::Admitted { request } => {
                if let Some(io) = self.ios.get_mut(request.0) {
                    io.admitted = at;
                }
            }
            Event::PageFromMemory { request, .. } => {
                if let Some(io) = self.ios.get_mut(request.0) {
                    io.from_memory = io.admitted == at;
                }
            }
            Event::Queued { txn, request, op, bytes, .. } => {
                if let Some(io) = request.and_then(|id| self.ios.get_mut(id.0)) {
                    (io.admitted, io.from_memory, io.bytes) = (Time::NEVER, false, bytes);
                }
                if self.predictor.is_some() {
                    self.pages.insert(txn, Page { request, op, bytes, command: None });
                }
            }
            _ if self.predictor.is_none() => {}
            Event::Dispatched { txn, command, unit, .. } => self.dispatched(txn, command, unit, at),
            Event::ArrayStarted { unit, command, until } => self.array_started(unit, command, at, until),
            Event::BusTaken { channel, unit, command, until } => {
                let comes_out = self.bus_taken(unit, command, at, until);
                if self.predictor == Some(Predictor::Staged) {
                    self.channels[channel.index()].taken(unit, command, until, comes_out);
                    self.predict_channel(channel.index(), at);
                }
            }
            Event::Ended { txn, end, .. } => self.ended(txn, end, at),
            _ => {}
        }
    }

    fn dispatched(&mut self, txn: u64, serial: u64, unit: UnitId, at: Time) {
        let Some(page) = self.pages.get_mut(txn) else { return };
        page.command = Some((unit, serial));
        let page = *page;
        let command = &mut self.units[unit.index()];
        if command.serial != serial || command.pages.is_empty() {
            command.pages.clear();
            command.starts.clear();
            (command.serial, command.op, command.ended, command.array) = (serial, Some(page.op), 0, None);
        }
        command.pages.push(page);
        if self.predictor == Some(Predictor::Staged) && page.op == FlashOp::Program {
            // Its data go in before its array phase: they may delay pages that are to come out.
            let channel = self.geometry.channel_of(unit).index();
            self.channels[channel].requests_bus(unit, serial, at);
            self.predict_channel(channel, at);
        }
    }

    /// An array phase begins. If it is a read's, it is really issued to its chip: only now is it predicted.
    fn array_started(&mut self, unit: UnitId, serial: u64, at: Time, until: Time) {
        let command = &mut self.units[unit.index()];
        if command.serial != serial || command.op != Some(FlashOp::Read) {
            // The bus was never taken for data that take no time on it.
            self.channels[self.geometry.channel_of(unit).index()].leaves(unit, serial);
            return;
        }
        command.array = Some((at, until));
        for page in &command.pages {
            if let Some(io) = page.request.and_then(|id| self.ios.get_mut(id.0)) {
                io.issued = at;
            }
        }
        // A cold predictor says nothing (D-PRE-04).
        let Some(flash) = self.flash.mean() else { return };
        if self.predictor == Some(Predictor::Staged) {
            let channel = self.geometry.channel_of(unit).index();
            self.channels[channel].requests_bus(unit, serial, at + flash);
            self.predict_channel(channel, at);
        } else if let Some(dma) = self.dma.mean() {
            for i in 0..self.units[unit.index()].pages.len() {
                if let Some(id) = self.units[unit.index()].pages[i].request {
                    self.predict_read(id, at + flash + dma, at);
                }
            }
        }
    }

    /// A page takes the bus at `at` until `until`. Returns whether it comes out of the unit.
    fn bus_taken(&mut self, unit: UnitId, serial: u64, at: Time, until: Time) -> bool {
        let command = &mut self.units[unit.index()];
        if command.serial != serial {
            return false;
        }
        if let (Some(FlashOp::Program), [page]) = (command.op, command.pages.as_slice()) {
            self.transfer.observe(page.bytes, until - at);
        }
        let comes_out = command.op == Some(FlashOp::Read) && (command.array.is_some() || !command.starts.is_empty());
        if comes_out {
            command.starts.push(at);
            self.data_ready(unit);
        }
        comes_out
    }

    /// The data of the unit's read are ready: seen when its first page goes out.
    fn data_ready(&mut self, unit: UnitId) {
        let command = &mut self.units[unit.index()];
        if let Some((from, until)) = command.array.take() {
            self.flash.observe(until - from);
            for id in command.pages.iter().filter_map(|page| page.request) {
                if let Some(io) = self.ios.get_mut(id.0) {
                    io.ready = until;
                }
            }
        }
    }

    fn ended(&mut self, txn: u64, end: End, at: Time) {
        let Some(Page { request, op, bytes, command: Some((unit, serial)) }) = self.pages.remove(txn) else { return };
        let command = &mut self.units[unit.index()];
        if end != End::Flash || op != FlashOp::Read || command.serial != serial {
            return;
        }
        if !command.is_on_bus() {
            // The page took no time on the bus.
            command.starts.push(at);
        }
        let from = command.starts[command.ended];
        command.ended += 1;
        let (is_last, is_on_bus) = (command.ended == command.pages.len(), command.is_on_bus());
        self.data_ready(unit);
        self.transfer.observe(bytes, at - from);
        if let Some(io) = request.and_then(|id| self.ios.get_mut(id.0)) {
            io.left = at;
        }
        if self.predictor == Some(Predictor::Staged) && !is_on_bus {
            let channel = self.geometry.channel_of(unit).index();
            self.channels[channel].page_out(unit, serial, is_last);
        }
    }

    /// An I/O completed.
    pub fn completed(&mut self, id: RequestId, now: Time, meter: &mut Meter) -> Served {
        let Some(&mut io) = self.ios.get_mut(id.0) else { return Served { from_memory: false } };
        if io.issued != Time::NEVER && io.small_read {
            if io.ready != Time::NEVER {
                self.dma.observe(now - io.ready);
            }
            if io.left != Time::NEVER {
                self.link.observe(io.bytes, now - io.left);
            }
        }
        meter.cold += u64::from(io.issued != Time::NEVER && io.small_read && io.predicted == Time::NEVER);
        if io.predicted != Time::NEVER {
            meter.at_issue.count(io.at_issue.ns(), now.ns());
            meter.at_message.count(io.predicted.ns(), now.ns());
            meter.too_late += u64::from(!io.sent);
        }
        self.ios.remove(id.0);
        Served { from_memory: io.from_memory }
    }
}
