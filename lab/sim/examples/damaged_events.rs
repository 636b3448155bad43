//! What the auditor says of damaged streams of events: `cargo run -p flashlane-sim --example damaged_events -- SCENARIO.toml ...`
//!
//! Runs the first scheduler of each scenario, damages its events in one place at a time (one lost, repeated, too early or too late, two
//! swapped, a number changed) and prints the auditor's verdict of each. `cargo xtask mutants` tells by it whether a change of the auditor
//! changes what it reports.

use std::path::Path;
use std::process::ExitCode;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

#[path = "../tests/all/common/damage.rs"]
mod damage;

use damage::{Stream, damage};

/// Events that the auditor sees of one scenario in all damaged streams together, and how many streams there are at least and at most.
const EVENTS: usize = 100_000;
const STREAMS: (usize, usize) = (40, 400);

fn main() -> ExitCode {
    for file in std::env::args().skip(1) {
        if let Err(why) = damaged(Path::new(&file)) {
            eprintln!("{file}: {why}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Prints the verdicts on the events of a scenario.
fn damaged(file: &Path) -> Result<(), String> {
    let stream = Stream::of(file)?;
    println!("{}\n{}", stream.name, stream.audit(&stream.events)?);
    let mut rng = Pcg64Mcg::new(stream.events.len() as u128);
    let streams = (EVENTS / stream.events.len().max(1)).clamp(STREAMS.0, STREAMS.1);
    for _ in 0..streams {
        let mut events = stream.events.clone();
        let place = rng.next_u32() as usize % (events.len() - 1);
        let how = damage(&mut events, place, rng.next_u32());
        println!("{how} at {place}: {}", stream.audit(&events)?);
    }
    Ok(())
}
