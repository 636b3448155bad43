//! The cost of FLIN (FLN-E21, E22): memory as the paper lists it, the number of queue entries visited, and the most that is served.

use flashlane_core::event::{Event, Stamped};
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Owner, PlaneId};
use flashlane_sched::flin::dram_bytes;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

#[cfg(test)]
use super::intensity::SATURATION_MB_PER_S;
use super::intensity::closed;
use super::mixes;
use super::setup::{PAGE, clone, document, drive_in, synthetic, systems};
use super::systems::ms;
use crate::{Counter, Measurements, Runner};
use flashlane_scenario::{Document, DriveState, Run, Scenario};
use flashlane_sim::{Outcome, RunError};

/// Time for visiting a queue entry, ns: 20 cycles of 2 ns at 500 MHz (model 2.2.1).
const NS_A_VISIT: f64 = 20.0 * 2.0;

/// Runs FLN-E21 and E22.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
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
    throughput(runner, &mut figures)?;
    Ok(figures)
}

/// Shares of reads with which the most that is served is measured, percent.
const READS: [u32; 3] = [100, 50, 0];
/// Requests of each of two flows that are outstanding meanwhile: 64 a unit.
const OUTSTANDING: u32 = 1_024;

/// What two flows of pages at random places get that keep all units busy, MB/s, without collection.
fn throughput(runner: &Runner<'_>, figures: &mut Measurements) -> Result<(), RunError> {
    let ms = runner.amount(1_000, 100);
    let mut runs = Vec::new();
    for percent in READS {
        for seed in runner.seeds() {
            let flow = |name| synthetic(name, ms, closed(OUTSTANDING, f64::from(percent) / 100.0));
            let flows = vec![flow("one"), flow("other")];
            let rows = systems(runner, &["sprinkler", "flin"]);
            let document = document(runner, format!("flin E22 {percent} % reads"), (seed, ms), rows, flows);
            let run = Run { alone: Some(false), ..document.run.clone() };
            runs.push((
                percent.to_string(),
                Document { device: drive_in(runner, DriveState::Filled), run, ..document },
            ));
        }
    }
    for (percent, made) in runner.compare(runs)? {
        for run in &made.schedulers {
            let requests = run.total.all.as_ref().map(|all| all.requests as f64);
            let mb_per_s = requests.map(|requests| requests * PAGE as f64 / 1e6 / (0.9 * ms as f64 / 1e3));
            figures.push_some(&["most_served_mb_per_s", &percent, &run.name], mb_per_s);
        }
    }
    Ok(())
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
    type Counts = Lengths;

    fn of(scenario: &Scenario) -> Result<QueueLengths, RunError> {
        let geometry = scenario.device_config()?.geometry;
        let lengths = vec![0; 2 * geometry.units() as usize];
        Ok(QueueLengths { geometry, places: FxHashMap::default(), lengths, seen: Lengths::default() })
    }

    fn observe(&mut self, stamped: &Stamped) {
        if let Event::Queued { txn, owner: Owner::User, plane, op, .. } = stamped.event {
            let place = self.place(plane, op);
            let (seen, length) = (&mut self.seen, self.lengths[place]);
            (seen.joined, seen.sum, seen.most) = (seen.joined + 1, seen.sum + length, seen.most.max(length));
            self.lengths[place] += 1;
            self.places.insert(txn, place);
        } else if let Event::Dispatched { txn, .. } = stamped.event
            && let Some(place) = self.places.remove(&txn)
        {
            self.lengths[place] -= 1;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Setting, Settings};

    /// With every unit busy the drive reads what its units can: 32 of them a page in 99.6 us each (model 2.2), whatever the scheduler.
    #[test]
    fn the_most_that_is_read_is_what_the_units_can_read() {
        let settings = Settings::quick(Setting::Plain);
        let runner = Runner::new(&settings, Place::default());
        let mut figures = Measurements::default();
        throughput(&runner, &mut figures).expect("runs");
        for system in ["sprinkler", "flin"] {
            let read = figures.mean(&["most_served_mb_per_s", "100", system]).expect("measured");
            assert!((0.95..1.05).contains(&(read / SATURATION_MB_PER_S)), "{system}: {read} MB/s");
            let written = figures.mean(&["most_served_mb_per_s", "0", system]).expect("measured");
            assert!(written < read / 5.0, "{system}: {written} MB/s");
        }
    }
}
