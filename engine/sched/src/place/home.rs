//! Static allocation: every page stays on the plane the stripe gives it (model 1.1.1).

use alloc::boxed::Box;

use flashlane_core::decide::{PageWrite, Place, PlaceDeclares};
use flashlane_core::{Board, PlaneId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "static",
    summary: "every page stays on the plane the stripe gives it",
    source: "model 1.1.1",
    params: &[],
    build: Build::Place(&|_| Box::new(Home)),
};

/// Every write goes to its home plane.
#[derive(Debug)]
pub struct Home;

impl Place for Home {
    fn declares(&self) -> PlaceDeclares {
        PlaceDeclares { is_static: true, ..PlaceDeclares::ASK }
    }

    fn plane(&mut self, _: &Board, PageWrite { home, .. }: PageWrite) -> PlaneId {
        home
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::Lpn;

    #[test]
    fn every_write_goes_home() {
        let board = crate::pick::testing::board(2, 2);
        for home in 0..4 {
            let page = PageWrite { lpn: Lpn(9), home: PlaneId(home), at: PlaneId(3 - home) };
            assert_eq!(Home.plane(&board, page), PlaneId(home), "a page goes home, wherever it is now: {page:?}");
        }
        assert!(Home.declares().is_static, "it says in advance that pages stay at home");
    }
}
