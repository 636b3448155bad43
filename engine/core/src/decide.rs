//! The seven questions a scheduler answers (ARCHITECTURE.md: a scheduler is seven answers).
//!
//! An answer decides and never acts: it gets `&Board` and returns a value, and only the device changes anything. It
//! reads no clock (`board.now` is the instant), never allocates after it is built, and computes in integers.

mod declares;
mod order;
mod question;

use crate::board::Board;
pub use crate::group::Group;
use crate::id::{FlowId, PlaneId, TxnId, UnitId};
use crate::transaction::FlashOp;
use crate::units::{Duration, Lpn, Time};
pub use declares::*;
pub use order::{Departure, Estimate, Order, Position, Promotion};
pub use question::{ByQuestion, Declares, Question, Scheduler};

/// Which command enters the device next?
pub trait Admit {
    /// What it declares in advance. Read once, when the device is built.
    fn declares(&self) -> AdmitDeclares {
        AdmitDeclares::ASK
    }

    /// Called once, when the device is built: reserves the memory that the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Chooses among the commands that the device could take: the first `board.flows[f].waiting()` of each flow's queue, but none that
    /// is [`Commands::full`]. `None` lets all of them wait.
    fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch>;

    /// When to ask again at the latest, after `next` returned `None` although commands wait; [`Time::NEVER`] if only other
    /// events can change the answer.
    fn ask_again(&self) -> Time {
        Time::NEVER
    }
}

/// The commands that wait in the submission queues, as [`Admit`] may ask about them. A command is named by its place in
/// [`Board::requests`], which it keeps until it completes.
pub trait Commands {
    /// The commands of a flow's queue that the device may fetch, oldest first, in two parts. With SATA all flows share flow 0's.
    fn waiting(&self, flow: FlowId) -> [&[u32]; 2];

    /// The oldest of them, if there is one.
    fn head(&self, flow: FlowId) -> Option<u32> {
        let [first, second] = self.waiting(flow);
        first.first().or(second.first()).copied()
    }

    /// Whether a queue of a unit that the command needs has no room.
    fn full(&self, command: u32) -> bool;

    /// How many of the command's pages are not in the page buffer now: those that need the flash. Asking counts as no use of a page.
    fn missing(&self, command: u32) -> u32;

    /// Whether two commands touch a page in common.
    fn overlap(&self, one: u32, other: u32) -> bool;
}

/// The command that enters the device next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetch {
    /// The queue it waits in.
    pub flow: FlowId,
    /// How many older commands wait in that queue.
    pub position: u32,
}

impl Fetch {
    /// The oldest command of a flow's queue.
    #[inline]
    pub const fn head(flow: FlowId) -> Fetch {
        Fetch { flow, position: 0 }
    }
}

/// Which chip does a write go to?
pub trait Place {
    /// What it declares in advance. Read once, when the device is built.
    fn declares(&self) -> PlaceDeclares {
        PlaceDeclares::ASK
    }

    /// Called once, when the device is built: reserves the memory that the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// The plane that a page is written to, asked when the write becomes a transaction.
    fn plane(&mut self, board: &Board, page: PageWrite) -> PlaneId;

    /// The write that gets a plane now, and the plane. Asked before the units decide, again and again until it returns `None`; only if
    /// [`PlaceDeclares::binds_at_dispatch`]. `oldest` is the oldest eligible write of the device's queue ([`Board::unplaced`]); the answer
    /// may name any other write of that queue that is [`Board::eligible`].
    fn place_at_dispatch(&mut self, board: &Board, oldest: TxnId) -> Option<Placement> {
        let _ = (board, oldest);
        None
    }

    /// The waiting write that moves to `unit`. Asked after the units have decided, for a unit that does
    /// nothing and has nothing waiting; then up to [`MigrationLimits::at_once`] times in a row, until it returns `None`. The write must be
    /// [`Board::eligible`] and wait at another unit, which must not have collected garbage on its account
    /// ([`crate::board::ForegroundGc::write`]).
    fn steal_write(&mut self, board: &Board, unit: UnitId) -> Option<Placement> {
        let _ = (board, unit);
        None
    }
}

/// A page that is about to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageWrite {
    /// The logical page.
    pub lpn: Lpn,
    /// Its plane by static allocation.
    pub home: PlaneId,
    /// The plane that has it now, [`PageWrite::home`] if it has never been written. Kept for answers that declare it
    /// ([`Keeps::page_planes`]); otherwise the home plane.
    pub at: PlaneId,
}

/// A waiting write and the plane it goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The write.
    pub write: TxnId,
    /// Its new plane.
    pub to: PlaneId,
}

/// What does an idle chip do next?
pub trait Pick {
    /// What it declares in advance. Read once, when the device is built.
    fn declares(&self) -> PickDeclares {
        PickDeclares::ASK
    }

    /// Called once, when the device is built: reserves the memory that the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Fills `group` with a lead and its companions, all waiting user transactions of `unit`; leaves it empty to stay idle. The
    /// lead must be [`Board::eligible`], each companion must [`Board::may_join`] the group as it is when it is added. Where it
    /// chooses none, it must not change its state: it may be asked again at the same instant.
    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group);

    /// The waiting read that `unit` would serve next if its running or resumed command were paused; [`TxnId::NONE`] if none. The
    /// preempt decision is asked about this one. Only called while a read waits.
    fn next_read(&mut self, board: &Board, unit: UnitId) -> TxnId {
        board.first(unit, FlashOp::Read)
    }

    /// Called when a user transaction ends, before it leaves the slab, if [`PickDeclares::ends`].
    fn ended(&mut self, board: &Board, txn: TxnId) {
        let _ = (board, txn);
    }
}

/// Which transactions [`Pick`] may choose from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Reads and programs.
    Any,
    /// Reads only: a program or erase is paused, or the picked program's plane has no free page.
    Reads,
}

/// May the running program or erase be paused?
pub trait Preempt {
    /// What it declares in advance. Read once, when the device is built.
    fn declares(&self) -> PreemptDeclares {
        PreemptDeclares::ASK
    }

    /// Called once, when the device is built: reserves the memory that the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Asked when `read` waits behind the unit's running program or erase: `Some(charge)` pauses it and takes `charge`
    /// from the slack of its transactions.
    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration>;

    /// Whether [`Preempt::pause`] will return `None` for this program and read at every later iteration, until another read joins
    /// the unit's queue or a transaction is withdrawn from it: the device then stops asking.
    fn will_keep_refusing(&self, board: &Board, unit: UnitId, read: TxnId) -> bool {
        let _ = (board, unit, read);
        false
    }

    /// Asked when the unit is free and a command is paused: `Some(charge)` serves reads first and takes `charge` from the slack
    /// of the paused transactions, `None` resumes.
    fn serve(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration>;
}

/// When may garbage collection run?
pub trait Collect {
    /// What it declares in advance. Read once, when the device is built.
    fn declares(&self) -> CollectDeclares {
        CollectDeclares::ASK
    }

    /// Called once, when the device is built: reserves the memory that the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Asked when garbage collection waits for an idle unit.
    fn precedence(&mut self, board: &Board, unit: UnitId) -> GcPrecedence;

    /// Asked when `write` was picked at a unit for which garbage collection waits: how much of it goes first.
    fn quota(&mut self, _: &Board, _write: TxnId) -> GcQuota {
        GcQuota::default()
    }
}

/// Garbage collection that goes before a write (FLIN §4.3, algorithm 2).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GcQuota {
    /// Whether any goes first. If so, moves already begun are finished, and a victim that is empty is erased.
    pub due: bool,
    /// Page moves to begin: a read and its program each.
    pub page_moves: u32,
    /// Whether the amount results from a shortage of blocks, not from the write's share (D-FLN-13).
    pub forced: bool,
    /// Whether reads may go between it and the preempt decision is asked about its programs (D-FLN-16).
    pub preemptible: bool,
}

/// What goes first at a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GcPrecedence {
    /// Garbage collection.
    Gc,
    /// User transactions; garbage collection when there are none.
    User,
}

/// Is a waiting write superseded?
pub trait Cancel {
    /// What it declares in advance. Read once, when the device is built.
    fn declares(&self) -> CancelDeclares {
        CancelDeclares::ASK
    }

    /// Called once, when the device is built: reserves the memory that the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// Asked when a write arrives while an older write of the same page (`old`) still waits: whether `old` is dropped.
    fn drops(&mut self, board: &Board, old: TxnId) -> bool;
}
