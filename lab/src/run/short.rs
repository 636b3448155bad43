//! Whether runs are short, which is decided before the first by a look at their requests.

use flashlane_ssd::config::Precondition;

use super::RunError;
use super::prepare::Prepared;
use crate::scenario::{FlowPlan, FlowSource};
use crate::workload::{Next, Source};

/// Logical pages of a drive per request above which a run touches so little of the page map that huge pages do not pay:
/// measured, see docs/performance.md.
const PAGES_PER_REQUEST: u64 = 256;

/// Whether every run is so short that it touches little of its drive's page map. False for a replayed drive, and where that
/// cannot be known beforehand, or only by reading an input that can be read just once.
///
/// # Errors
/// Anything wrong with the traces, in the part that was read.
pub fn is_short(prepared: &Prepared) -> Result<bool, RunError> {
    if matches!(prepared.config.precondition, Precondition::Replayed { .. }) {
        return Ok(false);
    }
    let once = |plan: &FlowPlan| matches!(&plan.source, FlowSource::Trace(path, _) if !path.is_file());
    if prepared.flows.iter().any(once) {
        return Ok(false);
    }
    let mut left = u64::from(prepared.config.ftl.logical_pages) / PAGES_PER_REQUEST;
    if prepared.limits.requests < left {
        return Ok(true);
    }
    for flow in 0..prepared.flows.len() {
        match requests(prepared, flow, left)? {
            Some(count) if count < left => left -= count,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Number of requests that a flow will issue, unless it is a closed loop; at most `most` are read.
fn requests(prepared: &Prepared, flow: usize, most: u64) -> Result<Option<u64>, RunError> {
    let mut feed = prepared.look(flow)?;
    if feed.is_closed_loop() {
        return Ok(None);
    }
    let most = most.min(prepared.limits.requests);
    let mut count = 0;
    while count < most
        && let Next::Request(arrival) = feed.next()?
        && arrival.at < prepared.limits.end
    {
        count += 1;
    }
    Ok(Some(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::prepare;
    use crate::scenario::Scenario;

    fn short(document: String) -> bool {
        let scenario = Scenario::parse("test", document).expect("a scenario");
        is_short(&prepare(&scenario).expect("prepared")).expect("no error")
    }

    /// A drive of 16 GB has 1.95 million logical pages of 8 KiB, so the bound is 7,600 requests.
    #[test]
    fn a_run_is_short_by_its_requests_and_its_drive() {
        let flow =
            |keys: &str| format!("[[flow]]\n[flow.synthetic]\narrivals = \"poisson\"\nrate_iops = 1000\n{keys}\n");
        let small = "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nblocks_per_plane = 137\n[device.ftl]\nuser_gb = 16\n";
        let with = |device: &str, run: &str, flows: &str| short(format!("{device}{run}{flows}"));
        assert!(with(small, "", &flow("requests = 6000")));
        assert!(!with(small, "", &flow("requests = 8000")));
        assert!(!with(small, "", &(flow("requests = 5000") + &flow("requests = 5000"))), "flows add up");
        assert!(with(small, "[run]\nrequests = 100\n", &flow("requests = 8000")), "the run says when to stop");
        assert!(with(small, "[run]\nduration_ms = 1000\n", &flow("requests = 80000")), "or how long to go on");
        assert!(with("[device]\npreset = \"flin-isca18\"\n", "", &flow("requests = 8000")), "a large drive");
        let replayed = format!("{small}[device.precondition]\nstate = \"replayed\"\n");
        assert!(!with(&replayed, "", &flow("requests = 10")), "its whole map is written before the run");
    }
}
