//! NCQ scheduling, IEICE ELEX 2015: the experiments of model 5.2.
//!
//! Owns what is run; claims and published values are in `papers/ncq/claims.toml`, the workloads in `lab/scenario/data/ncq-table2.csv`.

mod aging;
mod load;
pub(crate) mod setup;
mod systems;

use super::{Group, Paper};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "ncq",
    seeds: 10,
    claims: include_str!("../../ncq/claims.toml"),
    variants: &[],
    groups: &[
        Group { experiments: &["E1"], about: "five estimates on workloads A, B and C", run: systems::workloads },
        Group { experiments: &["E2", "E3"], about: "workload A with buffers of 8 to 128 MB", run: systems::buffers },
        Group { experiments: &["E4"], about: "workload A with alpha from 0 to 1", run: aging::alphas },
        Group {
            experiments: &["X1"],
            about: "workload A as printed, at other depths, and on the flash",
            run: systems::settings,
        },
        Group { experiments: &["X2"], about: "workload C with its files used less evenly", run: load::exponents },
        Group {
            experiments: &["X3"],
            about: "gains by rate, from half of the printed one to twice it",
            run: load::rates,
        },
        Group { experiments: &["X4"], about: "five layouts of A, tuned on SB alone", run: load::layouts },
    ],
};
