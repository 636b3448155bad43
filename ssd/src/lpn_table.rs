//! A small open-addressing table from logical page to a number of some type. It holds the writes under way (reads of their pages are
//! served from memory, and two writes of one page never swap, D-SLK-16), the reads that follow their page, and what the buffer knows of
//! a page. Its size depends on the number of entries, not on the size of the drive.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Lpn, TxnId};
use prefetch_index::prefetch_index;

/// Consecutive pages whose entries are adjacent. With more of them, requests touch fewer cache lines but removals visit more
/// entries.
const GROUP: u32 = 4;

/// A number with one value that means "none".
pub trait Value: Copy + PartialEq {
    /// That value.
    const NONE: Self;

    /// Whether this is [`Value::NONE`].
    #[inline(always)]
    fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether this is not [`Value::NONE`].
    #[inline(always)]
    fn is_some(self) -> bool {
        self != Self::NONE
    }
}

impl Value for TxnId {
    const NONE: TxnId = TxnId::NONE;
}

/// Logical page to its entry.
#[derive(Debug)]
pub struct LpnTable<T> {
    slots: Vec<(u32, T)>,
    mask: usize,
    len: usize,
}

impl<T: Value> Default for LpnTable<T> {
    fn default() -> LpnTable<T> {
        LpnTable { slots: vec![(0, T::NONE); 64], mask: 63, len: 0 }
    }
}

impl<T: Value> LpnTable<T> {
    /// Where the search for `lpn` starts: Fibonacci hashing of groups of pages. The high bits of the product spread the groups
    /// over the table; the pages of a group, which requests touch together, have adjacent entries.
    #[inline]
    fn start(&self, lpn: u32) -> usize {
        let groups = (self.mask as u64 + 1) / u64::from(GROUP);
        let group = (u64::from((lpn / GROUP).wrapping_mul(0x9e37_79b1)) * groups) >> 32;
        group as usize * GROUP as usize + (lpn % GROUP) as usize
    }

    /// The entry of `lpn`; [`Value::NONE`] if there is none.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> T {
        if self.len == 0 {
            return T::NONE;
        }
        let mut i = self.start(lpn.0);
        loop {
            let (key, entry) = self.slots[i];
            if entry.is_none() || key == lpn.0 {
                return entry;
            }
            i = (i + 1) & self.mask;
        }
    }

    /// Prefetches the slot where the search for `lpn` starts.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        if self.len > 0 {
            prefetch_index(&self.slots, self.start(lpn.0));
        }
    }

    /// Sets the entry of `lpn`; returns the one it replaces.
    pub fn insert(&mut self, lpn: Lpn, entry: T) -> T {
        if self.len * 4 > self.mask {
            self.grow();
        }
        let mut i = self.start(lpn.0);
        loop {
            let (key, old) = self.slots[i];
            if old.is_none() || key == lpn.0 {
                self.slots[i] = (lpn.0, entry);
                self.len += usize::from(old.is_none());
                return old;
            }
            i = (i + 1) & self.mask;
        }
    }

    /// Removes the entry of `lpn` if it is still `entry`.
    pub fn remove(&mut self, lpn: Lpn, entry: T) {
        let mut i = self.start(lpn.0);
        loop {
            let (key, held) = self.slots[i];
            if held.is_none() {
                return;
            }
            if key == lpn.0 {
                if held != entry {
                    return;
                }
                break;
            }
            i = (i + 1) & self.mask;
        }
        self.len -= 1;
        self.close_gap(i);
    }

    /// Empties slot `hole`, and moves later entries of its run back so that every entry is still found.
    fn close_gap(&mut self, mut hole: usize) {
        let mut i = hole;
        loop {
            i = (i + 1) & self.mask;
            let (key, entry) = self.slots[i];
            if entry.is_none() {
                self.slots[hole].1 = T::NONE;
                return;
            }
            let home = self.start(key);
            if (i.wrapping_sub(home) & self.mask) >= (i.wrapping_sub(hole) & self.mask) {
                self.slots[hole] = (key, entry);
                hole = i;
            }
        }
    }

    fn grow(&mut self) {
        let old = core::mem::take(&mut self.slots);
        self.mask = self.mask * 2 + 1;
        self.slots = vec![(0, T::NONE); self.mask + 1];
        self.len = 0;
        for (key, entry) in old {
            if entry.is_some() {
                self.insert(Lpn(key), entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// Compares the table with a tree on a long sequence of random inserts and removals over few keys.
    #[test]
    fn agrees_with_a_tree() {
        let mut table = LpnTable::default();
        let mut tree: BTreeMap<u32, u32> = BTreeMap::new();
        let mut x: u64 = 1;
        for step in 0..200_000u32 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let key = (x >> 33) as u32 % 700 * if step % 2 == 0 { 1 } else { 1 << 20 };
            if x >> 60 < 8 {
                let old = table.insert(Lpn(key), TxnId(step));
                assert_eq!(tree.insert(key, step), old.is_some().then_some(old.0));
            } else {
                let held = tree.get(&key).copied();
                assert_eq!(table.get(Lpn(key)), held.map_or(TxnId::NONE, TxnId));
                if let Some(txn) = held {
                    table.remove(Lpn(key), TxnId(txn ^ 1));
                    assert_eq!(table.get(Lpn(key)), TxnId(txn), "only the youngest write removes itself");
                    table.remove(Lpn(key), TxnId(txn));
                    tree.remove(&key);
                }
            }
        }
    }
}
