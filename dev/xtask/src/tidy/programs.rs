//! Rule on test programs: a crate has one for its integration tests.
//!
//! Each is linked with the crate and all below it, which takes longer than compiling its own lines; subjects are modules of one program.

use std::collections::BTreeMap;

use super::Finding;
use super::repo::Repo;

/// Rule: at most one program of integration tests a crate.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in &repo.files {
        if let Some(krate) = crate_of_program(&file.path) {
            programs.entry(krate).or_default().push(&file.path);
        }
    }
    let more = programs.values().flat_map(|programs| &programs[1..]);
    let message = "the crate has another test program; make this a module of it (tests/all/main.rs)";
    more.map(|path| Finding::error(path, 1, message.into())).collect()
}

/// The folder of the crate of whose integration tests this file is a program, by Cargo's rules.
fn crate_of_program(path: &str) -> Option<&str> {
    let (krate, file) = path.split_once("/tests/")?;
    let is_program = match file.split_once('/') {
        None => file.ends_with(".rs"),
        Some((_, below)) => below == "main.rs",
    };
    (is_program && !krate.split('/').any(|folder| folder == "src")).then_some(krate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str]) -> Vec<String> {
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "//! x")).collect();
        check(&Repo::of(&files)).into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn a_second_program_is_found() {
        assert_eq!(found(&["a/tests/all/main.rs", "a/tests/more.rs", "b/tests/b.rs"]), ["a/tests/more.rs"]);
        assert_eq!(found(&["a/tests/x.rs", "a/tests/y.rs", "a/tests/z/main.rs"]).len(), 2);
    }

    #[test]
    fn modules_data_and_unit_tests_are_none() {
        let none = ["a/tests/all/main.rs", "a/tests/all/x.rs", "a/tests/all/x/mod.rs", "a/tests/small.toml"];
        assert!(found(&none).is_empty());
        assert!(found(&["a/src/b/tests/x.rs", "a/src/b/tests/y.rs", "b/tests/x.rs"]).is_empty());
    }
}
