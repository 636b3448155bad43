//! SOS, MSST 2013 (slides): the experiments of model 4.2.
//!
//! Owns what is run; claims and published values are in `papers/sos/claims.toml`. The benchmarks were not published, so they are clones
//! with calibrated knobs (`papers/calibration`), unless the user has traces.

mod priorities;
pub mod shares;
mod systems;
pub mod workloads;

use super::{Group, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "sos",
    seeds: 5,
    claims: include_str!("../../sos/claims.toml"),
    variants: &[],
    groups: &[
        Group { experiments: &["E1", "E2"], about: "the two shares of writes under HOS", run: systems::shares },
        Group { experiments: &["E4", "E5"], about: "HOS, QSL, WHM and SOS, five settings", run: systems::all },
        Group {
            experiments: &["E6"],
            about: "two flows of different priorities under HOS and SOS",
            run: priorities::all,
        },
    ],
};
