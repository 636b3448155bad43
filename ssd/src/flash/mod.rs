//! Flash: units, their array phases, and the channel buses between them and the controller.
//!
//! Owns when things happen on the hardware and nothing about why: it is told to begin a command, to pause or resume
//! one, and it reports transactions that ended and units that became free. It must never know addresses, mappings,
//! queues or schedulers.
//!
//! One pending instant a unit and one a channel: a unit's `at` is the end of its array phase, or the instant it began
//! to want the bus. A unit that wants a taken bus costs no event: it is looked at when the bus comes free. A channel's
//! next instant is a minimum over its few units (see [`bus`]).

pub mod array;
pub mod bus;

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Time, TxnId, UnitId};
use rand_pcg::Pcg64Mcg;

use crate::config::{Config, Dispatch, Latency};

/// What a unit's hardware is in the middle of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing.
    Idle,
    /// Wants the bus for its command, or is sending it; the array phase follows.
    Command,
    /// Array phase of a read; then it wants the bus.
    ReadArray,
    /// Sending a page out.
    DataOut,
    /// Array phase of a program or an erase.
    Array,
    /// Pausing: the overhead runs.
    Suspending,
    /// Resuming: the overhead runs.
    Resuming,
}

/// What the flash reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A transaction's flash work is done.
    Ended(TxnId),
    /// The unit's command is done, or paused; it can be given the next.
    Freed(UnitId),
    /// A program's iteration ended and a read waits: it may be paused now.
    Boundary(UnitId),
    /// The unit may decide again: the bus it waited for is free.
    BusFree(UnitId),
}

/// All flash units and channels of a device.
#[derive(Debug)]
pub struct Flash {
    /// Next instant of each unit, ns; `u64::MAX` for none.
    at: Vec<u64>,
    phase: Vec<Phase>,
    /// Serial of the command each unit works on, and of the one it has paused.
    serial: Vec<[u64; 2]>,
    /// The member whose page is on the bus.
    current: Vec<TxnId>,
    busy_from: Vec<Time>,
    channels: Vec<bus::Bus>,
    /// Next instant of each channel, ns.
    next: Vec<u64>,
    /// Channel of each unit.
    channel_of: Vec<u16>,
    units_per_channel: usize,
    commands: u64,
    /// What happened; the controller drains it.
    pub outcomes: Vec<Outcome>,
    latency: [Latency; 3],
    setup: Duration,
    plane_gap: Duration,
    dispatch: Dispatch,
    rng: Pcg64Mcg,
}

impl Flash {
    /// The idle flash of `config`.
    pub fn new(config: &Config) -> Flash {
        let g = &config.geometry;
        let units = g.units() as usize;
        Flash {
            at: vec![u64::MAX; units],
            phase: vec![Phase::Idle; units],
            serial: vec![[0; 2]; units],
            current: vec![TxnId::NONE; units],
            busy_from: vec![Time::ZERO; units],
            channels: vec![bus::Bus::IDLE; g.channels as usize],
            next: vec![u64::MAX; g.channels as usize],
            channel_of: (0..units).map(|u| g.channel_of(UnitId(u as u16)).0).collect(),
            units_per_channel: g.units_per_channel() as usize,
            commands: 0,
            outcomes: Vec::with_capacity(64),
            latency: [config.nand.read, config.nand.program, config.nand.erase],
            setup: config.bus.data_out_setup,
            plane_gap: config.bus.plane_gap,
            dispatch: config.bus.dispatch,
            rng: Pcg64Mcg::new(((config.seed as u128) << 64) | 0xcafe_f00d_d15e_a5e5),
        }
    }

    /// The earliest instant anything happens, and on which channel.
    #[inline]
    pub fn next_event(&self) -> (Time, usize) {
        let mut best = (u64::MAX, 0);
        for (channel, &at) in self.next.iter().enumerate() {
            if at < best.0 {
                best = (at, channel);
            }
        }
        (Time::from_ns(best.0), best.1)
    }

    /// Serial of the command in service at `unit`.
    pub fn command_serial(&self, unit: UnitId) -> u64 {
        self.serial[unit.index()][0]
    }

    /// Whether the unit must wait for its bus before it may choose a command (`Dispatch::BusIdle`).
    #[inline]
    pub fn must_wait_for_bus(&mut self, unit: UnitId) -> bool {
        if self.dispatch == Dispatch::Eager {
            return false;
        }
        let channel = self.channel_of[unit.index()] as usize;
        let taken = self.channels[channel].taken();
        if taken {
            self.channels[channel].deferred |= 1 << (unit.index() - channel * self.units_per_channel);
        }
        taken
    }

    /// Array time of an operation on physical page offset `page` with `members` transactions.
    fn array_time(&mut self, op: FlashOp, page: u32, members: u8) -> Duration {
        let base = match self.latency[op.index()] {
            Latency::Constant(d) => d,
            Latency::FastSlow { fast, slow } => {
                if page.is_multiple_of(2) {
                    fast
                } else {
                    slow
                }
            }
            Latency::Gaussian { mean, sd } => self.gaussian(mean, sd),
        };
        base + self.plane_gap * (members as u64 - 1)
    }

    /// Irwin-Hall: the sum of twelve uniforms less six has unit variance, and needs no floating point.
    fn gaussian(&mut self, mean: Duration, sd: Duration) -> Duration {
        use rand_core::Rng;
        let sum: u64 = (0..12).map(|_| u64::from(self.rng.next_u32())).sum();
        let centred = sum as i128 - (6 << 32);
        let offset = (centred * i128::from(sd.ns())) >> 32;
        Duration::from_ns((i128::from(mean.ns()) + offset).max(1) as u64)
    }

    /// Whether address offsets matter to the time of a read.
    pub fn reads_need_addresses(&self) -> bool {
        matches!(self.latency[0], Latency::FastSlow { .. })
    }

    /// Starts the clock of a unit's busy time.
    fn note_busy(&mut self, unit: usize, board: &Board) {
        if self.phase[unit] == Phase::Idle && board.units[unit].paused.lead.is_none() {
            self.busy_from[unit] = board.now;
        }
    }
}
