//! docs/add-a-scheduler.md: its code is that of this example, its commands print what it shows, and all of it, with docs/start-here.md,
//! works for a reader who has a clone and a folder beside it. `cargo xtask bless own-scheduler` writes what the commands print.

#![cfg(unix)]

#[path = "../../../../faces/cli/tests/all/common/blocks.rs"]
mod blocks;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use blocks::{Step, lines, steps, with_outputs};
use flashlane_testing::kept;

/// The page.
const PAGE: &str = "docs/add-a-scheduler.md";
/// How the page calls the program.
const PROGRAM: &str = "target/release/my-scheduler ";
/// The trace that lies beside the repository, if it does.
const TRACE: &str = "msnfs.disksim.gz";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the repository")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// Puts the trace into `folder`; false if there is none.
fn has_trace(folder: &Path) -> bool {
    std::fs::copy(root().join("../shared/traces").join(TRACE), folder.join(TRACE)).is_ok()
}

/// What the commands print, of which none complains.
fn printed(command: &mut Command, what: &str) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|why| panic!("{what}: {why}"));
    let [out, complaint] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{what}\n{out}\n{complaint}");
    out
}

#[test]
fn the_code_on_the_page_is_that_of_the_example() {
    let files: Vec<(String, String)> = steps(&page("docs/add-a-scheduler.md"))
        .into_iter()
        .filter_map(|step| match step {
            Step::File { path, text } if path.starts_with("src/") => Some((path, text)),
            _ => None,
        })
        .collect();
    assert_eq!(files.len(), 2, "{files:?}");
    for (path, text) in files {
        let code = page(&format!("dev/examples/shortest-request-first/{path}"));
        let without_tests = code.split("\n#[cfg(test)]").next().unwrap_or_default().trim_end();
        assert_eq!(text.trim_end(), without_tests, "{path} on the page and in the example");
    }
}

/// The same commands with the example's program, in a folder beside one with the repository's scenarios.
#[test]
fn the_commands_of_the_page_print_what_it_shows() {
    let place = tempfile::tempdir().expect("a folder");
    let own = place.path().join("my-scheduler");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::create_dir_all(place.path().join("flashlane")).expect("a folder");
    let copied =
        Command::new("cp").arg("-r").arg(root().join("scenarios")).arg(place.path().join("flashlane")).status();
    assert!(copied.is_ok_and(|status| status.success()));
    let with_trace = has_trace(&own);
    let content = page("docs/add-a-scheduler.md");
    let (mut shown, mut outputs) = (None, Vec::new());
    for step in steps(&content) {
        match step {
            Step::File { .. } => {}
            Step::Commands(commands) => {
                let lines = lines(&commands);
                shown = lines.iter().rev().find_map(|line| line.strip_prefix(PROGRAM)).map(|arguments| {
                    if arguments.contains(TRACE) && !with_trace {
                        println!("SKIPPED: {TRACE} is not there: the page's comparison on it was not made");
                        return None;
                    }
                    let mut program = Command::new(env!("CARGO_BIN_EXE_shortest-request-first"));
                    Some(printed(program.args(arguments.split_whitespace()).current_dir(&own), arguments))
                });
            }
            Step::Output { text, at } => {
                let made = shown.take().expect("commands of the program above what it prints");
                outputs.push((at, made.unwrap_or(text)));
            }
        }
    }
    assert_eq!(outputs.len(), 3, "what the page shows");
    for (_, made) in &outputs[1..] {
        assert!(
            made.lines().any(|line| line.starts_with("  shortest-request-first ")),
            "its row is in the table\n{made}"
        );
    }
    kept::same("own-scheduler", PAGE, &with_outputs(&content, &outputs));
}

/// The page as a script: files are written and commands typed, in order.
fn script(page: &str) -> String {
    let mut script = String::from("set -eu\n");
    for step in steps(page) {
        match step {
            Step::File { path, text } => script += &format!("cat > {path} <<'END_OF_FILE'\n{text}END_OF_FILE\n"),
            Step::Commands(commands) => script += &commands,
            Step::Output { .. } => {}
        }
    }
    script
}

/// A reader's machine: a clean clone, and folders beside it. What is compiled is kept from run to run.
#[test]
fn both_pages_work_from_a_clean_clone() {
    if std::env::var_os("NIGHTLY").is_none() {
        println!(
            "SKIPPED: only with NIGHTLY=1: start-here and add-a-scheduler from a clean clone, which compiles Flashlane twice"
        );
        return;
    }
    let kept = root().join("target/outside");
    // Not below the repository, whose workspace and settings would hold there, and always the same, so that what is compiled stays valid.
    let name = root().display().to_string().replace('/', "-");
    let place = std::env::temp_dir().join(format!("flashlane-outside{name}"));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).expect("a folder");
    let with_trace = has_trace(&place);
    for name in ["docs/start-here.md", "docs/add-a-scheduler.md"] {
        let mut text = page(name)
            .replace("git clone ADDRESS flashlane", "[ -d flashlane ] || git clone -q \"$ADDRESS\" flashlane");
        text = text.replace("target/release/my-scheduler", "\"$CARGO_TARGET_DIR\"/release/my-scheduler");
        if with_trace {
            text = text.replace(TRACE, &place.join(TRACE).display().to_string());
        } else {
            println!("SKIPPED: {TRACE} is not there: the pages' comparison on it was not made");
            text = text.lines().filter(|line| !line.contains(TRACE)).map(|line| format!("{line}\n")).collect();
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", &script(&text)]).current_dir(&place).env("ADDRESS", root());
        shell.env("CARGO_TARGET_DIR", kept.join("target")).env("CARGO_INSTALL_ROOT", kept.join("installed"));
        let path = std::env::var("PATH").unwrap_or_default();
        shell.env("PATH", format!("{}:{path}", kept.join("installed/bin").display())).env_remove("RUSTUP_TOOLCHAIN");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_") && name != "CARGO_BUILD_JOBS") {
            if !["CARGO_TARGET_DIR", "CARGO_INSTALL_ROOT", "CARGO_HOME"].contains(&name.as_str()) {
                shell.env_remove(name);
            }
        }
        let out = printed(&mut shell, name);
        if name.contains("start-here") {
            assert!(out.contains(" wins for reader: "), "{out}");
            assert!(
                place.join("my-drives/mine.html").is_file() && place.join("flashlane/out/demo/report.html").is_file()
            );
        } else {
            let rows = out.lines().filter(|line| line.starts_with("  shortest-request-first ")).count();
            assert!(rows >= if with_trace { 2 } else { 1 }, "its row is in the tables\n{out}");
        }
    }
    let _ = std::fs::remove_dir_all(&place);
}
