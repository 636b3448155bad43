//! The generator: one flow's requests from its description.
//!
//! Owns the order of draws. Promises what the parent module promises. Must never know the device or the scheduler.

use flashlane_core::{Op, Time};

use super::access::AccessPattern;
use super::arrivals::{ClosedLoop, Stream};
use super::commands::{Commands, data_share, max_trim_bytes};
use super::draw::{Aspect, RandomStream, splitmix64};
use super::size::SizeSampler;
use super::spec::{Arrivals, SyntheticSpec};
use crate::workload::AddressRange;
use flashlane_core::arrival::{Arrival, Produced, Source, Span, WorkloadError};

/// A stream of requests drawn from a [`SyntheticSpec`].
#[derive(Clone, Debug)]
pub struct SyntheticSource {
    timing: Timing,
    read_ratio: f64,
    operations: RandomStream,
    /// Sizes of reads, then of writes.
    sizes: [SizeSampler; 2],
    size_dice: RandomStream,
    places: AccessPattern,
    /// `None` where all requests are plain reads and writes.
    commands: Option<Box<Commands>>,
    left: u64,
    end_ns: u64,
}

#[derive(Clone, Debug)]
enum Timing {
    Open(Stream),
    /// Reads and writes arrive independently: their streams, and the next time of each.
    Apart([Stream; 2], [u64; 2]),
    Closed(ClosedLoop),
}

/// The seed of a flow's draws, from the seed of the run and the flow's place in the scenario.
pub fn flow_seed(run_seed: u64, flow: u16) -> u64 {
    splitmix64(splitmix64(run_seed) ^ flow as u64)
}

impl SyntheticSource {
    /// The generator of `spec` over `range`. `seed` is used unless the description names its own; see [`flow_seed`].
    pub fn new(spec: &SyntheticSpec, range: &AddressRange, seed: u64) -> Result<SyntheticSource, WorkloadError> {
        spec.validate()?;
        let seed = spec.seed.unwrap_or(seed);
        let step = spec.size_step_bytes.unwrap_or(512);
        let read_size = SizeSampler::new(&spec.size, step);
        let write_size =
            spec.write_size.as_ref().map_or_else(|| read_size.clone(), |size| SizeSampler::new(size, step));
        let sizes = [read_size, write_size];
        let read_ratio = read_ratio(spec);
        let start_ns = ns(spec.start_us.unwrap_or(0.0));
        let largest = [("trim_size", max_trim_bytes(spec)), ("write_size", sizes[1].max()), ("size", sizes[0].max())];
        let largest = largest.into_iter().max_by_key(|&(_, bytes)| bytes).expect("three sizes");
        let places = AccessPattern::new(spec, range, largest, 1.0 - read_ratio, seed)?;
        let duration_ns = spec.duration_s.map_or(u64::MAX, |seconds| ns(seconds * 1e6));
        Ok(SyntheticSource {
            timing: Timing::new(spec, || mean_bytes(&sizes, read_ratio) * data_share(spec, read_ratio), start_ns, seed),
            commands: Commands::new(spec, &places, start_ns, seed),
            places,
            read_ratio,
            operations: RandomStream::new(seed, Aspect::Operation),
            sizes,
            size_dice: RandomStream::new(seed, Aspect::Size),
            left: spec.requests.unwrap_or(u64::MAX),
            end_ns: start_ns.saturating_add(duration_ns),
        })
    }
}

impl SyntheticSource {
    /// At most this many requests are still to come; `u64::MAX` where the description names no number.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// No request comes at or after this instant.
    pub fn end(&self) -> Time {
        Time::from_ns(self.end_ns)
    }
}

impl Timing {
    fn new(spec: &SyntheticSpec, mean_bytes: impl Fn() -> f64, start_ns: u64, seed: u64) -> Timing {
        if spec.arrivals == Arrivals::ClosedLoop {
            return Timing::Closed(ClosedLoop::new(
                spec.depth.unwrap_or(1),
                ns(spec.think_us.unwrap_or(0.0)),
                start_ns,
            ));
        }
        let stream = |gap_ns: f64, aspect| Stream::new(spec, gap_ns, start_ns, seed, aspect);
        if let (Some(read), Some(write)) = (spec.read_gap_us, spec.write_gap_us) {
            let mut streams = [stream(read * 1e3, Aspect::Arrival), stream(write * 1e3, Aspect::WriteArrival)];
            let next = [streams[0].next(), streams[1].next()];
            return Timing::Apart(streams, next);
        }
        let gap_us = spec.mean_gap_us.unwrap_or_else(|| match spec.rate_mb_per_s {
            // 10^6 bytes per second are a byte a microsecond.
            Some(rate) => mean_bytes() / rate,
            None => 1e6 / spec.rate_iops.unwrap_or(1.0),
        });
        Timing::Open(stream(gap_us * 1e3, Aspect::Arrival))
    }
}

impl Source for SyntheticSource {
    #[inline]
    fn next_request(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError> {
        if self.left == 0 {
            return Ok(Produced::End);
        }
        let mut given = None;
        let at = match &mut self.timing {
            Timing::Open(stream) => stream.next(),
            Timing::Apart(streams, next) => {
                // On a tie the read goes first.
                let op = if next[0] <= next[1] { Op::Read } else { Op::Write };
                given = Some(op);
                std::mem::replace(&mut next[op.index()], streams[op.index()].next())
            }
            Timing::Closed(closed) => match closed.next_at() {
                Some(at) => at,
                None => return Ok(Produced::Await),
            },
        };
        if at >= self.end_ns {
            self.left = 0;
            return Ok(Produced::End);
        }
        self.left -= 1;
        if let Some(commands) = &mut self.commands
            && let Some(command) = commands.instead(at)
        {
            *arrival = command;
            return Ok(Produced::Request);
        }
        let drawn = if self.operations.chance(self.read_ratio) { Op::Read } else { Op::Write };
        let op = given.unwrap_or(drawn);
        let bytes = self.sizes[op.index()].sample(&mut self.size_dice);
        let (offset, length) = self.places.next(bytes, op == Op::Write);
        let fua = op == Op::Write && self.commands.as_mut().is_some_and(|commands| commands.forces_write());
        *arrival = Arrival { at: Time::from_ns(at), op, fua, extent: Span::Bytes { offset, length } };
        Ok(Produced::Request)
    }

    #[inline]
    fn completed(&mut self, now: Time) {
        if let Timing::Closed(closed) = &mut self.timing {
            closed.completed(now.ns());
        }
    }
}

/// The share of reads; where reads and writes have rates of their own, it follows from the two rates.
fn read_ratio(spec: &SyntheticSpec) -> f64 {
    match (spec.read_gap_us, spec.write_gap_us) {
        (Some(read), Some(write)) => write / (read + write),
        _ => spec.read_ratio.unwrap_or(1.0),
    }
}

fn mean_bytes(sizes: &[SizeSampler; 2], read_ratio: f64) -> f64 {
    read_ratio * sizes[0].mean() + (1.0 - read_ratio) * sizes[1].mean()
}

pub(super) fn ns(us: f64) -> u64 {
    libm::round(us * 1e3) as u64
}
