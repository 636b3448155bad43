//! Fuzzing: mutated input for every reader of user input. A reader may refuse it, but never panic and never hang.
//!
//! It runs on a stable compiler: a seeded mutator instead of coverage instrumentation. A target's answer (its error
//! message, with numbers removed) takes the place of coverage: an input with a new answer is kept and mutated further.
//! The same seed and number of inputs give the same inputs everywhere. Targets are functions of bytes ([`Target`]), so
//! a coverage-guided fuzzer can call them too.

pub mod engine;
pub mod mutate;
pub mod quiet;
pub mod shrink;
pub mod targets;

/// A reader to be fuzzed.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// A description of its input.
    pub about: &'static str,
    /// Inputs to begin with: valid ones, since most interesting inputs are close to valid ones.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words with a meaning to the reader.
    pub words: &'static [&'static str],
    /// Runs it on an input. Returns its answer, for novelty; panics if a promise is broken.
    pub feed: fn(&[u8]) -> String,
}
