//! The summary as the page needs it: single figures, and nothing that only its lines show.

use serde_json::{Value, json};

use crate::results::Decisions;
use crate::results::flow_stats::{Cdf, CommandStats, FlowStats, OverTime, ResponseStats};
use crate::results::summary::{DeviceStats, FlowResult, SchedulerResult, Summary};

/// A summary without distributions and windows, and without what is by chip, of transactions, or alone.
pub(super) fn light(summary: &Summary) -> Summary {
    Summary {
        version: summary.version,
        made_by: summary.made_by.clone(),
        flows: summary.flows.clone(),
        baseline: summary.baseline.clone(),
        schedulers: summary.schedulers.iter().map(of_run).collect(),
        skipped: summary.skipped.clone(),
        replications: summary.replications.clone(),
        deciding: summary.deciding.clone(),
        attribution: None,
        ceiling: None,
    }
}

fn of_run(run: &SchedulerResult) -> SchedulerResult {
    let device = DeviceStats {
        chip_utilisation_each: Vec::new(),
        channel_utilisation_each: Vec::new(),
        waiting_writes: run.device.waiting_writes.clone(),
        gc: run.device.gc.clone(),
        write_amplification_by: run.device.write_amplification_by.clone(),
        slc: run.device.slc.clone(),
        read_retries: run.device.read_retries.clone(),
        ..run.device
    };
    let paired = run.paired.as_ref().map(|paired| {
        let (baseline, all) = (paired.baseline.clone(), paired.all.clone());
        crate::results::Paired { baseline, all, read: None, write: None, by_size: Vec::new() }
    });
    SchedulerResult {
        name: run.name.clone(),
        control: run.control,
        ceiling: None,
        decisions: Decisions::default(),
        total: of_requests(&run.total),
        flows: run.flows.iter().map(of_flow).collect(),
        device,
        fairness: run.fairness.clone(),
        change_percent: run.change_percent.clone(),
        touched: run.touched.clone(),
        paired,
        slack: None,
        estimation: None,
        host: run.host.clone(),
        block: run.block.clone(),
    }
}

fn of_flow(flow: &FlowResult) -> FlowResult {
    FlowResult {
        name: String::new(),
        figures: FlowStats { read: None, write: None, fua_write: None, commands: None, ..of_requests(&flow.figures) },
        paired: None,
        alone: None,
        slowdown: flow.slowdown,
        slowdown_over_time: None,
        overloaded: flow.overloaded,
        overload: flow.overload.clone(),
    }
}

fn of_requests(figures: &FlowStats) -> FlowStats {
    let of = |own: &Option<ResponseStats>| own.as_ref().map(|own| ResponseStats { cdf: Cdf::default(), ..*own });
    let [all, read, write] = [&figures.all, &figures.read, &figures.write].map(of);
    let commands = figures.commands.as_ref().map(|commands| {
        let [trim, write_zeroes, flush] = [&commands.trim, &commands.write_zeroes, &commands.flush].map(of);
        Box::new(CommandStats { received: commands.received.clone(), trim, write_zeroes, flush })
    });
    let fua_write = figures.fua_write.as_deref().map(|own| Box::new(ResponseStats { cdf: Cdf::default(), ..*own }));
    FlowStats { all, read, write, fua_write, commands, over_time: OverTime::default(), ..*figures }
}

/// What scripts read of a [`light`] summary, by the same keys: tables are sorted by it, and flows are drawn from it.
pub(super) fn data(light: &Summary) -> Value {
    let runs = light.schedulers.iter().map(|run| {
        let mut value = serde_json::to_value(run).expect("figures have a JSON form");
        for part in ["all", "read", "write", "commands/trim", "commands/write_zeroes", "commands/flush"] {
            if let Some(Value::Object(figures)) = value.pointer_mut(&format!("/total/{part}")) {
                figures.remove("cdf");
            }
        }
        if let Some(Value::Object(total)) = value.pointer_mut("/total") {
            total.remove("over_time");
        }
        if let Value::Object(run) = &mut value {
            run.remove("decisions");
        }
        let flows = run.flows.iter().map(|flow| {
            let figures = flow.figures.all.as_ref();
            let all = figures.map(|f| json!({ "mean_ns": f.mean_ns, "p99_ns": f.p99_ns, "iops": f.iops }));
            json!({ "figures": { "all": all }, "slowdown": flow.slowdown })
        });
        value["flows"] = flows.collect();
        value
    });
    let flows = light.flows.iter().map(|flow| json!({ "name": flow.name }));
    let mut data = json!({
        "flows": flows.collect::<Value>(),
        "baseline": light.baseline,
        "schedulers": runs.collect::<Value>(),
    });
    round(&mut data);
    data
}

/// Rounds fractions to six digits.
fn round(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(values) => values.values_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            let short = number.as_f64().and_then(|n| format!("{n:.5e}").parse::<f64>().ok());
            *value = short.map_or(Value::Null, Value::from);
        }
        _ => {}
    }
}
