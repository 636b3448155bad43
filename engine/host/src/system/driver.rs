//! The driver: submits I/Os, decides how their threads wait, and takes in completions and messages (model 3.1.2).

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};

use super::Host;
use crate::classify::BufferView;
use crate::config::Completion;
use crate::thread::{Activity, Pending, Thread, ThreadId};
use crate::tracker::Served;

impl Host {
    /// The completion of a request arrives; `free_pages` is what it tells of the device's write buffer.
    pub fn completed(&mut self, now: Time, id: RequestId, free_pages: Option<u32>) {
        let served = self.tracker.as_mut().map(|tracker| tracker.completed(id, now, &mut self.meter));
        let Some(thread) = self.waiting.remove(id.0) else { return };
        let cpu = self.threads[thread as usize].cpu as usize;
        self.run_cpu(cpu, self.before(now));
        let Thread { activity, flow, io, .. } = &mut self.threads[thread as usize];
        let Some(io) = io else { return };
        io.done = now;
        let notified = io.notified;
        let activity = *activity;
        if self.config.waiting.classifies() {
            let (flow, io) = (*flow, *io);
            self.learn(flow, &io, served, free_pages);
        }
        self.cpus[cpu].noticeable += 1;
        match activity {
            Activity::Sleep if !notified => self.interrupt(thread, Duration::ZERO, now),
            Activity::Spin(_) if self.cpus[cpu].running() == Some(thread) => self.detect_completion(thread, now),
            _ => {}
        }
        self.update_noticeable(cpu);
    }

    /// What the driver knows of the buffer that the flow's writes end in.
    pub(super) fn buffer_of(&mut self, flow: FlowId) -> &mut BufferView {
        let part = if self.config.buffer_per_flow { flow.index() } else { 0 };
        while self.buffers.len() <= part {
            self.buffers.push(BufferView::new(self.config.buffer_pages.unwrap_or(0)));
        }
        &mut self.buffers[part]
    }

    /// Takes note of what a completion tells of the device's memory.
    pub(super) fn learn(&mut self, flow: FlowId, io: &Pending, served: Option<Served>, free_pages: Option<u32>) {
        if let (Some(free), true) = (free_pages, self.config.waiting.buffer_hits) {
            self.buffer_of(flow).reported(free, io.reserved_pages);
        }
        let Some(Served { from_memory }) = served else { return };
        if io.plain {
            let counts = if io.op == Op::Read { &mut self.meter.reads } else { &mut self.meter.writes };
            match (io.predicted_hit, from_memory) {
                (true, true) => counts.hit += 1,
                (true, false) => counts.miss += 1,
                (false, true) => counts.unseen += 1,
                (false, false) => {}
            }
        }
        let Some(directory) = &mut self.directory else { return };
        match io.op {
            // A write with FUA ends when its pages have been programmed, and have left the memory; in a protected buffer they are found again.
            Op::Write if !io.plain => return directory.forget(io.page, io.pages),
            Op::Trim | Op::WriteZeroes => return directory.forget(io.page, io.pages),
            Op::Flush => return,
            Op::Read | Op::Write => {}
        }
        let holds = io.op == Op::Write || from_memory;
        // A request of more pages than the memory has leaves its last ones.
        let first = io.pages.saturating_sub(self.config.buffer_pages.unwrap_or(0));
        for page in (first..io.pages).map(|i| io.page + u64::from(i)) {
            if holds { directory.enter(page) } else { directory.leave(page) }
        }
    }

    /// An interrupt for a sleeping foreground thread, `lead` before the instant it announces.
    pub(super) fn interrupt(&mut self, thread: ThreadId, lead: Duration, now: Time) {
        self.meter.interrupts += 1;
        let Thread { cpu, activity, io, .. } = &mut self.threads[thread as usize];
        *activity = Activity::CheckCompletion;
        if let Some(io) = io {
            (io.notified, io.lead) = (true, lead);
        }
        let cpu = *cpu as usize;
        self.cpus[cpu].interrupt(thread, now, &self.config.costs, &mut self.threads);
    }

    /// A precompletion message comes for an I/O; its end is announced for the instant `announced`.
    pub(super) fn message(&mut self, id: RequestId, announced: Time, now: Time) {
        let Some(&mut thread) = self.waiting.get_mut(id.0) else { return };
        let cpu = self.threads[thread as usize].cpu as usize;
        self.run_cpu(cpu, self.before(now));
        let Thread { activity, io, .. } = &mut self.threads[thread as usize];
        let Some(io) = io else { return };
        match *activity {
            Activity::Sleep if !io.notified => self.interrupt(thread, announced.since(now), now),
            // It spins already, for a read it took for a hit: it goes on for as long as a woken one would.
            Activity::Spin(_) => {
                self.threads[thread as usize].activity = Activity::Spin(self.spin_deadline(cpu, now));
                if self.cpus[cpu].holds(thread) {
                    self.go_on(cpu, now);
                }
            }
            _ => {}
        }
        self.update_noticeable(cpu);
    }

    /// The driver submits a thread's I/O, and decides how the thread waits (model 3.1.2).
    pub(super) fn submit(&mut self, id: ThreadId, now: Time) {
        let Thread { cpu, flow, io: Some(io), .. } = &mut self.threads[id as usize] else { return };
        io.submitted = now;
        let Pending { id: request, op, plain, page, pages, .. } = *io;
        let (cpu, flow, waiting) = (*cpu as usize, *flow, &self.config.waiting);
        let small_read = op == Op::Read && pages == 1;
        let (mut activity, mut predicted_hit, mut reserved_pages) = (Activity::Sleep, false, 0);
        if !plain {
            // Waited for by interrupt, however others are.
        } else if waiting.completion == Completion::Poll {
            activity = Activity::Spin(Time::NEVER);
        } else if op == Op::Write && waiting.buffer_hits {
            if self.buffer_of(flow).takes(pages) {
                (activity, predicted_hit, reserved_pages) = (Activity::Spin(Time::NEVER), true, pages);
            }
        } else if small_read && self.directory.as_mut().is_some_and(|directory| directory.holds(page)) {
            (activity, predicted_hit) = (Activity::Spin(now + waiting.read_hit_spin), true);
        }
        let thread = &mut self.threads[id as usize];
        thread.activity = activity;
        if let Some(io) = &mut thread.io
            && predicted_hit
        {
            (io.predicted_hit, io.reserved_pages) = (true, reserved_pages);
        }
        let spins = activity != Activity::Sleep;
        if let Some(tracker) = &mut self.tracker {
            tracker.expect(request, small_read, self.windows[cpu].width());
        }
        self.cpus[cpu].noticeable -= 1;
        self.submissions.push(request);
        if spins { self.go_on(cpu, now) } else { self.yield_cpu(cpu, now) }
    }
}
