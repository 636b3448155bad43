//! Rule on the maps of files in module docs: they name the files that are there, and all of them.
//!
//! A map is a fenced block of `text` in a module's doc, a module a line, its name before two spaces. Checks too that a file named in
//! a comment (`catalogue.rs`) exists. Must never know what a file is for.

use std::collections::BTreeSet;

use super::Finding;
use super::repo::{File, Repo, Rust, attributes, is_test_item};

/// Rule: maps of modules are true, and files that comments name exist.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in repo.rust() {
        let modules = modules(rust);
        for (line, block) in blocks(file) {
            findings.extend(faults(file, line, &block, &modules));
        }
        for (line, name) in files_in_comments(file) {
            let tail = format!("/{name}");
            if !repo.files.iter().any(|other| other.path == name || other.path.ends_with(&tail)) {
                findings.push(Finding::error(&file.path, line, format!("there is no file `{name}`")));
            }
        }
    }
    findings
}

/// What is wrong with the block that begins after `line`, if it is a map: one of its lines begins with the name of a module.
fn faults(file: &File, line: usize, block: &[&str], modules: &BTreeSet<String>) -> Vec<Finding> {
    let named: Vec<(usize, &str)> =
        (line + 1..).zip(block).flat_map(|(line, text)| names(text).map(move |n| (line, n))).collect();
    if !named.iter().any(|(_, name)| modules.contains(*name)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, name) in &named {
        if !modules.contains(*name) {
            let message = format!("the map names `{name}`, and no such module is declared here");
            findings.push(Finding::error(&file.path, *line, message));
        }
    }
    let missing = modules.iter().filter(|module| !named.iter().any(|(_, name)| name == module));
    findings.extend(missing.map(|name| Finding::error(&file.path, line, format!("the map leaves out `{name}`"))));
    findings
}

/// The modules that a line of a map is about: `a, b   what they are for`.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let name = if line.starts_with(' ') { "" } else { line.split("  ").next().unwrap_or_default() };
    name.split(',').map(|name| name.trim().trim_end_matches('/')).filter(|name| !name.is_empty())
}

/// The modules in files of their own that a file declares, without those of tests.
fn modules(rust: &Rust) -> BTreeSet<String> {
    let declared = rust.tree.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() && !is_test_item(attributes(item)) => Some(module),
        _ => None,
    });
    declared.map(|module| module.ident.to_string()).collect()
}

/// The fenced blocks of `text` in a module's doc, each with the line of its fence.
fn blocks(file: &File) -> Vec<(usize, Vec<&str>)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Vec<&str>)> = None;
    for (line, text) in file.lines().map_while(|(line, text)| Some((line, text.strip_prefix("//!")?))) {
        let text = text.strip_prefix(' ').unwrap_or(text);
        match &mut open {
            None if text == "```text" => open = Some((line, Vec::new())),
            None => {}
            Some(_) if text == "```" => found.extend(open.take()),
            Some((_, lines)) => lines.push(text),
        }
    }
    found
}

/// The Rust files that comments name between backticks.
fn files_in_comments(file: &File) -> Vec<(usize, &str)> {
    let comments = file.lines().filter(|(_, text)| text.trim_start().starts_with("//"));
    let quoted = comments.flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(move |quoted| (line, quoted)));
    let is_path = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-'));
    quoted.filter(|(_, text)| text.len() > ".rs".len() && text.ends_with(".rs") && is_path(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let files = [("a/src/lib.rs", text), ("a/src/there.rs", "")];
        let mut findings = check(&Repo::of(&files));
        findings.sort();
        findings.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_map_names_every_module_and_nothing_else() {
        let good = "//! Doc.\n//!\n//! ```text\n//! one, two  what they do\n//!           and more\n//! three/    a folder\n//! ```\n\
                    mod one;\npub mod two;\nmod three;\n#[cfg(test)]\nmod tests;\nmod inline {}\n";
        assert_eq!(lines(good), [0; 0]);
        assert_eq!(lines(&good.replace("mod two;", "mod other;")), [3, 4], "`other` is left out, `two` is not there");
        assert_eq!(lines(&good.replace("//! three/  ", "//! fourth  ")), [3, 6]);
        assert_eq!(lines(&good.replace("//! three/  ", "//!         ")), [3]);
    }

    #[test]
    fn other_blocks_are_no_maps() {
        assert_eq!(
            lines("//! ```text\n//! store.json  a file of a store\n//! runs/NAME   a result\n//! ```\nmod runs_of;\n"),
            [0; 0]
        );
        assert_eq!(lines("//! ```\n//! one  code\n//! ```\nmod two;\n"), [0; 0]);
    }

    #[test]
    fn files_that_comments_name_exist() {
        let good =
            "//! See `there.rs`, `src/there.rs`, `a/src/there.rs` and `.rs` files.\nconst A: &str = \"`gone.rs`\";\n";
        assert_eq!(lines(good), [0; 0]);
        assert_eq!(lines("//! See `here.rs`.\n/// And `b/there.rs`.\nfn f() {}\n"), [1, 2]);
    }
}
