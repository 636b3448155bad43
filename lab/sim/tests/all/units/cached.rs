//! Rows of several pages beside an SLC cache and beside a map on the flash (model 0.16): exact scenes.

use super::{ERASE, PAGE, PROGRAM, READ, row, with_slots};
use crate::common::play::{TestRequest, Touch, burst, ends, flush, fua, page};
use crate::common::{one_plane, slc_cache};
use flashlane_core::Duration;
use flashlane_core::Op::{Read, Trim};
use flashlane_ssd::Totals;
use flashlane_ssd::config::{Buffer, Config, FullCache, Mapping, Precondition, SlcCache};

/// Times in SLC mode, and the longest time without a transaction, ns.
const SLC_READ: u64 = 25_000;
const SLC_PROGRAM: u64 = 200_000;
const SLC_ERASE: u64 = 2_000_000;
const IDLE: u64 = 3_000_000;
const MS: u64 = 1_000_000;

/// A row of the cache of which so many pages have data.
const fn cached(pages: u64) -> u64 {
    pages * PAGE + SLC_PROGRAM
}

/// The four full rows of a block in SLC mode are folded: three to a wordline, the fourth to one with eight pads.
const FOLD: u64 = 4 * (SLC_READ + 4 * PAGE) + row(12) + row(4) + SLC_ERASE;

/// One plane with rows of four pages, three a wordline, behind a cache of one block of four rows.
fn drive(full: FullCache, buffer: u32) -> Config {
    let mut config = with_slots(4, one_plane());
    config.geometry.pages_per_block = 12 * 4;
    config.nand.one_shot_pages = 3;
    config.slc = Some(SlcCache { full, ..slc_cache(1, 3) });
    config.buffer = Some(Buffer::plain(buffer, 0));
    config.ftl.logical_pages = 480;
    config.check().expect("a legal device");
    config
}

fn direct() -> Config {
    drive(FullCache::Direct, 40)
}

/// Pages programmed in SLC mode and by the host in native cells, and pads.
fn cells(totals: &Totals) -> (u64, u64, u64) {
    let slc = totals.slc.expect("a device with a cache");
    (slc.programs, slc.direct, totals.padded.expect("it pads"))
}

/// Pages that found the cache full and have waited long enough go to it once it is folded: a row, and the two that came later with two pads.
#[test]
fn a_list_that_is_due_goes_to_the_cache_row_by_row() {
    let mut config = direct();
    config.nand.one_shot_wait = Some(Duration::from_ns(10 * MS));
    config.slc.as_mut().expect("a cache").idle = Some(Duration::from_ns(IDLE));
    let later = [burst(0, 0..16), burst(2 * MS, 16..20), burst(5 * MS, 20..22)].concat();
    assert!(4 * cached(4) + IDLE + FOLD < 12 * MS, "the fold ends before they are due");
    let (_, totals) = ends(&config, &later);
    assert_eq!(cells(&totals), (22, 0, 8 + 2));
}

/// A dynamic cache has no block while only as many are free as collection wants, and none to fold: pages do not wait for it, but fill a wordline.
#[test]
fn pages_pass_a_cache_without_blocks() {
    let mut config = drive(FullCache::Fold, 40);
    let slc = config.slc.as_mut().expect("a cache");
    (slc.static_blocks, slc.dynamic) = (0, true);
    config.precondition = Precondition::Steady;
    config.check().expect("a legal device");
    let (done, totals) = ends(&config, &[burst(0, 0..12), vec![flush(10_000)]].concat());
    assert_eq!((done[12], cells(&totals)), (row(12), (0, 12, 0)));
    config.buffer = Some(Buffer::plain(11, 0));
    let why = config.check().expect_err("a list of twelve pages would never be full");
    assert!(why.legal.starts_with("must be at least 12 with"), "{why}");
}

/// In SLC mode a program is one row: four pages at once, and two that a flush pads to a row.
#[test]
fn the_cache_takes_rows() {
    let (done, totals) = ends(&direct(), &[burst(0, 0..4), vec![flush(10)]].concat());
    assert_eq!((done[4], cells(&totals)), (cached(4), (4, 0, 0)));
    let (done, totals) = ends(&direct(), &[burst(0, 0..6), vec![flush(10)]].concat());
    assert_eq!((done[6], cells(&totals)), (cached(4) + cached(2), (6, 0, 2)));
    // Without a flush two pages stay in the buffer.
    let (_, totals) = ends(&direct(), &burst(0, 0..6));
    assert_eq!(cells(&totals), (4, 0, 0));
    // A page for which a write with FUA waits leaves with its row; the fifth goes on waiting.
    let (done, totals) = ends(&direct(), &[vec![fua(0, 9)], burst(0, 0..4)].concat());
    assert_eq!((done[0], cells(&totals)), (cached(4), (4, 0, 0)));
    // Reads of a row in SLC mode take one array time.
    let all = TestRequest { touch: Touch::Bytes(0, 4 * 8_192), ..page(MS, Read, 0) };
    let (done, _) = ends(&direct(), &[burst(0, 0..4), vec![all]].concat());
    assert_eq!(done[4], MS + SLC_READ + 4 * PAGE);
}

/// Behind four rows the cache is full: twelve pages are a wordline of native cells, and what a flush finds of the next is padded to one.
#[test]
fn behind_a_full_cache_wordlines_have_all_their_rows() {
    let (done, totals) = ends(&direct(), &[burst(0, 0..28), vec![flush(10)]].concat());
    assert_eq!((done[28], cells(&totals)), (4 * cached(4) + row(12), (16, 12, 0)));
    let (done, totals) = ends(&direct(), &[burst(0, 0..36), vec![flush(10)]].concat());
    assert_eq!((done[36], cells(&totals)), (4 * cached(4) + row(12) + row(8), (16, 20, 4)));
    // A row that is padded in the cache is used up.
    let (done, totals) =
        ends(&direct(), &[burst(0, 0..13), vec![flush(10)], burst(MS, 20..24), vec![flush(MS)]].concat());
    assert_eq!(done[13], 3 * cached(4) + cached(1));
    assert_eq!((done[18], cells(&totals)), (MS.max(done[13]) + row(4), (13, 4, 3 + 8)));
}

/// Folding reads rows and packs their pages to wordlines; then the cache has rows again, which take what is gathered before it is padded.
#[test]
fn folding_reads_rows_and_packs_wordlines() {
    let mut config = direct();
    config.slc.iter_mut().for_each(|slc| slc.idle = Some(Duration::from_ns(IDLE)));
    let begins = 4 * cached(4) + IDLE;
    let (done, totals) = ends(&config, &[burst(0, 0..16), vec![page(begins + 1, Read, 400)]].concat());
    assert_eq!((done[16], cells(&totals)), (begins + FOLD + READ + PAGE, (16, 0, 8)));
    let after = begins + FOLD + 10;
    let (done, totals) = ends(&config, &[burst(0, 0..22), vec![flush(after)]].concat());
    assert_eq!((done[22], cells(&totals)), (after + cached(4) + cached(2), (22, 0, 8 + 2)));
    // Of each row one page is valid: four reads, and one wordline of four pages.
    let again = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14];
    let at = 2 * MS;
    let native = at + row(12);
    let one = 4 * (SLC_READ + PAGE) + row(4) + SLC_ERASE;
    let asks = [burst(0, 0..16), burst(at, again), vec![page(native + IDLE + 1, Read, 400)]].concat();
    let (done, totals) = ends(&config, &asks);
    assert_eq!((done[28], cells(&totals)), (native + IDLE + one + READ + PAGE, (16, 12, 8)));
}

/// With `full = "fold"` a list is never longer than a row, so a small buffer does; the fifth row waits until the block has been folded.
#[test]
fn rows_wait_for_a_fold() {
    let config = drive(FullCache::Fold, 8);
    let full = 4 * cached(4);
    let (done, totals) = ends(&config, &[burst(0, 0..20), vec![flush(full - 10_000)]].concat());
    assert_eq!((done[20], cells(&totals)), (full + FOLD + cached(4), (20, 0, 8)));
}

/// A page that is trimmed leaves its row; if it was the first, another stands for the row, which keeps its place in the cache.
#[test]
fn trimmed_pages_of_rows_for_the_cache() {
    let blocked = |trimmed| [vec![page(0, Read, 400)], burst(10, 0..16), vec![page(20, Trim, trimmed)]].concat();
    for trimmed in [0, 1, 4, 15] {
        let asks = [blocked(trimmed), burst(30, 20..32), vec![flush(40)]].concat();
        let (done, totals) = ends(&direct(), &asks);
        assert_eq!(done[30], READ + PAGE + 3 * cached(4) + cached(3) + row(12), "{trimmed}");
        assert_eq!((cells(&totals), totals.trimmed_writes), ((15, 12, 1), 1));
    }
}

/// A drive filled to 100 % whose map lies on the flash, four entries a translation page, with programs of four pages.
fn with_a_map(slots: u32, rows: u32) -> Config {
    let mut config = with_slots(slots, one_plane());
    (config.geometry.pages_per_block, config.nand.one_shot_pages) = (48, rows);
    config.buffer = Some(Buffer::plain(8, 0));
    config.ftl.logical_pages = 400;
    config.precondition = Precondition::Filled { per_mille: 1000 };
    let (entries, read_bytes) = (5, config.geometry.page_bytes);
    config.mapping =
        Some(Mapping { entries, host_entries: 0, entries_per_page: 4, entry_bytes: 4, read_bytes, warm: false });
    config.check().expect("a legal device");
    config
}

/// The entries of pages 0 to 3 are dirty and make room for those of others: their translation page is gathered with pages of the buffer, and until then memory
/// has it. Rows and wordlines of as many pages are alike.
#[test]
fn translation_pages_fill_rows_and_wordlines() {
    let found = READ + PAGE;
    let at = 40 * MS;
    for (slots, rows) in [(4, 1), (1, 4), (2, 2)] {
        let first = [burst(0, 0..4), burst(10 * MS, [4, 8])].concat();
        let reads = [page(20 * MS, Read, 12), page(30 * MS, Read, 16), page(35 * MS, Read, 0)];
        let asks = [first, reads.to_vec(), burst(at, [5]), vec![flush(at + 10)]].concat();
        let (done, totals) = ends(&with_a_map(slots, rows), &asks);
        // Page 0 needs no read of the translation page that is gathered.
        assert_eq!(done[6..9], [20 * MS + 2 * found, 30 * MS + 2 * found, 35 * MS + found], "{slots} slots");
        // The entries of pages 4 and 5 are in one translation page, that of page 8 in another.
        assert_eq!(done[10], at + 2 * found + row(4));
        assert_eq!((totals.user_programs, totals.mapping_programs, totals.padded), (7, 1, Some(0)));
    }
}

/// Pages 4 and 8 have waited long enough after 3 ms, the translation page that is gathered 20 ms after the start has not: a flush pads it with page 5.
#[test]
fn translation_pages_alone_are_never_due() {
    let mut config = with_a_map(2, 2);
    config.nand.one_shot_wait = Some(Duration::from_ns(3 * MS));
    let first = [burst(0, 0..4), burst(10 * MS, [4, 8])].concat();
    let asks = [first, vec![page(20 * MS, Read, 12), page(30 * MS, Read, 16)], burst(40 * MS, [5])].concat();
    let (done, totals) = ends(&config, &[asks, vec![flush(40 * MS + 10)]].concat());
    assert_eq!(done[9], 40 * MS + 10 + READ + PAGE + row(2));
    assert_eq!((totals.user_programs, totals.mapping_programs, totals.padded), (7, 1, Some(2 + 2)));
}

#[test]
fn the_constants_are_those_of_the_drive() {
    let slc = direct().slc.expect("a cache");
    assert_eq!([slc.read, slc.program, slc.erase].map(Duration::ns), [SLC_READ, SLC_PROGRAM, SLC_ERASE]);
    assert_ne!([SLC_ERASE, SLC_PROGRAM], [ERASE, PROGRAM]);
}
