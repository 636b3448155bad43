//! Rules on size: files, functions, bytes. Test code is not counted: a long list of cases is no burden.

use syn::visit::{self, Visit};

use super::Finding;
use super::repo::{MAX_BYTES, Repo, attributes, is_test_item};

/// Lines of a file: beyond the first it warns, beyond the second it fails.
const FILE_LINES: (usize, usize) = (600, 800);
/// Lines of a function, the same way.
const FUNCTION_LINES: (usize, usize) = (60, 70);

/// Rule: files are short.
pub fn files(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, _) in repo.rust() {
        let lines = file.lines().filter(|&(line, _)| !file.is_test_line(line)).count();
        let what = || format!("{lines} lines without tests");
        judge(&mut findings, &file.path, 1, lines, FILE_LINES, &what);
    }
    findings
}

/// Rule: functions are short.
pub fn functions(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in repo.rust().filter(|(file, _)| !file.is_test()) {
        let mut functions = Functions(Vec::new());
        functions.visit_file(&rust.tree);
        for Function { name, line, lines } in functions.0 {
            judge(&mut findings, &file.path, line, lines, FUNCTION_LINES, &|| format!("`{name}` has {lines} lines"));
        }
    }
    findings
}

/// Rule: no file is large.
pub fn bytes(repo: &Repo) -> Vec<Finding> {
    let large = repo.files.iter().filter(|file| file.bytes > MAX_BYTES);
    large.map(|file| Finding::error(&file.path, 1, format!("{} bytes; at most {MAX_BYTES}", file.bytes))).collect()
}

fn judge(
    findings: &mut Vec<Finding>,
    path: &str,
    line: usize,
    lines: usize,
    (soft, hard): (usize, usize),
    what: &dyn Fn() -> String,
) {
    if lines > hard {
        findings.push(Finding::error(path, line, format!("{}; at most {hard}: split it by meaning", what())));
    } else if lines > soft {
        findings.push(Finding::warning(path, line, format!("{}; {soft} is the aim", what())));
    }
}

struct Function {
    name: String,
    line: usize,
    lines: usize,
}

struct Functions(Vec<Function>);

impl Functions {
    fn note(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let first = sig.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        self.0.push(Function { name: sig.ident.to_string(), line: first, lines: last + 1 - first });
    }
}

impl<'a> Visit<'a> for Functions {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test_item(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.note(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !is_test_item(&item.attrs) {
            self.note(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.note(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Weight;
    use super::*;

    /// A function of `lines` lines.
    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    f();\n".repeat(lines - 2))
    }

    fn weights(findings: &[Finding]) -> Vec<Weight> {
        findings.iter().map(|finding| finding.weight).collect()
    }

    #[test]
    fn functions_at_and_past_the_limits() {
        for (lines, expect) in
            [(60, vec![]), (61, vec![Weight::Warning]), (70, vec![Weight::Warning]), (71, vec![Weight::Error])]
        {
            let text = function(lines);
            assert_eq!(weights(&functions(&Repo::of(&[("a/src/b.rs", &text)]))), expect, "{lines} lines");
            let method = format!("struct S;\nimpl S {{\n/// Doc.\n{text}}}\n");
            let found = functions(&Repo::of(&[("a/src/b.rs", &method)]));
            assert_eq!(weights(&found), expect, "method of {lines} lines");
            assert!(found.iter().all(|f| f.line == 4), "the place is where the function begins");
            let default = format!("trait T {{\n{text}}}\n");
            assert_eq!(weights(&functions(&Repo::of(&[("a/src/b.rs", &default)]))), expect, "default of {lines} lines");
        }
    }

    #[test]
    fn test_functions_may_be_long() {
        let text = format!("#[cfg(test)]\nmod tests {{\n{}}}\n#[test]\n{}", function(200), function(200));
        assert_eq!(functions(&Repo::of(&[("a/src/b.rs", &text), ("a/tests/c.rs", &function(200))])), []);
    }

    #[test]
    fn files_at_and_past_the_limits() {
        for (lines, expect) in
            [(600, vec![]), (601, vec![Weight::Warning]), (800, vec![Weight::Warning]), (801, vec![Weight::Error])]
        {
            let text = "// x\n".repeat(lines);
            assert_eq!(weights(&files(&Repo::of(&[("a/src/b.rs", &text)]))), expect, "{lines} lines");
            let with_tests = format!("{text}#[cfg(test)]\nmod tests {{\n{}}}\n", "// y\n".repeat(500));
            assert_eq!(weights(&files(&Repo::of(&[("a/src/b.rs", &with_tests)]))), expect, "{lines} lines and tests");
        }
    }

    #[test]
    fn a_large_file_is_refused() {
        let mut repo = Repo::of(&[("a.bin", ""), ("b.bin", "")]);
        repo.files[0].bytes = MAX_BYTES;
        repo.files[1].bytes = MAX_BYTES + 1;
        let findings = bytes(&repo);
        assert_eq!(findings.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["b.bin"]);
    }
}
