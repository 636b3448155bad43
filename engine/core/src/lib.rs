//! The types that all other crates share; data and traits only.
//!
//! Time, ids, geometry, requests, transactions, the [`Board`] a scheduler reads, the seven questions
//! a scheduler answers ([`decide`]), and the events a device can report. No clock, no files, no dependencies.
#![no_std]

extern crate alloc;

#[macro_use]
pub mod choice;

pub mod arrival;
pub mod board;
pub mod decide;
pub mod divisor;
pub mod event;
pub mod facts;
pub mod geometry;
pub mod group;
pub mod id;
pub mod min_tree;
pub mod request;
pub mod sequence;
pub mod state;
pub mod transaction;
pub mod units;

pub use board::Board;
pub use divisor::Divisor;
pub use geometry::Geometry;
pub use id::{ChannelId, FlowId, PlaneId, QueueId, RequestId, TxnId, UnitId};
pub use min_tree::MinTree;
pub use request::{Completion, Extent, Op, Request};
pub use sequence::Sequence;
pub use transaction::{Owner, Transaction};
pub use units::{Duration, Lpn, Ppa, Time};
