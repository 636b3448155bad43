//! Checks that a run is not below its bounds.

use flashlane_ceiling::{Bound, Class, Effort, Placement, Work, Writes};
use flashlane_core::arrival::Span;
use flashlane_core::{Completion, Time};
use flashlane_sched::catalogue::{Recipe, build};
use flashlane_ssd::Config;

use super::play::{TestRequest, Touch};

/// Quick enough to be checked with every run.
const EFFORT: Effort = Effort { window: 2_000_000, steps: 12, pieces: 40_000_000 };

/// Checks that the completions of `asks` under `recipe` are not below the bounds. Returns their mean over the bound.
pub fn hold(config: &Config, recipe: &Recipe, asks: &[TestRequest], completions: &[Completion]) -> Result<f64, String> {
    let mut work = Work::new(config);
    for ask in asks {
        let extent = match &ask.touch {
            Touch::Bytes(offset, length) => Span::Bytes { offset: *offset, length: *length },
            Touch::Pages(list) => Span::Pages(list.clone()),
        };
        work.add(Time::from_ns(ask.at), ask.op, &extent, true);
    }
    let Some(bounds) = work.bounds(&EFFORT) else { return Ok(1.0) };
    let scheduler = build(recipe).expect("a legal recipe");
    let class = Class {
        placement: if scheduler.place.declares().is_static { Placement::Fixed } else { Placement::Free },
        writes: if scheduler.cancel.declares().keeps_all { Writes::Kept } else { Writes::Dropped },
    };
    let Bound { mean_ns, worst_ns } = bounds.of(class);
    let of_data = || completions.iter().filter(|c| c.op.is_data());
    let responses = || of_data().map(|c| (c.done - c.arrival).ns());
    let (sum, worst) = (responses().sum::<u64>(), responses().max().unwrap_or(0));
    let count = of_data().count() as u64;
    if sum < mean_ns * count || worst < worst_ns {
        return Err(format!("mean {} below {mean_ns}, or worst {worst} below {worst_ns}, {class:?}", sum / count));
    }
    Ok(sum as f64 / (mean_ns.max(1) * count.max(1)) as f64)
}
