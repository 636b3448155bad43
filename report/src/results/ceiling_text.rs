//! Ceilings as text, for the terminal and the report.

use super::ceiling::{Ceiling, CeilingBound};
use super::format::time;
use super::summary::SchedulerResult;
use flashlane_outputs::shown::escaped;

/// The bounds in a line: what the gaps are gaps to.
pub(super) fn title(ceiling: &Ceiling) -> String {
    let bounds =
        [(ceiling.static_placement, "with every page at its home"), (ceiling.free_placement, "with free placement")];
    let mean = |(bound, how): (Option<CeilingBound>, &str)| Some(format!("{} {how}", time(bound?.mean_ns as f64)));
    let bounds: Vec<String> = bounds.into_iter().filter_map(mean).collect();
    match &ceiling.none {
        Some(reason) => format!("No ceiling: {}", escaped(reason)),
        None => format!("Ceiling: no scheduler's mean can be below {}", bounds.join(", or below ")),
    }
}

/// How far each scheduler is from the bounds, in words: its label and the words.
pub(super) fn gaps(runs: &[SchedulerResult]) -> Vec<(String, String)> {
    runs.iter().filter_map(|run| Some((run.label(), run.ceiling?.words()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ceiling::above;
    use crate::results::example::example;

    fn bound(mean_ns: u64, worst_ns: u64) -> Option<CeilingBound> {
        Some(CeilingBound { mean_ns, worst_ns })
    }

    /// The example's schedulers against bounds of a half and a third of the first one's mean; the second places pages anywhere.
    #[test]
    fn gaps_are_in_words_and_by_placement() {
        let mut summary = example();
        let mean = summary.schedulers[0].total.all.as_ref().expect("figures").mean_ns;
        let (half, third) = ((mean / 2.0) as u64, (mean / 3.0) as u64);
        let (static_placement, free_placement) = (bound(half, 1), bound(third, 1));
        summary.compare_with_ceiling(Ceiling {
            static_placement,
            free_placement,
            none: None,
            at_home: vec![true, false],
        });
        let gaps = gaps(&summary.schedulers);
        assert_eq!(
            gaps[0].1,
            "2.0 times what any scheduler could reach with this placement, 3.0 times what one could with free placement"
        );
        assert!(gaps[1].1.ends_with("what any scheduler could reach with free placement"), "{}", gaps[1].1);
        assert_eq!(summary.schedulers[1].ceiling.expect("a gap").mean_static, None);
        assert_eq!(
            [1.0, 1.004, 1.234, 1.99, 2.86].map(above),
            ["within 1 % of", "within 1 % of", "23 % above", "99 % above", "2.9 times"]
        );
    }

    #[test]
    fn a_scenario_without_a_bound_says_why() {
        let mut summary = example();
        summary.compare_with_ceiling(Ceiling { none: Some("a closed loop".into()), ..Ceiling::default() });
        assert_eq!(title(summary.ceiling.as_ref().expect("there")), "No ceiling: a closed loop");
        assert!(gaps(&summary.schedulers).is_empty());
    }
}
