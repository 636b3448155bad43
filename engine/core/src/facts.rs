//! What never changes during a run: the geometry of the flash and its typical times.

use alloc::vec;
use alloc::vec::Vec;

use crate::geometry::Geometry;
use crate::transaction::{FlashOp, Transaction};
use crate::units::Duration;

/// What never changes during a run: geometry, typical times and thresholds.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Geometry of the flash.
    pub geometry: Geometry,
    /// Priorities: every unit has a read and a write queue for each priority.
    pub priorities: u8,
    /// Command phase on the bus, by [`FlashOp::index`].
    pub command: [Duration; 3],
    /// Typical array time, by [`FlashOp::index`].
    pub array: [Duration; 3],
    /// Bus time of a whole page.
    pub transfer_page: Duration,
    /// Bus time by number of 512-byte sectors, 0 to a whole page.
    pub transfer_sectors: Vec<Duration>,
    /// One iteration of a program and of an erase, by [`FlashOp::index`]: where pauses wait for the end of one, they begin there.
    pub iteration: [Duration; 3],
    /// Time to pause a program or an erase.
    pub suspend: Duration,
    /// Time to resume it.
    pub resume: Duration,
    /// How often a program or an erase may be paused; [`u32::MAX`] for any number of times.
    pub suspend_limit: u32,
    /// Shortest time between the end of a pause of a program or an erase and its next pause.
    pub suspend_min: Duration,
    /// Whether one command may work on several planes of a die.
    pub multi_plane: bool,
    /// Whether one command may work on several dies of a unit.
    pub multi_die: bool,
    /// Whether the pages of a multi-plane command must have the same offset in their blocks, by [`FlashOp::index`].
    pub same_page: [bool; 3],
    /// Pages that hosts can address. What the geometry has more is over-provisioning.
    pub logical_pages: u32,
    /// Pages that a write-back buffer holds; 0 without one.
    pub buffer_pages: u32,
    /// With this many free blocks of a plane or fewer, garbage collection goes before user writes.
    pub gc_hard_blocks: u32,
    /// Free blocks of a plane below which garbage collection starts.
    pub gc_start_blocks: u32,
    /// Whether writes trigger garbage collection before they go (the collect decision says so).
    pub write_triggered_gc: bool,
    /// Whether writes go between the steps of garbage collection at the hard threshold, at its pace (the collect decision says so).
    pub paced_gc: bool,
}

impl Facts {
    /// The facts of a device with this geometry whose operations take no time, with one priority and every option and limit off, for tests
    /// and examples to change.
    pub fn plain(geometry: Geometry) -> Facts {
        Facts {
            geometry,
            priorities: 1,
            command: [Duration::ZERO; 3],
            array: [Duration::ZERO; 3],
            transfer_page: Duration::ZERO,
            transfer_sectors: vec![Duration::ZERO; geometry.page_bytes as usize / 512 + 1],
            iteration: [Duration::ZERO; 3],
            suspend: Duration::ZERO,
            resume: Duration::ZERO,
            suspend_limit: u32::MAX,
            suspend_min: Duration::ZERO,
            multi_plane: true,
            multi_die: true,
            same_page: [false; 3],
            logical_pages: 0,
            buffer_pages: 0,
            gc_hard_blocks: 1,
            gc_start_blocks: 2,
            write_triggered_gc: false,
            paced_gc: false,
        }
    }

    /// Service time of an operation that moves `bytes` over the bus, alone (model 0.4).
    #[inline]
    pub fn service(&self, op: FlashOp, bytes: u32) -> Duration {
        match op {
            FlashOp::Erase => self.fixed(op),
            FlashOp::Read | FlashOp::Program => self.fixed(op) + self.transfer(bytes),
        }
    }

    /// Service time of a transaction, alone (model 0.4).
    #[inline(always)]
    pub fn service_of(&self, txn: &Transaction) -> Duration {
        self.fixed(txn.op) + txn.transfer
    }

    /// Service time of an operation on a whole page or block, alone.
    #[inline(always)]
    pub fn typical(&self, op: FlashOp) -> Duration {
        if op == FlashOp::Erase { self.fixed(op) } else { self.fixed(op) + self.transfer_page }
    }

    /// The part of an operation's service time that does not depend on its bytes: command phase and array time.
    #[inline(always)]
    fn fixed(&self, op: FlashOp) -> Duration {
        self.command[op.index()] + self.array[op.index()]
    }

    /// Bus time of `bytes`, rounded up to whole sectors for parts of a page.
    #[inline]
    pub fn transfer(&self, bytes: u32) -> Duration {
        self.transfer_sectors.get(bytes.div_ceil(512) as usize).copied().unwrap_or(self.transfer_page)
    }
}
