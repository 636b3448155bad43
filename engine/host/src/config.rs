//! The parameters of a host, and their checks.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use flashlane_core::{Duration, Geometry};

/// The most CPUs of a host.
pub const MAX_CPUS: u32 = 64;
/// The most background threads a CPU can have.
pub const MAX_BACKGROUND: u32 = 256;
/// The longest legal duration of any cost: an hour.
const HOUR: u64 = 3_600_000_000_000;

/// A host.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Logical CPUs, 1 to 64.
    pub cpus: u32,
    /// How foreground threads wait.
    pub waiting: Waiting,
    /// What the ways to and from the device cost in CPU time.
    pub costs: Costs,
    /// How CPUs are shared.
    pub fairness: Fairness,
    /// Threads that run beside the foreground, on each CPU.
    pub background: Vec<Background>,
    /// The device's shape: its tracker needs to know which unit is on which channel.
    pub geometry: Geometry,
    /// Pages of the device's buffer, of a flow's part where each has one; all are free at the start. `None` without a buffer.
    pub buffer_pages: Option<u32>,
    /// Whether each flow has a part of the buffer.
    pub buffer_per_flow: bool,
}

/// How a foreground thread waits for an I/O.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The method.
    pub completion: Completion,
    /// Whether writes that the device's buffer is predicted to take are spun for (model 3.1.2).
    pub buffer_hits: bool,
    /// Whether reads that the device's memory is predicted to serve are spun for; beyond the paper.
    pub read_hits: bool,
    /// How long a read that was predicted to be served from memory is spun for before the thread sleeps after all.
    pub read_hit_spin: Duration,
    /// How long a thread that was woken early spins before it sleeps again (D-PRE-12); `None` for [`crate::window::Window::longest_spin`].
    pub max_spin: Option<Duration>,
    /// Interval at which a spinning thread looks; zero for always (epsilon of model 3.1.4).
    pub poll_interval: Duration,
    /// Nice value of foreground threads, -20 to 19 (D-PRE-09).
    pub nice: i8,
}

impl Waiting {
    /// Whether the driver tells what the device's memory will serve.
    #[inline]
    pub fn classifies(&self) -> bool {
        self.buffer_hits || self.read_hits
    }
}

/// How a thread learns of completions (model 3.1.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completion {
    /// It sleeps until the interrupt.
    Irq,
    /// It spins.
    Poll,
    /// It sleeps; an early interrupt wakes it.
    Precompletion {
        /// How early.
        window: WindowChoice,
        /// How the device predicts.
        predictor: Predictor,
    },
}

/// How early a precompletion message comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowChoice {
    /// Always this long before the predicted completion.
    Fixed(Duration),
    /// As early as the delays seen so far suggest (D-PRE-16).
    Adaptive,
}

/// How the device predicts the completion of a read that has been issued to a chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predictor {
    /// Once, when the read is issued: means of the three last flash times and of the three last times from data ready to
    /// completion (model 3.1.3).
    AtIssue,
    /// Anew whenever what the tracker knows of the channel changes (D-PRE-15).
    Staged,
}

/// CPU time of the kernel's steps (model 3.1.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// Interrupt entry.
    pub irq: Duration,
    /// Waking a thread.
    pub wake: Duration,
    /// Switching to another thread.
    pub switch: Duration,
    /// Submitting an I/O.
    pub submit: Duration,
}

impl Costs {
    /// From the interrupt to the thread running, on a CPU that runs user code.
    pub fn delay(&self) -> Duration {
        self.irq + self.wake + self.switch
    }
}

/// How a CPU is shared between its runnable threads (model 3.1.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fairness {
    /// The time in which every runnable thread runs once.
    pub period: Duration,
    /// The shortest slice.
    pub min_slice: Duration,
    /// How much more CPU time the running thread must have had before a woken one preempts it.
    pub wakeup_granularity: Duration,
}

/// Equal threads beside the foreground.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Background {
    /// What each does.
    pub work: Work,
    /// How many on each CPU.
    pub threads: u32,
    /// Their nice value, -20 to 19.
    pub nice: i8,
}

/// What a background thread does for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Burns CPU time in user code.
    Burn,
    /// I/O on another device: a section in the kernel that cannot be preempted, then sleep until that device is done.
    Io {
        /// The section.
        section: Duration,
        /// Time of that device; zero for sections back to back.
        device: Duration,
    },
}

/// An illegal value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The key at fault.
    pub key: &'static str,
    /// For keys of a background group, its number.
    pub group: Option<usize>,
    /// Its value.
    pub value: String,
    /// What would be legal.
    pub legal: String,
}

impl Config {
    /// Checks every value.
    ///
    /// # Errors
    /// The first illegal value.
    pub fn check(&self) -> Result<(), ConfigError> {
        let range = |key, group, value: i128, low: i128, high: i128| match (low..=high).contains(&value) {
            true => Ok(()),
            false => {
                Err(ConfigError { key, group, value: value.to_string(), legal: format!("must be {low} to {high}") })
            }
        };
        range("cpus", None, self.cpus.into(), 1, MAX_CPUS.into())?;
        range("nice", None, self.waiting.nice.into(), -20, 19)?;
        let fixed = match self.waiting.completion {
            Completion::Precompletion { window: WindowChoice::Fixed(window), .. } => window,
            _ => Duration::ZERO,
        };
        for (key, value) in [
            ("irq_ns", self.costs.irq),
            ("wake_ns", self.costs.wake),
            ("switch_ns", self.costs.switch),
            ("submit_ns", self.costs.submit),
            ("wakeup_granularity_ns", self.fairness.wakeup_granularity),
            ("window_ns", fixed),
            ("read_hit_spin_ns", self.waiting.read_hit_spin),
            ("max_spin_ns", self.waiting.max_spin.unwrap_or_default()),
            ("poll_interval_ns", self.waiting.poll_interval),
        ] {
            range(key, None, value.ns().into(), 0, HOUR.into())?;
        }
        range("period_ns", None, self.fairness.period.ns().into(), 1, HOUR.into())?;
        // Shorter ones would make a run of a second billions of steps.
        range("min_slice_ns", None, self.fairness.min_slice.ns().into(), 1_000, HOUR.into())?;
        let mut threads = 0;
        for (i, group) in self.background.iter().enumerate() {
            threads += u64::from(group.threads);
            range("threads", Some(i), threads.into(), 1, MAX_BACKGROUND.into())?;
            range("nice", Some(i), group.nice.into(), -20, 19)?;
            if let Work::Io { section, device } = group.work {
                range("section_ns", Some(i), section.ns().into(), 100, HOUR.into())?;
                range("device_ns", Some(i), device.ns().into(), 0, HOUR.into())?;
            }
        }
        Ok(())
    }
}
