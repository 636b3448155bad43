//! Tags: how many requests the elevator and the drive have together.
//!
//! A thread waits for a tag with one request; what it asks next stands behind that one. The requests of a flow of several threads are theirs in
//! turn.
//!
//! Tags that come back wake waiting threads in batches of an eighth of the tags, at most eight. Threads are woken in the order in which they
//! began to wait; one that is woken takes tags for what it has until none is free, and waits again behind the others if it has more. A thread
//! that does not wait takes a free tag at once, also where others wait to be woken.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::{FlowId, RequestId};

use crate::config::FlowConfig;

/// The most tags that come back before a thread is woken.
const LARGEST_BATCH: u32 = 8;

/// The tags, and who waits for one.
#[derive(Debug)]
pub(crate) struct Tags {
    free: u32,
    /// Tags that come back before threads are woken, and the most threads that are.
    batch: u32,
    /// Those that came back since threads were woken last.
    back: u32,
    /// Threads that may be woken now.
    to_wake: u32,
    flows: Vec<Threads>,
    /// Requests of each thread without a tag.
    behind: Vec<VecDeque<RequestId>>,
    /// The threads that have such, in the order in which they are woken.
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
        Tags {
            free: tags,
            batch: (tags / 8).clamp(1, LARGEST_BATCH),
            back: 0,
            to_wake: 0,
            flows: flows.iter().map(flow).collect(),
            behind: (0..threads).map(|_| VecDeque::new()).collect(),
            turns: VecDeque::new(),
        }
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

    /// A tag is free again. [`Tags::wake`] has the threads that are woken by it.
    pub(crate) fn give_back(&mut self) {
        self.free += 1;
        if self.turns.is_empty() {
            return;
        }
        self.back += 1;
        if self.back == self.batch {
            (self.back, self.to_wake) = (0, self.batch);
        }
    }

    /// The next thread that is woken, for which a tag is free.
    pub(crate) fn wake(&mut self) -> Option<usize> {
        self.to_wake = if self.free == 0 { 0 } else { self.to_wake };
        self.to_wake = self.to_wake.checked_sub(1)?;
        self.turns.pop_front()
    }

    /// What a thread that was woken asks for next.
    pub(crate) fn next(&self, thread: usize) -> Option<RequestId> {
        self.behind[thread].front().copied()
    }

    /// It needs no tag, or has one.
    pub(crate) fn pass(&mut self, thread: usize) {
        self.behind[thread].pop_front();
    }

    /// None is free: the thread waits again, after those that wait.
    pub(crate) fn queue(&mut self, thread: usize) {
        self.turns.push_back(thread);
    }
}

#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
