//! An attribution as the steps of a waterfall: bars on one scale, each beginning where the one before it ended.

use serde::Serialize;

use super::attribution::Attribution;
use super::attribution_text::{by, no_shares, other_way};
use super::format::{or_dash, signed, time};

/// The waterfalls of an attribution.
#[derive(Serialize)]
pub(super) struct Waterfalls<'a> {
    from: &'a str,
    to: &'a str,
    seeds: u64,
    measures: Vec<Waterfall<'a>>,
}

#[derive(Serialize)]
struct Waterfall<'a> {
    name: &'a str,
    /// How much faster the end is, or why that is not said.
    by: String,
    steps: Vec<Step>,
}

/// A bar: its text, and its place in percent of the scale.
#[derive(Serialize)]
struct Step {
    name: String,
    value: String,
    interval: String,
    /// In how many seeds it goes the other way.
    other_way: String,
    /// `end`, `faster` or `slower`.
    kind: &'static str,
    start: String,
    width: String,
}

impl<'a> Waterfalls<'a> {
    pub(super) fn of(attribution: &'a Attribution) -> Waterfalls<'a> {
        let Attribution { from, to, seeds, measures, differences, .. } = attribution;
        let waterfall = |measure: &'a super::attribution::Measure| {
            // Levels between the steps; the largest fills the scale.
            let mut levels = vec![measure.from_ns];
            for part in &measure.parts {
                levels.push(levels[levels.len() - 1] + part.contribution_ns);
            }
            let largest = levels.iter().copied().fold(measure.to_ns, f64::max).max(1.0);
            let least = levels.iter().copied().fold(0.0, f64::min);
            let percent = |ns: f64| format!("{:.2}", 100.0 * ns / (largest - least));
            let bar = |a: f64, b: f64| (percent(a.min(b) - least), percent((a - b).abs()));
            let end = |name: &str, ns: f64| {
                let (start, width) = bar(0.0, ns);
                let (interval, other_way) = (String::new(), String::new());
                Step { name: name.into(), value: time(ns), interval, other_way, kind: "end", start, width }
            };
            let mut steps = vec![end(from, measure.from_ns)];
            for ((difference, part), level) in differences.iter().zip(&measure.parts).zip(&levels) {
                let (start, width) = bar(*level, level + part.contribution_ns);
                steps.push(Step {
                    name: format!("{}: {} → {}", difference.what, difference.from, difference.to),
                    value: signed(part.contribution_ns),
                    interval: or_dash(part.ci95_ns, time),
                    other_way: other_way(part.other_way, *seeds),
                    kind: if part.contribution_ns <= 0.0 { "faster" } else { "slower" },
                    start,
                    width,
                });
            }
            steps.push(end(to, measure.to_ns));
            Waterfall { name: &measure.name, by: no_shares(measure, *seeds).unwrap_or_else(|| by(measure)), steps }
        };
        Waterfalls { from, to, seeds: *seeds, measures: measures.iter().map(waterfall).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Difference, Measure};

    #[test]
    fn bars_begin_where_the_one_before_ended() {
        // Two changes that add up: 100 -> 60 -> 50 ns.
        let measure = Measure::of("all requests", 2, &[vec![100.0, 60.0, 90.0, 50.0]]);
        let difference = |what: &str| Difference { what: what.into(), from: "a".into(), to: "b".into() };
        let attribution = Attribution {
            from: "one".into(),
            to: "other".into(),
            differences: vec![difference("pick"), difference("preempt")],
            mixes: 4,
            seeds: 1,
            measures: vec![measure],
        };
        let falls = Waterfalls::of(&attribution);
        let places: Vec<(&str, &str, &str)> =
            falls.measures[0].steps.iter().map(|step| (step.kind, step.start.as_str(), step.width.as_str())).collect();
        let expected = [
            ("end", "0.00", "100.00"),
            ("faster", "60.00", "40.00"),
            ("faster", "50.00", "10.00"),
            ("end", "0.00", "50.00"),
        ];
        assert_eq!(places, expected);
        assert_eq!(falls.measures[0].steps[1].value, "-40 ns");
        assert_eq!(falls.measures[0].by, "2.0x faster");
    }
}
