//! The pages that a reader follows from the first line to the last: their commands run in order, and print what the pages show.
//! `cargo xtask bless pages` writes what they print.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::blocks::{Step, lines, steps, with_outputs};
use crate::common::{folder, text, write};
use flashlane_testing::kept;
use tempfile::TempDir;

/// The pages that are followed here.
pub(super) const PAGES: [&str; 5] = [
    "docs/start-here.md",
    "docs/tutorials/first-comparison.md",
    "docs/tutorials/own-trace.md",
    "docs/tutorials/noisy-neighbour.md",
    "docs/tutorials/sweep-on-a-cluster.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program as a reader has it, by its name on the path; other commands of the pages (git, cargo, pip) are not run here.
fn run(folder: &TempDir, page: &str, commands: &str) -> String {
    let lines: Vec<String> = lines(commands).into_iter().filter(|line| line.starts_with("flashlane ")).collect();
    let programs = Path::new(env!("CARGO_BIN_EXE_flashlane")).parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c", &lines.join("\n")]).env("PATH", format!("{programs}:{path}"));
    let output = shell.current_dir(folder.path()).stdin(Stdio::null()).output().expect("the shell runs");
    let (printed, complaint) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), complaint.as_str()), (Some(0), ""), "{page}: {lines:?}\n{printed}");
    printed
}

/// Does what the page says, in a folder with the repository's scenarios; what it shows must be what is printed.
fn follow(page: &str) {
    follow_to(page, usize::MAX);
}

/// The same for the first `most` outputs of the page.
fn follow_to(page: &str, most: usize) {
    assert!(PAGES.contains(&page), "{page}");
    let (root, folder) = (root(), folder());
    let copied = Command::new("cp").arg("-r").arg(root.join("scenarios")).arg(folder.path()).status();
    assert!(copied.is_ok_and(|status| status.success()));
    let content = std::fs::read_to_string(root.join(page)).unwrap_or_else(|why| panic!("{page}: {why}"));
    let (mut printed, mut outputs) = (String::new(), Vec::new());
    for step in steps(&content) {
        match step {
            Step::File { path, text } => {
                write(&folder, path, &text);
            }
            Step::Commands(commands) => printed = run(&folder, page, &commands),
            Step::Output { at, .. } => outputs.push((at, std::mem::take(&mut printed))),
        }
        if outputs.len() == most {
            break;
        }
    }
    assert!(!outputs.is_empty(), "{page} shows nothing");
    kept::same("pages", page, &with_outputs(&content, &outputs));
}

#[test]
fn start_here_prints_what_it_shows() {
    follow("docs/start-here.md");
}

#[test]
fn a_first_comparison_prints_what_it_shows() {
    follow("docs/tutorials/first-comparison.md");
}

#[test]
fn a_trace_of_your_own_prints_what_it_shows() {
    follow("docs/tutorials/own-trace.md");
}

#[test]
fn a_noisy_neighbour_prints_what_it_shows_first() {
    follow_to("docs/tutorials/noisy-neighbour.md", 1);
}

#[test]
#[ignore = "nightly: three comparisons of long runs"]
fn a_noisy_neighbour_prints_what_it_shows() {
    follow("docs/tutorials/noisy-neighbour.md");
}

#[test]
fn a_sweep_on_a_cluster_prints_what_it_shows() {
    follow("docs/tutorials/sweep-on-a-cluster.md");
}
