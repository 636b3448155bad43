//! Builds the Python package in a fresh virtual environment and runs its tests.
//!
//! Every package has the version and the hash that faces/python/requirements.txt names. Without Python, or where packages cannot be
//! fetched, the tests are skipped; with CI=true that is a failure.

use std::path::Path;
use std::process::{Command, Stdio};

/// What became of the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// Why none ran.
    pub absent: Option<String>,
    /// What pytest printed.
    pub printed: String,
}

/// Runs the tests; the program to compare with is the one that `cargo test` built. Every day as tests are built, with
/// checks and little optimised; nightly as it is shipped.
pub fn run(root: &Path, release: bool) -> Result<Counts, String> {
    let venv = root.join("target/python");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wheels = root.join("target/wheels");
    if let Err(why) = prepare(root, &venv, &python) {
        if std::env::var_os("CI").is_some_and(|ci| ci == "true") {
            return Err(format!("{why}, and CI=true allows no gaps"));
        }
        return Ok(Counts {
            absent: Some(format!("{why}: the Python package was not built and not tested")),
            ..Counts::default()
        });
    }
    // Whatever an earlier build left.
    let _ = std::fs::remove_dir_all(&wheels);
    let build =
        ["-m", "maturin", "build", "--quiet", "--locked", "-m", "faces/python/Cargo.toml", "-o", "target/wheels"];
    let mut maturin = Command::new(&python);
    maturin.args(build).args(["--target-dir", "target"]).args(release.then_some("--release"));
    checked(&mut maturin, root)?;
    let wheel = std::fs::read_dir(&wheels).ok().and_then(|mut entries| entries.next()?.ok());
    let wheel = wheel.ok_or("maturin built no wheel")?.path();
    checked(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-deps"]).arg(wheel), root)?;
    let mut pytest = Command::new(&python);
    // Outside the source folder, whose package has no native part.
    pytest.current_dir(root.join("faces/python/tests")).args([
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-p",
        "no:cacheprovider",
        ".",
    ]);
    pytest.env("FLASHLANE", root.join("target/debug/flashlane")).env("PYTHONDONTWRITEBYTECODE", "1");
    counted(&mut pytest)
}

/// Makes the virtual environment anew.
fn prepare(root: &Path, venv: &Path, python: &Path) -> Result<(), String> {
    checked(Command::new("python3").args(["-m", "venv", "--clear"]).arg(venv), root)?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r"];
    checked(Command::new(python).args(install).arg("faces/python/requirements.txt"), root)
}

/// Runs a command that must succeed.
fn checked(command: &mut Command, folder: &Path) -> Result<(), String> {
    let shown = format!("{command:?}");
    let status = command.current_dir(folder).stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} failed: {status}")),
        Err(error) => Err(format!("{shown} cannot be run: {error}")),
    }
}

/// Runs pytest and counts by its closing line.
fn counted(pytest: &mut Command) -> Result<Counts, String> {
    let output = pytest.stderr(Stdio::inherit()).output().map_err(|e| format!("cannot run pytest: {e}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = printed.lines().rfind(|line| !line.trim().is_empty());
    let mut counts = closing(last.unwrap_or_default());
    if !output.status.success() && counts.failed == 0 {
        counts.failed = 1;
    }
    Ok(Counts { printed, ..counts })
}

/// Reads `3 failed, 12 passed, 1 skipped, 2 errors in 5.01s`.
fn closing(line: &str) -> Counts {
    let mut counts = Counts::default();
    let words: Vec<&str> = line.split([' ', ',', '=']).filter(|word| !word.is_empty()).collect();
    for pair in words.windows(2) {
        let Ok(number) = pair[0].parse::<u64>() else { continue };
        match pair[1] {
            "passed" | "xpassed" => counts.passed += number,
            "failed" | "error" | "errors" => counts.failed += number,
            "skipped" | "xfailed" => counts.skipped += number,
            _ => {}
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_is_counted() {
        let of = |line| {
            let Counts { passed, failed, skipped, .. } = closing(line);
            (passed, failed, skipped)
        };
        assert_eq!(of("3 failed, 12 passed, 1 skipped, 2 errors in 5.01s"), (12, 5, 1));
        assert_eq!(of("===== 44 passed in 61.20s (0:01:01) ====="), (44, 0, 0));
        assert_eq!(of("no tests ran in 0.01s"), (0, 0, 0));
    }
}
