//! Units of a channel, each with an instant, in ascending order of the instants.
//!
//! A sorted array is enough: a channel has few units, new instants are mostly the latest, and only the first is read.

use flashlane_core::min_tree::MAX_INSTANTS;

/// Bits of a unit's number on its channel.
const WAY_BITS: u32 = 6;

/// Units of a channel, each with an instant, sorted.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Instants {
    length: usize,
    /// From index 1 on, ascending: instant in ns, whether it is late, and the unit, packed as `ns << 7 | late << 6 | way`. Index
    /// 0 is 0, and all ones follow the last entry.
    keys: [u64; 2 * MAX_INSTANTS + 1],
}

impl Instants {
    /// Entries that are moved without a loop when the first is removed: as many as a channel usually has units.
    const UNROLL: usize = 4;

    /// An empty list.
    pub(super) fn empty() -> Instants {
        let mut keys = [u64::MAX; 2 * MAX_INSTANTS + 1];
        keys[0] = 0;
        Instants { length: 0, keys }
    }

    /// The first instant; [`flashlane_core::min_tree::NEVER`] if there is none.
    #[inline(always)]
    pub(super) fn first_instant(&self) -> u64 {
        // The arithmetic shift turns all ones into NEVER.
        (self.keys[1] as i64 >> (WAY_BITS + 1)) as u64
    }

    /// The first unit, by its number on the channel.
    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        self.keys[1] as usize % MAX_INSTANTS
    }

    /// Whether the first is late.
    #[inline(always)]
    pub(super) fn first_is_late(&self) -> bool {
        self.keys[1] >> WAY_BITS & 1 == 1
    }

    /// Adds a unit that is not listed. Units of the same instant are in the order of their numbers.
    #[inline(always)]
    pub(super) fn insert_by_number(&mut self, way: usize, at: u64) {
        self.insert(way, at << (WAY_BITS + 1) | way as u64, 0);
    }

    /// Adds a unit that is not listed, behind all others of the same instant; one that is not `late` goes before those that are.
    /// Returns whether it is the first now.
    #[inline(always)]
    pub(super) fn insert_by_arrival(&mut self, way: usize, at: u64, late: bool) -> bool {
        self.insert(way, (at << 1 | u64::from(late)) << WAY_BITS | way as u64, MAX_INSTANTS as u64 - 1)
    }

    /// Inserts the key behind all keys that are at most `key | ignored`. Returns whether it is the first.
    #[inline(always)]
    fn insert(&mut self, way: usize, key: u64, ignored: u64) -> bool {
        debug_assert!(self.length < MAX_INSTANTS && self.all().all(|(other, _)| other != way));
        let mut last = self.length % (2 * MAX_INSTANTS);
        self.length += 1;
        while self.keys[last] > key | ignored {
            self.keys[last + 1] = self.keys[last];
            last = (last - 1) % (2 * MAX_INSTANTS);
        }
        self.keys[last + 1] = key;
        last == 0
    }

    /// Removes the first.
    #[inline(always)]
    pub(super) fn pop_first(&mut self) {
        debug_assert!(self.length > 0);
        for place in 1..=Self::UNROLL {
            self.keys[place] = self.keys[place + 1];
        }
        if self.length > Self::UNROLL {
            self.keys.copy_within(Self::UNROLL + 2..self.length + 2, Self::UNROLL + 1);
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

    /// All entries in order: the unit's number on the channel, and its instant.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.keys[1..=self.length].iter().map(|key| (*key as usize % MAX_INSTANTS, key >> (WAY_BITS + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use flashlane_core::min_tree::NEVER;

    /// Compares with a list sorted after each change, for many lengths.
    #[test]
    fn entries_are_in_the_order_of_a_sorted_list() {
        let mut x: u64 = 7;
        for (units, behind) in [1, 2, 4, 5, 6, 16, 64].into_iter().flat_map(|units| [(units, false), (units, true)]) {
            let mut list = Instants::empty();
            let mut plain: Vec<(u64, bool, usize, usize)> = Vec::new();
            for age in 0..5_000 {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let (way, at, late) = ((x >> 40) as usize % units, (x >> 50) % 32, x >> 63 == 1);
                if let Some(place) = plain.iter().position(|entry| entry.3 == way) {
                    if late {
                        list.remove(way);
                        plain.remove(place);
                    } else {
                        list.pop_first();
                        plain.remove(0);
                    }
                } else if behind {
                    list.insert_by_arrival(way, at, late);
                    plain.push((at, late, age, way));
                } else {
                    list.insert_by_number(way, at);
                    plain.push((at, false, way, way));
                }
                plain.sort();
                list.remove(units);
                assert_eq!(list.first_instant(), plain.first().map_or(NEVER, |first| first.0));
                assert!(list.all().eq(plain.iter().map(|entry| (entry.3, entry.0))));
                assert!(plain.is_empty() || list.first() == plain[0].3);
            }
        }
    }
}
