//! Answers that a scheduler declares in advance, so that it need not be asked every time. It must hold to them: the choices it makes
//! are then those it would have made. A command that enters without being asked about leaves the admit decision's state as it was,
//! so round robin's turn does not move. A test runs every scheduler with nothing declared (`lab/tests/all/declared.rs`).

use flashlane_core::decide::Declares;

use crate::config::{Config, Dispatch};

/// Answers known in advance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortcuts {
    /// The order decision puts every transaction at the tail of its queue.
    pub(super) tail_order: bool,
    /// A command enters the device at once if no other command waits and the device has space.
    pub(super) single_command_enters: bool,
    /// The only waiting transaction of an idle unit begins at once, if it may be dispatched.
    pub(super) single_transaction_starts: bool,
    /// Garbage collection goes before user transactions.
    pub(super) gc_first: bool,
    /// Waiting garbage collection begins whenever its unit is idle, without any further check.
    pub(super) gc_goes_at_once: bool,
}

impl Shortcuts {
    /// What a scheduler declares, as far as it holds on the drive of `config`. `instant_link` if commands cross the host link in
    /// no time.
    pub(super) fn of(declares: &Declares, config: &Config, instant_link: bool) -> Shortcuts {
        let Declares { admit, order, pick, collect, .. } = declares;
        let eager = config.bus.dispatch == Dispatch::Eager;
        Shortcuts {
            tail_order: order.is_tail,
            single_command_enters: instant_link
                && admit.skips_when_single
                && !admit.ranks_all_waiting
                && config.front.queue_capacity == [u32::MAX; 2],
            single_transaction_starts: pick.skips_when_single,
            gc_first: collect.goes_first,
            gc_goes_at_once: collect.goes_first && !collect.write_triggered && eager,
        }
    }
}
