//! A board with one unit, for the tests of answers.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::board::{Board, Command, Facts, Service};
use flashlane_core::decide::{Group, PageWrite, Pick, Scope};
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, Lpn, PlaneId, QueueId, Time, Transaction, TxnId, UnitId};

/// One chip of `dies` dies with `planes` planes each.
pub(crate) fn board(dies: u32, planes: u32) -> Board {
    let geometry = Geometry {
        dies_per_chip: dies,
        planes_per_die: planes,
        blocks_per_plane: 16,
        pages_per_block: 16,
        ..Geometry::plain()
    };
    let us = Duration::from_us;
    let facts = Facts {
        array: [us(75), us(1300), us(3800)],
        transfer_page: us(25),
        transfer_sectors: vec![us(25); 9],
        iteration: [us(65); 3],
        ..Facts::plain(geometry)
    };
    Board::new(facts, 1)
}

/// A page at home in this plane.
pub(crate) fn to(home: u16) -> PageWrite {
    PageWrite { lpn: Lpn(0), home: PlaneId(home), at: PlaneId(home) }
}

/// Puts a program at the tail of the unit's queue.
pub(crate) fn program(board: &mut Board, slot: u8, request: u32) -> TxnId {
    put(board, FlashOp::Program, 0, 0, slot, request)
}

/// Puts a read at the tail of the unit's queue.
pub(crate) fn read(board: &mut Board, serial: u32, slot: u8, request: u32) -> TxnId {
    put(board, FlashOp::Read, 0, serial, slot, request)
}

/// Makes these waiting transactions the unit's command, which ends then.
pub(crate) fn serve(board: &mut Board, members: &[TxnId], ends: Time) {
    for (i, &id) in members.iter().enumerate() {
        board.unlink(id);
        let txn = board.txn_mut(id);
        txn.stage = Stage::InService;
        txn.next = members.get(i + 1).copied().unwrap_or(TxnId::NONE);
    }
    let lead = board.txn(members[0]);
    let (op, owner, now) = (lead.op, lead.owner, board.now);
    let unit = &mut board.units[0];
    unit.service = Service::Busy;
    unit.command =
        Command { lead: members[0], members: members.len() as u8, op, owner, started: now, ends, ..Command::NONE };
}

fn put(board: &mut Board, op: FlashOp, priority: u8, serial: u32, slot: u8, request: u32) -> TxnId {
    let id = TxnId(board.txns.len() as u32);
    board.txns.push(Transaction {
        serial: u64::from(serial),
        slot,
        plane: PlaneId(u16::from(slot)),
        unit: UnitId(0),
        request,
        op,
        priority,
        queue: board.queue_for(UnitId(0), op, priority),
        stage: Stage::Waiting,
        transfer: board.facts.transfer(0),
        ..Transaction::EMPTY
    });
    let queue = board.txn(id).queue;
    board.link(id, queue, TxnId::NONE);
    id
}

/// A board in words, for messages: what waits in every queue from its head on, and what stands on every plane.
pub(crate) fn scene(board: &Board) -> String {
    let mut text = format!("at {} ns", board.now.ns());
    for queue in (0..board.queues.len() as u32).map(QueueId).filter(|queue| board.queues[queue.index()].len > 0) {
        text += &format!("\n  queue {}:", queue.0);
        for id in board.walk(queue) {
            let Transaction { op, request, plane, slack, serial, .. } = board.txn(id);
            text += &format!(
                " {}({op:?} {serial} of request {request} for plane {}, slack {} ns)",
                id.0,
                plane.0,
                slack.ns()
            );
        }
    }
    for (at, plane) in board.planes.iter().enumerate() {
        let unit = &board.units[board.home_of(PlaneId(at as u16)).0.index()];
        text += &format!(
            "\n  plane {at}: its chip is {:?} with {} reads waiting and {} steps collected; {} free blocks ({} are too few), \
             collecting: {}, free page: {}, {} free pages, next page {}, {} valid pages of its victim",
            unit.service,
            unit.waiting(FlashOp::Read),
            unit.counters.moves + unit.counters.erases,
            plane.free_blocks,
            board.facts.gc_hard_blocks,
            plane.collecting,
            plane.has_free_page,
            plane.free_pages,
            plane.next_page,
            plane.victim_pages
        );
    }
    text
}

/// What an answer begins next at a chip of two planes, in the words in which `waiting` says what waits there: `r3` is a read and `w1` a write, with their
/// ages, in the order of the queue; `/1` puts one on the second plane, `+` gives it the higher of two priorities, and `!` marks a write behind an
/// older one of its page.
pub(crate) fn picked(answer: &mut dyn Pick, waiting: &str, scope: Scope) -> String {
    let mut board = Board::new(Facts { priorities: 2, ..board(1, 2).facts }, 1);
    board.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
    let words: Vec<&str> = waiting.split_whitespace().collect();
    for (word, i) in words.iter().zip(0..) {
        let op = if word.starts_with('r') { FlashOp::Read } else { FlashOp::Program };
        let age: String = word[1..].chars().take_while(char::is_ascii_digit).collect();
        let (priority, slot) = (u8::from(word.contains('+')), u8::from(word.contains("/1")));
        let id = put(&mut board, op, priority, age.parse().expect("an age"), slot, i);
        if word.ends_with('!') {
            board.txn_mut(id).blocked_by = id;
        }
    }
    let mut group = Group::new();
    answer.pick(&board, UnitId(0), scope, &mut group);
    let begun: Vec<&str> = group.members().iter().map(|id| words[id.index()]).collect();
    begun.join(" ")
}

/// Holds an answer to a table: what waits, what it may take, what it begins, and the rule that says so.
pub(crate) fn begins(mut answer: impl Pick, table: &[(&str, Scope, &str, &str)]) {
    for &(waiting, scope, begun, rule) in table {
        assert_eq!(
            picked(&mut answer, waiting, scope),
            begun,
            "{rule}; what waits: {waiting}, of which {scope:?} may go"
        );
    }
}
