//! `--seeds` and `run.seeds`: who uses them, and who says that it does not.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::sweep::{SCENARIO, good, refused, run};

/// A folder with the small scenario, whose `run.seeds` is this.
fn desk(seeds: &str) -> TempDir {
    let desk = tempfile::tempdir().expect("a folder");
    let run = if seeds.is_empty() { String::new() } else { format!("[run]\nseeds = {seeds}\n") };
    fs::write(desk.path().join("s.toml"), SCENARIO.replacen("[[flow]]", &format!("{run}[[flow]]"), 1))
        .expect("written");
    desk
}

fn summary(desk: &TempDir, args: &[&str]) -> Value {
    let args = [args, &["--format", "json"]].concat();
    serde_json::from_str(&good(desk.path(), &args)).expect("JSON")
}

#[test]
fn the_option_and_the_key_do_the_same_and_change_no_hash() {
    let (plain, keyed) = (desk(""), desk("3"));
    let asked = summary(&plain, &["compare", "s.toml", "--seeds", "3"]);
    assert_eq!(asked, summary(&keyed, &["compare", "s.toml"]));
    assert_eq!(asked, summary(&plain, &["compare", "s.toml", "--set", "run.seeds=3"]));
    assert_eq!(asked["replications"]["seeds"], serde_json::json!([1, 2, 3]));
    let by_default = summary(&plain, &["compare", "s.toml"]);
    assert_eq!(by_default["replications"]["seeds"].as_array().map(Vec::len), Some(5));
    assert_eq!(by_default["replications"]["because"], "few");
    assert_eq!(by_default["made_by"], asked["made_by"], "the hash of the scenario among it");
    let one = summary(&plain, &["run", "s.toml"]);
    assert_eq!(one["replications"], Value::Null);
    let two = summary(&plain, &["run", "s.toml", "--seeds", "2"]);
    assert_eq!(two["replications"]["runs"].as_array().map(Vec::len), Some(2));
}

/// One scheduler has ranges, of which the scenario's own figures are part.
#[test]
fn one_scheduler_has_ranges_over_seeds() {
    let desk = desk("");
    let printed = good(desk.path(), &["run", "s.toml", "--seeds", "3", "--seed", "7"]);
    let (_, ranges) = printed.split_once("\nOver 3 seeds, ").expect("the ranges");
    assert!(ranges.starts_with("7 to 9\n  all mean "), "{printed}");
    assert_eq!(ranges.matches(" to ").count(), 1 + 3 * 5, "all, its reads and writes, both flows: {printed}");
    assert!(!good(desk.path(), &["run", "s.toml"]).contains("Over "));
}

#[test]
fn impossible_numbers_are_refused_with_the_legal_ones() {
    let plain = desk("");
    for seeds in ["0", "1001", "-1", "many"] {
        let said = refused(plain.path(), &["compare", "s.toml", &format!("--seeds={seeds}")]);
        assert!(said.contains("--seeds"), "{said}");
    }
    for command in ["compare", "run", "check", "explain"] {
        let said = refused(desk("0").path(), &[command, "s.toml"]);
        assert!(said.contains("run.seeds") && said.contains("must be 1 to 1000"), "{command}: {said}");
    }
}

#[test]
fn commands_that_repeat_nothing_say_so() {
    let desk = desk("3");
    fs::write(
        desk.path().join("w.toml"),
        fs::read_to_string(desk.path().join("s.toml")).expect("there") + "[sweep]\nseeds = 2\n",
    )
    .expect("written");
    let commands: [&[&str]; 4] = [
        &["attribute", "s.toml", "--from", "fcfs", "--to", "read-first", "--seeds", "1"],
        &["explain", "s.toml"],
        &["recommend", "s.toml"],
        &["sweep", "w.toml", "--out", "store"],
    ];
    for command in commands {
        let output = run(desk.path(), command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = format!("run.seeds = 3 is not used by `flashlane {}`", command[0]);
        assert!(
            output.status.success() && said.starts_with(&expected) && said.lines().count() == 1,
            "{command:?}: {said}"
        );
    }
    let quiet = run(desk.path(), &["compare", "s.toml"]);
    assert_eq!(String::from_utf8_lossy(&quiet.stderr), "");
}
