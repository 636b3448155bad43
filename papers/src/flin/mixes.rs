//! Mixes of four traces, and how they are drawn.
//!
//! The paper says "randomly-selected combinations of four" in four classes by the share of traces of high interference,
//! but not which ones. Seed 1 draws the forty of `papers/flin/mixes.toml`, further seeds draw further forty. One trace, tpcc, is so much heavier than all others that a class is as heavy as the number of its mixes that have it
//! (docs/results/papers/flin.md), so every class has it as often as is to be expected of a random choice.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use flashlane_scenario::workload::clone::{FlinTrace, Interference};

/// Traces in a mix.
const TRACES: usize = 4;
/// Mixes of a class and draw.
const MIXES: usize = 10;
/// Traces of high interference in the mixes of each class.
const CLASSES: [usize; 4] = [1, 2, 3, 4];
/// The trace that each class has in proportion.
const HEAVIEST: &str = "tpcc";

/// Four traces that share the drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceMix {
    /// Its class and number: `25-01`.
    pub name: String,
    /// Percent of its traces that have high interference.
    pub class: u32,
    /// Its traces, in the order of the flows.
    pub traces: [String; TRACES],
}

/// The first `count` mixes of each class for a seed.
pub fn first(count: usize, seed: u64) -> Vec<TraceMix> {
    let mut mixes = select(seed);
    let mut taken = std::collections::BTreeMap::new();
    mixes.retain(|mix| {
        let taken = taken.entry(mix.class).or_insert(0);
        *taken += 1;
        *taken <= count
    });
    mixes
}

/// Draws mixes: for each class ten different sets of four different traces, each in a random order. Each class has tpcc in as many
/// mixes as is to be expected, evenly spread over them: 2, 3, 5 and 7 of 10. Mixes of seed 2 are numbered from 11, and so on.
fn select(seed: u64) -> Vec<TraceMix> {
    let workloads = FlinTrace::all();
    let names = |interference| -> Vec<&str> {
        workloads
            .iter()
            .filter(|workload| workload.interference == interference)
            .map(|workload| workload.name.as_str())
            .collect()
    };
    let (high, low) = (names(Interference::High), names(Interference::Low));
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut mixes = Vec::new();
    for of_high in CLASSES {
        let class = (100 * of_high / TRACES) as u32;
        let mut sets: Vec<Vec<&str>> = Vec::new();
        while sets.len() < MIXES {
            let mut chosen = stratum(&mut rng, &high, of_high, sets.len());
            chosen.extend(&shuffled(&mut rng, low.clone())[..TRACES - of_high]);
            let mut set = chosen.clone();
            set.sort_unstable();
            if sets.contains(&set) {
                continue;
            }
            sets.push(set);
            let order = shuffled(&mut rng, chosen);
            let name = format!("{class}-{:02}", MIXES as u64 * (seed - 1) + sets.len() as u64);
            mixes.push(TraceMix { name, class, traces: std::array::from_fn(|i| order[i].to_owned()) });
        }
    }
    mixes
}

/// The traces of high interference of a class's `number`-th mix, from 0: `of_high` of `high`, the heaviest among them if that keeps
/// the number of mixes with it nearest to its expectation.
fn stratum<'a>(rng: &mut Pcg64Mcg, high: &[&'a str], of_high: usize, number: usize) -> Vec<&'a str> {
    let expected = |mixes: usize| (2 * mixes * of_high + high.len()) / (2 * high.len());
    let (heaviest, others): (Vec<&str>, Vec<&str>) = high.iter().partition(|&&name| name == HEAVIEST);
    let mut chosen = if expected(number + 1) > expected(number) { heaviest } else { Vec::new() };
    let more = of_high - chosen.len();
    chosen.extend(&shuffled(rng, others)[..more]);
    chosen
}

/// `names` in a random order (Fisher and Yates). The bias of the modulus is below 2^-59.
fn shuffled<'a>(rng: &mut Pcg64Mcg, mut names: Vec<&'a str>) -> Vec<&'a str> {
    for i in (1..names.len()).rev() {
        names.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
# 40 mixes of four traces of FLIN's table 2, ten of each class: 25, 50, 75 and 100 % of the traces interfere highly, tpcc in as many of them as is to be expected.
# What seed 1 draws (papers/src/flin/mixes.rs).
";

    #[test]
    fn the_stored_mixes_are_those_drawn() {
        let mut text = String::from(HEAD);
        for TraceMix { name, class, traces } in select(1) {
            text.push_str(&format!("\n[[mix]]\nname = {name:?}\nclass = {class}\ntraces = {traces:?}\n"));
        }
        assert_eq!(text, include_str!("../../flin/mixes.toml"));
    }

    /// Of six traces of high interference a class has one to four, so tpcc is to be expected in a sixth to two thirds of its
    /// mixes: within half a mix of that among the first of any number, in every draw.
    #[test]
    fn every_class_has_tpcc_as_often_as_is_to_be_expected() {
        for seed in 1..=20 {
            for count in 1..=MIXES {
                for of_high in CLASSES {
                    let class = (25 * of_high) as u32;
                    let mixes = first(count, seed);
                    let with = |mix: &&TraceMix| mix.class == class && mix.traces.iter().any(|name| name == HEAVIEST);
                    let found = mixes.iter().filter(with).count() as f64;
                    let expected = (count * of_high) as f64 / 6.0;
                    assert!((found - expected).abs() <= 0.5, "seed {seed}, class {class}: {found} of {count}");
                }
            }
        }
    }

    #[test]
    fn classes_are_what_they_say() {
        for seed in [1, 2] {
            let mixes = first(MIXES, seed);
            for mix in &mixes {
                let workloads: Vec<FlinTrace> =
                    mix.traces.iter().map(|name| FlinTrace::named(name).expect("a workload")).collect();
                let high = workloads.iter().filter(|workload| workload.interference == Interference::High).count();
                assert_eq!(100 * high, mix.class as usize * TRACES, "{}", mix.name);
                let mut names = mix.traces.to_vec();
                names.sort();
                names.dedup();
                assert_eq!(names.len(), TRACES, "{}", mix.name);
            }
            let mut names: Vec<&str> = mixes.iter().map(|mix| mix.name.as_str()).collect();
            names.dedup();
            assert_eq!((names.len(), names[0]), (MIXES * CLASSES.len(), ["25-01", "25-11"][seed as usize - 1]));
        }
        assert_eq!(first(2, 1).len(), 2 * CLASSES.len());
    }
}
