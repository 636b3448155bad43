//! Decides what the numbers of a five-column trace most likely mean: ns or ms, sectors or bytes.
//!
//! MQSim, SSDSim, DiskSim and the five-column replayers have the same columns. Sizes distinguish bytes from sectors: a
//! disk is addressed in units of 512 bytes, so sizes in bytes are multiples of 512, and sizes in sectors hardly ever
//! are (that would be requests of 256 KiB and its multiples). A decimal point distinguishes ms from ns, and more than six digits behind it s
//! from ms, of which they would be finer than a ns; without one the rate does: whole milliseconds read as ns would be millions of requests
//! per second. Where the rate is one that few drives have and a coarser unit gives an ordinary one, that is said.

use super::format::record::RawRecord;
use super::recognition::Recognition;
use super::{Format, TimeUnit};
use flashlane_core::choice::Choice;

/// A mean gap below this many units cannot be in ns in any recorded trace (5 million requests per second).
const DENSEST: u64 = 200;

/// Digits behind the point of milliseconds that make nanoseconds.
const NS_OF_MS: usize = 6;
/// Requests per second above which few traces were recorded, and up to which most were.
const HIGH_IOPS: f64 = 500_000.0;
const ORDINARY_IOPS: f64 = 200_000.0;

/// How many digits a time has behind its point, none of one with an exponent; `None` if it has no point.
fn decimals(time: &[u8]) -> Option<usize> {
    let at = time.iter().position(|b| *b == b'.')?;
    let digits = time[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    Some(if has_exponent(time) { 0 } else { digits })
}

fn has_exponent(time: &[u8]) -> bool {
    time.iter().any(|b| matches!(b, b'e' | b'E'))
}

/// The format of requests that were read as ms and sectors, or in `unit`, which the user named, and whose `times` are written so.
pub(super) fn weigh(requests: &[RawRecord], times: &[&[u8]], unit: Option<TimeUnit>) -> Recognition {
    let decimals = times.iter().filter_map(|time| decimals(time)).max();
    let exponents = times.iter().filter(|time| has_exponent(time)).count();
    // A single exponent among whole numbers says nothing of those: its line is an error where they are ns.
    let written = match decimals {
        Some(_) => Some("a decimal point"),
        None => (2 * exponents > times.len()).then_some("an exponent"),
    };
    let found = decimals.filter(|digits| *digits > NS_OF_MS && unit.is_none());
    let all = requests.len();
    let share = |test: &dyn Fn(&RawRecord) -> bool| requests.iter().filter(|r| test(r)).count();
    // As written in the file: the reader has multiplied by 512.
    let round_sizes = share(&|r| (r.length / 512) % 512 == 0);
    let round_both = share(&|r| (r.length / 512) % 512 == 0 && (r.offset / 512) % 512 == 0);
    // If half of the sizes are odd, they are sectors; otherwise addresses must agree, since large sequential transfers
    // in sectors have round sizes too.
    let bytes = 2 * round_sizes > all && 2 * round_both > all;
    let size_reason = if bytes {
        format!("{round_both} of {all} addresses and sizes are multiples of 512: bytes")
    } else {
        format!("{} of {all} addresses or sizes are no multiples of 512: sectors", all - round_both)
    };
    let (milliseconds, time_reason) = match unit {
        Some(unit) => (written.is_some(), format!("times are in {unit}, as asked")),
        None => match found {
            Some(digits) => (true, format!("times have {digits} digits behind the point: s")),
            None => clock(requests, written),
        },
    };
    let format = match (milliseconds, bytes) {
        (true, true) => Format::Replayer,
        (true, false) => Format::Disksim,
        (false, true) => Format::Replayer,
        (false, false) if odd_sizes(requests) => Format::Ssdsim,
        (false, false) => Format::Mqsim,
    };
    let also = match format {
        Format::Mqsim | Format::Ssdsim => "; MQSim and SSDSim share one shape and either name reads either",
        Format::Replayer if !milliseconds && unit.is_none() => {
            "; no format has ns with bytes, so its times are taken for ms: check them, --time-unit ns reads them as ns"
        }
        _ => "",
    };
    let mut recognition = Recognition::new(format, format!("five columns; {time_reason}; {size_reason}{also}"));
    recognition.unit = found.map(|_| TimeUnit::S);
    if unit.is_none() {
        let read_as = recognition.unit.unwrap_or(format.time_unit());
        recognition.notes.extend(better_unit(requests, read_as));
    }
    recognition
}

/// What is said where a coarser unit than `read_as` gives a rate that fits better.
fn better_unit(requests: &[RawRecord], read_as: TimeUnit) -> Option<String> {
    // The reader has multiplied by a million.
    let times = requests.iter().map(|r| r.time_ns as f64 / 1e6);
    let (earliest, latest) = times.fold((f64::MAX, 0.0f64), |(low, high), t| (low.min(t), high.max(t)));
    let gaps = requests.len().checked_sub(1).filter(|gaps| *gaps > 0)? as f64;
    let iops = |unit: TimeUnit| gaps * 1e9 / ((latest - earliest) * unit.ns() as f64);
    if latest <= earliest || iops(read_as) <= HIGH_IOPS {
        return None;
    }
    let coarser = TimeUnit::LIST.iter().map(|choice| choice.value).filter(|unit| unit.ns() > read_as.ns());
    // Nothing counts in 100 ns but dates of Windows.
    let fits = coarser.filter(|unit| *unit != TimeUnit::HundredNs).find(|unit| iops(*unit) <= ORDINARY_IOPS)?;
    Some(format!(
        "its first lines have {:.0} requests/s if times are in {read_as}, and {:.0} if they are in {fits}, which fits better: check \
         them, --time-unit {fits} reads them so",
        iops(read_as),
        iops(fits)
    ))
}

/// Whether times are milliseconds, and why.
fn clock(requests: &[RawRecord], written: Option<&str>) -> (bool, String) {
    if let Some(written) = written {
        return (true, format!("times have {written}: ms"));
    }
    // The reader has multiplied by a million.
    let times = requests.iter().map(|r| r.time_ns / 1_000_000);
    let (earliest, latest) = times.fold((u64::MAX, 0), |(low, high), t| (low.min(t), high.max(t)));
    let gap = latest.saturating_sub(earliest) / requests.len().max(2).saturating_sub(1) as u64;
    if latest > earliest && gap < DENSEST {
        return (true, format!("whole-number times {gap} apart, too dense for ns: ms"));
    }
    (false, format!("whole-number times {gap} apart on average: ns"))
}

/// SSDSim's own traces have sizes that are no multiple of 4 KiB; nothing depends on the answer but the name.
fn odd_sizes(requests: &[RawRecord]) -> bool {
    2 * requests.iter().filter(|r| r.length % 4096 != 0).count() > requests.len()
}
