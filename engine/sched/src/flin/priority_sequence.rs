//! Which priority is next: weighted round robin by the ruler sequence (FLIN §4.2).
//!
//! Of `2^P - 1` turns priority `i` of `P` has `2^i`, spread evenly: turn `s` is that of priority `P - 1 - z`, where `z` is how
//! often 2 divides `s`. For four priorities: 3 2 3 1 3 2 3 0 3 2 3 1 3 2 3.

/// A position in the sequence, for one unit and direction.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct PrioritySequence {
    /// The last turn taken; 0 before the first.
    turn: u8,
}

impl PrioritySequence {
    /// The next priority among those that are `ready`, a bit each, of `priorities`. If only one priority is ready, it is next and uses up
    /// no turn. `None` when none is ready.
    pub(crate) fn next(&mut self, priorities: u8, ready: u32) -> Option<u8> {
        match ready.count_ones() {
            0 => return None,
            1 => return Some(ready.trailing_zeros() as u8),
            _ => {}
        }
        let turns = u8::MAX >> (8 - priorities);
        loop {
            self.turn = if self.turn >= turns { 1 } else { self.turn + 1 };
            let priority = priorities - 1 - self.turn.trailing_zeros() as u8;
            if ready >> priority & 1 == 1 {
                return Some(priority);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn turns(priorities: u8, ready: u32, count: usize) -> Vec<u8> {
        let mut sequence = PrioritySequence::default();
        (0..count).map(|_| sequence.next(priorities, ready).unwrap()).collect()
    }

    /// A-FLN-08.
    #[test]
    fn sequences_of_the_model() {
        assert_eq!(turns(2, 0b11, 3), [1, 0, 1]);
        assert_eq!(turns(3, 0b111, 7), [2, 1, 2, 0, 2, 1, 2]);
        assert_eq!(turns(4, 0b1111, 15), [3, 2, 3, 1, 3, 2, 3, 0, 3, 2, 3, 1, 3, 2, 3]);
        assert_eq!(turns(4, 0b0101, 10), [2, 2, 0, 2, 2, 2, 2, 0, 2, 2]);
        assert_eq!(turns(2, 0b11, 9), [1, 0, 1, 1, 0, 1, 1, 0, 1], "and from the start again");
    }

    #[test]
    fn level_i_gets_two_to_the_i_turns() {
        for priorities in 2..=8u8 {
            let all = (1u32 << priorities) - 1;
            let sequence = turns(priorities, all, all as usize);
            for priority in 0..priorities {
                assert_eq!(sequence.iter().filter(|&&l| l == priority).count(), 1 << priority);
            }
        }
    }

    #[test]
    fn a_level_alone_uses_up_no_turn() {
        let mut sequence = PrioritySequence::default();
        assert_eq!(sequence.next(4, 0), None);
        (0..5).for_each(|_| assert_eq!(sequence.next(4, 0b0010), Some(1)));
        assert_eq!(sequence.next(4, 0b1111), Some(3));
        (0..5).for_each(|_| assert_eq!(sequence.next(4, 0b0001), Some(0)));
        assert_eq!(sequence.next(4, 0b1111), Some(2));
    }
}
