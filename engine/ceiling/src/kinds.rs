//! A bound on the mean from the machines of one kind at a time, over a long stretch of requests: what windows leave out.
//!
//! A request's weight is split evenly over what it asks of the machines of a kind. That needs no search and no memory but for what waits, so that
//! nothing is cut off: where requests come faster than they are served, what counts most is the work that piles up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use crate::demands::Demand;
use crate::wspt::SCALE;

/// Kinds of machines, each looked at as if there were no other.
#[derive(Debug)]
pub(crate) struct Kinds {
    kinds: Vec<Kind>,
    machines: Vec<Machine>,
    /// By machine, its kind.
    kind_of: Vec<usize>,
}

/// The machines of a kind.
#[derive(Clone, Copy, Default, Debug)]
struct Kind {
    /// The response times of all requests, each with its weight, but for the times from arrivals to mean busy times; in units of a ns /
    /// [`crate::mean::PER_NS`].
    fixed: u128,
    /// Pieces of the request at hand.
    pieces: u64,
    /// How much of that request's weight has been given away.
    given: u64,
}

impl Kinds {
    /// Of `machines` machines; those that are in no group are not looked at.
    pub(crate) fn new(machines: usize, groups: &[Range<u32>]) -> Kinds {
        let of = |machine: usize| groups.iter().position(|group| group.contains(&(machine as u32)));
        let kind_of = (0..machines).map(|machine| of(machine).unwrap_or(groups.len())).collect();
        Kinds {
            kinds: vec![Kind::default(); groups.len() + 1],
            machines: (0..machines).map(|_| Machine::default()).collect(),
            kind_of,
        }
    }

    /// Adds a request, in the order of arrival.
    pub(crate) fn add(&mut self, arrival: u64, alone: u64, demands: &[Demand]) {
        for demand in demands {
            self.kinds[self.kind_of[demand.machine as usize]].pieces += 1;
        }
        for &Demand { machine, work, after, .. } in demands {
            let kind = &mut self.kinds[self.kind_of[machine as usize]];
            let of_ns = SCALE / kind.pieces / work;
            kind.given += of_ns * work;
            kind.fixed += u128::from(of_ns * work) * u128::from(after);
            self.machines[machine as usize].add(Waiting { of_ns, release: Reverse(arrival), left: work });
        }
        for kind in &mut self.kinds {
            kind.fixed += u128::from(SCALE - kind.given) * u128::from(16 * alone);
            (kind.pieces, kind.given) = (0, 0);
        }
    }

    /// The largest bound on the sum of the response times of all requests since the last call, in units of a ns / [`crate::mean::PER_NS`].
    /// What comes after does not wait for them.
    pub(crate) fn bound(&mut self) -> u128 {
        let mut sums = std::mem::take(&mut self.kinds);
        self.kinds = vec![Kind::default(); sums.len()];
        for (machine, &kind) in self.machines.iter_mut().zip(&self.kind_of) {
            machine.serve(u64::MAX);
            sums[kind].fixed += 8 * std::mem::take(machine).moments;
        }
        sums.pop();
        sums.iter().map(|kind| kind.fixed).max().unwrap_or(0)
    }
}

/// A machine that serves the piece of most weight a ns, as [`crate::wspt::serve`] does, of pieces that come one by one.
#[derive(Default, Debug)]
struct Machine {
    now: u64,
    waiting: BinaryHeap<Waiting>,
    /// Twice the sum of the times from release to mean busy time, each multiplied by the piece's weight.
    moments: u128,
}

/// What is left of a piece. The heaviest goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Waiting {
    of_ns: u64,
    release: Reverse<u64>,
    left: u64,
}

impl Machine {
    fn add(&mut self, piece: Waiting) {
        let Reverse(release) = piece.release;
        self.serve(release);
        self.now = self.now.max(release);
        self.waiting.push(piece);
    }

    /// Serves what waits up to an instant.
    fn serve(&mut self, until: u64) {
        while self.now < until {
            let Some(mut first) = self.waiting.peek_mut() else { return };
            let Waiting { of_ns, release: Reverse(release), left } = *first;
            let served = left.min(until - self.now);
            let end = self.now + served;
            let twice_mean = (self.now - release) + (end - release);
            self.moments += u128::from(of_ns * served) * u128::from(twice_mean);
            self.now = end;
            if served == left {
                PeekMut::pop(first);
            } else {
                first.left -= served;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mean::PER_NS;
    use crate::wspt::{Piece, Scratch, serve};
    use flashlane_testing::Random;

    fn demand(machine: u32, work: u64) -> Demand {
        Demand { machine, head: 0, work, after: 8 * work }
    }

    /// Pieces that come one by one are served as pieces that are known from the beginning.
    #[test]
    fn pieces_added_one_by_one_are_served_as_if_all_were_known() {
        let mut random = Random(5);
        let mut below = |n| random.below(n);
        for _ in 0..2000 {
            let count = 1 + below(12) as usize;
            let mut pieces: Vec<Piece> = (0..count)
                .map(|i| Piece { release: below(40), work: 1 + below(9), place: i as u32, request: 0 })
                .collect();
            pieces.sort_by_key(|piece| piece.release);
            let of_ns: Vec<u64> = pieces.iter().map(|_| below(6)).collect();
            let mut machine = Machine::default();
            for &Piece { release, work, place, .. } in &pieces {
                machine.add(Waiting { of_ns: of_ns[place as usize], release: Reverse(release), left: work });
            }
            machine.serve(u64::MAX);
            let known = serve(&pieces, &of_ns, &mut vec![0.0; count], &mut Scratch::default());
            assert_eq!(machine.moments, known, "{pieces:?} {of_ns:?}");
        }
    }

    /// Two machines of one kind and one of another. At 0 a request that needs 4 ns of each machine of the first kind, and one that needs 2 ns of
    /// one of them; alone they take 5 and 3 ns. The first kind: the second request is the heavier one there and ends at 2; the other has half
    /// its weight on each machine, where it ends at 6 and at 4: 7 in all. The second kind is asked for 1 ns by the first request, and the
    /// other counts as alone: 1 and 3.
    #[test]
    fn the_kind_that_waits_longest_counts() {
        let mut kinds = Kinds::new(3, &[0..2, 2..3]);
        kinds.add(0, 5, &[demand(0, 4), demand(1, 4), demand(2, 1)]);
        kinds.add(0, 3, &[demand(0, 2)]);
        assert_eq!(kinds.bound() / PER_NS, 7);
        assert_eq!(kinds.bound(), 0);
        // With the first request alone, and then the second after the first is forgotten.
        kinds.add(10, 5, &[demand(0, 4), demand(1, 4), demand(2, 1)]);
        assert_eq!(kinds.bound() / PER_NS, 4);
        kinds.add(10, 3, &[demand(0, 2)]);
        assert_eq!(kinds.bound() / PER_NS, 3);
    }
}
