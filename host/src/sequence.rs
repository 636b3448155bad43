//! A table of entries whose numbers rise: requests, transactions. Constant time, no hashing.

use alloc::collections::VecDeque;

/// Entries by number. Memory is that of the numbers from the lowest entry to the highest.
#[derive(Debug)]
pub(crate) struct Sequence<T> {
    base: u64,
    entries: VecDeque<Option<T>>,
}

impl<T> Default for Sequence<T> {
    fn default() -> Sequence<T> {
        Sequence { base: 0, entries: VecDeque::new() }
    }
}

impl<T> Sequence<T> {
    /// Enters `value` under `number`. Numbers may come a little out of order: what is asked for first is not always submitted
    /// first.
    #[inline]
    pub fn insert(&mut self, number: u64, value: T) {
        if self.entries.is_empty() {
            self.base = number;
        }
        while number < self.base {
            self.entries.push_front(None);
            self.base -= 1;
        }
        let at = (number - self.base) as usize;
        while self.entries.len() <= at {
            self.entries.push_back(None);
        }
        self.entries[at] = Some(value);
    }

    /// The entry under `number`.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        let at = number.checked_sub(self.base)?;
        self.entries.get_mut(at as usize)?.as_mut()
    }

    /// Takes the entry under `number` out.
    #[inline]
    pub fn remove(&mut self, number: u64) -> Option<T> {
        let at = number.checked_sub(self.base)?;
        let taken = self.entries.get_mut(at as usize)?.take();
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.base += 1;
        }
        taken
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
        assert_eq!(sequence.entries.len(), 1, "what lies before the lowest entry is forgotten");
        sequence.insert(12, 5);
        assert_eq!(sequence.remove(12), Some(5));
        sequence.insert(100, 1);
        assert_eq!(sequence.entries.len(), 1);
        sequence.insert(98, 2);
        assert_eq!([98, 99, 100].map(|n| sequence.remove(n)), [Some(2), None, Some(1)], "one that comes late");
    }
}
