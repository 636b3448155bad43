//! `flashlane paper` as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("flashlane-paper-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn flashlane(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flashlane")).args(args).current_dir(folder).output().unwrap()
}

/// Standard output and standard error of a run that ends with `code`.
#[track_caller]
fn said(folder: &Path, args: &[&str], code: i32) -> (String, String) {
    let output = flashlane(folder, args);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    (out, err)
}

#[test]
fn papers_and_claims_are_listed() {
    let folder = Folder::new("list");
    let (out, _) = said(&folder.0, &["paper"], 0);
    assert!(out.starts_with("slacker  Slacker: ") && out.contains(" E6, E7, "), "{out}");
    let (out, _) = said(&folder.0, &["paper", "slacker", "--list"], 0);
    assert!(
        out.contains("\n  E17 (§3.3) a table that redirects writes needs MB, and percent of 512 MB: 117, 23\n"),
        "{out}"
    );
    assert!(out.contains("; reproduced if within(it, 5, 20)\n"), "{out}");
    assert!(out.contains("  chosen, after results were seen:\n    sets: "), "{out}");
    let (out, _) = said(&folder.0, &["paper", "cross", "--list"], 0);
    assert!(out.contains("\n  X1: every scheduler on the workloads of Slacker, FLIN, "), "{out}");
}

#[test]
fn an_experiment_is_run_judged_and_written() {
    let folder = Folder::new("run");
    let args = ["paper", "slacker", "--quick", "--experiment", "E17,E2", "--tables", "--out", "made"];
    let (out, err) = said(&folder.0, &args, 0);
    assert!(err.contains("E2: chips a request touches") && err.contains("E17: "), "{err}");
    assert!(!err.contains("E6"), "only what was asked for: {err}");
    assert!(out.contains("redirection_table") && out.contains("117440512"), "{out}");
    let line = out.lines().find(|line| line.starts_with(" E17")).unwrap_or_else(|| panic!("{out}"));
    assert!(line.contains("117, 23") && line.contains("117.4, 22.94") && line.ends_with("reproduced"), "{line}");
    assert!(
        out.ends_with("2 claims: 2 reproduced, 0 differ, 0 not testable here (a quick look: too short to judge by)\n"),
        "{out}"
    );
    assert!(out.lines().all(|line| line.chars().count() <= 120), "{out}");
    let written = std::fs::read_to_string(folder.0.join("made/results.json")).unwrap();
    assert!(written.contains("\"verdict\": \"reproduced\"") && written.contains("\"bits_a_page\""), "{written}");
    // The same run again, over the earlier results, with another number of threads.
    let again = [&args[..], &["--jobs", "1"]].concat();
    assert_eq!(said(&folder.0, &again, 0).0, out);
    assert_eq!(std::fs::read_to_string(folder.0.join("made/results.json")).unwrap(), written);
}

#[test]
fn a_trace_takes_the_place_of_the_clone_of_its_name() {
    let folder = Folder::new("traces");
    std::fs::create_dir(folder.0.join("mine")).unwrap();
    // One page each, except the last request: that one touches 16 chips.
    let lines: String = (0..9).map(|i| format!("{} 0 {} 16 0\n", i * 1_000, i * 16)).collect();
    std::fs::write(folder.0.join("mine/src2-0.mqsim"), lines + "9000 0 0 256 0\n").unwrap();
    let args = ["paper", "slacker", "--quick", "--experiment", "E2", "--traces", "mine", "--tables"];
    let (out, _) = said(&folder.0, &args, 0);
    let row = out.lines().find(|line| line.trim_start().starts_with("src2-0-p")).unwrap_or_else(|| panic!("{out}"));
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["src2-0-p", "0.9000"]);
    let (_, err) = said(&folder.0, &["paper", "slacker", "--quick", "--experiment", "E2", "--traces", "none"], 2);
    assert!(err.contains("error: --traces none: cannot be read: No such file"), "{err}");
}

#[test]
fn wrong_names_are_bad_input() {
    let folder = Folder::new("wrong");
    let (_, err) = said(&folder.0, &["paper", "slaker"], 2);
    assert_eq!(
        err,
        "error: paper \"slaker\": no such paper; there are slacker, flin, ncq, sos, precompletion, cross; did you mean \"slacker\"?\n"
    );
    let (_, err) = said(&folder.0, &["paper", "slacker", "--experiment", "E77"], 2);
    assert!(err.starts_with("error: experiment \"E77\": slacker has E1, "), "{err}");
    said(&folder.0, &["paper", "slacker", "--calibrate", "--tables"], 2);
    said(&folder.0, &["paper", "slacker", "--seeds", "0"], 2);
    let (_, err) = said(&folder.0, &["paper", "flin", "--calibrate"], 2);
    assert_eq!(err, "error: --calibrate: flin has no clones without a rate; slacker and sos have\n");
    let (_, err) = said(&folder.0, &["paper", "slacker", "--mixes"], 2);
    assert_eq!(err, "error: --mixes: slacker has no mixes of traces; flin has\n");
    said(&folder.0, &["paper", "flin", "--mixes", "--experiment", "E8"], 2);
    let (_, err) = said(&folder.0, &["paper", "flin", "--real"], 2);
    assert_eq!(err, "error: --real: flin has nothing to measure on a machine; precompletion has\n");
    let (_, err) = said(&folder.0, &["oslab", "--seconds", "0"], 2);
    assert_eq!(err, "error: --seconds 0: must be 1 to 3600\n");
    let (_, err) = said(&folder.0, &["oslab", "--device", "cosmos"], 2);
    assert!(err.starts_with("error: --device: device.preset = \"cosmos\": no such device"), "{err}");
}

/// The same figures twice, from a paper behind a host.
#[test]
fn precompletion_is_made_again() {
    let folder = Folder::new("precompletion");
    let arguments = ["paper", "precompletion", "--quick", "--experiment", "E1,E2,A3"];
    let (first, _) = said(&folder.0, &arguments, 0);
    assert_eq!(said(&folder.0, &arguments, 0).0, first);
    assert!(first.contains("6 claims: 6 reproduced"), "{first}");
}

/// The quick parts of FLIN: the list, the mixes as stored, and an experiment twice.
#[test]
fn flin_is_made_again() {
    let folder = Folder::new("flin");
    let (out, _) = said(&folder.0, &["paper", "flin", "--list"], 0);
    assert!(out.contains("\n  E8, E9, E10, E11, E12, E13: six systems on 40 mixes of four traces a seed\n"), "{out}");
    assert!(out.contains("\n      not testable here: the drives are not at hand"), "{out}");
    let stored = include_str!("../../papers/flin/mixes.toml");
    assert_eq!(said(&folder.0, &["paper", "flin", "--mixes"], 0).0, stored);
    let simple = include_str!("../../papers/flin/mixes-simple.toml");
    assert_eq!(said(&folder.0, &["paper", "flin", "--mixes", "simple"], 0).0, simple);
    let args = ["paper", "flin", "--quick", "--experiment", "E2,E3", "--tables", "--out", "made"];
    let (out, err) = said(&folder.0, &args, 0);
    assert!(err.contains("E2, E3: queues and waits of one flow of reads\n"), "{err}");
    let reproduced = |name: &str| out.lines().filter(|l| l.starts_with(name) && l.ends_with("reproduced")).count();
    assert_eq!((reproduced(" E2"), reproduced(" E3")), (1, 2), "{out}");
    let written = std::fs::read_to_string(folder.0.join("made/results.json")).unwrap();
    let again = [&args[..], &["--jobs", "1"]].concat();
    assert_eq!(said(&folder.0, &again, 0).0, out);
    assert_eq!(std::fs::read_to_string(folder.0.join("made/results.json")).unwrap(), written);
}
