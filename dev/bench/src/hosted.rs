//! What a host before the device costs: closed loops of 4 KiB reads, without a host and behind several.
//!
//! A read is one transaction, so that what a host adds to an I/O is the difference from the case without one.

use flashlane_scenario::{FlowSource, Scenario};
use flashlane_sched::catalogue::{self, Recipe};
use flashlane_sim::{Feed, Limits, ObserverOptions, Simulation};

use crate::case::Case;
use crate::engine::{CHANNELS, DRIVES, ONE_PAGE, config, plan, spec, transactions};
use crate::meter::{Meter, measured};
use crate::outcome::Outcome;

const IRQ: &str = "completion = \"irq\"\n";
const ADAPTIVE: &str = "completion = \"precompletion\"\nwindow_ns = \"adaptive\"\n";
const BURNERS: &str = "[[host.background]]\nwork = \"cpu\"\nthreads = 4\n";
const IO_THREADS: &str = "[[host.background]]\nwork = \"io\"\nthreads = 4\ndevice_ns = 90_000\n";

/// Hosts: the workload's name, the keys of `[host]` (none without one), and what runs beside the reads on each CPU.
const HOSTS: [(&str, &str, &str); 7] = [
    ("4k-reads-no-host", "", ""),
    ("4k-reads-irq", IRQ, ""),
    ("4k-reads-adaptive", ADAPTIVE, ""),
    ("4k-reads-irq-cpu4", IRQ, BURNERS),
    ("4k-reads-adaptive-cpu4", ADAPTIVE, BURNERS),
    ("4k-reads-irq-io4", IRQ, IO_THREADS),
    ("4k-reads-adaptive-io4", ADAPTIVE, IO_THREADS),
];

/// CPUs of the hosts.
const CPUS: u32 = 8;

/// Requests in flight: two threads per CPU, and one thread in all.
const DEPTHS: [u32; 2] = [16, 1];

/// All cases with and without a host.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for depth in DEPTHS {
        for (name, keys, background) in HOSTS {
            cases.push(Case {
                labels: ["fr-fcfs", name, DRIVES[0].0, &depth.to_string()].map(String::from),
                requests: 400_000,
                counted: 20_000,
                run: Box::new(move |requests| behind(keys, background, depth, requests)),
            });
        }
    }
    cases
}

/// A closed loop of reads behind a host of these keys.
fn behind(keys: &str, background: &str, depth: u32, requests: u64) -> Result<Outcome, String> {
    let config = config(CHANNELS, DRIVES[0].1, "fresh")?;
    let recipe = Recipe { base: Some("fr-fcfs".into()), ..Recipe::default() };
    let scheduler = catalogue::build(&recipe).map_err(|e| e.to_string())?;
    let host = match keys {
        "" => None,
        keys => {
            let text = format!(
                "[host]\ncpus = {CPUS}\n{keys}{background}[[flow]]\n[flow.synthetic]\nrate_iops = 1\nrequests = 1\n"
            );
            let scenario = Scenario::parse("bench", text).map_err(|e| e.to_string())?;
            scenario.host(&config).map_err(|e| e.to_string())?
        }
    };
    let keys = format!("read_ratio = 1.0\n{ONE_PAGE}\narrivals = \"closed-loop\"\ndepth = {depth}");
    let source = FlowSource::Synthetic(Box::new(spec(&keys, requests)?));
    let feed = Feed::open(&plan(&config, source), 0, config.geometry.page_bytes, 1).map_err(|e| e.to_string())?;
    let run = Simulation::new(&config, scheduler, vec![Some(feed)], Limits::default(), ObserverOptions::default());
    let run = run.map_err(|e| e.to_string())?;
    let meter = Meter::begin();
    let outcome = measured(|| match &host {
        None => run.finish(),
        Some(host) => run.finish_hosted(host),
    });
    meter.end(transactions(&outcome.map_err(|e| e.to_string())?))
}
