//! Who wins, for whom, by how much, and who pays for it.

use super::parties::Party;
use crate::results::format::{faster, number, time};
use crate::results::summary::Summary;

/// Parties that are named one by one; of more, only the extremes are.
const NAMED: usize = 4;
/// A slowdown from which on it is worth a sentence.
const SLOWED: f64 = 1.1;

/// The findings of a summary.
pub(super) fn of(summary: &Summary, parties: &[Party<'_>]) -> Vec<String> {
    let against = summary.schedulers.iter().position(|run| run.name == summary.against).unwrap_or(0);
    let base = &summary.against;
    if parties.is_empty() {
        return vec!["no request completed".into()];
    }
    if summary.schedulers.len() < 2 {
        return parties.iter().take(NAMED).filter_map(|party| of_one(party, base)).collect();
    }
    if parties.iter().all(Party::is_alike) {
        let means = parties
            .iter()
            .take(NAMED)
            .filter_map(|party| Some(format!("{} {}", party.name, time(party.mean(against)?))));
        let means = means.collect::<Vec<_>>().join(", ");
        return vec![format!("no scheduler differs from {base} by more than noise (mean: {means})")];
    }
    let winner = winner(summary, parties, against);
    let mut found = wins(summary, parties, against);
    found.extend(company(summary, parties, against, winner));
    found.push(pays(summary, parties, against, winner));
    found
}

/// A run by itself.
fn of_one(party: &Party<'_>, scheduler: &str) -> Option<String> {
    let figures = party.figures[0]?;
    let times = format!("{}: mean {}, p99 {}", party.name, time(figures.mean_ns), time(figures.p99_ns as f64));
    Some(match party.slowdowns[0] {
        Some(slowdown) => {
            format!("{times}; {} slower beside the others than alone under {scheduler}", times_text(slowdown))
        }
        None => times,
    })
}

/// The scheduler that is the best for most parties, of equals the one with the largest gains together; `against` if none gains.
fn winner(summary: &Summary, parties: &[Party<'_>], against: usize) -> usize {
    let mut best = (against, 0, 0.0);
    for run in 0..summary.schedulers.len() {
        let firsts = parties.iter().filter(|party| self::best(party, against) == Some(run)).count();
        let together: f64 = parties.iter().filter_map(|party| party.gain(run)).map(f64::ln).sum();
        if run != against && (firsts, together) > (best.1, best.2) {
            best = (run, firsts, together);
        }
    }
    best.0
}

/// The scheduler under which a party is fastest; `None` if none counts as faster than the one compared with.
fn best(party: &Party<'_>, against: usize) -> Option<usize> {
    let gains = (0..party.figures.len()).filter(|&run| run != against).filter_map(|run| Some((run, party.gain(run)?)));
    let best = gains.filter(|(_, gain)| *gain > 1.0).reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map(|(run, _)| run)
}

/// For each party under which scheduler it is fastest.
fn wins(summary: &Summary, parties: &[Party<'_>], against: usize) -> Vec<String> {
    let name = |run: usize| summary.schedulers[run].name.as_str();
    let mut won: Vec<(f64, String)> = Vec::new();
    for party in parties {
        let Some((run, gain)) = best(party, against).and_then(|run| Some((run, party.gain(run)?))) else { continue };
        let (Some(from), Some(to)) = (party.mean(against), party.mean(run)) else { continue };
        let sentence = format!(
            "{} wins for {}: mean {}, {} than under {} ({})",
            name(run),
            party.name,
            time(to),
            faster(gain),
            name(against),
            time(from)
        );
        won.push((gain, sentence));
    }
    won.sort_by(|a, b| b.0.total_cmp(&a.0));
    let left = won.len().saturating_sub(NAMED);
    let mut won: Vec<String> = won.into_iter().take(NAMED).map(|(_, sentence)| sentence).collect();
    if left > 0 {
        won.push(format!("{left} more gain less"));
    }
    if won.is_empty() {
        won.push(format!("{} wins: under no other scheduler is anybody faster", name(against)));
    }
    won
}

/// How much the parties are slowed by each other.
fn company(summary: &Summary, parties: &[Party<'_>], against: usize, winner: usize) -> Vec<String> {
    let name = |run: usize| summary.schedulers[run].name.as_str();
    let mut slowed: Vec<(f64, String)> = Vec::new();
    for party in parties {
        let (Some(from), Some(to)) = (party.slowdowns[against], party.slowdowns[winner]) else { continue };
        if from.max(to) < SLOWED {
            continue;
        }
        let mut sentence = format!(
            "{} is {} slower beside the others than alone under {}",
            party.name,
            times_text(from),
            name(against)
        );
        if winner != against {
            sentence.push_str(&format!(", {} under {}", times_text(to), name(winner)));
        }
        slowed.push((from.max(to), sentence));
    }
    slowed.sort_by(|a, b| b.0.total_cmp(&a.0));
    slowed.into_iter().take(NAMED).map(|(_, sentence)| sentence).collect()
}

/// Who is slower under the winner than under the scheduler compared with; if that is the winner itself, who is slower under the others.
fn pays(summary: &Summary, parties: &[Party<'_>], against: usize, winner: usize) -> String {
    let name = |run: usize| summary.schedulers[run].name.as_str();
    let runs: Vec<usize> = if winner == against {
        (0..summary.schedulers.len()).filter(|&run| run != against).collect()
    } else {
        vec![winner]
    };
    let mut losses: Vec<(f64, String)> = Vec::new();
    for (run, party) in runs.into_iter().flat_map(|run| parties.iter().map(move |party| (run, party))) {
        let Some(gain) = party.gain(run).filter(|gain| *gain < 1.0) else { continue };
        let (Some(from), Some(to)) = (party.mean(against), party.mean(run)) else { continue };
        let who = format!(
            "{} {} under {}: {} than under {} ({}, was {})",
            party.name,
            if party.is_plural() { "pay" } else { "pays" },
            name(run),
            faster(gain),
            name(against),
            time(to),
            time(from)
        );
        losses.push((gain, who));
    }
    losses.sort_by(|a, b| a.0.total_cmp(&b.0));
    match losses.len() {
        0 => format!("nobody pays under {}: no one is slower than under {}", name(winner), name(against)),
        count => {
            let named: Vec<String> = losses.into_iter().take(NAMED).map(|(_, who)| who).collect();
            let more = if count > NAMED { format!("; {} more pay less", count - NAMED) } else { String::new() };
            format!("{}{more}", named.join("; "))
        }
    }
}

/// A slowdown as a factor: `271x`, `1.01x`.
fn times_text(slowdown: f64) -> String {
    if slowdown >= 100.0 {
        format!("{}x", number(slowdown.round()).trim_end_matches(".0"))
    } else {
        format!("{slowdown:.2}x")
    }
}
