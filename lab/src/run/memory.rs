//! How much memory the runs of a scenario will take, computed before the first.
//!
//! Promises an upper bound that is close to what a run takes: all tables in full, except that of those that fill as
//! they are used only the part that the requests can touch is counted, where that can be computed quickly. Not
//! included: eight bytes a request for comparing requests one by one, and requests that queue when more arrive than the
//! device can serve. Must never know the machine.

use flashlane_ssd::{Asks, Footprint};

use super::RunError;
use super::expected::is_short_when_ready;
use super::feed::Feed;
use super::oracle;
use super::ready::{Ready, ready, tasks};
use crate::scenario::Scenario;
use crate::workload::{Next, Source, Span};

/// Size of the memory pages where runs are short ([`is_short`](super::is_short)).
const PIECE: u64 = 4096;
/// The most pages that garbage collection moves for each page written, in a drive that collects all the time.
const MOVES: u64 = 4;
/// Memory of a run apart from its device: sources, file buffers, figures of the device.
const BESIDES: u64 = 6 << 20;
/// Figures of one flow, with its histograms.
const A_FLOW: u64 = 160 << 10;

/// Memory that runs take, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Address space of one run: every table in full.
    pub space: u64,
    /// Resident memory of one run.
    pub resident: u64,
    /// Figures of runs that have ended, held until all have.
    pub kept: u64,
    /// Number of runs in all.
    pub runs: usize,
    /// Whether runs are short ([`is_short`](super::is_short)).
    pub short: bool,
}

impl Memory {
    /// Address space and memory with `jobs` runs at a time.
    pub fn at_a_time(&self, jobs: usize) -> (u64, u64) {
        let runs = self.runs.min(jobs.max(1)) as u64;
        (runs * self.space + self.kept, runs * self.resident + self.kept)
    }
}

/// The memory that the runs of `scenario` will take.
///
/// # Errors
/// Anything wrong with the scenario or its traces, in the part that was read.
pub fn memory(scenario: &Scenario) -> Result<Memory, RunError> {
    let ready = ready(scenario)?;
    let mut asks = Asks::default();
    // Oracles are skipped: they can be built only from the response times of another run, and need no other tables than
    // their row's neighbours.
    for recipe in ready.recipes().filter(|recipe| !oracle::is_one(&ready.catalogue, recipe)) {
        let answers = ready.catalogue.resolve(recipe).map_err(|error| RunError::Input(error.to_string()))?;
        let scheduler = ready.catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
        asks.moves_pages |= !scheduler.place.is_static();
        asks.owners |= scheduler.admit.wants_owners() || scheduler.collect.writes_pay();
        asks.by_flow |= answers.order == "fair";
    }
    let device = ready.config.footprint(asks);
    let short = is_short_when_ready(&ready)?;
    let touched = if short { touched(&ready, asks, &device)? } else { device.as_touched };
    let (runs, flows) = (tasks(&ready).len(), ready.flows.len() as u64);
    let besides = BESIDES + flows * A_FLOW;
    Ok(Memory {
        space: device.in_all() + besides,
        resident: device.at_once + touched + besides,
        // An alone run has figures of its own flow, and empty ones for the others.
        kept: runs as u64 * (64 << 10) + ready.shared_runs() * flows * A_FLOW,
        runs,
        short,
    })
}

/// Bytes that the requests can touch of the tables that fill as they are used. Reads only as many requests as suffice
/// to touch all of them.
fn touched(ready: &Ready, asks: Asks, device: &Footprint) -> Result<u64, RunError> {
    let page = ready.config.geometry.page_bytes;
    let collects = !matches!(ready.config.precondition, flashlane_ssd::config::Precondition::Fresh);
    // Tables with an entry for each logical page are accessed at the same indexes; the reverse map fills from its
    // start.
    let tables = 1 + u64::from(asks.moves_pages) + u64::from(asks.owners);
    let mut by_page = 0;
    let mut reverse = u64::from(ready.config.geometry.planes()) * PIECE;
    for flow in 0..ready.flows.len() {
        let mut feed = Feed::open(&ready.flows[flow], flow as u16, page, ready.seed)?;
        let mut left = ready.limits.requests;
        while left > 0
            && by_page < device.by_page
            && let Next::Request(arrival) = feed.next()?
            && arrival.at < ready.limits.end
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
            let moved = if is_write && collects { MOVES * pages } else { 0 };
            by_page += tables * PIECE * (places + moved);
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

    fn of(device: &str, run: &str, requests: u32) -> Memory {
        let flow = format!("[[flow]]\n[flow.synthetic]\nrate_iops = 1000\nrequests = {requests}\n");
        let text = format!("scheduler = \"fcfs\"\n{device}{run}{flow}");
        memory(&Scenario::parse("test", text).expect("a scenario")).expect("no error")
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
        assert_eq!((one.runs, one.at_a_time(1)), (1, one.at_a_time(8)));
        let several = Memory { runs: 5, ..one };
        assert_eq!(several.at_a_time(4).0, 4 * one.space + one.kept);
        assert_eq!(several.at_a_time(64).0, 5 * one.space + one.kept);
    }

    #[test]
    fn a_replayed_drive_is_touched_whole() {
        let replayed = of("[device]\npreset = \"flin-isca18\"\nprecondition = { state = \"replayed\" }\n", "", 10);
        assert_eq!(replayed.resident, replayed.space);
    }
}
