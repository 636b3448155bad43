//! The host beside a plain model of it ([`plain`]), which shares nothing with it: in scenes worked by hand and in random ones. Both must submit
//! every I/O and see it done at the same instants, to the nanosecond, and count the same.

mod by_hand;
mod plain;
pub mod scene;
mod swarm;
mod tracking;
