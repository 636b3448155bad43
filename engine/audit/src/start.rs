//! What an audit starts from: what the scheduler declares about itself, and what the drive holds before the first event.

use flashlane_core::decide::{GcMode, Scheduler, SuspendPoints};
use flashlane_core::{Duration, Lpn, PlaneId, Ppa};

/// What the scheduler declares about itself that decides what is legal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// When it pauses: [`flashlane_core::decide::PreemptDeclares`].
    pub suspend_points: SuspendPoints,
    /// How garbage collection runs: [`flashlane_core::decide::CollectDeclares::mode`].
    pub gc_mode: GcMode,
    /// Whether a write is bound to a unit only when the unit takes it: [`flashlane_core::decide::PlaceDeclares::binds_at_dispatch`].
    pub binds_late: bool,
    /// Whether a waiting write takes time to move to another unit: [`flashlane_core::decide::MigrationLimits::takes`].
    pub moves_take_time: bool,
    /// Whether a cancelled write is done at once: [`flashlane_core::decide::CancelDeclares::ends_at_once`].
    pub cancelled_end_at_once: bool,
    /// Whether a unit begins the older of the first read and the first write ([`flashlane_core::decide::PickDeclares::oldest_first`]) of queues that
    /// are joined at the tail.
    pub oldest_first: bool,
}

impl Policy {
    /// What `scheduler` declares.
    pub fn of(scheduler: &Scheduler) -> Policy {
        let declares = scheduler.declares();
        Policy {
            suspend_points: declares.preempt.suspend_points,
            gc_mode: declares.collect.mode,
            binds_late: declares.place.binds_at_dispatch,
            moves_take_time: declares.place.migration.takes > Duration::ZERO,
            cancelled_end_at_once: declares.cancel.ends_at_once,
            oldest_first: declares.pick.oldest_first
                && declares.order.is_tail
                && !(declares.order.needs.reranks || declares.order.needs.promotions)
                // Reads may go while a write waits for the collection that it has triggered.
                && !declares.collect.write_triggered
                && !declares.cancel.inherits_place,
        }
    }
}

/// The logical page a physical page holds, if any.
pub type LpnOf<'a> = dyn Fn(PlaneId, Ppa) -> Option<Lpn> + 'a;

/// Pages of a block (counted inside its plane) written since its last erase.
pub type Written<'a> = dyn Fn(PlaneId, u32) -> u32 + 'a;

/// The state of a drive before the first event, computed for any page or block on request.
pub trait Formula: Send {
    /// Where a logical page lies, if anywhere.
    fn place(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)>;

    /// The logical page a physical page holds, if any.
    fn lpn_at(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn>;

    /// Pages of a block (counted inside its plane) that are written.
    fn written(&self, plane: PlaneId, block: u32) -> u32;

    /// Pages of a block that hold a logical page, of a formula whose answers agree with one another whatever the block. `None`: each page of
    /// the block is asked for, and what does not agree is reported.
    fn valid(&self, plane: PlaneId, block: u32) -> Option<u32> {
        let _ = (plane, block);
        None
    }
}

/// The drive before the first event.
pub enum Start<'a> {
    /// Erased.
    Fresh,
    /// Given by two functions, which are called for every page and block when the auditor is built.
    Known {
        /// The logical page a physical page holds.
        lpn_of: &'a LpnOf<'a>,
        /// How many pages of a block are written.
        written: &'a Written<'a>,
    },
    /// Given by a formula, which is evaluated for a block when an event first concerns its pages, and for no other. A run
    /// pays only for what it touches.
    Formula(Box<dyn Formula>),
    /// Unknown. A block is checked in full from its first erase on, and before that only against what has been seen.
    Unknown,
}
