//! Flash: units, their array phases, and the channel buses between them and the controller.
//!
//! Owns when things happen on the hardware, not why: the device calls it to begin, pause or resume a command, and it reports
//! transactions that ended and units that must decide. Must never know logical addresses, mappings or schedulers. Of queues it
//! reads only whether anything waits for a unit that becomes free, and whether a read waits for one whose command can be paused.
//!
//! A unit has at most one pending instant: its timer (the end of an array phase or of a pause's overhead), or the instant from
//! which it requests the bus. A unit that waits for a taken bus needs no event: the bus is assigned when it becomes free.
//! A channel's next instant is the earliest of its bus and its units (see [`bus`]), the flash's the earliest of its channels. A
//! step of a channel borrows it with all its units ([`ChannelStep`]) or with one of them ([`UnitStep`]).
//!
//! A transfer whose beginning cannot be observed is processed in one event, at its end. If `Common::elision_disabled` is set, every
//! transfer is processed at its beginning too. A test checks for every scheduler that completions are the same with and without.

mod array;
mod bus;

use alloc::vec::Vec;

pub use array::Start;
use bus::Channel;
use flashlane_core::board::{self, Facts, Service};
use flashlane_core::transaction::{FlashOp, Transaction};
use flashlane_core::{Board, Duration, MinTree, Time, TxnId, UnitId};
use rand_pcg::Pcg64Mcg;

use crate::config::{Config, Dispatch, Latency};
use crate::shared::{Agenda, Log, State};

/// What a unit's hardware is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing.
    Idle,
    /// Requests the bus for its command phase, or is in it; the array phase follows.
    Command,
    /// Array phase of a read; then it requests the bus.
    ReadArray,
    /// Transferring a page of a read out.
    DataOut,
    /// Array phase of a program or an erase.
    Array,
    /// The overhead of pausing.
    Suspending,
    /// The overhead of resuming.
    Resuming,
}

/// A unit's hardware.
#[derive(Debug)]
struct FlashUnit {
    phase: Phase,
    /// Whether a command is paused: a copy of what the board shows, in a cache line that every step reads anyway.
    has_paused: bool,
    /// Its number on the channel.
    way: u8,
    channel: u16,
    /// The member of a read whose page is transferred next or now.
    current: TxnId,
    /// How long it will hold the bus when it next gets it, ns.
    bus_time: u64,
    /// Bus time of the lead's page, ns.
    data_out: u64,
    /// Pages of a row that one transaction reads and that are not transferred yet; 0 for all other commands.
    row: u32,
    /// How many of them are transferred at a time.
    row_step: u32,
    /// How many have been since the device asked ([`Flash::take_pages_out`]).
    row_out: u32,
    /// Serial of the command in service.
    serial: u64,
    /// Serial of the paused command.
    paused_serial: u64,
    busy_from: Time,
}

/// Bits that hold a channel number: at most 64 channels; instants up to [`Time::LAST`] fit above them.
const CHANNEL_BITS: u32 = 6;

/// All flash units and channels of a device.
#[derive(Debug)]
#[repr(C)]
pub struct Flash {
    /// The earliest instant in `next`, unpacked.
    pub soonest: Time,
    /// Transactions that ended, in order; the device drains it.
    pub ended: Ended,
    units: Vec<FlashUnit>,
    channels: Vec<Channel>,
    common: Common,
    /// Whether units may choose a command only while their bus is free ([`Dispatch::BusIdle`]).
    pub waits_for_bus: bool,
    /// Next instant of each channel, packed with the channel's number (`ns << 6 | channel`), so that one minimum gives both.
    next: MinTree,
}

/// What all channels share.
#[derive(Debug)]
struct Common {
    commands: u64,
    latency: [Latency; 3],
    /// Array times that are always the same, by operation.
    constant: [Option<Duration>; 3],
    setup: Duration,
    plane_gap: Duration,
    /// Whether waiting reads may move to another unit.
    reads_move: bool,
    /// Whether a program or erase may be interrupted.
    pauses: bool,
    /// Whether the beginning of a transfer can be observed: by the event log, or by a place decision that reads the channels.
    elision_disabled: bool,
    /// By operation, whether a command has no event between its transfer and its array phase. Allowed when nothing can observe the
    /// difference: its array time is not drawn at random and, for programs and erases, no decision reads the expected end of a
    /// command and nothing can be paused.
    runs_on: [bool; 3],
    /// Whether the pages of a row that garbage collection reads are transferred in one event. Allowed when nothing can observe what those before the
    /// last change: reads are not tried again, and no decision reads the expected end of a command or what waits besides.
    rows_at_once: bool,
    /// Array times in SLC mode, by operation.
    slc: [Duration; 3],
    /// Array time of one more try to read a page; `None` if all reads succeed at once.
    retry_step: Option<Duration>,
    /// Pages read with retries, counted as their reads end, and retry steps.
    retries: [u64; 2],
    rng: Pcg64Mcg,
}

impl Flash {
    /// The idle flash of `config`; `reads_move` when waiting reads may move to another unit, `pauses` when a program or
    /// erase may be interrupted, `reads_ends` when a decision may read the expected end of a running command.
    pub fn new(config: &Config, reads_move: bool, pauses: bool, reads_ends: bool) -> Flash {
        let latency = [config.nand.read, config.nand.program, config.nand.erase];
        let mut constant = latency.map(|latency| match latency {
            Latency::Constant(time) => Some(time),
            Latency::Gaussian { .. } | Latency::ByPage(_) => None,
        });
        if config.retry.is_some() {
            constant[FlashOp::Read.index()] = None;
        }
        let slc = config.slc.as_ref().map(|slc| [slc.read, slc.program, slc.erase]);
        if slc.is_some() {
            constant = [None; 3];
        }
        let g = &config.geometry;
        let units = g.units() as usize;
        let mut flash = Flash {
            units: (0..units)
                .map(|u| FlashUnit {
                    phase: Phase::Idle,
                    has_paused: false,
                    way: (u % g.units_per_channel() as usize) as u8,
                    channel: g.channel_of(UnitId(u as u16)).0,
                    current: TxnId::NONE,
                    bus_time: 0,
                    data_out: 0,
                    row: 0,
                    row_step: 1,
                    row_out: 0,
                    serial: 0,
                    paused_serial: 0,
                    busy_from: Time::ZERO,
                })
                .collect(),
            channels: (0..g.channels).map(|c| Channel::idle(c * g.units_per_channel())).collect(),
            next: MinTree::new(g.channels as usize),
            soonest: Time::NEVER,
            ended: Ended::default(),
            waits_for_bus: config.bus.dispatch == Dispatch::BusIdle,
            common: Common {
                commands: 0,
                latency,
                constant,
                setup: config.bus.data_out_setup,
                plane_gap: config.bus.plane_gap,
                reads_move,
                pauses,
                elision_disabled: false,
                runs_on: [false; 3],
                rows_at_once: false,
                slc: slc.unwrap_or_default(),
                retry_step: config.retry.as_ref().map(|retry| retry.step),
                retries: [0; 2],
                rng: Pcg64Mcg::new(((config.seed as u128) << 64) | 0xcafe_f00d_d15e_a5e5),
            },
        };
        flash.set_policy(reads_move, pauses, reads_ends);
        flash
    }

    /// The generator of array times.
    pub(crate) fn rng(&self) -> &Pcg64Mcg {
        &self.common.rng
    }

    /// Draws array times from this generator from now on.
    pub(crate) fn set_rng(&mut self, rng: Pcg64Mcg) {
        self.common.rng = rng;
    }

    /// What the scheduler does and reads, as for [`Flash::new`]. Nothing may be under way.
    pub fn set_policy(&mut self, reads_move: bool, pauses: bool, reads_ends: bool) {
        let Common { latency, elision_disabled, .. } = self.common;
        let unobserved = !pauses && !reads_ends;
        let [read, program, erase] = latency.map(|latency| !matches!(latency, Latency::Gaussian { .. }));
        (self.common.reads_move, self.common.pauses) = (reads_move, pauses);
        if !elision_disabled {
            self.common.runs_on = [read, unobserved && program, unobserved && erase];
            self.common.rows_at_once = !reads_ends && self.common.retry_step.is_none();
        }
    }

    /// From now on transfers are processed when they begin, not only when they end. Results do not change; the event log and the
    /// channels on the board are then correct at every instant.
    pub fn disable_elision(&mut self) {
        (self.common.elision_disabled, self.common.runs_on, self.common.rows_at_once) = (true, [false; 3], false);
    }

    /// The serial that the next command will get.
    pub fn next_serial(&self) -> u64 {
        self.common.commands
    }

    /// Processes what happens at this instant on the channel with the earliest instant; of several, the lowest.
    #[inline(always)]
    pub fn step(&mut self, state: &mut State) {
        let channel = (self.next.min() & ((1 << CHANNEL_BITS) - 1)) as usize;
        let (now, own, bus_next) = {
            let channel = &self.channels[channel];
            (state.now().ns(), channel.timers.first_instant(), channel.bus_next())
        };
        let next = if own > now {
            self.channel_step(channel, state).process(false)
        } else if bus_next > now {
            self.step_unit(channel, state)
        } else {
            self.step_all(channel, state)
        };
        self.set_next(channel, next);
    }

    /// Processes the expired timer of one unit, the first if several have expired, when nothing happens on the bus. Returns the
    /// channel's next instant.
    #[inline(never)]
    fn step_unit(&mut self, channel: usize, state: &mut State) -> u64 {
        let first = &self.channels[channel];
        let unit = UnitId(first.first + first.timers.first() as u16);
        let mut step = self.unit_step(unit, state);
        step.timer_expired();
        step.channel.next()
    }

    /// Processes expired timers of units and what happens on the bus at the same instant. Returns the channel's next instant.
    #[cold]
    fn step_all(&mut self, channel: usize, state: &mut State) -> u64 {
        self.channel_step(channel, state).process(true)
    }

    /// Assigns a channel's bus after a new request; returns the channel's next instant.
    #[inline(never)]
    fn assign_bus(&mut self, channel: usize, state: &mut State) -> u64 {
        let mut step = self.channel_step(channel, state);
        step.end_transfers();
        step.assign_bus();
        step.channel.next()
    }

    /// Processes the beginning of transfers on a channel that have begun without an event; returns its next instant.
    #[inline(never)]
    fn start_elided_transfers(&mut self, channel: usize, state: &mut State) -> u64 {
        let mut step = self.channel_step(channel, state);
        step.start_elided_transfers();
        step.channel.next()
    }

    /// Sets the channel's next instant.
    #[inline(always)]
    fn set_next(&mut self, channel: usize, next: u64) {
        // Packed, NEVER is still later than any instant, and the arithmetic shift below restores it.
        let packed = next << CHANNEL_BITS | channel as u64;
        if packed == self.next.at(channel) {
            return;
        }
        self.next.set(channel, packed);
        self.soonest = Time::from_ns((self.next.min() as i64 >> CHANNEL_BITS) as u64);
    }

    /// Sets a unit's timer.
    #[inline(always)]
    fn set_timer(&mut self, unit: usize, at: u64) {
        let FlashUnit { channel, way, .. } = self.units[unit];
        let state = &mut self.channels[usize::from(channel)];
        state.timers.remove(usize::from(way));
        state.timers.insert_by_number(usize::from(way), at);
        let next = state.next();
        self.set_next(usize::from(channel), next);
    }

    /// Updates what the board shows of the unit's channel to this instant, for a decision that reads it.
    #[inline(always)]
    pub fn publish_channel(&mut self, unit: UnitId, state: &mut State) {
        let channel = usize::from(self.units[unit.index()].channel);
        if self.channels[channel].has_elided_transfer(state.now().ns()) {
            let next = self.start_elided_transfers(channel, state);
            self.set_next(channel, next);
        }
    }

    /// Whether the bus of `unit` is taken, or about to be.
    #[inline(always)]
    pub fn bus_in_use(&self, unit: UnitId, now: Time) -> bool {
        self.channels[usize::from(self.units[unit.index()].channel)].in_use(now.ns())
    }

    /// Whether the unit must wait for its bus before it decides ([`Flash::waits_for_bus`]). If so, it is marked to decide when
    /// the bus becomes free.
    pub fn must_wait_for_bus(&mut self, unit: UnitId, now: Time) -> bool {
        let in_use = self.bus_in_use(unit, now);
        if in_use {
            let FlashUnit { channel: number, way, .. } = self.units[unit.index()];
            let channel = &mut self.channels[usize::from(number)];
            channel.defer(way, now.ns());
            let next = channel.next();
            self.set_next(usize::from(number), next);
        }
        in_use
    }

    /// Pages read with retries, counted as their reads end, and retry steps; `None` where all reads succeed at once.
    pub fn retries(&self) -> Option<[u64; 2]> {
        self.common.retry_step.map(|_| self.common.retries)
    }

    /// Takes how many pages have been transferred of the row that a unit reads with one transaction.
    pub fn take_pages_out(&mut self, unit: UnitId) -> u32 {
        core::mem::take(&mut self.units[unit.index()].row_out)
    }

    /// Pages that have been transferred by `now`, of rows that cross the bus in one event: the event counts them when it ends.
    pub fn pages_under_way(&self, now: Time) -> u64 {
        let of_channel = |channel: &Channel| {
            let (way, ends) = channel.unrecorded(now.ns())?;
            let FlashUnit { row, row_step, bus_time, .. } = self.units[usize::from(channel.first) + way];
            let page = bus_time / u64::from(row_step);
            (row > 0 && page > 0).then(|| u64::from(row_step).saturating_sub((ends - now.ns()).div_ceil(page)))
        };
        self.channels.iter().filter_map(of_channel).sum()
    }

    /// How long each unit has been busy up to now, the command in service included.
    pub fn unit_busy<'a>(&'a self, board: &'a Board) -> impl Iterator<Item = Duration> + 'a {
        self.units.iter().zip(&board.units).map(|(unit, shown)| match shown.service {
            Service::Idle => shown.counters.busy,
            Service::Busy | Service::Paused => shown.counters.busy + board.now.since(unit.busy_from),
        })
    }

    /// How long the bus of each channel has been taken up to now, the transfer under way included.
    pub fn channel_busy<'a>(&'a self, board: &'a Board) -> impl Iterator<Item = Duration> + 'a {
        let (now, elides) = (board.now.ns(), !self.common.elision_disabled);
        self.channels.iter().zip(&board.channels).map(move |(own, shown)| own.busy_until(shown.busy, now, elides))
    }

    /// Whether the array time of a read depends on its page's offset in the block.
    pub fn reads_need_addresses(&self) -> bool {
        matches!(self.common.latency[0], Latency::ByPage(_))
    }
}

impl Common {
    /// An approximately Gaussian time (Irwin-Hall): the sum of twelve uniform numbers less six has unit variance. Integers only.
    #[inline(never)]
    fn gaussian(&mut self, mean: Duration, sd: Duration) -> Duration {
        use rand_core::Rng;
        let sum: u64 = (0..12).map(|_| u64::from(self.rng.next_u32())).sum();
        let centred = sum as i128 - (6 << 32);
        let offset = (centred * i128::from(sd.ns())) >> 32;
        Duration::from_ns((i128::from(mean.ns()) + offset).max(1) as u64)
    }
}

// The parts of the flash and the board that one step borrows: a channel with all its units, or with one of them.

/// A channel with its units: everything that a step of the channel reads or changes.
struct ChannelStep<'a> {
    now: Time,
    channel: &'a mut Channel,
    /// Index of the channel's first unit in `units` and `board_view`.
    first: usize,
    units: &'a mut [FlashUnit],
    /// What the board shows of the units.
    board_view: &'a mut [board::Unit],
    /// What the board shows of the channel.
    counters: &'a mut board::Channel,
    txns: &'a mut [Transaction],
    facts: &'a Facts,
    common: &'a mut Common,
    ended: &'a mut Ended,
    agenda: &'a mut Agenda,
    log: &'a mut Log,
}

/// A unit with its channel: everything that the phases of its command read or change.
struct UnitStep<'a> {
    now: Time,
    id: UnitId,
    /// Its number on the channel.
    way: usize,
    unit: &'a mut FlashUnit,
    board_view: &'a mut board::Unit,
    channel: &'a mut Channel,
    counters: &'a mut board::Channel,
    txns: &'a mut [Transaction],
    facts: &'a Facts,
    common: &'a mut Common,
    ended: &'a mut Ended,
    agenda: &'a mut Agenda,
    log: &'a mut Log,
}

impl ChannelStep<'_> {
    /// A unit of the channel.
    #[inline(always)]
    fn unit_step(&mut self, way: usize) -> UnitStep<'_> {
        let index = self.first + way;
        UnitStep {
            now: self.now,
            id: UnitId(index as u16),
            way,
            unit: &mut self.units[index],
            board_view: &mut self.board_view[index],
            channel: self.channel,
            counters: self.counters,
            txns: self.txns,
            facts: self.facts,
            common: self.common,
            ended: self.ended,
            agenda: self.agenda,
            log: self.log,
        }
    }
}

impl Flash {
    /// A unit with its channel.
    #[inline(always)]
    fn unit_step<'a>(&'a mut self, id: UnitId, state: &'a mut State) -> UnitStep<'a> {
        let State { board, agenda, log, .. } = state;
        let unit = &mut self.units[id.index()];
        let channel = usize::from(unit.channel);
        UnitStep {
            now: board.now,
            id,
            way: usize::from(unit.way),
            unit,
            board_view: &mut board.units[id.index()],
            channel: &mut self.channels[channel],
            counters: &mut board.channels[channel],
            txns: &mut board.txns,
            facts: &board.facts,
            common: &mut self.common,
            ended: &mut self.ended,
            agenda,
            log,
        }
    }

    /// The channel with its units.
    #[inline(always)]
    fn channel_step<'a>(&'a mut self, channel: usize, state: &'a mut State) -> ChannelStep<'a> {
        let State { board, agenda, log, .. } = state;
        let counters = &mut board.channels[channel];
        let channel = &mut self.channels[channel];
        ChannelStep {
            now: board.now,
            first: usize::from(channel.first),
            units: &mut self.units,
            board_view: &mut board.units,
            channel,
            counters,
            txns: &mut board.txns,
            facts: &board.facts,
            common: &mut self.common,
            ended: &mut self.ended,
            agenda,
            log,
        }
    }
}

// The transactions that the flash has finished: a first-in, first-out list linked by [`Transaction::next`].

/// Transactions that ended, in order.
#[derive(Debug)]
pub struct Ended {
    first: TxnId,
    last: TxnId,
}

impl Default for Ended {
    fn default() -> Ended {
        Ended { first: TxnId::NONE, last: TxnId::NONE }
    }
}

impl Ended {
    /// Adds a transaction, which must be in no other list.
    #[inline(always)]
    fn push(&mut self, txns: &mut [Transaction], id: TxnId) {
        if self.first.is_none() {
            self.first = id;
        } else {
            txns[self.last.index()].next = id;
        }
        self.last = id;
    }

    /// Takes the first.
    #[inline(always)]
    pub fn pop(&mut self, board: &Board) -> Option<TxnId> {
        let id = self.first;
        if id.is_none() {
            return None;
        }
        // `next` of the last one is not valid.
        self.first = if id == self.last { TxnId::NONE } else { board.txn(id).next };
        Some(id)
    }
}
