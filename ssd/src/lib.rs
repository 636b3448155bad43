//! Device.
#![no_std]

extern crate alloc;

pub mod config;
