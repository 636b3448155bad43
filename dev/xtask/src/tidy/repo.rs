//! The repository as the rules see it: the files git knows or would add, read once, Rust files parsed once.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Finding;

/// Files larger than this are not read: the size rule objects to them, the others have no business with them.
pub const MAX_BYTES: u64 = 1_000_000;

/// All files, in the order of their paths.
pub struct Repo {
    /// The files.
    pub files: Vec<File>,
}

/// A file.
pub struct File {
    /// Path from the top of the repository, with `/`.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Content, if it is text.
    pub text: Option<String>,
    /// Syntax, if it is a Rust file.
    pub rust: Option<Result<Rust, syn::Error>>,
}

/// A parsed Rust file.
pub struct Rust {
    /// Its syntax tree.
    pub tree: syn::File,
    /// Lines of `#[cfg(test)]` items and of tests.
    tests: Vec<RangeInclusive<usize>>,
}

/// The crate to which a source file belongs, by the name of its folder: `ssd` for `engine/ssd/src/flash/bus.rs`.
pub fn crate_of(path: &str) -> Option<&str> {
    path.split_once("/src/")?.0.rsplit('/').next()
}

/// The paths that git knows or would add, from the top, in order.
pub fn listed(root: &Path) -> Result<BTreeSet<String>, String> {
    let list = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|e| format!("cannot run git to list the files: {e}"))?;
    if !list.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&list.stderr).trim()));
    }
    let listed = String::from_utf8_lossy(&list.stdout);
    Ok(listed.split('\0').filter(|path| !path.is_empty()).map(String::from).collect())
}

impl Repo {
    /// Reads the repository at `root`.
    pub fn read(root: &Path) -> Result<Repo, String> {
        let mut files = Vec::new();
        for path in &listed(root)? {
            let full = root.join(path);
            // A file that was deleted but not committed yet is still listed.
            let Ok(meta) = std::fs::symlink_metadata(&full) else { continue };
            let read = meta.is_file() && meta.len() <= MAX_BYTES;
            let content = if read { std::fs::read(&full).map_err(|e| format!("{path}: {e}"))? } else { Vec::new() };
            files.push(File::new(path, meta.len(), String::from_utf8(content).ok()));
        }
        Ok(Repo { files })
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether `path` is a file or a folder with files.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder)) || path.is_empty()
    }

    /// The parsed Rust files.
    pub fn rust(&self) -> impl Iterator<Item = (&File, &Rust)> {
        self.files.iter().filter_map(|file| Some((file, file.rust.as_ref()?.as_ref().ok()?)))
    }

    /// A repository of the given files, for tests of rules.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Repo {
        let file = |(path, text): &(&str, &str)| File::new(path, text.len() as u64, Some(text.to_string()));
        Repo { files: files.iter().map(file).collect() }
    }
}

impl File {
    fn new(path: &str, bytes: u64, text: Option<String>) -> File {
        let rust = path.ends_with(".rs").then(|| Rust::parse(text.as_deref().unwrap_or_default()));
        File { path: path.into(), bytes, text, rust }
    }

    /// Whether it is a lock file, which a machine writes.
    pub fn is_lock(&self) -> bool {
        self.path.ends_with(".lock") || self.path.ends_with("package-lock.json")
    }

    /// Whether all of it is test code.
    pub fn is_test(&self) -> bool {
        is_test_path(&self.path)
    }

    /// Whether `line` is test code.
    pub fn is_test_line(&self, line: usize) -> bool {
        let inner = || matches!(&self.rust, Some(Ok(rust)) if rust.tests.iter().any(|range| range.contains(&line)));
        self.is_test() || inner()
    }

    /// Its lines, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.as_deref().unwrap_or_default().lines().enumerate().map(|(i, line)| (i + 1, line))
    }
}

impl Rust {
    fn parse(text: &str) -> Result<Rust, syn::Error> {
        let tree = syn::parse_file(text)?;
        let mut finder = Tests(Vec::new());
        finder.visit_file(&tree);
        Ok(Rust { tree, tests: finder.0 })
    }
}

/// Rule: every Rust file parses.
pub fn parses(repo: &Repo) -> Vec<Finding> {
    let fault = |file: &File| {
        let error = file.rust.as_ref()?.as_ref().err()?;
        Some(Finding::error(&file.path, error.span().start().line, format!("not Rust: {error}")))
    };
    repo.files.iter().filter_map(fault).collect()
}

/// Whether all of the file at `path` is test code, by its place and name.
pub fn is_test_path(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    name == "tests.rs" || name.ends_with("_tests.rs") || parts.any(|part| part == "tests")
}

/// Whether an item with these attributes exists in test builds only.
pub fn is_test_item(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let condition = || match &attr.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        let test_only = |text: String| {
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.clone().any(|word| word == "test") && !words.any(|word| word == "not" || word == "any")
        };
        attr.path().is_ident("test") || attr.path().is_ident("cfg") && test_only(condition())
    })
}

/// Attributes of an item, for the kinds that carry test code.
pub fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        _ => &[],
    }
}

struct Tests(Vec<RangeInclusive<usize>>);

impl Tests {
    fn note(&mut self, span: proc_macro2::Span) {
        self.0.push(span.start().line..=span.end().line);
    }
}

impl<'a> Visit<'a> for Tests {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if is_test_item(attributes(item)) {
            self.note(item.span());
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if is_test_item(&item.attrs) {
            self.note(item.span());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_lines_are_those_of_test_items() {
        let text = "//! Doc.\nfn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(not(test))]\nfn d() {}\n\
                    struct S;\nimpl S {\n    #[cfg(test)]\n    fn e() {}\n    fn f() {}\n}\n";
        let repo = Repo::of(&[("a/src/lib.rs", text)]);
        let test_lines: Vec<usize> = (1..=15).filter(|&line| repo.files[0].is_test_line(line)).collect();
        assert_eq!(test_lines, [3, 4, 5, 6, 12, 13]);
    }

    #[test]
    fn whole_test_files_are_known_by_their_place() {
        let names = ["a/tests/b.rs", "a/src/tests.rs", "a/src/x/y_tests.rs", "a/tests/deep/c.rs", "a/src/contests.rs"];
        let files = names.map(|name| (name, ""));
        assert_eq!(
            Repo::of(&files).files.iter().map(File::is_test).collect::<Vec<_>>(),
            [true, true, true, true, false]
        );
    }

    #[test]
    fn what_does_not_parse_is_reported_with_its_line() {
        let findings = parses(&Repo::of(&[("a.rs", "fn a() {}\nfn b( {}\n"), ("b.rs", "fn ok() {}")]));
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].path.as_str(), findings[0].line), ("a.rs", 2));
    }

    #[test]
    fn folders_count_as_there() {
        let repo = Repo::of(&[("docs/a/b.md", "")]);
        assert!(repo.has("docs/a") && repo.has("docs/") && repo.has("docs/a/b.md"));
        assert!(!repo.has("doc") && !repo.has("docs/a/b"));
    }
}
