//! The SLC cache (model 0.14): exact scenes, the cliff and the rate after it by arithmetic, and a plain model of random writes.

mod model;

use crate::common::play::{self, TestRequest, Touch, Wake, flush};
use crate::common::{device, drain, ends, one_plane, recipe, scene, slc_cache, table1};
use flashlane_core::Op::{Read, Trim, Write};
use flashlane_core::event::{End, Event};
use flashlane_core::{Duration, Lpn, Op, Owner, Time};
use flashlane_sched::catalogue::{Question, Recipe};
use flashlane_ssd::config::{Buffer, Config, FullCache, Mapping, Precondition, SlcCache};
use flashlane_ssd::{SlcTotals, Totals};

/// Array times in SLC mode, ns; a third or so of the others.
const READ: u64 = 25_000;
const PROGRAM: u64 = 200_000;
const ERASE: u64 = 2_000_000;
/// Those of native cells.
const NATIVE_READ: u64 = 75_000;
const NATIVE_PROGRAM: u64 = 1_300_000;
/// Bus time of a page.
const PAGE: u64 = 24_601;
/// Pages of a block in SLC mode.
const PAGES: u64 = 4;
const WRITE: u64 = PAGE + PROGRAM;
const DIRECT: u64 = PAGE + NATIVE_PROGRAM;
/// A page is read in SLC mode, crosses the bus twice and is programmed in native cells.
const MOVE: u64 = READ + 2 * PAGE + NATIVE_PROGRAM;
const FOLD: u64 = PAGES * MOVE + ERASE;

/// One plane of 64 blocks of 12 pages, the last `static_blocks` in SLC mode with 4 pages each.
fn config(static_blocks: u32, full: FullCache, idle: Option<u64>) -> Config {
    let mut config = one_plane();
    config.geometry.pages_per_block = 12;
    config.ftl.logical_pages = 480;
    config.slc = Some(SlcCache { idle: idle.map(Duration::from_ns), full, ..slc_cache(static_blocks, 3) });
    config.check().expect("a legal device");
    config
}

/// Writes of one page each that arrive at `at`.
fn burst(at: u64, pages: std::ops::Range<u32>) -> Vec<TestRequest> {
    let write = |page| TestRequest { at, flow: 0, op: Write, touch: Touch::Pages(vec![Lpn(page)]) };
    pages.map(write).collect()
}

fn request(at: u64, op: Op, page: u32) -> TestRequest {
    TestRequest { at, flow: 0, op, touch: Touch::Pages(vec![Lpn(page)]) }
}

/// First come, first served, with this answer to the collect question.
fn fcfs(collect: &str) -> Recipe {
    let mut fcfs = recipe("fcfs", &[]);
    fcfs.answers.push((Question::Collect, collect.to_owned()));
    fcfs
}

/// The ends of requests in the order in which they were sent, audited, and what the cache did.
fn run(config: &Config, collect: &str, asks: &[TestRequest]) -> (Vec<u64>, SlcTotals) {
    let (ends, totals) = totals(config, collect, asks);
    (ends, totals.slc.expect("a device with a cache"))
}

fn totals(config: &Config, collect: &str, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    let recipe = fcfs(collect);
    let (result, _) = play::audit(config, &recipe, asks).unwrap_or_else(|why| panic!("{why}"));
    let unwatched = play::play(config, &recipe, asks, Wake::Spare(3));
    assert_eq!(unwatched.completions, result.completions, "{collect}: spare wake-ups and the auditor change nothing");
    let mut ends = vec![0; asks.len()];
    result.completions.iter().for_each(|c| ends[c.id.0 as usize] = c.done.ns());
    (ends, result.totals)
}

fn trim(at: u64, pages: std::ops::Range<u32>) -> TestRequest {
    TestRequest { at, flow: 0, op: Trim, touch: Touch::Pages(pages.map(Lpn).collect()) }
}

/// A burst that fits runs at the speed of SLC mode, and its pages are read at that speed; what was there before is not.
#[test]
fn a_burst_into_the_cache() {
    let mut config = config(3, FullCache::Fold, None);
    config.precondition = Precondition::Filled { per_mille: 1000 };
    let mut asks = burst(0, 0..12);
    asks.extend([request(5_000_000, Read, 3), request(6_000_000, Read, 20)]);
    let (ends, slc) = run(&config, "atomic", &asks);
    assert_eq!(ends[..12], (1..=12).map(|n| n * WRITE).collect::<Vec<_>>());
    assert_eq!(ends[12..], [5_000_000 + READ + PAGE, 6_000_000 + NATIVE_READ + PAGE]);
    assert_eq!(slc, SlcTotals { programs: 12, valid: 12, ..SlcTotals::default() });
}

/// Behind the cliff every block is folded before the next pages are written there: the thirteenth write waits for a fold.
#[test]
fn the_cliff_with_folds() {
    let (ends, slc) = run(&config(3, FullCache::Fold, None), "atomic", &burst(0, 0..24));
    let end = |n: u64| n * WRITE + n.saturating_sub(3 * PAGES).div_ceil(PAGES) * FOLD;
    assert_eq!(ends, (1..=24).map(end).collect::<Vec<_>>());
    assert_eq!(slc, SlcTotals { programs: 24, folds: 3, folded: 12, valid: 12, ..SlcTotals::default() });
}

/// Behind the cliff writes run at the speed of native cells.
#[test]
fn the_cliff_with_direct_writes() {
    let (ends, slc) = run(&config(3, FullCache::Direct, None), "atomic", &burst(0, 0..24));
    let end = |n: u64| n.min(3 * PAGES) * WRITE + n.saturating_sub(3 * PAGES) * DIRECT;
    assert_eq!(ends, (1..=24).map(end).collect::<Vec<_>>());
    assert_eq!(slc, SlcTotals { programs: 12, direct: 12, valid: 12, ..SlcTotals::default() });
}

/// The rate after the cliff, over a thousand writes, is that of a block's writes and its fold, until native blocks must be collected.
#[test]
fn the_sustained_rate_follows_from_the_times() {
    let pages = 400;
    let (ends, _) = run(&config(10, FullCache::Fold, None), "atomic", &burst(0, 0..pages));
    let in_cache = 10 * PAGES as usize;
    assert!(ends[..in_cache].windows(2).all(|pair| pair[1] - pair[0] == WRITE));
    assert_eq!(ends[in_cache] - ends[in_cache - 1], FOLD + WRITE, "the cliff is where the cache is full");
    let (last, blocks) = (ends.len() - 1, (ends.len() - in_cache) as u64 / PAGES);
    assert_eq!(ends[last] - ends[in_cache - 1], blocks * (PAGES * WRITE + FOLD));
}

/// After the idle time full blocks are folded one after the other, also the one that became full last; a block that is not full stays.
#[test]
fn folding_after_the_idle_time() {
    let idle = 3_000_000;
    let config = config(3, FullCache::Fold, Some(idle));
    let mut device = device(&config, &fcfs("atomic"));
    device.report_events();
    let lines: Vec<_> = (0..10u32).map(|page| [page]).collect();
    let lines: Vec<_> = lines.iter().map(|page| (0, Write, &page[..])).collect();
    scene(&mut device, &lines);
    drain(&mut device);
    let begins = 10 * WRITE + idle;
    let erased: Vec<_> =
        device.events().iter().filter(|e| matches!(e.event, Event::Erased { .. })).map(|e| e.at.ns()).collect();
    assert_eq!(erased, [begins + FOLD, begins + 2 * FOLD]);
    let totals = device.totals().slc.expect("a cache");
    assert_eq!(totals, SlcTotals { programs: 10, folds: 2, folded: 8, valid: 2, ..SlcTotals::default() });
}

/// A transaction within the idle time puts folding off.
#[test]
fn the_idle_time_counts_from_the_last_transaction() {
    let config = config(3, FullCache::Fold, Some(3_000_000));
    let mut asks = burst(0, 0..4);
    asks.push(request(3_000_000, Read, 0));
    let mut device = device(&config, &fcfs("atomic"));
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        play::hand_over(&mut device, id as u64, ask);
    }
    drain(&mut device);
    let chosen = device.events().iter().find(|e| matches!(e.event, Event::VictimChosen { .. })).expect("a fold");
    assert_eq!(chosen.at.ns(), 3_000_000 + READ + PAGE + 3_000_000);
}

/// Nor does an idle time that a further transaction cut short end in a fold, where the one after it is not awaited any more.
#[test]
fn an_idle_time_beyond_the_last_is_none() {
    let mut device = device(&config(3, FullCache::Fold, Some(2 * WRITE)), &fcfs("atomic"));
    for (id, ask) in burst(0, 0..5).iter().enumerate() {
        play::hand_over(&mut device, id as u64, ask);
    }
    device.advance(Time::from_ns(4 * WRITE + 1));
    // Two writes after the end of the fourth; the fifth is under way.
    device.end_idle_time(Time::from_ns(6 * WRITE));
    drain(&mut device);
    let slc = SlcTotals { programs: 5, valid: 5, ..SlcTotals::default() };
    assert_eq!(device.totals().slc, Some(slc), "nothing is folded one write after the last");
}

/// When each page is erased and each read ends, as the collect answer says: two reads come during the first move of a fold.
#[test]
fn user_transactions_interrupt_folding_as_the_collect_answer_says() {
    let config = config(3, FullCache::Fold, Some(3_000_000));
    let begins = 4 * WRITE + 3_000_000;
    let mut asks = burst(0, 0..4);
    asks.extend([request(begins + 1, Read, 0), request(begins + 2, Read, 1)]);
    // Non-preemptive collection folds the block to its end; page 0 lies in native cells by then.
    let (ends, _) = run(&config, "atomic", &asks);
    assert_eq!(ends[4..], [NATIVE_READ + PAGE, 2 * (NATIVE_READ + PAGE)].map(|after| begins + FOLD + after));
    // Semi-preemptive collection lets the reads go between its steps: after the read of the first page, which has not moved yet.
    let (ends, slc) = run(&config, "semi-preemptive", &asks);
    assert_eq!(ends[4..], [1, 2].map(|n| begins + (n + 1) * (READ + PAGE)));
    assert_eq!(slc, SlcTotals { programs: 4, folds: 1, folded: 4, ..SlcTotals::default() });
}

/// A read of a page that has been folded is one of native cells.
#[test]
fn a_read_in_the_cache_and_after_the_fold() {
    let config = config(3, FullCache::Fold, Some(1_000_000));
    let mut asks = burst(0, 0..4);
    asks.extend([request(1_500_000, Read, 2), request(50_000_000, Read, 2)]);
    let (ends, _) = run(&config, "atomic", &asks);
    assert_eq!(ends[4..], [1_500_000 + READ + PAGE, 50_000_000 + NATIVE_READ + PAGE]);
}

/// A page that is overwritten after its fold began is not moved: of a block of four pages three are.
#[test]
fn an_overwritten_page_makes_its_fold_stale() {
    let config = config(3, FullCache::Fold, Some(1_000_000));
    let begins = 4 * WRITE + 1_000_000;
    let mut asks = burst(0, 0..4);
    asks.push(request(begins + 1, Write, 3));
    let mut device = device(&config, &fcfs("semi-preemptive"));
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        play::hand_over(&mut device, id as u64, ask);
    }
    drain(&mut device);
    let stale = |e: &&flashlane_core::event::Stamped| matches!(e.event, Event::Ended { end: End::Stale, .. });
    assert_eq!(device.events().iter().filter(stale).count(), 1);
    let folds = |e: &&flashlane_core::event::Stamped| matches!(e.event, Event::Queued { owner: Owner::Fold, .. });
    assert_eq!(device.events().iter().filter(folds).count(), 4 + 3 + 1, "four reads, three programs, the erase");
    let slc = device.totals().slc.expect("a cache");
    assert_eq!(slc, SlcTotals { programs: 5, folds: 1, folded: 3, valid: 1, ..SlcTotals::default() });
    run(&config, "semi-preemptive", &asks);
}

/// With free collection, folding takes no time: a full cache costs nothing.
#[test]
fn free_collection_folds_in_no_time() {
    let config = config(1, FullCache::Fold, None);
    let lines: Vec<_> = (0..9u32).map(|page| [page]).collect();
    let lines: Vec<_> = lines.iter().map(|page| (0, Write, &page[..])).collect();
    assert_eq!(ends(&config, &fcfs("free"), &lines), (1..=9).map(|n| n * WRITE).collect::<Vec<_>>());
}

/// Free blocks beyond `gc.start` are in the cache: with 20 free blocks of which collection wants 3, 17.
#[test]
fn a_dynamic_cache_takes_the_spare_blocks() {
    let mut config = config(1, FullCache::Direct, None);
    config.geometry.blocks_per_plane = 20;
    config.ftl.logical_pages = 100;
    let slc = config.slc.as_mut().expect("a cache");
    (slc.static_blocks, slc.dynamic) = (0, true);
    let (ends, slc) = run(&config, "atomic", &burst(0, 0..70));
    let in_cache = 17 * PAGES;
    let end = |n: u64| n.min(in_cache) * WRITE;
    assert_eq!(ends[..68], (1..=68).map(end).collect::<Vec<_>>());
    // The first direct write opens a native block and the first fold another, so two blocks of the cache give way; folding goes first.
    let first = in_cache * WRITE + DIRECT;
    assert_eq!(ends[68..], [first, first + 2 * FOLD + DIRECT]);
    assert_eq!(slc, SlcTotals { programs: 68, direct: 2, folds: 2, folded: 8, valid: 60 });
}

/// A drive whose cache is what is free: with 64 free blocks of which collection wants 3, 61. Behind the cliff a fold gives a block back and takes a
/// third of one for its pages, so that of three folds two blocks are won: blocks of writes wait for two folds and for one in turn.
#[test]
fn the_sustained_rate_of_a_dynamic_cache_with_folds() {
    let mut config = config(1, FullCache::Fold, None);
    let slc = config.slc.as_mut().expect("a cache");
    (slc.static_blocks, slc.dynamic) = (0, true);
    let in_cache = 61 * PAGES;
    let (ends, slc) = run(&config, "atomic", &burst(0, 0..480));
    let folds = |n: u64| (3 * n.saturating_sub(in_cache).div_ceil(PAGES)).div_ceil(2);
    assert_eq!(ends, (1..=480).map(|n| n * WRITE + folds(n) * FOLD).collect::<Vec<_>>());
    assert_eq!(
        slc,
        SlcTotals { programs: 480, folds: 89, folded: 4 * 89, valid: 480 - 4 * 89, ..SlcTotals::default() }
    );
}

/// At most ten dynamic blocks of a plane: the cliff is behind 40 pages, though more blocks are free, and a fold makes space for a block.
#[test]
fn a_limited_dynamic_cache() {
    let mut config = config(1, FullCache::Fold, None);
    let slc = config.slc.as_mut().expect("a cache");
    (slc.static_blocks, slc.dynamic, slc.dynamic_limit) = (0, true, 10);
    let in_cache = 10 * PAGES;
    let behind = |n: u64| n.saturating_sub(in_cache);
    let (ends, slc) = run(&config, "atomic", &burst(0, 0..300));
    assert_eq!(ends, (1..=300).map(|n| n * WRITE + behind(n).div_ceil(PAGES) * FOLD).collect::<Vec<_>>());
    assert_eq!(slc, SlcTotals { programs: 300, folds: 65, folded: 260, valid: 40, ..SlcTotals::default() });
    config.slc.as_mut().expect("a cache").full = FullCache::Direct;
    let (ends, slc) = run(&config, "atomic", &burst(0, 0..300));
    assert_eq!(ends, (1..=300).map(|n| n.min(in_cache) * WRITE + behind(n) * DIRECT).collect::<Vec<_>>());
    assert_eq!(slc, SlcTotals { programs: 40, direct: 260, valid: 40, ..SlcTotals::default() });
    // Beside static blocks these are filled first.
    let slc = config.slc.as_mut().expect("a cache");
    (slc.static_blocks, slc.dynamic_limit) = (2, 3);
    let (_, slc) = run(&config, "atomic", &burst(0, 0..300));
    assert_eq!(slc, SlcTotals { programs: 20, direct: 280, valid: 20, ..SlcTotals::default() });
}

/// Writes that may go to any plane, one after the other or all at once: each plane folds what it was given, and both are given as much.
#[test]
fn planes_fold_for_writes_that_have_none() {
    let mut config = table1(1, 1);
    config.geometry.pages_per_block = 12;
    config.ftl.logical_pages = 960;
    config.slc = Some(slc_cache(1, 3));
    config.check().expect("a legal device");
    for (name, gap) in ["late", "dynalloc"].into_iter().flat_map(|name| [(name, 0), (name, 100 * MS)]) {
        let asks: Vec<TestRequest> = (0..400).map(|n| request(n * gap, Write, n as u32)).collect();
        let (result, _) = play::audit(&config, &recipe(name, &[]), &asks).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(result.totals.slc.map(|slc| (slc.programs, slc.direct)), Some((400, 0)));
        let mut folds = [0; 2];
        for stamped in play::events(&config, &recipe(name, &[]), &asks) {
            if let Event::VictimChosen { plane, .. } = stamped.event {
                folds[plane.index()] += 1;
            }
        }
        assert!(folds.iter().all(|&folds| folds == 49 || folds == 50), "{name}, every {gap} ns: {folds:?}");
    }
}

// Beside trims, a buffer and a map that does not fit.

const MEMORY: u64 = 1_000;
const MS: u64 = 1_000_000;
const FROM_NATIVE: u64 = NATIVE_READ + PAGE;
const FROM_SLC: u64 = READ + PAGE;

/// Pages that are trimmed need no move: of the block that a write waits for none is left, of a block that is folded in idle time one. The trim
/// does not put the idle time off.
#[test]
fn trimmed_pages_are_not_folded() {
    let asks = [burst(0, 0..4), vec![trim(MS, 0..4), request(2 * MS, Write, 9)]].concat();
    let (ends, slc) = run(&config(1, FullCache::Fold, None), "atomic", &asks);
    assert_eq!(ends[4..], [MS, 2 * MS + ERASE + WRITE]);
    assert_eq!(slc, SlcTotals { programs: 5, folds: 1, valid: 1, ..SlcTotals::default() });
    let idle = 3 * MS;
    let begins = 4 * WRITE + idle;
    let asks = [burst(0, 0..4), vec![trim(MS, 0..3), request(begins + 1, Read, 3)]].concat();
    let (ends, slc) = run(&config(1, FullCache::Fold, Some(idle)), "atomic", &asks);
    assert_eq!(ends[5], begins + MOVE + ERASE + FROM_NATIVE);
    assert_eq!(slc, SlcTotals { programs: 4, folds: 1, folded: 1, ..SlcTotals::default() });
}

/// A flush behind the cliff waits for the fold that its fifth page needs; before it, it takes programs in SLC mode.
#[test]
fn a_flush_waits_for_the_fold_that_its_pages_need() {
    let mut config = config(1, FullCache::Fold, None);
    config.buffer = Some(Buffer::plain(8, 8));
    let asks = [burst(0, 0..3), vec![flush(10_000)], burst(MS, 3..6), vec![flush(MS + 10_000)]].concat();
    let (ends, slc) = run(&config, "atomic", &asks);
    assert_eq!([ends[2], ends[5]], [MEMORY, MS + MEMORY]);
    assert_eq!([ends[3], ends[7]], [10_000 + 3 * WRITE, MS + 10_000 + 3 * WRITE + FOLD]);
    assert_eq!(slc, SlcTotals { programs: 6, folds: 1, folded: 4, valid: 2, ..SlcTotals::default() });
    config.slc.as_mut().expect("a cache").full = FullCache::Direct;
    let (ends, _) = run(&config, "atomic", &asks);
    assert_eq!(ends[7], MS + 10_000 + WRITE + 2 * DIRECT);
}

/// A full drive of which memory holds two entries of the map, four to a translation page.
fn little_of_the_map(static_blocks: u32) -> Config {
    let mut config = config(static_blocks, FullCache::Fold, None);
    config.precondition = Precondition::Filled { per_mille: 1000 };
    let read_bytes = config.geometry.page_bytes;
    let mapping = Mapping { entries: 2, host_entries: 0, entries_per_page: 4, entry_bytes: 4, read_bytes, warm: false };
    config.mapping = Some(mapping);
    config
}

/// Translation pages are written to the cache too, and read there. That of page 0 is written anew behind the write of page 8, that of page 4
/// behind the read of page 0, that of page 8 behind the read of page 4.
#[test]
fn translation_pages_go_to_the_cache() {
    let lines = [(0, Write, 0), (5 * MS, Write, 4), (10 * MS, Write, 8), (12 * MS, Read, 0), (20 * MS, Read, 4)];
    let asks = lines.map(|(at, op, page)| request(at, op, page));
    let (ends, totals) = totals(&little_of_the_map(3), "atomic", &asks);
    let responses: Vec<u64> = ends.iter().zip(lines).map(|(end, line)| end - line.0).collect();
    assert_eq!(responses[..3], [FROM_NATIVE + WRITE; 3]);
    assert_eq!(responses[3..], [2 * FROM_SLC; 2]);
    assert_eq!(totals.slc, Some(SlcTotals { programs: 6, valid: 6, ..SlcTotals::default() }));
    assert_eq!((totals.user_programs, totals.mapping_programs), (3, 3));
    assert_eq!(totals.mapping.map(|mapping| (mapping.misses, mapping.reads)), Some((5, 8)));
}

/// All at once. The trim leaves the first flush pages 0 and 8, whose entries are read one after the other; it made the entry of page 4 dirty,
/// which makes room for that of page 8: its translation page is the third in the cache. For the second flush the entry of page 1 is read
/// in native cells and that of page 5 in the cache. Page 1 is the fourth there, and page 5 waits for a fold: of pages 0, 8 and 1 and of the
/// translation page. It is older than the read of the translation page that is written anew for page 0.
#[test]
fn a_flush_behind_trims_misses_and_a_fold() {
    let mut config = little_of_the_map(1);
    config.buffer = Some(Buffer::plain(8, 8));
    let asks = [
        request(0, Write, 0),
        request(0, Write, 4),
        request(0, Write, 8),
        trim(5_000, 4..5),
        flush(10_000),
        request(10 * MS, Write, 1),
        request(10 * MS, Write, 5),
        flush(10 * MS + 10_000),
    ];
    let (ends, totals) = totals(&config, "atomic", &asks);
    assert_eq!(ends[..4], [MEMORY, MEMORY, MEMORY, 5_000]);
    assert_eq!(ends[4], 10_000 + 2 * FROM_NATIVE + 2 * WRITE);
    let second = FROM_NATIVE + FROM_SLC + WRITE + FOLD + WRITE;
    assert_eq!(ends[7], 10 * MS + 10_000 + second);
    assert_eq!((totals.user_programs, totals.unmapped), (4, 1));
}
