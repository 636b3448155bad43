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
