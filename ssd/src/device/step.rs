//! A device's instants: what happens at each, and in which order.
//!
//! Events of one instant happen in the order of R-ORDER (model 0.3): completions and timers, then arrivals, then
//! decisions. So [`Device::advance`] processes the completions of `now` but leaves its decisions open until time moves on
//! or [`Device::next_event`] closes the instant: what is submitted at `now` is seen by the decisions at `now`.

use alloc::format;

use flashlane_core::{Time, UnitId};

use super::{Device, Fault};

impl Device {
    /// When the next event happens, [`Time::NEVER`] if none will or the device has stopped. Closes the present instant:
    /// its decisions are made now, so submit first what arrives now.
    pub fn next_event(&mut self) -> Time {
        let runs = self.fault.is_none() && self.settle();
        let next = self.next_instant();
        match runs {
            true if next <= Time::LAST => next,
            true => self.stop_after_last(next),
            false => Time::NEVER,
        }
    }

    /// Processes every event up to and including `now`, [`Time::LAST`] at most, each at its own time; the decisions of `now`
    /// itself stay open.
    pub fn advance(&mut self, now: Time) {
        debug_assert!(now <= Time::LAST, "advanced beyond the last instant");
        self.process_events(now, false);
        self.state.board.now = self.state.board.now.max(now);
    }

    /// Processes events up to and including `limit`, but no further than the first instant that completes a request, the
    /// decisions of which stay open: for a host whose requests depend on completions. Whether that was it; if not, nothing
    /// is left to happen up to `limit`.
    pub fn advance_to_completion(&mut self, limit: Time) -> bool {
        self.process_events(limit.min(Time::LAST), true);
        if !self.host.completions.is_empty() {
            return true;
        }
        if limit <= Time::LAST {
            self.state.board.now = self.state.board.now.max(limit);
        } else if self.fault.is_none() {
            self.stop_after_last(self.next_instant());
        }
        false
    }

    /// Processes events up to and including `limit`, or to the first instant with a completion.
    #[inline(always)]
    fn process_events(&mut self, limit: Time, to_completion: bool) {
        // Only decisions can stop the device.
        let mut runs = self.fault.is_none();
        while runs {
            let mut next = self.next_instant();
            if next > self.state.board.now {
                if to_completion && !self.host.completions.is_empty() {
                    break;
                }
                if self.state.agenda.open && limit > self.state.board.now {
                    runs = self.settle();
                    next = self.next_instant();
                    if to_completion && next > self.state.board.now && !self.host.completions.is_empty() {
                        // Transfers that took no time.
                        break;
                    }
                }
                if next > limit || !runs {
                    break;
                }
                self.state.board.now = next;
            }
            if self.flash.next_event() == next {
                self.flash.step(&mut self.state);
                self.drain_ended();
            } else {
                self.host.step(&mut self.state);
            }
        }
    }

    /// Nothing happens up to the last instant: stops the device if something is to happen at `next`, after it.
    #[cold]
    fn stop_after_last(&mut self, next: Time) -> Time {
        if next != Time::NEVER {
            let last = Time::LAST.ns();
            // It was packed with the number of a channel, and came back with a sign.
            let next = next.ns() & (2 * last + 1);
            let message = format!("its next event comes at {next} ns, and it lives to {last} ns at most (2.28 years)");
            self.fault = Some(Fault { at: self.state.board.now, message });
        }
        Time::NEVER
    }

    /// The earliest instant of anything.
    #[inline(always)]
    fn next_instant(&self) -> Time {
        self.flash.next_event().min(self.host.next_event())
    }

    /// Ends the transactions whose flash work is done.
    #[inline(always)]
    fn drain_ended(&mut self) {
        while let Some(txn) = self.flash.ended.pop(&self.state.board) {
            self.ended(txn);
        }
    }

    /// Makes the decisions of this instant: admission, then the units in ascending (channel, way) order, until nothing
    /// is left to decide. Whether the device goes on after that; it must not have stopped before.
    #[inline(always)]
    fn settle(&mut self) -> bool {
        while self.state.agenda.open {
            self.state.agenda.open = false;
            if self.host.could_admit() {
                self.admit();
            }
            if self.policy.draws() {
                self.draw();
            }
            let mut ahead = u64::MAX;
            while let Some((word, mut bits)) = self.state.agenda.take(ahead) {
                while bits != 0 {
                    self.decide(UnitId((word * 64) as u16 + bits.trailing_zeros() as u16));
                    bits &= bits - 1;
                }
                ahead = !1 << word;
            }
            if self.host.could_admit() {
                // Dispatching made space in the queues.
                self.admit();
            }
            if self.fault.is_some() {
                return false;
            }
            // Transfers that took no time.
            self.drain_ended();
        }
        true
    }
}
