//! Starts that load some chips more than others, and starts of large requests at one residue.
//!
//! Promises that a start which is drawn fits the request. Knows nothing of chips: a lane is a residue of the start's number, and
//! a stripe over this many chips sends each lane to a chip of its own.

use super::align::Align;
use super::draw::RandomStream;
use super::spec::{LargeStarts, SyntheticSpec};
use super::zipf::{Permutation, Zipf};
use crate::workload::range::refuse;
use flashlane_core::arrival::WorkloadError;

/// Starts in `lanes` residues, of which some are more popular than others; in a lane all starts are alike.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    lanes: u64,
    rows: u64,
    popular: Zipf,
    /// Which lane has which rank: the same for all requests of a flow.
    shuffle: Permutation,
}

impl Lanes {
    /// Over a working set of `slots` starts.
    pub(super) fn new(spec: &SyntheticSpec, slots: u64, seed: u64) -> Result<Lanes, WorkloadError> {
        let lanes = u64::from(spec.lanes());
        if slots < lanes {
            return Err(refuse("lanes", lanes, format_args!("at most {slots}, the starts of the working set")));
        }
        let popular = Zipf::new(lanes, spec.lane_theta.unwrap_or(0.45));
        Ok(Lanes { lanes, rows: slots / lanes, popular, shuffle: Permutation::new(lanes, seed) })
    }

    /// The number of a start.
    #[inline]
    pub(super) fn sample(&self, random: &mut RandomStream) -> u64 {
        let lane = self.shuffle.apply(self.popular.sample(random));
        random.below(self.rows) * self.lanes + lane
    }
}

/// Starts of large requests, ready to draw from.
#[derive(Clone, Debug)]
pub(super) struct LargeSampler {
    from: u64,
    offset: u64,
    align: Align,
}

impl LargeSampler {
    /// In a working set of `len` bytes, for requests of up to `max_bytes`.
    pub(super) fn new(spec: &LargeStarts, len: u64, max_bytes: u64) -> Result<LargeSampler, WorkloadError> {
        if max_bytes >= spec.from_bytes && len - max_bytes < spec.offset_bytes {
            let legal = format_args!("at most {}, what the largest request leaves", len - max_bytes);
            return Err(refuse("large_starts.offset_bytes", spec.offset_bytes, legal));
        }
        let LargeStarts { from_bytes: from, align_bytes, offset_bytes: offset } = *spec;
        Ok(LargeSampler { from, offset, align: Align::new(align_bytes) })
    }

    /// Whether a request of that size is large.
    #[inline]
    pub(super) fn takes(&self, bytes: u64) -> bool {
        bytes >= self.from
    }

    /// The first byte of a large request of which the first `room` bytes of the working set are possible starts.
    #[inline]
    pub(super) fn sample(&self, room: u64, random: &mut RandomStream) -> u64 {
        random.below(self.align.count(room - self.offset) + 1) * self.align.bytes() + self.offset
    }
}
