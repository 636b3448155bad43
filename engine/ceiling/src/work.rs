//! The work of a run, and its bounds.

use flashlane_core::arrival::Span;
use flashlane_core::{Op, Time};
use flashlane_ssd::Config;

use crate::class::{Class, Placement, Writes};
use crate::demands::Splitter;
use crate::mean::PER_NS;
use crate::percentile::Percentiles;
use crate::requests::Requests;
use crate::service::{Serial, Times};
use crate::windows::{Effort, Windows};
use crate::worst::Worst;

/// The requests of a run as they are fed to the device.
#[derive(Debug)]
pub struct Work {
    config: Config,
    requests: Requests,
}

/// What no scheduler can beat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Requests that are counted.
    pub requests: u64,
    /// By class, as in [`Class::ALL`].
    by_class: [Bound; 4],
}

impl Bounds {
    /// What no scheduler of the class can beat.
    pub const fn of(&self, class: Class) -> Bound {
        self.by_class[class.index()]
    }
}

/// What no scheduler of a class can beat, rounded down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bound {
    /// Mean response time, ns.
    pub mean_ns: u64,
    /// 99th percentile of the response time, ns: loose.
    pub p99_ns: u64,
    /// 99.9th percentile, ns: loose.
    pub p99_9_ns: u64,
    /// Largest response time, ns.
    pub worst_ns: u64,
}

impl Bound {
    /// The larger of each.
    fn max(self, other: Bound) -> Bound {
        Bound {
            mean_ns: self.mean_ns.max(other.mean_ns),
            p99_ns: self.p99_ns.max(other.p99_ns),
            p99_9_ns: self.p99_9_ns.max(other.p99_9_ns),
            worst_ns: self.worst_ns.max(other.worst_ns),
        }
    }
}

impl Work {
    /// No requests yet, for the device of `config`.
    pub fn new(config: &Config) -> Work {
        Work { requests: Requests::new(config), config: config.clone() }
    }

    /// Adds a request, in the order of arrival. Those that are not `counted` are in no figure.
    pub fn add(&mut self, arrival: Time, op: Op, extent: &Span, counted: bool) {
        self.requests.add(arrival.ns(), op, extent, counted);
    }

    /// The bounds of the requests; `None` if none is counted.
    pub fn bounds(&self, effort: &Effort) -> Option<Bounds> {
        let requests = self.requests.all.iter().filter(|request| request.counted).count() as u64;
        if requests == 0 {
            return None;
        }
        let of = |writes| {
            let of = |placement| self.bound(Class { placement, writes }, requests, effort);
            if !self.moves_writes() {
                return [of(Placement::Fixed); 2];
            }
            let (fixed, free) = rayon::join(|| of(Placement::Fixed), || of(Placement::Free));
            // What holds wherever writes go holds for those that stay.
            [fixed.max(free), free]
        };
        let dropped = of(Writes::Dropped);
        let kept = if self.requests.overwrites { of(Writes::Kept) } else { dropped };
        let [fixed, free] = [0, 1].map(|i| kept[i].max(dropped[i]));
        Some(Bounds { requests, by_class: [fixed, dropped[0], free, dropped[1]] })
    }

    /// Whether it matters where writes go.
    fn moves_writes(&self) -> bool {
        let is_parallel = Serial::of(&self.config).is_none();
        is_parallel && self.requests.all.iter().any(|request| request.counted && request.op == Op::Write)
    }

    fn bound(&self, class: Class, counted: u64, effort: &Effort) -> Bound {
        let mut splitter = Splitter::new(&self.config, class);
        let machines = splitter.machines;
        let overhead = 2 * Times::of(&self.config).link_latency;
        let mut worst = Worst::new(machines, overhead);
        let mut percentiles = Percentiles::new(splitter.groups(), overhead);
        let mut windows = Windows::new(machines, &splitter.groups(), counted, effort);
        for request in self.requests.all.iter().filter(|request| request.counted) {
            let alone = splitter.split(&self.requests, request);
            worst.add(request.arrival, alone, &splitter.demands);
            percentiles.add(request.arrival, alone, &splitter.demands);
            windows.add(request.arrival, alone, &splitter.demands, &worst);
        }
        let worst_ns = worst.response;
        let (sum, [p99_ns, p99_9_ns]) = rayon::join(|| windows.sum(), || percentiles.bounds(worst_ns));
        Bound { mean_ns: (sum / PER_NS / u128::from(counted)) as u64, p99_ns, p99_9_ns, worst_ns }
    }
}
