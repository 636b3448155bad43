//! Requests of the host, and their completions.

use crate::id::{FlowId, RequestId};
use crate::units::{Lpn, Time};

/// Read or write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Data from the drive to the host.
    Read,
    /// Data from the host to the drive.
    Write,
}

impl Op {
    /// `read` or `write`.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
        }
    }

    /// 0 for reads, 1 for writes: an index into a pair of counters.
    pub const fn index(self) -> usize {
        match self {
            Op::Read => 0,
            Op::Write => 1,
        }
    }
}

/// Which part of the address space a request touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent<'a> {
    /// Consecutive bytes. The first and the last page may be touched in part.
    Bytes {
        /// First byte.
        offset: u64,
        /// Number of bytes, at least 1.
        length: u64,
    },
    /// Whole pages, in this order, anywhere: for examples written by hand.
    Pages(&'a [Lpn]),
}

/// One host command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<'a> {
    /// The host's id for it, unique in a run.
    pub id: RequestId,
    /// The submission queue it comes through.
    pub flow: FlowId,
    /// Read or write.
    pub op: Op,
    /// When the host created it: response time counts from here (model 0.5).
    pub arrival: Time,
    /// What it touches.
    pub extent: Extent<'a>,
}

/// A finished host command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The host's id for it.
    pub id: RequestId,
    /// The submission queue it came through.
    pub flow: FlowId,
    /// Read or write.
    pub op: Op,
    /// When the host created it.
    pub arrival: Time,
    /// When the host sees it done.
    pub done: Time,
    /// First page touched.
    pub lpn: Lpn,
    /// Pages touched.
    pub pages: u32,
    /// Bytes asked for.
    pub bytes: u64,
    /// Bits of [`crate::transaction::tag`]: its own, and those that any of its transactions ended with.
    pub tags: u8,
}
