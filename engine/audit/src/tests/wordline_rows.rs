//! Violations of the rule about one-shot programs.

use flashlane_core::event::Event;
use flashlane_core::{Duration, PlaneId};

use super::case::*;
use super::scenes::{buffered, write};
use super::table::*;
use crate::Rule;

/// Page 0 is programmed to the first page of a wordline of two; the other is padded.
fn padded() -> Case {
    let mut case = write();
    case.config.nand.one_shot_pages = 2;
    pad(&mut case);
    case
}

fn pad(case: &mut Case) {
    case.push(0, Event::Padded { plane: PlaneId(0), ppa: 1 });
}

fn is_padded(event: &Event) -> bool {
    matches!(event, Event::Padded { .. })
}

/// A page of the buffer was stored at 0 and has waited for 2,000 ns, which is long enough: its wordline is padded.
fn waited() -> Case {
    let mut case = buffered();
    (case.config.nand.one_shot_pages, case.config.nand.one_shot_wait) = (2, Some(Duration::from_ns(2_000)));
    case.push(2_000, Event::Padded { plane: PlaneId(0), ppa: 1 });
    case
}

fn waited_in_row() -> Case {
    let mut case = waited();
    (case.config.nand.one_shot_pages, case.config.geometry.slots) = (1, 2);
    case
}

pub fn rows() -> Vec<Breach> {
    vec![
        (Rule::Padding, waited(), |case| case.config.nand.one_shot_wait = None),
        (Rule::Padding, waited(), |case| case.config.nand.one_shot_wait = Some(Duration::from_ns(2_001))),
        // Rows of two pages are padded for the same reasons.
        (Rule::Padding, waited_in_row(), |case| case.config.nand.one_shot_wait = None),
        (Rule::Wordline, padded(), |case| case.leave_out(0, is_padded)),
        // A device without one-shot programs pads nothing.
        (Rule::Wordline, write(), pad),
    ]
}
