//! The page of Slacker's variants, from stored figures: rates of bursts, and what does not explain the size of the gains.
//!
//! Owns the words of `docs/results/papers/slacker-rates.md` and the rule by which a rate is picked. Runs nothing.

use std::fmt::Write as _;

use flashlane_report::metrics::mean_and_ci95;
use flashlane_scenario::workload::clone::{Group, SlackerTrace};

use crate::claims::{JudgedClaim, Verdict};
use crate::measurements::Measurements;
use crate::setting::Variant;
use crate::slacker::PAPER;
use crate::slacker::variants::{RATE_BURSTS, VARIANTS, rate_of};
use crate::stored::{StoredClaims, StoredMeasurements};

mod picture;

pub use picture::picture;

/// The groups of workloads, what is published of the gain of their means, and of the most requests slower.
const GROUPS: [(Group, &str, f64); 3] = [
    (Group::WriteIntensive, "12 (3 to 19.5)", 12.0),
    (Group::Balanced, "8.5 (2 to 14.5)", 8.5),
    (Group::ReadIntensive, "6.5 (up to 13)", 6.5),
];
/// The rate of the chosen setting.
const CHOSEN: &str = "3";
/// No single number counts for more than this factor.
const MAX_FACTOR: f64 = 10.0;
/// Relative distance from the printed slack that counts as calibrated.
const REACHED: f64 = 0.1;

/// What is stored of a rate.
#[derive(Debug)]
struct Rate<'a> {
    name: &'a str,
    figures: &'a Measurements,
    claims: StoredClaims,
}

/// The page, from the figures of the chosen setting and of its variants.
pub fn page(chosen: &StoredMeasurements, variants: &[StoredMeasurements]) -> String {
    let name = |stored: &StoredMeasurements| stored.made.variant.clone().unwrap_or_default();
    let of = |wanted: &str| variants.iter().find(|stored| name(stored) == wanted);
    let rates: Vec<Rate<'_>> = VARIANTS
        .iter()
        .filter_map(|variant| rate_of(variant.name).zip(of(variant.name)))
        .map(|(name, stored)| Rate { name, figures: &stored.figures, claims: stored.judge_what_is_there(&PAPER) })
        .collect();
    let mut text = String::from(include_str!("rates/head.txt"));
    if !rates.is_empty() {
        gains(&mut text, &rates);
        text.push_str(include_str!("rates/need.txt"));
        rule(&mut text, &rates);
        by_workload(&mut text, &rates);
        verdicts(&mut text, &rates);
    }
    let others = VARIANTS.iter().filter(|variant| rate_of(variant.name).is_none());
    let others: Vec<_> = others.filter_map(|variant| Some((variant, &of(variant.name)?.figures))).collect();
    text.push_str(include_str!("rates/others.txt"));
    gains_of_others(&mut text, &chosen.figures, &others);
    text
}

fn workloads(group: Group) -> impl Iterator<Item = SlackerTrace> {
    SlackerTrace::all().into_iter().filter(move |workload| workload.group == group)
}

/// A figure of the workloads of a group.
fn of_group(figures: &Measurements, path: &[&str], group: Group) -> Vec<f64> {
    workloads(group).filter_map(|workload| figures.mean(&[path, &[workload.name.as_str()]].concat())).collect()
}

fn mean(values: &[f64]) -> f64 {
    mean_and_ci95(values).0
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// One number a group, with one decimal.
fn by_group(of: impl Fn(Group) -> f64) -> String {
    GROUPS.map(|(group, ..)| format!("{:.1}", of(group))).join(" / ")
}

/// The heads of a table: these columns, and one a rate.
fn heads(text: &mut String, first: &[&str], rates: &[Rate<'_>]) {
    let names: Vec<&str> = first.iter().copied().chain(rates.iter().map(|rate| rate.name)).collect();
    let _ = writeln!(text, "| {} |\n|{}", names.join(" | "), "---|".repeat(names.len()));
}

/// Gains by rate, in groups.
fn gains(text: &mut String, rates: &[Rate<'_>]) {
    text.push_str(
        "| rate | write-intensive | balanced | read-intensive | per request | `wbyp` | `rbyp+wp` | `need` | slower, most % | calibrated, of 21 |\n\
         |---|---:|---:|---:|---|---|---|---|---|---:|\n",
    );
    let published = GROUPS.map(|(_, published, _)| published).join(" | ");
    let _ = writeln!(text, "| published | {published} | | | | | below 3 / 5 / 5 | |");
    for Rate { name, figures, .. } in rates {
        let cells = GROUPS.map(|(group, ..)| {
            let gains = of_group(figures, &["improvement", "slacker"], group);
            format!("{:.1} ({:.1} to {:.1})", mean(&gains), least(&gains), most(&gains))
        });
        let of = |path: [&str; 2]| by_group(|group| mean(&of_group(figures, &path, group)));
        let slower = by_group(|group| most(&of_group(figures, &["pairs_percent", "slower", "slacker"], group)));
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {slower} | {} |",
            cells.join(" | "),
            of(["gain_per_request", "slacker"]),
            of(["improvement", "wbyp"]),
            of(["improvement", "rbyp+wp"]),
            of(["improvement", "need"]),
            RATE_BURSTS.iter().filter(|row| row.rate == *name && is_reached(&row.name, row.reached_slack_ms)).count()
        );
    }
    text.push('\n');
}

/// The slack of a workload that bursts are calibrated to: direction, mean and deviation, ms.
fn calibrated_to(workload: &SlackerTrace) -> (&'static str, f64, f64) {
    match workload.group {
        Group::ReadIntensive => ("read", workload.read_slack_ms_mean, workload.read_slack_ms_sd),
        _ => ("write", workload.write_slack_ms_mean, workload.write_slack_ms_sd),
    }
}

fn is_reached(name: &str, slack_ms: f64) -> bool {
    let workload = SlackerTrace::named(name).expect("a row of Table 2");
    (slack_ms / calibrated_to(&workload).1 - 1.0).abs() <= REACHED
}

/// How far a workload's slack is from Table 2's: the mean of the logarithms of four ratios (the rule of the page).
fn distance(figures: &Measurements, workload: &SlackerTrace) -> Option<f64> {
    let printed = [
        ("read", "mean", workload.read_slack_ms_mean),
        ("read", "sd", workload.read_slack_ms_sd),
        ("write", "mean", workload.write_slack_ms_mean),
        ("write", "sd", workload.write_slack_ms_sd),
    ];
    let mut logs = Vec::new();
    for (direction, what, printed) in printed.into_iter().filter(|(.., printed)| *printed > 0.0) {
        let measured = figures.mean(&["slack_ms", direction, what, &workload.name])?;
        logs.push(libm::log(measured / printed).abs().min(libm::log(MAX_FACTOR)));
    }
    Some(mean(&logs))
}

/// The distances of all rates from Table 2, and what the rule picks.
fn rule(text: &mut String, rates: &[Rate<'_>]) {
    text.push_str("| rate | distance | less than at 3.0 | 95 % interval |\n|---|---:|---:|---|\n");
    let of = |figures: &Measurements| -> Vec<f64> {
        SlackerTrace::all().iter().filter_map(|workload| distance(figures, workload)).collect()
    };
    let Some(at_chosen) = rates.iter().find(|rate| rate.name == CHOSEN).map(|rate| of(rate.figures)) else { return };
    let mut best: Option<(&str, f64, bool)> = None;
    for rate in rates {
        let distances = of(rate.figures);
        let less: Vec<f64> = at_chosen.iter().zip(&distances).map(|(chosen, other)| chosen - other).collect();
        let (mean_less, ci95) = mean_and_ci95(&less);
        let ci95 = ci95.unwrap_or(f64::INFINITY);
        let interval = format!("{:.3} to {:.3}", mean_less - ci95, mean_less + ci95);
        let interval = if rate.name == CHOSEN { String::new() } else { interval };
        let _ = writeln!(text, "| {} | {:.3} | {mean_less:.3} | {interval} |", rate.name, mean(&distances));
        if best.is_none_or(|(_, least, _)| mean(&distances) < least) {
            best = Some((rate.name, mean(&distances), mean_less > ci95));
        }
    }
    if let Some((name, _, is_nearer)) = best {
        let picked = if is_nearer { name } else { CHOSEN };
        let _ = writeln!(text, "\nThe candidate is {name}; the rule picks **{picked}**.\n");
    }
}

/// Slack and gains, workload by workload.
fn by_workload(text: &mut String, rates: &[Rate<'_>]) {
    text.push_str(
        "**The slack reached, ms, mean ± deviation: of reads in the read-intensive group (from mds0-p on), else of writes.** A star: not \
         calibrated.\n\n",
    );
    heads(text, &["", "Table 2"], rates);
    for workload in SlackerTrace::all() {
        let (direction, printed, sd) = calibrated_to(&workload);
        let _ = write!(text, "| {} | {printed} ± {sd} |", workload.name);
        for Rate { name, figures, .. } in rates {
            let of = |what| figures.mean(&["slack_ms", direction, what, &workload.name]).unwrap_or(f64::NAN);
            let is_row = |row: &&crate::slacker::variants::RateBursts| row.rate == *name && row.name == workload.name;
            let reached =
                RATE_BURSTS.iter().find(is_row).is_some_and(|row| is_reached(&row.name, row.reached_slack_ms));
            let _ = write!(text, " {} ± {}{} |", short(of("mean")), short(of("sd")), if reached { "" } else { " *" });
        }
        text.push('\n');
    }
    text.push_str("\n**The gain of the mean by Slacker, percent, with the 95 % interval over the seeds.**\n\n");
    heads(text, &[""], rates);
    for workload in SlackerTrace::all() {
        let _ = write!(text, "| {} |", workload.name);
        for rate in rates {
            let path = ["improvement", "slacker", &workload.name].map(str::to_owned);
            let (mean, ci95) = mean_and_ci95(rate.figures.values(&path).unwrap_or_default());
            let ci95 = ci95.map(|width| format!(" ± {width:.1}")).unwrap_or_default();
            let _ = write!(text, " {mean:.1}{ci95} |");
        }
        text.push('\n');
    }
    text.push('\n');
}

/// A time in ms with two or three digits.
fn short(ms: f64) -> String {
    if ms >= 10.0 { format!("{ms:.0}") } else { format!("{ms:.2}") }
}

/// Claims by verdict, and those whose verdict depends on the rate.
fn verdicts(text: &mut String, rates: &[Rate<'_>]) {
    text.push_str(include_str!("rates/claims.txt"));
    let counted = |rate: &Rate<'_>, verdict| {
        rate.claims.claims.iter().filter(|claim| claim.kind.counts() && claim.verdict == verdict).count()
    };
    let listed: Vec<Verdict> =
        Verdict::OF_A_PAPER.into_iter().filter(|&verdict| verdict != Verdict::NotTestableHere).collect();
    heads(text, &["verdict"], rates);
    for &verdict in &listed {
        let counts: Vec<String> = rates.iter().map(|rate| counted(rate, verdict).to_string()).collect();
        let _ = writeln!(text, "| {} | {} |", verdict.name(), counts.join(" | "));
    }
    text.push_str("\n**Claims whose verdict is not the same at all rates.**\n\n");
    heads(text, &["", "claim", "published"], rates);
    let Some(first) = rates.first() else { return };
    for claim in first.claims.claims.iter().filter(|claim| claim.kind.counts()) {
        let twin = |rate: &Rate<'_>| rate.claims.claims.iter().find(|other| other.id == claim.id).cloned();
        let all: Vec<JudgedClaim> = rates.iter().filter_map(twin).collect();
        if all.iter().all(|other| other.verdict == claim.verdict) {
            continue;
        }
        let cells: Vec<String> = all
            .iter()
            .map(|other| format!("{}: {}", other.measured.clone().unwrap_or_default(), other.verdict.name()))
            .collect();
        let says = claim.says.split(':').next().unwrap_or_default();
        let _ = writeln!(text, "| {} | {says} | {} | {} |", claim.id, claim.published, cells.join(" | "));
    }
    text.push('\n');
}

/// Gains of variants that are no rates, beside the chosen setting's.
fn gains_of_others(text: &mut String, chosen: &Measurements, others: &[(&Variant, &Measurements)]) {
    text.push_str("| what is otherwise | gain of the mean % | published |\n|---|---|---|\n");
    let published = GROUPS.map(|(.., published)| published.to_string()).join(" / ");
    let others = others.iter().map(|(variant, figures)| (format!("{} (`{}`)", variant.about, variant.name), *figures));
    for (about, figures) in [("nothing".to_owned(), chosen)].into_iter().chain(others) {
        // The first seed of every row: variants have no other.
        let first = |group| {
            let of = |workload: SlackerTrace| {
                let path = ["improvement", "slacker", &workload.name].map(str::to_owned);
                figures.values(&path).and_then(|values| values.first().copied())
            };
            mean(&workloads(group).filter_map(of).collect::<Vec<_>>())
        };
        let _ = writeln!(text, "| {about} | {} | {published} |", by_group(first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice and half of a printed number are as far; numbers printed as 0 do not count, and one alone counts at most a factor of ten.
    #[test]
    fn the_distance_is_a_mean_of_logarithms() {
        let workload = SlackerTrace::named("wdev2").expect("a row");
        assert_eq!((workload.read_slack_ms_mean, workload.read_slack_ms_sd), (0.0, 0.0));
        let with = |mean: f64, sd: f64| {
            let mut figures = Measurements::default();
            for (direction, what, value) in
                [("read", "mean", 9.0), ("read", "sd", 9.0), ("write", "mean", mean), ("write", "sd", sd)]
            {
                figures.push(&["slack_ms", direction, what, "wdev2"], value);
            }
            distance(&figures, &workload).expect("all figures")
        };
        let (mean, sd) = (workload.write_slack_ms_mean, workload.write_slack_ms_sd);
        assert!(with(mean, sd).abs() < 1e-12);
        assert!((with(2.0 * mean, sd / 2.0) - libm::log(2.0)).abs() < 1e-12);
        assert!((with(0.0, sd) - libm::log(10.0) / 2.0).abs() < 1e-12);
        assert_eq!(distance(&Measurements::default(), &workload), None);
    }
}
