//! Recordings of the kernel's block events, for tests: what Linux 6.18.44 did on a loop device, above a served drive, with `fio`.
//!
//! `tools/host_schedulers.py record` makes them; the first line of a fixture says with which elevator, parameters and jobs. Each further line is an
//! event: microseconds since the last, a letter, and
//!
//! | letter | event | then |
//! |---|---|---|
//! | B | a bio has passed its limits | direction, sector, sectors, class, thread |
//! | G | it got a tag, and is a request | the same |
//! | M, F | it was merged behind a request or before it | the same |
//! | P, U | the thread's plug begins with the bio before or after; ends | thread |
//! | I, D, C | a request enters the elevator, goes to the driver, completes | direction, sector, sectors, class, thread |
//! | L, A | `kyber` looked at latencies; set a depth | as the kernel prints it |
//!
//! Six older fixtures, whose names begin with `dl`, have no thread.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use std::io::Read;
use std::path::Path;

/// An event.
pub(crate) struct Event {
    /// Since the beginning of the recording.
    pub(crate) us: u64,
    pub(crate) letter: char,
    /// What follows.
    pub(crate) words: Vec<String>,
}

/// The events of a fixture.
pub(crate) fn recording(name: &str) -> Vec<Event> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(std::format!("fixtures/{name}.txt.gz"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("a fixture");
    let mut us = 0;
    let event = |line: &str| {
        let mut words = line.split_whitespace();
        us += words.next().and_then(|passed| passed.parse::<u64>().ok()).expect("microseconds");
        let letter = words.next().and_then(|word| word.chars().next()).expect("a letter");
        Event { us, letter, words: words.map(str::to_owned).collect() }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(event).collect()
}
