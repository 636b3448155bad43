//! One machine: preemptive weighted shortest processing time first (Goemans 1997; docs/results/ceiling.md, B1).
//!
//! Of all schedules of pieces with release times on one machine, pausing at no cost included, it has the least weighted sum of mean
//! busy times (the mean of the instants at which a piece is worked on).

use std::collections::BinaryHeap;

/// A piece of work of one request on one machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// When it can begin, ns.
    pub(crate) release: u64,
    /// How long it takes, ns: from 1 to [`MAX_WORK`].
    pub(crate) work: u64,
    /// Its place in the window's list of what pieces weigh.
    pub(crate) place: u32,
    /// The request, by its number in the window.
    pub(crate) request: u32,
}

/// The weights of a request sum to this at most. A piece has its weight as a whole number per ns of work: that orders pieces without
/// rounding, and products of it and parts of the work fit 64 bits.
pub(crate) const SCALE: u64 = 1 << 40;

/// The longest piece.
pub(crate) const MAX_WORK: u64 = (1 << 40) - 1;

/// The most pieces of a machine: a key of the queue is the weight of a ns of work, and the piece's number.
pub(crate) const MAX_PIECES: usize = 1 << 23;

/// What machines need while they serve, used again for the next.
#[derive(Default, Debug)]
pub(crate) struct Scratch {
    waiting: BinaryHeap<u64>,
    /// By piece; zero unless it was interrupted.
    rests: Vec<Rest>,
}

/// An interrupted piece.
#[derive(Clone, Copy, Default, Debug)]
struct Rest {
    /// The work that is left.
    left: u64,
    /// Twice the sum, over the work done, of the times since its release.
    moment: f64,
}

/// Serves `pieces`, which are in the order of their releases; by their places, `of_ns` is the weight of a ns of their work (at most
/// [`SCALE`] over the work). `means` becomes, in their order, about the time from the release to the mean busy time, ns. Returns twice the sum of those
/// times, each multiplied by the piece's weight (that of a ns and its work), to the last digit.
pub(crate) fn serve(pieces: &[Piece], of_ns: &[u64], means: &mut [f64], scratch: &mut Scratch) -> u128 {
    let Scratch { waiting, rests } = scratch;
    if rests.len() < pieces.len() {
        rests.resize(pieces.len(), Rest::default());
    }
    let last = MAX_PIECES as u64 - 1;
    // The heaviest first, of equals the first.
    let key = |i: usize| of_ns[pieces[i].place as usize] * MAX_PIECES as u64 + (last - i as u64);
    let mut total = 0;
    let mut next = 0;
    while let Some(&Piece { release, work, .. }) = pieces.get(next) {
        let (mut now, mut own, mut current, mut left) = (release, key(next), next, work);
        next += 1;
        loop {
            let end = now + left;
            let since = pieces[current].release;
            let mut is_interrupted = false;
            while let Some(&Piece { release, work, .. }) = pieces.get(next).filter(|piece| piece.release < end) {
                let other = key(next);
                next += 1;
                if other < own {
                    waiting.push(other);
                    continue;
                }
                let twice_mean = (release - since) + (now - since);
                total += u128::from(own / MAX_PIECES as u64 * (release - now)) * u128::from(twice_mean);
                rests[current].left = end - release;
                rests[current].moment += (release - now) as f64 * twice_mean as f64;
                waiting.push(own);
                (now, own, current, left) = (release, other, next - 1, work);
                is_interrupted = true;
                break;
            }
            if is_interrupted {
                continue;
            }
            let twice_mean = (end - since) + (now - since);
            total += u128::from(own / MAX_PIECES as u64 * left) * u128::from(twice_mean);
            let rest = std::mem::take(&mut rests[current]);
            let twice_mean = match rest.left {
                0 => twice_mean as f64,
                _ => (rest.moment + left as f64 * twice_mean as f64) / pieces[current].work as f64,
            };
            means[current] = twice_mean / 2.0;
            now = end;
            let Some(first) = waiting.pop() else { break };
            (own, current) = (first, (last - first % MAX_PIECES as u64) as usize);
            left = match rests[current].left {
                0 => pieces[current].work,
                left => left,
            };
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    fn piece(release: u64, work: u64) -> Piece {
        Piece { release, work, place: 0, request: 0 }
    }

    /// Mean busy times and the sum, by the weights of a ns of work.
    fn served(pieces: &[Piece], weights: &[u64]) -> (Vec<f64>, u128) {
        let mut means = vec![0.0; pieces.len()];
        let numbered: Vec<Piece> =
            pieces.iter().enumerate().map(|(i, piece)| Piece { place: i as u32, ..*piece }).collect();
        let total = serve(&numbered, weights, &mut means, &mut Scratch::default());
        (means, total)
    }

    /// A piece that is interrupted is worked on from 0 to 2 and from 5 to 7.
    #[test]
    fn a_heavier_piece_interrupts() {
        assert_eq!(served(&[piece(0, 4), piece(2, 3)], &[1, 100]), (vec![3.5, 1.5], 2 * (14 + 450)));
        assert_eq!(served(&[piece(0, 4), piece(2, 3)], &[100, 1]), (vec![2.0, 3.5], 2 * 800 + 21));
    }

    /// Of all orders of unit steps, none has a smaller weighted sum of mean busy times.
    #[test]
    fn no_order_is_better() {
        let mut random = Random(3);
        let mut below = |n| random.below(n);
        for _ in 0..300 {
            let count = 1 + below(3) as usize;
            let mut pieces: Vec<Piece> = (0..count).map(|_| piece(below(5), 1 + below(3))).collect();
            pieces.sort_by_key(|piece| piece.release);
            let weights: Vec<u64> = pieces.iter().map(|_| below(6)).collect();
            let (means, total) = served(&pieces, &weights);
            let mut left: Vec<u64> = pieces.iter().map(|piece| piece.work).collect();
            let best = least(&pieces, &weights, &mut left, 0);
            assert_eq!(total, u128::from(best), "{pieces:?} {weights:?}");
            let sum: f64 = (0..count).map(|i| 2.0 * (weights[i] * pieces[i].work) as f64 * means[i]).sum();
            assert!((sum - best as f64).abs() < 1e-6, "{means:?} {best}");
        }
    }

    /// Twice the least weighted sum of the times since the release of what is left from `now` on, by trying everything: a unit step from
    /// t on has its middle at t + 1/2.
    fn least(pieces: &[Piece], weights: &[u64], left: &mut [u64], now: u64) -> u64 {
        if left.iter().all(|&left| left == 0) {
            return 0;
        }
        let mut best = u64::MAX;
        for i in 0..pieces.len() {
            if left[i] > 0 && pieces[i].release <= now {
                left[i] -= 1;
                let own = weights[i] * (2 * (now - pieces[i].release) + 1);
                best = best.min(own + least(pieces, weights, left, now + 1));
                left[i] += 1;
            }
        }
        if best == u64::MAX { least(pieces, weights, left, now + 1) } else { best }
    }
}
