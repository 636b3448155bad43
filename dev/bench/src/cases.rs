//! The registry of what is measured. A case is four labels and a function; the program, the table and the file go
//! through this list.
//!
//! The calibration cases measure the machine, not the simulator: the cost of arithmetic and of a cache miss, so that
//! figures of two machines can be compared.

use std::hint::black_box;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

use crate::case::Case;
use crate::meter::{Meter, measured};
use crate::outcome::Outcome;

/// Every case, in the order of the table.
pub fn all() -> Vec<Case> {
    let mut cases = crate::engine::all();
    cases.extend(crate::hosted::all());
    cases.extend([
        Case {
            labels: ["calibration", "arithmetic", "none", "1"].map(String::from),
            requests: 50_000_000,
            counted: 500_000,
            run: Box::new(arithmetic),
        },
        Case {
            labels: ["calibration", "cache-miss", "none", "1"].map(String::from),
            requests: 5_000_000,
            counted: 500_000,
            run: Box::new(cache_miss),
        },
    ]);
    cases
}

/// Steps of a PCG generator: a multiplication, an addition and a rotation each.
fn arithmetic(requests: u64) -> Result<Outcome, String> {
    let mut rng = Pcg32::seed_from_u64(1);
    let meter = Meter::begin();
    let sum = measured(|| (0..requests).fold(0, |sum, _| sum ^ rng.next_u32()));
    black_box(sum);
    meter.end(requests)
}

/// Reads at random places of a 64 MiB table, each place read from the one before.
fn cache_miss(requests: u64) -> Result<Outcome, String> {
    const ENTRIES: usize = 1 << 24;
    let mut rng = Pcg32::seed_from_u64(1);
    let table: Vec<u32> = (0..ENTRIES).map(|_| rng.next_u32()).collect();
    let meter = Meter::begin();
    // The counter keeps the walk out of short cycles.
    let at = measured(|| (0..requests).fold(0u32, |at, i| table[(at ^ i as u32) as usize % ENTRIES]));
    black_box(at);
    meter.end(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_case_runs() {
        let mut names: Vec<String> = all().iter().map(Case::name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        for case in all() {
            let outcome = (case.run)(2_000).unwrap();
            assert!(outcome.items >= 2_000 && outcome.work_ns > 0, "{}: {outcome}", case.name());
            assert!(case.counted > 0 && case.requests > 0);
        }
    }
}
