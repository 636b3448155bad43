//! One-shot programs behind an SLC cache that is passed by when it is full (model 0.15): exact scenes.

use super::{ERASE, MEMORY, PAGE, READ, drive, programs, wordline};
use crate::common::play::{burst, ends, flush, fua, page};
use crate::common::{slc_cache, table1};
use flashlane_core::Duration;
use flashlane_core::Op::{Read, Trim};
use flashlane_ssd::config::{Buffer, Config, FullCache, Mapping, Precondition, SlcCache};
use flashlane_ssd::{SlcTotals, Totals};

/// Times in SLC mode, and the longest time without a transaction, ns.
pub(super) const SLC_READ: u64 = 25_000;
pub(super) const SLC_PROGRAM: u64 = 200_000;
pub(super) const SLC_ERASE: u64 = 2_000_000;
const IDLE: u64 = 3_000_000;
const MS: u64 = 1_000_000;
/// A page goes to the cache.
const CACHED: u64 = PAGE + SLC_PROGRAM;
/// The four pages of a block in SLC mode are folded: to a wordline, and to one with two pads.
const FOLD: u64 = 4 * (SLC_READ + PAGE) + wordline(3) + wordline(1) + SLC_ERASE;

/// The drive of the other scenes behind a cache of one block of four pages.
pub(super) fn cached() -> Config {
    let mut config = drive();
    config.slc = Some(SlcCache { full: FullCache::Direct, ..slc_cache(1, 3) });
    config.buffer = Some(Buffer::plain(8, 0));
    config.check().expect("a legal device");
    config
}

/// The same, folded after the idle time.
fn folded() -> Config {
    let mut config = cached();
    config.slc.iter_mut().for_each(|slc| slc.idle = Some(Duration::from_ns(IDLE)));
    config
}

/// Pages programmed in SLC mode, and by the host in native cells.
fn cells(totals: &Totals) -> (u64, u64) {
    let SlcTotals { programs, direct, .. } = totals.slc.expect("a device with a cache");
    (programs, direct)
}

/// Four pages go to the cache one by one; the next three are a wordline, of which a flush pads one that lacks a page.
#[test]
fn a_full_cache_lets_wordlines_pass() {
    let (done, totals) = ends(&cached(), &[burst(0, 0..7), vec![flush(10_000)]].concat());
    assert_eq!(done[..7], [MEMORY; 7]);
    assert_eq!(done[7], 4 * CACHED + wordline(3));
    assert_eq!((programs(&totals), cells(&totals)), ((7, Some(0)), (4, 3)));
    let (done, totals) = ends(&cached(), &[burst(0, 0..6), vec![flush(10_000)]].concat());
    assert_eq!(done[6], 4 * CACHED + wordline(2));
    assert_eq!((programs(&totals), cells(&totals)), ((6, Some(1)), (4, 2)));
    // Without a flush two pages stay in the buffer.
    let (_, totals) = ends(&cached(), &burst(0, 0..6));
    assert_eq!((totals.user_programs, cells(&totals)), (4, (4, 0)));
    // Or for 500 us at most.
    let mut config = cached();
    config.nand.one_shot_wait = Some(Duration::from_us(500));
    let (_, totals) = ends(&config, &burst(0, 0..6));
    assert_eq!((programs(&totals).0, cells(&totals)), (6, (4, 2)));
}

/// The cliff is where the cache is full, and the rate behind it is that of wordlines: the last of eighty ends when forty pages of the cache and eighty
/// wordlines have been programmed, one behind the other.
#[test]
fn the_cliff_and_the_rate_behind_it() {
    let mut config = cached();
    config.slc.iter_mut().for_each(|slc| slc.static_blocks = 10);
    config.buffer = Some(Buffer::plain(12, 0));
    config.check().expect("a legal device");
    let (cache, wordlines) = (40, 80);
    let (cliff, all) = (cache * CACHED, cache * CACHED + wordlines * wordline(3));
    let writes = burst(0, 0..cache + 3 * wordlines);
    let (done, totals) = ends(&config, &[writes, vec![flush(all - 10_000)]].concat());
    // A write has a page of the buffer when the one twelve writes before has been programmed.
    let n = |pages: u64| pages as usize;
    assert_eq!(done[n(cache + 11)], cliff + MEMORY);
    assert_eq!(done[n(cache + 12)..n(cache + 15)], [cliff + wordline(3) + MEMORY; 3]);
    assert_eq!(done[n(cache + 3 * wordlines)], all);
    assert_eq!((programs(&totals), cells(&totals)), ((280, Some(0)), (40, 240)));
}

/// A write with FUA pads the wordline of its page, unless pages of its instant fill it.
#[test]
fn a_write_with_fua_behind_a_full_cache() {
    let (done, totals) = ends(&cached(), &[burst(0, 0..4), vec![fua(10_000, 9)]].concat());
    assert_eq!((done[4], programs(&totals), cells(&totals)), (4 * CACHED + wordline(1), (5, Some(2)), (4, 1)));
    let (done, totals) = ends(&cached(), &[burst(0, 0..4), vec![fua(10_000, 9)], burst(10_000, [5, 6])].concat());
    assert_eq!((done[4], programs(&totals), cells(&totals)), (4 * CACHED + wordline(3), (7, Some(0)), (4, 3)));
    // In the cache it waits for its own page.
    let (done, _) = ends(&cached(), &[fua(0, 9)]);
    assert_eq!(done, [CACHED]);
}

/// The page that has waited long enough takes the last page of the cache; the two that came later are padded all the same.
#[test]
fn a_page_that_is_due_leaves_younger_ones_to_be_padded() {
    let mut config = folded();
    (config.nand.one_shot_pages, config.geometry.pages_per_block) = (4, 16);
    config.slc.iter_mut().for_each(|slc| slc.bits = 4);
    config.nand.one_shot_wait = Some(Duration::from_ns(20 * MS));
    config.check().expect("a legal device");
    let writes = [burst(0, 0..5), burst(2 * MS, 5..7), burst(19 * MS, 7..10)].concat();
    let (_, totals) = ends(&config, &writes);
    assert_eq!(
        (cells(&totals), totals.padded),
        ((8, 2), Some(2)),
        "four pages and four go to the cache, folded in between"
    );
}

/// Once the block has been folded the cache has pages again: later writes go there, and what was gathered does when its wordline would be padded.
/// A wordline that was made before goes to native cells.
#[test]
fn pages_of_the_cache_become_free_while_others_are_gathered() {
    let begins = 4 * CACHED + IDLE;
    let after = begins + FOLD + 10;
    let (done, totals) = ends(&folded(), &[burst(0, 0..6), vec![flush(after)]].concat());
    assert_eq!((done[6], programs(&totals), cells(&totals)), (after + 2 * CACHED, (6, Some(2)), (6, 0)));
    let (done, totals) = ends(&folded(), &[burst(0, 0..6), burst(after, [7]), vec![flush(after + MS)]].concat());
    assert_eq!((done[7], programs(&totals), cells(&totals)), (after + MS + 2 * CACHED, (7, Some(2)), (7, 0)));
    // Three pages go there, and the fourth is the last for the two that are gathered.
    let three = [burst(0, 0..6), burst(after, 7..10), vec![flush(after + MS)]].concat();
    let (done, totals) = ends(&folded(), &three);
    assert_eq!((done[9], cells(&totals)), (after + MS + CACHED + wordline(1), (8, 1)));
    let (done, totals) = ends(&folded(), &[burst(0, 0..6), vec![flush(begins + 1)]].concat());
    assert_eq!((done[6], programs(&totals), cells(&totals)), (begins + FOLD + wordline(2), (6, Some(3)), (4, 2)));
}

/// A page that is trimmed while it is gathered makes space for another, and one that waits for the cache leaves its page there to another.
#[test]
fn trimmed_pages_behind_a_full_cache() {
    let asks = [burst(0, 0..6), vec![page(10, Trim, 4)], burst(20, [6, 7]), vec![flush(30)]].concat();
    let (done, totals) = ends(&cached(), &asks);
    assert_eq!((done[9], totals.user_programs, cells(&totals)), (4 * CACHED + wordline(3), 7, (4, 3)));
    let asks = [vec![page(0, Read, 100)], burst(10, 0..4), vec![page(20, Trim, 2)], burst(30, [5, 6])].concat();
    let (done, totals) = ends(&cached(), &[asks, vec![flush(40)]].concat());
    assert_eq!(done[8], READ + PAGE + 4 * CACHED + wordline(1));
    assert_eq!((cells(&totals), totals.trimmed_writes), ((4, 1), 1));
}

/// A page that is written again while it is gathered is programmed once; one that waits for the cache is written once more afterwards.
#[test]
fn rewritten_pages_behind_a_full_cache() {
    let (done, totals) = ends(&cached(), &[burst(0, [0, 1, 2, 3, 4, 5, 4]), vec![flush(10_000)]].concat());
    assert_eq!((done[7], programs(&totals), cells(&totals)), (4 * CACHED + wordline(2), (6, Some(1)), (4, 2)));
    let (done, totals) = ends(&cached(), &[burst(0, [0, 1, 2, 3, 0]), vec![flush(10_000)]].concat());
    assert_eq!((done[5], programs(&totals).0, cells(&totals)), (4 * CACHED + wordline(1), 5, (4, 1)));
}

/// A page for the cache and a wordline of the other plane share no command; two pages for the cache do.
#[test]
fn a_command_works_cells_of_one_kind() {
    let mut config = table1(1, 1);
    config.geometry.pages_per_block = 12;
    config.ftl.logical_pages = 480;
    config.nand.one_shot_pages = 3;
    config.slc = Some(SlcCache { full: FullCache::Direct, ..slc_cache(1, 3) });
    config.buffer = Some(Buffer::plain(12, 0));
    let (done, totals) = ends(&config, &[burst(0, 0..8), vec![flush(10)]].concat());
    // The first page goes at once, and its fellow with none; then three pairs in step, of which the fourth page of a plane is the last.
    assert_eq!(cells(&totals), (8, 0));
    assert!(done[8] < 6 * CACHED, "{done:?}");
    let asks = [burst(0, [0, 2, 4, 6]), vec![fua(10, 8), fua(10, 1)]].concat();
    let (done, totals) = ends(&config, &asks);
    assert_eq!((done[5], done[4]), (5 * CACHED, 5 * CACHED + wordline(1)));
    assert_eq!((programs(&totals), cells(&totals)), ((6, Some(2)), (5, 1)));
}

/// A drive filled to 100 % whose map lies on the flash, with four entries a translation page.
fn with_a_map(entries: u32) -> Config {
    let mut config = cached();
    config.ftl.logical_pages = 400;
    config.precondition = Precondition::Filled { per_mille: 1000 };
    let read_bytes = config.geometry.page_bytes;
    config.mapping =
        Some(Mapping { entries, host_entries: 0, entries_per_page: 4, entry_bytes: 4, read_bytes, warm: false });
    config.check().expect("a legal device");
    config
}

/// A wordline waits for the entries of all its pages, which are looked up when it is made; not for that of a page that is trimmed meanwhile.
#[test]
fn a_wordline_waits_for_its_entries() {
    let found = READ + PAGE;
    let (at, three) = (10 * MS, burst(10 * MS, [4, 8, 5]));
    let before = burst(0, 0..4);
    let (done, totals) = ends(&with_a_map(100), &[before.clone(), three.clone(), vec![flush(at + 10)]].concat());
    assert_eq!(done[7], at + 2 * found + wordline(3));
    assert_eq!((programs(&totals), cells(&totals)), ((7, Some(0)), (4, 3)));
    for trimmed in [4, 8, 5] {
        let asks = [before.clone(), three.clone(), vec![flush(at + 10), page(at + 20, Trim, trimmed)]].concat();
        let (done, totals) = ends(&with_a_map(100), &asks);
        // Without page 8 the wordline is older than the read of that page's entry.
        let entries = if trimmed == 8 { 1 } else { 2 };
        assert_eq!((done[7], totals.trimmed_writes), (at + entries * found + wordline(2), 1), "{trimmed}");
        assert_eq!((programs(&totals), cells(&totals)), ((6, Some(1)), (4, 2)));
    }
    let asks = [before, three, vec![flush(at + 10)], [4, 8, 5].map(|n| page(at + 20, Trim, n)).to_vec()].concat();
    let (_, totals) = ends(&with_a_map(100), &asks);
    assert_eq!((programs(&totals), totals.trimmed_writes), ((4, Some(0)), 3), "nothing is left of the wordline");
}

/// The entries of pages 0 to 3 are dirty and make room for that of page 16: their translation page finds the cache full and shares the wordline of
/// the two pages that are gathered, once their entries have been read too.
#[test]
fn a_translation_page_shares_a_wordline() {
    let found = READ + PAGE;
    let at = 30 * MS;
    let reads = vec![page(20 * MS, Read, 12), page(at, Read, 16), flush(at + found + 1)];
    let (done, totals) = ends(&with_a_map(5), &[burst(0, 0..4), burst(10 * MS, [4, 8]), reads].concat());
    assert_eq!(done[6..8], [20 * MS + 2 * found, at + 2 * found]);
    assert_eq!(done[8], at + 4 * found + wordline(3));
    assert_eq!((programs(&totals), totals.mapping_programs, cells(&totals)), ((6, Some(0)), 1, (4, 3)));
}

#[test]
fn the_constants_are_those_of_the_drive() {
    let slc = cached().slc.expect("a cache");
    assert_eq!([slc.read, slc.program, slc.erase].map(Duration::ns), [SLC_READ, SLC_PROGRAM, SLC_ERASE]);
    assert_ne!(SLC_ERASE, ERASE);
}
