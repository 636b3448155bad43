//! One machine: preemptive weighted shortest processing time first.
//!
//! Of all schedules of pieces with release times on one machine, pausing at no cost included, it has the least weighted sum of mean
//! busy times (the mean of the instants at which a piece is worked on).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A piece of work of one request on one machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The request, by its number in the window.
    pub(crate) request: u32,
    /// When it can begin, ns.
    pub(crate) release: u64,
    /// How long it takes, ns: from 1 to [`MAX_WORK`].
    pub(crate) work: u64,
    /// From the arrival of the request to the release, and from the piece's mean busy time to the request's end at the least, in
    /// sixteenths of a ns.
    pub(crate) beside: u64,
}

/// The longest piece: products of a piece's work and another's weight fit 64 bits.
pub(crate) const MAX_WORK: u64 = (1 << 40) - 1;

/// A piece that waits, by its weight for each unit of work.
struct Waiting {
    weight: u64,
    work: u64,
    index: u32,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        let (own, others) = (self.weight * other.work, other.weight * self.work);
        own.cmp(&others).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// Serves `pieces`, which are in the order of their releases, by the weights `weights` (at most 2^20 each). `ends` is called with each
/// piece's number and the time from its release to its mean busy time, in sixteenths of a ns rounded down.
pub(crate) fn serve(pieces: &[Piece], weights: &[u32], mut ends: impl FnMut(usize, u64)) {
    let mut left: Vec<u64> = pieces.iter().map(|piece| piece.work).collect();
    // Twice the sum over the work of a piece of the times since its release.
    let mut moments = vec![0u128; pieces.len()];
    let mut waiting = BinaryHeap::new();
    let (mut next, mut now) = (0, 0u64);
    loop {
        let Some(first) = waiting.peek().map(|first: &Waiting| first.index as usize) else {
            let Some(piece) = pieces.get(next) else { return };
            now = now.max(piece.release);
            join(&mut waiting, pieces, weights, &mut next, now);
            continue;
        };
        let end = now + left[first];
        let stop = pieces.get(next).map_or(end, |piece| piece.release.min(end));
        let since = 2 * pieces[first].release;
        moments[first] += u128::from(stop - now) * u128::from(stop + now - since);
        left[first] -= stop - now;
        now = stop;
        if stop == end {
            waiting.pop();
            ends(first, mean_of(moments[first], pieces[first].work));
        }
        join(&mut waiting, pieces, weights, &mut next, now);
    }
}

/// The pieces that are released by `now` wait.
fn join(waiting: &mut BinaryHeap<Waiting>, pieces: &[Piece], weights: &[u32], next: &mut usize, now: u64) {
    while let Some(piece) = pieces.get(*next).filter(|piece| piece.release <= now) {
        waiting.push(Waiting { weight: weights[*next].into(), work: piece.work, index: *next as u32 });
        *next += 1;
    }
}

/// Sixteen times half the quotient, rounded down.
fn mean_of(moment: u128, work: u64) -> u64 {
    match u64::try_from(moment) {
        Ok(moment) if moment < 1 << 61 => 8 * moment / work,
        _ => (moment / u128::from(work)) as u64 * 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(release: u64, work: u64) -> Piece {
        Piece { request: 0, release, work, beside: 0 }
    }

    fn means(pieces: &[Piece], weights: &[u32]) -> Vec<u64> {
        let mut means = vec![0; pieces.len()];
        serve(pieces, weights, |i, mean| means[i] = mean);
        means
    }

    /// A piece that is interrupted is worked on from 0 to 2 and from 5 to 7.
    #[test]
    fn a_heavier_piece_interrupts() {
        assert_eq!(means(&[piece(0, 4), piece(2, 3)], &[1, 100]), [16 * 14 / 4, 24]);
        assert_eq!(means(&[piece(0, 4), piece(2, 3)], &[100, 1]), [32, 16 * 2 + 24]);
    }

    /// Of all orders of unit steps, none has a smaller weighted sum of mean busy times.
    #[test]
    fn no_order_is_better() {
        let mut x: u64 = 3;
        let mut below = |n: u64| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) % n
        };
        for _ in 0..300 {
            let count = 1 + below(3) as usize;
            let mut pieces: Vec<Piece> = (0..count).map(|_| piece(below(5), 1 + below(3))).collect();
            pieces.sort_by_key(|piece| piece.release);
            let weights: Vec<u32> = pieces.iter().map(|_| below(6) as u32).collect();
            // In twelfths; a unit step from t on has its middle at t + 1/2.
            let found = means(&pieces, &weights);
            let found: u64 = (0..count).map(|i| u64::from(weights[i]) * 12 * (found[i] + 16 * pieces[i].release)).sum();
            let mut left: Vec<u64> = pieces.iter().map(|piece| piece.work).collect();
            let best = cheapest(&pieces, &weights, &mut left, 0);
            assert!(found <= 16 * best && found + 12 * 5 * 3 >= 16 * best, "{found} {best} {pieces:?} {weights:?}");
        }
    }

    /// The least sum of twelve times the weighted mean busy times of what is left from `now` on, by trying everything.
    fn cheapest(pieces: &[Piece], weights: &[u32], left: &mut [u64], now: u64) -> u64 {
        if left.iter().all(|&left| left == 0) {
            return 0;
        }
        let mut best = u64::MAX;
        for i in 0..pieces.len() {
            if left[i] > 0 && pieces[i].release <= now {
                left[i] -= 1;
                let own = u64::from(weights[i]) * (12 * now + 6) / pieces[i].work;
                best = best.min(own + cheapest(pieces, weights, left, now + 1));
                left[i] += 1;
            }
        }
        if best == u64::MAX { cheapest(pieces, weights, left, now + 1) } else { best }
    }
}
