//! The cost of synthetic requests: nanoseconds per request, for each access pattern and arrival process.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use flashlane_core::Time;
use flashlane_core::arrival::{Next, Source};
use flashlane_scenario::workload::AddressRange;
use flashlane_scenario::workload::clone::{CloneSpec, Table};
use flashlane_scenario::workload::synthetic::{SyntheticSource, SyntheticSpec};

const RANGE: AddressRange = AddressRange { start_bytes: 0, bytes: 480_000_000_000, page_bytes: 8192 };
const REQUESTS: usize = 100_000;

fn main() {
    divan::main();
}

fn run(bencher: Bencher, source: SyntheticSource) {
    bencher.counter(ItemsCount::new(REQUESTS)).with_inputs(|| source.clone()).bench_values(|mut source| {
        for _ in 0..REQUESTS {
            match source.next() {
                Ok(Next::Request(arrival)) => {
                    black_box(arrival);
                }
                _ => source.completed(Time::from_ns(0)),
            }
        }
    });
}

#[divan::bench(args = [
    "rate_iops = 2e5",
    "arrivals = 'constant'\nrate_iops = 2e5",
    "arrivals = 'bursty'\nrate_iops = 2e5",
    "arrivals = 'closed-loop'\ndepth = 32",
    "access = 'streaming'\nrate_iops = 2e5",
    "access = 'hot-cold'\nrate_iops = 2e5",
    "access = 'zipf'\nrate_iops = 2e5",
    "size = { lognormal = { mean_bytes = 2e4, sd_bytes = 1e4 } }\nrate_iops = 2e5",
    "size = { mix = [[4096, 3], [65536, 1]] }\nrate_iops = 2e5",
])]
fn synthetic(bencher: Bencher, keys: &str) {
    let spec: SyntheticSpec =
        toml::from_str(&format!("requests = 1000000000\nread_ratio = 0.7\n{keys}")).expect("sound keys");
    run(bencher, SyntheticSource::new(&spec, &RANGE, 1).expect("a sound description"));
}

#[divan::bench]
fn clone_of_tpcc(bencher: Bencher) {
    let clone = CloneSpec::new(Table::Flin, "tpcc", 1_000_000_000);
    run(bencher, clone.source(&RANGE, 1).expect("a known clone"));
}
