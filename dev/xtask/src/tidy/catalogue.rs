//! Rule on the catalogue: a scheduler that users can name is a scheduler they can read about.

use syn::visit::{self, Visit};

use super::Finding;
use super::repo::Repo;

/// Where the schedulers of the catalogue are.
const ROOM: &str = "engine/sched/src/";
/// The type of a scheduler; other named things of that crate, answers and parameters, are no schedulers.
const ENTRY: &str = "SchedulerEntry";
/// The file that reads them: if it exists, there must be schedulers.
const CATALOGUE: &str = "engine/sched/src/catalogue.rs";

/// Rule: every name in the catalogue stands, as code, in README.md or a page of docs/.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let is_page = |path: &str| path.ends_with(".md") && (path.starts_with("docs/") || path == "README.md");
    let pages: Vec<&str> = repo.files.iter().filter(|f| is_page(&f.path)).filter_map(|f| f.text.as_deref()).collect();
    let mut findings = Vec::new();
    let mut count = 0;
    for (file, rust) in repo.rust().filter(|(file, _)| file.path.starts_with(ROOM) && !file.is_test()) {
        let mut names = Names(Vec::new());
        names.visit_file(&rust.tree);
        for (name, line) in names.0.into_iter().filter(|(_, line)| !file.is_test_line(*line)) {
            count += 1;
            if !pages.iter().any(|page| page.contains(&format!("`{name}`"))) {
                let message = format!("scheduler `{name}` is described neither in README.md nor in docs/");
                findings.push(Finding::error(&file.path, line, message));
            }
        }
    }
    if count == 0 && repo.has(CATALOGUE) {
        let message = format!(
            "no literal `{ENTRY} {{ name: \"...\" }}` in {ROOM}; this check needs to be taught how schedulers are written"
        );
        findings.push(Finding::error(CATALOGUE, 1, message));
    }
    findings
}

/// Names of schedulers, and their lines.
struct Names(Vec<(String, usize)>);

impl<'a> Visit<'a> for Names {
    fn visit_expr_struct(&mut self, entry: &'a syn::ExprStruct) {
        let is_entry = entry.path.segments.last().is_some_and(|segment| segment.ident == ENTRY);
        for field in entry.fields.iter().filter(|_| is_entry) {
            let syn::Member::Named(key) = &field.member else { continue };
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &field.expr else { continue };
            if key == "name" {
                self.0.push((text.value(), text.span().start().line));
            }
        }
        visit::visit_expr_struct(self, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULERS: &str = "const SCHEDULERS: &[SchedulerEntry] = &[\n    SchedulerEntry { name: \"fcfs\", params: &[Param { name: \"depth\" }] },\n    \
                        crate::catalogue::SchedulerEntry { name: \"sprinkler\", params: &[] },\n];\n\
                        const PICK: &[Choice] = &[Choice { name: \"largest-group\" }];\n";

    #[test]
    fn a_scheduler_nobody_describes_is_named() {
        let files = [
            ("engine/sched/src/shipped.rs", SCHEDULERS),
            (CATALOGUE, ""),
            ("docs/schedulers.md", "`fcfs` serves in order."),
        ];
        let found = check(&Repo::of(&files));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].line, 3);
        assert!(found[0].message.contains("`sprinkler`"));
        let described = [files[0], files[1], files[2], ("README.md", "`sprinkler` groups.")];
        assert_eq!(check(&Repo::of(&described)), []);
    }

    #[test]
    fn a_table_it_cannot_read_is_no_pass() {
        assert_eq!(check(&Repo::of(&[(CATALOGUE, "fn names() {}")])).len(), 1);
        assert_eq!(check(&Repo::of(&[("engine/sched/src/lib.rs", "")])), []);
    }
}
