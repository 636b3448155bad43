//! How a file is read: its format and why, the unit of its times, the columns of a CSV, the action of a block trace; from the options and
//! the first lines.
//!
//! Promises that options that contradict one another or the format are refused.

use super::csv_layout::{self, Layout};
use super::events::{EventCounts, Reading};
use super::format::definition::How;
use super::format::vscsi;
use super::input::Origin;
use super::lines::Lines;
use super::options::TraceOptions;
use super::recognise::{of_files, recognised, trial_lines};
use super::recognition::Recognition;
use super::{Format, TimeUnit, error, merge, refuse};
use flashlane_core::arrival::WorkloadError;
use flashlane_core::choice::Choice;

/// How the trace of `origins`, which begins with `lines`, is read.
pub(super) fn opening(
    origins: &[Origin],
    lines: &Lines,
    options: &TraceOptions,
) -> Result<(Recognition, How), WorkloadError> {
    let first = &origins[0];
    let mut recognition = match (options.format, &options.columns) {
        (Some(format), Some(_)) if format != Format::Csv => {
            let message =
                format!("they are those of a CSV, and the format asked for is {format}; legal is csv, or no format");
            return Err(error("columns", message));
        }
        (Some(format), _) => Recognition::new(format, "as asked"),
        (None, Some(_)) => Recognition::new(Format::Csv, "as asked"),
        (None, None) if origins.len() > 1 => of_files(lines)?,
        (None, None) => recognised(lines, &first.name(), options.time_unit)?,
    };
    if origins.len() > 1 && recognition.format != Format::Blktrace {
        let message = format!("{} is one file; legal for several is a binary blktrace", recognition.format.title());
        return Err(error(first.name(), message));
    }
    check_action(options, &recognition)?;
    let is_text = !matches!(recognition.format, Format::Blktrace | Format::VscsiBinary);
    if let Some(why) = refuse::packed_twice(lines.sample().0).filter(|_| is_text) {
        return Err(error(first.name(), why));
    }
    if recognition.format == Format::Csv {
        return csv(lines, &first.name(), options);
    }
    let unit = options.time_unit;
    if let Some(unit) = unit {
        check_unit(unit, &recognition)?;
    }
    let unit = unit.or(recognition.unit);
    let about = recognition.format.about();
    let counts = match about.event {
        Some(event) => EventCounts::of_text(first, lines, event)?,
        None if recognition.format == Format::Blktrace => merge::event_counts(origins)?,
        None => return Ok(plain(recognition, unit, lines)),
    };
    let Reading { action, stacked, notes } = counts.reading(&first.name(), options)?;
    recognition.notes.extend(notes);
    Ok((recognition, How { action, stacked, unit, ..How::PLAIN }))
}

/// How a trace of neither columns nor actions is read.
fn plain(mut recognition: Recognition, unit: Option<TimeUnit>, lines: &Lines) -> (Recognition, How) {
    let mut how = How { unit, ..How::PLAIN };
    let (sample, whole) = lines.sample();
    let trial = trial_lines(sample, whole);
    if recognition.format == Format::Vscsi {
        how.is_hexadecimal = vscsi::is_hexadecimal(&trial);
        let base = if how.is_hexadecimal { "hexadecimal" } else { "decimal" };
        recognition.notes.push(format!("SCSI commands are {base}, as the first lines show"));
    }
    (recognition, how)
}

/// Refuses an action where there are none.
fn check_action(options: &TraceOptions, recognition: &Recognition) -> Result<(), WorkloadError> {
    let Some(action) = options.action else { return Ok(()) };
    let is_block_trace = |format: Format| format == Format::Blktrace || format.about().event.is_some();
    if is_block_trace(recognition.format) {
        return Ok(());
    }
    let legal: Vec<&str> = Format::ALL.into_iter().filter(|format| is_block_trace(*format)).map(Format::key).collect();
    let message = format!(
        "`{}`: the trace is read as {} ({}), which has no actions; legal is an action for {}",
        action.word(),
        recognition.format,
        recognition.reason,
        legal.join(", ")
    );
    Err(error("action", message))
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
    let recognition = Recognition::new(Format::Csv, format!("{why}: {words}"));
    Ok((recognition, How { unit: Some(time_unit), csv: Some(reader), ..How::PLAIN }))
}

/// Refuses another unit of times where they carry a date.
fn check_unit(unit: TimeUnit, Recognition { format, reason, .. }: &Recognition) -> Result<(), WorkloadError> {
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
