//! FLIN, ISCA 2018: the experiments of model 2.2.
//!
//! Owns what is run; claims and published values are in `papers/flin/claims.toml`, the mixes of traces in
//! `papers/flin/mixes.toml`. The traces themselves are clones of table 2, unless the user has them.

mod ablation;
mod collection;
mod collectors;
mod intensity;
pub mod measures;
pub mod mixes;
mod overhead;
mod overload;
mod parameters;
mod priorities;
mod profiles;
mod ratios;
mod setting;
pub(crate) mod setup;
mod shapes;
mod systems;
mod variants;

use super::{Group, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "flin",
    // Each draws mixes of its own, which are the sample.
    seeds: 3,
    claims: include_str!("../../flin/claims.toml"),
    variants: variants::VARIANTS,
    groups: &[
        Group { experiments: &["E1"], about: "tpce beside tpcc on four drives, second by second", run: profiles::all },
        Group { experiments: &["E2", "E3"], about: "queues and waits of one flow of reads", run: intensity::alone },
        Group { experiments: &["E4"], about: "a light flow of reads beside a heavier", run: intensity::beside },
        Group {
            experiments: &["E5"],
            about: "a streaming flow beside a more or less random one",
            run: ratios::patterns,
        },
        Group {
            experiments: &["E6"],
            about: "reads first or first come first served, 44 pairs of flows",
            run: ratios::directions,
        },
        Group {
            experiments: &["E7"],
            about: "writers beside writers, three kinds of garbage collection",
            run: collection::demands,
        },
        Group { experiments: &["T2"], about: "each trace alone", run: systems::interference },
        Group {
            experiments: &["E8", "E9", "E10", "E11", "E12", "E13"],
            about: "five systems, and five with another collector, on 40 mixes of four traces per seed, 60 s each",
            run: systems::all,
        },
        Group {
            experiments: &["E14", "E15", "E16", "E17"],
            about: "FLIN's parameters, one at a time",
            run: parameters::sweeps,
        },
        Group { experiments: &["E18"], about: "pages, latencies and units", run: shapes::sweeps },
        Group { experiments: &["E19"], about: "four copies of msnfs at four priorities", run: priorities::levels },
        Group { experiments: &["E20"], about: "with a write cache per flow, and without", run: shapes::caches },
        Group { experiments: &["E21", "E22"], about: "memory, places visited, highest throughput", run: overhead::all },
        Group {
            experiments: &["A1"],
            about: "where FLIN gains and loses: other answers, free collection",
            run: ablation::all,
        },
    ],
};
