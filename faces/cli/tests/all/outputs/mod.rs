//! The program's outputs: whole or absent, never replacing files that are not its own, however the program ends.

#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod foreign;
#[cfg(unix)]
mod kills;
#[cfg(unix)]
mod signals;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A very short scenario with two schedulers.
const TINY: &str = r#"
name = "tiny"
schedulers = ["fcfs", "read-first"]
[device]
preset = "unit-cycle"
[[flow]]
request = [{ at_ns = 0, op = "write", pages = [0] }, { at_ns = 5, op = "read", pages = [1] }]
"#;

/// A scenario that takes some seconds and writes rows from the start.
const LONG: &str = r#"
name = "long"
schedulers = ["fcfs", "read-first"]
device = "modern-tlc"
[run]
alone = false
[[flow]]
[flow.synthetic]
read_ratio = 1.0
size = { constant = 4096 }
rate_iops = 10_000
duration_s = 300.0
"#;

/// A folder for one test, with both scenarios and a file of the user.
fn desk() -> TempDir {
    let desk = tempfile::tempdir().unwrap();
    std::fs::write(desk.path().join("tiny.toml"), TINY).unwrap();
    std::fs::write(desk.path().join("long.toml"), LONG).unwrap();
    std::fs::write(desk.path().join("thesis.tex"), "mine").unwrap();
    desk
}

/// The files that [`desk`] creates.
const DESK: [&str; 3] = ["long.toml", "thesis.tex", "tiny.toml"];

/// Files below `folder`, with their content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// The names in `folder`, hidden ones too.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn program(desk: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    command.args(args).current_dir(desk);
    command
}

fn flashlane(desk: &Path, args: &[&str]) -> Output {
    program(desk, args).output().unwrap()
}

/// Runs and expects success.
#[track_caller]
fn good(desk: &Path, args: &[&str]) {
    let output = flashlane(desk, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs, expects a refusal with exit code 2 and an unchanged folder; returns the error.
#[track_caller]
fn refused(desk: &Path, args: &[&str]) -> String {
    let before = files(desk);
    let output = flashlane(desk, args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert_eq!(files(desk), before, "{args:?}");
    message
}
