//! Rule on the followers of device events: a new event must not be ignored unseen.
//!
//! Finds every `match` outside tests that names a variant of [`EVENTS`]' enum and ends in a wildcard. Who wants one or two events whatever
//! others there are takes them with `if let`. Must never know what events mean.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Finding;
use super::repo::{Repo, Rust, attributes, is_test_item};

/// The file of the enum.
const EVENTS: &str = "engine/core/src/event.rs";
/// Its name.
const ENUM: &str = "Event";

/// Rule: a `match` over device events lists those it ignores.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let file = repo.rust().find(|(file, _)| file.path == EVENTS);
    let events = file.map(|(_, rust)| variants(rust)).unwrap_or_default();
    if events.is_empty() {
        return vec![Finding::error(
            EVENTS,
            1,
            format!("`enum {ENUM}` is not there, and followers of events are judged by it"),
        )];
    }
    let mut findings = Vec::new();
    for (file, rust) in repo.rust().filter(|(file, _)| !file.is_test()) {
        let mut wildcards = Wildcards { events: &events, lines: Vec::new() };
        wildcards.visit_file(&rust.tree);
        for line in wildcards.lines {
            let message = "a wildcard in a `match` over device events; list the events that it ignores, so that the compiler asks about a new one";
            findings.push(Finding::error(&file.path, line, message.to_owned()));
        }
    }
    findings
}

/// The names of the enum's variants.
fn variants(rust: &Rust) -> BTreeSet<String> {
    let found = rust.tree.items.iter().find_map(|item| match item {
        syn::Item::Enum(item) if item.ident == ENUM => Some(item),
        _ => None,
    });
    found.map(|item| item.variants.iter().map(|variant| variant.ident.to_string()).collect()).unwrap_or_default()
}

/// The lines of wildcards in a `match` over the events.
struct Wildcards<'e> {
    events: &'e BTreeSet<String>,
    lines: Vec<usize>,
}

impl<'a> Visit<'a> for Wildcards<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test_item(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_expr_match(&mut self, expr: &'a syn::ExprMatch) {
        if expr.arms.iter().any(|arm| names_one(&arm.pat, self.events)) {
            let all = expr.arms.iter().filter(|arm| takes_all(&arm.pat));
            self.lines.extend(all.map(|arm| arm.pat.span().start().line));
        }
        visit::visit_expr_match(self, expr);
    }
}

/// Whether the pattern names an event.
fn names_one(pat: &syn::Pat, events: &BTreeSet<String>) -> bool {
    let is_event = |path: &syn::Path| {
        let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        names.next().is_some_and(|last| events.contains(&last)) && names.next().is_some_and(|name| name == ENUM)
    };
    match pat {
        syn::Pat::Struct(pat) => is_event(&pat.path),
        syn::Pat::Path(pat) => is_event(&pat.path),
        syn::Pat::Or(pat) => pat.cases.iter().any(|case| names_one(case, events)),
        syn::Pat::Guard(pat) => names_one(&pat.pat, events),
        syn::Pat::Reference(pat) => names_one(&pat.pat, events),
        _ => false,
    }
}

/// Whether the pattern fits whatever comes. A guarded one does not, for the compiler either.
fn takes_all(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Wild(_) => true,
        syn::Pat::Ident(pat) => pat.subpat.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: (&str, &str) = (EVENTS, "pub enum Event { Queued { txn: u64 }, Ended { txn: u64 }, Erased }\n");

    fn lines(text: &str) -> Vec<usize> {
        let repo = Repo::of(&[CORE, ("lab/sim/src/follower.rs", text)]);
        check(&repo).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_follower_lists_what_it_ignores() {
        let wild =
            "fn f(e: &Event) {\n    match *e {\n        Event::Queued { .. } => g(),\n        _ => {}\n    }\n}\n";
        assert_eq!(lines(wild), [4]);
        assert_eq!(lines(&wild.replace("_ =>", "other =>")), [4], "a name takes all too");
        assert_eq!(lines(&wild.replace("_ =>", "_ if h() =>")), [0; 0], "the compiler counts no guarded arm");
        assert_eq!(lines(&wild.replace("_ =>", "Event::Ended { .. } | Event::Erased =>")), [0; 0]);
        assert_eq!(
            lines(&wild.replace("Event::Queued { .. }", "core::event::Event::Erased | Event::Ended { .. }")),
            [4]
        );
        assert_eq!(
            lines(&wild.replace("Event::Queued { .. }", "Event::Start(_)")),
            [0; 0],
            "some other library's events"
        );
        assert_eq!(lines(&format!("#[cfg(test)]\nmod tests {{\n{wild}}}\n")), [0; 0]);
    }

    #[test]
    fn the_rule_fails_if_the_enum_has_moved() {
        let repo = Repo::of(&[("lab/sim/src/follower.rs", "fn f() {}\n")]);
        assert_eq!(check(&repo).len(), 1);
    }
}
