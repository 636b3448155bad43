//! What a comparison comes to on one screen: the verdict, then one table.
//!
//! Promises at most 120 columns for names of usual length, and 24 lines for four schedulers and two flows. Made from the summary alone.

use super::flow_stats::ResponseStats;
use super::format::{Sense, number, or_dash, relative, share, time};
use super::listed::{Listed, listed};
use super::over_seeds::SeedRange;
use super::replications::{RequestKind, SeedMeasure};
use super::summary::{SchedulerResult, Summary};
use super::table::{self, asked, end};
use super::verdict::Verdict;
use flashlane_outputs::shown::escaped;

/// Flows with columns of their own.
const FLOWS: usize = 2;
/// Characters of a flow's name in a column's title.
const NAME: usize = 12;

/// The verdict, the table, in which decisions the schedulers differ, what the user asked for, and the number of requests; with `full` all
/// tables.
pub fn render(summary: &Summary, full: bool) -> String {
    let mut text = self::verdict(summary, full);
    if !summary.schedulers.is_empty() {
        rows(summary).section(&mut text, &title(summary));
        text.push_str(&table::too_few(summary));
        text.push_str(&decisions(summary));
        text.push_str(&over_seeds(summary));
    }
    if full {
        text.push_str(&table::render(summary));
        return text;
    }
    text.push_str(&asked(summary));
    text.push_str(&end(summary));
    text
}

/// The findings, with `full` all of them, then the warnings.
pub fn verdict(summary: &Summary, full: bool) -> String {
    let verdict = Verdict::of(summary);
    let mut text = String::new();
    for finding in verdict.lines(full) {
        text.push_str(&format!("{}\n", escaped(&finding)));
    }
    for warning in &verdict.warnings {
        text.push_str(&format!("Warning: {}\n", escaped(&warning.text)));
    }
    text.push('\n');
    text
}

fn title(summary: &Summary) -> String {
    let made = &summary.made_by;
    let (preset, changes) = made.preset_and_changes();
    let changes =
        changes.map(|changes| format!("\n  {} with {}", escaped(preset), escaped(changes))).unwrap_or_default();
    format!(
        "{} on {}, drive {} at the start: requests per second and response times{changes}",
        escaped(&made.scenario),
        escaped(preset),
        made.drive_state
    )
}

/// A row for each scheduler: with several flows a mean and a p99 for each, else for reads and for writes.
fn rows(summary: &Summary) -> Listed<'_, &SchedulerResult> {
    let (runs, flows) = (&summary.schedulers, &summary.flows);
    let by_flow = (2..=FLOWS).contains(&flows.len());
    let has_alone = runs.iter().any(|run| run.flows.iter().any(|flow| flow.slowdown.is_some()));
    // More flows than have columns of their own: then p99 is that of all requests.
    let many = flows.len() > FLOWS;
    let mean = |figures: &Option<ResponseStats>| or_dash(figures.as_ref(), |f| time(f.mean_ns));
    let p99 = |figures: &Option<ResponseStats>| or_dash(figures.as_ref(), |f| time(f.p99_ns as f64));
    let rate = |run: &SchedulerResult, of: fn(&ResponseStats) -> Option<f64>| {
        or_dash(run.total.all.as_ref().and_then(of), number)
    };
    let list = listed(runs)
        .column("scheduler", |run| run.label())
        .column("offered", move |run| rate(run, |f| f.offered_iops))
        .column("served", move |run| rate(run, |f| f.iops))
        // Of two flows together a mean says little; each has its own.
        .columns_if(!by_flow, |list| list.column("mean", move |run| mean(&run.total.all)))
        .columns_if(many, |list| list.column("p99", move |run| p99(&run.total.all)))
        .columns_if(runs.len() > 1, |list| {
            let changed = |run: &SchedulerResult| run.change_percent.as_ref().and_then(|c| c.all.as_ref()?.mean);
            list.column("Δ mean", move |run| or_dash(changed(run), |c| relative(c, Sense::Time)))
        })
        .columns_if(runs.iter().any(|run| run.ceiling.is_some()), |list| {
            list.column("x bound", |run| or_dash(run.ceiling.and_then(|gap| gap.own()), |gap| format!("{gap:.2}")))
        });
    let list = if by_flow {
        let names = short(&flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>());
        names.into_iter().enumerate().fold(list, |list, (i, name)| {
            list.column(name, move |run| mean(&run.flows[i].figures.all))
                .column("p99", move |run| p99(&run.flows[i].figures.all))
                .columns_if(has_alone, |list| {
                    list.column("slowdown", move |run| or_dash(run.flows[i].slowdown, number))
                })
        })
    } else {
        list.column("reads", move |run| mean(&run.total.read))
            .columns_if(!many, |list| list.column("p99", move |run| p99(&run.total.read)))
            .column("writes", move |run| mean(&run.total.write))
            .columns_if(!many, |list| list.column("p99", move |run| p99(&run.total.write)))
            .columns_if(has_alone, |list| {
                list.column("F", |run| or_dash(run.fairness.as_ref(), |f| number(f.fairness)))
                    .column("max slowdown", |run| or_dash(run.fairness.as_ref(), |f| number(f.max_slowdown)))
            })
    };
    list.column("busy", |run| share(run.device.chip_utilisation))
        .column("WA", |run| table::write_amplification(summary, run))
}

/// Names that fit the titles of columns: of long ones the middle is left out, and those that would then be alike are whole.
fn short(names: &[&str]) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| escaped(name).into_owned()).collect();
    let cut = |name: &String| {
        let count = name.chars().count();
        if count <= NAME {
            return name.clone();
        }
        let (begin, end) = (NAME / 2, (NAME - 1) - NAME / 2);
        let place = |nth: usize| name.char_indices().nth(nth).map_or(name.len(), |(at, _)| at);
        format!("{}…{}", &name[..place(begin)], &name[place(count - end)..])
    };
    let short: Vec<String> = names.iter().map(cut).collect();
    let alike = |one: &String| short.iter().filter(|other| *other == one).count() > 1;
    names.iter().zip(&short).map(|(name, one)| if alike(one) { name.clone() } else { one.clone() }).collect()
}

/// In which decisions each scheduler differs from the first: its name, and the decisions.
pub(super) fn differences(summary: &Summary) -> Vec<(String, String)> {
    let Some((first, rest)) = summary.schedulers.split_first() else { return Vec::new() };
    let differences = rest.iter().map(|run| {
        let differences = run.decisions.differences(&first.decisions);
        let shown = if differences.is_empty() { "none".to_owned() } else { differences.join(", ") };
        (run.name.clone(), shown)
    });
    differences.collect()
}

/// The ranges over seeds of the only scheduler, where it ran under several.
fn over_seeds(summary: &Summary) -> String {
    let ([run], Some(made)) = (summary.schedulers.as_slice(), &summary.replications) else { return String::new() };
    let (Some(first), Some(last)) = (made.seeds.first(), made.seeds.last()) else { return String::new() };
    let mut text = format!("Over {} seeds, {first} to {last}\n", made.seeds.len());
    let tenants = std::iter::once(None).chain(summary.flows.iter().map(|flow| Some(flow.name.as_str())));
    for flow in tenants.filter(|flow| flow.is_none() || summary.flows.len() > 1) {
        let who = flow.map_or_else(|| "all".into(), escaped);
        let of = |kind, measure| SeedRange::of(summary, &run.name, flow, kind, measure);
        let has = |kind| of(kind, SeedMeasure::Mean).is_some();
        let both = has(RequestKind::Read) && has(RequestKind::Write);
        for (kind, name) in [(RequestKind::All, ""), (RequestKind::Read, "reads "), (RequestKind::Write, "writes ")] {
            if !has(kind) || kind != RequestKind::All && !both {
                continue;
            }
            let range = |measure, shown: fn(f64) -> String| {
                of(kind, measure)
                    .map_or_else(|| "-".into(), |range| format!("{} to {}", shown(range.low), shown(range.high)))
            };
            let (mean, p99) = (range(SeedMeasure::Mean, time), range(SeedMeasure::P99, time));
            let rate = range(SeedMeasure::Served, number);
            text.push_str(&format!("  {who} {name}mean {mean}, p99 {p99}, requests/s {rate}\n"));
        }
    }
    text.push('\n');
    text
}

/// The same as text.
fn decisions(summary: &Summary) -> String {
    let differences = differences(summary);
    let Some(first) = summary.schedulers.first().filter(|_| !differences.is_empty()) else { return String::new() };
    let width = differences.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!("Decisions that differ from {}\n", first.name);
    for (name, shown) in differences {
        text.push_str(&format!("  {name:width$}  {shown}\n"));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning and the end of a long name stay; names that differ in their middle alone stay whole.
    #[test]
    fn long_names_stay_apart() {
        assert_eq!(short(&["reader", "exactly-12-c"]), ["reader", "exactly-12-c"]);
        assert_eq!(short(&["database-log-0", "database-log-1"]), ["databa…log-0", "databa…log-1"]);
        let alike = ["database-a-of-log", "database-b-of-log", "database-other"];
        assert_eq!(short(&alike), ["database-a-of-log", "database-b-of-log", "databa…other"]);
    }
}
