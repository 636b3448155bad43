//! What the options that stand for keys of the scenario, and `--set`, give to it.
//!
//! Which option stands for which key is said where it is declared ([`Workload`], [`Reading`]). That a key is given one value is
//! `flashlane_scenario`'s.

use flashlane_scenario::{Document, Given, Scenario, is_device_file};

use flashlane_outputs::shown::counted;

use crate::args::{Changes, Reading, Value, Workload};
use crate::fail::Failure;

/// What the option `flag` gives to the key at `path`. A number that no file could hold is text, which is refused with the key.
fn given(flag: &'static str, path: String, value: Value) -> Given {
    match value {
        Value::Text(text) => Given::by(flag, path, text),
        Value::On(on) => Given::by(flag, path, on),
        Value::Number(number) => match i64::try_from(number) {
            Ok(number) => Given::by(flag, path, number),
            Err(_) => Given::by(flag, path, number.to_string()),
        },
    }
}

/// The options that are given of those that stand for keys: each with its key and its values.
fn all_given(args: &Workload) -> impl Iterator<Item = (&'static str, &'static str, Vec<Value>)> {
    let own = Workload::KEYS.iter().map(|option| (option.flag, option.key, (option.values)(args)));
    let reading = Reading::KEYS.iter().map(|option| (option.flag, option.key, (option.values)(&args.reading)));
    let changes = Changes::KEYS.iter().map(|option| (option.flag, option.key, (option.values)(&args.changes)));
    reading.chain(changes).chain(own).filter(|(.., values)| !values.is_empty())
}

/// The option that replaces the device with all its keys.
pub const DEVICE: &str = "--device";
/// The option that replaces the flows.
pub const TRACE: &str = "--trace";

/// What is given before the flows are known: all but [`of_flows`]. `traces` are the paths of `--trace`.
pub fn of_run(args: &Workload, traces: &[String]) -> Result<Vec<Given>, Failure> {
    let mut all = Vec::new();
    if let Some(name) = &args.changes.device {
        // Relative to the working directory, not to a scenario's folder.
        let absolute = || std::path::absolute(name).ok().map(|path| path.to_string_lossy().into_owned());
        let placed = if args.scenario.is_some() && is_device_file(name) { absolute() } else { None };
        all.push(Given::table(DEVICE, "device", "preset", placed.unwrap_or_else(|| name.clone())));
    }
    if !traces.is_empty() {
        all.push(Given::flows(TRACE, traces));
    }
    for (flag, key, values) in all_given(args).filter(|(flag, key, _)| *flag != DEVICE && !key.starts_with("flow.")) {
        all.extend(values.into_iter().map(|value| given(flag, key.to_owned(), value)));
    }
    for text in &args.changes.set {
        let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
            return Err(Failure::Input(format!("--set {text}: must be KEY=VALUE, such as device.gc.start_percent=7")));
        };
        all.push(Given::set(key.trim(), value.trim()));
    }
    if let Some(collect) = &args.collect {
        // It holds the answer for all schedulers, those that leave it open included.
        agrees(args, "run.collect", "--collect", collect)?;
    }
    Ok(all)
}

/// The keys and values of `--set`.
fn sets(args: &Workload) -> impl Iterator<Item = (&str, &str)> {
    args.changes.set.iter().filter_map(|text| text.split_once('=')).map(|(key, value)| (key.trim(), value.trim()))
}

/// Whether no `--set` gives `key`, for which `option` stands, another value than that has.
pub fn agrees(args: &Workload, key: &str, option: &str, value: &str) -> Result<(), Failure> {
    let gives_another = |(set, written): &(&str, &str)| {
        Given::set(*set, *written).leaves().iter().any(|(leaf, own)| leaf == key && own != value)
    };
    match sets(args).find(gives_another) {
        Some((set, written)) => Err(Failure::Input(format!(
            "--set: {set} = {written}: {option} gives {key} the value {value}; give {key} one value"
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
    let every: Vec<usize> = (0..document.flow.len()).collect();
    let replayed: Vec<usize> = every.iter().copied().filter(|&i| document.flow[i].trace.is_some()).collect();
    let mut all = Vec::new();
    for (flag, key, values) in all_given(args) {
        let Some(key) = key.strip_prefix("flow.") else { continue };
        let (flows, many, one) =
            if key.starts_with("trace.") { (&replayed, "traces", "trace") } else { (&every, "flows", "flow") };
        if flows.is_empty() && many == "traces" {
            return Err(Failure::Input(format!("{flag}: no flow replays a trace; give one with --trace")));
        }
        if values.len() > 1 && values.len() != flows.len() {
            let (count, flows) = (values.len(), counted(flows.len(), one));
            let message = format!("{flag}: {count} given for {flows}; give one, or one for each {one}");
            return Err(Failure::Input(message));
        }
        for (nth, flow) in flows.iter().enumerate() {
            let value = &values[if values.len() > 1 { nth } else { 0 }];
            all.push(given(flag, format!("flow[{flow}].{key}"), value.clone()));
        }
    }
    Ok(all)
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
    const CHOICES: [&str; 8] =
        ["--scheduler", "--schedulers", "--block", "--baseline", "--from", "--to", "--beside", "--seeds"];

    /// Options of these commands that are about no key of a scenario.
    const NO_KEY: &[&str] = &[
        "--audit",
        "--ceiling",
        "--csv",
        "--ctl",
        "--data",
        "--engine",
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
        "--minutes",
        "--nbd",
        "--out",
        "--p99",
        "--power-cut",
        "--preset",
        "--probe",
        "--realtime",
        "--record",
        "--report",
        "--request",
        "--set",
        "--size",
        "--smart",
        "--spare",
        "--spin-us",
        "--state",
        "--threads",
        "--time-scale",
        "--timeline",
        "--transactions",
        "--window",
        "--worst",
        "--write-amplification",
        "--write-jobs",
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

    /// Every option of a command is declared with the key it stands for and has a row of values, or is among those that stand for none.
    #[test]
    fn every_option_is_listed_with_its_key_or_as_about_none() {
        let commands = commands();
        assert!(commands.len() >= 7, "{commands:?}");
        let own = || Workload::KEYS.iter().map(|option| option.flag);
        let changes = || Changes::KEYS.iter().map(|option| option.flag);
        let listed = || Reading::KEYS.iter().map(|option| option.flag).chain(changes()).chain(own()).chain([TRACE]);
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
            "fit" => &["--probe"],
            _ => &[],
        };
        let all = [&["flashlane", command], required, &[&file], words].concat();
        let parsed = Cli::try_parse_from(&all).unwrap_or_else(|error| panic!("{all:?}: {error}"));
        let workload = match parsed.command {
            Command::Run { workload, .. }
            | Command::Compare { workload, .. }
            | Command::Attribute { workload, .. }
            | Command::Explain { workload, .. }
            | Command::Check(workload) => workload,
            Command::Recommend(args) => args.workload,
            Command::Fit(args) => args.probed().expect("a probe"),
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
        for (command, options) in commands() {
            for (flag, key, value, [same, other]) in VALUES.into_iter().filter(|row| options.iter().any(|o| o == row.0))
            {
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
