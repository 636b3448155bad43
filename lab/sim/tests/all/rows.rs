//! Rows of several pages (model 0.16): one array read for pages of a request and for moves of a victim. Exact scenes, and a plain model of random
//! reads.

mod planes;

use std::collections::BTreeMap;

use crate::common::play::{TestRequest, Touch, ends_under, hand_over, page};
use crate::common::{atomic, device, drain, one_plane, recipe, table1};
use flashlane_core::Op::{self, Read, Trim, Write};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Lpn, Time};
use flashlane_ssd::Totals;
use flashlane_ssd::config::{Buffer, Config, Precondition, ReadRetry, RetryState};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Array times, and bus time of a page, ns.
const READ: u64 = 75_000;
const PROGRAM: u64 = 1_300_000;
const ERASE: u64 = 3_800_000;
const PAGE: u64 = 24_601;

/// The read and the program of a row of which so many pages cross the bus.
const fn read(pages: u64) -> u64 {
    READ + pages * PAGE
}
const fn program(pages: u64) -> u64 {
    PROGRAM + pages * PAGE
}

/// Rows of four pages, three a block, on a drive that is full.
fn in_rows(mut config: Config) -> Config {
    (config.geometry.slots, config.geometry.pages_per_block) = (4, 12);
    config.ftl.logical_pages = 480;
    config.buffer = Some(Buffer::plain(16, 0));
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.check().expect("a legal device");
    config
}

fn several(at: u64, op: Op, first: u64, pages: u64) -> TestRequest {
    TestRequest { at, flow: 0, op, touch: Touch::Bytes(first * 8_192, pages * 8_192) }
}

fn ends(config: &Config, scheduler: &str, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    ends_under(config, &recipe(scheduler, &[]), asks)
}

/// One array time for what a request asks of a row, and the transfers of that alone.
#[test]
fn a_request_reads_a_row_once() {
    let config = in_rows(one_plane());
    let done = |asks: &[TestRequest]| ends(&config, "fcfs", asks).0;
    assert_eq!(done(&[several(0, Read, 4, 4)]), [read(4)]);
    assert_eq!(done(&[several(0, Read, 4, 1)]), [read(1)]);
    assert_eq!(done(&[several(0, Read, 2, 5)]), [read(2) + read(3)], "two rows");
    assert_eq!(done(&[page(0, Read, 4), page(0, Read, 5)]), [read(1), 2 * read(1)], "two requests");
    let (_, totals) = ends(&config, "fcfs", &[several(0, Read, 2, 5)]);
    assert_eq!(totals.transactions, 5);
    // Each plane of a die has a row of its own: one array time and eight transfers.
    assert_eq!(ends(&in_rows(table1(1, 1)), "fcfs", &[several(0, Read, 0, 8)]).0, [read(8)]);
}

/// Pages of another request that wait between stay where they are.
#[test]
fn pages_of_a_row_pass_those_of_other_requests() {
    let config = in_rows(one_plane());
    // Three places of the row are asked for in an order of which others' reads are a part, while the plane is busy.
    let scattered = TestRequest { at: 10, flow: 0, op: Read, touch: Touch::Pages([4, 40, 6, 41].map(Lpn).to_vec()) };
    let (done, _) = ends(&config, "fcfs", &[page(0, Read, 100), scattered, page(20, Read, 7)]);
    assert_eq!(done, [read(1), read(1) + 2 * read(2), 2 * read(1) + 2 * read(2)]);
}

/// A page that is trimmed while its read waits is read where it was, with its row.
#[test]
fn a_trimmed_page_is_read_with_its_row() {
    let config = in_rows(one_plane());
    let asks = [page(0, Read, 100), several(10, Read, 4, 4), page(20, Trim, 5)];
    assert_eq!(ends(&config, "fcfs", &asks).0[1], read(1) + read(4));
}

/// Reads in the pause of a program are one command too.
#[test]
fn a_row_is_read_in_a_pause() {
    let config = in_rows(one_plane());
    let asks = [0, 1, 2, 3].map(|number| page(0, Write, number)).to_vec();
    let asks = [asks, vec![several(500_000, Read, 40, 4)]].concat();
    let (done, totals) = ends(&config, "read-first-suspend", &asks);
    assert_eq!((done[4], totals.pauses), (500_000 + read(4), 1));
}

/// A command of collection: when it began, what it does, and to how many pages.
type Begun = (u64, FlashOp, u32);

/// What collection does, command by command; and its victims: when each was chosen, its block, and its valid pages.
fn collection(config: &Config, asks: &[TestRequest]) -> (Vec<Begun>, Vec<(u64, u32, u32)>) {
    let mut device = device(config, &atomic("fcfs", &[]));
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        hand_over(&mut device, id as u64, ask);
    }
    drain(&mut device);
    let mut moves = BTreeMap::new();
    let (mut begun, mut chosen): (Vec<(u64, u64, FlashOp, u32)>, _) = (Vec::new(), Vec::new());
    for event in device.events() {
        let at = event.at.ns();
        match event.event {
            Event::VictimChosen { block, valid, .. } => chosen.push((at, block, valid)),
            Event::Queued { txn, op, owner, .. } if owner.collects() => drop(moves.insert(txn, op)),
            Event::Dispatched { txn, command, .. } => {
                let Some(&op) = moves.get(&txn) else { continue };
                match begun.last_mut().filter(|last| last.1 == command) {
                    Some(last) => last.3 += 1,
                    None => begun.push((at, command, op, 1)),
                }
            }
            _ => {}
        }
    }
    (begun.into_iter().map(|(at, _, op, pages)| (at, op, pages)).collect(), chosen)
}

/// The first victim has three valid pages of one row and one of another, which take two reads and one program. The second has three and two: when both
/// rows have been read the program is full, and the page that is over takes another, with three pads.
#[test]
fn collection_reads_a_row_once_and_packs_it() {
    let mut config = in_rows(one_plane());
    // Of 17 blocks nine are full. Collection begins when the sixth of the other eight is opened, and ends with three free.
    (config.geometry.blocks_per_plane, config.ftl.logical_pages, config.gc.start_blocks) = (17, 9 * 12, 3);
    config.check().expect("a legal device");
    let numbers = (0..8).flat_map(|block| [0, 6, 7, 8, 9, 10, 11].map(|page| 12 * block + page));
    let numbers = numbers.chain([0, 4, 5, 6, 7, 8, 9, 10].map(|page| 8 * 12 + page));
    let asks: Vec<TestRequest> = numbers.map(|number| page(0, Write, number)).collect();
    let (begun, chosen) = collection(&config, &asks);
    let steps = [
        (FlashOp::Read, 3, read(3)),
        (FlashOp::Read, 1, read(1)),
        (FlashOp::Program, 4, program(4)),
        (FlashOp::Erase, 1, ERASE),
        (FlashOp::Read, 3, read(3)),
        (FlashOp::Read, 2, read(2)),
        (FlashOp::Program, 4, program(4)),
        (FlashOp::Program, 1, program(1)),
        (FlashOp::Erase, 1, ERASE),
    ];
    let mut at = 16 * program(4);
    let mut expected = Vec::new();
    for (op, pages, time) in steps {
        expected.push((at, op, pages));
        at += time;
    }
    let second = expected[4].0;
    assert_eq!((begun, chosen), (expected, vec![(15 * program(4), 8, 4), (second, 0, 5)]));
    let (_, totals) = ends_under(&config, &atomic("fcfs", &[]), &asks);
    assert_eq!((totals.gc_programs, totals.padded), (9, Some(3)));
}

/// Half of the pages are tried again, a quarter twice: a row takes as long as the page of it with most tries, and the transfers of all.
#[test]
fn the_hardest_page_sets_the_time_of_a_row() {
    const STEP: u64 = 60_000;
    let states = vec![RetryState { erases: 0, age_days: 0, below: vec![1 << 31, 3 << 30, 1 << 32] }];
    let mut config = in_rows(one_plane());
    config.retry = Some(ReadRetry { step: Duration::from_ns(STEP), initial_erases: 0, initial_age_days: 0, states });
    let rows: Vec<u64> = (0..10).collect();
    let alone = |number: u64| ends(&config, "fcfs", &[page(0, Read, number)]).0[0] - read(1);
    let hardest = rows.iter().map(|row| (4 * row..4 * row + 4).map(alone).max().unwrap_or(0)).collect::<Vec<u64>>();
    for (row, hardest) in rows.iter().zip(&hardest) {
        assert_eq!(ends(&config, "fcfs", &[several(0, Read, 4 * row, 4)]).0, [read(4) + hardest], "row {row}");
    }
    assert!([STEP, 2 * STEP].iter().all(|time| hardest.contains(time)), "{hardest:?}");
}

/// Reads of lists of pages, from one to eight, close together and far apart in time.
fn random_reads(random: &mut Pcg64Mcg) -> Vec<(u64, Vec<u32>)> {
    let mut below = |n: u64| random.next_u64() % n;
    let (gap, span, count) = ([1, 40_000, 200_000][below(3) as usize], 4 + below(60), 1 + below(30));
    let mut at = 0;
    let one = |_| {
        at += below(gap);
        let mut pages: Vec<u32> = Vec::new();
        for _ in 0..=below(8) {
            let page = below(span) as u32;
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
        (at, pages)
    };
    (0..count).map(one).collect()
}

/// One plane serves pages in the order in which they came; with the first of those that wait go those of its request in its row.
fn plain_model(asks: &[(u64, Vec<u32>)]) -> Vec<u64> {
    let mut queue: Vec<(u64, usize, u32)> = Vec::new();
    for (n, (at, pages)) in asks.iter().enumerate() {
        queue.extend(pages.iter().map(|&page| (*at, n, page / 4)));
    }
    let (mut now, mut ends) = (0, vec![0; asks.len()]);
    while let Some(&(at, n, row)) = queue.first() {
        let waiting = queue.len();
        queue.retain(|&(_, of, its)| (of, its) != (n, row));
        now = now.max(at) + read((waiting - queue.len()) as u64);
        ends[n] = now;
    }
    ends
}

#[test]
fn random_reads_end_as_in_the_plain_model() {
    let mut random = Pcg64Mcg::new(0x0907);
    let config = in_rows(one_plane());
    let (mut pages, mut longer) = (0, 0);
    for scene in 0..1_000 {
        let asks = random_reads(&mut random);
        let sent = |(at, pages): &(u64, Vec<u32>)| {
            let touch = Touch::Pages(pages.iter().copied().map(Lpn).collect());
            TestRequest { at: *at, flow: 0, op: Read, touch }
        };
        let (done, totals) = ends(&config, "fcfs", &asks.iter().map(sent).collect::<Vec<_>>());
        assert_eq!(done, plain_model(&asks), "scene {scene}: {asks:?}");
        pages += totals.transactions;
        longer += asks.iter().filter(|ask| ask.1.len() > 1).count();
    }
    assert!(pages > 20_000 && longer > 5_000, "{pages} pages, {longer} requests of several");
}
