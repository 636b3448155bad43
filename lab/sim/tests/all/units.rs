//! Units of the map below a page, rows and superblocks (model 0.16): exact scenes, and rows of one page beside wordlines.

mod cached;
mod moved;
mod parts;

use crate::closed_form::amplification_beside_greedy;
use crate::common::play::{self, Mix, TestRequest, ends_under, events, flush, page};
use crate::common::{atomic, one_plane, recipe, table1};
use flashlane_core::Duration;
use flashlane_core::Op::{Read, Trim, Write};
use flashlane_core::event::{Event, Stamped};
use flashlane_scenario::Scenario;
use flashlane_sched::catalogue::{Question, Recipe, schedulers};
use flashlane_ssd::config::{Buffer, Config, Latency, PageTimes, Precondition};
use rand_pcg::Pcg64Mcg;

/// Array times, bus time of a logical page, ns.
const READ: u64 = 75_000;
const PROGRAM: u64 = 1_300_000;
const ERASE: u64 = 3_800_000;
const PAGE: u64 = 24_601;

/// The program of a row of which so many pages have data: these cross the bus.
const fn row(pages: u64) -> u64 {
    pages * PAGE + PROGRAM
}

/// `config` with rows of `slots` pages, blocks of six such rows, and a buffer that gathers pages as soon as they are written.
fn with_slots(slots: u32, config: Config) -> Config {
    let mut config = config;
    let pages = 6 * slots;
    (config.geometry.slots, config.geometry.pages_per_block) = (slots, pages);
    config.ftl.logical_pages = config.geometry.planes() * 40 * pages;
    config.buffer = Some(Buffer::plain(config.geometry.planes() * slots + 8, 0));
    config.check().expect("a legal device");
    config
}

/// The plane and the place of each page that is written, in this order.
fn written(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Vec<(u32, u16, u32)> {
    let place = |stamped: &Stamped| match stamped.event {
        Event::Mapped { lpn, plane, ppa } => Some((lpn.0, plane.0, ppa)),
        _ => None,
    };
    events(config, recipe, asks).iter().filter_map(place).collect()
}

/// Four pages of a row are one program of a single array time; the fifth is padded to a row of its own when a flush comes.
#[test]
fn a_row_is_one_program() {
    let config = with_slots(4, one_plane());
    let asks: Vec<TestRequest> = [5, 90, 2, 7, 8].map(|number| page(0, Write, number)).to_vec();
    let (done, totals) = ends_under(&config, &recipe("fcfs", &[]), &[asks.clone(), vec![flush(10_000)]].concat());
    assert_eq!(done[5], row(4) + row(1));
    assert_eq!((totals.user_programs, totals.padded), (5, Some(3)));
    let places = written(&config, &recipe("fcfs", &[]), &[asks, vec![flush(10_000)]].concat());
    assert_eq!(places, [(5, 0, 0), (90, 0, 1), (2, 0, 2), (7, 0, 3), (8, 0, 4)]);
}

/// The three rows of a wordline take one array time too; reads take that of their row.
#[test]
fn array_times_are_those_of_rows() {
    let mut config = with_slots(2, one_plane());
    let times = [40, 50, 60].map(Duration::from_us);
    (config.nand.one_shot_pages, config.ftl.logical_pages) = (3, 20 * 12);
    config.nand.read = Latency::ByPage(PageTimes::new(&times).expect("three times"));
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.check().expect("a legal device");
    let asks: Vec<TestRequest> = (0..6).map(|number| page(0, Write, number)).chain([flush(10)]).collect();
    let (done, _) = ends_under(&config, &recipe("fcfs", &[]), &asks);
    assert_eq!(done[6], row(6));
    for (number, time) in [(12, 40), (13, 40), (14, 50), (15, 50), (17, 60), (18, 40)] {
        let (done, _) = ends_under(&config, &recipe("fcfs", &[]), &[page(0, Read, number)]);
        assert_eq!(done[0], time * 1_000 + PAGE, "page {number}");
    }
}

/// Static allocation gives a plane the pages of a row before the next; pages at home on one plane share its rows whenever they come.
#[test]
fn a_stripe_gives_planes_whole_rows() {
    let config = with_slots(2, table1(1, 1));
    let asks: Vec<TestRequest> = [0, 2, 1, 3, 4].map(|number| page(0, Write, number)).to_vec();
    let places = written(&config, &recipe("fcfs", &[]), &[asks, vec![flush(10)]].concat());
    // Both rows are in one command, whose pages wait for the same offset; the rest is padded.
    assert_eq!(places, [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1), (4, 0, 2)]);
}

/// Where pages need not stay at home, the place decision names a plane for each row: what is written one after the other lies together.
#[test]
fn the_place_decision_is_asked_once_a_row() {
    let config = with_slots(2, table1(1, 1));
    let rotating = Recipe { answers: vec![(Question::Place, "rotate".to_owned())], ..recipe("fcfs", &[]) };
    let asks: Vec<TestRequest> = [40, 9, 13, 22, 31].map(|number| page(0, Write, number)).to_vec();
    let places = written(&config, &rotating, &[asks.clone(), vec![flush(10)]].concat());
    assert_eq!(places, [(40, 0, 0), (9, 0, 1), (13, 1, 0), (22, 1, 1), (31, 0, 2)]);
    // A page that is trimmed leaves room in its row for the next.
    let trimmed = [asks[0].clone(), TestRequest { op: Trim, ..asks[0].clone() }];
    let places = written(&config, &rotating, &[&trimmed[..], &asks[1..3], &[flush(10)]].concat());
    assert_eq!(places, [(9, 1, 0), (13, 1, 1)]);
}

/// Of a victim's twelve pages five are valid: with rows of two they take three reads and three programs, the last of which is padded, then the erase.
#[test]
fn collection_fills_rows() {
    let mut config = with_slots(2, one_plane());
    config.geometry.blocks_per_plane = 16;
    config.ftl.logical_pages = 9 * 12;
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.gc.start_blocks = 3;
    config.check().expect("a legal device");
    // Seven pages of each of seven blocks are written anew, with one more: 50 pages fill four free blocks and open the fifth.
    let numbers = (0..7).flat_map(|block| 12 * block..12 * block + 7).chain([84]);
    let asks: Vec<TestRequest> = numbers.map(|number| page(0, Write, number)).collect();
    let (mut chosen, mut moved, mut padded, mut erased) = (Vec::new(), 0, 0, Vec::new());
    for stamped in events(&config, &atomic("fcfs", &[]), &asks) {
        match stamped.event {
            Event::VictimChosen { block, valid, .. } => chosen.push((stamped.at.ns(), block, valid)),
            Event::Mapped { .. } if chosen.len() > erased.len() => moved += 1,
            Event::Padded { .. } => padded += 1,
            Event::Erased { .. } => erased.push(stamped.at.ns()),
            _ => {}
        }
    }
    let (begins, empties) = (24 * row(2), 3 * READ + 5 * PAGE + 2 * row(2) + row(1) + ERASE);
    let expected = [(begins, 0, 5), (begins + row(2) + empties, 1, 5)];
    assert_eq!(chosen[..2], expected);
    assert_eq!((erased[0], moved, padded), (begins + row(2) + empties, 5 * erased.len(), erased.len()));
}

/// On one plane a row of `n` pages is written as a wordline of `n` rows of one page is: every event is the same, under every scheduler. Only reads differ, where
/// several pages of a row are read together: requests have one page here, and collection moves pages at once.
#[test]
fn on_one_plane_slots_are_rows_of_a_wordline() {
    let mut collections = 0;
    for (seed, entry) in (0u64..).zip(schedulers()) {
        let free = vec![(Question::Collect, "free".to_owned())];
        let (recipe, slots) = (Recipe { answers: free, ..recipe(entry.name, &[]) }, 2 + seed as u32 % 3);
        let mut config = with_slots(slots, one_plane());
        config.geometry.blocks_per_plane = 24;
        config.ftl.logical_pages = 17 * config.pages_that_fill_a_block();
        config.precondition = Precondition::Steady;
        config.nand.one_shot_wait = (seed % 2 == 0).then(|| Duration::from_us(500));
        let mix = Mix { requests: 400, gap: 600_000, reads: 30, pages: 1, hot: 50, partial: 10, scattered: 20 };
        let mut rng = Pcg64Mcg::new(u128::from(seed) | 1 << 64);
        let mut asks = play::asks(&config, &mix, &mut rng);
        play::with_commands(&mut asks, 20, &mut rng);
        let in_rows = events(&config, &recipe, &asks);
        (config.geometry.slots, config.nand.one_shot_pages) = (1, slots);
        assert_eq!(events(&config, &recipe, &asks), in_rows, "{}", entry.name);
        collections += in_rows.iter().filter(|stamped| matches!(stamped.event, Event::Erased { .. })).count();
    }
    assert!(collections > 500, "{collections} erases are too few");
}

/// 512 superblocks of 1,024 pages on a die of four planes, uniform writes, greedy: as the balance equations say for blocks of that size.
#[test]
fn write_amplification_of_superblocks() {
    for share in [0.75, 0.85, 0.92] {
        let text = format!(
            "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 1\nchips_per_channel = 1\nplanes_per_die = 4\n\
             pages_per_block = 256\nblocks_per_plane = 512\n[device.ftl]\nsuperblock = \"die\"\nuser_bytes = {}\n\
             [device.buffer]\npages = 16\nwrite_back = true\nmerge_writes = true\nflush_above = 0\n\
             [device.gc]\nstart_blocks = 4\nhard_blocks = 1\n[[flow]]\nsynthetic = {{ requests = 1, rate_iops = 1 }}\n",
            (512.0 * 1024.0 * share) as u64 * 8192
        );
        let scenario = Scenario::parse("s.toml", text).expect("a good scenario");
        let config = scenario.device_config().expect("a good device");
        let live = u64::from(config.ftl.logical_pages);
        assert_eq!((config.geometry.planes(), config.geometry.pages_per_block, config.geometry.slots), (1, 1024, 4));
        let (measured, theory) = amplification_beside_greedy(&config, 3 * live / 2, 3 * live);
        println!("share {share}: write amplification {measured:.4}, theory {theory:.4}");
        assert!((measured / theory - 1.0).abs() < 0.03, "share {share}: {measured} against {theory}");
    }
}
