//! The seven questions a scheduler answers (ARCHITECTURE.md: a scheduler is seven answers).
//!
//! An answer decides and never acts: it gets `&Board` and returns a value; the controller alone changes anything. It
//! reads no clock (`board.now` is the instant), never allocates after it is built, and computes in integers.

use alloc::boxed::Box;

use crate::board::Board;
use crate::id::{FlowId, PlaneId, QueueId, RequestId, TxnId, UnitId};
use crate::request::Op;
use crate::units::{Duration, Lpn, Time};

/// Which command enters the device next?
pub trait Admit {
    /// Called once, when the device is built: the place to reserve what the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Chooses among the flows whose head command the device could take (`board.flows[f].waiting > 0`, and not
    /// [`Heads::full`]). `None` lets all of them wait.
    fn next(&mut self, board: &Board, heads: &dyn Heads) -> Option<FlowId>;

    /// Whether a command that finds no other waiting, and space in the device, always enters at once: the controller
    /// then does not ask.
    fn lets_lone_commands_in(&self) -> bool;

    /// When to ask again after `next` was `None` though commands wait, should nothing else happen until then;
    /// [`Time::NEVER`] for an answer that waits for no instant.
    fn ask_again(&self) -> Time {
        Time::NEVER
    }

    /// Whether it looks at whose pages garbage collection moves ([`crate::board::Flow::moved`]).
    fn wants_owners(&self) -> bool {
        false
    }
}

/// The commands at the heads of the submission queues, as [`Admit`] may ask about them.
pub trait Heads {
    /// Whether a queue that the flow's head command needs has no room.
    fn full(&self, flow: FlowId) -> bool;

    /// The flow's head command, if one waits.
    fn head(&self, flow: FlowId) -> Option<Head>;
}

/// A command at the head of its submission queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// Read or write.
    pub op: Op,
    /// Pages it touches.
    pub pages: u32,
}

/// Which chip does a write go to?
pub trait Place {
    /// The plane that gets the page, asked when the write is mapped. `home` is where static allocation puts it.
    fn plane(&mut self, board: &Board, lpn: Lpn, home: PlaneId) -> PlaneId;

    /// Whether pages stay at home always. The controller then keeps no plane table.
    fn is_static(&self) -> bool;

    /// Whether writes get their plane only when a unit takes them: they then wait in one line for the whole device
    /// ([`Board::unplaced`]), [`Place::plane`] is not asked, and [`Place::draw`] is.
    fn binds_at_dispatch(&self) -> bool {
        false
    }

    /// Asked before the units decide, for the oldest write of the device's line, until it answers `None`: the plane that
    /// takes it now. Asked only of answers that bind at dispatch.
    fn draw(&mut self, board: &Board, write: TxnId) -> Option<PlaneId> {
        let _ = (board, write);
        None
    }
}

/// Where in its queue does a transaction stand?
pub trait Order {
    /// Called once, when the device is built: the place to reserve what the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Asked once for every user transaction that joins a queue; garbage collection joins at the tail.
    fn position(&mut self, board: &Board, txn: TxnId, queue: QueueId) -> Position;

    /// Whether the answer is [`Position::TAIL`] always: the controller then does not ask.
    fn is_tail(&self) -> bool;

    /// What else it wants of the controller; asked once.
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }

    /// The response time of a waiting transaction of `request`, asked when all transactions of the request stand in
    /// their queues. The controller notes it, and how much shorter it is than the longest of the request's, as the
    /// transaction's slack (Slacker eq. 8). Asked only of answers that want estimates.
    fn response(&mut self, board: &Board, txn: TxnId, request: RequestId) -> Duration {
        self.estimate(board, txn, request).response()
    }

    /// The same in parts, asked instead when somebody looks at them.
    fn estimate(&mut self, board: &Board, txn: TxnId, request: RequestId) -> Estimate {
        let _ = (board, txn, request);
        Estimate::default()
    }

    /// A user transaction is about to leave its queue, where it still stands. Told only to answers that want departures.
    /// Returns what is taken from its slack now: an answer may charge those that newcomers pass at their end, once,
    /// instead of at every newcomer ([`Position::charge`]).
    fn departs(&mut self, board: &Board, txn: TxnId, departure: Departure) -> Duration {
        let _ = (board, txn, departure);
        Duration::ZERO
    }

    /// A user transaction is about to leave the slab, done at this instant. Told only to answers that want ends.
    fn ended(&mut self, board: &Board, txn: TxnId) {
        let _ = (board, txn);
    }
}

/// Why a transaction leaves its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// Its unit begins to work on it.
    Dispatched,
    /// A younger write of its page took its place, or it goes to another unit's queue.
    Withdrawn,
}

/// What an [`Order`] wants beyond being asked for positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wants {
    /// To estimate the transactions of every request: the notes `estimate` and `slack`.
    pub estimates: bool,
    /// To hear of every user transaction that leaves its queue, once this many have waited in one: 0 from the start,
    /// [`u32::MAX`] never.
    pub departures_from: u32,
    /// To be asked for the place of transactions that come from another unit's queue, too; else they go to the tail.
    pub arrivals_from_units: bool,
    /// To hear of the end of every user transaction.
    pub ends: bool,
    /// Time its decisions take: every command enters the device that much later.
    pub decision: Duration,
}

impl Wants {
    /// Nothing.
    pub const NOTHING: Wants = Wants {
        estimates: false,
        departures_from: u32::MAX,
        arrivals_from_units: false,
        ends: false,
        decision: Duration::ZERO,
    };
}

/// An estimated response time from the queue to the end, in parts (Slacker eq. 1 and 2).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Estimate {
    /// Service of the transactions ahead.
    pub queue: Duration,
    /// Garbage collection that may come between.
    pub gc: Duration,
    /// Waiting for a taken bus.
    pub interference: Duration,
    /// What is left of the operation in service.
    pub residual: Duration,
    /// Its own service.
    pub service: Duration,
    /// What past errors say must be added, ns (Slacker footnote 3).
    pub correction: i64,
}

impl Estimate {
    /// The sum of the parts, without the correction (eq. 1).
    #[inline]
    pub fn response(&self) -> Duration {
        self.queue + self.gc + self.interference + self.residual + self.service
    }
}

/// An answer of [`Order`].
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The waiting transaction to stand in front of; [`TxnId::NONE`] for the tail.
    pub before: TxnId,
    /// Slack taken from each transaction behind the new one's place (Slacker §4.2).
    pub charge: Duration,
    /// Slack taken from each waiting program of the unit, down to none, whatever their place (D-SLK-11).
    pub charge_programs: Duration,
    /// Bits of [`crate::transaction::tag`] for the new transaction.
    pub tag: u8,
    /// Note for the new transaction: [`crate::Transaction::alone`].
    pub alone: Duration,
}

impl Position {
    /// At the tail, no notes.
    pub const TAIL: Position = Position {
        before: TxnId::NONE,
        charge: Duration::ZERO,
        charge_programs: Duration::ZERO,
        tag: 0,
        alone: Duration::ZERO,
    };
}

/// What does an idle chip do next?
pub trait Pick {
    /// Called once, when the device is built: the place to reserve what the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Fills `group` with a lead and its companions, all waiting user transactions of `unit`; leaves it empty to stay idle. The
    /// lead must be [`Board::eligible`], each companion must [`Board::may_join`] the group as it is when it is added. Where it
    /// chooses none, it must not change its state: it may be asked again at the same instant.
    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group);

    /// Whether the only transaction that waits for an idle unit always goes at once, if it may, and so does the only read
    /// that is served in a pause: the controller then does not ask.
    fn lets_lone_transactions_go(&self) -> bool {
        false
    }

    /// Whether it wants a read and a write queue for every priority level; else all levels share one of each.
    fn keeps_levels_apart(&self) -> bool {
        false
    }
}

/// Which transactions [`Pick`] may choose from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Reads and programs.
    Any,
    /// Reads only: a program or erase stands paused, or no program has room.
    Reads,
}

/// The transactions of one command.
#[derive(Clone, Debug)]
pub struct Group {
    members: [TxnId; Group::MAX],
    len: usize,
    used: u64,
}

impl Group {
    /// Planes of a unit, at most.
    pub const MAX: usize = 64;

    /// An empty group.
    pub const fn new() -> Group {
        Group { members: [TxnId::NONE; Group::MAX], len: 0, used: 0 }
    }

    /// Empties it.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.used = 0;
    }

    /// Adds a transaction; the first is the lead.
    #[inline]
    pub fn push(&mut self, board: &Board, txn: TxnId) {
        self.members[self.len] = txn;
        self.len += 1;
        self.used |= 1 << board.txn(txn).slot;
    }

    /// The members, lead first.
    #[inline]
    pub fn members(&self) -> &[TxnId] {
        &self.members[..self.len]
    }

    /// The lead, or [`TxnId::NONE`].
    #[inline]
    pub fn lead(&self) -> TxnId {
        if self.len == 0 { TxnId::NONE } else { self.members[0] }
    }

    /// Plane slots in use, a bit each.
    #[inline]
    pub const fn used(&self) -> u64 {
        self.used
    }
}

impl Default for Group {
    fn default() -> Group {
        Group::new()
    }
}

/// May the running program or erase be paused?
pub trait Preempt {
    /// When to ask.
    fn moments(&self) -> Moments;

    /// Asked when `read` waits behind the unit's running program or erase: `Some(charge)` pauses it and takes `charge`
    /// from the slack of its transactions.
    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration>;

    /// Whether asking [`Preempt::pause`] for this program and read is in vain until another read comes to the unit: the
    /// controller then looks at no further iteration.
    fn is_vain(&self, board: &Board, unit: UnitId, read: TxnId) -> bool {
        let _ = (board, unit, read);
        false
    }

    /// Asked when the unit is free and a command stands paused: `Some(charge)` serves `read` first, `None` resumes.
    fn serve(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration>;
}

/// When [`Preempt::pause`] is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moments {
    /// Never.
    Never,
    /// At the end of each program-verify iteration, programs only.
    Boundary,
    /// At any instant, programs and erases.
    Any,
}

/// When may garbage collection run?
pub trait Collect {
    /// Asked at a free unit that has garbage collection waiting.
    fn turn(&mut self, board: &Board, unit: UnitId) -> Turn;

    /// Whether the answer is [`Turn::Gc`] always: the controller then does not ask.
    fn goes_first(&self) -> bool {
        false
    }

    /// How victims are emptied.
    fn style(&self) -> Style;

    /// Whether writes pay for garbage collection before they go ([`Collect::debt`]). Page ownership is kept then.
    fn writes_pay(&self) -> bool {
        false
    }

    /// Asked when `write` was picked at a unit that has garbage collection waiting: what of it goes first.
    fn debt(&mut self, _: &Board, _write: TxnId) -> Debt {
        Debt::default()
    }
}

/// Garbage collection that goes before a write (FLIN §4.3, algorithm 2).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Debt {
    /// Whether anything does. Then moves already begun are finished first, and a victim that is empty is erased.
    pub due: bool,
    /// Page moves to begin: a read and its program each.
    pub pairs: u32,
    /// Whether a shortage of blocks decided, not the write's share (D-FLN-13).
    pub forced: bool,
}

/// Who goes first at a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Garbage collection.
    Gc,
    /// User transactions; garbage collection when there are none.
    User,
}

/// How victims are emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// By transactions in the units' queues. `pausable` lets a read pause a garbage-collection program or erase.
    Transactions {
        /// Whether reads may pause it.
        pausable: bool,
    },
    /// At once and for free: the control that shows what garbage collection costs.
    Free,
}

/// Is a waiting write superseded?
pub trait Cancel {
    /// Asked when a write arrives while an older write of the same page (`old`) still waits: whether `old` is dropped.
    fn drops(&mut self, board: &Board, old: TxnId) -> bool;
}

/// A scheduler: one answer to each question.
pub struct Scheduler {
    /// Which command enters the device next.
    pub admit: Box<dyn Admit>,
    /// Which chip a write goes to.
    pub place: Box<dyn Place>,
    /// Where in its queue a transaction stands.
    pub order: Box<dyn Order>,
    /// What an idle chip does next.
    pub pick: Box<dyn Pick>,
    /// Whether the running program or erase may be paused.
    pub preempt: Box<dyn Preempt>,
    /// When garbage collection may run.
    pub collect: Box<dyn Collect>,
    /// Whether a waiting write is superseded.
    pub cancel: Box<dyn Cancel>,
}
