//! The table of all results: a row for each run, scheduler, flow and kind of request, with the axes as columns.

use rayon::prelude::*;
use toml::Value;

use super::SUMMARY;
use super::axis::{Axis, label};
use super::file::Sweep;
use super::plan::Plan;
use flashlane_outputs::Store;
use flashlane_report::results::export::{NOT_MEASURED, RESPONSE_COLUMNS};
use flashlane_report::results::{
    FlowResult, FlowStats, Frame, FrameColumn, FrameValues, ResponseStats, SchedulerResult, Summary, WaitStats,
};
use flashlane_sim::RunError;

/// A figure of all kinds of requests together: of a flow, or of all flows.
type OfAll = fn(&SchedulerResult, Option<&FlowResult>, &FlowStats) -> Option<f64>;

/// Columns after those of [`RESPONSE_COLUMNS`]: each with its name and its value.
const OTHERS: [(&str, OfAll); 11] = [
    ("slowdown", |_, flow, _| flow?.slowdown),
    ("rejected", |_, _, figures| Some(figures.rejected as f64)),
    ("makespan_ns", |_, _, figures| Some(figures.makespan_ns as f64)),
    ("fairness", |run, flow, _| Some(together(run, flow)?.fairness.as_ref()?.fairness)),
    ("max_slowdown", |run, flow, _| Some(together(run, flow)?.fairness.as_ref()?.max_slowdown)),
    ("weighted_speedup", |run, flow, _| Some(together(run, flow)?.fairness.as_ref()?.weighted_speedup)),
    ("chip_utilisation", |run, flow, _| Some(together(run, flow)?.device.chip_utilisation)),
    ("channel_utilisation", |run, flow, _| Some(together(run, flow)?.device.channel_utilisation)),
    ("write_amplification", |run, flow, _| together(run, flow)?.device.write_amplification),
    ("gc_erases", |run, flow, _| Some(together(run, flow)?.device.gc.erases as f64)),
    ("gc_moves", |run, flow, _| Some(together(run, flow)?.device.gc.moves as f64)),
];

/// The run in the row of all flows together.
fn together<'a>(run: &'a SchedulerResult, flow: Option<&FlowResult>) -> Option<&'a SchedulerResult> {
    flow.is_none().then_some(run)
}

/// Columns of figures, in their order.
pub(super) const FIGURES: [&str; 24] = {
    let mut all = [OTHERS[0].0; 24];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < RESPONSE_COLUMNS.len() { RESPONSE_COLUMNS[i].0 } else { OTHERS[i - RESPONSE_COLUMNS.len()].0 };
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

/// Columns of a flow's waits in a block layer, where there is one: the share of its requests that waited at a stage, and how long these did on average.
const WAITS: [&str; 8] = [
    "limit_wait_share",
    "limit_wait_ns",
    "tag_wait_share",
    "tag_wait_ns",
    "elevator_wait_share",
    "elevator_wait_ns",
    "driver_wait_share",
    "driver_wait_ns",
];

/// A row before it is a part of columns.
struct Row {
    scheduler: String,
    /// `None` for all flows together.
    flow: Option<String>,
    op: &'static str,
    /// In the order of [`FIGURES`].
    figures: Vec<Option<f64>>,
    /// In the order of [`WAITS`], in the rows of all requests of a flow.
    waits: Option<[f64; 8]>,
    /// Uses that were not measured when the device was fitted.
    not_measured: Option<String>,
}

impl Plan {
    /// The table of all results. Rows are in the order of the runs, the schedulers, the flows (all together first) and `all`,
    /// `read`, `write`. Below a block layer columns of waits follow. Where a fitted device's use was not measured, a last column names it.
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
        for (i, name) in FIGURES.into_iter().enumerate() {
            let figures = rows.iter().map(|row| row.figures[i]);
            let values = match WHOLE.contains(&name) {
                true => FrameValues::Whole(figures.map(|figure| figure.map(|n| n as i64)).collect()),
                false => FrameValues::Number(figures.collect()),
            };
            columns.push(FrameColumn { name: name.into(), values });
        }
        for (i, name) in WAITS.into_iter().enumerate().filter(|_| rows.iter().any(|row| row.waits.is_some())) {
            let values = rows.iter().map(|row| row.waits.map(|waits| waits[i]));
            columns.push(FrameColumn { name: name.into(), values: FrameValues::Number(values.collect()) });
        }
        if rows.iter().any(|row| row.not_measured.is_some()) {
            columns.push(text(NOT_MEASURED, |row| row.not_measured.clone()));
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
    let unknown = &summary.made_by.not_measured;
    let unknown = (!unknown.is_empty()).then(|| unknown.join(" and "));
    let of_run = |run: &SchedulerResult| {
        let flows = std::iter::once(None).chain(run.flows.iter().map(Some));
        flows.flat_map(|flow| rows_of(run, flow, unknown.as_deref())).collect::<Vec<_>>()
    };
    summary.schedulers.iter().flat_map(of_run).collect()
}

/// A row for each kind of request that completed, and for all together.
fn rows_of(run: &SchedulerResult, flow: Option<&FlowResult>, not_measured: Option<&str>) -> Vec<Row> {
    let figures = flow.map_or(&run.total, |flow| &flow.figures);
    let kinds = [("all", figures.all.as_ref()), ("read", figures.read.as_ref()), ("write", figures.write.as_ref())];
    let commands = figures.commands.iter().flat_map(|commands| commands.kinds());
    let kinds = kinds.into_iter().chain(commands.map(|(op, responses)| (op, Some(responses))));
    let held = |name: &str| run.block.as_ref()?.flows.iter().find(|flow| flow.name == name);
    let waits = flow.and_then(|flow| held(&flow.name)).map(|held| {
        let stage = |i: usize| held.stages()[i].1;
        let share = |waited: WaitStats| waited.requests as f64 / held.requests.max(1) as f64;
        std::array::from_fn(|i| if i % 2 == 0 { share(stage(i / 2)) } else { stage(i / 2).mean_ns })
    });
    let row = |(op, responses): (&'static str, Option<&ResponseStats>)| {
        let of_kind = RESPONSE_COLUMNS.map(|(_, value)| responses.and_then(value));
        let of_all = OTHERS.map(|(_, value)| value(run, flow, figures).filter(|_| op == "all"));
        let flow = flow.map(|flow| flow.name.clone());
        let figures = of_kind.into_iter().chain(of_all).collect();
        let waits = if op == "all" { waits } else { None };
        Row { scheduler: run.name.clone(), flow, op, figures, waits, not_measured: not_measured.map(str::to_owned) }
    };
    kinds.filter(|(op, responses)| *op == "all" || responses.is_some()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use flashlane_scenario::Scenario;
    use flashlane_sim::{Options, compare};

    /// Two flows, one of which only writes, each also by itself.
    const SCENARIO: &str = "schedulers = [\"fcfs\", \"read-first\"]\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = true\n\
        [[flow]]\nname = \"both\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = { constant = 2048 }\nrate_iops = 100_000\nrequests = 200\n\
        [[flow]]\nname = \"writes\"\n[flow.synthetic]\nread_ratio = 0\nsize = { constant = 2048 }\nrate_iops = 50_000\nrequests = 100\n";

    fn compared() -> Summary {
        compared_below("")
    }

    fn compared_below(block: &str) -> Summary {
        let text = SCENARIO.replacen("[[flow]]", &format!("{block}[[flow]]"), 1);
        let scenario = Scenario::parse("a scenario", text).expect("a scenario");
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        compare(&scenario, &options).expect("a comparison").summary
    }

    /// Below a block layer the rows of all requests of each flow have what they waited for; else there are no such columns.
    #[test]
    fn rows_have_the_waits_of_a_block_layer() {
        let below = compared_below("[block]\nelevator = \"mq-deadline\"\ndepth = 1\nnr_requests = 2\n");
        let rows = rows(&below);
        let mut checked = 0;
        for run in &below.schedulers {
            for flow in &run.block.as_ref().expect("a block layer").flows {
                let own: Vec<&Row> = rows
                    .iter()
                    .filter(|row| row.scheduler == run.name && row.flow.as_deref() == Some(flow.name.as_str()))
                    .collect();
                assert!(own.iter().all(|row| row.waits.is_some() == (row.op == "all")), "{}", flow.name);
                let waits = own.iter().find_map(|row| row.waits).expect("a row");
                let share = flow.tag.requests as f64 / flow.requests as f64;
                assert_eq!((waits[2], waits[3]), (share, flow.tag.mean_ns), "{}", flow.name);
                assert_eq!(waits[7], flow.driver.mean_ns, "{}", flow.name);
                checked += usize::from(share > 0.0);
            }
        }
        assert!(checked > 0 && rows.iter().filter(|row| row.flow.is_none()).all(|row| row.waits.is_none()));
        assert!(super::rows(&compared()).iter().all(|row| row.waits.is_none()));
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
                found
                    .first()
                    .map(|row| FIGURES.into_iter().zip(row.figures.iter().copied()).collect::<BTreeMap<_, _>>())
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
                assert_eq!(together[name], Some(value), "{name}");
            }
            assert_eq!(together["slowdown"], None);
            for flow in &run.flows {
                let own = row(Some(&flow.name), "all").expect("a row");
                assert_eq!(own["slowdown"], flow.slowdown);
                assert!(flow.slowdown.is_some() && OTHERS[3..].iter().all(|(name, _)| own[name].is_none()));
                let kinds = [("read", &flow.figures.read), ("write", &flow.figures.write), ("all", &flow.figures.all)];
                for (op, figures) in kinds {
                    let row = row(Some(&flow.name), op);
                    assert_eq!(row.is_some(), figures.is_some(), "{op}");
                    let (Some(row), Some(figures)) = (row, figures) else { continue };
                    assert_eq!(row["mean_ns"], Some(figures.mean_ns));
                    assert_eq!(row["p99_ns"], Some(figures.p99_ns as f64));
                    assert_eq!(row["requests"], Some(figures.requests as f64));
                }
            }
        }
    }
}
