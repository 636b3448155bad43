//! Cuts long runs into windows of consecutive requests, and adds up their bounds; where work is carried over from window to window, what
//! the machines of one kind do by themselves may say more.

use std::ops::Range;

use rayon::prelude::*;

use crate::demands::Demand;
use crate::kinds::Kinds;
use crate::mean::Window;
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
        Effort { window: [50_000, 500_000], steps: 40, pieces: 60_000_000 }
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
    /// Windows whose bounds have not been computed yet, each with the index of its stretch.
    full: Vec<(usize, Window)>,
    /// Requests between two instants at which no machine is behind by more than a request takes alone.
    stretches: Vec<Stretch>,
    /// All requests of the last stretch.
    kinds: Kinds,
}

/// Two bounds of the same requests.
#[derive(Clone, Copy, Default, Debug)]
struct Stretch {
    /// The sum of those of its windows, in units of a ns / [`crate::mean::PER_NS`].
    windows: u128,
    /// That of the machines of one kind.
    kinds: u128,
}

impl Windows<'_> {
    /// For `counted` requests; the machines by kind are `groups`.
    pub(crate) fn new<'a>(machines: usize, groups: &[Range<u32>], counted: u64, effort: &'a Effort) -> Windows<'a> {
        Windows {
            machines,
            counted,
            effort,
            open: Window::new(machines),
            full: Vec::new(),
            stretches: vec![Stretch::default()],
            kinds: Kinds::new(machines, groups),
        }
    }

    /// Adds a request, which `worst` has too.
    pub(crate) fn add(&mut self, arrival: u64, alone: u64, demands: &[Demand], worst: &Worst) {
        self.open.add(arrival, alone, demands);
        self.kinds.add(arrival, alone, demands);
        let [least, most] = self.effort.window;
        let pieces = self.open.pieces();
        let is_full = pieces >= most.min(MAX_PIECES / 2);
        let may_end = pieces >= least && self.open.requests().is_multiple_of(ASKED);
        let is_quiet = may_end && worst.waiting(arrival) * WAITING <= self.open.work;
        if is_full || is_quiet {
            self.close();
            if is_quiet && worst.longest_wait(arrival) <= alone {
                self.end_stretch();
            }
            if self.full.iter().map(|(_, window)| window.pieces()).sum::<usize>() >= BATCH {
                self.add_up();
            }
        }
    }

    /// The sum of the bounds of all stretches, in units of a ns / [`crate::mean::PER_NS`].
    pub(crate) fn sum(mut self) -> u128 {
        self.close();
        self.end_stretch();
        self.add_up();
        self.stretches.iter().map(|stretch| stretch.windows.max(stretch.kinds)).sum()
    }

    fn close(&mut self) {
        let window = std::mem::replace(&mut self.open, Window::new(self.machines));
        self.full.push((self.stretches.len() - 1, window));
    }

    fn end_stretch(&mut self) {
        let last = self.stretches.len() - 1;
        self.stretches[last].kinds = self.kinds.bound();
        self.stretches.push(Stretch::default());
    }

    fn add_up(&mut self) {
        let &Effort { steps, pieces, .. } = self.effort;
        let counted = u128::from(self.counted);
        let bound = |(stretch, window): (usize, Window)| {
            let share = pieces as u128 * window.requests() as u128 / counted;
            (stretch, window.bound(steps, share as usize))
        };
        let bounds: Vec<(usize, u128)> = self.full.par_drain(..).map(bound).collect();
        bounds.into_iter().for_each(|(stretch, bound)| self.stretches[stretch].windows += bound);
    }
}
