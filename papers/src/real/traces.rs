//! Traces as they are replayed: whole pages, at a load.

use std::path::{Path, PathBuf};

use flashlane_core::Op;
use flashlane_core::arrival::{Next, Source, Span};
use flashlane_scenario::workload::scene::{SceneOp, SceneRequest};
use flashlane_scenario::{Document, Flow, Range, RangeWord, Scenario, Word};
use flashlane_sim::RunError;
use flashlane_trace::{Beyond, Sizes, TimeOrder, TraceOptions, TraceSource};

/// Bytes of a page of all the papers' drives, and how long their chips and a transfer take for one, ns.
const PAGE: u64 = 8_192;
const READ_NS: f64 = 100_000.0;
const PROGRAM_NS: f64 = 1_325_000.0;

/// The first requests of a trace, widened to whole pages.
#[derive(Clone, Debug)]
pub struct RealTrace {
    /// The file's name up to its first dot.
    pub name: String,
    requests: Vec<Widened>,
}

/// A request in whole pages.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Widened {
    /// Time since the first, ns.
    at_ns: u64,
    op: SceneOp,
    first: u64,
    pages: u64,
}

/// The files of a folder, in the order of their names.
#[derive(Debug, Default)]
pub struct Files {
    /// The traces.
    pub traces: Vec<PathBuf>,
    /// Why each of the others is no trace.
    pub left_out: Vec<String>,
}

/// Which files of the folder are traces. Hidden files and folders are none.
///
/// # Errors
/// A folder or a file that cannot be read.
pub fn files(folder: &Path) -> Result<Files, RunError> {
    let at = |path: &Path, error: std::io::Error| {
        RunError::Input(format!("--traces {}: cannot be read: {error}", path.display()))
    };
    let entries = std::fs::read_dir(folder).map_err(|error| at(folder, error))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>();
    let mut paths = paths.map_err(|error| at(folder, error))?;
    paths.sort();
    let mut files = Files::default();
    for path in paths {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden || !std::fs::metadata(&path).map_err(|error| at(&path, error))?.is_file() {
            continue;
        }
        std::fs::File::open(&path).map_err(|error| at(&path, error))?;
        match flashlane_trace::recognise(&path) {
            Ok(_) => files.traces.push(path),
            Err(error) => files.left_out.push(error.to_string()),
        }
    }
    Ok(files)
}

impl RealTrace {
    /// The first `limit` reads and writes of each trace, in the order of their names.
    ///
    /// # Errors
    /// A trace that cannot be read, or two of one name.
    pub fn all(files: &Files, limit: u64) -> Result<Vec<RealTrace>, RunError> {
        let mut traces: Vec<RealTrace> = Vec::new();
        for path in &files.traces {
            let trace = RealTrace::read(path, limit)?;
            if traces.iter().any(|other| other.name == trace.name) {
                let message = "another trace of the folder has this name up to its first dot; rename one of them";
                return Err(RunError::Input(format!("{}: {message}", path.display())));
            }
            traces.push(trace);
        }
        Ok(traces)
    }

    fn read(path: &Path, limit: u64) -> Result<RealTrace, RunError> {
        let options = TraceOptions {
            order: TimeOrder::Clamp,
            sizes: Sizes::Reject,
            beyond: Beyond::Wrap,
            limit: Some(limit),
            ..TraceOptions::default()
        };
        let mut source = TraceSource::open(path, &options, u64::MAX)?;
        let mut requests: Vec<Widened> = Vec::new();
        let mut begin = None;
        while let Next::Request(arrival) = source.next()? {
            let (Span::Bytes { offset, length: length @ 1.. }, Op::Read | Op::Write) = (arrival.extent, arrival.op)
            else {
                continue;
            };
            let at_ns = arrival.at.ns();
            let at_ns = at_ns - *begin.get_or_insert(at_ns);
            let op = if arrival.op == Op::Read { SceneOp::Read } else { SceneOp::Write };
            let first = offset / PAGE;
            requests.push(Widened { at_ns, op, first, pages: (offset + length).div_ceil(PAGE) - first });
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file.split('.').next().unwrap_or_default().to_owned();
        if requests.len() < 2 {
            return Err(RunError::Input(format!(
                "{}: {} reads and writes; two or more can be replayed",
                path.display(),
                requests.len()
            )));
        }
        Ok(RealTrace { name, requests })
    }

    /// What chips do for its requests, one page a command, ns.
    fn work_ns(&self) -> f64 {
        let of =
            |request: &Widened| request.pages as f64 * if request.op == SceneOp::Read { READ_NS } else { PROGRAM_NS };
        self.requests.iter().map(of).sum()
    }

    /// Its requests in a range of so many pages, with times that keep so many units busy for this share of their span. What lies beyond the
    /// range is wrapped.
    fn replayed(&self, pages: u64, units: u32, load: f64) -> Vec<SceneRequest> {
        let span = self.requests.last().map_or(0, |last| last.at_ns).max(1) as f64;
        let scale = self.work_ns() / f64::from(units) / load / span;
        let request = |widened: &Widened| {
            let length = widened.pages.min(pages);
            let first = (widened.first % pages).min(pages - length);
            SceneRequest {
                at_ns: (widened.at_ns as f64 * scale).round() as u64,
                op: widened.op,
                fua: false,
                offset: Some(first * PAGE),
                length: Some(length * PAGE),
                pages: None,
            }
        };
        self.requests.iter().map(request).collect()
    }
}

/// A flow for each trace, which share the drive of `document` and make an equal part of `load` each.
///
/// # Errors
/// A document without a legal device.
pub fn flows_on(document: &Document, traces: &[&RealTrace], load: f64) -> Result<Vec<Flow>, RunError> {
    let flow = |trace: &RealTrace, request| Flow {
        name: Some(trace.name.clone()),
        range: Some(Range::Word(Word(RangeWord::Slice))),
        request,
        ..Flow::default()
    };
    let nothing =
        SceneRequest { at_ns: 0, op: SceneOp::Read, fua: false, offset: Some(0), length: Some(1), pages: None };
    let shell = traces.iter().map(|trace| flow(trace, vec![nothing.clone()])).collect();
    let shell = Scenario::from_document("real", Document { flow: shell, ..document.clone() });
    let config = shell.device_config()?;
    let plans = shell.flows(&config)?;
    let share = load / traces.len() as f64;
    let of = |(trace, plan): (&&RealTrace, &flashlane_scenario::FlowPlan)| {
        let pages = plan.address_range(config.geometry.page_bytes).bytes / PAGE;
        flow(trace, trace.replayed(pages, config.geometry.units(), share))
    };
    Ok(traces.iter().zip(&plans).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> RealTrace {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.b.mqsim"), text).expect("written");
        RealTrace::all(&files(folder.path()).expect("a folder"), 10).expect("a trace").remove(0)
    }

    #[test]
    fn files_that_are_no_traces_are_said_and_names_are_unique() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        write("a.mqsim", "5000 0 15 2 1\n6000 0 16 1 0\n");
        write("notes.txt", "no trace\n");
        write(".b.mqsim", "5000 0 15 2 1\n6000 0 16 1 0\n");
        let found = files(folder.path()).expect("a folder");
        assert_eq!(found.traces, [folder.path().join("a.mqsim")]);
        assert!(found.left_out.len() == 1 && found.left_out[0].contains("notes.txt"), "{found:?}");
        write("a.x.mqsim", "5000 0 15 2 1\n6000 0 16 1 0\n");
        let error =
            RealTrace::all(&files(folder.path()).expect("a folder"), 10).expect_err("two of one name").to_string();
        assert!(error.contains("a.x.mqsim: another trace of the folder has this name"), "{error}");
    }

    /// Sectors 15 and 16 lie in two pages, and so do the two requests of one; the first keeps its time.
    #[test]
    fn requests_are_widened_and_brought_to_a_load() {
        let trace = trace("5000 0 15 2 1\n6000 0 16 1 0\n9000 0 160 16 0\n");
        assert_eq!(trace.name, "a");
        let pages: Vec<(u64, u64)> = trace.requests.iter().map(|request| (request.first, request.pages)).collect();
        assert_eq!(pages, [(0, 2), (1, 1), (10, 1)]);
        // Two reads of a page and two programs on 10 units take 285 us: half of a span of 570.
        let replayed = trace.replayed(8, 10, 0.5);
        let times: Vec<u64> = replayed.iter().map(|request| request.at_ns).collect();
        assert_eq!(times, [0, 142_500, 570_000]);
        assert_eq!((replayed[2].offset, replayed[2].length), (Some(2 * PAGE), Some(PAGE)), "page 10 of 8 is wrapped");
    }
}
