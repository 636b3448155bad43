//! Swarm: random devices, schedulers and workloads, with the auditor, and the translation layer's tables checked at the
//! end.
//!
//! Every run is a function of its seed, which a failure prints; `SWARM_SEED=N SWARM_RUNS=1` repeats that run,
//! `SWARM_RUNS=100000` runs for hours. Schedulers are drawn from the catalogue's rows and answers, so a new one is
//! included as soon as it is listed.

mod common;

use std::sync::mpsc::RecvTimeoutError;

use common::play::{self, Mix, asks};
use flashlane_core::Duration;
use flashlane_core::geometry::{AllocationOrder, Geometry, UnitKind};
use flashlane_sched::catalogue::{QUESTIONS, Recipe, answers, build, rows};
use flashlane_ssd::config::*;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Runs of each kind unless the environment says otherwise.
const RUNS: u64 = 2500;

struct Dice(Pcg64Mcg);

impl Dice {
    fn new(seed: u64) -> Dice {
        let mut rng = Pcg64Mcg::new(u128::from(seed) << 64 | 0x5a_5a5a_5a5b);
        rng.next_u64();
        Dice(rng)
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

fn geometry(dice: &mut Dice) -> Geometry {
    Geometry {
        channels: dice.between(1, 4),
        chips_per_channel: dice.between(1, 4),
        dies_per_chip: dice.between(1, 3),
        planes_per_die: dice.one_of(&[1, 1, 2, 2, 4]),
        blocks_per_plane: dice.between(10, 40),
        pages_per_block: dice.one_of(&[1, 2, 3, 8, 16, 16, 32]),
        page_bytes: dice.one_of(&[512, 4096, 4096, 8192, 16384, 1536]),
        metadata_bytes: dice.one_of(&[0, 112, 448]),
        unit: dice.one_of(&[UnitKind::Chip, UnitKind::Die]),
    }
}

fn latency(dice: &mut Dice, least: u32, most: u32) -> Latency {
    match dice.upto(3) {
        0 => Latency::Gaussian { mean: dice.us(least, most), sd: dice.us(0, most / 4) },
        1 => Latency::FastSlow { fast: dice.us(least, most), slow: dice.us(least, most) },
        _ => Latency::Constant(dice.us(least, most)),
    }
}

fn nand(dice: &mut Dice) -> Nand {
    Nand {
        read: latency(dice, 3, 100),
        program: latency(dice, 50, 1500),
        erase: latency(dice, 100, 4000),
        iterations: dice.between(1, 24),
        suspend: dice.maybe_us(30),
        resume: dice.maybe_us(30),
        multi_plane: dice.chance(70),
        multi_die: dice.chance(70),
        same_page_read: dice.chance(30),
        same_page_program: dice.chance(70),
    }
}

fn bus(dice: &mut Dice) -> Bus {
    let rounding = dice.one_of(&[Rounding::Exact, Rounding::MqSim]);
    let mut command = || if dice.chance(50) { Duration::ZERO } else { Duration::from_ns(dice.upto(900).into()) };
    Bus {
        command: [command(), command(), command()],
        mega_transfers: dice.one_of(&[100, 333, 800, 1600, u32::MAX]),
        width_bytes: dice.one_of(&[1, 1, 2]),
        rounding,
        with_metadata: dice.chance(30),
        data_out_setup: dice.maybe_us(1),
        plane_gap: dice.maybe_us(2),
        dispatch: dice.one_of(&[Dispatch::Eager, Dispatch::Eager, Dispatch::BusIdle]),
    }
}

fn front(dice: &mut Dice) -> Front {
    let depth = dice.one_of(&[1, 2, 8, 32, u32::MAX]);
    Front {
        protocol: if dice.chance(60) { Protocol::Nvme { depth } } else { Protocol::Sata { depth } },
        in_flight: dice.one_of(&[1, 4, 32, u32::MAX, u32::MAX]),
        queue_capacity: [dice.one_of(&[1, 8, u32::MAX, u32::MAX]), dice.one_of(&[1, 8, u32::MAX, u32::MAX])],
        link_bytes_per_s: dice.one_of(&[0, 0, 300_000_000, 3_000_000_000]),
        link_latency: dice.maybe_us(20),
    }
}

fn buffer(dice: &mut Dice, flows: u32) -> Option<Buffer> {
    dice.chance(40).then(|| {
        let pages = flows * dice.between(1, 24);
        Buffer {
            pages,
            per_flow: dice.chance(50),
            write_back: dice.chance(70),
            read_allocate: dice.chance(50),
            flush_above: dice.upto(pages),
        }
    })
}

/// A random device that can be built.
fn config(dice: &mut Dice) -> Config {
    let geometry = geometry(dice);
    let blocks = geometry.blocks_per_plane;
    let start_blocks = dice.between(2, 4);
    // From a drive with hardly any spare blocks to one that is mostly empty.
    let data_blocks = dice.between(1, blocks - start_blocks - 2).max(dice.upto(blocks - start_blocks - 2));
    let per_plane = data_blocks * geometry.pages_per_block;
    let logical_pages = (geometry.planes() * per_plane - dice.upto(geometry.planes() - 1)).max(1);
    let flows = dice.between(1, 4);
    let victims = [Victim::Greedy, Victim::Random, Victim::DChoices(3), Victim::Fifo, Victim::CostBenefit];
    let config = Config {
        geometry,
        nand: nand(dice),
        bus: bus(dice),
        ftl: Ftl {
            order: AllocationOrder::parse(dice.one_of(&AllocationOrder::NAMES)).expect("one of the names"),
            logical_pages,
            read_modify_write: dice.chance(50),
            wear_aware: dice.chance(50),
        },
        gc: Gc {
            victim: dice.one_of(&victims),
            start_blocks,
            hard_blocks: dice.between(1, start_blocks - 1),
            separate_frontier: dice.chance(60),
        },
        precondition: match dice.upto(4) {
            0 => Precondition::Fresh,
            1 => Precondition::Filled { per_mille: dice.one_of(&[0, 500, 1000, 1000]) },
            _ => Precondition::Steady,
        },
        buffer: buffer(dice, flows),
        front: front(dice),
        memory: dice.maybe_us(5),
        flows: (0..flows).map(|_| flow(dice, logical_pages)).collect(),
        levels: dice.between(1, 4) as u8,
        seed: dice.0.next_u64(),
    };
    config.check().unwrap_or_else(|why| panic!("the swarm draws only legal devices: {why}\n{config:?}"));
    config
}

/// A flow that owns a part of the drive, which may overlap another's, or nothing.
fn flow(dice: &mut Dice, logical_pages: u32) -> FlowConfig {
    let first_page = dice.upto(logical_pages - 1);
    FlowConfig { level: dice.upto(3) as u8, first_page, pages: dice.upto(logical_pages - first_page) }
}

/// A device with no more spare blocks than collection needs, 99 % or all of it full.
fn tight(dice: &mut Dice) -> Config {
    let mut config = config(dice);
    let g = &config.geometry;
    let data_blocks = g.blocks_per_plane - config.gc.start_blocks - 2;
    config.ftl.logical_pages = g.planes() * data_blocks * g.pages_per_block;
    config.precondition = dice.one_of(&[Precondition::Filled { per_mille: 990 }, Precondition::Steady]);
    config.flows.iter_mut().for_each(|flow| *flow = FlowConfig::at_level(flow.level));
    config.check().unwrap_or_else(|why| panic!("the swarm draws only legal devices: {why}\n{config:?}"));
    config
}

fn workload(dice: &mut Dice, config: &Config) -> Mix {
    // From a load that leaves the flash idle to one that exceeds it, in programs per unit.
    let program = config.nand.program.typical().ns();
    let gap = program * u64::from(dice.between(2, 60)) / 10 / u64::from(config.geometry.units());
    Mix {
        requests: dice.between(50, 500) as usize,
        gap: gap.max(1),
        reads: dice.one_of(&[0, 20, 50, 50, 80, 100]),
        pages: u64::from(dice.one_of(&[1u32, 2, 4, 8, 20])).min(u64::from(config.ftl.logical_pages)),
        hot: dice.one_of(&[0, 10, 50, 90]),
        partial: dice.one_of(&[0, 0, 30, 100]),
        scattered: dice.one_of(&[0, 20, 60]),
    }
}

/// Overwrites that arrive faster than they can be served.
fn overwrites(dice: &mut Dice, config: &Config) -> Mix {
    let mix = workload(dice, config);
    let reads = dice.one_of(&[0, 10, 30]);
    Mix { requests: dice.between(400, 900) as usize, gap: mix.gap / 2 + 1, reads, ..mix }
}

/// A random row, unchanged.
fn any_row(dice: &mut Dice) -> Recipe {
    let row = &rows()[dice.0.next_u32() as usize % rows().len()];
    common::recipe(row.name, &[])
}

/// A random answer to each question, with random legal values of their parameters.
fn any_mix(dice: &mut Dice) -> Recipe {
    let mut recipe = any_row(dice);
    for question in QUESTIONS {
        let known = answers(question);
        let answer = &known[dice.0.next_u32() as usize % known.len()];
        recipe.answers.push((question.to_owned(), answer.name.to_owned()));
        for param in answer.params {
            let value = match dice.upto(3) {
                0 => param.min,
                1 => param.min + dice.0.next_u64() % (param.max - param.min + 1).min(200),
                _ => param.default,
            };
            recipe.params.push((param.name.to_owned(), value));
        }
    }
    if dice.chance(10) {
        recipe.params.push(("shadow".to_owned(), 1));
    }
    recipe
}

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: must be a whole number")))
}

/// The most seconds of a run: thousands of times what one takes.
const PATIENCE: u64 = 60;

/// Runs `job`; ends the program with `complaint` if it does not return, for a device in an endless loop never does.
fn watched<T>(complaint: &str, job: impl FnOnce() -> T) -> T {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(std::time::Duration::from_secs(PATIENCE)) == Err(RecvTimeoutError::Timeout) {
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
    build(recipe).is_ok_and(|scheduler| !scheduler.place.is_static())
}

/// The number of failures after which a swarm stops.
const ENOUGH: usize = 10;

/// Runs a swarm with one kind of schedulers.
fn swarm(
    kind: &str,
    usual: u64,
    device: fn(&mut Dice) -> Config,
    scheduler: fn(&mut Dice) -> Recipe,
    load: fn(&mut Dice, &Config) -> Mix,
) {
    let first = environment("SWARM_SEED").unwrap_or(1);
    let runs = environment("SWARM_RUNS").unwrap_or(usual);
    let (mut events, mut erases, mut pauses, mut cancelled, mut forced, mut full) = (0, 0, 0, 0, 0, 0);
    let mut failures: Vec<String> = Vec::new();
    for seed in first..first.saturating_add(runs) {
        let mut dice = Dice::new(seed);
        let config = device(&mut dice);
        let recipe = scheduler(&mut dice);
        let mix = load(&mut dice, &config);
        let asks = asks(&config, &mix, &mut dice.0);
        let fail = |why: &str| {
            let what =
                format!("{recipe:?}\n{mix:?}\n{}", if runs == 1 { format!("{config:#?}") } else { String::new() });
            format!("SWARM_SEED={seed} SWARM_RUNS=1 cargo test --test swarm {kind}: {why}\n{what}")
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
            }
            // Where pages may go to any plane, all can gather in one; reported as out of space, that is a legal end.
            Ok(Err(why)) if why.contains("drive out of space") && moves_pages(&recipe) => full += 1,
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
         cancelled writes, {forced} collections forced on a write"
    );
    assert!(full * 10 <= runs, "{full} of {runs} runs ended out of space");
    // A swarm without collections and pauses would test little.
    assert!(runs < usual || erases > 1000 && pauses > 100, "the swarm has become too tame");
}

#[test]
fn every_row_of_the_catalogue() {
    swarm("every_row_of_the_catalogue", RUNS, config, any_row, workload);
}

#[test]
fn every_mix_of_answers() {
    swarm("every_mix_of_answers", RUNS, config, any_mix, workload);
}

/// Garbage collection can continue on a drive that is almost full and overwritten all the time, under every row.
#[test]
fn full_drives_under_every_row() {
    swarm("full_drives_under_every_row", RUNS / 5, tight, any_row, overwrites);
}
