//! Figures of a sweep as means over the seeds with their 95 % confidence intervals: what the page draws.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::Value;

use super::axis::label;
use super::file::Sweep;
use super::plan::Plan;
use super::rows::{FIGURES, has_own_column};
use crate::metrics::mean_and_ci95;
use crate::results::Frame;

/// Everything that is drawn.
#[derive(Serialize)]
pub(super) struct Bands {
    axes: Vec<BandAxis>,
    schedulers: Vec<String>,
    flows: Vec<String>,
    figures: Vec<&'static str>,
    cells: Vec<Cell>,
}

/// An axis other than seeds and schedulers.
#[derive(Serialize)]
struct BandAxis {
    path: String,
    labels: Vec<String>,
    /// The values, if all are numbers.
    numbers: Option<Vec<f64>>,
}

/// The figures of one combination of values.
#[derive(Serialize)]
struct Cell {
    /// For each axis, the place of its value.
    at: Vec<usize>,
    scheduler: usize,
    /// `None` for all flows together.
    flow: Option<usize>,
    op: String,
    /// For each figure, the mean, and half the width of its interval (null with one seed); null without the figure.
    figures: Vec<Option<(f64, Option<f64>)>>,
}

type Key = (Vec<usize>, usize, Option<usize>, String);

impl Bands {
    pub(super) fn of(sweep: &Sweep, plan: &Plan, table: &Frame) -> Bands {
        let shown: Vec<usize> = (0..sweep.axes.len()).filter(|&axis| !has_own_column(&sweep.axes[axis])).collect();
        let axes = shown.iter().map(|&axis| {
            let axis = &sweep.axes[axis];
            let number = |value: &Value| value.as_float().or(value.as_integer().map(|n| n as f64));
            BandAxis {
                path: axis.path.clone(),
                labels: axis.values.iter().map(label).collect(),
                numbers: axis.values.iter().map(number).collect(),
            }
        });
        let at: BTreeMap<&str, Vec<usize>> =
            plan.runs.iter().map(|run| (run.name.as_str(), shown.iter().map(|&axis| run.at[axis]).collect())).collect();
        let text = |name: &str| table.column(name).expect("every table has it");
        let (runs, names, of_flow, ops) = (text("run"), text("scheduler"), text("flow"), text("op"));
        let (mut schedulers, mut flows) = (Vec::new(), Vec::new());
        let mut values: BTreeMap<Key, Vec<Vec<f64>>> = BTreeMap::new();
        for row in 0..table.rows() {
            let flow = Some(of_flow.text(row)).filter(|flow| !flow.is_empty());
            let key = (
                at[runs.text(row).as_str()].clone(),
                place(&mut schedulers, names.text(row)),
                flow.map(|flow| place(&mut flows, flow)),
                ops.text(row),
            );
            let cell = values.entry(key).or_insert_with(|| vec![Vec::new(); FIGURES.len()]);
            for (values, name) in cell.iter_mut().zip(FIGURES) {
                values.extend(text(name).number(row));
            }
        }
        let cells = values.into_iter().map(|((at, scheduler, flow, op), values)| {
            let figures = values.iter().map(|values| (!values.is_empty()).then(|| mean_and_ci95(values))).collect();
            Cell { at, scheduler, flow, op, figures }
        });
        let cells: Vec<Cell> = cells.collect();
        Bands { axes: axes.collect(), schedulers, flows, figures: FIGURES.into(), cells }
    }
}

/// The place of `name` in the list, to which it is added if it is new.
fn place(list: &mut Vec<String>, name: String) -> usize {
    list.iter().position(|known| *known == name).unwrap_or_else(|| {
        list.push(name);
        list.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::outputs::Store;
    use crate::sweep::{MakeOptions, Progress, Shard, make};

    const SWEEP: &str = "schedulers = [\"fcfs\"]\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = false\n\
        [[flow]]\nname = \"f\"\n[flow.synthetic]\nsize = { constant = 2048 }\nrate_iops = 50_000\nrequests = 10\n\
        [[flow]]\nname = \"g\"\n[flow.synthetic]\nsize = { constant = 2048 }\nrate_iops = 50_000\nrequests = 20\n\
        [sweep]\nflow.f.synthetic.rate_iops = [50_000, 100_000]\nseeds = 2\n";

    /// A cell for each value, flow and kind, each from its own rows alone.
    #[test]
    fn a_cell_has_the_rows_of_its_flow_and_its_values() {
        let folder = tempfile::tempdir().expect("a folder");
        let sweep = Sweep::of_file(Path::new("s.toml"), SWEEP.into()).expect("a sweep");
        let plan = sweep.plan().expect("sound");
        let store = Store::open(&folder.path().join("store"), "1").expect("a store");
        let progress = Progress::default();
        let options = MakeOptions { shard: Shard::WHOLE, audit: false, command: "c".into(), progress: &progress };
        make(&sweep, &plan, &store, &options).expect("made");
        let bands = Bands::of(&sweep, &plan, &plan.table(&sweep, &store).expect("whole"));
        assert_eq!(bands.flows, ["f", "g"]);
        let requests = FIGURES.iter().position(|name| *name == "requests").expect("a column");
        let of = |flow: Option<usize>| -> Vec<_> {
            let cells = bands.cells.iter().filter(|cell| cell.flow == flow && cell.op == "all");
            cells.map(|cell| (cell.at.clone(), cell.figures[requests])).collect()
        };
        for (flow, count) in [(None, 30.0), (Some(0), 10.0), (Some(1), 20.0)] {
            let figures = Some((count, Some(0.0)));
            assert_eq!(of(flow), [(vec![0], figures), (vec![1], figures)], "{flow:?}");
        }
    }
}
