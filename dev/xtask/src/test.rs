//! Runs every test of the workspace and closes with what was skipped and one line that counts them all.
//!
//! `cargo test` prints one summary a test program; a reader of the log wants one for the run. Cargo's output passes
//! through unchanged and its verdict is kept. A test that cannot do its work here (no browser, no traces) prints a line
//! that begins with `SKIPPED: ` and returns; it is then counted as skipped, not as passed. Tests that take
//! long are marked as ignored, run nightly, and have short forms among the others.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;

use crate::{advisories, instructions, python};

/// Which tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// All but the nightly ones.
    Daily,
    /// The nightly ones alone.
    Nightly,
    /// All.
    Both,
}

impl Which {
    /// What `NIGHTLY` in the environment asks of the daily command.
    pub fn asked(nightly: Option<&str>) -> Result<Which, String> {
        match nightly {
            None | Some("" | "0") => Ok(Which::Daily),
            Some("1") => Ok(Which::Both),
            Some(other) => Err(format!("NIGHTLY={other}: legal are 0 and 1")),
        }
    }

    /// The builds in which instructions are counted and the Python package is tested: that of the tests, the release.
    fn builds(self) -> &'static [bool] {
        match self {
            Which::Daily => &[false],
            Which::Nightly => &[true],
            Which::Both => &[false, true],
        }
    }

    /// What it says to a test program.
    fn word(self) -> Option<&'static str> {
        match self {
            Which::Daily => None,
            Which::Nightly => Some("--ignored"),
            Which::Both => Some("--include-ignored"),
        }
    }
}

/// Runs the tests; `Ok(true)` when all passed.
pub fn run(root: &Path, args: &[&str], which: Which) -> Result<bool, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let (reader, writer) = std::io::pipe().map_err(|e| format!("cannot make a pipe: {e}"))?;
    let copy = writer.try_clone().map_err(|e| format!("cannot make a pipe: {e}"))?;
    // Every program runs even after one failed, so that the count is of all tests; passing tests show what they
    // printed, because that is where they say what they skipped.
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["test", "--workspace", "--locked", "--no-fail-fast"]).args(args);
    if !args.contains(&"--") {
        command.arg("--");
    }
    command.args(which.word()).arg("--show-output").stdout(writer).stderr(copy);
    let mut child = command.spawn().map_err(|e| format!("cannot run cargo: {e}"))?;
    drop(command); // Our ends of the pipe, which would keep it open.

    let mut counts = TestCounts::default();
    let mut out = std::io::stdout().lock();
    let beside = std::thread::scope(|scope| {
        let mut beside = None;
        for line in BufReader::new(reader).split(b'\n') {
            let line = line.map_err(|e| format!("cannot read cargo's output: {e}"))?;
            let shown = out.write_all(&line).and_then(|()| out.write_all(b"\n"));
            shown.map_err(|e| format!("cannot write: {e}"))?;
            counts.line(&String::from_utf8_lossy(&line));
            // All is built now, and many tests wait: for a browser, for real time, for a process.
            if beside.is_none() && args.is_empty() && line.starts_with(b"running ") {
                beside = Some(scope.spawn(|| Beside::run(root, which)));
            }
        }
        beside.map(|thread| thread.join().expect("no panic")).transpose()
    })?;
    let status = child.wait().map_err(|e| format!("cannot wait for cargo: {e}"))?;
    if let Some(beside) = beside {
        write!(out, "{}", beside.printed()).map_err(|e| format!("cannot write: {e}"))?;
        counts.add(beside);
    }
    let checked = (args.is_empty() && which != Which::Nightly).then(|| advisories::check(root));
    let sound = checked.as_ref().is_none_or(|checked| checked.sound);
    let advisories = checked.map_or_else(String::new, |checked| checked.printed);
    let verdict = counts.verdict(status.success());
    let skips = counts.skips(root.join("../shared").is_dir());
    let nightly = counts.nightly();
    writeln!(out, "\n{skips}{advisories}{nightly}{verdict}").map_err(|e| format!("cannot write: {e}"))?;
    Ok(status.success() && sound && counts.failed == 0 && counts.passed > 0)
}

/// What is checked beside the test programs.
struct Beside {
    /// Whether no count of instructions is above what it may be, and what was said.
    instructions: Vec<(bool, String)>,
    python: Vec<python::Counts>,
}

impl Beside {
    fn run(root: &Path, which: Which) -> Result<Beside, String> {
        let builds = which.builds();
        let instructions =
            builds.iter().map(|release| instructions::check(root, *release)).collect::<Result<_, _>>()?;
        let python = builds.iter().map(|release| python::run(root, *release)).collect::<Result<_, _>>()?;
        Ok(Beside { instructions, python })
    }

    fn printed(&self) -> String {
        let instructions = self.instructions.iter().map(|(_, printed)| printed.as_str());
        instructions.chain(self.python.iter().map(|counts| counts.printed.as_str())).collect()
    }
}

/// Counts over all test programs of a run.
#[derive(Default, Debug, PartialEq, Eq)]
struct TestCounts {
    passed: u64,
    failed: u64,
    ignored: u64,
    skipped: u64,
    /// The reasons that tests printed when they skipped, in the order of first appearance, and how many did.
    reasons: Vec<(String, u64)>,
    part: Part,
}

/// Reasons that are listed at the end.
const REASONS: usize = 20;

/// Where in a test program's output we are.
#[derive(Default, Debug, PartialEq, Eq, Clone, Copy)]
enum Part {
    /// Outside any test's own output; a line may still come straight from a test that wrote to standard error.
    #[default]
    Open,
    /// After `successes:`, between two tests' outputs.
    Successes,
    /// In the output of a passed test; whether it was counted as skipped.
    Success(bool),
    /// After `failures:`: what failed cannot have been skipped.
    Failures,
}

impl TestCounts {
    fn line(&mut self, line: &str) {
        if let Some(summary) = line.strip_prefix("test result: ") {
            self.passed += number_before(summary, " passed");
            self.failed += number_before(summary, " failed");
            self.ignored += number_before(summary, " ignored");
            self.part = Part::Open;
        } else if line == "successes:" {
            self.part = Part::Successes;
        } else if line == "failures:" {
            self.part = Part::Failures;
        } else if line.starts_with("---- ") && line.ends_with(" ----") && self.part != Part::Failures {
            self.part = Part::Success(false);
        } else if let Some(reason) = line.strip_prefix("SKIPPED: ") {
            match self.part {
                Part::Success(true) | Part::Failures => return,
                Part::Success(false) => self.part = Part::Success(true),
                Part::Open | Part::Successes => {}
            }
            self.skipped += 1;
            match self.reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, count)) => *count += 1,
                None => self.reasons.push((reason.to_owned(), 1)),
            }
        }
    }

    fn add(&mut self, beside: Beside) {
        for (fine, printed) in beside.instructions {
            printed.lines().for_each(|line| self.line(line));
            *(if fine { &mut self.passed } else { &mut self.failed }) += 1;
        }
        for counts in beside.python {
            self.passed += counts.passed + counts.skipped;
            self.failed += counts.failed;
            self.skipped += counts.skipped;
            if counts.skipped > 0 {
                self.reasons.push(("of the Python package, see above".to_owned(), counts.skipped));
            }
            if let Some(reason) = counts.absent {
                self.skipped += 1;
                self.passed += 1;
                self.reasons.push((reason, 1));
            }
        }
    }

    /// The closing lines about what was not tested here; nothing if all was.
    fn skips(&self, shared_is_there: bool) -> String {
        let mut text = String::new();
        for (reason, count) in self.reasons.iter().take(REASONS) {
            let tests = if *count == 1 { "1 test".to_owned() } else { format!("{count} tests") };
            text.push_str(&format!("skipped, {tests}: {reason}\n"));
        }
        if self.reasons.len() > REASONS {
            text.push_str(&format!("skipped for {} more reasons, see above\n", self.reasons.len() - REASONS));
        }
        if !shared_is_there {
            text.push_str(
                "not tested here: the reference figures and the real traces, which lie in ../shared, beside the repository\n",
            );
        }
        text
    }

    /// What only the nightly run tests; nothing if it did.
    fn nightly(&self) -> String {
        match self.ignored {
            0 => String::new(),
            1 => "nightly only, 1 test: `make nightly` runs it\n".to_owned(),
            more => format!("nightly only, {more} tests: `make nightly` runs them\n"),
        }
    }

    fn verdict(&self, success: bool) -> String {
        let TestCounts { passed, failed, skipped, .. } = self;
        let mut text = String::new();
        if !success && *failed == 0 {
            text.push_str("cargo test failed without a failed test: a build error or a crash, see above\n");
        }
        if success && *passed == 0 {
            text.push_str("no test ran\n");
        }
        text + &format!("{} passed, {failed} failed, {skipped} skipped", passed.saturating_sub(*skipped))
    }
}

/// The number that stands right before `unit`: 12 in `ok. 12 passed; ...`.
fn number_before(text: &str, unit: &str) -> u64 {
    text.find(unit).and_then(|end| text[..end].rsplit([' ', ';']).next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(log: &str) -> TestCounts {
        let mut counts = TestCounts::default();
        log.lines().for_each(|line| counts.line(line));
        counts
    }

    const TWO_PROGRAMS: &str = "\
running 3 tests
test a ... ok
test b ... ok
test c ... ok

successes:

---- b stdout ----
SKIPPED: no chromium
SKIPPED: no chromium, second word

---- c stdout ----
SKIPPED: no chromium

successes:
    a
    b
    c

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 12 tests
SKIPPED: straight to standard error

failures:

---- z stdout ----
SKIPPED: but it failed

test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.25s
";

    #[test]
    fn sums_over_programs_and_counts_a_skipping_test_once() {
        let t = counts(TWO_PROGRAMS);
        assert_eq!((t.passed, t.failed, t.ignored, t.skipped), (13, 2, 1, 3));
        assert_eq!(t.verdict(false), "10 passed, 2 failed, 3 skipped");
        assert_eq!(t.nightly(), "nightly only, 1 test: `make nightly` runs it\n");
    }

    #[test]
    fn nightly_tests_run_when_they_are_asked_for() {
        assert_eq!(Which::asked(None).map(Which::word), Ok(None));
        assert_eq!(Which::asked(Some("0")).map(Which::word), Ok(None));
        assert_eq!(Which::asked(Some("1")).map(Which::word), Ok(Some("--include-ignored")));
        assert!(Which::asked(Some("yes")).is_err_and(|why| why.contains("NIGHTLY=yes")));
        let ran = counts("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 90 filtered out");
        assert_eq!((ran.nightly(), ran.verdict(true)), (String::new(), "3 passed, 0 failed, 0 skipped".to_owned()));
        let left = counts("test result: ok. 3 passed; 0 failed; 7 ignored; 0 measured; 0 filtered out");
        assert_eq!(left.nightly(), "nightly only, 7 tests: `make nightly` runs them\n");
    }

    #[test]
    fn the_end_says_what_was_skipped_and_that_shared_is_absent() {
        let t = counts(TWO_PROGRAMS);
        assert_eq!(t.skips(true), "skipped, 2 tests: no chromium\nskipped, 1 test: straight to standard error\n");
        assert!(t.skips(false).ends_with("which lie in ../shared, beside the repository\n"));
        assert_eq!(counts("test result: ok. 3 passed; 0 failed; 0 ignored").skips(true), "");
    }

    #[test]
    fn a_build_error_is_not_a_quiet_zero() {
        let t = counts("error[E0308]: mismatched types");
        assert!(t.verdict(false).starts_with("cargo test failed without a failed test"));
        assert!(t.verdict(false).ends_with("\n0 passed, 0 failed, 0 skipped"));
        assert!(t.verdict(true).starts_with("no test ran"));
    }

    #[test]
    fn numbers_stand_before_their_unit() {
        assert_eq!(number_before("ok. 123 passed; 4 failed", " passed"), 123);
        assert_eq!(number_before("ok. 123 passed; 4 failed", " failed"), 4);
        assert_eq!(number_before("nothing here", " failed"), 0);
    }
}
