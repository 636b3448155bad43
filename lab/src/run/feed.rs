//! The opened source of a flow: a trace, a generator or a scene, with its addresses moved to the flow's part of the
//! drive.

use flashlane_core::Time;

use crate::scenario::{FlowPlan, FlowSource};
use crate::workload::scene::SceneSource;
use crate::workload::synthetic::{SyntheticSource, flow_seed};
use crate::workload::trace::{TraceSource, rereadable};
use crate::workload::{Arrival, Drawn, Source, Span, WorkloadError};

/// An opened source of requests.
pub struct Feed {
    source: Kind,
    closed_loop: bool,
}

enum Kind {
    /// The trace, and the offset added to every byte address.
    Trace(Box<TraceSource>, u64),
    Synthetic(Box<SyntheticSource>),
    Scene(SceneSource),
}

impl Feed {
    /// Opens the source of flow number `index`.
    ///
    /// # Errors
    /// An error in the trace file or in the keys.
    pub fn open(plan: &FlowPlan, index: u16, page_bytes: u32, seed: u64) -> Result<Feed, WorkloadError> {
        let range = plan.address_range(page_bytes);
        let seed = flow_seed(seed, index);
        let feed = |source, closed_loop| Feed { source, closed_loop };
        Ok(match &plan.source {
            FlowSource::Trace(path, trace) => {
                let options = trace.options().map_err(|(key, message)| WorkloadError { place: key.into(), message })?;
                rereadable(path)
                    .map_err(|message| WorkloadError { place: path.display().to_string(), message: message.into() })?;
                let source = TraceSource::open(path, &options, plan.range.length)?;
                feed(Kind::Trace(Box::new(source), plan.range.offset), false)
            }
            FlowSource::Synthetic(spec) => {
                feed(Kind::Synthetic(Box::new(SyntheticSource::new(spec, &range, seed)?)), spec.is_closed_loop())
            }
            FlowSource::Clone(spec) => feed(Kind::Synthetic(Box::new(spec.source(&range, seed)?)), false),
            FlowSource::Inline(requests) => feed(Kind::Scene(SceneSource::new(requests, &range)?), false),
        })
    }

    /// Whether its next request may depend on a completion.
    pub fn is_closed_loop(&self) -> bool {
        self.closed_loop
    }

    /// Requests that the source left out (beyond the drive, of an illegal size), where the user asked for that.
    pub fn rejected(&self) -> u64 {
        match &self.source {
            Kind::Trace(source, _) => source.counts().rejected,
            Kind::Synthetic(_) | Kind::Scene(_) => 0,
        }
    }

    /// Remarks of a trace's reader for the user: the format it chose and the requests it changed.
    pub fn remarks(&self) -> Option<String> {
        let Kind::Trace(source, _) = &self.source else { return None };
        let (chosen, counts) = (source.recognition(), source.counts());
        let mut text = format!("read as {} ({})", chosen.format, chosen.reason);
        for (count, what) in [
            (counts.rejected, "rejected"),
            (counts.wrapped, "wrapped into the drive"),
            (counts.clamped, "with a time set to their predecessor's"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {count} {what}"));
            }
        }
        Some(text)
    }
}

impl Source for Feed {
    #[inline(always)]
    fn draw(&mut self, arrival: &mut Arrival) -> Result<Drawn, WorkloadError> {
        match &mut self.source {
            Kind::Trace(source, start_bytes) => {
                let drawn = source.draw(arrival)?;
                if let (Drawn::Request, Span::Bytes { offset, .. }) = (drawn, &mut arrival.extent) {
                    *offset += *start_bytes;
                }
                Ok(drawn)
            }
            Kind::Synthetic(source) => source.draw(arrival),
            Kind::Scene(source) => source.draw(arrival),
        }
    }

    fn completed(&mut self, now: Time) {
        match &mut self.source {
            Kind::Trace(source, _) => source.completed(now),
            Kind::Synthetic(source) => source.completed(now),
            Kind::Scene(source) => source.completed(now),
        }
    }
}
