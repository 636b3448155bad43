//! Rates that no recording has: then times are probably in another unit than they were read in.
//!
//! Must never know a file: it judges numbers.

use super::{Format, TimeUnit};

/// Requests per second above which no drive was ever recorded.
const MAX_IOPS: f64 = 5e6;
/// Bytes per second above which none was.
const MAX_BYTES: f64 = 50e9;
/// Requests per second below which nobody records: one an hour.
const MIN_IOPS: f64 = 1.0 / 3600.0;

/// What a trace amounts to as it was recorded, before any speed-up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RecordedRate {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// From the first to the last, nanoseconds.
    pub span_ns: f64,
}

impl RecordedRate {
    /// Why the times may be in another unit than `unit`, in which `format` was read; `None` if the rate is one that drives have.
    pub fn warning(&self, format: Format, unit: TimeUnit) -> Option<String> {
        // A trace whose requests arrive at one instant does so in any unit.
        if self.requests < 2 || self.span_ns <= 0.0 {
            return None;
        }
        let (gaps, seconds) = (self.requests as f64 - 1.0, self.span_ns / 1e9);
        let (iops, bytes) = (gaps / seconds, self.bytes as f64 / seconds);
        let what = match () {
            () if iops > MAX_IOPS => format!("{} requests/s were recorded, more than any drive serves", short(iops)),
            () if bytes > MAX_BYTES => {
                format!("{} GB/s were recorded, more than any drive serves", short(bytes / 1e9))
            }
            () if iops < MIN_IOPS => format!("one request in {} hours was recorded", short(1.0 / (3600.0 * iops))),
            () => return None,
        };
        let remedy = match format.has_date() {
            true => format!("those of {format} carry a date: is it another format?"),
            false => "--time-unit names another".to_owned(),
        };
        Some(format!("{what}: times may be in other units than {unit}, as which they were read ({remedy})"))
    }
}

/// A number with three digits or all digits before the point.
fn short(value: f64) -> String {
    match value {
        v if v >= 100.0 => grouped(v.round() as u64),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// A whole number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(requests: u64, bytes: u64, span_ns: f64) -> Option<String> {
        RecordedRate { requests, bytes, span_ns }.warning(Format::Mqsim, TimeUnit::Ns)
    }

    #[test]
    fn rates_up_to_the_limits_are_believed() {
        // 1,000 gaps in 200 us are 5 million per second.
        assert_eq!(warning(1_001, 4_096, 200_000.0), None);
        let message = warning(1_001, 4_096, 199_999.0).unwrap();
        assert!(
            message.starts_with("5,000,025 requests/s were recorded") && message.contains("--time-unit"),
            "{message}"
        );
        assert_eq!(warning(1_001, 50_000_000, 1_000_000.0), None);
        let message = warning(1_001, 50_100_000, 1_000_000.0).unwrap();
        assert!(message.starts_with("50.1 GB/s"), "{message}");
        assert_eq!(warning(3, 4_096, 7_200e9), None);
        assert!(warning(3, 4_096, 7_201e9).unwrap().starts_with("one request in 1.00 hours was recorded"));
    }

    #[test]
    fn one_request_and_one_burst_have_no_rate() {
        assert_eq!((warning(1, 4_096, 0.0), warning(1_000, 4_096_000, 0.0)), (None, None));
    }

    #[test]
    fn formats_with_a_date_have_no_other_unit() {
        let message =
            RecordedRate { requests: 100, bytes: 1, span_ns: 1.0 }.warning(Format::Msr, TimeUnit::HundredNs).unwrap();
        assert!(message.ends_with("(those of msr carry a date: is it another format?)"), "{message}");
    }
}
