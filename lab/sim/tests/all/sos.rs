//! SOS in random scenes, judged from the events by plain models: the write hit manager drops what a search of all queues would
//! drop, and a read returns the newest version of its page, wherever the write has moved.

use std::collections::BTreeMap;

use crate::common::play::{self, TestRequest, Touch};
use crate::common::{CYCLE, recipe, unit_cycle};
use flashlane_core::Op::{Read, Write};
use flashlane_core::decide::Question;
use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Lpn, PlaneId, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::Totals;
use flashlane_ssd::config::{Buffer, Config};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Random scenes of each kind.
const SCENES: u64 = 4_000;

/// The chips of a scene and its pages.
const CHIPS: u32 = 3;
const PAGES: u32 = 12;

/// A few requests for a few pages, several at an instant now and then.
fn scene(rng: &mut Pcg64Mcg) -> Vec<TestRequest> {
    let mut at = 0;
    let requests = 8 + rng.next_u32() % 24;
    // Mostly pages of one chip, so that the others become idle.
    let page = |rng: &mut Pcg64Mcg| {
        let page = rng.next_u32() % PAGES;
        Lpn(if rng.next_u32().is_multiple_of(2) { page / CHIPS * CHIPS } else { page })
    };
    (0..requests)
        .map(|_| {
            at += (u64::from(rng.next_u32() % 4)) * CYCLE / 2;
            let op = if rng.next_u32() % 10 < 4 { Read } else { Write };
            let touch = Touch::Pages((0..1 + rng.next_u32() % 2).map(|_| page(rng)).collect());
            TestRequest { at, flow: 0, op, touch }
        })
        .collect()
}

/// The events of a scene, and what the device counted.
fn events(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> (Vec<Stamped>, Totals) {
    let (mut device, _) = play::built(config, recipe).expect("a legal device");
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        play::hand_over(&mut device, id as u64, ask);
    }
    crate::common::drain(&mut device);
    (std::mem::take(device.events()), device.totals())
}

/// `base` with level queues and cancelled overwrites, and with these parameters.
fn with_both(base: &str, params: &[(&str, u64)]) -> Recipe {
    let answers = [(Question::Place, "rebalance"), (Question::Cancel, "overwrite")];
    Recipe { answers: answers.map(|(q, a)| (q, a.to_owned())).to_vec(), ..recipe(base, params) }
}

/// The schedulers of random scenes.
fn schedulers() -> Vec<Recipe> {
    vec![
        recipe("hos+whm", &[]),
        recipe("sos", &[]),
        with_both("hos", &[("cancel_inherit_place", 1), ("rebalance_at_once", 3)]),
        with_both("hos", &[("cancel_ends_at_once", 1), ("rebalance_from_tail", 1)]),
        with_both("hos", &[("rebalance_move_ns", 1_500)]),
        with_both("slacker", &[]),
        with_both("flin", &[]),
        with_both("sprinkler", &[]),
    ]
}

/// When a write joins a queue, the writes dropped for it are those a search of all waiting writes finds.
fn compare_with_search(events: &[Stamped]) -> usize {
    let mut waiting: BTreeMap<u64, Lpn> = BTreeMap::new();
    let mut dropped: Vec<u64> = Vec::new();
    let mut count = 0;
    for Stamped { event, .. } in events {
        match *event {
            Event::Queued { txn, op: FlashOp::Program, lpn, .. } => {
                let found: Vec<u64> = waiting.iter().filter(|(_, page)| **page == lpn).map(|(txn, _)| *txn).collect();
                assert_eq!(dropped, found, "for write {txn} of {lpn:?}");
                count += found.len();
                for txn in dropped.drain(..) {
                    waiting.remove(&txn);
                }
                waiting.insert(txn, lpn);
            }
            Event::Ended { txn, end: End::Cancelled, .. } => dropped.push(txn),
            Event::Dispatched { txn, .. } => {
                assert!(!dropped.contains(&txn), "{txn} was dropped");
                waiting.remove(&txn);
            }
            _ => {}
        }
    }
    assert!(waiting.is_empty() && dropped.is_empty());
    count
}

/// Moves that take two cycles, one after the other: b sets off for chip 1 at 0 and begins there at 2, d, the only write that still
/// waits, for chip 2 when that has read, at 1, and begins at 3. Nothing else happens at 2.
#[test]
fn moves_that_take_time_arrive_each_at_its_own() {
    let lines = [(0, Write, &[0u32][..]), (0, Write, &[3]), (0, Write, &[6]), (0, Read, &[2])];
    let mut device = crate::common::device(&unit_cycle(3), &recipe("hos+qsl", &[("rebalance_move_ns", 2 * CYCLE)]));
    let done: Vec<u64> = crate::common::scene(&mut device, &lines).iter().map(|c| c.done.ns()).collect();
    assert_eq!(done, [4, 6, 7, 1].map(|cycles| cycles * CYCLE));
    assert_eq!(device.totals().moved, 2);
}

#[test]
fn whm_drops_what_a_search_of_all_queues_finds() {
    let config = unit_cycle(CHIPS);
    // A write that is on its way between two queues is in none.
    for recipe in schedulers().iter().filter(|recipe| recipe.params.iter().all(|(name, _)| name != "rebalance_move_ns"))
    {
        let mut rng = Pcg64Mcg::new(41);
        let mut dropped = 0;
        for _ in 0..SCENES {
            let (events, totals) = events(&config, recipe, &scene(&mut rng));
            let count = compare_with_search(&events);
            assert_eq!(totals.cancelled, count as u64);
            dropped += count;
        }
        assert!(dropped as u64 > SCENES, "{recipe:?}: {dropped} are too few");
    }
}

/// What every physical page holds, and what each read must and does return.
#[derive(Default)]
struct Versions {
    planes: BTreeMap<u64, (PlaneId, Lpn, FlashOp)>,
    cells: BTreeMap<(PlaneId, u32), u64>,
    /// The newest write of each page that the device has taken in, and that the host was told of.
    taken: BTreeMap<Lpn, u64>,
    told: BTreeMap<Lpn, u64>,
    brings: BTreeMap<RequestId, Vec<(Lpn, u64)>>,
    /// By waiting read: what it must return at least.
    owed: BTreeMap<u64, u64>,
    moved: BTreeMap<Lpn, u64>,
    reads: u64,
    reads_of_moved: u64,
    from_memory: u64,
}

impl Versions {
    fn take(&mut self, event: &Event) {
        match *event {
            Event::Queued { txn, request, op, lpn, plane, .. } => {
                self.planes.insert(txn, (plane, lpn, op));
                if op == FlashOp::Program {
                    let taken = self.taken.entry(lpn).or_default();
                    *taken = (*taken).max(txn + 1);
                    self.brings.entry(request.expect("no buffer")).or_default().push((lpn, txn + 1));
                } else {
                    self.owed.insert(txn, self.told.get(&lpn).copied().unwrap_or_default());
                }
            }
            Event::Moved { txn, plane } => {
                let (at, lpn, op) = self.planes.get_mut(&txn).expect("queued");
                *at = plane;
                if *op == FlashOp::Program {
                    self.moved.insert(*lpn, txn + 1);
                }
            }
            Event::Dispatched { txn, ppa, .. } => {
                let (plane, lpn, op) = self.planes[&txn];
                if op == FlashOp::Program {
                    self.cells.insert((plane, ppa), txn + 1);
                    return;
                }
                let returned = self.cells.get(&(plane, ppa)).copied().unwrap_or_default();
                assert!(returned >= self.owed[&txn], "read {txn} of {lpn:?}: {returned} is older than acknowledged");
                self.reads += 1;
                if self.moved.get(&lpn) == Some(&returned) {
                    self.reads_of_moved += 1;
                }
            }
            Event::PageFromMemory { lpn, .. } => {
                assert!(self.taken.contains_key(&lpn), "nothing in memory");
                self.from_memory += 1;
            }
            Event::Completed { request } => {
                for (lpn, version) in self.brings.remove(&request).unwrap_or_default() {
                    let told = self.told.entry(lpn).or_default();
                    *told = (*told).max(version);
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_read_returns_the_version_of_the_moved_write() {
    let config = unit_cycle(CHIPS);
    for recipe in &schedulers() {
        let mut rng = Pcg64Mcg::new(43);
        let (mut reads, mut of_moved, mut moves) = (0, 0, 0);
        for _ in 0..SCENES {
            let (events, totals) = events(&config, recipe, &scene(&mut rng));
            let mut versions = Versions::default();
            events.iter().for_each(|stamped| versions.take(&stamped.event));
            // At the end the flash holds the newest version of every page.
            for (lpn, taken) in &versions.taken {
                assert_eq!(versions.cells.values().filter(|version| *version == taken).count(), 1, "{lpn:?}");
            }
            reads += versions.reads;
            of_moved += versions.reads_of_moved;
            moves += totals.moved;
        }
        assert!(reads > 3 * SCENES, "{reads} are too few");
        let levels = recipe.base.as_deref() != Some("hos+whm");
        assert!(!levels || (moves > SCENES && of_moved > SCENES / 5), "{recipe:?}: {moves} moves, {of_moved} reads");
        assert!(levels || moves == 0);
    }
}

/// A request that names a page twice, and others after it, while dropped writes end at once: the first of the two is dropped before the request
/// has all its transactions, whose next one takes its place in the table. Each that waits is estimated once, and the request ends with its last.
#[test]
fn a_write_dropped_by_its_own_request_is_estimated_no_more() {
    let config = unit_cycle(CHIPS);
    for (base, pages) in [("slacker", [3, 3, 6, 1]), ("need", [3, 3, 6, 1]), ("slacker", [3, 6, 1, 3])] {
        let pages_of = |pages: &[u32]| Touch::Pages(pages.iter().copied().map(Lpn).collect());
        let ask = |pages: &[u32]| TestRequest { at: 0, flow: 0, op: Write, touch: pages_of(pages) };
        // Page 0 keeps chip 0 busy: pages 3 and 6 wait there until 4 and 8 cycles, one after the other.
        let asks = [ask(&[0]), ask(&pages)];
        let answers = vec![(Question::Cancel, "overwrite".to_owned())];
        let recipe = Recipe { answers, ..recipe(base, &[("cancel_ends_at_once", 1)]) };
        let (events, totals) = events(&config, &recipe, &asks);
        let mut of_second: BTreeMap<u64, (Lpn, u32)> = BTreeMap::new();
        let mut dropped = Vec::new();
        let mut done = Time::ZERO;
        for Stamped { at, event } in events {
            match event {
                Event::Queued { txn, request: Some(RequestId(1)), lpn, .. } => drop(of_second.insert(txn, (lpn, 0))),
                Event::Estimated { txn, .. } => {
                    if let Some((_, estimates)) = of_second.get_mut(&txn) {
                        *estimates += 1;
                    }
                }
                Event::Ended { txn, end: End::Cancelled, .. } => dropped.push(txn),
                Event::Completed { request: RequestId(1) } => done = at,
                _ => {}
            }
        }
        assert_eq!((totals.cancelled, dropped.len(), done), (1, 1, Time::from_ns(12 * CYCLE)), "{base} {pages:?}");
        for (txn, (lpn, estimates)) in of_second {
            assert_eq!(estimates, u32::from(!dropped.contains(&txn)), "{base} {pages:?}: {lpn:?}");
        }
    }
}

/// Small blocks, a slow bus that a chip must find free, and few pages written again and again: chips collect, and wait for the bus to. A chip does not
/// take another's write while it has a victim, though it does nothing at that instant and its second plane has room.
#[test]
fn a_chip_that_waits_for_its_bus_to_collect_takes_no_write() {
    let mut config = crate::common::table1(1, CHIPS);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (10, 4);
    config.ftl.logical_pages = 2 * CHIPS * 20;
    config.bus.dispatch = flashlane_ssd::config::Dispatch::BusIdle;
    config.bus.mega_transfers = 20;
    let mut rng = Pcg64Mcg::new(53);
    let (mut moves, mut waits) = (0, 0);
    for _ in 0..300 {
        let mut at = 0;
        let asks: Vec<TestRequest> = (0..250)
            .map(|_| {
                at += u64::from(rng.next_u32() % 1_600_000);
                // Mostly pages of two chips.
                let page = rng.next_u32() % config.ftl.logical_pages;
                let page = if rng.next_u32().is_multiple_of(3) { page } else { page / CHIPS * CHIPS + page % 2 };
                TestRequest { at, flow: 0, op: Write, touch: Touch::Pages(vec![Lpn(page)]) }
            })
            .collect();
        let (events, _) = events(&config, &recipe("hos+qsl", &[]), &asks);
        let mut victims = [0; CHIPS as usize];
        for Stamped { event, .. } in events {
            match event {
                Event::VictimChosen { plane, .. } => victims[usize::from(plane.0 / 2)] += 1,
                Event::Erased { plane, .. } => victims[usize::from(plane.0 / 2)] -= 1,
                Event::Moved { plane, .. } => {
                    assert_eq!(victims[usize::from(plane.0 / 2)], 0, "a write moves to a chip that collects");
                    moves += 1;
                    waits += victims.iter().sum::<i32>();
                }
                _ => {}
            }
        }
    }
    assert!(moves > 1_000 && waits > 100, "{moves} moves, {waits} victims beside them: too few");
}

/// Programs saved do not depend on who acknowledges, and the buffer that keeps every write gives its pages back.
#[test]
fn acknowledged_at_the_buffer() {
    let mut rng = Pcg64Mcg::new(47);
    let (mut saved, mut waited) = (0, 0);
    for _ in 0..SCENES / 4 {
        let asks = scene(&mut rng);
        let mut config = unit_cycle(CHIPS);
        config.memory = Duration::from_ns(10);
        for pages in [2, 64] {
            config.buffer = Some(Buffer { merge_writes: false, ..Buffer::plain(pages, 0) });
            let written: usize = asks.iter().filter(|ask| ask.op == Write).map(touched).sum();
            for (name, cancels) in [("hos", false), ("sos", true)] {
                let (played, _) = play::audit(&config, &recipe(name, &[]), &asks).unwrap_or_else(|why| panic!("{why}"));
                let totals = &played.totals;
                assert_eq!(totals.user_programs + totals.cancelled, written as u64, "{name}");
                assert!(cancels || totals.cancelled == 0);
                saved += totals.cancelled;
                let writes = played.completions.iter().filter(|done| done.op == Write);
                let late = writes.filter(|done| done.done - done.arrival > config.memory).count();
                assert!(pages == 2 || late == 0, "{name}: {late} writes waited for a page of {pages}");
                waited += late;
            }
        }
    }
    assert!(saved > SCENES / 4 && waited > 1000, "{saved} saved, {waited} waited");
}

/// A write that would cancel another one, and could have its page of a full buffer, waits behind those that wait for space.
#[test]
fn a_full_buffer_takes_writes_in_order_of_arrival() {
    let mut config = unit_cycle(CHIPS);
    config.memory = Duration::from_ns(10);
    let merge_writes = false;
    config.buffer = Some(Buffer { merge_writes, ..Buffer::plain(2, 0) });
    // All pages are of chip 0. The program of page 0 runs until 4000, that of page 3 waits; page 6 waits for space.
    let ask = |at, page| TestRequest { at, flow: 0, op: Write, touch: Touch::Pages(vec![Lpn(page)]) };
    let asks = [ask(0, 0), ask(0, 3), ask(10, 6), ask(20, 3)];
    for (name, cancels) in [("hos", 0), ("hos+whm", 1)] {
        let (mut played, _) = play::audit(&config, &recipe(name, &[]), &asks).unwrap_or_else(|why| panic!("{why}"));
        played.completions.sort_by_key(|done| done.id);
        let done: Vec<u64> = played.completions.iter().map(|done| done.done.ns()).collect();
        let last = if cancels == 1 { 4_010 } else { 8_010 };
        assert_eq!(done, [10, 10, 4_010, last], "{name}");
        assert_eq!(played.totals.cancelled, cancels, "{name}");
    }
}

/// Pages of a request.
fn touched(ask: &TestRequest) -> usize {
    match &ask.touch {
        Touch::Pages(list) => list.len(),
        Touch::Bytes(..) | Touch::Fua(..) => unreachable!("scenes list pages"),
    }
}
