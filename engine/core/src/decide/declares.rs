//! What answers declare in advance, so that the device need not ask every time: a structure of constants for each question. Where an
//! answer declares nothing (`ASK`) it is asked every time.
//!
//! An answer must hold to its declarations: with them it decides what it would decide without them. A test runs every
//! scheduler both ways (`declared` in `lab/sim/tests`). What an answer needs from the device, and what only the device acts on, is
//! declared here too.

use crate::units::Duration;

/// Figures of the board that cost the device work, and that it keeps only for answers that declare them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keeps {
    /// Which flow each page's data belongs to: [`crate::board::Flow::moved`], `valid_pages`, `programmed_at_erase`.
    pub page_flows: bool,
    /// The valid pages of planes: [`crate::board::Plane::valid_pages`].
    pub valid_pages: bool,
    /// Where the page of a write is now: [`crate::Transaction::page_at`] of waiting ones, and [`PageWrite::at`](super::PageWrite::at).
    pub page_planes: bool,
    /// The transactions of a request that have not ended: [`crate::Board::transactions_of`].
    pub request_pages: bool,
}

impl Keeps {
    /// None of them.
    pub const NOTHING: Keeps =
        Keeps { page_flows: false, valid_pages: false, page_planes: false, request_pages: false };

    /// Those of both.
    pub(super) const fn and(&self, other: &Keeps) -> Keeps {
        Keeps {
            page_flows: self.page_flows || other.page_flows,
            valid_pages: self.valid_pages || other.valid_pages,
            page_planes: self.page_planes || other.page_planes,
            request_pages: self.request_pages || other.request_pages,
        }
    }
}

/// What an [`Admit`](super::Admit) declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdmitDeclares {
    /// A command always enters at once if no other command waits and the device has space: the device then does not ask.
    pub skips_when_single: bool,
    /// It ranks all waiting commands, instead of fetching each queue in order. It is then asked only once everything that
    /// arrives at an instant is there, and must not skip when single.
    pub ranks_all_waiting: bool,
    /// It asks what the page buffer holds ([`missing`](super::Commands::missing)): without a buffer it would decide by something
    /// else than its description says.
    pub needs_buffer: bool,
    /// What the device keeps for it.
    pub keeps: Keeps,
}

impl AdmitDeclares {
    /// It is always asked, and needs nothing.
    pub const ASK: AdmitDeclares = AdmitDeclares {
        skips_when_single: false,
        ranks_all_waiting: false,
        needs_buffer: false,
        keeps: Keeps::NOTHING,
    };
}

/// What a [`Place`](super::Place) declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlaceDeclares {
    /// Pages never leave their home plane. The device then keeps no table of planes.
    pub is_static: bool,
    /// Writes get their plane only when a unit takes them: they then wait in one queue for the whole device
    /// ([`unplaced`](crate::Board::unplaced)), and [`place_at_dispatch`](super::Place::place_at_dispatch) is asked instead of
    /// [`plane`](super::Place::plane).
    pub binds_at_dispatch: bool,
    /// It reads the channels or when commands are expected to end. The device then makes an event of the beginning of every transfer, so
    /// that the board shows both as they are at any instant.
    pub reads_times: bool,
    /// How waiting writes move to units that have nothing to do.
    pub migration: MigrationLimits,
    /// What the device keeps for it.
    pub keeps: Keeps,
}

impl PlaceDeclares {
    /// It is asked for the plane of every write; none moves later.
    pub const ASK: PlaceDeclares = PlaceDeclares {
        is_static: false,
        binds_at_dispatch: false,
        reads_times: true,
        migration: MigrationLimits::NEVER,
        keeps: Keeps::NOTHING,
    };
}

/// How waiting writes move to units that have nothing to do ([`crate::decide::Place::steal_write`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MigrationLimits {
    /// Most writes that move to a unit at once; 0 if none ever moves.
    pub at_once: u32,
    /// Time a move takes: the write joins its new queue that much later.
    pub takes: Duration,
}

impl MigrationLimits {
    /// No write moves.
    pub const NEVER: MigrationLimits = MigrationLimits { at_once: 0, takes: Duration::ZERO };
}

/// What an [`Order`](super::Order) declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderDeclares {
    /// The position is always [`Position::TAIL`](super::Position::TAIL): the device then does not ask.
    pub is_tail: bool,
    /// What else it needs from the device.
    pub needs: Needs,
    /// What the device keeps for it.
    pub keeps: Keeps,
}

impl OrderDeclares {
    /// It is asked for every position, and needs nothing.
    pub const ASK: OrderDeclares = OrderDeclares { is_tail: false, needs: Needs::NOTHING, keeps: Keeps::NOTHING };
}

/// What an [`Order`](super::Order) needs besides being asked for positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// [`crate::decide::Order::response`] is asked for the transactions of every request, which get `estimate` and `slack`.
    pub estimates: bool,
    /// [`crate::decide::Order::promote`] is asked for the transactions of every request. Only with `estimates`.
    pub promotions: bool,
    /// [`crate::decide::Order::rerank`] is asked before each decision of a unit for which several transactions wait.
    pub reranks: bool,
    /// [`crate::decide::Order::departs`] is called for transactions that leave their queues, from the time on when a transaction joined a queue
    /// with this many in it: with 0 from the start, with [`u32::MAX`] never.
    pub departures_from: u32,
    /// [`crate::decide::Order::position`] is also asked for transactions that come from another unit's queue; otherwise they join at the tail.
    pub arrivals_from_units: bool,
    /// [`crate::decide::Order::ended`] is called at the end of every user transaction.
    pub ends: bool,
    /// Time its decisions take: every command enters the device that much later.
    pub decision: Duration,
}

impl Needs {
    /// Nothing.
    pub const NOTHING: Needs = Needs {
        estimates: false,
        promotions: false,
        reranks: false,
        departures_from: u32::MAX,
        arrivals_from_units: false,
        ends: false,
        decision: Duration::ZERO,
    };
}

/// What a [`Pick`](super::Pick) declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PickDeclares {
    /// The only transaction that waits for an idle unit is always picked if it is eligible, and so is the only read that waits
    /// while a command is paused: the device then does not ask.
    pub skips_when_single: bool,
    /// It needs a read and a write queue for every priority; otherwise all priorities share one of each.
    pub per_priority_queues: bool,
    /// It always begins the older ([`crate::Transaction::age`]) of the first read and the first write that may go: the auditor then holds it to
    /// that.
    pub oldest_first: bool,
    /// [`crate::decide::Pick::ended`] is called at the end of every user transaction.
    pub ends: bool,
    /// What the device keeps for it.
    pub keeps: Keeps,
}

impl PickDeclares {
    /// It is always asked, with one read and one write queue for each unit.
    pub const ASK: PickDeclares = PickDeclares {
        skips_when_single: false,
        per_priority_queues: false,
        oldest_first: false,
        ends: false,
        keeps: Keeps::NOTHING,
    };
}

/// What a [`Preempt`](super::Preempt) declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PreemptDeclares {
    /// When it is asked.
    pub suspend_points: SuspendPoints,
    /// What the device keeps for it.
    pub keeps: Keeps,
}

impl PreemptDeclares {
    /// It is asked at any instant.
    pub const ASK: PreemptDeclares = PreemptDeclares { suspend_points: SuspendPoints::Any, keeps: Keeps::NOTHING };
}

/// When [`crate::decide::Preempt::pause`] is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuspendPoints {
    /// Never.
    Never,
    /// At the end of each program-verify iteration, programs only.
    Boundary,
    /// At any instant, programs and erases.
    Any,
}

/// What a [`Collect`](super::Collect) declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollectDeclares {
    /// The precedence is always [`GcPrecedence::Gc`](super::GcPrecedence::Gc): the device then does not ask.
    pub goes_first: bool,
    /// How victims are emptied.
    pub mode: GcMode,
    /// Writes trigger garbage collection before they are dispatched ([`quota`](super::Collect::quota)). Whose data pages hold is
    /// recorded then.
    pub write_triggered: bool,
    /// Writes go between its steps at the hard threshold, at its pace: a place decision may then send some there
    /// ([`Facts::paced_gc`](crate::facts::Facts::paced_gc)).
    pub paced: bool,
    /// What the device keeps for it.
    pub keeps: Keeps,
}

impl CollectDeclares {
    /// It is always asked; victims are emptied by transactions that reads may pause; writes trigger nothing.
    pub const ASK: CollectDeclares = CollectDeclares {
        goes_first: false,
        mode: GcMode::Transactions { pausable: true },
        write_triggered: false,
        paced: false,
        keeps: Keeps::NOTHING,
    };
}

/// How victims are emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GcMode {
    /// By transactions in the units' queues. `pausable` lets a read pause a garbage-collection program or erase.
    Transactions {
        /// Whether reads may pause it.
        pausable: bool,
    },
    /// At once and without flash operations: for comparison, to show what garbage collection costs.
    Free,
}

/// What a [`Cancel`](super::Cancel) declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CancelDeclares {
    /// It never drops a write.
    pub keeps_all: bool,
    /// A dropped write is done at once; otherwise it is done with the write that took its place.
    pub ends_at_once: bool,
    /// The younger write takes the place of the dropped one: its unit, and its place in the queue and in the order of age. Only
    /// with an order decision that puts everything at the tail.
    pub inherits_place: bool,
    /// What the device keeps for it.
    pub keeps: Keeps,
}

impl CancelDeclares {
    /// It is asked about every write that could be dropped; a dropped one is done with its successor, which queues as ordered.
    pub const ASK: CancelDeclares =
        CancelDeclares { keeps_all: false, ends_at_once: false, inherits_place: false, keeps: Keeps::NOTHING };
}
