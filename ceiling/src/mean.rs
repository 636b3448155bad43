//! The bound on the mean: a Lagrangian over the machines.
//!
//! A request ends no earlier than its work on any machine, so no earlier than any weighted mean of those ends. With weights fixed, the sum
//! over all requests falls apart into machines, of each of which the least is known ([`crate::wspt`]). Any weights give a bound; the
//! steps look for good ones.

use rayon::prelude::*;

use crate::pieces::Demand;
use crate::wspt::{MAX_WORK, Piece, serve};

/// The weights of a request sum to this.
const SCALE: u64 = 1 << 20;

/// Sixteenths of a ns times weights: what sums are kept in.
pub(crate) const PER_NS: u128 = 16 * SCALE as u128;

/// A machine with the pieces of all requests of a window, in the order of their releases.
#[derive(Default, Debug)]
struct Machine {
    pieces: Vec<Piece>,
    /// The weight of each piece: share of its request's 1.
    shares: Vec<f64>,
    /// The same in whole numbers, rounded down.
    weights: Vec<u32>,
    /// The least from the arrival of the piece's request to its end, with these weights, sixteenths of a ns.
    ends: Vec<u64>,
}

/// Some consecutive requests, with what they ask of every machine.
#[derive(Debug)]
pub(crate) struct Window {
    machines: Vec<Machine>,
    /// How long each request takes alone, sixteenths of a ns.
    alone: Vec<u64>,
    /// Number of pieces of each request.
    counts: Vec<u32>,
    pub(crate) pieces: usize,
}

impl Window {
    pub(crate) fn new(machines: usize) -> Window {
        Window {
            machines: (0..machines).map(|_| Machine::default()).collect(),
            alone: Vec::new(),
            counts: Vec::new(),
            pieces: 0,
        }
    }

    pub(crate) fn add(&mut self, arrival: u64, alone: u64, demands: &[Demand]) {
        let request = self.alone.len() as u32;
        self.alone.push(16 * alone);
        self.counts.push(demands.len() as u32);
        self.pieces += demands.len();
        for demand in demands {
            debug_assert!((1..=MAX_WORK).contains(&demand.work));
            let Demand { head, work, after, .. } = *demand;
            let piece = Piece { request, release: arrival + head, work, beside: 16 * head + after };
            self.machines[demand.machine as usize].pieces.push(piece);
        }
    }

    pub(crate) fn requests(&self) -> usize {
        self.alone.len()
    }

    /// The largest bound that `steps` steps find on the sum of the response times, in units of a ns / [`PER_NS`].
    pub(crate) fn bound(mut self, steps: u32) -> u128 {
        self.machines.retain(|machine| !machine.pieces.is_empty());
        let counts = &self.counts;
        self.machines.par_iter_mut().for_each(|machine| machine.begin(counts));
        let mut search = Search::new(&self);
        let mut best = 0;
        for step in 0..steps.max(1) {
            self.machines.par_iter_mut().for_each(Machine::serve);
            best = best.max(search.sum(&self));
            if step + 1 < steps {
                search.step(&mut self, step);
            }
        }
        best
    }
}

impl Machine {
    /// Sorts the pieces, and gives each an equal share of most of its request's weight.
    fn begin(&mut self, counts: &[u32]) {
        self.pieces.sort_by_key(|piece| (piece.release, piece.request));
        self.shares =
            self.pieces.iter().map(|piece| (1.0 - ALONE) / f64::from(counts[piece.request as usize])).collect();
        self.weights = vec![0; self.pieces.len()];
        self.ends = vec![0; self.pieces.len()];
    }

    /// The least ends with the present weights.
    fn serve(&mut self) {
        let Machine { pieces, shares, weights, ends } = self;
        weights.iter_mut().zip(shares.iter()).for_each(|(weight, share)| *weight = (share * SCALE as f64) as u32);
        serve(pieces, weights, |i, mean| ends[i] = mean + pieces[i].beside);
    }
}

/// The share of a request's weight that its time alone has at first, and the least share of anything.
const ALONE: f64 = 0.2;
const LEAST: f64 = 1e-9;

/// The search for weights: an exponentiated subgradient in which what ends last gains weight.
struct Search {
    /// The share of each request's time alone.
    shares: Vec<f64>,
    /// The latest end of each request's pieces.
    latest: Vec<u64>,
    sums: Vec<f64>,
    /// What the whole-numbered weights leave of each request's 1.
    left: Vec<u32>,
}

impl Search {
    fn new(window: &Window) -> Search {
        let share = |&count: &u32| if count == 0 { 1.0 } else { ALONE };
        Search {
            shares: window.counts.iter().map(share).collect(),
            latest: Vec::new(),
            sums: Vec::new(),
            left: Vec::new(),
        }
    }

    /// The weighted sum: every request's weights sum to [`SCALE`], what whole numbers leave over going to the time alone.
    fn sum(&mut self, window: &Window) -> u128 {
        self.left.clear();
        self.left.resize(window.requests(), SCALE as u32);
        let mut sum = 0;
        for machine in &window.machines {
            for ((piece, &weight), &end) in machine.pieces.iter().zip(&machine.weights).zip(&machine.ends) {
                let left = &mut self.left[piece.request as usize];
                *left = left.checked_sub(weight).expect("rounded down, the shares of a request sum to at most 1");
                sum += u128::from(weight) * u128::from(end);
            }
        }
        sum + self
            .left
            .iter()
            .zip(&window.alone)
            .map(|(&left, &alone)| u128::from(left) * u128::from(alone))
            .sum::<u128>()
    }

    /// Moves weight to what ends last.
    fn step(&mut self, window: &mut Window, step: u32) {
        self.latest.clone_from(&window.alone);
        for machine in &window.machines {
            for (piece, &end) in machine.pieces.iter().zip(&machine.ends) {
                let latest = &mut self.latest[piece.request as usize];
                *latest = end.max(*latest);
            }
        }
        let length = 0.5 / (1.0 + f64::from(step) / 10.0);
        let latest = &self.latest;
        let scaled = |share: f64, end: u64, request: usize| {
            let latest = latest[request].max(1);
            let x = length * (latest - end.min(latest)) as f64 / latest as f64;
            // As exp(-x), with what every machine computes alike.
            (share / (1.0 + x + x * x / 2.0)).max(LEAST)
        };
        for (i, share) in self.shares.iter_mut().enumerate() {
            *share = scaled(*share, window.alone[i], i);
        }
        window.machines.par_iter_mut().for_each(|machine| {
            for ((piece, &end), share) in machine.pieces.iter().zip(&machine.ends).zip(&mut machine.shares) {
                *share = scaled(*share, end, piece.request as usize);
            }
        });
        self.sums.clone_from(&self.shares);
        for machine in &window.machines {
            for (piece, share) in machine.pieces.iter().zip(&machine.shares) {
                self.sums[piece.request as usize] += share;
            }
        }
        // A little more than the sum, so that rounding leaves the shares below 1.
        let sums = &mut self.sums;
        sums.iter_mut().for_each(|sum| *sum *= 1.0 + 1e-9);
        self.shares.iter_mut().zip(sums.iter()).for_each(|(share, sum)| *share /= sum);
        let sums = &self.sums;
        window.machines.par_iter_mut().for_each(|machine| {
            for (piece, share) in machine.pieces.iter().zip(&mut machine.shares) {
                *share /= sums[piece.request as usize];
            }
        });
    }
}
