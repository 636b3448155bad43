//! Hostile input on the command line: bytes that are not text, names with control characters, files without an end,
//! names that clash, runs that the machine has no memory for. Each ends with exit code 2 and a message, or works.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{TRACE, folder, program, text, write};
use tempfile::TempDir;

/// The longest time a test waits for a refusal, which takes a small part of a second.
const SOON: Duration = Duration::from_secs(30);

fn run<S: AsRef<OsStr>>(folder: &TempDir, args: &[S]) -> Output {
    program(folder).args(args).output().expect("the program runs")
}

/// Checks that the text has no control or invisible characters.
#[track_caller]
fn harmless(shown: &str) {
    let found = shown.chars().find(|&c| c != '\n' && !flashlane_outputs::shown::is_plain(c));
    assert_eq!(found, None, "{shown:?}");
}

/// Expects success; returns the standard output.
#[track_caller]
fn good<S: AsRef<OsStr>>(folder: &TempDir, args: &[S]) -> String {
    let output = run(folder, args);
    let (printed, complaint) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{printed}");
    harmless(&printed);
    printed
}

/// Expects an error about the input within a short time; returns it.
#[track_caller]
fn bad<S: AsRef<OsStr>>(folder: &TempDir, args: &[S]) -> String {
    let begun = Instant::now();
    let output = run(folder, args);
    assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    harmless(&printed);
    let printed = printed.strip_prefix("error: ").unwrap_or_else(|| panic!("{printed}")).trim_end();
    printed.to_owned()
}

/// The error of [`bad`], checked to be one line.
#[track_caller]
fn bad_line<S: AsRef<OsStr>>(folder: &TempDir, args: &[S]) -> String {
    let printed = bad(folder, args);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    printed
}

fn bytes(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

#[test]
fn paths_may_be_any_bytes() {
    let folder = folder();
    let trace = bytes(b"b\xffd.csv");
    write(&folder, trace, TRACE);
    let printed = good(&folder, &[bytes(b"trace"), bytes(b"stat"), trace]);
    assert!(printed.contains("requests      2 read"), "{printed}");
    let printed = good(&folder, &[bytes(b"check"), bytes(b"--trace"), trace]);
    assert!(printed.contains("trace b\\xFFd.csv; priority 0"), "{printed}");
    let (out, page) = (bytes(b"o\xfft"), bytes(b"r\xfe.html"));
    let args =
        [bytes(b"run"), bytes(b"--trace"), trace, bytes(b"--csv"), bytes(b"--out"), out, bytes(b"--report"), page];
    let printed = good(&folder, &args);
    assert!(printed.contains("results: o\\xFFt\n") && printed.contains("report: r\\xFE.html\n"), "{printed}");
    assert!(folder.path().join(page).is_file());
    let made_by = std::fs::read_to_string(folder.path().join(out).join("made-by.json")).expect("the command");
    assert!(made_by.contains(r"$'b\\xffd.csv'"), "the command can be run again: {made_by}");
    let scenario = bytes(b"s\xff.toml");
    good(&folder, &[bytes(b"init"), scenario]);
    good(&folder, &[bytes(b"check"), scenario]);
    let printed = bad_line(&folder, &[bytes(b"check"), bytes(b"none\xff.toml")]);
    assert!(printed.contains("cannot read the scenario"), "{printed}");
}

#[test]
fn words_that_are_no_text_are_refused_by_name() {
    let folder = folder();
    write(&folder, "a.csv", TRACE);
    for flag in ["--scheduler", "--device", "--limit", "--trace-format"] {
        let printed = bad_line(
            &folder,
            &[bytes(b"run"), bytes(b"--trace"), bytes(b"a.csv"), bytes(flag.as_bytes()), bytes(b"f\xffs")],
        );
        assert_eq!(
            printed,
            "argument 5, `f\\xFFs`: is not UTF-8; only the names of files and folders may be other bytes"
        );
    }
    let formats = [bytes(b"run"), bytes(b"--trace"), bytes(b"a.csv"), bytes(b"--format"), bytes(b"f\xffs")];
    assert!(bad(&folder, &formats).starts_with("invalid value 'f\\xFFs' for '--format <FORMAT>'"));
    // The path is legal; the name of the scheduler is not.
    let args = [bytes(b"run"), bytes(b"--trace"), bytes(b"b\xff.csv"), bytes(b"--scheduler"), bytes(b"\xff")];
    assert!(bad_line(&folder, &args).starts_with("argument 5, `\\xFF`"));
    assert!(bad_line(&folder, &[bytes(b"schedulers"), bytes(b"x\xff")]).contains("argument 2"));
}

#[test]
fn nothing_from_outside_reaches_a_terminal_as_it_is() {
    let folder = folder();
    let hostile = "n\x1b[31m\u{202e}\u{200b}\nerror: x\u{9b}";
    let trace = format!("{hostile}.csv");
    write(&folder, &trace, TRACE);
    write(&folder, "b.csv", TRACE);
    let shown = "n\\u{1b}[31m\\u{202e}\\u{200b}\\nerror: x\\u{9b}";
    assert!(good(&folder, &["trace", "stat", &trace]).contains(shown));
    assert!(good(&folder, &["check", "--trace", &trace, "--trace", "b.csv"]).contains(shown));
    let printed =
        good(&folder, &["compare", "--trace", &trace, "--trace", "b.csv", "--out", "o", "--report", "r.html"]);
    assert!(printed.contains(shown), "{printed}");
    // As data: unchanged in the file, with JSON escapes on a terminal, and both mean the same.
    let kept = std::fs::read_to_string(folder.path().join("o/summary.json")).expect("a summary");
    let printed = good(&folder, &["compare", "--trace", &trace, "--trace", "b.csv", "--format", "json"]);
    let parsed = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON");
    assert_eq!(parsed(&kept)["flows"], parsed(&printed)["flows"]);
    assert_eq!(parsed(&printed)["flows"][0]["name"], hostile);
    good(&folder, &["compare", "--trace", &trace, "--format", "fio-json"]);
    good(&folder, &["trace", "stat", &trace, "--json"]);
    good(&folder, &["trace", "convert", "b.csv", &format!("{hostile}.mqsim"), "--to", "mqsim"]);
    good(&folder, &["init", &format!("{hostile}.toml")]);
    let page = std::fs::read_to_string(folder.path().join("r.html")).expect("a page");
    assert!(!page.contains("\x1b[31m<") && page.contains("error: x"), "the page has names as text");

    let device = format!("d{hostile}.toml");
    write(&folder, &device, "[device]\npreset = \"unit-cycle\"\n[fitted]\nwrites = \"not measured\"\n");
    assert!(good(&folder, &["run", "--trace", "b.csv", "--device", &device]).contains(shown));
    write(&folder, &device, "[device]\n\"a\\u001b[2J\\nb\" = 1\n");
    bad_line(&folder, &["run", "--trace", "b.csv", "--device", &device]);

    let nowhere = format!("{hostile}/r.html");
    for args in [
        vec!["check", hostile],
        vec!["check", "--trace", hostile],
        vec!["check", "--trace", "b.csv", "--device", hostile],
        vec!["run", "--trace", "b.csv", "--scheduler", hostile],
        vec!["run", "--trace", "b.csv", "--report", &nowhere],
        vec!["schedulers", hostile],
        vec!["devices", hostile],
        vec!["paper", hostile],
        vec!["trace", "stat", hostile],
        vec!["trace", "stat", "b.csv", "--only-device", hostile],
        vec!["trace", "stat", "b.csv", "--trace-format", hostile],
    ] {
        bad_line(&folder, &args);
    }
    for args in [
        vec![hostile],
        vec!["check", "b.csv", "--limit", hostile],
        vec!["run", "--trace", "b.csv", "--format", hostile],
    ] {
        bad(&folder, &args);
    }
    write(&folder, "keys.toml", "\"a\\u001b[2J\\nb\" = 1\n");
    bad_line(&folder, &["check", "keys.toml"]);
    write(
        &folder,
        "name.toml",
        "name = \"a\\u001b[2J\\nb\"\n[[flow]]\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]\n",
    );
    assert!(good(&folder, &["check", "name.toml"]).starts_with("a\\u{1b}[2J\\nb: scenario"));
    write(&folder, "lines.csv", "0 0 0 8 1\n\x1b[2J\u{202e} 0 0 8 1\n");
    bad_line(&folder, &["trace", "stat", "lines.csv", "--trace-format", "mqsim"]);
}

#[test]
fn files_without_an_end_are_refused() {
    if !Path::new("/dev/zero").exists() {
        println!("SKIPPED: no /dev/zero here");
        return;
    }
    let folder = folder();
    for args in [
        vec!["check", "/dev/zero"],
        vec!["run", "/dev/zero"],
        vec!["check", "--trace", "/dev/zero"],
        vec!["compare", "--trace", "/dev/zero"],
        vec!["compare", "--trace", "/dev/zero", "--trace-format", "mqsim"],
        vec!["trace", "stat", "/dev/zero"],
        vec!["trace", "stat", "/dev/zero", "--trace-format", "mqsim"],
        vec!["trace", "convert", "/dev/zero", "x.mqsim", "--to", "mqsim"],
    ] {
        bad_line(&folder, &args);
    }
    let pipe = folder.path().join("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        println!("SKIPPED: no mkfifo here: a pipe without an end was not tried");
        return;
    }
    let printed = bad_line(&folder, &["compare", "--trace", "pipe"]);
    assert!(printed.contains("is a pipe"), "{printed}");
    // Nobody writes to it: opening it would wait for ever.
    for command in ["check", "run", "compare"] {
        let printed = bad_line(&folder, &[command, "pipe"]);
        assert_eq!(printed, "pipe: is a named pipe; legal is a file, or /dev/stdin for a scenario from standard input");
    }
}

#[test]
fn a_scenario_from_standard_input_is_read_up_to_the_limit() {
    if !Path::new("/dev/stdin").exists() {
        println!("SKIPPED: no /dev/stdin here");
        return;
    }
    let folder = folder();
    let scenario = "[[flow]]\n[flow.synthetic]\nrate_iops = 1000\nrequests = 10\n";
    let fed = |text: &'static [u8], times: usize| {
        let mut command = program(&folder);
        command.args(["check", "/dev/stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let mut input = child.stdin.take().expect("piped");
        // The program may end before it has read everything; the rest cannot be written then.
        let writer = std::thread::spawn(move || (0..times).all(|_| input.write_all(text).is_ok()));
        let output = child.wait_with_output().expect("it ends");
        (output.status.code(), self::text(&output.stderr), writer.join().expect("no panic"))
    };
    let (code, printed, _) = fed(scenario.as_bytes(), 1);
    assert_eq!((code, printed.as_str()), (Some(0), ""));
    let (code, printed, whole) = fed(b"# no end\n", 10_000_000);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("/dev/stdin: longer than 4194304 bytes (4 MiB)") && !whole, "{printed}");
}

#[test]
fn a_packed_trace_of_one_line_is_refused() {
    let folder = folder();
    // 64 MiB of one digit, compressed to a few kilobytes.
    let path = folder.path().join("bomb.csv.gz");
    let mut shell = Command::new("sh");
    shell.args(["-c", "head -c 67108864 /dev/zero | tr '\\0' 7 | gzip -1 > bomb.csv.gz"]);
    let made = shell.current_dir(folder.path()).status();
    if !made.is_ok_and(|status| status.success()) || !path.is_file() {
        println!("SKIPPED: no gzip here: a packed endless line was not tried");
        return;
    }
    bad_line(&folder, &["trace", "stat", "bomb.csv.gz"]);
    bad_line(&folder, &["compare", "--trace", "bomb.csv.gz"]);
    let printed = bad_line(&folder, &["trace", "stat", "bomb.csv.gz", "--trace-format", "mqsim"]);
    assert!(printed.contains("a line longer than 1 MiB"), "{printed}");
}

#[test]
fn a_scenario_that_is_too_long_is_refused_before_it_is_parsed() {
    let folder = folder();
    let file = std::fs::File::create(folder.path().join("long.toml")).expect("a file");
    file.set_len(118 << 20).expect("a sparse file");
    let begun = Instant::now();
    let printed = bad_line(&folder, &["check", "long.toml"]);
    assert!(printed.starts_with("long.toml: longer than 4194304 bytes (4 MiB), the most that"), "{printed}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let printed = bad_line(&folder, &["check", "."]);
    assert_eq!(printed, ".: is a folder; legal is a scenario, a TOML file");
    write(&folder, "zero.toml", "name = \"a\0b\"\n");
    assert_eq!(
        bad_line(&folder, &["check", "zero.toml"]),
        "zero.toml: not a text file: byte 9, on line 1, is 0; a scenario is TOML"
    );
}

#[test]
fn more_flows_than_a_device_has_are_not_built() {
    let folder = folder();
    write(&folder, "many.toml", &"[[flow]]\n".repeat(400_000));
    let printed = bad_line(&folder, &["check", "many.toml"]);
    assert!(printed.contains("more than 1024 flows; must be at most 1024"), "{printed}");
    write(&folder, "inline.toml", &format!("flow = [{}]\n", "{},".repeat(1_300_000)));
    let printed = bad_line(&folder, &["check", "inline.toml"]);
    assert!(printed.contains("more than 1024 flows"), "{printed}");
    write(&folder, "a.csv", TRACE);
    let traces: Vec<&str> = ["--trace", "a.csv"].into_iter().cycle().take(2 * 1025).collect();
    let printed = bad_line(&folder, &[&["check"], &traces[..]].concat());
    assert_eq!(printed, "--trace: flow: 1025 flows; must be at most 1024");
}

#[test]
fn names_that_no_results_folder_can_hold_are_refused_before_the_run() {
    let folder = folder();
    let flow = "[[flow]]\nname = \"NAME\"\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]\n";
    let check = |schedulers: &str, name: &str| {
        write(&folder, "s.toml", &format!("schedulers = {schedulers}\n{}", flow.replace("NAME", name)));
        bad_line(&folder, &["compare", "s.toml", "--out", "out"])
    };
    let mix = |name: &str| format!("[\"fcfs\", {{ name = \"{name}\", base = \"fcfs\" }}]");
    let long = "x".repeat(300);
    for name in [
        "summary.json",
        "flashlane-files.json",
        "requests.parquet",
        "report.html",
        ".",
        "..",
        "a/b",
        "a\\u0000",
        "a\\u001b",
        "nul",
        "a.",
        "a ",
        &long,
    ] {
        let printed = check(&mix(name), "f");
        assert!(printed.starts_with("s.toml:1:32: schedulers[1].name = "), "{name}: {printed}");
    }
    let printed = check(&mix("Fcfs"), "f");
    assert!(
        printed.contains("has the name of schedulers[0], but for upper and lower case; names must differ"),
        "{printed}"
    );
    for name in ["a\\u001b[2J", "a\\nb", "a\\u202eb", &long] {
        let printed = check("[\"fcfs\"]", name);
        assert!(printed.contains("flow[0].name = "), "{name}: {printed}");
    }
    assert!(!folder.path().join("out").exists());
}

/// The numbers of megabytes in the line that `check` prints about memory: a run, its address space, ...
fn megabytes(printed: &str) -> Vec<u64> {
    let line = printed.lines().find(|line| line.starts_with("memory ")).unwrap_or_else(|| panic!("{printed}"));
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "()".contains(c)).collect();
    words.windows(2).filter(|pair| pair[1] == "MB").map(|pair| pair[0].parse().expect("a number")).collect()
}

/// A scenario of one run on a drive of 480 GB.
fn large_drive(requests: u32) -> String {
    format!(
        "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\nprecondition = {{ state = \"steady\" }}\n[[flow]]\n[flow.synthetic]\n\
         read_ratio = 0.3\nsize = {{ constant = 8192 }}\naccess = \"random\"\nrate_iops = 20000\nrequests = {requests}\n"
    )
}

#[test]
fn check_says_what_memory_runs_take() {
    let folder = folder();
    write(&folder, "large.toml", &large_drive(1_000_000));
    let large = megabytes(&good(&folder, &["check", "large.toml"]));
    assert!((520..580).contains(&large[0]) && large[0] == large[1], "{large:?}");
    write(&folder, "short.toml", &large_drive(1_000));
    let short = megabytes(&good(&folder, &["check", "short.toml"]));
    assert!(short[0] < 100 && short[1] == large[1], "{short:?}");
}

/// Peak memory of a run, in megabytes, by GNU time.
fn peak(folder: &TempDir, args: &[&str]) -> Option<u64> {
    let mut command = Command::new("/usr/bin/time");
    let output = command.args(["-f", "%M"]).arg(env!("CARGO_BIN_EXE_flashlane")).args(args).current_dir(folder.path());
    let output = output.output().ok().filter(|output| output.status.success())?;
    let printed = text(&output.stderr);
    printed.lines().last()?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes / 1000)
}

/// What is said is an upper bound, and at most 70 MB and three times the measured peak; five times where it counts on moves of garbage
/// collection that do not come.
#[test]
fn runs_take_what_was_said_and_not_much_less() {
    let folder = folder();
    let ncq = large_drive(30_000).replace("flin-isca18", "ncq-elex15");
    let tlc = large_drive(5_000).replace("flin-isca18", "modern-tlc");
    let small = "[device.geometry]\nblocks_per_plane = 1024\n[device.ftl]\nuser_gb = 120\n";
    let replayed = large_drive(1_000)
        .replace("{ state = \"steady\" }", "{ state = \"replayed\", overwrite_percent = 10 }")
        .replace("[[flow]]", &format!("{small}[[flow]]"));
    let moving = large_drive(30_000).replace("fcfs", "dynalloc");
    let wide = large_drive(3_000).replace("8192", "65536");
    let scenarios = [
        ("short.toml", large_drive(3_000), 3),
        ("moving.toml", moving, 5),
        ("wide.toml", wide, 5),
        ("ncq.toml", ncq, 3),
        ("tlc.toml", tlc, 3),
        ("replayed.toml", replayed, 3),
    ];
    for (name, scenario, most) in scenarios {
        write(&folder, name, &scenario);
        let printed = megabytes(&good(&folder, &["check", name]))[0];
        let Some(seen) = peak(&folder, &["run", name, "--jobs", "1"]) else {
            println!("SKIPPED: no GNU time here: what runs take was not measured");
            return;
        };
        println!("{name}: at most {printed} MB promised, {seen} MB seen");
        // The program itself takes 25 MB.
        assert!(seen <= printed + 25, "{name}: {seen} MB are more than {printed} MB and the program");
        assert!(printed <= most * seen + 70, "{name}: {printed} MB promised, {seen} MB seen");
    }
}

#[test]
fn runs_that_the_machine_has_no_room_for_are_refused_beforehand() {
    let folder = folder();
    write(&folder, "large.toml", &large_drive(500));
    let limited = |megabytes: u64| {
        let script = format!("ulimit -v {} && exec \"$0\" \"$@\"", megabytes * 1024);
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &script,
            env!("CARGO_BIN_EXE_flashlane"),
            "run",
            "large.toml",
            "--jobs",
            "1",
            "--out",
            "out",
        ]);
        command.current_dir(folder.path()).output().expect("a shell")
    };
    if !cfg!(target_os = "linux") {
        println!("SKIPPED: only Linux limits address space in this way");
        return;
    }
    for megabytes in [250, 400, 550] {
        let output = limited(megabytes);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{megabytes} MB: {printed}");
        assert!(
            printed.starts_with("error: a run needs up to ")
                && printed.contains("address space (its limit: ulimit -v)"),
            "{printed}"
        );
        assert!(printed.contains("are available; give a smaller drive"), "{printed}");
        assert!(!folder.path().join("out").exists());
    }
    let output = limited(1_000);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(folder.path().join("out/summary.json").is_file());
}
