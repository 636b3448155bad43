//! Devices and drivers that the tests share.

pub mod busy;
pub mod ceilings;
pub mod damage;
pub mod durable;
pub mod play;
pub mod record;

use flashlane_core::geometry::{Geometry, UnitKind};
use flashlane_core::{Completion, Duration, Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_sched::catalogue::{Question, Recipe, build};
use flashlane_ssd::Device;
use flashlane_ssd::config::*;

/// [`Config::plain`], which has the Table 1 times of Slacker and FLIN, with `channels` x `chips` single-die chips of two planes.
pub fn table1(channels: u32, chips: u32) -> Config {
    Config::plain(Geometry {
        channels,
        chips_per_channel: chips,
        dies_per_chip: 1,
        planes_per_die: 2,
        blocks_per_plane: 64,
        pages_per_block: 128,
        page_bytes: 8192,
        metadata_bytes: 448,
        slots: 1,
        row_planes: 1,
        unit: UnitKind::Chip,
    })
}

/// [`table1`] with one chip of one plane.
pub fn one_plane() -> Config {
    let mut config = table1(1, 1);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config
}

/// A small drive in steady state, 16 planes of 24 blocks of 16 pages, that collects garbage all the time.
pub fn small_gc_drive() -> Config {
    let mut config = table1(2, 2);
    (config.geometry.dies_per_chip, config.geometry.blocks_per_plane) = (2, 24);
    config.geometry.pages_per_block = 16;
    config.ftl.logical_pages = config.geometry.planes() * 16 * 17;
    config.precondition = Precondition::Steady;
    config
}

/// So many static blocks of a plane in SLC mode, with a third or less of the array times of Table 1; folded only when they are full.
pub fn slc_cache(static_blocks: u32, bits: u32) -> SlcCache {
    SlcCache {
        static_blocks,
        dynamic: false,
        dynamic_limit: u32::MAX,
        bits,
        read: Duration::from_us(25),
        program: Duration::from_us(200),
        erase: Duration::from_us(2_000),
        idle: None,
        full: FullCache::Fold,
    }
}

/// FLIN's drive in a scenario, with few of its blocks: else most of a short test would be the tables of pages that no request touches.
pub const FLIN: &str =
    "[device]\npreset = \"flin-isca18\"\ngeometry.blocks_per_plane = 128\nftl.over_provisioning_percent = 12.5\n";

/// One unit-cycle, in ns.
pub const CYCLE: u64 = 1000;

/// The unit-cycle model of model 0.6: page `lpn` on chip `lpn % chips`, reads 1 cycle, writes 4, no bus.
pub fn unit_cycle(chips: u32) -> Config {
    let mut config = table1(1, chips);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages = config.geometry.planes() * config.geometry.pages_per_plane() / 2;
    let cycles = |n: u64| Latency::Constant(Duration::from_ns(n * CYCLE));
    config.nand = Nand { read: cycles(1), program: cycles(4), erase: cycles(4), iterations: 4, ..config.nand };
    config.bus.mega_transfers = u32::MAX;
    config
}

/// The catalogue's `name`, with parameters.
pub fn recipe(name: &str, params: &[(&str, u64)]) -> Recipe {
    Recipe {
        base: Some(name.to_owned()),
        params: params.iter().map(|&(k, v)| (k.to_owned(), v)).collect(),
        ..Recipe::default()
    }
}

/// The same where nothing interrupts a collection, as on the drive of Slacker's paper (D-SLK-14).
pub fn atomic(name: &str, params: &[(&str, u64)]) -> Recipe {
    Recipe { answers: vec![(Question::Collect, "atomic".to_owned())], ..recipe(name, params) }
}

/// A device of `config` under `recipe`.
pub fn device(config: &Config, recipe: &Recipe) -> Device {
    Device::new(config, build(recipe).expect("a good recipe")).expect("a good configuration")
}

/// A request of a scene: arrival in ns, operation, pages.
pub type Line<'a> = (u64, Op, &'a [u32]);

/// Runs a scene to its end; returns the completions in the order of the lines.
pub fn scene(device: &mut Device, lines: &[Line<'_>]) -> Vec<Completion> {
    let mut done = Vec::new();
    for (i, &(at, op, pages)) in lines.iter().enumerate() {
        let now = Time::from_ns(at);
        device.advance(now);
        let list: Vec<Lpn> = pages.iter().copied().map(Lpn).collect();
        let request = Request {
            id: RequestId(i as u64),
            flow: FlowId(0),
            op,
            fua: false,
            arrival: now,
            extent: Extent::Pages(&list),
        };
        device.submit(now, &request).expect("within the drive");
    }
    drain(device);
    done.append(device.completions());
    assert_eq!(done.len(), lines.len(), "every request completes exactly once");
    done.sort_by_key(|c| c.id);
    done
}

/// Advances the device until nothing is left to do.
pub fn drain(device: &mut Device) {
    loop {
        let next = device.next_event();
        if next == Time::NEVER {
            break;
        }
        device.advance(next);
    }
    assert_eq!(device.fault(), None);
    assert_eq!(device.outstanding(), 0);
}

/// Completion instants in ns, in the order of the lines.
pub fn ends(config: &Config, recipe: &Recipe, lines: &[Line<'_>]) -> Vec<u64> {
    scene(&mut device(config, recipe), lines).iter().map(|c| c.done.ns()).collect()
}
