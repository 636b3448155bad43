//! Options that stand for keys of the scenario: one list, by which they are applied and by which tests look for those that are missing.
//!
//! Owns which option stands for which key. That a key is given one value is `flashlane_scenario`'s.

use flashlane_core::choice::Choice;
use flashlane_scenario::{Document, Given, Scenario};

use crate::args::Workload;
use crate::fail::Failure;

/// A value as keys have them. A number that no file could hold is text, which is refused with the key.
pub enum Value {
    /// A word or a name.
    Text(String),
    /// A whole number.
    Number(u64),
    /// A switch.
    On(bool),
}

impl Value {
    fn given(self, option: &'static str, path: String) -> Given {
        match self {
            Value::Text(text) => Given::by(option, path, text),
            Value::On(on) => Given::by(option, path, on),
            Value::Number(number) => match i64::try_from(number) {
                Ok(number) => Given::by(option, path, number),
                Err(_) => Given::by(option, path, number.to_string()),
            },
        }
    }
}

fn text<S: AsRef<str>>(text: &Option<S>) -> Vec<Value> {
    text.iter().map(|text| Value::Text(text.as_ref().to_owned())).collect()
}

fn word<C: Choice>(word: Option<C>) -> Vec<Value> {
    word.iter().map(|word| Value::Text(word.word().to_owned())).collect()
}

fn number(number: Option<u64>) -> Vec<Value> {
    number.map(Value::Number).into_iter().collect()
}

fn on(given: bool, value: bool) -> Vec<Value> {
    given.then_some(Value::On(value)).into_iter().collect()
}

/// An option, and the key it stands for.
pub struct KeyOption {
    /// The option.
    pub flag: &'static str,
    /// The key; of flows and traces the one below them.
    pub key: &'static str,
    /// Its values as given: none, one, or one for each flow.
    values: fn(&Workload) -> Vec<Value>,
}

/// Options about the run, each with its key. `--device` and `--trace` are not here: they replace all that stands below theirs.
pub static OF_RUN: [KeyOption; 8] = [
    KeyOption { flag: "--seed", key: "seed", values: |args| number(args.seed) },
    KeyOption { flag: "--collect", key: "run.hold.collect", values: |args| text(&args.collect) },
    KeyOption { flag: "--preempt", key: "run.hold.preempt", values: |args| text(&args.preempt) },
    KeyOption { flag: "--no-alone", key: "run.alone", values: |args| on(args.no_alone, false) },
    KeyOption { flag: "--alone-scheduler", key: "run.alone_scheduler", values: |args| text(&args.alone_scheduler) },
    KeyOption { flag: "--slack", key: "run.slack", values: |args| on(args.slack, true) },
    KeyOption {
        flag: "--shadow-estimator",
        key: "run.shadow_estimator",
        values: |args| on(args.shadow_estimator, true),
    },
    KeyOption { flag: DEVICE, key: "device.preset", values: |args| text(&args.device) },
];

/// Options about every flow.
pub static OF_FLOWS: [KeyOption; 2] = [
    KeyOption {
        flag: "--priority",
        key: "priority",
        values: |args| args.priority.iter().map(|&level| Value::Number(level.into())).collect(),
    },
    KeyOption { flag: "--range", key: "range", values: |args| word(args.range) },
];

/// Options about every flow that replays a trace.
pub static OF_TRACES: [KeyOption; 8] = [
    KeyOption { flag: "--trace-format", key: "trace.format", values: |args| text(&args.trace_format) },
    KeyOption { flag: "--time-unit", key: "trace.time_unit", values: |args| word(args.time_unit) },
    KeyOption { flag: "--columns", key: "trace.columns", values: |args| text(&args.columns) },
    KeyOption {
        flag: "--speedup",
        key: "trace.speedup",
        values: |args| args.speedup.iter().cloned().map(Value::Text).collect(),
    },
    KeyOption { flag: "--limit", key: "trace.limit", values: |args| number(args.limit) },
    KeyOption { flag: "--beyond", key: "trace.beyond", values: |args| word(args.beyond) },
    KeyOption { flag: "--order", key: "trace.order", values: |args| word(args.order) },
    KeyOption { flag: "--sizes", key: "trace.sizes", values: |args| word(args.sizes) },
];

/// The option that replaces the device with all its keys.
pub const DEVICE: &str = "--device";
/// The option that replaces the flows.
pub const TRACE: &str = "--trace";

/// What is given before the flows are known: all but [`of_flows`]. `traces` are the paths of `--trace`.
pub fn of_run(args: &Workload, traces: &[String]) -> Result<Vec<Given>, Failure> {
    let mut given = Vec::new();
    if let Some(name) = &args.device {
        given.push(Given::table(DEVICE, "device", "preset", name.clone()));
    }
    if !traces.is_empty() {
        given.push(Given::flows(TRACE, traces));
    }
    for option in OF_RUN.iter().filter(|option| option.flag != DEVICE) {
        given.extend((option.values)(args).into_iter().map(|value| value.given(option.flag, option.key.to_owned())));
    }
    for text in &args.set {
        let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
            return Err(Failure::Input(format!("--set {text}: must be KEY=VALUE, such as device.gc.start_percent=7")));
        };
        given.push(Given::set(key.trim(), value.trim()));
    }
    if let Some(collect) = &args.collect {
        // It holds the answer for all schedulers, those that leave it open included.
        agrees(args, "run.collect", "--collect", collect)?;
    }
    Ok(given)
}

/// The keys and values of `--set`.
fn sets(args: &Workload) -> impl Iterator<Item = (&str, &str)> {
    args.set.iter().filter_map(|text| text.split_once('=')).map(|(key, value)| (key.trim(), value.trim()))
}

/// Whether no `--set` gives `key`, for which `option` stands, another value than that has.
pub fn agrees(args: &Workload, key: &str, option: &str, value: &str) -> Result<(), Failure> {
    match sets(args).find(|(set, written)| *set == key && written.trim_matches(['"', '\'']) != value) {
        Some((_, written)) => Err(Failure::Input(format!(
            "--set: {key} = {written}: {option} gives {key} the value {value}; give {key} one value"
        ))),
        None => Ok(()),
    }
}

/// Whether each `--set` of a scheduler acts although `option` chooses the schedulers `names`: it gives the same, or changes one of them.
pub fn schedulers_agree(args: &Workload, scenario: &Scenario, option: &str, names: &[&str]) -> Result<(), Failure> {
    let own = || Ok::<_, Failure>(scenario.schedulers()?.iter().map(|choice| choice.name()).collect::<Vec<String>>());
    for (key, written) in sets(args) {
        let index = key.strip_prefix("schedulers[").and_then(|rest| rest.split_once(']')?.0.parse::<usize>().ok());
        let acts = match (key, index) {
            ("scheduler" | "schedulers", _) => own()? == names,
            (_, Some(index)) => own()?.get(index).is_none_or(|name| names.contains(&name.as_str())),
            (key, _) if key.starts_with("scheduler.") => own()?.iter().all(|name| names.contains(&name.as_str())),
            _ => true,
        };
        if !acts {
            return Err(Failure::Input(format!(
                "--set: {key} = {written}: {option} gives the schedulers {}; give them once",
                names.join(", ")
            )));
        }
    }
    Ok(())
}

/// What options give to the flows of `document`.
pub fn of_flows(args: &Workload, document: &Document) -> Result<Vec<Given>, Failure> {
    let all: Vec<usize> = (0..document.flow.len()).collect();
    let replayed: Vec<usize> = all.iter().copied().filter(|&i| document.flow[i].trace.is_some()).collect();
    let mut given = Vec::new();
    let kinds = [(&OF_TRACES[..], &replayed, "traces", "trace"), (&OF_FLOWS[..], &all, "flows", "flow")];
    for (options, flows, many, one) in kinds {
        for option in options {
            let values = (option.values)(args).len();
            if values > 0 && flows.is_empty() && many == "traces" {
                let flag = option.flag;
                return Err(Failure::Input(format!("{flag}: no flow replays a trace; give one with --trace")));
            }
            if values > 1 && values != flows.len() {
                let (flag, count) = (option.flag, flows.len());
                let message = format!("{flag}: {values} given for {count} {many}; give one, or one for each {one}");
                return Err(Failure::Input(message));
            }
            for (nth, flow) in flows.iter().enumerate() {
                let mut own = (option.values)(args);
                let nth = if values > 1 { nth } else { 0 };
                if nth < values {
                    let path = format!("flow[{flow}].{}", option.key);
                    given.push(own.swap_remove(nth).given(option.flag, path));
                }
            }
        }
    }
    Ok(given)
}
