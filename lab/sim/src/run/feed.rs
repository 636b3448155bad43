//! The opened source of a flow: a trace, a generator or a scene, with its addresses moved to the flow's part of the
//! drive.

use std::path::Path;

use flashlane_core::{Op, Time};

use super::traces::{TraceReader, of_flow};
use flashlane_core::arrival::{Arrival, Produced, Source, Span, WorkloadError};
use flashlane_report::results::Recorded;
use flashlane_scenario::workload::scene::SceneSource;
use flashlane_scenario::workload::synthetic::{ClosedLoop, SyntheticSource, flow_seed};
use flashlane_scenario::{FlowPlan, FlowSource};

/// An opened source of requests.
pub struct Feed {
    source: Kind,
    closed_loop: bool,
    /// The flow's number, and its trace.
    trace: Option<(u16, Box<Path>)>,
}

enum Kind {
    /// The trace, and the offset added to every byte address.
    Trace(Box<TraceReader>, u64),
    /// The same, sent when fewer than its depth are outstanding.
    Closed(Box<TraceReader>, u64, ClosedLoop),
    Synthetic(Box<SyntheticSource>),
    Scene(SceneSource),
}

impl Feed {
    /// Opens the source of flow number `index`.
    ///
    /// # Errors
    /// An error in the trace file or in the keys.
    pub fn open(plan: &FlowPlan, index: u16, page_bytes: u32, seed: u64) -> Result<Feed, WorkloadError> {
        Feed::with_reader(plan, TraceReader::open(plan, index)?, index, page_bytes, seed)
    }

    /// Opens the source of flow number `index`, whose trace is read by `reader` if it has one.
    ///
    /// # Errors
    /// An error in the keys.
    pub(crate) fn with_reader(
        plan: &FlowPlan,
        reader: Option<TraceReader>,
        index: u16,
        page_bytes: u32,
        seed: u64,
    ) -> Result<Feed, WorkloadError> {
        let range = plan.address_range(page_bytes);
        let seed = flow_seed(seed, index);
        let trace = match &plan.source {
            FlowSource::Trace(path, _) => Some((index, path.as_path().into())),
            _ => None,
        };
        let feed = |source, closed_loop| Feed { source, closed_loop, trace };
        Ok(match &plan.source {
            FlowSource::Trace(_, trace) => {
                let reader = Box::new(reader.expect("a trace has a reader"));
                match trace.closed_depth() {
                    None => feed(Kind::Trace(reader, plan.range.offset), false),
                    Some(depth) => {
                        let places = ClosedLoop::new(depth, 0, trace.start_ns.unwrap_or(0));
                        feed(Kind::Closed(reader, plan.range.offset, places), true)
                    }
                }
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

    /// Requests that the source left out (beyond the drive, of an illegal size), where the user asked for that, by kind.
    pub fn rejected(&self) -> [u64; Op::ALL.len()] {
        match &self.source {
            Kind::Trace(reader, _) | Kind::Closed(reader, ..) => reader.rejected(),
            Kind::Synthetic(_) | Kind::Scene(_) => [0; Op::ALL.len()],
        }
    }

    /// Remarks of a trace's reader for the user: the format it chose and the requests it changed.
    pub fn remarks(&self) -> Option<String> {
        Some(self.reader()?.remarks())
    }

    /// The rate of a trace as it was recorded.
    pub fn recorded(&mut self) -> Option<Recorded> {
        match &mut self.source {
            Kind::Trace(reader, _) | Kind::Closed(reader, ..) => Some(reader.recorded()),
            Kind::Synthetic(_) | Kind::Scene(_) => None,
        }
    }

    /// The reader of its trace, if it has one.
    fn reader(&self) -> Option<&TraceReader> {
        match &self.source {
            Kind::Trace(reader, _) | Kind::Closed(reader, ..) => Some(reader),
            Kind::Synthetic(_) | Kind::Scene(_) => None,
        }
    }

    /// Number of requests that it yields until `end`, after `issued` until `now`: as the source says, or estimated from how far it has
    /// come; 0 while nothing is known.
    pub(crate) fn expected(&self, issued: u64, now: Time, end: Time) -> u64 {
        let (whole, end) = match &self.source {
            Kind::Trace(reader, _) | Kind::Closed(reader, ..) => (reader.expected(), end),
            Kind::Scene(source) => (issued + source.left(), end),
            Kind::Synthetic(source) => (issued.saturating_add(source.left()), end.min(source.end())),
        };
        let at_this_rate = match now {
            _ if end == Time::NEVER => u64::MAX,
            Time::ZERO => return 0,
            now => (issued as f64 * (end.ns() as f64 / now.ns() as f64).max(1.0)) as u64,
        };
        let expected = whole.min(at_this_rate);
        if expected == u64::MAX { 0 } else { expected }
    }
}

impl Source for Feed {
    #[inline(always)]
    fn next_request(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError> {
        match &mut self.source {
            Kind::Trace(source, start_bytes) => {
                let produced = source.next_request(arrival).map_err(|error| of_trace(error, &self.trace))?;
                if produced == Produced::Request {
                    moved(arrival, *start_bytes);
                }
                Ok(produced)
            }
            Kind::Closed(source, start_bytes, places) => {
                let Some(at) = places.next_at() else { return Ok(Produced::Await) };
                let produced = source.next_request(arrival).map_err(|error| of_trace(error, &self.trace))?;
                if produced == Produced::Request {
                    arrival.at = Time::from_ns(at);
                    moved(arrival, *start_bytes);
                }
                Ok(produced)
            }
            Kind::Synthetic(source) => source.next_request(arrival),
            Kind::Scene(source) => source.next_request(arrival),
        }
    }

    fn completed(&mut self, now: Time) {
        match &mut self.source {
            Kind::Trace(source, _) => source.completed(now),
            Kind::Closed(_, _, places) => places.completed(now.ns()),
            Kind::Synthetic(source) => source.completed(now),
            Kind::Scene(source) => source.completed(now),
        }
    }
}

/// An error of the trace of a flow, as [`of_flow`].
#[cold]
fn of_trace(error: WorkloadError, trace: &Option<(u16, Box<Path>)>) -> WorkloadError {
    match trace {
        Some((flow, path)) => of_flow(error, *flow, path),
        None => error,
    }
}

/// Moves the address of a request by so many bytes. A flush has none.
#[inline(always)]
fn moved(arrival: &mut Arrival, bytes: u64) {
    if let Span::Bytes { offset, .. } = &mut arrival.extent
        && !matches!(arrival.op, Op::Flush)
    {
        *offset += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::prepare::prepare;
    use flashlane_scenario::Scenario;

    /// The byte ranges that each flow of a scenario asks for.
    fn drawn(toml: &str) -> Vec<Vec<(u64, u64)>> {
        let scenario = Scenario::parse("feeds.toml", toml.to_owned()).unwrap_or_else(|error| panic!("{error}"));
        let prepared = prepare(&scenario).unwrap_or_else(|error| panic!("{error}"));
        let feeds = prepared.feeds(|_| true).expect("flows");
        let all = |mut feed: Feed| {
            let mut found = Vec::new();
            let mut arrival = Arrival::NONE;
            while feed.next_request(&mut arrival).expect("sound") == Produced::Request {
                let Span::Bytes { offset, length } = arrival.extent else { panic!("in bytes") };
                found.push((offset, length));
            }
            found
        };
        feeds.into_iter().map(|feed| all(feed.expect("of every flow"))).collect()
    }

    /// The second flow's part begins in the middle of the drive.
    #[test]
    fn a_trace_moves_to_its_flows_part() {
        let file = tempfile::Builder::new().suffix(".ascii").tempfile().expect("a temporary file");
        std::fs::write(file.path(), "0 0 0 8 1\n1000 0 24 16 0\n").expect("written");
        let flow = format!("[[flow]]\ntrace = {{ path = {:?} }}\n", file.path().display().to_string());
        let head = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\nftl.user_gb = 8\n";
        let made = drawn(&format!("{head}{flow}{flow}"));
        let range = |first: u64| vec![(first, 4096), (first + 12_288, 8192)];
        assert_eq!(made[0], range(0));
        let second = made[1][0].0;
        assert!(second >= 3_900_000_000 && second.is_multiple_of(4096), "{second}");
        assert_eq!(made[1], range(second));
    }

    /// Two flows of the same keys draw each their own, and each the same again.
    #[test]
    fn every_flow_has_draws_of_its_own() {
        let flow = "[[flow]]\nsynthetic = { read_ratio = 0.5, rate_iops = 1000, requests = 50 }\n";
        let clone = "[[flow]]\nclone = { table = \"flin\", name = \"tpce\", requests = 50 }\n";
        let head = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n";
        for flow in [flow, clone] {
            let toml = format!("{head}{flow}{flow}");
            let made = drawn(&toml);
            let from = |requests: &[(u64, u64)]| {
                let first = requests.iter().map(|&(offset, _)| offset).min().expect("some");
                requests.iter().map(|&(offset, length)| (offset - first, length)).collect::<Vec<_>>()
            };
            assert_eq!(made[0].len(), 50);
            assert_ne!(from(&made[0]), from(&made[1]), "{flow}");
            assert_eq!(made, drawn(&toml));
        }
    }

    /// What is wrong with an option of a trace names the file and the flow's key, whether it shows at once or at the end of the file.
    #[test]
    fn an_option_of_a_trace_is_named_with_file_and_flow() {
        let file = tempfile::Builder::new().suffix(".ascii").tempfile().expect("a temporary file");
        std::fs::write(file.path(), "0 0 0 8 1\n1000 0 24 16 0\n").expect("written");
        let path = file.path().display().to_string();
        let head = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n";
        for (key, value, says) in [
            ("action", "\"issue\"", "`issue`: the trace is read as "),
            ("offset", "50", "`50` passes over all of its 2 requests; legal is 0 to 1"),
        ] {
            let flow = |more: &str| format!("[[flow]]\ntrace = {{ path = {path:?}{more} }}\n");
            let text = format!("{head}{}{}", flow(""), flow(&format!(", {key} = {value}")));
            let scenario = Scenario::parse("feeds.toml", text).unwrap_or_else(|error| panic!("{error}"));
            let prepared = prepare(&scenario).unwrap_or_else(|error| panic!("{error}"));
            let error = match prepared.feeds(|_| true) {
                Err(error) => error.to_string(),
                Ok(feeds) => {
                    let mut arrival = Arrival::NONE;
                    let mut feed = feeds.into_iter().nth(1).flatten().expect("the second flow");
                    feed.next_request(&mut arrival).expect_err("no request").to_string()
                }
            };
            assert!(error.starts_with(&format!("{path}: flow[1].trace.{key}: {says}")), "{error}");
        }
    }
}
