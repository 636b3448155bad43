//! How much memory the runs of a scenario will take, computed before the first.
//!
//! Promises an upper bound that is close to what a run takes: all tables in full, except that of those that fill as
//! they are used only the part that the requests can touch is counted, where that can be computed quickly. Not
//! included: up to 31 MB for each run at a time for comparing requests one by one, requests that queue when more arrive than
//! the device can serve, and the maps of a plane for each thread beyond the first that makes a replayed state. Must never know the machine.

use flashlane_ssd::config::Precondition;
use flashlane_ssd::{Footprint, OptionalTables};

use super::RunError;
use super::prepare::{Prepared, needs_responses, tasks};
use super::short::is_short;
use crate::workload::{Next, Source, Span};

/// Size of the memory pages where runs are short ([`is_short`](super::is_short)).
const SMALL_PAGE: u64 = 4096;
/// The most pages that garbage collection moves for each page written, in a drive that collects all the time.
const MOVES_PER_WRITE: u64 = 4;
/// Memory of a run apart from its device: sources, file buffers, figures of the device.
const RUN_BASE: u64 = 6 << 20;
/// FlowStats of one flow, with its histograms.
const FLOW_FIGURES: u64 = 160 << 10;

/// Memory that runs take, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Address space of one run: every table in full.
    pub space: u64,
    /// Resident memory of one run.
    pub resident: u64,
    /// FlowStats of runs that have ended, held until all have; and a replayed state that several runs copy.
    pub kept: u64,
    /// Number of runs in all.
    pub runs: usize,
    /// Whether runs are short ([`is_short`](super::is_short)).
    pub short: bool,
}

impl Memory {
    /// Address space and memory with `jobs` runs at a time.
    pub fn with_parallel_runs(&self, jobs: usize) -> (u64, u64) {
        let runs = self.runs.min(jobs.max(1)) as u64;
        (runs * self.space + self.kept, runs * self.resident + self.kept)
    }
}

/// The memory that runs will take.
///
/// # Errors
/// Anything wrong with the traces, in the part that was read.
pub fn memory(prepared: &Prepared) -> Result<Memory, RunError> {
    let mut optional = OptionalTables::default();
    // Oracles are skipped: they can be built only from the response times of another run, and need no other tables than
    // other schedulers.
    for recipe in prepared.recipes().filter(|recipe| !needs_responses(&prepared.catalogue, recipe)) {
        let answers = prepared.catalogue.resolve(recipe).map_err(|error| RunError::Input(error.to_string()))?;
        let scheduler = prepared.catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
        let declares = scheduler.declares();
        optional.moves_pages |= !declares.place.is_static;
        optional.page_flows |= declares.admit.needs_page_flows || declares.collect.write_triggered;
        optional.by_flow |= answers.order == "fair";
    }
    let device = prepared.config.footprint(optional);
    let short = is_short(prepared)?;
    let touched = if short { touched(prepared, optional, &device)? } else { device.as_touched };
    let (runs, flows) = (tasks(prepared).len(), prepared.flows.len() as u64);
    let base = RUN_BASE + flows * FLOW_FIGURES;
    let is_replayed = matches!(prepared.config.precondition, Precondition::Replayed { .. });
    let state = if is_replayed && runs > 1 { prepared.config.footprint(OptionalTables::default()).in_all() } else { 0 };
    Ok(Memory {
        space: device.in_all() + base,
        resident: device.at_once + touched + base,
        // An alone run has figures of its own flow, and empty ones for the others.
        kept: runs as u64 * (64 << 10) + prepared.shared_runs() * flows * FLOW_FIGURES + state,
        runs,
        short,
    })
}

/// Bytes that the requests can touch of the tables that fill as they are used. Reads only as many requests as suffice
/// to touch all of them.
fn touched(prepared: &Prepared, optional: OptionalTables, device: &Footprint) -> Result<u64, RunError> {
    let page = prepared.config.geometry.page_bytes;
    let collects = !matches!(prepared.config.precondition, Precondition::Fresh);
    // Tables with an entry for each logical page are accessed at the same indexes; the reverse map fills from its
    // start.
    let tables = 1 + u64::from(optional.moves_pages) + u64::from(optional.page_flows);
    let mut by_page = 0;
    let mut reverse = u64::from(prepared.config.geometry.planes()) * SMALL_PAGE;
    for flow in 0..prepared.flows.len() {
        let mut feed = prepared.look(flow)?;
        let mut left = prepared.limits.requests;
        while left > 0
            && by_page < device.by_page
            && let Next::Request(arrival) = feed.next()?
            && arrival.at < prepared.limits.end
        {
            left -= 1;
            let (pages, places) = match &arrival.extent {
                Span::Bytes { offset, length } => {
                    let pages = (offset + length).div_ceil(u64::from(page)) - offset / u64::from(page);
                    (pages, pages / 1024 + 1)
                }
                Span::Pages(pages) => (pages.len() as u64, pages.len() as u64),
            };
            let is_write = arrival.op == flashlane_core::Op::Write;
            let moved = if is_write && collects { MOVES_PER_WRITE * pages } else { 0 };
            by_page += tables * SMALL_PAGE * (places + moved);
            reverse += if is_write { 4 * (pages + moved) } else { 0 };
        }
    }
    // Once the requests touch the whole map, the number of further writes is not counted.
    let rest = device.as_touched - device.by_page;
    let reverse = if by_page < device.by_page { reverse.min(rest) } else { rest };
    Ok(by_page.min(device.by_page) + reverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::prepare;
    use crate::scenario::Scenario;

    fn of(device: &str, run: &str, requests: u32) -> Memory {
        let flow = format!("[[flow]]\n[flow.synthetic]\nrate_iops = 1000\nrequests = {requests}\n");
        let text = format!("scheduler = \"fcfs\"\n{device}{run}{flow}");
        let scenario = Scenario::parse("test", text).expect("a scenario");
        memory(&prepare(&scenario).expect("prepared")).expect("no error")
    }

    /// 480 GB in pages of 8 KiB: 4 bytes for each of 58.6 million logical and 67.1 million physical pages.
    #[test]
    fn the_tables_of_a_large_drive_are_what_counts() {
        let large = of("device = \"flin-isca18\"\n", "", 1000);
        let tables = 4 * (58_593_750 + 67_108_864);
        assert!(large.space > tables && large.space < tables + (40 << 20), "{large:?}");
        assert!(large.resident < 120 << 20, "a short run touches little: {large:?}");
        let long = of("device = \"flin-isca18\"\n", "", 1_000_000);
        assert!(long.resident == long.space && long.space == large.space, "{long:?}");
    }

    #[test]
    fn runs_at_a_time_add_up_and_are_no_more_than_there_are() {
        let one = of("device = \"flin-isca18\"\n", "", 1000);
        assert_eq!((one.runs, one.with_parallel_runs(1)), (1, one.with_parallel_runs(8)));
        let several = Memory { runs: 5, ..one };
        assert_eq!(several.with_parallel_runs(4).0, 4 * one.space + one.kept);
        assert_eq!(several.with_parallel_runs(64).0, 5 * one.space + one.kept);
    }

    #[test]
    fn a_replayed_drive_is_touched_whole() {
        let replayed = of("[device]\npreset = \"flin-isca18\"\nprecondition = { state = \"replayed\" }\n", "", 10);
        assert_eq!(replayed.resident, replayed.space);
    }
}
