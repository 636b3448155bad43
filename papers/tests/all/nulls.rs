//! Claims of sizes and directions differ where the method does nothing, and a tenth of its effect is no size. No run is made: the draws
//! are around the stored figures.

use std::collections::BTreeMap;
use std::path::Path;

use flashlane_papers::claims::Kind;
use flashlane_papers::nulls::{NullOutcome, draw};
use flashlane_papers::stored::{StoredMeasurements, file_of};
use flashlane_papers::{PAPERS, Paper, Setting};

/// Draws of a claim, every day and every night.
const DAILY: u32 = 100;
const NIGHTLY: u32 = 300;
/// The share of draws that may pass.
const MAX_SHARE: f64 = 0.1;

/// What the claims of a paper come to in so many draws from its stored figures, under the settings that are stored.
fn outcomes(paper: &Paper, draws: u32) -> Vec<(Setting, NullOutcome)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results/papers/results");
    let mut found = Vec::new();
    for setting in Setting::ALL {
        let file = file_of(paper.name, setting, None, 1);
        let Ok(gz) = std::fs::read(folder.join(&file)) else { continue };
        let stored = StoredMeasurements::read(&gz).unwrap_or_else(|why| panic!("{file}: {why}"));
        let drawn =
            draw(&paper.claims(), &stored.figures, setting, draws).unwrap_or_else(|why| panic!("{file}: {why}"));
        found.extend(drawn.into_iter().map(|outcome| (setting, outcome)));
    }
    found
}

/// In so many draws hardly a claim passes where the method does nothing.
fn claims_differ(draws: u32) {
    let (mut faults, mut drawn) = (Vec::new(), 0);
    for paper in PAPERS {
        let mut needed: BTreeMap<String, bool> = BTreeMap::new();
        for (setting, outcome) in outcomes(paper, draws) {
            drawn += 1;
            let passes = outcome.null_passes > MAX_SHARE || outcome.tenth_is_a_size > MAX_SHARE;
            if outcome.exception.is_some() {
                *needed.entry(outcome.id).or_default() |= passes;
            } else if passes {
                let NullOutcome { id, null_passes, tenth_is_a_size, .. } = outcome;
                faults.push(format!(
                    "{} {id}, {}: {:.0} % of the draws of its null do not differ, {:.0} % of those of a tenth are a size",
                    paper.name,
                    setting.name(),
                    100.0 * null_passes,
                    100.0 * tenth_is_a_size
                ));
            }
        }
        let idle = needed.into_iter().filter(|(_, is_needed)| !is_needed);
        faults.extend(idle.map(|(id, _)| format!("{} {id}: null_exception, and its null does not pass", paper.name)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(drawn > 50, "{drawn}");
}

#[test]
fn a_claim_differs_where_the_method_does_nothing() {
    claims_differ(DAILY);
}

#[test]
#[ignore = "nightly: three times as many draws"]
fn a_claim_differs_where_the_method_does_nothing_in_more_draws() {
    claims_differ(NIGHTLY);
}

#[test]
fn every_size_and_direction_has_a_null_or_a_reason() {
    for paper in PAPERS {
        for claim in paper.claims().claim {
            let wanted = matches!(claim.kind, Kind::Size | Kind::Direction) && claim.untestable.is_none();
            let is_named = claim.null.is_some() || claim.null_exception.is_some();
            assert!(!wanted || is_named, "{} {}: no null, and no null_exception that says why", paper.name, claim.id);
        }
    }
}
