//! The tests: which take part, in which order, and whether they notice a mutant.
//!
//! Tests run by suites: the unit tests of a crate, or a module of its integration tests. Only suites of crates that use the changed one take part. The crate's own go first, then the quickest; those that say little go last, and the
//! first failed test ends it. A mutant has [`BUDGET`] of processor time in all. What no test notices by a rule, a scene or a law is shown
//! to the tests that compare whole results with stored ones; these count apart.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::build::TestProgram;
use super::process::{Ended, Program, TIMEOUT};

/// Processor time a mutant may take in all test programs together.
pub const BUDGET: Duration = Duration::from_secs(120);

/// The program of a crate's integration tests, each of whose modules is a suite; other programs are one suite each.
const BY_MODULE: &str = "all";

/// A suite that takes so many times as long as without a mutant hangs.
const HANGS: u32 = 4;

/// A test that is left out of its suite.
pub struct LeftOut {
    suite: &'static str,
    test: &'static str,
    /// Whether it compares something whole with a stored one; such tests run by themselves at the end.
    pub stored: bool,
    why: &'static str,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.suite, self.test, self.why)
    }
}

const fn stored(suite: &'static str, test: &'static str, why: &'static str) -> LeftOut {
    LeftOut { suite, test, stored: true, why }
}

/// Tests that are left out of their suites.
pub const LEFT_OUT: &[LeftOut] = &[
    stored(
        "sim golden",
        "golden::two_tenants_under_four_schedulers",
        "compares a whole table of results with a stored one",
    ),
    stored("sim golden", "golden::the_figures_of_the_corpus", "compares hashes of all figures with stored ones"),
    stored("sim demo", "demo::the_readme_shows_what_the_demo_prints", "compares lines of results with the README"),
    stored("scenario lib", "tests::scenarios::the_reference_page_is_up_to_date", "compares a page with what makes it"),
    stored(
        "report lib",
        "results::docs::tests::the_documentation_says_what_the_code_does",
        "compares pages with what makes them",
    ),
    stored("papers page", "page::the_page_of_all_claims_is_up_to_date", "compares a page with what makes it"),
    LeftOut {
        suite: "sim mqsim_reference",
        test: "mqsim_reference::every_reference_case_is_met",
        stored: false,
        why: "needs figures and traces that are not in the repository",
    },
];

/// Packages whose tests say little of what is computed for the time they take: they go last. They start processes and send signals, so
/// that a failure on a loaded machine may be no mutant's doing: it must happen twice.
const LATE: [&str; 4] = ["cli", "fuzz", "papers", "outputs"];

/// Tests of a program that run together, with what they do without a mutant.
pub struct Suite {
    /// Package, and `lib`, target or module: `sim scenes`.
    name: String,
    program: TestProgram,
    /// The tests, with their modules.
    tests: Vec<String>,
    /// How it runs without a mutant: measured when it is wanted first.
    usual: Mutex<Option<Usual>>,
    /// Whether it is one test that compares something whole with a stored one.
    stored: bool,
    /// The crates that it uses, its own included.
    uses: BTreeSet<String>,
}

/// How a suite runs without a mutant.
#[derive(Clone, Debug)]
struct Usual {
    time: Duration,
    /// The tests that pass then; the others count for nothing.
    tests: Vec<String>,
}

/// How a mutant was noticed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Detection {
    /// The suite.
    pub suite: String,
    /// The test.
    pub test: String,
    /// Whether it failed, or did not come to its end.
    pub hung: bool,
    /// Whether it compares something whole with a stored one.
    pub stored: bool,
}

/// All suites, quickest first. Those that go late, and those that compare with stored results, are run without a mutant only when a mutant
/// comes so far.
pub fn prepare(programs: Vec<TestProgram>, jobs: usize) -> Result<Vec<Suite>, String> {
    let mut suites = Vec::new();
    let uses = uses(&programs)?;
    for program in programs {
        let uses = uses.get(&program.package()).cloned().unwrap_or_default();
        for (name, tests) in parts(&program.name, listed(&program)?) {
            let left_out = |test: &String| LEFT_OUT.iter().find(|out| out.suite == name && out.test == test);
            let suite = |tests: Vec<String>, stored| Suite {
                name: name.clone(),
                program: program.clone(),
                tests,
                usual: Mutex::new(None),
                stored,
                uses: uses.clone(),
            };
            let (out, kept): (Vec<String>, Vec<String>) = tests.into_iter().partition(|test| left_out(test).is_some());
            suites.push(suite(kept, false));
            let stored = out.into_iter().filter(|test| left_out(test).is_some_and(|out| out.stored));
            suites.extend(stored.map(|test| suite(vec![test], true)));
        }
    }
    measure(suites.iter().filter(|suite| !suite.stored && !suite.is_late()), jobs)?;
    suites.sort_by_key(|suite| (suite.stored, suite.is_late(), suite.description().1));
    Ok(suites)
}

/// Runs these without a mutant, so many at a time.
fn measure<'a>(suites: impl Iterator<Item = &'a Suite> + Send, jobs: usize) -> Result<(), String> {
    let waiting = Mutex::new(suites);
    let next = || waiting.lock().ok()?.next();
    let work = || -> Result<(), String> {
        while let Some(suite) = next() {
            suite.usual()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker stopped")?)
    })
}

/// The suites of the program `name`, each with its name and tests.
fn parts(name: &str, tests: Vec<String>) -> BTreeMap<String, Vec<String>> {
    let package = name.strip_suffix(BY_MODULE).filter(|package| package.ends_with(' '));
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for test in tests {
        let module = package.and_then(|package| Some(format!("{package}{}", test.split_once("::")?.0)));
        parts.entry(module.unwrap_or_else(|| name.to_owned())).or_default().push(test);
    }
    parts
}

/// The tests of a program.
fn listed(program: &TestProgram) -> Result<Vec<String>, String> {
    let output = Command::new(&program.exe).args(["--list", "--format", "terse"]).current_dir(&program.folder).output();
    let output = output.map_err(|e| format!("{}: cannot be run: {e}", program.exe.display()))?;
    if !output.status.success() {
        return Err(format!("{} does not list its tests", program.name));
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    Ok(lines.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Whether the tests notice mutant `number` of a crate, and the processor time that took.
pub fn noticed(suites: &[Suite], number: u32, krate: &str) -> Result<(Option<Detection>, Duration), String> {
    let mut order: Vec<&Suite> = suites.iter().filter(|suite| suite.uses.contains(krate)).collect();
    order.sort_by_key(|suite| (suite.stored, suite.program.package() != krate));
    let mut spent = Duration::ZERO;
    for suite in order {
        let Usual { time: usual, tests } = suite.usual()?;
        let hangs = usual * HANGS + Duration::from_secs(1);
        // Stored results are few, and always asked.
        let left = if suite.stored { hangs } else { BUDGET.saturating_sub(spent) };
        // Without a name all tests would run.
        if left < usual || tests.is_empty() {
            continue;
        }
        let run = suite.run(number, &tests, hangs.min(left), true)?;
        spent += run.cpu;
        let detection = |test: &str, hung| Detection {
            suite: suite.name.clone(),
            test: test.to_owned(),
            hung,
            stored: suite.stored,
        };
        let detection = match (run.failed.first(), run.ended) {
            (Some(test), _) => detection(test, false),
            (None, Ended::Itself(true)) => continue,
            (None, Ended::Itself(false)) => detection(&run.last, false),
            // Out of the mutant's time before this suite can be said to hang: not noticed.
            (None, _) if hangs > left => continue,
            (None, _) => detection(&run.last, true),
        };
        if suite.is_late() && !suite.stored {
            let again = suite.run(number, &tests, hangs, true)?;
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

/// A run of a suite.
struct Run {
    ended: Ended,
    failed: Vec<String>,
    /// The test that ran last.
    last: String,
    cpu: Duration,
}

impl Suite {
    /// Its name and usual time, if that is known.
    pub fn description(&self) -> (&str, Option<Duration>) {
        let usual = self.usual.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.name, usual.as_ref().map(|usual| usual.time))
    }

    /// How it runs without a mutant. Tests that fail then are left out, and named.
    fn usual(&self) -> Result<Usual, String> {
        let mut known = self.usual.lock().map_err(|_| "a worker stopped")?;
        if let Some(usual) = &*known {
            return Ok(usual.clone());
        }
        let mut usual = Usual { time: Duration::ZERO, tests: self.tests.clone() };
        while !usual.tests.is_empty() {
            let run = self.run(0, &usual.tests, 20 * BUDGET, false)?;
            if run.failed.is_empty() && run.ended == Ended::Itself(true) {
                usual.time = run.cpu;
                break;
            }
            if run.failed.is_empty() {
                return Err(format!("{} does not come to its end without a mutant", self.name));
            }
            usual.tests.retain(|test| !run.failed.contains(test));
            run.failed
                .iter()
                .for_each(|test| println!("left out: {} {test}: fails in the copy without a mutant", self.name));
        }
        *known = Some(usual.clone());
        Ok(usual)
    }

    fn is_late(&self) -> bool {
        LATE.contains(&self.program.package().as_str())
    }

    fn run(&self, mutant: u32, tests: &[String], limit: Duration, until_failed: bool) -> Result<Run, String> {
        let mut args = ["--test-threads=1", "--include-ignored", "--exact"].map(str::to_owned).to_vec();
        args.extend(tests.iter().cloned());
        let (exe, folder) = (self.program.exe.as_path(), self.program.folder.clone());
        let program = Program { exe, args, folder, mutant, patience: TIMEOUT };
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
    fn integration_tests_run_by_module() {
        let tests = ["scenes::a", "golden::b", "scenes::deep::c"].map(str::to_owned).to_vec();
        let parts_of = |name| parts(name, tests.clone()).into_iter().map(|(name, tests)| (name, tests.len())).collect();
        let by_module: Vec<(String, usize)> = parts_of("sim all");
        assert_eq!(by_module, [("sim golden".to_owned(), 1), ("sim scenes".to_owned(), 2)]);
        for whole in ["sim lib", "trace traces", "small"] {
            assert_eq!(parts_of(whole), [(whole.to_owned(), 3)], "one suite");
        }
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
        for LeftOut { suite, test, why, .. } in LEFT_OUT {
            let (package, target) = suite.split_once(' ').expect("package and target");
            let files =
                tree.files.iter().filter(|(path, _)| path.contains(&format!("{package}/")) && path.ends_with(".rs"));
            let here = files.filter(|(path, _)| target == "lib" || path.ends_with(&format!("/{target}.rs")));
            let line = format!("fn {}()", test.rsplit("::").next().expect("a name"));
            let count = here.filter(|(_, text)| String::from_utf8_lossy(text).contains(&line)).count();
            assert_eq!(count, 1, "{suite} {test}");
            assert!(target == "lib" || test.starts_with(&format!("{target}::")), "{suite} {test}");
            assert!(!why.is_empty());
        }
    }
}
