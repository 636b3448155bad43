//! What the tests of several crates share. Nothing but tests depends on it, and it on none of ours.

pub mod browser;
pub mod drawn;
pub mod kept;
mod random;
pub mod verdict;

pub use random::Random;

use std::path::PathBuf;

/// An empty folder of the test `name`.
pub fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("flashlane-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}
