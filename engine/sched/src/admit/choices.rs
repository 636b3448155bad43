//! The admit answers by name, for the catalogue.

use alloc::boxed::Box;

use flashlane_core::Duration;
use flashlane_core::decide::Admit;

use crate::entries::Choice;
use crate::params::Param;

/// Every admit answer.
pub(crate) static ADMIT: &[Choice<dyn Admit>] = &[
    Choice {
        name: "round-robin",
        summary: "submission queues in turn",
        source: "NVMe; FLIN §2.2",
        params: &[],
        build: &|_| Box::new(super::RoundRobin::default()),
    },
    Choice {
        name: "weighted-round-robin",
        summary: "priority level i is fetched 2^i times as often as level 0",
        source: "NVMe weighted round robin; FLIN §5.2 weights (D-FLN-26)",
        params: &[],
        build: &|_| Box::new(super::Weighted::default()),
    },
    Choice {
        name: "budget",
        summary: "each flow has a budget of flash time per round, less the garbage collection it causes",
        source: "Jun and Shin (NVMSA 2015) as in FLIN §7; model 2.1.9 WA-BC",
        params: &[
            Param {
                name: "budget_round_us",
                unit: "us",
                default: 10_000,
                min: 1,
                max: 1 << 40,
                help: "length of a round",
            },
            Param {
                name: "budget_compensation",
                unit: "0 or 1",
                default: 1,
                min: 0,
                max: 1,
                help: "whether flows pay for the garbage collection they cause (D-FLN-20)",
            },
            Param {
                name: "budget_until_completed",
                unit: "0 or 1",
                default: 1,
                min: 0,
                max: 1,
                help: "whether a flow with budget left and commands in the device keeps those without budget waiting",
            },
        ],
        build: &|v| {
            let round = Duration::from_us(v.get("budget_round_us"));
            let [compensates, until_completed] =
                ["budget_compensation", "budget_until_completed"].map(|name| v.get(name) == 1);
            Box::new(super::Budget::new(round, compensates, until_completed))
        },
    },
    Choice {
        name: "oldest",
        summary: "the oldest command of all queues",
        source: "NCQ §3 FCFS; model 5.1",
        params: &[],
        build: &|_| Box::new(super::Oldest),
    },
    Choice {
        name: "shortest",
        summary: "of all waiting commands the one with the shortest estimated service, with aging",
        source: "NCQ §2, eq. 1 to 4; model 5.1",
        params: super::ncq::PARAMS,
        build: &|v| Box::new(super::Shortest::of(v)),
    },
];
