//! A folder for a test, files in it, and the program run there.

pub mod blocks;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Two requests, in MQSim's format.
pub const TRACE: &str = "0 0 0 8 1\n1000 0 8 8 0\n";

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub fn write(folder: &TempDir, name: impl AsRef<Path>, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    path
}

pub fn program(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    command.current_dir(folder.path()).stdin(Stdio::null());
    command
}

/// The program run in `folder` with these arguments.
pub fn flashlane(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flashlane")).args(args).current_dir(folder).output().expect("the program runs")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("what is printed is UTF-8")
}
