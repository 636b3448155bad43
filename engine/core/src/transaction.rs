//! A transaction: one page-sized flash operation that belongs to a request (or to garbage collection).

use crate::id::{FlowId, PlaneId, QueueId, TxnId, UnitId};
use crate::units::{Duration, Lpn, Time};

/// What a flash unit is told to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlashOp {
    /// Array to register, register to bus.
    Read,
    /// Bus to register, register to array.
    Program,
    /// A whole block.
    Erase,
}

impl FlashOp {
    /// 0, 1, 2: an index into per-operation tables.
    pub const fn index(self) -> usize {
        match self {
            FlashOp::Read => 0,
            FlashOp::Program => 1,
            FlashOp::Erase => 2,
        }
    }

    /// `read`, `program` or `erase`.
    pub const fn name(self) -> &'static str {
        match self {
            FlashOp::Read => "read",
            FlashOp::Program => "program",
            FlashOp::Erase => "erase",
        }
    }
}

/// On whose behalf a transaction runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// A host request.
    User,
    /// Garbage collection: a page move or an erase.
    Gc,
    /// Folding: a page moves from a block in SLC mode to native cells, or the block is erased.
    Fold,
    /// The page buffer: a dirty page on its way out.
    Buffer,
    /// The mapping cache: a translation page is read or written.
    Mapping,
}

impl Owner {
    /// Whether the collect question says when it runs: garbage collection and folding.
    #[inline(always)]
    pub const fn collects(self) -> bool {
        matches!(self, Owner::Gc | Owner::Fold)
    }

    /// `user`, `gc`, `buffer`, `mapping` or `fold`.
    pub const fn name(self) -> &'static str {
        match self {
            Owner::User => "user",
            Owner::Gc => "gc",
            Owner::Buffer => "buffer",
            Owner::Mapping => "mapping",
            Owner::Fold => "fold",
        }
    }
}

/// One page-sized flash operation. It has many fields: all that decisions may know of it is here, next to one another.
///
/// `slack`, `isolated_latency`, `estimate` and `tag` are notes by which scheduling decisions pass values to one another. The device
/// computes `slack` from the estimates, subtracts the charges that decisions return, and reports `tag` in the completion.
///
/// The fields that every transaction uses come first and fill one cache line; those that only some use follow. (No gain from
/// this order has been measured so far: docs/results/performance.md.)
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Transaction {
    /// Next in queue, in command, or in the free list.
    pub next: TxnId,
    /// Previous in queue.
    pub prev: TxnId,
    /// Its order in its queue: smaller is nearer the head. Not comparable across queues, and may change while it waits.
    pub rank: u64,
    /// The queue it belongs to; meaningless for garbage collection, which is in none.
    pub queue: QueueId,
    /// The plane it works on.
    pub plane: PlaneId,
    /// The unit that owns the plane.
    pub unit: UnitId,
    /// Plane inside the unit: `die * planes_per_die + plane`. A read counts the planes of the flash ([`Geometry::row_planes`](crate::Geometry::row_planes)),
    /// and has that in which its page lay when the read joined its queue: collection may move the page to another.
    pub slot: u8,
    /// What to do.
    pub op: FlashOp,
    /// On whose behalf.
    pub owner: Owner,
    /// Priority, 0 lowest.
    pub priority: u8,
    /// Note: bits for the order and pick decisions (see [`tag`]).
    pub tag: u8,
    /// Its stage from creation to end.
    pub stage: Stage,
    /// The flow it belongs to; meaningless for garbage collection.
    pub flow: FlowId,
    /// Slot of its request in [`crate::Board::requests`]; `u32::MAX` for none.
    pub request: u32,
    /// The logical page it moves; meaningless for an erase.
    pub lpn: Lpn,
    /// Physical page inside the plane: where a read reads, where a program goes (bound at dispatch), the block of an
    /// erase.
    pub ppa: u32,
    /// A read: the program that joins its queue once this has ended (read-modify-write). A program: the cancelled
    /// write of the same page that completes with it (D-SOS-06), itself perhaps leading to another.
    pub on_completion: TxnId,
    /// An older, still waiting write of the same page: this one must not be dispatched before it (D-SLK-16).
    pub blocked_by: TxnId,
    /// The younger write that waits for this one: the other end of `blocked_by`.
    pub unblocks: TxnId,
    /// Bus time of its bytes; none for an erase.
    pub transfer: Duration,
    /// A number that counts up by one with every transaction created: its age, and an id that is never reused. The program of a page
    /// move uses the slot of its read, with a serial of its own.
    pub serial: u64,
    /// How much older it counts in the order of age than its serial says: a write that took the place of a cancelled one
    /// ([`Transaction::age`]).
    pub age_bonus: u64,
    /// When it joined its queue, or (garbage collection) began to wait.
    pub enqueued: Time,
    /// Bytes that cross the bus, metadata included when the configuration says so.
    pub bytes: u32,
    /// A read: further steps that the array takes to read its page. Known once it has been dispatched.
    pub retries: u8,
    /// Whether its block is in SLC mode, which sets its array time. Known once it has been dispatched.
    pub slc: bool,
    /// A waiting program: whether a page of the SLC cache is reserved for it.
    pub reserves_slc: bool,
    /// The reasons for which it may not join its queue yet: bits of [`held`].
    pub held: u8,
    /// A waiting write that waits for no older one of its page: the plane that has the page now, its home plane if it has never been written.
    /// Kept for answers that declare it ([`Keeps::page_planes`](crate::decide::Keeps::page_planes)).
    pub page_at: PlaneId,
    /// Note (Slacker): how much later it may end without its request ending later.
    pub slack: Duration,
    /// Note (FLIN): its estimated time in the device had its flow been alone.
    pub isolated_latency: Duration,
    /// Note (Slacker): its response time as estimated on arrival, without the error term.
    pub estimate: Duration,
}

/// Bits of [`Transaction::tag`].
pub mod tag {
    /// It joined its queue while its flow was of high intensity (FLIN stage 1).
    pub const HIGH: u8 = 1;
    /// It was moved forward once and may not be passed (D-FLN-08).
    pub const BARRIER: u8 = 2;
    /// It joined its queue ahead of at least one waiting transaction.
    pub const JUMPED: u8 = 4;
    /// It was served while a program or erase was paused.
    pub const IN_PAUSE: u8 = 8;
    /// Of a request, not of its transactions: one of them was dispatched before one of an older request that waited at the same
    /// unit and could have gone (model 0.7).
    pub const OVERTOOK: u8 = 16;
    /// Of a write whose page was trimmed: no request waits for its end.
    pub const TRIMMED: u8 = 32;
    /// Of a request, not of its transactions: it is a write with FUA.
    pub const FUA: u8 = 64;
}

/// Why a transaction may not join its queue yet: bits of [`Transaction::held`].
pub mod held {
    /// The entry of the map of its page is not in memory.
    pub const ENTRY: u8 = 1;
    /// The rest of its page must be read.
    pub const REST: u8 = 2;
    /// Entries of others of its wordline are not in memory.
    pub const SIBLINGS: u8 = 4;
    /// It is on its way from one unit's queue to another's.
    pub const MOVING: u8 = 8;
}

/// The stages of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// In no queue, for the reasons in [`Transaction::held`].
    Held,
    /// A write that was cancelled, and is done when the one that took its place ends.
    Cancelled,
    /// In its unit's queue, or garbage collection that may begin.
    Waiting,
    /// Part of the command its unit works on.
    InService,
    /// Ended; the slot is free.
    Free,
}

impl Transaction {
    /// A free slot.
    pub const EMPTY: Transaction = Transaction {
        serial: 0,
        age_bonus: 0,
        enqueued: Time::ZERO,
        transfer: Duration::ZERO,
        slack: Duration::ZERO,
        isolated_latency: Duration::ZERO,
        estimate: Duration::ZERO,
        rank: 0,
        request: u32::MAX,
        lpn: Lpn(0),
        ppa: 0,
        bytes: 0,
        retries: 0,
        slc: false,
        reserves_slc: false,
        held: 0,
        page_at: PlaneId(0),
        next: TxnId::NONE,
        prev: TxnId::NONE,
        on_completion: TxnId::NONE,
        blocked_by: TxnId::NONE,
        unblocks: TxnId::NONE,
        queue: QueueId(0),
        plane: PlaneId(0),
        unit: UnitId(0),
        flow: FlowId(0),
        slot: 0,
        op: FlashOp::Read,
        owner: Owner::User,
        priority: 0,
        tag: 0,
        stage: Stage::Free,
    };

    /// Its place in the order in which transactions came: its serial, or that of the cancelled write whose place it took.
    #[inline(always)]
    pub const fn age(&self) -> u64 {
        self.serial - self.age_bonus
    }

    /// Whether it may be dispatched now as far as other writes of its page are concerned.
    #[inline(always)]
    pub const fn unobstructed(&self) -> bool {
        self.blocked_by.is_none()
    }
}
