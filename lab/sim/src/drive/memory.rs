//! How much memory the runs of a scenario take at most, computed before the first.
//!
//! Promises a bound: no run takes more, and it is at most 70 MB and three times what a run takes, five times where garbage collection could
//! move pages and moves few (a test in `cli` measures). Tables count in full, unless so few requests come that what they can touch is
//! less. Not included: up to 31 MB for each run at a time for comparing requests one by one, up to 64 MB of requests that several runs
//! read from traces, requests that queue when more arrive than
//! the device can serve, and the maps of a plane for each thread beyond the first that makes a replayed state. Must never know the machine.

use flashlane_core::{Op, Time};
use flashlane_ssd::Footprint;
use flashlane_ssd::config::Precondition;

use super::prepare::{Prepared, needs_responses, tasks};
use crate::error::RunError;
use flashlane_core::arrival::{Next, Source, Span};
use flashlane_scenario::{FlowPlan, FlowSource};

/// Size of the memory pages where runs are short.
const SMALL_PAGE: u64 = 4096;
/// Logical pages of a drive per request above which a run touches so little of the page map that huge pages do not pay:
/// measured, see docs/results/performance.md.
const PAGES_PER_REQUEST: u64 = 256;
/// A line of a trace is taken to be no longer, bytes.
const LINE: u64 = 64;
/// The most pages that garbage collection moves for each page written, in a drive that collects all the time.
const MOVES_PER_WRITE: u64 = 4;
/// Memory of a run apart from its device: sources, file buffers, figures of the device.
const RUN_BASE: u64 = 8 << 20;
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
    /// Whether runs are so short that they touch little of their drive's page map. False for a replayed drive, and where that cannot be
    /// known beforehand, or only by reading an input that can be read just once.
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
    let tables = tables(prepared)?;
    let device = prepared.config.footprint(2 + 2 * tables);
    let (runs, flows) = (tasks(prepared).len(), prepared.flows.len() as u64);
    let space = device.whole + base(flows);
    let is_replayed =
        matches!(prepared.config.precondition, Precondition::Replayed { .. }) || prepared.states.is_used();
    let most = u64::from(prepared.config.ftl.logical_pages) / PAGES_PER_REQUEST;
    let touched = if is_replayed { None } else { touched(prepared, tables, device.directory, most)? };
    let read_once = |plan: &FlowPlan| matches!(&plan.source, FlowSource::Trace(path, _) if !path.is_file());
    let ends_early = prepared.limits.requests < most && !is_replayed && !prepared.flows.iter().any(read_once);
    Ok(Memory {
        space,
        resident: touched.map_or(space, |touched| space - device.by_page.saturating_sub(touched)),
        // An alone run has figures of its own flow, and empty ones for the others.
        kept: runs as u64 * (64 << 10)
            + prepared.shared_runs() * flows * FLOW_FIGURES
            + if is_replayed && runs > 1 { device.whole } else { 0 },
        runs,
        short: touched.is_some() || ends_early,
    })
}

/// The most memory of one run, bytes: every table in full.
///
/// # Errors
/// A scheduler that cannot be built.
pub(crate) fn of_a_run(prepared: &Prepared) -> Result<u64, RunError> {
    let device = prepared.config.footprint(2 + 2 * tables(prepared)?);
    Ok(device.whole + base(prepared.flows.len() as u64))
}

/// Memory of one run beside its device, bytes.
fn base(flows: u64) -> u64 {
    RUN_BASE + flows * FLOW_FIGURES
}

/// Tables with an entry a logical page that a scheduler needs: the map, the plane of pages that may leave theirs, whose data each holds.
fn tables(prepared: &Prepared) -> Result<u64, RunError> {
    let (mut moves_pages, mut page_flows) = (false, false);
    // Oracles are skipped: they can be built only from the response times of another run, and need no other tables than
    // other schedulers.
    for recipe in prepared.recipes().filter(|recipe| !needs_responses(&prepared.catalogue, recipe)) {
        let scheduler = prepared.catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
        let declares = scheduler.declares();
        moves_pages |= !declares.place.is_static;
        page_flows |= declares.keeps().page_flows;
    }
    Ok(1 + u64::from(moves_pages) + u64::from(page_flows))
}

/// Bytes that the requests can touch of the tables with an entry a page: in each a page of memory for what a request asks for and for every
/// page moved, and four bytes of the reverse map for every page written. Where the tables have a `directory` of so many bytes, that is touched in
/// this way, and of them the entries that are made for what is written, moved or trimmed. `None` unless fewer requests than `most` come for sure.
fn touched(prepared: &Prepared, tables: u64, directory: u64, most: u64) -> Result<Option<u64>, RunError> {
    let (geometry, limits) = (&prepared.config.geometry, &prepared.limits);
    let page = u64::from(geometry.page_bytes);
    let moves = if matches!(prepared.config.precondition, Precondition::Fresh) { 0 } else { MOVES_PER_WRITE };
    if limits.requests >= most && limits.end == Time::NEVER && prepared.flows.iter().any(|plan| is_long(plan, most)) {
        return Ok(None);
    }
    let (mut requests, mut places, mut made, mut written) = (0, 0, 0, 0);
    for flow in 0..prepared.flows.len() {
        let mut feed = prepared.feed(flow)?;
        let last = limits.requests.saturating_add(requests);
        while requests < last
            && let Next::Request(arrival) = feed.next()?
            && arrival.at < limits.end
        {
            requests += 1;
            if requests >= most || feed.is_closed_loop() {
                return Ok(None);
            }
            // Pages, and the places of a table and of its directory that they may be in.
            let (pages, [asked, segments]) = match &arrival.extent {
                Span::Bytes { offset, length } => {
                    let pages = (offset + length).div_ceil(page) - offset / page;
                    (pages, [pages / 1024 + 1, pages / Footprint::MADE_AT_ONCE + 2])
                }
                Span::Pages(pages) => (pages.len() as u64, [pages.len() as u64; 2]),
            };
            let moved = if arrival.op == Op::Write { moves * pages } else { 0 };
            places += asked + moved;
            made += if arrival.op == Op::Read { 0 } else { segments.min(pages) + moved };
            written += if arrival.op == Op::Write { pages + moved } else { 0 };
        }
    }
    let entries = match directory {
        0 => tables * SMALL_PAGE * places,
        _ => directory.min(SMALL_PAGE * places) + (Footprint::MADE_AT_ONCE * (2 + 2 * tables) + Footprint::LIST) * made,
    };
    Ok((requests < most).then_some(SMALL_PAGE * u64::from(geometry.planes()) + entries + 4 * written))
}

/// Whether a flow's trace has so many lines, by the size of the file, and nothing leaves some of them out: to read it would take long. Where lines
/// are longer the bound is larger than it need be.
fn is_long(plan: &FlowPlan, most: u64) -> bool {
    let FlowSource::Trace(path, trace) = &plan.source else { return false };
    let is_whole = trace.limit.is_none() && trace.offset.is_none() && trace.device.is_none() && trace.part.is_none();
    is_whole && std::fs::metadata(path).is_ok_and(|file| file.len() / LINE >= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare;
    use flashlane_scenario::Scenario;

    fn of(device: &str, run: &str, requests: u32) -> Memory {
        let flow = format!("[[flow]]\n[flow.synthetic]\nrate_iops = 1000\nrequests = {requests}\n");
        let text = format!("scheduler = \"fcfs\"\n{device}{run}{flow}");
        let scenario = Scenario::parse("test", text).expect("a scenario");
        memory(&prepare(&scenario).expect("prepared")).expect("no error")
    }

    /// 480 GB in pages of 8 KiB: 4 bytes for each of 58.6 million logical and 67.1 million physical pages, and for each 8 and 64 of the logical ones.
    #[test]
    fn the_tables_of_a_large_drive_are_what_counts() {
        let large = of("device = \"flin-isca18\"\n", "", 1000);
        let tables = 4 * (58_593_750 + 58_593_750 / 8 + 58_593_750 / 64 + 67_108_864);
        assert!(large.space > tables && large.space < tables + (40 << 20), "{large:?}");
        assert!(large.resident < 36 << 20, "a short run touches little: {large:?}");
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

    fn short(document: String) -> bool {
        let scenario = Scenario::parse("test", document).expect("a scenario");
        memory(&prepare(&scenario).expect("prepared")).expect("no error").short
    }

    /// A drive of 16 GB has 1.95 million logical pages of 8 KiB, so the bound is 7,600 requests.
    #[test]
    fn a_run_is_short_by_its_requests_and_its_drive() {
        let flow =
            |keys: &str| format!("[[flow]]\n[flow.synthetic]\narrivals = \"poisson\"\nrate_iops = 1000\n{keys}\n");
        let small = "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nblocks_per_plane = 137\n[device.ftl]\nuser_gb = 16\n";
        let with = |device: &str, run: &str, flows: &str| short(format!("{device}{run}{flows}"));
        assert!(with(small, "", &flow("requests = 6000")));
        assert!(!with(small, "", &flow("requests = 8000")));
        assert!(!with(small, "", &(flow("requests = 5000") + &flow("requests = 5000"))), "flows add up");
        assert!(with(small, "[run]\nrequests = 100\n", &flow("requests = 8000")), "the run says when to stop");
        assert!(with(small, "[run]\nduration_ms = 1000\n", &flow("requests = 80000")), "or how long to go on");
        assert!(with("[device]\npreset = \"flin-isca18\"\n", "", &flow("requests = 8000")), "a large drive");
        let replayed = format!("{small}[device.precondition]\nstate = \"replayed\"\n");
        assert!(!with(&replayed, "", &flow("requests = 10")), "its whole map is written before the run");
    }

    /// A long trace is not read for this: a wrong line after its head is found by the run. One of which little is taken is read as far as that.
    #[test]
    fn long_traces_are_told_by_their_size() {
        let file = tempfile::Builder::new().suffix(".ascii").tempfile().expect("a temporary file");
        let lines = |from: u64, to: u64| (from..to).map(|i| format!("{i} 0 {} 8 1\n", 8 * i)).collect::<String>();
        let text = format!("{}wrong\n{}", lines(0, 3_000), lines(3_000, 40_000));
        assert!(text.len() as u64 / LINE > 7_630);
        std::fs::write(file.path(), text).expect("written");
        let small = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nblocks_per_plane = 137\n[device.ftl]\nuser_gb = 16\n";
        let with = |keys: &str| {
            let flow = format!("[[flow]]\ntrace = {{ path = {:?}, format = \"mqsim\"{keys} }}\n", file.path());
            let scenario = Scenario::parse("test", format!("{small}{flow}")).expect("a scenario");
            memory(&prepare(&scenario).expect("prepared")).map(|memory| memory.short)
        };
        assert!(matches!(with(""), Ok(false)) && matches!(with(", limit = 2000"), Ok(true)));
        assert!(with(", limit = 20000").is_err(), "the wrong line is within what is taken");
    }
}
