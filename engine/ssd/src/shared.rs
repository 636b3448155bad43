//! What all parts of the device share: the board with the transaction slab, the agenda of units that must decide at this instant,
//! the event log; and the table by logical page that several of them use.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::event::{Event, Kinds, PageEnd, Stamped};
use flashlane_core::transaction::Stage;
use flashlane_core::{Board, Lpn, Time, Transaction, TxnId, UnitId};
use prefetch_index::prefetch_index;

/// The state that all parts of a device share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) board: Board,
    pub(crate) agenda: Agenda,
    pub(crate) log: Log,
    /// First free slot of the transaction slab.
    free: TxnId,
    /// Serial of the next transaction.
    serial: u64,
}

impl State {
    /// The state around an empty board.
    pub(crate) fn new(board: Board) -> State {
        State { board, agenda: Agenda::new(), log: Log::default(), free: TxnId::NONE, serial: 0 }
    }

    /// The instant the device has reached.
    #[inline(always)]
    pub(crate) fn now(&self) -> Time {
        self.board.now
    }

    /// Reserves `count` consecutive serial numbers; returns the first.
    #[inline(always)]
    pub(crate) fn take_serials(&mut self, count: u64) -> u64 {
        let first = self.serial;
        self.serial += count;
        first
    }

    /// The serial number of the next transaction.
    pub(crate) fn next_serial(&self) -> u64 {
        self.serial
    }

    /// Takes a free slot of the slab. The caller must overwrite its content, which is that of an earlier transaction.
    #[inline(always)]
    pub(crate) fn allocate(&mut self) -> TxnId {
        let id = self.free;
        if id.is_some() {
            self.free = self.board.txn(id).next;
            return id;
        }
        self.board.txns.push(Transaction::EMPTY);
        TxnId(self.board.txns.len() as u32 - 1)
    }

    /// Returns a transaction's slot to the free list.
    #[inline]
    pub(crate) fn free(&mut self, id: TxnId) {
        let free = self.free;
        let txn = self.board.txn_mut(id);
        debug_assert_ne!(txn.stage, Stage::Free);
        txn.stage = Stage::Free;
        txn.next = free;
        self.free = id;
    }

    /// Logs an event of this instant, if the log is on.
    #[inline(always)]
    pub(crate) fn log(&mut self, event: impl FnOnce() -> Event) {
        self.log.push(self.board.now, event);
    }

    /// The unit must decide at this instant.
    #[inline(always)]
    pub(crate) fn mark(&mut self, unit: UnitId) {
        self.agenda.mark(unit);
    }
}

// The agenda: which units must decide at this instant, one bit for each, and whether anything is to be decided.

/// Units in a word.
const WORD: usize = 64;

/// The units that must decide: at most 64 channels of 64.
#[derive(Debug)]
#[repr(C)]
pub struct Agenda {
    /// Whether there is something to decide: a unit's next step, or which command to admit.
    pub open: bool,
    /// Which words of `units` are not zero, one bit for each.
    words: u64,
    units: [u64; WORD],
}

impl Agenda {
    /// Nothing to decide.
    pub const fn new() -> Agenda {
        Agenda { units: [0; WORD], words: 0, open: false }
    }

    /// The unit must decide.
    #[inline(always)]
    pub fn mark(&mut self, unit: UnitId) {
        self.mark_if(unit, true);
    }

    /// The unit must decide if `must`. Written without a branch, because the processor would mispredict it often.
    #[inline(always)]
    pub fn mark_if(&mut self, unit: UnitId, must: bool) {
        let word = unit.index() / WORD % WORD;
        self.units[word] |= u64::from(must) << (unit.index() % WORD);
        self.words |= u64::from(must) << word;
        self.open |= must;
    }

    /// Takes the marks of the first word that has any, among the words whose bits are set in `among`. Returns the word's number
    /// and its marks, bit `i` for its `i`-th unit.
    #[inline(always)]
    pub fn take(&mut self, among: u64) -> Option<(usize, u64)> {
        let words = self.words & among;
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize % WORD;
        self.words &= !(1 << word);
        Some((word, core::mem::take(&mut self.units[word])))
    }
}

// The log: events, and the ends of requests' transactions. Off by default, drained by the caller.

/// Events since the last drain.
#[derive(Debug, Default)]
pub struct Log {
    /// Whether events are kept.
    pub on: bool,
    /// Which.
    pub kinds: Kinds,
    /// The events, oldest first.
    pub events: Vec<Stamped>,
    /// Whether ends are kept.
    pub ends_on: bool,
    /// The ends, oldest first.
    pub ends: Vec<PageEnd>,
}

impl Log {
    /// Keeps an event if the log is on.
    #[inline(always)]
    pub fn push(&mut self, at: Time, event: impl FnOnce() -> Event) {
        if self.on {
            self.keep(at, event());
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, at: Time, event: Event) {
        if self.kinds.include(event.kind()) {
            self.events.push(Stamped { at, event });
        }
    }
}

// A small open-addressing table from logical page to a number of some type. It holds the writes under way (reads of their pages are
// served from memory, and two writes of one page never swap, D-SLK-16), the reads that follow their page, and what the buffer knows of
// a page. Its size depends on the number of entries, not on the size of the drive.

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
    /// Bits of a group's hash beyond those that number a group of the table.
    shift: u32,
    len: usize,
}

impl<T: Value> Default for LpnTable<T> {
    fn default() -> LpnTable<T> {
        LpnTable { slots: vec![(0, T::NONE); 64], mask: 63, shift: u32::BITS - (64 / GROUP).trailing_zeros(), len: 0 }
    }
}

impl<T: Value> LpnTable<T> {
    /// Where the search for `lpn` starts: Fibonacci hashing of groups of pages. The high bits of the product spread the groups
    /// over the table; the pages of a group, which requests touch together, have adjacent entries.
    #[inline]
    fn start(&self, lpn: u32) -> usize {
        let group = (lpn / GROUP).wrapping_mul(0x9e37_79b1) >> self.shift;
        (group * GROUP + lpn % GROUP) as usize
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
        (self.mask, self.shift) = (self.mask * 2 + 1, self.shift - 1);
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
    use flashlane_testing::Random;

    #[test]
    fn each_mark_is_taken_once_and_in_order_of_units() {
        let mut agenda = Agenda::new();
        for unit in [4095, 7, 64, 3, 130] {
            agenda.mark(UnitId(unit));
        }
        agenda.mark_if(UnitId(5), false);
        let all = u64::MAX;
        assert_eq!(agenda.take(all), Some((0, 1 << 7 | 1 << 3)));
        agenda.mark(UnitId(1));
        assert_eq!(agenda.take(!1), Some((1, 1)), "a word that is not among those asked for is left");
        assert_eq!(agenda.take(!1 << 1), Some((2, 1 << 2)));
        assert_eq!(agenda.take(!1 << 2), Some((63, 1 << 63)));
        assert_eq!((agenda.take(!1 << 63), agenda.take(all), agenda.take(all)), (None, Some((0, 2)), None));
    }

    /// Compares the table with a tree on a long sequence of random inserts and removals over few keys.
    #[test]
    fn agrees_with_a_tree() {
        let mut table = LpnTable::default();
        let mut tree: BTreeMap<u32, u32> = BTreeMap::new();
        let mut random = Random(1);
        for step in 0..200_000u32 {
            let x = random.bits();
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
