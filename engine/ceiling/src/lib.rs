//! Ceilings: what no scheduler can beat on the requests of a run, whatever it knows in advance.
//!
//! [`Work`] takes the requests as they are fed to a device and gives [`Bounds`]: on the mean response time and on the worst, for each
//! [`Class`] of schedulers. The proofs, and what they ignore, are in `docs/results/ceiling.md`.
//!
//! Owns the arithmetic of the bounds. Of the device it takes the configuration alone; it must never know schedulers or results. All that
//! a bound is made of is computed in integers that are rounded down, so that it stays a bound, and is the same for any number of threads.

mod class;
mod demands;
mod kinds;
mod mean;
mod percentile;
mod requests;
mod service;
mod windows;
mod work;
mod worst;
mod wspt;

pub use class::{Class, Placement, Writes};
pub use windows::Effort;
pub use work::{Bound, Bounds, Work};
