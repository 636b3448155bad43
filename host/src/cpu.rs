//! One CPU: its run queue, and what it does at each instant (model 3.1.6).
//!
//! Owns who runs next and for how long. It charges threads for the CPU time they get. Must never know what an I/O is: what
//! a thread does when it gets the CPU is the caller's.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;

use flashlane_core::{Duration, Time};

use crate::config::{Costs, Fairness};
use crate::fair;
use crate::thread::{Activity, NO_THREAD, Thread, ThreadId};

/// What a CPU is activity.
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
    /// Lower bound of the run queue's vruntime; never falls.
    min_vruntime: u64,
    /// Whether anything has run here.
    started: bool,
    /// When something happens here next, alarms apart.
    next: Time,
    /// When sleeping background threads are woken by their devices.
    alarms: BinaryHeap<Reverse<(Time, ThreadId)>>,
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
            noticeable: 0,
            unsettled: false,
            overhead: Duration::ZERO,
        }
    }

    /// When something happens here next.
    #[inline]
    pub fn next(&self) -> Time {
        if self.unsettled { self.next_alarm() } else { self.next.min(self.next_alarm()) }
    }

    /// When the next alarm goes off.
    #[inline]
    fn next_alarm(&self) -> Time {
        self.alarms.peek().map_or(Time::NEVER, |&Reverse((at, _))| at)
    }

    /// A background thread will be woken at `at`.
    pub fn set_alarm(&mut self, at: Time, thread: ThreadId) {
        self.alarms.push(Reverse((at, thread)));
    }

    /// Takes the alarm that goes off at `now`, if one does.
    #[inline]
    pub fn take_alarm(&mut self, now: Time) -> Option<ThreadId> {
        if self.next_alarm() != now {
            return None;
        }
        self.alarms.pop().map(|Reverse((_, thread))| thread)
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
        let current = threads.get(self.current as usize);
        let begins = match self.phase {
            Phase::Idle | Phase::Run => self.from,
            Phase::Interrupt(_, until) | Phase::Switch(until) => until,
        };
        match current.map(|thread| (thread.activity, thread.has_unseen())) {
            // Others run after its submission, or after a switch.
            Some((Activity::Submit(left), _)) => (begins + left).min(event + switch),
            // They run after a switch.
            None | Some((Activity::Burn | Activity::Sections | Activity::Spin(Time::NEVER), false)) => event + switch,
            // It may see its I/O, or give up the CPU without a switch.
            Some(_) => event,
        }
    }

    /// The running thread, if one is running at this very instant.
    #[inline]
    pub fn running(&self) -> Option<ThreadId> {
        (self.phase == Phase::Run).then_some(self.current)
    }

    /// Whether the CPU is `thread`'s, be it interrupted at present.
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

    /// CPU time until the current thread reaches the end of something; `None` if it never does by itself.
    fn work_left(&self, threads: &[Thread]) -> Option<Duration> {
        match threads[self.current as usize].activity {
            Activity::Section(left) | Activity::Submit(left) => Some(left),
            Activity::Spin(until) if until != Time::NEVER => Some(until.since(self.from)),
            _ => None,
        }
    }

    /// CPU time until the current thread can be preempted.
    fn until_preemptible(&self, threads: &[Thread]) -> Duration {
        threads[self.current as usize].until_preemptible()
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
        if before != NO_THREAD {
            self.queue.push(before);
            self.queued_weight += threads[before as usize].weight;
        }
        // Of equals a foreground thread goes first, then the one that was created first.
        let key = |&(_, &id): &(usize, &ThreadId)| (threads[id as usize].vruntime, threads[id as usize].group, id);
        let Some((at, _)) = self.queue.iter().enumerate().min_by_key(key) else {
            (self.current, self.phase, self.next) = (NO_THREAD, Phase::Idle, Time::NEVER);
            return None;
        };
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

    /// Works out when something happens here next.
    fn plan(&mut self, now: Time, fairness: &Fairness, threads: &[Thread]) {
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
}
