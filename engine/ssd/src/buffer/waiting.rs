//! Writes that wait for space in the page buffer, and reads behind them, in the order in which they came.

use flashlane_core::{Duration, FlowId, Lpn, Time};

use super::{Buffer, Part, WaitingWrites};
use crate::frontend::RequestSlot;
use crate::shared::Value;

/// A write that waits for space, or a read behind one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    slot: RequestSlot,
    /// Pages that it needs: none for a read.
    pages: u32,
    /// When the last of its other pages was stored, if any was.
    stored: Option<Time>,
}

impl Buffer {
    /// Adds a write that waits for space for these pages; others of it were `stored` now.
    pub(crate) fn wait(
        &mut self,
        flow: FlowId,
        slot: RequestSlot,
        stored: Option<Time>,
        pages: impl ExactSizeIterator<Item = Lpn>,
    ) {
        let (p, count) = (self.part_of(flow), pages.len() as u32);
        self.parts[p].waiting.push_back(Waiting { slot, pages: count, stored });
        self.parts[p].wanted += count;
        for lpn in pages {
            let WaitingWrites(writes) = self.waiting.get(lpn);
            self.waiting.insert(lpn, WaitingWrites(writes + 1));
        }
    }

    /// If reads wait behind writes and one waits in `flow`'s part, adds a read. Returns whether it waits.
    pub(crate) fn holds_read(&mut self, flow: FlowId, slot: RequestSlot) -> bool {
        let waits = self.holds_reads && self.has_waiting(flow);
        if waits {
            let p = self.part_of(flow);
            self.parts[p].waiting.push_back(Waiting { slot, pages: 0, stored: None });
            self.parts[p].waiting_reads += 1;
        }
        waits
    }

    /// The read that is first among those that wait in `flow`'s part ([`Buffer::first_waiting`]) waits no longer.
    pub(crate) fn read_goes(&mut self, flow: FlowId) {
        let p = self.part_of(flow);
        self.parts[p].waiting.pop_front();
        self.parts[p].waiting_reads -= 1;
    }

    /// A page of a write that waited was stored.
    pub(crate) fn no_longer_waits(&mut self, lpn: Lpn) {
        match self.waiting.get(lpn) {
            last @ WaitingWrites(1) => self.waiting.remove(lpn, last),
            WaitingWrites(writes) => drop(self.waiting.insert(lpn, WaitingWrites(writes - 1))),
        }
    }

    /// How many writes wait for space.
    pub(crate) fn waiting_writes(&self) -> u32 {
        self.parts.iter().map(|part| part.waiting.len() as u32 - part.waiting_reads).sum()
    }

    /// Writes that wait for space, in every part.
    pub(crate) fn all_waiting(&self) -> impl Iterator<Item = RequestSlot> {
        let waiting = self.parts.iter().flat_map(|part| &part.waiting);
        waiting.filter(|waits| waits.pages > 0).map(|waits| waits.slot)
    }

    /// Pages of a write that waits for space in `flow`'s part need none any more: `lpns`, which were trimmed. Returns when the last of its other
    /// pages was stored, if any was.
    pub(crate) fn stop_waiting(&mut self, flow: FlowId, slot: RequestSlot, lpns: &[Lpn]) -> Option<Time> {
        for &lpn in lpns {
            self.no_longer_waits(lpn);
        }
        let p = self.part_of(flow);
        let part = &mut self.parts[p];
        part.wanted -= lpns.len() as u32;
        let waits = part.waiting.iter_mut().find(|waits| waits.slot == slot).expect("it waits");
        waits.pages -= lpns.len() as u32;
        let Waiting { pages, stored, .. } = *waits;
        if pages == 0 {
            part.waiting.retain(|waits| waits.slot != slot);
            self.trimmed.retain(|&(waiting, _)| waiting != slot);
        }
        stored
    }

    /// Whether writes enter at a pace, not as soon as there is space.
    #[inline]
    pub(crate) fn is_paced(&self) -> bool {
        self.pace != Duration::ZERO
    }

    /// Whether a page of a write may enter `flow`'s part now, if it has space.
    #[inline]
    pub(crate) fn may_enter(&self, flow: FlowId, now: Time) -> bool {
        !self.is_paced() || self.parts[self.part_of(flow)].next_entry(self.pace) <= now
    }

    /// A page of a write has entered `flow`'s part.
    pub(crate) fn entered(&mut self, flow: FlowId, now: Time) {
        let p = self.part_of(flow);
        self.parts[p].last_entry = now;
    }

    /// Parts that have space, and writes that wait for the pace only: a flow of each, and when its next page may enter.
    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = (FlowId, Time)> {
        let has_entry = |part: &Part| self.is_paced() && !part.waiting.is_empty() && part.free() > 0;
        let parts = self.parts.iter().enumerate().filter(move |(_, part)| has_entry(part));
        parts.map(|(p, part)| (FlowId(p as u16), part.next_entry(self.pace)))
    }

    /// Whether a page of a write that waits was trimmed: it is passed over.
    #[inline]
    pub(crate) fn passes_over(&mut self, slot: RequestSlot, page: u32) -> bool {
        !self.trimmed.is_empty() && self.trimmed.remove(&(slot, page))
    }

    /// Pages from the `first` on of a write that waits which were trimmed.
    pub(crate) fn trimmed_from(&self, slot: RequestSlot, first: u32) -> u32 {
        self.trimmed.range((slot, first)..=(slot, u32::MAX)).count() as u32
    }

    /// Whether a write of the page waits for space: the device already has its data.
    pub(crate) fn awaits(&self, lpn: Lpn) -> bool {
        self.waiting.get(lpn).is_some()
    }

    /// Whether any write waits for space in `flow`'s part, or a read behind one.
    pub(crate) fn has_waiting(&self, flow: FlowId) -> bool {
        !self.parts[self.part_of(flow)].waiting.is_empty()
    }

    /// The write or read that has waited longest in `flow`'s part.
    pub(crate) fn first_waiting(&self, flow: FlowId) -> Option<RequestSlot> {
        self.parts[self.part_of(flow)].waiting.front().map(|waits| waits.slot)
    }

    /// The first waiting write of `flow`'s part ([`Buffer::first_waiting`]) needs `pages` pages only since others were stored, if any were: `now`;
    /// 0 removes it from those that wait.
    pub(crate) fn still_waits_for(&mut self, flow: FlowId, pages: u32, now: Time) {
        let p = self.part_of(flow);
        let part = &mut self.parts[p];
        let Some(first) = part.waiting.front_mut() else { return };
        part.wanted = part.wanted - first.pages + pages;
        if pages < first.pages {
            first.stored = Some(now);
        }
        first.pages = pages;
        if pages == 0 {
            part.waiting.pop_front();
        }
    }
}
