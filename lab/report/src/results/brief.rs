//! What a comparison comes to on one screen: the verdict, then one table.
//!
//! Promises at most 120 columns for names of usual length, and 24 lines for four schedulers and two flows. Made from the summary alone.

use super::flow_stats::ResponseStats;
use super::format::{Sense, number, or_dash, relative, share, time};
use super::over_seeds::SeedRange;
use super::replications::{RequestKind, SeedMeasure};
use super::summary::{SchedulerResult, Summary};
use super::table::{self, asked, end, section, table};
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
        section(&mut text, &title(summary), rows(summary));
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

/// What the table has for each scheduler beside its name and its load: which of these depends on the flows.
#[derive(Clone, Copy)]
struct Shape {
    /// Several schedulers: the change against the one compared with.
    compared: bool,
    /// A mean and a p99 for each flow; else for reads and for writes.
    by_flow: bool,
    /// Slowdowns: of each flow, or how fair they are.
    alone: bool,
    /// More flows than have columns of their own: then p99 is that of all requests.
    many: bool,
    /// How far the mean is from what no scheduler can beat.
    ceiling: bool,
}

fn rows(summary: &Summary) -> comfy_table::Table {
    let (runs, flows) = (&summary.schedulers, &summary.flows);
    let shape = Shape {
        compared: runs.len() > 1,
        by_flow: (2..=FLOWS).contains(&flows.len()),
        alone: runs.iter().any(|run| run.flows.iter().any(|flow| flow.slowdown.is_some())),
        many: flows.len() > FLOWS,
        ceiling: runs.iter().any(|run| run.ceiling.is_some()),
    };
    let mut header: Vec<String> = ["scheduler", "offered", "served"].map(String::from).into();
    // Of two flows together a mean says little; each has its own.
    header.extend((!shape.by_flow).then(|| "mean".into()));
    header.extend(shape.many.then(|| "p99".into()));
    header.extend(shape.compared.then(|| "Δ mean".into()));
    header.extend(shape.ceiling.then(|| "x bound".into()));
    let tenants = if shape.by_flow {
        short(&flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>())
    } else {
        vec!["reads".to_owned(), "writes".to_owned()]
    };
    for tenant in tenants {
        header.push(tenant);
        header.extend((!shape.many).then(|| "p99".into()));
        header.extend((shape.by_flow && shape.alone).then(|| "slowdown".into()));
    }
    if shape.alone && !shape.by_flow {
        header.extend(["F", "max slowdown"].map(String::from));
    }
    header.extend(["busy", "WA"].map(String::from));
    let mut table = table(header);
    for run in runs {
        table.add_row(row(summary, run, shape));
    }
    table
}

fn row(summary: &Summary, run: &SchedulerResult, shape: Shape) -> Vec<String> {
    let mean = |figures: &Option<ResponseStats>| or_dash(figures.as_ref(), |f| time(f.mean_ns));
    let p99 = |figures: &Option<ResponseStats>| or_dash(figures.as_ref(), |f| time(f.p99_ns as f64));
    let all = &run.total.all;
    let rate = |of: fn(&ResponseStats) -> Option<f64>| or_dash(all.as_ref().and_then(of), number);
    let mut row = vec![run.label(), rate(|f| f.offered_iops), rate(|f| f.iops)];
    row.extend((!shape.by_flow).then(|| mean(all)));
    row.extend(shape.many.then(|| p99(all)));
    if shape.compared {
        let changed = run.change_percent.as_ref().and_then(|c| c.all.as_ref()?.mean);
        row.push(or_dash(changed, |c| relative(c, Sense::Time)));
    }
    row.extend(shape.ceiling.then(|| or_dash(run.ceiling.and_then(|gap| gap.own()), |gap| format!("{gap:.2}"))));
    if shape.by_flow {
        for flow in &run.flows {
            row.extend([mean(&flow.figures.all), p99(&flow.figures.all)]);
            row.extend(shape.alone.then(|| or_dash(flow.slowdown, number)));
        }
    } else {
        for figures in [&run.total.read, &run.total.write] {
            row.push(mean(figures));
            row.extend((!shape.many).then(|| p99(figures)));
        }
        if shape.alone {
            let fairness = run.fairness.as_ref();
            row.extend([or_dash(fairness, |f| number(f.fairness)), or_dash(fairness, |f| number(f.max_slowdown))]);
        }
    }
    row.extend([share(run.device.chip_utilisation), table::write_amplification(summary, run)]);
    row
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
