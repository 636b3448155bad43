//! Advancing a device in time: what happens at each instant, and in which order.
//!
//! Events of one instant happen in the order of R-ORDER (model 0.3): completions and timers, then arrivals, then
//! decisions. So [`Device::advance`] processes the completions of `now` but leaves its decisions open until time moves on
//! or [`Device::next_event`] closes the instant: decisions at `now` take into account what is submitted at `now`.
//!
//! Completions of an instant come by channel and then by unit, those of memory and link after those of the flash, and not by creation
//! number: nothing decides between two completions of an instant. A device ends at [`Time::LAST`], because instants are packed with the
//! numbers of units and channels: arrivals after it are refused, and a device that has something to do after it stops with a fault.

use alloc::format;

use flashlane_core::{Time, UnitId};

use super::{Device, Fault};

/// Where processing events stops before its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Nowhere.
    Limit,
    /// After the first instant at which a request completes.
    Completion,
    /// After the first instant at which a request completes or the log has more events than this.
    Report(usize),
}

/// At which point of an instant a device stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// After its completions and timers.
    BeforeDecisions,
    /// Once decisions of this instant have been made.
    AfterDecisions,
}

impl Device {
    /// When the next event happens; [`Time::NEVER`] if there is none or the device has stopped. Makes the decisions of the
    /// present instant, so everything that arrives at this instant must be submitted before.
    pub fn next_event(&mut self) -> Time {
        let runs = self.fault.is_none() && self.settle();
        let next = self.next_instant();
        match runs {
            true if next <= Time::LAST => next,
            true => self.stop_after_last(next),
            false => Time::NEVER,
        }
    }

    /// Processes every event up to and including `now`, which must not be after [`Time::LAST`], each at its own time. The
    /// decisions of `now` itself stay open.
    pub fn advance(&mut self, now: Time) {
        debug_assert!(now <= Time::LAST, "advanced beyond the last instant");
        self.process_events(now, Stop::Limit);
        self.state.board.now = self.state.board.now.max(now);
    }

    /// Processes events up to and including `limit`, but not beyond the first instant at which a request completes; the decisions
    /// of that instant stay open. For a host whose requests depend on completions. Returns whether a request completed; if not,
    /// all events up to `limit` have been processed.
    pub fn advance_to_completion(&mut self, limit: Time) -> bool {
        self.process_events(limit.min(Time::LAST), Stop::Completion);
        self.is_over(Stop::Completion) || self.reached(limit)
    }

    /// As [`Device::advance_to_completion`], and if `events` also not beyond the first instant at which an event is logged. For a host
    /// that may act on what it learns from the log. Returns where it stopped; `None` if nothing of this happened up to `limit`.
    pub fn advance_to_report(&mut self, limit: Time, events: bool) -> Option<Stopped> {
        let stop = if events { Stop::Report(self.state.log.events.len()) } else { Stop::Completion };
        let stopped = self.process_events(limit.min(Time::LAST), stop);
        if self.is_over(stop) {
            return Some(stopped);
        }
        self.reached(limit);
        None
    }

    /// Nothing has stopped the device up to `limit`: it is there now, or has nothing to do for ever. Returns false.
    #[inline(always)]
    fn reached(&mut self, limit: Time) -> bool {
        if limit <= Time::LAST {
            self.state.board.now = self.state.board.now.max(limit);
        } else if self.fault.is_none() {
            self.stop_after_last(self.next_instant());
        }
        false
    }

    /// Whether what `stop` waits for has happened.
    #[inline(always)]
    fn is_over(&self, stop: Stop) -> bool {
        match stop {
            Stop::Limit => false,
            Stop::Completion => !self.host.completions.is_empty(),
            Stop::Report(logged) => !self.host.completions.is_empty() || self.state.log.events.len() > logged,
        }
    }

    /// Processes events up to and including `limit`, or to the first instant at which there is what `stop` says. Returns how far into
    /// the last instant it came.
    #[inline(always)]
    fn process_events(&mut self, limit: Time, stop: Stop) -> Stopped {
        let mut stopped = Stopped::BeforeDecisions;
        // Only decisions can stop the device.
        let mut runs = self.fault.is_none();
        while runs {
            let mut next = self.next_instant();
            if next > self.state.board.now {
                if self.is_over(stop) {
                    break;
                }
                if self.state.agenda.open && limit > self.state.board.now {
                    runs = self.settle();
                    stopped = Stopped::AfterDecisions;
                    next = self.next_instant();
                    if next > self.state.board.now && self.is_over(stop) {
                        // Transfers that take no time have completed a request during the decisions, or these were logged.
                        break;
                    }
                }
                if next > limit || !runs {
                    break;
                }
                self.state.board.now = next;
                stopped = Stopped::BeforeDecisions;
            }
            if self.flash.next_event() == next {
                self.flash.step(&mut self.state);
                self.drain_ended();
            } else {
                self.host.step(&mut self.state);
            }
        }
        stopped
    }

    /// Called when no event is left up to [`Time::LAST`]: stops the device if there is one later, at `next`.
    #[cold]
    fn stop_after_last(&mut self, next: Time) -> Time {
        if next != Time::NEVER {
            let last = Time::LAST.ns();
            // The flash packs instants with channel numbers; unpacking extended the top bit of this one as a sign.
            let next = next.ns() & (2 * last + 1);
            let message = format!("its next event comes at {next} ns, and it lives to {last} ns at most (2.28 years)");
            self.fault = Some(Fault { at: self.state.board.now, message });
        }
        Time::NEVER
    }

    /// The earliest instant of an event in the flash or the host interface.
    #[inline(always)]
    fn next_instant(&self) -> Time {
        self.flash.next_event().min(self.host.next_event())
    }

    /// Ends the transactions that the flash has finished.
    #[inline(always)]
    fn drain_ended(&mut self) {
        while let Some(txn) = self.flash.ended.pop(&self.state.board) {
            self.ended(txn);
        }
    }

    /// Makes the decisions of this instant: admission, then the units in ascending (channel, way) order, until nothing
    /// is left to decide. Returns false if that stopped the device. Must not be called when it has stopped before.
    #[inline(always)]
    fn settle(&mut self) -> bool {
        while self.state.agenda.open {
            self.state.agenda.open = false;
            if self.host.could_admit() {
                self.admit();
            }
            if self.policy.binds_at_dispatch() {
                self.place_unplaced();
            }
            let mut ahead = u64::MAX;
            while let Some((word, mut bits)) = self.state.agenda.take(ahead) {
                while bits != 0 {
                    self.decide(UnitId((word * 64) as u16 + bits.trailing_zeros() as u16));
                    bits &= bits - 1;
                }
                ahead = !1 << word;
            }
            if self.policy.migrates_writes() {
                self.rebalance();
            }
            if self.host.could_admit() {
                // Dispatching made space in the queues.
                self.admit();
            }
            if self.fault.is_some() {
                return false;
            }
            // Transfers that take no time may have ended transactions.
            self.drain_ended();
        }
        true
    }
}
