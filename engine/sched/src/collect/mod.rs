//! When may garbage collection run?

pub(crate) mod first;
pub(crate) mod free;
pub(crate) mod paced;
pub(crate) mod semi_preemptive;
pub(crate) mod write_triggered;

use flashlane_core::board::Plane;
use flashlane_core::{Board, UnitId};

/// The planes of a unit.
fn planes(board: &Board, unit: UnitId) -> &[Plane] {
    let planes = board.facts.geometry.planes_per_unit() as usize;
    &board.planes[unit.index() * planes..][..planes]
}

/// Whether a plane of the unit that is being collected is at the hard threshold of free blocks or below.
fn short_of_blocks(board: &Board, unit: UnitId) -> bool {
    planes(board, unit).iter().any(|plane| plane.collecting && plane.free_blocks <= board.facts.gc_hard_blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::board;
    use alloc::boxed::Box;
    use first::First;
    use flashlane_core::decide::{Collect, GcMode, GcPrecedence};
    use free::Free;
    use paced::Paced;
    use semi_preemptive::SemiPreemptive;

    /// With blocks to spare and short of them: what goes first, and whether a collection may be paused or takes no time.
    #[test]
    fn who_goes_first_and_what_may_be_paused() {
        use GcPrecedence::{Gc, User};
        let (pausable, atomic) = (GcMode::Transactions { pausable: true }, GcMode::Transactions { pausable: false });
        type Row = (&'static str, Box<dyn Collect>, [GcPrecedence; 2], GcMode);
        let answers: [Row; 5] = [
            ("atomic", Box::new(First::atomic()), [Gc, Gc], atomic),
            ("non-preemptive", Box::new(First::non_preemptive()), [Gc, Gc], pausable),
            ("semi-preemptive", Box::new(SemiPreemptive), [User, Gc], pausable),
            ("paced", Box::new(Paced), [User, Gc], pausable),
            ("free", Box::new(Free), [User, User], GcMode::Free),
        ];
        for (name, mut answer, first, mode) in answers {
            let mut board = board(1, 2);
            board.facts.gc_hard_blocks = 3;
            for (free_blocks, first) in [(4, first[0]), (3, first[1])] {
                board.planes.iter_mut().for_each(|plane| (plane.free_blocks, plane.collecting) = (free_blocks, true));
                assert_eq!(
                    answer.precedence(&board, UnitId(0)),
                    first,
                    "{name} with {free_blocks} free blocks, of which 3 are too few"
                );
            }
            assert_eq!(answer.declares().mode, mode, "{name}");
        }
    }
}
