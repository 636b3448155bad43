//! Synthetic workloads: requests drawn from a description instead of a file.
//!
//! Owns the description ([`SyntheticSpec`]) and the generator ([`SyntheticSource`]). Promises: the same description,
//! address range and seed give the same requests on every machine; no request leaves the range; times never
//! decrease; nothing is allocated or retried without bound per request. Must never know the device or the scheduler.
//!
//! # Reproducibility
//!
//! Each aspect of a flow (operation, size, address, arrival, trims, FUA) has its own PCG stream, so changing one leaves the
//! others as they were: two runs that differ in read ratio still see the same arrival times.
//!
//! Floating point is used where a distribution needs it: exponential gaps, lognormal and log-uniform sizes, geometric
//! counts, Zipf ranks, ratios. Only two kinds of operations appear: those that IEEE 754 rounds exactly (`+ - * /`,
//! square root), and the functions of the `libm` crate, which are made of those. The platform's own `exp` and `ln`
//! differ in the last bit from system to system and are never called. This is also why the three samplers of `draw` and
//! `zipf` are written here: those of libraries call whichever mathematics the build selects.

mod access;
mod align;
mod arrivals;
mod commands;
mod draw;
mod size;
mod source;
mod spec;
mod uneven;
mod validate;
mod words;
mod zipf;

#[cfg(test)]
mod tests;

pub use arrivals::ClosedLoop;
pub use source::{SyntheticSource, flow_seed};
pub use spec::{Access, Arrivals, LargeStarts, Lognormal, Rewrite, Size, SyntheticSpec, Uniform};

pub(super) use validate::positive;
