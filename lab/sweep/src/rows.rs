//! The table of all results: a row for each run, scheduler, flow and kind of request, with the axes as columns.

use std::collections::BTreeMap;

use rayon::prelude::*;
use toml::Value;

use super::SUMMARY;
use super::axis::{Axis, label};
use super::file::Sweep;
use super::plan::Plan;
use flashlane_outputs::Store;
use flashlane_report::results::export::RESPONSE_COLUMNS;
use flashlane_report::results::{FlowStats, Frame, FrameColumn, FrameValues, ResponseStats, SchedulerResult, Summary};
use flashlane_sim::RunError;

/// Columns after those of [`RESPONSE_COLUMNS`].
const OTHERS: [&str; 11] = [
    "slowdown",
    "rejected",
    "makespan_ns",
    "fairness",
    "max_slowdown",
    "weighted_speedup",
    "chip_utilisation",
    "channel_utilisation",
    "write_amplification",
    "gc_erases",
    "gc_moves",
];
/// Columns of figures, in their order.
pub(super) const FIGURES: [&str; 24] = {
    let mut all = [OTHERS[0]; 24];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < RESPONSE_COLUMNS.len() { RESPONSE_COLUMNS[i].0 } else { OTHERS[i - RESPONSE_COLUMNS.len()] };
        i += 1;
    }
    all
};
/// Those of them that are whole numbers.
const WHOLE: [&str; 12] = [
    "requests",
    "bytes",
    "min_ns",
    "p50_ns",
    "p95_ns",
    "p99_ns",
    "p99_9_ns",
    "max_ns",
    "rejected",
    "makespan_ns",
    "gc_erases",
    "gc_moves",
];

/// A row before it is a part of columns.
struct Row {
    scheduler: String,
    /// `None` for all flows together.
    flow: Option<String>,
    op: &'static str,
    figures: BTreeMap<&'static str, f64>,
}

impl Plan {
    /// The table of all results. Rows are in the order of the runs, the schedulers, the flows (all together first) and `all`,
    /// `read`, `write`.
    ///
    /// # Errors
    /// A run that cannot be read.
    pub fn table(&self, sweep: &Sweep, store: &Store) -> Result<Frame, RunError> {
        let read = |run: &super::PlannedRun| -> Result<(u64, Vec<Row>), RunError> {
            let summary = summary(store, &run.name)?;
            Ok((summary.made_by.seed, rows(&summary)))
        };
        let runs = self.runs.par_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut columns = Vec::new();
        for (i, axis) in sweep.axes.iter().enumerate().filter(|(_, axis)| !has_own_column(axis)) {
            let value = |number: usize| axis.values[self.runs[number].at[i]].clone();
            let values = runs.iter().enumerate().flat_map(|(n, (_, rows))| std::iter::repeat_n(value(n), rows.len()));
            columns.push(FrameColumn { name: axis.path.clone(), values: axis_values(axis, values) });
        }
        let seeds = runs.iter().flat_map(|(seed, rows)| std::iter::repeat_n(i64::try_from(*seed).ok(), rows.len()));
        columns.push(FrameColumn { name: "seed".into(), values: FrameValues::Whole(seeds.collect()) });
        let names = self
            .runs
            .iter()
            .zip(&runs)
            .flat_map(|(run, (_, rows))| std::iter::repeat_n(Some(run.name.clone()), rows.len()));
        columns.push(FrameColumn { name: "run".into(), values: FrameValues::Text(names.collect()) });
        let rows: Vec<&Row> = runs.iter().flat_map(|(_, rows)| rows).collect();
        let text = |name: &str, of: fn(&Row) -> Option<String>| FrameColumn {
            name: name.into(),
            values: FrameValues::Text(rows.iter().map(|row| of(row)).collect()),
        };
        columns.push(text("scheduler", |row| Some(row.scheduler.clone())));
        columns.push(text("flow", |row| row.flow.clone()));
        columns.push(text("op", |row| Some(row.op.to_owned())));
        for name in FIGURES {
            let figures = rows.iter().map(|row| row.figures.get(name).copied());
            let values = match WHOLE.contains(&name) {
                true => FrameValues::Whole(figures.map(|figure| figure.map(|n| n as i64)).collect()),
                false => FrameValues::Number(figures.collect()),
            };
            columns.push(FrameColumn { name: name.into(), values });
        }
        Ok(Frame { columns })
    }
}

/// The summary of the run `name`.
pub(super) fn summary(store: &Store, name: &str) -> Result<Summary, RunError> {
    serde_json::from_slice(&store.read(name, SUMMARY)?).map_err(|error| {
        let path = store.path().display();
        RunError::Fault(format!("{path}: {SUMMARY} of the run {name} is none ({error}); name another folder"))
    })
}

/// Whether an axis is shown by a column that the table has anyway.
pub(super) fn has_own_column(axis: &Axis) -> bool {
    axis.path == "seed" || axis.path == "scheduler" || axis.path == "schedulers"
}

/// The values of an axis as a column of the narrowest kind that holds them all.
fn axis_values(axis: &Axis, values: impl Iterator<Item = Value>) -> FrameValues {
    let all = |is: fn(&Value) -> bool| axis.values.iter().all(is);
    let number = |value: &Value| value.as_float().or(value.as_integer().map(|n| n as f64));
    if all(Value::is_integer) {
        FrameValues::Whole(values.map(|value| value.as_integer()).collect())
    } else if all(|value| value.is_integer() || value.is_float()) {
        FrameValues::Number(values.map(|value| number(&value)).collect())
    } else if all(Value::is_bool) {
        FrameValues::Flag(values.map(|value| value.as_bool()).collect())
    } else {
        FrameValues::Text(values.map(|value| Some(label(&value))).collect())
    }
}

/// The rows of one run.
fn rows(summary: &Summary) -> Vec<Row> {
    let mut rows = Vec::new();
    for run in &summary.schedulers {
        push(&mut rows, run, None, &run.total, together(run));
        for flow in &run.flows {
            let own = flow.slowdown.map(|slowdown| ("slowdown", slowdown));
            push(&mut rows, run, Some(&flow.name), &flow.figures, own.into_iter().collect());
        }
    }
    rows
}

/// What belongs to all flows together.
fn together(run: &SchedulerResult) -> BTreeMap<&'static str, f64> {
    let (device, fairness) = (&run.device, run.fairness.as_ref());
    [
        ("fairness", fairness.map(|f| f.fairness)),
        ("max_slowdown", fairness.map(|f| f.max_slowdown)),
        ("weighted_speedup", fairness.map(|f| f.weighted_speedup)),
        ("chip_utilisation", Some(device.chip_utilisation)),
        ("channel_utilisation", Some(device.channel_utilisation)),
        ("write_amplification", device.write_amplification),
        ("gc_erases", Some(device.gc.erases as f64)),
        ("gc_moves", Some(device.gc.moves as f64)),
    ]
    .into_iter()
    .filter_map(|(name, figure)| Some((name, figure?)))
    .collect()
}

/// Adds a row for each kind of request that completed; the row of all kinds also has `own`.
fn push(
    rows: &mut Vec<Row>,
    run: &SchedulerResult,
    flow: Option<&str>,
    figures: &FlowStats,
    own: BTreeMap<&'static str, f64>,
) {
    let kinds = [("all", figures.all.as_ref()), ("read", figures.read.as_ref()), ("write", figures.write.as_ref())];
    let commands = figures.commands.iter().flat_map(|commands| commands.kinds());
    for (op, responses) in kinds.into_iter().chain(commands.map(|(op, responses)| (op, Some(responses)))) {
        if op != "all" && responses.is_none() {
            continue;
        }
        let mut row: BTreeMap<&'static str, f64> = responses.map(response).into_iter().flatten().collect();
        if op == "all" {
            row.extend([("rejected", figures.rejected as f64), ("makespan_ns", figures.makespan_ns as f64)]);
            row.extend(&own);
        }
        rows.push(Row { scheduler: run.name.clone(), flow: flow.map(str::to_owned), op, figures: row });
    }
}

fn response(f: &ResponseStats) -> impl Iterator<Item = (&'static str, f64)> {
    RESPONSE_COLUMNS.into_iter().filter_map(|(name, value)| Some((name, value(f)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_scenario::Scenario;
    use flashlane_sim::{Options, compare};

    /// Two flows, one of which only writes, each also by itself.
    const SCENARIO: &str = "schedulers = [\"fcfs\", \"read-first\"]\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = true\n\
        [[flow]]\nname = \"both\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = { constant = 2048 }\nrate_iops = 100_000\nrequests = 200\n\
        [[flow]]\nname = \"writes\"\n[flow.synthetic]\nread_ratio = 0\nsize = { constant = 2048 }\nrate_iops = 50_000\nrequests = 100\n";

    fn compared() -> Summary {
        let scenario = Scenario::parse("a scenario", SCENARIO.into()).expect("a scenario");
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        compare(&scenario, &options).expect("a comparison").summary
    }

    /// Every figure of a row is that of the summary, and those that belong to all flows together are in their row alone.
    #[test]
    fn rows_have_the_figures_of_the_summary() {
        let summary = compared();
        assert_eq!(summary.schedulers.len(), 2);
        let rows = rows(&summary);
        for run in &summary.schedulers {
            let row = |flow: Option<&str>, op: &str| {
                let of = |row: &&Row| row.scheduler == run.name && row.flow.as_deref() == flow && row.op == op;
                let found: Vec<&Row> = rows.iter().filter(of).collect();
                assert!(found.len() <= 1, "{} {flow:?} {op}", run.name);
                found.first().map(|row| &row.figures)
            };
            let fairness = run.fairness.as_ref().expect("two flows");
            let device = &run.device;
            let together = row(None, "all").expect("a row");
            for (name, value) in [
                ("fairness", fairness.fairness),
                ("max_slowdown", fairness.max_slowdown),
                ("weighted_speedup", fairness.weighted_speedup),
                ("chip_utilisation", device.chip_utilisation),
                ("channel_utilisation", device.channel_utilisation),
                ("write_amplification", device.write_amplification.expect("writes")),
                ("gc_erases", device.gc.erases as f64),
                ("gc_moves", device.gc.moves as f64),
                ("rejected", run.total.rejected as f64),
                ("makespan_ns", run.total.makespan_ns as f64),
            ] {
                assert_eq!(together.get(name), Some(&value), "{name}");
            }
            assert_eq!(together.get("slowdown"), None);
            for flow in &run.flows {
                let own = row(Some(&flow.name), "all").expect("a row");
                assert_eq!(own.get("slowdown").copied(), flow.slowdown);
                assert!(flow.slowdown.is_some() && OTHERS[3..].iter().all(|name| !own.contains_key(name)));
                let kinds = [("read", &flow.figures.read), ("write", &flow.figures.write), ("all", &flow.figures.all)];
                for (op, figures) in kinds {
                    let row = row(Some(&flow.name), op);
                    assert_eq!(row.is_some(), figures.is_some(), "{op}");
                    let (Some(row), Some(figures)) = (row, figures) else { continue };
                    assert_eq!(row.get("mean_ns"), Some(&figures.mean_ns));
                    assert_eq!(row.get("p99_ns"), Some(&(figures.p99_ns as f64)));
                    assert_eq!(row.get("requests"), Some(&(figures.requests as f64)));
                }
            }
        }
    }
}
