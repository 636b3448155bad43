//! What a device can report while it runs, for auditors, logs and timelines.
//!
//! Reporting is off by default. Events are reported in the order they happen; the stream alone is enough to check every
//! invariant of the device.

use crate::decide::Estimate;
use crate::id::{ChannelId, FlowId, PlaneId, RequestId, UnitId};
use crate::request::Op;
use crate::transaction::{FlashOp, Owner};
use crate::units::{Duration, Lpn, Time};

/// An event and its instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamped {
    /// When.
    pub at: Time,
    /// What.
    pub event: Event,
}

/// That the flash ended a transaction of a request, for observers to which [`Event`] says more than they need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageEnd {
    /// Its request.
    pub request: RequestId,
    /// When.
    pub at: Time,
}

/// How a transaction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The flash executed it.
    Flash,
    /// A younger write of its page took its place; it completes with that one.
    Cancelled,
    /// Garbage collection or folding found the page no longer valid and dropped the move.
    Stale,
    /// A trim took the place of the write, which is done with that.
    Trimmed,
}

/// Where the entry of a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryAt {
    /// In the controller's memory.
    Memory,
    /// In the host's memory.
    Host,
    /// Only in its translation page.
    Flash,
}

/// Something that happened. `txn` is [`crate::Transaction::serial`]: never reused.
///
/// Who follows events names those that it wants; the auditor names all, so that the compiler asks it about a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A request was submitted to the device.
    Submitted {
        /// Its id.
        request: RequestId,
        /// Its flow.
        flow: FlowId,
        /// What it asks for.
        op: Op,
        /// When the host created it.
        arrival: Time,
        /// Pages it touches.
        pages: u32,
        /// Whether it has FUA.
        fua: bool,
        /// Its first byte and its length; `None` for a list of pages, of which it touches all.
        extent: Option<(u64, u64)>,
    },
    /// The device fetched it from its submission queue.
    Admitted {
        /// Its id.
        request: RequestId,
    },
    /// A page of a request was served without a flash operation of its own: from a waiting write or the page buffer,
    /// or (a write) by the page buffer.
    PageFromMemory {
        /// Its request.
        request: RequestId,
        /// The page.
        lpn: Lpn,
    },
    /// A page of a write that waited for space in the page buffer was trimmed: it is done. Comes before the trim's [`Event::Unmapped`].
    PageDropped {
        /// Its request.
        request: RequestId,
        /// The page.
        lpn: Lpn,
    },
    /// Where memory holds a part of the map, the entry of a logical page was looked up. One in the controller's memory is used now.
    EntryLookedUp {
        /// The page.
        lpn: Lpn,
        /// Where it is.
        at: EntryAt,
    },
    /// An entry that was looked up has come to the controller's memory, and is used now. If that is full, the one used longest ago makes room.
    EntryArrived {
        /// The page.
        lpn: Lpn,
    },
    /// Under serial service, the flash serves a page of a request without a transaction: a read of a page that the buffer does not
    /// hold, a write on a device without a write-back buffer, or a dirty page that a flush or a write with FUA writes out.
    PageInSeries {
        /// Its request.
        request: RequestId,
        /// The page.
        lpn: Lpn,
    },
    /// Under serial service, a page left the buffer, and was written to the flash if it was dirty.
    Evicted {
        /// The page.
        lpn: Lpn,
    },
    /// A transaction joined its unit's queue.
    Queued {
        /// The transaction.
        txn: u64,
        /// Its request, `None` for garbage collection, folding and buffer eviction.
        request: Option<RequestId>,
        /// Its flow.
        flow: FlowId,
        /// What it does.
        op: FlashOp,
        /// On whose behalf.
        owner: Owner,
        /// The logical page; meaningless for an erase.
        lpn: Lpn,
        /// The plane it works on.
        plane: PlaneId,
        /// Bytes that cross the bus.
        bytes: u32,
    },
    /// A waiting transaction moved to another plane's unit, at the tail of its queue.
    Moved {
        /// The transaction.
        txn: u64,
        /// The plane it works on now.
        plane: PlaneId,
    },
    /// The order decision estimated a transaction's response time, from which its slack was computed.
    Estimated {
        /// The transaction.
        txn: u64,
        /// Estimated time from joining its queue to its end.
        estimate: Estimate,
        /// How much shorter the estimate is than the longest of its request.
        slack: Duration,
    },
    /// A unit began a command of which the transaction is a member.
    Dispatched {
        /// The transaction.
        txn: u64,
        /// The command: equal for all its members, counts up.
        command: u64,
        /// The unit.
        unit: UnitId,
        /// Physical page inside the plane; for an erase the block times the pages of a block.
        ppa: u32,
        /// What was left of its slack.
        slack: Duration,
    },
    /// A command took the bus.
    BusTaken {
        /// The bus.
        channel: ChannelId,
        /// The unit.
        unit: UnitId,
        /// The command.
        command: u64,
        /// When the bus becomes free again.
        until: Time,
    },
    /// A command's array phase began or resumed.
    ArrayStarted {
        /// The unit.
        unit: UnitId,
        /// The command.
        command: u64,
        /// When it ends unless paused.
        until: Time,
    },
    /// The array phase of a program or an erase ended. A read's is not reported: it ended at
    /// [`Event::ArrayStarted`]'s `until`, and the page then waits in the register for the bus.
    ArrayEnded {
        /// The unit.
        unit: UnitId,
        /// The command.
        command: u64,
    },
    /// A command's array phase was interrupted.
    Paused {
        /// The unit.
        unit: UnitId,
        /// The command.
        command: u64,
        /// Array time it still needs.
        remaining: Duration,
    },
    /// A transaction ended.
    Ended {
        /// The transaction.
        txn: u64,
        /// How.
        end: End,
        /// Time its command was paused.
        paused: Duration,
    },
    /// A request completed.
    Completed {
        /// Its id.
        request: RequestId,
    },
    /// Garbage collection chose a victim, or folding a block in SLC mode.
    VictimChosen {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: u32,
        /// Valid pages in it.
        valid: u32,
    },
    /// An erased block was opened in SLC mode, in which it stays until it is erased again. Comes before the first page in it is
    /// [`Event::Mapped`] and its program [`Event::Dispatched`].
    SlcOpened {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: u32,
    },
    /// A logical page was mapped to a physical page: at dispatch of its program, or moved by garbage collection that takes no
    /// time.
    Mapped {
        /// The page.
        lpn: Lpn,
        /// The plane.
        plane: PlaneId,
        /// Physical page inside the plane.
        ppa: u32,
    },
    /// A page of a wordline was programmed without data, because the wordline has fewer pages than it has space for: it is invalid at once.
    /// Comes after the [`Event::Mapped`] of the wordline's pages.
    Padded {
        /// The plane.
        plane: PlaneId,
        /// Physical page inside the plane.
        ppa: u32,
    },
    /// A trim unmapped consecutive pages: those that had a copy have none now.
    Unmapped {
        /// The trim, or write zeroes.
        request: RequestId,
        /// The first page.
        lpn: Lpn,
        /// How many.
        pages: u32,
    },
    /// A block was erased.
    Erased {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: u32,
    },
}

/// Kinds of events, of which an observer needs some.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kinds(u8);

impl Kinds {
    /// None.
    pub const NONE: Kinds = Kinds(0);
    /// Where a transaction is: it joins a queue, moves, begins, ends.
    pub const QUEUES: Kinds = Kinds(1);
    /// What its command does meanwhile: bus and array phases, pauses.
    pub const PHASES: Kinds = Kinds(2);
    /// Estimates of response times.
    pub const ESTIMATES: Kinds = Kinds(4);
    /// Requests from their submission to their completion, and the pages that they find in memory.
    pub const REQUESTS: Kinds = Kinds(8);
    /// Where pages lie: mapped, collected, erased.
    pub const PLACES: Kinds = Kinds(16);
    /// All of them.
    pub const ALL: Kinds = Kinds(31);

    /// These and `others`.
    #[must_use]
    pub const fn and(self, others: Kinds) -> Kinds {
        Kinds(self.0 | others.0)
    }

    /// Whether all of `others` are among these.
    #[inline]
    pub const fn include(self, others: Kinds) -> bool {
        self.0 & others.0 == others.0
    }
}

impl Event {
    /// Its kind.
    #[inline]
    pub const fn kind(&self) -> Kinds {
        match self {
            Event::Queued { .. } | Event::Moved { .. } | Event::Dispatched { .. } | Event::Ended { .. } => {
                Kinds::QUEUES
            }
            Event::BusTaken { .. } | Event::ArrayStarted { .. } | Event::ArrayEnded { .. } | Event::Paused { .. } => {
                Kinds::PHASES
            }
            Event::Estimated { .. } => Kinds::ESTIMATES,
            Event::Submitted { .. }
            | Event::Admitted { .. }
            | Event::PageFromMemory { .. }
            | Event::PageDropped { .. }
            | Event::PageInSeries { .. }
            | Event::Evicted { .. }
            | Event::Completed { .. } => Kinds::REQUESTS,
            Event::VictimChosen { .. }
            | Event::SlcOpened { .. }
            | Event::Padded { .. }
            | Event::Mapped { .. }
            | Event::EntryLookedUp { .. }
            | Event::EntryArrived { .. }
            | Event::Unmapped { .. }
            | Event::Erased { .. } => Kinds::PLACES,
        }
    }

    /// Whether it says where a transaction is: in a queue, in a command that goes through its phases, ended.
    #[inline]
    pub const fn is_of_transaction(&self) -> bool {
        Kinds::QUEUES.and(Kinds::PHASES).include(self.kind())
    }
}
