//! The `[device]` keys: a preset's name and the user's changes to it.
//!
//! Owns the keys of a device and how layers of them overlay each other. Promises that a key missing in one layer is
//! taken from the layer below. Must never know what the values mean to the device (that is `build`).
//!
//! To add a key, give it a line here, a field in `config.rs` of `flashlane_ssd` with its value where it is off (`plain.rs`) and its legal range
//! (`check.rs`), and a line in `build.rs`. Layers, the schema, docs/scenario.md, the hash of a scenario and the errors about keys without effect
//! follow; the compiler asks for it where tests draw devices at random. What changes times is also said in the auditor (`times.rs`) and the ceiling
//! (`service.rs`), which share nothing with the device, and every rule in docs/model.md.

use flashlane_core::geometry::UnitKind;
use flashlane_ssd::config::{BufferOrder, Charge, Dispatch, FullCache, Rounding, SuspendAt, UnmappedReads};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::value::{Latency, Limit, text_or_table};
use super::words::{DriveState, MappingStart, Protocol, Service, Superblock, Victim, Word};

/// What a key of a device needs to have an effect. What that means for a device is in `effect`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// An SLC cache.
    Slc,
    /// One with dynamic blocks, or none at all.
    DynamicSlc,
    /// A map of which memory holds a part.
    PartialMap,
    /// Reads that are tried again.
    Retries,
    /// Programs of a whole wordline.
    OneShot,
    /// Pauses at the ends of iterations.
    Segments,
    /// Commands over several planes.
    MultiPlane,
    /// Several planes in a die.
    PlanesOfADie,
    /// Planes of a die that have blocks of their own.
    OwnBlocks,
    /// Several dies in a unit.
    DiesOfAUnit,
    /// Commands over several planes or dies.
    SharedCommands,
    /// Transfers that take time.
    TransferTimes,
    /// Victims chosen among some blocks at random.
    DChoices,
    /// A page buffer.
    Buffer,
    /// One in which writes are done.
    WriteBack,
    /// None in which writes are done and not merged.
    MergedWrites,
    /// Commands that take the controller time.
    CommandTimes,
    /// Commands served one at a time.
    SerialService,
    /// A drive filled before the run.
    Filled,
    /// A drive overwritten before the run.
    Replayed,
    /// Commands served by the flash.
    ParallelService,
}

/// A key of a device.
pub(super) struct Key {
    /// Its path below `device`.
    pub(super) path: &'static str,
    /// What it needs to have an effect.
    pub(super) needs: &'static [Need],
    /// What it is where neither the scenario nor the preset gives it.
    pub(super) default: Option<fn() -> Value>,
}

macro_rules! default {
    () => {
        None
    };
    ($default:expr) => {
        Some(|| serde_json::to_value($default).expect("a plain value"))
    };
}

/// Declares a table of keys that a scenario or a preset may give: `key: type = default => what it needs to have an effect;`. A key with a
/// default need not stand in any preset.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident $table:literal {
        $($(#[$key_doc:meta])* $key:ident: $type:ty $(= $default:expr)? $(=> $($need:ident),+)?;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$key_doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )*
        }

        impl $name {
            const KEYS: &[Key] = &[$(Key {
                path: concat!($table, ".", stringify!($key)),
                needs: &[$($(Need::$need),+)?],
                default: default!($($default)?),
            },)*];

            fn keys_over(&mut self, over: &$name) {
                $(if over.$key.is_some() { self.$key = over.$key.clone(); })*
            }

            /// Removes the keys that have their defaults.
            fn leave_out_defaults(&mut self) {
                $($(self.$key = self.$key.filter(|value| *value != $default);)?)*
            }

            $($(
                /// The key's value, or its default.
                pub(super) fn $key(&self) -> $type {
                    self.$key.unwrap_or($default)
                }
            )?)*
        }
    };
}

section! {
    /// Shape of the flash. All counts are per parent.
    Geometry "geometry" {
        /// Channels of the device, 1 to 64.
        channels: u32;
        /// Chips (ways) on a channel, 1 to 64.
        chips_per_channel: u32;
        /// Dies in a chip, 1 to 16.
        dies_per_chip: u32;
        /// Planes in a die, 1 to 16.
        planes_per_die: u32;
        /// Blocks in a plane, 1 to 1048576.
        blocks_per_plane: u32;
        /// Pages in a block, 1 to 32768.
        pages_per_block: u32;
        /// User bytes of a page, a multiple of 512, up to 1 MiB.
        page_bytes: u32;
        /// Spare bytes of a page (ECC, metadata).
        metadata_bytes: u32;
        /// What owns a read and a write queue and is busy or idle as a whole: the chip or each die.
        unit: Word<UnitKind>;
    }
}

section! {
    /// Flash array times and abilities.
    Nand "nand" {
        /// Array time of a page read, ns.
        read_ns: Latency;
        /// Array time of a page program, ns.
        program_ns: Latency;
        /// Array time of a block erase, ns.
        erase_ns: Latency => ParallelService;
        /// Program-verify iterations of a typical program; a program may be paused at their boundaries.
        iterations: u32 => ParallelService;
        /// The same of a typical erase, for `suspend_at = "segment"`. Default: as many as `iterations`.
        erase_iterations: u32 => Segments, ParallelService;
        /// Time to pause a program or an erase, ns.
        suspend_ns: u64 => ParallelService;
        /// Time to resume it, ns.
        resume_ns: u64 => ParallelService;
        /// How often one program or erase may be paused. Default `"unlimited"`.
        suspend_limit: Limit = Limit::Unlimited => ParallelService;
        /// When a pause begins that the scheduler may ask for at any instant: at once (`instant`, the default), or at the end of the
        /// iteration that is running (`segment`).
        suspend_at: Word<SuspendAt> = Word(SuspendAt::Instant) => ParallelService;
        /// Shortest time between the end of a pause of a program or an erase and its next pause, ns. Default 0.
        suspend_min_ns: u64 = 0 => ParallelService;
        /// One command may use several planes of a die.
        multi_plane: bool => PlanesOfADie, ParallelService;
        /// One command may use several dies of a unit.
        multi_die: bool => DiesOfAUnit, ParallelService;
        /// Multi-plane reads must have the same page offset.
        same_page_read: bool => MultiPlane, ParallelService;
        /// Multi-plane programs must have the same page offset.
        same_page_program: bool => MultiPlane, OwnBlocks, ParallelService;
        /// Pages of a wordline, 1 to 4: native cells are programmed a whole wordline at a time, in `program_ns`. Default 1: a program a page. Needs
        /// a write-back buffer with as many pages for each plane (and flow, with `per_flow`), or an SLC cache with `full = "fold"`.
        one_shot_pages: u32 = 1;
        /// How long pages wait in the buffer for a full wordline, ms, 0 to 3600000; then it is padded. Without it, as long as no flush or write
        /// with FUA waits for them.
        one_shot_wait_ms: f64 => OneShot;
    }
}

section! {
    /// Reads that are tried again with other reference voltages (off unless a scenario or preset gives `states`).
    Retry "retry" {
        /// Array time of each further step of a read, ns.
        step_ns: u64 => Retries;
        /// Erases of every block before the run. Default 0.
        initial_erases: u32 = 0 => Retries;
        /// Age of the data that lies on the drive before the run, days. Data written in the run has age 0. Default 0.
        initial_age_days: u32 = 0 => Retries;
        /// How many further steps reads take, by wear and age, each as `{ erases = 1000, age_days = 30, shares = [0.3, 0.5, 0.2] }`: shares of
        /// pages that take 0, 1, 2, ... further steps, together 1. The last one applies that has no more erases than the page's block and no
        /// more days than its data (both 0 where left out).
        states: Vec<RetryState>;
    }
}

/// How many further steps the reads of pages of some wear and age take.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryState {
    /// From this many erases of the block on. Default 0.
    #[serde(default)]
    pub erases: u32,
    /// From this age of the data on, days. Default 0.
    #[serde(default)]
    pub age_days: u32,
    /// Shares of pages that take 0, 1, 2, ... further steps.
    pub shares: Vec<f64>,
}

section! {
    /// SLC cache: blocks with one bit a cell, which take writes first (off unless a scenario or preset gives `static_blocks` or `dynamic`).
    Slc "slc" {
        /// Blocks of a plane that are always in SLC mode. They do not count as user capacity or over-provisioning. Default 0.
        static_blocks: u32 = 0;
        /// Free blocks beyond `gc.start` are opened in SLC mode too, until they are erased. Default false.
        dynamic: bool = false;
        /// Most blocks of a plane that `dynamic` has in SLC mode at a time, at least 1. Default `"unlimited"`: as many as are free.
        dynamic_limit: Limit = Limit::Unlimited => Slc, DynamicSlc;
        /// Bits a cell of the other blocks, 2 to 4: a block in SLC mode has `pages_per_block / bits` pages. Must divide
        /// `pages_per_block`, and be `nand.one_shot_pages` where that is over 1.
        bits: u32 => Slc;
        /// Array time of a page read in SLC mode, ns.
        read_ns: u64 => Slc;
        /// Array time of a page program in SLC mode, ns.
        program_ns: u64 => Slc;
        /// Array time of an erase of a block in SLC mode, ns.
        erase_ns: u64 => Slc;
        /// Full blocks are folded once no user transaction has been in the device for this long, ms, 0 to 86400000. Without it, they are
        /// folded only when blocks are needed.
        idle_ms: f64 => Slc;
        /// What a write does when the cache is full: `fold` waits until a block has been folded, `direct` goes to native cells.
        /// Default `fold`.
        full: Word<FullCache> = Word(FullCache::Fold) => Slc;
    }
}

section! {
    /// Channel buses.
    Bus "bus" {
        /// Million transfers per second; `"unlimited"` makes transfers take no time.
        mega_transfers: Limit => ParallelService;
        /// Bytes per transfer, 1 to 64.
        width_bytes: u32 => TransferTimes, ParallelService;
        /// Rounding of transfer times: `exact` to the nearest ns, `mqsim` as that simulator (6 ns per two bytes at 333 MT/s).
        rounding: Word<Rounding> => TransferTimes, ParallelService;
        /// Whether a page's spare bytes are transferred too.
        with_metadata: bool => TransferTimes, ParallelService;
        /// Command phase of a read on the bus, ns.
        read_command_ns: u64 => ParallelService;
        /// Command phase of a program, ns.
        program_command_ns: u64 => ParallelService;
        /// Command phase of an erase, ns.
        erase_command_ns: u64 => ParallelService;
        /// Set-up before a data-out phase, ns.
        data_out_setup_ns: u64 => ParallelService;
        /// Extra array time of each further plane of a command, ns.
        plane_gap_ns: u64 => SharedCommands, ParallelService;
        /// When a free unit chooses its next command: `eager` at once, `bus-idle` when its channel is free too.
        dispatch: Word<Dispatch> => ParallelService;
    }
}

section! {
    /// Translation layer. Give one of `user_gb`, `user_bytes`, `over_provisioning_percent`.
    Ftl "ftl" {
        /// Static allocation: what consecutive pages are spread over first. Four different letters of C (channel),
        /// W (way), D (die), P (plane).
        allocation: String;
        /// User capacity, decimal gigabytes.
        user_gb: u64;
        /// User capacity, bytes.
        user_bytes: u64;
        /// Raw capacity beyond the user's, percent of the user capacity.
        over_provisioning_percent: f64;
        /// Bytes of a logical page, the unit of the map: a multiple of 512 that divides `geometry.page_bytes`, its default. Smaller ones share a
        /// page of the flash and its program. All keys that count logical pages, such as `buffer.pages`, count them. Needs a write-back buffer
        /// with `merge_writes` and for each plane the logical pages of a wordline, or of a flash page with `slc.full = "fold"` and static blocks.
        unit_bytes: u32;
        /// What is opened, filled, collected and erased together: a block of a `plane` (the default), or the blocks of all planes of a `die`,
        /// which then share every program and erase, but not reads. Needs `nand.multi_plane`, `bus.plane_gap_ns = 0` and a buffer as `unit_bytes` does. A
        /// block has at most 65,535 logical pages.
        superblock: Word<Superblock> = Word(Superblock::Plane) => PlanesOfADie;
        /// A write of part of a logical page reads the page first. With `write_back` the buffer keeps the page until that has ended, and without
        /// `merge_writes` nothing is read.
        read_modify_write: bool => MergedWrites, ParallelService;
        /// Free blocks are used least worn first; if false, in the order in which they were freed.
        wear_aware: bool;
        /// Time of a trim or of write zeroes, ns. Default 0.
        trim_ns: u64 = 0;
        /// Further time of each mapped page that it unmaps, ns. Default 0.
        trim_page_ns: u64 = 0;
        /// How a page is read that was trimmed or never written: by the `flash` (the default), or from `memory`, because the map tells
        /// that there is no data.
        unmapped_reads: Word<UnmappedReads> = Word(UnmappedReads::Flash);
    }
}

section! {
    /// The map of logical pages on the flash, of which memory holds a part (off unless a scenario or preset gives `entries` or `bytes`:
    /// then memory holds all of it). Give one of the two.
    Mapping "mapping" {
        /// Entries that the controller's memory holds, one for a logical page. `"unlimited"` switches the table off.
        entries: Limit;
        /// `entries` as bytes of `entry_bytes` each.
        bytes: u64;
        /// Bytes of an entry in a translation page and on the link to the host. Default 4.
        entry_bytes: u32 = 4 => PartialMap;
        /// Entries of a translation page. Default: as many as fit into a page.
        entries_per_page: u32 => PartialMap;
        /// Bytes that cross the bus when a translation page is read for an entry, a multiple of 512. Default: the whole page.
        read_bytes: u32 => PartialMap;
        /// Entries that the host's memory holds beyond those: one found there takes a round trip of the link. Default 0.
        host_entries: u32 = 0 => PartialMap;
        /// Which entries memory holds before the first request: none (`empty`) or as many as it can, those of the first pages (`warm`).
        /// Default `empty`.
        start: Word<MappingStart> = Word(MappingStart::Empty) => PartialMap;
    }
}

section! {
    /// Garbage collection. Thresholds are free blocks of a plane, given as a count or as percent of its blocks.
    Gc "gc" {
        /// How a victim block is chosen.
        victim: Word<Victim> => ParallelService;
        /// Random candidate blocks for `d-choices`.
        choices: u32 => DChoices, ParallelService;
        /// A plane collects with fewer free blocks than this, percent of its blocks (rounded up, at least 2 blocks).
        start_percent: f64;
        /// `start_percent` as a number of blocks, at least 2.
        start_blocks: u32;
        /// At or below this, collecting goes before user transactions, percent of its blocks (rounded down, at least 1 block).
        hard_percent: f64;
        /// `hard_percent` as a number of blocks: at least 1, below the start.
        hard_blocks: u32;
        /// Moved pages go to open blocks of their own.
        separate_frontier: bool => ParallelService;
    }
}

section! {
    /// Page buffer in the controller's memory.
    Buffer "buffer" {
        /// Pages it holds; 0 for no buffer.
        pages: u32;
        /// Each flow has an equal part of its own.
        per_flow: bool => Buffer;
        /// Writes are done when they are in the buffer; otherwise it serves reads only.
        write_back: bool => Buffer;
        /// Pages read from flash enter the buffer.
        read_allocate: bool => Buffer;
        /// Dirty pages beyond this number (per flow with `per_flow`) are written out in the background. Not with serial service, which
        /// ignores a preset's value and writes a page out when another needs its place.
        flush_above: u32 => Buffer, WriteBack;
        /// A write of a page that the buffer holds replaces it there. If not, every write keeps a page of the buffer until its own program
        /// has ended or the scheduler has cancelled it (D-SOS-05). Not with serial service.
        merge_writes: bool => Buffer;
        /// Dirty pages survive a loss of power (capacitors): a flush and a write with FUA need no flash. Default false.
        protected: bool = false => Buffer, WriteBack;
        /// While at most half of the buffer is free (per flow with `per_flow`), pages enter one by one, each this time divided by the free
        /// pages after the last, ns: writes that wait enter evenly, at the rate at which space is freed. Default 0: as soon as there is space; at most 3.6e12, an hour.
        pace_ns: u64 = 0 => Buffer, WriteBack, ParallelService;
        /// Time the memory takes to serve a request without flash, ns (with or without a buffer).
        access_ns: u64;
    }
}

section! {
    /// Host interface.
    Front "front" {
        /// `nvme`: a submission and completion queue per flow; `sata`: one queue of tags (NCQ) for all flows.
        protocol: Word<Protocol>;
        /// Commands outstanding: of each flow (nvme) or of all together (sata). More wait in the host.
        depth: Limit;
        /// Commands the device holds at a time, all flows together.
        in_flight: Limit;
        /// Transactions a unit's read queue holds; a command that needs more waits in the host interface.
        read_queue_capacity: Limit => ParallelService;
        /// Transactions a unit's write queue holds.
        write_queue_capacity: Limit => ParallelService;
        /// Link to the host, bytes per second in each direction.
        link_bytes_per_s: Limit;
        /// Link latency each way, ns.
        link_latency_ns: u64;
        /// What reads wait for that come while writes wait for space in the buffer: nothing (`by-kind`, the default), or until these have
        /// it (`shared`).
        order: Word<BufferOrder> = Word(BufferOrder::ByKind) => Buffer, WriteBack, ParallelService;
        /// Time that the controller takes for a read before it waits in its submission queue, ns. Default 0.
        read_command_ns: u64 = 0;
        /// The same for a write. Default 0.
        write_command_ns: u64 = 0;
        /// Further time of each logical page of a read, ns. Default 0.
        read_page_ns: u64 = 0;
        /// The same for a write. Default 0.
        write_page_ns: u64 = 0;
        /// Commands that the controller works on at a time, 1 to 64. Default 1.
        cores: u32 = 1 => CommandTimes;
        /// How commands in the device are served: `parallel` by the flash, or `serial` one command at a time for the page times of the
        /// pages it misses in the buffer, without bus, map and garbage collection (needs `in_flight = 1`).
        service: Word<Service>;
        /// With serial service: pages served at a time, 1 to the number of chips.
        cluster: u32 => SerialService;
        /// With serial service, what a write pays for: `free-aware` the dirty pages that it evicts from the buffer, `literal`
        /// every page that it misses.
        charge: Word<Charge> => SerialService;
        /// Priority levels, 1 to 8. 0: as many as the flows use.
        priority_levels: u8;
    }
}

section! {
    /// State of the drive before the first request.
    Precondition "precondition" {
        /// `fresh` (erased), `filled` (`fill_percent` of the pages written once, in order), `steady` (full, and
        /// overwritten at random until garbage collection is in equilibrium: the analytic state; its free
        /// blocks are written first) or `replayed` (full, and overwritten at random page by page with this
        /// device's own garbage collection; `overwrite_percent` says how long; takes about 0.025 s of CPU
        /// per GB, once for all runs of a comparison, and with `--state FILE` once for all comparisons).
        state: Word<DriveState> => ParallelService;
        /// For `filled`: percent of the logical pages, 0 to 100, in steps of 0.1.
        fill_percent: f64 => Filled, ParallelService;
        /// For `replayed`: overwrites, percent of the logical pages, 0 to 10000.
        overwrite_percent: u32 => Replayed, ParallelService;
    }
}

impl Mapping {
    fn is_absent(&self) -> bool {
        *self == Mapping::default()
    }

    /// Whether memory holds a part of the map only.
    pub(super) fn is_on(&self) -> bool {
        self.bytes.is_some() || self.entries.is_some_and(|entries| entries != Limit::Unlimited)
    }
}

impl Retry {
    fn is_absent(&self) -> bool {
        *self == Retry::default()
    }

    /// Whether reads are tried again.
    pub(super) fn is_on(&self) -> bool {
        self.states.as_ref().is_some_and(|states| !states.is_empty())
    }
}

impl Slc {
    fn is_absent(&self) -> bool {
        *self == Slc::default()
    }

    /// Whether there is a cache.
    pub(super) fn is_on(&self) -> bool {
        self.static_blocks() > 0 || self.dynamic()
    }
}

/// Declares the device by its tables.
macro_rules! device {
    ($($(#[$about:meta])* $table:ident: $Table:ident,)*) => {
        /// A device: keys that lie over a preset's.
        #[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(inline)]
        pub struct Device {
            /// The preset to start from (`flashlane devices` lists them), or the path of a device file. Default `modern-tlc`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub preset: Option<String>,
            $($(#[$about])* pub $table: $Table,)*
        }

        impl Device {
            /// The keys of all tables.
            pub(super) fn keys() -> impl Iterator<Item = &'static Key> {
                [$($Table::KEYS),*].into_iter().flatten()
            }

            fn keys_over(&mut self, over: &Device) {
                $(self.$table.keys_over(&over.$table);)*
            }

            fn leave_out_defaults(&mut self) {
                $(self.$table.leave_out_defaults();)*
            }
        }
    };
}

device! {
    /// Shape of the flash.
    geometry: Geometry,
    /// Flash array times and abilities.
    nand: Nand,
    /// Reads that are tried again.
    #[serde(skip_serializing_if = "Retry::is_absent")]
    retry: Retry,
    /// SLC cache.
    #[serde(skip_serializing_if = "Slc::is_absent")]
    slc: Slc,
    /// Channel buses.
    bus: Bus,
    /// Translation layer.
    ftl: Ftl,
    /// The map on the flash, of which memory holds a part.
    #[serde(skip_serializing_if = "Mapping::is_absent")]
    mapping: Mapping,
    /// Garbage collection.
    gc: Gc,
    /// Page buffer.
    buffer: Buffer,
    /// Host interface.
    front: Front,
    /// State of the drive before the first request.
    precondition: Precondition,
}

impl Device {
    /// The preset `name`, unchanged.
    pub fn preset(name: String) -> Device {
        Device { preset: Some(name), ..Device::default() }
    }

    /// The schema of a name or a table.
    pub(super) fn name_or_table_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Device>();
        json_schema!({ "x-type": "a name, or a table", "anyOf": [{ "type": "string" }, table] })
    }

    /// Reads a name or a table.
    pub(super) fn name_or_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Device, D::Error> {
        text_or_table(deserializer, "the name of a preset or a table of device keys", Device::preset, |table| table)
    }

    /// Overlays `over`: its keys replace those of this device. A capacity or threshold given in one unit replaces one
    /// given in any other.
    pub fn overlay(&mut self, over: &Device) {
        if over.preset.is_some() {
            self.preset = over.preset.clone();
        }
        let Device { ftl, mapping, gc, .. } = over;
        if ftl.user_gb.is_some() || ftl.user_bytes.is_some() || ftl.over_provisioning_percent.is_some() {
            (self.ftl.user_gb, self.ftl.user_bytes, self.ftl.over_provisioning_percent) = (None, None, None);
        }
        if mapping.entries.is_some() || mapping.bytes.is_some() {
            (self.mapping.entries, self.mapping.bytes) = (None, None);
        }
        if gc.start_percent.is_some() || gc.start_blocks.is_some() {
            (self.gc.start_percent, self.gc.start_blocks) = (None, None);
        }
        if gc.hard_percent.is_some() || gc.hard_blocks.is_some() {
            (self.gc.hard_percent, self.gc.hard_blocks) = (None, None);
        }
        self.keys_over(over);
    }

    /// Whether these keys have `key`, a path as errors name it, or it is none of what a device file gives.
    pub(super) fn gives(&self, key: &str) -> bool {
        let Some((table, key)) = key.strip_prefix("device.").and_then(|path| path.split_once('.')) else { return true };
        let name = key.split(['.', '[']).next().unwrap_or_default();
        let keys = serde_json::to_value(self).expect("plain values");
        keys.get(table).is_some_and(|table| table.get(name).is_some())
    }

    /// Removes keys that say in words what their absence says: a scenario has the same hash with and without them. `protected` is what the
    /// preset says of its buffer.
    pub(super) fn leave_out_what_is_off(&mut self, protected: bool) {
        let protected = self.buffer.protected.filter(|&own| own != protected);
        if !self.retry.is_on() {
            self.retry = Retry::default();
        }
        if !self.mapping.is_on() {
            self.mapping = Mapping::default();
        }
        if !self.slc.is_on() {
            self.slc = Slc::default();
        }
        self.leave_out_defaults();
        self.buffer.protected = protected;
        if self.nand.one_shot_pages.is_none() {
            self.nand.one_shot_wait_ms = None;
        }
        if self.slc.dynamic.is_none() {
            self.slc.dynamic_limit = None;
        }
    }
}
