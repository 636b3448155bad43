//! What threads do when they have their CPU: look, spin, see, sleep.

use flashlane_core::{Duration, Op, Time};

use super::{Host, Seen};
use crate::cpu::CpuEvent;
use crate::thread::{Activity, Pending, Thread, ThreadId};

impl Host {
    /// Until when a thread on this CPU that was woken early spins (D-PRE-12).
    pub(super) fn spin_deadline(&self, cpu: usize, now: Time) -> Time {
        now + self.config.waiting.max_spin.unwrap_or(self.windows[cpu].longest_spin())
    }

    /// A thread on a CPU has reached something.
    pub(super) fn handle(&mut self, cpu: usize, reached: Option<CpuEvent>, now: Time) {
        let (thread, over) = match reached {
            None => return,
            Some(CpuEvent::Running(thread)) => (thread, false),
            Some(CpuEvent::End(thread)) => (thread, true),
        };
        let Thread { activity, io, .. } = &mut self.threads[thread as usize];
        let is_done = io.is_some_and(|io| io.done <= now);
        match (*activity, over) {
            (Activity::CheckCompletion, _) => {
                if let Some(io) = io {
                    io.ran_at = now;
                }
                if is_done {
                    self.see(thread, now);
                } else {
                    self.threads[thread as usize].activity = Activity::Spin(self.spin_deadline(cpu, now));
                    self.go_on(cpu, now);
                }
            }
            (Activity::Spin(_), _) if is_done => self.see(thread, now),
            (Activity::Spin(_), true) => self.sleep_again(thread, now),
            (Activity::Submit(_), true) => self.submit(thread, now),
            (Activity::Section(_), true) => self.section_over(thread, now),
            (Activity::Nothing | Activity::Sleep, false) => self.yield_cpu(cpu, now),
            _ => {}
        }
    }

    /// A thread that was woken early has spun for long enough: its completion will interrupt it (D-PRE-12).
    pub(super) fn sleep_again(&mut self, id: ThreadId, now: Time) {
        let thread = &mut self.threads[id as usize];
        thread.activity = Activity::Sleep;
        if let Some(io) = &mut thread.io {
            self.meter.gave_up += u64::from(io.notified);
            io.notified = false;
        }
        let cpu = thread.cpu as usize;
        self.yield_cpu(cpu, now);
    }

    /// A background thread has done a section: its own device works, then wakes it.
    pub(super) fn section_over(&mut self, id: ThreadId, now: Time) {
        let thread = &mut self.threads[id as usize];
        thread.activity = Activity::Nothing;
        thread.operations += 1;
        let (cpu, wakes) = (thread.cpu as usize, now + thread.device);
        self.cpus[cpu].set_alarm(wakes, id);
        self.yield_cpu(cpu, now);
    }

    /// The current thread of a CPU gives it up.
    pub(super) fn yield_cpu(&mut self, cpu: usize, now: Time) {
        if self.cpus[cpu].running().is_some_and(|id| self.threads[id as usize].is_waiting()) {
            let reached = self.cpus[cpu].give_up(now, &self.config.fairness, &mut self.threads);
            self.handle(cpu, reached, now);
        }
    }

    /// A running thread that spins can see its completion from `now` on.
    pub(super) fn detect_completion(&mut self, id: ThreadId, now: Time) {
        let interval = self.config.waiting.poll_interval.ns();
        let cpu = self.threads[id as usize].cpu as usize;
        self.cpus[cpu].charge(now, &mut self.threads);
        let spun = self.threads[id as usize].io.map_or(0, |io| io.spun.ns());
        let until = if interval == 0 { spun } else { spun.next_multiple_of(interval) };
        if until == spun {
            self.see(id, now);
        } else {
            self.threads[id as usize].activity = Activity::Spin(now + Duration::from_ns(until - spun));
            self.go_on(cpu, now);
        }
    }

    /// A thread sees that its I/O is done.
    pub(super) fn see(&mut self, id: ThreadId, now: Time) {
        let cpu = self.threads[id as usize].cpu as usize;
        self.cpus[cpu].charge(now, &mut self.threads);
        let thread = &mut self.threads[id as usize];
        thread.activity = Activity::Nothing;
        let Some(io) = thread.io.take() else { return };
        let flow = thread.flow;
        self.meter.cpu.spin += io.spun;
        if io.op == Op::Read && io.pages == 1 && io.ran_at != Time::NEVER && io.notified {
            self.windows[cpu].observe((io.ran_at + io.lead).since(io.done));
        }
        let Pending { id: request, op, called, submitted, done, spun, .. } = io;
        self.seen.push(Seen { id: request, flow, op, called, submitted, done, seen: now, spun });
        self.free[flow.index()].push(id);
        let state = &mut self.cpus[cpu];
        state.noticeable -= 1;
        state.unsettled = true;
        self.unsettled.push(cpu as u32);
    }
}
