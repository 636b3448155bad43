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

use flashlane_core::{Duration, Time, TxnId, UnitId};
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

/// A unit's hardware.
#[derive(Debug)]
struct FlashUnit {
    phase: Phase,
    channel: u16,
    /// The member whose page is on the bus.
    current: TxnId,
    /// Serial of the command in service.
    serial: u64,
    /// Serial of the paused command.
    paused_serial: u64,
    busy_from: Time,
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

/// Bits that hold a channel number: at most 64 channels, and 9 years of nanoseconds above them.
const CHANNEL_BITS: u32 = 6;

/// All flash units and channels of a device.
#[derive(Debug)]
pub struct Flash {
    /// Next instant of each unit, ns; `u64::MAX` for none.
    at: Vec<u64>,
    units: Vec<FlashUnit>,
    channels: Vec<bus::Bus>,
    /// Next instant of each channel and the channel, packed: `ns << 6 | channel`, so that one minimum gives both.
    next: Vec<u64>,
    /// The least of them.
    soonest: u64,
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
            units: (0..units)
                .map(|u| FlashUnit {
                    phase: Phase::Idle,
                    channel: g.channel_of(UnitId(u as u16)).0,
                    current: TxnId::NONE,
                    serial: 0,
                    paused_serial: 0,
                    busy_from: Time::ZERO,
                })
                .collect(),
            channels: vec![bus::Bus::IDLE; g.channels as usize],
            next: vec![u64::MAX; g.channels as usize],
            soonest: u64::MAX,
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
        if self.soonest == u64::MAX {
            return (Time::NEVER, 0);
        }
        (Time::from_ns(self.soonest >> CHANNEL_BITS), (self.soonest & ((1 << CHANNEL_BITS) - 1)) as usize)
    }

    /// Notes the next instant of a channel.
    #[inline]
    fn set_next(&mut self, channel: usize, at: u64) {
        self.next[channel] = if at == u64::MAX { at } else { at << CHANNEL_BITS | channel as u64 };
        self.soonest = self.next.iter().fold(u64::MAX, |least, &next| least.min(next));
    }

    /// Whether the unit must wait for its bus before it may choose a command (`Dispatch::BusIdle`).
    #[inline]
    pub fn must_wait_for_bus(&mut self, unit: UnitId) -> bool {
        if self.dispatch == Dispatch::Eager {
            return false;
        }
        let channel = usize::from(self.units[unit.index()].channel);
        let taken = self.channels[channel].taken();
        if taken {
            self.channels[channel].deferred |= 1 << (unit.index() - channel * self.units_per_channel);
        }
        taken
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
}
