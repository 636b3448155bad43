//! The interface of a workload to a run: a stream of requests with times, or an error in the workload.

use alloc::string::String;
use alloc::vec::Vec;

use crate::request::Op;
use crate::units::{Lpn, Time};

/// A request of a workload, before it is moved to its flow's part of the drive and gets an id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When the host creates it, counted from the start of the run.
    pub at: Time,
    /// What it asks for.
    pub op: Op,
    /// Of a write: it completes when its data is safe (force unit access).
    pub fua: bool,
    /// What it touches.
    pub extent: Span,
}

/// What an [`Arrival`] touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Span {
    /// Consecutive bytes.
    Bytes {
        /// First byte.
        offset: u64,
        /// Number of bytes, at least 1; 0 for a flush, whose offset is 0 too.
        length: u64,
    },
    /// Whole pages in any order (requests written out in a scenario).
    Pages(Vec<Lpn>),
}

impl Arrival {
    /// A placeholder, which a source overwrites with a request ([`Source::next_request`]).
    pub const NONE: Arrival =
        Arrival { at: Time::ZERO, op: Op::Read, fua: false, extent: Span::Bytes { offset: 0, length: 0 } };
}

/// The next item of a [`Source`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// A request. Times never decrease.
    Request(Arrival),
    /// Nothing until a request of this source completes (closed loop at its depth).
    Await,
    /// Nothing, ever again.
    End,
}

/// The result of [`Source::next_request`], which writes the request itself to its argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Produced {
    /// A request.
    Request,
    /// Nothing until a request of this source completes.
    Await,
    /// Nothing, ever again.
    End,
}

/// A stream of requests of one flow.
pub trait Source {
    /// Writes the next request to `arrival`, or leaves it unchanged if there is none.
    fn next_request(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError>;

    /// The next request.
    #[inline]
    fn next(&mut self) -> Result<Next, WorkloadError> {
        let mut arrival = Arrival::NONE;
        Ok(match self.next_request(&mut arrival)? {
            Produced::Request => Next::Request(arrival),
            Produced::Await => Next::Await,
            Produced::End => Next::End,
        })
    }

    /// One of this source's requests completed at `now`. Open-loop sources ignore it.
    fn completed(&mut self, now: Time);
}

/// An error in the input of a workload: where it is, the value, and what would be legal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkloadError {
    /// File and line (`trace.csv:17`), or the key of the scenario.
    pub place: String,
    /// The offending value and what would be legal.
    pub message: String,
}

impl core::fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl core::error::Error for WorkloadError {}
