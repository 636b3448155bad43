//! Cuts long runs into windows of consecutive requests, and adds up their bounds.

use rayon::prelude::*;

use crate::mean::Window;
use crate::pieces::Demand;
use crate::worst::Worst;
use crate::wspt::MAX_PIECES;

/// How long bounds are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Pieces of work that are looked at together, at the least and at most: more make the bound tighter, and take memory (90 bytes each). In
    /// between, a window ends where little work waits.
    pub window: [usize; 2],
    /// The most steps of the search for weights in a window.
    pub steps: u32,
    /// The most pieces that all steps serve; at least three steps are made.
    pub pieces: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { window: [50_000, 4_000_000], steps: 40, pieces: 60_000_000 }
    }
}

/// Windows are collected until they hold this many pieces together; then their bounds are computed in parallel.
const BATCH: usize = 1_000_000;

/// A window ends early where what waits is at most one part in this of the window's work.
const WAITING: u128 = 100;

/// Requests between two checks whether a window can end early.
const ASKED: usize = 64;

/// Windows of consecutive requests.
pub(crate) struct Windows<'a> {
    machines: usize,
    counted: u64,
    effort: &'a Effort,
    open: Window,
    full: Vec<Window>,
    sum: u128,
}

impl Windows<'_> {
    /// For `counted` requests.
    pub(crate) fn new(machines: usize, counted: u64, effort: &Effort) -> Windows<'_> {
        Windows { machines, counted, effort, open: Window::new(machines), full: Vec::new(), sum: 0 }
    }

    /// Adds a request, which `worst` has too.
    pub(crate) fn add(&mut self, arrival: u64, alone: u64, demands: &[Demand], worst: &Worst) {
        self.open.add(arrival, alone, demands);
        let [least, most] = self.effort.window;
        let pieces = self.open.pieces();
        let is_full = pieces >= most.min(MAX_PIECES / 2);
        let may_end = pieces >= least && self.open.requests().is_multiple_of(ASKED);
        if is_full || may_end && worst.waiting(arrival) * WAITING <= self.open.work {
            self.full.push(std::mem::replace(&mut self.open, Window::new(self.machines)));
            if self.full.iter().map(Window::pieces).sum::<usize>() >= BATCH {
                self.add_up();
            }
        }
    }

    /// The sum of the bounds of all windows, in units of a ns / [`crate::mean::PER_NS`].
    pub(crate) fn sum(mut self) -> u128 {
        self.full.push(std::mem::replace(&mut self.open, Window::new(0)));
        self.add_up();
        self.sum
    }

    fn add_up(&mut self) {
        let &Effort { steps, pieces, .. } = self.effort;
        let counted = u128::from(self.counted);
        let bound = |window: Window| {
            let share = pieces as u128 * window.requests() as u128 / counted;
            window.bound(steps, share as usize)
        };
        self.sum += self.full.par_drain(..).map(bound).sum::<u128>();
    }
}
