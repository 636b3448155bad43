//! Figures of a sweep, and their changes against the first scheduler, as means over the seeds with their 95 % confidence intervals: what
//! the page draws.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::Value;

use super::axis::label;
use super::file::Sweep;
use super::labels::{unit, words};
use super::plan::Plan;
use super::rows::{FIGURES, has_own_column};
use flashlane_report::metrics::mean_and_ci95;
use flashlane_report::results::Frame;

/// Everything that is drawn.
#[derive(Serialize)]
pub(super) struct Bands {
    pub(super) axes: Vec<BandAxis>,
    pub(super) schedulers: Vec<String>,
    flows: Vec<String>,
    figures: Vec<BandFigure>,
    /// The axes by their number of values, most first, numbers before words: charts are drawn against the first and split by the second.
    pub(super) first: Vec<usize>,
    pub(super) cells: Vec<Cell>,
}

/// A figure.
#[derive(Serialize)]
struct BandFigure {
    name: &'static str,
    words: &'static str,
    unit: Option<&'static str>,
}

/// An axis other than seeds and schedulers.
#[derive(Serialize)]
pub(super) struct BandAxis {
    pub(super) path: String,
    unit: Option<&'static str>,
    pub(super) labels: Vec<String>,
    /// The values, if all are numbers.
    pub(super) numbers: Option<Vec<f64>>,
}

/// The figures of one combination of values.
#[derive(Serialize)]
pub(super) struct Cell {
    /// For each axis, the place of its value.
    pub(super) at: Vec<usize>,
    pub(super) scheduler: usize,
    /// `None` for all flows together.
    pub(super) flow: Option<usize>,
    pub(super) op: String,
    /// For each figure, the mean, and half the width of its interval (null with one seed); null without the figure.
    pub(super) figures: Vec<Option<Interval>>,
    /// The same of its change against the first scheduler, percent, each seed against the same seed; null for the first itself, and
    /// where that has nothing but zeros.
    pub(super) changes: Vec<Option<Interval>>,
}

type Interval = (f64, Option<f64>);
/// The place of a cell, but for its scheduler: values of the axes, flow, kind of requests.
type Place = (Vec<usize>, Option<usize>, String);
/// For each figure its value by seed.
type BySeed = Vec<BTreeMap<u64, f64>>;

impl Bands {
    /// The place of a figure in the lists of cells.
    pub(super) fn figure(&self, name: &str) -> usize {
        self.figures.iter().position(|figure| figure.name == name).expect("a figure of the table")
    }

    pub(super) fn of(sweep: &Sweep, plan: &Plan, table: &Frame) -> Bands {
        let shown: Vec<usize> = (0..sweep.axes.len()).filter(|&axis| !has_own_column(&sweep.axes[axis])).collect();
        let axes = shown.iter().map(|&axis| {
            let axis = &sweep.axes[axis];
            let number = |value: &Value| value.as_float().or(value.as_integer().map(|n| n as f64));
            BandAxis {
                path: axis.path.clone(),
                unit: unit(&axis.path),
                labels: axis.values.iter().map(label).collect(),
                numbers: axis.values.iter().map(number).collect(),
            }
        });
        let at: BTreeMap<&str, Vec<usize>> =
            plan.runs.iter().map(|run| (run.name.as_str(), shown.iter().map(|&axis| run.at[axis]).collect())).collect();
        let text = |name: &str| table.column(name).expect("every table has it");
        let (runs, seeds, names, of_flow, ops) =
            (text("run"), text("seed"), text("scheduler"), text("flow"), text("op"));
        let (mut schedulers, mut flows) = (Vec::new(), Vec::new());
        let mut values: BTreeMap<Place, BTreeMap<usize, BySeed>> = BTreeMap::new();
        for row in 0..table.rows() {
            let flow = Some(of_flow.text(row)).filter(|flow| !flow.is_empty());
            let flow = flow.map(|flow| place(&mut flows, flow));
            let place_of = (at[runs.text(row).as_str()].clone(), flow, ops.text(row));
            let scheduler = place(&mut schedulers, names.text(row));
            let cell = values.entry(place_of).or_default().entry(scheduler);
            let seed = seeds.number(row).map_or(0, |seed| seed as u64);
            for (values, name) in cell.or_insert_with(|| vec![BTreeMap::new(); FIGURES.len()]).iter_mut().zip(FIGURES) {
                values.extend(text(name).number(row).map(|value| (seed, value)));
            }
        }
        let cells = values.into_iter().flat_map(|((at, flow, op), of)| {
            let first = of.get(&0).cloned();
            of.into_iter().map(move |(scheduler, values)| {
                let figures = values.iter().map(|values| interval(values.values().copied())).collect();
                let none = || vec![None; FIGURES.len()];
                let changes =
                    first.as_ref().filter(|_| scheduler != 0).map_or_else(none, |first| changes(&values, first));
                Cell { at: at.clone(), scheduler, flow, op: op.clone(), figures, changes }
            })
        });
        let cells: Vec<Cell> = cells.collect();
        let axes: Vec<BandAxis> = axes.collect();
        let mut first: Vec<usize> = (0..axes.len()).collect();
        first.sort_by_key(|&axis| (std::cmp::Reverse(axes[axis].labels.len()), axes[axis].numbers.is_none()));
        let figures = FIGURES.map(|name| BandFigure { name, words: words(name), unit: unit(name) }).into();
        Bands { axes, schedulers, flows, figures, first, cells }
    }
}

/// The mean of some values and half the width of its interval; `None` without values.
fn interval(values: impl Iterator<Item = f64>) -> Option<Interval> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| mean_and_ci95(&values))
}

/// How far `values` are above (below 0: under) those of `first`, percent.
fn changes(values: &BySeed, first: &BySeed) -> Vec<Option<Interval>> {
    let change = |(values, first): (&BTreeMap<u64, f64>, &BTreeMap<u64, f64>)| {
        let pairs =
            values.iter().filter_map(|(seed, value)| Some((value, first.get(seed).filter(|&&base| base != 0.0)?)));
        interval(pairs.map(|(value, base)| 100.0 * (value / base - 1.0)))
    };
    values.iter().zip(first).map(change).collect()
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
    use crate::{MakeOptions, Progress, Shard, make};
    use flashlane_outputs::Store;

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
