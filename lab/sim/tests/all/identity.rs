//! What a device does, as hashes: every event with its serial numbers, the completions, the totals and the state that it would store, of the
//! papers' drives and those of today, made small, under every row of the catalogue.
//!
//! For changes of the device's code that change nothing of what it does. `cargo xtask bless golden` writes the file anew; say in the commit
//! why the hashes changed.

use std::fmt::Write as _;

use crate::common::play::{Mix, TestRequest, asks, hand_over, with_commands};
use crate::common::recipe;
use flashlane_core::{Duration, Time};
use flashlane_scenario::{Scenario, hash_of};
use flashlane_sched::catalogue::{Recipe, build, schedulers};
use flashlane_ssd::config::{
    Buffer, Charge, Config, FlowConfig, FullCache, Mapping, Precondition, Protocol, Service, SlcCache, Unmap,
    UnmappedReads,
};
use flashlane_ssd::{Device, Totals};
use flashlane_testing::kept;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

/// Something that a device does in some runs only: its name, and how often it was done.
type Deed = (&'static str, fn(&Totals) -> u64);

const ERASES: Deed = ("erases", |t| t.erases);
const TRIMS: Deed = ("unmapped", |t| t.unmapped);
const TRIMMED_WRITES: Deed = ("trimmed writes", |t| t.trimmed_writes);
const CANCELLED: Deed = ("cancelled writes", |t| t.cancelled);
const MOVED: Deed = ("moved writes", |t| t.moved);
const KEPT: Deed = ("reads of older copies", |t| t.kept_reads);
const PAUSES: Deed = ("pauses", |t| t.pauses);
const RESTS: Deed = ("rests of pages read", |t| t.partial_reads);
const PADS: Deed = ("pads", |t| t.padded.unwrap_or(0));
const SLC: Deed = ("SLC programs", |t| t.slc.map_or(0, |slc| slc.programs));
const DIRECT: Deed = ("programs past the SLC cache", |t| t.slc.map_or(0, |slc| slc.direct));
const FOLDED: Deed = ("folded pages", |t| t.slc.map_or(0, |slc| slc.folded));
const MAP_READS: Deed = ("translation pages read", |t| t.mapping.map_or(0, |mapping| mapping.reads));
const MAP_PROGRAMS: Deed = ("translation pages written", |t| t.mapping_programs);
const HOST_HITS: Deed = ("entries of the host's memory", |t| t.mapping.map_or(0, |mapping| mapping.host_hits));
const FROM_MEMORY: Deed = ("pages from memory", |t| t.pages_from_memory);
const STALLS: Deed = ("writes without a free page", |t| t.free_page_stalls);
const ALL: [Deed; 17] = [
    ERASES,
    TRIMS,
    TRIMMED_WRITES,
    CANCELLED,
    MOVED,
    KEPT,
    PAUSES,
    RESTS,
    PADS,
    SLC,
    DIRECT,
    FOLDED,
    MAP_READS,
    MAP_PROGRAMS,
    HOST_HITS,
    FROM_MEMORY,
    STALLS,
];

/// What every drive does, once it is nearly full.
const USUAL: &[Deed] = &[ERASES, TRIMS, TRIMMED_WRITES, PAUSES, FROM_MEMORY];

/// A drive, and what it must do beside the usual for its hashes to say anything.
struct Drive {
    name: &'static str,
    change: fn(&mut Config),
    does: &'static [Deed],
}

/// As the preset, but for its size.
fn unchanged(_: &mut Config) {}

/// The papers' presets and those of today, and on one of them what only options bring.
const DRIVES: [Drive; 23] = [
    Drive { name: "slacker-asplos17", change: unchanged, does: &[] },
    Drive { name: "slacker-one-page", change: unchanged, does: &[] },
    Drive { name: "flin-isca18", change: unchanged, does: &[CANCELLED] },
    Drive { name: "sos-msst13", change: unchanged, does: &[CANCELLED, KEPT] },
    Drive { name: "ncq-elex15", change: small_buffer, does: &[FROM_MEMORY] },
    Drive { name: "ncq-elex15 serial", change: serial, does: &[FROM_MEMORY] },
    Drive { name: "cosmos-openssd", change: small_buffer, does: &[] },
    Drive { name: "unit-cycle", change: unchanged, does: &[] },
    Drive { name: "modern-tlc", change: small_rows, does: &[PADS] },
    Drive { name: "datacenter-tlc", change: small_rows, does: &[PADS] },
    Drive { name: "client-tlc", change: small_rows, does: &[PADS, SLC, DIRECT] },
    Drive {
        name: "client-qlc",
        change: small_rows_and_cache,
        does: &[PADS, SLC, DIRECT, MAP_READS, MAP_PROGRAMS, HOST_HITS],
    },
    Drive { name: "samsung-980-pro-1tb", change: small_buffer, does: &[PADS, SLC, DIRECT] },
    Drive { name: "samsung-970-pro-512gb", change: small_rows, does: &[PADS] },
    Drive { name: "sk-hynix-pe8110-960gb", change: small_rows, does: &[PADS] },
    Drive { name: "solidigm-p5520-1920gb", change: small_rows, does: &[PADS] },
    Drive { name: "flin-isca18 parts of pages", change: parts, does: &[RESTS] },
    Drive { name: "flin-isca18 map", change: map, does: &[RESTS, MAP_READS, MAP_PROGRAMS] },
    Drive { name: "flin-isca18 map of the host", change: map_of_the_host, does: &[MAP_READS, HOST_HITS] },
    Drive { name: "flin-isca18 folds", change: folds, does: &[RESTS, SLC, FOLDED, STALLS] },
    Drive { name: "flin-isca18 all of it", change: all_of_it, does: &[PADS, SLC, FOLDED, MAP_READS, MAP_PROGRAMS] },
    Drive { name: "flin-isca18 no merging", change: no_merging, does: &[CANCELLED] },
    Drive { name: "flin-isca18 buffer of reads", change: buffer_of_reads, does: &[RESTS] },
];

/// Narrow queues too, so that commands wait outside and enter where these have room.
fn parts(config: &mut Config) {
    config.ftl.read_modify_write = true;
    config.front.protocol = Protocol::Nvme { depth: 6 };
    (config.front.in_flight, config.front.queue_capacity) = (10, [6, 6]);
    (config.front.link_bytes_per_s, config.front.link_latency) = (2_000_000_000, Duration::from_us(3));
}

fn small_buffer(config: &mut Config) {
    let pages = config.geometry.planes() * config.geometry.slots * config.nand.one_shot_pages + 24;
    config.buffer.iter_mut().for_each(|buffer| {
        buffer.pages = pages;
        buffer.flush_above = buffer.flush_above.min(8);
    });
}

/// Rows of four units, three a wordline, and blocks of two wordlines, so that a small buffer holds what is gathered.
fn small_rows(config: &mut Config) {
    config.geometry.slots = 4;
    config.geometry.pages_per_block = 2 * 3 * 4;
    small_buffer(config);
}

/// One command at a time, for the page times of what it misses in the buffer.
fn serial(config: &mut Config) {
    small_buffer(config);
    config.front.service = Service::Serial { cluster: 2, charge: Charge::FreeAware };
}

/// Rows of two units, four a wordline, and little of the map in memory.
fn small_rows_and_cache(config: &mut Config) {
    (config.geometry.slots, config.geometry.row_planes) = (2, config.geometry.row_planes.min(2));
    config.geometry.pages_per_block = 2 * 4 * 2;
    small_buffer(config);
    map_of_the_host(config);
}

fn map(config: &mut Config) {
    config.ftl.read_modify_write = true;
    let (entries, entries_per_page, read_bytes) = (40, 16, config.geometry.page_bytes);
    config.mapping =
        Some(Mapping { entries, host_entries: 0, entries_per_page, entry_bytes: 4, read_bytes, warm: true });
}

fn map_of_the_host(config: &mut Config) {
    config.front.link_latency = Duration::from_us(1);
    config.mapping = Some(Mapping {
        entries: 20,
        host_entries: 60,
        entries_per_page: 24,
        entry_bytes: 8,
        read_bytes: 4096,
        warm: false,
    });
}

fn slc(full: FullCache, bits: u32) -> SlcCache {
    SlcCache {
        static_blocks: 2,
        dynamic: full == FullCache::Direct,
        dynamic_limit: 3,
        bits,
        read: Duration::from_us(25),
        program: Duration::from_us(230),
        erase: Duration::from_us(2_000),
        idle: Some(Duration::from_us(500)),
        full,
    }
}

fn folds(config: &mut Config) {
    config.ftl.read_modify_write = true;
    config.slc = Some(slc(FullCache::Fold, 2));
}

/// One-shot programs, an SLC cache, a map that does not fit and a buffer that loses its pages with the power.
fn all_of_it(config: &mut Config) {
    config.slc = Some(slc(FullCache::Direct, 3));
    config.nand.one_shot_pages = 3;
    config.nand.one_shot_wait = Some(Duration::from_us(300));
    config.geometry.pages_per_block = 18;
    map(config);
    config.buffer = Some(Buffer::plain(64, 20));
    config.unmap = Unmap { command: Duration::from_us(10), page: Duration::from_ns(100), reads: UnmappedReads::Memory };
}

fn no_merging(config: &mut Config) {
    config.buffer = Some(Buffer { merge_writes: false, flush_above: 0, per_flow: true, ..Buffer::plain(40, 0) });
}

fn buffer_of_reads(config: &mut Config) {
    config.ftl.read_modify_write = true;
    config.buffer = Some(Buffer { write_back: false, read_allocate: true, ..Buffer::plain(64, 20) });
}

impl Drive {
    /// The preset made small: four chips, of which a share is data.
    fn config(&self, nearly_full: bool) -> Config {
        let preset = self.name.split(' ').next().unwrap_or_default();
        let text = format!("scheduler = \"fcfs\"\ndevice = \"{preset}\"\n[[flow]]\nsynthetic = {{ requests = 1 }}\n");
        let scenario = Scenario::parse("identity", text).unwrap_or_else(|why| panic!("{why}"));
        let mut config = scenario.device_config().unwrap_or_else(|why| panic!("{why}"));
        let g = &mut config.geometry;
        (g.channels, g.chips_per_channel) = (2, 2);
        (g.blocks_per_plane, g.pages_per_block) = (24, 12);
        (config.gc.start_blocks, config.gc.hard_blocks) = (3, 1);
        config.slc.iter_mut().for_each(|slc| (slc.static_blocks, slc.dynamic_limit) = (2, 3));
        config.flows = vec![FlowConfig::at_priority(0), FlowConfig::at_priority(1)];
        config.priorities = 2;
        (self.change)(&mut config);
        let dynamic = u32::from(config.slc.as_ref().is_some_and(|slc| slc.dynamic));
        let all = config.native_blocks() - config.gc.start_blocks - 2 - dynamic;
        let blocks = if nearly_full { all - 1 } else { all / 2 };
        let stored = config.geometry.planes() * blocks * config.pages_that_fill_a_block();
        // A translation page has at least 16 entries.
        config.ftl.logical_pages = if config.mapping.is_some() { stored - stored.div_ceil(16) - 1 } else { stored };
        config.precondition = if nearly_full { Precondition::Steady } else { Precondition::Filled { per_mille: 600 } };
        config
    }

    /// Lines of the file: what all rows did, and a hash for each.
    fn lines(&self, nearly_full: bool) -> String {
        let config = self.config(nearly_full);
        let requests = requests(&config);
        let mut recipes: Vec<(&str, Recipe)> =
            schedulers().iter().map(|row| (row.name, recipe(row.name, &[]))).collect();
        recipes
            .push(("sos, slow moves", recipe("sos", &[("rebalance_move_ns", 200_000), ("cancel_inherit_place", 1)])));
        let runs: Vec<(&str, Run)> =
            recipes.par_iter().map(|(name, recipe)| (*name, Run::of(&config, recipe, &requests))).collect();
        let title = format!("{}, {}", self.name, if nearly_full { "nearly full" } else { "room" });
        let done = |deed: &Deed| runs.iter().map(|(_, run)| deed.1(&run.totals)).sum::<u64>();
        let stopped = runs.iter().filter(|(_, run)| run.is_stopped).count();
        assert!(stopped * 8 <= runs.len(), "{title}: {stopped} runs stopped for want of space");
        let is_serial = matches!(config.front.service, Service::Serial { .. });
        let usual = USUAL.iter().filter(|_| nearly_full && !is_serial);
        for deed in usual.chain(self.does.iter().filter(|_| nearly_full || is_serial)) {
            assert!(done(deed) >= 10, "{title}: {} {} are too few for the hashes to say anything", done(deed), deed.0);
        }
        let mut text = format!("{title}:");
        for deed in ALL.iter().filter(|deed| done(deed) > 0) {
            write!(text, " {} {},", done(deed), deed.0).expect("a string takes all");
        }
        writeln!(text, " {stopped} stopped").expect("a string takes all");
        for (name, run) in &runs {
            writeln!(text, "  {} {name}", run.hash).expect("a string takes all");
        }
        text
    }
}

/// Reads and writes of parts of pages and of lists of pages, trims, write zeroes, flushes and FUA; bursts, and times of rest.
fn requests(config: &Config) -> Vec<TestRequest> {
    let program = config.nand.program.typical().ns() / u64::from(config.nand.one_shot_pages);
    let gap = program / u64::from(config.geometry.units());
    let mix = Mix { requests: 300, gap, reads: 45, pages: 4, hot: 35, partial: 30, scattered: 20 };
    let rng = &mut Pcg64Mcg::new(53);
    let mut asks = asks(config, &mix, rng);
    with_commands(&mut asks, 15, rng);
    for (n, ask) in asks.iter_mut().enumerate() {
        ask.at += (n as u64 / 100) * 100 * program;
    }
    asks
}

/// What a device did.
struct Run {
    hash: String,
    totals: Totals,
    is_stopped: bool,
}

impl Run {
    fn of(config: &Config, recipe: &Recipe, requests: &[TestRequest]) -> Run {
        let scheduler = build(recipe).expect("a legal recipe");
        let mut device = Device::new(config, scheduler).unwrap_or_else(|why| panic!("{why}: {config:?}"));
        device.report_events();
        let mut log = String::new();
        for (id, ask) in requests.iter().enumerate() {
            device.advance(Time::from_ns(ask.at));
            if device.fault().is_some() {
                break;
            }
            hand_over(&mut device, id as u64, ask);
            write_down(&mut device, &mut log);
        }
        loop {
            let next = device.next_event();
            if next == Time::NEVER {
                break;
            }
            device.advance(next);
            write_down(&mut device, &mut log);
        }
        write_down(&mut device, &mut log);
        let totals = device.totals();
        let is_stopped = device.fault().is_some();
        write!(log, "{totals:?} {:?}", device.fault()).expect("a string takes all");
        let state = if is_stopped { Vec::new() } else { postcard::to_stdvec(&device.used_state()).expect("stored") };
        assert!(is_stopped || device.outstanding() == 0, "requests left in the device");
        Run { hash: hash_of([log.as_bytes(), &state]), totals, is_stopped }
    }
}

/// Writes what the device reports to the end of `log`.
fn write_down(device: &mut Device, log: &mut String) {
    device.events().drain(..).for_each(|event| write!(log, "{event:?}").expect("a string takes all"));
    device.completions().drain(..).for_each(|done| write!(log, "{done:?}").expect("a string takes all"));
}

#[test]
fn drives_do_what_they_did() {
    let each = DRIVES.par_iter().flat_map_iter(|drive| [false, true].map(|nearly_full| (drive, nearly_full)));
    let text: String = each.map(|(drive, nearly_full)| drive.lines(nearly_full)).collect();
    for (deed, _) in ALL {
        assert!(text.contains(&format!(" {deed},")), "no drive does this: {deed}");
    }
    kept::same("golden", "lab/sim/data/identity.txt", &text);
}
