//! Which mutants are drawn: spread over files by how much there is to change, the same for the same seed.
//!
//! Every mutant has a place in one order, which a seed gives; a sample is the beginning of it. So a larger sample holds
//! the smaller one, and code that comes or goes moves few of the others. Of every crate the same number is drawn.

use std::collections::BTreeMap;

use super::mutant::{Mutant, hash};

/// All mutants in the order in which they are drawn.
pub fn order(all: Vec<Mutant>, seed: u64) -> Vec<Mutant> {
    let mut files: BTreeMap<String, Vec<Mutant>> = BTreeMap::new();
    for mutant in all {
        files.entry(mutant.file.clone()).or_default().push(mutant);
    }
    let mut placed: Vec<(u64, Mutant)> = Vec::new();
    for (file, mut mutants) in files {
        mutants.sort_by_key(|m| hash(seed, &[m.id.as_bytes()]));
        // The i-th of n stands at (i + a share drawn for the file) / n of the way.
        let share = u128::from(hash(seed, &[file.as_bytes()]));
        let count = mutants.len() as u128;
        let place = |i: usize| ((((i as u128) << 64) + share) / count) as u64;
        placed.extend(mutants.into_iter().enumerate().map(|(i, mutant)| (place(i), mutant)));
    }
    placed.sort_by(|(a, x), (b, y)| (a, &x.file, &x.id).cmp(&(b, &y.file, &y.id)));
    placed.into_iter().map(|(_, mutant)| mutant).collect()
}

/// Of mutants in this order the first `count` of each crate.
pub fn first_of_each<T>(drawn: Vec<T>, count: usize, mutant: impl Fn(&T) -> &Mutant) -> Vec<T> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept = drawn;
    kept.retain(|drawn| {
        let of = seen.entry(mutant(drawn).krate().to_owned()).or_default();
        *of += 1;
        *of <= count
    });
    kept
}

/// The same mutants in another order: the first of each crate, then the second of each, so that whatever is done of them before time is up
/// is about as many of every crate.
pub fn in_turn<T>(drawn: Vec<T>, mutant: impl Fn(&T) -> &Mutant) -> Vec<T> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, T)> = Vec::new();
    for drawn in drawn {
        let of = seen.entry(mutant(&drawn).krate().to_owned()).or_default();
        ranked.push((*of, drawn));
        *of += 1;
    }
    ranked.sort_by_key(|&(rank, _)| rank);
    ranked.into_iter().map(|(_, drawn)| drawn).collect()
}

#[cfg(test)]
mod tests {
    use super::super::operators;
    use super::*;

    fn all() -> Vec<Mutant> {
        let file = |name: &str, sums: usize| {
            let body = (0..sums).map(|i| format!("g({});", 10 * i)).collect::<String>();
            operators::find(name, &format!("fn f() -> u8 {{ {body} }}")).unwrap()
        };
        [file("a.rs", 50), file("b.rs", 5), file("c.rs", 20)].concat()
    }

    fn ids(of: &[Mutant]) -> Vec<&str> {
        of.iter().map(|m| m.id.as_str()).collect()
    }

    #[test]
    fn every_mutant_once_and_the_same_for_a_seed() {
        let (one, again, other) = (order(all(), 1), order(all(), 1), order(all(), 2));
        assert_eq!(ids(&one), ids(&again));
        assert_ne!(ids(&one), ids(&other));
        let mut sorted = ids(&one);
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), all().len());
    }

    #[test]
    fn of_every_crate_the_same_number() {
        let file = |name: &str| operators::find(name, "fn f() -> bool { a < 1 && b < 2 }").unwrap();
        let drawn =
            order([file("engine/core/src/a.rs"), file("lab/sim/src/b.rs"), file("lab/sim/src/c.rs")].concat(), 3);
        let first = first_of_each(drawn.clone(), 2, |mutant| mutant);
        assert_eq!(["core", "sim"].map(|krate| first.iter().filter(|m| m.krate() == krate).count()), [2, 2]);
        let of_sim: Vec<Mutant> = drawn.into_iter().filter(|m| m.krate() == "sim").collect();
        assert!(
            ids(&of_sim).starts_with(&ids(&first.iter().filter(|m| m.krate() == "sim").cloned().collect::<Vec<_>>()))
        );
    }

    #[test]
    fn crates_take_turns() {
        let file = |name: &str| operators::find(name, "fn f() -> bool { a < 1 && b < 2 }").unwrap();
        let drawn = [file("lab/sim/src/b.rs"), file("lab/sim/src/c.rs"), file("engine/core/src/a.rs")].concat();
        let turns = in_turn(drawn.clone(), |mutant| mutant);
        assert_eq!(turns.iter().take(4).map(Mutant::krate).collect::<Vec<_>>(), ["sim", "core", "sim", "core"]);
        let of_sim: Vec<Mutant> = turns.into_iter().filter(|mutant| mutant.krate() == "sim").collect();
        let before: Vec<Mutant> = drawn.into_iter().filter(|mutant| mutant.krate() == "sim").collect();
        assert_eq!(ids(&of_sim), ids(&before), "those of a crate keep their order");
    }

    #[test]
    fn a_sample_takes_of_each_file_its_part() {
        for seed in 0..20 {
            let drawn = order(all(), seed);
            for (file, of) in [("a.rs", 100), ("b.rs", 10), ("c.rs", 40)] {
                let here = drawn[..75].iter().filter(|m| m.file == file).count();
                assert!(here.abs_diff(of / 2) <= 1, "{here} of {of} in {file}, seed {seed}");
            }
        }
    }
}
