//! Where requests start: the access pattern over the working set.
//!
//! Promises that no request leaves the working set, and that every start which is drawn is aligned; a request that
//! continues the one before starts where that ended, whatever its alignment. Knows nothing of time.

use super::align::Align;
use super::draw::{Aspect, Geometric, RandomStream};
use super::spec::{Access, Rewrite, SyntheticSpec};
use super::uneven::{Lanes, LargeSampler};
use super::zipf::{Permutation, Zipf};
use crate::workload::AddressRange;
use crate::workload::range::refuse;
use flashlane_core::arrival::WorkloadError;

/// The access pattern of one flow. Offsets inside count from the start of the working set.
#[derive(Clone, Debug)]
pub(super) struct AccessPattern {
    /// First byte of the working set on the drive, aligned.
    base: u64,
    len: u64,
    align: Align,
    /// Where the previous request ended; `u64::MAX` before the first.
    end: u64,
    sequential: f64,
    pattern: Pattern,
    large: Option<LargeSampler>,
    random: RandomStream,
    history: Option<History>,
}

#[derive(Clone, Debug)]
enum Pattern {
    Streaming,
    Random,
    Zipf { zipf: Zipf, shuffle: Option<Permutation> },
    HotCold { hot: u64, slots: u64, hot_access: f64, shuffle: Option<Permutation> },
    Files(Files),
    Uneven(Lanes),
}

impl AccessPattern {
    /// `largest` is the largest request, with the key that gives its size, `write_ratio` the share of writes. The description must be valid.
    pub(super) fn new(
        spec: &SyntheticSpec,
        range: &AddressRange,
        largest: (&str, u64),
        write_ratio: f64,
        seed: u64,
    ) -> Result<AccessPattern, WorkloadError> {
        let align = spec.align_bytes.unwrap_or(range.page_bytes as u64);
        let (base, len) = working_set(spec, range, align)?;
        let (key, max_bytes) = largest;
        if len < max_bytes {
            let legal = format_args!("at most the working set, {len} bytes");
            return Err(refuse(key, format_args!("a request of up to {max_bytes} bytes"), legal));
        }
        // At least one: an alignment above the working set leaves its first byte.
        let slots = (len / align).max(1);
        let shuffle = |default: bool| spec.scatter.unwrap_or(default).then(|| Permutation::new(slots, seed));
        let pattern = match spec.access {
            Access::Streaming => Pattern::Streaming,
            Access::Random => Pattern::Random,
            Access::Zipf => {
                Pattern::Zipf { zipf: Zipf::new(slots, spec.zipf_theta.unwrap_or(0.9)), shuffle: shuffle(true) }
            }
            Access::HotCold => {
                if slots < 2 {
                    let legal = format_args!("a working set of two or more starts of {align} bytes for \"hot-cold\"");
                    return Err(refuse("access", format_args!("a working set of {len} bytes"), legal));
                }
                let hot = libm::round(slots as f64 * spec.hot_space.unwrap_or(0.2)) as u64;
                let hot_access = spec.hot_access.unwrap_or(0.8);
                Pattern::HotCold { hot: hot.clamp(1, slots - 1), slots, hot_access, shuffle: shuffle(false) }
            }
            Access::Files => Pattern::Files(Files::new(spec, len, align, max_bytes, seed)?),
            Access::Uneven => Pattern::Uneven(Lanes::new(spec, slots, seed)?),
        };
        let large = spec.large_starts.as_ref().map(|large| LargeSampler::new(large, len, max_bytes)).transpose()?;
        Ok(AccessPattern {
            base,
            len,
            align: Align::new(align),
            end: u64::MAX,
            sequential: spec.sequential_probability.unwrap_or(0.0),
            pattern,
            large,
            random: RandomStream::new(seed, Aspect::Address),
            history: spec.rewrite.as_ref().map(|rewrite| History::new(rewrite, write_ratio, seed)),
        })
    }

    /// The same pattern with draws of its own, for requests that neither continue the others nor rewrite.
    pub(super) fn apart(&self, seed: u64, aspect: Aspect) -> AccessPattern {
        AccessPattern { end: u64::MAX, random: RandomStream::new(seed, aspect), history: None, ..self.clone() }
    }

    /// The first byte on the drive and the length of the next request.
    #[inline]
    pub(super) fn next(&mut self, bytes: u64, write: bool) -> (u64, u64) {
        let (start, bytes) = match &mut self.history {
            Some(history) if write => match history.earlier() {
                Some(extent) => extent,
                None => (self.fresh(bytes), bytes),
            },
            _ => (self.fresh(bytes), bytes),
        };
        if let (Some(history), true) = (&mut self.history, write) {
            history.push((start, bytes));
        }
        self.end = start + bytes;
        (self.base + start, bytes)
    }

    #[inline]
    fn fresh(&mut self, bytes: u64) -> u64 {
        // Before the first request `end` is the largest number, so no request continues it.
        let continues = self.end.saturating_add(bytes) <= self.len;
        if self.sequential > 0.0 && self.random.chance(self.sequential) && continues {
            return self.end;
        }
        if let Some(large) = &self.large
            && large.takes(bytes)
        {
            return large.sample(self.len - bytes, &mut self.random);
        }
        let slot = match &mut self.pattern {
            Pattern::Streaming => return if continues { self.end } else { 0 },
            Pattern::Random => {
                let starts = self.align.count(self.len - bytes) + 1;
                self.random.below(starts)
            }
            Pattern::Files(files) => return files.next(bytes, &self.align, &mut self.random),
            Pattern::Zipf { zipf, shuffle } => {
                let rank = zipf.sample(&mut self.random);
                shuffle.as_ref().map_or(rank, |shuffle| shuffle.apply(rank))
            }
            Pattern::Uneven(lanes) => lanes.sample(&mut self.random),
            Pattern::HotCold { hot, slots, hot_access, shuffle } => {
                let is_hot = self.random.chance(*hot_access);
                let rank = if is_hot { self.random.below(*hot) } else { *hot + self.random.below(*slots - *hot) };
                shuffle.as_ref().map_or(rank, |shuffle| shuffle.apply(rank))
            }
        };
        let start = slot * self.align.bytes();
        // A request that would pass the end is moved back to the last start where it fits.
        if start + bytes <= self.len { start } else { self.align.count(self.len - bytes) * self.align.bytes() }
    }
}

/// The first byte on the drive, aligned, and the length of the part that is used.
fn working_set(spec: &SyntheticSpec, range: &AddressRange, align: u64) -> Result<(u64, u64), WorkloadError> {
    range.check()?;
    let range_end = range.start_bytes + range.bytes;
    let offset = spec.working_set_offset_bytes.unwrap_or(0);
    let first = range.start_bytes.checked_add(offset).and_then(|first| first.checked_next_multiple_of(align));
    let Some(base) = first.filter(|&base| base < range_end) else {
        let legal = format_args!("an aligned byte below the end of the flow's address range of {} bytes", range.bytes);
        return Err(refuse("working_set_offset_bytes", offset, legal));
    };
    let room = range_end - base;
    let len = match (spec.working_set_bytes, spec.working_set_fraction) {
        (Some(bytes), _) if bytes > room => {
            let legal = format_args!("at most {room}, what the flow's address range of {} bytes leaves", range.bytes);
            return Err(refuse("working_set_bytes", bytes, legal));
        }
        (Some(bytes), _) => bytes,
        (None, Some(share)) => {
            let bytes = (range.bytes as f64 * share) as u64;
            // Without an offset the alignment may have cut off less than one start: not worth an error.
            if bytes > room && offset > 0 {
                let legal = format_args!("at most {}, what the offset leaves", room as f64 / range.bytes as f64);
                return Err(refuse("working_set_fraction", share, legal));
            }
            bytes.min(room)
        }
        (None, None) => room,
    };
    Ok((base, len))
}

/// Files that lie one after the other from the start of the working set (model 5.2).
#[derive(Clone, Debug)]
struct Files {
    files: Vec<File>,
    popular: Zipf,
    sequential: bool,
}

#[derive(Clone, Debug)]
struct File {
    start: u64,
    bytes: u64,
    cursor: u64,
}

impl Files {
    fn new(spec: &SyntheticSpec, len: u64, align: u64, max: u64, seed: u64) -> Result<Files, WorkloadError> {
        let count = spec.files.unwrap_or(12);
        let (smallest, largest) = (spec.file_min_bytes(), spec.file_max_bytes());
        if smallest < max {
            return Err(refuse("file_min_bytes", smallest, format_args!("at least the largest request, {max}")));
        }
        let (low, high) = (libm::log(smallest as f64), libm::log(largest as f64));
        let mut random = RandomStream::new(spec.file_seed.unwrap_or(seed), Aspect::Layout);
        let mut files = Vec::with_capacity(count as usize);
        let mut start = 0u64;
        for _ in 0..count {
            let bytes = libm::exp(low + random.unit() * (high - low)) as u64;
            let bytes = bytes.clamp(smallest, largest);
            files.push(File { start, bytes, cursor: 0 });
            let end = start.checked_add(bytes).and_then(|end| end.checked_next_multiple_of(align));
            let Some(end) = end.filter(|_| bytes <= len && start <= len - bytes) else {
                let value = format_args!("{count} files of {smallest} to {largest} bytes drawn with this seed");
                let legal =
                    format_args!("files that fit the working set of {len} bytes: fewer, smaller, or a larger set");
                return Err(refuse("files", value, legal));
            };
            start = end;
        }
        let popular = Zipf::new(count as u64, spec.file_theta.unwrap_or(0.0));
        Ok(Files { files, popular, sequential: spec.file_sequential.unwrap_or(false) })
    }

    fn next(&mut self, bytes: u64, align: &Align, random: &mut RandomStream) -> u64 {
        let file = &mut self.files[self.popular.sample(random) as usize];
        let inside = if !self.sequential {
            random.below(align.count(file.bytes - bytes) + 1) * align.bytes()
        } else if file.cursor + bytes <= file.bytes {
            file.cursor
        } else {
            0
        };
        file.cursor = inside + bytes;
        file.start + inside
    }
}

/// The latest writes, which rewrites choose from.
#[derive(Clone, Debug)]
struct History {
    ratio: f64,
    distance: Geometric,
    /// A ring buffer; its length is a power of two.
    extents: Vec<(u64, u64)>,
    pushed: u64,
    random: RandomStream,
}

impl History {
    /// Distances are drawn in writes: `d` requests contain on average `d` times the write ratio of them.
    fn new(rewrite: &Rewrite, write_ratio: f64, seed: u64) -> History {
        let mean_writes = (rewrite.distance_requests * write_ratio).max(1.0);
        // A geometric variate exceeds 16 means once in 9 million.
        let ring = (16.0 * mean_writes) as usize;
        History {
            ratio: rewrite.ratio,
            distance: Geometric::new(mean_writes),
            extents: vec![(0, 0); ring.next_power_of_two()],
            pushed: 0,
            random: RandomStream::new(seed, Aspect::Rewrite),
        }
    }

    /// The extent of an earlier write to rewrite; `None` if this write is no rewrite, or there have not been that many
    /// writes.
    #[inline]
    fn earlier(&mut self) -> Option<(u64, u64)> {
        let wanted = self.random.chance(self.ratio);
        let back = self.distance.sample(&mut self.random);
        let known = self.pushed.min(self.extents.len() as u64);
        (wanted && back <= known).then(|| self.extents[self.slot(self.pushed - back)])
    }

    #[inline]
    fn push(&mut self, extent: (u64, u64)) {
        let slot = self.slot(self.pushed);
        self.extents[slot] = extent;
        self.pushed += 1;
    }

    fn slot(&self, index: u64) -> usize {
        index as usize & (self.extents.len() - 1)
    }
}
