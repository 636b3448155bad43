//! Measures the cost of a run: CPU time and instructions for each item of work, start-up, peak memory.
//!
//! A case ([`case::Case`]) runs in a process of its own, so that start-up and memory are measured separately, and
//! reports an [`outcome::Outcome`]. CPU time is the median of several runs. Instructions come from callgrind over the
//! same program with `n` and `2n` requests: the difference is the work, and everything that does not grow with it
//! cancels out.
//!
//! What users wait for is more than the engine: [`whole`] measures whole processes of the command line program.

pub mod callgrind;
pub mod case;
pub mod cases;
pub mod cpu;
mod engine;
mod hosted;
pub mod kept;
pub mod machine;
pub mod measure;
pub mod meter;
pub mod outcome;
pub mod real;
pub mod recommending;
pub mod scaling;
pub mod table;
pub mod watching;
pub mod whole;
