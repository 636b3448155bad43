//! Rule on the catalogue: a scheduler that users can name is a scheduler they can read about.

use syn::visit::{self, Visit};

use super::Finding;
use super::repo::Repo;

/// The table of schedulers: this file, or the files of this folder.
const TABLE: &str = "sched/src/catalogue";

/// Rule: every name in the catalogue stands, as code, in README.md or a page of docs/.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let is_page = |path: &str| path.ends_with(".md") && (path.starts_with("docs/") || path == "README.md");
    let pages: Vec<&str> = repo.files.iter().filter(|f| is_page(&f.path)).filter_map(|f| f.text.as_deref()).collect();
    let mut findings = Vec::new();
    let mut tables = 0;
    let mut names = 0;
    for (file, rust) in repo.rust().filter(|(file, _)| file.path.starts_with(TABLE) && !file.is_test()) {
        tables += 1;
        let mut rows = Rows(Vec::new());
        rows.visit_file(&rust.tree);
        for (name, line) in rows.0.into_iter().filter(|(_, line)| !file.is_test_line(*line)) {
            names += 1;
            if !pages.iter().any(|page| page.contains(&format!("`{name}`"))) {
                let message = format!("scheduler `{name}` is described neither in README.md nor in docs/");
                findings.push(Finding::error(&file.path, line, message));
            }
        }
    }
    if tables > 0 && names == 0 {
        let message = "no row with `name: \"...\"` found here; this check needs to learn how rows are written";
        findings.push(Finding::warning(&format!("{TABLE}.rs"), 1, message.into()));
    }
    findings
}

/// Names of rows: outermost struct literals that have a string as `name`. Parameters lie inside and are not rows.
struct Rows(Vec<(String, usize)>);

impl<'a> Visit<'a> for Rows {
    fn visit_expr_struct(&mut self, row: &'a syn::ExprStruct) {
        let name = row.fields.iter().find_map(|field| match (&field.member, &field.expr) {
            (syn::Member::Named(key), syn::Expr::Lit(literal)) if key == "name" => match &literal.lit {
                syn::Lit::Str(text) => Some((text.value(), text.span().start().line)),
                _ => None,
            },
            _ => None,
        });
        match name {
            Some(name) => self.0.push(name),
            None => visit::visit_expr_struct(self, row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Weight;
    use super::*;

    const TABLE_TEXT: &str = "const ROWS: &[Row] = &[\n    Row { name: \"fcfs\", parameters: &[Parameter { name: \"depth\" }] },\n    \
                              Row { name: \"sprinkler\", parameters: &[] },\n];\n";

    #[test]
    fn a_scheduler_nobody_describes_is_named() {
        let files = [("sched/src/catalogue.rs", TABLE_TEXT), ("docs/schedulers.md", "`fcfs` serves in order.")];
        let found = check(&Repo::of(&files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].line, 3);
        assert!(found[0].message.contains("`sprinkler`"));
        let described = [files[0], files[1], ("README.md", "`sprinkler` groups.")];
        assert_eq!(check(&Repo::of(&described)), []);
    }

    #[test]
    fn a_table_it_cannot_read_is_said() {
        let found = check(&Repo::of(&[("sched/src/catalogue.rs", "fn rows() {}")]));
        assert_eq!(found.iter().map(|f| f.weight).collect::<Vec<_>>(), [Weight::Warning]);
        assert_eq!(check(&Repo::of(&[("sched/src/lib.rs", "")])), []);
    }
}
