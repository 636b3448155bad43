//! The options for reading a trace, and their legal values.
//!
//! The defaults change nothing and tolerate nothing: real time, the whole file, once, and an error for anything
//! irregular.

use flashlane_core::{Op, Time, choices};

pub use super::action::Action;
use super::{ColumnSpec, Format, TimeUnit, error};
use flashlane_core::arrival::WorkloadError;

/// How much faster than recorded a trace is replayed: a ratio, so that times stay exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Speedup {
    numerator: u64,
    denominator: u64,
}

impl Speedup {
    /// As fast as recorded.
    pub const ONE: Speedup = Speedup { numerator: 1, denominator: 1 };

    /// `numerator / denominator`, both from 1 to 1,000,000,000.
    pub fn new(numerator: u64, denominator: u64) -> Result<Speedup, String> {
        const LEGAL: std::ops::RangeInclusive<u64> = 1..=1_000_000_000;
        if LEGAL.contains(&numerator) && LEGAL.contains(&denominator) {
            return Ok(Speedup { numerator, denominator });
        }
        Err(format!("`{numerator}/{denominator}` is no speedup; legal is a ratio of two numbers from 1 to 1000000000"))
    }

    /// The ratio.
    pub fn factor(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// A recorded duration in replayed nanoseconds; `None` if it exceeds 64 bits.
    #[inline]
    pub(super) fn apply(self, span_ns: u64) -> Option<u64> {
        if self == Speedup::ONE {
            return Some(span_ns);
        }
        match span_ns.checked_mul(self.denominator) {
            Some(product) => Some(product / self.numerator),
            None => {
                let exact = u128::from(span_ns) * u128::from(self.denominator) / u128::from(self.numerator);
                u64::try_from(exact).ok()
            }
        }
    }
}

impl Default for Speedup {
    fn default() -> Self {
        Speedup::ONE
    }
}

impl std::fmt::Display for Speedup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

/// `50`, `0.5` or `3/2`.
impl std::str::FromStr for Speedup {
    type Err = String;

    fn from_str(text: &str) -> Result<Speedup, String> {
        let bad = || {
            format!(
                "`{}` is no speedup; legal is a number or a ratio above 0, such as 50, 0.5 or 3/2",
                text.escape_debug()
            )
        };
        let whole = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if plain { digits.parse::<u64>().map_err(|_| bad()) } else { Err(bad()) }
        };
        if let Some((numerator, denominator)) = text.split_once('/') {
            return Speedup::new(whole(numerator)?, whole(denominator)?).map_err(|_| bad());
        }
        let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
        if fraction.len() > 9 {
            return Err(bad());
        }
        let mut denominator = 10u64.pow(fraction.len() as u32);
        let mut numerator = whole(&format!("{integer}{fraction}"))?;
        while denominator > 1 && numerator % 10 == 0 {
            (numerator, denominator) = (numerator / 10, denominator / 10);
        }
        Speedup::new(numerator, denominator).map_err(|_| bad())
    }
}

choices! {
    /// What happens to a request that reaches beyond the drive.
    #[derive(Default)]
    pub enum Beyond {
        /// The trace is refused there.
        #[default]
        Error = "error",
        /// The address is taken modulo the flow's part of the drive; if the request then straddles the end, it starts at 0.
        Wrap = "wrap",
        /// The request is left out and counted.
        Reject = "reject",
    }
}

choices! {
    /// What happens to a time before that of the previous request.
    #[derive(Default)]
    pub enum TimeOrder {
        /// The trace is refused there.
        #[default]
        Error = "error",
        /// The request takes the time of the one before it and is counted.
        Clamp = "clamp",
        /// Requests are put in the order of their times, as far as 65,536 of them apart.
        Sort = "sort",
    }
}

choices! {
    /// What the volumes (disks, ASUs, hosts' devices) of one trace share.
    #[derive(Default)]
    pub enum Volumes {
        /// The same addresses, as if they were one.
        #[default]
        Overlaid = "overlaid",
        /// One address space, in which each begins after the one before it.
        Together = "together",
        /// Nothing: each is a flow of its own.
        Apart = "apart",
    }
}

choices! {
    /// What happens to a request of no bytes, or of more than the largest legal size.
    #[derive(Default)]
    pub enum Sizes {
        /// The trace is refused there.
        #[default]
        Error = "error",
        /// The request is left out and counted.
        Reject = "reject",
    }
}

/// The default seed of the jitter.
pub const JITTER_SEED: u64 = 1;

/// How a trace is read and adapted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceOptions {
    /// The format; recognised from the content when absent.
    pub format: Option<Format>,
    /// The unit of its times; the format's own when absent.
    pub time_unit: Option<TimeUnit>,
    /// The columns of a CSV; by the names that requests have in Python when absent.
    pub columns: Option<ColumnSpec>,
    /// How much faster than recorded.
    pub speedup: Speedup,
    /// When the first request arrives.
    pub start: Time,
    /// Requests (of the selected device) to skip first.
    pub offset: u64,
    /// The most requests to read in a loop; all when absent.
    pub limit: Option<u64>,
    /// How often the trace is replayed, at least 1.
    pub loops: u32,
    /// Only requests of this device, named as the format names it (`2`, `hm_0`, `8,0`, `/dev/sda`).
    pub device: Option<String>,
    /// What its volumes share. Read as one flow, volumes that are apart are overlaid.
    pub volumes: Volumes,
    /// Only the requests of this volume, by its name in the trace; those of the others still count for the offset, the limit and
    /// the times, so that the flows of one trace stay as they were recorded.
    pub part: Option<Vec<u8>>,
    /// The recorded time, in ns, that counts as the beginning; that of the first request when absent.
    pub origin_ns: Option<u64>,
    /// What happens to requests beyond the drive.
    pub beyond: Beyond,
    /// What happens to times that go backwards.
    pub order: TimeOrder,
    /// What happens to sizes of zero or above the largest.
    pub sizes: Sizes,
    /// The largest legal size, 1 B to 1 GiB.
    pub max_request_bytes: u64,
    /// blkparse and blktrace: which action; `Q` if the trace has any, else `D`, when absent.
    pub action: Option<Action>,
    /// Tencent's whole-second times: the seed for spreading a second's requests over it; when absent, times stay as
    /// they are.
    pub jitter_seed: Option<u64>,
}

impl Default for TraceOptions {
    fn default() -> Self {
        TraceOptions {
            format: None,
            time_unit: None,
            columns: None,
            speedup: Speedup::ONE,
            start: Time::ZERO,
            offset: 0,
            limit: None,
            loops: 1,
            device: None,
            volumes: Volumes::Overlaid,
            part: None,
            origin_ns: None,
            beyond: Beyond::Error,
            order: TimeOrder::Error,
            sizes: Sizes::Error,
            max_request_bytes: 64 << 20,
            action: None,
            jitter_seed: Some(JITTER_SEED),
        }
    }
}

/// The options that an error may name instead of a place in a file, as scenarios call them.
pub const OPTIONS: [&str; 9] =
    ["columns", "action", "time_unit", "offset", "loops", "limit", "max_request_bytes", "start_ns", "device"];
/// Later times are refused: a device ends there (2.28 years).
pub(super) const LATEST_NS: u64 = Time::LAST.ns();

impl TraceOptions {
    /// Whether a request may have this length. A flush has none, and a trim has no largest.
    pub(super) fn takes(&self, op: Op, length: u64) -> bool {
        op == Op::Flush || length > 0 && (op.unmaps() || length <= self.max_request_bytes)
    }

    /// Refuses values outside their legal range.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        if self.loops == 0 {
            return Err(error("loops", "`0` goes through no trace; legal is a whole number from 1"));
        }
        if self.limit == Some(0) {
            return Err(error("limit", "`0` reads no request; legal is a whole number from 1"));
        }
        if !(1..=1 << 30).contains(&self.max_request_bytes) {
            let message = format!("`{}` is no largest size; legal is 1 to 1073741824 bytes", self.max_request_bytes);
            return Err(error("max_request_bytes", message));
        }
        if self.start.ns() > LATEST_NS {
            return Err(error("start_ns", format!("`{}` is too late; legal is up to {LATEST_NS} ns", self.start.ns())));
        }
        if self.device.as_deref() == Some("") {
            return Err(error("device", "`` is no device; legal is a name as the trace has it"));
        }
        Ok(())
    }
}
