//! The mapping cache (model 0.11): exact scenes, an independent plain model of it, and hit ratios known otherwise.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::play::{RunResult, TestRequest, Touch, audit, hand_over};
use crate::common::{device, drain, one_plane, recipe, table1};
use flashlane_core::Op::{Read, Trim, Write};
use flashlane_core::event::Event;
use flashlane_core::{Duration, Lpn, Op};
use flashlane_ssd::MappingTotals;
use flashlane_ssd::config::{Buffer, Config, Mapping, Precondition};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A page read from the flash, its transfer included.
const PAGE: u64 = 75_000 + BUS;
const BUS: u64 = 24_601;
const PROGRAM: u64 = BUS + 1_300_000;
const MS: u64 = 1_000_000;

/// One plane, full, whose map has `entries_per_page` entries a translation page, of which memory holds `entries`.
fn with(entries: u32, entries_per_page: u32) -> Config {
    let mut config = one_plane();
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.ftl.logical_pages = 4_000;
    let (host_entries, entry_bytes, read_bytes) = (0, 4, config.geometry.page_bytes);
    config.mapping = Some(Mapping { entries, host_entries, entries_per_page, entry_bytes, read_bytes, warm: false });
    config
}

/// Changes the mapping cache of a configuration.
fn set(config: &mut Config, change: impl FnOnce(&mut Mapping)) {
    change(config.mapping.as_mut().expect("it has one"));
}

/// Response times of one page per request, and what the cache did: translation pages programmed last.
fn responses(config: &Config, lines: &[(u64, Op, u32)]) -> (Vec<u64>, MappingTotals, u64) {
    let asks: Vec<TestRequest> = lines.iter().map(|&(at, op, page)| ask(at, op, page)).collect();
    let RunResult { mut completions, totals } = audited(config, &asks);
    completions.sort_by_key(|completion| completion.id);
    let response = completions.iter().map(|completion| (completion.done - completion.arrival).ns()).collect();
    (response, totals.mapping.expect("it has one"), totals.mapping_programs)
}

fn ask(at: u64, op: Op, page: u32) -> TestRequest {
    TestRequest { at, flow: 0, op, touch: Touch::Pages(vec![Lpn(page)]) }
}

fn audited(config: &Config, asks: &[TestRequest]) -> RunResult {
    audit(config, &recipe("fcfs", &[]), asks).unwrap_or_else(|why| panic!("{why}")).0
}

// Scenes.

/// Page 0 is looked up first, in translation page 0, and then read. Of pages 0 and 4, in different ones, memory holds both; 8 takes
/// the place of 4, which was used longest ago, and 4 that of 0.
#[test]
fn a_miss_reads_its_translation_page_first_and_the_oldest_entry_makes_room() {
    let lines =
        [(0, Read, 0), (MS, Read, 4), (2 * MS, Read, 0), (3 * MS, Read, 8), (4 * MS, Read, 4), (5 * MS, Read, 8)];
    let (responses, totals, programs) = responses(&with(2, 4), &lines);
    assert_eq!(responses, [2 * PAGE, 2 * PAGE, PAGE, 2 * PAGE, 2 * PAGE, PAGE]);
    assert_eq!((totals, programs), (MappingTotals { hits: 2, host_hits: 0, misses: 4, reads: 4 }, 0));
}

/// Three reads that miss the same translation page wait for one read of it; the read of another one is in front of theirs.
#[test]
fn misses_of_a_translation_page_share_its_read() {
    let lines = [(0, Read, 0), (10_000, Read, 1), (20_000, Read, 2), (30_000, Read, 4)];
    let (responses, totals, _) = responses(&with(10, 4), &lines);
    assert_eq!(responses, [3 * PAGE, 4 * PAGE - 10_000, 5 * PAGE - 20_000, 6 * PAGE - 30_000]);
    assert_eq!(totals, MappingTotals { hits: 0, host_hits: 0, misses: 4, reads: 2 });
}

/// A write looks up its entry too. The dirty entry of page 0 makes room for that of page 8: its translation page, of which memory holds
/// no other entry, is read and written anew behind the write of page 8. Meanwhile the entry of page 0 is known without a read.
#[test]
fn a_dirty_entry_that_makes_room_is_written_to_its_translation_page() {
    let write = PAGE + PROGRAM;
    let lines = [(0, Write, 0), (5 * MS, Write, 4), (10 * MS, Write, 8), (12 * MS, Read, 0), (20 * MS, Read, 4)];
    let (responses, totals, programs) = responses(&with(2, 4), &lines);
    let rewritten = 10 * MS + write + PAGE + PROGRAM;
    // Page 0 is read behind the program of its translation page; its entry takes the place of the dirty one of page 4.
    assert_eq!(responses, [write, write, write, rewritten + PAGE - 12 * MS, 2 * PAGE]);
    // Entries 0, 4, 8 and at last 4 are read; pages 0, 1 and (for the last) 2 of the map are read to be written anew.
    assert_eq!((totals, programs), (MappingTotals { hits: 0, host_hits: 0, misses: 5, reads: 7 }, 3));
}

/// All of a translation page's entries are in memory and dirty: it is written anew without a read, with all of them, so that the second
/// makes room without a further program.
#[test]
fn a_translation_page_is_written_with_all_its_dirty_entries() {
    let lines = [(0, Write, 0), (5 * MS, Write, 1), (10 * MS, Read, 2), (20 * MS, Read, 3)];
    let (responses, totals, programs) = responses(&with(2, 2), &lines);
    assert_eq!(responses[..2], [PAGE + PROGRAM; 2]);
    // The read of page 2 and the program join the queue at the same instant, the read first.
    assert_eq!(responses[2..], [2 * PAGE, 2 * PAGE]);
    assert_eq!((totals, programs), (MappingTotals { hits: 0, host_hits: 0, misses: 4, reads: 4 }, 1));
}

/// Only the sectors with the entry cross the bus, where the controller reads no more.
#[test]
fn a_read_for_an_entry_may_move_less_than_a_page() {
    let mut config = with(2, 4);
    set(&mut config, |mapping| mapping.read_bytes = 512);
    // 512 bytes at 333 MB/s.
    let entry = 75_000 + 1_538;
    assert_eq!(responses(&config, &[(0, Read, 0)]).0, [entry + PAGE]);
    // To be written anew, the whole page is read: the write of page 8 has the program of translation page 0 in front of the next read.
    let lines = [(0, Write, 0), (5 * MS, Write, 4), (10 * MS, Write, 8), (12 * MS, Read, 8)];
    let (responses, ..) = responses(&config, &lines);
    assert_eq!(responses[3], 10 * MS + entry + PROGRAM + PAGE + PROGRAM + PAGE - 12 * MS);
}

/// An entry in the host's memory takes a round trip of the link and its bytes.
/// Where moved pages share blocks with those of the map, which are soon invalid, little memory for the map keeps a drive busy that ends well with
/// blocks of their own; the error says so.
#[test]
fn little_of_the_map_wants_blocks_of_moved_pages() {
    let mut config = with(4, 64);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (52, 48);
    (config.ftl.logical_pages, config.gc.start_blocks, config.precondition) = (1_680, 3, Precondition::Steady);
    let mut rng = Pcg64Mcg::new(3);
    let asks: Vec<TestRequest> = (0..6_000).map(|n| ask(40 * n * MS, Write, rng.next_u32() % 1_680)).collect();
    assert_eq!(audited(&config, &asks).completions.len(), asks.len());
    config.gc.separate_frontier = false;
    let why = audit(&config, &recipe("fcfs", &[]), &asks).map(|_| ()).expect_err("it is kept busy");
    assert!(
        why.contains("give moved pages blocks of their own (gc.separate_frontier), lower the user capacity"),
        "{why}"
    );
}

/// A page that enters the buffer at its pace drives a dirty entry out before the decisions of that instant: a program of the translation page that begins then
/// has it.
#[test]
fn entries_make_room_for_pages_that_enter_at_a_pace() {
    let mut rng = Pcg64Mcg::new(8);
    for _ in 0..40 {
        let mut config = Config { mapping: with(5, 2_048).mapping, ..table1(2, 1) };
        (config.geometry.blocks_per_plane, config.geometry.pages_per_block, config.nand.one_shot_pages) = (28, 21, 3);
        (config.ftl.logical_pages, config.precondition) = (735, Precondition::Filled { per_mille: 1000 });
        config.buffer = Some(Buffer { pace: Duration::from_ns(100_000), ..Buffer::plain(12, 0) });
        config.check().expect("a legal device");
        let asks: Vec<TestRequest> = (0..100)
            .map(|n| ask(150_000 * n + u64::from(rng.next_u32() % 100_000), Write, rng.next_u32() % 735))
            .collect();
        assert_eq!(audited(&config, &asks).completions.len(), asks.len());
    }
}

#[test]
fn the_hosts_memory_holds_entries_across_the_link() {
    let mut config = with(1, 4);
    set(&mut config, |mapping| mapping.host_entries = 1);
    config.front.link_latency = Duration::from_us(1);
    config.front.link_bytes_per_s = 1_000_000_000;
    let lines = [
        (0, Read, 0),
        (MS, Read, 0),
        (2 * MS, Read, 4),
        (3 * MS, Read, 0),
        (4 * MS, Read, 4),
        (5 * MS, Read, 8),
        (6 * MS, Read, 0),
    ];
    let (responses, totals, _) = responses(&config, &lines);
    let [hit, host, miss] = [0, 2_004, PAGE].map(|entry| responses[1] + entry);
    assert_eq!(hit, PAGE + 2_000 + 8_192);
    // Pages 0 and 4 change places; 8 takes that of page 0.
    assert_eq!(responses, [miss, hit, miss, host, host, miss, miss]);
    assert_eq!(totals, MappingTotals { hits: 1, host_hits: 2, misses: 4, reads: 4 });
}

/// `warm` holds the entries of the first pages, that of page 0 used last.
#[test]
fn a_warm_cache_holds_the_first_entries() {
    let mut config = with(2, 4);
    set(&mut config, |mapping| mapping.warm = true);
    let lines = [(0, Read, 2), (MS, Read, 0), (2 * MS, Read, 1)];
    assert_eq!(responses(&config, &lines).0, [2 * PAGE, PAGE, 2 * PAGE]);
}

/// Translation pages that were never written are read as other pages are.
#[test]
fn a_fresh_drive_reads_translation_pages_too() {
    let mut config = with(2, 4);
    config.precondition = Precondition::Fresh;
    assert_eq!(responses(&config, &[(0, Read, 0), (MS, Write, 1)]).0, [2 * PAGE, PAGE + PROGRAM]);
}

// A plain model: entries in the order of their last use, and everything found by going through them.

/// The cache as its chapter describes it.
struct Plain {
    mapping: Mapping,
    logical_pages: u32,
    round_trip: u64,
    /// Pages whose entries are held, the one used longest ago first, each with whether it is dirty.
    entries: Vec<(u32, bool)>,
    /// Translation pages that are being read for entries.
    open: Vec<u32>,
    /// Translation pages that are written anew because of the trim that is served: each once.
    trimmed: Vec<u32>,
    totals: MappingTotals,
    programs: u64,
}

impl Plain {
    fn new(config: &Config) -> Plain {
        let mapping = config.mapping.expect("it has one");
        let (logical_pages, held) = (config.ftl.logical_pages, mapping.entries + mapping.host_entries);
        let first = if mapping.warm { held.min(logical_pages) } else { 0 };
        let bytes_ns = match config.front.link_bytes_per_s {
            0 => 0,
            rate => (u64::from(mapping.entry_bytes) * 1_000_000_000).div_ceil(rate),
        };
        Plain {
            mapping,
            logical_pages,
            round_trip: 2 * config.front.link_latency.ns() + bytes_ns,
            entries: (0..first).rev().map(|page| (page, false)).collect(),
            open: Vec::new(),
            trimmed: Vec::new(),
            totals: MappingTotals::default(),
            programs: 0,
        }
    }

    /// Serves a request to its end. Returns how long entries were waited for, which means something for one page.
    fn serve(&mut self, pages: &[u32]) -> u64 {
        let (mut from_host, mut wait) = (Vec::new(), 0);
        let mut missed: Vec<(u32, Vec<u32>)> = Vec::new();
        for &page in pages {
            match self.entries.iter().rev().position(|entry| entry.0 == page) {
                Some(age) if age < self.mapping.entries as usize => {
                    self.totals.hits += 1;
                    self.use_now(page);
                }
                Some(_) => {
                    self.totals.host_hits += 1;
                    wait = self.round_trip;
                    if self.round_trip == 0 { self.use_now(page) } else { from_host.push(page) }
                }
                None => {
                    self.totals.misses += 1;
                    let number = page / self.mapping.entries_per_page;
                    match missed.iter_mut().find(|missed| missed.0 == number) {
                        Some(missed) => missed.1.push(page),
                        None => missed.push((number, vec![page])),
                    }
                }
            }
        }
        from_host.iter().for_each(|&page| self.use_now(page));
        self.open = missed.iter().map(|missed| missed.0).collect();
        for (_, pages) in missed {
            self.open.remove(0);
            self.totals.reads += 1;
            wait = 75_000 + (u64::from(self.mapping.read_bytes) * 1000).div_ceil(333);
            pages.iter().for_each(|&page| self.use_now(page));
        }
        wait
    }

    /// A page lies elsewhere: its entry is the one used last.
    fn changed(&mut self, page: u32) {
        self.use_now(page);
        self.entries.last_mut().expect("it was used").1 = true;
    }

    /// These pages, which were mapped, are trimmed: all at one instant.
    fn trim(&mut self, pages: &[u32]) {
        pages.iter().for_each(|&page| self.changed_by_trim(page));
        self.trimmed.clear();
    }

    fn changed_by_trim(&mut self, page: u32) {
        let programs = self.programs;
        let oldest = self.entries.first().map(|entry| entry.0 / self.mapping.entries_per_page);
        let reads = self.totals.reads;
        self.changed(page);
        if self.programs > programs {
            let number = oldest.expect("one made room");
            if self.trimmed.contains(&number) {
                (self.programs, self.totals.reads) = (programs, reads);
            }
            self.trimmed.push(number);
        }
    }

    fn use_now(&mut self, page: u32) {
        let dirty = match self.entries.iter().position(|entry| entry.0 == page) {
            Some(at) => self.entries.remove(at).1,
            None => {
                if self.entries.len() == (self.mapping.entries + self.mapping.host_entries) as usize {
                    self.make_room();
                }
                false
            }
        };
        self.entries.push((page, dirty));
    }

    fn make_room(&mut self) {
        let (oldest, dirty) = self.entries[0];
        if dirty {
            let number = oldest / self.mapping.entries_per_page;
            let first = number * self.mapping.entries_per_page;
            let of_page = first..self.logical_pages.min(first + self.mapping.entries_per_page);
            let held = self.entries.iter_mut().filter(|entry| of_page.contains(&entry.0));
            let held = held.map(|entry| entry.1 = false).count();
            let is_read = self.open.contains(&number) && self.mapping.read_bytes == 8192;
            self.totals.reads += u64::from(held < of_page.len() && !is_read);
            self.programs += 1;
        }
        self.entries.remove(0);
    }
}

/// A random cache, from one that holds hardly anything on.
fn any_cache(rng: &mut Pcg64Mcg) -> Config {
    let mut one_of = |of: &[u32]| of[rng.next_u32() as usize % of.len()];
    let mut config = with(one_of(&[1, 2, 3, 10, 40, 200]), one_of(&[1, 2, 5, 16, 64]));
    config.ftl.logical_pages = one_of(&[60, 300, 301, 2_000]);
    let latency = one_of(&[0, 300]);
    config.front.link_latency = Duration::from_ns(latency.into());
    let (host_entries, read_bytes, warm) = (one_of(&[0, 0, 1, 20]), one_of(&[512, 8192]), one_of(&[0, 0, 1]) == 1);
    set(&mut config, |mapping| {
        (mapping.host_entries, mapping.read_bytes, mapping.warm) = (host_entries, read_bytes, warm)
    });
    config
}

/// Requests of random pages, most of them in a part of the drive: reads of one to five pages, writes of one, trims of up to eight.
fn any_request(config: &Config, at: u64, rng: &mut Pcg64Mcg) -> TestRequest {
    let span = if rng.next_u32().is_multiple_of(4) { config.ftl.logical_pages } else { 50 };
    let page = rng.next_u32() % span;
    let (op, count) = match rng.next_u32() % 7 {
        0 => (Trim, 1 + rng.next_u32() % 8),
        1..=3 => (Write, 1),
        _ => (Read, 1 + rng.next_u32() % 5),
    };
    let touch = Touch::Pages((page..config.ftl.logical_pages.min(page + count)).map(Lpn).collect());
    TestRequest { at, flow: 0, op, touch }
}

/// Requests far apart on a drive that collects nothing: hits, reads and programs of translation pages are those of the model, and so are
/// the response times of requests of one page.
#[test]
fn requests_far_apart_do_what_the_plain_model_does() {
    let (mut programs, mut reads) = (0, 0);
    for seed in 1..=60 {
        let mut rng = Pcg64Mcg::new(seed << 64 | 0x3a9);
        let config = any_cache(&mut rng);
        let asks: Vec<TestRequest> = (0..400).map(|n| any_request(&config, n * 20 * MS, &mut rng)).collect();
        let mut result = audited(&config, &asks);
        result.completions.sort_by_key(|completion| completion.id);
        let mut plain = Plain::new(&config);
        let mut mapped = vec![true; config.ftl.logical_pages as usize];
        for (ask, completion) in asks.iter().zip(&result.completions) {
            let Touch::Pages(pages) = &ask.touch else { unreachable!() };
            let pages: Vec<u32> = pages.iter().map(|page| page.0).collect();
            if ask.op == Trim {
                let held: Vec<u32> = pages.into_iter().filter(|&page| mapped[page as usize]).collect();
                held.iter().for_each(|&page| mapped[page as usize] = false);
                plain.trim(&held);
                continue;
            }
            let wait = plain.serve(&pages);
            let response = (completion.done - completion.arrival).ns();
            let service = 2 * config.front.link_latency.ns() + if ask.op == Write { PROGRAM } else { PAGE };
            assert!(
                pages.len() > 1 || response == wait + service,
                "seed {seed}: {ask:?} took {response}, waited {wait}"
            );
            if ask.op == Write {
                mapped[pages[0] as usize] = true;
                plain.changed(pages[0]);
            }
        }
        let totals = result.totals;
        assert_eq!(totals.erases, 0, "nothing was collected");
        assert_eq!(
            (totals.mapping, totals.mapping_programs),
            (Some(plain.totals), plain.programs),
            "seed {seed}: {:?}",
            config.mapping
        );
        (programs, reads) = (programs + plain.programs, reads + plain.totals.reads);
    }
    assert!(programs > 1_000 && reads > 5_000, "{programs} programs, {reads} reads: the scenes are too tame");
}

/// On a drive that collects, entries of moved pages change too. What is found where is what the model finds that is told of each page that
/// lies elsewhere; a translation page is written for each dirty entry that made room, fewer times where some were written together.
#[test]
fn collection_changes_the_entries_of_the_pages_that_it_moves() {
    for seed in 1..=10 {
        let mut rng = Pcg64Mcg::new(seed << 64 | 0x77);
        let mut config = with(40 + 10 * seed as u32, 16);
        (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (60, 8);
        config.ftl.logical_pages = 280;
        let mut device = device(&config, &recipe("fcfs", &[]));
        device.report_events();
        let (mut plain, mut moved) = (Plain::new(&config), 0);
        for id in 0..2_000 {
            let now = device.now() + Duration::from_us(1);
            let page = rng.next_u32() % 280;
            let op = if rng.next_u32().is_multiple_of(3) { Read } else { Write };
            device.advance(now);
            hand_over(&mut device, id, &ask(now.ns(), op, page));
            drain(&mut device);
            device.completions();
            plain.serve(&[page]);
            for stamped in device.events().drain(..) {
                if let Event::Mapped { lpn, .. } = stamped.event
                    && lpn.0 < 280
                {
                    plain.changed(lpn.0);
                    moved += u64::from(lpn.0 != page);
                }
            }
        }
        let totals = device.totals();
        let mapping = totals.mapping.expect("it has one");
        assert_eq!([mapping.hits, mapping.misses], [plain.totals.hits, plain.totals.misses], "seed {seed}");
        assert!(
            moved > 300 && totals.gc_programs > moved,
            "{moved} pages moved, {} with the map's",
            totals.gc_programs
        );
        let programs = totals.mapping_programs;
        assert!(programs <= plain.programs && programs * 10 > plain.programs * 9, "{programs} of {}", plain.programs);
        assert!(mapping.reads <= plain.totals.reads && mapping.reads * 10 > plain.totals.reads * 9);
        device.check();
    }
}

// Hit ratios.

/// Hits of looking up these pages in this order, if the entries used last are held: those found in a map by their last use.
fn lru_hits(pages: impl Iterator<Item = u32>, held: usize) -> u64 {
    let (mut by_use, mut last_use) = (BTreeMap::new(), BTreeMap::new());
    let mut hits = 0;
    for (now, page) in pages.enumerate() {
        match last_use.insert(page, now) {
            Some(before) => {
                hits += 1;
                by_use.remove(&before);
            }
            None if by_use.len() == held => {
                let (_, oldest) = by_use.pop_first().expect("some are held");
                last_use.remove(&oldest);
            }
            None => {}
        }
        by_use.insert(now, page);
    }
    hits
}

/// Requests of real traces, most of one writes. One by one they hit exactly as an LRU does; at the times of the trace within 2 %: what
/// is asked for again before it has arrived is a miss.
#[test]
fn traces_hit_as_an_independent_lru() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    for (name, entries) in [("ssdsim-example.ascii", 150), ("ssdsim-example.ascii", 500), ("wsrch-small.mqsim", 20_000)]
    {
        let path = folder.join(name);
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("SKIPPED: {} is absent, so its hits were not compared with an LRU's", path.display());
            continue;
        };
        let mut config = table1(8, 4);
        config.precondition = Precondition::Filled { per_mille: 1000 };
        config.mapping = with(entries, 1365).mapping;
        let line = |line: &str| {
            let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().expect("a number")).collect();
            let pages = u64::from(config.ftl.logical_pages);
            let touched =
                (numbers[2] / 16..(numbers[2] + numbers[3]).div_ceil(16)).map(|page| Lpn((page % pages) as u32));
            let op = if numbers[4] == 1 { Read } else { Write };
            TestRequest { at: numbers[0], flow: 0, op, touch: Touch::Pages(touched.collect()) }
        };
        let asks: Vec<TestRequest> = text.lines().map(line).collect();
        let looked_up = asks.iter().flat_map(|ask| match &ask.touch {
            Touch::Pages(pages) => pages.iter().map(|page| page.0),
            Touch::Bytes(..) | Touch::Fua(..) => unreachable!("all are pages"),
        });
        let hits = lru_hits(looked_up.clone(), entries as usize);
        let one_by_one: Vec<TestRequest> =
            asks.iter().zip(0..).map(|(ask, n)| TestRequest { at: n * 50 * MS, ..ask.clone() }).collect();
        for (asks, per_mille) in [(&one_by_one, 0), (&asks, 20)] {
            let found = audited(&config, asks).totals.mapping.expect("it has one").hits;
            println!("{name}, {entries} entries: {found} hits, an LRU {hits}");
            assert!(found.abs_diff(hits) * 1000 <= hits * per_mille, "{name}: {found} hits, {hits} of an LRU");
        }
        let all = looked_up.count() as u64;
        assert!(hits * 50 > all && hits * 10 < all * 9, "{hits} of {all}: too easy");
    }
}

/// With uniform reads of n pages the entry of any is held with probability entries / n, whatever was read before.
#[test]
fn uniform_reads_hit_as_often_as_the_share_that_is_held() {
    for (entries, host_entries, pages) in [(400, 0, 4_000), (1_000, 1_000, 4_000), (3_600, 0, 4_000), (4_000, 0, 4_000)]
    {
        let mut config = with(entries, 512);
        set(&mut config, |mapping| (mapping.host_entries, mapping.warm) = (host_entries, true));
        let mut rng = Pcg64Mcg::new(9);
        let count = 40_000;
        let asks: Vec<TestRequest> = (0..count).map(|n| ask(n * MS, Read, rng.next_u32() % pages)).collect();
        let totals = audited(&config, &asks).totals.mapping.expect("it has one");
        for (hits, held) in [(totals.hits, entries), (totals.host_hits, host_entries)] {
            let share = f64::from(held) / f64::from(pages);
            let deviation = (share * (1.0 - share) * count as f64).sqrt();
            let apart = (hits as f64 - share * count as f64).abs();
            assert!(apart <= 4.0 * deviation, "{held} of {pages}: {hits} hits of {count}, {apart} apart");
        }
        assert_eq!(totals.hits + totals.host_hits + totals.misses, count);
    }
}
