//! The workloads: of each paper those it reports, on the device it reports them for, and the user's traces.
//!
//! Precompletion's workload is one request at a time, which no scheduler changes.

use std::path::Path;

use crate::flin::{mixes, setup as flin};
use crate::ncq::setup as ncq;
use crate::slacker::workloads as slacker;
use crate::sos::workloads as sos;
use crate::{Runner, Setting, Settings};
use flashlane_scenario::workload::clone::{SlackerTrace, SosBenchmark};
use flashlane_scenario::workload::iometer::NcqWorkload;
use flashlane_scenario::{Device, Document, Flow, Run, Speedup, TraceFlow, Word};
use flashlane_sim::RunError;
use flashlane_trace::TraceOptions;
use flashlane_trace::{Beyond, Sizes, TimeOrder};

/// Where workloads come from, in the order of the columns.
pub const FAMILIES: &[&str] = &["slacker", "flin", "ncq", "sos", "traces"];

/// Requests of a workload with one flow: whole, and in a quick run.
const REQUESTS: (u64, u64) = (20_000, 2_000);
/// Mixes of each class of FLIN's: whole, and in a quick run.
const MIXES: (u64, u64) = (3, 1);
/// Simulated time of a mix, ms: whole, and in a quick run.
const MIX_MS: (u64, u64) = (4_000, 500);
/// The drive on which traces are replayed.
const TRACE_DEVICE: &str = "slacker-asplos17";
/// Traces are sped up until their requests are so far apart in the mean, us.
const TRACE_GAP_US: f64 = 200.0;

/// A scenario without schedulers, and the family it counts for.
pub struct Workload {
    /// One of [`FAMILIES`].
    pub family: &'static str,
    /// The scenario.
    pub document: Document,
}

/// All workloads.
///
/// # Errors
/// A trace that cannot be read.
pub fn all(runner: &Runner<'_>) -> Result<Vec<Workload>, RunError> {
    // The folder of traces holds workloads here, not what takes the place of clones.
    let clones = Settings { traces: None, setting: Setting::Plain, variant: None, ..runner.settings.clone() };
    let runner_of_clones = runner.under(&clones);
    let mut workloads = Vec::new();
    let mut add = |family: &'static str, document: Document| workloads.push(Workload { family, document });
    let (requests, seed) = (runner.amount(REQUESTS.0, REQUESTS.1), runner.first_seed());
    for row in SlackerTrace::all() {
        add("slacker", slacker::document(&runner_of_clones, &row, requests, seed, &[])?);
    }
    let ms = runner.amount(MIX_MS.0, MIX_MS.1);
    for mix in mixes::first(runner.amount(MIXES.0, MIXES.1) as usize, seed) {
        let flows = mix.traces.iter().map(|name| flin::clone(&runner_of_clones, name, ms)).collect::<Result<_, _>>()?;
        add("flin", flin::document(&runner_of_clones, format!("flin {}", mix.name), (seed, ms), Vec::new(), flows));
    }
    for row in NcqWorkload::all() {
        let mut document = ncq::document(&runner_of_clones, &row, seed, Vec::new());
        // On the flash, which every scheduler can command, and not on the paper's serial service.
        (document.device.front.service, document.device.front.cluster) = (None, None);
        add("ncq", with_requests(document, requests));
    }
    for row in SosBenchmark::all() {
        let document = sos::document(&runner_of_clones, &row, seed, sos::device(sos::TIMES[0], "flash"), &[])?;
        add("sos", with_requests(document, requests));
    }
    if let Some(folder) = &runner.settings.traces {
        for path in files(folder)? {
            add("traces", replayed(&path, requests)?);
        }
    }
    Ok(workloads)
}

/// The scenario with this many measured requests, after a warm-up of a tenth as many.
fn with_requests(mut document: Document, requests: u64) -> Document {
    for flow in &mut document.flow {
        if let Some(synthetic) = &mut flow.synthetic {
            synthetic.requests = Some(requests + requests / 10);
        }
        if let Some(clone) = &mut flow.clone {
            clone.requests = Some(requests + requests / 10);
        }
    }
    document.run.warm_up_requests = Some(requests / 10);
    document
}

/// The traces of a folder, in the order of their names.
fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, RunError> {
    let unreadable =
        |error: std::io::Error| RunError::Input(format!("--traces {}: cannot be read: {error}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && flashlane_trace::recognise(&path).is_ok() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A trace on a drive it fits, fast enough that requests wait for each other.
fn replayed(path: &Path, requests: u64) -> Result<Document, RunError> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let options = TraceOptions { order: TimeOrder::Clamp, sizes: Sizes::Reject, ..TraceOptions::default() };
    let stat = flashlane_trace::stat(path, &options, u64::MAX)?;
    let gap_us = stat.span_s * 1e6 / (stat.counts.issued().max(2) - 1) as f64;
    let speedup = (gap_us > TRACE_GAP_US).then(|| Speedup(format!("{:.0}", gap_us / TRACE_GAP_US)));
    let flow = TraceFlow {
        speedup,
        limit: Some(requests),
        beyond: Some(Word(Beyond::Wrap)),
        order: Some(Word(TimeOrder::Clamp)),
        sizes: Some(Word(Sizes::Reject)),
        ..TraceFlow::file(path)
    };
    Ok(Document {
        name: Some(name.clone()),
        seed: Some(1),
        device: Device::preset(TRACE_DEVICE.into()),
        run: Run::default(),
        flow: vec![Flow { name: Some(name), trace: Some(flow), ..Flow::default() }],
        ..Document::default()
    })
}
