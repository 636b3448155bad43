//! Closed forms: what queueing theory and the mathematics of garbage collection say a device must do.
//!
//! It owns formulas and their sources, nothing else. It promises not to look at the simulator: the only thing it takes
//! from the device is the configuration's figures, so that a test that compares the two compares two things.

pub mod bandwidth;
pub mod collection;
pub mod queueing;
