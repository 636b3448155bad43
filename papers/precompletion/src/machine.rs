//! What this needs of Linux: sleeping on a word, pinning and priorities of the calling thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::futex::{self, Flags, Timespec};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The nice value of a raised priority.
pub const RAISED: i32 = -20;

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
    sched_getaffinity(None).map(|set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()).unwrap_or_default()
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
        let all = cpus();
        let &cpu = all.last().expect("this thread runs somewhere");
        std::thread::spawn(move || {
            if pin(cpu).is_ok() {
                assert_eq!(cpus(), [cpu]);
            }
        })
        .join()
        .expect("a thread of its own");
        assert_eq!(cpus(), all, "other threads are as they were");
    }
}
