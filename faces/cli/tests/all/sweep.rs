//! `flashlane sweep` as a user runs it: the same bytes however a sweep was made, and clear refusals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use flashlane_outputs::Results;
use flashlane_sim::maker;
use flashlane_testing::Random;
use tempfile::TempDir;

/// A small scenario with two flows; its runs take some milliseconds each. Python's tests read it too.
pub(super) const SCENARIO: &str = include_str!("../small.toml");

/// Sixty runs.
const AXES: &str = r#"
[sweep]
flow.reader.synthetic.rate_iops = { from = 1e4, to = 1e5, points = 6, scale = "log" }
device.nand.program_ns = [200_000, 600_000]
seeds = 5
"#;

/// A folder with the sweep `s.toml`: the scenario with `axes`.
fn desk(axes: &str) -> TempDir {
    let desk = tempfile::tempdir().expect("a folder");
    fs::write(desk.path().join("s.toml"), format!("{SCENARIO}{axes}")).expect("written");
    desk
}

pub(super) fn program(desk: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    command.current_dir(desk).args(args).stdin(Stdio::null());
    command
}

pub(super) fn run(desk: &Path, args: &[&str]) -> Output {
    program(desk, args).output().expect("the program runs")
}

/// Expects success without a word on standard error; returns the standard output.
#[track_caller]
pub(super) fn good(desk: &Path, args: &[&str]) -> String {
    let output = run(desk, args);
    let message = String::from_utf8(output.stdout).expect("text");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""), "{message}");
    message
}

/// Expects exit code 2; returns the message.
#[track_caller]
pub(super) fn refused(desk: &Path, args: &[&str]) -> String {
    let output = run(desk, args);
    let message = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{message}");
    message
}

fn results(desk: &Path, store: &str) -> Vec<u8> {
    fs::read(desk.join(store).join("results.parquet")).expect("results")
}

/// The store `s` below `desk`.
pub(super) fn runs(desk: &Path, store: &str) -> Results {
    Results::of(&desk.join(store), &maker()).expect("of this version").expect("a store")
}

/// How many runs a store has that may be there no more than begun.
pub(super) fn there(desk: &Path, store: &str) -> usize {
    match Results::of(&desk.join(store), &maker()).expect("of this version") {
        Some(runs) => runs.names().len(),
        None => 0,
    }
}

/// Where the record of the run `name` begins to say what it found, in the pack that has it.
fn record_of(desk: &Path, store: &str, name: &str) -> (PathBuf, usize) {
    let packs = fs::read_dir(desk.join(store).join("packs")).expect("packs");
    let found = packs.map(|entry| entry.expect("an entry").path()).find_map(|pack| {
        let bytes = fs::read(&pack).expect("a pack");
        let at = bytes.windows(name.len()).position(|bytes| bytes == name.as_bytes())?;
        Some((pack, at + name.len() + 16))
    });
    found.expect("its record")
}

pub(super) fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// How many runs were made, from what the program printed.
fn made(message: &str) -> usize {
    message.split(", ").nth(1).and_then(|part| part.split(' ').next()).and_then(|n| n.parse().ok()).expect("a count")
}

/// A summary without what it says of other seeds, which a sweep does not run.
fn without_seeds(summary: &str) -> serde_json::Value {
    let mut summary: serde_json::Value = serde_json::from_str(summary).expect("JSON");
    let keys = summary.as_object_mut().expect("a table");
    ["replications", "verdict"].iter().for_each(|key| _ = keys.remove(*key));
    summary
}

#[test]
fn a_run_of_a_sweep_has_the_bytes_of_a_comparison() {
    let desk = desk("[sweep]\nrequests = true\ndevice.nand.program_ns = [600_000]\nseeds = [7]\n");
    let desk = desk.path();
    good(desk, &["sweep", "s.toml", "--csv"]);
    let own = SCENARIO
        .replace("[[flow]]\nname = \"reader\"", "[device.nand]\nprogram_ns = 600_000\n[[flow]]\nname = \"reader\"");
    fs::write(desk.join("one.toml"), format!("name = \"sweep\"\nseed = 7\n{own}")).expect("written");
    good(desk, &["compare", "one.toml", "--seeds", "1", "--out", "one"]);
    let runs: Vec<_> =
        fs::read_dir(desk.join("s/runs")).expect("runs").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(runs.len(), 1);
    let [own, other] = [&runs[0], &desk.join("one")]
        .map(|folder| without_seeds(&fs::read_to_string(folder.join("summary.json")).expect("a summary")));
    assert!(own == other, "summary.json");
    for file in ["fcfs/requests.parquet", "read-first/requests.parquet"] {
        assert!(
            fs::read(runs[0].join(file)).expect(file) == fs::read(desk.join("one").join(file)).expect(file),
            "{file}"
        );
    }
    let by = fs::read_to_string(runs[0].join("made-by.json")).expect("made by");
    assert_eq!(by, "{\n  \"command\": \"flashlane sweep s.toml --csv\"\n}\n");
    // A row for each scheduler, flow (and all together) and kind of request.
    let table = fs::read_to_string(desk.join("s/results.csv")).expect("a table");
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[0].starts_with("device.nand.program_ns,seed,run,scheduler,flow,op,offered_iops,requests,"),
        "{}",
        lines[0]
    );
    let name = runs[0].file_name().and_then(|name| name.to_str()).expect("a name");
    let keys: Vec<&str> =
        lines[1..].iter().map(|line| line.strip_prefix(&format!("600000,7,{name},")).expect("keys")).collect();
    let wanted = [",all,", ",read,", ",write,", "reader,all,", "reader,read,", "writer,all,", "writer,write,"];
    let starts = ["fcfs,", "read-first,"].iter().flat_map(|s| wanted.iter().map(move |w| format!("{s}{w}")));
    let starts: Vec<String> = starts.collect();
    assert_eq!(keys.len(), starts.len());
    assert!(keys.iter().zip(&starts).all(|(key, start)| key.starts_with(start.as_str())), "{keys:?}");
}

/// One bit of a figure in a store: it came into the table of results unnoticed.
#[test]
fn a_damaged_run_is_made_again_and_named() {
    let desk = desk("[sweep]\nseeds = 3\n");
    let desk = desk.path();
    good(desk, &["sweep", "s.toml"]);
    let whole = results(desk, "s");
    let name = runs(desk, "s").names().remove(1);
    let summary = good(desk, &["sweep", "s.toml", "--summary", &name]);
    let (pack, at) = record_of(desk, "s", &name);
    let mut bytes = fs::read(&pack).expect("a pack");
    bytes[at + 100] ^= 1;
    fs::write(&pack, bytes).expect("written");
    let refused = run(desk, &["sweep", "s.toml", "--summary", &name]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && message.contains("is damaged"), "{message}");
    let message = good(desk, &["sweep", "s.toml", "--status"]);
    assert!(
        message.contains("3 runs, 2 there, 1 missing") && message.contains(&format!("damaged  {name}")),
        "{message}"
    );
    let message = good(desk, &["sweep", "s.toml"]);
    assert!(message.starts_with("3 runs, 1 made now and 2 there before\n"), "{message}");
    assert!(message.contains(&format!("1 run was damaged and was made again: {name}\n")), "{message}");
    assert!(results(desk, "s") == whole && good(desk, &["sweep", "s.toml", "--summary", &name]) == summary);
    assert!(!good(desk, &["sweep", "s.toml"]).contains("damaged"));
}

#[test]
fn the_name_of_the_file_is_no_part_of_its_runs() {
    let desk = desk("[sweep]\nseeds = 3\n");
    let desk = desk.path();
    assert_eq!(made(&good(desk, &["sweep", "s.toml", "--out", "store"])), 3);
    fs::copy(desk.join("s.toml"), desk.join("t.toml")).expect("copied");
    assert_eq!(made(&good(desk, &["sweep", "t.toml", "--out", "store"])), 0);
    // A name of its own is in the summaries, and so counts.
    let named = format!("name = \"mine\"\n{SCENARIO}[sweep]\nseeds = 3\n");
    fs::write(desk.join("n.toml"), &named).expect("written");
    assert_eq!(made(&good(desk, &["sweep", "n.toml", "--out", "store"])), 3);
    fs::write(desk.join("m.toml"), &named).expect("written");
    assert_eq!(made(&good(desk, &["sweep", "m.toml", "--out", "store"])), 0);
}

/// What a reader copies from the page sweeps keys that matter.
#[test]
fn every_axis_of_the_page_s_example_changes_something() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sweeps.md")).expect("the page");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let fewer = example.replace("requests = 10_000", "requests = 3_000").replace("points = 9", "points = 3");
    assert!(fewer.contains("requests = 3_000") && fewer.contains("points = 3"), "{fewer}");
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    fs::write(desk.join("rates.toml"), fewer.replace("seeds = 5", "seeds = 2")).expect("written");
    good(desk, &["sweep", "rates.toml", "--csv"]);
    let table = fs::read_to_string(desk.join("rates/results.csv")).expect("a table");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a header");
    let at =
        |name: &str| head.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name} in {head:?}"));
    let axes = [at("device.nand.program_ns"), at("flow.mixed.synthetic.rate_iops"), at("seed"), at("scheduler")];
    let (flow, op, mean) = (at("flow"), at("op"), at("mean_ns"));
    let rows: Vec<_> = lines.filter(|row| row[flow].is_empty() && row[op] == "read").collect();
    for (nth, axis) in axes.iter().enumerate() {
        let others = |row: &[&str]| {
            axes.iter().filter(|other| *other != axis).map(|&other| row[other].to_owned()).collect::<Vec<_>>()
        };
        let pairs = rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b)));
        let alike: Vec<_> = pairs.filter(|(a, b)| a[*axis] < b[*axis] && others(a) == others(b)).collect();
        let changed = alike.iter().filter(|(a, b)| a[mean] != b[mean]).count();
        assert!(!alike.is_empty() && changed == alike.len(), "axis {nth}: {changed} of {} pairs differ", alike.len());
    }
}

#[test]
fn a_sweep_killed_ten_times_ends_with_the_results_of_an_undisturbed_one() {
    let desk = desk(AXES);
    let desk = desk.path();
    let begun = Instant::now();
    assert_eq!(made(&good(desk, &["sweep", "s.toml", "--out", "whole", "--jobs", "1"])), 60);
    let takes = begun.elapsed();
    let (mut random, mut left) = (Random(0x2545_F491_4F6C_DD1D), 0);
    for _ in 0..10 {
        let mut child = spawn(desk, &["sweep", "s.toml", "--out", "killed", "--jobs", "1"]);
        // Less than a tenth of the runs at a time, so that all kills come before the end.
        std::thread::sleep(takes.mul_f64(0.15 * random.share()));
        child.kill().expect("killed");
        child.wait().expect("ended");
        left += usize::from(count(&desk.join("killed/unfinished")) > 0);
        let (there, before) = (there(desk, "killed"), desk.join("killed/results.parquet").exists());
        assert!(!before || there == 60, "results of {there} runs");
    }
    let there = there(desk, "killed");
    let message = good(desk, &["sweep", "s.toml", "--out", "killed"]);
    assert_eq!(made(&message), 60 - there, "what is there is never made again");
    assert!(results(desk, "whole") == results(desk, "killed"));
    assert_eq!(count(&desk.join("killed/unfinished")) + count(&desk.join("killed/claims")), 0, "nothing is left over");
    println!(
        "10 kills in {takes:?} a sweep: {there} runs stood before the last start, {left} times something was left to remove"
    );
    assert_eq!(made(&good(desk, &["sweep", "s.toml", "--out", "killed"])), 0);
}

pub(super) fn spawn(desk: &Path, args: &[&str]) -> Child {
    program(desk, args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts")
}

#[test]
fn shards_and_processes_at_once_give_the_same_results() {
    let desk = desk(AXES);
    let desk = desk.path();
    good(desk, &["sweep", "s.toml", "--out", "whole"]);
    let message = good(desk, &["sweep", "s.toml", "--out", "parts", "--shard", "1/2"]);
    assert!(message.starts_with("30 runs, 30 made now") && message.contains("30 of all 60 are missing"), "{message}");
    let message = good(desk, &["sweep", "s.toml", "--out", "parts", "--status"]);
    assert!(message.starts_with("parts: 60 runs, 30 there, 30 missing\nmissing  "), "{message}");
    assert!(
        message.contains("flow.reader.synthetic.rate_iops = 10000, device.nand.program_ns = 200000, seed = 2\n"),
        "{message}"
    );
    assert!(message.ends_with("and 20 more\n"), "{message}");
    assert!(!desk.join("parts/results.parquet").exists());
    // The other part, made elsewhere and copied.
    good(desk, &["sweep", "s.toml", "--out", "other", "--shard", "2/2"]);
    for entry in fs::read_dir(desk.join("other/packs")).expect("packs") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), desk.join("parts/packs").join(entry.file_name())).expect("copied");
    }
    assert_eq!(count(&desk.join("parts/packs")), 2);
    assert_eq!(made(&good(desk, &["sweep", "s.toml", "--out", "parts"])), 0);
    assert!(results(desk, "whole") == results(desk, "parts"));

    let both = [1, 2].map(|_| spawn(desk, &["sweep", "s.toml", "--out", "both", "--jobs", "1"]));
    let counts = both.map(|child| {
        let output = child.wait_with_output().expect("ended");
        assert!(output.status.success());
        made(&String::from_utf8_lossy(&output.stdout))
    });
    println!("two processes at once made {counts:?} of 60 runs");
    assert!(counts.iter().all(|&n| n <= 60) && counts.iter().sum::<usize>() >= 60, "{counts:?}");
    assert!(results(desk, "whole") == results(desk, "both"));
    assert!(count(&desk.join("both/packs")) <= 2, "a pack for each");
}

/// What `compare` writes for the scenario of a run can be had from the pack.
#[test]
fn the_summary_of_a_packed_run_is_printed() {
    let desk = desk("[sweep]\nseeds = [7]\n");
    let desk = desk.path();
    good(desk, &["sweep", "s.toml", "--csv"]);
    let table = fs::read_to_string(desk.join("s/results.csv")).expect("a table");
    let name = table.lines().nth(1).and_then(|line| line.split(',').nth(1)).expect("a run").to_owned();
    fs::write(desk.join("one.toml"), format!("name = \"sweep\"\nseed = 7\n{SCENARIO}")).expect("written");
    good(desk, &["compare", "one.toml", "--seeds", "1", "--out", "one"]);
    let printed = good(desk, &["sweep", "s.toml", "--summary", &name]);
    let made = fs::read_to_string(desk.join("one/summary.json")).expect("a summary");
    assert!(without_seeds(&printed) == without_seeds(&made));
    let other = run(desk, &["sweep", "s.toml", "--summary", "0123456789abcdef"]);
    let message = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(other.status.code() == Some(1) && message.contains("0123456789abcdef"), "{message}");
    assert!(refused(desk, &["sweep", "s.toml", "--out", "no", "--summary", &name]).contains("no: is no store of runs"));
}

#[test]
fn zipped_axes_advance_together_and_conditions_exclude() {
    let axes = "[sweep]\nflow.0.synthetic.requests = [50, 100]\nflow.1.synthetic.requests = [20, 40]\nseeds = 3\n\
                zip = [[\"flow.0.synthetic.requests\", \"flow.1.synthetic.requests\"]]\n\
                exclude = [\"flow[0].synthetic.requests == 100 and seed == 3\"]\n";
    let desk = desk(axes);
    let message = good(desk.path(), &["sweep", "s.toml", "--csv"]);
    assert!(message.starts_with("5 runs, 5 made now and 0 there before\n1 combination excluded\n"), "{message}");
    let table = fs::read_to_string(desk.path().join("s/results.csv")).expect("a table");
    let mut points: Vec<&str> =
        table.lines().skip(1).map(|line| &line[..line.match_indices(',').nth(2).expect("three").0]).collect();
    points.dedup();
    assert_eq!(points, ["50,20,1", "50,20,2", "50,20,3", "100,40,1", "100,40,2"]);
}

#[test]
fn each_scheduler_of_the_sweep_is_a_run() {
    let desk = desk("[sweep]\nschedulers = [\"fcfs\", { name = \"mine\", base = \"sprinkler\" }]\nseeds = 2\n");
    let message = good(desk.path(), &["sweep", "s.toml", "--csv"]);
    assert!(message.starts_with("4 runs,"), "{message}");
    let table = fs::read_to_string(desk.path().join("s/results.csv")).expect("a table");
    let mine = table.lines().filter(|line| line.contains(",mine,,all,")).count();
    assert_eq!((mine, table.lines().filter(|line| line.contains(",fcfs,,all,")).count()), (2, 2));
}

#[test]
fn wrong_sweeps_are_refused_before_the_first_run() {
    let cases = [
        ("[sweep]\ndevice.nand.program = [1]\n", "s.toml:25:13: sweep.device.nand.program = 1: unknown key `program`"),
        ("[sweep]\nflow.nobody.priority = [1]\n", "no flow has the name \"nobody\""),
        ("[sweep]\nflow.2.priority = [1]\n", "there are 2, counted from 0"),
        ("[sweep]\ndevice.nand.program_ns = []\n", "must have at least one value"),
        (
            "[sweep]\nschedulers = [\"fcfs\", \"fcsf\"]\n",
            "did you mean \"fcfs\"? (in the run with schedulers = [\"fcsf\"])",
        ),
        ("[sweep]\nseeds = 2\nexclude = [\"seed > 0\"]\n", "sweep.exclude: excludes all 2 runs"),
        ("[sweep]\nseeds = 2\nexclude = [\"sed > 0\"]\n", "sweep.exclude = \"sed > 0\": undefined value"),
        ("[sweep]\nseeds = 900_000\ndevice.gc.start_percent = [1.0, 2.0]\n", "has more than 1000000 runs"),
        ("", "the file has no [sweep]"),
    ];
    for (axes, wanted) in cases {
        let desk = desk(axes);
        let message = refused(desk.path(), &["sweep", "s.toml"]);
        assert!(message.starts_with("error: s.toml") && message.contains(wanted), "{message}");
        assert_eq!(count(desk.path()), 1, "nothing was written: {message}");
    }
}

#[test]
fn wrong_stores_and_shards_are_refused() {
    let desk = desk("[sweep]\nseeds = 2\n");
    let desk = desk.path();
    for shard in ["0/2", "3/2", "2", "a/b"] {
        assert!(
            refused(desk, &["sweep", "s.toml", "--shard", shard]).contains("must be I/N with I from 1 to N"),
            "{shard}"
        );
    }
    fs::create_dir(desk.join("mine")).expect("made");
    fs::write(desk.join("mine/notes.md"), "mine").expect("written");
    let message = refused(desk, &["sweep", "s.toml", "--out", "mine"]);
    assert!(message.contains("mine: holds notes.md and no store.json, so it is no store of runs"), "{message}");
    assert_eq!(count(&desk.join("mine")), 1);
    good(desk, &["sweep", "s.toml"]);
    let about = fs::read_to_string(desk.join("s/store.json")).expect("about");
    fs::write(desk.join("s/store.json"), about.replace(env!("CARGO_PKG_VERSION"), "0.0.9")).expect("written");
    for args in [&["sweep", "s.toml"][..], &["sweep", "s.toml", "--status"]] {
        let message = refused(desk, args);
        assert!(
            message.contains("s: holds runs of flashlane 0.0.9") && message.contains("or delete this one"),
            "{message}"
        );
    }
    // A build of the same version with other figures.
    let (before, _) = about.split_once(", figures ").expect("figures");
    fs::write(desk.join("s/store.json"), format!("{before}, figures 0123456789abcdef\"\n}}\n")).expect("written");
    let message = refused(desk, &["sweep", "s.toml"]);
    let other = format!("{}, figures 0123456789abcdef, whose figures may differ", env!("CARGO_PKG_VERSION"));
    assert!(message.contains(&other), "{message}");
}

#[test]
fn a_full_disk_ends_the_sweep_and_the_next_one_goes_on() {
    let desk = desk("[sweep]\nseeds = 3\n");
    let desk = desk.path();
    // A limit on the length of files stands for the end of the disk; the record of a run is longer than a block.
    let limited = |blocks: &str| {
        let line = format!("ulimit -f {blocks}; exec \"$0\" sweep s.toml --jobs 1");
        Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_flashlane")])
            .current_dir(desk)
            .output()
            .expect("sh runs")
    };
    let output = limited("1");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.starts_with("error: s/packs/") && message.contains(".open: cannot be written"), "{message}");
    assert_eq!(["packs", "runs", "unfinished", "claims"].map(|folder| count(&desk.join("s").join(folder))), [0; 4]);
    assert_eq!(made(&good(desk, &["sweep", "s.toml"])), 3);
}

#[test]
fn an_interrupted_sweep_leaves_what_it_finished() {
    let desk = desk(AXES);
    let desk = desk.path();
    let child = spawn(desk, &["sweep", "s.toml", "--jobs", "1"]);
    let begun = Instant::now();
    while there(desk, "s") < 3 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run was made");
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("ended");
    if output.status.code() == Some(0) {
        println!("the sweep ended before the signal came");
        return;
    }
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(count(&desk.join("s/unfinished")), 0, "unfinished runs are removed");
    let there = there(desk, "s");
    assert_eq!(made(&good(desk, &["sweep", "s.toml"])), 60 - there);
}
