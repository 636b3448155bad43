//! Device: a modelled SSD that is stepped, never clocked.
//!
//! [`Device`] takes requests, lives events at their own times, and hands completions back. Inside: `front` (submission
//! queues, NCQ, link), `buffer` (page buffer), `ftl` (map, blocks, garbage collection), `flash` (units, buses), and the
//! `controller`, which alone acts. Owns simulated hardware; no clock, no files.
#![no_std]

extern crate alloc;

mod agenda;
mod buffer;
pub mod config;
mod controller;
mod flash;
mod footprint;
mod front;
mod ftl;
mod log;
mod lpn_table;

pub use config::{Config, ConfigError};
pub use controller::{Device, Fault, Refusal, Totals};
pub use footprint::{Asks, Footprint};
pub use ftl::Beginning;
