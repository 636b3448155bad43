//! The host once more, plainly (model 3.1): every CPU at every instant, every sum made anew when it is needed, nothing left behind and
//! nothing remembered that can be computed. It shares nothing with the host but the types of its interface.

mod cpu;
mod driver;
mod memory;
mod tracker;
mod window;

use std::collections::{BTreeMap, VecDeque};

use flashlane_core::event::Stamped;
use flashlane_core::{Duration, Op, RequestId, Time};
use flashlane_host::{Completion, Config, Groups, Io, Meter, Seen, WindowChoice, Work};
use memory::Memory;
use tracker::Tracker;
use window::Window;

/// No instant.
pub const NEVER: u64 = u64::MAX;

/// What a thread does when it has its CPU.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Doing {
    Nothing,
    Burn,
    /// Sections of this length back to back.
    Sections(u64),
    /// The rest of a section.
    Section(u64),
    /// The rest of a submission.
    Submit(u64),
    /// It was woken and has not looked yet.
    Look,
    /// It spins, until an instant if there is one.
    Spin(Option<u64>),
    Sleep,
}

/// An I/O in the hands of a thread.
#[derive(Clone, Copy, Debug)]
struct Wait {
    io: Io,
    called: u64,
    submitted: u64,
    done: Option<u64>,
    /// Pages counted off the buffer's, for a write that is taken for a hit.
    counted_off: u32,
    taken_for_hit: bool,
    /// How far ahead of the announced end its thread was interrupted, 0 at the end; `None` if it was not.
    lead: Option<u64>,
    ran_at: Option<u64>,
    spun: u64,
}

#[derive(Debug)]
struct Thread {
    cpu: usize,
    weight: u64,
    /// Its group in the background.
    group: Option<usize>,
    doing: Doing,
    ran: u64,
    weighted: u64,
    wait: Option<Wait>,
    /// Length of its sections and time of its device.
    section: u64,
    device: u64,
    sections_done: u64,
    /// How often it got a CPU that another had, where in a section it was then, and its CPU time then.
    resumed: u64,
    place: u64,
    ran_then: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Idle,
    /// For this thread, until this instant.
    Interrupt(usize, u64),
    Switch(u64),
    Run,
}

#[derive(Debug)]
struct Cpu {
    mode: Mode,
    /// The thread that runs, or will when the interrupt or the switch is over.
    has: Option<usize>,
    /// Runnable threads that wait.
    queue: Vec<usize>,
    /// When anything was last reckoned here.
    since: u64,
    /// What the thread that it has had run when it was chosen.
    ran_when_chosen: u64,
    /// Whether another is to run as soon as this one can be preempted.
    preempt: bool,
    interrupts: VecDeque<usize>,
    floor: u64,
    fresh: bool,
    alarms: Vec<(u64, usize)>,
    /// Its thread has seen its I/O, and what it does next is not known yet.
    deciding: bool,
    overhead: u64,
}

/// The host.
#[derive(Debug)]
pub struct Plain {
    config: Config,
    threads: Vec<Thread>,
    cpus: Vec<Cpu>,
    /// By flow, threads without an I/O; the last to finish comes last.
    unused: BTreeMap<u16, Vec<usize>>,
    foreground: u32,
    deciding: Vec<usize>,
    memory: Memory,
    tracker: Tracker,
    windows: Vec<Window>,
    /// The last instant at which the CPUs have done what they do.
    reached: Option<u64>,
    meter: Meter,
    submissions: Vec<RequestId>,
    seen: Vec<Seen>,
}

impl Plain {
    /// The host of `config`, its background runnable.
    pub fn new(config: &Config) -> Plain {
        let (choice, predictor) = match config.waiting.completion {
            Completion::Precompletion { window, predictor } => (window, Some(predictor)),
            Completion::Irq | Completion::Poll => (WindowChoice::Fixed(Duration::ZERO), None),
        };
        let cpu = |_| Cpu {
            mode: Mode::Idle,
            has: None,
            queue: Vec::new(),
            since: 0,
            ran_when_chosen: 0,
            preempt: false,
            interrupts: VecDeque::new(),
            floor: 0,
            fresh: true,
            alarms: Vec::new(),
            deciding: false,
            overhead: 0,
        };
        let mut plain = Plain {
            config: config.clone(),
            threads: Vec::new(),
            cpus: (0..config.cpus).map(cpu).collect(),
            unused: BTreeMap::new(),
            foreground: 0,
            deciding: Vec::new(),
            memory: Memory::new(config),
            tracker: Tracker::new(config.geometry, predictor),
            windows: (0..config.cpus).map(|_| Window::new(choice)).collect(),
            reached: None,
            meter: Meter::default(),
            submissions: Vec::new(),
            seen: Vec::new(),
        };
        for (number, group) in config.background.iter().enumerate() {
            for cpu in 0..config.cpus as usize {
                for _ in 0..group.threads {
                    let (doing, section, device) = match group.work {
                        Work::Burn => (Doing::Burn, 0, 0),
                        Work::Io { section, device: Duration::ZERO } => {
                            (Doing::Sections(section.ns()), section.ns(), 0)
                        }
                        Work::Io { section, device } => (Doing::Section(section.ns()), section.ns(), device.ns()),
                    };
                    let id = plain.add(cpu, group.nice);
                    let thread = &mut plain.threads[id];
                    (thread.group, thread.doing, thread.section, thread.device) =
                        (Some(number), doing, section, device);
                    plain.wake(id, 0);
                }
            }
        }
        plain
    }

    fn add(&mut self, cpu: usize, nice: i8) -> usize {
        self.threads.push(Thread {
            cpu,
            weight: cpu::weight(nice),
            group: None,
            doing: Doing::Nothing,
            ran: 0,
            weighted: 0,
            wait: None,
            section: 0,
            device: 0,
            sections_done: 0,
            resumed: 0,
            place: 0,
            ran_then: 0,
        });
        self.threads.len() - 1
    }

    /// An event of the device.
    pub fn observe(&mut self, stamped: &Stamped) {
        self.tracker.observe(stamped.at.ns(), &stamped.event);
    }

    /// The next instant at which anything happens on a CPU or a message is due.
    pub fn next_event(&self) -> u64 {
        (0..self.cpus.len()).map(|cpu| self.next_on(cpu)).fold(self.tracker.next_message(), u64::min)
    }

    /// Messages of `now`, then what CPUs do at it. It must not be after [`Plain::next_event`].
    pub fn advance(&mut self, now: u64) {
        while let Some((id, announced)) = self.tracker.message(now, &mut self.meter) {
            self.message(id, announced, now);
        }
        self.run(now);
        self.reached = Some(now);
    }

    /// CPUs one after the other, until none has anything to do at `now`.
    fn run(&mut self, now: u64) {
        while let Some(cpu) = (0..self.cpus.len()).find(|&cpu| !self.cpus[cpu].deciding && self.next_on(cpu) <= now) {
            self.run_cpu(cpu, now);
        }
    }

    /// Threads that have seen their I/Os and ask for no more give their CPUs up, the last one first.
    pub fn settle(&mut self, now: u64) {
        while let Some(cpu) = self.deciding.pop() {
            self.run_cpu(cpu, now);
            self.cpus[cpu].deciding = false;
            self.give_up(cpu, now);
        }
        self.run(now);
    }

    /// I/Os to submit now.
    pub fn submissions(&mut self) -> Vec<RequestId> {
        std::mem::take(&mut self.submissions)
    }

    /// I/Os seen done.
    pub fn seen(&mut self) -> Vec<Seen> {
        std::mem::take(&mut self.seen)
    }

    /// Each CPU's window.
    pub fn windows(&self) -> Vec<Duration> {
        self.windows.iter().map(|window| Duration::from_ns(window.width())).collect()
    }

    /// What was counted up to `now`.
    pub fn counted(&mut self, now: u64) -> (Meter, Groups) {
        let mut meter = self.meter.clone();
        let mut operations = vec![0; self.config.background.len()];
        let (mut foreground, mut spun, mut background) = (0, meter.cpu.spin.ns(), 0);
        for cpu in 0..self.cpus.len() {
            self.charge(cpu, now);
            let under_way = match self.cpus[cpu].mode {
                Mode::Interrupt(_, until) | Mode::Switch(until) => until - now,
                Mode::Idle | Mode::Run => 0,
            };
            meter.cpu.overhead += Duration::from_ns(self.cpus[cpu].overhead - under_way);
        }
        for thread in &self.threads {
            spun += thread.wait.map_or(0, |wait| wait.spun);
            let Some(group) = thread.group else {
                foreground += thread.ran;
                continue;
            };
            background += thread.ran;
            operations[group] += match thread.doing {
                Doing::Burn => thread.ran,
                Doing::Sections(section) => thread.ran / section,
                _ => thread.sections_done,
            };
        }
        (meter.cpu.spin, meter.cpu.submit) = (Duration::from_ns(spun), Duration::from_ns(foreground - spun));
        meter.cpu.background = Duration::from_ns(background);
        (meter, Groups { operations })
    }
}

fn ns(time: u64) -> Time {
    Time::from_ns(time)
}

/// Whether an I/O is one of those that are predicted: a read of one page.
fn is_small_read(io: &Io) -> bool {
    io.op == Op::Read && io.pages == 1
}
