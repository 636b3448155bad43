//! When requests arrive: the open-loop processes and the closed loop.
//!
//! Promises times that never decrease and a mean rate that does not drift: fractions of a nanosecond count. Knows nothing
//! of addresses.

use std::collections::VecDeque;

use super::draw::{Aspect, Exponential, Geometric, RandomStream};
use super::spec::{Arrivals, SyntheticSpec};

/// Arrival times from a process of gaps.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    process: Process,
    random: RandomStream,
    exponential: Exponential,
    now_ns: u64,
    /// The fraction of a nanosecond in the current time, in units of 2^-32 ns. An integer, so that one arrival depends
    /// on the last by an addition only, without conversions.
    fraction: u64,
}

#[derive(Clone, Debug)]
enum Process {
    /// The i-th request, from 0, comes i gaps after the start, to the nearest nanosecond.
    Constant {
        gap: f64,
        start_ns: u64,
        sent: u64,
    },
    Poisson {
        gap: f64,
    },
    Bursty(Bursty),
    Batch {
        gap: f64,
        size: Geometric,
        left: u64,
    },
}

impl Stream {
    /// `mean_gap` in nanoseconds.
    pub(super) fn new(spec: &SyntheticSpec, mean_gap: f64, start_ns: u64, seed: u64, aspect: Aspect) -> Stream {
        let (mut random, exponential) = (RandomStream::new(seed, aspect), Exponential::new());
        let process = match spec.arrivals {
            Arrivals::Constant => Process::Constant { gap: mean_gap, start_ns, sent: 0 },
            Arrivals::Bursty => Process::Bursty(Bursty::new(spec, mean_gap, &exponential, &mut random)),
            Arrivals::Batch => {
                let size = spec.burst_requests.unwrap_or(8.0);
                Process::Batch { gap: mean_gap * size, size: Geometric::new(size), left: 0 }
            }
            Arrivals::Poisson | Arrivals::ClosedLoop => Process::Poisson { gap: mean_gap },
        };
        Stream { process, random, exponential, now_ns: start_ns, fraction: 0 }
    }

    /// The next arrival in nanoseconds; stays at the largest time once that is reached.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let gap = match &mut self.process {
            Process::Constant { gap, start_ns, sent } => {
                self.now_ns = start_ns.saturating_add((*gap * *sent as f64 + 0.5) as u64);
                *sent += 1;
                return self.now_ns;
            }
            Process::Poisson { gap } => *gap * self.exponential.sample(&mut self.random),
            Process::Bursty(bursty) => bursty.gap(&self.exponential, &mut self.random),
            Process::Batch { gap, size, left } => {
                if *left > 0 {
                    *left -= 1;
                    0.0
                } else {
                    *left = size.sample(&mut self.random) - 1;
                    *gap * self.exponential.sample(&mut self.random)
                }
            }
        };
        // Gaps are not negative; beyond 2^63 ns the gap saturates, and with it the time.
        let whole = gap as i64;
        let part = ((gap - whole as f64) * (1u64 << 32) as f64) as i64 as u64;
        let fraction = self.fraction + (part & u32::MAX as u64);
        self.fraction = fraction & u32::MAX as u64;
        self.now_ns = self.now_ns.saturating_add(whole as u64 + (fraction >> 32));
        self.now_ns
    }
}

/// A Markov-modulated Poisson process of two states, quiet and burst (model 9.0).
///
/// The rate in a burst is `burst_factor` times the mean rate, bursts take `burst_duty` of the time, and the quiet rate
/// is such that the mean comes out: (1 - factor * duty) / (1 - duty) of it. The length of a burst is given in requests,
/// so that the mean gap stretches the whole process and changes nothing else.
#[derive(Clone, Debug)]
struct Bursty {
    /// Requests a nanosecond: quiet, burst.
    rate: [f64; 2],
    /// Mean length of a state in nanoseconds: quiet, burst.
    stay: [f64; 2],
    state: usize,
    /// Nanoseconds until the state changes.
    left: f64,
}

impl Bursty {
    fn new(spec: &SyntheticSpec, mean_gap: f64, exponential: &Exponential, random: &mut RandomStream) -> Bursty {
        let (factor, duty) = (spec.burst_factor(), spec.burst_duty());
        let mean_rate = 1.0 / mean_gap;
        let rate = [mean_rate * ((1.0 - factor * duty) / (1.0 - duty)).max(0.0), mean_rate * factor];
        let burst = spec.burst_requests.unwrap_or(64.0) / rate[1];
        let stay = [burst * (1.0 - duty) / duty, burst];
        // Drawn from the stationary state: a run may begin inside a burst.
        let state = random.chance(duty) as usize;
        Bursty { rate, stay, state, left: stay[state] * exponential.sample(random) }
    }

    #[inline]
    fn gap(&mut self, exponential: &Exponential, random: &mut RandomStream) -> f64 {
        // `work` counts expected requests (rate times time); between two requests an exponential number of them passes.
        let mut work = exponential.sample(random);
        let mut passed = 0.0;
        loop {
            let rate = self.rate[self.state];
            let ahead = self.left * rate;
            if work < ahead {
                let gap = work / rate;
                self.left -= gap;
                return passed + gap;
            }
            work -= ahead;
            passed += self.left;
            self.state ^= 1;
            self.left = self.stay[self.state] * exponential.sample(random);
        }
    }
}

/// A closed loop: a fixed number of requests in flight, each followed by the next after a pause.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    think_ns: u64,
    /// When each free place sends its next request; in order, since completions come in order. Never grows beyond the
    /// depth.
    ready: VecDeque<u64>,
    depth: usize,
}

impl ClosedLoop {
    /// A loop that sends its first requests at `start_ns`, and later ones a pause after a completion.
    pub fn new(depth: u32, think_ns: u64, start_ns: u64) -> ClosedLoop {
        let depth = depth as usize;
        ClosedLoop { think_ns, ready: std::iter::repeat_n(start_ns, depth).collect(), depth }
    }

    /// When the next request is sent; none until one completes.
    #[inline]
    pub fn next_at(&mut self) -> Option<u64> {
        self.ready.pop_front()
    }

    /// A request has completed.
    #[inline]
    pub fn completed(&mut self, now_ns: u64) {
        assert!(self.ready.len() < self.depth, "more completions than requests of this flow");
        let at = now_ns.saturating_add(self.think_ns);
        debug_assert!(self.ready.back().is_none_or(|&last| last <= at), "completions go back in time");
        self.ready.push_back(at);
    }
}
