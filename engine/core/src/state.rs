//! The entries of the board: requests, queues, units and their commands, channels, planes, flows.

use crate::id::{ChannelId, FlowId, RequestId, TxnId};
use crate::request::Op;
use crate::transaction::{FlashOp, Owner};
use crate::units::{Duration, Lpn, Time};

/// A request inside the device, from its submission to its completion.
#[derive(Clone, Copy, Debug)]
pub struct ActiveRequest {
    /// The host's id for it.
    pub id: RequestId,
    /// When the host created it.
    pub arrival: Time,
    /// Bytes asked for.
    pub bytes: u64,
    /// The submission queue it came through.
    pub flow: FlowId,
    /// What it asks for.
    pub op: Op,
    /// First page touched.
    pub lpn: Lpn,
    /// Pages touched.
    pub pages: u32,
    /// Pages not yet served: those whose transactions wait or are in service, and those that wait for space in the buffer. Of a flush, the
    /// pages it waits for.
    pub remaining: u32,
    /// Bytes of the first page before the request begins.
    pub skip: u32,
    /// Pages that have gone into the buffer.
    pub buffered: u32,
    /// A flush: it has entered the device.
    pub entered: bool,
    /// Whether it is done when the flash has its pages: a write with FUA, where the buffer loses them with the power.
    pub fua: bool,
    /// Whether its pages are a list, not consecutive.
    pub scattered: bool,
    /// Bits of [`crate::transaction::tag`]: its own, and those that any of its transactions has ended with.
    pub tags: u8,
}

impl ActiveRequest {
    /// Bytes of the `i`-th page that the request touches.
    #[inline]
    pub fn bytes_of(&self, i: u32, page_bytes: u32) -> u32 {
        if self.scattered {
            return page_bytes;
        }
        let page = u64::from(page_bytes);
        let start = if i == 0 { u64::from(self.skip) } else { 0 };
        let end = (u64::from(self.skip) + self.bytes - u64::from(i) * page).min(page);
        (end - start) as u32
    }
}

/// The kinds of queues of a unit. Garbage collection is in none: its transactions are created when they begin, in an order of their
/// own ([`GcWaiting`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueKind {
    /// Reads of a priority.
    Read(u8),
    /// Programs of a priority.
    Write(u8),
}

/// A queue of waiting transactions.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// The first transaction, which is served next unless the pick decision chooses another.
    pub head: TxnId,
    /// The last transaction.
    pub tail: TxnId,
    /// Waiting transactions.
    pub len: u32,
}

impl Queue {
    /// An empty queue.
    pub const EMPTY: Queue = Queue { head: TxnId::NONE, tail: TxnId::NONE, len: 0 };
}

/// The transactions of a queue that are for one plane slot of its unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotQueue {
    /// The one nearest the head; [`TxnId::NONE`] if none waits. [`crate::Transaction::rank`] tells which of two transactions of
    /// different slots is nearer the head.
    pub first: TxnId,
    /// The one nearest the tail; not valid if none waits.
    pub(crate) last: TxnId,
    /// Number of transactions.
    pub waiting: u32,
}

impl SlotQueue {
    /// No transaction.
    pub const EMPTY: SlotQueue = SlotQueue { first: TxnId::NONE, last: TxnId::NONE, waiting: 0 };
}

/// What a unit is doing, as a scheduler sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// It has no command, and none is paused.
    Idle,
    /// It is free, but a program or erase is paused.
    Paused,
    /// It works on a command, or on pausing or resuming one.
    Busy,
}

/// The command a unit works on, or has paused.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Command {
    /// First transaction; the rest are linked by [`crate::Transaction::next`].
    pub lead: TxnId,
    /// Number of transactions in the command.
    pub members: u8,
    /// Its operation.
    pub op: FlashOp,
    /// On whose behalf it runs.
    pub owner: Owner,
    /// Whether its array phase runs (only then can it be paused).
    pub in_array: bool,
    /// When it was dispatched, plus the time it has been paused since.
    pub started: Time,
    /// When it is expected to end, as far as is known now; if its data waits for the bus, the earliest possible end.
    pub ends: Time,
    /// Start of the current stretch of array time: iteration boundaries count from here.
    pub array_from: Time,
    /// Array time left; valid while paused.
    pub remaining: Duration,
    /// Time spent paused so far.
    pub paused: Duration,
    /// When it was paused; valid while paused.
    pub paused_at: Time,
    /// How often it has been paused.
    pub pauses: u32,
}

impl Command {
    /// No command.
    pub const NONE: Command = Command {
        lead: TxnId::NONE,
        members: 0,
        op: FlashOp::Read,
        owner: Owner::User,
        started: Time::ZERO,
        ends: Time::ZERO,
        array_from: Time::ZERO,
        in_array: false,
        remaining: Duration::ZERO,
        paused: Duration::ZERO,
        paused_at: Time::ZERO,
        pauses: 0,
    };
}

/// What a unit has done so far. Counted at dispatch, never reset (D-SLK-25).
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct UnitCounters {
    /// Time with a command in service (a paused command's pause included).
    pub busy: Duration,
    /// User transactions dispatched, reads and programs.
    pub user: [u64; 2],
    /// Pages moved by garbage collection and folding.
    pub moves: u64,
    /// User transactions dispatched as members of a command of several, reads and programs.
    pub advanced: [u64; 2],
    /// Commands of several user transactions.
    pub advanced_commands: [u64; 2],
    /// Blocks erased.
    pub erases: u64,
    /// Times a program or erase was paused.
    pub pauses: u64,
    /// Pages moved and blocks erased when a command of user programs last began.
    pub collected_before_write: u64,
    /// Transactions of that command.
    pub last_write: u64,
}

/// A unit on the board. The fields that every step uses come first.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Unit {
    /// Idle, paused or busy.
    pub service: Service,
    /// The channel it is on.
    pub channel: ChannelId,
    /// User transactions waiting, reads and programs, all priorities. Counted as they join and leave queues.
    pub(crate) waiting: [u32; 2],
    /// Garbage collection and folding waiting.
    pub gc: GcWaiting,
    /// Garbage collection that goes before a write.
    pub foreground_gc: ForegroundGc,
    /// The command in service; meaningful while busy.
    pub command: Command,
    /// Totals.
    pub counters: UnitCounters,
    /// The paused command; its `lead` is [`TxnId::NONE`] when none is.
    pub paused: Command,
}

impl Unit {
    /// A unit that has done nothing yet.
    pub fn idle(channel: ChannelId) -> Unit {
        Unit {
            channel,
            service: Service::Idle,
            command: Command::NONE,
            paused: Command::NONE,
            counters: UnitCounters::default(),
            waiting: [0; 2],
            gc: GcWaiting::default(),
            foreground_gc: ForegroundGc::NONE,
        }
    }

    /// Counts a command that begins (D-SLK-02, D-SLK-14, D-SLK-25). For the device.
    #[inline(always)]
    pub fn count(&mut self, members: u8, op: FlashOp, owner: Owner) {
        let counters = &mut self.counters;
        if owner.collects() {
            match op {
                FlashOp::Read => {}
                FlashOp::Program => counters.moves += 1,
                FlashOp::Erase => counters.erases += 1,
            }
            return;
        }
        let direction = usize::from(op == FlashOp::Program);
        counters.user[direction] += u64::from(members);
        if op == FlashOp::Program {
            counters.collected_before_write = counters.moves + counters.erases;
            counters.last_write = u64::from(members);
        }
        if members > 1 {
            counters.advanced[direction] += u64::from(members);
            counters.advanced_commands[direction] += 1;
        }
    }

    /// A scheduler begins: no program of a user has begun under it.
    pub const fn forget_last_write(&mut self) {
        let counters = &mut self.counters;
        (counters.collected_before_write, counters.last_write) = (counters.moves + counters.erases, 0);
    }

    /// User reads or programs waiting, all priorities.
    #[inline(always)]
    pub const fn waiting(&self, op: FlashOp) -> u32 {
        self.waiting[op.index()]
    }

    /// Sets how many reads and programs wait. For boards that tests make without transactions: elsewhere they are counted as they join
    /// and leave queues ([`Board::link`](crate::Board::link)).
    pub const fn set_waiting(&mut self, waiting: [u32; 2]) {
        self.waiting = waiting;
    }

    /// User transactions waiting, all priorities.
    #[inline(always)]
    pub const fn user_waiting(&self) -> u32 {
        self.waiting[0] + self.waiting[1]
    }
}

/// Garbage collection and folding that wait for a unit, in transactions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GcWaiting {
    /// Reads of valid pages out of victims.
    pub reads: u32,
    /// Programs of pages that have been read; of a row that one command reads, at the latest when all of it has been.
    pub programs: u32,
    /// Erases of empty victims.
    pub erases: u32,
}

impl GcWaiting {
    /// Whether anything waits.
    #[inline(always)]
    pub const fn any(self) -> bool {
        self.reads | self.programs | self.erases != 0
    }
}

/// Garbage collection that goes before a write, without other commands in between unless it is preemptible (D-FLN-16). Garbage
/// collection begins and closes it; the write is forgotten when it leaves its queue.
#[derive(Clone, Copy, Debug)]
pub struct ForegroundGc {
    open: bool,
    page_moves: u32,
    write: TxnId,
    preemptible: bool,
}

impl ForegroundGc {
    /// None.
    pub const NONE: ForegroundGc = ForegroundGc { open: false, page_moves: 0, write: TxnId::NONE, preemptible: false };

    /// Whether it is under way.
    #[inline(always)]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// The write that has triggered it and goes next among writes; [`TxnId::NONE`] for none.
    #[inline(always)]
    pub const fn write(&self) -> TxnId {
        self.write
    }

    /// Whether reads may go between it and interrupt its programs.
    #[inline(always)]
    pub const fn is_preemptible(&self) -> bool {
        self.preemptible
    }

    // By garbage collection.

    /// That of `write`: of `page_moves` moves if it is `due`.
    #[inline(always)]
    pub const fn begun(write: TxnId, due: bool, page_moves: u32, preemptible: bool) -> ForegroundGc {
        ForegroundGc { open: due, page_moves, write, preemptible }
    }

    /// Whether a page move is still to begin.
    #[inline(always)]
    pub const fn has_moves(&self) -> bool {
        self.page_moves > 0
    }

    /// One of them begins.
    #[inline(always)]
    pub const fn move_begins(&mut self) {
        self.page_moves -= 1;
    }

    /// It is finished.
    #[inline(always)]
    pub const fn close(&mut self) {
        (self.open, self.page_moves) = (false, 0);
    }

    // By the device.

    /// `write` leaves its queue.
    #[inline(always)]
    pub fn forget(&mut self, write: TxnId) {
        if self.write == write {
            self.write = TxnId::NONE;
        }
    }
}

/// A channel on the board.
#[derive(Clone, Copy, Default, Debug)]
pub struct Channel {
    /// Data phases that found the bus taken (D-SLK-08).
    pub stalled: u64,
    /// Data phases.
    pub transfers: u64,
    /// Time the bus was taken.
    pub busy: Duration,
    /// Its units that have nothing in service, none paused either: bit `w` for its `w`-th unit. A search for one need not look at them all.
    pub idle: u64,
}

/// A plane on the board.
#[derive(Clone, Copy, Default, Debug)]
pub struct Plane {
    /// Erased blocks.
    pub free_blocks: u32,
    /// Free pages in those and in the open blocks.
    pub free_pages: u32,
    /// Page offset the next user program would get.
    pub next_page: u32,
    /// Whether a user program can be given a page now.
    pub has_free_page: bool,
    /// Whether a victim is being emptied.
    pub collecting: bool,
    /// Valid pages of the victim when it was chosen; meaningless while none is being emptied.
    pub victim_pages: u32,
    /// Pages that hold the current copy of a logical page. Kept only if an answer declares it ([`crate::decide::Keeps`]).
    pub valid_pages: u32,
}

/// A flow on the board. Its figures are read by their names and written by what happens to it: the front end tells it of commands, the
/// translation layer of pages.
#[derive(Clone, Copy, Default, Debug)]
pub struct Flow(FlowFigures);

/// The figures of a [`Flow`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FlowFigures {
    /// Priority, 0 lowest.
    pub priority: u8,
    /// Commands waiting in the submission queue that the device may fetch.
    pub waiting: u32,
    /// Commands fetched and not completed.
    pub in_flight: u32,
    /// Pages this flow has programmed.
    pub programmed: u64,
    /// The value of `programmed` when a block of the drive was last erased. This and the next two are kept only if a decision
    /// uses it.
    pub programmed_at_erase: u64,
    /// Pages of the drive that hold its data: those it wrote last, and those that lay in its part of the drive before
    /// the first request.
    pub valid_pages: u64,
    /// Pages of its data that garbage collection and folding have moved.
    pub moved: u64,
}

impl From<FlowFigures> for Flow {
    fn from(figures: FlowFigures) -> Flow {
        Flow(figures)
    }
}

impl Flow {
    /// All its figures.
    pub const fn figures(&self) -> FlowFigures {
        self.0
    }

    /// Priority, 0 lowest.
    #[inline(always)]
    pub const fn priority(&self) -> u8 {
        self.0.priority
    }

    /// Commands waiting in the submission queue that the device may fetch.
    #[inline(always)]
    pub const fn waiting(&self) -> u32 {
        self.0.waiting
    }

    /// Commands fetched and not completed.
    #[inline(always)]
    pub const fn in_flight(&self) -> u32 {
        self.0.in_flight
    }

    /// Pages it has programmed.
    #[inline(always)]
    pub const fn programmed(&self) -> u64 {
        self.0.programmed
    }

    /// Pages it has programmed since a block was last erased anywhere (`NumWrites` of FLIN eq. 10).
    #[inline]
    pub const fn written_since_erase(&self) -> u64 {
        self.0.programmed - self.0.programmed_at_erase
    }

    /// Pages of the drive that hold its data ([`FlowFigures::valid_pages`]).
    #[inline(always)]
    pub const fn valid_pages(&self) -> u64 {
        self.0.valid_pages
    }

    /// Pages of its data that garbage collection has moved.
    #[inline(always)]
    pub const fn moved(&self) -> u64 {
        self.0.moved
    }

    // By the front end.

    /// Its commands that enter the device from now on have this priority.
    pub const fn set_priority(&mut self, priority: u8) {
        self.0.priority = priority;
    }

    /// This many commands wait that the device may fetch.
    #[inline(always)]
    pub const fn set_waiting(&mut self, commands: u32) {
        self.0.waiting = commands;
    }

    /// A command was fetched.
    #[inline(always)]
    pub const fn command_fetched(&mut self) {
        self.0.in_flight += 1;
    }

    /// A fetched command has completed.
    #[inline(always)]
    pub const fn command_completed(&mut self) {
        self.0.in_flight -= 1;
    }

    // By the translation layer.

    /// It programs a page.
    #[inline(always)]
    pub const fn page_programmed(&mut self) {
        self.0.programmed += 1;
    }

    /// This many more pages hold its data.
    #[inline(always)]
    pub const fn pages_gained(&mut self, pages: u64) {
        self.0.valid_pages += pages;
    }

    /// A page no longer holds its data.
    #[inline(always)]
    pub const fn page_lost(&mut self) {
        self.0.valid_pages -= 1;
    }

    /// Garbage collection moves a page of its data.
    #[inline(always)]
    pub const fn page_moved(&mut self) {
        self.0.moved += 1;
    }

    /// A block of the drive was erased.
    #[inline(always)]
    pub const fn block_erased(&mut self) {
        self.0.programmed_at_erase = self.0.programmed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a command of `members` transactions adds to a unit's counters: user transactions, user transactions in commands of more than one
    /// member, and such commands, each as [reads, programs]; pages moved; blocks erased.
    #[test]
    fn a_command_counts_once_for_what_it_is() {
        let counted = |members, op, owner| {
            let mut unit = Unit::idle(ChannelId(0));
            unit.count(members, op, owner);
            let UnitCounters { user, advanced, advanced_commands, moves, erases, .. } = unit.counters;
            (user, advanced, advanced_commands, moves, erases)
        };
        use FlashOp::{Erase, Program, Read};
        assert_eq!(counted(1, Read, Owner::User), ([1, 0], [0, 0], [0, 0], 0, 0));
        assert_eq!(counted(3, Read, Owner::User), ([3, 0], [3, 0], [1, 0], 0, 0));
        assert_eq!(counted(1, Program, Owner::User), ([0, 1], [0, 0], [0, 0], 0, 0));
        assert_eq!(counted(2, Program, Owner::Buffer), ([0, 2], [0, 2], [0, 1], 0, 0));
        assert_eq!(counted(1, Read, Owner::Gc), ([0, 0], [0, 0], [0, 0], 0, 0), "a move counts when it is programmed");
        assert_eq!(counted(1, Program, Owner::Gc), ([0, 0], [0, 0], [0, 0], 1, 0));
        assert_eq!(counted(1, Erase, Owner::Gc), ([0, 0], [0, 0], [0, 0], 0, 1));
    }
}
