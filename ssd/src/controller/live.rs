//! A device's instants: what happens at each, and in which order.
//!
//! Events of one instant happen in the order of R-ORDER (SPEC 0.3): completions and timers, then arrivals, then
//! decisions. So [`Device::advance`] lives the completions of `now` but leaves its decisions open until time moves on
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
            true => self.end_life(next),
            false => Time::NEVER,
        }
    }

    /// Lives every event up to and including `now`, [`Time::LAST`] at most, each at its own time; the decisions of `now` itself
    /// stay open.
    pub fn advance(&mut self, now: Time) {
        debug_assert!(now <= Time::LAST, "lived beyond the last instant");
        self.live(now, false);
        self.board.now = self.board.now.max(now);
    }

    /// Lives events up to and including `limit`, but no longer than the first instant that completes a request, the
    /// decisions of which stay open: for a host whose requests depend on completions. Whether that was it; if not, nothing
    /// is left to happen up to `limit`.
    pub fn advance_to_completion(&mut self, limit: Time) -> bool {
        self.live(limit.min(Time::LAST), true);
        if !self.completions.is_empty() {
            return true;
        }
        if limit <= Time::LAST {
            self.board.now = self.board.now.max(limit);
        } else if self.fault.is_none() {
            self.end_life(self.next_instant());
        }
        false
    }

    /// Lives events up to and including `limit`, or to the first instant with a completion.
    #[inline(always)]
    fn live(&mut self, limit: Time, to_completion: bool) {
        // Only decisions can stop the device.
        let mut runs = self.fault.is_none();
        while runs {
            let mut next = self.next_instant();
            if next > self.board.now {
                if to_completion && !self.completions.is_empty() {
                    break;
                }
                if self.agenda.open && limit > self.board.now {
                    runs = self.settle();
                    next = self.next_instant();
                    if to_completion && next > self.board.now && !self.completions.is_empty() {
                        // Transfers that took no time.
                        break;
                    }
                }
                if next > limit || !runs {
                    break;
                }
                self.board.now = next;
            }
            if self.flash.next_event() == next {
                self.flash.step(&mut self.board, &mut self.agenda, &mut self.log);
                self.hear();
            } else {
                self.live_other();
            }
        }
    }

    /// Nothing happens up to the last instant: stops the device if something is to happen at `next`, after it.
    #[cold]
    fn end_life(&mut self, next: Time) -> Time {
        if next != Time::NEVER {
            let last = Time::LAST.ns();
            // It has been packed with other things, and came back with a sign.
            let next = next.ns() & (2 * last + 1);
            let message = format!("its next event comes at {next} ns, and it lives to {last} ns at most (2.28 years)");
            self.fault = Some(Fault { at: self.board.now, message });
        }
        Time::NEVER
    }

    /// The earliest instant of anything.
    #[inline(always)]
    fn next_instant(&self) -> Time {
        self.flash.next_event().min(self.other_next)
    }

    /// Recomputes the earliest instant of anything but flash.
    pub(super) fn refresh_other(&mut self) {
        let soon = self.soon.front().map_or(Time::NEVER, |&(at, _)| at);
        let front = self.front.inward.next().min(self.front.outward.next());
        self.other_next = soon.min(front).min(self.ask_again);
    }

    /// Lives one event of this instant that is none of the flash's.
    fn live_other(&mut self) {
        let now = self.board.now;
        if let Some(slot) = self.front.outward.arrived(now) {
            self.deliver(slot);
        } else if self.soon.front().is_some_and(|&(at, _)| at <= now) {
            let (_, slot) = self.soon.pop_front().expect("just seen");
            self.served(slot);
        } else if let Some(slot) = self.front.inward.arrived(now) {
            let flow = self.slots.get(slot).answer.flow;
            self.front.push(flow, slot, &mut self.board);
            self.agenda.open = true;
        } else if self.ask_again <= now {
            self.ask_again = Time::NEVER;
            self.agenda.open = true;
        }
        self.refresh_other();
    }

    /// Takes note of the transactions whose flash work is done.
    #[inline(always)]
    fn hear(&mut self) {
        while let Some(txn) = self.flash.ended.pop(&self.board) {
            self.ended(txn);
        }
    }

    /// Makes the decisions of this instant: admission, then the units in ascending (channel, way) order, until nothing
    /// is left to decide. Whether the device goes on after that; it must not have stopped before.
    #[inline(always)]
    fn settle(&mut self) -> bool {
        while self.agenda.open {
            self.agenda.open = false;
            if self.front.could_admit() {
                self.admit();
            }
            if self.draws {
                self.draw();
            }
            if self.newcomer.is_some() {
                self.begin_newcomer();
            }
            let mut ahead = u64::MAX;
            while let Some((word, mut bits)) = self.agenda.take(ahead) {
                while bits != 0 {
                    self.decide(UnitId((word * 64) as u16 + bits.trailing_zeros() as u16));
                    bits &= bits - 1;
                }
                ahead = !1 << word;
            }
            if self.front.could_admit() {
                // Dispatching made space in the queues.
                self.admit();
            }
            if self.fault.is_some() {
                return false;
            }
            // Those of transfers that took no time.
            self.hear();
        }
        true
    }
}
