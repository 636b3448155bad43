//! The outputs of `run` and `compare`: prepared before the run, so that no run is made whose results could not be
//! written.
//!
//! Promises that no output is one of the inputs, and that no file is overwritten that flashlane did not write.

use std::path::{Path, PathBuf};

use flashlane_outputs::{Existing, Inputs, OutFile};
use flashlane_report::metrics::Activity;
use flashlane_report::results::{MadeByCommand, ResultsDir, Summary, TABLES, export, report};
use flashlane_scenario::{FlowSource, Scenario};

use crate::apart;
use crate::args::{Output, Workload};
use crate::fail::Failure;
use crate::signals;
use crate::timeline::Timelines;

/// The file of figures in a results folder.
const SUMMARY: &str = "summary.json";
/// The main ones as CSV, where rows are CSV too.
const SUMMARY_CSV: &str = "summary.csv";

/// The prepared outputs.
pub struct Outputs {
    /// The results folder with its `summary.json` and `made-by.json`.
    dir: Option<(ResultsDir, OutFile, OutFile)>,
    csv: Option<OutFile>,
    timelines: Option<Timelines>,
    /// The report, inside the results folder or elsewhere.
    report: Option<Begun>,
}

/// A report being written, and its place.
pub type Begun = (OutFile, Where);

/// Where a report is written.
#[derive(Clone, Copy)]
pub enum Where {
    /// In the results folder.
    Inside,
    /// In another.
    Elsewhere,
}

impl Outputs {
    /// Prepares the outputs that `output` asks for.
    pub fn prepare(workload: &Workload, scenario: &Scenario, output: &Output) -> Result<Outputs, Failure> {
        if output.force && output.report.is_none() && output.timeline.is_none() {
            return Err(Failure::Input("--force: has no meaning without --report or --timeline".into()));
        }
        if output.out.is_none() && output.report.is_none() && output.timeline.is_none() {
            return Ok(Outputs { dir: None, csv: None, timelines: None, report: None });
        }
        apart::check(workload, scenario, output)?;
        signals::install_handlers()?;
        let inputs = inputs(workload, scenario)?;
        let timelines = Timelines::prepare(scenario, output, &inputs)?;
        let dir = match &output.out {
            Some(path) => {
                let dir = ResultsDir::apart_from(path, &inputs)?;
                let summary = dir.begin(SUMMARY)?;
                let made_by = dir.begin(MadeByCommand::FILE)?;
                Some((dir, summary, made_by))
            }
            None => None,
        };
        let csv = dir.as_ref().filter(|_| output.csv).map(|(dir, ..)| dir.begin(SUMMARY_CSV)).transpose()?;
        let report = match &output.report {
            Some(path) => Some(begin_report(path, dir.as_ref().map(|(dir, ..)| dir), &inputs, output.force)?),
            None => None,
        };
        Ok(Outputs { dir, csv, timelines, report })
    }

    /// The results folder, if one was asked for.
    pub fn dir(&self) -> Option<&ResultsDir> {
        self.dir.as_ref().map(|(dir, ..)| dir)
    }

    /// The timelines, in the order of the schedulers.
    pub fn timelines(&self) -> Vec<PathBuf> {
        self.timelines.as_ref().map_or_else(Vec::new, |timelines| timelines.names().to_vec())
    }

    /// Whether any file is written from the summary.
    pub fn any(&self) -> bool {
        self.dir.is_some() || self.csv.is_some() || self.report.is_some()
    }

    /// Writes all outputs from the summary, which `command` makes again, the report also from what the dies did, and gives them their
    /// names.
    pub fn finish(
        self,
        summary: &Summary,
        activity: &[Activity],
        scenario: &Scenario,
        command: String,
    ) -> Result<(), Failure> {
        let timelines = self.timelines.map_or(Ok(()), |timelines| timelines.write(scenario));
        let mut elsewhere = Ok(());
        if let Some((file, place)) = self.report {
            let written = file.write_whole(report::html(summary, activity, &command).as_bytes());
            match place {
                Where::Inside => written?,
                // An error here must not prevent the results folder from being completed.
                Where::Elsewhere => elsewhere = written,
            }
        }
        if let Some(file) = self.csv {
            file.write_whole(export::csv(summary).as_bytes())?;
        }
        if let Some((dir, file, made_by)) = self.dir {
            file.write_whole(summary.to_json().as_bytes())?;
            made_by.write_whole(MadeByCommand { command }.to_json().as_bytes())?;
            dir.commit()?;
        }
        elsewhere?;
        timelines
    }
}

/// Begins the report: inside the results folder, or in an existing folder.
pub fn begin_report(path: &Path, dir: Option<&ResultsDir>, inputs: &Inputs, force: bool) -> Result<Begun, Failure> {
    if let Some(dir) = dir
        && let Some(name) = dir.inside(path)?
    {
        let own = name.rsplit('/').next().unwrap_or(&name);
        if TABLES.iter().any(|table| own.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))) {
            let shown = path.display();
            return Err(Failure::Input(format!(
                "--report {shown}: is the name of a row file in --out; give another name"
            )));
        }
        return Ok((dir.begin(&name)?, Where::Inside));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if !folder.is_none_or(Path::is_dir) || path.is_dir() {
        let shown = path.display();
        let why =
            if path.is_dir() { "is a folder; name a file in it" } else { "must be a file in a folder that exists" };
        return Err(Failure::Input(format!("--report {shown}: {why}")));
    }
    let existing = if force {
        Existing::Replace
    } else {
        Existing::ReplaceIf(
            report::is_report,
            "exists and is no report of flashlane, so it is left as it is; give another name, or --force",
        )
    };
    Ok((OutFile::create(path, existing, inputs)?, Where::Elsewhere))
}

/// The files that the run reads.
pub fn inputs(workload: &Workload, scenario: &Scenario) -> Result<Inputs, Failure> {
    let mut inputs = Inputs::default();
    if let Some(path) = &workload.scenario {
        inputs.add("the scenario", path);
    }
    for flow in scenario.flows(&scenario.device_config()?)? {
        if let FlowSource::Trace(path, _) = flow.source {
            add_trace(&mut inputs, &path);
        }
    }
    Ok(inputs)
}

/// Adds all files of a trace.
pub fn add_trace(inputs: &mut Inputs, path: &Path) {
    inputs.add("the trace", path);
    flashlane_trace::files(path).iter().for_each(|file| inputs.add("the trace", file));
}
