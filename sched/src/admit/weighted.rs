//! Weighted round robin over priority classes, as NVMe's optional arbitration: level `i` is fetched from `2^i` times as
//! often as level 0 while both have commands waiting; within a level, round robin.

use flashlane_core::decide::{Admit, Heads};
use flashlane_core::{Board, FlowId};

/// Weighted round robin by level.
#[derive(Default, Debug)]
pub struct Weighted {
    /// Fetches left to each level in this round.
    credit: [u32; 8],
    next: usize,
}

impl Admit for Weighted {
    fn next(&mut self, board: &Board, heads: &dyn Heads) -> Option<FlowId> {
        let flows = board.flows.len();
        let mut starving = false;
        for attempt in 0..2 {
            for i in 0..flows {
                let f = (self.next + i) % flows;
                let flow = &board.flows[f];
                if flow.waiting == 0 || heads.full(FlowId(f as u16)) {
                    continue;
                }
                let credit = &mut self.credit[usize::from(flow.level.min(7))];
                if *credit > 0 {
                    *credit -= 1;
                    self.next = f + 1;
                    return Some(FlowId(f as u16));
                }
                starving = true;
            }
            if !starving || attempt == 1 {
                return None;
            }
            self.credit = core::array::from_fn(|level| 1 << level);
        }
        None
    }

    fn lets_lone_commands_in(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::testing::Line;
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn levels_share_by_powers_of_two() {
        let mut board = crate::pick::testing::board(1, 2);
        board.flows =
            (0..3).map(|level| flashlane_core::board::Flow { level, waiting: 9, ..Default::default() }).collect();
        let mut admit = Weighted::default();
        let served: Vec<u16> = (0..70).map(|_| admit.next(&board, &Line::open()).unwrap().0).collect();
        let count = |f| served.iter().filter(|&&x| x == f).count();
        assert_eq!((count(0), count(1), count(2)), (10, 20, 40));
        board.flows[2].waiting = 0;
        assert!(admit.next(&board, &Line::full(|f| f == FlowId(1))) == Some(FlowId(0)), "a full flow is passed over");
        assert!(admit.next(&board, &Line::full(|_| true)).is_none());
    }
}
