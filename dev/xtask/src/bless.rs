//! Writes files anew that tests hold the code to: golden figures, generated documentation, the report's example.
//!
//! Owns the permit without which no test writes (`dev/testing/src/kept.rs` looks for it): a file in the build's folder,
//! made for one call and named in the environment of the tests that it starts.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What can be written: its name, where, the packages and their tests that write it.
struct Kind {
    name: &'static str,
    files: &'static str,
    packages: &'static [&'static str],
    tests: &'static [&'static str],
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "golden",
        files: "lab/sim/tests/golden, lab/sim/data/figures.txt, lab/sim/data/identity.txt, README.md",
        packages: &["flashlane-sim"],
        tests: &["--test", "all", "--", "golden::", "identity::", "demo::"],
    },
    Kind {
        name: "docs",
        files: "docs/scenario.md, docs/summary.md, docs/columns.md",
        packages: &["flashlane-scenario", "flashlane-report"],
        tests: &["--lib", "--", "the_reference_page_is_up_to_date", "the_documentation_says_what_the_code_does"],
    },
    Kind {
        name: "report",
        files: "target/example-report.html",
        packages: &["flashlane-report"],
        tests: &["--lib", "--", "the_page_shows_the_numbers_of_the_summary"],
    },
    Kind {
        name: "pages",
        files: "docs/start-here.md, docs/tutorials/*.md",
        packages: &["flashlane-cli"],
        tests: &["--test", "all", "--", "--include-ignored", "tutorials::"],
    },
    Kind {
        name: "own-scheduler",
        files: "docs/add-a-scheduler.md",
        packages: &["shortest-request-first"],
        tests: &["--test", "page"],
    },
    Kind {
        name: "papers",
        files: "docs/results/papers/README.md, slacker-rates.md, slacker-rates.svg, results/*.json",
        packages: &["flashlane-papers"],
        tests: &["--test", "all", "--", "page::"],
    },
];

/// Writes what `names` say; `Ok(true)` when the tests agree afterwards.
pub fn run(root: &Path, names: &[&str]) -> Result<bool, String> {
    if names.is_empty() {
        return Err(format!("bless needs to know what to write: {}", legal()));
    }
    let find = |name: &&str| {
        KINDS.iter().find(|kind| kind.name == *name).ok_or(format!("cannot bless {name:?}; legal are: {}", legal()))
    };
    let kinds = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut all_well = true;
    for kind in kinds {
        all_well &= bless(root, kind)?;
    }
    Ok(all_well)
}

fn legal() -> String {
    KINDS.map(|kind| kind.name).join(", ")
}

fn bless(root: &Path, kind: &Kind) -> Result<bool, String> {
    let permit = Permit::new(&root.join("target"), kind.name)?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["test", "--quiet", "--locked"]);
    command.args(kind.packages.iter().flat_map(|package| ["-p", *package])).args(kind.tests);
    let status = command.env("FLASHLANE_BLESS", &permit.0).status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() {
        println!("written: {}; `git diff` shows what changed", kind.files);
    }
    Ok(status.success())
}

/// A permit; gone when dropped.
struct Permit(PathBuf);

impl Permit {
    fn new(folder: &Path, kind: &str) -> Result<Permit, String> {
        let path = folder.join(format!("bless-{}", std::process::id()));
        let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, kind));
        made.map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(Permit(path))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_lives_as_long_as_the_call() {
        let folder = std::env::temp_dir();
        let permit = Permit::new(&folder, "docs").expect("written");
        let path = permit.0.clone();
        assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), "docs");
        drop(permit);
        assert!(!path.exists());
    }

    #[test]
    fn only_what_is_named_is_written() {
        let root = Path::new("/nowhere");
        assert!(run(root, &[]).is_err_and(|why| why.contains("golden, docs, report, pages, own-scheduler, papers")));
        assert!(run(root, &["all"]).is_err_and(|why| why.contains("\"all\"") && why.contains("golden")));
    }
}
