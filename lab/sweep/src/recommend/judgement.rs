//! Judges the first scheduler, the default and the best found on what was held out, and says which to take.

use flashlane_report::results::format::time;
use flashlane_report::results::verdict::ENOUGH_ERASES;
use flashlane_report::results::{Ceiling, CeilingGap, Judged, Role, RunStats, Summary};
use flashlane_scenario::{Document, Scenario, SchedulerChoice};
use flashlane_sim::{RunError, ceiling, prepare};

use super::candidates::{Candidates, with, written};
use super::halving::Chosen;
use super::limits::{Limits, What};
use super::parts::{Held, held_out};
use super::runs::Runs;

/// Something less simple is taken if it is faster by this factor.
const WORTH_IT: f64 = 0.99;

/// What came of judging.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Those judged, the simplest first.
    pub judged: Vec<Judged>,
    /// The candidates they are.
    pub candidates: Vec<usize>,
    /// Which of them to take, if one keeps the limits.
    pub take: Option<usize>,
    /// Why there is no ceiling.
    pub ceiling_none: Option<String>,
}

/// Judges `chosen` and those it has to beat. `None` if nothing was counted in what was held out.
///
/// # Errors
/// A run that cannot be made.
pub(super) fn judge(
    scenario: &Scenario,
    candidates: &Candidates,
    chosen: &Chosen,
    held: &[Held],
    limits: &Limits,
    runs: &mut Runs<'_>,
) -> Result<Option<Verdict>, RunError> {
    let mut numbers = vec![0];
    for number in [candidates.default, chosen.best] {
        if !numbers.contains(&number) && chosen.ratios[number].is_some() {
            numbers.push(number);
        }
    }
    let of = |number: &usize, held: &Held| held_out(&with(scenario, &candidates.all[*number].choice), *held);
    let scenarios: Vec<Scenario> =
        numbers.iter().flat_map(|number| held.iter().map(move |held| of(number, held))).collect();
    let made = runs.make(&scenarios)?.into_iter().collect::<Result<Vec<Summary>, String>>().map_err(RunError::Input)?;
    let means: Vec<RunStats> = made
        .chunks(held.len())
        .map(|runs| RunStats::mean(&runs.iter().map(RunStats::of).collect::<Vec<_>>()))
        .collect();
    if means.iter().any(|figures| figures.flows.iter().all(|flow| flow.all.is_none())) {
        return Ok(None);
    }
    let choices: Vec<&SchedulerChoice> = numbers.iter().map(|number| &candidates.all[*number].choice).collect();
    let of_first_held: Vec<&Summary> = made.chunks(held.len()).map(|runs| &runs[0]).collect();
    let (gaps, ceiling_none) = gaps(&held_out(scenario, held[0]), &choices, &of_first_held)?;
    let judged: Vec<Judged> = numbers
        .iter()
        .enumerate()
        .map(|(i, &number)| Judged {
            name: candidates.all[number].name(),
            written: written(&candidates.all[number].choice),
            role: role(number, candidates.default),
            is_best: number == chosen.best,
            chosen_ratio: chosen.ratios[number].unwrap_or(1.0),
            ratio: means[i].ratio(&means[0]),
            broken: broken(limits, &means[i], &means[0]),
            not_judged: not_judged(limits, &means[i], &means[0], &candidates.all[0].name()),
            figures: means[i].clone(),
            ceiling: gaps[i],
        })
        .collect();
    let take = taken(&judged);
    Ok(Some(Verdict { judged, candidates: numbers, take, ceiling_none }))
}

fn role(number: usize, default: usize) -> Role {
    match number {
        0 => Role::First,
        number if number == default => Role::Default,
        _ => Role::Best,
    }
}

/// The simplest that keeps the limits, unless one less simple keeps them too and is faster by more than [`WORTH_IT`].
fn taken(judged: &[Judged]) -> Option<usize> {
    let mut take: Option<usize> = None;
    for (i, own) in judged.iter().enumerate().filter(|(_, own)| own.broken.is_empty()) {
        if take.is_none_or(|other| own.ratio < WORTH_IT * judged[other].ratio) {
            take = Some(i);
        }
    }
    take
}

/// The limits that `own` breaks, in words.
fn broken(limits: &Limits, own: &RunStats, first: &RunStats) -> Vec<String> {
    let checks = limits.checks(own, first).into_iter().filter(|check| check.excess > 1.0);
    let words = checks.map(|check| {
        let (what, value, bound) = (&check.what, check.value, check.bound);
        match what {
            What::P99(flow) => format!("p99 of {flow} is {} where {} is the most", time(value), time(bound)),
            What::FlushP99(flow) => {
                format!("p99 of the flushes of {flow} is {} where {} is the most", time(value), time(bound))
            }
            What::WriteAmplification => format!("write amplification is {value:.3} where {bound:.3} is the most"),
            What::Fairness => format!("fairness is {value:.3} where {bound:.3} is the least"),
        }
    });
    words.collect()
}

/// The limits that `own` is not held to, with the reason; `name` is that of the first.
fn not_judged(limits: &Limits, own: &RunStats, first: &RunStats, name: &str) -> Vec<String> {
    let (Some(value), true) = (own.write_amplification, limits.amplification_is_open(own, first)) else {
        return Vec::new();
    };
    let of_first = match first.write_amplification {
        Some(of_first) if first.rests_on_few_erases() && own != first => {
            format!(", {of_first:.3} of {name} on {}", first.erases)
        }
        _ => String::new(),
    };
    vec![format!(
        "write amplification: {value:.3} rests on {} erases of one run{of_first}; fewer than {ENOUGH_ERASES} do not tell it",
        own.erases
    )]
}

/// How far each is from what no scheduler can beat on `held`; or why there is no such bound.
fn gaps(
    held: &Scenario,
    choices: &[&SchedulerChoice],
    made: &[&Summary],
) -> Result<(Vec<Option<CeilingGap>>, Option<String>), RunError> {
    let mut all = held.clone();
    let list: Vec<SchedulerChoice> = choices.iter().map(|choice| (*choice).clone()).collect();
    all.set("schedulers", "recommend", |document: &mut Document| {
        document.scheduler = None;
        document.schedulers = Some(list);
        document.run.baseline = None;
    });
    let found = ceiling(&prepare(&all)?)?;
    if let Some(none) = found.none {
        return Ok((vec![None; made.len()], Some(none)));
    }
    let gap = |(i, summary): (usize, &&Summary)| {
        let of_one = |all: &[bool]| all.get(i).copied().into_iter().collect();
        let (at_home, keeps_writes) = (of_one(&found.at_home), of_one(&found.keeps_writes));
        let own = Ceiling { at_home, keeps_writes, ..found.clone() };
        let mut summary = (*summary).clone();
        summary.compare_with_ceiling(own);
        summary.schedulers[0].ceiling
    };
    Ok((made.iter().enumerate().map(gap).collect(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(of: &[(f64, bool)]) -> Vec<Judged> {
        let one = |&(ratio, keeps): &(f64, bool)| Judged {
            name: "x".into(),
            written: "x".into(),
            role: Role::Best,
            is_best: false,
            chosen_ratio: ratio,
            ratio,
            figures: RunStats::default(),
            broken: if keeps { Vec::new() } else { vec!["p99".into()] },
            not_judged: Vec::new(),
            ceiling: None,
        };
        of.iter().map(one).collect()
    }

    #[test]
    fn a_less_simple_scheduler_is_taken_only_if_it_is_faster_by_the_factor() {
        assert_eq!(taken(&judged(&[(1.0, true), (0.5, true), (0.4, true)])), Some(2));
        assert_eq!(taken(&judged(&[(1.0, true), (0.5, true), (0.499, true)])), Some(1), "less than 1 % faster");
        assert_eq!(taken(&judged(&[(1.0, true), (0.995, true), (0.9, false)])), Some(0));
        assert_eq!(taken(&judged(&[(1.0, false), (1.2, true)])), Some(1), "the first breaks a limit itself");
        assert_eq!(taken(&judged(&[(1.0, false), (0.5, false)])), None);
    }
}
