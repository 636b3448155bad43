//! What makes results: names it in stores of runs and in files of drives' states, so that those of another maker are refused.

use flashlane_scenario::hash_of;

/// A hash of the figures of each scenario of the corpus (`dev/xtask/corpus`), which `cargo xtask bless golden` writes.
const FIGURES: &str = include_str!("../data/figures.txt");

/// The version of Flashlane, and an identifier of its figures, which is another where a build of the same version has other figures.
pub fn maker() -> String {
    format!("{}, figures {}", env!("CARGO_PKG_VERSION"), hash_of([FIGURES.as_bytes()]))
}
