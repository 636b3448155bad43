//! A table of entries whose numbers rise: requests, transactions, commands. Constant time, no hashing.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem;

/// Entries by number. Each has the slot of its number modulo the slots. Where two want the same one, the slots are doubled if a quarter of them are
/// taken; else the later is kept apart, so that a few old entries neither need memory for all numbers since nor cost the others time.
#[derive(Clone, Debug)]
pub struct Sequence<T> {
    /// A power of two of slots, each with its number, or none at the start.
    slots: Vec<(u64, Option<T>)>,
    /// Entries in slots.
    taken: usize,
    /// Those whose slot was taken, and a number above all of theirs: those that come rise, and need not be looked for there.
    apart: BTreeMap<u64, T>,
    beyond: u64,
}

impl<T> Default for Sequence<T> {
    fn default() -> Sequence<T> {
        Sequence { slots: Vec::new(), taken: 0, apart: BTreeMap::new(), beyond: 0 }
    }
}

impl<T> Sequence<T> {
    /// The slot of `number` with what it holds of that number.
    #[inline]
    fn slot(&mut self, number: u64) -> Option<&mut Option<T>> {
        let last = self.slots.len().wrapping_sub(1);
        self.slots.get_mut(number as usize & last).filter(|slot| slot.0 == number).map(|slot| &mut slot.1)
    }

    /// Enters `value` under `number`; returns what was there.
    #[inline]
    pub fn insert(&mut self, number: u64, value: T) -> Option<T> {
        let last = self.slots.len().wrapping_sub(1);
        match self.slots.get_mut(number as usize & last) {
            Some(slot) if slot.0 == number && slot.1.is_some() => slot.1.replace(value),
            Some(slot) if slot.1.is_none() && number >= self.beyond => {
                self.taken += 1;
                *slot = (number, Some(value));
                None
            }
            _ => self.insert_slowly(number, value),
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_slowly(&mut self, number: u64, value: T) -> Option<T> {
        let before = self.apart.remove(&number);
        if self.taken * 4 >= self.slots.len() {
            self.grow();
        }
        self.place(number, value);
        before
    }

    /// Doubles the slots. No two entries that had one of their own want the same afterwards.
    fn grow(&mut self) {
        let length = (self.slots.len() * 2).max(16);
        let old = mem::take(&mut self.slots);
        self.slots.resize_with(length, || (0, None));
        for (number, value) in old.into_iter().filter(|(_, value)| value.is_some()) {
            self.slots[number as usize & (length - 1)] = (number, value);
        }
        self.beyond = 0;
        for (number, value) in mem::take(&mut self.apart) {
            self.place(number, value);
        }
    }

    /// Enters a new entry: into its slot, or apart if that is taken.
    fn place(&mut self, number: u64, value: T) {
        let last = self.slots.len() - 1;
        let slot = &mut self.slots[number as usize & last];
        if slot.1.is_none() {
            self.taken += 1;
            *slot = (number, Some(value));
        } else {
            self.apart.insert(number, value);
            self.beyond = self.beyond.max(number.saturating_add(1));
        }
    }

    /// The entry under `number`.
    #[inline]
    pub fn get(&self, number: u64) -> Option<&T> {
        let last = self.slots.len().wrapping_sub(1);
        match self.slots.get(number as usize & last) {
            Some((own, Some(value))) if *own == number => Some(value),
            _ if number >= self.beyond => None,
            _ => self.apart.get(&number),
        }
    }

    /// The entry under `number`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let last = self.slots.len().wrapping_sub(1);
        match self.slots.get_mut(number as usize & last) {
            Some((own, Some(value))) if *own == number => Some(value),
            _ if number >= self.beyond => None,
            _ => self.apart.get_mut(&number),
        }
    }

    /// Takes the entry under `number` out.
    #[inline]
    pub fn remove(&mut self, number: u64) -> Option<T> {
        match self.slot(number).and_then(Option::take) {
            Some(value) => {
                self.taken -= 1;
                Some(value)
            }
            None if number >= self.beyond => None,
            None => self.apart.remove(&number),
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.taken + self.apart.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All entries with their numbers, in any order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let slots = self.slots.iter().filter_map(|(number, value)| Some((*number, value.as_ref()?)));
        slots.chain(self.apart.iter().map(|(number, value)| (*number, value)))
    }

    /// All entries, in any order.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.slots.into_iter().filter_map(|(_, value)| value).chain(self.apart.into_values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    #[test]
    fn entries_are_found_whatever_the_order() {
        let mut sequence = Sequence::default();
        for number in [7, 9, 8, 12] {
            assert_eq!(sequence.insert(number, number * 10), None);
        }
        assert_eq!(sequence.get_mut(8), Some(&mut 80));
        assert_eq!((sequence.get(10), sequence.get(12)), (None, Some(&120)));
        assert_eq!([9, 7, 7, 8, 3].map(|n| sequence.remove(n)), [Some(90), Some(70), None, Some(80), None]);
        assert_eq!(sequence.insert(12, 5), Some(120));
        assert_eq!(sequence.remove(12), Some(5));
        sequence.insert(100, 1);
        sequence.insert(98, 2);
        assert_eq!([98, 99, 100].map(|n| sequence.remove(n)), [Some(2), None, Some(1)], "one that comes late");
    }

    #[test]
    fn one_that_stays_for_long_neither_hides_others_nor_needs_their_memory() {
        let mut sequence = Sequence::default();
        sequence.insert(3, 3);
        for number in 4..1_000 {
            sequence.insert(number, number);
            assert_eq!(sequence.get_mut(number), Some(&mut number.clone()));
            assert_eq!(sequence.remove(number), Some(number));
        }
        assert_eq!((sequence.slots.len(), sequence.apart.len()), (16, 0), "the first slots");
        sequence.insert(3 + (1 << 40), 1);
        assert_eq!((sequence.slots.len(), sequence.apart.len()), (16, 1));
        assert_eq!((sequence.remove(3), sequence.remove(3 + (1 << 40))), (Some(3), Some(1)));
    }

    /// Against a tree, on a long run of numbers that rise, some of which come late or stay for long.
    #[test]
    fn agrees_with_a_tree() {
        let (mut sequence, mut tree) = (Sequence::default(), BTreeMap::new());
        let (mut random, mut were_apart) = (Random(1), 0);
        for step in 0..300_000u64 {
            let x = random.bits();
            let back = if x >> 62 == 0 { (x >> 32) % 5_000 } else { (x >> 32) % 40 };
            let number = (step / 3).saturating_sub(back);
            if x >> 20 & 1 == 0 {
                assert_eq!(sequence.insert(number, step), tree.insert(number, step));
            } else if number % 100 > 0 || x >> 21 & 63 == 0 {
                assert_eq!(sequence.get(number), tree.get(&number));
                assert_eq!(sequence.get_mut(number), tree.get_mut(&number));
                assert_eq!(sequence.remove(number), tree.remove(&number));
            }
            let old = (step / 3).saturating_sub(6_000);
            if old % 100 > 0 {
                assert_eq!(sequence.remove(old), tree.remove(&old));
            }
            assert_eq!(sequence.len(), tree.len());
            were_apart += usize::from(!sequence.apart.is_empty());
        }
        let mut all: Vec<(u64, u64)> = sequence.iter().map(|(number, value)| (number, *value)).collect();
        all.sort_unstable();
        assert_eq!(all, tree.iter().map(|(number, value)| (*number, *value)).collect::<Vec<_>>());
        assert!(all.len() > 500 && (1_000..299_000).contains(&were_apart), "{} {were_apart}", all.len());
        let mut values = sequence.into_values().collect::<Vec<_>>();
        values.sort_unstable();
        let mut of_tree = tree.into_values().collect::<Vec<_>>();
        of_tree.sort_unstable();
        assert_eq!(values, of_tree);
    }
}
