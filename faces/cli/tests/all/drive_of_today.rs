//! The tool that measures docs/results/drive-of-today.md: its own tests, and whether the program accepts every scenario that it makes.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{folder, text};

/// Python with these arguments; `None`, loudly, where there is none.
fn python(args: &[&str]) -> Option<Output> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools");
    match Command::new("python3").arg("-B").args(args).current_dir(tools).output() {
        Ok(output) => Some(output),
        Err(why) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "CI needs python3 (tools/setup.sh python): {why}");
            println!("SKIPPED: python3 cannot be run ({why}): tools/drive_of_today.py was not tested");
            None
        }
    }
}

#[test]
fn the_tool_keeps_and_counts_as_it_says() {
    let Some(output) = python(&["test_drive_of_today.py"]) else { return };
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).ends_with("OK\n"), "{}", text(&output.stderr));
}

#[test]
fn the_program_accepts_every_scenario_of_the_tool() {
    let folder = folder();
    let keep = folder.path().to_string_lossy().into_owned();
    let args = ["drive_of_today.py", "--program", env!("CARGO_BIN_EXE_flashlane"), "--keep", &keep, "--check"];
    let Some(output) = python(&args) else { return };
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "140 scenarios are legal\n");
}
