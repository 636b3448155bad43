//! Decides what the numbers of a five-column trace most likely mean: ns or ms, sectors or bytes.
//!
//! MQSim, SSDSim, DiskSim and the five-column replayers have the same columns. Sizes distinguish bytes from sectors: a
//! disk is addressed in units of 512 bytes, so sizes in bytes are multiples of 512, and sizes in sectors hardly ever
//! are (that would be requests of 256 KiB and its multiples). A decimal point distinguishes ms from ns; without one the
//! rate does: whole milliseconds read as ns would be millions of requests per second.

use super::format::record::RawRecord;
use super::recognition::Recognition;
use super::{Format, TimeUnit};

/// A mean gap below this many units cannot be in ns in any recorded trace (5 million requests per second).
const DENSEST: u64 = 200;

/// The format of requests that were read as ms and sectors, or in `unit`, which the user named; `fractional` if any time has a decimal
/// point.
pub(super) fn weigh(requests: &[RawRecord], fractional: bool, unit: Option<TimeUnit>) -> Recognition {
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
        Some(unit) => (fractional, format!("times are in {unit}, as asked")),
        None => clock(requests, fractional),
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
    Recognition::new(format, format!("five columns; {time_reason}; {size_reason}{also}"))
}

/// Whether times are milliseconds, and why.
fn clock(requests: &[RawRecord], fractional: bool) -> (bool, String) {
    if fractional {
        return (true, "times have a decimal point: ms".to_owned());
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
