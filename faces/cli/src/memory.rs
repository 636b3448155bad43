//! Memory: whether the machine has what the runs will take, and whether it comes in large or small pages.
//!
//! The allocator asks the system for huge pages, because a long run accesses its drive's page map at random. A huge
//! page is cleared as a whole when it is first touched: a run that ends before it has touched much of the map is faster
//! with small ones, and takes far less memory.

use flashlane_scenario::Scenario;
use flashlane_sim::{AvailableMemory, Memory, Prepared, amount};

use crate::fail::Failure;

/// Checks the memory for the runs, as many in parallel as there are threads, and chooses the size of
/// pages.
///
/// # Errors
/// If the machine has less memory than they need, or a trace is wrong.
pub fn check(prepared: &Prepared) -> Result<(), Failure> {
    check_needs(&flashlane_sim::memory(prepared)?)
}

/// Refuses runs that need this much memory, if the machine has less.
///
/// # Errors
/// If the machine has less memory than they need.
pub fn check_needs(needs: &Memory) -> Result<(), Failure> {
    flashlane_sim::fits(needs)?;
    if needs.short {
        small_pages();
    }
    Ok(())
}

/// A line of text on the memory that the runs of `scenario` will take.
pub fn describe(scenario: &Scenario) -> Result<String, Failure> {
    let needs = flashlane_sim::memory(&flashlane_sim::prepare(scenario)?)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = processors.min(needs.runs);
    let (one, several) = (needs.with_parallel_runs(1), needs.with_parallel_runs(jobs));
    let mut text = format!("memory      a run up to {} ({} of address space)", amount(one.1), amount(one.0));
    if jobs > 1 {
        let (memory, space) = (amount(several.1), amount(several.0));
        text.push_str(&format!("; of {} runs {jobs} at a time (--jobs) up to {memory} ({space})", needs.runs));
    }
    if let Some(available) = AvailableMemory::here().memory.filter(|&available| available < several.1) {
        text.push_str(&format!("; only {} are available here", amount(available)));
    }
    Ok(text)
}

/// Switches to small pages for all further allocations.
#[cfg(target_os = "linux")]
pub fn small_pages() {
    // A system without huge pages has small ones anyway.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Does nothing: there is no such setting on this system.
#[cfg(not(target_os = "linux"))]
pub fn small_pages() {}
