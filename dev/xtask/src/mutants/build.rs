//! Builds the copy: first the changed crates alone until all of them compile, then the program for the corpus and the test
//! programs. Changes that are no legal Rust are found in the compiler's messages and taken out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::mutant::Mutant;
use super::tree::{CHANGED, Place, Tree};

/// Attempts at a copy that compiles: types are checked before borrows, and a crate before those above it.
const ATTEMPTS: usize = 25;

/// The crates of which the corpus's programs are built without checks, as users have it, besides those that are changed.
const UNCHECKED: [&str; 2] = ["outputs", "cli"];

/// Packages whose tests are not built: they say what runs cost and what this machine does, or there are none.
const APART: [&str; 4] = ["xtask", "flashlane-bench", "flashlane-precompletion", "flashlane-calibration"];

/// The crates around the engine, optimised less: building them takes longer than running them so gains.
const AROUND: [&str; 8] = [
    "flashlane-scenario",
    "flashlane-report",
    "flashlane-sim",
    "flashlane-sweep",
    "flashlane-fit",
    "flashlane-papers",
    "flashlane-cli",
    "flashlane-fuzz",
];

/// Where things are built.
pub struct BuildFolders {
    /// The copy of the repository.
    pub copy: PathBuf,
    /// Cargo's folder for it.
    pub target: PathBuf,
    /// The program that runs most of the corpus.
    pub program: PathBuf,
    /// The example of sim that shows the auditor damaged events.
    pub damaged: PathBuf,
}

/// What a copy holds.
pub struct Written {
    /// The mutants in it, each with its number.
    pub legal: Vec<(u32, Mutant)>,
    /// Those that are no legal Rust, and are not in it.
    pub illegal: Vec<Mutant>,
}

/// A test program.
#[derive(Clone, Debug)]
pub struct TestProgram {
    /// Package, and `lib` or target: `sim all`.
    pub name: String,
    /// The file.
    pub exe: PathBuf,
    /// The folder of its package, where Cargo runs it.
    pub folder: PathBuf,
}

impl TestProgram {
    /// Its package, as its folder is called.
    pub fn package(&self) -> String {
        TestProgram::package_of(&self.folder)
    }

    /// The package of a folder.
    pub fn package_of(folder: &Path) -> String {
        folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl BuildFolders {
    /// The folders in the folder `at`.
    pub fn new(at: &Path) -> BuildFolders {
        let [copy, target, program, damaged] =
            ["src", "build", "flashlane", "damaged_events"].map(|name| at.join(name));
        BuildFolders { copy, target, program, damaged }
    }

    /// Writes the copy of `tree` with those of these mutants in it that are legal Rust.
    pub fn write(&self, tree: &Tree, mut numbered: Vec<(u32, Mutant)>) -> Result<Written, String> {
        let mut illegal = Vec::new();
        for attempt in 1.. {
            let places = tree.write(&self.copy, &numbered)?;
            let mut args = vec!["check", "--keep-going"];
            let packages = CHANGED.map(|krate| format!("flashlane-{krate}"));
            packages.iter().for_each(|package| args.extend(["-p", package.as_str()]));
            let Messages { success, printed, errors, .. } = self.cargo(&args)?;
            if errors.is_empty() && !success {
                return Err(format!("the copy cannot be checked:\n{printed}"));
            }
            if success {
                break;
            }
            let blamed = blame(&errors, &places);
            if blamed.is_empty() || attempt == ATTEMPTS {
                let first = errors[0]["rendered"].as_str().unwrap_or("an error without a text").to_owned();
                return Err(format!("the copy does not compile, and no change in it explains why:\n{first}"));
            }
            println!("{} of {} changes are no legal Rust and are left out", blamed.len(), numbered.len());
            let (out, kept) = numbered.into_iter().partition(|(number, _)| blamed.contains(number));
            numbered = kept;
            illegal.extend(Vec::into_iter(out).map(|(_, mutant): (u32, Mutant)| mutant));
        }
        Ok(Written { legal: numbered, illegal })
    }

    /// The programs of the corpus: assertions and overflow checks off, for a user's results do not stop at them.
    pub fn build_programs(&self) -> Result<(), String> {
        let off = |krate: &&str| {
            ["debug-assertions", "overflow-checks"]
                .map(|check| format!("profile.dev.package.flashlane-{krate}.{check}=false"))
        };
        let mut settings: Vec<String> = CHANGED.iter().chain(&UNCHECKED).flat_map(off).collect();
        settings.extend(optimised(0));
        // Asked for beside an example, other people's crates are built with the features that the tests have them with.
        self.complete("build", &["--bin", "flashlane", "--example", "damaged_events"], &settings)?;
        for (built, to) in [("debug/flashlane", &self.program), ("debug/examples/damaged_events", &self.damaged)] {
            let built = self.target.join(built);
            std::fs::copy(&built, to).map_err(|e| format!("{}: cannot be copied: {e}", built.display()))?;
        }
        Ok(())
    }

    /// The test programs.
    pub fn build_tests(&self) -> Result<Vec<TestProgram>, String> {
        let messages = self.complete("test", &["--no-run"], &optimised(1))?;
        let mut tests = Vec::new();
        for message in &messages.artifacts {
            let (Some(exe), Some(true)) = (message["executable"].as_str(), message["profile"]["test"].as_bool()) else {
                continue;
            };
            let folder = Path::new(message["manifest_path"].as_str().unwrap_or_default());
            let folder = folder.parent().unwrap_or(&self.copy).to_owned();
            let package = TestProgram::package_of(&folder);
            let target = message["target"]["name"].as_str().unwrap_or_default();
            let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
            let name = if kind == "test" { format!("{package} {target}") } else { format!("{package} {kind}") };
            tests.push(TestProgram { name, exe: exe.into(), folder });
        }
        tests.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(tests)
    }

    /// A build that must succeed.
    fn complete(&self, command: &str, words: &[&str], settings: &[String]) -> Result<Messages, String> {
        let mut args = vec![command, "--workspace"];
        APART.iter().for_each(|package| args.extend(["--exclude", package]));
        args.extend(words);
        settings.iter().for_each(|setting| args.extend(["--config", setting.as_str()]));
        let messages = self.cargo(&args)?;
        match messages.errors.first() {
            None if messages.success => Ok(messages),
            None => Err(format!("cargo {} failed:\n{}", args.join(" "), messages.printed)),
            Some(error) => Err(error["rendered"].as_str().unwrap_or("an error without a text").to_owned()),
        }
    }

    fn cargo(&self, args: &[&str]) -> Result<Messages, String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let output = Command::new(cargo)
            .current_dir(&self.copy)
            .args(args)
            .args(["--locked", "--quiet", "--message-format=json", "--target-dir"])
            .arg(&self.target)
            .output()
            .map_err(|e| format!("cannot run cargo: {e}"))?;
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut messages = Messages { success: output.status.success(), printed, ..Messages::default() };
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
            match value["reason"].as_str() {
                Some("compiler-message") if value["message"]["level"] == "error" => {
                    messages.errors.push(value["message"].clone());
                }
                Some("compiler-artifact") => messages.artifacts.push(value),
                _ => {}
            }
        }
        // The closing line of a failed compilation has no place in the source.
        messages.errors.retain(|error| error["spans"].as_array().is_some_and(|spans| !spans.is_empty()));
        Ok(messages)
    }
}

/// Settings that optimise the crates around the engine to a level.
fn optimised(level: u8) -> Vec<String> {
    AROUND.iter().map(|package| format!("profile.dev.package.{package}.opt-level={level}")).collect()
}

#[derive(Default)]
struct Messages {
    success: bool,
    /// Messages of Cargo for people.
    printed: String,
    errors: Vec<Value>,
    artifacts: Vec<Value>,
}

/// The mutants in which the errors lie: for each error the innermost around its place, or else all of that file.
fn blame(errors: &[Value], places: &[Place]) -> BTreeSet<u32> {
    let mut blamed = BTreeSet::new();
    for error in errors {
        let spans: Vec<&Value> = error["spans"].as_array().into_iter().flatten().collect();
        let inner = |span: &&Value| {
            let (file, start) = (span["file_name"].as_str()?, span["byte_start"].as_u64()? as usize);
            let around = places.iter().filter(|place| place.file == file && place.range.contains(&start));
            around.min_by_key(|place| place.range.len()).map(|place| place.number)
        };
        let primary = spans.iter().filter(|span| span["is_primary"] == true);
        let found: Vec<u32> = primary.filter_map(&inner).collect();
        let found = if found.is_empty() { spans.iter().filter_map(&inner).collect() } else { found };
        if found.is_empty() {
            let files: Vec<&str> = spans.iter().filter_map(|span| span["file_name"].as_str()).collect();
            blamed.extend(places.iter().filter(|place| files.contains(&place.file.as_str())).map(|place| place.number));
        }
        blamed.extend(found);
    }
    blamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(spans: &[(&str, u64, bool)]) -> Value {
        let span = |&(file, at, primary): &(&str, u64, bool)| json!({ "file_name": file, "byte_start": at, "is_primary": primary });
        json!({ "level": "error", "spans": spans.iter().map(span).collect::<Vec<_>>() })
    }

    #[test]
    fn the_innermost_change_is_to_blame() {
        let place = |number, file: &str, range| Place { number, file: file.into(), range };
        let places =
            [place(1, "a.rs", 10..50), place(2, "a.rs", 20..30), place(3, "b.rs", 20..30), place(4, "a.rs", 60..70)];
        let blamed = |errors: &[Value]| blame(errors, &places).into_iter().collect::<Vec<_>>();
        assert_eq!(blamed(&[error(&[("a.rs", 25, true)])]), [2]);
        assert_eq!(blamed(&[error(&[("a.rs", 35, true), ("a.rs", 25, false)])]), [1]);
        assert_eq!(blamed(&[error(&[("a.rs", 5, true), ("a.rs", 25, false)])]), [2], "a note will do");
        assert_eq!(blamed(&[error(&[("a.rs", 5, true)])]), [1, 2, 4], "else all of the file");
        assert_eq!(blamed(&[error(&[("b.rs", 20, true)]), error(&[("a.rs", 69, true)])]), [3, 4]);
        assert!(blamed(&[error(&[("c.rs", 20, true)])]).is_empty());
    }
}
