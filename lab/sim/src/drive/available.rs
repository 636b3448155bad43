//! Whether the machine has the memory that runs will take.
//!
//! Promises that runs for which there is too little are refused before the first, with advice: a program that cannot allocate in the
//! middle of a run ends without a message about the scenario, or is killed by the system.

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

use super::memory::Memory;
use crate::error::RunError;

/// Address space beyond what is computed: stacks, memory that the allocator reserves ahead.
const FIXED_BYTES: u64 = 64 << 20;

/// What this process can still allocate, as far as the system reports it.
#[derive(Clone, Copy, Debug)]
pub struct AvailableMemory {
    /// Memory of the machine or of the control group, bytes.
    pub memory: Option<u64>,
    /// Address space (`ulimit -v`), bytes.
    pub space: Option<u64>,
}

impl AvailableMemory {
    /// What there is now.
    pub fn here() -> AvailableMemory {
        let Ok(mut system) = System::new() else {
            return AvailableMemory { memory: None, space: address_space_limit() };
        };
        system.refresh_memory();
        let machine = Some(system.available_memory()).filter(|&bytes| bytes > 0);
        let Ok(id) = sysinfo::get_current_pid() else { return AvailableMemory { memory: machine, space: None } };
        let what = ProcessRefreshKind::nothing().with_memory().without_tasks();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[id]), false, what);
        let process = system.process(id);
        // File caches of the control group count as used, but are freed when memory is needed.
        let group = process.and_then(|process| process.cgroup_limits());
        let group = group.map(|limits| limits.total_memory.saturating_sub(limits.rss));
        let used = process.map_or(0, |process| process.virtual_memory());
        AvailableMemory {
            memory: machine.into_iter().chain(group).min(),
            space: address_space_limit().map(|limit| limit.saturating_sub(used)),
        }
    }
}

/// The limit of the process's address space, if it has one.
#[cfg(target_os = "linux")]
fn address_space_limit() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::As).current
}

/// `None`: the limit is not queried on this system.
#[cfg(not(target_os = "linux"))]
fn address_space_limit() -> Option<u64> {
    None
}

/// Checks that the machine has the memory for runs that need so much, as many in parallel as there are threads.
///
/// # Errors
/// If it has less, with what would help.
pub fn fits(needs: &Memory) -> Result<(), RunError> {
    refuse(needs, crate::threads(), &AvailableMemory::here())
}

/// Refuses runs that need more than `available`.
fn refuse(needs: &Memory, jobs: usize, available: &AvailableMemory) -> Result<(), RunError> {
    let jobs = jobs.clamp(1, needs.runs.max(1));
    let space = |jobs| needs.with_parallel_runs(jobs).0 + FIXED_BYTES;
    let memory = |jobs| needs.with_parallel_runs(jobs).1;
    too_little("address space (its limit: ulimit -v)", jobs, space, available.space)?;
    too_little("memory", jobs, memory, available.memory)
}

fn too_little(what: &str, jobs: usize, need: impl Fn(usize) -> u64, available: Option<u64>) -> Result<(), RunError> {
    let Some(available) = available.filter(|&available| need(jobs) > available) else { return Ok(()) };
    let who = if jobs == 1 { "a run needs".into() } else { format!("{jobs} runs at a time need") };
    let advice = match (1..jobs).rev().find(|&fewer| need(fewer) <= available) {
        Some(fewer) => format!("give --jobs {fewer}, for which {} are enough, or", amount(need(fewer))),
        None if jobs > 1 => format!("even one at a time (--jobs 1) needs {}:", amount(need(1))),
        None => "give".into(),
    };
    Err(RunError::Input(format!(
        "{who} up to {} of {what}, and {} are available; {advice} a smaller drive (device.geometry.blocks_per_plane and the \
         user's capacity in device.ftl)",
        amount(need(jobs)),
        amount(available)
    )))
}

/// A number of bytes as text.
pub fn amount(bytes: u64) -> String {
    match bytes {
        0..10_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Memory = Memory { space: 600 << 20, resident: 500 << 20, kept: 0, runs: 5, short: false };

    fn refusal(jobs: usize, memory: u64, space: Option<u64>) -> Option<String> {
        let available = AvailableMemory { memory: Some(memory), space };
        refuse(&NEEDS, jobs, &available).err().map(|error| error.to_string())
    }

    #[test]
    fn what_there_is_room_for_is_let_go() {
        assert_eq!(refusal(4, 2000 << 20, None), None);
        assert_eq!(refusal(64, 2500 << 20, Some((3000 << 20) + FIXED_BYTES)), None);
        assert!(refuse(&NEEDS, 4, &AvailableMemory { memory: None, space: None }).is_ok());
    }

    #[test]
    fn what_there_is_no_room_for_is_refused_with_what_would_help() {
        let text = refusal(4, 1100 << 20, None).unwrap();
        assert!(text.starts_with("4 runs at a time need up to 2098 MB of memory, and 1154 MB are available"), "{text}");
        assert!(text.contains("--jobs 2, for which 1049 MB are enough"), "{text}");
        let text = refusal(4, 100 << 20, None).unwrap();
        assert!(text.contains("even one at a time (--jobs 1) needs 525 MB: a smaller drive"), "{text}");
        let text = refusal(1, 2000 << 20, Some(600 << 20)).unwrap();
        assert!(text.starts_with("a run needs up to 697 MB of address space (its limit: ulimit -v)"), "{text}");
    }
}
