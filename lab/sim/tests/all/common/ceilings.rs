//! Checks that a run is not below its bounds.

use flashlane_ceiling::{Bound, Class, Effort, Placement, Work, Writes};
use flashlane_core::arrival::Span;
use flashlane_core::{Completion, Time};
use flashlane_sched::catalogue::{Recipe, build};
use flashlane_ssd::Config;

use super::play::{TestRequest, Touch};

/// Quick enough to be checked with every run.
const EFFORT: Effort = Effort { window: [100, 2_000_000], steps: 12, pieces: 40_000_000 };

/// The work of `asks`, all of which are counted.
pub fn work(config: &Config, asks: &[TestRequest]) -> Work {
    let mut work = Work::new(config);
    for ask in asks {
        let extent = match &ask.touch {
            Touch::Bytes(offset, length) | Touch::Fua(offset, length) => {
                Span::Bytes { offset: *offset, length: *length }
            }
            Touch::Pages(list) => Span::Pages(list.clone()),
        };
        work.add(Time::from_ns(ask.at), ask.op, &extent, true);
    }
    work
}

/// Checks that the completions of `asks` under `recipe` are not below the bounds. Returns their mean over the bound.
pub fn hold(config: &Config, recipe: &Recipe, asks: &[TestRequest], completions: &[Completion]) -> Result<f64, String> {
    let Some(bounds) = work(config, asks).bounds(&EFFORT) else { return Ok(1.0) };
    let scheduler = build(recipe).expect("a legal recipe");
    let class = Class {
        placement: if scheduler.place.declares().is_static { Placement::Fixed } else { Placement::Free },
        writes: if scheduler.cancel.declares().keeps_all { Writes::Kept } else { Writes::Dropped },
    };
    let bound = bounds.of(class);
    let mut responses: Vec<u64> =
        completions.iter().filter(|c| c.op.is_data()).map(|c| (c.done - c.arrival).ns()).collect();
    responses.sort_unstable();
    let count = responses.len() as u64;
    let at = |thousandths: u64| responses[(count * thousandths).div_ceil(1000).saturating_sub(1) as usize];
    let sum: u64 = responses.iter().sum();
    let reached = Bound { mean_ns: sum / count, p99_ns: at(990), p99_9_ns: at(999), worst_ns: at(1000) };
    let figures = |of: &Bound| [of.mean_ns, of.p99_ns, of.p99_9_ns, of.worst_ns];
    if figures(&reached).iter().zip(figures(&bound)).any(|(&reached, bound)| reached < bound) {
        return Err(format!("{reached:?} below {bound:?}, {class:?}"));
    }
    Ok(sum.max(count) as f64 / (bound.mean_ns.max(1) * count) as f64)
}
