//! Slacker, ASPLOS 2017: the experiments of model 1.2.
//!
//! Owns what is run; claims and published values are in `papers/slacker/claims.toml`. The original traces were not
//! published with the paper, so its workloads are clones of Table 2 with calibrated rates (`papers/calibration`), unless
//! the user has the traces.

mod ablation;
mod baseline;
mod dynalloc;
mod estimator;
mod sensitivity;
mod slowed;
mod systems;
pub mod variants;
pub mod workloads;

use super::{Group, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "slacker",
    seeds: 5,
    claims: include_str!("../../slacker/claims.toml"),
    variants: variants::VARIANTS,
    groups: &[
        Group { experiments: &["E1", "E4"], about: "the baseline's slack on 21 workloads", run: baseline::slack },
        Group { experiments: &["E2"], about: "chips that a request accesses", run: baseline::chips },
        Group { experiments: &["E3"], about: "queue lengths of prxy0 over 100 s", run: baseline::queues },
        Group {
            experiments: &["E5"],
            about: "the estimator in shadow mode under the baseline, three readings of it and footnote 3",
            run: estimator::errors,
        },
        Group {
            experiments: &["E6", "E7", "E8", "E9", "E10", "E11", "E12", "E14"],
            about: "six systems and `need` on 21 workloads",
            run: systems::all,
        },
        Group { experiments: &["E13"], about: "prxy0 and prn0 by size of the request", run: systems::by_size },
        Group { experiments: &["E15"], about: "dynamic redirection of writes", run: dynalloc::redirection },
        Group { experiments: &["E16"], about: "one factor at a time on src2-0-p", run: sensitivity::sweeps },
        Group { experiments: &["E18"], about: "what a decision may cost", run: systems::decision_cost },
        Group {
            experiments: &["E19"],
            about: "which requests are slowed: true slack, an eager bus, one channel per chip",
            run: slowed::slowed,
        },
        Group {
            experiments: &["A1"],
            about: "the write-intensive without advanced commands, at four loads",
            run: ablation::one_page_at_a_time,
        },
        Group {
            experiments: &["E17"],
            about: "sizes of a redirection table and of the estimator's state",
            run: baseline::table_size,
        },
    ],
};
