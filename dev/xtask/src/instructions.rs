//! Counts the instructions of whole processes again, with the program that measures them, and compares them with the stored ones.
//!
//! Every day in the build that the tests have, of which nothing is compiled for this; nightly in the build that users have.

use std::path::Path;
use std::process::{Command, Stdio};

/// The folder that has the counts.
const TABLES: &str = "dev/bench/tables";

/// Whether no count is above what it may be, and what the program said.
pub fn check(root: &Path, release: bool) -> Result<(bool, String), String> {
    if release {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let words = ["build", "--quiet", "--release", "--locked", "-p", "flashlane-cli", "-p", "flashlane-bench"];
        let built = Command::new(cargo).current_dir(root).args(words).status();
        if !built.map_err(|e| format!("cannot run cargo: {e}"))?.success() {
            return Err("the release build of flashlane failed".into());
        }
    }
    let folder = if release { "target/release" } else { "target/debug" };
    let program = root.join(folder).join(format!("flashlane-bench{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(&program);
    command.current_dir(root).args(["whole", "--check", TABLES]).stderr(Stdio::inherit());
    let output = command.output().map_err(|e| format!("{}: cannot be run: {e}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => Ok((true, said)),
        Some(1) => Ok((false, said)),
        _ => Err(format!("{}: {}\n{said}", program.display(), output.status)),
    }
}
