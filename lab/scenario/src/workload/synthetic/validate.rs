//! Errors in a description, with key, value and what would be legal.
//!
//! Owns every rule that needs no address range; the others are checked where the generator is built.

use super::spec::{Access, Arrivals, Size, SyntheticSpec};
use crate::workload::range::refuse;
use flashlane_core::arrival::WorkloadError;

/// Largest request: 1 GiB. A larger one is most likely a mistake of units.
const MAX_REQUEST_BYTES: u64 = 1 << 30;
/// Largest trim: more than any drive has.
const MAX_TRIM_BYTES: u64 = 1 << 52;
/// Longest time a key may name, in microseconds: about 31 years, far inside 64 bits of nanoseconds.
const MAX_US: f64 = 1e15;
/// Longest mean time between requests, in microseconds: a seventh of what a device can simulate. Longer ones would come after its end.
const MAX_GAP_US: f64 = 1e13;
/// Least value of a key that must be above 0.
const LEAST: f64 = 1e-9;

type Checked = Result<(), WorkloadError>;

impl SyntheticSpec {
    /// Refuses values out of range, missing or contradicting keys, and keys that the chosen form does not use.
    pub fn validate(&self) -> Checked {
        self.validate_sizes()?;
        self.validate_commands()?;
        self.validate_access()?;
        self.validate_working_set()?;
        self.validate_arrivals()?;
        self.validate_rate()?;
        self.validate_end()?;
        self.validate_use()
    }

    fn validate_sizes(&self) -> Checked {
        optional(self.read_ratio, |v| fraction("read_ratio", v))?;
        let step = self.size_step_bytes.unwrap_or(512);
        whole("size_step_bytes", step, 1, MAX_REQUEST_BYTES)?;
        validate_size("size", &self.size, step, MAX_REQUEST_BYTES)?;
        let write_size = self.write_size.as_ref();
        write_size.map_or(Ok(()), |size| validate_size("write_size", size, step, MAX_REQUEST_BYTES))
    }

    fn validate_commands(&self) -> Checked {
        let one_rate = self.read_gap_us.is_none() && self.write_gap_us.is_none();
        let has_writes = !one_rate || self.read_ratio.is_some_and(|ratio| ratio < 1.0);
        only("trim_ratio", &self.trim_ratio, one_rate, ONE_RATE)?;
        only("flush_every_writes", &self.flush_every_writes, one_rate, ONE_RATE)?;
        only("flush_every_ms", &self.flush_every_ms, one_rate, ONE_RATE)?;
        only("flush_every_writes", &self.flush_every_writes, has_writes, WRITES)?;
        only("fua_ratio", &self.fua_ratio, has_writes, WRITES)?;
        only("trim_size", &self.trim_size, self.trim_ratio.is_some(), "trim_ratio")?;
        let by_bytes = self.rate_mb_per_s.is_some();
        only("flush_every_ms", &self.flush_every_ms, !by_bytes, "a rate in requests, which its flushes are part of")?;
        let only_trims = self.trim_ratio == Some(1.0);
        only("rate_mb_per_s", &self.rate_mb_per_s, !only_trims, "reads or writes: trims move no bytes")?;
        optional(self.trim_ratio, |v| fraction("trim_ratio", v))?;
        optional(self.fua_ratio, |v| fraction("fua_ratio", v))?;
        optional(self.flush_every_writes, |v| whole("flush_every_writes", v, 1, 1_000_000_000))?;
        optional(self.flush_every_ms, |v| positive("flush_every_ms", v, MAX_US / 1e3))?;
        let step = self.size_step_bytes.unwrap_or(512);
        self.trim_size.as_ref().map_or(Ok(()), |size| validate_size("trim_size", size, step, MAX_TRIM_BYTES))
    }

    fn validate_access(&self) -> Checked {
        optional(self.align_bytes, |v| whole("align_bytes", v, 1, MAX_REQUEST_BYTES))?;
        optional(self.sequential_probability, |v| fraction("sequential_probability", v))?;
        let access = self.access;
        let (zipf, hot_cold, files) = (access == Access::Zipf, access == Access::HotCold, access == Access::Files);
        let uneven = access == Access::Uneven;
        only(
            "sequential_probability",
            &self.sequential_probability,
            access != Access::Streaming,
            OTHER_THAN_STREAMING,
        )?;
        only("zipf_theta", &self.zipf_theta, zipf, "access = \"zipf\"")?;
        only("hot_access", &self.hot_access, hot_cold, "access = \"hot-cold\"")?;
        only("hot_space", &self.hot_space, hot_cold, "access = \"hot-cold\"")?;
        only("scatter", &self.scatter, zipf || hot_cold, "access = \"zipf\" or \"hot-cold\"")?;
        only("files", &self.files, files, "access = \"files\"")?;
        only("file_min_bytes", &self.file_min_bytes, files, "access = \"files\"")?;
        only("file_max_bytes", &self.file_max_bytes, files, "access = \"files\"")?;
        only("file_theta", &self.file_theta, files, "access = \"files\"")?;
        only("file_seed", &self.file_seed, files, "access = \"files\"")?;
        only("file_sequential", &self.file_sequential, files, "access = \"files\"")?;
        only("lanes", &self.lanes, uneven, "access = \"uneven\"")?;
        only("lane_theta", &self.lane_theta, uneven, "access = \"uneven\"")?;
        only("large_starts", &self.large_starts, access != Access::Streaming, OTHER_THAN_STREAMING)?;
        optional(self.lanes.map(u64::from), |v| whole("lanes", v, 1, 65_536))?;
        optional(self.lane_theta, |v| number("lane_theta", v, 0.0, 10.0))?;
        self.large_starts.as_ref().map_or(Ok(()), |large| {
            whole("large_starts.from_bytes", large.from_bytes, 1, MAX_REQUEST_BYTES)?;
            whole("large_starts.align_bytes", large.align_bytes, 1, MAX_REQUEST_BYTES)?;
            whole("large_starts.offset_bytes", large.offset_bytes, 0, u64::MAX)
        })?;
        optional(self.zipf_theta, |v| number("zipf_theta", v, 0.0, 10.0))?;
        optional(self.file_theta, |v| number("file_theta", v, 0.0, 10.0))?;
        optional(self.hot_access, |v| fraction("hot_access", v))?;
        optional(self.hot_space, |v| inside("hot_space", v))?;
        optional(self.files.map(u64::from), |v| whole("files", v, 1, 65_536))?;
        let max = self.file_max_bytes();
        whole("file_max_bytes", max, 1, u64::MAX)?;
        whole("file_min_bytes", self.file_min_bytes(), 1, max)?;
        self.rewrite.as_ref().map_or(Ok(()), |rewrite| {
            fraction("rewrite.ratio", rewrite.ratio)?;
            number("rewrite.distance_requests", rewrite.distance_requests, 1.0, 1e5)
        })
    }

    fn validate_working_set(&self) -> Checked {
        optional(self.working_set_fraction, |v| share("working_set_fraction", v))?;
        optional(self.working_set_bytes, |v| whole("working_set_bytes", v, 1, u64::MAX))?;
        if let (Some(bytes), Some(_)) = (self.working_set_bytes, self.working_set_fraction) {
            return Err(refuse("working_set_bytes", bytes, "this or working_set_fraction, not both"));
        }
        Ok(())
    }

    fn validate_arrivals(&self) -> Checked {
        let (bursty, batch) = (self.arrivals == Arrivals::Bursty, self.arrivals == Arrivals::Batch);
        let closed = self.arrivals == Arrivals::ClosedLoop;
        only("burst_factor", &self.burst_factor, bursty, "arrivals = \"bursty\"")?;
        only("burst_duty", &self.burst_duty, bursty, "arrivals = \"bursty\"")?;
        only("burst_requests", &self.burst_requests, bursty || batch, "arrivals = \"bursty\" or \"batch\"")?;
        only("depth", &self.depth, closed, "arrivals = \"closed-loop\"")?;
        only("think_us", &self.think_us, closed, "arrivals = \"closed-loop\"")?;
        optional(self.burst_factor, |v| number("burst_factor", v, 1.0, 1e6))?;
        optional(self.burst_requests, |v| number("burst_requests", v, 1.0, 1e9))?;
        optional(self.burst_duty, |v| inside("burst_duty", v))?;
        let (factor, duty) = (self.burst_factor(), self.burst_duty());
        // Rounding must not refuse factor 10 with duty 0.1, for which the quiet rate is zero.
        if bursty && factor * duty > 1.0 + 1e-12 {
            let legal =
                format_args!("at most 1 / burst_factor, {}: else the quiet rate would be negative", 1.0 / factor);
            return Err(refuse("burst_duty", duty, legal));
        }
        optional(self.depth.map(u64::from), |v| whole("depth", v, 1, 65_536))?;
        optional(self.think_us, |v| number("think_us", v, 0.0, MAX_US))?;
        optional(self.start_us, |v| number("start_us", v, 0.0, MAX_US))
    }

    fn validate_rate(&self) -> Checked {
        let rates = [
            ("rate_iops", self.rate_iops, 1e6 / MAX_GAP_US, 1e9),
            ("rate_mb_per_s", self.rate_mb_per_s, 1e-7, 1e9),
            ("mean_gap_us", self.mean_gap_us, LEAST, MAX_GAP_US),
            ("read_gap_us", self.read_gap_us, LEAST, MAX_GAP_US),
            ("write_gap_us", self.write_gap_us, LEAST, MAX_GAP_US),
        ];
        let given = || rates.iter().filter(|(_, value, ..)| value.is_some());
        if self.arrivals == Arrivals::ClosedLoop {
            return given().next().map_or(Ok(()), |&(key, value, ..)| {
                let legal = "no rate with arrivals = \"closed-loop\", which runs as fast as depth and think_us allow";
                Err(refuse(key, value.unwrap_or_default(), legal))
            });
        }
        for &(key, value, min, max) in given() {
            number(key, value.unwrap_or_default(), min, max)?;
        }
        match (given().count(), self.read_gap_us, self.write_gap_us) {
            (1, None, None) => Ok(()),
            (1, Some(v), None) => Err(refuse("read_gap_us", v, "only together with write_gap_us")),
            (1, None, Some(v)) => Err(refuse("write_gap_us", v, "only together with read_gap_us")),
            (2, Some(_), Some(_)) => {
                only("read_ratio", &self.read_ratio, false, "one rate for both: the two gaps already say the ratio")
            }
            (0, ..) => Err(missing("rate_iops", RATES)),
            _ => {
                let both: Vec<&str> = given().map(|(key, ..)| *key).collect();
                Err(refuse(both[1], format_args!("{} at once", both.join(", ")), RATES))
            }
        }
    }

    fn validate_end(&self) -> Checked {
        optional(self.requests, |v| whole("requests", v, 1, u64::MAX))?;
        optional(self.duration_s, |v| positive("duration_s", v, MAX_US / 1e6))?;
        if self.requests.is_none() && self.duration_s.is_none() {
            return Err(missing("requests", "requests (a number), duration_s (seconds), or both: where the flow ends"));
        }
        Ok(())
    }

    /// Refuses keys that need another one, which is not given.
    fn validate_use(&self) -> Checked {
        let may_write = self.read_ratio.is_some() || self.write_gap_us.is_some();
        let may_be_drawn = self.size != Size::default() || self.write_size.is_some() || self.trim_size.is_some();
        only("write_size", &self.write_size, may_write || self.trim_ratio.is_some(), WRITES)?;
        only("rewrite", &self.rewrite, may_write, WRITES)?;
        only("size_step_bytes", &self.size_step_bytes, may_be_drawn, DRAWN)
    }

    /// Keys that have no effect because another one is at an end of its range, with what they would need.
    pub(crate) fn without_effect(&self) -> Vec<(&'static str, &'static str)> {
        let all_reads = self.read_ratio.unwrap_or(1.0) >= 1.0 && self.write_gap_us.is_none();
        let (no_trims, all_trims) = (self.trim_ratio == Some(0.0), self.trim_ratio == Some(1.0));
        let mut sizes = [Some(&self.size), self.write_size.as_ref(), self.trim_size.as_ref()].into_iter().flatten();
        let is_drawn = sizes.any(|size| matches!(size, Size::Uniform(_) | Size::Lognormal(_)));
        let keys = [
            ("write_size", self.write_size.is_some() && all_reads && !self.write_size_is_of_trims(), WRITES),
            ("rewrite", self.rewrite.is_some() && all_reads, WRITES),
            ("size_step_bytes", self.size_step_bytes.is_some() && !is_drawn, DRAWN),
            ("trim_size", self.trim_size.is_some() && no_trims, "a trim_ratio above 0"),
            ("read_ratio", self.read_ratio.is_some() && all_trims, "a trim_ratio below 1"),
            ("fua_ratio", self.fua_ratio.is_some() && all_trims, "a trim_ratio below 1"),
            ("flush_every_writes", self.flush_every_writes.is_some() && all_trims, "a trim_ratio below 1"),
        ];
        keys.into_iter().filter(|(_, is_idle, _)| *is_idle).map(|(key, _, with)| (key, with)).collect()
    }

    fn write_size_is_of_trims(&self) -> bool {
        self.trim_ratio.is_some_and(|ratio| ratio > 0.0) && self.trim_size.is_none()
    }

    pub(super) fn has_flushes(&self) -> bool {
        self.flush_every_writes.is_some() || self.flush_every_ms.is_some()
    }

    pub(super) fn trim_size(&self) -> &Size {
        self.trim_size.as_ref().or(self.write_size.as_ref()).unwrap_or(&self.size)
    }

    pub(super) fn burst_factor(&self) -> f64 {
        self.burst_factor.unwrap_or(8.0)
    }

    pub(super) fn burst_duty(&self) -> f64 {
        self.burst_duty.unwrap_or(0.1)
    }

    pub(super) fn lanes(&self) -> u32 {
        self.lanes.unwrap_or(16)
    }

    pub(super) fn file_min_bytes(&self) -> u64 {
        self.file_min_bytes.unwrap_or(512 << 10)
    }

    pub(super) fn file_max_bytes(&self) -> u64 {
        self.file_max_bytes.unwrap_or(1 << 30)
    }
}

const RATES: &str = "exactly one of rate_iops, rate_mb_per_s, mean_gap_us, or the pair read_gap_us and write_gap_us";
const WRITES: &str = "writes, which a read_ratio below 1 brings";
const DRAWN: &str = "a size that is drawn, { uniform = .. } or { lognormal = .. }";
const ONE_RATE: &str = "one rate for all requests, not with read_gap_us and write_gap_us";
const OTHER_THAN_STREAMING: &str = "an access other than \"streaming\", which is sequential throughout";

fn validate_size(key: &str, size: &Size, step: u64, most: u64) -> Checked {
    let sub = |name: &str| format!("{key}.{name}");
    let limits = |min: u64, max: u64| {
        whole(&sub("max_bytes"), max, 1, most)?;
        whole(&sub("min_bytes"), min, 1, max)?;
        if max / step * step < min {
            let legal = format_args!("limits with a multiple of size_step_bytes, {step}, between them");
            return Err(refuse(&sub("min_bytes"), min, legal));
        }
        Ok(())
    };
    match size {
        Size::Constant(bytes) => whole(&sub("constant"), *bytes, 1, most),
        Size::Uniform(uniform) => limits(uniform.min_bytes, uniform.max_bytes),
        Size::Lognormal(lognormal) => {
            positive(&sub("mean_bytes"), lognormal.mean_bytes, most as f64)?;
            number(&sub("sd_bytes"), lognormal.sd_bytes, 0.0, most as f64)?;
            limits(lognormal.min_bytes, lognormal.max_bytes)
        }
        Size::Mix(entries) => {
            for &(bytes, weight) in entries {
                whole(&sub("mix"), bytes, 1, most)?;
                number(&sub("mix"), weight, 0.0, 1e12)?;
            }
            if entries.iter().all(|&(_, weight)| weight == 0.0) {
                return Err(refuse(&sub("mix"), "no size", "at least one [bytes, weight] pair with a weight above 0"));
            }
            Ok(())
        }
    }
}

fn missing(key: &str, wanted: &str) -> WorkloadError {
    WorkloadError { place: key.to_string(), message: format!("missing: give {wanted}") }
}

fn optional<T>(value: Option<T>, check: impl Fn(T) -> Checked) -> Checked {
    value.map_or(Ok(()), check)
}

/// Refuses a key that the chosen form does not use: accepted silently, it would have no effect.
fn only<T>(key: &str, value: &Option<T>, used: bool, with: &str) -> Checked {
    match value {
        Some(_) if !used => Err(WorkloadError { place: key.to_string(), message: format!("legal only with {with}") }),
        _ => Ok(()),
    }
}

fn whole(key: &str, value: u64, min: u64, max: u64) -> Checked {
    let legal = format_args!("a whole number from {min} to {max}");
    if (min..=max).contains(&value) { Ok(()) } else { Err(refuse(key, value, legal)) }
}

// Written so that the comparisons of the four functions below refuse NaN too.

fn number(key: &str, value: f64, min: f64, max: f64) -> Checked {
    let legal = format_args!("a number from {} to {max}", short(min));
    if value >= min && value <= max { Ok(()) } else { Err(refuse(key, value, legal)) }
}

fn fraction(key: &str, value: f64) -> Checked {
    number(key, value, 0.0, 1.0)
}

fn share(key: &str, value: f64) -> Checked {
    if value > 0.0 && value <= 1.0 { Ok(()) } else { Err(refuse(key, value, "a number above 0, at most 1")) }
}

fn inside(key: &str, value: f64) -> Checked {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(refuse(key, value, "a number above 0 and below 1")) }
}

/// Checks that a value is above zero and not so large (or, for a rate, its gap not so small) that nanoseconds cannot
/// count it.
pub(in crate::workload) fn positive(key: &str, value: f64, max: f64) -> Checked {
    number(key, value, LEAST, max)
}

/// A bound without a row of zeroes: 1e-9.
fn short(bound: f64) -> String {
    if bound != 0.0 && bound.abs() < 1e-3 { format!("{bound:e}") } else { bound.to_string() }
}
