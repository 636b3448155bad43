//! Runs of `flashlane paper --out`: kept, found again, and the same results however they came about.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use flashlane_outputs::Results;
use flashlane_sim::maker;

/// Experiments of 21 short runs, in three lists.
const PAPER: [&str; 7] = ["paper", "precompletion", "--quick", "--experiment", "E1,E2,A3", "--jobs", "1"];
const RUNS: usize = 21;

fn program(desk: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    command.current_dir(desk).args(PAPER).args(args).stdin(Stdio::null());
    command
}

fn message(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// Runs made and runs found, as printed at the end.
#[track_caller]
fn counts(output: &Output) -> (usize, usize) {
    let err = message(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    let line = err.lines().find(|line| line.contains(" made now and ")).unwrap_or_else(|| panic!("{err}"));
    let numbers: Vec<usize> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [runs, made, found] = numbers[..] else { panic!("{line}") };
    assert_eq!(runs, made + found, "{line}");
    (made, found)
}

#[track_caller]
fn run(desk: &Path, args: &[&str]) -> (usize, usize) {
    counts(&program(desk, args).output().expect("the program runs"))
}

#[track_caller]
fn refused(desk: &Path, args: &[&str]) -> String {
    let output = program(desk, args).output().expect("the program runs");
    let err = message(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    err
}

fn results(desk: &Path, folder: &str) -> Vec<u8> {
    fs::read(desk.join(folder).join("results.json")).expect("results")
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// How many runs a store has.
fn there(desk: &Path, store: &str) -> usize {
    let runs = Results::of(&desk.join(store), &maker()).expect("of this version");
    runs.map_or(0, |runs| runs.names().len())
}

fn spawn(desk: &Path, args: &[&str]) -> Child {
    program(desk, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Waits until the store has this many runs; false if the program ended first.
fn wait_for(child: &mut Child, desk: &Path, store: &str, runs: usize) -> bool {
    let begun = Instant::now();
    while there(desk, store) < runs {
        assert!(begun.elapsed() < Duration::from_secs(120), "no run was made");
        if child.try_wait().expect("asked").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn a_killed_paper_goes_on_where_it_stopped() {
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    let unkept = program(desk, &[]).output().expect("the program runs");
    assert_eq!(count(desk), 0, "without --out nothing is written");
    let whole = program(desk, &["--out", "whole"]).output().expect("the program runs");
    assert_eq!(counts(&whole), (RUNS, 0));
    assert_eq!(message(&whole.stdout), message(&unkept.stdout));
    assert_eq!((there(desk, "whole"), count(&desk.join("whole/packs")), count(&desk.join("whole/runs"))), (RUNS, 1, 0));
    // Finished, it makes none, and writes the same.
    let before = results(desk, "whole");
    let again = program(desk, &["--out", "whole"]).output().expect("the program runs");
    assert_eq!((counts(&again), message(&again.stdout)), ((0, RUNS), message(&unkept.stdout)));
    assert!(results(desk, "whole") == before);
    let mut kills = 0;
    for runs in [1, 4, 9, 14, 19] {
        let mut child = spawn(desk, &["--out", "killed"]);
        kills += usize::from(wait_for(&mut child, desk, "killed", runs));
        child.kill().expect("killed");
        child.wait().expect("ended");
    }
    let there = there(desk, "killed");
    println!("{kills} kills while runs were made, {there} of {RUNS} runs stood before the last start");
    assert!(!desk.join("killed/results.json").exists() || there == RUNS);
    assert_eq!(run(desk, &["--out", "killed"]), (RUNS - there, there), "what is there is not made again");
    assert!(results(desk, "killed") == before);
    assert_eq!(count(&desk.join("killed/unfinished")) + count(&desk.join("killed/claims")), 0, "nothing is left over");
    // A run that a loss of power damaged is made again.
    let pack =
        fs::read_dir(desk.join("killed/packs")).expect("packs").next().expect("a pack").expect("an entry").path();
    let mut bytes = fs::read(&pack).expect("a pack");
    *bytes.last_mut().expect("figures") = !bytes[bytes.len() - 1];
    fs::write(&pack, bytes).expect("written");
    assert_eq!(run(desk, &["--out", "killed"]), (1, RUNS - 1));
    assert!(results(desk, "killed") == before);
}

#[test]
fn an_interrupted_paper_leaves_what_it_finished() {
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    let mut child = spawn(desk, &["--out", "out"]);
    let interrupted = wait_for(&mut child, desk, "out", 3);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    let output = child.wait_with_output().expect("ended");
    if !interrupted || output.status.code() == Some(0) {
        println!("it ended before the signal came");
        return;
    }
    assert!(sent.success());
    assert_eq!(output.status.code(), Some(130), "{}", message(&output.stderr));
    assert_eq!(count(&desk.join("out/unfinished")), 0, "unfinished runs are removed");
    let there = there(desk, "out");
    assert!((3..RUNS).contains(&there) && !desk.join("out/results.json").exists(), "{there}");
    assert_eq!(run(desk, &["--out", "out"]), (RUNS - there, there));
}

#[test]
fn a_full_disk_ends_the_paper_and_the_next_one_goes_on() {
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    // A limit on the length of files stands for the end of the disk; the record of a run is longer than a block.
    let line = "ulimit -f 1; exec \"$0\" \"$@\" --out out";
    let program = env!("CARGO_BIN_EXE_flashlane");
    let output = Command::new("sh").args(["-c", line, program]).args(PAPER).current_dir(desk).output();
    let output = output.expect("sh runs");
    let err = message(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: out/packs/") && err.contains(".open: cannot be written"), "{err}");
    assert_eq!(["packs", "runs", "unfinished", "claims"].map(|folder| count(&desk.join("out").join(folder))), [0; 4]);
    assert_eq!(run(desk, &["--out", "out"]), (RUNS, 0));
}

#[test]
fn two_processes_share_the_runs_of_a_folder() {
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    let both = [1, 2].map(|_| spawn(desk, &["--out", "both"]));
    let made = both.map(|child| counts(&child.wait_with_output().expect("ended")));
    println!("two processes at once made {made:?} of {RUNS} runs");
    assert!(made.iter().all(|(made, found)| made + found == RUNS), "{made:?}");
    assert_eq!(made.iter().map(|(made, _)| made).sum::<usize>(), RUNS, "{made:?}");
    run(desk, &["--out", "one"]);
    assert!(results(desk, "both") == results(desk, "one"));
}

#[test]
fn other_runs_and_other_versions_are_not_reused() {
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    let of = |args: &[&str]| {
        let args = [&["paper", "precompletion", "--out", "out"], args].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_flashlane")).current_dir(desk).args(args).output();
        counts(&output.expect("the program runs"))
    };
    assert_eq!(of(&["--quick", "--experiment", "E2"]), (1, 0));
    let quick = results(desk, "out");
    // Another length is another run; another seed is one more; another experiment has its own.
    assert_eq!(of(&["--seeds", "1", "--experiment", "E2"]), (1, 0));
    assert!(results(desk, "out") != quick);
    assert_eq!(of(&["--quick", "--seeds", "2", "--experiment", "E2"]), (1, 1));
    assert_eq!(of(&["--quick", "--experiment", "A3"]), (8, 0));
    assert_eq!(of(&["--quick", "--experiment", "E2"]), (0, 1));
    assert!(results(desk, "out") == quick);

    let about = fs::read_to_string(desk.join("out/store.json")).expect("about");
    fs::write(desk.join("out/store.json"), about.replace(env!("CARGO_PKG_VERSION"), "0.0.9")).expect("written");
    let wrong = refused(desk, &["--out", "out"]);
    assert!(wrong.contains("out: holds runs of flashlane 0.0.9") && wrong.contains("or delete this one"), "{wrong}");
    assert!(results(desk, "out") == quick);
    fs::create_dir(desk.join("mine")).expect("made");
    fs::write(desk.join("mine/notes.md"), "mine").expect("written");
    let wrong = refused(desk, &["--out", "mine"]);
    assert!(wrong.contains("mine: holds notes.md and no store.json, so it is no store of runs"), "{wrong}");
    assert_eq!(count(&desk.join("mine")), 1);
}
