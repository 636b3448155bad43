//! What the pages tell a reader to type works: blocks of commands run as printed, and commands within sentences are accepted.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{folder, program, text, write};
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// README, CONTRIBUTING and all pages of docs: name and text.
fn pages() -> Vec<(String, String)> {
    let root = root();
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/papers", "docs/tutorials"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let name = |path: &Path| path.strip_prefix(&root).expect("below the root").display().to_string();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("a page"))).collect()
}

/// The lines of a page's blocks of commands, without comments.
fn block_lines(page: &str) -> Vec<String> {
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let line = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
    let joined: Vec<String> = blocks.map(|block| block.replace("\\\n", " ")).collect();
    joined.iter().flat_map(|block| block.lines()).map(line).filter(|line| !line.is_empty()).collect()
}

/// What a page's sentences have between backquotes.
fn spans(page: &str) -> Vec<String> {
    let prose: String = page.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
    let spans = prose.split('`').skip(1).step_by(2);
    spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The words of a command of Flashlane, with names in place of what a reader puts in.
fn words(command: &str) -> Option<Vec<&str>> {
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

fn run(folder: &TempDir, page: &str, args: &[&str]) {
    let output = program(folder).args(args).output().expect("the program runs");
    let (message, complaint) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{page}: flashlane {args:?}\n{message}");
}

/// A folder with what the blocks name: the repository's scenarios, two traces, a scenario of the reader's and the files that pages show.
fn desk() -> Option<TempDir> {
    let (root, folder) = (root(), folder());
    let copied = Command::new("cp").arg("-r").arg(root.join("scenarios")).arg(folder.path()).status();
    assert!(copied.is_ok_and(|status| status.success()));
    std::fs::copy(root.join("scenarios/two-tenants.toml"), folder.path().join("my.toml")).expect("copied");
    for (page, name) in [("docs/sweeps.md", "rates.toml"), ("docs/ceiling.md", "million.toml")] {
        let page = std::fs::read_to_string(root.join(page)).expect("the page");
        let file = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a file");
        write(&folder, name, file);
    }
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

/// Pages left out here: other tests, or `make site`, run their commands.
const ELSEWHERE: [&str; 5] =
    ["docs/start-here.md", "docs/tutorials/", "docs/add-a-scheduler.md", "docs/gallery.md", "docs/serve.md"];

/// Runs the commands that these pages show in blocks as printed, in order; returns the page of each. Papers and measurements of this machine
/// take minutes, and have tests of their own.
fn run_blocks(folder: &TempDir, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut ran = Vec::new();
    for (page, text) in
        pages().into_iter().filter(|(page, _)| !ELSEWHERE.iter().any(|own| page.starts_with(own)) && is_wanted(page))
    {
        let is_long =
            |line: &&String| ["flashlane paper ", "flashlane oslab"].iter().any(|name| line.starts_with(name));
        for line in block_lines(&text).iter().filter(|line| !is_long(line)) {
            let Some(args) = words(line) else { continue };
            run(folder, &page, &args);
            ran.push(page.clone());
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
#[ignore = "nightly: a minute"]
fn blocks_of_commands_run_as_printed() {
    let Some(folder) = desk() else { return };
    let ran = run_blocks(&folder, |_| true);
    let of = |page: &str| ran.iter().filter(|own| *own == page).count();
    assert!(of("README.md") >= 7 && ran.len() >= 12, "{ran:?}");
    assert!(of("docs/sweeps.md") == 1 && of("docs/data-frames.md") == 1 && of("docs/need.md") == 2, "{ran:?}");
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
