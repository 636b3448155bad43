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
pub static OF_TRACES: [KeyOption; 14] = [
    KeyOption { flag: "--trace-format", key: "trace.format", values: |args| text(&args.reading.trace_format) },
    KeyOption { flag: "--time-unit", key: "trace.time_unit", values: |args| word(args.reading.time_unit) },
    KeyOption { flag: "--columns", key: "trace.columns", values: |args| text(&args.reading.columns) },
    KeyOption { flag: "--only-device", key: "trace.device", values: |args| text(&args.reading.only_device) },
    KeyOption { flag: "--volumes", key: "trace.volumes", values: |args| word(args.reading.volumes) },
    KeyOption { flag: "--action", key: "trace.action", values: |args| word(args.reading.action) },
    KeyOption { flag: "--offset", key: "trace.offset", values: |args| number(args.reading.offset) },
    KeyOption { flag: "--limit", key: "trace.limit", values: |args| number(args.reading.limit) },
    KeyOption { flag: "--beyond", key: "trace.beyond", values: |args| word(args.reading.beyond) },
    KeyOption { flag: "--order", key: "trace.order", values: |args| word(args.reading.order) },
    KeyOption { flag: "--sizes", key: "trace.sizes", values: |args| word(args.reading.sizes) },
    KeyOption {
        flag: "--speedup",
        key: "trace.speedup",
        values: |args| args.speedup.iter().cloned().map(Value::Text).collect(),
    },
    KeyOption { flag: "--replay", key: "trace.replay", values: |args| word(args.replay) },
    KeyOption { flag: "--depth", key: "trace.depth", values: |args| number(args.depth.map(u64::from)) },
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{CommandFactory, Parser};
    use flashlane_scenario::Scenario;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::plan;

    /// What two values of an option and of its key are, as each is written.
    const VALUES: [(&str, &str, &str, [&str; 2]); 25] = [
        ("--seed", "seed", "7", ["7", "9"]),
        ("--collect", "run.hold.collect", "atomic", ["\"atomic\"", "paced"]),
        ("--preempt", "run.hold.preempt", "never", ["never", "suspend"]),
        ("--no-alone", "run.alone", "", ["false", "true"]),
        ("--alone-scheduler", "run.alone_scheduler", "fcfs", ["fcfs", "flin"]),
        ("--slack", "run.slack", "", ["true", "false"]),
        ("--shadow-estimator", "run.shadow_estimator", "", ["true", "false"]),
        (DEVICE, "device.preset", "flin-isca18", ["flin-isca18", "modern-tlc"]),
        (TRACE, "flow[0].trace.path", "t.csv", ["t.csv", "u.csv"]),
        ("--trace-format", "flow[0].trace.format", "csv", ["csv", "msr"]),
        ("--time-unit", "flow[0].trace.time_unit", "us", ["us", "ms"]),
        ("--columns", "flow[0].trace.columns", "time=0,op=1", ["\"time=0,op=1\"", "\"time=1,op=0\""]),
        ("--speedup", "flow[0].trace.speedup", "20", ["20", "10"]),
        ("--action", "flow[0].trace.action", "issue", ["issue", "queue"]),
        ("--limit", "flow[0].trace.limit", "5", ["5", "6"]),
        ("--beyond", "flow[0].trace.beyond", "wrap", ["wrap", "reject"]),
        ("--order", "flow[0].trace.order", "clamp", ["clamp", "error"]),
        ("--sizes", "flow[0].trace.sizes", "reject", ["reject", "error"]),
        ("--only-device", "flow[0].trace.device", "hm_0", ["hm_0", "hm_1"]),
        ("--volumes", "flow[0].trace.volumes", "together", ["together", "overlaid"]),
        ("--offset", "flow[0].trace.offset", "3", ["3", "4"]),
        ("--replay", "flow[0].trace.replay", "closed", ["closed", "open"]),
        ("--depth", "flow[0].trace.depth", "8", ["8", "16"]),
        ("--priority", "flow.t.priority", "3", ["3", "4"]),
        ("--range", "flow.t.range", "all", ["all", "slice"]),
    ];

    /// Options that choose among schedulers, with what of `tests/all/options.rs` looks at them.
    const CHOICES: [&str; 7] = ["--scheduler", "--schedulers", "--baseline", "--from", "--to", "--beside", "--seeds"];

    /// Options of these commands that are about no key of a scenario.
    const NO_KEY: &[&str] = &[
        "--audit",
        "--ceiling",
        "--csv",
        "--ctl",
        "--data",
        "--fairness",
        "--flush-p99",
        "--force",
        "--format",
        "--full",
        "--fuse",
        "--help",
        "--ignore-flushes",
        "--jobs",
        "--json",
        "--live",
        "--metrics",
        "--nbd",
        "--out",
        "--p99",
        "--power-cut",
        "--realtime",
        "--record",
        "--report",
        "--request",
        "--set",
        "--spare",
        "--spin-us",
        "--state",
        "--time-scale",
        "--timeline",
        "--transactions",
        "--window",
        "--worst",
        "--write-amplification",
    ];

    /// Names of the commands that take `--set`, and all their options.
    fn commands() -> Vec<(String, Vec<String>)> {
        let options = |command: &clap::Command| -> Vec<String> {
            command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect()
        };
        let all = Cli::command();
        let named = all.get_subcommands().map(|command| (command.get_name().to_owned(), options(command)));
        named.filter(|(_, options)| options.iter().any(|option| option == "--set")).collect()
    }

    /// Every option of a command is in the list with the key it stands for, or among those that stand for none. A new option must be added to one of them.
    #[test]
    fn every_option_is_listed_with_its_key_or_as_about_none() {
        let commands = commands();
        assert!(commands.len() >= 7, "{commands:?}");
        let listed = || OF_RUN.iter().chain(&OF_FLOWS).chain(&OF_TRACES).map(|option| option.flag).chain([TRACE]);
        for (command, options) in &commands {
            for option in options {
                let with_key = VALUES.iter().filter(|(flag, ..)| flag == option).count();
                let other = NO_KEY.iter().chain(&CHOICES).filter(|flag| *flag == option).count();
                assert_eq!(with_key + other, 1, "{command} {option}: in one list");
                assert_eq!(listed().filter(|flag| flag == option).count(), with_key, "{command} {option}");
            }
        }
        let unused = |flag: &&str| commands.iter().all(|(_, options)| !options.iter().any(|option| option == flag));
        assert_eq!(VALUES.iter().map(|row| row.0).find(|flag| unused(flag)), None);
    }

    fn made(folder: &Path, command: &str, words: &[&str]) -> Result<Scenario, String> {
        let file = folder.join("s.toml").display().to_string();
        let required: &[&str] = match command {
            "attribute" => &["--from", "fcfs", "--to", "flin"],
            "serve" => &["--nbd", "unix:s"],
            _ => &[],
        };
        let all = [&["flashlane", command, &file], required, words].concat();
        let parsed = Cli::try_parse_from(&all).unwrap_or_else(|error| panic!("{all:?}: {error}"));
        let workload = match parsed.command {
            Command::Run { workload, .. }
            | Command::Compare { workload, .. }
            | Command::Attribute { workload, .. }
            | Command::Explain { workload, .. }
            | Command::Check(workload) => workload,
            Command::Recommend(args) => args.workload,
            Command::Serve(args) => args.workload,
            other => panic!("{other:?}: a command with --set that this test does not know"),
        };
        plan::scenario(&workload).map_err(|failure| failure.to_string())
    }

    /// For each command and each option with a key: the same value twice is one value, whichever way it is written; two values are
    /// refused, and both are named.
    #[test]
    fn a_key_that_is_given_two_values_is_refused_by_every_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "device = \"modern-tlc\"\n[[flow]]\nname = \"t\"\ntrace = \"t.csv\"\n";
        std::fs::write(folder.path().join("s.toml"), text).expect("written");
        for (command, _) in commands() {
            for (flag, key, value, [same, other]) in VALUES {
                // Of two spellings of a path the text counts: beside a scenario, paths of --trace become absolute.
                let absolute = std::path::absolute("t.csv").expect("a path").display().to_string();
                let (same, name) = if flag == TRACE { (absolute.as_str(), "flow[0]") } else { (same, "flow.t") };
                let key = key.replace("flow.t", name);
                let option: &[&str] = if value.is_empty() { &[flag] } else { &[flag, value] };
                let with = |written: &str| {
                    let set = format!("{key}={written}");
                    made(folder.path(), &command, &[option, &["--set", &set]].concat())
                };
                let plain =
                    made(folder.path(), &command, option).unwrap_or_else(|why| panic!("{command} {flag}: {why}"));
                let twice = with(same).unwrap_or_else(|why| panic!("{command} {flag} {same}: {why}"));
                assert!(plain.document() == twice.document(), "{command} {flag}");
                let Err(why) = with(other) else { panic!("{command} {flag} {value} --set {key}={other} is accepted") };
                let (first, second) = (same.trim_matches('"'), other.trim_matches('"'));
                for part in [flag, first, second, "--set"] {
                    assert!(why.contains(part), "{command} {flag}: {part}: {why}");
                }
            }
        }
    }

    /// Beside a device, a trace or a preset `--set` acts, before them as after them.
    #[test]
    fn what_is_set_below_a_key_acts_beside_options_that_replace_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "device = { preset = \"modern-tlc\", gc = { start_percent = 9 } }\n[[flow]]\ntrace = \"t.csv\"\n";
        std::fs::write(folder.path().join("s.toml"), text).expect("written");
        let read_ns = ["--set", "device.nand.read_ns=1234567"];
        for preset in
            [["--device", "flin-isca18"], ["--set", "device=flin-isca18"], ["--set", "device.preset=flin-isca18"]]
        {
            for words in [[preset, read_ns].concat(), [read_ns, preset].concat()] {
                let scenario = made(folder.path(), "run", &words).unwrap_or_else(|why| panic!("{words:?}: {why}"));
                let device = &scenario.document().device;
                assert_eq!(device.preset.as_deref(), Some("flin-isca18"), "{words:?}");
                let shown = format!("{:?}", device.nand.read_ns);
                assert!(shown.contains("1234567"), "{words:?}: {shown}");
                let said = scenario.remarks().iter().any(|(_, text)| text.contains("device.gc.start_percent"));
                assert_eq!(said, preset[0] == DEVICE, "{words:?}: keys that are left out are named");
            }
        }
        let words = ["--set", "flow[0].trace.speedup=3", "--set", "flow[0].priority=2", "--trace", "u.csv"];
        let flows = made(folder.path(), "run", &words).expect("legal").document().flow.clone();
        assert_eq!((flows.len(), flows[0].priority), (1, 2));
        assert!(flows[0].trace.as_ref().is_some_and(|trace| trace.speedup.is_some() && trace.path.ends_with("u.csv")));
        let two = made(folder.path(), "run", &["--set", "seed=7", "--set", "seed=8"]).expect_err("two values");
        assert_eq!(two, "--set: seed = 8: --set gives seed the value 7; give seed one value");
        made(folder.path(), "run", &["--set", "seed=7", "--set", "seed=7"]).expect("one value");
        let two = made(folder.path(), "run", &["--collect", "atomic", "--set", "run.collect=paced"]).expect_err("two");
        assert!(two.contains("atomic") && two.contains("paced"), "{two}");
    }
}
