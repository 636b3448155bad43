//! The scenario parser: whatever a file contains, it is refused with a place and a reason, or everything about it can
//! be computed.

use flashlane_scenario::{Scenario, TEMPLATE};

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "scenario",
    about: "Scenario::parse and check never panic, and a refusal says where",
    seeds: || {
        let small = "device = \"unit-cycle\"\n[[flow]]\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0, 1]\n";
        let synthetic = "seed = 3\nscheduler = { pick = \"fcfs\" }\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\n\
                         blocks_per_plane = 128\n[[flow]]\n[flow.synthetic]\nrate_iops = 100\nrequests = 5\n";
        let hosted = "scheduler = \"fr-fcfs\"\ndevice = \"cosmos-openssd\"\n[host]\ncpus = 2\ncompletion = \"precompletion\"\n\
                      window_ns = \"adaptive\"\npredictor = \"at-issue\"\nread_hits = false\nmax_spin_ns = 5000\nnice = -5\n\
                      min_slice_ns = 100_000\n[[host.background]]\nwork = \"io\"\nthreads = 2\nsection_ns = 9_000\ndevice_ns = 50_000\n\
                      [[host.background]]\nwork = \"cpu\"\nnice = 3\n[[flow]]\nsynthetic = { arrivals = \"closed-loop\", requests = 5 }\n";
        let blocked = "scheduler = \"fcfs\"\ndevice = \"unit-cycle\"\n[block]\nelevator = \"mq-deadline\"\ndepth = 2\nnr_requests = 3\n\
                       time_scale = 10\nfifo_batch = 2\nwrites_starved = 1\nread_expire = 5\n[block.flow.a]\nclass = \"idle\"\nread_iops = 50\n\
                       write_bps = 100_000\n[[flow]]\nname = \"a\"\nsynthetic = { arrivals = \"closed-loop\", depth = 6, requests = 9 }\n";
        let kyber = "scheduler = \"fcfs\"\ndevice = \"unit-cycle\"\n[block]\nelevators = [\"kyber\", \"none\"]\nread_lat_nsec = 5000\n\
                     write_lat_nsec = 9000\nmerges = true\nmax_request_bytes = 8192\nmax_segments = 3\n[block.flow.flow0]\nthreads = 2\n[[flow]]\n\
                     synthetic = { access = \"streaming\", requests = 9 }\n";
        vec![TEMPLATE.into(), small.into(), synthetic.into(), hosted.into(), blocked.into(), kyber.into()]
    },
    words: &[
        "[device]",
        "[[flow]]",
        "preset",
        "= 0",
        "= 18446744073709551615",
        "= -1",
        "nan",
        "\"slice\"",
        "[device.gc]",
        "[host]",
        "[block]",
        "[block.flow.a]",
        "merges = false",
        "\"kyber\"",
        "[[host.background]]",
        "\"adaptive\"",
    ],
    feed: |input| {
        let text = String::from_utf8_lossy(input).into_owned();
        match Scenario::parse("input", text).and_then(|scenario| scenario.check()) {
            Ok(()) => "accepted".into(),
            Err(error) => {
                let message = error.to_string();
                assert!(message.starts_with("input:"), "no place in {message:?}");
                message.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(60).collect()
            }
        }
    },
};
