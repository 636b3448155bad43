//! Totals of a run, for summaries.

use flashlane_core::board::UnitCounters;
use flashlane_core::transaction::{FlashOp, Stage, Transaction};
use flashlane_core::{Duration, Owner, Time};

use super::Device;
use crate::frontend::RequestSlot;

/// What a device has done since it was built: counters, each a figure of the results.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Totals {
    /// The instant it has reached.
    pub now: Time,
    /// Flash transactions ended, garbage collection included. Under serial service, pages read and written.
    pub transactions: u64,
    /// Pages served from the buffer or from a waiting write.
    pub pages_from_memory: u64,
    /// Waiting writes dropped because a younger write of their page came.
    pub cancelled: u64,
    /// Whether the scheduler moves or drops waiting writes.
    pub changes_waiting_writes: bool,
    /// Mapped pages that were trimmed.
    pub unmapped: u64,
    /// Waiting writes dropped because their page was trimmed.
    pub trimmed_writes: u64,
    /// Waiting writes that moved to a unit with nothing to do.
    pub moved: u64,
    /// Reads that kept an older copy of their page, which a younger write took to another plane.
    pub kept_reads: u64,
    /// Erases that had to wait for such reads.
    pub late_erases: u64,
    /// Pages programmed for the host.
    pub user_programs: u64,
    /// Pages programmed by garbage collection.
    pub gc_programs: u64,
    /// Pages of wordlines programmed without data; `None` where each page has a program of its own.
    pub padded: Option<u64>,
    /// Translation pages programmed because entries of them had changed.
    pub mapping_programs: u64,
    /// What the mapping cache did; `None` if memory holds the whole map.
    pub mapping: Option<MappingTotals>,
    /// What the SLC cache did; `None` on a device without one.
    pub slc: Option<SlcTotals>,
    /// Moves dropped because their page was overwritten first.
    pub stale_moves: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Victims chosen.
    pub victims: u64,
    /// Valid pages in them when they were chosen.
    pub victim_valid: u64,
    /// Times a picked program's plane had no free page for it.
    pub free_page_stalls: u64,
    /// Times a write did more garbage collection than its share because its plane was short of blocks (D-FLN-13).
    pub forced_batches: u64,
    /// Times a program or erase was paused.
    pub pauses: u64,
    /// Pages whose reads were tried again, and the further steps they took; `None` where all reads succeed at once.
    pub retries: Option<[u64; 2]>,
    /// Commands of several transactions: reads, programs.
    pub advanced_commands: [u64; 2],
    /// User transactions that were members of them: reads, programs.
    pub advanced: [u64; 2],
    /// Of the user's reads that were dispatched, those of read-modify-write: they read the rest of a page that is written in part.
    pub partial_reads: u64,
    /// User transactions dispatched: reads, programs.
    pub user: [u64; 2],
    /// Busy time of each unit.
    pub unit_busy: alloc::vec::Vec<Duration>,
    /// Busy time of each channel's bus.
    pub channel_busy: alloc::vec::Vec<Duration>,
    /// Data phases, and those that found the bus taken.
    pub transfers: [u64; 2],
    /// Erase counts of blocks.
    pub erase_counts: EraseCounts,
    /// Blocks of the drive.
    pub blocks: u64,
}

/// Pages programmed, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Programs {
    /// For the host.
    pub host: u64,
    /// By garbage collection, translation pages that it moves included.
    pub collection: u64,
    /// Translation pages whose entries had changed.
    pub mapping: u64,
    /// By folding, from SLC mode to native cells.
    pub fold: u64,
    /// Pages of wordlines without data.
    pub padding: u64,
}

impl Programs {
    /// How many there are of each cause, by its name.
    pub fn by_cause(self) -> [(&'static str, u64); 5] {
        let Programs { host, collection, mapping, fold, padding } = self;
        [("host", host), ("collection", collection), ("mapping", mapping), ("fold", fold), ("padding", padding)]
    }

    /// All over those for the host; `None` if there are none for it.
    pub fn write_amplification(self) -> Option<f64> {
        let all: u64 = self.by_cause().iter().map(|(_, pages)| pages).sum();
        (self.host > 0).then(|| all as f64 / self.host as f64)
    }
}

impl Totals {
    /// Pages programmed, by cause: what write amplification is counted from wherever it is shown.
    pub fn programs(&self) -> Programs {
        Programs {
            host: self.user_programs,
            collection: self.gc_programs,
            mapping: self.mapping_programs,
            fold: self.slc.map_or(0, |slc| slc.folded),
            padding: self.padded.unwrap_or(0),
        }
    }
}

/// What the mapping cache has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MappingTotals {
    /// Entries that were found in the controller's memory.
    pub hits: u64,
    /// Entries that were found in the host's memory.
    pub host_hits: u64,
    /// Entries that were found in neither.
    pub misses: u64,
    /// Translation pages read, not by garbage collection.
    pub reads: u64,
}

/// What the SLC cache did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlcTotals {
    /// Pages programmed in SLC mode, for the host or the mapping cache.
    pub programs: u64,
    /// Pages programmed for these in native cells.
    pub direct: u64,
    /// Blocks whose folding began.
    pub folds: u64,
    /// Pages programmed in native cells by folding.
    pub folded: u64,
    /// Valid pages in SLC mode at the end, those of blocks that are being folded aside.
    pub valid: u64,
}

/// How often blocks have been erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EraseCounts {
    /// Least of a block.
    pub min: u32,
    /// Greatest of a block.
    pub max: u32,
    /// Over all blocks.
    pub sum: u64,
}

impl Totals {
    /// What was done between `from` and `to`, which are counters of the device of these totals: its erase counts, and the valid pages in SLC
    /// mode, are those of these totals. `now` is the time between.
    pub fn between(&self, from: &Totals, to: &Totals) -> Totals {
        let pair = |of: fn(&Totals) -> [u64; 2]| [0, 1].map(|i| of(to)[i] - of(from)[i]);
        let busy = |of: fn(&Totals) -> &[Duration]| {
            let until = of(to).iter().enumerate();
            until.map(|(i, busy)| busy.saturating_sub(of(from).get(i).copied().unwrap_or_default())).collect()
        };
        Totals {
            now: Time::ZERO + to.now.since(from.now),
            transactions: to.transactions - from.transactions,
            pages_from_memory: to.pages_from_memory - from.pages_from_memory,
            cancelled: to.cancelled - from.cancelled,
            changes_waiting_writes: self.changes_waiting_writes,
            unmapped: to.unmapped - from.unmapped,
            trimmed_writes: to.trimmed_writes - from.trimmed_writes,
            moved: to.moved - from.moved,
            kept_reads: to.kept_reads - from.kept_reads,
            late_erases: to.late_erases - from.late_erases,
            user_programs: to.user_programs - from.user_programs,
            gc_programs: to.gc_programs - from.gc_programs,
            padded: to.padded.map(|padded| padded - from.padded.unwrap_or(0)),
            mapping_programs: to.mapping_programs - from.mapping_programs,
            mapping: to.mapping.map(|mapping| mapping.since(from.mapping.unwrap_or_default())),
            slc: to.slc.map(|slc| SlcTotals {
                valid: self.slc.map_or(0, |slc| slc.valid),
                ..slc.since(from.slc.unwrap_or_default())
            }),
            stale_moves: to.stale_moves - from.stale_moves,
            erases: to.erases - from.erases,
            victims: to.victims - from.victims,
            victim_valid: to.victim_valid - from.victim_valid,
            free_page_stalls: to.free_page_stalls - from.free_page_stalls,
            forced_batches: to.forced_batches - from.forced_batches,
            pauses: to.pauses - from.pauses,
            retries: to.retries.map(|_| pair(|totals| totals.retries.unwrap_or_default())),
            advanced_commands: pair(|totals| totals.advanced_commands),
            advanced: pair(|totals| totals.advanced),
            partial_reads: to.partial_reads - from.partial_reads,
            user: pair(|totals| totals.user),
            unit_busy: busy(|totals| &totals.unit_busy),
            channel_busy: busy(|totals| &totals.channel_busy),
            transfers: pair(|totals| totals.transfers),
            erase_counts: self.erase_counts,
            blocks: self.blocks,
        }
    }
}

impl MappingTotals {
    fn since(self, from: MappingTotals) -> MappingTotals {
        MappingTotals {
            hits: self.hits - from.hits,
            host_hits: self.host_hits - from.host_hits,
            misses: self.misses - from.misses,
            reads: self.reads - from.reads,
        }
    }
}

impl SlcTotals {
    fn since(self, from: SlcTotals) -> SlcTotals {
        SlcTotals {
            programs: self.programs - from.programs,
            direct: self.direct - from.direct,
            folds: self.folds - from.folds,
            folded: self.folded - from.folded,
            valid: self.valid,
        }
    }
}

impl Device {
    fn mapping_totals(&self) -> Option<MappingTotals> {
        let (translation, cache) = self.translation.as_ref().zip(self.ftl.cache.as_ref())?;
        let [hits, host_hits, misses] = cache.looked_up;
        Some(MappingTotals { hits, host_hits, misses, reads: translation.read })
    }

    /// Totals since the device was built.
    pub fn totals(&self) -> Totals {
        let mut totals = self.counters();
        totals.erase_counts.min = u32::MAX;
        for count in self.ftl.erase_counts() {
            totals.erase_counts.min = totals.erase_counts.min.min(count);
            totals.erase_counts.max = totals.erase_counts.max.max(count);
            totals.erase_counts.sum += u64::from(count);
            totals.blocks += 1;
        }
        totals
    }

    /// [`Device::totals`] up to this instant, without the erase counts of blocks: they take a look at every block.
    pub fn counters(&self) -> Totals {
        let ftl = &self.ftl.totals;
        let [reads, writes] = self.serial.as_ref().map_or([0; 2], |serial| serial.served);
        let rows_out = self.flash.pages_under_way(self.state.now());
        let unit_counters = || self.state.board.units.iter().map(|u| &u.counters);
        let pair =
            |f: fn(&UnitCounters) -> [u64; 2]| unit_counters().map(f).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
        Totals {
            now: self.state.board.now,
            transactions: self.transactions.ended + rows_out + reads + writes,
            pages_from_memory: self.frontend.pages_from_memory,
            cancelled: self.page_order.cancelled,
            user_programs: ftl.user_programs + writes,
            moved: self.migrations.moved,
            unmapped: ftl.unmapped,
            trimmed_writes: self.page_order.trimmed,
            kept_reads: self.page_order.kept_reads,
            late_erases: self.gc.late_erases,
            changes_waiting_writes: self.policy.known.changes_waiting_writes,
            gc_programs: ftl.gc_programs,
            padded: (self.ftl.wordline > 1).then_some(ftl.padded),
            mapping_programs: ftl.mapping_programs,
            mapping: self.mapping_totals(),
            slc: self.ftl.has_slc.then(|| SlcTotals {
                programs: ftl.slc_programs,
                direct: ftl.user_programs + ftl.mapping_programs - ftl.slc_programs,
                folds: self.gc.folds(),
                folded: ftl.fold_programs,
                valid: self.ftl.valid_slc_pages(),
            }),
            stale_moves: self.gc.stale_moves,
            erases: ftl.erases,
            victims: self.gc.victims().0,
            victim_valid: self.gc.victims().1,
            free_page_stalls: self.gc.free_page_stalls,
            forced_batches: self.gc.forced_batches,
            pauses: unit_counters().map(|c| c.pauses).sum(),
            retries: self.flash.retries().map(|pages| [0, 1].map(|i| pages[i] + self.gc.retries_of_rows()[i])),
            advanced_commands: pair(|c| c.advanced_commands),
            partial_reads: self.partial_reads_begun(),
            advanced: pair(|c| c.advanced),
            user: pair(|c| c.user),
            unit_busy: self.flash.unit_busy(&self.state.board).collect(),
            channel_busy: self.flash.channel_busy(&self.state.board).collect(),
            transfers: self.state.board.channels.iter().fold([0, 0], |a, c| [a[0] + c.transfers, a[1] + c.stalled]),
            erase_counts: EraseCounts::default(),
            blocks: 0,
        }
    }

    /// Reads of the rest of a page that have been dispatched.
    fn partial_reads_begun(&self) -> u64 {
        let waits = |txn: &&Transaction| {
            let is_rest = (txn.op, txn.owner, txn.request) == (FlashOp::Read, Owner::User, RequestSlot::MAX);
            is_rest && txn.stage == Stage::Waiting
        };
        let created = self.transactions.partial_reads;
        created - if created > 0 { self.state.board.txns.iter().filter(waits).count() as u64 } else { 0 }
    }
}
