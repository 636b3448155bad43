//! One-shot programs (model 0.15): pages that leave the page buffer are gathered to wordlines, each of which one program writes.
//!
//! A page that is to be written out joins the list of the plane that it is placed on. A list that holds a wordline becomes a program at once;
//! one that a flush or a write with FUA waits for, or whose first page has waited long enough, becomes one when the decisions of the instant
//! are made, and its program pads the wordline. Until then the pages are in the buffer, where they may be written again.
//!
//! The pages of a wordline are transactions of their own, of which only the first is in a queue; the others follow it to its unit, start and
//! end with it. Moves of garbage collection are gathered in [`crate::gc`].

use alloc::vec::Vec;
use core::mem;

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, Time, Transaction, TxnId};

use super::Device;
use super::transactions::{create, report_queued};
use crate::buffer::Buffer;
use crate::config::Config;
use crate::frontend::RequestSlot;
use crate::ftl::Stream;
use crate::gc::pad;
use crate::policy::Policy;

/// Pages that wait for a full wordline.
#[derive(Clone, Debug, Default)]
struct Gathered {
    pages: Vec<(Lpn, FlowId)>,
    /// Since when the first waits.
    since: Time,
    /// Something waits for one of them to be programmed.
    is_awaited: bool,
}

/// The pages of the buffer that are gathered.
#[derive(Debug)]
pub(super) struct Wordlines {
    /// Pages of a wordline.
    pages: usize,
    wait: Option<Duration>,
    /// By plane; one list where writes get their planes only at dispatch.
    lists: Vec<Gathered>,
    any_awaited: bool,
    /// When the first of them has waited long enough, or earlier.
    deadline: Time,
}

impl Wordlines {
    /// None gathered, on a device of `config`, if that gathers any.
    pub(super) fn of(config: &Config, policy: &Policy) -> Option<Wordlines> {
        let lists = if policy.known.binds_at_dispatch { 1 } else { config.geometry.planes() };
        config.gathers_wordlines().then(|| Wordlines {
            pages: config.nand.one_shot_pages as usize,
            wait: config.nand.one_shot_wait,
            lists: alloc::vec![Gathered::default(); lists as usize],
            any_awaited: false,
            deadline: Time::NEVER,
        })
    }

    /// Whether lists are to be closed that are not full.
    #[inline]
    pub(super) fn are_due(&self, now: Time) -> bool {
        self.any_awaited || self.deadline <= now
    }

    /// Something waits for the program of a page, if that is gathered. Returns whether it is.
    fn await_page(&mut self, lpn: Lpn) -> bool {
        let list = self.lists.iter_mut().find(|list| list.pages.iter().any(|page| page.0 == lpn));
        let found = list.map(|list| list.is_awaited = true).is_some();
        self.any_awaited |= found;
        found
    }

    /// Something waits for all pages that are gathered.
    fn await_all(&mut self) {
        for list in self.lists.iter_mut().filter(|list| !list.pages.is_empty()) {
            (list.is_awaited, self.any_awaited) = (true, true);
        }
    }

    /// A page was trimmed.
    pub(super) fn forget(&mut self, lpn: Lpn) {
        self.lists.iter_mut().for_each(|list| list.pages.retain(|page| page.0 != lpn));
    }

    /// The lists that are to be closed at this instant though they are not full.
    fn take_due(&mut self, now: Time) -> Vec<usize> {
        let Wordlines { lists, wait, .. } = self;
        let is_over = |list: &Gathered| wait.is_some_and(|wait| list.since + wait <= now);
        let due = |list: &Gathered| !list.pages.is_empty() && (list.is_awaited || is_over(list));
        let all = (0..lists.len()).filter(|&n| due(&lists[n])).collect();
        self.any_awaited = false;
        all
    }

    /// When the first page that is gathered has waited long enough.
    fn next_deadline(&self) -> Time {
        let Some(wait) = self.wait else { return Time::NEVER };
        let waits = self.lists.iter().filter(|list| !list.pages.is_empty());
        waits.map(|list| list.since + wait).min().unwrap_or(Time::NEVER)
    }
}

// Pages are gathered.

impl Device {
    /// A page of the buffer is to be written out: it waits for those that share its wordline.
    #[cold]
    pub(super) fn gather(&mut self, lpn: Lpn, flow: FlowId) {
        let plane = self.place(lpn);
        let now = self.state.now();
        let Some(wordlines) = &mut self.wordlines else { return };
        let number = if wordlines.lists.len() == 1 { 0 } else { plane.index() };
        let list = &mut wordlines.lists[number];
        if list.pages.is_empty() {
            (list.since, list.is_awaited) = (now, false);
        }
        list.pages.push((lpn, flow));
        if list.pages.len() == wordlines.pages {
            self.close_wordline(number, plane);
        } else if let Some(wait) = wordlines.wait
            && now + wait < wordlines.deadline
        {
            wordlines.deadline = now + wait;
            self.frontend.set_timer(wordlines.deadline);
        }
    }

    /// Something waits for a page to be programmed: if it is gathered, its wordline is programmed as it is at the end of this instant.
    #[cold]
    pub(super) fn await_wordline(&mut self, lpn: Lpn) {
        self.state.agenda.open |= self.wordlines.as_mut().is_some_and(|wordlines| wordlines.await_page(lpn));
    }

    /// The same for all pages.
    #[cold]
    pub(super) fn await_wordlines(&mut self) {
        if let Some(wordlines) = &mut self.wordlines {
            wordlines.await_all();
            self.state.agenda.open = true;
        }
    }

    /// Programs the wordlines that are not full and wait no longer.
    #[cold]
    pub(super) fn close_wordlines(&mut self) {
        let now = self.state.now();
        let due = self.wordlines.as_mut().map(|wordlines| wordlines.take_due(now)).unwrap_or_default();
        for number in due {
            self.close_wordline(number, PlaneId(number as u16));
        }
        if let Some(wordlines) = &mut self.wordlines {
            wordlines.deadline = wordlines.next_deadline();
            self.frontend.set_timer(wordlines.deadline);
        }
    }

    /// Makes the program of the pages in a list, on `plane` or where the place decision says at dispatch.
    fn close_wordline(&mut self, number: usize, plane: PlaneId) {
        let Some(wordlines) = &mut self.wordlines else { return };
        let pages = mem::take(&mut wordlines.lists[number].pages);
        let (bytes, no_request) = (self.transactions.page_on_bus(), RequestSlot::MAX);
        let (mut lead, mut followers, mut transfers) = (TxnId::NONE, Vec::new(), Duration::ZERO);
        for (lpn, flow) in pages {
            if let Some(buffer) = &mut self.buffer {
                buffer.wordline_is_made(lpn);
            }
            let id = create(no_request, flow, Owner::Buffer, FlashOp::Program, lpn, plane, bytes, &mut self.state);
            let dropped = self.supersede(id, lpn);
            debug_assert!(dropped.is_none(), "a page is gathered once its program has ended");
            transfers += mem::take(&mut self.state.board.txn_mut(id).transfer);
            if lead.is_none() { lead = id } else { followers.push(id) }
        }
        self.state.board.txn_mut(lead).transfer = transfers;
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue(lead, &mut self.policy, &mut self.state);
        if self.state.log.on {
            followers.iter().for_each(|&id| report_queued(id, &mut self.state));
        }
        self.transactions.followers.set(lead, followers);
    }

    /// Gathers the pages anew after a change of scheduler, whose placement may be another.
    #[cold]
    pub(super) fn gather_anew(&mut self, config: &Config) {
        let Some(old) = mem::replace(&mut self.wordlines, Wordlines::of(config, &self.policy)) else { return };
        let Some(buffer) = &mut self.buffer else { return };
        old.lists.iter().flat_map(|list| &list.pages).for_each(|&(lpn, _)| buffer.leaves_wordline(lpn));
        let parts = buffer.parts();
        (0..parts).map(FlowId).for_each(|flow| self.flush(flow));
    }
}

// A wordline in a queue, and as it begins.

impl Device {
    /// Begins the program of a wordline: its pages get their places, one behind the other, and the rest of it is padded. Returns the last page.
    #[cold]
    pub(super) fn bind_wordline(&mut self, lead: TxnId) -> TxnId {
        let plane = self.state.board.txn(lead).plane;
        self.bind_page(lead);
        let mut last = lead;
        for id in self.transactions.followers.take(lead) {
            self.state.board.txn_mut(last).next = id;
            self.state.board.txn_mut(id).stage = Stage::InService;
            self.bind_page(id);
            last = id;
        }
        pad(plane, Stream::User, &mut self.state, &mut self.ftl);
        self.gc.update_plane(plane, &mut self.state, &mut self.ftl);
        last
    }

    /// Takes a trimmed page out of its waiting wordline, which is padded instead. Returns false for other pages, and for the one that is in
    /// a queue for all.
    #[cold]
    pub(super) fn leaves_wordline(&mut self, id: TxnId) -> bool {
        let Some(lead) = self.transactions.followers.leave(id) else { return false };
        let Transaction { serial, lpn, bytes, .. } = *self.state.board.txn(id);
        let transfer = self.state.board.facts.transfer(bytes);
        self.state.board.txn_mut(lead).transfer -= transfer;
        self.state.log(|| Event::Ended { txn: serial, end: End::Trimmed, paused: Duration::ZERO });
        self.ftl.count_version(lpn);
        self.page_order.trimmed += 1;
        self.state.release(id);
        true
    }

    /// The page that was in a queue for all of its wordline was trimmed: another takes its place in a queue.
    #[cold]
    pub(super) fn wordline_lost_its_lead(&mut self, lead: TxnId) {
        let mut followers = self.transactions.followers.take(lead).into_iter();
        let Some(next) = followers.next() else { return };
        let transfer = self.state.board.facts.transfer(self.state.board.txn(next).bytes);
        self.state.board.txn_mut(next).transfer = transfer * (1 + followers.len() as u64);
        self.transactions.overtaking.joins_late();
        self.transactions.join_queue(next, &mut self.policy, &mut self.state);
        self.transactions.followers.set(next, followers.collect());
    }
}

/// The buffer of a device of `config`.
pub(super) fn buffer_of(config: &Config) -> Option<Buffer> {
    let mut buffer = config.buffer.as_ref().map(|buffer| Buffer::new(buffer, config.flows.len()));
    if let Some(buffer) = &mut buffer {
        buffer.gathers = config.gathers_wordlines();
    }
    buffer
}
