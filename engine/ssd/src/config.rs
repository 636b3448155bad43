//! The configuration of a device: geometry, times, translation layer, buffer and host interface.
//!
//! Plain values. [`Config::check`] returns the first that is out of range, with its key, its value and what is legal.
//! What one-shot programs need is checked in [`one_shot`], all else in [`check`].

mod check;
mod front;
mod latency;
mod one_shot;
mod plain;

use alloc::vec::Vec;

pub use check::ConfigError;
use flashlane_core::board::Facts;
use flashlane_core::choices;
use flashlane_core::geometry::AllocationOrder;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Geometry};
pub use front::{BufferOrder, Charge, Controller, Front, Protocol, Service};
pub use latency::{Latency, PageTimes};

/// Largest number of flows of a device.
pub const MAX_FLOWS: usize = 1024;

/// A device to build.
#[derive(Clone, Debug)]
pub struct Config {
    /// Geometry of the flash.
    pub geometry: Geometry,
    /// Array times and what commands may do.
    pub nand: Nand,
    /// Reads that are tried again; `None` if all succeed at once.
    pub retry: Option<ReadRetry>,
    /// Blocks in SLC mode that take writes first; `None` for none.
    pub slc: Option<SlcCache>,
    /// Channel buses.
    pub bus: Bus,
    /// Translation layer.
    pub ftl: Ftl,
    /// The part of the map that memory holds, where the map lies on the flash; `None` if memory holds all of it.
    pub mapping: Option<Mapping>,
    /// What trims take, and how reads of unmapped pages are served.
    pub unmap: Unmap,
    /// Garbage collection.
    pub gc: Gc,
    /// State of the drive before the first request.
    pub precondition: Precondition,
    /// Page buffer in the controller's memory; `None` for none.
    pub buffer: Option<Buffer>,
    /// Host interface.
    pub front: Front,
    /// Time the controller's memory takes to serve a request without flash.
    pub memory: Duration,
    /// One entry for each flow.
    pub flows: Vec<FlowConfig>,
    /// Priorities (queues per unit and direction), 1 to 8.
    pub priorities: u8,
    /// Seed of all random numbers of the device.
    pub seed: u64,
}

/// Translation layer.
#[derive(Clone, Debug)]
pub struct Ftl {
    /// Order of static allocation.
    pub order: AllocationOrder,
    /// Logical pages the host may address.
    pub logical_pages: u32,
    /// A write of part of a page reads the page first, also in a write-back buffer that merges writes.
    pub read_modify_write: bool,
    /// The free block with the fewest erases is taken first; otherwise the one that was erased first.
    pub wear_aware: bool,
}

/// What trims and write zeroes take, and how reads of unmapped pages are served.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unmap {
    /// Time of a trim, however many pages it unmaps.
    pub command: Duration,
    /// Time of each mapped page that it unmaps.
    pub page: Duration,
    /// How a page is read that was trimmed or never written.
    pub reads: UnmappedReads,
}

choices! {
    /// How a page is read that was trimmed or never written.
    #[derive(Default)]
    pub enum UnmappedReads {
        /// By the flash, as any page.
        #[default]
        Flash = "flash",
        /// From memory: the map tells that there is no data.
        Memory = "memory",
    }
}

/// A mapping cache (model 0.11): the map of pages lies on the flash in translation pages, and memory holds a part of its entries, one for a
/// logical page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapping {
    /// Entries that the controller's memory holds.
    pub entries: u32,
    /// Entries that the host's memory holds beyond those.
    pub host_entries: u32,
    /// Entries of a translation page.
    pub entries_per_page: u32,
    /// Bytes of an entry in a translation page and on the link to the host.
    pub entry_bytes: u32,
    /// Bytes that cross the bus when a translation page is read for an entry; when it is read to be written anew, the whole page does.
    pub read_bytes: u32,
    /// Memory holds as many entries as it can before the first request, those of the first pages; otherwise none.
    pub warm: bool,
}

impl Mapping {
    /// Entries held in all.
    pub const fn held(&self) -> u32 {
        self.entries + self.host_entries
    }
}

/// Garbage collection.
#[derive(Clone, Debug)]
pub struct Gc {
    /// How a victim is chosen.
    pub victim: Victim,
    /// A plane starts collecting with fewer free blocks than this.
    pub start_blocks: u32,
    /// At or below this many free blocks, collecting goes before user transactions.
    pub hard_blocks: u32,
    /// Moved pages go to open blocks separate from those of host writes.
    pub separate_frontier: bool,
}

/// Victim selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    /// Fewest valid pages; lowest block on a tie.
    Greedy,
    /// Any sealed block with an invalid page.
    Random,
    /// The one with fewest valid pages of `d` sampled at random.
    DChoices(u32),
    /// The block sealed longest ago that has an invalid page.
    Fifo,
    /// Largest `(1 - u) / 2u * age`, where `u` is the share of valid pages and `age` the number of blocks of the plane filled
    /// since the block last lost a page; on a tie fewest valid pages, then the lowest block.
    CostBenefit,
}

/// State of the drive before the first request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precondition {
    /// Erased. A read of a page never written is still served by the flash, at the page's home.
    Fresh,
    /// The first `per_mille` thousandths of the logical pages written once, in order.
    Filled {
        /// Thousandths of the logical pages.
        per_mille: u32,
    },
    /// Every logical page written, and overwritten at random until garbage collection is in equilibrium: valid pages of
    /// the blocks follow the analytic distribution, free blocks stand at the start threshold.
    Steady,
    /// Every logical page written in order, then uniformly sampled ones overwritten with garbage collected as the
    /// configuration says, before the first request and at no cost in simulated time.
    Replayed {
        /// Overwrites, in percent of the logical pages.
        percent: u32,
    },
}

/// Page buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Pages it holds.
    pub pages: u32,
    /// Each flow has an equal part of the buffer.
    pub per_flow: bool,
    /// Whether writes complete in the buffer (write-back); otherwise it serves reads only.
    pub write_back: bool,
    /// Whether pages read from flash enter the buffer.
    pub read_allocate: bool,
    /// Dirty pages of a part beyond this many are written out in the background.
    pub flush_above: u32,
    /// Whether a write of a page that the buffer holds replaces it there. If not, every write keeps a page of the buffer from its
    /// completion to the end of a program of its own, which the cancel decision may save (D-SOS-05).
    pub merge_writes: bool,
    /// Whether its dirty pages survive a loss of power (capacitors): a flush and a write with FUA then need no flash.
    pub protected: bool,
    /// How long the free pages of a part last at the rate at which pages enter it while at most half of it is free; zero: writes enter as
    /// soon as there is space.
    pub pace: Duration,
}

impl Buffer {
    /// Whether acknowledged writes may be lost with the power.
    pub const fn is_volatile(&self) -> bool {
        self.write_back && !self.protected
    }
}

/// Configuration of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowConfig {
    /// Priority, 0 (lowest) to 7. Priorities that the device does not have count as its highest.
    pub priority: u8,
    /// First logical page of the flow's part of the drive, whose content before the first request is the flow's data. Where
    /// parts overlap, it is the first flow's.
    pub first_page: u32,
    /// Logical pages of that part; 0 for a flow that owns no data before its first write.
    pub pages: u32,
}

impl FlowConfig {
    /// A flow of this priority that owns no data before its first write.
    pub const fn at_priority(priority: u8) -> FlowConfig {
        FlowConfig { priority, first_page: 0, pages: 0 }
    }
}

impl Config {
    /// Array time that schedulers calculate with.
    pub fn typical(&self, op: FlashOp) -> Duration {
        match op {
            FlashOp::Read => self.nand.read.typical(),
            FlashOp::Program => self.nand.program.typical(),
            FlashOp::Erase => self.nand.erase.typical(),
        }
    }

    /// Bus time of `bytes` of data, without set-up.
    pub fn transfer(&self, bytes: u64) -> Duration {
        if self.bus.mega_transfers == u32::MAX {
            return Duration::ZERO;
        }
        let (width, rate) = (self.bus.width_bytes as u64, self.bus.mega_transfers as u64);
        Duration::from_ns(match self.bus.rounding {
            Rounding::Exact => (2 * bytes * 1000 + width * rate) / (2 * width * rate),
            Rounding::MqSim => bytes.div_ceil(2 * width) * (2000 / rate),
        })
    }

    /// Whether pages that writes cover in part are read before they leave the buffer.
    pub fn buffer_reads_rests(&self) -> bool {
        let merges = |buffer: &Buffer| buffer.write_back && buffer.merge_writes;
        self.ftl.read_modify_write
            && self.front.service == Service::Parallel
            && self.buffer.as_ref().is_some_and(merges)
    }

    /// Bytes of a whole page on the bus.
    pub const fn page_on_bus(&self) -> u32 {
        self.geometry.page_bytes + if self.bus.with_metadata { self.geometry.metadata_bytes } else { 0 }
    }

    /// Blocks of a plane without the static ones of the SLC cache.
    pub fn native_blocks(&self) -> u32 {
        self.geometry.blocks_per_plane - self.slc.as_ref().map_or(0, |slc| slc.static_blocks)
    }

    /// Blocks of a plane that take pages in SLC mode once and are never erased: the static ones, where writes bypass a full cache and no idle
    /// time is given after which they are folded.
    pub fn blocks_never_folded(&self) -> u32 {
        let stays = |slc: &&SlcCache| slc.full == FullCache::Direct && slc.idle.is_none();
        self.slc.as_ref().filter(stays).map_or(0, |slc| slc.static_blocks)
    }

    /// Pages on which the map lies: none if memory holds it.
    pub fn translation_pages(&self) -> u32 {
        self.translation_pages_of(self.ftl.logical_pages)
    }

    /// Those of them that have entries of the first `pages` logical pages.
    pub(crate) fn translation_pages_of(&self, pages: u32) -> u32 {
        self.mapping.map_or(0, |mapping| pages.div_ceil(mapping.entries_per_page))
    }

    /// Pages that are stored on a full drive: the logical pages, and behind them in the order of numbers the translation pages.
    pub fn stored_pages(&self) -> u32 {
        self.ftl.logical_pages + self.translation_pages()
    }

    /// What the board shows of this configuration.
    pub fn facts(&self) -> Facts {
        let page = self.geometry.page_bytes;
        let array = [FlashOp::Read, FlashOp::Program, FlashOp::Erase].map(|op| self.typical(op));
        let Nand { iterations, erase_iterations, .. } = self.nand;
        let iteration = |op: FlashOp, parts: u32| (array[op.index()].ns() / u64::from(parts)).max(1);
        let metadata = |bytes: u32| {
            if self.bus.with_metadata { bytes as u64 * self.geometry.metadata_bytes as u64 / page as u64 } else { 0 }
        };
        Facts {
            geometry: self.geometry,
            priorities: self.priorities,
            command: self.bus.command,
            array,
            transfer_page: self.transfer(self.page_on_bus() as u64),
            transfer_sectors: (0..=page / 512).map(|s| self.transfer(s as u64 * 512 + metadata(s * 512))).collect(),
            iteration: [
                Duration::ZERO,
                Duration::from_ns(iteration(FlashOp::Program, iterations)),
                Duration::from_ns(iteration(FlashOp::Erase, erase_iterations)),
            ],
            suspend: self.nand.suspend,
            resume: self.nand.resume,
            suspend_limit: self.nand.suspend_limit,
            suspend_min: self.nand.suspend_min,
            multi_plane: self.nand.multi_plane,
            multi_die: self.nand.multi_die,
            same_page: [self.nand.same_page_read, self.nand.same_page_program, false],
            logical_pages: self.ftl.logical_pages,
            buffer_pages: self.buffer.as_ref().filter(|buffer| buffer.write_back).map_or(0, |buffer| buffer.pages),
            gc_hard_blocks: self.gc.hard_blocks,
            gc_start_blocks: self.gc.start_blocks,
            write_triggered_gc: false,
            paced_gc: false,
        }
    }
}

// The flash: array times, what commands may do, and the buses.

/// Flash array times and abilities.
#[derive(Clone, Debug)]
pub struct Nand {
    /// Array time of a page read.
    pub read: Latency,
    /// Array time of a page program.
    pub program: Latency,
    /// Array time of a block erase.
    pub erase: Latency,
    /// Iterations of a typical program (D-SLK-12).
    pub iterations: u32,
    /// Iterations of a typical erase.
    pub erase_iterations: u32,
    /// Time to pause a program or an erase.
    pub suspend: Duration,
    /// Time to resume it.
    pub resume: Duration,
    /// How often a program or an erase may be paused; [`u32::MAX`] for any number of times.
    pub suspend_limit: u32,
    /// Shortest time between the end of a pause of a program or an erase and its next pause.
    pub suspend_min: Duration,
    /// When a pause begins that the scheduler may ask for at any instant.
    pub suspend_at: SuspendAt,
    /// One command may work on several planes of a die.
    pub multi_plane: bool,
    /// One command may work on several dies of a unit.
    pub multi_die: bool,
    /// The pages of a multi-plane read must have the same offset in their blocks.
    pub same_page_read: bool,
    /// The pages of a multi-plane program must have the same offset in their blocks.
    pub same_page_program: bool,
    /// Pages of a wordline, which native cells take in one program; 1 where each page has a program of its own.
    pub one_shot_pages: u32,
    /// How long pages of the buffer wait for a full wordline before it is padded; `None` for as long as no flush or write with FUA waits for
    /// them.
    pub one_shot_wait: Option<Duration>,
}

choices! {
    /// When a pause of a program or an erase begins that the scheduler may ask for at any instant.
    #[derive(Default)]
    pub enum SuspendAt {
        /// At once.
        #[default]
        Instant = "instant",
        /// At the end of the iteration that is running.
        Segment = "segment",
    }
}

/// Reads that are tried again with other reference voltages, each time for one more array step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadRetry {
    /// Array time of a step.
    pub step: Duration,
    /// Erases of every block before the run.
    pub initial_erases: u32,
    /// Age of the data that lies on the drive before the run, in days; what the run writes has none.
    pub initial_age_days: u32,
    /// How often pages are tried again. The last state with no more erases and days than the page's applies; none: never.
    pub states: Vec<RetryState>,
}

impl ReadRetry {
    /// Most states.
    pub const MOST_STATES: usize = 64;
}

/// How often pages of some wear and age are tried again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RetryState {
    /// From this many erases of the block on.
    pub erases: u32,
    /// From this age of the data on, in days.
    pub age_days: u32,
    /// The share of pages that need at most 0, 1, 2, ... steps, in parts of 2^32; ascending.
    pub below: Vec<u64>,
}

impl RetryState {
    /// Most steps of a read.
    pub const MOST_STEPS: usize = 31;
}

/// Blocks in SLC mode, with one bit a cell, that take writes first (model 0.14).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlcCache {
    /// Blocks of a plane that are always in SLC mode: its last ones. They hold no data before the first request.
    pub static_blocks: u32,
    /// Free blocks beyond [`Gc::start_blocks`] may be opened in SLC mode too, until they are erased.
    pub dynamic: bool,
    /// Most blocks of a plane that `dynamic` has in SLC mode at a time; `u32::MAX` for no limit.
    pub dynamic_limit: u32,
    /// Bits a cell of the other blocks: a block in SLC mode has `pages_per_block / bits` pages.
    pub bits: u32,
    /// Array time of a page read in SLC mode.
    pub read: Duration,
    /// Array time of a page program in SLC mode.
    pub program: Duration,
    /// Array time of an erase of a block in SLC mode.
    pub erase: Duration,
    /// Folding begins when no user transaction has been in the device for this long; `None` for never.
    pub idle: Option<Duration>,
    /// What a write does when the cache is full.
    pub full: FullCache,
}

choices! {
    /// What a write does when the SLC cache is full.
    pub enum FullCache {
        /// It waits until a block has been folded.
        Fold = "fold",
        /// It goes to native cells.
        Direct = "direct",
    }
}

/// A channel bus.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Million transfers per second; with `u32::MAX` transfers take no time.
    pub mega_transfers: u32,
    /// Bytes per transfer.
    pub width_bytes: u32,
    /// How transfer times are rounded (model 0.2).
    pub rounding: Rounding,
    /// Whether the spare bytes of a whole page cross the bus too.
    pub with_metadata: bool,
    /// Command phase of a read, a program, an erase on the bus.
    pub command: [Duration; 3],
    /// Set-up before a data-out phase.
    pub data_out_setup: Duration,
    /// Extra array time for each further plane of a command.
    pub plane_gap: Duration,
    /// When a unit may decide.
    pub dispatch: Dispatch,
}

choices! {
    /// Rounding of bus times.
    pub enum Rounding {
        /// To the nearest ns: `round_half_up(bytes * 1000 / (width * mega_transfers))`.
        Exact = "exact",
        /// As MQSim: `floor(2000 / mega_transfers)` ns for two transfers, which is 6 ns for two bytes at 333 MT/s.
        MqSim = "mqsim",
    }
}

choices! {
    /// When a free unit chooses its next command.
    pub enum Dispatch {
        /// At once; the chosen command then waits for the bus if it needs it.
        Eager = "eager",
        /// Only while the bus is free too, as MQSim does.
        BusIdle = "bus-idle",
    }
}
