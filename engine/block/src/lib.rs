//! Block layer: what the operating system does with a request before the drive gets it.
//!
//! What a flow asks, a bio, passes the flow's limits and joins a request that it lies beside, or becomes one and waits for a tag; then it waits
//! in the elevator, then for room in the drive (model 0.17). Named after Linux 6.18, with one hardware queue; written from its documentation
//! and from what was seen of it. Decides and never acts: the caller says what has entered and completed and at which instant, and hands to the
//! drive what [`Block::issue`] returns. Reads no clock. Must never know what a device does.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod audit;
mod config;
mod elevator;
mod event;
mod limits;
mod merging;
#[cfg(test)]
mod recordings;
mod request;
mod requests;
#[cfg(test)]
mod swarm_tests;
mod system;
mod tags;

pub use audit::{Audit, Rule, Violation};
pub use config::{Class, Config, Deadline, ElevatorConfig, ElevatorWord, FlowConfig, Kyber, Limit, Merging};
pub use event::{Event, Stamped};
pub use request::{Bio, FlowWaits, Stage, Waited};
pub use requests::Request;
pub use system::Block;
