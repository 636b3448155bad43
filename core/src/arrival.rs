//! What a workload is to a run: a stream of requests with times, or an error that says what is wrong with it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::request::Op;
use crate::units::{Lpn, Time};

/// A request as a workload hands it over: not yet mapped, not yet named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When the host creates it, counted from the start of the run.
    pub at: Time,
    /// Read or write.
    pub op: Op,
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
        /// Number of bytes, at least 1.
        length: u64,
    },
    /// Whole pages in any order (inline scenes).
    Pages(Vec<Lpn>),
}

impl Arrival {
    /// Nothing yet: what a source may write its first request over.
    pub const NONE: Arrival = Arrival { at: Time::ZERO, op: Op::Read, extent: Span::Bytes { offset: 0, length: 0 } };
}

/// What a [`Source`] has to offer next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// A request. Times never decrease.
    Request(Arrival),
    /// Nothing until a request of this source completes (closed loop at its depth).
    Await,
    /// Nothing, ever again.
    End,
}

/// The same, where the request has been written to its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drawn {
    /// A request.
    Request,
    /// Nothing until a request of this source completes.
    Await,
    /// Nothing, ever again.
    End,
}

/// A stream of requests of one flow.
pub trait Source {
    /// Writes the next request over `arrival`, which stays what it was if there is none.
    fn draw(&mut self, arrival: &mut Arrival) -> Result<Drawn, WorkloadError>;

    /// The next request.
    #[inline]
    fn next(&mut self) -> Result<Next, WorkloadError> {
        let mut arrival = Arrival::NONE;
        Ok(match self.draw(&mut arrival)? {
            Drawn::Request => Next::Request(arrival),
            Drawn::Await => Next::Await,
            Drawn::End => Next::End,
        })
    }

    /// One of this source's requests completed at `now`. Open-loop sources ignore it.
    fn completed(&mut self, now: Time);
}

/// Bad input, said so that the user can mend it: where (file and line, or key), what it is, what would be legal.
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
