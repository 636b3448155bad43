//! Four copies of msnfs at four priority levels (FLN-E19), and all at one level.

use super::intensity::closed;
use super::setup::{clone, document, drive_in, overwritten, synthetic, systems};
use super::systems::ms;
use crate::{Measurements, Runner};
use flashlane_scenario::{Document, DriveState, Flow, Run};
use flashlane_sim::RunError;

/// Levels of the copies: the paper's and a control.
const LEVELS: [(&str, [u8; 4]); 2] = [("levels", [0, 1, 2, 3]), ("alike", [0; 4])];

/// Runs FLN-E19.
pub fn levels(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut runs = Vec::new();
    for (name, levels) in LEVELS {
        let copy = |(i, priority): (usize, u8)| -> Result<Flow, RunError> {
            Ok(Flow { name: Some(format!("msnfs-{i}")), priority, ..clone(runner, "msnfs", ms(runner))? })
        };
        let flows: Vec<Flow> = levels.into_iter().enumerate().map(copy).collect::<Result<_, _>>()?;
        for seed in runner.seeds() {
            let (flin, time) = (systems(runner, &["flin"]), (seed, ms(runner)));
            let document = document(runner, format!("flin E19 {name}"), time, flin, flows.clone());
            runs.push((name, Document { device: overwritten(runner), ..document }));
        }
    }
    let mut figures = Measurements::default();
    for (name, made) in runner.compare(runs)? {
        for flow in &made.schedulers[0].flows {
            figures.push_some(&["msnfs_slowdown", name, &flow.name], flow.slowdown);
        }
    }
    slots(runner, &mut figures)?;
    Ok(figures)
}

/// Which flows are served while all have reads waiting at every unit.
fn slots(runner: &Runner<'_>, figures: &mut Measurements) -> Result<(), RunError> {
    let ms = runner.amount(1_000, 200);
    let flow = |i: u8| Flow { priority: i, ..synthetic(&format!("level-{i}"), ms, closed(4_096, 1.0)) };
    let (flin, flows) = (systems(runner, &["flin"]), (0..4).map(flow).collect());
    let document = document(runner, "flin E19 slots".into(), (runner.first_seed(), ms), flin, flows);
    let run = Run { alone: Some(false), ..document.run.clone() };
    let document = Document { device: drive_in(runner, DriveState::Filled), run, ..document };
    let made = runner.compare(vec![((), document)])?;
    let flows = &made[0].1.schedulers[0].flows;
    let served = |i: usize| flows[i].figures.all.as_ref().map_or(0, |f| f.requests) as f64;
    let all: f64 = (0..4).map(served).sum();
    for (i, flow) in flows.iter().enumerate() {
        figures.push(&["slots_percent", &flow.name], 100.0 * served(i) / all);
    }
    Ok(())
}
