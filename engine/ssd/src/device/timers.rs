//! The one timer of the device, for what comes first: the end of the idle time after which blocks in SLC mode are folded, the end of the wait
//! for a full wordline, or the next entry of a page into a buffer with a pace.

use flashlane_core::Time;

use super::Device;
use super::effects::Effect;
use super::wordlines::Wordlines;
use crate::buffer::Buffer;
use crate::gc::has_user_transactions;

impl Device {
    /// The idle time after which blocks in SLC mode are folded begins anew, if the configuration has one.
    #[cold]
    pub(super) fn await_idle_time(&mut self) {
        if let Some(idle) = self.folds_after {
            let at = self.state.now() + idle;
            self.gc.idle_at = if at <= self.gc.idle_ends { at } else { Time::NEVER };
            self.set_timer();
        }
    }

    /// Sets the timer to what comes first.
    #[cold]
    pub(super) fn set_timer(&mut self) {
        let deadline = self.wordlines.as_ref().map_or(Time::NEVER, Wordlines::deadline);
        let entries = self.buffer.iter().flat_map(Buffer::entries);
        let entry = entries.map(|(_, at)| at.max(self.state.now())).min().unwrap_or(Time::NEVER);
        self.frontend.set_timer(self.gc.idle_at.min(deadline).min(entry));
    }

    /// Gathered pages that have waited long enough are left to the decisions; blocks in SLC mode are folded if the drive has been idle, and still
    /// is; pages enter the buffer whose pace lets them.
    #[cold]
    pub(super) fn timer_ended(&mut self) {
        let now = self.state.now();
        let folds = self.gc.idle_at <= now;
        if folds {
            self.gc.idle_at = Time::NEVER;
        }
        if self.wordlines.as_ref().is_some_and(|wordlines| wordlines.are_due(now)) {
            // They set the timer anew.
            self.state.agenda.open = true;
        } else {
            self.set_timer();
        }
        // A write on its way to another unit is in no queue.
        if folds && !has_user_transactions(&self.state.board) && !self.migrations.any() {
            self.gc.fold_in_idle_time(&mut self.state, &mut self.ftl);
        }
        let due = self.buffer.iter().flat_map(Buffer::entries).filter(|&(_, at)| at <= now);
        self.effects.extend(due.rev().map(|(flow, _)| Effect::SpaceFreed(flow)));
    }
}
