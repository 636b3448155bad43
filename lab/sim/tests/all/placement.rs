//! Where writes go that no address binds: planes and units share them, so that collection costs no more than under static allocation.

use crate::common::{device, drain, recipe, slc_cache, table1};
use flashlane_core::decide::Question;
use flashlane_core::geometry::{Geometry, UnitKind};
use flashlane_core::{Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::Totals;
use flashlane_ssd::config::{Buffer, Config, FullCache, Precondition, SlcCache};
use flashlane_testing::Random;
use rayon::prelude::*;

/// A drive in steady state of chips with so many dies and planes; one page of `spare` is spare.
fn steady(channels: u32, dies_per_chip: u32, planes_per_die: u32, spare: u32) -> Config {
    let mut config = table1(channels, 1);
    let blocks_per_plane = 64;
    config.geometry =
        Geometry { dies_per_chip, planes_per_die, blocks_per_plane, pages_per_block: 24, ..config.geometry };
    config.ftl.logical_pages = config.geometry.planes() * (config.geometry.pages_per_plane() / spare * (spare - 1));
    config.precondition = Precondition::Steady;
    config
}

/// Pages programmed for each page that the host writes, while `depth` writes at a time overwrite a drive four times, at random, after twice before.
fn write_amplification(config: &Config, recipe: &Recipe, depth: u32) -> f64 {
    let mut device = device(config, recipe);
    let mut random = Random(7);
    let pages = u64::from(config.ftl.logical_pages);
    let all = pages * 6;
    let mut warm = device.totals();
    let mut done = 0;
    for id in 0..all {
        while device.outstanding() >= depth as usize {
            assert!(device.advance_to_completion(Time::LAST), "{:?}", device.fault());
            done += device.completions().drain(..).count() as u64;
        }
        if id == all / 3 {
            warm = device.totals();
        }
        let (now, page) = (device.now(), Lpn(random.below(pages) as u32));
        let request = Request {
            id: RequestId(id),
            flow: FlowId(0),
            op: Op::Write,
            fua: false,
            arrival: now,
            extent: Extent::Pages(&[page]),
        };
        device.submit(now, &request).expect("a page of the drive");
    }
    drain(&mut device);
    assert_eq!(done + device.completions().len() as u64, all, "all writes complete");
    let programs = |t: &Totals| t.user_programs + t.gc_programs + t.padded.unwrap_or(0);
    let totals = device.totals();
    (programs(&totals) - programs(&warm)) as f64 / (totals.user_programs - warm.user_programs) as f64
}

/// The schedulers that choose planes, and choices of planes among other answers.
fn choosing() -> Vec<(&'static str, Recipe)> {
    let placed = |base, place: &str, params| Recipe {
        answers: vec![(Question::Place, place.to_owned())],
        ..recipe(base, params)
    };
    vec![
        ("dynalloc", recipe("dynalloc", &[])),
        ("dynalloc at arrival", recipe("dynalloc", &[("bind_at_arrival", 1)])),
        ("late", recipe("late", &[])),
        ("read-first, late", placed("read-first", "late", &[])),
        ("flin, dynamic", placed("flin", "dynamic", &[])),
    ]
}

/// The write amplification of each that chooses planes, over that of static allocation.
fn over_static(config: &Config, depth: u32) -> Vec<(&'static str, f64)> {
    let fixed = write_amplification(config, &recipe("fr-fcfs", &[]), depth);
    choosing().iter().map(|(name, recipe)| (*name, write_amplification(config, recipe, depth) / fixed)).collect()
}

/// Where every plane of a chip is at the threshold of collection, the one that was written and collected last has most free pages: by these
/// alone it would take all writes. So would the hindmost plane of a die whose planes do not stay at one offset, since moves share its open block.
#[test]
fn planes_of_a_unit_share_its_writes() {
    for (dies, planes, multi_plane, separate_frontier, depth) in
        [(1, 2, false, true, 1), (2, 1, true, true, 1), (1, 4, true, false, 2)]
    {
        let mut config = steady(1, dies, planes, 5);
        (config.nand.multi_plane, config.nand.multi_die) = (multi_plane, false);
        config.gc.separate_frontier = separate_frontier;
        let over = over_static(&config, depth);
        assert!(over.iter().all(|&(_, over)| over < 1.3), "{dies} dies of {planes} planes, depth {depth}: {over:?}");
    }
}

/// Bound at arrival, writes go to the first idle chip: its planes would fill with valid pages, and then no write that is bound to them could go on.
#[test]
fn chips_share_writes_that_are_bound_at_arrival() {
    let mut config = steady(2, 1, 1, 4);
    let (blocks_per_plane, pages_per_block) = (16, 8);
    config.geometry = Geometry { chips_per_channel: 8, blocks_per_plane, pages_per_block, ..config.geometry };
    config.ftl.logical_pages = config.geometry.planes() * pages_per_block * 12;
    (config.gc.start_blocks, config.gc.hard_blocks) = (2, 1);
    for depth in [1, 4, 40] {
        let fixed = write_amplification(&config, &recipe("fr-fcfs", &[]), depth);
        let over = write_amplification(&config, &recipe("dynalloc", &[("bind_at_arrival", 1)]), depth) / fixed;
        assert!(over < 1.3, "depth {depth}: {over}");
    }
}

/// Drives, with rows of several logical pages or whole wordlines too, and how many writes are under way at a time.
fn drawn(random: &mut Random) -> (Config, u32) {
    let mut draw = |of: &[u32]| of[random.below(of.len() as u64) as usize];
    let mut config = steady(draw(&[1, 2]), draw(&[1, 2]), draw(&[1, 2, 4]), 4);
    config.geometry.unit = if draw(&[0, 1]) == 0 { UnitKind::Chip } else { UnitKind::Die };
    let (slots, one_shot_pages) = [(1, 1), (1, 3), (2, 1), (4, 1)][draw(&[0, 1, 2, 3]) as usize];
    (config.geometry.slots, config.geometry.pages_per_block) = (slots, 24 * slots * one_shot_pages);
    config.ftl.logical_pages *= slots * one_shot_pages;
    config.nand.one_shot_pages = one_shot_pages;
    (config.nand.multi_plane, config.nand.multi_die) = (draw(&[0, 1]) == 0, draw(&[0, 1]) == 0);
    config.nand.same_page_program = draw(&[0, 1]) == 0;
    (config.gc.separate_frontier, config.gc.start_blocks) = (draw(&[0, 1]) == 0, draw(&[3, 4]));
    if draw(&[0, 1]) == 0 {
        // A cache that is filled once and then passed.
        let bits = if one_shot_pages == 1 { 3 } else { one_shot_pages };
        config.slc = Some(SlcCache { full: FullCache::Direct, ..slc_cache(2, bits) });
        config.geometry.blocks_per_plane += 2;
    }
    if config.gathers_wordlines() {
        config.buffer = Some(Buffer::plain(4 * config.geometry.planes() * slots * one_shot_pages, 0));
    }
    (config, draw(&[1, 1, 2, 16]))
}

/// Whoever chooses planes programs at most 1.3 times what static allocation does, on `drives` drawn.
fn choosing_costs_little(drives: u32, seed: u64) {
    let mut random = Random(seed);
    let drives: Vec<(Config, u32)> = (0..drives).map(|_| drawn(&mut random)).collect();
    drives.par_iter().for_each(|(config, depth)| {
        let over = over_static(config, *depth);
        assert!(over.iter().all(|&(_, over)| over < 1.3), "depth {depth}: {over:?} on {config:?}");
    });
}

#[test]
fn choosing_planes_costs_little_collection() {
    choosing_costs_little(6, 5);
}

#[test]
#[ignore = "nightly: 100 drives"]
fn choosing_planes_costs_little_collection_on_many_drives() {
    choosing_costs_little(100, 6);
}
