//! Closed forms: what queueing theory and the mathematics of garbage collection predict for a device.
//!
//! It owns formulas and their sources, nothing else. It promises to use nothing of the simulator but the
//! configuration's figures, so that a test that compares the two compares independent computations.

pub mod bandwidth;
pub mod collection;
pub mod queueing;
