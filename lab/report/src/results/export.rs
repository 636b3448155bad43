//! The main figures in forms that other programs take: a CSV table, and a Markdown table for notes and issues.
//!
//! Made from the summary alone. Must never round what CSV holds.

use super::flow_stats::{FlowStats, ResponseStats};
use super::format::{Sense, number, or_dash, relative, share, time};
use super::listed::listed;
use super::summary::{SchedulerResult, Summary};
use super::verdict::not_measured;

/// A column of a table: its name, and its value; `None` where there is none. Whole numbers are exact up to 2^53.
pub type ResponseColumn = (&'static str, fn(&ResponseStats) -> Option<f64>);

/// The figures of [`ResponseStats`] that tables have as columns, in their order.
pub const RESPONSE_COLUMNS: [ResponseColumn; 13] = [
    ("offered_iops", |f| f.offered_iops),
    ("requests", |f| Some(f.requests as f64)),
    ("bytes", |f| Some(f.bytes as f64)),
    ("iops", |f| f.iops),
    ("mb_per_s", |f| f.mb_per_s),
    ("mean_ns", |f| Some(f.mean_ns)),
    ("stdev_ns", |f| Some(f.stdev_ns)),
    ("min_ns", |f| Some(f.min_ns as f64)),
    ("p50_ns", |f| Some(f.p50_ns as f64)),
    ("p95_ns", |f| Some(f.p95_ns as f64)),
    ("p99_ns", |f| Some(f.p99_ns as f64)),
    ("p99_9_ns", |f| Some(f.p99_9_ns as f64)),
    ("max_ns", |f| Some(f.max_ns as f64)),
];

/// The column of uses that were not measured when the device was fitted, in tables that have such.
pub const NOT_MEASURED: &str = "not_measured";

/// One row for each scheduler, flow (empty for all together) and kind of request (`all` reads and writes, `read`, `write`, `trim`, `write-zeroes`, `flush`) that completed any. Times are
/// nanoseconds. What belongs to all flows together is in their rows only. Where a fitted device's use was not measured, a last column names it.
pub fn csv(summary: &Summary) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |cells: &[String]| writer.write_record(cells).expect("memory takes every record");
    let head = ["scheduler", "flow", "kind"].into_iter().chain(RESPONSE_COLUMNS.map(|(name, _)| name));
    let tail = ["slowdown", "chip_utilisation", "write_amplification"];
    let unknown = summary.made_by.not_measured.join(" and ");
    let unknown = (!unknown.is_empty()).then_some(unknown);
    let last = unknown.iter().map(|_| NOT_MEASURED);
    let names: Vec<String> = head.chain(tail).chain(last).map(str::to_owned).collect();
    write(&names);
    for run in &summary.schedulers {
        let device = [run.device.chip_utilisation.to_string(), optional(run.device.write_amplification)];
        let together = (String::new(), &run.total, None, device);
        let flows = run.flows.iter().map(|flow| (flow.name.clone(), &flow.figures, flow.slowdown, Default::default()));
        for (flow, figures, slowdown, device) in std::iter::once(together).chain(flows) {
            for (kind, responses) in kinds(figures) {
                let mut cells = vec![run.name.clone(), flow.clone(), kind.to_owned()];
                cells.extend(RESPONSE_COLUMNS.map(|(_, value)| optional(value(responses))));
                cells.push(optional(slowdown));
                cells.extend(device.clone());
                cells.extend(unknown.clone());
                write(&cells);
            }
        }
    }
    String::from_utf8(writer.into_inner().expect("memory takes every record")).expect("written from text")
}

fn kinds(figures: &FlowStats) -> impl Iterator<Item = (&'static str, &ResponseStats)> {
    let kinds = [("all", &figures.all), ("read", &figures.read), ("write", &figures.write)];
    let kinds = kinds.into_iter().filter_map(|(kind, responses)| Some((kind, responses.as_ref()?)));
    kinds.chain(figures.commands.iter().flat_map(|commands| commands.kinds()))
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A Markdown table: a row for each scheduler, with the mean response time and slowdown of each flow where there are several. Below it, what was not measured
/// when the device was fitted.
pub fn markdown(summary: &Summary) -> String {
    let all = |run: &&SchedulerResult, show: fn(&ResponseStats) -> String| or_dash(run.total.all.as_ref(), show);
    let mut list = listed(&summary.schedulers)
        .column("scheduler", |run| cell(&run.name))
        .column("served IOPS", move |run| all(run, |f| or_dash(f.iops, number)))
        .column("mean", move |run| all(run, |f| time(f.mean_ns)))
        .column("p99", move |run| all(run, |f| time(f.p99_ns as f64)))
        .column("Δ mean", |run| {
            let changed = run.change_percent.as_ref().and_then(|change| change.all.as_ref()?.mean);
            or_dash(changed, |changed| relative(changed, Sense::Time))
        });
    for (i, flow) in summary.flows.iter().enumerate().filter(|_| summary.flows.len() > 1) {
        let mean = move |run: &&SchedulerResult| or_dash(run.flows[i].figures.all.as_ref(), |f| time(f.mean_ns));
        list = list
            .column(cell(&flow.name), mean)
            .column(format!("slowdown of {}", cell(&flow.name)), move |run| or_dash(run.flows[i].slowdown, number));
    }
    list.column("chips busy", |run| share(run.device.chip_utilisation))
        .column("write amplification", |run| or_dash(run.device.write_amplification, number))
        .markdown()
        + &not_measured(&summary.made_by.not_measured).map_or_else(String::new, |sentence| format!("\n{sentence}\n"))
}

/// A name inside a cell: nothing in it is markup.
fn cell(name: &str) -> String {
    let mut text = String::new();
    for c in flashlane_outputs::shown::escaped(name).chars() {
        if "\\|<>*_`[]".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::example::example;

    #[test]
    fn csv_has_the_figures_of_every_flow_unrounded() {
        let summary = example();
        let text = csv(&summary);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let names = "scheduler,flow,kind,offered_iops,requests,bytes,iops,mb_per_s,mean_ns,stdev_ns,min_ns,p50_ns,p95_ns,p99_ns,\
                     p99_9_ns,max_ns,slowdown,chip_utilisation,write_amplification";
        assert_eq!(text.lines().next(), Some(names));
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let place = |name: &str| names.split(',').position(|column| column == name).expect("a column");
        let find = |scheduler: &str, flow: &str, kind: &str| {
            let key = [("scheduler", scheduler), ("flow", flow), ("kind", kind)];
            let row =
                rows.iter().find(|row| key.iter().all(|(name, value)| row[place(name)] == **value)).expect("a row");
            move |name: &str| row[place(name)].to_owned()
        };
        for run in &summary.schedulers {
            let total = find(&run.name, "", "write");
            assert_eq!(total("mean_ns").parse::<f64>().unwrap(), run.total.write.as_ref().unwrap().mean_ns);
            assert_eq!(total("chip_utilisation").parse::<f64>().unwrap(), run.device.chip_utilisation);
            for flow in &run.flows {
                let row = find(&run.name, &flow.name, "all");
                assert_eq!(row("p99_ns"), flow.figures.all.as_ref().unwrap().p99_ns.to_string());
                assert_eq!(row("slowdown").parse::<f64>().unwrap(), flow.slowdown.unwrap());
            }
        }
    }

    #[test]
    fn uses_for_which_the_device_was_not_fitted_stand_in_both() {
        let mut summary = example();
        summary.made_by.not_measured = vec!["writes".into(), "reads beside writes".into()];
        let csv = csv(&summary);
        assert!(csv.lines().next().is_some_and(|names| names.ends_with(",write_amplification,not_measured")), "{csv}");
        assert!(csv.lines().skip(1).all(|row| row.ends_with(",writes and reads beside writes")), "{csv}");
        let says = "|\n\nwrites, reads beside writes were not measured when this device was fitted: their figures are a guess\n";
        assert!(markdown(&summary).ends_with(says), "{}", markdown(&summary));
    }

    #[test]
    fn names_in_markdown_are_no_markup() {
        let text = markdown(&example());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 + 3);
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        assert!(lines.iter().all(|line| bars(line) == bars(lines[1])), "{text}");
        assert!(text.contains("batch \\<img src=x"), "{text}");
    }
}
