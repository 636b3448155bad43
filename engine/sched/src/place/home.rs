//! Static allocation: every page stays on the plane the stripe gives it (model 1.1.1).

use flashlane_core::decide::{PageWrite, Place, PlaceDeclares};
use flashlane_core::{Board, PlaneId};

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
