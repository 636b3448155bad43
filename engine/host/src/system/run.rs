//! Lets the CPUs run. Each is left behind until something comes to it from outside, or it may do something that is noticed there.

use flashlane_core::Time;

use super::{Host, INSTANT};
use crate::config::Config;
use crate::thread::Activity;

/// Bits that hold a CPU's number; instants up to [`Time::LAST`] fit above them.
const CPU_BITS: u32 = 6;
const CPU_MASK: u64 = (1 << CPU_BITS) - 1;

impl Host {
    /// Lets the CPUs run up to `now`, as far as it can be noticed, in the order of time and then of their numbers.
    #[inline]
    pub(super) fn run(&mut self, now: Time) {
        while self.soonest() <= now {
            let cpu = (self.noticeable.min() & CPU_MASK) as usize;
            self.run_cpu(cpu, self.soonest() + INSTANT);
            self.update_noticeable(cpu);
        }
    }

    /// What comes to a CPU at `now` comes before its own events of that instant, unless the host has been advanced to it
    /// already or the device has made decisions at it ([`Host::pass`]).
    #[inline]
    pub(super) fn before(&self, now: Time) -> Time {
        if self.reached == now { now + INSTANT } else { now }
    }

    /// Processes everything that happens on a CPU before `limit`. CPUs know nothing of one another and of the device, so each may be
    /// left behind until something from outside comes to it.
    #[inline(always)]
    pub(super) fn run_cpu(&mut self, cpu: usize, limit: Time) {
        while self.cpus[cpu].next() < limit {
            self.step_cpu(cpu);
        }
    }

    /// Processes what happens next on a CPU; of an instant, alarms first.
    fn step_cpu(&mut self, cpu: usize) {
        let now = self.cpus[cpu].next();
        let Config { costs, fairness, .. } = &self.config;
        if let Some(id) = self.cpus[cpu].take_alarm(now) {
            let thread = &mut self.threads[id as usize];
            thread.activity = Activity::Section(thread.section);
            self.cpus[cpu].interrupt(id, now, costs, &mut self.threads);
        } else {
            let reached = self.cpus[cpu].step(now, costs, fairness, &mut self.threads);
            self.handle(cpu, reached, now);
        }
    }

    /// The earliest instant at which something noticeable may happen on a CPU.
    #[inline]
    pub(super) fn soonest(&self) -> Time {
        // The arithmetic shift turns all ones into NEVER.
        Time::from_ns((self.noticeable.min() as i64 >> CPU_BITS) as u64)
    }

    /// Works out a CPU's entry in `noticeable`; to be called whenever something has changed there.
    #[inline]
    pub(super) fn update_noticeable(&mut self, cpu: usize) {
        let cpu_state = &self.cpus[cpu];
        let at = match self.steps_each_event {
            false => cpu_state.next_noticeable(self.config.costs.switch, &self.threads),
            true => cpu_state.next(),
        };
        self.noticeable.set(cpu, if at == Time::NEVER { u64::MAX } else { at.ns() << CPU_BITS | cpu as u64 });
    }
}
