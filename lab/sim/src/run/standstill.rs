//! Closed loops that go on while time stands still: their requests take no time on the device, so the run would never end.

use flashlane_core::Time;

use super::flow_state::FlowState;
use crate::error::RunError;

/// The most requests of a closed loop at one instant.
const MOST: u64 = 10_000_000;

/// How many requests each flow had sent when time last moved on.
pub(super) struct Standstill {
    since: Time,
    issued: Vec<u64>,
    pub(super) most: u64,
}

impl Standstill {
    /// At the beginning of a run of so many flows.
    pub(super) fn new(flows: usize) -> Standstill {
        Standstill { since: Time::ZERO, issued: vec![0; flows], most: MOST }
    }

    /// Looks at what `flows` have sent by `now`; an error that names a closed loop which sends without end.
    pub(super) fn check(&mut self, now: Time, flows: &[FlowState]) -> Result<(), RunError> {
        let issued = || flows.iter().map(|state| state.metrics.issued());
        if now != self.since {
            (self.since, self.issued) = (now, issued().collect());
            return Ok(());
        }
        let sent_now = issued().zip(&self.issued).map(|(issued, before)| issued - before);
        let endless = flows.iter().zip(sent_now).position(|(state, sent)| state.is_closed_loop() && sent >= self.most);
        let Some(flow) = endless else { return Ok(()) };
        Err(RunError::Input(format!(
            "flow[{flow}] is a closed loop whose requests take no time on this device: it sent over {} of them at {} ns, and time does \
             not go on; legal is with think_us above 0, fewer requests, or a device on which they take time \
             (device.front.link_latency_ns, device.buffer.access_ns, device.ftl.trim_ns)",
            self.most,
            now.ns()
        )))
    }
}
