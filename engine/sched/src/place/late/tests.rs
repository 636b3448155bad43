//! Late binding on boards made by hand, and on random ones against the plain rule.

use super::*;
use crate::pick::testing::{board, scene};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use flashlane_core::board::Service;
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::Stage;
use flashlane_core::{Duration, Time, Transaction};
use flashlane_testing::Random;

/// `channels` of `chips` each, of `planes` planes, with free pages and blocks.
fn chips(channels: u32, chips: u32, planes: u32) -> Board {
    let facts = board(1, planes).facts;
    let geometry = Geometry { channels, chips_per_channel: chips, ..facts.geometry };
    let mut board = Board::new(flashlane_core::board::Facts { geometry, gc_hard_blocks: 3, ..facts }, 1);
    for plane in &mut board.planes {
        (plane.has_free_page, plane.free_pages, plane.free_blocks) = (true, 100, 9);
    }
    board.now = Time::from_ns(1_000_000_000_000);
    board
}

/// A write without a plane that has waited for `waited` ns.
fn waits(board: &mut Board, priority: u8, waited: u64) -> TxnId {
    let id = TxnId(board.txns.len() as u32);
    let enqueued = Time::from_ns(board.now.ns() - waited);
    let queue = board.unplaced();
    let (op, serial) = (FlashOp::Program, 1_000_000_000 - waited);
    board.txns.push(Transaction { op, serial, priority, enqueued, queue, stage: Stage::Waiting, ..Transaction::EMPTY });
    board.link(id, queue, TxnId::NONE);
    id
}

/// Sets what a unit does.
fn serve(board: &mut Board, unit: usize, service: Service) {
    board.units[unit].service = service;
    let each = board.facts.geometry.units_per_channel() as usize;
    let (channel, bit) = (&mut board.channels[unit / each], 1 << (unit % each));
    channel.idle = if service == Service::Idle { channel.idle | bit } else { channel.idle & !bit };
}

fn late(board: &Board) -> Late {
    choosing(board, 4)
}

/// One that compares so many chips.
fn choosing(board: &Board, choices: u64) -> Late {
    let mut late = Late::of(&Values { params: PARAMS, set: &[("late_choices", choices)], known: None });
    late.prepare(board);
    late
}

/// The plane that takes a write which has just come.
fn plane(late: &mut Late, board: &mut Board) -> Option<u16> {
    let write = waits(board, 0, 0);
    let placed = late.place_at_dispatch(board, write);
    board.unlink(write);
    assert!(placed.is_none_or(|placed| placed.write == write));
    placed.map(|placed| placed.to.0)
}

/// Chips take writes in turn, channels first; on each the plane with most free pages, the first of equals.
#[test]
fn free_chips_take_turns() {
    let mut board = chips(2, 2, 2);
    (board.planes[1].free_pages, board.planes[2].free_pages) = (101, 99);
    let mut late = choosing(&board, 1);
    let taken = [(); 5].map(|()| plane(&mut late, &mut board));
    let rule = "chips take turns, channels first, each by its plane with most free pages, the first of equals";
    assert_eq!(taken, [1, 4, 3, 6, 1].map(Some), "{rule}; {}", scene(&board));
    serve(&mut board, 2, Service::Busy);
    board.units[1].set_waiting([1, 0]);
    board.units[3].foreground_gc = flashlane_core::board::ForegroundGc::begun(TxnId(0), true, 1, false);
    let rule = "chips that are busy, have a read waiting or do what goes before a write take none";
    assert_eq!(plane(&mut late, &mut board), Some(1), "{rule}; {}", scene(&board));
    serve(&mut board, 0, Service::Paused);
    assert_eq!(plane(&mut late, &mut board), None, "{rule}, nor does a paused one; {}", scene(&board));
}

/// Of the first so many chips that could take a write the one with most free pages takes it, the first of equals; it is behind the
/// others then.
#[test]
fn the_chip_with_most_free_pages_takes_it() {
    for (choices, planes) in [(1, [0, 1, 2, 3, 0]), (2, [1, 2, 3, 1, 2]), (3, [2, 3, 2, 3, 2]), (9, [2, 2, 2, 2, 2])] {
        let mut board = chips(4, 1, 1);
        for (plane, free_pages) in board.planes.iter_mut().zip([100, 101, 103, 102]) {
            plane.free_pages = free_pages;
        }
        let mut late = choosing(&board, choices);
        let taken = [(); 5].map(|()| plane(&mut late, &mut board));
        let rule = "of so many chips in turn the one with most free pages takes a write: 100, 101, 103, 102";
        assert_eq!(taken, planes.map(Some), "{rule}; {choices} choices");
        serve(&mut board, 2, Service::Busy);
        let mut late = choosing(&board, 3);
        assert_eq!(plane(&mut late, &mut board), Some(3), "a chip that cannot take a write is no choice");
    }
}

/// Of two planes of one chip, or of two chips, the one with fewer free pages takes a write once the other has more valid ones by more than four
/// blocks of 16 pages; so does the one that is ahead, where the hindmost takes it otherwise.
#[test]
fn planes_far_fuller_than_another_take_none() {
    for (valid_pages, taken) in [(64, 1), (65, 0)] {
        for board in [chips(1, 1, 2), chips(2, 1, 1)] {
            for same_page in [false, true] {
                let mut board = board.clone();
                board.facts.same_page[FlashOp::Program.index()] = same_page;
                (board.planes[1].free_pages, board.planes[1].valid_pages) = (101, valid_pages);
                board.planes[0].next_page = 3;
                let is = plane(&mut late(&board), &mut board);
                assert_eq!(is, Some(taken), "{valid_pages} valid pages more are {}", scene(&board));
            }
        }
    }
}

/// The collection that waits for a chip is no reason to refuse it; a plane whose collection goes first is.
#[test]
fn a_chip_is_refused_when_a_plane_of_it_is_nearly_out_of_blocks() {
    // The hard threshold is 3.
    for (free_blocks, collecting, takes) in [(4, true, true), (3, true, false), (0, true, false), (0, false, true)] {
        for short in 0..2 {
            let mut board = chips(1, 2, 2);
            board.units[0].gc.reads = 7;
            (board.planes[short].free_blocks, board.planes[short].collecting) = (free_blocks, collecting);
            let beside = plane(&mut late(&board), &mut board);
            assert_eq!(
                beside,
                Some(if takes { 0 } else { 2 }),
                "a chip is refused while a plane that is collected has 3 free blocks or fewer; {}",
                scene(&board)
            );
            serve(&mut board, 1, Service::Busy);
            let alone = plane(&mut late(&board), &mut board);
            assert_eq!(alone, takes.then_some(0), "the same where no other chip could take it; {}", scene(&board));
        }
    }
}

/// Under paced collection a chip nearly out of blocks takes a write where no other could and collection has freed a page for it: here two
/// moves a page.
#[test]
fn a_chip_nearly_out_of_blocks_takes_writes_at_the_pace_of_its_collection() {
    for (moves, paced, takes) in [(1, true, false), (2, true, true), (9, false, false)] {
        let mut board = chips(1, 2, 1);
        (board.facts.paced_gc, board.facts.geometry.pages_per_block) = (paced, 6);
        for unit in 0..2 {
            let plane = &mut board.planes[unit];
            (plane.free_blocks, plane.collecting, plane.victim_pages) = (3, true, 4);
            let counters = &mut board.units[unit].counters;
            (counters.last_write, counters.moves) = (1, moves);
            board.units[unit].gc.reads = 7;
        }
        // Both, and then the one with more free pages.
        board.planes[1].free_pages += 1;
        let rule = "a chip nearly out of blocks takes a write if collection is paced and has made two moves for it";
        let both_short = plane(&mut late(&board), &mut board);
        assert_eq!(both_short, takes.then_some(1), "{rule}: {moves}, paced: {paced}; of two that with more free pages");
        board.planes[0].free_blocks = 4;
        let taken = plane(&mut choosing(&board, 1), &mut board);
        assert_eq!(taken, Some(0), "a chip that has blocks goes before, with one choice too; {}", scene(&board));
        serve(&mut board, 0, Service::Busy);
        let alone = plane(&mut late(&board), &mut board);
        assert_eq!(alone, takes.then_some(1), "{rule}: {moves}, paced: {paced}; the other is busy");
    }
}

/// After 50 programs of 1,325 us a write is also taken by a chip that a read waits for.
#[test]
fn reads_do_not_keep_a_write_for_ever() {
    for (waited, taken) in [(66_250_000, None), (66_250_001, Some(PlaneId(0)))] {
        let mut board = chips(1, 1, 1);
        board.units[0].set_waiting([1, 0]);
        let write = waits(&mut board, 0, waited);
        let is = late(&board).place_at_dispatch(&board, write).map(|placed| placed.to);
        let rule = "a chip that a read waits for takes a write only after 50 programs of 1,325 us";
        assert_eq!(is, taken, "{rule}; it has waited for {waited} ns");
    }
}

/// The planes of a die stay at the same page: the hindmost takes the first write of a command, and planes at its page join. What is ahead by more than
/// half a block, of 16 pages here, is behind; a plane without a free page takes nothing.
#[test]
fn a_chip_begins_with_the_hindmost_plane() {
    for (next_pages, full, expected) in [
        ([5, 5, 5, 5], None, &[1, 0, 2, 3][..]),
        ([6, 5, 5, 7], None, &[1, 2]),
        ([6, 6, 5, 6], None, &[2]),
        ([6, 6, 5, 6], Some(2), &[1, 0, 3]),
        ([1, 1, 1, 15], None, &[3]),
        ([15, 15, 1, 15], None, &[1, 0, 3]),
        ([12, 8, 8, 0], None, &[3]),
    ] {
        let mut board = chips(1, 1, 4);
        board.facts.same_page[FlashOp::Program.index()] = true;
        assert_eq!(board.facts.geometry.pages_per_block, 16);
        for (plane, next_page) in board.planes.iter_mut().zip(next_pages) {
            plane.next_page = next_page;
        }
        // The plane with most free pages, where offsets do not decide.
        board.planes[1].free_pages = 101;
        if let Some(full) = full {
            board.planes[full].has_free_page = false;
        }
        let rule = "the hindmost plane of a die takes a write first, planes at its page join; ahead by more than \
            8 pages is behind";
        assert_eq!(taken_in_turn(&mut board), expected, "{rule}; {}", scene(&board));
    }
}

/// Two dies of two planes: the planes of a die join where commands are multi-plane, the first of the other where they are multi-die.
#[test]
fn commands_span_what_the_drive_can() {
    for (multi_plane, multi_die, expected) in
        [(false, false, &[0][..]), (true, false, &[0, 1]), (false, true, &[0, 2]), (true, true, &[0, 1, 2, 3])]
    {
        let geometry = Geometry { dies_per_chip: 2, ..chips(1, 1, 2).facts.geometry };
        let facts = flashlane_core::board::Facts { geometry, multi_plane, multi_die, ..chips(1, 1, 2).facts };
        let mut board = Board::new(facts, 1);
        board.planes.iter_mut().for_each(|plane| (plane.has_free_page, plane.free_pages) = (true, 9));
        let rule = "companions are taken for planes and dies that commands can span";
        let taken = taken_in_turn(&mut board);
        assert_eq!(taken, expected, "{rule}; multi-plane {multi_plane}, multi-die {multi_die}, two dies of two planes");
    }
}

/// The planes that take writes until none does.
fn taken_in_turn(board: &mut Board) -> Vec<u16> {
    let mut late = late(board);
    let mut planes = vec![];
    while let Some(placed) = {
        let write = waits(board, 0, 0);
        late.place_at_dispatch(board, write)
    } {
        board.unlink(placed.write);
        take(board, placed);
        planes.push(placed.to.0);
    }
    planes
}

/// A write joins the queue of its plane's unit.
fn take(board: &mut Board, Placement { write, to }: Placement) {
    let (unit, slot) = board.home_of(to);
    let queue = board.queue_for(unit, FlashOp::Program, board.txn(write).priority);
    let txn = board.txn_mut(write);
    (txn.plane, txn.unit, txn.slot, txn.queue) = (to, unit, slot, queue);
    board.link(write, queue, TxnId::NONE);
}

/// Of two priorities the higher goes first unless the lower has waited more than twice as long; a write that has lost its patience goes before
/// both.
#[test]
fn a_wait_counts_twice_a_step_of_priority() {
    let facts = flashlane_core::board::Facts { priorities: 2, ..chips(8, 1, 1).facts };
    let mut board = Board::new(facts, 1);
    board.planes.iter_mut().for_each(|plane| (plane.has_free_page, plane.free_pages) = (true, 9));
    board.now = Time::from_ns(1_000_000_000_000);
    let waited = [(0, 900), (0, 600), (0, 200), (1, 500), (1, 300), (1, 100), (1, 50)];
    let writes: Vec<TxnId> = waited.map(|(priority, waited)| waits(&mut board, priority, waited)).into();
    let mut late = late(&board);
    let mut order = vec![];
    while let Some(oldest) = board.walk(board.unplaced()).next() {
        let placed = late.place_at_dispatch(&board, oldest).expect("chips are free");
        board.unlink(placed.write);
        order.push(placed.write);
    }
    let rule = "a wait counts twice for a step of priority";
    assert_eq!(order, [3, 0, 1, 4, 2, 5, 6].map(|i| writes[i]), "{rule}; (priority, waited): {waited:?}");
    let old = waits(&mut board, 0, 66_250_001);
    waits(&mut board, 1, 0);
    let placed = late.place_at_dispatch(&board, old).map(|placed| placed.write);
    assert_eq!(placed, Some(old), "a write that has lost its patience goes before all priorities");
}

/// With `late_fair` the flow that has written least goes first while more writes wait than that a chip, its oldest one; without it, or with
/// fewer waiting, or a write out of patience, the oldest.
#[test]
fn the_flow_that_has_written_least_goes_first_where_many_wait() {
    let facts = chips(2, 1, 1).facts;
    for (fair, waited, first) in [(0, 900, 0), (1, 900, 2), (2, 900, 2), (3, 900, 0), (1, 66_250_001, 0)] {
        let mut board = Board::new(facts.clone(), 3);
        board.planes.iter_mut().for_each(|plane| (plane.has_free_page, plane.free_pages) = (true, 9));
        board.now = Time::from_ns(1_000_000_000_000);
        let set = &[("late_fair", fair)];
        let mut late = Late::of(&Values { params: PARAMS, set, known: None });
        // What was written under another scheduler does not count.
        (0..9).for_each(|_| board.flows[1].page_programmed());
        late.prepare(&board);
        for (flow, pages) in board.flows.iter_mut().zip([7, 3, 5]) {
            (0..pages).for_each(|_| flow.page_programmed());
        }
        let of_flow = [(0, waited), (2, 800), (1, 700), (1, 600)];
        let writes = of_flow.map(|(flow, waited)| {
            let id = waits(&mut board, 0, waited);
            board.txn_mut(id).flow = flashlane_core::FlowId(flow);
            id
        });
        let placed = late.place_at_dispatch(&board, writes[0]).map(|placed| placed.write);
        let rule = "where so many wait the oldest of the flow that has written least goes, else the oldest of all";
        assert_eq!(
            placed,
            Some(writes[first]),
            "{rule}; from {fair} writes a chip, the oldest has waited for {waited} ns"
        );
    }
}

/// If nothing runs or waits and no plane has a free page, the next chip gets the write, so that it reports the shortage or
/// collects; with anything under way the write waits.
#[test]
fn no_plane_has_room() {
    let mut board = chips(2, 1, 1);
    board.planes.iter_mut().for_each(|plane| plane.has_free_page = false);
    let mut late = late(&board);
    let rule = "where nothing runs or waits and no plane has a free page the next chip gets the write";
    assert_eq!(plane(&mut late, &mut board), Some(0), "{rule}; {}", scene(&board));
    board.units[1].gc.erases = 1;
    assert_eq!(plane(&mut late, &mut board), None, "a write waits while anything is under way; {}", scene(&board));
}

/// Whether a chip of these planes has collected as much since its last write as that costs, by counting: pages are moved one at a time, and whenever
/// the moves of all its victims are made, the pages that these lacked are free.
fn has_earned_a_write(planes: &[Plane], counters: &flashlane_core::board::UnitCounters) -> bool {
    let victims = planes.iter().filter(|plane| plane.collecting);
    let (valid, all) = victims.fold((0, 0), |(v, n), plane| (v + u64::from(plane.victim_pages), n + 16));
    let (mut moved, mut earned) = (0, 0);
    while moved < counters.moves + counters.erases {
        (moved, earned) = (moved + 1, earned + all - valid);
    }
    moved > 0 && (valid == 0 || earned / valid >= counters.last_write)
}

/// A board in words: what took the write, and what could have.
fn placement(board: &Board, late: &Late, placed: Option<PlaneId>, takers: &[PlaneId]) -> String {
    let took = placed.map_or("no plane took it".to_string(), |plane| format!("plane {} took it", plane.0));
    let could: Vec<u16> = takers.iter().map(|plane| plane.0).collect();
    let (next, choices, paced) = (late.next, late.choices, board.facts.paced_gc);
    let rule = format!("next is {next:?}, {choices} chips are compared, collection is paced: {paced}");
    format!("{took}, planes {could:?} could; {rule}; {}", scene(board))
}

/// A random board of four chips of two planes, on which chips may be busy, reads may wait and blocks may run out.
fn random_board(random: &mut Random) -> Board {
    let mut sample = |below: u64| random.below(below);
    let mut board = chips(2, 2, 2);
    board.facts.same_page[1] = sample(2) == 0;
    (board.facts.paced_gc, board.facts.geometry.pages_per_block) = (sample(2) == 0, 16);
    for plane in &mut board.planes {
        (plane.free_blocks, plane.collecting) = (2 + sample(5) as u32, sample(2) == 0);
        (plane.has_free_page, plane.free_pages) = (sample(4) > 0, 1 + sample(9) as u32);
        (plane.next_page, plane.victim_pages) = (sample(16) as u32, sample(16) as u32);
        plane.valid_pages = 60 * sample(4) as u32;
    }
    for unit in 0..board.units.len() {
        let counters = &mut board.units[unit].counters;
        (counters.last_write, counters.moves, counters.erases) = (1 + sample(2), sample(5), sample(2));
        serve(&mut board, unit, if sample(2) == 0 { Service::Idle } else { Service::Busy });
        board.units[unit].set_waiting([u32::from(sample(3) == 0), 0]);
    }
    board
}

/// The planes that could take a write by the plain rule: those whose chip is not nearly out of blocks, or all if every chip is, which is returned
/// too.
fn able_planes(board: &Board) -> (Vec<PlaneId>, bool) {
    let could = |&plane: &PlaneId| {
        let unit = board.home_of(plane).0;
        let state = &board.units[unit.index()];
        let own = &board.planes[unit.index() * 2..unit.index() * 2 + 2];
        let short = own.iter().any(|plane| plane.collecting && plane.free_blocks <= 3);
        let free = state.service == Service::Idle && state.waiting(FlashOp::Read) == 0;
        let goes = !short || board.facts.paced_gc && has_earned_a_write(own, &state.counters);
        (free && goes && board.plane(plane).has_free_page).then_some((short, plane))
    };
    let able: Vec<(bool, PlaneId)> = (0..8).map(PlaneId).filter_map(|plane| could(&plane)).collect();
    let all_short = able.iter().all(|(short, _)| *short);
    (able.iter().filter(|(short, _)| *short == all_short).map(|it| it.1).collect(), all_short)
}

/// Of planes with up to 64 valid pages more than another the one with most free pages.
fn roomiest(of: Vec<Plane>) -> Option<Plane> {
    let most_valid = of.iter().map(|plane| plane.valid_pages).min()? + 64;
    of.into_iter().rev().filter(|plane| plane.valid_pages <= most_valid).max_by_key(|plane| plane.free_pages)
}

/// Whether a write was placed on the roomiest chip of the planes `takers`, and there on none with many more valid pages than the other plane.
fn is_roomy_and_even(board: &Board, placed: PlaneId, takers: &[PlaneId]) -> bool {
    let of_unit = |unit: UnitId| -> Vec<Plane> {
        takers.iter().filter(|&&plane| board.home_of(plane).0 == unit).map(|&plane| *board.plane(plane)).collect()
    };
    let best = roomiest((0..4).filter_map(|unit| roomiest(of_unit(UnitId(unit)))).collect());
    let own = of_unit(board.home_of(placed).0);
    let fewest_valid = own.iter().map(|plane| plane.valid_pages).min();
    roomiest(own).map(|plane| plane.free_pages) == best.map(|plane| plane.free_pages)
        && fewest_valid.is_some_and(|fewest| board.plane(placed).valid_pages <= fewest + 64)
}

/// The law of `late`, on random boards: a write is bound to a chip if and only if one could take it whose collection does not go first,
/// and to such a chip only, and under paced collection to one nearly out of blocks only if no other could; with as many choices as chips to the
/// roomiest, and to no plane that is too full.
#[test]
fn no_write_binds_where_blocks_run_out_while_others_have_room() {
    let mut random = Random(17);
    let mut seen = [0; 3];
    for _ in 0..20_000 {
        let mut board = random_board(&mut random);
        let mut late = choosing(&board, 1 + random.below(4));
        late.next = Rotation { way: random.below(2) as u32, channel: random.below(2) as u32 };
        let write = waits(&mut board, 0, 0);
        let placed = late.place_at_dispatch(&board, write).map(|placed| placed.to);
        let (takers, all_short) = able_planes(&board);
        let idle = board.units.iter().all(|unit| unit.service == Service::Idle && unit.user_waiting() == 0);
        let scene = || placement(&board, &late, placed, &takers);
        match placed {
            Some(plane) if !takers.is_empty() => {
                assert!(takers.contains(&plane), "a write goes to a plane that could begin it; {}", scene());
                let is_right = late.choices < 4 || is_roomy_and_even(&board, plane, &takers);
                assert!(is_right, "the chip with most free pages takes it, and no plane that is too full; {}", scene());
            }
            Some(_) => {
                assert!(idle, "a write that no plane could begin waits while anything is under way; {}", scene())
            }
            None => assert!(takers.is_empty(), "a write goes as soon as a plane could begin it; {}", scene()),
        }
        seen[usize::from(takers.is_empty())] += 1;
        seen[2] += usize::from(all_short && !takers.is_empty());
    }
    assert!(seen.iter().all(|&seen| seen > 500), "{seen:?}");
}

/// What a program takes, for the patience: 1,325 us.
#[test]
fn patience_is_counted_in_programs() {
    let board = chips(1, 1, 1);
    assert_eq!(board.facts.typical(FlashOp::Program), Duration::from_us(1325));
    assert_eq!(late(&board).patience, 66_250_000, "patience is counted in programs, of which it is 50");
}
