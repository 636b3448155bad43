//! The repository's examples: the lines in the README are what the demo prints, and every shipped scenario runs.

use flashlane_testing::kept;
use std::path::{Path, PathBuf};

use flashlane_report::results::{brief, table};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare, compare_repeated, prepare};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn options(audit: bool) -> Options<'static> {
    Options { audit, rows: None, activity: false, progress: None }
}

/// Lines that `make demo` prints after the program's: where the results and the report are.
const AFTER: usize = 4;

/// README shows the first screen of the demo, which begins with who wins and who pays.
#[test]
fn the_readme_shows_what_the_demo_prints() {
    let scenario = Scenario::load(&root().join("scenarios/two-tenants.toml")).expect("a good scenario");
    let prepared = prepare(&scenario).expect("a good scenario");
    let summary = compare_repeated(&scenario, &prepared, &options(true)).expect("a run without a violation").summary;
    let printed = brief::render(&summary, false);
    assert!(printed.lines().count() + AFTER <= 32, "{printed}");
    // Sentences, and what was changed of the device, may be longer than the table is wide.
    let is_long = |line: &str| line.contains(" than under ") || line.contains(" with ");
    let is_short = |line: &str| line.chars().count() <= if is_long(line) { 240 } else { 120 };
    assert!(printed.lines().all(is_short), "{printed}");
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].contains(" wins for reader: "), "{printed}");
    assert!(lines[..8].iter().any(|line| line.contains(" pays under ")), "{printed}");
    let begin = "<!-- demo: begin (what the program prints; written by `cargo xtask bless golden`) -->\n```\n";
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the readme");
    let (before, rest) = readme.split_once(begin).expect("the mark");
    let (_, after) = rest.split_once("```\n<!-- demo: end -->").expect("the mark");
    kept::same("golden", "README.md", &format!("{before}{begin}{printed}```\n<!-- demo: end -->{after}"));
}

/// Every shipped scenario runs under so many of its schedulers.
fn shipped_scenarios_run(schedulers: usize) {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("scenarios"))
        .expect("the scenarios")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        let mut scenario = Scenario::load(&file).expect("a good scenario");
        // The beginning suffices: the test is whether it runs, not what it shows.
        scenario.set("run", "this test", |document| {
            document.run.requests = Some(300);
            document.run.alone = Some(false);
            document.schedulers.iter_mut().for_each(|list| list.truncate(schedulers));
        });
        let summary = compare(&scenario, &options(false)).unwrap_or_else(|e| panic!("{}: {e}", file.display())).summary;
        assert!(table::render(&summary).contains("Requests"), "{}", file.display());
    }
}

#[test]
fn every_shipped_scenario_runs() {
    shipped_scenarios_run(1);
}

#[test]
#[ignore = "nightly: the tables of some forty large drives are 25 GB"]
fn every_shipped_scenario_runs_under_all_its_schedulers() {
    shipped_scenarios_run(usize::MAX);
}
