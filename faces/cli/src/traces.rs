//! `flashlane trace stat` and `flashlane trace convert`.

use std::path::Path;

use flashlane_outputs::shown::{self, counted};
use flashlane_outputs::{Existing, Inputs, OutFile};
use flashlane_trace::{ConvertReport, Format, TraceOptions, convert, stat};

use crate::args::{Apart, Reading, TraceCommand};
use crate::fail::Failure;
use crate::outputs::add_trace;
use crate::signals;
use crate::spool;
use crate::text::{note, print, print_json};

/// The error about an output file that exists.
const KEPT: &str = "exists already and is left as it is; give another name, or --force to overwrite it";

/// Runs `command`.
pub fn act(command: TraceCommand) -> Result<(), Failure> {
    match command {
        TraceCommand::Stat { file, reading, apart, json } => {
            signals::install_handlers()?;
            let file = spool::rereadable(&file)?;
            let stat = stat(&file, &options(&reading, &apart)?, apart.drive_bytes.unwrap_or(u64::MAX))?;
            if json { print_json(&stat.to_json()) } else { print(&stat.to_string()) }
        }
        TraceCommand::Convert { input, output, to, force, reading, apart } => {
            signals::install_handlers()?;
            let input = spool::rereadable(&input)?;
            let to: Format = to.parse().map_err(|message| Failure::Input(format!("--to: {message}")))?;
            let options = options(&reading, &apart)?;
            let mut inputs = Inputs::default();
            add_trace(&mut inputs, &input);
            let is_stream = output.as_os_str() == "-";
            let existing = if force { Existing::Replace } else { Existing::Keep(KEPT) };
            let out = match is_stream {
                true => OutFile::standard_output(Path::new("standard output"))?,
                false => OutFile::create(&output, existing, &inputs)?,
            };
            let report = convert(&input, out, &options, apart.drive_bytes.unwrap_or(u64::MAX), to)?;
            let to_where = if is_stream { "standard output".into() } else { shown::path(&output) };
            let printed = format!("{to_where}: {}", written(&report));
            match is_stream {
                true => note(&printed),
                false => print(&format!("{printed}\n"))?,
            }
            Ok(())
        }
    }
}

/// What was written, and what of the trace was changed or left out.
fn written(report: &ConvertReport) -> String {
    let (c, to) = (report.counts, report.to);
    let mut text = format!(
        "{} written as {to} (read as {}: {}; {} rejected)",
        counted(report.written, "request"),
        report.from,
        report.reason,
        c.rejected
    );
    for (count, what) in [(c.clamped, "given their predecessor's time"), (c.wrapped, "wrapped into the drive")] {
        if count > 0 {
            text += &format!("; {count} {what}");
        }
    }
    if c.sorted.requests > 0 {
        text += &format!("; {}", c.sorted);
    }
    if report.volumes > 1 && !report.keeps_volumes {
        let how = if report.together { "each after the other" } else { "which share addresses there" };
        text += &format!("; {} volumes became one, {how}", report.volumes);
    }
    if report.left_out > 0 {
        text += &format!(
            "; left out: {} (trims, write zeroes, flushes), which {to} has not",
            counted(report.left_out, "request")
        );
    }
    if report.without_fua > 0 {
        text += &format!("; {} lost FUA, which {to} has not", counted(report.without_fua, "write"));
    }
    text
}

/// The reader's options.
fn options(reading: &Reading, apart: &Apart) -> Result<TraceOptions, Failure> {
    let fault = |flag: &str, message: String| Failure::Input(format!("{flag}: {message}"));
    let plain = TraceOptions::default();
    let mut options = TraceOptions {
        time_unit: reading.time_unit,
        action: reading.action,
        device: reading.only_device.clone(),
        volumes: reading.volumes.unwrap_or(plain.volumes),
        offset: reading.offset.unwrap_or(plain.offset),
        limit: reading.limit,
        beyond: reading.beyond.unwrap_or(plain.beyond),
        order: reading.order.unwrap_or(plain.order),
        sizes: reading.sizes.unwrap_or(plain.sizes),
        ..plain
    };
    if let Some(name) = &reading.trace_format {
        options.format = Some(name.parse().map_err(|message| fault("--trace-format", message))?);
    }
    if let Some(text) = &reading.columns {
        options.columns = Some(text.parse().map_err(|message| fault("--columns", message))?);
    }
    if let Some(text) = &apart.speedup {
        options.speedup = text.parse().map_err(|message| fault("--speedup", message))?;
    }
    Ok(options)
}
