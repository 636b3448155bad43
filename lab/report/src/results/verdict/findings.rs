//! What a comparison or a run shows: who wins, who pays, and by how much, the largest first.

use super::cases::{self, Case, Role, about};
use super::effects::{self, Effect};
use super::finding::{Change, Compared, Figure, Finding, FindingKind, SeedOpinion, SeedWord};
use super::host;
use super::order::{self, LARGE};
use super::uneven;
use super::words;
use crate::results::attribution::Difference;
use crate::results::deciding::{self, Deciding};
use crate::results::over_seeds::{LEAST_SEEDS, seeds_change_nothing};
use crate::results::replications::{RequestKind, SeedMeasure, SeedsBecause};
use crate::results::summary::Summary;

/// Gains and losses of schedulers that do not win are on the first screen from this factor on, where there is room.
const WORTH: f64 = 1.1;
/// A slowdown from which on it is worth a sentence.
const SLOWED: f64 = 1.1;
/// How many more of the requests are slower than faster, or the reverse, to be told: this share.
const MAJORITY: f64 = 0.05;

/// A comparison as it is judged.
struct Judged<'a> {
    summary: &'a Summary,
    cases: &'a [Case],
    /// The scheduler the others are compared with.
    baseline: usize,
    /// The scheduler that wins.
    winner: usize,
    effects: Vec<Effect>,
    /// By what each case is judged: a closed loop by the requests per second it gets, if they differ under any scheduler; everybody else by the mean.
    judged_by: Vec<Compared>,
}

/// The findings of a summary, in the order in which they are printed.
pub(super) fn of(summary: &Summary, cases: &[Case]) -> Vec<Finding> {
    let mut found = if cases.is_empty() {
        vec![nothing(summary)]
    } else if summary.schedulers.len() < 2 {
        of_run(summary, cases)
    } else {
        Judged::of(summary, cases).findings()
    };
    let nothing_changes = seeds_change_nothing(summary);
    for finding in &mut found {
        let opinions = finding.changes.iter_mut().filter_map(|change| change.seeds.as_mut());
        opinions.filter(|_| nothing_changes).for_each(|seeds| seeds.says = SeedWord::NothingChanges);
        finding.decided = finding.changes.first().and_then(decided);
        finding.text = words::sentence(finding);
    }
    found
}

/// Whether at least five seeds decide a change; `None` with fewer.
fn decided(change: &Change) -> Option<bool> {
    let seeds = change.seeds.as_ref().filter(|seeds| seeds.seeds >= LEAST_SEEDS)?;
    Some(seeds.says == SeedWord::Decided)
}

/// No request is in the figures.
fn nothing(summary: &Summary) -> Finding {
    let completed = summary.schedulers.iter().enumerate().max_by_key(|(_, run)| run.total.completed);
    let Some((run, most)) = completed.filter(|(_, run)| run.total.completed > 0) else {
        return Finding::new(FindingKind::NothingCompleted);
    };
    let path = format!("/schedulers/{run}/total/completed");
    let figures = vec![Figure { path, value: most.total.completed as f64 }];
    Finding { figures, ..Finding::new(FindingKind::NothingCounted) }
}

/// A run by itself: each tenant's times.
fn of_run(summary: &Summary, cases: &[Case]) -> Vec<Finding> {
    let tenants = cases.iter().filter(|case| case.is_tenant());
    let mut found: Vec<Finding> = tenants.filter_map(|case| of_one(summary, case)).collect();
    found.extend(host::of(summary, cases, 0));
    if seeds_change_nothing(summary) {
        found.push(seeds_finding(summary));
    }
    order::choose(&mut found, &summary.baseline);
    found
}

/// How many seeds there are.
fn seeds_finding(summary: &Summary) -> Finding {
    let count = summary.replications.as_ref().map_or(1, |made| made.seeds.len());
    let figures = vec![Figure { path: "/replications/seeds".into(), value: count as f64 }];
    Finding { figures, ..Finding::new(FindingKind::Seeds) }
}

/// A run by itself: the times of one tenant.
fn of_one(summary: &Summary, case: &Case) -> Option<Finding> {
    let (figures, path) = case.figures(summary, 0)?;
    let (mean, of_mean) = case.mean(summary, 0)?;
    let run = &summary.schedulers[0];
    let mut finding = about(FindingKind::Run, summary, case, 0);
    finding.figures = of_mean.into_iter().map(|path| Figure { path, value: mean }).collect();
    finding.figures.push(Figure { path: format!("{path}/p99_ns"), value: figures.p99_ns as f64 });
    finding.figures.push(Figure { path: format!("{path}/requests"), value: figures.requests as f64 });
    if let Some((flow, slowdown)) = case.flow.and_then(|flow| Some((flow, run.flows[flow].slowdown?))) {
        let path = format!("/schedulers/0/flows/{flow}/slowdown");
        finding.figures.push(Figure { path, value: slowdown });
    }
    Some(finding)
}

impl<'a> Judged<'a> {
    fn of(summary: &'a Summary, cases: &'a [Case]) -> Judged<'a> {
        let runs = &summary.schedulers;
        let baseline = runs.iter().position(|run| run.name == summary.baseline).unwrap_or(0);
        let others = (0..runs.len()).filter(|&run| run != baseline);
        let each = others.flat_map(|run| (0..cases.len()).map(move |case| (run, case)));
        let effects: Vec<Effect> =
            each.filter_map(|(run, case)| Effect::of(summary, cases, case, baseline, run)).collect();
        let judged_by = (0..cases.len()).map(|case| {
            let own = effects.iter().filter(move |effect| effect.case == case);
            let has_rate = cases[case].role == Role::Total || own.clone().any(|own| own.factor(Compared::Rate) != 1.0);
            if has_rate { Compared::Rate } else { Compared::Mean }
        });
        let judged_by = judged_by.collect();
        let mut judged = Judged { summary, cases, baseline, winner: baseline, effects, judged_by };
        judged.winner = judged.choose();
        judged
    }

    fn effect(&self, case: usize, run: usize) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.case == case && effect.run == run)
    }

    /// By how much the case of an effect is better off, as it is judged.
    fn judged(&self, effect: &Effect) -> f64 {
        effect.factor(self.judged_by[effect.case])
    }

    /// By how much a case is better off under a scheduler; `None` without figures to tell.
    fn gain(&self, case: usize, run: usize) -> Option<f64> {
        match run == self.baseline {
            true => self.cases[case].figures(self.summary, run).map(|_| 1.0),
            false => self.effect(case, run).filter(|effect| !effect.starves).map(|effect| self.judged(effect)),
        }
    }

    /// The numbers of the cases that may win or pay.
    fn tenants(&self) -> impl Iterator<Item = usize> {
        (0..self.cases.len()).filter(|&case| self.cases[case].is_tenant())
    }

    /// The schedulers that may win: all but controls; all of them if there are only controls.
    fn candidates(&self) -> Vec<usize> {
        let runs = &self.summary.schedulers;
        let all = runs.iter().all(|run| run.control);
        (0..runs.len()).filter(|&run| all || !runs[run].control).collect()
    }

    /// The candidate under which a case is best off: the one compared with, unless another is better.
    fn best(&self, case: usize) -> Option<usize> {
        let candidates = self.candidates();
        let gains = candidates.iter().filter_map(|&run| Some((run, self.gain(case, run)?)));
        let reference = gains.clone().find(|&(run, _)| run == self.baseline);
        // Of equal ones, where the baseline's figure is 0, the one with the shorter mean.
        let mean = |run: usize| self.cases[case].mean(self.summary, run).map_or(f64::MAX, |(mean, _)| mean);
        let is_better = |one: (usize, f64), other: (usize, f64)| {
            one.1 > other.1 || one.1 == other.1 && one.1 >= effects::LARGEST && mean(one.0) < mean(other.0)
        };
        let best =
            reference.into_iter().chain(gains).reduce(|best, next| if is_better(next, best) { next } else { best });
        best.map(|(run, _)| run)
    }

    /// The other candidates that are as good for a case, within the tolerance.
    fn as_good(&self, case: usize, best: usize) -> Vec<String> {
        let is_as_good = |run: &usize| {
            let gains = self.gain(case, *run).zip(self.gain(case, best));
            gains.is_some_and(|(gain, most)| most <= gain * (1.0 + effects::TOLERANCE))
        };
        let others = self.candidates().into_iter().filter(|&run| run != best).filter(is_as_good);
        others.map(|run| self.summary.schedulers[run].name.clone()).collect()
    }

    /// Whether a candidate is better or worse for a case than the scheduler compared with: where none is, nobody is the best.
    fn differs(&self, case: usize) -> bool {
        self.candidates().into_iter().any(|run| self.gain(case, run).is_some_and(|gain| gain != 1.0))
    }

    /// The scheduler that is the best for most tenants, of equals the one with the largest gains together.
    fn choose(&self) -> usize {
        let rank = |run: usize| {
            let firsts = self.tenants().filter(|&case| self.differs(case) && self.best(case) == Some(run)).count();
            let together: f64 = self.tenants().filter_map(|case| self.gain(case, run)).map(f64::ln).sum();
            (firsts, together)
        };
        let candidates = self.candidates();
        let first = if candidates.contains(&self.baseline) { self.baseline } else { candidates[0] };
        candidates.into_iter().fold(first, |best, run| if rank(run) > rank(best) { run } else { best })
    }

    /// All findings; which of them are on the first screen is chosen later among those that say so.
    fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.summary.schedulers.iter().all(|run| run.control) {
            found.push(Finding::new(FindingKind::OnlyControls));
        }
        let alike = self.effects.iter().all(Effect::is_alike);
        if alike {
            found.push(self.all_alike());
        }
        found.extend(self.gains_and_losses());
        if !alike {
            found.extend(self.nobody_pays());
        }
        found.extend(host::of(self.summary, self.cases, self.baseline));
        found.extend(self.write_amplification());
        found.extend(self.slowdowns());
        found.extend(self.majorities());
        found.extend(self.decisions());
        found.extend(self.seeds(alike));
        order::choose(&mut found, &self.summary.schedulers[self.winner].name);
        found
    }

    /// Nothing differs beyond the tolerance.
    fn all_alike(&self) -> Finding {
        let means = self.tenants().filter_map(|case| {
            let (mean, paths) = self.cases[case].mean(self.summary, self.baseline)?;
            Some(paths.into_iter().map(move |path| Figure { path, value: mean }))
        });
        let tenants = self.tenants().map(|case| {
            let case = &self.cases[case];
            cases::called(case.flow_name(self.summary).as_deref(), Some(case.kind)).0
        });
        let pages = (0..self.summary.schedulers.len())
            .filter_map(|run| effects::write_amplification(self.summary, self.baseline, run))
            .filter(|change| !change.is_alike() && change.too_few_erases.is_none());
        Finding {
            baseline: Some(self.summary.baseline.clone()),
            changes: pages.collect(),
            figures: means.flatten().collect(),
            names: tenants.collect(),
            ..Finding::new(FindingKind::AllAlike)
        }
    }

    /// Gains and losses, those of the winner before those of other schedulers, of either the tenants before their parts, and of these the largest
    /// first; after each what its requests disagree in.
    fn gains_and_losses(&self) -> Vec<Finding> {
        let mut found: Vec<(usize, usize, Finding)> = Vec::new();
        for effect in &self.effects {
            if let Some(finding) = self.finding(effect) {
                found.push((effect.run, effect.case, finding));
            }
        }
        let group = |run: usize, case: usize, kind: FindingKind| {
            let of_winner = run == self.winner || kind == FindingKind::ReferenceWins;
            (!of_winner, !self.cases[case].is_tenant())
        };
        found.sort_by(|a, b| {
            let groups = group(a.0, a.1, a.2.kind).cmp(&group(b.0, b.1, b.2.kind));
            groups.then(b.2.size.total_cmp(&a.2.size))
        });
        let (mut told, mut all) = (Vec::new(), Vec::new());
        for (run, case, finding) in found {
            // Of other schedulers it is told with --full.
            let is_on_first_screen = finding.is_on_first_screen && (run == self.winner || self.winner == self.baseline);
            all.push(finding);
            if let Some(whole) = self.whole(case).filter(|whole| !told.contains(&(*whole, run))) {
                told.push((whole, run));
                all.extend(self.uneven(whole, run, is_on_first_screen));
            }
        }
        // Where no mean differs, quarters may.
        for (run, case) in
            (0..self.summary.schedulers.len()).flat_map(|run| self.tenants().map(move |case| (run, case)))
        {
            if let Some(whole) = self.whole(case).filter(|whole| run != self.baseline && !told.contains(&(*whole, run)))
            {
                told.push((whole, run));
                all.extend(self.uneven(whole, run, true));
            }
        }
        all
    }

    /// By which flow the requests of a case are told to disagree.
    fn whole(&self, case: usize) -> Option<Option<usize>> {
        let case = &self.cases[case];
        (case.role != Role::Total).then_some(case.flow.filter(|_| self.summary.flows.len() > 1))
    }

    fn uneven(&self, flow: Option<usize>, run: usize, is_on_first_screen: bool) -> Option<Finding> {
        let case = Case { flow, kind: RequestKind::All, role: Role::Tenant, is_loop: false };
        let finding = uneven::of(self.summary, &case, run)?;
        Some(Finding { is_on_first_screen, ..self.compared(finding, run) })
    }

    /// A finding about `run` against the scheduler compared with.
    fn compared(&self, finding: Finding, run: usize) -> Finding {
        Finding {
            scheduler: Some(self.summary.schedulers[run].name.clone()),
            baseline: Some(self.summary.baseline.clone()),
            ..finding
        }
    }

    /// What an effect is called, if it is worth a sentence.
    fn finding(&self, effect: &Effect) -> Option<Finding> {
        let Effect { case, run, ref changes, starves, .. } = *effect;
        let of_winner = run == self.winner || self.winner == self.baseline;
        let kind = match self.cases[case].role {
            _ if starves => FindingKind::Starves,
            _ if effect.is_alike() => {
                let others = changes.iter().filter_map(|change| change.seeds.as_ref()).any(differs_by_much);
                (others && self.cases[case].role != Role::Total).then_some(FindingKind::AlikeHere)?
            }
            Role::Tenant if self.judged(effect) > 1.0 && self.best(case) == Some(run) => FindingKind::Wins,
            Role::Tenant if self.is_next(case, run) => FindingKind::ReferenceWins,
            Role::Part(of) | Role::HalfOfCommit(of) => self.of_part(effect, of)?,
            _ if changes[0].factor > 1.0 => FindingKind::Gains,
            _ => FindingKind::Pays,
        };
        let size = effect.size();
        let is_on_first_screen = match kind {
            FindingKind::Wins | FindingKind::ReferenceWins | FindingKind::Starves | FindingKind::AlikeHere => true,
            FindingKind::Pays if self.cases[case].role == Role::Total => run == self.winner || size >= LARGE,
            // What the requests of a closed loop gain by is told of the loop.
            FindingKind::Gains if self.cases[case].is_loop && !self.cases[case].is_tenant() => size >= LARGE,
            _ => of_winner || size >= WORTH,
        };
        let mut finding = self.compared(about(kind, self.summary, &self.cases[case], run), run);
        if starves {
            let (before, path) = self.cases[case].figures(self.summary, self.baseline)?;
            finding.figures.push(Figure { path: format!("{path}/requests"), value: before.requests as f64 });
            let result = &self.summary.schedulers[run];
            let (own, path) = match self.cases[case].flow {
                Some(flow) => (&result.flows[flow].figures, format!("/schedulers/{run}/flows/{flow}/figures/warm_up")),
                None => (&result.total, format!("/schedulers/{run}/total/warm_up")),
            };
            finding.figures.push(Figure { path, value: own.warm_up as f64 });
        }
        finding.changes.clone_from(changes);
        if kind == FindingKind::Wins {
            finding.names = self.as_good(case, run);
        }
        Some(Finding { size, is_on_first_screen, ..finding })
    }

    /// What to call an effect on a part of a case: nothing, where the whole says as much.
    fn of_part(&self, effect: &Effect, whole: usize) -> Option<FindingKind> {
        let of_whole = self.effect(whole, effect.run);
        let (judged, size) = of_whole.map_or((1.0, 1.0), |whole| (self.judged(whole), whole.size()));
        if effect.is_worse() {
            // A loss that the whole does not have, or has less than half as much.
            let says_more = effect.changes.iter().filter(|change| change.factor < 1.0).any(|change| {
                let same = of_whole.and_then(|whole| whole.changes.iter().find(|one| one.measure == change.measure));
                same.is_none_or(|same| same.factor >= 1.0 || change.size() - 1.0 >= LARGE * (same.size() - 1.0))
            });
            let is_half = matches!(self.cases[effect.case].role, Role::HalfOfCommit(_));
            let is_slower = is_half || self.cases[effect.case].is_loop;
            let kind = if is_slower { FindingKind::PartSlower } else { FindingKind::PartPays };
            return (judged >= 1.0 || says_more).then_some(kind);
        }
        (judged <= 1.0 || effect.size() >= LARGE * size).then_some(FindingKind::Gains)
    }

    /// Whether the scheduler compared with wins, for this case too, and `run` comes next.
    fn is_next(&self, case: usize, run: usize) -> bool {
        if self.winner != self.baseline || self.best(case) != Some(self.baseline) {
            return false;
        }
        let others = self.candidates().into_iter().filter(|&run| run != self.baseline);
        let gains = others.filter_map(|run| Some((run, self.gain(case, run)?)));
        let next = gains.reduce(|best, next| if next.1 > best.1 { next } else { best });
        next.is_some_and(|(next, gain)| next == run && gain < 1.0)
    }

    /// That nobody is worse off under the winner; if that is the scheduler compared with, under the others.
    fn nobody_pays(&self) -> Option<Finding> {
        let is_reference = self.winner == self.baseline;
        let mut compared = self.effects.iter().filter(|effect| is_reference || effect.run == self.winner);
        let runs = (0..self.summary.schedulers.len()).filter(|&run| is_reference || run == self.winner);
        let mut pages = runs.filter_map(|run| effects::write_amplification(self.summary, self.baseline, run));
        if compared.any(Effect::is_worse) || pages.any(|change| change.factor < 1.0 && change.too_few_erases.is_none())
        {
            return None;
        }
        let finding = Finding::new(FindingKind::NobodyPays);
        let scheduler = (!is_reference).then(|| self.summary.schedulers[self.winner].name.clone());
        let loops = self.summary.flows.iter().filter(|flow| flow.depth.is_some());
        let names = loops.map(|flow| flow.name.clone()).collect();
        Some(Finding { names, scheduler, baseline: Some(self.summary.baseline.clone()), ..finding })
    }

    /// Where write amplification differs.
    fn write_amplification(&self) -> Vec<Finding> {
        let runs = (0..self.summary.schedulers.len()).filter(|&run| run != self.baseline);
        let finding = |run: usize| {
            let change = effects::write_amplification(self.summary, self.baseline, run)?;
            let is_told = !change.is_alike();
            let (size, is_worse) = (change.size(), change.factor < 1.0);
            let mut finding = self.compared(Finding::new(FindingKind::WriteAmplification), run);
            finding.figures = [self.baseline, run]
                .map(|run| Figure {
                    path: format!("/schedulers/{run}/device/gc/erases"),
                    value: self.summary.schedulers[run].device.gc.erases as f64,
                })
                .into();
            finding.changes.push(change);
            let is_on_first_screen = is_worse && (run == self.winner || size >= LARGE);
            is_told.then_some(Finding { size, is_on_first_screen, ..finding })
        };
        let mut found: Vec<Finding> = runs.filter_map(finding).collect();
        found.sort_by(|a, b| b.size.total_cmp(&a.size));
        found
    }

    /// How much the flows are slowed by each other.
    fn slowdowns(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for (flow, info) in self.summary.flows.iter().enumerate() {
            let of = |run: usize| {
                let value = self.summary.schedulers[run].flows[flow].slowdown?;
                Some(Figure { path: format!("/schedulers/{run}/flows/{flow}/slowdown"), value })
            };
            let Some((from, to)) = of(self.baseline).zip(of(self.winner)) else { continue };
            let size = from.value.max(to.value);
            if size < SLOWED {
                continue;
            }
            let finding = self.compared(Finding::new(FindingKind::Slowdown), self.winner);
            let figures = if self.winner == self.baseline { vec![from] } else { vec![from, to] };
            found.push(Finding { flow: Some(info.name.clone()), figures, size, ..finding });
        }
        found.sort_by(|a, b| b.size.total_cmp(&a.size));
        found
    }

    /// Where most requests of a case go one way and its mean goes the other, or nowhere.
    fn majorities(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for effect in self.effects.iter().filter(|effect| self.cases[effect.case].is_tenant()) {
            let Some((pairs, path)) = self.cases[effect.case].pairs(self.summary, effect.run) else { continue };
            let share = (pairs.slower as f64 - pairs.faster as f64) / pairs.requests as f64;
            let mean = effect.changes.iter().find(|change| change.measure == Compared::Mean);
            let Some(mean) = mean.filter(|_| share.abs() > MAJORITY) else { continue };
            if !mean.is_alike() && (share > 0.0) == (mean.factor < 1.0) {
                continue;
            }
            let about = about(FindingKind::Majority, self.summary, &self.cases[effect.case], effect.run);
            let mut finding = self.compared(about, effect.run);
            finding.changes.push(mean.clone());
            for (key, value) in [("requests", pairs.requests), ("faster", pairs.faster), ("slower", pairs.slower)] {
                finding.figures.push(Figure { path: format!("{path}/{key}"), value: value as f64 });
            }
            let is_on_first_screen = effect.run == self.winner || self.winner == self.baseline;
            found.push((share.abs(), Finding { size: mean.size(), is_on_first_screen, ..finding }));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().map(|(_, finding)| finding).collect()
    }

    /// Which decisions bring the largest gain and the largest loss.
    fn decisions(&self) -> Vec<Finding> {
        let finding = |(number, deciding): (usize, &Deciding)| {
            let written = |one: &Difference| format!("{} ({} -> {})", one.what, one.from, one.to);
            let alone = deciding.decision.as_ref();
            let brings = |what: &str| {
                deciding.tried.iter().any(|one| one.what == what && one.brings >= Some(deciding::MOST_OF_IT))
            };
            let tried = deciding.untried.is_none() && !deciding.tried.is_empty();
            let (kind, names): (FindingKind, Vec<&Difference>) = match alone {
                Some(alone) => {
                    let its = deciding.differences.iter().filter(|one| one.what == *alone);
                    (FindingKind::DecisionBrings, its.collect())
                }
                None if deciding.differences.iter().any(|one| brings(&one.what)) => {
                    let each = deciding.differences.iter().filter(|one| brings(&one.what));
                    (FindingKind::EachBrings, each.collect())
                }
                None if tried => (FindingKind::NoDecisionAlone, deciding.differences.iter().collect()),
                None => (FindingKind::DecisionsDiffer, deciding.differences.iter().collect()),
            };
            let names: Vec<String> = names.into_iter().map(written).collect();
            let at = |key: &str, value: f64| Figure { path: format!("/deciding/{number}/{key}"), value };
            let (from, to) = (deciding.baseline_ns, deciding.scheduler_ns);
            let measure = if deciding.measure == SeedMeasure::P99 { Compared::P99 } else { Compared::Mean };
            let factor = from.max(1.0) / to.max(1.0);
            let change = Change {
                measure,
                from,
                to,
                paths: ["baseline_ns", "scheduler_ns"].map(|key| format!("/deciding/{number}/{key}")).into(),
                factor,
                within_percent: 0.0,
                requests: 0,
                too_few_erases: None,
                seeds: None,
            };
            Finding {
                scheduler: Some(deciding.scheduler.clone()),
                baseline: Some(deciding.baseline.clone()),
                flow: deciding.flow.clone(),
                request: Some(deciding.kind),
                changes: vec![change],
                figures: vec![at("baseline_ns", from), at("scheduler_ns", to)],
                names,
                size: factor.max(1.0 / factor),
                ..Finding::new(kind)
            }
        };
        self.summary.deciding.iter().enumerate().map(finding).collect()
    }

    /// How many seeds there are, where they were fewer than five or change nothing.
    fn seeds(&self, alike: bool) -> Option<Finding> {
        let made = self.summary.replications.as_ref();
        let count = made.map_or(1, |made| made.seeds.len());
        if seeds_change_nothing(self.summary) {
            return Some(seeds_finding(self.summary));
        }
        if count as u32 >= LEAST_SEEDS || alike && count == 1 {
            return None;
        }
        let mut finding = Finding::new(FindingKind::Seeds);
        if let Some(made) = made {
            finding.figures.push(Figure { path: "/replications/seeds".into(), value: count as f64 });
            finding.figures.push(Figure { path: "/replications/requests".into(), value: made.requests as f64 });
            finding.names.push(because(made.because).to_owned());
        }
        Some(finding)
    }
}

/// Why there are as many seeds, as `summary.json` has it.
fn because(because: SeedsBecause) -> &'static str {
    match because {
        SeedsBecause::Asked => "asked",
        SeedsBecause::Few => "few",
        SeedsBecause::Many => "many",
        SeedsBecause::Replayed => "replayed",
        SeedsBecause::State => "state",
    }
}

/// Whether some seed shows a difference of at least twofold.
fn differs_by_much(seeds: &SeedOpinion) -> bool {
    [seeds.better, seeds.worse].into_iter().flatten().any(|range| range.high >= LARGE)
}
