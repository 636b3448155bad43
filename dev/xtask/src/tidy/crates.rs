//! Rules on whole crates: who may depend on whom, and the guards every inner crate carries.
//!
//! Cargo refuses a circle, not a wrong arrow: `core` could depend on a clock crate and everything would build.

use toml::{Table, Value};

use super::Finding;
use super::repo::{File, Repo};

/// A crate, the crates of ours it may depend on, and what else.
struct AllowedDependencies {
    krate: &'static str,
    ours: &'static [&'static str],
    foreign: Foreign,
}

/// Dependencies from outside the repository.
enum Foreign {
    /// None but these.
    Only(&'static [&'static str]),
    /// Any well-kept crate.
    Any,
}

const CORE: &str = "flashlane-core";
const SCHED: &str = "flashlane-sched";
const SSD: &str = "flashlane-ssd";
const HOST: &str = "flashlane-host";
const BLOCK: &str = "flashlane-block";
const AUDIT: &str = "flashlane-audit";
const CEILING: &str = "flashlane-ceiling";
const OUTPUTS: &str = "flashlane-outputs";
const TRACE: &str = "flashlane-trace";
const SCENARIO: &str = "flashlane-scenario";
const REPORT: &str = "flashlane-report";
const SIM: &str = "flashlane-sim";
const SWEEP: &str = "flashlane-sweep";
const FIT: &str = "flashlane-fit";
const PAPERS: &str = "flashlane-papers";
const SERVE: &str = "flashlane-serve";
const CLI: &str = "flashlane-cli";

const ALLOWED: &[AllowedDependencies] = &[
    AllowedDependencies { krate: CORE, ours: &[], foreign: Foreign::Only(&[]) },
    AllowedDependencies { krate: SCHED, ours: &[CORE], foreign: Foreign::Only(&[]) },
    AllowedDependencies {
        krate: SSD,
        ours: &[CORE],
        foreign: Foreign::Only(&["prefetch-index", "rand_core", "rand_pcg", "serde"]),
    },
    AllowedDependencies { krate: HOST, ours: &[CORE], foreign: Foreign::Only(&[]) },
    AllowedDependencies { krate: BLOCK, ours: &[CORE], foreign: Foreign::Only(&[]) },
    AllowedDependencies {
        krate: AUDIT,
        ours: &[CORE, SSD],
        foreign: Foreign::Only(&["rand_core", "rand_pcg", "rustc-hash"]),
    },
    AllowedDependencies { krate: CEILING, ours: &[CORE, SSD], foreign: Foreign::Only(&["rayon"]) },
    AllowedDependencies { krate: OUTPUTS, ours: &[], foreign: Foreign::Any },
    AllowedDependencies { krate: TRACE, ours: &[CORE, OUTPUTS], foreign: Foreign::Any },
    AllowedDependencies {
        krate: SCENARIO,
        ours: &[CORE, SCHED, SSD, HOST, BLOCK, OUTPUTS, TRACE],
        foreign: Foreign::Any,
    },
    AllowedDependencies { krate: REPORT, ours: &[CORE, SSD, HOST, BLOCK, OUTPUTS, TRACE], foreign: Foreign::Any },
    AllowedDependencies {
        krate: SIM,
        ours: &[CORE, SCHED, SSD, HOST, BLOCK, AUDIT, CEILING, OUTPUTS, TRACE, SCENARIO, REPORT],
        foreign: Foreign::Any,
    },
    AllowedDependencies { krate: SWEEP, ours: &[OUTPUTS, SCENARIO, REPORT, SIM], foreign: Foreign::Any },
    AllowedDependencies { krate: FIT, ours: &[OUTPUTS, SCENARIO, REPORT, SIM], foreign: Foreign::Any },
    AllowedDependencies {
        krate: PAPERS,
        ours: &[CORE, SCHED, SSD, HOST, OUTPUTS, TRACE, SCENARIO, REPORT, SIM, SWEEP],
        foreign: Foreign::Any,
    },
    AllowedDependencies {
        krate: "flashlane-calibration",
        ours: &[SCENARIO, SIM, PAPERS],
        foreign: Foreign::Only(&["rayon"]),
    },
    AllowedDependencies {
        krate: "flashlane-precompletion",
        ours: &[CORE, SCHED, SSD, HOST, SCENARIO],
        foreign: Foreign::Any,
    },
    AllowedDependencies { krate: SERVE, ours: &[CORE, SSD, OUTPUTS, SCENARIO, REPORT, SIM], foreign: Foreign::Any },
    AllowedDependencies {
        krate: CLI,
        ours: &[CORE, SCHED, OUTPUTS, TRACE, SCENARIO, REPORT, SIM, SWEEP, FIT, PAPERS, SERVE],
        foreign: Foreign::Any,
    },
    AllowedDependencies {
        krate: "flashlane-python",
        ours: &[CORE, SCHED, OUTPUTS, SCENARIO, REPORT, SIM, SWEEP],
        foreign: Foreign::Any,
    },
    AllowedDependencies {
        krate: "flashlane-emulator",
        ours: &[CORE, SCHED, SSD, HOST, SCENARIO, SIM],
        foreign: Foreign::Any,
    },
    AllowedDependencies {
        krate: "flashlane-bench",
        ours: &[CORE, SCHED, SSD, HOST, SCENARIO, REPORT, SIM, FIT],
        foreign: Foreign::Any,
    },
    AllowedDependencies {
        krate: "flashlane-fuzz",
        ours: &[CORE, SCHED, SSD, HOST, OUTPUTS, TRACE, SCENARIO, SIM, SWEEP, FIT, SERVE],
        foreign: Foreign::Any,
    },
    AllowedDependencies {
        krate: "shortest-request-first",
        ours: &[CORE, SCHED, SCENARIO, REPORT, SIM, CLI],
        foreign: Foreign::Only(&["tempfile"]),
    },
    AllowedDependencies { krate: "flashlane-testing", ours: &[], foreign: Foreign::Any },
    AllowedDependencies { krate: "xtask", ours: &[], foreign: Foreign::Any },
];

/// Crates that must behave the same on every machine: no clocks, no hash order, no printing, no operating system.
const INNER: [&str; 5] = [CORE, SCHED, SSD, HOST, BLOCK];

/// Rule: dependencies follow the table. Dev-dependencies are free: tests may wire what the crate must not.
pub fn allowed(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Manifest { file, table, name } in manifests(repo, &mut findings) {
        let Some(allowed) = ALLOWED.iter().find(|allowed| allowed.krate == name) else {
            let message = format!("crate `{name}` is in no row of the table in dev/xtask/src/tidy/crates.rs; add one");
            findings.push(Finding::error(&file.path, 1, message));
            continue;
        };
        for dependency in dependencies(&table) {
            let ours = dependency.starts_with("flashlane-") || dependency == "xtask";
            let legal = match &allowed.foreign {
                _ if ours => allowed.ours.contains(&dependency.as_str()),
                Foreign::Any => true,
                Foreign::Only(names) => names.contains(&dependency.as_str()),
            };
            if !legal {
                let line = line_of(file, &dependency);
                let message = format!("`{name}` must not depend on `{dependency}`; {}", legal_for(allowed));
                findings.push(Finding::error(&file.path, line, message));
            }
        }
    }
    findings
}

/// Rule: every crate inherits the workspace lints, or denies unsafe code if it is a workspace of its own; inner crates are `no_std` and have a clippy.toml of their own.
pub fn guards(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Manifest { file, table, name } in manifests(repo, &mut Vec::new()) {
        let lints = table.get("lints");
        let inherits = lints.and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
        let unsafe_code = lints.and_then(|lints| lints.get("rust")?.get("unsafe_code")).and_then(Value::as_str);
        let is_apart = table.contains_key("workspace");
        if is_apart && unsafe_code != Some("deny") {
            let message = format!("`{name}` must deny unsafe code: [lints.rust] unsafe_code = \"deny\"");
            findings.push(Finding::error(&file.path, 1, message));
        }
        if !is_apart && inherits != Some(true) {
            let message = format!("`{name}` must inherit the lints of the workspace: [lints] workspace = true");
            findings.push(Finding::error(&file.path, 1, message));
        }
        if !INNER.contains(&name.as_str()) {
            continue;
        }
        let folder = file.path.trim_end_matches("Cargo.toml");
        if repo.file(&format!("{folder}clippy.toml")).is_none() {
            let message =
                format!("inner crate `{name}` has no clippy.toml, which bans clocks, hash order and printing");
            findings.push(Finding::error(&file.path, 1, message));
        }
        let root = format!("{folder}src/lib.rs");
        let is_no_std = |(f, rust): &(&File, &super::repo::Rust)| {
            f.path == root && rust.tree.attrs.iter().any(|attr| attr.path().is_ident("no_std"))
        };
        if !repo.rust().any(|file| is_no_std(&file)) {
            findings.push(Finding::error(&root, 1, format!("inner crate `{name}` must be #![no_std]")));
        }
    }
    findings
}

struct Manifest<'a> {
    file: &'a File,
    table: Table,
    name: String,
}

fn manifests<'a>(repo: &'a Repo, findings: &mut Vec<Finding>) -> Vec<Manifest<'a>> {
    let mut found = Vec::new();
    for file in repo.files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        match file.text.as_deref().unwrap_or_default().parse::<Table>() {
            Ok(table) => {
                let name = table.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
                if let Some(name) = name.map(String::from) {
                    found.push(Manifest { file, table, name });
                }
            }
            Err(error) => findings.push(Finding::error(&file.path, 1, format!("not TOML: {}", error.message()))),
        }
    }
    found
}

/// Names of the packages that go into the crate itself or its build script.
fn dependencies(manifest: &Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let tables = targets.filter_map(Value::as_table).chain([manifest]);
    let lists = tables.flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)));
    let entries = lists.flatten().filter_map(Value::as_table).flatten();
    entries.map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_string()).collect()
}

/// The line that names a dependency.
fn line_of(file: &File, dependency: &str) -> usize {
    file.lines()
        .find(|(_, line)| line.starts_with(dependency) || line.contains(&format!("{dependency}\"")))
        .map_or(1, |l| l.0)
}

fn legal_for(allowed: &AllowedDependencies) -> String {
    let ours = if allowed.ours.is_empty() { "none".into() } else { allowed.ours.join(", ") };
    let foreign = match allowed.foreign {
        Foreign::Any => "any".into(),
        Foreign::Only([]) => "none".into(),
        Foreign::Only(names) => names.join(", "),
    };
    format!("legal: of ours {ours}, of others {foreign}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, name: &str, rest: &str) -> Vec<(usize, String)> {
        let text = format!("[package]\nname = \"{name}\"\n{rest}");
        let found = allowed(&Repo::of(&[("Cargo.toml", "[workspace]\n"), (path, &text)]));
        found.into_iter().map(|finding| (finding.line, finding.message)).collect()
    }

    #[test]
    fn arrows_that_run_down_are_legal() {
        for (name, rest) in [
            ("flashlane-core", "[dependencies]\n"),
            ("flashlane-ssd", "[dependencies]\nflashlane-core.workspace = true\nrand_pcg = \"0.10\"\n"),
            ("flashlane-ssd", "[dev-dependencies]\nflashlane-sched.workspace = true\n"),
            ("flashlane-sim", "[dependencies]\nflashlane-ssd.workspace = true\ncsv = \"1\"\n"),
            ("flashlane-cli", "[dependencies]\nflashlane-sim.workspace = true\nclap = \"4\"\n"),
        ] {
            assert_eq!(complaints("x/Cargo.toml", name, rest), [], "{name} {rest}");
        }
    }

    #[test]
    fn arrows_that_run_up_or_out_are_not() {
        for (name, rest, line) in [
            ("flashlane-core", "[dependencies]\nlibm = \"1\"\n", 4),
            ("flashlane-sched", "[dependencies]\nflashlane-ssd.workspace = true\n", 4),
            ("flashlane-ssd", "[dependencies]\n\nflashlane-sim.workspace = true\n", 5),
            ("flashlane-ssd", "[build-dependencies]\ncsv = \"1\"\n", 4),
            ("flashlane-ssd", "[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n", 4),
            ("flashlane-core", "[dependencies]\nquiet = { package = \"flashlane-ssd\", path = \"../ssd\" }\n", 4),
            ("flashlane-cli", "[dependencies]\nflashlane-ssd.workspace = true\n", 4),
            ("flashlane-report", "[dependencies]\nflashlane-scenario.workspace = true\n", 4),
            ("flashlane-sim", "[dependencies]\nflashlane-sweep.workspace = true\n", 4),
            ("flashlane-newcomer", "[dependencies]\n", 1),
        ] {
            let found = complaints("x/Cargo.toml", name, rest);
            assert_eq!(found.iter().map(|c| c.0).collect::<Vec<_>>(), [line], "{name} {rest}: {found:?}");
        }
    }

    #[test]
    fn a_broken_manifest_is_named() {
        let found = allowed(&Repo::of(&[("x/Cargo.toml", "[package\n")]));
        assert!(found[0].message.starts_with("not TOML"), "{found:?}");
    }

    #[test]
    fn inner_crates_carry_their_guards() {
        let manifest = "[package]\nname = \"flashlane-ssd\"\n[lints]\nworkspace = true\n";
        let good = [
            ("engine/ssd/Cargo.toml", manifest),
            ("engine/ssd/clippy.toml", ""),
            ("engine/ssd/src/lib.rs", "#![no_std]\n"),
        ];
        assert_eq!(guards(&Repo::of(&good)), []);
        assert_eq!(guards(&Repo::of(&good[..2])).len(), 1);
        assert_eq!(guards(&Repo::of(&[good[0], good[1], ("engine/ssd/src/lib.rs", "")])).len(), 1);
        assert_eq!(guards(&Repo::of(&[good[0], good[2]])).len(), 1);
        let outer = [("faces/cli/Cargo.toml", "[package]\nname = \"flashlane-cli\"\n")];
        assert_eq!(guards(&Repo::of(&outer)).len(), 1);
    }
}
