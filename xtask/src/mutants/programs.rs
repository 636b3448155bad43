//! The test programs: which tests take part, in which order, and whether they notice a mutant.
//!
//! Only programs that use the changed crate take part. The crate's own go first, then the quickest; those that say little go last, and the
//! first failed test ends it. A mutant has [`BUDGET`] of processor time in all. What no test notices by a rule, a scene or a law is shown
//! to the tests that compare whole results with stored ones; these count apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use super::build::TestProgram;
use super::process::{Ended, PATIENCE, Program};

/// Processor time a mutant may take in all test programs together.
pub const BUDGET: Duration = Duration::from_secs(120);

/// A program that takes so many times as long as without a mutant hangs.
const HANGS: u32 = 4;

/// A test that is left out of its program.
pub struct LeftOut {
    program: &'static str,
    test: &'static str,
    /// Whether it compares something whole with a stored one; such tests run by themselves at the end.
    pub stored: bool,
    why: &'static str,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.program, self.test, self.why)
    }
}

const fn stored(program: &'static str, test: &'static str, why: &'static str) -> LeftOut {
    LeftOut { program, test, stored: true, why }
}

/// Tests that are left out of their programs.
pub const LEFT_OUT: &[LeftOut] = &[
    stored("lab golden", "two_tenants_under_four_schedulers", "compares a whole table of results with a stored one"),
    stored("lab golden", "the_figures_of_the_corpus", "compares hashes of all figures with stored ones"),
    stored("lab demo", "the_readme_shows_what_the_demo_prints", "compares lines of results with the README"),
    stored("lab demo", "the_verdicts_page_shows_the_attribution_of_the_demo", "compares a table with a page"),
    stored(
        "lab lib",
        "scenario::tests::scenarios::the_reference_page_is_up_to_date",
        "compares a page with what makes it",
    ),
    stored(
        "lab lib",
        "scenario::tests::scenarios::the_schedulers_page_lists_the_catalogue",
        "compares a page with what makes it",
    ),
    stored(
        "lab lib",
        "results::docs::tests::the_documentation_says_what_the_code_does",
        "compares pages with what makes them",
    ),
    stored("papers page", "the_page_of_all_claims_is_up_to_date", "compares a page with what makes it"),
    LeftOut {
        program: "lab mqsim_reference",
        test: "every_reference_case_is_met",
        stored: false,
        why: "needs figures and traces that are not in the repository",
    },
];

/// Packages whose tests say little of what is computed for the time they take: they go last. They start processes and send signals, so
/// that a failure on a loaded machine may be no mutant's doing: it must happen twice.
const LATE: [&str; 4] = ["cli", "fuzz", "papers", "outputs"];

/// A test program, with what it does without a mutant.
pub struct Suite {
    program: TestProgram,
    /// Further words for it: which tests.
    words: Vec<String>,
    usual: Duration,
    /// Whether it is one test that compares something whole with a stored one.
    stored: bool,
    /// The crates that it uses, its own included.
    uses: BTreeSet<String>,
}

/// How a mutant was noticed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Detection {
    /// The test program.
    pub program: String,
    /// The test.
    pub test: String,
    /// Whether it failed, or did not come to its end.
    pub hung: bool,
    /// Whether it compares something whole with a stored one.
    pub stored: bool,
}

/// All test programs, quickest first, and the tests that fail without any mutant, which count for nothing either.
pub fn prepare(programs: Vec<TestProgram>) -> Result<(Vec<Suite>, Vec<String>), String> {
    let (mut suites, mut broken) = (Vec::new(), Vec::new());
    let uses = uses(&programs)?;
    for program in programs {
        let uses = uses.get(&program.package()).cloned().unwrap_or_default();
        let suite = |words: Vec<String>, stored| Suite {
            program: program.clone(),
            words,
            usual: BUDGET,
            stored,
            uses: uses.clone(),
        };
        let left_out = LEFT_OUT.iter().filter(|test| test.program == program.name);
        let words = left_out.clone().flat_map(|test| ["--skip".to_owned(), test.test.to_owned()]);
        suites.push(suite(words.collect(), false));
        suites.extend(left_out.filter(|test| test.stored).map(|test| suite(vec![test.test.to_owned()], true)));
    }
    for suite in &mut suites {
        loop {
            let run = suite.run(0, 20 * BUDGET, false)?;
            if run.failed.is_empty() && run.ended == Ended::Itself(true) {
                suite.usual = run.cpu;
                break;
            }
            if run.failed.is_empty() {
                return Err(format!("{} does not come to its end without a mutant", suite.program.name));
            }
            broken.extend(run.failed.iter().map(|test| format!("{} {test}", suite.program.name)));
            suite.words.extend(run.failed.into_iter().flat_map(|test| ["--skip".to_owned(), test]));
        }
    }
    suites.sort_by_key(|suite| (suite.stored, suite.is_late(), suite.usual));
    Ok((suites, broken))
}

/// Whether the tests notice mutant `number` of a crate, and the processor time that took.
pub fn noticed(suites: &[Suite], number: u32, krate: &str) -> Result<(Option<Detection>, Duration), String> {
    let mut order: Vec<&Suite> = suites.iter().filter(|suite| suite.uses.contains(krate)).collect();
    order.sort_by_key(|suite| (suite.stored, suite.program.package() != krate));
    let mut spent = Duration::ZERO;
    for suite in order {
        let hangs = suite.usual * HANGS + Duration::from_secs(1);
        // Stored results are few, and always asked.
        let left = if suite.stored { hangs } else { BUDGET.saturating_sub(spent) };
        if left < suite.usual {
            continue;
        }
        let run = suite.run(number, hangs.min(left), true)?;
        spent += run.cpu;
        let detection = |test: &str, hung| Detection {
            program: suite.program.name.clone(),
            test: test.to_owned(),
            hung,
            stored: suite.stored,
        };
        let detection = match (run.failed.first(), run.ended) {
            (Some(test), _) => detection(test, false),
            (None, Ended::Itself(true)) => continue,
            (None, Ended::Itself(false)) => detection(&run.last, false),
            // Out of the mutant's time before this program can be said to hang: not noticed.
            (None, _) if hangs > left => continue,
            (None, _) => detection(&run.last, true),
        };
        if suite.is_late() && !suite.stored {
            let again = suite.run(number, hangs, true)?;
            spent += again.cpu;
            if again.failed.is_empty() && again.ended == Ended::Itself(true) {
                continue;
            }
        }
        return Ok((Some(detection), spent));
    }
    Ok((None, spent))
}

/// The crates that each package uses, directly or through others, itself included: from the manifests beside the programs' packages.
fn uses(programs: &[TestProgram]) -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let mut direct: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut read = |folder: &Path| -> Result<(), String> {
        let manifest = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
        direct.insert(TestProgram::package_of(folder), named(&text));
        Ok(())
    };
    programs.iter().try_for_each(|program| read(&program.folder))?;
    let mut all = direct.clone();
    for (package, uses) in &mut all {
        uses.insert(package.clone());
        loop {
            let more: BTreeSet<String> = uses.iter().filter_map(|used| direct.get(used)).flatten().cloned().collect();
            if more.is_subset(uses) {
                break;
            }
            uses.extend(more);
        }
    }
    Ok(all)
}

/// The crates of the workspace that a manifest names.
fn named(manifest: &str) -> BTreeSet<String> {
    let name = |line: &str| Some(line.strip_prefix("flashlane-")?.split(['.', ' ', '=']).next()?.to_owned());
    manifest.lines().filter_map(name).collect()
}

/// A run of a test program.
struct Run {
    ended: Ended,
    failed: Vec<String>,
    /// The test that ran last.
    last: String,
    cpu: Duration,
}

impl Suite {
    /// Its name and usual time.
    pub fn description(&self) -> (&str, Duration) {
        (&self.program.name, self.usual)
    }

    fn is_late(&self) -> bool {
        LATE.contains(&self.program.package().as_str())
    }

    fn run(&self, mutant: u32, limit: Duration, until_failed: bool) -> Result<Run, String> {
        let mut args = vec!["--test-threads=1".to_owned(), "--exact".to_owned()];
        args.extend(self.words.iter().cloned());
        let (exe, folder) = (self.program.exe.as_path(), self.program.folder.clone());
        let program = Program { exe, args, folder, mutant, patience: PATIENCE };
        let mut failed = Vec::new();
        let outcome = program.run(limit, &mut |line| {
            failed.extend(verdict(line).filter(|(_, passed)| !passed).map(|(test, _)| test.to_owned()));
            until_failed && !failed.is_empty()
        })?;
        let last = last(&String::from_utf8_lossy(&outcome.output));
        Ok(Run { ended: outcome.ended, failed, last, cpu: outcome.cpu })
    }
}

/// What a line of a test program says: a test, and whether it passed.
fn verdict(line: &str) -> Option<(&str, bool)> {
    let (test, verdict) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let passed = !verdict.ends_with("FAILED");
    // `should_panic` tests have that behind their name.
    Some((test.split(" - should panic").next().unwrap_or(test), passed))
}

/// The last test that began.
fn last(output: &str) -> String {
    let begun =
        output.lines().rev().find_map(|line| line.strip_prefix("test ")?.split_once(" ...").map(|(test, _)| test));
    begun.unwrap_or("before any test").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_test_program() {
        assert_eq!(verdict("test a::b ... ok"), Some(("a::b", true)));
        assert_eq!(verdict("test a::b ... FAILED"), Some(("a::b", false)));
        assert_eq!(verdict("test a::b - should panic ... FAILED"), Some(("a::b", false)));
        assert_eq!(verdict("test a::b ... ignored, too long"), Some(("a::b", true)));
        assert_eq!(verdict("test result: ok. 2 passed"), None);
        assert_eq!(verdict("running 2 tests"), None);
    }

    #[test]
    fn the_test_in_which_a_program_stopped() {
        assert_eq!(last("running 2 tests\ntest a ... ok\ntest b ... "), "b");
        assert_eq!(last("running 2 tests\ntest a ... ok\n"), "a");
        assert_eq!(last(""), "before any test");
    }

    #[test]
    fn what_a_manifest_names() {
        let text =
            "[dependencies]\nflashlane-core.workspace = true\nserde = \"1\"\nflashlane-ssd = { path = \"ssd\" }\n";
        assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["core", "ssd"]);
    }

    #[test]
    fn tests_that_are_left_out_exist() {
        let tree = super::super::tree::Tree::read(&crate::root()).unwrap();
        for LeftOut { program, test, why, .. } in LEFT_OUT {
            let (package, target) = program.split_once(' ').expect("package and target");
            let files =
                tree.files.iter().filter(|(path, _)| path.starts_with(&format!("{package}/")) && path.ends_with(".rs"));
            let here = files.filter(|(path, _)| target == "lib" || path.ends_with(&format!("/{target}.rs")));
            let line = format!("fn {}()", test.rsplit("::").next().expect("a name"));
            let count = here.filter(|(_, text)| String::from_utf8_lossy(text).contains(&line)).count();
            assert_eq!(count, 1, "{program} {test}");
            assert!(!why.is_empty());
        }
    }
}
