//! How a file is read: its format and why, the unit of its times, the columns of a CSV, the action of a block trace; from the options and
//! the first lines.
//!
//! Promises that options that contradict one another or the format are refused.

use super::action::Action;
use super::csv_layout::{self, Layout};
use super::format::blkparse;
use super::format::definition::How;
use super::input::Origin;
use super::lines::Lines;
use super::options::TraceOptions;
use super::recognise::{of_files, recognised, trial_lines};
use super::recognition::Recognition;
use super::{Format, TimeUnit, error, merge, refuse};
use flashlane_core::arrival::WorkloadError;

/// How the trace of `origins`, which begins with `lines`, is read.
pub(super) fn opening(
    origins: &[Origin],
    lines: &Lines,
    options: &TraceOptions,
) -> Result<(Recognition, How), WorkloadError> {
    let first = &origins[0];
    let recognition = match (options.format, &options.columns) {
        (Some(format), Some(_)) if format != Format::Csv => {
            let message =
                format!("they are those of a CSV, and the format asked for is {format}; legal is csv, or no format");
            return Err(error("columns", message));
        }
        (Some(format), _) => Recognition { format, reason: "as asked".to_owned() },
        (None, Some(_)) => Recognition { format: Format::Csv, reason: "as asked".to_owned() },
        (None, None) if origins.len() > 1 => of_files(lines)?,
        (None, None) => recognised(lines, &first.name(), options.time_unit)?,
    };
    if origins.len() > 1 && recognition.format != Format::Blktrace {
        let message = format!("{} is one file; legal for several is a binary blktrace", recognition.format.title());
        return Err(error(first.name(), message));
    }
    if recognition.format == Format::Csv {
        return csv(lines, &first.name(), options);
    }
    let unit = options.time_unit;
    if let Some(unit) = unit {
        check_unit(unit, &recognition)?;
    }
    let action = match (options.action, recognition.format) {
        (Some(action), _) => action,
        (None, Format::Blktrace) => merge::choose_action(origins)?,
        (None, Format::Blkparse) => text_action(first, lines)?,
        (None, _) => Action::Queue,
    };
    Ok((recognition, How { action, unit, csv: None }))
}

/// How a CSV is read.
fn csv(lines: &Lines, name: &str, options: &TraceOptions) -> Result<(Recognition, How), WorkloadError> {
    let (sample, whole) = lines.sample();
    if let Some(reason) = refuse::by_content(sample, whole) {
        return Err(error(format!("{name}:1"), format!("{reason}; legal is a CSV")));
    }
    let trial = trial_lines(sample, whole);
    let (spec, why) = match &options.columns {
        Some(spec) => (spec.clone(), "as asked"),
        None => {
            let own =
                csv_layout::own(&trial).ok_or_else(|| lines.broken().unwrap_or_else(|| csv_layout::unnamed(name)))?;
            (own, "its header names the columns")
        }
    };
    let Layout { reader, time_unit, words } = csv_layout::layout(&spec, options.time_unit, &trial, name)
        .map_err(|why| if sample.is_empty() { lines.broken().unwrap_or(why) } else { why })?;
    let recognition = Recognition { format: Format::Csv, reason: format!("{why}: {words}") };
    Ok((recognition, How { unit: Some(time_unit), csv: Some(reader), ..How::PLAIN }))
}

/// Refuses another unit of times where they carry a date.
fn check_unit(unit: TimeUnit, Recognition { format, reason }: &Recognition) -> Result<(), WorkloadError> {
    let own = format.time_unit();
    if !format.has_date() || unit == own {
        return Ok(());
    }
    let message = format!(
        "`{unit}`: the trace is read as {format} ({reason}), whose times carry a date and are in {own}; legal is {own}, or \
         --columns, which reads the lines as those of any CSV"
    );
    Err(error("time_unit", message))
}

/// `Q` if any line of a blkparse text has it, else `D`.
fn text_action(origin: &Origin, lines: &Lines) -> Result<Action, WorkloadError> {
    let queued = |line: &[u8]| blkparse::action_of(line) == Some(b"Q");
    let (sample, whole) = lines.sample();
    if sample.split(|b| *b == b'\n').any(queued) {
        return Ok(Action::Queue);
    }
    if whole || lines.broken().is_some() {
        return Ok(Action::Issue);
    }
    let mut rest = Lines::new(origin.name(), origin.open()?);
    while let Some(line) = rest.next()? {
        if queued(line.line()) {
            return Ok(Action::Queue);
        }
    }
    Ok(Action::Issue)
}
