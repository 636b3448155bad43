//! Other requests: nothing tells what they would show, so it is stated where those of this run disagree among themselves, by quarters, and in how
//! few of them a difference lies.

use super::cases::Case;
use super::effects::TOLERANCE;
use super::finding::{Figure, Finding, FindingKind};
use crate::results::paired::{Concentration, PairStats};
use crate::results::summary::Summary;

/// Quarters differ if one's factor is at least this many times another's.
const TWOFOLD: f64 = 2.0;
/// Quarters go opposite ways if one is faster and another slower by more than this share.
const OPPOSITE: f64 = 0.05;
/// A difference is concentrated if nine tenths of it lie in at most so many of 100 windows of time,
const WINDOWS: u32 = 5;
/// or in at most this share of the requests.
const SHARE: f64 = 0.05;

/// How the requests of a case disagree under `run`; `None` where they do not.
pub(super) fn of(summary: &Summary, case: &Case, run: usize) -> Option<Finding> {
    let (pairs, path) = case.pairs(summary, run)?;
    let mut finding = Finding::new(FindingKind::Uneven);
    finding.flow = case.flow_name(summary);
    finding.request = Some(case.kind);
    let size = quarters(pairs);
    if size > 1.0 {
        for (number, quarter) in pairs.quarters.iter().enumerate() {
            let (from, to) = (quarter.baseline_mean_ns, quarter.mean_ns);
            let within = format!("{path}/quarters/{number}");
            finding.figures.push(Figure { path: format!("{within}/baseline_mean_ns"), value: from });
            finding.figures.push(Figure { path: format!("{within}/mean_ns"), value: to });
        }
    }
    let concentration = pairs.concentration.as_ref().filter(|found| is_concentrated(pairs, found));
    if let Some(found) = concentration {
        let within = format!("{path}/concentration");
        let mut add = |key: &str, value: f64| finding.figures.push(Figure { path: format!("{within}/{key}"), value });
        add("gained_ns", found.gained_ns);
        add("lost_ns", found.lost_ns);
        if is_in_few_windows(pairs, found) {
            add("windows", f64::from(found.windows));
            add("from_ns", found.from_ns as f64);
            add("to_ns", found.to_ns as f64);
            add("window_requests", found.window_requests as f64);
        }
        add("requests", found.requests as f64);
        // Windows are those of the whole run.
        let (stats, within) = (&summary.schedulers[run].total, format!("/schedulers/{run}/total"));
        let mut add = |key: &str, value: u64| {
            finding.figures.push(Figure { path: format!("{within}/{key}"), value: value as f64 });
        };
        add("first_arrival_ns", stats.first_arrival_ns.unwrap_or(0));
        add("last_arrival_ns", stats.last_arrival_ns);
        finding.figures.push(Figure { path: format!("{path}/requests"), value: pairs.requests as f64 });
    }
    finding.size = size;
    (!finding.figures.is_empty()).then_some(finding)
}

/// By how much the quarters of the requests differ in how many times as fast they are; 1 where that is less than twofold and they do not go
/// opposite ways.
fn quarters(pairs: &PairStats) -> f64 {
    let factors: Vec<f64> =
        pairs.quarters.iter().map(|quarter| speed(quarter.baseline_mean_ns, quarter.mean_ns)).collect();
    let most = factors.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let least = factors.iter().copied().fold(f64::MAX, f64::min);
    let opposite = most > 1.0 + OPPOSITE && least < 1.0 / (1.0 + OPPOSITE);
    // A quarter in which none of these requests came has no factor, so nothing is told.
    let all_have = factors.len() > 1 && pairs.quarters.iter().all(|quarter| quarter.requests > 0);
    let differ = all_have && (most >= TWOFOLD * least || opposite);
    if differ { most / least } else { 1.0 }
}

/// How many times as fast.
pub(super) fn speed(from: f64, to: f64) -> f64 {
    from.max(1.0) / to.max(1.0)
}

/// Whether a few windows or a few requests hold nine tenths of a difference that is one.
fn is_concentrated(pairs: &PairStats, found: &Concentration) -> bool {
    let differs = pairs.improvement_percent.is_some_and(|percent| {
        let ratio = 1.0 - percent / 100.0;
        !(1.0 / (1.0 + TOLERANCE)..=1.0 + TOLERANCE).contains(&ratio)
    });
    differs && (is_in_few_windows(pairs, found) || found.requests as f64 <= SHARE * pairs.requests as f64)
}

/// Whether a few windows hold it. Where most of the requests came in these windows, that says nothing.
fn is_in_few_windows(pairs: &PairStats, found: &Concentration) -> bool {
    found.windows <= WINDOWS && 2 * found.window_requests < pairs.requests
}
