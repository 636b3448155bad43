//! The keys of a clone, and the synthetic workload they stand for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pages;
use super::table::{FlinTrace, SlackerBursts, SlackerTrace, SosBenchmark, Table};
use crate::workload::AddressRange;
use crate::workload::range::refuse;
use crate::workload::synthetic::{
    Access, Arrivals, LargeStarts, Lognormal, Rewrite, Size, SyntheticSource, SyntheticSpec, positive,
};
use flashlane_core::arrival::WorkloadError;

/// Bytes of a KB in the tables: only with 1,024 do their means fit page sizes (tpcc reads 8.1 KB).
const KB: f64 = 1024.0;
/// The default working set, decimal: exactly 1,953,125 starts of 8 KiB.
const WORKING_SET_BYTES: u64 = 16_000_000_000;

/// A clone of a published trace. Keys without a table named serve all three.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneSpec {
    /// `slacker`, `flin` or `sos`.
    pub table: Table,
    /// The trace's name in that table.
    pub name: String,

    /// Table slacker: how requests look and where they go. Default `lognormal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Mean microseconds between requests. Default for slacker and sos, which print
    /// none: calibrated on their devices; for flin: from the row, see `rates`.
    pub mean_gap_us: Option<f64>,
    /// Table flin: how to read its two columns of gaps (D-FLN-18). Default `total`.
    pub rates: Option<Rates>,
    /// Stretches all gaps, 0.000001 to 1,000,000. Default 1.
    pub gap_scale: Option<f64>,
    /// Share of reads, 0 to 1, instead of the row's.
    pub read_ratio: Option<f64>,
    /// Tables slacker and flin: stretches mean and standard deviation of sizes, 0.001 to 1,000. Default 1.
    pub size_scale: Option<f64>,
    /// Table flin, which prints means only: standard deviation of sizes over their mean, 0 to 100. Default 0.8, the
    /// median of slacker's table.
    pub size_cv: Option<f64>,
    /// Table sos, which prints no sizes: bytes of every request. Default: the drive's page.
    pub size_bytes: Option<u64>,

    /// Tables slacker and flin: rate inside a burst over the mean rate. Default 8; with whole pages 10.
    pub burst_factor: Option<f64>,
    /// Tables slacker and flin: share of the time spent in bursts. Default 0.1.
    pub burst_duty: Option<f64>,
    /// Mean requests of a burst. Default 64 for slacker and flin; with whole pages, and for sos, whose bursts come all at once:
    /// calibrated.
    pub burst_requests: Option<f64>,

    /// Probability that a request starts where the previous one ended. Default 0.2; for sos and with whole pages 0.
    pub sequential_probability: Option<f64>,
    /// Drawn starts are multiples of this many bytes. Default 8,192; for sos the drive's page.
    pub align_bytes: Option<u64>,
    /// Bytes of the address range that are used. Default 16,000,000,000, or all of a smaller range.
    pub working_set_bytes: Option<u64>,
    /// Share of the address range that is used, instead of `working_set_bytes`.
    pub working_set_fraction: Option<f64>,
    /// First used byte, counted from the start of the flow's address range. Default 0.
    pub working_set_offset_bytes: Option<u64>,
    /// `shape = "whole-pages"`: Zipf exponent of the popularity of 16 chips, 0 to 10. Default: calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane_theta: Option<f64>,
    /// Table sos: Zipf exponent of the addresses. Default 0.9.
    pub zipf_theta: Option<f64>,
    /// Table sos: share of writes that rewrite an earlier one, the ceiling of the overwrite share. Default: calibrated.
    pub rewrite_ratio: Option<f64>,
    /// Table sos: mean requests from a write to its rewrite, the knob of the overwrite share. Default: calibrated.
    pub rewrite_distance_requests: Option<f64>,

    /// Number of requests after which the flow ends. This or `duration_s` is needed; with both, what comes first.
    pub requests: Option<u64>,
    /// Seconds, from the flow's start, in which requests are created. This or `requests` is needed.
    pub duration_s: Option<f64>,
    /// Microseconds after the start of the run at which the flow begins. Default 0.
    pub start_us: Option<f64>,
    /// Seed of the flow's draws. Default: made of the run's seed and the flow's place in the scenario.
    pub seed: Option<u64>,
}

/// How the requests of a clone of Slacker's table look and where they go; the paper prints the mean and the deviation of their sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Lognormal sizes, starts anywhere, bursts of 8 times the mean rate.
    #[default]
    Lognormal,
    /// One, two and nine pages (model 9.4); some chips get more than others, large requests begin at one residue, and nothing arrives between
    /// bursts, which are above what the drive can take.
    WholePages,
}

/// How to read the inter-arrival columns of FLIN's table, which contradict its read ratios (D-FLN-18).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rates {
    /// The two rates add up to the rate of all requests; the read ratio is the printed one.
    #[default]
    Total,
    /// Reads and writes arrive apart, each at its printed gap; the read ratio follows and differs from the printed one.
    PerDirection,
}

impl CloneSpec {
    /// The clone in a few words, for tables: `clone of flin tpcc`.
    pub fn describe(&self) -> String {
        format!("clone of {} {}", self.table.name(), self.name)
    }

    /// A clone of that row with all defaults, for the given number of requests.
    pub fn new(table: Table, name: &str, requests: u64) -> CloneSpec {
        CloneSpec {
            table,
            name: name.to_string(),
            shape: None,
            mean_gap_us: None,
            rates: None,
            gap_scale: None,
            read_ratio: None,
            size_scale: None,
            size_cv: None,
            size_bytes: None,
            burst_factor: None,
            burst_duty: None,
            burst_requests: None,
            sequential_probability: None,
            align_bytes: None,
            working_set_bytes: None,
            working_set_fraction: None,
            working_set_offset_bytes: None,
            lane_theta: None,
            zipf_theta: None,
            rewrite_ratio: None,
            rewrite_distance_requests: None,
            requests: Some(requests),
            duration_s: None,
            start_us: None,
            seed: None,
        }
    }

    /// The generator of this clone over `range`. `seed` is used unless the clone names its own.
    pub fn source(&self, range: &AddressRange, seed: u64) -> Result<SyntheticSource, WorkloadError> {
        SyntheticSource::new(&self.to_synthetic(range)?, range, seed)
    }

    /// The checked synthetic workload with the keys of this clone.
    pub fn to_synthetic(&self, range: &AddressRange) -> Result<SyntheticSpec, WorkloadError> {
        self.check_keys()?;
        let common = SyntheticSpec {
            read_ratio: self.read_ratio,
            align_bytes: self.align_bytes,
            sequential_probability: self.sequential_probability,
            working_set_bytes: self.working_set_bytes.or_else(|| self.default_working_set(range)),
            working_set_fraction: self.working_set_fraction,
            working_set_offset_bytes: self.working_set_offset_bytes,
            mean_gap_us: self.mean_gap_us.map(|gap| gap * self.gap_scale()),
            burst_factor: self.burst_factor,
            burst_duty: self.burst_duty,
            burst_requests: self.burst_requests,
            requests: self.requests,
            duration_s: self.duration_s,
            start_us: self.start_us,
            seed: self.seed,
            ..SyntheticSpec::default()
        };
        let spec = match self.table {
            Table::Slacker if self.is_in_whole_pages() => self.whole_pages(&SlackerTrace::named(&self.name)?, common),
            Table::Slacker => self.slacker(&SlackerTrace::named(&self.name)?, common),
            Table::Flin => Ok(self.flin(&FlinTrace::named(&self.name)?, common)),
            Table::Sos => self.sos(&SosBenchmark::named(&self.name)?, common, range),
        }?;
        spec.validate()?;
        Ok(spec)
    }

    fn slacker(&self, row: &SlackerTrace, common: SyntheticSpec) -> Result<SyntheticSpec, WorkloadError> {
        let mean_gap_us = Some(self.gap(common.mean_gap_us, row.mean_gap_us)?);
        let read_ratio = common.read_ratio.unwrap_or(1.0 - row.write_fraction);
        let size = self.lognormal(row.read_kb_mean, row.read_kb_sd);
        let write_size = self.lognormal(row.write_kb_mean, row.write_kb_sd);
        let spec = SyntheticSpec { mean_gap_us, read_ratio: Some(read_ratio), ..common };
        Ok(generator(size, write_size, spec))
    }

    fn is_in_whole_pages(&self) -> bool {
        self.shape == Some(Shape::WholePages)
    }

    /// Model 9.4.
    fn whole_pages(&self, row: &SlackerTrace, common: SyntheticSpec) -> Result<SyntheticSpec, WorkloadError> {
        let bursts = SlackerBursts::named(&row.name)?;
        let page = pages::PAGE_BYTES;
        let size = |mean_kb: f64, sd_kb: f64| {
            let pages_of = |kb: f64| kb * KB / page as f64 * self.size_scale.unwrap_or(1.0);
            let shares = pages::solve(pages_of(mean_kb), pages_of(sd_kb));
            Size::Mix(shares.into_iter().map(|(pages, share)| (u64::from(pages) * page, share)).collect())
        };
        Ok(SyntheticSpec {
            mean_gap_us: common.mean_gap_us.or(Some(bursts.mean_gap_us * self.gap_scale())),
            read_ratio: common.read_ratio.or(Some(1.0 - row.write_fraction)),
            size: size(row.read_kb_mean, row.read_kb_sd),
            write_size: Some(size(row.write_kb_mean, row.write_kb_sd)),
            access: Access::Uneven,
            lane_theta: self.lane_theta.or(Some(bursts.lane_theta)),
            large_starts: Some(LargeStarts { from_bytes: 3 * page, align_bytes: 8 * page, offset_bytes: 3 * page }),
            align_bytes: common.align_bytes.or(Some(page)),
            arrivals: Arrivals::Bursty,
            burst_factor: common.burst_factor.or(Some(10.0)),
            burst_duty: common.burst_duty.or(Some(0.1)),
            burst_requests: common.burst_requests.or(Some(bursts.burst_requests)),
            ..common
        })
    }

    fn flin(&self, row: &FlinTrace, common: SyntheticSpec) -> SyntheticSpec {
        let cv = self.size_cv.unwrap_or(0.8);
        let size = self.lognormal(row.read_kb, row.read_kb * cv);
        let write_size = self.lognormal(row.write_kb, row.write_kb * cv);
        let gap_us = |ms: f64| Some(ms * 1e3 * self.gap_scale());
        let spec = match self.rates.unwrap_or_default() {
            Rates::Total => SyntheticSpec {
                read_ratio: common.read_ratio.or(Some(row.read_fraction)),
                mean_gap_us: common.mean_gap_us.or(gap_us(row.mean_gap_ms())),
                ..common
            },
            Rates::PerDirection => {
                SyntheticSpec { read_gap_us: gap_us(row.read_gap_ms), write_gap_us: gap_us(row.write_gap_ms), ..common }
            }
        };
        generator(size, write_size, spec)
    }

    fn sos(
        &self,
        row: &SosBenchmark,
        common: SyntheticSpec,
        range: &AddressRange,
    ) -> Result<SyntheticSpec, WorkloadError> {
        let rewrite = Rewrite {
            ratio: self.rewrite_ratio.or(row.rewrite_ratio).unwrap_or(0.5),
            distance_requests: self.rewrite_distance_requests.or(row.rewrite_distance_requests).unwrap_or(64.0),
        };
        Ok(SyntheticSpec {
            mean_gap_us: Some(self.gap(common.mean_gap_us, row.mean_gap_us)?),
            read_ratio: common.read_ratio.or(Some(row.read_percent / 100.0)),
            size: Size::Constant(self.size_bytes.unwrap_or(range.page_bytes as u64)),
            access: Access::Zipf,
            zipf_theta: self.zipf_theta,
            rewrite: Some(rewrite),
            arrivals: Arrivals::Batch,
            burst_requests: common.burst_requests.or(row.burst_requests),
            ..common
        })
    }

    /// The given gap, else the stored calibration, else an error that says how to give a gap.
    fn gap(&self, given: Option<f64>, stored: Option<f64>) -> Result<f64, WorkloadError> {
        given.or(stored.map(|gap| gap * self.gap_scale())).ok_or_else(|| {
            let message = format!(
                "missing: table \"{}\" prints no arrival rate for {:?} and no calibrated value is stored; give a mean \
                 time between requests in microseconds, for example mean_gap_us = 1000",
                self.table.name(),
                self.name
            );
            WorkloadError { place: "mean_gap_us".to_string(), message }
        })
    }

    fn lognormal(&self, mean_kb: f64, sd_kb: f64) -> Size {
        let scale = KB * self.size_scale.unwrap_or(1.0);
        let (min_bytes, max_bytes) = (Lognormal::default_min(), Lognormal::default_max());
        Size::Lognormal(Lognormal { mean_bytes: mean_kb * scale, sd_bytes: sd_kb * scale, min_bytes, max_bytes })
    }

    fn gap_scale(&self) -> f64 {
        self.gap_scale.unwrap_or(1.0)
    }

    /// 16 GB if the range is that large; otherwise `None`, which means the whole range.
    fn default_working_set(&self, range: &AddressRange) -> Option<u64> {
        let align = self.align_bytes.unwrap_or(8192);
        let before = self.working_set_offset_bytes.unwrap_or(0).saturating_add(align);
        let fits = range.bytes.saturating_sub(before) >= WORKING_SET_BYTES;
        (fits && self.working_set_fraction.is_none()).then_some(WORKING_SET_BYTES)
    }

    /// Refuses keys that the table does not use, and factors that only clones have.
    fn check_keys(&self) -> Result<(), WorkloadError> {
        let (slacker, flin, sos) = (self.table == Table::Slacker, self.table == Table::Flin, self.table == Table::Sos);
        let keys = [
            ("shape", self.shape.is_some(), slacker),
            ("rates", self.rates.is_some(), flin),
            ("size_scale", self.size_scale.is_some(), slacker || flin),
            ("size_cv", self.size_cv.is_some(), flin),
            ("size_bytes", self.size_bytes.is_some(), sos),
            ("burst_factor", self.burst_factor.is_some(), slacker || flin),
            ("burst_duty", self.burst_duty.is_some(), slacker || flin),
            ("lane_theta", self.lane_theta.is_some(), slacker),
            ("zipf_theta", self.zipf_theta.is_some(), sos),
            ("rewrite_ratio", self.rewrite_ratio.is_some(), sos),
            ("rewrite_distance_requests", self.rewrite_distance_requests.is_some(), sos),
        ];
        if let Some((key, ..)) = keys.iter().find(|(_, given, used)| *given && !used) {
            let value = format_args!("the key, with table \"{}\",", self.table.name());
            return Err(refuse(key, value, "a key of this table; docs/scenario.md says which"));
        }
        if let Some(theta) = self.lane_theta
            && !self.is_in_whole_pages()
        {
            return Err(refuse("lane_theta", theta, "only with shape = \"whole-pages\""));
        }
        if self.rates == Some(Rates::PerDirection) {
            for (key, given) in [("mean_gap_us", self.mean_gap_us.is_some()), ("read_ratio", self.read_ratio.is_some())]
            {
                if given {
                    return Err(refuse(key, "the key with rates = \"per-direction\"", "only with rates = \"total\""));
                }
            }
        }
        let bounded = |key: &str, value: Option<f64>, min: f64, max: f64| match value {
            Some(value) if !(min..=max).contains(&value) => {
                Err(refuse(key, value, format_args!("a number from {min} to {max}")))
            }
            _ => Ok(()),
        };
        self.mean_gap_us.map_or(Ok(()), |gap| positive("mean_gap_us", gap, 1e15))?;
        bounded("gap_scale", self.gap_scale, 1e-6, 1e6)?;
        bounded("size_scale", self.size_scale, 1e-3, 1e3)?;
        bounded("size_cv", self.size_cv, 0.0, 100.0)
    }
}

/// The parameters that slacker's and flin's clones share (chapter 9), where the user gives no others.
fn generator(size: Size, write_size: Size, spec: SyntheticSpec) -> SyntheticSpec {
    SyntheticSpec {
        size,
        write_size: Some(write_size),
        arrivals: Arrivals::Bursty,
        burst_factor: spec.burst_factor.or(Some(8.0)),
        burst_duty: spec.burst_duty.or(Some(0.1)),
        align_bytes: spec.align_bytes.or(Some(8192)),
        sequential_probability: spec.sequential_probability.or(Some(0.2)),
        ..spec
    }
}
