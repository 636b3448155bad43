//! A flow of a run: what it offers next, and what became of its requests.

use flashlane_core::{RequestId, Time};

use super::RunError;
use super::feed::Feed;
use crate::metrics::FlowMetrics;
use crate::workload::{Arrival, Drawn, Source};

/// No device lives to see this instant.
pub(super) const BEYOND: Time = Time::from_ns(Time::LAST.ns() + 1);

/// A flow of a run: its source, what that offers next, and what became of its requests.
pub(super) struct Lane {
    /// None keeps the flow silent.
    pub(super) feed: Option<Feed>,
    /// The request on offer; when it comes stands in the run's `times`.
    pub(super) offer: Arrival,
    /// Nothing is on offer until a request of the flow completes.
    pub(super) awaits: bool,
    pub(super) metrics: FlowMetrics,
    /// Requests still to be left out of the figures.
    pub(super) warming: u64,
    /// The first request that figures count, as far as is known.
    pub(super) warm_from: RequestId,
}

impl Lane {
    /// A flow that has offered nothing yet and leaves its first `warming` requests out of the figures.
    pub(super) fn new(feed: Option<Feed>, warming: u64) -> Lane {
        let metrics = FlowMetrics::new();
        Lane { feed, offer: Arrival::NONE, awaits: false, metrics, warming, warm_from: RequestId(0) }
    }

    /// Draws the next offer; returns when it comes, never if there is none before `end`.
    #[inline(always)]
    pub(super) fn draw(&mut self, end: Time) -> Result<Time, RunError> {
        let drawn = match &mut self.feed {
            Some(feed) => feed.draw(&mut self.offer)?,
            None => Drawn::End,
        };
        self.awaits = drawn == Drawn::Await;
        match drawn {
            Drawn::Request if self.offer.at < end => Ok(self.offer.at),
            Drawn::Request => self.cut_off(end),
            Drawn::Await | Drawn::End => Ok(Time::NEVER),
        }
    }

    /// A request that comes too late for the run: its end, if it has one.
    #[cold]
    fn cut_off(&self, end: Time) -> Result<Time, RunError> {
        if end < BEYOND {
            return Ok(Time::NEVER);
        }
        let (at, last) = (self.offer.at.ns(), Time::LAST.ns());
        Err(RunError::Input(format!(
            "a request that comes at {at} ns: legal is up to {last} ns (2.28 years); raise the rate, or end the run \
             before with `run.duration_ms` or `run.requests`"
        )))
    }
}
