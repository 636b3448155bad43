//! The repository's examples: the lines in the README are what the demo prints, and every shipped scenario runs.

use std::path::{Path, PathBuf};

use flashlane_lab::results::table;
use flashlane_lab::run::{Options, compare};
use flashlane_lab::scenario::Scenario;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn options(audit: bool) -> Options<'static> {
    Options { audit, rows: None, command: String::new(), progress: None }
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the readme");
    let (_, rest) = readme.split_once("<!-- demo: begin").expect("the mark");
    let (block, _) = rest.split_once("<!-- demo: end").expect("the mark");
    let shown: Vec<&str> = block.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with("```")).collect();
    assert!(shown.len() >= 8, "{shown:?}");
    let scenario = Scenario::load(&root().join("scenarios/two-tenants.toml")).expect("a good scenario");
    let summary = compare(&scenario, &options(true)).expect("a run without a violation").summary;
    let printed = table::render(&summary);
    for line in shown {
        assert!(printed.lines().any(|l| l == line), "README.md shows\n{line}\nand the demo prints\n{printed}");
    }
}

#[test]
fn every_shipped_scenario_runs() {
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
        });
        let summary = compare(&scenario, &options(false)).unwrap_or_else(|e| panic!("{}: {e}", file.display())).summary;
        assert!(table::render(&summary).contains("Requests"), "{}", file.display());
    }
}
