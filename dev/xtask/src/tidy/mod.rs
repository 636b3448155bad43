//! The rules of the project, as checks. Each rule is one function over the [`Repo`]; this file is their table.
//!
//! A rule sees files as text and syntax, never as compiled code, and reports findings with a place; it changes nothing.

use std::path::Path;

pub use finding::{Finding, Weight};
use repo::Repo;

mod addresses;
mod book;
mod catalogue;
mod circles;
mod citations;
mod crates;
mod docs;
mod figures;
mod finding;
mod imports;
mod maps;
mod programs;
mod reexports;
pub(crate) mod repo;
mod size;
mod toolchain;
mod words;

/// A rule.
struct Rule {
    name: &'static str,
    asks: &'static str,
    check: fn(&Repo) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    Rule { name: "parses", asks: "every .rs file is Rust that tidy can read", check: repo::parses },
    Rule {
        name: "file-length",
        asks: "a .rs file has at most 600 lines (warns), 800 (fails), tests not counted",
        check: size::files,
    },
    Rule {
        name: "function-length",
        asks: "a function has at most 60 lines (warns), 70 (fails), tests not counted",
        check: size::functions,
    },
    Rule { name: "file-size", asks: "no file is larger than 1 MB", check: size::bytes },
    Rule { name: "module-doc", asks: "every .rs file begins with a module doc (//!)", check: docs::modules },
    Rule {
        name: "file-maps",
        asks: "a map of modules in a module's doc names all of them and no other; files that comments name exist",
        check: maps::check,
    },
    Rule {
        name: "import-direction",
        asks: "inside a crate, modules name only the modules below them",
        check: imports::check,
    },
    Rule {
        name: "circles",
        asks: "inside a crate, files do not need one another in a circle; a module and its children may",
        check: circles::check,
    },
    Rule {
        name: "device-layers",
        asks: "the device's methods call only those of their own file and of the layers below",
        check: circles::layers,
    },
    Rule {
        name: "crate-arrows",
        asks: "crates depend only on the crates below them, inner crates on next to nothing",
        check: crates::allowed,
    },
    Rule {
        name: "inner-crates",
        asks: "inner crates are no_std and carry their clippy.toml; every crate inherits the lints",
        check: crates::guards,
    },
    Rule {
        name: "toolchain",
        asks: "rust-toolchain.toml names the version of Rust that the crates ask for",
        check: toolchain::check,
    },
    Rule { name: "test-programs", asks: "a crate has one program of integration tests", check: programs::check },
    Rule { name: "words", asks: "no machine paths, unfinished-work markers or ignored tests", check: words::check },
    Rule {
        name: "addresses",
        asks: "no address of a package registry but in lock files: its own client knows where packages are",
        check: addresses::check,
    },
    Rule {
        name: "links",
        asks: "links in .md files to files and headings of the repository resolve",
        check: docs::links,
    },
    Rule { name: "changelog", asks: "CHANGELOG.md has an Unreleased section", check: docs::changelog },
    Rule {
        name: "page-length",
        asks: "README.md has at most 1,000 words, CHANGELOG.md 60 lines a version, docs/results/performance.md 2,500 words",
        check: docs::lengths,
    },
    Rule {
        name: "book",
        asks: "the user's book has at most 17,000 words, no sentence over 35 and no cell over 25",
        check: book::lengths,
    },
    Rule {
        name: "figures",
        asks: "a figure in a sentence of docs/results stands in a table or block of its page, or the passage names its source",
        check: figures::check,
    },
    Rule {
        name: "architecture",
        asks: "what ARCHITECTURE.md has between backquotes is a file, or a word of the code",
        check: book::names,
    },
    Rule {
        name: "catalogue",
        asks: "every scheduler of the catalogue is described in README.md or docs/",
        check: catalogue::check,
    },
    Rule {
        name: "citations",
        asks: "what is cited of the model (model 0.4, D-SLK-11, A-FLN-05) has an entry in docs/model.md",
        check: citations::check,
    },
];

/// What each rule asks, a line each.
pub fn list() -> String {
    RULES.iter().map(|rule| format!("{:<17} {}\n", rule.name, rule.asks)).collect()
}

/// Checks the repository at `root` and prints what it finds; `Ok(true)` when nothing fails.
pub fn run(root: &Path) -> Result<bool, String> {
    let repo = Repo::read(root)?;
    let mut errors = 0;
    let mut warnings = 0;
    for rule in RULES {
        let mut findings = (rule.check)(&repo);
        findings.sort();
        for Finding { path, line, weight, message } in findings {
            let word = match weight {
                Weight::Error => {
                    errors += 1;
                    "error"
                }
                Weight::Warning => {
                    warnings += 1;
                    "warning"
                }
            };
            println!("{path}:{line}: {word}: {message} [{}]", rule.name);
        }
    }
    println!("tidy: {} files, {} rules, {errors} errors, {warnings} warnings", repo.files.len(), RULES.len());
    Ok(errors == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_rule_once() {
        let list = list();
        assert_eq!(list.lines().count(), RULES.len());
        for rule in RULES {
            assert_eq!(
                list.lines().filter(|line| line.split(' ').next() == Some(rule.name)).count(),
                1,
                "{}",
                rule.name
            );
        }
    }
}
