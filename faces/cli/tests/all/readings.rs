//! How traces are read, as a user says it on the command line: the unit of their times, the columns of a CSV, the files of a blktrace.

use crate::common::{folder, program, text, write};
use flashlane_testing::Random;
use tempfile::TempDir;

/// Expects success; returns the standard output.
#[track_caller]
fn good(folder: &TempDir, args: &[&str]) -> String {
    let output = program(folder).args(args).output().expect("the program runs");
    let (message, complaint) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{message}");
    message
}

/// Expects an error about the input, of one line; returns what follows `error: `.
#[track_caller]
fn bad_line(folder: &TempDir, args: &[&str]) -> String {
    let output = program(folder).args(args).output().expect("the program runs");
    let complaint = text(&output.stderr);
    assert_eq!((output.status.code(), complaint.lines().count()), (Some(2), 1), "{complaint}");
    complaint.strip_prefix("error: ").expect("an error").trim_end().to_owned()
}

/// Mean response time under each scheduler, ns, and when the last request arrived.
fn figures(json: &str) -> Vec<(f64, u64)> {
    let summary: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let of = |run: &serde_json::Value| {
        let total = &run["total"];
        Some((total["all"]["mean_ns"].as_f64()?, total["last_arrival_ns"].as_u64()?))
    };
    summary["schedulers"].as_array().expect("schedulers").iter().map(|run| of(run).expect("figures")).collect()
}

/// 200 requests 40 us apart, with times in units of this many nanoseconds.
fn trace(unit_ns: u64) -> String {
    (0..200u64).map(|i| format!("{} 0 {} 8 {}\n", i * 40_000 / unit_ns, i * 7_919 % 5_000 * 8, i % 2)).collect()
}

#[test]
fn the_unit_of_times_is_named_wherever_a_trace_is_read() {
    let folder = folder();
    write(&folder, "ns.mqsim", &trace(1));
    write(&folder, "us.mqsim", &trace(1_000));
    let us = ["--trace-format", "mqsim", "--time-unit", "us"];
    let few = ["--schedulers", "fcfs,read-first", "--format", "json"];
    let right = good(&folder, &[&["compare", "--trace", "ns.mqsim"][..], &few].concat());
    let wanted = figures(&right);
    let made = good(&folder, &[&["compare", "--trace", "us.mqsim"][..], &us, &few].concat());
    assert_eq!(figures(&made), wanted);
    let scenario = "schedulers = [\"fcfs\", \"read-first\"]\n[[flow]]\ntrace = { path = \"us.mqsim\", format = \"mqsim\", time_unit = \"us\" }\n";
    write(&folder, "s.toml", scenario);
    assert_eq!(figures(&good(&folder, &["compare", "s.toml", "--format", "json"])), wanted);
    let message = good(&folder, &["run", "s.toml", "--set", "flow[0].trace.time_unit='100ns'", "--format", "json"]);
    assert_eq!((figures(&message)[0].1, wanted[0].1), (796_000, 7_960_000));
    let stat = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&good(&folder, &[&["trace", "stat", "--json"], args].concat())).expect("JSON")
    };
    let (wanted, made) = (stat(&["ns.mqsim"]), stat(&[&["us.mqsim"][..], &us].concat()));
    assert_eq!((made["span_s"].clone(), made["gaps"].clone()), (wanted["span_s"].clone(), wanted["gaps"].clone()));
    good(&folder, &[&["trace", "convert", "us.mqsim", "out.mqsim", "--to", "mqsim"][..], &us].concat());
    let converted = std::fs::read_to_string(folder.path().join("out.mqsim")).expect("written");
    assert_eq!(converted, trace(1));
}

#[test]
fn an_impossible_rate_is_doubted() {
    let folder = folder();
    write(&folder, "us.mqsim", &trace(1_000));
    let read = ["us.mqsim", "--trace-format", "mqsim"];
    let warning = "25,000,000 requests/s were recorded, more than any drive serves: times may be in other units than ns, as which they were \
                 read (--time-unit names another)";
    let compare = good(&folder, &[&["compare", "--trace"][..], &read].concat());
    assert!(compare.contains(&format!("Warning: us: {warning}\n")), "{compare}");
    let stat = good(&folder, &[&["trace", "stat"][..], &read].concat());
    assert!(stat.contains(&format!("Warning: {warning}\n")), "{stat}");
    // A speed-up is no mistake.
    let fast =
        good(&folder, &[&["compare", "--trace"][..], &read, &["--time-unit", "us", "--speedup", "2000"]].concat());
    assert!(!fast.contains("were recorded"), "{fast}");
    // A request every two hours.
    let rare = good(
        &folder,
        &[
            "run",
            "--trace",
            "us.mqsim",
            "--trace-format",
            "mqsim",
            "--time-unit",
            "s",
            "--speedup",
            "1/200",
            "--limit",
            "9",
        ],
    );
    assert!(!rare.contains("were recorded"), "{rare}");
    write(&folder, "rare.mqsim", "0 0 8 8 1\n7200 0 8 8 1\n14400 0 8 8 1\n");
    let rare = good(&folder, &["run", "--trace", "rare.mqsim", "--trace-format", "mqsim", "--time-unit", "s"]);
    assert!(
        rare.contains("Warning: rare: one request in 2.00 hours was recorded: times may be in other units than s"),
        "{rare}"
    );
}

#[test]
fn times_with_a_date_have_one_unit() {
    let folder = folder();
    write(&folder, "a.msr", "128166372003061629,usr,1,Read,8192,4096,512\n");
    for command in [&["run", "--trace", "a.msr"][..], &["trace", "stat", "a.msr"], &["check", "--trace", "a.msr"]] {
        let message = bad_line(&folder, &[command, &["--time-unit", "us"]].concat());
        assert!(message.contains("time_unit: `us`: ") && message.contains("carry a date"), "{message}");
        good(&folder, &[command, &["--time-unit", "100ns"]].concat());
    }
}

#[test]
fn any_csv_is_read_by_its_columns() {
    let folder = folder();
    write(&folder, "ns.mqsim", &trace(1));
    let line = |i: u64| format!("{};{};x;{};4096\n", i * 40, ["W", "R"][(i % 2) as usize], i * 7_919 % 5_000 * 8);
    let body: String = (0..200).map(line).collect();
    write(&folder, "named.csv", &format!("ts;rw;host;lba;bytes\n{body}"));
    write(&folder, "bare.csv", &body.replace(";W;", ";1;").replace(";R;", ";0;"));
    let named = ["--columns", "time=ts:us,op=rw,offset=lba:sectors,length=bytes"];
    let numbered = ["--columns", "time=1,op=2,offset=4:sectors,length=5", "--time-unit", "us"];
    let few = ["--schedulers", "fcfs,read-first", "--format", "json"];
    let wanted = figures(&good(&folder, &[&["compare", "--trace", "ns.mqsim"][..], &few].concat()));
    for (file, columns) in [("named.csv", &named[..]), ("bare.csv", &numbered)] {
        let made = good(&folder, &[&["compare", "--trace", file][..], columns, &few].concat());
        assert_eq!(figures(&made), wanted, "{file}");
        good(&folder, &[&["trace", "convert", file, "out.mqsim", "--to", "mqsim", "--force"][..], columns].concat());
        assert_eq!(std::fs::read_to_string(folder.path().join("out.mqsim")).expect("written"), trace(1));
        let stat = good(&folder, &[&["trace", "stat", file][..], columns].concat());
        assert!(stat.contains("csv (CSV): as asked: time in us in column 1"), "{stat}");
    }
    let scenario = format!(
        "schedulers = [\"fcfs\", \"read-first\"]\n[[flow]]\ntrace = {{ path = \"named.csv\", columns = \"{}\" }}\n",
        named[1]
    );
    write(&folder, "s.toml", &scenario);
    assert_eq!(figures(&good(&folder, &["compare", "s.toml", "--format", "json"])), wanted);
    // What the program writes needs no words.
    good(&folder, &["trace", "convert", "ns.mqsim", "own.csv", "--to", "csv"]);
    assert_eq!(figures(&good(&folder, &[&["compare", "--trace", "own.csv"][..], &few].concat())), wanted);

    let message = bad_line(&folder, &["compare", "--trace", "named.csv"]);
    assert!(message.contains("any other CSV is read with --columns, such as time=1:us"), "{message}");
    let message =
        bad_line(&folder, &["run", "--trace", "named.csv", "--columns", "time=ts:us,op=rw,offset=at,length=bytes"]);
    assert_eq!(message, "named.csv:1: there is no column `at`; legal is one of `ts`, `rw`, `host`, `lba`, `bytes`");
    for command in [&["run", "--trace", "named.csv"][..], &["trace", "stat", "named.csv"]] {
        let message = bad_line(&folder, &[command, &["--columns", "time=ts:us,op=rw"]].concat());
        assert!(
            message.starts_with("--columns: ") && message.contains("it does not say which column is the offset"),
            "{message}"
        );
    }
    write(&folder, "s.toml", &scenario.replace("lba:sectors", "lba"));
    let message = bad_line(&folder, &["check", "s.toml"]);
    assert!(
        message.starts_with("s.toml:3:") && message.contains("offset=lba: is it in bytes or in sectors?"),
        "{message}"
    );
}

/// Requests of 32 KiB, half of them writes, that keep dies busy: the schedulers that are compared by default differ.
#[test]
fn the_default_schedulers_differ_on_an_ordinary_trace() {
    let folder = folder();
    let mut random = Random(1);
    let mut draw = |below| random.below(below);
    let mut ns = 0;
    let mut line = |_| {
        ns += 8_000 + draw(16_000);
        format!("{ns} 0 {} 64 {}\n", 64 * draw(100_000), draw(2))
    };
    write(&folder, "a.mqsim", &(0..3_000).map(&mut line).collect::<String>());
    let message = good(&folder, &["compare", "--trace", "a.mqsim"]);
    assert!(!message.contains("identical results"), "{message}");
    let json = good(&folder, &["compare", "--trace", "a.mqsim", "--format", "json"]);
    let summary: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let runs = summary["schedulers"].as_array().expect("schedulers");
    assert_eq!(runs.len(), 4);
    for (i, run) in runs.iter().enumerate() {
        for other in &runs[..i] {
            assert!(run["total"] != other["total"], "{} and {}", run["name"], other["name"]);
        }
    }
}

/// A record of a blktrace, queued on 8,0: time, sector, bytes, and whether it is a write.
fn record(time_ns: u64, sector: u64, bytes: u32, write: bool) -> Vec<u8> {
    let action = 1u32 | if write { 1 << 17 } else { 1 << 16 };
    let words = [0x6561_7407, 0, time_ns as u32, (time_ns >> 32) as u32, sector as u32, (sector >> 32) as u32];
    let rest = [bytes, action, 42, 8 << 20, 0, 0];
    words.into_iter().chain(rest).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn the_files_of_a_blktrace_are_one_trace_for_every_command() {
    let folder = folder();
    let dir = folder.path().join("t");
    std::fs::create_dir(&dir).expect("a folder");
    for cpu in 0..12u64 {
        let of = |i: u64| record(1_000 + 1_000 * (12 * i + cpu), 8 * (i * 977 + cpu * 31), 4096, cpu % 2 == 0);
        std::fs::write(dir.join(format!("sda.blktrace.{cpu}")), (0..20).flat_map(of).collect::<Vec<u8>>())
            .expect("written");
    }
    let summary = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&good(&folder, &[args, &["--format", "json"]].concat())).expect("JSON")
    };
    let wanted = summary(&["compare", "--trace", "t"]);
    assert_eq!(wanted["schedulers"][0]["total"]["completed"], 240);
    for name in ["t/sda", "t/sda.blktrace.*"] {
        let made = summary(&["compare", "--trace", name]);
        assert_eq!(figures(&made.to_string()), figures(&wanted.to_string()), "{name}");
        assert_eq!(
            (made["flows"][0]["name"].as_str(), made["schedulers"].as_array().map(Vec::len)),
            (Some("sda"), Some(4))
        );
        write(&folder, "s.toml", &format!("[[flow]]\nname = \"t\"\ntrace = {name:?}\n"));
        // What the trace is called does not count, its bytes do: it is the scenario that replays the folder.
        assert_eq!(summary(&["compare", "s.toml"])["made_by"]["scenario_hash"], wanted["made_by"]["scenario_hash"]);
        good(&folder, &["check", "s.toml"]);
        good(&folder, &["trace", "stat", name]);
        good(&folder, &["run", "--trace", name, "--out", "out", "--csv"]);
        std::fs::remove_dir_all(folder.path().join("out")).expect("results");
    }
    let message = bad_line(&folder, &["compare", "--trace", "t/sdb.blktrace.*"]);
    assert!(message.contains("t/sdb.blktrace.*") && message.contains("no such file"), "{message}");
    // An output must not be one of its files.
    let message = bad_line(&folder, &["run", "--trace", "t/sda", "--report", "t/sda.blktrace.3"]);
    assert!(message.contains("the trace"), "{message}");
}

#[test]
fn the_first_screen_says_in_which_state_the_drive_starts() {
    let folder = folder();
    let scenario = "name = \"s\"\n[device]\npreset = \"flin-isca18\"\ngeometry = { blocks_per_plane = 32, pages_per_block = 16 }\n\
                    ftl = { over_provisioning_percent = 60 }\n[[flow]]\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]\n";
    write(&folder, "s.toml", scenario);
    for (set, words) in [
        ("device.precondition.state='fresh'", "drive fresh at the start"),
        ("device.precondition.state='steady'", "drive steady at the start"),
        ("device.precondition={state='filled',fill_percent=42.5}", "drive filled to 42.5 % at the start"),
        ("device.precondition={state='replayed',overwrite_percent=30}", "drive overwritten by 30 % at the start"),
    ] {
        let message = good(&folder, &["run", "s.toml", "--set", set]);
        assert!(message.contains(&format!("s on flin-isca18, {words}: requests per second")), "{message}");
        let changed = "flin-isca18 with ftl.over_provisioning_percent not set -> 60, geometry.blocks_per_plane 4096 -> 32, geometry.pages_per_block 256 -> 16";
        assert!(message.contains(changed), "{message}");
    }
}

/// Options that a run and `trace stat` and `trace convert` share do the same in all of them.
#[test]
fn a_trace_by_itself_takes_the_options_that_it_takes_in_a_run() {
    let folder = folder();
    write(
        &folder,
        "back.csv",
        "2000,usr,0,Read,0,4096,1\n1000,usr,0,Read,4096,4096,1\n3000,usr,1,Read,0,0,1\n4000,usr,1,Write,0,512,1\n",
    );
    let stat = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&good(&folder, &[&["trace", "stat", "back.csv", "--json"], args].concat())).expect("JSON")
    };
    let counted = |args: &[&str]| {
        let counts = stat(args)["counts"].clone();
        ["requests", "rejected", "clamped", "wrapped", "sorted"].map(|key| counts[key].as_u64().unwrap_or(0))
    };
    let message = bad_line(&folder, &["trace", "stat", "back.csv"]);
    assert!(message.contains("back.csv:2: ") && message.contains("clamp") && message.contains("sort"), "{message}");
    let message = bad_line(&folder, &["trace", "stat", "back.csv", "--order", "clamp"]);
    assert!(message.contains("back.csv:3: "), "{message}");
    assert_eq!(counted(&["--order", "clamp", "--sizes", "reject"]), [4, 1, 1, 0, 0]);
    assert_eq!(counted(&["--order", "sort", "--sizes", "reject"]), [4, 1, 0, 0, 1]);
    let lenient = ["--order", "sort", "--sizes", "reject"];
    let on = |beyond| counted(&[&lenient[..], &["--drive-bytes", "4096", "--beyond", beyond]].concat());
    assert_eq!((on("reject"), on("wrap")), ([4, 2, 0, 0, 1], [4, 1, 0, 1, 1]));
    assert_eq!(stat(&[&lenient[..], &["--volumes", "together"]].concat())["end_byte"], (1 << 20) + 512);
    let to = |name: &'static str, args: &[&'static str]| {
        good(&folder, &[&["trace", "convert", "back.csv", name], args, &lenient].concat())
    };
    let message = to("a.csv", &["--to", "csv"]);
    assert!(
        message.contains("; 1 put before others by their times") && message.contains("2 volumes became one"),
        "{message}"
    );
    let message = to("a.mqsim", &["--to", "mqsim", "--drive-bytes", "4096", "--beyond", "wrap"]);
    assert!(message.contains("; 1 wrapped into the drive") && !message.contains("became one"), "{message}");
    let message = bad_line(
        &folder,
        &[&["trace", "convert", "back.csv", "b.csv", "--to", "csv", "--volumes", "apart"][..], &lenient].concat(),
    );
    assert!(message.contains("volumes: `apart`: a csv trace has no volumes"), "{message}");
    assert!(!folder.path().join("b.csv").exists());
    // The same in a run.
    let run = [&["run", "--trace", "back.csv", "--no-alone"][..], &lenient].concat();
    let message = good(&folder, &run);
    assert!(message.contains("received 4 = completed 3 + rejected 1"), "{message}");
    let message = good(&folder, &[&run[..], &["--only-device", "usr_0", "--offset", "1"]].concat());
    assert!(message.contains("received 1 = completed 1 + rejected 0"), "{message}");
}

/// What `trace stat` calls the rate of a trace is what a run says it is offered, in its summary and its table.
#[test]
fn a_trace_has_one_rate() {
    let folder = folder();
    write(
        &folder,
        "plain.csv",
        &(0..11).map(|i| format!("{},usr,0,Read,{},4096,1\n", i * 1_000, i * 4_096)).collect::<String>(),
    );
    let mixed = "time_us,op,offset,length\n0,write,0,4096\n0,read,0,4096\n100,flush,0,0\n200,write,4096,4096\n700,trim,8192,4096\n1000,read,0,4096\n";
    write(&folder, "mixed.csv", mixed);
    for (file, speedup, wanted) in
        [("plain.csv", "1", 10_000.0), ("plain.csv", "4", 40_000.0), ("mixed.csv", "1", 2_000.0)]
    {
        let json = |args: &[&str]| -> serde_json::Value { serde_json::from_str(&good(&folder, args)).expect("JSON") };
        let stat = json(&["trace", "stat", file, "--speedup", speedup, "--json"]);
        let run = ["run", "--trace", file, "--speedup", speedup, "--device", "flin-isca18"];
        let summary = json(&[&run[..], &["--format", "json"]].concat());
        let offered = summary["schedulers"][0]["total"]["all"]["offered_iops"].as_f64();
        assert_eq!((stat["rate_iops"].as_f64(), offered), (Some(wanted), Some(wanted)), "{file} at {speedup}");
        let table = good(&folder, &run);
        let shown = format!("{},000", wanted / 1_000.0);
        assert!(table.lines().any(|line| line.trim_start().starts_with("fcfs") && line.contains(&shown)), "{table}");
    }
}

/// Every option that a message of a crate names is one of each command that can print the message.
#[test]
fn messages_name_only_options_that_the_command_has() {
    let reading: &[&[&str]] = &[
        &["run"],
        &["compare"],
        &["attribute"],
        &["explain"],
        &["recommend"],
        &["check"],
        &["serve"],
        &["trace", "stat"],
        &["trace", "convert"],
    ];
    let folder = folder();
    let help = |command: &[&str]| good(&folder, &[command, &["--help"]].concat());
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut named = Vec::new();
    for (path, text) in sources(&root.join("lab/trace/src")) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let mut rest = line;
            while let Some(at) = rest.find("--") {
                rest = &rest[at + 2..];
                let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(rest.len());
                if rest[..end].len() > 1 {
                    named.push((path.clone(), rest[..end].to_owned()));
                }
            }
        }
    }
    assert!(
        named.iter().any(|(_, option)| option == "columns") && named.iter().any(|(_, option)| option == "time-unit")
    );
    for command in reading {
        let help = help(command);
        for (path, option) in &named {
            assert!(help.contains(&format!("--{option}")), "{command:?} has no --{option}, which {path} names");
        }
    }
}

/// The Rust files of a folder and what is in it, with their texts.
fn sources(folder: &std::path::Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).expect("a text")));
        }
    }
    found
}
