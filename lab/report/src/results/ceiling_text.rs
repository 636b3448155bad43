//! Ceilings as text, for the terminal and the report.

use super::ceiling::{Ceiling, CeilingBound, CeilingGap};
use super::format::{or_dash, time};
use super::listed::{Listed, listed};
use super::summary::SchedulerResult;
use flashlane_outputs::shown::escaped;

/// The bounds in a line: what the gaps are gaps to.
pub(super) fn title(ceiling: &Ceiling) -> String {
    if let Some(reason) = &ceiling.none {
        return format!("No ceiling: {}", escaped(reason));
    }
    let title = format!("Ceiling: no scheduler's mean can be below {}", bounds(ceiling, false));
    let drops_matter =
        (ceiling.static_every_write, ceiling.free_every_write) != (ceiling.static_placement, ceiling.free_placement);
    if drops_matter { format!("{title}; of one that never drops a write, {}", bounds(ceiling, true)) } else { title }
}

/// The bounds on the mean by placement, of all schedulers or of those that never drop a write.
fn bounds(ceiling: &Ceiling, every_write: bool) -> String {
    let bounds = match every_write {
        true => [ceiling.static_every_write, ceiling.free_every_write],
        false => [ceiling.static_placement, ceiling.free_placement],
    };
    let mean = |(bound, how): (Option<CeilingBound>, &str)| Some(format!("{} {how}", time(bound?.mean_ns as f64)));
    let bounds: Vec<String> =
        bounds.into_iter().zip(["with every page at its home", "with free placement"]).filter_map(mean).collect();
    bounds.join(", or below ")
}

/// Figures of the schedulers over the bounds on them.
pub(super) fn figures(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, CeilingGap)> {
    let shown = |gap: Option<f64>| or_dash(gap, |gap| format!("{gap:.3}"));
    listed(runs.iter().filter_map(|run| Some((run, run.ceiling?))))
        .column("scheduler", |(run, _)| run.label())
        .column("mean / static", move |(_, gap)| shown(gap.mean_static))
        .column("mean / free", move |(_, gap)| shown(gap.mean_free))
        .column("p99 / static (loose)", move |(_, gap)| shown(gap.p99_static))
        .column("p99 / free (loose)", move |(_, gap)| shown(gap.p99_free))
        .column("p99.9 / static (loose)", move |(_, gap)| shown(gap.p99_9_static))
        .column("p99.9 / free (loose)", move |(_, gap)| shown(gap.p99_9_free))
        .column("max / static", move |(_, gap)| shown(gap.worst_static))
        .column("max / free", move |(_, gap)| shown(gap.worst_free))
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
        Some(CeilingBound { mean_ns, p99_ns: 1, p99_9_ns: 1, worst_ns })
    }

    /// The example's schedulers against bounds of a half and a third of the first one's mean where no write is dropped; the second places
    /// pages anywhere and may drop writes.
    #[test]
    fn gaps_are_in_words_and_by_class() {
        let mut summary = example();
        let mean = summary.schedulers[0].total.all.as_ref().expect("figures").mean_ns;
        let (half, third) = ((mean / 2.0) as u64, (mean / 3.0) as u64);
        let quarter = (mean / 4.0) as u64;
        let (static_placement, free_placement) = (bound(third, 1), bound(quarter, 1));
        summary.compare_with_ceiling(Ceiling {
            static_placement,
            free_placement,
            static_every_write: bound(half, 1),
            free_every_write: bound(third, 1),
            at_home: vec![true, false],
            keeps_writes: vec![true, false],
            ..Ceiling::default()
        });
        let gaps = gaps(&summary.schedulers);
        assert_eq!(
            gaps[0].1,
            "2.0 times what any scheduler could reach with this placement, 3.0 times what one could with free placement, no \
             write dropped"
        );
        assert!(gaps[1].1.ends_with("what any scheduler could reach with free placement"), "{}", gaps[1].1);
        let second = &summary.schedulers[1];
        let gap = second.ceiling.expect("a gap");
        assert_eq!((gap.mean_static, gap.every_write), (None, false));
        let own = second.total.all.as_ref().expect("figures").mean_ns;
        assert_eq!(gap.own(), Some(own / quarter as f64));
        assert!(title(summary.ceiling.as_ref().expect("there")).contains("; of one that never drops a write, "));
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
