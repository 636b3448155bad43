//! `flashlane trace stat` and `flashlane trace convert`.

use std::path::Path;

use flashlane_outputs::shown;
use flashlane_outputs::{Existing, Inputs, OutFile};
use flashlane_trace::{Format, TraceOptions, convert, stat};

use crate::args::{Reading, TraceCommand};
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
        TraceCommand::Stat { file, reading, json } => {
            signals::install_handlers()?;
            let file = spool::rereadable(&file)?;
            let stat = stat(&file, &options(&reading)?)?;
            if json { print_json(&stat.to_json()) } else { print(&stat.to_string()) }
        }
        TraceCommand::Convert { input, output, to, force, reading } => {
            signals::install_handlers()?;
            let input = spool::rereadable(&input)?;
            let to: Format = to.parse().map_err(|message| Failure::Input(format!("--to: {message}")))?;
            let options = options(&reading)?;
            let mut inputs = Inputs::default();
            add_trace(&mut inputs, &input);
            let is_stream = output.as_os_str() == "-";
            let existing = if force { Existing::Replace } else { Existing::Keep(KEPT) };
            let out = match is_stream {
                true => OutFile::standard_output(Path::new("standard output"))?,
                false => OutFile::create(&output, existing, &inputs)?,
            };
            let report = convert(&input, out, &options, to)?;
            let c = report.counts;
            let mut printed = format!(
                "{}: {} requests written as {to} (read as {}: {}; {} rejected)",
                if is_stream { "standard output".into() } else { shown::path(&output) },
                report.written,
                report.from,
                report.reason,
                c.rejected
            );
            if report.left_out > 0 {
                printed +=
                    &format!("; left out: {} trims, write zeroes or flushes, which {to} has not", report.left_out);
            }
            if report.without_fua > 0 {
                printed += &format!("; {} writes lost their FUA, which {to} has not", report.without_fua);
            }
            match is_stream {
                true => note(&printed),
                false => print(&format!("{printed}\n"))?,
            }
            Ok(())
        }
    }
}

/// The reader's options.
fn options(reading: &Reading) -> Result<TraceOptions, Failure> {
    let fault = |flag: &str, message: String| Failure::Input(format!("{flag}: {message}"));
    let mut options =
        TraceOptions { limit: reading.limit, device: reading.only_device.clone(), ..TraceOptions::default() };
    if let Some(name) = &reading.trace_format {
        options.format = Some(name.parse().map_err(|message| fault("--trace-format", message))?);
    }
    if let Some(text) = &reading.columns {
        options.columns = Some(text.parse().map_err(|message| fault("--columns", message))?);
    }
    if let Some(text) = &reading.speedup {
        options.speedup = text.parse().map_err(|message| fault("--speedup", message))?;
    }
    options.time_unit = reading.time_unit;
    options.action = reading.action;
    options.offset = reading.offset.unwrap_or(0);
    Ok(options)
}
