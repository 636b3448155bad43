//! The auditor on the events of whole runs: it has nothing to say of them as they are, and no event is lost or comes twice unnoticed, moves
//! of waiting writes excepted.

use std::path::Path;

use flashlane_core::event::Event;

use crate::common::damage::{Stream, damage};

/// Scenarios of every kind of device and scheduler.
const SCENARIOS: [&str; 10] = [
    "scenarios/golden/a-sub-03.toml",
    "scenarios/golden/a-sos-05.toml",
    "scenarios/golden/a-ncq-05.toml",
    "scenarios/golden/a-slk-19.toml",
    "dev/xtask/corpus/rows-full.toml",
    "dev/xtask/corpus/buffer-small.toml",
    "dev/xtask/corpus/ncq-serial.toml",
    "dev/xtask/corpus/partial-writes.toml",
    "dev/xtask/corpus/sata-link.toml",
    "dev/xtask/corpus/victim-greedy.toml",
];

/// Damages of a kind that are tried in each, spread over the events.
const PLACES: usize = 40;

fn streams() -> impl Iterator<Item = Stream> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    SCENARIOS.iter().map(move |file| Stream::of(&root.join(file)).unwrap_or_else(|why| panic!("{file}: {why}")))
}

/// What of `kinds` (see `damage`) goes unnoticed in all streams, as text.
fn unnoticed(kind: u32) -> Vec<String> {
    let mut found = Vec::new();
    for stream in streams() {
        let step = (stream.events.len() / PLACES).max(1);
        for place in (0..stream.events.len() - 1).step_by(step) {
            let mut events = stream.events.clone();
            let how = damage(&mut events, place, kind + 64 * (place as u32 % 12));
            let clean = stream.audit(&events).is_ok_and(|verdict| verdict.is_clean());
            // A waiting write may go to another plane and back, or to where it is.
            let moved = matches!(stream.events[place].event, Event::Moved { .. });
            if clean && events != stream.events && !moved {
                found.push(format!("{}: {how} at {place}: {:?}", stream.name, stream.events[place]));
            }
        }
    }
    found
}

#[test]
fn nothing_is_said_of_runs_as_they_are() {
    for stream in streams() {
        let verdict = stream.audit(&stream.events).unwrap_or_else(|why| panic!("{why}"));
        assert!(verdict.is_clean(), "{}: {verdict}", stream.name);
    }
}

#[test]
fn no_event_is_lost_unnoticed() {
    let found = unnoticed(0);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_event_comes_twice_unnoticed() {
    let found = unnoticed(1);
    assert!(found.is_empty(), "{}", found.join("\n"));
}
