//! The bound on the mean: a Lagrangian over the machines.
//!
//! A request ends no earlier than its work on any machine, so no earlier than any weighted mean of those ends. With weights fixed, the sum
//! over all requests falls apart into machines, of each of which the least is known ([`crate::wspt`]). Any weights give a bound; the
//! steps look for good ones.

use rayon::prelude::*;

use crate::demands::Demand;
use crate::wspt::{MAX_WORK, Piece, SCALE, Scratch, serve};

/// Sixteenths of a ns times weights: what sums are kept in.
pub(crate) const PER_NS: u128 = 16 * SCALE as u128;

/// The fewest steps of a window.
const MIN_STEPS: u32 = 3;

/// A request of a window.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// How long it takes at the least, whatever the others do, sixteenths of a ns.
    alone: u64,
    /// The share of its weight that this has.
    share: f64,
    /// Number of its pieces.
    pieces: u32,
}

/// The weight of a piece.
#[derive(Clone, Copy, Debug)]
struct Weight {
    /// Its share of the weight of its request.
    share: f64,
    work: u64,
    /// The least from the arrival of its request to the request's end, but for the time from its release to its mean busy time, sixteenths
    /// of a ns.
    fixed: u64,
}

/// Some consecutive requests, with what they ask of every machine.
#[derive(Debug)]
pub(crate) struct Window {
    /// The pieces of each machine.
    machines: Vec<Vec<Piece>>,
    requests: Vec<Request>,
    /// The weights of all pieces, those of a request together.
    weights: Vec<Weight>,
    /// All work that was added, ns.
    pub(crate) work: u128,
}

impl Window {
    pub(crate) fn new(machines: usize) -> Window {
        Window { machines: vec![Vec::new(); machines], requests: Vec::new(), weights: Vec::new(), work: 0 }
    }

    pub(crate) fn add(&mut self, arrival: u64, alone: u64, demands: &[Demand]) {
        let request = self.requests.len() as u32;
        let mut alone = 16 * alone;
        for &Demand { machine, head, work, after } in demands {
            debug_assert!((1..=MAX_WORK).contains(&work));
            let place = self.weights.len() as u32;
            self.machines[machine as usize].push(Piece { release: arrival + head, work, place, request });
            let fixed = 16 * head + after;
            alone = alone.max(8 * work + fixed);
            self.weights.push(Weight { share: 0.0, work, fixed });
            self.work += u128::from(work);
        }
        self.requests.push(Request { alone, share: 1.0, pieces: demands.len() as u32 });
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn pieces(&self) -> usize {
        self.weights.len()
    }

    /// The largest bound on the sum of the response times that some steps find, in units of a ns / [`PER_NS`]: as many steps as serve
    /// `budget` pieces, at least three and at most `steps`.
    pub(crate) fn bound(mut self, steps: u32, budget: usize) -> u128 {
        for machine in &mut self.machines {
            machine.sort_by_key(|piece| (piece.release, piece.request));
        }
        self.prune();
        let alone = u128::from(SCALE) * self.requests.iter().map(|request| u128::from(request.alone)).sum::<u128>();
        self.begin();
        let mut search = Search::default();
        let (mut best, mut served) = (alone, 0);
        for step in 0..steps {
            served += self.pieces();
            if self.pieces() == 0 || step >= MIN_STEPS && served > budget {
                break;
            }
            let fixed = search.round(&self);
            let moments = search.serve(&self);
            best = best.max(alone.saturating_add_signed(fixed) + 8 * moments);
            search.step(&mut self, step);
            if THINNED.contains(&step) {
                self.thin();
            }
        }
        best
    }

    /// Leaves out the pieces that cannot delay the end of their request in any order of service: they need no weight.
    fn prune(&mut self) {
        for _ in 0..PASSES {
            let before: usize = self.machines.iter().map(Vec::len).sum();
            for machine in &mut self.machines {
                prune_machine(machine, &self.requests, &mut self.weights);
            }
            let after: usize = self.machines.iter().map(Vec::len).sum();
            if before - after <= before / 16 {
                break;
            }
        }
        self.close_up();
    }

    /// Leaves out the pieces that have lost nearly all their weight.
    fn thin(&mut self) {
        for weight in self.weights.iter_mut().filter(|weight| weight.share < LIGHT) {
            weight.work = LEFT_OUT;
        }
        let weights = &self.weights;
        self.machines
            .iter_mut()
            .for_each(|machine| machine.retain(|piece| weights[piece.place as usize].work != LEFT_OUT));
        self.close_up();
    }

    /// Removes the weights of pieces that were left out.
    fn close_up(&mut self) {
        let mut places = vec![0; self.weights.len()];
        let (mut old, mut new) = (0, 0);
        for request in &mut self.requests {
            let end = old + request.pieces as usize;
            request.pieces = 0;
            for (place, moved_to) in places.iter_mut().enumerate().take(end).skip(old) {
                if self.weights[place].work != LEFT_OUT {
                    self.weights[new] = self.weights[place];
                    *moved_to = new as u32;
                    new += 1;
                    request.pieces += 1;
                }
            }
            old = end;
        }
        self.weights.truncate(new);
        for piece in self.machines.iter_mut().flatten() {
            piece.place = places[piece.place as usize];
        }
    }

    /// Gives each piece an equal share of most of its request's weight.
    fn begin(&mut self) {
        let mut weights = self.weights.iter_mut();
        for request in &mut self.requests {
            if request.pieces > 0 {
                request.share = ALONE;
            }
            let share = (1.0 - ALONE) / f64::from(request.pieces);
            weights.by_ref().take(request.pieces as usize).for_each(|weight| weight.share = share);
        }
    }
}

/// How often pieces are left out: those that are change what others wait for.
const PASSES: u32 = 4;

/// After which steps light pieces are left out, and the share of their request's weight below which they are.
const THINNED: [u32; 3] = [3, 7, 15];
const LIGHT: f64 = 1e-4;

/// The value of [`Weight`]'s work that marks a piece as left out.
const LEFT_OUT: u64 = 0;

/// Leaves out the pieces of a machine that end, even if last of all that wait with them, before their request does anyway.
fn prune_machine(machine: &mut Vec<Piece>, requests: &[Request], weights: &mut [Weight]) {
    let mut first = 0;
    while first < machine.len() {
        let mut end = machine[first].release;
        let mut next = first;
        while next < machine.len() && (next == first || machine[next].release < end) {
            end += machine[next].work;
            next += 1;
        }
        for piece in &machine[first..next] {
            let weight = &mut weights[piece.place as usize];
            let last = 16 * (end - piece.release) - 8 * piece.work + weight.fixed;
            if last <= requests[piece.request as usize].alone {
                weight.work = LEFT_OUT;
            }
        }
        first = next;
    }
    machine.retain(|piece| weights[piece.place as usize].work != LEFT_OUT);
}

/// The share of a request's weight that its time alone has at first, and the least share of anything.
const ALONE: f64 = 0.2;
const LEAST: f64 = 1e-9;

/// The search for weights: an exponentiated subgradient in which what ends last gains weight.
#[derive(Default)]
struct Search {
    /// The weight of a ns of work of each piece, in whole numbers.
    of_ns: Vec<u64>,
    /// About the time from the release of each piece to its mean busy time with these weights, ns; then to its request's end.
    ends: Vec<f64>,
}

impl Search {
    /// Turns shares into whole numbers, rounded down, of which those of a request sum to [`SCALE`] at most, whatever the shares are; the
    /// rest goes to the time alone. Returns the sum over the pieces of their weight times what they add to the time alone, apart from their
    /// mean busy times.
    fn round(&mut self, window: &Window) -> i128 {
        let mut sum = 0;
        self.of_ns.resize(window.pieces(), 0);
        let mut pieces = window.weights.iter().zip(&mut self.of_ns);
        for request in &window.requests {
            let mut left = SCALE;
            for (weight, of_ns) in pieces.by_ref().take(request.pieces as usize) {
                *of_ns = ((weight.share * SCALE as f64) as u64).min(left) / weight.work;
                let whole = *of_ns * weight.work;
                left -= whole;
                sum += i128::from(whole) * (i128::from(weight.fixed) - i128::from(request.alone));
            }
        }
        sum
    }

    /// Serves all machines; returns the sum of what [`serve`] does.
    fn serve(&mut self, window: &Window) -> u128 {
        let of_ns = &self.of_ns;
        let served = |scratch: &mut Scratch, machine: &Vec<Piece>| {
            let mut means = vec![0.0; machine.len()];
            (serve(machine, of_ns, &mut means, scratch), means)
        };
        let served: Vec<(u128, Vec<f64>)> = window.machines.par_iter().map_init(Scratch::default, served).collect();
        self.ends.resize(window.pieces(), 0.0);
        for (machine, (_, means)) in window.machines.iter().zip(&served) {
            machine.iter().zip(means).for_each(|(piece, mean)| self.ends[piece.place as usize] = *mean);
        }
        served.iter().map(|(moments, _)| moments).sum()
    }

    /// Moves weight to what ends last.
    fn step(&mut self, window: &mut Window, step: u32) {
        let length = 40.0 / (1.0 + 2.0 * f64::from(step));
        let mut first = 0;
        for request in &mut window.requests {
            let places = first..first + request.pieces as usize;
            first = places.end;
            let (weights, ends) = (&mut window.weights[places.clone()], &mut self.ends[places]);
            let alone = request.alone as f64;
            let mut latest = alone.max(1.0);
            for (weight, end) in weights.iter().zip(ends.iter_mut()) {
                *end = 16.0 * *end + weight.fixed as f64;
                latest = latest.max(*end);
            }
            let scaled = |share: f64, end: f64| {
                let x = length * (latest - end) / latest;
                // As exp(-x), with what every machine computes alike.
                (share / (1.0 + x + x * x / 2.0)).max(LEAST)
            };
            request.share = scaled(request.share, alone);
            let mut sum = request.share;
            for (weight, &end) in weights.iter_mut().zip(ends.iter()) {
                weight.share = scaled(weight.share, end);
                sum += weight.share;
            }
            request.share /= sum;
            weights.iter_mut().for_each(|weight| weight.share /= sum);
        }
    }
}
