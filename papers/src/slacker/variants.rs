//! Variants of the chosen setting: other rates of bursts, which the paper does not give, and other devices and arrivals, one thing at a time.
//!
//! Bursts at each rate are calibrated with the baseline alone (`papers/calibration`); the file of them says what slack they reach.

use std::sync::LazyLock;

use flashlane_scenario::workload::clone::CloneSpec;
use flashlane_scenario::{Document, Latency, Limit, Mix, Protocol, SchedulerChoice, Word};
use serde::Deserialize;

use super::slowed::own_channels;
use crate::setting::Variant;

/// The first part of the names of rates.
const RATE: &str = "rate-";

/// All variants. A rate is over what the drive can take.
pub const VARIANTS: &[Variant] = &[
    at_rate("rate-4.8"),
    at_rate("rate-3"),
    at_rate("rate-2.4"),
    at_rate("rate-1.67"),
    at_rate("rate-1.2"),
    at_rate("rate-1"),
    at_rate("rate-0.6"),
    at_rate("rate-0.3"),
    Variant { name: "burst-4th", about: "bursts a fourth as long", change: |document, _| shorten(document, 4.0) },
    Variant { name: "burst-16th", about: "bursts a sixteenth as long", change: |document, _| shorten(document, 16.0) },
    Variant { name: "own-channels", about: "a channel for each chip", change: |document, _| own_channels(document) },
    Variant {
        name: "fast-slow",
        about: "programs of 0.5 and 2.1 ms in turn",
        change: |document, _| two_times(document),
    },
    Variant { name: "queue-256", about: "write queues of 256 a chip", change: |document, _| short_queues(document) },
    Variant {
        name: "even-chips",
        about: "addresses even over the chips",
        change: |document, _| on_clones(document, |clone| clone.lane_theta = Some(0.0)),
    },
    Variant {
        name: "depth-256",
        about: "256 requests in the drive, more wait in the host",
        change: |document, _| depth(document, 256),
    },
    Variant {
        name: "depth-32",
        about: "32 requests in the drive, more wait in the host",
        change: |document, _| depth(document, 32),
    },
];

const fn at_rate(name: &'static str) -> Variant {
    Variant { name, about: "bursts at this rate over what the drive can take, calibrated anew", change: set_rate }
}

/// Bursts of a workload at a rate.
#[derive(Clone, Debug, Deserialize)]
pub struct RateBursts {
    /// The rate of a burst over what the drive can take.
    pub rate: String,
    /// The workload.
    pub name: String,
    mean_gap_us: f64,
    burst_requests: f64,
    lane_theta: f64,
    /// Mean of the baseline's slack, of reads in the read-intensive group and else of writes, ms.
    pub reached_slack_ms: f64,
}

/// All rates of all workloads.
pub static RATE_BURSTS: LazyLock<Vec<RateBursts>> = LazyLock::new(|| {
    let table = include_str!("../../slacker/burst-rates.csv");
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(table.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().expect("a table that ships with the program is sound")
});

/// The rate of a variant; `None` if it is none of a rate.
pub fn rate_of(variant: &str) -> Option<&str> {
    variant.strip_prefix(RATE)
}

fn set_rate(document: &mut Document, variant: &str) {
    on_clones(document, |clone| {
        let of_clone = |bursts: &&RateBursts| rate_of(variant) == Some(&bursts.rate) && bursts.name == clone.name;
        let bursts = RATE_BURSTS.iter().find(of_clone).expect("the file has every workload at every rate");
        clone.mean_gap_us = Some(bursts.mean_gap_us);
        clone.burst_requests = Some(bursts.burst_requests);
        clone.lane_theta = Some(bursts.lane_theta);
    });
}

fn shorten(document: &mut Document, by: f64) {
    on_clones(document, |clone| clone.burst_requests = clone.burst_requests.map(|burst| (burst / by).max(1.0)));
}

fn two_times(document: &mut Document) {
    document.device.nand.program_ns = Some(Latency::FastSlow { fast: 500_000, slow: 2_100_000 });
}

/// Schedulers that prefer writes when their queue is nearly full have to know its length.
fn short_queues(document: &mut Document) {
    document.device.front.write_queue_capacity = Some(Limit::At(256));
    for choice in document.schedulers.iter_mut().flatten() {
        if let SchedulerChoice::Named(name) = choice {
            let parameters = [("write_capacity".to_owned(), 256)].into();
            let (name, base) = (Some(name.clone()), Some(name.clone()));
            *choice = SchedulerChoice::Mix(Box::new(Mix { name, base, parameters, ..Mix::default() }));
        }
    }
}

fn depth(document: &mut Document, depth: u64) {
    let front = &mut document.device.front;
    (front.protocol, front.depth) = (Some(Word(Protocol::Nvme)), Some(Limit::At(depth)));
}

fn on_clones(document: &mut Document, change: impl Fn(&mut CloneSpec)) {
    document.flow.iter_mut().filter_map(|flow| flow.clone.as_mut()).for_each(change);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slacker::workloads::{BASELINE, document};
    use crate::{Place, Runner, Setting, Settings};
    use flashlane_scenario::Scenario;
    use flashlane_scenario::workload::clone::SlackerTrace;

    /// Each is another scenario than the setting and than every other, and one that can be run; rates change arrivals alone.
    #[test]
    fn every_variant_changes_the_scenario_of_every_workload() {
        for workload in SlackerTrace::all() {
            let of = |variant| {
                let settings = Settings { variant, ..Settings::quick(Setting::Chosen) };
                let runner = Runner::new(&settings, Place::default());
                document(&runner, &workload, 1_000, 1, &[BASELINE, "slacker"]).expect("no traces are read")
            };
            let hash = |document| Scenario::from_document("variant", document).hash().expect("it can be run");
            let plain = of(None);
            let mut hashes = vec![hash(plain.clone())];
            for variant in VARIANTS {
                let made = of(Some(variant));
                if let Some(rate) = rate_of(variant.name) {
                    let clone = made.flow[0].clone.as_ref().expect("a clone");
                    let load = crate::slacker::workloads::work_us(&workload, Setting::Chosen)
                        / clone.mean_gap_us.expect("set");
                    let rate: f64 = rate.parse().expect("a number");
                    assert!((load * 10.0 / rate - 1.0).abs() < 0.001, "{} {}: {load}", variant.name, workload.name);
                    assert!(clone.burst_requests.expect("set") <= 5_000.0, "{} {}", variant.name, workload.name);
                    assert_eq!((&made.device, &made.schedulers), (&plain.device, &plain.schedulers));
                }
                hashes.push(hash(made));
            }
            let all = hashes.len();
            hashes.sort();
            hashes.dedup();
            // Where the setting has even chips already, or bursts of one request, a variant is the setting.
            assert!(hashes.len() >= all - 3, "{}: {} of {all}", workload.name, hashes.len());
        }
    }
}
