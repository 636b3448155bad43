//! What comes next on a CPU: its events, its alarms, and the next instant at which something may be noticed elsewhere.

use core::cmp::Reverse;

use flashlane_core::{Duration, Time};

use super::{Cpu, Phase};
use crate::config::Fairness;
use crate::thread::{Activity, Thread, ThreadId};

impl Cpu {
    /// When something happens here next.
    #[inline]
    pub fn next(&self) -> Time {
        if self.unsettled { self.next_alarm } else { self.next.min(self.next_alarm) }
    }

    /// A background thread will be woken at `at`.
    pub fn set_alarm(&mut self, at: Time, thread: ThreadId) {
        self.alarms.push(Reverse((at, thread)));
        self.next_alarm = self.next_alarm.min(at);
    }

    /// Takes the alarm that goes off at `now`, if one does.
    #[inline]
    pub fn take_alarm(&mut self, now: Time) -> Option<ThreadId> {
        if self.next_alarm != now {
            return None;
        }
        let taken = self.alarms.pop().map(|Reverse((_, thread))| thread);
        self.next_alarm = self.alarms.peek().map_or(Time::NEVER, |&Reverse((at, _))| at);
        taken
    }

    /// An instant before which no thread of this CPU submits an I/O or sees one done, if nothing comes from outside.
    #[inline]
    pub fn next_noticeable(&self, switch: Duration, threads: &[Thread]) -> Time {
        if self.noticeable == 0 || self.unsettled {
            return Time::NEVER;
        }
        let event = self.next();
        if event == Time::NEVER || !self.started {
            return event;
        }
        let Some(current) = threads.get(self.current as usize) else { return event + switch };
        match current.activity {
            // Others run after its submission, or after a switch.
            Activity::Submit(left) => {
                let begins = match self.phase {
                    Phase::Idle | Phase::Run => self.from,
                    Phase::Interrupt(_, until) | Phase::Switch(until) => until,
                };
                (begins + left).min(event + switch)
            }
            // They run after a switch.
            Activity::Burn | Activity::Sections => event + switch,
            Activity::Spin(Time::NEVER) if !current.has_unseen() => event + switch,
            // It may see its I/O, or give up the CPU without a switch.
            _ => event,
        }
    }

    /// Works out when something happens here next.
    pub(super) fn plan(&mut self, now: Time, fairness: &Fairness, threads: &[Thread]) {
        match self.phase {
            Phase::Interrupt(..) | Phase::Switch(_) => return,
            Phase::Idle => {
                self.next = if self.needs_resched { now } else { Time::NEVER };
                return;
            }
            Phase::Run => {}
        }
        let mut left = self.work_left(threads).unwrap_or(Duration::MAX);
        if self.needs_resched {
            left = left.min(self.until_preemptible(threads));
        } else if !self.queue.is_empty() {
            let slice = self.slice_of_current(fairness, threads).saturating_sub(self.slice);
            left = left.min(slice);
        }
        self.next = if left == Duration::MAX { Time::NEVER } else { now + left };
    }

    /// CPU time until the current thread reaches the end of something; `None` if it never does by itself.
    pub(super) fn work_left(&self, threads: &[Thread]) -> Option<Duration> {
        match threads[self.current as usize].activity {
            Activity::Section(left) | Activity::Submit(left) => Some(left),
            Activity::Spin(until) if until != Time::NEVER => Some(until.since(self.from)),
            _ => None,
        }
    }

    /// CPU time until the current thread can be preempted.
    pub(super) fn until_preemptible(&self, threads: &[Thread]) -> Duration {
        threads[self.current as usize].until_preemptible()
    }
}
