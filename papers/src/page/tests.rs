//! The page of made-up papers.

use super::*;
use crate::measurements::Measurements;
use crate::stored::Made;

const CLAIMS: &str = r#"
paper = "p"
[[claim]]
id = "E1a"
experiment = "E1"
source = "s"
says = "a size"
published = "10"
kind = "size"
sizes = [10]
measured = "gain"
holds_if = "it > 1"
beside = { other = "gain * 2" }
[[claim]]
id = "E1b"
experiment = "E1"
source = "s"
says = "an input"
published = "1"
kind = "input"
measured = "1"
holds_if = "it == 1"
"#;

fn judged(setting: Setting, first_seed: u64, gains: &[f64]) -> StoredClaims {
    let mut figures = Measurements::default();
    gains.iter().for_each(|&gain| figures.push(&["gain"], gain));
    let made = Made {
        version: 3,
        name: "sos".into(),
        flashlane: "1".into(),
        quick: false,
        seeds: gains.len() as u64,
        first_seed,
        setting,
        variant: None,
        scenarios: "0".into(),
    };
    let claims = Claims::read(CLAIMS).judge(&["E1"], &figures, setting, &made.seeds()).expect("sound");
    StoredClaims { made, claims }
}

/// Under the chosen setting, once, with the unstable in brackets and inputs apart.
#[test]
fn a_claim_counts_once_under_the_chosen_setting() {
    let plain = judged(Setting::Plain, 1, &[0.0, 1.0]);
    let chosen = judged(Setting::Chosen, 1, &[9.0, 7.0]);
    let mut all = [Results { paper: &crate::sos::PAPER, plain, chosen: Some(chosen), again: Vec::new() }];
    let mut text = String::new();
    summary(&mut text, &all);
    assert!(text.ends_with("| [sos](sos.md) | 1 (1) | 1 (1) | 0 | 0 | 0 | 0 | 0 | 1 | 0 |\n\n"), "{text}");
    let mut text = String::new();
    table(&mut text, &all[0], &Claims::read(CLAIMS), Kind::counts);
    let row = "| E1a | s | a size | 10 | size | 8 | within 20 %, unstable | other: 16 | 0.500: differs |\n\n";
    assert!(text.ends_with(row) && !text.contains("E1b"), "{text}");
    all[0].chosen = None;
    let mut text = String::new();
    summary(&mut text, &all);
    assert!(text.ends_with("| [sos](sos.md) | 1 | 0 | 0 | 0 | 0 | 1 | 0 | 1 | 0 |\n\n"), "{text}");
}

#[test]
fn other_seeds_are_held_against_those_of_their_setting() {
    let plain = judged(Setting::Plain, 1, &[10.0, 11.0]);
    let again = vec![judged(Setting::Plain, 3, &[6.0, 7.0]), judged(Setting::Chosen, 3, &[6.0])];
    let mut text = String::new();
    other_seeds(&mut text, &[Results { paper: &crate::sos::PAPER, plain, chosen: None, again }]);
    let row = "| sos | plain | 1 to 2 | 3 to 4 | 1 | 0 | E1a: within 20 %, within a factor of 2 |\n\n";
    assert!(text.ends_with(row), "{text}");
}

/// Figures of other seeds that lack those of a newer claim: the others are judged.
#[test]
fn claims_that_other_seeds_have_no_figures_for_are_left_out() {
    let plain = judged(Setting::Plain, 1, &[10.0, 11.0]);
    let mut again = judged(Setting::Plain, 3, &[10.0]);
    again.claims.remove(0);
    let mut text = String::new();
    other_seeds(&mut text, &[Results { paper: &crate::sos::PAPER, plain, chosen: None, again: vec![again] }]);
    assert!(text.ends_with("| sos | plain | 1 to 2 | 3 | 0 | 0 |  |\n\n"), "{text}");
}
