//! Mixes that the drive cannot serve: their slowdowns grow with the simulated time and are no figures.

use super::measures::{MEASURES, MixResult, SYSTEMS};
use crate::{Measurements, RunStats, falls_behind};

/// The systems that figures 10 to 12 compare.
const COMPARED: &[&str] = SYSTEMS.split_at(3).0;

/// Whether the drive cannot serve a mix: under each of the three systems that figures 10 to 12 compare some flow is overloaded, which
/// means that its backlog at its last arrival took more than a twentieth of the time of all arrivals to work off. A mix that one
/// of them keeps up with counts, also against those which do not.
fn is_overloaded(figures: &RunStats) -> bool {
    COMPARED.iter().all(|&system| {
        let run = figures.schedulers.iter().find(|run| run.name == system);
        run.is_some_and(|run| run.flows.iter().any(falls_behind))
    })
}

/// Adds the measures of the mixes that the drive can serve, as `served_MEASURE`, and how many it cannot by class; a note
/// names these.
pub fn add(figures: &mut Measurements, made: &[MixResult], ms: u64) {
    let mut named = Vec::new();
    for one in made {
        let overloaded = is_overloaded(&one.figures);
        let class = one.mix.class.to_string();
        figures.push(&["overloaded_mixes_percent", &class], if overloaded { 100.0 } else { 0.0 });
        if overloaded {
            named.push(one.mix.name.clone());
            continue;
        }
        for run in &one.figures.schedulers {
            let Some(fairness) = &run.fairness else { continue };
            for (what, value) in MEASURES {
                figures.push(&[&format!("served_{what}"), &run.name, &one.mix.name], value(fairness));
            }
        }
    }
    let names = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
    figures.note(format!(
        "overloaded, {} of {} mixes: {names}. Under each of {} the backlog of a flow at its last arrival takes more than a twentieth of the \
         {} s to work off; their slowdowns grow with the time simulated",
        named.len(),
        made.len(),
        COMPARED.join(", "),
        ms / 1_000
    ));
}
