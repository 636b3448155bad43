//! Pinned blocks: those with a page that a read still needs although its logical page was written on another plane (model 4.1.2).
//! Such a block may be emptied, and is erased when the last of these reads has ended.

use alloc::collections::BTreeMap;

use flashlane_core::PlaneId;

/// The pinned blocks, by plane and block, each with the number of reads that need a page of it. Without such reads it is empty.
#[derive(Default, Debug)]
pub(super) struct Pins(BTreeMap<(PlaneId, u32), u32>);

impl Pins {
    /// One more read needs a page of the block.
    pub(super) fn pin(&mut self, plane: PlaneId, block: u32) {
        *self.0.entry((plane, block)).or_default() += 1;
    }

    /// One of these reads has ended. Returns whether it was the last one.
    pub(super) fn unpin(&mut self, plane: PlaneId, block: u32) -> bool {
        let reads = self.0.get_mut(&(plane, block)).expect("the read pinned its block");
        *reads -= 1;
        let last = *reads == 0;
        if last {
            self.0.remove(&(plane, block));
        }
        last
    }

    /// Whether a read needs a page of the block.
    #[inline]
    pub(super) fn holds(&self, plane: PlaneId, block: u32) -> bool {
        !self.0.is_empty() && self.0.contains_key(&(plane, block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_pinned_until_its_last_read_has_ended() {
        let mut pins = Pins::default();
        let (plane, other) = (PlaneId(3), PlaneId(4));
        for (plane, block) in [(plane, 7), (plane, 8), (plane, 7), (other, 7)] {
            pins.pin(plane, block);
        }
        assert!(!pins.unpin(plane, 7), "one of two");
        assert!(pins.unpin(plane, 8));
        assert_eq!(
            [(plane, 7), (plane, 8), (other, 7), (other, 8)].map(|(p, b)| pins.holds(p, b)),
            [true, false, true, false]
        );
        assert!(pins.unpin(plane, 7) && pins.unpin(other, 7));
        assert!(pins.0.is_empty());
    }
}
