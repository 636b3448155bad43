//! A small open-addressing table from logical page to a number. It holds the writes under way (reads of their pages are served
//! from memory, and two writes of one page never swap, D-SLK-16), and the pages in the buffer. Its size depends on the number
//! of entries, not on the size of the drive.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Lpn, TxnId};
use prefetch_index::prefetch_index;

/// Consecutive pages whose entries are adjacent. With more of them, requests touch fewer cache lines but removals visit more
/// entries.
const GROUP: u32 = 4;

/// Logical page to its youngest write that has not ended, or to its buffer entry.
#[derive(Debug)]
pub struct LpnTable {
    slots: Vec<(u32, TxnId)>,
    mask: usize,
    len: usize,
}

impl Default for LpnTable {
    fn default() -> LpnTable {
        LpnTable { slots: vec![(0, TxnId::NONE); 64], mask: 63, len: 0 }
    }
}

impl LpnTable {
    /// Where the search for `lpn` starts: Fibonacci hashing of groups of pages. The high bits of the product spread the groups
    /// over the table; the pages of a group, which requests touch together, have adjacent entries.
    #[inline]
    fn start(&self, lpn: u32) -> usize {
        let groups = (self.mask as u64 + 1) / u64::from(GROUP);
        let group = (u64::from((lpn / GROUP).wrapping_mul(0x9e37_79b1)) * groups) >> 32;
        group as usize * GROUP as usize + (lpn % GROUP) as usize
    }

    /// The entry of `lpn`; [`TxnId::NONE`] if there is none.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> TxnId {
        if self.len == 0 {
            return TxnId::NONE;
        }
        let mut i = self.start(lpn.0);
        loop {
            let (key, txn) = self.slots[i];
            if txn.is_none() || key == lpn.0 {
                return txn;
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
    pub fn insert(&mut self, lpn: Lpn, txn: TxnId) -> TxnId {
        if self.len * 4 > self.mask {
            self.grow();
        }
        let mut i = self.start(lpn.0);
        loop {
            let (key, old) = self.slots[i];
            if old.is_none() || key == lpn.0 {
                self.slots[i] = (lpn.0, txn);
                self.len += usize::from(old.is_none());
                return old;
            }
            i = (i + 1) & self.mask;
        }
    }

    /// Removes the entry of `lpn` if it is still `txn`.
    pub fn remove(&mut self, lpn: Lpn, txn: TxnId) {
        let mut i = self.start(lpn.0);
        loop {
            let (key, held) = self.slots[i];
            if held.is_none() {
                return;
            }
            if key == lpn.0 {
                if held != txn {
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
            let (key, txn) = self.slots[i];
            if txn.is_none() {
                self.slots[hole].1 = TxnId::NONE;
                return;
            }
            let home = self.start(key);
            if (i.wrapping_sub(home) & self.mask) >= (i.wrapping_sub(hole) & self.mask) {
                self.slots[hole] = (key, txn);
                hole = i;
            }
        }
    }

    fn grow(&mut self) {
        let old = core::mem::take(&mut self.slots);
        self.mask = self.mask * 2 + 1;
        self.slots = vec![(0, TxnId::NONE); self.mask + 1];
        self.len = 0;
        for (key, txn) in old {
            if txn.is_some() {
                self.insert(Lpn(key), txn);
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
