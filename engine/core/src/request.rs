//! Requests of the host, and their completions.

use crate::id::{FlowId, RequestId};
use crate::units::{Lpn, Time};

/// What a host command asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Data from the drive to the host.
    Read,
    /// Data from the host to the drive.
    Write,
    /// The whole pages of a range are unmapped: their data is no longer needed.
    Trim,
    /// The whole pages of a range shall read as zeroes: served as a trim.
    WriteZeroes,
    /// What was written before shall be in the flash.
    Flush,
}

impl Op {
    /// All, by [`Op::index`].
    pub const ALL: [Op; 5] = [Op::Read, Op::Write, Op::Trim, Op::WriteZeroes, Op::Flush];

    /// `read`, `write`, `trim`, `write-zeroes` or `flush`.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::WriteZeroes => "write-zeroes",
            Op::Flush => "flush",
        }
    }

    /// 0 for reads, 1 for writes, then the commands without data: an index into a table of [`Op::ALL`]. Pairs of counters are of reads
    /// and writes only ([`Op::is_data`]).
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Whether it moves data: a read or a write.
    #[inline(always)]
    pub const fn is_data(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }

    /// Whether it unmaps pages: a trim or write zeroes.
    #[inline(always)]
    pub const fn unmaps(self) -> bool {
        matches!(self, Op::Trim | Op::WriteZeroes)
    }
}

/// Which part of the address space a request touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent<'a> {
    /// Consecutive bytes. The first and the last page may be touched in part. A flush has offset and length 0.
    Bytes {
        /// First byte.
        offset: u64,
        /// Number of bytes, at least 1 except for a flush.
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
    /// What it asks for.
    pub op: Op,
    /// Of a write: it completes when its data is safe (force unit access).
    pub fua: bool,
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
    /// What it asked for.
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
