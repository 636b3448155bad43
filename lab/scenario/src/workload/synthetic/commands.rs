//! Requests beside plain reads and writes: flushes, trims, and which writes have force unit access.
//!
//! Promises that the reads and writes of a flow are the same ones, in the same order, whatever comes between them.

use flashlane_core::arrival::{Arrival, Span};
use flashlane_core::{Op, Time};

use super::access::AccessPattern;
use super::draw::{Aspect, RandomStream};
use super::size::SizeSampler;
use super::spec::SyntheticSpec;

/// When a flow flushes, trims and forces.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    flush_every_writes: u64,
    flush_every_ns: u64,
    /// Since the last flush.
    writes: u64,
    /// When the last flush came; at first the flow's start.
    flushed_ns: u64,
    trim_ratio: f64,
    trim_size: SizeSampler,
    trims: RandomStream,
    trim_places: AccessPattern,
    fua_ratio: f64,
    forced: RandomStream,
}

impl Commands {
    /// Those of a valid description, whose reads and writes go to `places`; `None` if it has none.
    pub(super) fn new(spec: &SyntheticSpec, places: &AccessPattern, start_ns: u64, seed: u64) -> Option<Box<Commands>> {
        let (trim_ratio, fua_ratio) = (spec.trim_ratio.unwrap_or(0.0), spec.fua_ratio.unwrap_or(0.0));
        if !spec.has_flushes() && trim_ratio == 0.0 && fua_ratio == 0.0 {
            return None;
        }
        Some(Box::new(Commands {
            flush_every_writes: spec.flush_every_writes.unwrap_or(u64::MAX),
            flush_every_ns: spec.flush_every_ms.map_or(u64::MAX, |ms| libm::round(ms * 1e6) as u64),
            writes: 0,
            flushed_ns: start_ns,
            trim_ratio,
            trim_size: trim_sizes(spec),
            trims: RandomStream::new(seed, Aspect::Trim),
            trim_places: places.apart(seed, Aspect::TrimAddress),
            fua_ratio,
            forced: RandomStream::new(seed, Aspect::Force),
        }))
    }

    /// The flush or the trim that comes at `at_ns` instead of a read or a write, if one does.
    #[cold]
    pub(super) fn instead(&mut self, at_ns: u64) -> Option<Arrival> {
        let (op, (offset, length)) = self.kind(at_ns)?;
        Some(Arrival { at: Time::from_ns(at_ns), op, fua: false, extent: Span::Bytes { offset, length } })
    }

    /// Its kind, its first byte and its length.
    fn kind(&mut self, at_ns: u64) -> Option<(Op, (u64, u64))> {
        if self.writes >= self.flush_every_writes || at_ns - self.flushed_ns >= self.flush_every_ns {
            (self.writes, self.flushed_ns) = (0, at_ns);
            return Some((Op::Flush, (0, 0)));
        }
        let is_trim = self.trim_ratio > 0.0 && self.trims.chance(self.trim_ratio);
        is_trim.then(|| {
            let bytes = self.trim_size.sample(&mut self.trims);
            (Op::Trim, self.trim_places.next(bytes, false))
        })
    }

    /// Counts a write; says whether it has force unit access.
    pub(super) fn forces_write(&mut self) -> bool {
        self.writes += 1;
        self.forced.chance(self.fua_ratio)
    }
}

fn trim_sizes(spec: &SyntheticSpec) -> SizeSampler {
    SizeSampler::new(spec.trim_size(), spec.size_step_bytes.unwrap_or(512))
}

/// Bytes of the largest trim; 0 if there are none.
pub(super) fn max_trim_bytes(spec: &SyntheticSpec) -> u64 {
    if spec.trim_ratio.unwrap_or(0.0) > 0.0 { trim_sizes(spec).max() } else { 0 }
}

/// The share of requests that are reads or writes, if `read_ratio` of these are reads; flushes by time are not counted.
pub(super) fn data_share(spec: &SyntheticSpec, read_ratio: f64) -> f64 {
    let without_trims = 1.0 - spec.trim_ratio.unwrap_or(0.0);
    let writes = without_trims * (1.0 - read_ratio);
    // A flush comes once in so many other requests as have this many writes.
    let others = spec.flush_every_writes.map_or(1.0, |every| every as f64 / (every as f64 + writes));
    without_trims * others
}
