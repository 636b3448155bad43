//! A table of entries whose numbers rise: requests, transactions. Constant time, no hashing.

use alloc::vec::Vec;

/// Entries by number. Each has the slot of its number modulo the slots; where two want the same one, the slots are doubled until
/// none do. Memory is thus about that of the numbers from the lowest entry to the highest.
#[derive(Debug)]
pub struct Sequence<T> {
    /// A power of two of slots, each with its number, or none at the start.
    slots: Vec<(u64, Option<T>)>,
}

impl<T> Default for Sequence<T> {
    fn default() -> Sequence<T> {
        Sequence { slots: Vec::new() }
    }
}

impl<T> Sequence<T> {
    /// The slot of `number`, which may have another entry.
    #[inline]
    fn slot(&mut self, number: u64) -> Option<&mut (u64, Option<T>)> {
        let last = self.slots.len().wrapping_sub(1);
        self.slots.get_mut(number as usize & last)
    }

    /// Enters `value` under `number`.
    #[inline]
    pub fn insert(&mut self, number: u64, value: T) {
        match self.slot(number) {
            Some(slot) if slot.1.is_none() || slot.0 == number => *slot = (number, Some(value)),
            _ => self.grow(number, value),
        }
    }

    /// Doubles the slots until `number` has one.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, number: u64, value: T) {
        let mut entries = alloc::vec![(number, value)];
        let mut length = (self.slots.len() * 2).max(16);
        entries.extend(self.slots.drain(..).filter_map(|(number, value)| Some((number, value?))));
        let mut taken: Vec<usize> = Vec::new();
        loop {
            taken.clear();
            taken.extend(entries.iter().map(|&(number, _)| number as usize & (length - 1)));
            taken.sort_unstable();
            if taken.windows(2).all(|pair| pair[0] != pair[1]) {
                break;
            }
            length *= 2;
        }
        self.slots.resize_with(length, || (0, None));
        for (number, value) in entries {
            self.slots[number as usize & (length - 1)] = (number, Some(value));
        }
    }

    /// The entry under `number`.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.slot(number).filter(|slot| slot.0 == number)?.1.as_mut()
    }

    /// Takes the entry under `number` out.
    #[inline]
    pub fn remove(&mut self, number: u64) -> Option<T> {
        self.slot(number).filter(|slot| slot.0 == number)?.1.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_whatever_the_order() {
        let mut sequence = Sequence::default();
        for number in [7, 9, 8, 12] {
            sequence.insert(number, number * 10);
        }
        assert_eq!(sequence.get_mut(8), Some(&mut 80));
        assert_eq!(sequence.get_mut(10), None);
        assert_eq!([9, 7, 7, 8, 3].map(|n| sequence.remove(n)), [Some(90), Some(70), None, Some(80), None]);
        sequence.insert(12, 5);
        assert_eq!(sequence.remove(12), Some(5));
        sequence.insert(100, 1);
        sequence.insert(98, 2);
        assert_eq!([98, 99, 100].map(|n| sequence.remove(n)), [Some(2), None, Some(1)], "one that comes late");
    }

    #[test]
    fn one_that_stays_for_long_does_not_hide_others() {
        let mut sequence = Sequence::default();
        sequence.insert(3, 3);
        for number in 4..1_000 {
            sequence.insert(number, number);
            assert_eq!(sequence.get_mut(number), Some(&mut number.clone()));
            assert_eq!(sequence.remove(number), Some(number));
        }
        assert_eq!(sequence.remove(3), Some(3));
        assert_eq!(sequence.slots.len(), 1_024, "the numbers from 3 to 999");
        sequence.insert(1 << 40, 1);
        assert_eq!(sequence.slots.len(), 1_024, "what has been taken out needs no memory");
    }
}
