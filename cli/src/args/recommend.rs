//! Arguments of `flashlane recommend`.

use std::path::PathBuf;

use clap::Args;
use flashlane_sweep::Limit;

use super::run::Workload;
use crate::duration::nanoseconds;

/// What to recommend a scheduler for, and what it has to keep.
#[derive(Args, Debug)]
pub struct RecommendArgs {
    /// What to run
    #[command(flatten)]
    pub workload: Workload,

    /// Most that the 99th percentile of any flow's response times may be: a time (2ms), a change (+5%), or none
    #[arg(long, value_name = "LIMIT", value_parser = p99, default_value = "+5%", allow_hyphen_values = true)]
    pub p99: Limit,

    /// Most that write amplification may be: a value (1.5), a change (+5%), or none
    #[arg(long, value_name = "LIMIT", value_parser = write_amplification, default_value = "+5%", allow_hyphen_values = true)]
    pub write_amplification: Limit,

    /// Least that fairness may be: a value (0.6), a change (-5%), or none
    #[arg(long, value_name = "LIMIT", value_parser = fairness, default_value = "none", allow_hyphen_values = true)]
    pub fairness: Limit,

    /// Keeps the runs in this store, as sweeps do: what is there is never made again
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Writes a page: what to take, who gains and who pays, and all that was tried
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Overwrites the --report file even if flashlane did not write it
    #[arg(long, requires = "report")]
    pub force: bool,

    /// Prints JSON
    #[arg(long)]
    pub json: bool,

    /// Checks every rule of the device during the runs; slower
    #[arg(long)]
    pub audit: bool,

    /// Number of runs at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// The limit of `--p99`.
fn p99(text: &str) -> Result<Limit, String> {
    let time = |text: &str| nanoseconds(text).filter(|&ns| ns > 0).map(|ns| ns as f64);
    limit(text, time).ok_or_else(|| "must be a time such as 2ms or 800us, a change such as +5%, or none".into())
}

/// The limit of `--write-amplification`.
fn write_amplification(text: &str) -> Result<Limit, String> {
    let value = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 1.0);
    limit(text, value).ok_or_else(|| "must be a value from 1 on such as 1.5, a change such as +5%, or none".into())
}

/// The limit of `--fairness`.
fn fairness(text: &str) -> Result<Limit, String> {
    let value = |text: &str| text.parse().ok().filter(|value: &f64| (0.0..=1.0).contains(value));
    limit(text, value).ok_or_else(|| "must be a value from 0 to 1 such as 0.6, a change such as -5%, or none".into())
}

/// A limit: none, a change in percent with its sign, or what `value` reads.
fn limit(text: &str, value: impl Fn(&str) -> Option<f64>) -> Option<Limit> {
    if text == "none" {
        return Some(Limit::None);
    }
    match text.strip_suffix('%') {
        Some(percent) if percent.starts_with(['+', '-']) => {
            let percent: f64 = percent.trim_end().parse().ok()?;
            (percent.is_finite() && percent > -100.0).then_some(Limit::Change(percent))
        }
        Some(_) => None,
        None => value(text).map(Limit::Value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_values_changes_or_none() {
        assert_eq!([p99("2ms"), p99("1.5us")], [Ok(Limit::Value(2e6)), Ok(Limit::Value(1500.0))]);
        assert_eq!(
            [p99("+5%"), p99("-2.5%"), p99("none")].map(Result::unwrap),
            [Limit::Change(5.0), Limit::Change(-2.5), Limit::None]
        );
        assert_eq!(write_amplification("1.5"), Ok(Limit::Value(1.5)));
        assert_eq!(fairness("0.6"), Ok(Limit::Value(0.6)));
        for wrong in ["", "5%", "2", "0ms", "-2ms", "+-5%", "-100%", "+inf%", "nan", "NaN%", "+nan%", "much"] {
            assert!(p99(wrong).expect_err(wrong).contains("must be a time"), "{wrong}");
        }
        for wrong in ["0.9", "inf", "2ms", "5%"] {
            assert!(write_amplification(wrong).expect_err(wrong).contains("from 1 on"), "{wrong}");
        }
        for wrong in ["1.1", "-0.1", "2ms", "5%"] {
            assert!(fairness(wrong).expect_err(wrong).contains("from 0 to 1"), "{wrong}");
        }
    }
}
