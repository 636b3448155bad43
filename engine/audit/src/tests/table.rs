//! For every rule, at least one legal stream and one change to it that breaks the rule and no other.

use flashlane_core::Duration;
use flashlane_core::event::{Event, Stamped};

use super::case::Case;
use super::{flash_rows, ftl_rows, host_rows, slc_rows, wordline_rows};
use crate::Rule;

/// A rule, a legal stream, and a change that breaks the rule.
pub type Breach = (Rule, Case, fn(&mut Case));

#[test]
fn every_rule_has_a_stream_that_breaks_it_alone() {
    let mut rows = host_rows::requests();
    rows.extend(host_rows::admissions_and_completions());
    rows.extend(host_rows::serial_service());
    rows.extend(host_rows::transactions());
    rows.extend(host_rows::writes_and_reads());
    rows.extend(host_rows::entries_of_the_map());
    rows.extend(flash_rows::commands());
    rows.extend(flash_rows::phases());
    rows.extend(flash_rows::pauses());
    rows.extend(ftl_rows::pages());
    rows.extend(ftl_rows::victims());
    rows.extend(ftl_rows::moves_and_erases());
    rows.extend(slc_rows::rows());
    rows.extend(wordline_rows::rows());
    let mut wrong = Vec::new();
    for (index, (rule, legal, change)) in rows.iter().enumerate() {
        let name = rule.name();
        let mut illegal = legal.clone();
        change(&mut illegal);
        for (how, audit) in [("at once", Case::audit as fn(&Case) -> _), ("by formula", Case::audit_by_formula)] {
            let verdict = audit(legal);
            if !verdict.is_clean() {
                wrong.push(format!("row {index}, {name}, given {how}, before the change: {verdict}"));
            }
            let verdict = audit(&illegal);
            // A unit that does something illegal, or nothing, instead of its work may be idle as well; and a write that is
            // lost by another fault is missed as the newest of its page.
            let follows = [Rule::NotIdle, Rule::NewestHeld, Rule::ReadNewest];
            let counts = |broken: Rule| broken == *rule || !follows.contains(&broken);
            if !verdict.by_rule.iter().map(|&(broken, _)| broken).filter(|&broken| counts(broken)).eq([*rule]) {
                wrong.push(format!("row {index}, {name}, given {how}: {verdict}"));
            }
            assert_eq!(verdict.kept.len() as u64, verdict.total, "{name}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for rule in Rule::ALL {
        assert!(rows.iter().any(|(other, ..)| other == rule), "{} has no row", rule.name());
    }
}

pub fn submitted(e: &Event) -> bool {
    matches!(e, Event::Submitted { .. })
}

pub fn admitted(e: &Event) -> bool {
    matches!(e, Event::Admitted { .. })
}

pub fn completed(e: &Event) -> bool {
    matches!(e, Event::Completed { .. })
}

pub fn queued(e: &Event) -> bool {
    matches!(e, Event::Queued { .. })
}

pub fn estimated(e: &Event) -> bool {
    matches!(e, Event::Estimated { .. })
}

pub fn dispatched(e: &Event) -> bool {
    matches!(e, Event::Dispatched { .. })
}

pub fn mapped(e: &Event) -> bool {
    matches!(e, Event::Mapped { .. })
}

pub fn bus(e: &Event) -> bool {
    matches!(e, Event::BusTaken { .. })
}

pub fn array(e: &Event) -> bool {
    matches!(e, Event::ArrayStarted { .. })
}

pub fn array_end(e: &Event) -> bool {
    matches!(e, Event::ArrayEnded { .. })
}

pub fn ended(e: &Event) -> bool {
    matches!(e, Event::Ended { .. })
}

pub fn chosen(e: &Event) -> bool {
    matches!(e, Event::VictimChosen { .. })
}

pub fn late(s: &mut Stamped, by: u64) {
    s.at += Duration::from_ns(by);
}

/// Edits fields of an event in place.
macro_rules! edit {
    ($case:expr, $n:expr, $is:expr, $pattern:pat => $change:expr) => {
        $case.change($n, $is, |s| {
            if let $pattern = &mut s.event {
                $change
            }
        })
    };
}

pub(super) use edit;
