//! Dynamic allocation by rotation: each write goes to the next plane that has room, channel first.
//!
//! Planes are numbered channel by channel, so the rotation steps a whole channel at a time and moves one plane on after
//! each round: consecutive writes land on different channels.

use flashlane_core::decide::Place;
use flashlane_core::{Board, Lpn, PlaneId};

/// The next plane in rotation.
#[derive(Default, Debug)]
pub struct Rotate {
    turn: u32,
}

impl Place for Rotate {
    fn plane(&mut self, board: &Board, _: Lpn, home: PlaneId) -> PlaneId {
        let channels = board.facts.geometry.channels;
        let planes = board.planes.len() as u32;
        let per_channel = planes / channels;
        for _ in 0..planes {
            let plane = self.turn % channels * per_channel + self.turn / channels;
            self.turn = (self.turn + 1) % planes;
            if board.planes[plane as usize].room {
                return PlaneId(plane as u16);
            }
        }
        home
    }

    fn is_static(&self) -> bool {
        false
    }
}
