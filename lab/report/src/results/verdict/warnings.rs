//! Warnings about figures.

use super::cases::{self, BEYOND, Case};
use super::effects::{ENOUGH_ERASES, TOLERANCE, WIDE};
use super::{Rule, Warning, units};
use flashlane_outputs::shown::counted;

use crate::results::flow_stats::{FlowStats, ResponseStats};
use crate::results::format::{count, number, share, time};
use crate::results::slowdowns::OverloadStats;
use crate::results::summary::{SchedulerResult, Summary};

/// With every chip busy for less than this share of the time, schedulers have next to nothing to decide.
const IDLE: f64 = 0.10;
/// With chips busy for more than this share of the time, writes may take more than the drive sustains once it collects.
const BUSY: f64 = 0.50;
/// Mean response times alone that differ by more than this factor are different.
const ALONE: f64 = 1.05;
/// The percentiles that are shown, and the requests of which one is beyond.
const PERCENTILES: [(&str, u64); 2] = [("p99", 100), ("p99.9", 1_000)];

/// Flows, and groups of schedulers, that a rule names one by one; of more, only the gravest are.
const NAMED: usize = 4;
/// Names in a list, before it only says how many more there are.
const NAMES: usize = 6;

/// The warnings about a summary, the gravest first.
pub(super) fn of(summary: &Summary, cases: &[Case]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut add =
        |rule: Rule, texts: Vec<String>| warnings.extend(texts.into_iter().map(|text| Warning { rule, text }));
    let idle = idle(summary);
    let is_idle = idle.is_some();
    add(Rule::Units, units::of(summary));
    add(Rule::Idle, idle.into_iter().collect());
    add(Rule::Overloaded, overloaded(summary));
    add(Rule::Rejected, rejected(summary).into_iter().collect());
    add(Rule::NotMeasured, not_measured(&summary.made_by.not_measured).into_iter().collect());
    add(Rule::KeysWithoutEffect, summary.made_by.without_effect.clone());
    add(Rule::CacheStaysFull, filled_once(summary).into_iter().collect());
    add(Rule::HardlyCollected, hardly_collected(summary).into_iter().collect());
    if !is_idle {
        add(Rule::Identical, identical_texts(&identical(summary)));
    }
    add(Rule::TooShort, too_short(summary, cases).into_iter().collect());
    add(Rule::AloneRuns, alone_runs(summary));
    warnings
}

/// The sentence on uses of the drive that were not measured when its device was fitted; none without such a use.
pub fn not_measured<S: AsRef<str>>(uses: &[S]) -> Option<String> {
    let uses: Vec<&str> = uses.iter().map(AsRef::as_ref).collect();
    let list = uses.join(", ");
    (!uses.is_empty())
        .then(|| format!("{list} were not measured when this device was fitted: their figures are a guess"))
}

/// The drive has next to nothing to do: nothing differs between schedulers, no chip is busy, and nobody waits for long.
fn idle(summary: &Summary) -> Option<String> {
    let runs = &summary.schedulers;
    let of_run = |run: &SchedulerResult| {
        let device = &run.device;
        device.chip_utilisation_each.iter().copied().fold(device.chip_utilisation, f64::max)
    };
    let busiest = runs.iter().map(of_run).fold(0.0, f64::max);
    let has_run = runs.len() > 1 && runs.iter().any(|run| run.total.completed > 0);
    let overloads = runs.iter().any(|run| run.flows.iter().any(|flow| flow.overloaded));
    (has_run && !overloads && busiest < IDLE && nothing_differs(summary)).then(|| {
        format!(
            "the drive is idle (no chip busier than {}), so the schedulers are alike: raise --speedup, or the rates of the flows",
            share(busiest)
        )
    })
}

/// Whether no mean, rate or p99 of a kind of request differs between two schedulers, of all flows together or of one.
fn nothing_differs(summary: &Summary) -> bool {
    let of_run = |run: &SchedulerResult| -> Vec<Option<[f64; 3]>> {
        let all = std::iter::once(&run.total).chain(run.flows.iter().map(|flow| &flow.figures));
        let figures = |of: &ResponseStats| [of.mean_ns, of.own_iops.unwrap_or(0.0), of.p99_ns as f64];
        all.flat_map(kinds).map(|kind| kind.map(figures)).collect()
    };
    let runs: Vec<Vec<Option<[f64; 3]>>> = summary.schedulers.iter().map(of_run).collect();
    let is_alike = |a: f64, b: f64, within: f64| (a - b).abs() <= within * a.min(b);
    let same = |a: &Option<[f64; 3]>, b: &Option<[f64; 3]>| match (a, b) {
        (Some(a), Some(b)) => {
            [TOLERANCE, TOLERANCE, WIDE].iter().enumerate().all(|(i, within)| is_alike(a[i], b[i], *within))
        }
        (a, b) => a.is_none() && b.is_none(),
    };
    let alike = |a: &Vec<_>, b: &Vec<_>| a.iter().zip(b).all(|(a, b)| same(a, b));
    runs.iter().enumerate().all(|(i, a)| runs[i + 1..].iter().all(|b| alike(a, b)))
}

/// The figures of every kind of request.
fn kinds(figures: &FlowStats) -> [Option<&ResponseStats>; 6] {
    let commands = figures.commands.as_ref();
    let [trim, write_zeroes, flush] = match commands {
        Some(commands) => [&commands.trim, &commands.write_zeroes, &commands.flush].map(Option::as_ref),
        None => [None; 3],
    };
    [figures.all.as_ref(), figures.read.as_ref(), figures.write.as_ref(), trim, write_zeroes, flush]
}

/// Flows whose requests came faster than they were served, those under the same schedulers together.
fn overloaded(summary: &Summary) -> Vec<String> {
    let mut found = Vec::new();
    for (i, flow) in summary.flows.iter().enumerate() {
        let runs: Vec<(&SchedulerResult, &OverloadStats)> =
            summary.schedulers.iter().filter_map(|run| Some((run, run.flows[i].overload.as_ref()?))).collect();
        let Some(&(worst, overload)) = runs.iter().max_by_key(|(_, overload)| overload.backlog_ns) else { continue };
        let names = list(runs.iter().map(|(run, _)| run.name.as_str()));
        let offered = match overload.offered_iops {
            Some(rate) => format!("{} requests/s offered for {}", number(rate), time(overload.offered_ns as f64)),
            None => format!("{} requests offered at once", count(overload.requests)),
        };
        let of = if runs.len() > 1 { format!(" under {}", worst.name) } else { String::new() };
        let text = format!(
            "{} overloads the drive under {names}: {offered}, {} served while a backlog stood, for {}{of}; its times grow with that time",
            flow.name,
            number(overload.served_iops),
            time(overload.backlog_ns as f64)
        );
        let times = overload.offered_iops.map_or(f64::INFINITY, |offered| offered / overload.served_iops);
        found.push((times, text));
    }
    gravest(found, |more| {
        let overload = if more == 1 { "overloads" } else { "overload" };
        format!("{} {overload} the drive under some scheduler", counted(more, "more flow"))
    })
}

/// The texts of what was found, with how grave each is; of more than [`NAMED`] the gravest ones and what `more` says of the others.
fn gravest(mut found: Vec<(f64, String)>, more: impl Fn(usize) -> String) -> Vec<String> {
    let left = found.len().saturating_sub(NAMED);
    if left > 0 {
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(NAMED);
    }
    let rest = (left > 0).then(|| more(left));
    found.into_iter().map(|(_, text)| text).chain(rest).collect()
}

/// Requests that were refused.
fn rejected(summary: &Summary) -> Option<String> {
    let worst = summary.schedulers.iter().max_by_key(|run| run.total.rejected)?;
    let (refused, issued) = (worst.total.rejected, worst.total.issued);
    let were = if refused == 1 { "was rejected and is" } else { "were rejected and are" };
    let issued = if issued == 1 { "1 request".to_owned() } else { format!("{} requests", count(issued)) };
    (refused > 0).then(|| format!("{} of {issued} {were} in no figure", count(refused)))
}

/// Writes went past an SLC cache that nothing empties.
fn filled_once(summary: &Summary) -> Option<String> {
    let caches = summary.schedulers.iter().filter_map(|run| run.device.slc.as_ref());
    let blocks = caches.filter(|slc| slc.direct > 0).find_map(|slc| slc.never_folded)?;
    Some(cache_stays_full(blocks))
}

/// So many blocks of a plane are always in SLC mode, and nothing folds them.
pub fn cache_stays_full(blocks: u32) -> String {
    format!(
        "the SLC cache fills once and for ever: nothing empties its {blocks} static blocks of a plane, since full = \"direct\" passes them \
         by and there is no idle_ms: give device.slc.idle_ms, or full = \"fold\""
    )
}

/// A drive in steady state that is busy with writes but has collected hardly any block: the rate may be that of its free blocks.
fn hardly_collected(summary: &Summary) -> Option<String> {
    let writes_free_blocks = |run: &&SchedulerResult| {
        let device = &run.device;
        device.gc.erases < ENOUGH_ERASES && device.user_programs > 0 && device.chip_utilisation > BUSY
    };
    let found: Vec<_> = summary.schedulers.iter().filter(writes_free_blocks).map(|run| run.name.as_str()).collect();
    (summary.made_by.drive_state == "steady" && !found.is_empty()).then(|| {
        format!(
            "fewer than {ENOUGH_ERASES} blocks were collected under {}: writes may be faster than the drive sustains; run longer, with \
             run.warm_up_ms",
            list(found.into_iter())
        )
    })
}

/// Groups of schedulers with the same figures.
fn identical(summary: &Summary) -> Vec<Vec<&str>> {
    let mut groups: Vec<(&SchedulerResult, Vec<&str>)> = Vec::new();
    for run in &summary.schedulers {
        let same = |other: &SchedulerResult| {
            run.total == other.total
                && run.flows.iter().zip(&other.flows).all(|(a, b)| a.figures == b.figures)
                && run.device == other.device
        };
        match groups.iter_mut().find(|(first, _)| same(first)) {
            Some((_, names)) => names.push(&run.name),
            None => groups.push((run, vec![&run.name])),
        }
    }
    groups.into_iter().map(|(_, names)| names).filter(|names| names.len() > 1).collect()
}

fn identical_texts(groups: &[Vec<&str>]) -> Vec<String> {
    let text = |names: &Vec<&str>| {
        let text = format!(
            "{} gave identical results: this workload never triggered their differences",
            list(names.iter().copied())
        );
        (names.len() as f64, text)
    };
    gravest(groups.iter().map(text).collect(), |more| {
        format!("{} of schedulers gave identical results", counted(more, "more group"))
    })
}

/// Percentiles that rest on too few requests.
fn too_short(summary: &Summary, cases: &[Case]) -> Option<String> {
    let tenants: Vec<(String, bool, u64)> = cases
        .iter()
        .filter(|case| case.is_tenant())
        .map(|case| {
            let (name, is_plural) = cases::called(case.flow_name(summary).as_deref(), Some(case.kind));
            (name, is_plural, case.fewest(summary))
        })
        .collect();
    let few = |one_in: u64| tenants.iter().filter(move |(_, _, fewest)| *fewest < BEYOND * one_in);
    let texts: Vec<String> = PERCENTILES
        .into_iter()
        .filter(|&(_, one_in)| few(one_in).count() > 0)
        .map(|(name, one_in)| {
            let has = |(name, is_plural, fewest): &(String, bool, u64)| {
                format!("{name} {} {}", if *is_plural { "have" } else { "has" }, count(*fewest))
            };
            let who: Vec<String> = few(one_in).take(NAMED).map(has).collect();
            let more = few(one_in).count() - who.len();
            let more = if more > 0 { format!(", and {more} more have too few") } else { String::new() };
            format!("{name} needs at least {} requests ({}{more})", count(BEYOND * one_in), who.join(", "))
        })
        .collect();
    (!texts.is_empty()).then(|| format!("the run is short: {}", texts.join("; ")))
}

/// Flows whose slowdowns under different schedulers are against different alone runs.
fn alone_runs(summary: &Summary) -> Vec<String> {
    let mut found = Vec::new();
    for (i, flow) in summary.flows.iter().enumerate() {
        let alone =
            summary.schedulers.iter().filter_map(|run| Some((run.flows[i].alone.as_ref()?.mean_ns, run.name.as_str())));
        let mut alone: Vec<(f64, &str)> = alone.collect();
        alone.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(least), Some(most)) = (alone.first(), alone.last()) else { continue };
        if most.0 > ALONE * least.0 {
            let text = format!(
                "slowdowns of {} are against different alone runs ({} alone under {}, {} under {}): compare means, or name one with --alone-scheduler",
                flow.name,
                time(most.0),
                most.1,
                time(least.0),
                least.1
            );
            found.push((most.0 / least.0, text));
        }
    }
    gravest(found, |more| format!("slowdowns of {} are against different alone runs, too", counted(more, "more flow")))
}

/// `a`, `a and b`, `a, b and c`; of many names the first, and how many more there are.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    if names.len() > NAMES {
        let more = names.split_off(NAMES - 1).len();
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
