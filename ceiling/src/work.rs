//! The work of a run, and its bounds.

use flashlane_core::arrival::Span;
use flashlane_core::{Op, Time};
use flashlane_ssd::Config;

use crate::class::{Class, Placement, Writes};
use crate::mean::{PER_NS, Window};
use crate::pieces::Splitter;
use crate::requests::Requests;
use crate::service::Times;
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
    /// Largest response time, ns.
    pub worst_ns: u64,
}

/// How long bounds are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Pieces of work that are looked at together: more make the bound tighter, and take memory (60 bytes each).
    pub window: usize,
    /// The most steps of the search for weights in a window.
    pub steps: u32,
    /// The most pieces that all steps serve; at least three steps are made.
    pub pieces: usize,
}

impl Default for Effort {
    /// Forty steps for up to a million pieces of work, fewer for more.
    fn default() -> Effort {
        Effort { window: 2_000_000, steps: 40, pieces: 40_000_000 }
    }
}

impl Bound {
    /// The larger of each.
    fn max(self, other: Bound) -> Bound {
        Bound { mean_ns: self.mean_ns.max(other.mean_ns), worst_ns: self.worst_ns.max(other.worst_ns) }
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
            let (fixed, free) = rayon::join(|| of(Placement::Fixed), || of(Placement::Free));
            // What holds wherever writes go holds for those that stay.
            [fixed.max(free), free]
        };
        let dropped = of(Writes::Dropped);
        let kept = if self.requests.overwrites { of(Writes::Kept) } else { dropped };
        let [fixed, free] = [0, 1].map(|i| kept[i].max(dropped[i]));
        Some(Bounds { requests, by_class: [fixed, dropped[0], free, dropped[1]] })
    }

    fn bound(&self, class: Class, counted: u64, effort: &Effort) -> Bound {
        let mut splitter = Splitter::new(&self.config, class);
        let machines = splitter.machines;
        let mut worst = Worst::new(machines, 2 * Times::of(&self.config).link_latency);
        let mut window = Window::new(machines);
        let (mut sum, mut pieces_left, mut requests_left) = (0, effort.pieces, counted);
        for request in self.requests.all.iter().filter(|request| request.counted) {
            let alone = splitter.split(&self.requests, request);
            worst.add(request.arrival, alone, &splitter.demands);
            window.add(request.arrival, alone, &splitter.demands);
            requests_left -= 1;
            if window.pieces >= effort.window || requests_left == 0 {
                let full = std::mem::replace(&mut window, Window::new(machines));
                // This window's part of what is left, by its requests.
                let share = pieces_left as u128 * full.requests() as u128
                    / (full.requests() as u128 + u128::from(requests_left));
                let steps = (share as usize / full.pieces.max(1)).clamp(3, effort.steps as usize) as u32;
                pieces_left -= (steps as usize * full.pieces).min(pieces_left);
                sum += full.bound(steps);
            }
        }
        Bound { mean_ns: (sum / PER_NS / u128::from(counted)) as u64, worst_ns: worst.response }
    }
}
