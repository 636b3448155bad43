//! Trace files: reading them as a flow's requests, recognising their format, measuring and converting them.
//!
//! Owns the text and binary formats in common use, the options that adapt a trace to an experiment, and every message
//! about a bad line. Promises that no input makes it panic, that nothing is reinterpreted silently (what is skipped,
//! rejected, clamped or wrapped is counted), and that reading allocates nothing per line. Must never know devices,
//! schedulers or metrics: a trace ends at [`Arrival`](flashlane_core::arrival::Arrival).
//!
//! ```text
//! input, packed, gz   file, directory, bytes; what is compressed by its first bytes
//! lines               1 MiB chunks cut into lines
//! window, digits      where digits, fields and the line end, for all bytes at once; digits as numbers
//! columns             a common line without a branch a field
//! cursor              any line, field by field, faults (plain_cursor: tests compare it with one a byte at a time)
//! format/             one file a format: a line to a RawRecord
//! column_spec         which column of a CSV is what, as asked
//! csv_layout          the same as found in its first lines
//! time_unit           what a time's digits are
//! action              the events of a block trace that are read as requests
//! events              which of them a trace has, at which devices, and so which are read
//! recognise           which format a sample is
//! recognition         that format, and why
//! plausible           ns or ms, sectors or bytes
//! refuse              what is no trace that can be replayed
//! options             what users may ask of a trace
//! opening             format, unit, columns and action from the options and the first lines
//! blktrace, merge     binary records; those of all CPUs merged by time
//! vscsi_file          binary records of VSCSI traces
//! records             lines + format + device filter = Records
//! sorted, ordered     by time where the file is not
//! jitter              whole-second times spread over their second
//! rate                rates that show times in another unit
//! source, counts      options, order, address, size, loops: a Source, and what it counts
//! volumes             the devices of a trace, and where each begins
//! stat, stat_text     what `flashlane trace stat` does
//! convert, write      what `flashlane trace convert` does
//! ```

mod action;
mod blktrace;
mod column_spec;
mod columns;
mod convert;
mod counts;
mod csv_layout;
mod cursor;
mod digits;
mod events;
mod format;
mod gz;
mod input;
mod jitter;
mod lines;
mod merge;
mod opening;
mod options;
mod ordered;
mod packed;
#[cfg(test)]
mod plain_cursor;
mod plausible;
mod rate;
mod recognise;
mod recognition;
mod records;
mod refuse;
mod sorted;
mod source;
mod stat;
mod stat_text;
mod time_unit;
mod volumes;
mod vscsi_file;
mod window;
mod write;

pub use column_spec::ColumnSpec;
pub use convert::{ConvertError, ConvertReport, convert};
pub use counts::{Sorted, TraceCounts};
pub use format::Format;
pub use input::{files, rereadable};
pub use options::{Action, Beyond, JITTER_SEED, OPTIONS, Sizes, Speedup, TimeOrder, TraceOptions, Volumes};
pub use rate::RecordedRate;
pub use recognise::recognise;
pub use recognition::Recognition;
pub use source::TraceSource;
pub use stat::{Gaps, Sizing, TraceStat, stat};
pub use time_unit::TimeUnit;
pub use volumes::{Volume, volumes};

use flashlane_core::arrival::WorkloadError;

/// An error at `place` with `message`.
fn error(place: impl Into<String>, message: impl Into<String>) -> WorkloadError {
    WorkloadError { place: place.into(), message: message.into() }
}

/// Bytes of a file for a message: shortened, with unprintable characters escaped.
fn quote(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    let shown = &bytes[..bytes.len().min(LONGEST)];
    let dots = if bytes.len() > LONGEST { "..." } else { "" };
    format!("`{}{dots}`", shown.escape_ascii())
}
