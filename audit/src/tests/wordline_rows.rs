//! Violations of the rule about one-shot programs.

use flashlane_core::PlaneId;
use flashlane_core::event::Event;

use super::case::*;
use super::scenes::write;
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

pub fn rows() -> Vec<Breach> {
    vec![
        (Rule::Wordline, padded(), |case| case.leave_out(0, is_padded)),
        // A device without one-shot programs pads nothing.
        (Rule::Wordline, write(), pad),
    ]
}
