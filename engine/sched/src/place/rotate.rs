//! Dynamic allocation by rotation: each write goes to the next plane that has a free page, channel first.
//!
//! Planes are numbered channel by channel, so the rotation steps a whole channel at a time and moves one plane on after
//! each round: consecutive writes land on different channels.

use alloc::boxed::Box;

use flashlane_core::decide::{PageWrite, Place};
use flashlane_core::{Board, PlaneId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "rotate",
    summary: "each write goes to the next plane in turn, channel first",
    source: "model 1.1.1",
    params: &[],
    build: Build::Place(&|_| Box::new(Rotate::default())),
};

/// The next plane in rotation.
#[derive(Default, Debug)]
pub struct Rotate {
    turn: u32,
}

impl Place for Rotate {
    fn plane(&mut self, board: &Board, PageWrite { home, .. }: PageWrite) -> PlaneId {
        let channels = board.facts.geometry.channels;
        let planes = board.planes.len() as u32;
        let per_channel = planes / channels;
        for _ in 0..planes {
            let plane = self.turn % channels * per_channel + self.turn / channels;
            self.turn = (self.turn + 1) % planes;
            if board.planes[plane as usize].has_free_page {
                return PlaneId(plane as u16);
            }
        }
        home
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::to;
    use flashlane_core::board::Facts;
    use flashlane_core::geometry::Geometry;

    /// Two channels of three planes: planes 0 to 2 and 3 to 5.
    #[test]
    fn channels_first_past_planes_without_room() {
        let facts = crate::pick::testing::board(1, 1).facts;
        let geometry = Geometry { channels: 2, chips_per_channel: 3, ..facts.geometry };
        let mut board = Board::new(Facts { geometry, ..facts }, 1);
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
        let mut place = Rotate::default();
        let mut next = |board: &Board| place.plane(board, to(5)).0;
        let rule = "planes take turns, channels first; those of channel 0 are 0 to 2";
        assert_eq!([0; 8].map(|_| next(&board)), [0, 3, 1, 4, 2, 5, 0, 3], "{rule}");
        (board.planes[1].has_free_page, board.planes[4].has_free_page) = (false, false);
        assert_eq!(
            [0; 4].map(|_| next(&board)),
            [2, 5, 0, 3],
            "{rule}; 1 and 4 have no free page, and are passed over"
        );
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = false);
        assert_eq!([0; 2].map(|_| next(&board)), [5, 5], "a write stays at home if no plane has a free page");
        board.planes[1].has_free_page = true;
        assert_eq!(next(&board), 1, "the only plane with a free page takes a write");
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
        board.planes[2].has_free_page = false;
        assert_eq!([0; 4].map(|_| next(&board)), [4, 5, 0, 3], "{rule}; only 2 has no free page, and 1 came last");
    }
}
