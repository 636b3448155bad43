//! Units of a channel with an instant each, in ascending order.
//!
//! A sorted array: a channel has few units, new instants are mostly the latest, and only the first is read.

use super::min_tree::MOST;

/// Bits of a unit's number on its channel.
const WAY_BITS: u32 = 6;

/// Units of a channel, each with an instant, sorted.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Instants {
    length: usize,
    /// From place 1 on, ascending, each the instant in ns, whether it is late, and the unit, packed: `ns << 7 | late << 6 | way`.
    /// Before them stands 0, behind them all ones.
    keys: [u64; 2 * MOST + 1],
}

impl Instants {
    /// Entries that move up without a loop when the first is removed: as many as a channel usually has units.
    const FEW: usize = 4;

    /// No unit.
    pub(super) fn empty() -> Instants {
        let mut keys = [u64::MAX; 2 * MOST + 1];
        keys[0] = 0;
        Instants { length: 0, keys }
    }

    /// The first one's instant; [`super::min_tree::NEVER`] if there is none.
    #[inline(always)]
    pub(super) fn first_instant(&self) -> u64 {
        // An arithmetic shift turns all ones into NEVER again.
        (self.keys[1] as i64 >> (WAY_BITS + 1)) as u64
    }

    /// The first: unit on the channel.
    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        self.keys[1] as usize % MOST
    }

    /// Whether the first is late.
    #[inline(always)]
    pub(super) fn first_is_late(&self) -> bool {
        self.keys[1] >> WAY_BITS & 1 == 1
    }

    /// Adds a unit that is not listed: among those of the same instant in the order of their numbers.
    #[inline(always)]
    pub(super) fn insert_by_number(&mut self, way: usize, at: u64) {
        self.insert(way, at << (WAY_BITS + 1) | way as u64, 0);
    }

    /// Adds a unit that is not listed: behind all others of the same instant, but before those that are `late` if it is not.
    /// Whether it is the first now.
    #[inline(always)]
    pub(super) fn insert_by_arrival(&mut self, way: usize, at: u64, late: bool) -> bool {
        self.insert(way, (at << 1 | u64::from(late)) << WAY_BITS | way as u64, MOST as u64 - 1)
    }

    /// Inserts the key behind all keys that are at most `key | ignored`. Whether there are none.
    #[inline(always)]
    fn insert(&mut self, way: usize, key: u64, ignored: u64) -> bool {
        debug_assert!(self.length < MOST && self.all().all(|(other, _)| other != way));
        let mut last = self.length % (2 * MOST);
        self.length += 1;
        while self.keys[last] > key | ignored {
            self.keys[last + 1] = self.keys[last];
            last = (last - 1) % (2 * MOST);
        }
        self.keys[last + 1] = key;
        last == 0
    }

    /// Removes the first.
    #[inline(always)]
    pub(super) fn pop_first(&mut self) {
        debug_assert!(self.length > 0);
        for place in 1..=Self::FEW {
            self.keys[place] = self.keys[place + 1];
        }
        if self.length > Self::FEW {
            self.keys.copy_within(Self::FEW + 2..self.length + 2, Self::FEW + 1);
        }
        self.length -= 1;
    }

    /// Removes the unit, if it is listed.
    pub(super) fn remove(&mut self, way: usize) {
        let place = self.all().position(|(other, _)| other == way);
        if let Some(place) = place {
            self.keys.copy_within(place + 2..self.length + 2, place + 1);
            self.length -= 1;
        }
    }

    /// All in order: unit on the channel, and its instant.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.keys[1..=self.length].iter().map(|key| (*key as usize % MOST, key >> (WAY_BITS + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::min_tree::NEVER;
    use alloc::vec::Vec;

    /// Against a plain list sorted anew, for lines of many lengths.
    #[test]
    fn the_line_is_what_sorting_makes_of_it() {
        let mut x: u64 = 7;
        for (units, behind) in [1, 2, 4, 5, 6, 16, 64].into_iter().flat_map(|units| [(units, false), (units, true)]) {
            let mut line = Instants::empty();
            let mut plain: Vec<(u64, bool, usize, usize)> = Vec::new();
            for age in 0..5_000 {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let (way, at, late) = ((x >> 40) as usize % units, (x >> 50) % 32, x >> 63 == 1);
                if let Some(place) = plain.iter().position(|entry| entry.3 == way) {
                    if late {
                        line.remove(way);
                        plain.remove(place);
                    } else {
                        line.pop_first();
                        plain.remove(0);
                    }
                } else if behind {
                    line.insert_by_arrival(way, at, late);
                    plain.push((at, late, age, way));
                } else {
                    line.insert_by_number(way, at);
                    plain.push((at, false, way, way));
                }
                plain.sort();
                line.remove(units);
                assert_eq!(line.first_instant(), plain.first().map_or(NEVER, |first| first.0));
                assert!(line.all().eq(plain.iter().map(|entry| (entry.3, entry.0))));
                assert!(plain.is_empty() || line.first() == plain[0].3);
            }
        }
    }
}
