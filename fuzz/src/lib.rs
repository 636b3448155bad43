//! Fuzzing: mangled input for everything that reads what users write. A reader may refuse, never panic, never hang.
//!
//! It runs on a stable compiler: a seeded mutator instead of coverage instrumentation. What a target answers (its error
//! message, numbers removed) stands in for coverage: an input that draws a new answer is kept and mangled further.
//! The same seed and number of inputs give the same inputs everywhere. Targets are functions of bytes ([`Target`]), so a
//! coverage-guided fuzzer can call them too.

pub mod engine;
pub mod mutate;
pub mod quiet;
pub mod shrink;
pub mod targets;

/// Something to feed with mangled input.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is fed.
    pub about: &'static str,
    /// Inputs to begin with: good ones, since most of what is interesting lies near good input.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that mean something to the reader.
    pub words: &'static [&'static str],
    /// Feeds it. Returns what it said, for novelty; panics when a promise is broken.
    pub feed: fn(&[u8]) -> String,
}
