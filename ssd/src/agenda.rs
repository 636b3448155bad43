//! What is to be decided at this instant: which units must decide, one bit for each, and whether anything is to be decided.

use flashlane_core::UnitId;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
