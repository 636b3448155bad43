//! Runs every target for a short time; `make fuzz` runs them for longer.

use flashlane_fuzz::engine::{Effort, PATIENCE, campaign};
use flashlane_fuzz::targets;

#[test]
fn every_target_survives_a_few_thousand_inputs() {
    for target in targets::ALL {
        match campaign(*target, 20_261_121, Effort::Inputs(5_000), PATIENCE) {
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
