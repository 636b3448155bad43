//! One CPU: its run queue, and what it does at each instant (model 3.1.6).
//!
//! Owns who runs next and for how long. It charges threads for the CPU time they get. Must never know what an I/O is: what
//! a thread does when it gets the CPU is the caller's.

mod next;
#[cfg(test)]
mod tests;

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;

use flashlane_core::{Duration, Time};

use crate::config::{Costs, Fairness};
use crate::fair;
use crate::thread::{Activity, NO_THREAD, Thread, ThreadId};

/// What a CPU does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    /// Serves the interrupt for a thread until an instant.
    Interrupt(ThreadId, Time),
    /// Switches to its current thread until an instant.
    Switch(Time),
    /// Runs its current thread.
    Run,
}

/// What a CPU asks of its caller: the thread `.0` has reached something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CpuEvent {
    /// It has the CPU.
    Running(ThreadId),
    /// Its submission or section is over, or it has spun long enough.
    End(ThreadId),
}

/// A CPU.
#[derive(Debug)]
pub(crate) struct Cpu {
    /// Runnable threads that wait, in no order.
    queue: Vec<ThreadId>,
    /// Sum of their weights.
    queued_weight: u64,
    /// The thread that runs, or will when the interrupt is served or the switch done.
    current: ThreadId,
    phase: Phase,
    /// Since when the current thread has run without being charged.
    from: Time,
    /// CPU time it has had since it was chosen.
    slice: Duration,
    /// Whether another thread should run as soon as the current one can be preempted.
    needs_resched: bool,
    /// Threads whose interrupts wait.
    interrupts: VecDeque<ThreadId>,
    /// The floor of virtual time: the least vruntime of the runnable threads, but never less than it was.
    min_vruntime: u64,
    /// Whether anything has run here.
    started: bool,
    /// When something happens here next, alarms apart.
    next: Time,
    /// When sleeping background threads are woken by their devices.
    alarms: BinaryHeap<Reverse<(Time, ThreadId)>>,
    /// The earliest of them.
    next_alarm: Time,
    /// Threads that are submitting an I/O, or whose I/O is done and not seen: while there are none, nothing that happens here can
    /// be noticed elsewhere.
    pub noticeable: u32,
    /// Whether the current thread has just seen its I/O and may go on with another at this instant: until that is known, nothing
    /// but alarms happens here.
    pub unsettled: bool,
    /// Time of interrupts and switches, those under way in full.
    overhead: Duration,
}

impl Cpu {
    /// An idle CPU.
    pub fn new() -> Cpu {
        Cpu {
            queue: Vec::new(),
            queued_weight: 0,
            current: NO_THREAD,
            phase: Phase::Idle,
            from: Time::ZERO,
            slice: Duration::ZERO,
            needs_resched: false,
            interrupts: VecDeque::new(),
            min_vruntime: 0,
            started: false,
            next: Time::NEVER,
            alarms: BinaryHeap::new(),
            next_alarm: Time::NEVER,
            noticeable: 0,
            unsettled: false,
            overhead: Duration::ZERO,
        }
    }

    /// The running thread, if one is running at this very instant.
    #[inline]
    pub fn running(&self) -> Option<ThreadId> {
        (self.phase == Phase::Run).then_some(self.current)
    }

    /// Whether the CPU is `thread`'s, even if it is interrupted now.
    #[inline]
    pub fn holds(&self, thread: ThreadId) -> bool {
        self.current == thread
    }

    /// Time spent in interrupts and switches up to `now`.
    pub fn overhead(&self, now: Time) -> Duration {
        match self.phase {
            Phase::Interrupt(_, until) | Phase::Switch(until) => self.overhead - until.since(now),
            Phase::Idle | Phase::Run => self.overhead,
        }
    }

    /// Takes an interrupt for `thread`: entry and wake-up cost CPU time, then the thread is runnable.
    pub fn interrupt(&mut self, thread: ThreadId, now: Time, costs: &Costs, threads: &mut [Thread]) {
        match self.phase {
            Phase::Idle | Phase::Run => {
                self.charge(now, threads);
                self.serve(thread, now, costs);
            }
            Phase::Interrupt(..) | Phase::Switch(_) => self.interrupts.push_back(thread),
        }
    }

    fn serve(&mut self, thread: ThreadId, now: Time, costs: &Costs) {
        let cost = costs.irq + costs.wake;
        self.overhead += cost;
        self.phase = Phase::Interrupt(thread, now + cost);
        self.next = now + cost;
    }

    /// A thread becomes runnable, without an interrupt.
    pub fn wake(&mut self, thread: ThreadId, now: Time, fairness: &Fairness, threads: &mut [Thread]) {
        self.charge(now, threads);
        self.enqueue(thread, fairness, threads);
        if self.phase == Phase::Idle {
            self.needs_resched = true;
        }
        self.plan(now, fairness, threads);
    }

    /// Adds a woken thread to the run queue, and preempts the current one if the woken one has had much less CPU time.
    fn enqueue(&mut self, id: ThreadId, fairness: &Fairness, threads: &mut [Thread]) {
        self.raise_floor(threads);
        let thread = &mut threads[id as usize];
        thread.vruntime = thread.vruntime.max(self.min_vruntime.saturating_sub(fairness.period.ns() / 2));
        let (vruntime, weight) = (thread.vruntime, thread.weight);
        self.queue.push(id);
        self.queued_weight += weight;
        if let Some(current) = threads.get(self.current as usize) {
            let ahead = current.vruntime.saturating_sub(vruntime);
            self.needs_resched |= ahead > fair::weighted(fairness.wakeup_granularity, weight);
        }
    }

    /// The current thread gives the CPU up of its own accord; switching away is part of what it did (D-PRE-18).
    pub fn give_up(&mut self, now: Time, fairness: &Fairness, threads: &mut [Thread]) -> Option<CpuEvent> {
        self.charge(now, threads);
        self.raise_floor(threads);
        self.current = NO_THREAD;
        self.choose(now, Duration::ZERO, fairness, threads)
    }

    /// The current thread goes on with something else, which it has just begun.
    pub fn go_on(&mut self, now: Time, fairness: &Fairness, threads: &mut [Thread]) {
        self.charge(now, threads);
        self.plan(now, fairness, threads);
    }

    /// Processes what happens here at `now`, which must be [`Cpu::next`] and no alarm. The caller must then tell what the thread does that
    /// has reached something: [`Cpu::go_on`] or [`Cpu::give_up`].
    pub fn step(&mut self, now: Time, costs: &Costs, fairness: &Fairness, threads: &mut [Thread]) -> Option<CpuEvent> {
        match self.phase {
            Phase::Interrupt(thread, _) => {
                self.enqueue(thread, fairness, threads);
                self.phase = if self.current == NO_THREAD { Phase::Idle } else { Phase::Run };
                self.from = now;
                match self.interrupts.pop_front() {
                    Some(another) => {
                        self.serve(another, now, costs);
                        None
                    }
                    None if self.current == NO_THREAD => self.choose(now, costs.switch, fairness, threads),
                    None => {
                        self.plan(now, fairness, threads);
                        Some(CpuEvent::Running(self.current))
                    }
                }
            }
            Phase::Switch(_) => {
                self.phase = Phase::Run;
                self.from = now;
                self.plan(now, fairness, threads);
                // The thread has the CPU before it is interrupted again: it may find its I/O done.
                if let Some(thread) = self.interrupts.pop_front() {
                    self.serve(thread, now, costs);
                }
                Some(CpuEvent::Running(self.current))
            }
            Phase::Run => {
                self.charge(now, threads);
                if self.work_left(threads) == Some(Duration::ZERO) {
                    return Some(CpuEvent::End(self.current));
                }
                self.needs_resched |= !self.queue.is_empty() && self.slice >= self.slice_of_current(fairness, threads);
                if self.needs_resched && self.until_preemptible(threads) == Duration::ZERO {
                    return self.choose(now, costs.switch, fairness, threads);
                }
                self.plan(now, fairness, threads);
                None
            }
            Phase::Idle => self.choose(now, costs.switch, fairness, threads),
        }
    }

    /// Charges the running thread up to `now`.
    #[inline]
    pub fn charge(&mut self, now: Time, threads: &mut [Thread]) {
        if self.phase == Phase::Run {
            let time = now - self.from;
            let thread = &mut threads[self.current as usize];
            thread.vruntime += fair::weighted(time, thread.weight);
            thread.ran += time.ns();
            match &mut thread.activity {
                Activity::Section(left) | Activity::Submit(left) => *left -= time,
                Activity::Spin(_) => {
                    if let Some(io) = &mut thread.io {
                        io.spun += time;
                    }
                }
                _ => {}
            }
            self.slice += time;
        }
        self.from = now;
    }

    /// Raises the floor of virtual time to what the running thread and all that wait have had. The kernel does at every charge;
    /// the least of them only rises until one joins or leaves, so this is called before each does.
    fn raise_floor(&mut self, threads: &[Thread]) {
        let runnable = self.queue.iter().copied().chain(Some(self.current).filter(|&id| id != NO_THREAD));
        if let Some(least) = runnable.map(|id| threads[id as usize].vruntime).min() {
            self.min_vruntime = self.min_vruntime.max(least);
        }
    }

    fn slice_of_current(&self, fairness: &Fairness, threads: &[Thread]) -> Duration {
        let weight = threads[self.current as usize].weight;
        fair::slice(fairness, self.queue.len() as u64 + 1, weight, self.queued_weight + weight)
    }

    /// Chooses the thread with the least vruntime. The switch takes `switch`, unless the thread had the CPU already or the CPU
    /// has just been started.
    fn choose(&mut self, now: Time, switch: Duration, fairness: &Fairness, threads: &mut [Thread]) -> Option<CpuEvent> {
        self.needs_resched = false;
        let before = self.current;
        if before == NO_THREAD && self.queue.is_empty() {
            (self.phase, self.next) = (Phase::Idle, Time::NEVER);
            return None;
        }
        if before != NO_THREAD {
            self.queue.push(before);
            self.queued_weight += threads[before as usize].weight;
        }
        // Of equals a foreground thread goes first, then the one that was created first.
        let key = |&(_, &id): &(usize, &ThreadId)| (threads[id as usize].vruntime, threads[id as usize].group, id);
        let (at, _) = self.queue.iter().enumerate().min_by_key(key).expect("it is not empty");
        self.current = self.queue.swap_remove(at);
        let chosen = &mut threads[self.current as usize];
        if self.current != before {
            chosen.resume();
        }
        self.queued_weight -= chosen.weight;
        self.min_vruntime = self.min_vruntime.max(chosen.vruntime);
        self.slice = Duration::ZERO;
        self.from = now;
        let is_free = self.current == before || !self.started || switch == Duration::ZERO;
        self.started = true;
        if is_free {
            self.phase = Phase::Run;
            self.plan(now, fairness, threads);
            return Some(CpuEvent::Running(self.current));
        }
        self.overhead += switch;
        self.phase = Phase::Switch(now + switch);
        self.next = now + switch;
        None
    }
}
