//! Random devices, schedulers and workloads of the swarm.

use crate::common::play::Mix;
use flashlane_core::Duration;
use flashlane_core::geometry::{AllocationOrder, Geometry, UnitKind};
use flashlane_sched::catalogue::{Question, Recipe, SHIPPED, build, schedulers};
use flashlane_ssd::config::*;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

pub struct RandomStream(pub Pcg64Mcg);

impl RandomStream {
    pub fn new(seed: u64) -> RandomStream {
        let mut rng = Pcg64Mcg::new(u128::from(seed) << 64 | 0x5a_5a5a_5a5b);
        rng.next_u64();
        RandomStream(rng)
    }

    pub fn upto(&mut self, most: u32) -> u32 {
        self.0.next_u32() % (most + 1)
    }

    pub fn between(&mut self, least: u32, most: u32) -> u32 {
        least + self.upto(most - least)
    }

    pub fn chance(&mut self, of_hundred: u32) -> bool {
        self.0.next_u32() % 100 < of_hundred
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.next_u32() as usize % of.len()]
    }

    pub fn us(&mut self, least: u32, most: u32) -> Duration {
        Duration::from_ns(u64::from(self.between(least * 1000, most * 1000)))
    }

    /// A stream of its own, for keys that are newer than scenes that have been found worth keeping: those stay as they were.
    pub fn apart(&self) -> RandomStream {
        RandomStream(Pcg64Mcg::new(u128::from(self.0.clone().next_u64())))
    }

    /// A duration that is zero more often than not.
    pub fn maybe_us(&mut self, most: u32) -> Duration {
        if self.chance(60) { Duration::ZERO } else { self.us(0, most) }
    }
}

pub fn geometry(random: &mut RandomStream) -> Geometry {
    Geometry {
        channels: random.between(1, 4),
        chips_per_channel: random.between(1, 4),
        dies_per_chip: random.between(1, 3),
        planes_per_die: random.one_of(&[1, 1, 2, 2, 4]),
        blocks_per_plane: random.between(10, 40),
        pages_per_block: random.one_of(&[1, 2, 3, 8, 16, 16, 32]),
        page_bytes: random.one_of(&[512, 4096, 4096, 8192, 16384, 1536]),
        metadata_bytes: random.one_of(&[0, 112, 448]),
        slots: 1,
        row_planes: 1,
        unit: random.one_of(&[UnitKind::Chip, UnitKind::Die]),
    }
}

pub fn latency(random: &mut RandomStream, least: u32, most: u32) -> Latency {
    match random.upto(3) {
        0 => Latency::Gaussian { mean: random.us(least, most), sd: random.us(0, most / 4) },
        1 => {
            let times: Vec<Duration> = (0..random.between(1, 4)).map(|_| random.us(least, most)).collect();
            Latency::ByPage(PageTimes::new(&times).expect("one to four times"))
        }
        _ => Latency::Constant(random.us(least, most)),
    }
}

pub fn nand(random: &mut RandomStream) -> Nand {
    let mut apart = random.apart();
    Nand {
        read: latency(random, 3, 100),
        program: latency(random, 50, 1500),
        erase: latency(random, 100, 4000),
        iterations: random.between(1, 24),
        erase_iterations: apart.between(1, 24),
        suspend: random.maybe_us(30),
        resume: random.maybe_us(30),
        suspend_limit: if random.chance(80) { u32::MAX } else { random.between(0, 3) },
        suspend_min: apart.maybe_us(300),
        suspend_at: if apart.chance(50) { SuspendAt::Instant } else { SuspendAt::Segment },
        multi_plane: random.chance(70),
        multi_die: random.chance(70),
        same_page_read: random.chance(30),
        same_page_program: random.chance(70),
        one_shot_pages: 1,
        one_shot_wait: None,
    }
}

pub fn retry(random: &mut RandomStream) -> ReadRetry {
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
pub fn mapping(random: &mut RandomStream, page_bytes: u32) -> Mapping {
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
pub fn beside_the_map(pages: u32, mapping: Option<Mapping>) -> u32 {
    let Some(Mapping { entries_per_page, .. }) = mapping else { return pages };
    (1..=pages).rev().find(|logical| logical + logical.div_ceil(entries_per_page) <= pages).unwrap_or(1)
}

/// An SLC cache in what a plane has more blocks than it needs; `None` where there is nothing for one.
pub fn slc(random: &mut RandomStream, config: &Config) -> Option<SlcCache> {
    let g = &config.geometry;
    let stored = g.pages_of_fullest_plane(config.stored_pages()).div_ceil(config.pages_that_fill_a_block());
    let spare = g.blocks_per_plane - stored - config.gc.start_blocks - 2;
    let bits: Vec<u32> = (2..=4).filter(|bits| (g.pages_per_block / g.slots).is_multiple_of(*bits)).collect();
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

pub fn bus(random: &mut RandomStream) -> Bus {
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

fn controller(random: &mut RandomStream) -> Controller {
    if random.chance(60) {
        return Controller::INSTANT;
    }
    let command = [random.maybe_us(20), random.maybe_us(20)];
    Controller { cores: random.between(1, 4), command, page: [random.maybe_us(3), random.maybe_us(3)] }
}

pub fn front(random: &mut RandomStream, chips: u32) -> Front {
    let mut apart = random.apart();
    let depth = random.one_of(&[1, 2, 8, 32, u32::MAX]);
    let front = Front {
        protocol: if random.chance(60) { Protocol::Nvme { depth } } else { Protocol::Sata { depth } },
        in_flight: random.one_of(&[1, 4, 32, u32::MAX, u32::MAX]),
        queue_capacity: [random.one_of(&[1, 8, u32::MAX, u32::MAX]), random.one_of(&[1, 8, u32::MAX, u32::MAX])],
        link_bytes_per_s: random.one_of(&[0, 0, 300_000_000, 3_000_000_000]),
        link_latency: random.maybe_us(20),
        controller: controller(&mut apart),
        order: if apart.chance(50) { BufferOrder::ByKind } else { BufferOrder::Shared },
        service: Service::Parallel,
    };
    if front.in_flight > 1 || random.chance(70) {
        return front;
    }
    let (cluster, charge) = (random.between(1, chips), random.one_of(&[Charge::FreeAware, Charge::Literal]));
    Front { service: Service::Serial { cluster, charge }, ..front }
}

pub fn buffer(random: &mut RandomStream, flows: u32) -> Option<Buffer> {
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
            pace: random.apart().maybe_us(5_000),
        };
        if random.chance(30) {
            Buffer { write_back: true, read_allocate: false, flush_above: 0, merge_writes: false, ..buffer }
        } else {
            buffer
        }
    })
}

/// A random device that can be built.
pub fn config(random: &mut RandomStream) -> Config {
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
pub fn flow(random: &mut RandomStream, logical_pages: u32) -> FlowConfig {
    let first_page = random.upto(logical_pages - 1);
    FlowConfig { priority: random.upto(3) as u8, first_page, pages: random.upto(logical_pages - first_page) }
}

/// A device with no more spare blocks than collection needs, 99 % or all of it full.
pub fn tight(random: &mut RandomStream) -> Config {
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

pub fn workload(random: &mut RandomStream, config: &Config) -> Mix {
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
pub fn overwrites(random: &mut RandomStream, config: &Config) -> Mix {
    let mix = workload(random, config);
    let reads = random.one_of(&[0, 10, 30]);
    Mix { requests: random.between(400, 900) as usize, gap: mix.gap / 2 + 1, reads, ..mix }
}

/// Reads and overwrites of few pages, faster than they can be served: reads wait while younger writes take their pages elsewhere.
pub fn contended(random: &mut RandomStream, config: &Config) -> Mix {
    let mix = overwrites(random, config);
    Mix { reads: random.one_of(&[30, 50, 70]), hot: random.one_of(&[50, 90, 100]), ..mix }
}

/// A random scheduler, unchanged.
pub fn any_row(random: &mut RandomStream) -> Recipe {
    let entry = &schedulers()[random.0.next_u32() as usize % schedulers().len()];
    crate::common::recipe(entry.name, &[])
}

/// A random answer to each question, with random legal values of their parameters.
pub fn any_mix(random: &mut RandomStream) -> Recipe {
    let mut recipe = any_row(random);
    for question in Question::ALL {
        let known: Vec<_> = SHIPPED.answers(question).collect();
        let answer = known[random.0.next_u32() as usize % known.len()];
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

/// Whether writes may go to other planes than those of static allocation.
pub fn moves_pages(recipe: &Recipe) -> bool {
    build(recipe).is_ok_and(|scheduler| !scheduler.place.declares().is_static)
}

/// A random mix under which pages leave their home plane.
pub fn moving_mix(random: &mut RandomStream) -> Recipe {
    core::iter::repeat_with(|| any_mix(random)).find(moves_pages).expect("most answers let them")
}

/// A random device whose trims take time, or none, and whose pages without data are read from memory, or not.
pub fn trimmed(random: &mut RandomStream) -> Config {
    let mut config = config(random);
    let reads = random.one_of(&[UnmappedReads::Flash, UnmappedReads::Memory]);
    let page = Duration::from_ns(u64::from(random.one_of(&[0u32, 0, 100])));
    config.buffer.iter_mut().for_each(|buffer| buffer.protected = random.chance(20));
    config.unmap = Unmap { command: random.maybe_us(20), page, reads };
    config
}

/// A random device that programs whole wordlines: behind a buffer, with an SLC cache, or both.
pub fn in_one_shot(random: &mut RandomStream) -> Config {
    let mut config = trimmed(random);
    let bits = random.between(2, 4);
    with_wordlines(&mut config, bits, random);
    config.geometry.pages_per_block = bits * random.one_of(&[2, 3, 4, 8]);
    fill(&mut config, Some(bits), random);
    config
}

/// Fills a device of programs of several pages, as far as it can be or with blocks to spare; with an SLC cache of so many `bits`, or any, now and then.
fn fill(config: &mut Config, bits: Option<u32>, random: &mut RandomStream) {
    config.slc = None;
    let g = config.geometry;
    let (fills, stripe) = (config.pages_that_fill_a_block(), g.planes() * g.slots);
    // Less what keeps stripes whole.
    let room = |config: &Config| {
        let dynamic = u32::from(config.slc.as_ref().is_some_and(|slc| slc.dynamic));
        let all = g.planes() * (config.native_blocks() - config.gc.start_blocks - 2 - dynamic) * fills;
        (all / stripe * stripe).max(1)
    };
    let all = room(config);
    let stored = if random.chance(30) { all } else { random.between(1, all) };
    config.mapping = config.mapping.filter(|_| stored > 1);
    config.ftl.logical_pages = beside_the_map(stored, config.mapping);
    config.slc = random.chance(40).then(|| slc(random, config)).flatten();
    if let (Some(slc), Some(bits)) = (&mut config.slc, bits) {
        slc.bits = bits;
    }
    if config.slc.is_some() {
        config.ftl.logical_pages = beside_the_map(stored.min(room(config)), config.mapping);
    }
    config.mapping = config.mapping.filter(|_| config.ftl.logical_pages > 1);
    config.flows.iter_mut().for_each(|flow| *flow = FlowConfig::at_priority(flow.priority));
    if config.gathers_wordlines() {
        with_a_buffer(config, random);
    }
    config.check().unwrap_or_else(|why| panic!("the swarm draws only legal devices: {why}\n{config:?}"));
}

/// Wordlines of so many rows.
fn with_wordlines(config: &mut Config, rows: u32, random: &mut RandomStream) {
    config.nand.one_shot_pages = rows;
    config.nand.one_shot_wait = random.chance(60).then(|| random.maybe_us(5000));
    if let Latency::ByPage(_) = config.nand.program {
        config.nand.program = Latency::Constant(random.us(50, 1500));
    }
    if let Latency::ByPage(_) = config.nand.read {
        let times: Vec<Duration> = (0..rows).map(|_| random.us(3, 100)).collect();
        config.nand.read = Latency::ByPage(PageTimes::new(&times).expect("one to four times"));
    }
    config.front.service = Service::Parallel;
}

/// A buffer in which pages are gathered.
fn with_a_buffer(config: &mut Config, random: &mut RandomStream) {
    let parts = config.flows.len() as u32;
    let pages = parts * (config.geometry.planes() * config.pages_of_a_list() + random.upto(40));
    let own = config.buffer.take();
    config.buffer = Some(Buffer {
        pages,
        per_flow: random.chance(50),
        write_back: true,
        read_allocate: random.chance(30),
        flush_above: random.upto(pages),
        merge_writes: true,
        protected: own.is_some_and(|own| own.protected),
        pace: random.apart().maybe_us(5_000),
    });
}

/// A random device whose rows have several pages; one program of native cells writes one to four rows.
pub fn in_rows(random: &mut RandomStream) -> Config {
    let mut config = trimmed(random);
    let (rows, slots) = (random.between(1, 4), random.one_of(&[2, 2, 3, 4, 8]));
    with_wordlines(&mut config, rows, random);
    config.geometry.slots = slots;
    let planes = random.apart().one_of(&[1, 2, 4]);
    if slots % planes == 0 && planes > 1 {
        // They work at once.
        (config.nand.multi_plane, config.bus.plane_gap) = (true, Duration::ZERO);
        config.geometry.row_planes = planes;
    }
    config.geometry.pages_per_block = slots * rows * random.one_of(&[2, 3, 4]);
    fill(&mut config, (rows > 1).then_some(rows), random);
    config
}

/// A device with everything at once: an SLC cache, a map that does not fit and a write-back buffer that loses its pages with the power.
pub fn everything(random: &mut RandomStream) -> Config {
    let has_all = |config: &Config| {
        let volatile = config.buffer.as_ref().is_some_and(|buffer| buffer.write_back && !buffer.protected);
        volatile && config.slc.is_some() && config.mapping.is_some()
    };
    core::iter::repeat_with(|| trimmed(random)).find(has_all).expect("one of some forty")
}

/// Few requests on a small drive: where single choices decide how close a scheduler comes to the bounds.
pub fn small(random: &mut RandomStream) -> Config {
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
pub fn few(random: &mut RandomStream, config: &Config) -> Mix {
    let mix = workload(random, config);
    Mix { requests: random.between(2, 12) as usize, ..mix }
}
