//! How well response times are estimated (SLK-E5): the estimator in the baseline's shadow.

use flashlane_core::event::{End, Event, Stamped};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::workloads::{BASELINE, document, requests};
use crate::papers::{Bench, Figures};
use crate::run::{Onlookers, RunError};
use crate::scenario::{Mix, SchedulerChoice};
use crate::workload::clone::SlackerRow;

/// The estimator as SPEC decides, by the letter of the paper, and with the hardware asked for the residual (SPEC 1.2.1).
const VARIANTS: [(&str, &[&str]); 3] =
    [("decided", &[]), ("literal", &["adv_literal", "double_count"]), ("phy", &["residual_phy"])];

/// SLK-E5.
pub fn errors(bench: &Bench<'_>) -> Result<Figures, RunError> {
    let mut runs = Vec::new();
    for row in SlackerRow::all() {
        let seeds = if bench.trace(&row.name)?.is_some() { vec![1] } else { bench.seeds() };
        for seed in seeds {
            runs.extend(VARIANTS.map(|variant| (row.clone(), seed, variant)));
        }
    }
    let made: Vec<(String, &str, Errors)> = runs
        .into_par_iter()
        .map(|(row, seed, (variant, switches))| {
            let mut document = document(bench, &row, requests(bench), seed, &[])?;
            let switches = switches.iter().chain(&["shadow"]).map(|name| (name.to_string(), 1)).collect();
            let mix = Mix { base: Some(BASELINE.into()), parameters: switches, ..Mix::default() };
            document.schedulers = Some(vec![SchedulerChoice::Mix(Box::new(mix))]);
            let mut errors = Errors::default();
            bench.watch(
                document,
                Onlookers { events: Some(&mut |event| errors.observe(event)), ..Onlookers::default() },
            )?;
            Ok((row.name, variant, errors))
        })
        .collect::<Result<_, RunError>>()?;
    let mut figures = Figures::default();
    for (name, variant, errors) in made {
        figures.push(&["estimation", "error_percent", variant, &name], errors.of_sums_percent());
        figures.push(&["estimation", "mape_percent", variant, &name], errors.mean_percent());
        figures.push(&["estimation", "bias_percent", variant, &name], errors.bias_percent());
    }
    Ok(figures)
}

/// Estimated against actual response times of transactions.
#[derive(Default)]
struct Errors {
    /// When it was queued, and its estimate, of each that has one.
    open: FxHashMap<u64, (u64, u64)>,
    queued: FxHashMap<u64, u64>,
    estimated: u128,
    actual: u128,
    relative: f64,
    count: u64,
}

impl Errors {
    fn observe(&mut self, stamped: &Stamped) {
        let at = stamped.at.ns();
        match stamped.event {
            Event::Queued { txn, request: Some(_), .. } => {
                self.queued.insert(txn, at);
            }
            Event::Estimated { txn, estimate, .. } => {
                if let Some(queued) = self.queued.remove(&txn) {
                    self.open.insert(txn, (queued, estimate.response().ns()));
                }
            }
            Event::Ended { txn, end, .. } => {
                self.queued.remove(&txn);
                if let Some((queued, estimated)) = self.open.remove(&txn)
                    && end == End::Flash
                {
                    let actual = at - queued;
                    self.estimated += u128::from(estimated);
                    self.actual += u128::from(actual);
                    self.relative += estimated.abs_diff(actual) as f64 / actual.max(1) as f64;
                    self.count += 1;
                }
            }
            _ => {}
        }
    }

    /// Sum of the estimates over the sum of the response times, less one, in percent.
    fn bias_percent(&self) -> f64 {
        100.0 * (self.estimated as f64 - self.actual as f64) / (self.actual as f64).max(1.0)
    }

    /// `|sum of estimates - sum of response times| / sum of response times`, percent (SPEC 1.2).
    fn of_sums_percent(&self) -> f64 {
        self.bias_percent().abs()
    }

    /// Mean of the relative errors of single transactions, percent.
    fn mean_percent(&self) -> f64 {
        100.0 * self.relative / self.count.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::decide::Estimate;
    use flashlane_core::transaction::FlashOp;
    use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, RequestId, Time};

    #[test]
    fn errors_of_two_transactions() {
        let mut errors = Errors::default();
        let mut at = |ns: u64, event: Event| errors.observe(&Stamped { at: Time::from_ns(ns), event });
        let queued = |txn, request| Event::Queued {
            txn,
            request,
            flow: FlowId(0),
            op: FlashOp::Read,
            owner: Owner::User,
            lpn: Lpn(0),
            plane: PlaneId(0),
            bytes: 1,
        };
        let estimated = |txn, queue| Event::Estimated {
            txn,
            estimate: Estimate {
                queue: Duration::from_ns(queue),
                service: Duration::from_ns(20),
                ..Estimate::default()
            },
            slack: Duration::ZERO,
        };
        let ended = |txn| Event::Ended { txn, end: End::Flash, paused: Duration::ZERO };
        for txn in 0..2 {
            at(10, queued(txn, Some(RequestId(0))));
        }
        at(10, queued(2, None));
        at(10, estimated(0, 100));
        at(10, estimated(1, 0));
        at(110, ended(0));
        at(120, ended(2));
        at(50, ended(1));
        // Estimated 120 and 20, actual 100 and 40.
        assert_eq!((errors.count, errors.of_sums_percent(), errors.mean_percent()), (2, 0.0, 35.0));
    }
}
