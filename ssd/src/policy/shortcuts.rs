//! Answers that the scheduler gives beforehand, so that it is not asked at every occasion. What happens is the same: a test
//! asks both ways (`lab/tests/contract.rs`).

use flashlane_core::decide::Scheduler;

use crate::config::{Config, Dispatch};

/// What is known beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortcuts {
    /// The order decision puts every transaction at the tail of its queue.
    pub(super) tail_order: bool,
    /// A command that finds no other waiting, and space in the device, enters it at once.
    pub(super) lone_commands_enter: bool,
    /// The only transaction that waits for an idle unit begins, if it may.
    pub(super) lone_transactions_go: bool,
    /// Garbage collection goes before user transactions.
    pub(super) gc_first: bool,
    /// When it waits for an idle unit it begins, whatever else there is.
    pub(super) gc_goes_at_once: bool,
}

impl Shortcuts {
    /// What `scheduler` says of itself on the drive of `config`, behind a link that takes no time or does.
    pub(super) fn of(scheduler: &Scheduler, config: &Config, instant_link: bool) -> Shortcuts {
        let Scheduler { admit, order, place, pick, collect, .. } = scheduler;
        let eager = config.bus.dispatch == Dispatch::Eager;
        Shortcuts {
            tail_order: order.is_tail(),
            lone_commands_enter: instant_link
                && admit.lets_lone_commands_in()
                && config.front.queue_capacity == [u32::MAX; 2],
            lone_transactions_go: pick.lets_lone_transactions_go() && place.is_static(),
            gc_first: collect.goes_first(),
            gc_goes_at_once: collect.goes_first() && !collect.writes_pay() && eager,
        }
    }
}
