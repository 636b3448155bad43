//! A board with one unit, for the tests of answers.

use alloc::vec;

use flashlane_core::board::{Board, Command, Facts, Service};
use flashlane_core::decide::PageWrite;
use flashlane_core::geometry::{Geometry, UnitKind};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, Lpn, PlaneId, Time, Transaction, TxnId, UnitId};

/// One chip of `dies` dies with `planes` planes each.
pub(crate) fn board(dies: u32, planes: u32) -> Board {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: dies,
        planes_per_die: planes,
        blocks_per_plane: 16,
        pages_per_block: 16,
        page_bytes: 4096,
        metadata_bytes: 0,
        unit: UnitKind::Chip,
    };
    let us = Duration::from_us;
    let facts = Facts {
        array: [us(75), us(1300), us(3800)],
        transfer_page: us(25),
        transfer_sectors: vec![us(25); 9],
        iteration: us(65),
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
    put(board, FlashOp::Program, 0, slot, request)
}

/// Puts a read at the tail of the unit's queue.
pub(crate) fn read(board: &mut Board, serial: u32, slot: u8, request: u32) -> TxnId {
    put(board, FlashOp::Read, serial, slot, request)
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

fn put(board: &mut Board, op: FlashOp, serial: u32, slot: u8, request: u32) -> TxnId {
    let id = TxnId(board.txns.len() as u32);
    board.txns.push(Transaction {
        serial: u64::from(serial),
        slot,
        plane: PlaneId(u16::from(slot)),
        unit: UnitId(0),
        request,
        op,
        queue: board.queue_for(UnitId(0), op, 0),
        stage: Stage::Waiting,
        transfer: board.facts.transfer(0),
        ..Transaction::EMPTY
    });
    let queue = board.txn(id).queue;
    board.link(id, queue, TxnId::NONE);
    id
}
