//! Limits that a recommended scheduler must keep: on the tail of every flow, on write amplification, on fairness.

use flashlane_report::results::RunStats;

/// A limit on a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// None.
    None,
    /// Against the scenario's first scheduler, in percent of its figure: at most 5 % more is 5.
    Change(f64),
    /// A value.
    Value(f64),
}

/// Limits that a recommended scheduler must keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The 99th percentile of the response times of each flow's reads and writes, ns: at most.
    pub p99_ns: Limit,
    /// That of its flushes, ns: at most.
    pub flush_p99_ns: Limit,
    /// Write amplification: at most.
    pub write_amplification: Limit,
    /// Fairness F between the flows: at least.
    pub fairness: Limit,
}

impl Default for Limits {
    fn default() -> Limits {
        let more = Limit::Change(5.0);
        Limits { p99_ns: more, flush_p99_ns: more, write_amplification: more, fairness: Limit::None }
    }
}

/// A figure beside its limit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Check {
    /// What is limited.
    pub what: What,
    /// Its value.
    pub value: f64,
    /// The limit.
    pub bound: f64,
    /// By which factor it is worse than the limit; 1 where it keeps it.
    pub excess: f64,
}

/// What is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The 99th percentile of this flow.
    P99(String),
    /// That of its flushes.
    FlushP99(String),
    /// Write amplification.
    WriteAmplification,
    /// Fairness.
    Fairness,
}

impl Limit {
    /// The limit on a 99th percentile that a user writes.
    ///
    /// # Errors
    /// What is legal.
    pub fn of_p99(text: &str) -> Result<Limit, String> {
        let time = |text: &str| nanoseconds(text).filter(|&ns| ns > 0).map(|ns| ns as f64);
        limit(text, time).ok_or_else(|| "must be a time such as 2ms or 800us, a change such as +5%, or none".into())
    }

    /// The limit on write amplification that a user writes.
    ///
    /// # Errors
    /// What is legal.
    pub fn of_write_amplification(text: &str) -> Result<Limit, String> {
        let value = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 1.0);
        limit(text, value).ok_or_else(|| "must be a value from 1 on such as 1.5, a change such as +5%, or none".into())
    }

    /// The limit on fairness that a user writes.
    ///
    /// # Errors
    /// What is legal.
    pub fn of_fairness(text: &str) -> Result<Limit, String> {
        let value = |text: &str| text.parse().ok().filter(|value: &f64| (0.0..=1.0).contains(value));
        limit(text, value)
            .ok_or_else(|| "must be a value from 0 to 1 such as 0.6, a change such as -5%, or none".into())
    }

    /// The bound, where `first` is the figure of the first scheduler.
    fn bound(self, first: Option<f64>) -> Option<f64> {
        match self {
            Limit::None => None,
            Limit::Value(value) => Some(value),
            Limit::Change(percent) => first.map(|first| first * (1.0 + percent / 100.0)),
        }
    }
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

/// A time with its unit: `1.5ms`, `800us`.
pub fn nanoseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic())?);
    let unit = match unit {
        "ns" => 1.0,
        "us" | "\u{b5}s" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let ns = number.trim().parse::<f64>().ok()? * unit;
    (0.0..9.2e18).contains(&ns).then_some(ns.round() as u64)
}

impl Limits {
    /// Whether figures of alone runs are needed.
    pub(super) fn need_alone(&self) -> bool {
        self.fairness != Limit::None
    }

    /// Whether write amplification is limited and cannot be judged: it, or that of `first` which it is held against, rests on too few erases.
    pub(super) fn amplification_is_open(&self, own: &RunStats, first: &RunStats) -> bool {
        match self.write_amplification {
            Limit::None => false,
            Limit::Value(_) => own.rests_on_few_erases(),
            Limit::Change(_) => own.rests_on_few_erases() || first.rests_on_few_erases(),
        }
    }

    /// Every figure of `own` that is limited, beside its limit. `first` has the figures of the first scheduler on the same requests.
    pub(super) fn checks(&self, own: &RunStats, first: &RunStats) -> Vec<Check> {
        let mut checks = Vec::new();
        for (flow, of_first) in own.flows.iter().zip(&first.flows) {
            let bound = self.p99_ns.bound(of_first.all.map(|all| all.p99_ns));
            if let (Some(all), Some(bound)) = (flow.all, bound) {
                checks.push(at_most(What::P99(flow.name.clone()), all.p99_ns, bound));
            }
            let bound = self.flush_p99_ns.bound(of_first.flush.map(|flush| flush.p99_ns));
            if let (Some(flush), Some(bound)) = (flow.flush, bound) {
                checks.push(at_most(What::FlushP99(flow.name.clone()), flush.p99_ns, bound));
            }
        }
        let bound = self.write_amplification.bound(first.write_amplification);
        let bound = bound.filter(|_| !self.amplification_is_open(own, first));
        if let (Some(value), Some(bound)) = (own.write_amplification, bound) {
            checks.push(at_most(What::WriteAmplification, value, bound));
        }
        if let (Some(value), Some(bound)) = (own.fairness, self.fairness.bound(first.fairness)) {
            checks.push(Check { excess: excess(bound, value), ..at_most(What::Fairness, value, bound) });
        }
        checks
    }
}

fn at_most(what: What, value: f64, bound: f64) -> Check {
    Check { what, value, bound, excess: excess(value, bound) }
}

/// By which factor `value` exceeds `bound`; 1 if it does not.
fn excess(value: f64, bound: f64) -> f64 {
    // A bound of 0 is a first scheduler that took no time, as no other can beat: anything above is far off.
    if value <= bound { 1.0 } else { (value / bound.max(1e-9)).min(1e9) }
}

/// The product of all excesses: 1 if every limit is kept.
pub(super) fn penalty(checks: &[Check]) -> f64 {
    checks.iter().map(|check| check.excess).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_report::results::{FlowTimes, Response};

    fn figures(p99: [f64; 2], write_amplification: Option<f64>, fairness: Option<f64>) -> RunStats {
        let flow = |(name, p99_ns): (&str, f64)| FlowTimes {
            name: name.into(),
            all: Some(Response { mean_ns: 1.0, p99_ns }),
            ..FlowTimes::default()
        };
        let flows = ["a", "b"].into_iter().zip(p99).map(flow).collect();
        RunStats { flows, write_amplification, erases: 1_000, runs: 1, fairness }
    }

    /// A write amplification of one run that rests on 1 to 29 erases breaks no limit; of a change, that of the first neither.
    #[test]
    fn few_erases_break_no_limit() {
        let of = |value, erases, runs| RunStats { erases, runs, ..figures([1.0, 1.0], Some(value), None) };
        let breaks = |limit: Limit, own: &RunStats, first: &RunStats| {
            let limits = Limits { write_amplification: limit, ..Limits::default() };
            let checks = limits.checks(own, first);
            let is_judged = checks.iter().any(|check| check.what == What::WriteAmplification);
            assert_eq!(is_judged, limit != Limit::None && !limits.amplification_is_open(own, first));
            checks.iter().any(|check| check.excess > 1.0)
        };
        let (five, value) = (Limit::Change(5.0), Limit::Value(1.5));
        let (few, many) = (of(2.0, 29, 1), of(2.0, 30, 1));
        for (limit, own, first, wanted) in [
            (five, &many, &of(1.0, 0, 1), true),
            (five, &few, &of(1.0, 0, 1), false),
            (five, &of(2.0, 1, 1), &of(1.0, 0, 1), false),
            (five, &of(2.0, 0, 1), &of(1.0, 500, 1), true),
            (five, &many, &of(1.0, 3, 1), false),
            (five, &of(2.0, 12, 3), &of(1.0, 3, 3), true),
            (value, &many, &of(1.0, 3, 1), true),
            (value, &few, &of(1.0, 300, 1), false),
            (Limit::None, &few, &few, false),
        ] {
            assert_eq!(breaks(limit, own, first), wanted, "{limit:?} {own:?}");
        }
    }

    #[test]
    fn each_flow_has_its_own_limit() {
        let first = figures([100.0, 1000.0], Some(2.0), Some(0.5));
        let own = figures([110.0, 900.0], Some(2.2), Some(0.4));
        let broken = |limits: Limits| -> Vec<What> {
            let checks = limits.checks(&own, &first).into_iter();
            checks.filter(|check| check.excess > 1.0).map(|check| check.what).collect()
        };
        let none = Limits {
            p99_ns: Limit::None,
            flush_p99_ns: Limit::None,
            write_amplification: Limit::None,
            fairness: Limit::None,
        };
        assert_eq!(broken(Limits::default()), [What::P99("a".into()), What::WriteAmplification]);
        assert_eq!(broken(Limits { p99_ns: Limit::Change(10.0), ..none }), []);
        assert_eq!(broken(Limits { p99_ns: Limit::Change(-5.0), ..none }), [What::P99("a".into())]);
        assert_eq!(broken(Limits { p99_ns: Limit::Value(500.0), ..none }), [What::P99("b".into())]);
        assert_eq!(broken(Limits { write_amplification: Limit::Value(2.2), ..none }), []);
        assert_eq!(broken(Limits { fairness: Limit::Value(0.45), ..none }), [What::Fairness]);
        assert_eq!(broken(Limits { fairness: Limit::Change(-20.0), ..none }), []);
        assert_eq!(broken(Limits { fairness: Limit::Change(-10.0), ..none }), [What::Fairness]);
    }

    /// The limit of flushes is checked for each flow that has completed some, under this scheduler and, if it is a change, under the first.
    #[test]
    fn flushes_have_their_own_limit() {
        let with = |flushes: [Option<f64>; 2]| {
            let mut figures = figures([100.0, 100.0], None, None);
            for (flow, p99) in figures.flows.iter_mut().zip(flushes) {
                flow.flush = p99.map(|p99_ns| Response { mean_ns: 1.0, p99_ns });
            }
            figures
        };
        let broken = |limit: Limit, own: [Option<f64>; 2], first: [Option<f64>; 2]| -> Vec<What> {
            let limits = Limits { flush_p99_ns: limit, ..Limits::default() };
            let checks = limits.checks(&with(own), &with(first)).into_iter();
            checks.filter(|check| check.excess > 1.0).map(|check| check.what).collect()
        };
        let five = Limits::default().flush_p99_ns;
        let a = [What::FlushP99("a".into())];
        assert_eq!(broken(five, [Some(106.0), None], [Some(100.0), None]), a);
        assert_eq!(broken(five, [Some(105.0), Some(9.0)], [Some(100.0), Some(9.0)]), []);
        assert_eq!(broken(five, [Some(106.0), None], [None, Some(5.0)]), []);
        assert_eq!(broken(Limit::None, [Some(900.0), None], [Some(100.0), None]), []);
        assert_eq!(broken(Limit::Value(50.0), [Some(60.0), Some(40.0)], [None, None]), a);
    }

    #[test]
    fn a_penalty_grows_with_what_is_broken_and_is_1_where_all_is_kept() {
        let first = figures([100.0, 1000.0], None, None);
        let of = |p99: [f64; 2]| penalty(&Limits::default().checks(&figures(p99, Some(9.0), None), &first));
        assert_eq!(
            of([105.0, 1050.0]),
            1.0,
            "at the limit; without writes to flash there is no limit of write amplification"
        );
        assert!((of([210.0, 1000.0]) - 2.0).abs() < 1e-9);
        assert!((of([210.0, 2100.0]) - 4.0).abs() < 1e-9);
        assert_eq!(excess(3.0, 0.0), 1e9);
    }

    #[test]
    fn limits_are_values_changes_or_none() {
        assert_eq!([Limit::of_p99("2ms"), Limit::of_p99("1.5us")], [Ok(Limit::Value(2e6)), Ok(Limit::Value(1500.0))]);
        assert_eq!(
            [Limit::of_p99("+5%"), Limit::of_p99("-2.5%"), Limit::of_p99("none")].map(Result::unwrap),
            [Limit::Change(5.0), Limit::Change(-2.5), Limit::None]
        );
        assert_eq!(Limit::of_write_amplification("1.5"), Ok(Limit::Value(1.5)));
        assert_eq!(Limit::of_fairness("0.6"), Ok(Limit::Value(0.6)));
        for wrong in ["", "5%", "2", "0ms", "-2ms", "+-5%", "-100%", "+inf%", "nan", "NaN%", "+nan%", "much"] {
            assert!(Limit::of_p99(wrong).expect_err(wrong).contains("must be a time"), "{wrong}");
        }
        for wrong in ["0.9", "inf", "2ms", "5%"] {
            assert!(Limit::of_write_amplification(wrong).expect_err(wrong).contains("from 1 on"), "{wrong}");
        }
        for wrong in ["1.1", "-0.1", "2ms", "5%"] {
            assert!(Limit::of_fairness(wrong).expect_err(wrong).contains("from 0 to 1"), "{wrong}");
        }
    }
}
