//! Recognises a trace's format from its content, never from its name, and says why.
//!
//! Every text format reads the first lines as a trial, and the one that accepts most of them is chosen. Formats with
//! five columns of numbers accept one another's lines, so [`super::plausible`] decides by the units. Must never choose
//! silently: the reason is reported with the choice, and a format chosen by the user is not questioned here.

use std::path::Path;

use super::csv_layout::{self, Layout};
use super::cursor::Cursor;
use super::format::definition::{How, Recognised};
use super::format::record::{Line, RawRecord};
use super::format::{LineReader, iolog, vscsi};
use super::input::origins;
use super::lines::Lines;
use super::recognition::Recognition;
use super::{Format, TimeUnit, error, plausible, quote, refuse};
use flashlane_core::arrival::WorkloadError;

/// Columns of a CSV, as users may name them.
const EXAMPLE: &str = "time=1:us,op=2,offset=3:sectors,length=4:bytes";

/// Number of lines read as a trial.
const TRIALS: usize = 1_000;

/// Recognises the trace at `path` (a file, or the per-CPU files of a blktrace).
pub fn recognise(path: &Path) -> Result<Recognition, WorkloadError> {
    let origins = origins(path)?;
    let first = &origins[0];
    recognised(&Lines::new(first.name(), first.open()?), &first.name(), None)
}

/// Recognises the format from the beginning of `lines`, whose times are in `unit` if the user named one.
pub(super) fn recognised(lines: &Lines, name: &str, unit: Option<TimeUnit>) -> Result<Recognition, WorkloadError> {
    let (sample, whole) = lines.sample();
    if sample.is_empty() {
        let empty = || error(name, "the file is empty; legal is a trace with at least one request");
        return Err(lines.broken().unwrap_or_else(empty));
    }
    // Too little of a stream that broke to recognise it: the break is what is wrong.
    of_sample(sample, whole, name, unit).map_err(|unknown| lines.broken().unwrap_or(unknown))
}

/// Several files are accepted only as the per-CPU files of a blktrace.
pub(super) fn of_files(lines: &Lines) -> Result<Recognition, WorkloadError> {
    if lines.sample().0.is_empty()
        && let Some(broken) = lines.broken()
    {
        return Err(broken);
    }
    Ok(Recognition::new(Format::Blktrace, "several files NAME.blktrace.CPU"))
}

/// Recognises a trace from its first bytes; `whole` if there are no more.
fn of_sample(sample: &[u8], whole: bool, name: &str, unit: Option<TimeUnit>) -> Result<Recognition, WorkloadError> {
    for format in Format::ALL {
        if let Recognised::Beginning(is, reason) = format.about().recognised
            && is(sample)
        {
            return Ok(Recognition::new(format, reason));
        }
    }
    if let Some(reason) = refuse::by_content(sample, whole) {
        return Err(error(format!("{name}:1"), format!("{reason}; legal is a trace in one of {}", Format::keys())));
    }
    let lines = trial_lines(sample, whole);
    if let Some(found) = by_first_line(&lines, name)? {
        return Ok(found);
    }
    let unknown_at = |line: usize, what: String| {
        let legal = format!(
            "legal is a trace in one of {} (name the format to have its first bad line shown; any other CSV is read with --columns, such as {EXAMPLE})",
            Format::keys()
        );
        Err(error(format!("{name}:{line}"), format!("{what}; {legal}")))
    };
    let unknown = |what: String| unknown_at(1, what);
    if let Some(zero) = memchr::memchr(0, sample) {
        let before = &sample[..zero];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let what = match memchr::memrchr(b'\n', before) {
            None => format!("binary data that is no blktrace, starting {}", quote(&sample[..sample.len().min(16)])),
            Some(end) => format!("a byte of value 0, which no text has, after {}", quote(&before[end + 1..])),
        };
        return unknown_at(line, what);
    }
    if let Some(spec) = csv_layout::own(&lines) {
        let Layout { words, .. } = csv_layout::layout(&spec, unit, &lines, name)?;
        return Ok(Recognition::new(Format::Csv, format!("its header names the columns: {words}")));
    }
    let by_lines = |format: &Format| matches!(format.about().recognised, Recognised::Lines(_));
    let best = Format::ALL
        .into_iter()
        .filter(by_lines)
        .map(|format| (trial(format, &lines, unit), format))
        .chain([(trial(Format::Disksim, &lines, unit).max(trial(Format::Replayer, &lines, unit)), Format::Disksim)])
        // On a tie the first format is chosen: `max_by_key` takes the last.
        .rev()
        .max_by_key(|(taken, _)| *taken);
    match best {
        Some((taken, Format::Disksim)) if believable(taken, &lines) => Ok(columns(&lines, unit)),
        Some((taken, format)) if believable(taken, &lines) => {
            let reason = match lines.len() {
                1 => format!("its line reads as `{}`", format.shape()),
                all => format!("{taken} of the first {all} lines read as `{}`", format.shape()),
            };
            Ok(Recognition::new(format, reason))
        }
        _ => match lines.iter().find(|line| !is_blank(line)) {
            Some(first) => unknown(format!("no format reads the first lines, such as {}", quote(first))),
            None => unknown("only blank lines and comments".to_owned()),
        },
    }
}

/// Whether a format that accepts this many lines is plausible: at least half of them, apart from a header; the others
/// are then errors that its reader explains.
fn believable(taken: usize, lines: &[&[u8]]) -> bool {
    taken > 0 && 2 * taken >= lines.iter().filter(|line| !is_blank(line)).count().saturating_sub(1)
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line.trim_ascii().first(), None | Some(b'#'))
}

/// The first lines of a sample; the last one only if it is complete.
pub(super) fn trial_lines(sample: &[u8], whole: bool) -> Vec<&[u8]> {
    let mut lines: Vec<_> = sample.split(|b| *b == b'\n').take(TRIALS + 1).collect();
    let cut = lines.len() > TRIALS || !whole || lines.last().is_some_and(|last| last.is_empty());
    if cut && lines.len() > 1 {
        lines.pop();
    }
    lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}

/// Some formats name themselves; a log of fio in a version without a reader is refused with that reason.
fn by_first_line(lines: &[&[u8]], name: &str) -> Result<Option<Recognition>, WorkloadError> {
    let first = lines.first().copied().unwrap_or_default().trim_ascii();
    let is_own = |format: &Format| matches!(format.about().recognised, Recognised::FirstLine(own) if own == first);
    if let Some(format) = Format::ALL.into_iter().find(is_own) {
        return Ok(Some(Recognition::new(format, "its first line says so")));
    }
    if iolog::is_header(first) {
        let message = format!("{} is a fio log of another version; legal is 2 or 3", quote(first));
        return Err(error(format!("{name}:1"), message));
    }
    Ok(None)
}

/// How many of the lines a format accepts (as requests, or as something it knows to skip).
fn trial(format: Format, lines: &[&[u8]], unit: Option<TimeUnit>) -> usize {
    requests(format, lines, unit).map_or(0, |(taken, _)| taken)
}

/// How many of the lines a format accepts, and the requests among them; `None` if there is no request.
fn requests(format: Format, lines: &[&[u8]], unit: Option<TimeUnit>) -> Option<(usize, Vec<RawRecord>)> {
    // blkparse: the action does not matter; lines with another one are skipped, and so accepted.
    let is_hexadecimal = format == Format::Vscsi && vscsi::is_hexadecimal(lines);
    let mut reader = LineReader::new(format, &How { unit, is_hexadecimal, ..How::PLAIN });
    let is_other = match format.about().recognised {
        Recognised::Lines(is_other) => is_other,
        _ => |_: &[u8]| false,
    };
    let (mut taken, mut found) = (0, Vec::new());
    let mut seen_other = false;
    for (at, line) in lines.iter().enumerate() {
        match reader.read(&mut Cursor::new(line, line.len()), at as u64 + 1) {
            Ok(Line::Request(raw)) => {
                taken += 1;
                found.push(raw);
            }
            Ok(Line::Skip) if !is_blank(line) => {
                taken += 1;
                seen_other |= is_other(line);
            }
            _ => {}
        }
    }
    (!found.is_empty() || seen_other).then_some((taken, found))
}

/// Decides the units of five columns of numbers.
fn columns(lines: &[&[u8]], unit: Option<TimeUnit>) -> Recognition {
    let in_sectors = requests(Format::Disksim, lines, unit).map_or(Vec::new(), |(_, requests)| requests);
    let times = lines
        .iter()
        .filter(|line| !is_blank(line))
        .filter_map(|line| line.trim_ascii_start().split(|b| matches!(b, b' ' | b'\t')).next())
        .collect::<Vec<_>>();
    if in_sectors.is_empty() {
        return Recognition::new(Format::Replayer, "five columns, addresses beyond what sectors could reach");
    }
    plausible::weigh(&in_sectors, &times, unit)
}
