//! What the scheduler's answers say of themselves: which of them are known without asking.

use flashlane_core::decide::Scheduler;

use crate::config::{Config, Dispatch};
use crate::front::Front;

/// Answers that are known beforehand. The controller does not ask for them; what happens is the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The order decision puts every transaction at the tail of its queue.
    pub(super) tail_order: bool,
    /// A command that finds no other waiting, and space in the device, enters it at once.
    pub(super) lone_commands_pass: bool,
    /// The only transaction that waits for an idle unit begins, if it may.
    pub(super) lone_transactions_go: bool,
    /// So does a read that is the only thing to decide about at its instant, and nobody looks at its queue before.
    pub(super) newcomers: bool,
    /// Garbage collection goes before user transactions.
    pub(super) gc_first: bool,
    /// When it waits for an idle unit it begins, whatever else there is.
    pub(super) gc_goes_at_once: bool,
}

impl Known {
    /// What is known of `scheduler` on the drive of `config`, behind `front`.
    pub(super) fn of(scheduler: &Scheduler, config: &Config, front: &Front) -> Known {
        let Scheduler { admit, order, place, pick, collect, .. } = scheduler;
        let eager = config.bus.dispatch == Dispatch::Eager;
        let wants = order.wants();
        let tail_order = order.is_tail();
        let lone_transactions_go = pick.lets_lone_transactions_go() && place.is_static();
        let unseen = tail_order && !wants.estimates && wants.departures_from > 0;
        Known {
            tail_order,
            lone_commands_pass: front.inward.is_instant()
                && admit.lets_lone_commands_in()
                && config.front.queue_capacity == [u32::MAX; 2],
            lone_transactions_go,
            newcomers: lone_transactions_go && unseen && eager,
            gc_first: collect.goes_first(),
            gc_goes_at_once: collect.goes_first() && !collect.writes_pay() && eager,
        }
    }

    /// Whether someone may ask how long commands are still expected to take.
    pub(super) fn expectations(scheduler: &Scheduler) -> bool {
        !scheduler.order.is_tail() || scheduler.order.wants().estimates
    }
}
