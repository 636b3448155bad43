//! Options of the command line that spare the user work, each as a user would try it.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::common::{TRACE, folder, program, text, write};
use tempfile::TempDir;

/// Expects success; returns the standard output.
#[track_caller]
fn good<S: AsRef<OsStr>>(folder: &TempDir, args: &[S]) -> String {
    let output = program(folder).args(args).output().expect("the program runs");
    let (message, complaint) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{message}");
    message
}

/// Expects an error about the input, of one line; returns what follows `error: `.
#[track_caller]
fn bad_line<S: AsRef<OsStr>>(folder: &TempDir, args: &[S]) -> String {
    let output = program(folder).args(args).output().expect("the program runs");
    let complaint = text(&output.stderr);
    assert_eq!((output.status.code(), complaint.lines().count()), (Some(2), 1), "{complaint}");
    complaint.strip_prefix("error: ").expect("an error").trim_end().to_owned()
}

/// `--block` compares every scheduler below every elevator; `run` takes the first, timelines have a file each, and `--set` may not say otherwise.
#[test]
fn schedulers_are_compared_below_elevators() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let words =
        "compare --trace a.csv --schedulers fcfs,flin --block none,mq-deadline --baseline flin --set block.depth=2";
    let words: Vec<&str> = words.split(' ').collect();
    let json = good(&folder, &[&words[..], &["--format", "json", "--timeline", "run.json"]].concat());
    let summary: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let runs = summary["schedulers"].as_array().expect("runs");
    let names = ["fcfs+none", "fcfs+mq-deadline", "flin+none", "flin+mq-deadline"];
    assert_eq!(runs.iter().map(|run| run["name"].as_str().expect("text")).collect::<Vec<_>>(), names);
    assert_eq!((&summary["baseline"], &runs[1]["block"]["elevator"]), (&"flin+none".into(), &"mq-deadline".into()));
    for name in names {
        assert!(folder.path().join(format!("run-{name}.json")).is_file(), "{name}");
    }
    let table = good(&folder, &[&words[..], &["--full"]].concat());
    let title = "\nBlock layer: requests that waited, and how long on average\n";
    let (_, block) = table.split_once(title).expect("a table of waits");
    let rows: Vec<&str> = block.lines().take(3).collect();
    assert!(rows[0].contains("depth, tags") && rows[1].contains("2, 2") && rows[2].contains("2, 4"), "{rows:?}");
    for (set, value) in
        [("block.elevator=none", "none, mq-deadline"), ("block.elevators=[\"none\"]", "[\"none\", \"mq-deadline\"]")]
    {
        let why = bad_line(&folder, &[&words[..], &["--set", set]].concat());
        assert!(why.contains("--block gives block.elevator") && why.contains(value), "{why}");
    }
    let list = "[block]\nelevators = [\"mq-deadline\", \"none\"]\n[[flow]]\ntrace = \"a.csv\"\n";
    write(&folder, "list.toml", list);
    let run = good(&folder, &["run", "list.toml", "--format", "json"]);
    let run: serde_json::Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(
        (&run["schedulers"][0]["name"], &run["schedulers"][0]["block"]["elevator"]),
        (&"fcfs".into(), &"mq-deadline".into())
    );
}

/// A trace from standard input or a pipe is copied, as runs read traces several times; the copy goes with the program.
#[test]
fn a_trace_may_come_from_standard_input() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    let piped = |args: &[&str]| {
        let mut command = program(&folder);
        command.env("TMPDIR", &temporary).args(args);
        let input = std::fs::File::open(folder.path().join("a.csv")).expect("the trace");
        let mut cat = Command::new("cat").stdin(input).stdout(Stdio::piped()).spawn().expect("cat runs");
        let output = command.stdin(cat.stdout.take().expect("piped")).output().expect("it runs");
        let _ = cat.wait();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        assert_eq!(std::fs::read_dir(&temporary).expect("the folder").count(), 0, "the copy is removed");
        text(&output.stdout)
    };
    let made = |json: &str| {
        let summary: serde_json::Value = serde_json::from_str(json).expect("JSON");
        (summary["schedulers"][0]["total"].clone(), summary["flows"][0]["name"].clone())
    };
    let from_file = made(&good(&folder, &["compare", "--trace", "a.csv", "--format", "json"]));
    for name in ["-", "/dev/stdin"] {
        let from_pipe = made(&piped(&["compare", "--trace", name, "--format", "json"]));
        assert_eq!(from_pipe.0, from_file.0, "{name}");
    }
    assert_eq!(made(&piped(&["compare", "--trace", "-", "--format", "json"])).1, "stdin");
    assert!(piped(&["trace", "stat", "-"]).contains("requests"));
}

#[test]
fn a_trace_given_as_a_scenario_is_recognised() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let message = bad_line(&folder, &["compare", "a.csv"]);
    assert!(message.ends_with("did you mean --trace a.csv?"), "{message}");
}

#[test]
fn keys_are_set_on_every_command_that_takes_a_scenario() {
    let folder = folder();
    good(&folder, &["init", "s.toml"]);
    let message = good(&folder, &["check", "s.toml", "--set", "seed=9", "--set", "flow.writer.priority=3"]);
    assert!(message.contains("seed 9") && message.contains("writer: synthetic; priority 3"), "{message}");
    let few = [
        "--set",
        "flow[0].synthetic.requests=20",
        "--set",
        "flow[1].synthetic.requests=20",
        "--set",
        "run.warm_up_requests=0",
    ];
    for command in [
        &["run", "s.toml"][..],
        &["compare", "s.toml"],
        &["attribute", "s.toml", "--from", "fcfs", "--to", "read-first"],
    ] {
        let json = good(&folder, &[command, &few[..], &["--format", "json"]].concat());
        let summary: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(summary["schedulers"][0]["total"]["completed"], 40, "{command:?}");
    }
    // Of forty requests there is a number 39 and no number 40.
    let asked = |number| [&["explain", "s.toml", "--request", number][..], &few[..]].concat();
    assert!(good(&folder, &asked("39")).starts_with("Request 39 of "));
    let message = bad_line(&folder, &asked("40"));
    assert_eq!(message, "--request 40: there is no such request; there are 40, counted from 0 to 39");
    let message = bad_line(&folder, &["check", "s.toml", "--set", "device.gc.start=1"]);
    assert!(message.starts_with("--set: device.gc.start = 1: "), "{message}");
    let message = bad_line(&folder, &["check", "s.toml", "--set", "seed"]);
    assert_eq!(message, "--set seed: must be KEY=VALUE, such as device.gc.start_percent=7");
    // A key that is legal, with a value that is not.
    let message = bad_line(&folder, &["check", "s.toml", "--set", "flow.writer.priority=9"]);
    assert!(message.starts_with("--set: flow[1].priority = 9: must be 0 to 7"), "{message}");
}

#[test]
fn every_trace_may_have_a_speed_of_its_own() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let two = ["compare", "--trace", "a.csv", "--trace", "a.csv", "--no-alone", "--format", "json"];
    let json = good(&folder, &[&two[..], &["--speedup", "1,2"]].concat());
    let summary: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let workload = |i: usize| summary["flows"][i]["workload"].as_str().expect("words").to_owned();
    assert_eq!([workload(0), workload(1)], ["a.csv at 1x", "a.csv at 2x"]);
    let message = bad_line(&folder, &[&two[..], &["--speedup", "1,2,3"]].concat());
    assert_eq!(message, "--speedup: 3 given for 2 traces; give one, or one for each trace");
}

#[test]
fn irregular_times_and_sizes_are_treated_as_asked() {
    let folder = folder();
    write(&folder, "back.csv", "2000,usr,0,Read,0,4096,1\n1000,usr,0,Read,0,4096,1\n3000,usr,0,Read,0,0,1\n");
    let message = bad_line(&folder, &["run", "--trace", "back.csv"]);
    assert!(message.contains("back.csv:2"), "{message}");
    let message = bad_line(&folder, &["run", "--trace", "back.csv", "--order", "clamp"]);
    assert!(message.contains("back.csv:3"), "{message}");
    let message = good(&folder, &["run", "--trace", "back.csv", "--order", "clamp", "--sizes", "reject"]);
    assert!(message.contains("received 3 = completed 2 + rejected 1"), "{message}");
}

#[test]
fn figures_may_be_had_as_csv_and_markdown() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let message = good(&folder, &["compare", "--trace", "a.csv", "--format", "csv"]);
    assert!(
        message.starts_with("scheduler,flow,kind,offered_iops,requests,") && message.lines().count() > 4,
        "{message}"
    );
    let message = good(&folder, &["compare", "--trace", "a.csv", "--format", "markdown"]);
    assert!(
        message.starts_with("| scheduler | served IOPS | mean | p99 | Δ mean |")
            && message.lines().nth(1).is_some_and(|line| line.starts_with("|---|")),
        "{message}"
    );
    good(&folder, &["compare", "--trace", "a.csv", "--out", "results", "--csv"]);
    let summary = std::fs::read_to_string(folder.path().join("results/summary.csv")).expect("summary.csv");
    assert!(summary.starts_with("scheduler,flow,kind,"), "{summary}");
    let rows = std::fs::read_to_string(folder.path().join("results/fcfs/requests.csv")).expect("rows");
    assert!(rows.lines().next().is_some_and(|head| head.ends_with(",counted")), "{rows}");
}

/// `--collect` and `--preempt` hold a decision equal for all rows, whatever they say.
#[test]
fn decisions_are_held_equal_for_all_schedulers() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let compare = ["compare", "--trace", "a.csv", "--schedulers", "fcfs,fr-fcfs,sprinkler", "--format", "json"];
    let decisions = |more: &[&str]| -> Vec<[String; 2]> {
        let summary: serde_json::Value =
            serde_json::from_str(&good(&folder, &[&compare[..], more].concat())).expect("JSON");
        let rows = summary["schedulers"].as_array().expect("rows").iter();
        let text = |value: &serde_json::Value| value.as_str().expect("a name").to_owned();
        rows.map(|row| [text(&row["decisions"]["collect"]), text(&row["decisions"]["preempt"])]).collect()
    };
    let own = decisions(&[]);
    assert_eq!(own[0], ["semi-preemptive", "never"], "fcfs says nothing about collection");
    assert_eq!(own[1], own[0], "nor does fr-fcfs, whose paper has it as what the drive does");
    assert_eq!(own[2], ["semi-preemptive", "suspend"], "sprinkler says both");
    let atomic = decisions(&["--set", "run.collect=atomic"]);
    let collect: Vec<&str> = atomic.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(collect, ["atomic", "atomic", "semi-preemptive"]);
    assert_eq!(decisions(&["--collect", "non-preemptive", "--preempt", "never"]), vec![["non-preemptive", "never"]; 3]);
    let message = bad_line(&folder, &[&compare[..], &["--collect", "sometimes"]].concat());
    assert!(message.contains("sometimes") && message.contains("semi-preemptive"), "{message}");
}

/// Options that choose among schedulers, and `--set` of the same: equal is fine, other values are refused, both named.
#[test]
fn schedulers_are_given_once() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let lists = "schedulers=[\"fcfs\", \"flin\"]";
    for (command, set, other) in [
        (&["run", "--scheduler", "flin"][..], "scheduler=flin", "scheduler=fcfs"),
        (&["run", "--scheduler", "flin"], "schedulers=[\"flin\"]", lists),
        (&["compare", "--schedulers", "fcfs,flin"], lists, "schedulers=[\"flin\", \"fcfs\"]"),
        (&["compare", "--baseline", "flin"], "run.baseline=flin", "run.baseline=fcfs"),
        (
            &["attribute", "--from", "fcfs", "--to", "flin", "--seeds", "1"],
            lists,
            "schedulers=[\"fcfs\", \"sprinkler\"]",
        ),
        (&["attribute", "--from", "fcfs", "--to", "flin", "--seeds", "1"], "run.baseline=fcfs", "run.baseline=flin"),
        (&["explain", "--scheduler", "fcfs", "--beside", "flin"], lists, "scheduler=fcfs"),
    ] {
        let with = |set: &str| [command, &["--trace", "a.csv", "--set", set]].concat().join("\t");
        let words = |line: String| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        good(&folder, &words(with(set)));
        let message = bad_line(&folder, &words(with(other)));
        let names = || command[2].split(',').all(|name| message.contains(name));
        assert!(message.starts_with("--set: ") && names(), "{message}");
    }
}

/// What `--device` and `--trace` leave out of a scenario is said before the results.
#[test]
fn what_options_leave_out_of_a_scenario_is_said() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let text = "[device]\npreset = \"modern-tlc\"\ngc = { start_percent = 9 }\n[[flow]]\ntrace = \"a.csv\"\n";
    write(&folder, "s.toml", text);
    let words = ["s.toml", "--device", "flin-isca18", "--trace", "a.csv"];
    for command in ["run", "check", "explain"] {
        let message = good(&folder, &[&[command], &words[..]].concat());
        for needed in ["--device: flin-isca18 replaces", "left out is device.gc.start_percent", "--trace: replaces"] {
            assert!(message.contains(needed), "{command}: {needed}: {message}");
        }
    }
    let slow = good(&folder, &[&["run"], &words[..], &["--set", "device.nand.read_ns=123456789"]].concat());
    assert!(slow.contains("123."), "{slow}");
}

/// A device of one's own lies in a file, in every place where a preset may stand. Its path is relative to the working directory with
/// `--device`, and else to the scenario.
#[test]
fn a_device_may_come_from_a_file() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    let device = "[device]\npreset = \"flin-isca18\"\ngeometry.blocks_per_plane = 64\nftl.over_provisioning_percent = 20\n\
                  [fitted]\nreads = \"measured\"\nmixed = \"not measured\"\nwrites = \"not measured\"\n";
    write(&folder, "my.toml", device);
    write(&folder, "a.csv", TRACE);
    write(&folder, "sub/a.csv", TRACE);
    write(&folder, "sub/s.toml", "device = \"../my.toml\"\n[[flow]]\ntrace = \"a.csv\"\n");
    let hash = |words: &[&str]| {
        let made = good(&folder, &[&["run", "--format", "json"], words].concat());
        let made: serde_json::Value = serde_json::from_str(&made).expect("JSON");
        (made["made_by"]["scenario_hash"].clone(), made["made_by"]["device"].clone())
    };
    let [option, own, both] =
        [&["--trace", "a.csv", "--device", "my.toml"][..], &["sub/s.toml"], &["sub/s.toml", "--device", "./my.toml"]]
            .map(hash);
    assert!(option == own && own == both && own.1 == "my.toml", "{option:?} {own:?} {both:?}");
    for command in ["run", "compare"] {
        let said = good(&folder, &[command, "sub/s.toml"]);
        let warned = "arning: writes, reads beside writes were not measured when this device was fitted: their figures";
        assert!(said.contains(warned), "{command}: {said}");
    }
    let made = good(&folder, &["run", "sub/s.toml", "--format", "json"]);
    let made: serde_json::Value = serde_json::from_str(&made).expect("JSON");
    assert_eq!(made["made_by"]["not_measured"], serde_json::json!(["writes", "reads beside writes"]));
    let line = "my.toml: writes, reads beside writes were not measured when this device was fitted: their figures";
    for words in
        [&["check", "sub/s.toml"][..], &["explain", "sub/s.toml", "--request", "0"], &["recommend", "sub/s.toml"]]
    {
        let said = good(&folder, words);
        assert!(said.contains(line), "{words:?}: {said}");
    }
    let checked = good(&folder, &["check", "sub/s.toml"]);
    assert!(checked.contains("device      my.toml: 32 units"), "{checked}");

    let sweep = "[sweep]\ndevice.preset = [\"../my.toml\", \"unit-cycle\"]\n";
    write(&folder, "sub/sweep.toml", &format!("device = \"../my.toml\"\n[[flow]]\ntrace = \"a.csv\"\n{sweep}"));
    let said = good(&folder, &["sweep", "sub/sweep.toml", "--out", "made"]);
    assert_eq!(said.matches(line).count(), 1, "{said}");

    write(&folder, "bad.toml", &device.replace("= 20", "= -20"));
    let message = bad_line(&folder, &["compare", "sub/s.toml", "--device", "bad.toml"]);
    assert!(message.contains("/bad.toml:4:33: device.ftl.over_provisioning_percent = -20: "), "{message}");
    let message = bad_line(&folder, &["compare", "--trace", "a.csv", "--device", "none.toml"]);
    let expected = "--device: device.preset = \"none.toml\": cannot read the device file: No such file";
    assert!(message.starts_with(expected), "{message}");
}

/// Requests of the warm-up are in the rows, marked as not counted, and the summary says how many there are.
#[test]
fn rows_say_which_requests_count() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    good(&folder, &["run", "--trace", "a.csv", "--set", "run.warm_up_requests=1", "--out", "made", "--csv"]);
    let rows = std::fs::read_to_string(folder.path().join("made/requests.csv")).expect("rows");
    let mut counted: Vec<(&str, &str)> =
        rows.lines().skip(1).filter_map(|row| Some((row.split_once(',')?.0, row.rsplit_once(',')?.1))).collect();
    counted.sort_unstable();
    assert_eq!(counted, [("0", "0"), ("1", "1")]);
    let summary = std::fs::read_to_string(folder.path().join("made/summary.json")).expect("the summary");
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["made_by"]["warm_up_requests"], 1);
    assert_eq!(summary["schedulers"][0]["total"]["all"]["requests"], 1);
}

/// An attribution names every difference, and is a table on the terminal and a waterfall in the report.
#[test]
fn an_attribution_names_every_difference() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let args =
        ["attribute", "--trace", "a.csv", "--from", "fcfs", "--to", "sprinkler", "--seeds", "2", "--report", "r.html"];
    let message = good(&folder, &args);
    for needed in ["From fcfs to sprinkler", "pick: fcfs -> largest-group", "preempt: never -> suspend", "4 mixes"] {
        assert!(message.contains(needed), "{needed}: {message}");
    }
    let page = std::fs::read_to_string(folder.path().join("r.html")).expect("the report");
    assert!(page.contains("id=\"h-attribution\"") && page.contains("class=\"waterfall\""));
}

#[test]
fn usage_is_one_line() {
    let folder = folder();
    for command in ["run", "compare", "check", "attribute"] {
        let message = text(&program(&folder).args([command, "--bogus"]).output().expect("it runs").stderr);
        let usage: Vec<&str> = message.lines().filter(|line| line.starts_with("Usage: ")).collect();
        assert!(usage.len() == 1 && usage[0].len() <= 100, "{message}");
        assert!(usage[0].contains("<SCENARIO.toml | --trace FILE>"), "{message}");
    }
}

#[test]
fn timelines_are_written_for_every_scheduler_and_never_over_others() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let two = ["compare", "--trace", "a.csv", "--schedulers", "fcfs,sprinkler", "--timeline", "run.json"];
    let message = good(&folder, &two);
    assert!(
        message.contains("timeline: run-fcfs.json, run-sprinkler.json (ui.perfetto.dev opens them)\n"),
        "{message}"
    );
    assert!(!folder.path().join("run.json").exists());
    for name in ["run-fcfs.json", "run-sprinkler.json"] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("a timeline");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let requests = json["traceEvents"].as_array().expect("events").iter();
        assert_eq!(
            requests.filter(|event| event["name"].as_str().is_some_and(|name| name.ends_with(" request"))).count(),
            2
        );
    }
    let message = bad_line(&folder, &two);
    assert!(message.starts_with("run-fcfs.json: exists already and is left as it is"), "{message}");
    good(&folder, &[&two[..], &["--force", "--window", "0us..1s"]].concat());
    let packed = [&two[..two.len() - 1], &["tl.json.gz"]].concat();
    let message = good(&folder, &packed);
    assert!(message.contains("timeline: tl-fcfs.json.gz, tl-sprinkler.json.gz (ui"), "{message}");
    for scheduler in ["fcfs", "sprinkler"] {
        let packed = folder.path().join(format!("tl-{scheduler}.json.gz"));
        let unpacked = Command::new("gzip").arg("-dc").arg(packed).output().expect("gzip runs").stdout;
        let plain = std::fs::read(folder.path().join(format!("run-{scheduler}.json"))).expect("a timeline");
        assert!(unpacked == plain, "{scheduler}");
    }
    let message = good(&folder, &["run", "--trace", "a.csv", "--timeline", "run.perfetto"]);
    assert!(message.contains("timeline: run.perfetto (ui.perfetto.dev opens it)"), "{message}");
    assert!(std::fs::metadata(folder.path().join("run.perfetto")).expect("a file").len() > 100);
    let message = bad_line(&folder, &[&two[..], &["--window", "5"]].concat());
    assert!(message.starts_with("--window 5: must be A..B with units"), "{message}");
}

#[test]
fn a_request_is_explained_and_compared_with_another_scheduler() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    let message = good(&folder, &["explain", "--trace", "a.csv", "--scheduler", "fcfs", "--request", "1"]);
    assert!(message.starts_with("Request 1 of a under fcfs: write of 1 page, arrived at "), "{message}");
    let message = good(&folder, &["explain", "--trace", "a.csv", "--worst", "2", "--beside", "sprinkler"]);
    assert_eq!(message.matches("Under sprinkler it took").count(), 2, "{message}");
    let message = bad_line(&folder, &["explain", "--trace", "a.csv", "--request", "2"]);
    assert_eq!(message, "--request 2: there is no such request; there are 2, counted from 0 to 1");
}

/// An option and a table of `--set` that give one key two values are refused as are the option and that key.
#[test]
fn a_table_that_gives_an_option_s_key_another_value_is_refused() {
    let folder = folder();
    let set = |key: &str, value: &str| bad_line(&folder, &["compare", "two.toml", "--set", key, "--seeds", value]);
    good(&folder, &["init", "two.toml"]);
    assert_eq!(
        set("run.seeds=2", "3"),
        "--set: run.seeds = 2: --seeds gives run.seeds the value 3; give run.seeds one value"
    );
    let table = "--set: run = {seeds=2}: --seeds gives run.seeds the value 3; give run.seeds one value";
    assert_eq!(set("run={seeds=2}", "3"), table);
    let baseline = ["compare", "two.toml", "--set", "run={baseline=\"fcfs\"}", "--baseline", "flin"];
    assert!(
        bad_line(&folder, &baseline)
            .ends_with("--baseline gives run.baseline the value flin; give run.baseline one value")
    );
}

/// A flow of a trace has the name that is shown, and a number.
#[test]
fn a_flow_is_set_by_the_name_on_the_screen() {
    let folder = folder();
    write(&folder, "a.b.csv", TRACE);
    for flow in ["flow.a", "flow.0", "flow[0]"] {
        let set = format!("{flow}.priority=9");
        let said = bad_line(&folder, &["check", "--trace", "a.b.csv", "--set", &set]);
        assert!(said.starts_with("--set: flow[0].priority = 9"), "{said}");
    }
    let said = bad_line(&folder, &["check", "--trace", "a.b.csv", "--set", "flow.b.priority=1"]);
    assert!(said.ends_with("no flow has the name \"b\"; there is \"a\", also by number, such as flow[0]"), "{said}");
}

/// What is read alike of the volumes of one file is said once.
#[test]
fn volumes_apart_have_one_line_of_how_their_file_is_read() {
    let folder = folder();
    let lines: String = (0..40).map(|i| format!("{},{},4096,{},{}.0\n", i % 4, i * 8, ["r", "w"][i % 2], i)).collect();
    write(&folder, "v.spc", &lines);
    let output =
        program(&folder).args(["run", "--trace", "v.spc", "--volumes", "apart", "--device", "flin-isca18"]).output();
    let output = output.expect("the program runs");
    let all = format!("{}{}", text(&output.stdout), text(&output.stderr));
    let read: Vec<&str> = all.lines().filter(|line| line.contains("read as spc")).collect();
    assert!(
        matches!(read[..], [line] if line.contains("v.spc: ") && line.ends_with("each of its 4 volumes is a flow")),
        "{all}"
    );
}

/// An error about a number says what would be legal.
#[test]
fn numbers_that_are_none_are_told_what_is_legal() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    good(&folder, &["init", "two.toml"]);
    let said = |args: &[&str]| {
        let output = program(&folder).args(args).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        text(&output.stderr)
    };
    for (args, value) in [
        (&["compare", "two.toml", "--seeds", "five"][..], "five"),
        (&["trace", "stat", "a.csv", "--drive-bytes", "1G"], "1G"),
        (&["run", "two.toml", "--jobs", "x"], "x"),
    ] {
        let said = said(args);
        assert!(said.contains(value) && said.contains("must be a whole number in digits alone"), "{args:?}: {said}");
    }
    let large = said(&["trace", "stat", "a.csv", "--limit", "99999999999999999999"]);
    assert!(large.contains("must be a smaller whole number"), "{large}");
    let list = bad_line(&folder, &["compare", "two.toml", "--set", "run.seeds=[1,2]"]);
    assert!(list.ends_with("expected a whole number from 1 to 1000"), "{list}");
}
