//! Ways of waiting for an I/O, measured on the machine this runs on (model 3.1.5): no host is simulated.
//!
//! A thread runs a simulated device under the wall clock and completes I/Os through a word that can be spun on and slept on
//! (`mailbox`, `device`); a thread in the foreground does reads and writes and waits for each in one of the ways
//! (`foreground`), beside threads that burn CPU time or do I/O (`background`), all pinned to one CPU. Ways take turns, each
//! next to the interrupt and to the background alone, so that a noisy machine still gives ratios (`plan`). Owns nothing beyond
//! its own process: threads, their priorities and pinning end with it. What could not be had (CPUs, priorities), and
//! where other processes had the CPU (`disturbance`), is in the [`Findings`], never guessed. Must never be part of reproducible results.

mod background;
mod device;
mod disturbance;
mod figures;
mod findings;
mod foreground;
#[cfg(test)]
mod kept_run_tests;
mod machine;
mod mailbox;
mod methods;
mod page;
mod plan;
mod text;
mod verdicts;

pub use figures::{Paired, Quartiles, RawSlot};
pub use findings::Findings;
pub use methods::{Background, Method, Settings};
pub use page::html;
pub use plan::measure;
pub use text::render;
