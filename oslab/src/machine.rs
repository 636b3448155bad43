//! What this needs of the operating system: sleeping on a word, pinning and priorities of the calling thread.
//!
//! Elsewhere than on Linux a thread sleeps by giving way, and nothing is pinned: the [`Machine`] says so.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// What the machine offers.
#[derive(Clone, Debug)]
pub struct Machine {
    /// CPUs this process may use.
    pub cpus: Vec<usize>,
    /// What could not be had.
    pub missing: Vec<String>,
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use std::sync::atomic::Ordering;

    use rustix::process::{getpriority_process, setpriority_process};
    use rustix::thread::futex::{self, Flags, Timespec};
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Sleeps while `word` is `value`, for `longest` at most.
    pub fn sleep_on(word: &AtomicU32, value: u32, longest: Duration) {
        let timeout = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: i64::from(longest.subsec_nanos()) };
        // Spurious returns and timeouts are the caller's loop's.
        if futex::wait(word, Flags::PRIVATE, value, Some(&timeout)).is_err() && word.load(Ordering::Relaxed) == value {
            std::thread::yield_now();
        }
    }

    /// Wakes the thread that sleeps on `word`.
    pub fn wake(word: &AtomicU32) {
        // It fails only for an address that is not mapped.
        let _ = futex::wake(word, Flags::PRIVATE, 1);
    }

    /// The CPUs this thread may run on.
    pub fn cpus() -> Vec<usize> {
        sched_getaffinity(None)
            .map(|set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
            .unwrap_or_default()
    }

    /// Keeps the calling thread on one CPU.
    pub fn pin(cpu: usize) -> Result<(), String> {
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set).map_err(|error| format!("a thread could not be kept on CPU {cpu}: {error}"))
    }

    /// The calling thread's nice value.
    pub fn nice() -> Result<i32, String> {
        getpriority_process(None).map_err(|error| format!("the priority cannot be read: {error}"))
    }

    /// Sets the calling thread's nice value.
    pub fn set_nice(nice: i32) -> Result<(), String> {
        setpriority_process(None, nice).map_err(|error| format!("no priority of nice {nice}: {error}"))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    /// Gives way once.
    pub fn sleep_on(_: &AtomicU32, _: u32, _: Duration) {
        std::thread::yield_now();
    }

    /// Nothing sleeps.
    pub fn wake(_: &AtomicU32) {}

    /// As many as there are.
    pub fn cpus() -> Vec<usize> {
        (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
    }

    /// Not to be had.
    pub fn pin(_: usize) -> Result<(), String> {
        Err("threads cannot be kept on a CPU on this system".into())
    }

    /// Not to be had.
    pub fn nice() -> Result<i32, String> {
        Err("priorities of threads are not to be had on this system".into())
    }

    /// Not to be had.
    pub fn set_nice(_: i32) -> Result<(), String> {
        nice().map(drop)
    }
}

pub use system::{nice, pin, set_nice, sleep_on, wake};

/// The nice value of a raised priority.
pub const RAISED: i32 = -20;

impl Machine {
    /// Looks at the machine; tries in a thread of its own whether priorities can be raised.
    pub fn look() -> Machine {
        let cpus = system::cpus();
        let mut missing = Vec::new();
        if cpus.len() < 2 {
            missing.push(
                "two CPUs: the device and the foreground share one, so no way of waiting is measured as it would be"
                    .into(),
            );
        }
        if cfg!(not(target_os = "linux")) {
            missing.push("a futex: threads that sleep give way instead".into());
        }
        Machine { cpus, missing }
    }

    /// The CPU of the foreground and the background.
    pub fn foreground(&self) -> usize {
        self.cpus.first().copied().unwrap_or(0)
    }

    /// The CPU of the device: another one, if there is one.
    pub fn device(&self) -> usize {
        self.cpus.last().copied().unwrap_or(0)
    }
}

/// Runs `work` at the raised priority, if it is to be had, and restores the thread's own.
pub fn raised<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let own = nice()?;
    set_nice(RAISED)?;
    let done = work();
    set_nice(own)?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_priority_is_restored_or_refused() {
        std::thread::spawn(|| {
            let before = nice();
            match raised(nice) {
                Ok(inside) => assert_eq!(inside, Ok(RAISED)),
                Err(refused) => assert!(refused.contains("priorit"), "{refused}"),
            }
            assert_eq!(nice(), before);
        })
        .join()
        .expect("a thread of its own");
    }

    #[test]
    fn a_thread_stays_where_it_is_pinned() {
        let machine = Machine::look();
        assert!(!machine.cpus.is_empty());
        let cpu = machine.device();
        std::thread::spawn(move || {
            if pin(cpu).is_ok() {
                assert_eq!(system::cpus(), [cpu]);
            }
        })
        .join()
        .expect("a thread of its own");
        assert_eq!(Machine::look().cpus, machine.cpus, "other threads are as they were");
    }
}
