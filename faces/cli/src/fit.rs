//! `flashlane fit`: jobs that measure a drive, and a device that behaves like it.

use flashlane_fit::{Effort, FitError, JobFile, Kind, Point, Probes, Requests, WriteJobFile};
use flashlane_outputs::{Existing, Inputs, OutFile, same_place, shown};
use flashlane_scenario::Scenario;

use crate::args::FitArgs;
use crate::arguments;
use crate::fail::Failure;
use crate::outputs::begin_report;
use crate::plan;
use crate::progress;
use crate::run::rayon_threads;
use crate::signals;
use crate::text::{note, print, print_as_it_is, print_json};

impl From<FitError> for Failure {
    fn from(error: FitError) -> Failure {
        match error {
            FitError::Input(message) => Failure::Input(message),
            FitError::Run(error) => error.into(),
        }
    }
}

/// The reads of a drive that was served at a time scale, in the drive's own time.
fn at_scale(points: Vec<Point>, scale: f64) -> Result<Vec<Point>, Failure> {
    if let Some(writes) = points.iter().find(|point| point.kind != Kind::Reads) {
        return Err(Failure::Input(format!(
            "--time-scale: {}: job {} writes, and rates of writes are not in the drive's time; leave its file out",
            shown::short(&writes.file),
            writes.name
        )));
    }
    Ok(points.into_iter().map(|point| point.at_scale(scale)).collect())
}

/// Runs `flashlane fit`.
pub fn act(args: &FitArgs) -> Result<(), Failure> {
    if let Some(runs) = args.runs {
        rayon_threads(runs)?;
    }
    let engine = || args.engine.clone();
    if args.jobs {
        let size = args.size.unwrap_or(JobFile::SIZE);
        let file = JobFile { size, minutes: args.minutes, engine: engine() };
        if let Some(remark) = file.too_short() {
            note(&remark);
        }
        return print_as_it_is(&file.text());
    }
    if args.write_jobs && args.probe.is_none() {
        let size = args.size.unwrap_or(WriteJobFile::SIZE);
        return print_as_it_is(&WriteJobFile { size, engine: engine() }.text());
    }
    if let Some((path, workload)) = args.probe.as_ref().zip(args.probed()) {
        // A trace in the place of a scenario gets no advice to replay it: this command has no --trace.
        let scenario = plan::with_options(Scenario::load(path)?, &workload)?;
        let remarks = plan::remarks(&scenario);
        if !remarks.is_empty() {
            note(remarks.trim_end());
        }
        let probe = |progress: &(dyn Fn(f64) + Sync)| {
            flashlane_fit::probe(&scenario, args.size, Requests::FULL, args.write_jobs, progress)
        };
        return print_json(&progress::of_fit("jobs", probe)?);
    }
    fit(args)
}

/// Fits a device to results. Its outputs are begun before the search as well as after it, so that none is made for what could not be written.
fn fit(args: &FitArgs) -> Result<(), Failure> {
    let mut inputs = Inputs::default();
    args.results.iter().for_each(|path| inputs.add("results", path));
    let mut points = Vec::new();
    for path in &args.results {
        points.extend(flashlane_fit::read(path)?);
    }
    if let Some(scale) = args.time_scale {
        points = at_scale(points, scale)?;
    }
    let amplification = match &args.smart[..] {
        [] => None,
        [before, after] => {
            [before, after].into_iter().for_each(|path| inputs.add("logs", path));
            Some(flashlane_fit::amplification(before, after)?)
        }
        other => {
            return Err(Failure::Input(format!("--smart: {} files; expected BEFORE.json,AFTER.json", other.len())));
        }
    };
    if let Some((out, report)) =
        args.out.as_ref().zip(args.report.as_ref()).filter(|(out, report)| same_place(out, report))
    {
        let [out, report] = [out, report].map(|path| shown::path(path));
        return Err(Failure::Input(format!(
            "--report {report}: is the place of -o {out} too; give them names of their own"
        )));
    }
    signals::install_handlers()?;
    let existing = if args.force { Existing::Replace } else { Existing::Keep("exists; --force overwrites it") };
    let begin = || args.out.as_ref().map(|path| OutFile::create(path, existing, &inputs)).transpose();
    let begin_page = || args.report.as_ref().map(|path| begin_report(path, None, &inputs, args.force)).transpose();
    // Only to see that they can be written: a search that is killed then leaves nothing beside them.
    drop((begin()?, begin_page()?));
    let probes = Probes { points: &points, preset: args.preset.as_deref(), amplification };
    let answer = progress::of_fit("search", |progress| flashlane_fit::fit(&probes, Effort::FULL, progress));
    let answer = answer.map_err(|error| match (error, args.time_scale) {
        (FitError::Input(message), Some(scale)) => {
            Failure::Input(format!("{message} (times are divided by --time-scale {scale})"))
        }
        (error, _) => error.into(),
    })?;
    let names: Vec<String> = args.results.iter().map(|path| shown::path(path)).collect();
    let page = || flashlane_fit::html(&answer, &names.join(", "), &arguments::command_line());
    // The table is printed and the device written even if the page cannot be.
    let written =
        begin_page().and_then(|begun| begun.map_or(Ok(()), |(file, _)| Ok(file.write_whole(page().as_bytes())?)));
    print(&answer.text())?;
    if let Some(path) = args.report.as_ref().filter(|_| written.is_ok()) {
        print(&format!("report: {}\n", shown::path(path)))?;
    }
    let device = answer.device.map_err(Failure::Input);
    if let Ok(device) = &device
        && let Some((file, path)) = begin()?.zip(args.out.as_ref())
    {
        file.write_whole(device.as_bytes())?;
        print(&format!("device: {}\n", shown::path(path)))?;
    }
    written?;
    device.map(drop)
}
