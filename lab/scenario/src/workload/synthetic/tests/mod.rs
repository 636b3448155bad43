//! The generator against closed forms, its limits under random descriptions, and its error messages.
//!
//! Tolerances are five standard errors of what is estimated unless a comment says otherwise: with fixed seeds a test
//! either always passes or always fails, and a correct generator fails one in two million of them.

mod access;
mod arrivals;
mod commands;
mod contract;
mod draws;
mod keys;
mod sizes;

use flashlane_core::Op;

use super::{SyntheticSource, SyntheticSpec};
use crate::workload::AddressRange;
use flashlane_core::arrival::{Next, Source, Span};

/// The fields of a request, for comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Drawn {
    at: u64,
    op: Op,
    offset: u64,
    length: u64,
}

impl Drawn {
    fn end(self) -> u64 {
        self.offset + self.length
    }
}

const RANGE: AddressRange = AddressRange { start_bytes: 1 << 30, bytes: 16 << 30, page_bytes: 8192 };

fn spec(toml: &str) -> SyntheticSpec {
    toml::from_str(toml).expect("a sound description")
}

/// All requests of an open-loop description.
fn draw_over(toml: &str, range: &AddressRange, seed: u64) -> Vec<Drawn> {
    let mut source = SyntheticSource::new(&spec(toml), range, seed).expect("a sound description");
    let mut drawn = Vec::new();
    while let Next::Request(arrival) = source.next().expect("a generator does not fail") {
        let Span::Bytes { offset, length } = arrival.extent else { panic!("a generator speaks in bytes") };
        drawn.push(Drawn { at: arrival.at.ns(), op: arrival.op, offset, length });
    }
    drawn
}

fn draw(toml: &str) -> Vec<Drawn> {
    draw_over(toml, &RANGE, 1)
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut n) = (0.0, 0u64);
    for v in values {
        sum += v;
        n += 1;
    }
    sum / n as f64
}

/// Mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let m = mean(values.iter().copied());
    (m, mean(values.iter().map(|v| (v - m) * (v - m))))
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not within {tolerance} of {expected}");
}
