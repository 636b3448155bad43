//! Swarm: random devices, schedulers and workloads, with the auditor, and the translation layer's tables checked at the
//! end.
//!
//! Every run is a function of its seed, which a failure prints; `SWARM_SEED=N SWARM_RUNS=1` repeats that run,
//! `SWARM_RUNS=100000` runs for hours. Every day the first fifth of each kind's seeds, nightly the others. Schedulers are
//! drawn from the catalogue's schedulers and answers, so a new one is included as soon as it is listed.

use std::ops::Range;
use std::sync::mpsc::RecvTimeoutError;

use crate::common::ceilings;
use crate::common::play::{self, Mix, asks};
use flashlane_core::Duration;
use flashlane_core::geometry::{AllocationOrder, Geometry, UnitKind};
use flashlane_sched::catalogue::{Question, Recipe, answers, build, schedulers};
use flashlane_ssd::config::*;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Seeds of each kind unless the environment says otherwise: every day, and nightly.
const DAILY: Range<u64> = 1..501;
const NIGHTLY: Range<u64> = 501..2501;
/// Those of drives that are as good as full.
const DAILY_FULL: Range<u64> = 1..101;
const NIGHTLY_FULL: Range<u64> = 101..501;

struct RandomStream(Pcg64Mcg);

impl RandomStream {
    fn new(seed: u64) -> RandomStream {
        let mut rng = Pcg64Mcg::new(u128::from(seed) << 64 | 0x5a_5a5a_5a5b);
        rng.next_u64();
        RandomStream(rng)
    }

    fn upto(&mut self, most: u32) -> u32 {
        self.0.next_u32() % (most + 1)
    }

    fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.upto(most - least)
    }

    fn chance(&mut self, of_hundred: u32) -> bool {
        self.0.next_u32() % 100 < of_hundred
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.next_u32() as usize % of.len()]
    }

    fn us(&mut self, least: u32, most: u32) -> Duration {
        Duration::from_ns(u64::from(self.between(least * 1000, most * 1000)))
    }

    /// A duration that is zero more often than not.
    fn maybe_us(&mut self, most: u32) -> Duration {
        if self.chance(60) { Duration::ZERO } else { self.us(0, most) }
    }
}

fn geometry(random: &mut RandomStream) -> Geometry {
    Geometry {
        channels: random.between(1, 4),
        chips_per_channel: random.between(1, 4),
        dies_per_chip: random.between(1, 3),
        planes_per_die: random.one_of(&[1, 1, 2, 2, 4]),
        blocks_per_plane: random.between(10, 40),
        pages_per_block: random.one_of(&[1, 2, 3, 8, 16, 16, 32]),
        page_bytes: random.one_of(&[512, 4096, 4096, 8192, 16384, 1536]),
        metadata_bytes: random.one_of(&[0, 112, 448]),
        unit: random.one_of(&[UnitKind::Chip, UnitKind::Die]),
    }
}

fn latency(random: &mut RandomStream, least: u32, most: u32) -> Latency {
    match random.upto(3) {
        0 => Latency::Gaussian { mean: random.us(least, most), sd: random.us(0, most / 4) },
        1 => {
            let times: Vec<Duration> = (0..random.between(1, 4)).map(|_| random.us(least, most)).collect();
            Latency::ByPage(PageTimes::new(&times).expect("one to four times"))
        }
        _ => Latency::Constant(random.us(least, most)),
    }
}

fn nand(random: &mut RandomStream) -> Nand {
    Nand {
        read: latency(random, 3, 100),
        program: latency(random, 50, 1500),
        erase: latency(random, 100, 4000),
        iterations: random.between(1, 24),
        suspend: random.maybe_us(30),
        resume: random.maybe_us(30),
        suspend_limit: if random.chance(80) { u32::MAX } else { random.between(0, 3) },
        multi_plane: random.chance(70),
        multi_die: random.chance(70),
        same_page_read: random.chance(30),
        same_page_program: random.chance(70),
        one_shot_pages: 1,
        one_shot_wait: None,
    }
}

fn retry(random: &mut RandomStream) -> ReadRetry {
    let mut state = || {
        let mut below: Vec<u64> = (0..random.upto(4)).map(|_| 4 * u64::from(random.upto(1 << 30))).collect();
        below.sort_unstable();
        below.push(1 << 32);
        RetryState { erases: random.between(0, 4), age_days: random.one_of(&[0, 30, 90]), below }
    };
    let states = (0..3).map(|_| state()).collect();
    let (initial_erases, initial_age_days) = (random.between(0, 3), random.one_of(&[0, 60]));
    ReadRetry { step: random.us(1, 80), initial_erases, initial_age_days, states }
}

/// A mapping cache from one that holds hardly anything to one that holds everything.
fn mapping(random: &mut RandomStream, page_bytes: u32) -> Mapping {
    Mapping {
        entries: random.one_of(&[1, 2, 5, 20, 100, 1000, 100_000]),
        host_entries: random.one_of(&[0, 0, 3, 50]),
        entries_per_page: random.one_of(&[1, 2, 5, 16, 100]),
        entry_bytes: 4,
        read_bytes: random.one_of(&[512, page_bytes]),
        warm: random.chance(30),
    }
}

/// How many of `pages` pages are logical ones where they and the translation pages must fit.
fn beside_the_map(pages: u32, mapping: Option<Mapping>) -> u32 {
    let Some(Mapping { entries_per_page, .. }) = mapping else { return pages };
    (1..=pages).rev().find(|logical| logical + logical.div_ceil(entries_per_page) <= pages).unwrap_or(1)
}

/// An SLC cache in what a plane has more blocks than it needs; `None` where there is nothing for one.
fn slc(random: &mut RandomStream, config: &Config) -> Option<SlcCache> {
    let g = &config.geometry;
    let stored = config.stored_pages().div_ceil(g.planes()).div_ceil(g.pages_per_block);
    let spare = g.blocks_per_plane - stored - config.gc.start_blocks - 2;
    let bits: Vec<u32> = (2..=4).filter(|bits| g.pages_per_block.is_multiple_of(*bits)).collect();
    if bits.is_empty() || spare == 0 {
        return None;
    }
    let dynamic = random.chance(50);
    let static_blocks = random.between(u32::from(!dynamic), spare - u32::from(dynamic)).min(8);
    Some(SlcCache {
        static_blocks,
        dynamic,
        // By what was drawn, so that the scenes are those of before there were limits.
        dynamic_limit: [u32::MAX, u32::MAX, 1, 2, 5][(static_blocks + spare) as usize % 5],
        bits: random.one_of(&bits),
        read: random.us(3, 60),
        program: random.us(30, 500),
        erase: random.us(100, 3000),
        idle: random.chance(70).then(|| random.maybe_us(5000)),
        full: random.one_of(&[FullCache::Fold, FullCache::Direct]),
    })
}

fn bus(random: &mut RandomStream) -> Bus {
    let rounding = random.one_of(&[Rounding::Exact, Rounding::MqSim]);
    let mut command = || if random.chance(50) { Duration::ZERO } else { Duration::from_ns(random.upto(900).into()) };
    Bus {
        command: [command(), command(), command()],
        mega_transfers: random.one_of(&[100, 333, 800, 1600, u32::MAX]),
        width_bytes: random.one_of(&[1, 1, 2]),
        rounding,
        with_metadata: random.chance(30),
        data_out_setup: random.maybe_us(1),
        plane_gap: random.maybe_us(2),
        dispatch: random.one_of(&[Dispatch::Eager, Dispatch::Eager, Dispatch::BusIdle]),
    }
}

fn front(random: &mut RandomStream, chips: u32) -> Front {
    let depth = random.one_of(&[1, 2, 8, 32, u32::MAX]);
    let front = Front {
        protocol: if random.chance(60) { Protocol::Nvme { depth } } else { Protocol::Sata { depth } },
        in_flight: random.one_of(&[1, 4, 32, u32::MAX, u32::MAX]),
        queue_capacity: [random.one_of(&[1, 8, u32::MAX, u32::MAX]), random.one_of(&[1, 8, u32::MAX, u32::MAX])],
        link_bytes_per_s: random.one_of(&[0, 0, 300_000_000, 3_000_000_000]),
        link_latency: random.maybe_us(20),
        service: Service::Parallel,
    };
    if front.in_flight > 1 || random.chance(70) {
        return front;
    }
    let (cluster, charge) = (random.between(1, chips), random.one_of(&[Charge::FreeAware, Charge::Literal]));
    Front { service: Service::Serial { cluster, charge }, ..front }
}

fn buffer(random: &mut RandomStream, flows: u32) -> Option<Buffer> {
    random.chance(40).then(|| {
        let pages = flows * random.between(1, 24);
        let buffer = Buffer {
            pages,
            per_flow: random.chance(50),
            write_back: random.chance(70),
            read_allocate: random.chance(50),
            flush_above: random.upto(pages),
            merge_writes: true,
            protected: false,
        };
        if random.chance(30) {
            Buffer { write_back: true, read_allocate: false, flush_above: 0, merge_writes: false, ..buffer }
        } else {
            buffer
        }
    })
}

/// A random device that can be built.
fn config(random: &mut RandomStream) -> Config {
    let geometry = geometry(random);
    let blocks = geometry.blocks_per_plane;
    let start_blocks = random.between(2, 4);
    // From a drive with hardly any spare blocks to one that is mostly empty.
    let data_blocks = random.between(1, blocks - start_blocks - 2).max(random.upto(blocks - start_blocks - 2));
    let per_plane = data_blocks * geometry.pages_per_block;
    let stored_pages = (geometry.planes() * per_plane - random.upto(geometry.planes() - 1)).max(1);
    // Both the map and the pages need a page.
    let mapping = (random.chance(30) && stored_pages > 1).then(|| mapping(random, geometry.page_bytes));
    let logical_pages = beside_the_map(stored_pages, mapping);
    let flows = random.between(1, 4);
    let victims = [Victim::Greedy, Victim::Random, Victim::DChoices(3), Victim::Fifo, Victim::CostBenefit];
    let mut config = Config {
        geometry,
        nand: nand(random),
        retry: random.chance(20).then(|| retry(random)),
        bus: bus(random),
        ftl: Ftl {
            order: AllocationOrder::parse(random.one_of(&AllocationOrder::NAMES)).expect("one of the names"),
            logical_pages,
            read_modify_write: random.chance(50),
            wear_aware: random.chance(50),
        },
        unmap: Unmap::default(),
        mapping,
        slc: None,
        gc: Gc {
            victim: random.one_of(&victims),
            start_blocks,
            hard_blocks: random.between(1, start_blocks - 1),
            separate_frontier: random.chance(60),
        },
        precondition: match random.upto(4) {
            0 => Precondition::Fresh,
            1 => Precondition::Filled { per_mille: random.one_of(&[0, 500, 1000, 1000]) },
            _ => Precondition::Steady,
        },
        buffer: buffer(random, flows),
        front: front(random, geometry.channels * geometry.chips_per_channel),
        memory: random.maybe_us(5),
        flows: (0..flows).map(|_| flow(random, logical_pages)).collect(),
        priorities: random.between(1, 4) as u8,
        seed: random.0.next_u64(),
    };
    if matches!(config.front.service, Service::Serial { .. }) {
        (config.retry, config.mapping) = (None, None);
        config.buffer.iter_mut().for_each(|buffer| buffer.merge_writes = true);
    } else if random.chance(30) {
        config.slc = slc(random, &config);
    }
    config.check().unwrap_or_else(|why| panic!("the swarm draws only legal devices: {why}\n{config:?}"));
    config
}

/// A flow that owns a part of the drive, which may overlap another's, or nothing.
fn flow(random: &mut RandomStream, logical_pages: u32) -> FlowConfig {
    let first_page = random.upto(logical_pages - 1);
    FlowConfig { priority: random.upto(3) as u8, first_page, pages: random.upto(logical_pages - first_page) }
}

/// A device with no more spare blocks than collection needs, 99 % or all of it full.
fn tight(random: &mut RandomStream) -> Config {
    let mut config = config(random);
    let g = &config.geometry;
    let dynamic = config.slc.as_ref().is_some_and(|slc| slc.dynamic);
    let data_blocks = config.native_blocks() - config.gc.start_blocks - 2 - u32::from(dynamic);
    config.ftl.logical_pages = beside_the_map(g.planes() * data_blocks * g.pages_per_block, config.mapping);
    config.precondition = random.one_of(&[Precondition::Filled { per_mille: 990 }, Precondition::Steady]);
    config.flows.iter_mut().for_each(|flow| *flow = FlowConfig::at_priority(flow.priority));
    config.check().unwrap_or_else(|why| panic!("the swarm draws only legal devices: {why}\n{config:?}"));
    config
}

fn workload(random: &mut RandomStream, config: &Config) -> Mix {
    // From a load that leaves the flash idle to one that exceeds it, in programs per unit.
    let program = config.nand.program.typical().ns();
    let gap = program * u64::from(random.between(2, 60)) / 10 / u64::from(config.geometry.units());
    Mix {
        requests: random.between(50, 500) as usize,
        gap: gap.max(1),
        reads: random.one_of(&[0, 20, 50, 50, 80, 100]),
        pages: u64::from(random.one_of(&[1u32, 2, 4, 8, 20])).min(u64::from(config.ftl.logical_pages)),
        hot: random.one_of(&[0, 10, 50, 90]),
        partial: random.one_of(&[0, 0, 30, 100]),
        scattered: random.one_of(&[0, 20, 60]),
    }
}

/// Overwrites that arrive faster than they can be served.
fn overwrites(random: &mut RandomStream, config: &Config) -> Mix {
    let mix = workload(random, config);
    let reads = random.one_of(&[0, 10, 30]);
    Mix { requests: random.between(400, 900) as usize, gap: mix.gap / 2 + 1, reads, ..mix }
}

/// Reads and overwrites of few pages, faster than they can be served: reads wait while younger writes take their pages elsewhere.
fn contended(random: &mut RandomStream, config: &Config) -> Mix {
    let mix = overwrites(random, config);
    Mix { reads: random.one_of(&[30, 50, 70]), hot: random.one_of(&[50, 90, 100]), ..mix }
}

/// A random scheduler, unchanged.
fn any_row(random: &mut RandomStream) -> Recipe {
    let entry = &schedulers()[random.0.next_u32() as usize % schedulers().len()];
    crate::common::recipe(entry.name, &[])
}

/// A random answer to each question, with random legal values of their parameters.
fn any_mix(random: &mut RandomStream) -> Recipe {
    let mut recipe = any_row(random);
    for question in Question::ALL {
        let known = answers(question);
        let answer = &known[random.0.next_u32() as usize % known.len()];
        recipe.answers.push((question, answer.name.to_owned()));
        for param in answer.params {
            let value = match random.upto(3) {
                0 => param.min,
                1 => param.min + random.0.next_u64() % (param.max - param.min + 1).min(200),
                _ => param.default,
            };
            recipe.params.push((param.name.to_owned(), value));
        }
    }
    if build(&recipe).is_err_and(|error| error.key == "cancel_inherit_place") {
        // Only with the order of arrival.
        recipe.params.retain(|(name, _)| name != "cancel_inherit_place");
    }
    if random.chance(10) {
        recipe.params.push(("shadow".to_owned(), 1));
    }
    recipe
}

/// A random mix under which pages leave their home plane.
fn moving_mix(random: &mut RandomStream) -> Recipe {
    core::iter::repeat_with(|| any_mix(random)).find(moves_pages).expect("most answers let them")
}

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: must be a whole number")))
}

/// The most seconds of a run: thousands of times what one takes.
const TIMEOUT_S: u64 = 60;

/// Runs `job`; ends the program with `complaint` if it does not return, for a device in an endless loop never does.
fn watched<T>(complaint: &str, job: impl FnOnce() -> T) -> T {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(std::time::Duration::from_secs(TIMEOUT_S)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{complaint}");
                std::process::abort();
            }
        });
        let result = job();
        drop(done);
        result
    })
}

/// Whether writes may go to other planes than those of static allocation.
fn moves_pages(recipe: &Recipe) -> bool {
    build(recipe).is_ok_and(|scheduler| !scheduler.place.declares().is_static)
}

/// Whether memory holds less than half of the map.
fn holds_little(config: &Config) -> bool {
    config.mapping.is_some_and(|mapping| 2 * (mapping.entries + mapping.host_entries) < config.ftl.logical_pages)
}

/// The number of failures after which a swarm stops.
const ENOUGH: usize = 10;

/// Runs a swarm with one kind of schedulers. Returns how many reads kept an older copy of their page, and how many erases waited for such
/// reads.
fn swarm(
    kind: &str,
    usual: Range<u64>,
    device: fn(&mut RandomStream) -> Config,
    scheduler: fn(&mut RandomStream) -> Recipe,
    load: fn(&mut RandomStream, &Config) -> Mix,
) -> (u64, u64) {
    let first = environment("SWARM_SEED").unwrap_or(usual.start);
    let usual = usual.end - usual.start;
    let runs = environment("SWARM_RUNS").unwrap_or(usual);
    let (mut events, mut erases, mut pauses, mut cancelled, mut forced, mut full) = (0, 0, 0, 0, 0, 0);
    let (mut kept, mut late, mut gaps) = (0, 0, 0.0);
    let mut failures: Vec<String> = Vec::new();
    for seed in first..first.saturating_add(runs) {
        let mut random = RandomStream::new(seed);
        let config = device(&mut random);
        let recipe = scheduler(&mut random);
        let mix = load(&mut random, &config);
        let mut asks = asks(&config, &mix, &mut random.0);
        if kind.starts_with("commands") {
            let share = random.one_of(&[2, 10, 40]);
            play::with_commands(&mut asks, share, &mut random.0);
        }
        let fail = |why: &str| {
            let what =
                format!("{recipe:?}\n{mix:?}\n{}", if runs == 1 { format!("{config:#?}") } else { String::new() });
            format!(
                "SWARM_SEED={seed} SWARM_RUNS=1 cargo test -p flashlane-sim --test all swarm::{kind}: {why}\n{what}"
            )
        };
        let outcome = watched(&fail("does not come to an end"), || {
            std::panic::catch_unwind(|| play::audit(&config, &recipe, &asks))
        });
        match outcome {
            Ok(Ok((played, verdict))) => {
                events += verdict.events;
                erases += played.totals.erases;
                pauses += played.totals.pauses;
                cancelled += played.totals.cancelled;
                forced += played.totals.forced_batches;
                kept += played.totals.kept_reads;
                late += played.totals.late_erases;
                match ceilings::hold(&config, &recipe, &asks, &played.completions) {
                    Ok(gap) => gaps += gap.ln(),
                    Err(why) => failures.push(fail(&why)),
                }
            }
            // Where pages may go to any plane, all can gather in one; reported as out of space, that is a legal end.
            Ok(Err(why)) if why.contains("drive out of space") && moves_pages(&recipe) => full += 1,
            // Where memory holds little of the map, each page that collection moves can cost a translation page; reported, a legal end.
            Ok(Err(why)) if why.contains("the map keeps the drive busy") && holds_little(&config) => full += 1,
            Ok(Err(why)) => failures.push(fail(&why)),
            Err(_) => failures.push(fail("a panic, see above")),
        }
        if failures.len() == ENOUGH {
            break;
        }
    }
    assert!(failures.is_empty(), "{} failures\n\n{}", failures.len(), failures.join("\n"));
    println!(
        "{kind}: {runs} runs, {full} out of space, {events} events, {erases} erases, {pauses} pauses, {cancelled} \
         cancelled writes, {forced} collections forced on a write, {kept} reads of older copies, {late} erases after them, {:.2} times the bound",
        (gaps / runs as f64).exp()
    );
    assert!(full * 10 <= runs, "{full} of {runs} runs ended out of space");
    // A swarm without collections and pauses would test little.
    assert!(runs < usual || erases > 1000 && pauses > 100, "the swarm has become too tame");
    (kept, late)
}

#[test]
fn every_row_of_the_catalogue() {
    swarm("every_row_of_the_catalogue", DAILY, config, any_row, workload);
}

#[test]
#[ignore = "nightly: four times the seeds"]
fn every_row_of_the_catalogue_further() {
    swarm("every_row_of_the_catalogue", NIGHTLY, config, any_row, workload);
}

#[test]
fn every_mix_of_answers() {
    swarm("every_mix_of_answers", DAILY, config, any_mix, workload);
}

#[test]
#[ignore = "nightly: four times the seeds"]
fn every_mix_of_answers_further() {
    swarm("every_mix_of_answers", NIGHTLY, config, any_mix, workload);
}

/// Reads that keep an older copy of their page, and the erases that wait for them: at least so many in these seeds.
fn mixes_that_keep_older_copies(seeds: Range<u64>, [reads, erases]: [u64; 2]) {
    let (kept, late) = swarm("mixes_that_move_pages", seeds, config, moving_mix, contended);
    assert!(
        environment("SWARM_RUNS").is_some() || kept > reads && late > erases,
        "{kept} reads, {late} erases are too few"
    );
}

#[test]
fn mixes_that_move_pages() {
    mixes_that_keep_older_copies(DAILY, [2_000, 20]);
}

#[test]
#[ignore = "nightly: four times the seeds"]
fn mixes_that_move_pages_further() {
    mixes_that_keep_older_copies(NIGHTLY, [8_000, 80]);
}

/// A random device whose trims take time, or none, and whose pages without data are read from memory, or not.
fn trimmed(random: &mut RandomStream) -> Config {
    let mut config = config(random);
    let reads = random.one_of(&[UnmappedReads::Flash, UnmappedReads::Memory]);
    let page = Duration::from_ns(u64::from(random.one_of(&[0u32, 0, 100])));
    config.buffer.iter_mut().for_each(|buffer| buffer.protected = random.chance(20));
    config.unmap = Unmap { command: random.maybe_us(20), page, reads };
    config
}

/// A random device that programs whole wordlines: behind a buffer, or with an SLC cache that is folded.
fn in_one_shot(random: &mut RandomStream) -> Config {
    let mut config = trimmed(random);
    let bits = random.between(2, 4);
    config.nand.one_shot_pages = bits;
    config.nand.one_shot_wait = random.chance(60).then(|| random.maybe_us(5000));
    if let Latency::ByPage(_) = config.nand.program {
        config.nand.program = Latency::Constant(random.us(50, 1500));
    }
    if let Latency::ByPage(_) = config.nand.read {
        let times: Vec<Duration> = (0..bits).map(|_| random.us(3, 100)).collect();
        config.nand.read = Latency::ByPage(PageTimes::new(&times).expect("two to four times"));
    }
    config.front.service = Service::Parallel;
    config.geometry.pages_per_block = bits * random.one_of(&[2, 3, 4, 8]);
    config.slc = None;
    let g = config.geometry;
    let fills = config.pages_that_fill_a_block();
    let room = |config: &Config| {
        let dynamic = u32::from(config.slc.as_ref().is_some_and(|slc| slc.dynamic));
        g.planes() * (config.native_blocks() - config.gc.start_blocks - 2 - dynamic) * fills
    };
    // As full as a drive can be, or with blocks to spare.
    let all = room(&config);
    let stored = if random.chance(30) { all } else { random.between(1, all) };
    config.mapping = config.mapping.filter(|_| stored > 1);
    config.ftl.logical_pages = beside_the_map(stored, config.mapping);
    config.slc = random.chance(40).then(|| slc(random, &config)).flatten();
    if let Some(slc) = &mut config.slc {
        (slc.bits, slc.full) = (bits, FullCache::Fold);
    }
    if config.slc.is_some() {
        config.ftl.logical_pages = beside_the_map(stored.min(room(&config)).max(1), config.mapping);
    }
    config.mapping = config.mapping.filter(|_| config.slc.is_some() && config.ftl.logical_pages > 1);
    config.flows.iter_mut().for_each(|flow| *flow = FlowConfig::at_priority(flow.priority));
    if config.slc.is_none() {
        let parts = config.flows.len() as u32;
        let pages = parts * (g.planes() * bits + random.upto(40));
        let own = config.buffer.take();
        config.buffer = Some(Buffer {
            pages,
            per_flow: random.chance(50),
            write_back: true,
            read_allocate: random.chance(30),
            flush_above: random.upto(pages),
            merge_writes: true,
            protected: own.is_some_and(|own| own.protected),
        });
    }
    config.check().unwrap_or_else(|why| panic!("the swarm draws only legal devices: {why}\n{config:?}"));
    config
}

/// One-shot programs, with the commands that pad wordlines and take pages out of them.
#[test]
fn commands_in_one_shot_under_every_row() {
    swarm("commands_in_one_shot_under_every_row", DAILY, in_one_shot, any_row, overwrites);
}

#[test]
fn commands_in_one_shot_under_every_mix_of_answers() {
    swarm("commands_in_one_shot_under_every_mix_of_answers", DAILY, in_one_shot, any_mix, contended);
}

#[test]
#[ignore = "nightly: four times the seeds"]
fn commands_in_one_shot_under_every_mix_of_answers_further() {
    swarm("commands_in_one_shot_under_every_mix_of_answers", NIGHTLY, in_one_shot, any_mix, overwrites);
}

/// Trims, write zeroes, flushes and writes with FUA among reads and writes of few pages.
#[test]
fn commands_under_every_row() {
    swarm("commands_under_every_row", DAILY, trimmed, any_row, contended);
}

#[test]
fn commands_under_every_mix_of_answers() {
    swarm("commands_under_every_mix_of_answers", DAILY, trimmed, any_mix, contended);
}

#[test]
#[ignore = "nightly: four times the seeds"]
fn commands_under_every_mix_of_answers_further() {
    swarm("commands_under_every_mix_of_answers", NIGHTLY, trimmed, any_mix, contended);
}

/// A device with everything at once: an SLC cache, a map that does not fit and a write-back buffer that loses its pages with the power.
fn everything(random: &mut RandomStream) -> Config {
    let has_all = |config: &Config| {
        let volatile = config.buffer.as_ref().is_some_and(|buffer| buffer.write_back && !buffer.protected);
        volatile && config.slc.is_some() && config.mapping.is_some()
    };
    core::iter::repeat_with(|| trimmed(random)).find(has_all).expect("one of some forty")
}

/// Trims, flushes and FUA on devices with an SLC cache, a mapping cache and a write-back buffer, some with reads that are tried again.
#[test]
fn commands_on_devices_with_everything() {
    swarm("commands_on_devices_with_everything", DAILY_FULL, everything, any_row, contended);
    swarm("commands_on_devices_with_everything", DAILY_FULL, everything, any_mix, contended);
}

#[test]
#[ignore = "nightly: four times the seeds"]
fn commands_on_devices_with_everything_further() {
    swarm("commands_on_devices_with_everything", NIGHTLY_FULL, everything, any_mix, contended);
}

/// Garbage collection can continue on a drive that is almost full and overwritten all the time, under every scheduler.
#[test]
fn full_drives_under_every_row() {
    swarm("full_drives_under_every_row", DAILY_FULL, tight, any_row, overwrites);
}

#[test]
#[ignore = "nightly: four times the seeds"]
fn full_drives_under_every_row_further() {
    swarm("full_drives_under_every_row", NIGHTLY_FULL, tight, any_row, overwrites);
}

/// Few requests on a small drive: where single choices decide how close a scheduler comes to the bounds.
fn small(random: &mut RandomStream) -> Config {
    let mut config = config(random);
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel) = (g.channels.min(2), g.chips_per_channel.min(3));
    (g.dies_per_chip, g.planes_per_die) = (g.dies_per_chip.min(2), g.planes_per_die.min(2));
    (g.blocks_per_plane, g.pages_per_block) = (12, g.pages_per_block.min(8));
    let stored = g.planes() * (12 - config.gc.start_blocks - 2) * g.pages_per_block;
    config.ftl.logical_pages = beside_the_map(stored, config.mapping);
    config.flows.iter_mut().for_each(|flow| *flow = FlowConfig::at_priority(flow.priority));
    if let Service::Serial { cluster, .. } = &mut config.front.service {
        *cluster = 1;
    }
    // A cache that was drawn for more blocks does not fit.
    if config.check().is_err() {
        config.slc = None;
    }
    config
}

/// Two to twelve requests.
fn few(random: &mut RandomStream, config: &Config) -> Mix {
    let mix = workload(random, config);
    Mix { requests: random.between(2, 12) as usize, ..mix }
}

/// Bounds against small runs under random rows and mixes, by their seeds.
fn small_runs(usual: Range<u64>) {
    let first = environment("SWARM_SEED").unwrap_or(usual.start);
    let runs = environment("SWARM_RUNS").unwrap_or(usual.end - usual.start);
    let (mut full, mut tight, mut gaps) = (0, 0, 0.0);
    for seed in first..first.saturating_add(runs) {
        let mut random = RandomStream::new(seed);
        let config = small(&mut random);
        if config.check().is_err() {
            full += 1;
            continue;
        }
        let recipe = if seed % 2 == 0 { any_row(&mut random) } else { any_mix(&mut random) };
        let mix = few(&mut random, &config);
        let asks = asks(&config, &mix, &mut random.0);
        let fail = |why: &str| -> ! {
            panic!(
                "SWARM_SEED={seed} SWARM_RUNS=1 cargo test -p flashlane-sim --test all swarm::bounds: {why}\n{recipe:?}\n{mix:?}"
            )
        };
        match play::audit(&config, &recipe, &asks) {
            Ok((played, _)) => match ceilings::hold(&config, &recipe, &asks, &played.completions) {
                Ok(gap) => {
                    gaps += gap.ln();
                    tight += u64::from(gap < 1.000_001);
                }
                Err(why) => fail(&why),
            },
            // As in the swarm.
            Err(why) if why.contains("drive out of space") || why.contains("the map keeps the drive busy") => full += 1,
            Err(why) => fail(&why),
        }
    }
    let made = runs - full;
    println!(
        "{made} small runs, {full} left out, {tight} at the bound, {:.3} times the bound",
        (gaps / made as f64).exp()
    );
    assert!(runs == 1 || full * 10 <= runs && tight * 50 >= made, "{full} of {runs} left out, {tight} at the bound");
}

#[test]
fn bounds_hold_in_small_runs() {
    small_runs(0..3_000);
}

#[test]
#[ignore = "nightly: a hundred times the seeds"]
fn bounds_hold_in_small_runs_further() {
    small_runs(3_000..300_000);
}
