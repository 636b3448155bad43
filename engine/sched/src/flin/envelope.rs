//! The smallest and the largest slowdown of a block of waiting transactions, for any instant at which its service begins.
//!
//! The slowdown of a waiting transaction is a line over that instant `x`: `(offset + x) / isolated`, where `offset` is the service of
//! the block up to its own end less when it joined. An [`Envelope`] keeps the lines that are the smallest or the largest somewhere,
//! in the order of `x`, so that a look at a block costs a step or two along them instead of a visit to every transaction.
//! Exact: instants are whole nanoseconds, and so are the places where one line crosses another, rounded up.

use alloc::vec::Vec;

use super::slowdown::{Extremes, Slowdown};

/// Transactions of a block at most. With 128 a search at 10,000 waiting takes a fifth less, and one at 100 a fifth more.
pub(crate) const BLOCK: usize = 64;

/// The slowdown of one transaction as a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub(crate) offset: i64,
    /// At least 1.
    pub(crate) isolated: u64,
}

impl Line {
    #[inline(always)]
    fn at(self, x: u64) -> Slowdown {
        Slowdown::new(x.wrapping_add_signed(self.offset), self.isolated)
    }

    /// The first instant at which `later` lies no lower than `self`, if it is the steeper one; with both mirrored, no higher, if
    /// it is the flatter one.
    fn crossing(self, later: Line) -> i64 {
        let product = |line: Line, other: Line| i128::from(line.offset) * i128::from(other.isolated);
        let (over, under) =
            (product(self, later) - product(later, self), i128::from(self.isolated) - i128::from(later.isolated));
        let (over, under) = if under < 0 { (-over, -under) } else { (over, under) };
        let up = over.div_euclid(under) + i128::from(over.rem_euclid(under) != 0);
        up.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }
}

/// A line, and from where on it is the extreme one.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: i64,
    line: Line,
}

/// The lines that are extreme somewhere, one way.
#[derive(Clone, Default, Debug)]
struct Side {
    pieces: Vec<Piece>,
    /// The piece of the last look: the next one is near.
    last: usize,
}

impl Side {
    /// Takes lines in the order in which they become extreme as `x` grows.
    fn build<'a>(&mut self, lines: impl Iterator<Item = &'a Line>) {
        self.pieces.clear();
        self.last = 0;
        for &line in lines {
            let mut from = i64::MIN;
            while let Some(top) = self.pieces.last() {
                if top.line.isolated == line.isolated {
                    // Of parallel lines the first is the extreme one.
                    break;
                }
                from = top.line.crossing(line);
                if from > top.from {
                    break;
                }
                self.pieces.pop();
                from = i64::MIN;
            }
            match self.pieces.last() {
                Some(top) if top.line.isolated == line.isolated => {}
                _ => self.pieces.push(Piece { from, line }),
            }
        }
    }

    #[inline(always)]
    fn at(&mut self, x: u64) -> Slowdown {
        let instant = x as i64;
        while self.pieces[self.last].from > instant {
            self.last -= 1;
        }
        while self.pieces.get(self.last + 1).is_some_and(|next| next.from <= instant) {
            self.last += 1;
        }
        self.pieces[self.last].line.at(x)
    }

    fn has(&self, line: Line) -> bool {
        self.pieces.iter().any(|piece| piece.line == line)
    }
}

/// The extreme slowdowns of a block, as functions of the instant at which its service begins.
#[derive(Clone, Default, Debug)]
pub(crate) struct Envelope {
    least: Side,
    most: Side,
}

impl Envelope {
    /// Works the envelope of `lines` out; `lines` is left sorted.
    pub(crate) fn build(&mut self, lines: &mut [Line]) {
        // All the space it can need, so that later calls allocate nothing; cleared first, so that it is no more than that.
        for side in [&mut self.least, &mut self.most] {
            side.pieces.clear();
            side.pieces.reserve(BLOCK);
        }
        // The steeper a line, the sooner it is the smallest and the later it is the largest.
        lines.sort_unstable_by_key(|line| (line.isolated, line.offset));
        self.least.build(lines.iter());
        lines.sort_unstable_by_key(|line| (core::cmp::Reverse(line.isolated), core::cmp::Reverse(line.offset)));
        self.most.build(lines.iter());
    }

    /// The extremes if service begins at `x`.
    #[inline(always)]
    pub(crate) fn at(&mut self, x: u64) -> Extremes {
        Extremes::NONE.with(self.least.at(x)).with(self.most.at(x))
    }

    /// Whether a transaction with this line may be one of the extreme ones.
    pub(crate) fn has(&self, line: Line) -> bool {
        self.least.has(line) || self.most.has(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    /// At every instant the envelope has the extremes that a look at all lines finds; with and without parallel lines.
    #[test]
    fn the_envelope_equals_all_lines() {
        let mut random = Random(11);
        let mut upto = |most: u64| random.upto(most);
        let mut pieces = 0;
        for round in 0..3_000 {
            let (alones, offsets) = [(3, 40), (40, 40), (1_000_000_000, 1_000_000_000)][round % 3];
            let mut lines: Vec<Line> = (0..=upto(40))
                .map(|_| Line { offset: upto(offsets) as i64 - offsets as i64 / 2, isolated: 1 + upto(alones) })
                .collect();
            let mut envelope = Envelope::default();
            envelope.build(&mut lines);
            pieces = pieces.max(envelope.least.pieces.len()).max(envelope.most.pieces.len());
            let base = offsets / 2 + 1;
            for _ in 0..40 {
                let far = 1 + 19 * upto(1);
                let x = base + upto(offsets * far);
                let all = lines.iter().fold(Extremes::NONE, |all, line| all.with(line.at(x)));
                let found = envelope.at(x);
                // Equal slowdowns may be different fractions.
                assert_eq!(found.and(all), found, "round {round} at {x}");
                assert_eq!(all.and(found), all, "round {round} at {x}");
            }
        }
        assert!(pieces > 4, "{pieces}");
    }
}
