//! Runs every target for a short time; `make fuzz` runs them for longer.

use flashlane_fuzz::engine::{Effort, TIMEOUT, campaign};
use flashlane_fuzz::targets;

#[test]
fn every_target_survives_a_few_thousand_inputs() {
    for target in targets::ALL {
        // These write files, or plan the runs of a sweep, for each input.
        let is_slow = matches!(target.name, "conditions" | "state-files" | "stores");
        let inputs = if is_slow { 1_000 } else { 5_000 };
        match campaign(*target, 20_261_121, Effort::Inputs(inputs), TIMEOUT) {
            Ok(stats) => assert!(stats.answers > 1, "{}: all inputs got the same answer", target.name),
            Err(failure) => {
                panic!("{}: {} on {}", target.name, failure.message, failure.input.escape_ascii())
            }
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
