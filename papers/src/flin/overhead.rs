//! The cost of FLIN (FLN-E21, E22): memory as the paper lists it, and the number of queue entries visited.

use flashlane_core::event::{Event, Stamped};
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Owner, PlaneId};
use flashlane_sched::flin::dram_bytes;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::mixes;
use super::setup::{clone, document, systems};
use super::systems::ms;
use crate::{Counter, Figures, Runner};
use flashlane_lab::run::{Outcome, RunError};
use flashlane_lab::scenario::Scenario;

/// Time for visiting a queue entry, ns: 20 cycles of 2 ns at 500 MHz (model 2.2.1).
const NS_A_VISIT: f64 = 20.0 * 2.0;

/// Runs FLN-E21 and E22.
pub fn all(runner: &Runner<'_>) -> Result<Figures, RunError> {
    let mut figures = Figures::default();
    let bytes = dram_bytes(64, 128, 262_144);
    figures.push(&["dram", "bytes"], bytes as f64);
    figures.push(&["dram", "percent_of_2_gib"], 100.0 * bytes as f64 / f64::from(1u32 << 31));
    let mut runs = Vec::new();
    for mix in mixes::first(1, runner.first_seed()) {
        let flows = mix.traces.iter().map(|name| clone(runner, name, ms(runner))).collect::<Result<_, _>>()?;
        let document = document(
            runner,
            format!("flin E22 {}", mix.name),
            (runner.first_seed(), ms(runner)),
            systems(runner, &["flin"]),
            flows,
        );
        runs.push((mix, document));
    }
    for (mix, seen) in runner.count::<QueueLengths, _>(runs)? {
        // At most two passes over the whole queue.
        let visits = 2.0 * seen.sum as f64 / seen.joined.max(1) as f64;
        figures.push(&["visits_at_most", "mean", &mix.name], visits);
        figures.push(&["visits_at_most", "most", &mix.name], 2.0 * seen.most as f64);
        figures.push(
            &["visits_at_most", "percent_of_mean_response", &mix.name],
            100.0 * visits * NS_A_VISIT / seen.mean_response_ns,
        );
    }
    Ok(figures)
}

/// How many user transactions of the same unit and direction wait when another joins them.
struct QueueLengths {
    geometry: Geometry,
    /// For each waiting transaction, the queue it is in.
    places: FxHashMap<u64, usize>,
    lengths: Vec<u64>,
    seen: Lengths,
}

/// What queue lengths come to.
#[derive(Default, Serialize, Deserialize)]
struct Lengths {
    joined: u64,
    sum: u64,
    most: u64,
    mean_response_ns: f64,
}

impl QueueLengths {
    fn place(&self, plane: PlaneId, op: FlashOp) -> usize {
        2 * self.geometry.unit_of(plane).index() + usize::from(op == FlashOp::Program)
    }
}

impl Counter for QueueLengths {
    const NAME: &'static str = "queue lengths where transactions join 1";
    type Figures = Lengths;

    fn of(scenario: &Scenario) -> Result<QueueLengths, RunError> {
        let geometry = scenario.device_config()?.geometry;
        let lengths = vec![0; 2 * geometry.units() as usize];
        Ok(QueueLengths { geometry, places: FxHashMap::default(), lengths, seen: Lengths::default() })
    }

    fn observe(&mut self, stamped: &Stamped) {
        match stamped.event {
            Event::Queued { txn, owner: Owner::User, plane, op, .. } => {
                let place = self.place(plane, op);
                let (seen, length) = (&mut self.seen, self.lengths[place]);
                (seen.joined, seen.sum, seen.most) = (seen.joined + 1, seen.sum + length, seen.most.max(length));
                self.lengths[place] += 1;
                self.places.insert(txn, place);
            }
            Event::Dispatched { txn, .. } => {
                if let Some(place) = self.places.remove(&txn) {
                    self.lengths[place] -= 1;
                }
            }
            _ => {}
        }
    }

    fn figures(self, outcome: &Outcome) -> Lengths {
        let (mut requests, mut sum) = (0, 0.0);
        for flow in &outcome.flows {
            let all = flow.response_all();
            (requests, sum) = (requests + all.count(), sum + all.mean().unwrap_or(0.0) * all.count() as f64);
        }
        Lengths { mean_response_ns: sum / requests.max(1) as f64, ..self.seen }
    }
}
