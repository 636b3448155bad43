//! A row of instants and the least of them.
//!
//! A row is short: the units of a channel, the channels of a device. So it is looked through only when its least instant
//! moves away, and rows of up to four and up to eight without a loop, which would cost more than the comparisons.

/// "Never", in a row. Instants are compared as signed numbers: the processors have a vector comparison for those.
pub(super) const NEVER: u64 = i64::MAX as u64;

/// Instants in ns of at most [`Row::MAX`] things.
#[derive(Clone, Debug)]
pub(super) struct Row {
    least: u64,
    /// How many may be other than never.
    length: usize,
    at: [u64; Row::MAX],
}

impl Row {
    /// Units of a channel and channels of a device, at most.
    pub(super) const MAX: usize = 64;

    /// `length` instants, all never.
    pub(super) fn new(length: usize) -> Row {
        assert!(length <= Row::MAX, "configuration check allows no more than 64");
        Row { least: NEVER, length, at: [NEVER; Row::MAX] }
    }

    /// The least instant.
    #[inline(always)]
    pub(super) fn least(&self) -> u64 {
        self.least
    }

    /// Changes the `i`-th instant.
    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, at: u64) {
        debug_assert!(i < self.length && at <= NEVER);
        let old = core::mem::replace(&mut self.at[i % Row::MAX], at);
        if at <= self.least {
            self.least = at;
        } else if old == self.least {
            self.least = self.find_least();
        }
    }

    #[inline(always)]
    fn find_least(&self) -> u64 {
        let at = |i: usize| self.at[i] as i64;
        let four = |i: usize| at(i).min(at(i + 1)).min(at(i + 2).min(at(i + 3)));
        match self.length {
            ..=4 => four(0) as u64,
            5..=8 => four(0).min(four(4)) as u64,
            _ => self.find_least_of_many(),
        }
    }

    /// Apart, lest every short row pays for setting up the registers of a long one.
    #[inline(never)]
    fn find_least_of_many(&self) -> u64 {
        self.at[..self.length].iter().fold(NEVER, |least, &at| least.min(at))
    }

    /// Which instants have come by `now`, a bit each.
    #[inline(always)]
    pub(super) fn due(&self, now: u64) -> u64 {
        let come = |i: usize| u64::from(self.at[i] <= now) << i;
        match self.length {
            ..=4 => come(0) | come(1) | come(2) | come(3),
            _ => self.due_of_many(now),
        }
    }

    #[inline(never)]
    fn due_of_many(&self, now: u64) -> u64 {
        self.at[..self.length].iter().enumerate().fold(0, |due, (i, &at)| due | u64::from(at <= now) << i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Against a plain scan, for rows of many lengths.
    #[test]
    fn least_and_due_equal_a_plain_scan() {
        let mut x: u64 = 7;
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 64] {
            let mut row = Row::new(length);
            let mut plain = vec![NEVER; length];
            for _ in 0..5_000 {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let i = (x >> 40) as usize % length;
                let at = if x >> 62 == 0 { NEVER } else { (x >> 50) % 64 };
                row.set(i, at);
                plain[i] = at;
                assert_eq!(row.least(), *plain.iter().min().unwrap());
                let due = plain.iter().enumerate().map(|(i, &at)| u64::from(at <= 32) << i).sum::<u64>();
                assert_eq!(row.due(32), due);
            }
        }
    }
}
