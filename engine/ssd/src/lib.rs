//! Device: an event-driven model of an SSD; the caller advances it.
//!
//! [`Device`] takes requests, processes events at their own times, and returns completions. Inside: `frontend` (submission queues,
//! NCQ, link), `policy` (the scheduler's answers), `gc` (garbage collection), `ftl` (map, blocks), `flash` (units, buses),
//! `buffer` (page buffer), around one `shared` state, and the `device`, which applies all decisions. Owns the simulated
//! hardware; reads no clock and no files.
#![no_std]

extern crate alloc;

mod buffer;
pub mod config;
mod device;
mod flash;
mod footprint;
mod frontend;
mod ftl;
mod gc;
mod policy;
mod shared;

pub use config::{Config, ConfigError};
pub use device::{
    BufferedPage, Device, EraseCounts, Fault, MappingTotals, Programs, SavedUse, SlcTotals, Stopped, Totals, UsedState,
};
pub use footprint::Footprint;
pub use frontend::Refusal;
pub use ftl::SlcState;
pub use gc::{Overwritten, Replay, Replayed, SavedState};
