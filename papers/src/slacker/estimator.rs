//! Accuracy of estimated response times (SLK-E5): the estimator in shadow mode beside the baseline.

use super::workloads::{BASELINE, run_all};
use crate::{Measurements, Runner};
use flashlane_scenario::workload::clone::SlackerTrace;
use flashlane_scenario::{Mix, SchedulerChoice};
use flashlane_sim::RunError;

/// The estimator as the model defines it, as the paper words it, with the residual read from the hardware (model
/// 1.2.1), and with the error term of footnote 3.
const VARIANTS: [(&str, &[&str]); 4] = [
    ("decided", &[]),
    ("literal", &["adv_literal", "double_count"]),
    ("phy", &["residual_phy"]),
    ("err_term", &["err_term"]),
];

/// Runs SLK-E5.
pub fn errors(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let shadowed = VARIANTS.map(|(name, switches)| {
        let parameters = switches.iter().chain(&["shadow"]).map(|switch| (switch.to_string(), 1)).collect();
        let mix = Mix { name: Some(name.into()), base: Some(BASELINE.into()), parameters, ..Mix::default() };
        SchedulerChoice::Mix(Box::new(mix))
    });
    let made = run_all(runner, SlackerTrace::all(), &[], |document| document.schedulers = Some(shadowed.to_vec()))?;
    let mut figures = Measurements::default();
    for one in &made {
        let name = one.workload.name.as_str();
        for run in &one.figures.schedulers {
            let Some(estimation) = &run.estimation else { continue };
            let (all, variant) = (&estimation.all, run.name.as_str());
            figures.push_some(&["estimation", "error_percent", variant, name], all.error_percent);
            figures.push_some(&["estimation", "mape_percent", variant, name], all.mape_percent);
            let parts = [
                ("queue", &all.parts.queue),
                ("gc", &all.parts.gc),
                ("interference", &all.parts.interference),
                ("residual", &all.parts.residual),
            ];
            for (part, figure) in parts {
                // Estimated minus actual, in percent of the actual response time: the part's contribution to the error.
                let share = 100.0 * (figure.estimated_ns - figure.actual_ns) / all.actual_ns.max(1.0);
                figures.push(&["estimation_by_part_percent", variant, part, name], share);
            }
        }
    }
    Ok(figures)
}
