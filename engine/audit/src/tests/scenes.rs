//! Legal streams, each as short as its subject allows.

use flashlane_core::decide::{Estimate, GcMode, SuspendPoints};
use flashlane_core::event::{End, EntryAt, Event};
use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Lpn, Owner, PlaneId, RequestId, UnitId};
use flashlane_ssd::config::{Buffer, BufferOrder, Mapping};

use super::case::*;

/// Request 1 writes logical page 0 to plane 0.
pub fn write() -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    let done = case.program(0, 1, 0, 0, (0, 0));
    case.complete(done, 1);
    case
}

/// As [`write`], with an estimated slack of 5 ns.
pub fn estimated_write() -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    case.push(0, Event::Estimated { txn: 1, estimate: Estimate::default(), slack: Duration::from_ns(5) });
    let done = case.program(0, 1, 0, 0, (0, 0));
    case.complete(done, 1);
    case
}

/// As [`write`]; request 2 then reads the page.
pub fn write_read() -> Case {
    let mut case = write();
    let at = 500_000;
    case.submit(at, 2, Op::Read, 1);
    case.queue(at, 2, Requester::Request(2), FlashOp::Read, 0, 0);
    let done = case.read(at, 2, 1, 0, 0, 0);
    case.complete(done, 2);
    case
}

/// The map lies on the flash, and memory holds the entry of one page: a read of page 5 waits for that of its translation page, 256.
pub fn read_entry() -> Case {
    let mut case = Case::new();
    let (entries, entries_per_page, read_bytes) = (1, 64, 4096);
    case.config.mapping =
        Some(Mapping { entries, host_entries: 0, entries_per_page, entry_bytes: 4, read_bytes, warm: false });
    case.submit(0, 1, Op::Read, 1);
    case.push(0, Event::EntryLookedUp { lpn: Lpn(5), at: EntryAt::Flash });
    case.queue(0, 1, Requester::Mapping, FlashOp::Read, 256, 0);
    let fetched = case.read(0, 1, 0, 0, 0, 0);
    case.push(fetched, Event::EntryArrived { lpn: Lpn(5) });
    case.queue(fetched, 2, Requester::Request(1), FlashOp::Read, 5, 0);
    let done = case.read(fetched, 2, 1, 0, 1, 0);
    case.complete(done, 1);
    case
}

/// As [`read_entry`]; then page 5 is written, and the entry of page 70 takes the place of the dirty one: translation page 256 is written
/// anew behind the read of page 70, and read before unless, as is wrong, `reads` is false.
pub fn entry_makes_room(reads: bool) -> Case {
    let mut case = read_entry();
    let at = 500_000;
    case.submit(at, 2, Op::Write, 1);
    case.push(at, Event::EntryLookedUp { lpn: Lpn(5), at: EntryAt::Memory });
    case.queue(at, 3, Requester::Request(2), FlashOp::Program, 5, 0);
    let written = case.program(at, 3, 2, 5, (0, 0));
    case.complete(written, 2);
    case.submit(written, 3, Op::Read, 1);
    case.push(written, Event::EntryLookedUp { lpn: Lpn(70), at: EntryAt::Flash });
    case.queue(written, 4, Requester::Mapping, FlashOp::Read, 257, 0);
    let fetched = case.read(written, 4, 3, 0, 2, 0);
    case.push(fetched, Event::EntryArrived { lpn: Lpn(70) });
    case.queue(fetched, 5, Requester::Request(3), FlashOp::Read, 70, 0);
    if reads {
        case.queue(fetched, 6, Requester::Mapping, FlashOp::Read, 256, 0);
    } else {
        case.queue(fetched, 7, Requester::Mapping, FlashOp::Program, 256, 0);
    }
    let read = case.read(fetched, 5, 4, 0, 3, 0);
    case.complete(read, 3);
    let mut known = read;
    if reads {
        known = case.read(read, 6, 5, 0, 3, 0);
        case.queue(known, 7, Requester::Mapping, FlashOp::Program, 256, 0);
    }
    case.program(known, 7, 6, 256, (0, 1));
    case
}

/// First come, first served on unit 0: behind a write come a read and a write, which go in this order or, as is wrong, in the other.
pub fn served_in_turn(read_first: bool) -> Case {
    let mut case = Case::new();
    case.policy.oldest_first = true;
    case.submit(0, 1, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    let free = case.program(0, 1, 0, 0, (0, 0));
    case.submit(10, 2, Op::Read, 1);
    case.queue(10, 2, Requester::Request(2), FlashOp::Read, 9, 1);
    case.submit(20, 3, Op::Write, 1);
    case.queue(20, 3, Requester::Request(3), FlashOp::Program, 1, 0);
    case.complete(free, 1);
    if read_first {
        let read = case.read(free, 2, 1, 0, 0, 0);
        case.complete(read, 2);
        let written = case.program(read, 3, 2, 1, (0, 1));
        case.complete(written, 3);
    } else {
        let written = case.program(free, 3, 1, 1, (0, 1));
        case.complete(written, 3);
        let read = case.read(written, 2, 2, 0, 0, 0);
        case.complete(read, 2);
    }
    case
}

/// The same with two reads, the later first.
pub fn read_out_of_turn() -> Case {
    let mut case = Case::new();
    case.policy.oldest_first = true;
    for request in [1, 2, 3] {
        case.submit(request, request, Op::Read, 1);
        case.queue(request, request, Requester::Request(request), FlashOp::Read, request as u32, 0);
    }
    let mut at = 1;
    for (request, command) in [(1, 0), (3, 1), (2, 2)] {
        at = case.read(at, request, command, 0, 0, 0);
        case.complete(at, request);
    }
    case
}

/// A flush finds nothing dirty.
pub fn idle_flush() -> Case {
    let mut case = Case::new();
    case.config.buffer = Some(MERGING);
    case.submit(0, 1, Op::Flush, 0);
    case.complete(1_000, 1);
    case
}

/// A write waits for space in a buffer of one page behind another, and its page is trimmed: it is done then.
pub fn trimmed_while_it_waits() -> Case {
    let mut case = buffered();
    case.submit(2_010, 2, Op::Write, 1);
    case.submit(2_500, 3, Op::Trim, 1);
    case.push(2_500, Event::PageDropped { request: RequestId(2), lpn: Lpn(1) });
    case.push(2_500, Event::Unmapped { request: RequestId(3), lpn: Lpn(1), pages: 1 });
    case.complete(2_500, 2);
    case.complete(2_500, 3);
    case
}

/// A read that arrives in the instant the write of its page is dispatched, and runs after it.
pub fn read_behind_write() -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    let written = case.program(0, 1, 0, 0, (0, 0));
    case.submit(0, 2, Op::Read, 1);
    case.queue(0, 2, Requester::Request(2), FlashOp::Read, 0, 0);
    case.complete(written, 1);
    let done = case.read(written, 2, 1, 0, 0, 0);
    case.complete(done, 2);
    case
}

/// Two writes of page 0, one after the other.
pub fn two_writes() -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Write, 1);
    case.submit(0, 2, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    case.queue(0, 2, Requester::Request(2), FlashOp::Program, 0, 0);
    let first = case.program(0, 1, 0, 0, (0, 0));
    case.complete(first, 1);
    let second = case.program(first, 2, 1, 0, (0, 1));
    case.complete(second, 2);
    case
}

/// One command reads never-written pages on planes 0 and `other` of unit 0, the second for the buffer.
pub fn pair(other: u16) -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Read, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Read, 0, 0);
    case.queue(0, 2, Requester::Buffer, FlashOp::Read, 1, other);
    case.dispatch(0, 1, 0, 0, 0);
    case.dispatch(0, 2, 0, 0, 0);
    case.array(0, 0, 0, READ);
    case.array_end(READ, 0, 0);
    case.bus(READ, 0, 0, X);
    case.end(READ + X, 1, End::Flash, 0);
    case.complete(READ + X, 1);
    case.bus(READ + X, 0, 0, X);
    case.end(READ + 2 * X, 2, End::Flash, 0);
    case
}

/// One command programs the first pages of planes 0 and 1.
pub fn pair_program() -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Write, 2);
    for (txn, plane) in [(1, 0), (2, 1)] {
        case.queue(0, txn, Requester::Request(1), FlashOp::Program, plane as u32, plane);
    }
    for (txn, plane) in [(1, 0), (2, 1)] {
        case.dispatch(0, txn, 0, 0, 0);
        case.map(0, plane as u32, plane, 0);
    }
    case.bus(0, 0, 0, 2 * X);
    case.array(2 * X, 0, 0, PROGRAM);
    case.array_end(2 * X + PROGRAM, 0, 0);
    for txn in [1, 2] {
        case.end(2 * X + PROGRAM, txn, End::Flash, 0);
    }
    case.complete(2 * X + PROGRAM, 1);
    case
}

/// Units 0 and 1 read at once and share their channel.
pub fn two_units() -> Case {
    let mut case = Case::new();
    for (request, unit, wait) in [(1, 0, 0), (2, 1, X)] {
        case.submit(0, request, Op::Read, 1);
        case.queue(0, request, Requester::Request(request), FlashOp::Read, unit as u32, unit * 4);
        let done = case.read(0, request, request, unit, 0, wait);
        case.complete(done, request);
    }
    case
}

/// The program of a request is in its array phase from `X` on.
fn program_begins() -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    case.dispatch(0, 1, 0, 0, 0);
    case.map(0, 0, 0, 0);
    case.bus(0, 0, 0, X);
    case.array(X, 0, 0, PROGRAM);
    case
}

/// A program of a request is paused after `spent` of its array time, `inner` is done for the buffer on the same
/// plane, and the program goes on.
pub fn pause(spent: u64, inner: FlashOp) -> Case {
    let mut case = program_begins();
    case.queue(X, 2, Requester::Buffer, inner, 5, 0);
    let (at, left) = (X + spent, PROGRAM - spent);
    case.push(at, Event::Paused { unit: UnitId(0), command: 0, remaining: Duration::from_ns(left) });
    let served = match inner {
        FlashOp::Program => case.program(at + SUSPEND, 2, 1, 5, (0, 1)),
        _ => case.read(at + SUSPEND, 2, 1, 0, 7, 0),
    };
    let on = served + RESUME;
    case.array(on, 0, 0, left);
    case.array_end(on + left, 0, 0);
    case.end(on + left, 1, End::Flash, on - at);
    case.complete(on + left, 1);
    case
}

/// A program that is paused after one iteration, and again when it has gone on for `gap` ns.
pub fn paused_again(gap: u64) -> Case {
    let mut case = program_begins();
    case.config.nand.suspend_limit = 2;
    case.config.nand.suspend_min = Duration::from_ns(gap);
    let (mut from, mut left, mut paused) = (X, PROGRAM, 0);
    for (read, works) in [(2, ITERATION), (3, gap)] {
        case.queue(from, read, Requester::Buffer, FlashOp::Read, 5, 0);
        let at = from + works;
        left -= works;
        case.push(at, Event::Paused { unit: UnitId(0), command: 0, remaining: Duration::from_ns(left) });
        from = case.read(at + SUSPEND, read, read - 1, 0, 7, 0) + RESUME;
        paused += from - at;
        case.array(from, 0, 0, left);
    }
    case.array_end(from + left, 0, 0);
    case.end(from + left, 1, End::Flash, paused);
    case.complete(from + left, 1);
    case
}

/// Write 1 of page 0 waits behind a read of its unit and is cancelled by write 2.
pub fn cancel() -> Case {
    let mut case = Case::new();
    case.submit(0, 3, Op::Read, 1);
    case.queue(0, 3, Requester::Request(3), FlashOp::Read, 9, 1);
    case.submit(0, 1, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    let free = case.read(0, 3, 0, 0, 0, 0);
    case.submit(10, 2, Op::Write, 1);
    case.end(10, 1, End::Cancelled, 0);
    case.queue(10, 2, Requester::Request(2), FlashOp::Program, 0, 0);
    case.complete(free, 3);
    let done = case.program(free, 2, 1, 0, (0, 0));
    case.complete(done, 1);
    case.complete(done, 2);
    case
}

/// As [`cancel`], with the end of the old write reported with that of its successor.
pub fn cancel_reported_late() -> Case {
    let mut case = cancel();
    let successor = case.find(0, |e| matches!(e, Event::Ended { txn: 2, .. }));
    let reported = case.events[successor];
    let old = case.find(0, |e| matches!(e, Event::Ended { txn: 1, .. }));
    let mut cancelled = case.events.remove(old);
    cancelled.at = reported.at;
    case.events.insert(successor, cancelled);
    case
}

/// Write 1 of page 0 is under way and write 2 of page 1 waits when both pages are trimmed.
pub fn trimmed() -> Case {
    let mut case = Case::new();
    case.submit(0, 1, Op::Write, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    let done = case.program(0, 1, 0, 0, (0, 0));
    case.submit(10, 2, Op::Write, 1);
    case.queue(10, 2, Requester::Request(2), FlashOp::Program, 1, 0);
    case.submit(20, 3, Op::Trim, 2);
    case.end(20, 2, End::Trimmed, 0);
    case.complete(20, 2);
    case.push(20, Event::Unmapped { request: RequestId(3), lpn: Lpn(0), pages: 2 });
    case.complete(20, 3);
    case.complete(done, 1);
    case
}

/// As [`buffered`]; a flush waits for the program.
pub fn flushed() -> Case {
    let mut case = buffered();
    case.submit(2_000, 2, Op::Flush, 0);
    let done = case.events.iter().map(|stamped| stamped.at.ns()).max().expect("events");
    case.complete(done, 2);
    case
}

/// A buffer that merges writes.
const MERGING: Buffer = Buffer { read_allocate: true, ..Buffer::plain(8, 8) };

/// A write completes in the buffer, which then programs it.
pub fn buffered() -> Case {
    let mut case = Case::new();
    case.config.buffer = Some(MERGING);
    case.submit(0, 1, Op::Write, 1);
    case.push(0, Event::PageFromMemory { request: RequestId(1), lpn: Lpn(0) });
    case.complete(1_000, 1);
    case.queue(2_000, 1, Requester::Buffer, FlashOp::Program, 0, 0);
    case.program(2_000, 1, 0, 0, (0, 0));
    case
}

/// A part of page 0 was stored in the buffer, and its program follows the read of the rest.
pub fn buffered_part() -> Case {
    let mut case = Case::new();
    case.config.buffer = Some(Buffer { read_allocate: false, ..MERGING });
    case.config.ftl.read_modify_write = true;
    case.submit(0, 1, Op::Write, 1);
    if let Event::Submitted { extent, .. } = &mut case.events[0].event {
        *extent = Some((512, 512));
    }
    case.push(0, Event::PageFromMemory { request: RequestId(1), lpn: Lpn(0) });
    rest_of(&mut case, 0, 2, 0);
    let read = case.read(0, 2, 0, 0, 0, 0);
    case.complete(1_000, 1);
    case.queue(read, 1, Requester::Buffer, FlashOp::Program, 0, 0);
    case.program(read, 1, 1, 0, (0, 0));
    case
}

/// The read of the rest of a page joins its queue.
pub fn rest_of(case: &mut Case, at: u64, txn: u64, lpn: u32) {
    case.queue(at, txn, Requester::Buffer, FlashOp::Read, lpn, 0);
    if let Some(Event::Queued { owner, .. }) = case.events.last_mut().map(|stamped| &mut stamped.event) {
        *owner = Owner::User;
    }
}

/// Write 2 waits for space in the buffer, and a read of its page is served from memory or, as is wrong, by the flash.
pub fn waits_for_space(from_memory: bool) -> Case {
    let mut case = buffered();
    case.submit(2_010, 2, Op::Write, 1);
    if let Event::Submitted { extent, .. } =
        &mut case.events.iter_mut().rev().nth(1).expect("before its admission").event
    {
        *extent = Some((4096, 4096));
    }
    case.submit(2_020, 3, Op::Read, 1);
    if from_memory {
        case.push(2_020, Event::PageFromMemory { request: RequestId(3), lpn: Lpn(1) });
        case.complete(3_020, 3);
    } else {
        case.queue(2_020, 3, Requester::Request(3), FlashOp::Read, 1, 8);
        let done = case.read(2_020, 3, 1, 2, 0, 0);
        case.complete(done, 3);
    }
    let space = 2_000 + X + PROGRAM;
    case.push(space, Event::PageFromMemory { request: RequestId(2), lpn: Lpn(1) });
    case.complete(space + 1_000, 2);
    case.queue(space, 4, Requester::Buffer, FlashOp::Program, 1, 0);
    case.program(space, 4, 3, 1, (0, 1));
    case
}

/// A read goes on when write 2, behind which it waits, has its space: after the program of the buffer that joined its queue before or, as is wrong,
/// ahead of it.
pub fn read_goes_on(program_first: bool) -> Case {
    let mut case = buffered();
    case.config.front.order = BufferOrder::Shared;
    case.policy.oldest_first = true;
    case.submit(2_010, 2, Op::Write, 1);
    case.submit(2_020, 3, Op::Read, 1);
    let space = 2_000 + X + PROGRAM;
    case.push(space, Event::PageFromMemory { request: RequestId(2), lpn: Lpn(1) });
    case.complete(space + 1_000, 2);
    case.queue(space, 4, Requester::Buffer, FlashOp::Program, 1, 0);
    case.queue(space, 5, Requester::Request(3), FlashOp::Read, 9, 1);
    if program_first {
        let written = case.program(space, 4, 3, 1, (0, 1));
        let read = case.read(written, 5, 4, 0, 0, 0);
        case.complete(read, 3);
    } else {
        let read = case.read(space, 5, 3, 0, 0, 0);
        case.complete(read, 3);
        case.program(read, 4, 4, 1, (0, 1));
    }
    case
}

/// Two writes of a page end one after the other in a buffer that merges them; the first is programmed, then the second, and the page
/// is read.
pub fn buffered_twice() -> Case {
    let mut case = buffered();
    case.submit(3_000, 2, Op::Write, 1);
    case.push(3_000, Event::PageFromMemory { request: RequestId(2), lpn: Lpn(0) });
    case.complete(4_000, 2);
    case.queue(300_000, 2, Requester::Buffer, FlashOp::Program, 0, 0);
    case.program(300_000, 2, 1, 0, (0, 1));
    case.submit(600_000, 3, Op::Read, 1);
    case.queue(600_000, 3, Requester::Request(3), FlashOp::Read, 0, 0);
    let done = case.read(600_000, 3, 2, 0, 1, 0);
    case.complete(done, 3);
    case
}

/// As [`buffered`], where every write is programmed by itself, at once.
pub fn buffered_apart() -> Case {
    let mut case = Case::new();
    case.config.buffer = Some(Buffer { read_allocate: false, flush_above: 0, merge_writes: false, ..MERGING });
    case.submit(0, 1, Op::Write, 1);
    case.push(0, Event::PageFromMemory { request: RequestId(1), lpn: Lpn(0) });
    case.queue(0, 1, Requester::Buffer, FlashOp::Program, 0, 0);
    case.program(0, 1, 0, 0, (0, 0));
    case.complete(1_000, 1);
    case
}

/// A read of a page whose write runs is served from memory.
pub fn read_from_write() -> Case {
    let mut case = write();
    case.submit(10, 2, Op::Read, 1);
    case.push(10, Event::PageFromMemory { request: RequestId(2), lpn: Lpn(0) });
    case.complete(1_010, 2);
    case
}

/// As [`cancel`], where a cancelled write is done at once.
pub fn cancel_at_once() -> Case {
    let mut case = cancel();
    case.policy.cancelled_end_at_once = true;
    let old = |e: &Event| matches!(e, Event::Completed { request: RequestId(1) });
    case.change(0, old, |s| s.at = flashlane_core::Time::from_ns(10));
    case
}

/// Block 0 of plane 0 is full and holds logical pages 0 and 1; block 2 holds logical page 2.
pub const AGED: Layout = (&[(0, 0, 0), (1, 0, 3), (2, 0, 8)], &[(0, 0, 4), (0, 2, 1)]);

/// Garbage collection on plane 0 moves `lpn` from page `from` to page `to`. Returns the end.
pub fn relocate(case: &mut Case, at: u64, txn: u64, lpn: u32, (from, to): (u32, u32)) -> u64 {
    let read = case.read(at, txn, 10 * txn, 0, from, 0);
    case.queue(read, txn + 1, Requester::Gc, FlashOp::Program, lpn, 0);
    case.program(read, txn + 1, 10 * (txn + 1), lpn, (0, to))
}

/// Block 0 of plane 0 is chosen, emptied into block 1, and erased.
pub fn collect() -> Case {
    let mut case = Case::new();
    case.start = Some(AGED);
    case.push(0, Event::VictimChosen { plane: PlaneId(0), block: 0, valid: 2 });
    case.queue(0, 1, Requester::Gc, FlashOp::Read, 0, 0);
    case.queue(0, 3, Requester::Gc, FlashOp::Read, 1, 0);
    let first = relocate(&mut case, 0, 1, 0, (0, 4));
    let second = relocate(&mut case, first, 3, 1, (3, 5));
    case.erase(second, 5, 50, 0, 0);
    case
}

/// As [`collect`], but a host writes logical page 1 elsewhere, and its move is dropped.
pub fn collect_stale() -> Case {
    let mut case = Case::new();
    case.start = Some(AGED);
    case.push(0, Event::VictimChosen { plane: PlaneId(0), block: 0, valid: 2 });
    case.queue(0, 1, Requester::Gc, FlashOp::Read, 0, 0);
    case.queue(0, 3, Requester::Gc, FlashOp::Read, 1, 0);
    let first = relocate(&mut case, 0, 1, 0, (0, 4));
    overwrite(&mut case, 10, 1);
    case.end(first, 3, End::Stale, 0);
    case.erase(first, 5, 50, 0, 0);
    case
}

/// As [`collect_stale`], and request 8 read logical page 1 before that was written elsewhere. It keeps the copy in the victim, which
/// is erased after it or, as is wrong, before it.
pub fn collect_around_read(after: bool) -> Case {
    let mut case = Case::new();
    case.start = Some(AGED);
    case.push(0, Event::VictimChosen { plane: PlaneId(0), block: 0, valid: 2 });
    case.queue(0, 1, Requester::Gc, FlashOp::Read, 0, 0);
    case.queue(0, 3, Requester::Gc, FlashOp::Read, 1, 0);
    case.submit(0, 8, Op::Read, 1);
    case.queue(0, 80, Requester::Request(8), FlashOp::Read, 1, 0);
    let first = relocate(&mut case, 0, 1, 0, (0, 4));
    overwrite(&mut case, 10, 1);
    case.end(first, 3, End::Stale, 0);
    let begins = if after { first } else { case.erase(first, 5, 50, 0, 0) };
    let done = case.read(begins, 80, if after { 40 } else { 60 }, 0, 3, 0);
    case.complete(done, 8);
    if after {
        case.erase(done, 5, 50, 0, 0);
    }
    case
}

/// A read runs while its page is written elsewhere and its block is emptied at once, which is erased after it or, as is wrong,
/// before it.
pub fn collect_free_around_read(after: bool) -> Case {
    let mut case = Case::new();
    case.start = Some(AGED);
    case.policy.gc_mode = GcMode::Free;
    case.submit(0, 8, Op::Read, 1);
    case.queue(0, 80, Requester::Request(8), FlashOp::Read, 1, 0);
    let done = case.read(0, 80, 10, 0, 3, 0);
    overwrite(&mut case, 1, 1);
    case.push(1, Event::VictimChosen { plane: PlaneId(0), block: 0, valid: 1 });
    case.map(1, 0, 0, 4);
    case.push(if after { done } else { 1 }, Event::Erased { plane: PlaneId(0), block: 0 });
    case.complete(done, 8);
    case
}

/// A host writes `lpn` to the first page of plane 8, of unit 2 on the other channel.
pub fn overwrite(case: &mut Case, at: u64, lpn: u32) {
    case.submit(at, 7, Op::Write, 1);
    case.queue(at, 70, Requester::Request(7), FlashOp::Program, lpn, 8);
    let done = case.program(at, 70, 15, lpn, (8, 0));
    case.complete(done, 7);
}

/// Garbage collection that takes no time and no transactions.
pub fn collect_free() -> Case {
    let mut case = Case::new();
    case.start = Some(AGED);
    case.policy.gc_mode = GcMode::Free;
    case.push(5, Event::VictimChosen { plane: PlaneId(0), block: 0, valid: 2 });
    case.map(5, 0, 0, 4);
    case.map(5, 1, 0, 5);
    case.push(5, Event::Erased { plane: PlaneId(0), block: 0 });
    case
}

/// An erase of a victim without valid pages, paused for a read.
pub fn erase_paused() -> Case {
    let mut case = Case::new();
    case.start = Some((&[], &[(0, 0, 4)]));
    case.policy.suspend_points = SuspendPoints::Any;
    case.push(0, Event::VictimChosen { plane: PlaneId(0), block: 0, valid: 0 });
    case.queue(0, 1, Requester::Gc, FlashOp::Erase, 0, 0);
    case.dispatch(0, 1, 0, 0, 0);
    case.array(0, 0, 0, ERASE);
    case.queue(333, 2, Requester::Buffer, FlashOp::Read, 9, 0);
    case.push(333, Event::Paused { unit: UnitId(0), command: 0, remaining: Duration::from_ns(ERASE - 333) });
    let on = case.read(333 + SUSPEND, 2, 1, 0, 30, 0);
    // The reported end of the array phase includes the resume time.
    case.array(on, 0, 0, RESUME + ERASE - 333);
    let done = on + RESUME + ERASE - 333;
    case.array_end(done, 0, 0);
    case.push(done, Event::Erased { plane: PlaneId(0), block: 0 });
    case.end(done, 1, End::Flash, on + RESUME - 333);
    case
}
