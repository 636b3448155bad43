//! Successive halving: all candidates on a small part, the better third of them on more, the best on all of the choosing part.

use flashlane_report::results::{Failed, RunStats, Tried};
use flashlane_scenario::{Document, Scenario};
use flashlane_sim::RunError;

use super::candidates::{Candidate, Candidates, with, written};
use super::limits::{Limits, penalty};
use super::parts::{Cut, Parts, until};
use super::runs::Runs;

/// One of this many candidates goes on to the next round.
const KEPT_OF: usize = 3;
/// The fewest that go on.
const KEPT: usize = 6;

/// What came of choosing.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The number of the best candidate that keeps the limits, or of the one that comes nearest to it.
    pub best: usize,
    /// For each candidate, its mean response time over that of the first on all of the choosing part, if it came so far.
    pub ratios: Vec<Option<f64>>,
    /// How far each candidate came that ran, those that came farthest first, of these the best.
    pub tried: Vec<Tried>,
    /// Runs that could not be made.
    pub failed: Vec<Failed>,
}

/// A candidate's place in a round.
#[derive(Clone, Copy, Debug)]
struct Score {
    candidate: usize,
    ratio: f64,
    penalty: f64,
}

impl Score {
    /// What is compared: a candidate that breaks a limit counts as worse by the factor of its excess, and in the last round as behind all
    /// that keep the limits.
    fn key(&self, is_last: bool) -> (bool, f64) {
        (is_last && self.penalty > 1.0, self.ratio * self.penalty)
    }
}

/// Chooses among `candidates` on the rounds of `parts`.
///
/// # Errors
/// A run that fails for another reason than what it asks for, or that of the first candidate, with which all are compared.
pub(super) fn choose(
    scenario: &Scenario,
    candidates: &Candidates,
    parts: &Parts,
    limits: &Limits,
    runs: &mut Runs<'_>,
) -> Result<Chosen, RunError> {
    let mut left: Vec<usize> = (0..candidates.all.len()).collect();
    let mut failed = Vec::new();
    let mut ratios = vec![None; candidates.all.len()];
    let mut came: Vec<Option<(usize, Score)>> = vec![None; candidates.all.len()];
    let mut best = 0;
    for (round, cut) in parts.rounds.iter().enumerate() {
        let is_last = round + 1 == parts.rounds.len();
        let scenarios: Vec<Scenario> =
            left.iter().map(|&i| choosing(scenario, &candidates.all[i], *cut, limits)).collect();
        let mut figures = Vec::new();
        for (&candidate, run) in left.iter().zip(runs.make(&scenarios)?) {
            match run {
                Ok(summary) => figures.push((candidate, RunStats::of(&summary))),
                Err(reason) if candidate == 0 => return Err(RunError::Input(reason)),
                Err(reason) => failed.push(Failed { scheduler: candidates.all[candidate].name(), reason }),
            }
        }
        let first = figures.first().expect("the first ran").1.clone();
        let score = |(candidate, own): &(usize, RunStats)| Score {
            candidate: *candidate,
            ratio: own.ratio(&first),
            penalty: penalty(&limits.checks(own, &first)),
        };
        let scores = ranked(figures.iter().map(score).collect(), is_last);
        best = scores[0].candidate;
        scores.iter().for_each(|score| came[score.candidate] = Some((round, *score)));
        if is_last {
            scores.iter().for_each(|score| ratios[score.candidate] = Some(score.ratio));
        }
        left = going_on(&scores, candidates.default);
    }
    Ok(Chosen { best, ratios, tried: tried(candidates, came, parts.rounds.len()), failed })
}

/// How far each candidate came.
fn tried(candidates: &Candidates, came: Vec<Option<(usize, Score)>>, rounds: usize) -> Vec<Tried> {
    let mut came: Vec<(usize, Score)> = came.into_iter().flatten().collect();
    came.sort_by(|(a_round, a), (b_round, b)| {
        let order = b_round.cmp(a_round).then(a.ratio.total_cmp(&b.ratio));
        order.then(a.candidate.cmp(&b.candidate))
    });
    let one = |(round, score): (usize, Score)| Tried {
        name: candidates.all[score.candidate].name(),
        written: written(&candidates.all[score.candidate].choice),
        round: round as u64 + 1,
        rounds: rounds as u64,
        ratio: score.ratio,
        keeps: score.penalty <= 1.0,
    };
    came.into_iter().map(one).collect()
}

/// The run of a candidate up to `cut`.
fn choosing(scenario: &Scenario, candidate: &Candidate, cut: Cut, limits: &Limits) -> Scenario {
    let mut part = until(&with(scenario, &candidate.choice), cut);
    if !limits.need_alone() {
        part.set("run.alone", "recommend", |document: &mut Document| document.run.alone = Some(false));
    }
    part
}

/// The best first; of equals the one that stands first in the list, where the simpler ones are.
fn ranked(mut scores: Vec<Score>, is_last: bool) -> Vec<Score> {
    scores.sort_by(|a, b| {
        let ((a_breaks, a_value), (b_breaks, b_value)) = (a.key(is_last), b.key(is_last));
        a_breaks.cmp(&b_breaks).then(a_value.total_cmp(&b_value)).then(a.candidate.cmp(&b.candidate))
    });
    scores
}

/// Those that are in the next round, in the order of the list: the best third, the first scheduler and the default.
fn going_on(scores: &[Score], default: usize) -> Vec<usize> {
    let count = (scores.len() / KEPT_OF).max(KEPT);
    let place = |candidate: usize| scores.iter().position(|score| score.candidate == candidate);
    let always = [0, default].into_iter().filter(|&candidate| place(candidate).is_some());
    let mut left: Vec<usize> = scores.iter().take(count).map(|score| score.candidate).chain(always).collect();
    left.sort_unstable();
    left.dedup();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(of: &[(f64, f64)]) -> Vec<Score> {
        let score = |(candidate, &(ratio, penalty)): (usize, &(f64, f64))| Score { candidate, ratio, penalty };
        of.iter().enumerate().map(score).collect()
    }

    fn order(of: &[(f64, f64)], is_last: bool) -> Vec<usize> {
        ranked(scores(of), is_last).iter().map(|score| score.candidate).collect()
    }

    #[test]
    fn the_last_round_puts_what_keeps_the_limits_first() {
        let of = [(1.0, 1.0), (0.5, 1.1), (0.8, 1.0), (0.8, 1.0), (0.4, 3.0)];
        assert_eq!(
            order(&of, false),
            [1, 2, 3, 0, 4],
            "a limit that is nearly kept on a small part may be kept on all"
        );
        assert_eq!(order(&of, true), [2, 3, 0, 1, 4]);
    }

    #[test]
    fn the_first_and_the_default_always_go_on() {
        let of: Vec<(f64, f64)> = (0..30).map(|i| (2.0 - 0.05 * f64::from(i), 1.0)).collect();
        let left = going_on(&ranked(scores(&of), false), 1);
        assert_eq!(left, [0, 1, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
        assert_eq!(going_on(&ranked(scores(&of[..4]), false), 1), [0, 1, 2, 3]);
        assert_eq!(going_on(&ranked(scores(&of[..2]), false), 25), [0, 1], "a default that could not run");
    }
}
