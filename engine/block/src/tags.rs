//! Tags: how many requests the elevator and the drive have together.
//!
//! A flow waits for a tag with one request; what it asks next stands behind that one. Flows that wait take turns.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::{FlowId, RequestId};

/// The tags, and who waits for one.
#[derive(Debug)]
pub(crate) struct Tags {
    free: u32,
    /// Requests of each flow without a tag.
    behind: Vec<VecDeque<RequestId>>,
    /// The flows that have such, in the order in which they get a tag.
    turns: VecDeque<FlowId>,
}

impl Tags {
    pub(crate) fn new(tags: u32, flows: usize) -> Tags {
        Tags { free: tags, behind: (0..flows).map(|_| VecDeque::new()).collect(), turns: VecDeque::new() }
    }

    /// Whether the request gets a tag at once; if not, it waits.
    pub(crate) fn take(&mut self, flow: FlowId, id: RequestId) -> bool {
        let behind = &mut self.behind[flow.index()];
        if behind.is_empty() && self.free > 0 {
            self.free -= 1;
            return true;
        }
        if behind.is_empty() {
            self.turns.push_back(flow);
        }
        behind.push_back(id);
        false
    }

    /// A tag is free again: the request that gets it, if one waits.
    pub(crate) fn give_back(&mut self) -> Option<RequestId> {
        let Some(flow) = self.turns.pop_front() else {
            self.free += 1;
            return None;
        };
        let behind = &mut self.behind[flow.index()];
        let next = behind.pop_front();
        if !behind.is_empty() {
            self.turns.push_back(flow);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(tags: &mut Tags, flow: u16, id: u64) -> bool {
        tags.take(FlowId(flow), RequestId(id))
    }

    #[test]
    fn flows_that_wait_take_turns_and_each_keeps_its_order() {
        let mut tags = Tags::new(2, 3);
        assert!(ask(&mut tags, 0, 0) && ask(&mut tags, 0, 1), "two tags are free");
        for (flow, id) in [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (2, 7)] {
            assert!(!ask(&mut tags, flow, id), "no tag is free for request {id}");
        }
        let order: Vec<u64> = core::iter::from_fn(|| tags.give_back()).map(|id| id.0).collect();
        assert_eq!(order, [2, 5, 7, 3, 6, 4], "flows 0, 1 and 2 in turn, each with its oldest");
        assert!(ask(&mut tags, 1, 8), "the tag that nobody waited for is free");
    }
}
