//! The schedulers: one file for every answer to one of the seven questions, and the catalogue that combines answers into
//! the schedulers of the papers.
//!
//! An answer decides from the board and never acts. Adding a scheduler is one file here and one entry in `shipped.rs`.
#![no_std]

extern crate alloc;

pub mod admit;
pub mod cancel;
pub mod catalogue;
pub mod collect;
mod entries;
pub mod estimate;
pub mod flin;
pub mod order;
mod params;
pub mod pick;
pub mod place;
pub mod preempt;
mod shipped;

pub use params::{Param, Values};
