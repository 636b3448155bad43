//! The test programs: which tests take part, in which order, and whether they notice a mutant.
//!
//! The quickest program goes first, those that say little go last, and the first failed test ends it. A mutant has [`BUDGET`] of processor time in all.

use std::time::Duration;

use super::build::TestProgram;
use super::process::{Ended, PATIENCE, Program};

/// Processor time a mutant may take in all test programs together.
pub const BUDGET: Duration = Duration::from_secs(60);

/// A program that takes so many times as long as without a mutant hangs.
const HANGS: u32 = 4;

/// Tests that count for nothing here, and why: program, test, reason.
pub const EXCLUDED: &[(&str, &str, &str)] = &[
    ("lab golden", "two_tenants_under_four_schedulers", "compares a whole table of results with a stored one"),
    ("lab demo", "the_readme_shows_what_the_demo_prints", "compares lines of results with the README"),
    ("lab mqsim_reference", "every_reference_case_is_met", "needs figures and traces that are not in the repository"),
];

/// Packages whose tests say little of what the engine computes for the time they take: they go last.
const LATE: [&str; 6] = ["shared", "cli", "fuzz", "outputs", "papers", "trace"];

/// A test program, with what it does without a mutant.
pub struct Suite {
    program: TestProgram,
    skip: Vec<String>,
    usual: Duration,
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
}

/// All test programs, quickest first, and the tests that fail without any mutant, which count for nothing either.
pub fn prepare(programs: Vec<TestProgram>) -> Result<(Vec<Suite>, Vec<String>), String> {
    let (mut suites, mut broken) = (Vec::new(), Vec::new());
    for program in programs {
        let excluded = EXCLUDED.iter().filter(|(name, _, _)| *name == program.name);
        let mut suite =
            Suite { skip: excluded.map(|(_, test, _)| (*test).to_owned()).collect(), usual: BUDGET, program };
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
            suite.skip.extend(run.failed);
        }
        suites.push(suite);
    }
    let is_late = |suite: &Suite| LATE.contains(&suite.program.name.split(' ').next().unwrap_or_default());
    suites.sort_by_key(|suite| (is_late(suite), suite.usual));
    Ok((suites, broken))
}

/// Whether the tests notice mutant `number`, and the processor time that took.
pub fn noticed(suites: &[Suite], number: u32) -> Result<(Option<Detection>, Duration), String> {
    let mut spent = Duration::ZERO;
    for suite in suites {
        let hangs = suite.usual * HANGS + Duration::from_secs(1);
        let left = BUDGET.saturating_sub(spent);
        if left < suite.usual {
            break;
        }
        let run = suite.run(number, hangs.min(left), true)?;
        spent += run.cpu;
        let detection =
            |test: &str, hung| Detection { program: suite.program.name.clone(), test: test.to_owned(), hung };
        match (run.failed.first(), run.ended) {
            (Some(test), _) => return Ok((Some(detection(test, false)), spent)),
            (None, Ended::Itself(true)) => {}
            (None, Ended::Itself(false)) => return Ok((Some(detection(&run.last, false)), spent)),
            // Out of the mutant's time before this program can be said to hang: not noticed.
            (None, _) if hangs > left => break,
            (None, _) => return Ok((Some(detection(&run.last, true)), spent)),
        }
    }
    Ok((None, spent))
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

    fn run(&self, mutant: u32, limit: Duration, until_failed: bool) -> Result<Run, String> {
        let mut args = vec!["--test-threads=1".to_owned(), "--exact".to_owned()];
        self.skip.iter().for_each(|test| args.extend(["--skip".to_owned(), test.clone()]));
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
    fn exclusions_have_reasons_and_exist() {
        let root = crate::root();
        for (program, test, reason) in EXCLUDED {
            let (package, target) = program.split_once(' ').expect("package and target");
            let text = std::fs::read_to_string(root.join(package).join(format!("tests/{target}.rs"))).unwrap();
            assert!(text.contains(&format!("fn {test}()")), "{program} has no test {test}");
            assert!(!reason.is_empty());
        }
    }
}
