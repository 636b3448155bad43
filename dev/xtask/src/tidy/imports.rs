//! Rule on directions inside a crate: flash knows no translation layer, the translation layer no garbage collection, and so on.
//! Cargo keeps the arrows between crates; nothing but this keeps those between modules of one crate.
//!
//! Every path a file writes, in a `use`, in code or in a macro's arguments, is resolved to `crate::room::...` and held
//! against the table. Test code may name anything.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::Finding;
use super::reexports::{Reexports, leaves};
use super::repo::{File, Repo, attributes, crate_of, is_test_item};

/// A room and what it must not name. Rooms are `crate folder::module`; those that do not exist forbid nothing.
struct Direction {
    room: &'static str,
    never: &'static [&'static str],
}

const DIRECTIONS: &[Direction] = &[
    Direction { room: "sim::plan", never: &["sim::run", "sim::drive"] },
    Direction { room: "sim::run", never: &["sim::drive"] },
    Direction {
        room: "ssd::config",
        never: &[
            "ssd::shared",
            "ssd::flash",
            "ssd::ftl",
            "ssd::gc",
            "ssd::buffer",
            "ssd::frontend",
            "ssd::policy",
            "ssd::device",
        ],
    },
    Direction {
        room: "ssd::shared",
        never: &["ssd::flash", "ssd::ftl", "ssd::gc", "ssd::buffer", "ssd::frontend", "ssd::policy", "ssd::device"],
    },
    Direction {
        room: "ssd::flash",
        never: &["ssd::ftl", "ssd::gc", "ssd::buffer", "ssd::frontend", "ssd::policy", "ssd::device"],
    },
    Direction {
        room: "ssd::ftl",
        never: &["ssd::flash", "ssd::gc", "ssd::buffer", "ssd::frontend", "ssd::policy", "ssd::device"],
    },
    Direction { room: "ssd::gc", never: &["ssd::flash", "ssd::buffer", "ssd::frontend", "ssd::policy", "ssd::device"] },
    Direction {
        room: "ssd::frontend",
        never: &["ssd::flash", "ssd::ftl", "ssd::gc", "ssd::buffer", "ssd::policy", "ssd::device"],
    },
    Direction { room: "ssd::buffer", never: &["ssd::flash", "ssd::ftl", "ssd::gc", "ssd::policy", "ssd::device"] },
    Direction {
        room: "ssd::policy",
        never: &["ssd::shared", "ssd::flash", "ssd::ftl", "ssd::gc", "ssd::buffer", "ssd::frontend", "ssd::device"],
    },
    Direction {
        room: "audit",
        never: &[
            "ssd::shared",
            "ssd::flash",
            "ssd::ftl",
            "ssd::gc",
            "ssd::buffer",
            "ssd::frontend",
            "ssd::policy",
            "ssd::device",
        ],
    },
    Direction {
        room: "ceiling",
        never: &[
            "ssd::shared",
            "ssd::flash",
            "ssd::ftl",
            "ssd::gc",
            "ssd::buffer",
            "ssd::frontend",
            "ssd::policy",
            "ssd::device",
        ],
    },
];

/// Rule: modules name only the modules below them.
pub fn check(repo: &Repo) -> Vec<Finding> {
    let reexports = Reexports::of(repo);
    let mut findings = Vec::new();
    for (file, rust) in repo.rust().filter(|(file, _)| !file.is_test()) {
        let Some(module) = module_of(file) else { continue };
        let mut names = Names::new(module);
        names.visit_file(&rust.tree);
        for Name { module, path, line, glob } in names.found {
            let path = reexports.expand(path);
            for direction in DIRECTIONS.iter().filter(|d| lies_in(&module, d.room)) {
                let hit = |room: &&&str| lies_in(&path, room) || glob && lies_above(&path, room);
                if let Some(room) = direction.never.iter().find(hit) {
                    let how = if lies_in(&path, room) { "names" } else { "opens, with a glob, the way to" };
                    let message = format!("`{}` {how} `{room}` (as `{}`)", direction.room, path.join("::"));
                    findings.push(Finding::error(&file.path, line, message));
                }
            }
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

/// The module a file holds: `engine/ssd/src/flash/bus.rs` is `ssd, flash, bus`.
pub(super) fn module_of(file: &File) -> Option<Vec<String>> {
    let (_, inside) = file.path.strip_suffix(".rs")?.split_once("/src/")?;
    let krate = crate_of(&file.path)?;
    let parts = inside.split('/').filter(|part| !matches!(*part, "lib" | "main" | "mod"));
    Some(std::iter::once(krate).chain(parts).map(String::from).collect())
}

fn lies_in(path: &[String], room: &str) -> bool {
    let mut parts = path.iter();
    room.split("::").all(|part| parts.next().is_some_and(|p| p == part))
}

fn lies_above(path: &[String], room: &str) -> bool {
    room.strip_prefix(&path.join("::")).is_some_and(|rest| rest.starts_with("::"))
}

/// A path somebody wrote.
struct Name {
    module: Vec<String>,
    path: Vec<String>,
    line: usize,
    glob: bool,
}

/// Collects the paths that a file writes.
pub(super) struct Names {
    module: Vec<String>,
    found: Vec<Name>,
}

impl Names {
    /// For a file that holds `module`.
    pub(super) fn new(module: Vec<String>) -> Names {
        Names { module, found: Vec::new() }
    }

    /// Enters the module `name` inside the file.
    pub(super) fn enter(&mut self, name: &str) {
        self.module.push(name.to_string());
    }

    /// Leaves the module entered last.
    pub(super) fn leave(&mut self) {
        self.module.pop();
    }

    fn note(&mut self, written: &[String], line: usize, glob: bool) {
        if let Some(path) = self.resolve(written) {
            self.found.push(Name { module: self.module.clone(), path, line, glob });
        }
    }

    /// The full path, crate first. A path that begins with none of the four beginnings is local or foreign.
    pub(super) fn resolve(&self, written: &[String]) -> Option<Vec<String>> {
        let supers = written.iter().take_while(|part| *part == "super").count();
        let (base, skip) = match written.first()?.as_str() {
            "crate" => (self.module[..1].to_vec(), 1),
            "self" => (self.module.clone(), 1),
            "super" => (self.module[..self.module.len().checked_sub(supers)?].to_vec(), supers),
            first => (vec![first.strip_prefix("flashlane_")?.to_string()], 1),
        };
        // `self::super::x` is as good as `super::x`.
        let rest = &written[skip..];
        match rest.first().map(String::as_str) {
            Some("super") if written[0] == "self" => self.resolve(rest),
            _ => Some(base.into_iter().chain(rest.iter().cloned()).collect()),
        }
    }

    /// Paths among the arguments of a macro, which are not syntax yet, with their lines.
    pub(super) fn in_tokens(tokens: TokenStream) -> Vec<(Vec<String>, usize)> {
        let mut found = Vec::new();
        let (mut path, mut line, mut colons): (Vec<String>, usize, u32) = (Vec::new(), 0, 0);
        for token in tokens {
            match token {
                TokenTree::Punct(p) if p.as_char() == ':' && !path.is_empty() => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        found.push((std::mem::take(&mut path), line));
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    found.push((std::mem::take(&mut path), line));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        found.extend(Names::in_tokens(group.stream()));
                    }
                }
            }
        }
        found.push((path, line));
        found.retain(|(path, _)| !path.is_empty());
        found
    }
}

impl<'a> Visit<'a> for Names {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test_item(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.enter(&item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.leave();
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        for leaf in leaves(&item.tree) {
            self.note(&leaf.path, leaf.line, leaf.name == "*");
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let written: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let line = path.segments.first().map_or(1, |segment| segment.ident.span().start().line);
        self.note(&written, line, false);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        for (path, line) in Names::in_tokens(call.tokens.clone()) {
            self.note(&path, line, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let root = "pub mod device;\npub use device::Device;\npub use flash::Bus;\n";
        let repo = Repo::of(&[("engine/ssd/src/lib.rs", root), (path, text)]);
        check(&repo).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn what_is_below_may_be_named() {
        let gc = "use crate::ftl::Ftl;\nuse crate::{config::Config, ftl};\nfn f() { ftl::g(); self::h(); }\n";
        assert_eq!(lines("engine/ssd/src/gc/victim.rs", gc), [0usize; 0]);
        let device = "use crate::{flash, ftl, buffer::*, frontend};\nuse super::*;\n";
        assert_eq!(lines("engine/ssd/src/device/mod.rs", device), [0usize; 0]);
        assert_eq!(
            lines("engine/ssd/src/flash/bus.rs", "use super::*;\nuse crate::Bus;\nuse flashlane_core::Time;\n"),
            [0usize; 0]
        );
        assert_eq!(lines("engine/audit/src/lib.rs", "use flashlane_ssd::config::Config;\n"), [0usize; 0]);
    }

    #[test]
    fn what_is_above_may_not() {
        assert_eq!(lines("engine/ssd/src/flash/bus.rs", "\nuse crate::ftl::Map;\n"), [2]);
        assert_eq!(lines("engine/ssd/src/flash/bus.rs", "use crate::{config,\n ftl as f};\n"), [2]);
        assert_eq!(lines("engine/ssd/src/flash/bus.rs", "use super::super::device::X;\n"), [1]);
        assert_eq!(lines("engine/ssd/src/flash/mod.rs", "use super::device;\n"), [1]);
        assert_eq!(lines("engine/ssd/src/ftl.rs", "fn f(x: &crate::device::X) {}\n"), [1]);
        assert_eq!(lines("engine/ssd/src/ftl.rs", "fn f() {\n  assert!(a == crate::device::X, \"b\");\n}\n"), [2]);
        assert_eq!(lines("engine/ssd/src/buffer.rs", "mod inner {\n use super::super::device;\n}\n"), [2]);
        assert_eq!(lines("engine/audit/src/pages.rs", "fn f(d: &flashlane_ssd::device::Device) {}\n"), [1]);
    }

    #[test]
    fn a_reexport_or_a_glob_is_no_way_round() {
        assert_eq!(lines("engine/ssd/src/flash/bus.rs", "use crate::Device;\n"), [1]);
        assert_eq!(lines("engine/audit/src/pages.rs", "use flashlane_ssd::{config::Config, Device};\n"), [1]);
        assert_eq!(lines("engine/audit/src/start.rs", "use flashlane_ssd::Bus;\n"), [1]);
        assert_eq!(lines("engine/ssd/src/flash/bus.rs", "use crate::*;\n"), [1]);
    }

    #[test]
    fn tests_may_name_anything() {
        let text = "#[cfg(test)]\nmod tests {\n    use crate::device::Device;\n}\n";
        assert_eq!(lines("engine/ssd/src/flash/bus.rs", text), [0usize; 0]);
        assert_eq!(lines("engine/ssd/src/flash/tests.rs", "use crate::device::Device;\n"), [0usize; 0]);
    }
}
