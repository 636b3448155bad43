//! How the gain depends on the load, and what the calibration decides (ours: X2 to X4).

use super::setup::{ALPHA, ROWS, document, rows, scheduler, short, workload};
use super::systems::means;
use crate::{Measurements, Runner};
use flashlane_scenario::{Document, SchedulerChoice};
use flashlane_sim::RunError;

/// Exponents of the choice of a file of workload C; 0 is the calibrated one.
const EXPONENTS: [(&str, f64); 4] = [("1.0", 1.0), ("1.2", 1.2), ("1.4", 1.4), ("1.6", 1.6)];

/// Runs workload C, all rows, with exponents that bring it below saturation: fewer of its commands go to files that the buffer does not hold.
pub fn exponents(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut documents = Vec::new();
    for (name, theta) in EXPONENTS {
        for seed in runner.seeds() {
            let mut row = workload("C");
            row.file_theta = theta;
            documents.push((vec!["exponent".into(), name.into()], document(runner, &row, seed, rows())));
        }
    }
    means(runner, documents)
}

/// Rates as percent of the printed ones.
const RATES: [u32; 11] = [50, 70, 80, 90, 95, 100, 105, 110, 120, 150, 200];

/// FCFS and the paper's proposal.
fn ends() -> Vec<SchedulerChoice> {
    [ROWS[0], ROWS[4]].iter().map(|&row| scheduler(row, ALPHA)).collect()
}

/// Runs A and C as calibrated at rates from below to above saturation.
pub fn rates(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut documents = Vec::new();
    for name in ["A", "C"] {
        for percent in RATES {
            for seed in runner.seeds() {
                let mut row = workload(name);
                row.mean_gap_us *= 100.0 / f64::from(percent);
                let path = vec!["rate".into(), name.into(), percent.to_string()];
                documents.push((path, short(runner, &row, seed, ends())));
            }
        }
    }
    means(runner, documents)
}

/// Layouts of the files.
const LAYOUTS: [u64; 5] = [1, 2, 3, 4, 5];

/// What SB over FCFS is tuned to: 46 over 86 ms.
const TUNED_TO: f64 = 0.53;

/// Exponents that are tried, tenths.
const TRIED: std::ops::RangeInclusive<u32> = 0..=12;

/// Runs A in five layouts of its files. In each the exponent is the one with which SB over FCFS is nearest to the printed ratio; what S,
/// TS and TSB then take is predicted. The first seed alone, as in the calibration.
pub fn layouts(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let seed = runner.seeds()[0];
    let of = |layout: u64, tenths: u32| -> Document {
        let mut row = workload("A");
        (row.file_seed, row.file_theta) = (layout, f64::from(tenths) / 10.0);
        short(runner, &row, seed, rows())
    };
    let tried = |layout| TRIED.map(move |tenths| ((layout, tenths), of(layout, tenths)));
    let made = runner.compare(LAYOUTS.into_iter().flat_map(tried).collect())?;
    let mut figures = Measurements::default();
    for layout in LAYOUTS {
        let reads = |made: &crate::RunStats| -> Option<Vec<f64>> {
            made.schedulers.iter().map(|run| run.total.read.as_ref().map(|read| read.mean_ns)).collect()
        };
        let of_layout = made.iter().filter(|((one, _), _)| *one == layout);
        let tried: Vec<(u32, Vec<f64>)> =
            of_layout.filter_map(|((_, tenths), made)| Some((*tenths, reads(made)?))).collect();
        let off = |ns: &[f64]| (ns[2] / ns[0] - TUNED_TO).abs();
        let Some((tenths, ns)) = tried.iter().min_by(|a, b| off(&a.1).total_cmp(&off(&b.1))) else { continue };
        let name = layout.to_string();
        figures.push(&["layout", "exponent", &name], f64::from(*tenths) / 10.0);
        figures.push(&["layout", "fcfs_ms", &name], ns[0] / 1e6);
        for ((row, _), taken) in ROWS.iter().zip(ns).skip(1) {
            figures.push(&["layout", row, &name], taken / ns[0]);
        }
        // The plain reading: all files alike.
        let alike = tried.iter().find(|(tenths, _)| *tenths == 0);
        if let Some((_, ns)) = alike {
            figures.push(&["layout", "files_alike_fcfs_ms", &name], ns[0] / 1e6);
            figures.push(&["layout", "files_alike_tsb", &name], ns[4] / ns[0]);
        }
    }
    Ok(figures)
}
