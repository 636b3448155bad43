//! The state of one flow in a run: its next request, and the metrics of those it sent.

use flashlane_core::{Op, RequestId, Time};

use super::feed::Feed;
use crate::error::RunError;
use flashlane_core::arrival::{Arrival, Produced, Source};
use flashlane_report::metrics::{FlowMetrics, LoadWindow};

/// An instant after the last one at which a device can work.
pub(crate) const BEYOND: Time = Time::from_ns(Time::LAST.ns() + 1);

/// The state of one flow in a run: its source, the source's next request, and the flow's metrics.
pub(crate) struct FlowState {
    /// `None` leaves the flow without requests.
    pub(crate) feed: Option<Feed>,
    /// The next request; its arrival time is in the run's `times`.
    pub(crate) next: Arrival,
    /// Whether there is no next request until a request of the flow completes.
    pub(crate) awaits_completion: bool,
    pub(crate) metrics: FlowMetrics,
    /// Requests still to be left out of the figures.
    pub(crate) warm_up_left: u64,
    /// The first request that is measured, as far as is known.
    pub(crate) measured_from: RequestId,
}

impl FlowState {
    /// A flow before its first request, whose first `warm_up_left` requests are left out of the figures.
    pub(crate) fn new(feed: Option<Feed>, warm_up_left: u64) -> FlowState {
        let metrics = FlowMetrics::new();
        FlowState {
            feed,
            next: Arrival::NONE,
            awaits_completion: false,
            metrics,
            warm_up_left,
            measured_from: RequestId(0),
        }
    }

    /// Whether its next request may depend on a completion.
    pub(super) fn is_closed_loop(&self) -> bool {
        self.feed.as_ref().is_some_and(Feed::is_closed_loop)
    }

    /// Counts request `id`, which the flow sends at `at`; `is_warm` says whether the run's warm-up is over by then.
    #[inline]
    pub(crate) fn issue(&mut self, window: &mut LoadWindow, id: RequestId, op: Op, at: Time, is_warm: bool) {
        self.metrics.issue(window, op, at, is_warm && self.warm_up_left == 0);
        if self.warm_up_left > 0 {
            self.warm_up_left -= 1;
            self.measured_from = RequestId(id.0 + 1);
        }
    }

    /// Its metrics at the end of the run.
    pub(crate) fn closed_metrics(mut self, window: &LoadWindow) -> FlowMetrics {
        self.metrics.close(window);
        self.metrics
    }

    /// Draws the next request; returns its arrival time, or `NEVER` if none arrives before `end`.
    #[inline(always)]
    pub(crate) fn draw(&mut self, end: Time) -> Result<Time, RunError> {
        let produced = match &mut self.feed {
            Some(feed) => feed.next_request(&mut self.next)?,
            None => Produced::End,
        };
        self.awaits_completion = produced == Produced::Await;
        match produced {
            Produced::Request if self.next.at < end => Ok(self.next.at),
            Produced::Request => self.cut_off(end),
            Produced::Await | Produced::End => Ok(Time::NEVER),
        }
    }

    /// Handles a request that arrives at `end` or later: the flow ends there, or it is an error if the run was given no
    /// end.
    #[cold]
    fn cut_off(&self, end: Time) -> Result<Time, RunError> {
        if end < BEYOND {
            return Ok(Time::NEVER);
        }
        let (at, last) = (self.next.at.ns(), Time::LAST.ns());
        Err(RunError::Input(format!(
            "a request that comes at {at} ns: legal is up to {last} ns (2.28 years); raise the rate, or end the run \
             before with `run.duration_ms` or `run.requests`"
        )))
    }
}
