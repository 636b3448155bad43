//! The copy of the repository in which mutants live: which files it takes, what identifies them, how it is written.
//!
//! The repository itself is only read. A file of the copy is written only where it differs, so that Cargo builds again
//! what changed and no more.

use std::collections::BTreeSet;
use std::path::Path;

use super::mutant::{Mutant, hash, render};
use super::operators;
use crate::tidy::repo::{crate_of, is_test_path, listed};

/// The crates whose sources are changed.
pub const CHANGED: [&str; 10] =
    ["core", "sched", "ssd", "host", "audit", "trace", "scenario", "report", "sim", "sweep"];

/// Files of theirs that only tests have, though their names do not say so.
const OF_TESTS: [&str; 3] = ["testing.rs", "results/example.rs", "results/report_browser.rs"];

/// The environment variable that switches a mutant on, by its number.
pub const SWITCH: &str = "FLASHLANE_MUTANT";

/// The module that each changed crate of the copy has besides its own: it reads the switch once.
const SWITCH_MODULE: &str = r#"//! Which mutant is on.

extern crate std;

use core::sync::atomic::{AtomicU32, Ordering};

static ON: AtomicU32 = AtomicU32::new(u32::MAX);

/// Whether mutant `number` is on.
#[inline(always)]
pub fn active(number: u32) -> bool {
    let on = ON.load(Ordering::Relaxed);
    if on == u32::MAX { read() == number } else { on == number }
}

#[cold]
fn read() -> u32 {
    let on = std::env::var("FLASHLANE_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    ON.store(on, Ordering::Relaxed);
    on
}
"#;

/// The files of the repository.
pub struct Tree {
    /// Paths from the top, with `/`, in order, and what they hold.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Tree {
    /// Reads what git knows or would add, as it is now.
    pub fn read(root: &Path) -> Result<Tree, String> {
        let mut files = Vec::new();
        for path in listed(root)? {
            let full = root.join(&path);
            // Cargo's settings hold for the copy as well, for it lies below them; a second time they would double the flags.
            if !path.starts_with(".cargo/") && std::fs::symlink_metadata(&full).is_ok_and(|meta| meta.is_file()) {
                let content = std::fs::read(&full).map_err(|e| format!("{path}: cannot be read: {e}"))?;
                files.push((path, content));
            }
        }
        Ok(Tree { files })
    }

    /// What a mutant's results depend on, as a number: all files but prose and this tool's own sources.
    pub fn identity(&self) -> String {
        let counts = |path: &str| !path.ends_with(".md") && !path.starts_with("dev/xtask/src/");
        let state = self.files.iter().filter(|(path, _)| counts(path));
        let state = state.fold(0, |state, (path, content)| hash(state, &[path.as_bytes(), content]));
        format!("{state:016x}")
    }

    /// All mutants, file by file.
    pub fn mutants(&self) -> Result<Vec<Mutant>, String> {
        let mut all = Vec::new();
        for (path, content) in &self.files {
            let changed = crate_of(path).is_some_and(|krate| CHANGED.contains(&krate));
            let of_tests = is_test_path(path) || OF_TESTS.iter().any(|name| path.ends_with(name));
            if changed && path.ends_with(".rs") && !of_tests {
                let text = std::str::from_utf8(content).map_err(|e| format!("{path}: not text: {e}"))?;
                all.extend(operators::find(path, text)?);
            }
        }
        Ok(all)
    }

    /// Writes the copy at `to` with these mutants in it; returns where each lies in its file of the copy.
    pub fn write(&self, to: &Path, mutants: &[(u32, Mutant)]) -> Result<Vec<Place>, String> {
        let mut places = Vec::new();
        let is_root =
            |path: &str| path.ends_with("/src/lib.rs") && crate_of(path).is_some_and(|krate| CHANGED.contains(&krate));
        let roots = self.files.iter().filter(|(path, _)| is_root(path));
        let switches: Vec<String> = roots.map(|(path, _)| path.replace("/lib.rs", "/mutants.rs")).collect();
        for (path, content) in &self.files {
            let here: Vec<(u32, &Mutant)> =
                mutants.iter().filter(|(_, m)| m.file == *path).map(|(number, m)| (*number, m)).collect();
            let is_root = is_root(path);
            if here.is_empty() && !is_root {
                put(to, path, content)?;
                continue;
            }
            let mut rendered = render(&String::from_utf8_lossy(content), &here, "crate::mutants::active");
            if is_root {
                rendered.text.push_str("\n#[doc(hidden)]\npub mod mutants;\n");
            }
            put(to, path, rendered.text.as_bytes())?;
            let here = here.iter().zip(rendered.places);
            places.extend(here.map(|((number, m), range)| Place { number: *number, file: m.file.clone(), range }));
        }
        for switch in &switches {
            put(to, switch, SWITCH_MODULE.as_bytes())?;
        }
        let known: BTreeSet<&str> =
            self.files.iter().map(|(path, _)| path.as_str()).chain(switches.iter().map(String::as_str)).collect();
        sweep(to, "", &|path| known.contains(path))?;
        Ok(places)
    }
}

/// Where a mutant lies in the copy.
pub struct Place {
    /// Its number.
    pub number: u32,
    /// The file.
    pub file: String,
    /// The bytes.
    pub range: std::ops::Range<usize>,
}

fn put(to: &Path, path: &str, content: &[u8]) -> Result<(), String> {
    let full = to.join(path);
    if std::fs::read(&full).is_ok_and(|there| there == content) {
        return Ok(());
    }
    let folder = full.parent().unwrap_or(to);
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: cannot be made: {e}", folder.display()))?;
    std::fs::write(&full, content).map_err(|e| format!("{}: cannot be written: {e}", full.display()))
}

/// Removes files of the copy that the repository no longer has.
fn sweep(to: &Path, folder: &str, known: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let full = to.join(folder);
    let fault = |e: std::io::Error| format!("{}: {e}", full.display());
    for entry in std::fs::read_dir(&full).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let name = entry.file_name();
        let path = [folder, &name.to_string_lossy()].join(if folder.is_empty() { "" } else { "/" });
        if entry.file_type().map_err(fault)?.is_dir() {
            sweep(to, &path, known)?;
        } else if !known(&path) {
            std::fs::remove_file(entry.path()).map_err(fault)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let files = [
            ("README.md", "words"),
            ("engine/core/src/lib.rs", "pub mod a;\n"),
            ("engine/core/src/a.rs", "pub fn f(a: u8, b: u8) -> u8 { a.min(b) }\n"),
            ("engine/core/src/a/tests.rs", "fn g(a: u8) -> bool { a < 1 }\n"),
            ("faces/cli/src/main.rs", "fn h(a: u8) -> bool { a < 1 }\n"),
            ("dev/xtask/src/main.rs", "fn main() {}\n"),
        ];
        Tree { files: files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into() }
    }

    #[test]
    fn the_switch_is_the_one_the_tool_sets() {
        assert!(SWITCH_MODULE.contains(&format!("\"{SWITCH}\"")));
        assert!(syn::parse_file(SWITCH_MODULE).is_ok());
    }

    #[test]
    fn only_these_crates_outside_their_tests_are_changed() {
        let all = tree().mutants().unwrap();
        assert_eq!(all.iter().map(|m| m.file.as_str()).collect::<Vec<_>>(), ["engine/core/src/a.rs"]);
    }

    #[test]
    fn identity_is_that_of_what_is_built() {
        let same = tree().identity();
        for (changed, file) in [(false, 0), (true, 2), (true, 3), (true, 4), (false, 5)] {
            let mut other = tree();
            other.files[file].1.push(b'\n');
            assert_eq!(other.identity() != same, changed, "{}", other.files[file].0);
        }
    }

    #[test]
    fn the_copy_is_written_where_it_differs_and_swept() {
        let to = std::env::temp_dir().join(format!("flashlane-mutants-{}", std::process::id()));
        let tree = tree();
        let numbered: Vec<(u32, Mutant)> = tree.mutants().unwrap().into_iter().map(|m| (7, m)).collect();
        let places = tree.write(&to, &numbered).unwrap();
        let text = std::fs::read_to_string(to.join("engine/core/src/a.rs")).unwrap();
        assert_eq!(
            text,
            "pub fn f(a: u8, b: u8) -> u8 { (if crate::mutants::active(7) { a.max(b) } else { a.min(b) }) }\n"
        );
        assert_eq!(places.len(), 1);
        assert!(text[places[0].range.clone()].starts_with("(if crate"));
        assert!(std::fs::read_to_string(to.join("engine/core/src/lib.rs")).unwrap().contains("pub mod mutants;"));
        let written = std::fs::metadata(to.join("faces/cli/src/main.rs")).unwrap().modified().unwrap();
        std::fs::write(to.join("engine/core/src/gone.rs"), "").unwrap();
        tree.write(&to, &[]).unwrap();
        assert_eq!(std::fs::metadata(to.join("faces/cli/src/main.rs")).unwrap().modified().unwrap(), written);
        assert!(!to.join("engine/core/src/gone.rs").exists());
        assert_eq!(std::fs::read(to.join("engine/core/src/a.rs")).unwrap(), tree.files[2].1);
        std::fs::remove_dir_all(&to).unwrap();
    }
}
