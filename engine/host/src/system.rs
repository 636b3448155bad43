//! The host: threads, CPUs, the driver and the device's tracker together.
//!
//! The caller passes the device's events and completions, and the calls of applications, each at its instant; the host returns
//! the I/Os to submit and the instants at which threads see theirs done.

mod driver;
mod run;
mod threads;
mod totals;

use alloc::vec::Vec;

use flashlane_core::event::Stamped;
use flashlane_core::{Duration, FlowId, MinTree, Op, RequestId, Sequence, Time};

use crate::classify::{BufferView, Directory};
use crate::config::{Completion, Config, WindowChoice};
use crate::cpu::Cpu;
use crate::meter::Meter;
use crate::thread::{Activity, Pending, Thread, ThreadId, background, foreground};
use crate::tracker::Tracker;
use crate::window::Window;

/// From an instant to the first one after it.
const INSTANT: Duration = Duration::from_ns(1);

/// An I/O that an application asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    /// Its request; numbers rise from call to call.
    pub id: RequestId,
    /// The application.
    pub flow: FlowId,
    /// What it asks for.
    pub op: Op,
    /// Whether it is a read or a write without force unit access: other I/Os are waited for by interrupt, and never predicted.
    pub plain: bool,
    /// Its first logical page.
    pub page: u64,
    /// Pages it touches.
    pub pages: u32,
}

/// An I/O whose thread has seen its completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Its request.
    pub id: RequestId,
    /// The application.
    pub flow: FlowId,
    /// What it asked for.
    pub op: Op,
    /// When the thread asked for it.
    pub called: Time,
    /// When the device got it.
    pub submitted: Time,
    /// When its completion arrived at the host.
    pub done: Time,
    /// When the thread saw it.
    pub seen: Time,
    /// Time the thread spun for it.
    pub spun: Duration,
}

/// A host.
#[derive(Debug)]
pub struct Host {
    config: Config,
    threads: Vec<Thread>,
    cpus: Vec<Cpu>,
    /// By flow, its threads that have no I/O; the last to finish one comes first.
    free: Vec<Vec<ThreadId>>,
    /// Foreground threads created so far.
    created: u32,
    /// By request, the thread that waits for it.
    waiting: Sequence<ThreadId>,
    /// What the driver knows of the device's buffer: of each flow's part, or of the whole.
    buffers: Vec<BufferView>,
    directory: Option<Directory>,
    tracker: Option<Tracker>,
    /// By CPU.
    windows: Vec<Window>,
    /// For each CPU, an instant before which nothing happens there that can be noticed elsewhere, packed with its number.
    noticeable: MinTree,
    /// Whether the above are the instants at which anything happens.
    steps_each_event: bool,
    /// The last instant to which the host was advanced, or at which the device has made decisions.
    reached: Time,
    /// CPUs whose current thread has seen its I/O and not asked for another.
    unsettled: Vec<u32>,
    submissions: Vec<RequestId>,
    seen: Vec<Seen>,
    meter: Meter,
}

impl Host {
    /// The host of `config`, which must have passed [`Config::check`], with its background threads runnable.
    pub fn new(config: &Config) -> Host {
        let (choice, tracker) = match config.waiting.completion {
            Completion::Precompletion { window, predictor } => {
                (window, Some(Tracker::new(config.geometry, Some(predictor))))
            }
            Completion::Irq | Completion::Poll => (WindowChoice::Fixed(Duration::ZERO), None),
        };
        // Which I/Os were served from memory is learned from events too.
        let tracker = tracker.or_else(|| config.waiting.classifies().then(|| Tracker::new(config.geometry, None)));
        let directory = config.buffer_pages.filter(|_| config.waiting.read_hits).map(Directory::new);
        let mut host = Host {
            threads: Vec::new(),
            cpus: (0..config.cpus).map(|_| Cpu::new()).collect(),
            free: Vec::new(),
            created: 0,
            waiting: Sequence::default(),
            buffers: Vec::new(),
            directory,
            tracker,
            windows: (0..config.cpus).map(|_| Window::new(choice)).collect(),
            noticeable: MinTree::new(config.cpus as usize),
            steps_each_event: false,
            reached: Time::NEVER,
            unsettled: Vec::new(),
            submissions: Vec::new(),
            seen: Vec::new(),
            meter: Meter::default(),
            config: config.clone(),
        };
        host.start_background();
        host
    }

    fn start_background(&mut self) {
        for (number, group) in self.config.background.clone().into_iter().enumerate() {
            for cpu in 0..self.config.cpus {
                for _ in 0..group.threads {
                    let id = self.add(background(cpu, number as u32, group));
                    self.cpus[cpu as usize].wake(id, Time::ZERO, &self.config.fairness, &mut self.threads);
                }
            }
        }
    }

    fn add(&mut self, thread: Thread) -> ThreadId {
        self.threads.push(thread);
        self.threads.len() as ThreadId - 1
    }

    /// Whether the host must be notified of the device's events, those of transactions at least.
    #[inline]
    pub fn wants_events(&self) -> bool {
        self.tracker.is_some()
    }

    /// Whether it must be notified of requests as well: admitted, served from memory.
    pub fn wants_request_events(&self) -> bool {
        self.config.waiting.classifies()
    }

    /// An application asks for an I/O at `now`: one of its threads without an I/O, or a new one, submits it (D-PRE-20).
    pub fn call(&mut self, now: Time, io: Io) {
        let flow = io.flow.index();
        while self.free.len() <= flow {
            self.free.push(Vec::new());
        }
        let id = match self.free[flow].pop() {
            Some(id) => id,
            None => {
                let thread = foreground(self.created % self.config.cpus, io.flow, self.config.waiting.nice);
                self.created += 1;
                self.add(thread)
            }
        };
        let Io { id: request, op, plain, page, pages, .. } = io;
        let cpu = self.threads[id as usize].cpu as usize;
        self.run_cpu(cpu, now + INSTANT);
        let thread = &mut self.threads[id as usize];
        thread.io = Some(Pending {
            id: request,
            op,
            plain,
            page,
            pages,
            called: now,
            submitted: Time::NEVER,
            done: Time::NEVER,
            reserved_pages: 0,
            predicted_hit: false,
            notified: false,
            lead: Duration::ZERO,
            ran_at: Time::NEVER,
            spun: Duration::ZERO,
        });
        self.waiting.insert(request.0, id);
        thread.activity = Activity::Submit(self.config.costs.submit);
        self.cpus[cpu].noticeable += 1;
        // A thread that has just seen an I/O still has its CPU.
        if self.cpus[cpu].holds(id) {
            if core::mem::take(&mut self.cpus[cpu].unsettled) {
                self.unsettled.retain(|&c| c as usize != cpu);
            }
            self.go_on(cpu, now);
        } else {
            self.cpus[cpu].wake(id, now, &self.config.fairness, &mut self.threads);
        }
        self.update_noticeable(cpu);
    }

    /// The current thread of a CPU does something else from `now` on.
    fn go_on(&mut self, cpu: usize, now: Time) {
        self.cpus[cpu].go_on(now, &self.config.fairness, &mut self.threads);
    }

    /// Takes in an event of the device.
    #[inline]
    pub fn observe(&mut self, event: &Stamped) {
        if let Some(tracker) = &mut self.tracker {
            tracker.observe(event);
        }
    }

    /// When something happens at the host next that can be noticed outside of it, or a little before; [`Time::NEVER`] if nothing
    /// will by itself.
    #[inline]
    pub fn next_event(&self) -> Time {
        let timer = self.tracker.as_ref().map_or(Time::NEVER, Tracker::next_timer);
        self.soonest().min(timer)
    }

    /// From now on [`Host::next_event`] is the next instant at which anything happens at the host. Results do not change; a test holds
    /// both to the same.
    pub fn step_each_event(&mut self) {
        self.steps_each_event = true;
        (0..self.cpus.len()).for_each(|cpu| self.update_noticeable(cpu));
    }

    /// Processes what happens up to and including `now`. Completions of `now` must have been reported before (model 0.3).
    #[inline]
    pub fn advance(&mut self, now: Time) {
        while let Some((id, announced)) = self.tracker.as_mut().and_then(|t| t.due(now, &mut self.meter)) {
            self.message(id, announced, now);
        }
        self.run(now);
        self.reached = now;
    }

    /// The device has made decisions at `now`, which come last in an instant (model 0.3): what it sends then comes after what the CPUs do
    /// at that instant.
    #[inline]
    pub fn pass(&mut self, now: Time) {
        self.reached = now;
    }

    /// Threads that have nothing more to do at `now` give up their CPUs. To be called when all calls of `now` have been made.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        while let Some(cpu) = self.unsettled.pop() {
            let cpu = cpu as usize;
            self.run_cpu(cpu, now + INSTANT);
            self.cpus[cpu].unsettled = false;
            self.yield_cpu(cpu, now);
            self.update_noticeable(cpu);
        }
        self.run(now);
    }

    /// I/Os to submit to the device now; the caller drains.
    #[inline]
    pub fn submissions(&mut self) -> &mut Vec<RequestId> {
        &mut self.submissions
    }

    /// I/Os that threads have seen done; the caller drains.
    #[inline]
    pub fn seen(&mut self) -> &mut Vec<Seen> {
        &mut self.seen
    }
}
