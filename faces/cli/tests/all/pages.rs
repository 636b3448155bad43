//! What the pages tell a reader to type works: blocks of commands run as printed, and commands within sentences are accepted.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::blocks::{Step, lines, steps};
use crate::common::{folder, program, text, write};
use crate::tutorials;
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README, CONTRIBUTING and all pages of docs: name and text.
fn pages() -> Vec<(String, String)> {
    let root = root();
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/tutorials", "docs/results", "docs/results/papers"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let name = |path: &Path| path.strip_prefix(&root).expect("below the root").display().to_string();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("a page"))).collect()
}

/// A command of Flashlane in a block of a page.
pub(super) struct BlockCommand {
    pub(super) page: String,
    pub(super) line: String,
    /// Whether the block is fenced (`sh`); else it is indented.
    fenced: bool,
}

/// The lines of a page's blocks of commands, without comments.
fn block_lines(page: &str) -> Vec<String> {
    let blocks = steps(page).into_iter().filter_map(|step| match step {
        Step::Commands(commands) => Some(lines(&commands)),
        _ => None,
    });
    blocks.flatten().collect()
}

/// The lines of a page's indented blocks, without comments.
fn indented_lines(page: &str) -> Vec<String> {
    let prose = page.split("\n```").step_by(2).collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    prose.lines().filter(|line| line.starts_with("    ")).flat_map(lines).collect()
}

/// The commands of Flashlane in all blocks of all pages, in order.
pub(super) fn block_commands() -> Vec<BlockCommand> {
    let of_page = |(page, text): (String, String)| {
        let fenced = block_lines(&text).into_iter().map(|line| (line, true));
        let all = fenced.chain(indented_lines(&text).into_iter().map(|line| (line, false)));
        let own = all.filter(|(line, _)| words(line).is_some()).collect::<Vec<_>>();
        own.into_iter().map(move |(line, fenced)| BlockCommand { page: page.clone(), line, fenced })
    };
    pages().into_iter().flat_map(of_page).collect()
}

/// What a page's sentences have between backquotes.
fn spans(page: &str) -> Vec<String> {
    let prose: String = page.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
    let spans = prose.split('`').skip(1).step_by(2);
    spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The words of a command of Flashlane, with names in place of what a reader puts in.
pub(super) fn words(command: &str) -> Option<Vec<&str>> {
    // What reads its output is not Flashlane's.
    let command = command.split_once(" | ").map_or(command, |(first, _)| first);
    let mut words: Vec<&str> = command.strip_prefix("flashlane ")?.split_whitespace().collect();
    let device = words[0] == "devices";
    for word in &mut words {
        *word = match *word {
            "NAME" if device => "modern-tlc",
            "NAME" => "slacker",
            "DEVICE" => "flin-isca18",
            "FILE" | "TRACE" => "scenarios/example-trace.csv",
            "X" => "20",
            "A" => "fcfs",
            "B" => "sprinkler",
            other => other,
        };
    }
    Some(words)
}

pub(super) fn run(folder: &TempDir, page: &str, args: &[&str]) {
    let output = program(folder).args(args).output().expect("the program runs");
    let (message, complaint) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{page}: flashlane {args:?}\n{message}");
}

/// A folder with what the blocks name: the repository's scenarios, two traces, a scenario of the reader's and the files that pages show.
pub(super) fn desk() -> Option<TempDir> {
    let (root, folder) = (root(), folder());
    let copied = Command::new("cp").arg("-r").arg(root.join("scenarios")).arg(folder.path()).status();
    assert!(copied.is_ok_and(|status| status.success()));
    std::fs::copy(root.join("scenarios/two-tenants.toml"), folder.path().join("my.toml")).expect("copied");
    for (page, name) in [("docs/sweeps.md", "rates.toml"), ("docs/results/ceiling.md", "million.toml")] {
        let page = std::fs::read_to_string(root.join(page)).expect("the page");
        let file = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a file");
        write(&folder, name, file);
    }
    write(&folder, "my.csv", "ts,rw,lba,bytes\n0,read,8,4096\n1000,write,16,8192\n");
    for name in ["web.csv", "db.csv"] {
        std::fs::copy(root.join("scenarios/example-trace.csv"), folder.path().join(name)).expect("copied");
        let packed = Command::new("gzip").arg(folder.path().join(name)).status();
        if !packed.is_ok_and(|status| status.success()) {
            println!("SKIPPED: no gzip here: the commands of the pages were not run");
            return None;
        }
    }
    Some(folder)
}

/// Commands of blocks that no test runs as printed, and why: the page (any, if it is empty), how the command begins, the reason.
const NOT_RUN: [(&str, &str, &str); 4] = [
    ("", "flashlane paper", "takes minutes; paper.rs and paper_runs.rs run each paper in short"),
    (
        "docs/serve.md",
        "flashlane serve scenarios/two-tenants.toml --fuse",
        "mounts a folder; serve_files.rs does so where that is allowed",
    ),
    (
        "docs/sweeps.md",
        "flashlane sweep rates.toml --out /shared/rates",
        "is a line of a cluster's batch script; sweep.rs runs shards",
    ),
    (
        "docs/tutorials/sweep-on-a-cluster.md",
        "flashlane sweep rates.toml --out /shared/rates",
        "is a line of a cluster's batch script",
    ),
];

/// How a command of a block is tested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tested {
    /// With what it prints, by `tutorials.rs`.
    AsTutorial,
    /// By `serve_page.rs`, with a server beside it.
    BesideServer,
    /// Here.
    Here,
    /// Not at all, for the reason with this number in [`NOT_RUN`].
    Not(usize),
}

pub(super) fn tested(command: &BlockCommand) -> Tested {
    let is_it = |(page, begins, _): &(&str, &str, &str)| {
        (page.is_empty() || command.page == *page) && command.line.starts_with(begins)
    };
    match NOT_RUN.iter().position(is_it) {
        Some(number) => Tested::Not(number),
        None if command.fenced && tutorials::PAGES.contains(&command.page.as_str()) => Tested::AsTutorial,
        None if command.page == "docs/serve.md" => Tested::BesideServer,
        None => Tested::Here,
    }
}

/// Every command of a block is run by a test or stands in the list of those that are not; no block has commands that tests do not see.
#[test]
fn every_command_of_a_block_is_run_or_listed() {
    let commands = block_commands();
    let count = |how: Tested| commands.iter().filter(|command| tested(command) == how).count();
    assert!(count(Tested::AsTutorial) >= 18 && count(Tested::BesideServer) >= 7 && count(Tested::Here) >= 25);
    for (number, (page, begins, why)) in NOT_RUN.iter().enumerate() {
        assert!(count(Tested::Not(number)) > 0 && !why.is_empty(), "{page}: no block has {begins}");
    }
    for page in tutorials::PAGES {
        assert!(commands.iter().any(|command| command.page == page && tested(command) == Tested::AsTutorial), "{page}");
    }
    for (page, text) in pages() {
        for (number, line) in text.lines().enumerate() {
            let typed = line.trim_start().trim_start_matches("$ ");
            if !typed.starts_with("flashlane ") || line == typed && !is_in_a_block(&text, number) {
                continue;
            }
            let first = lines(typed.trim_end_matches('\\')).concat();
            let is_seen = |command: &BlockCommand| command.page == page && command.line.starts_with(&first);
            assert!(commands.iter().any(is_seen), "{page}:{}: a command outside of `sh` blocks: {line}", number + 1);
        }
    }
}

/// Whether the line with this number, from 0, stands in a fenced block.
fn is_in_a_block(page: &str, number: usize) -> bool {
    page.lines().take(number).filter(|line| line.starts_with("```")).count() % 2 == 1
}

/// Runs the commands that these pages show in blocks as printed, in order; returns the page of each.
fn run_blocks(folder: &TempDir, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut ran = Vec::new();
    for command in block_commands() {
        if tested(&command) == Tested::Here && is_wanted(&command.page) {
            run(folder, &command.page, &words(&command.line).expect("a command"));
            ran.push(command.page);
        }
    }
    ran
}

#[test]
fn blocks_of_commands_of_the_readme_run_as_printed() {
    let Some(folder) = desk() else { return };
    let ran = run_blocks(&folder, |page| page == "README.md");
    assert!(ran.len() >= 7, "{ran:?}");
}

#[test]
#[ignore = "nightly: minutes"]
fn blocks_of_commands_run_as_printed() {
    let Some(folder) = desk() else { return };
    let ran = run_blocks(&folder, |_| true);
    let of = |page: &str| ran.iter().filter(|own| *own == page).count();
    assert!(of("README.md") >= 7 && of("docs/gallery.md") == 8 && ran.len() >= 25, "{ran:?}");
    assert!(of("docs/sweeps.md") == 1 && of("docs/outputs.md") == 1 && of("docs/results/need.md") == 2, "{ran:?}");
}

/// The commands within sentences: those that print what is built in run, of the others every option and its value are legal.
#[test]
fn commands_within_sentences_are_accepted() {
    let folder = folder();
    let mut accepted = 0;
    for (page, text) in pages() {
        for span in spans(&text).into_iter().chain(block_lines(&text)) {
            let Some(mut args) = words(&span) else { continue };
            if !["schedulers", "devices"].contains(&args[0]) {
                args.push("--help");
            }
            run(&folder, &page, &args);
            accepted += 1;
        }
    }
    assert!(accepted >= 50, "{accepted} commands");
    let refused = program(&folder).args(["compare", "--bogus", "--help"]).output().expect("it runs");
    assert_eq!(refused.status.code(), Some(2), "options before --help are looked at");
}

/// The part of the drive that a flow has by default: what the program does, and what pages and help say of it.
#[test]
fn the_default_range_is_said_as_it_is() {
    let folder = folder();
    let flow = |name: &str| {
        format!("[[flow]]\nname = \"{name}\"\nsynthetic = {{ read_ratio = 1.0, rate_iops = 1000, requests = 1 }}\n")
    };
    write(&folder, "two.toml", &(flow("a") + &flow("b")));
    let checked = |args: &[&str]| {
        let output = program(&folder).args(["check", "two.toml"]).args(args).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        said.lines().filter(|line| line.starts_with("flow ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let [default, slice, all] = [checked(&[]), checked(&["--range", "slice"]), checked(&["--range", "all"])];
    assert!(default == slice && slice != all && slice.len() == 2, "{default:?}\n{slice:?}\n{all:?}");
    let help = program(&folder).args(["run", "--help"]).output().expect("the program runs");
    let help = text(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "an equal slice of its own; by default what the scenario says, else a slice";
    assert!(help.contains(said), "{help}");
    let pages = pages();
    for (page, said) in [
        ("docs/scenario.md", "Default: `\"slice\"`; for inline requests `\"all\"`."),
        ("docs/workloads.md", "By default each flow has an equal slice of its own"),
        ("docs/python.md", "Each flow has an equal part of the drive unless its `range` says otherwise"),
        ("docs/serve.md", "is an equal slice of the drive, as by default"),
    ] {
        let (_, text) = pages.iter().find(|(name, _)| name == page).expect("a page");
        assert!(text.contains(said), "{page}: {said}");
    }
}

/// Targets of `make` that pages name are in the Makefile.
#[test]
fn targets_of_make_exist() {
    let makefile = std::fs::read_to_string(root().join("Makefile")).expect("the Makefile");
    let mut found = 0;
    for (page, text) in pages() {
        for command in spans(&text).into_iter().chain(block_lines(&text)) {
            let Some(target) = command.strip_prefix("make ").and_then(|rest| rest.split_whitespace().next()) else {
                continue;
            };
            assert!(makefile.lines().any(|line| line.starts_with(&format!("{target}:"))), "{page}: make {target}");
            found += 1;
        }
    }
    assert!(found >= 6, "{found} targets");
}
