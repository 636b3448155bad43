//! Tags: how many requests the elevator and the drive have together.
//!
//! A thread waits for a tag with one request; what it asks next stands behind that one. Threads that wait take turns. The requests of a flow of
//! several threads are theirs in turn.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::{FlowId, RequestId};

use crate::config::FlowConfig;

/// The tags, and who waits for one.
#[derive(Debug)]
pub(crate) struct Tags {
    free: u32,
    flows: Vec<Threads>,
    /// Requests of each thread without a tag.
    behind: Vec<VecDeque<RequestId>>,
    /// The threads that have such, in the order in which they get a tag.
    turns: VecDeque<usize>,
}

/// The threads of a flow.
#[derive(Debug)]
struct Threads {
    first: usize,
    count: usize,
    /// The one that asks next.
    next: usize,
}

impl Tags {
    pub(crate) fn new(tags: u32, flows: &[FlowConfig]) -> Tags {
        let mut threads = 0;
        let flow = |flow: &FlowConfig| {
            let (first, count) = (threads, flow.threads.max(1) as usize);
            threads += count;
            Threads { first, count, next: 0 }
        };
        let flows = flows.iter().map(flow).collect();
        Tags { free: tags, flows, behind: (0..threads).map(|_| VecDeque::new()).collect(), turns: VecDeque::new() }
    }

    /// The thread of `flow` that asks next.
    pub(crate) fn thread(&mut self, flow: FlowId) -> usize {
        let threads = &mut self.flows[flow.index()];
        let thread = threads.first + threads.next;
        threads.next = (threads.next + 1) % threads.count;
        thread
    }

    /// Whether `thread` waits for a tag.
    pub(crate) fn waits(&self, thread: usize) -> bool {
        !self.behind[thread].is_empty()
    }

    /// Takes a tag, if one is free.
    pub(crate) fn take(&mut self) -> bool {
        let is_free = self.free > 0;
        self.free -= u32::from(is_free);
        is_free
    }

    /// `thread` waits with a request, or has one more behind that.
    pub(crate) fn wait(&mut self, thread: usize, id: RequestId) {
        if self.behind[thread].is_empty() {
            self.turns.push_back(thread);
        }
        self.behind[thread].push_back(id);
    }

    /// A tag is free again: the thread that gets it, if one waits, and the request that it waited with. What stands behind that is asked for now.
    pub(crate) fn give_back(&mut self) -> Option<(usize, RequestId)> {
        let Some(thread) = self.turns.pop_front() else {
            self.free += 1;
            return None;
        };
        Some((thread, self.behind[thread].pop_front()?))
    }

    /// What stands first behind what `thread` got a tag for.
    pub(crate) fn next(&self, thread: usize) -> Option<RequestId> {
        self.behind[thread].front().copied()
    }

    /// That needs no tag.
    pub(crate) fn pass(&mut self, thread: usize) {
        self.behind[thread].pop_front();
    }

    /// That needs a tag: `thread` waits again, after those that wait.
    pub(crate) fn queue(&mut self, thread: usize) {
        self.turns.push_back(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(tags: &mut Tags, flow: u16, id: u64) -> bool {
        let thread = tags.thread(FlowId(flow));
        let has_tag = !tags.waits(thread) && tags.take();
        if !has_tag {
            tags.wait(thread, RequestId(id));
        }
        has_tag
    }

    fn give_back(tags: &mut Tags) -> Option<u64> {
        let (thread, id) = tags.give_back()?;
        if tags.waits(thread) {
            tags.queue(thread);
        }
        Some(id.0)
    }

    #[test]
    fn flows_that_wait_take_turns_and_each_keeps_its_order() {
        let mut tags = Tags::new(2, &[FlowConfig::default(); 3]);
        assert!(ask(&mut tags, 0, 0) && ask(&mut tags, 0, 1), "two tags are free");
        for (flow, id) in [(0, 2), (0, 3), (0, 4), (1, 5), (1, 6), (2, 7)] {
            assert!(!ask(&mut tags, flow, id), "no tag is free for request {id}");
        }
        let order: Vec<u64> = core::iter::from_fn(|| give_back(&mut tags)).collect();
        assert_eq!(order, [2, 5, 7, 3, 6, 4], "flows 0, 1 and 2 in turn, each with its oldest");
        assert!(ask(&mut tags, 1, 8), "the tag that nobody waited for is free");
    }

    #[test]
    fn each_thread_of_a_flow_has_its_turn() {
        let mut tags = Tags::new(1, &[FlowConfig { threads: 2, ..FlowConfig::default() }, FlowConfig::default()]);
        assert!(ask(&mut tags, 0, 0));
        for (flow, id) in [(1, 1), (0, 2), (0, 3), (0, 4), (1, 5)] {
            assert!(!ask(&mut tags, flow, id), "no tag is free for request {id}");
        }
        let order: Vec<u64> = core::iter::from_fn(|| give_back(&mut tags)).collect();
        assert_eq!(order, [1, 2, 3, 5, 4], "the other flow and two threads in turn");
    }
}
