//! The 40 mixes of four traces: stored, and how they were drawn.
//!
//! The paper says "randomly-selected combinations of four" in four classes by the share of traces of high interference,
//! but not which ones. They are stored in `papers/flin/mixes.toml`, so that all runs use the same.

use std::fmt::Write as _;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Deserialize;

use flashlane_lab::workload::clone::{FlinTrace, Interference};

/// Traces in a mix.
const TRACES: usize = 4;
/// Mixes of a class.
const MIXES: usize = 10;
/// Traces of high interference in the mixes of each class.
const CLASSES: [usize; 4] = [1, 2, 3, 4];
/// Seed of the draw.
const SEED: u64 = 1;

/// Four traces that share the drive.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceMix {
    /// Its class and number: `25-01`.
    pub name: String,
    /// Percent of its traces that have high interference.
    pub class: u32,
    /// Its traces, in the order of the flows.
    pub traces: [String; TRACES],
}

#[derive(Deserialize)]
struct File {
    mix: Vec<TraceMix>,
}

/// The stored mixes.
pub fn stored() -> Vec<TraceMix> {
    let text = include_str!("../../flin/mixes.toml");
    let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("mixes.toml: {error}"));
    file.mix
}

/// The first `count` stored mixes of each class.
pub fn first(count: usize) -> Vec<TraceMix> {
    let mut mixes = stored();
    let mut taken = std::collections::BTreeMap::new();
    mixes.retain(|mix| {
        let taken = taken.entry(mix.class).or_insert(0);
        *taken += 1;
        *taken <= count
    });
    mixes
}

/// Draws the mixes: for each class ten different sets of four different traces, each in a random order.
pub fn draw() -> Vec<TraceMix> {
    let workloads = FlinTrace::all();
    let names = |interference| -> Vec<&str> {
        workloads
            .iter()
            .filter(|workload| workload.interference == interference)
            .map(|workload| workload.name.as_str())
            .collect()
    };
    let (high, low) = (names(Interference::High), names(Interference::Low));
    let mut rng = Pcg64Mcg::seed_from_u64(SEED);
    let mut mixes = Vec::new();
    for of_high in CLASSES {
        let class = (100 * of_high / TRACES) as u32;
        let mut sets: Vec<Vec<&str>> = Vec::new();
        while sets.len() < MIXES {
            let mut chosen = shuffled(&mut rng, high.clone())[..of_high].to_vec();
            chosen.extend(&shuffled(&mut rng, low.clone())[..TRACES - of_high]);
            let mut set = chosen.clone();
            set.sort_unstable();
            if sets.contains(&set) {
                continue;
            }
            sets.push(set);
            let order = shuffled(&mut rng, chosen);
            let name = format!("{class}-{:02}", sets.len());
            mixes.push(TraceMix { name, class, traces: std::array::from_fn(|i| order[i].to_owned()) });
        }
    }
    mixes
}

/// `names` in a random order (Fisher and Yates). The bias of the modulus is below 2^-59.
fn shuffled<'a>(rng: &mut Pcg64Mcg, mut names: Vec<&'a str>) -> Vec<&'a str> {
    for i in (1..names.len()).rev() {
        names.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
    }
    names
}

/// The mixes as a data file.
pub fn to_toml(mixes: &[TraceMix]) -> String {
    let mut text = String::from(
        "# 40 mixes of four traces of FLIN's table 2, ten of each class: 25, 50, 75 and 100 % of the traces interfere highly.\n\
         # Drawn with seed 1 by: flashlane paper flin --mixes\n",
    );
    for mix in mixes {
        let traces = mix.traces.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\n[[mix]]\nname = {:?}\nclass = {}\ntraces = [{traces}]\n", mix.name, mix.class);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_mixes_are_those_drawn() {
        let drawn = draw();
        assert_eq!(to_toml(&drawn), include_str!("../../flin/mixes.toml"));
        assert_eq!(stored(), drawn);
    }

    #[test]
    fn classes_are_what_they_say() {
        for mix in stored() {
            let workloads: Vec<FlinTrace> =
                mix.traces.iter().map(|name| FlinTrace::named(name).expect("a workload")).collect();
            let high = workloads.iter().filter(|workload| workload.interference == Interference::High).count();
            assert_eq!(100 * high, mix.class as usize * TRACES, "{}", mix.name);
            let mut names = mix.traces.to_vec();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), TRACES, "{}", mix.name);
        }
        assert_eq!(first(2).len(), 2 * CLASSES.len());
    }
}
