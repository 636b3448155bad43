//! Precompletion, HotStorage 2015: the experiments of model 3.2.
//!
//! Owns what is run; claims and published values are in `papers/precompletion/claims.toml`. The host is modelled
//! (model 3.1.6); what a real machine does is not this page's subject.

mod adaptive;
mod depth;
mod hits;
mod methods;
mod prediction;
mod setup;
mod waiting;

use super::{Group, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "precompletion",
    seeds: 3,
    claims: include_str!("../../precompletion/claims.toml"),
    variants: &[],
    groups: &[
        Group { experiments: &["E1"], about: "writes into the buffer: sleeping and spinning", run: hits::writes },
        Group { experiments: &["E2"], about: "means of three observations as predictions", run: prediction::errors },
        Group {
            experiments: &["E3", "E4", "E5", "E6"],
            about: "every way of waiting beside I/O threads and CPU threads",
            run: methods::all,
        },
        Group {
            experiments: &["E3"],
            about: "polling beside I/O threads that wait for a device of their own",
            run: waiting::io_threads_that_wait,
        },
        Group { experiments: &["A1"], about: "a window that adapts", run: adaptive::windows },
        Group {
            experiments: &["A2"],
            about: "deep queues with garbage collection, under three schedulers",
            run: depth::queues,
        },
        Group { experiments: &["A3"], about: "reads that the device's buffer holds", run: hits::reads },
        Group { experiments: &["A4"], about: "flash of 20 us", run: depth::fast_flash },
    ],
};
