//! Host: when the thread that asked for an I/O sees that it is done.
//!
//! CPUs with run queues, foreground threads that wait by sleeping or spinning, background work, and the device's side of
//! precompletion: a tracker that follows each I/O and says early that it is about to complete (model 3.1; what the paper leaves
//! open: model 3.3). Owns the latency that the host adds to the device's, and who got the CPUs meanwhile. Reads no clock: the caller
//! tells the instant. Must never know how a device works inside; it learns of it from the device's events.
#![no_std]

extern crate alloc;

pub mod average;
mod classify;
pub mod config;
mod cpu;
mod fair;
mod meter;
mod system;
mod thread;
mod tracker;
pub mod window;

pub use config::{
    Background, Completion, Config, ConfigError, Costs, Fairness, Predictor, Waiting, WindowChoice, Work,
};
pub use meter::{Classified, CpuTime, Errors, Groups, Meter};
pub use system::{Host, Io, Seen};
pub use tracker::{Served, Tracker};
