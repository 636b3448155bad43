//! One-shot programs (model 0.15) and rows of several pages (0.16): pages that leave the page buffer are gathered to wordlines, each of which one
//! program writes. An SLC cache takes a row at a time as long as it has any.
//!
//! A page that is to be written out joins the list of the plane that it is placed on. A list that holds a wordline, or a row for the cache, becomes a
//! program at once; one that a flush or a write with FUA waits for, or whose first page has waited long enough, becomes one when the decisions of the instant
//! are made, and its program pads the wordline. Until then the pages are in the buffer, where they may be written again.
//!
//! Translation pages are gathered with the others, where a wordline of their own would be padded for most of its pages. The pages of a wordline are
//! transactions of their own, of which only the first is in a queue; the others follow it to its unit, start and
//! end with it. Moves of garbage collection are gathered in [`crate::gc`].

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::mem;

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage, held};
use flashlane_core::{Duration, FlowId, Lpn, PlaneId, Time, Transaction, TxnId};

use super::Device;
use super::transactions::{hold, may_queue, report_queued};
use crate::buffer::Buffer;
use crate::config::{BufferOrder, Config};
use crate::ftl::{HeldEntry, Stream};
use crate::gc::pad;
use crate::policy::Policy;

/// A page that waits for a full wordline, and the instant since which it waits.
pub(super) type GatheredPage = (Lpn, FlowId, Time);

/// Pages that wait for a full wordline.
#[derive(Clone, Debug, Default)]
struct Gathered {
    pages: Vec<GatheredPage>,
    /// Those of them that something waits for.
    awaited: Vec<Lpn>,
}

/// The pages of the buffer that are gathered.
#[derive(Debug)]
pub(super) struct Wordlines {
    /// Pages of a list at most.
    pages: usize,
    /// Pages of a row.
    slots: usize,
    /// Rows wait for the SLC cache where it is full, if there is anything to fold.
    waits_for_folds: bool,
    /// Translation pages are gathered until their list is full or due.
    pub(super) gathers_map: bool,
    /// Those that are gathered.
    of_map: BTreeSet<Lpn>,
    /// Pages of a row, where those that follow the first go to its plane; 1 where each goes to a plane of its own.
    row: usize,
    /// The plane that was named last for a page.
    named: PlaneId,
    wait: Option<Duration>,
    /// By plane; one list where writes get their planes only at dispatch.
    lists: Vec<Gathered>,
    any_awaited: bool,
    /// When the first of them has waited long enough, or earlier.
    deadline: Time,
    /// The pages of wordlines that are in no queue yet, because entries of some are awaited.
    pending: Vec<Vec<TxnId>>,
}

impl Wordlines {
    /// None gathered, on a device of `config`, if that gathers any.
    pub(super) fn of(config: &Config, policy: &Policy) -> Option<Wordlines> {
        let lists = if policy.known.binds_at_dispatch { 1 } else { config.geometry.planes() };
        config.gathers_wordlines().then(|| Wordlines {
            pages: config.pages_of_a_list() as usize,
            slots: config.geometry.slots as usize,
            waits_for_folds: config.waits_for_folds(),
            gathers_map: config.gathers_map(),
            of_map: BTreeSet::new(),
            row: if policy.known.static_place { 1 } else { config.geometry.slots as usize },
            named: PlaneId(0),
            wait: config.nand.one_shot_wait,
            lists: alloc::vec![Gathered::default(); lists as usize],
            any_awaited: false,
            deadline: Time::NEVER,
            pending: Vec::new(),
        })
    }

    /// The number of the list of a plane.
    fn list_of(&self, plane: PlaneId) -> usize {
        if self.lists.len() == 1 { 0 } else { plane.index() }
    }

    /// The plane that the next page goes to because it has a row that is not full.
    fn plane_of_row(&self) -> Option<PlaneId> {
        let gathered = self.lists[self.list_of(self.named)].pages.len();
        (!gathered.is_multiple_of(self.row)).then_some(self.named)
    }

    /// The wordline that awaits entries, by its number, of which a page is one.
    fn pending_of(&self, id: TxnId) -> Option<usize> {
        self.pending.iter().position(|pages| pages.contains(&id))
    }

    /// When the first page that is gathered has waited long enough, or earlier.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether lists are to be closed that are not full.
    #[inline]
    pub(super) fn are_due(&self, now: Time) -> bool {
        self.any_awaited || self.deadline <= now
    }

    /// Something waits for the program of a page, if that is gathered. Returns whether it is.
    fn await_page(&mut self, lpn: Lpn) -> bool {
        let list = self.lists.iter_mut().find(|list| list.pages.iter().any(|page| page.0 == lpn));
        let found = list.map(|list| list.awaited.push(lpn)).is_some();
        self.any_awaited |= found;
        found
    }

    /// Something waits for all pages that are gathered.
    fn await_all(&mut self) {
        for list in self.lists.iter_mut().filter(|list| !list.pages.is_empty()) {
            list.awaited = list.pages.iter().map(|page| page.0).collect();
            self.any_awaited = true;
        }
    }

    /// A page was trimmed: it is gathered no longer, and nothing waits for it.
    pub(super) fn forget(&mut self, lpn: Lpn) {
        for list in &mut self.lists {
            list.pages.retain(|page| page.0 != lpn);
            list.awaited.retain(|&page| page != lpn);
        }
    }

    /// The pages of a list that are first, no longer in it: those of a row; none if there are fewer than `least`.
    pub(super) fn take_row(&mut self, plane: PlaneId, least: usize) -> Option<Vec<GatheredPage>> {
        let number = self.list_of(plane);
        let Gathered { pages, awaited } = &mut self.lists[number];
        if pages.len() < least {
            return None;
        }
        let row: Vec<GatheredPage> = pages.drain(..self.slots.min(pages.len())).collect();
        awaited.retain(|&page| row.iter().all(|of_row| of_row.0 != page));
        Some(row)
    }

    /// Pages of a row.
    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Whether a list holds as many pages as it may.
    pub(super) fn is_full(&self, plane: PlaneId) -> bool {
        self.lists[self.list_of(plane)].pages.len() >= self.pages
    }

    /// Whether a translation page waits in a list, so that memory has it.
    pub(super) fn has_of_map(&self, page: Lpn) -> bool {
        self.gathers_map && self.of_map.contains(&page)
    }

    /// Notes that a translation page is gathered, which none was of it.
    pub(super) fn add_of_map(&mut self, page: Lpn) {
        let is_new = self.of_map.insert(page);
        debug_assert!(is_new, "a translation page that is gathered takes further entries along");
    }

    /// A program of a page is made: it is gathered no longer. Returns whether it is a translation page.
    pub(super) fn take_of_map(&mut self, page: Lpn) -> bool {
        self.of_map.remove(&page)
    }

    /// The translation pages that are gathered, each with its flow, as they are stored.
    pub(super) fn pages_of_map(&self) -> Vec<HeldEntry> {
        let pages = self.lists.iter().flat_map(|list| &list.pages).filter(|page| self.of_map.contains(&page.0));
        pages.map(|&(page, flow, _)| (page.0, flow.0, true)).collect()
    }

    /// The pages of a list, no longer in it.
    pub(super) fn take_all(&mut self, plane: PlaneId) -> Vec<GatheredPage> {
        let number = self.list_of(plane);
        mem::take(&mut self.lists[number].pages)
    }

    /// The planes whose lists are to be closed at this instant though they are not full.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<PlaneId> {
        let awaited = |list: &Gathered| !list.awaited.is_empty() && !list.pages.is_empty();
        let due = |list: &Gathered| awaited(list) || self.due_at(list).is_some_and(|at| at <= now);
        let all = (0..self.lists.len()).filter(|&n| due(&self.lists[n])).map(|n| PlaneId(n as u16)).collect();
        self.any_awaited = false;
        all
    }

    /// When the first page that is gathered has waited long enough.
    fn next_deadline(&self) -> Time {
        self.lists.iter().filter_map(|list| self.due_at(list)).min().unwrap_or(Time::NEVER)
    }

    /// When the first page of a list that is not a translation page has waited long enough.
    fn due_at(&self, list: &Gathered) -> Option<Time> {
        let wait = self.wait?;
        let of_buffer = |page: &&GatheredPage| self.of_map.is_empty() || !self.of_map.contains(&page.0);
        list.pages.iter().find(of_buffer).map(|page| page.2 + wait)
    }
}

// The two ways in: a page is gathered, and the pages of a wordline are given off to be programmed.

impl Device {
    /// The plane that a page of the buffer is to be written to: that of the row that was begun last, as long as that is not full.
    #[inline]
    pub(super) fn place_in_row(&mut self, lpn: Lpn) -> PlaneId {
        if let Some(plane) = self.wordlines.as_ref().and_then(Wordlines::plane_of_row) {
            return plane;
        }
        let plane = self.place(lpn);
        self.wordlines.iter_mut().for_each(|wordlines| wordlines.named = plane);
        plane
    }

    /// Gathers a page that is placed on `plane`. Returns whether that fills a wordline.
    #[cold]
    pub(super) fn gather(&mut self, lpn: Lpn, flow: FlowId, plane: PlaneId) -> bool {
        let now = self.state.now();
        let Some(wordlines) = &mut self.wordlines else { return false };
        let number = wordlines.list_of(plane);
        let list = &mut wordlines.lists[number];
        if list.pages.is_empty() {
            list.awaited.clear();
        }
        list.pages.push((lpn, flow, now));
        let is_full = list.pages.len() == wordlines.pages;
        if !is_full
            && !wordlines.of_map.contains(&lpn)
            && let Some(wait) = wordlines.wait
            && now + wait < wordlines.deadline
        {
            wordlines.deadline = now + wait;
            self.set_timer();
        }
        is_full
    }

    /// The timer is set for the page that has waited longest, after wordlines were closed.
    pub(super) fn set_wordline_deadline(&mut self) {
        if let Some(wordlines) = &mut self.wordlines {
            wordlines.deadline = wordlines.next_deadline();
            self.set_timer();
        }
    }

    /// Whether a row that is gathered for a plane becomes a program for the SLC cache.
    pub(super) fn goes_to_cache_next(&self, plane: PlaneId) -> bool {
        if self.wordlines.as_ref().is_some_and(|wordlines| wordlines.waits_for_folds) {
            return self.of_cache(plane, |plane| self.ftl.cache_will_have_page(plane));
        }
        self.cache_has_row(plane)
    }

    /// Whether the SLC cache of a plane has a row besides those that are reserved for waiting programs. Where writes get their planes only at
    /// dispatch, whether that of every plane has.
    pub(super) fn cache_has_row(&self, plane: PlaneId) -> bool {
        if !self.ftl.has_slc {
            return false;
        }
        let reserved = self.transactions.reserved_rows.of(plane) * self.state.board.facts.geometry.slots;
        self.of_cache(plane, |plane| self.ftl.slc_pages_for_writes(plane) > reserved)
    }

    /// Whether something holds of a plane, or where writes get their planes only at dispatch of every plane.
    fn of_cache(&self, plane: PlaneId, has: impl Fn(PlaneId) -> bool) -> bool {
        match self.policy.known.binds_at_dispatch {
            true => (0..self.state.board.planes.len() as u16).map(PlaneId).all(has),
            false => has(plane),
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

    /// Puts the program of a wordline into its queue, once the entries of all its pages are in memory.
    pub(super) fn give_off(&mut self, pages: Vec<TxnId>) {
        let (Some(wordlines), Some(&first)) = (&mut self.wordlines, pages.first()) else { return };
        pages.iter().for_each(|&id| hold(id, held::SIBLINGS, &mut self.state.board));
        wordlines.pending.push(pages);
        self.give_off_if_complete(first);
    }

    /// Puts the wordline of a page that awaited entries into its queue, if all are there.
    pub(super) fn give_off_if_complete(&mut self, id: TxnId) {
        let Some(wordlines) = &mut self.wordlines else { return };
        let Some(number) = wordlines.pending_of(id) else { return };
        let board = &self.state.board;
        if wordlines.pending[number].iter().all(|&id| board.txn(id).held == held::SIBLINGS) {
            let pages = wordlines.pending.remove(number);
            self.enqueue_wordline(pages);
        }
    }

    /// A page of a wordline that awaits entries was trimmed: it is held no longer for the others, nor they for it. Returns the first of these.
    #[cold]
    pub(super) fn wordline_lost_a_page(&mut self, id: TxnId) -> Option<TxnId> {
        let wordlines = self.wordlines.as_mut()?;
        let number = wordlines.pending_of(id)?;
        wordlines.pending[number].retain(|&page| page != id);
        let other = wordlines.pending[number].first().copied();
        may_queue(id, held::SIBLINGS, &mut self.state);
        match other {
            Some(other) => self.give_off_if_complete(other),
            None => drop(self.wordlines.as_mut().map(|wordlines| wordlines.pending.remove(number))),
        }
        other
    }

    /// Puts the first page of a wordline into its queue, for all.
    fn enqueue_wordline(&mut self, pages: Vec<TxnId>) {
        let mut pages = pages.into_iter();
        let Some(lead) = pages.next() else { return };
        let (followers, now) = (pages.collect::<Vec<TxnId>>(), self.state.now());
        let mut transfers = Duration::ZERO;
        for &id in core::iter::once(&lead).chain(&followers) {
            may_queue(id, held::SIBLINGS, &mut self.state);
            let txn = self.state.board.txn_mut(id);
            txn.enqueued = now;
            transfers += mem::take(&mut txn.transfer);
        }
        self.state.board.txn_mut(lead).transfer = transfers;
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue(lead, &mut self.policy, &mut self.state);
        if self.state.log.on {
            followers.iter().for_each(|&id| report_queued(id, &mut self.state));
        }
        self.transactions.followers.set(lead, followers);
    }

    /// No page is gathered any more, after a change of scheduler, whose placement may be another: they are dirty again, and translation pages are to be
    /// written. Returns whether any could have been.
    #[cold]
    pub(super) fn gather_none(&mut self, config: &Config) -> bool {
        let Some(old) = mem::replace(&mut self.wordlines, Wordlines::of(config, &self.policy)) else { return false };
        for &(lpn, flow, _) in old.lists.iter().flat_map(|list| &list.pages) {
            match (&mut self.ftl.cache, &mut self.buffer) {
                (Some(cache), _) if old.of_map.contains(&lpn) => cache.write_again(lpn, flow),
                (_, Some(buffer)) => buffer.is_dirty_again(lpn),
                _ => {}
            }
        }
        true
    }
}

// A wordline in a queue, and as it begins.

impl Device {
    /// Begins the program of a wordline, or of a row in SLC mode: its pages get their places, one behind the other, and the rest of it is padded. Returns
    /// the last page.
    #[cold]
    pub(super) fn bind_wordline(&mut self, lead: TxnId) -> TxnId {
        let plane = self.state.board.txn(lead).plane;
        let to_cache = self.goes_to_cache(lead);
        self.release_cache_row(lead);
        self.bind_page(lead, !to_cache);
        let mut last = lead;
        for id in self.transactions.followers.take(lead) {
            self.state.board.txn_mut(last).next = id;
            self.state.board.txn_mut(id).stage = Stage::InService;
            self.bind_page(id, !to_cache);
            last = id;
        }
        let stream = if to_cache { Stream::User } else { Stream::Wordline };
        pad(plane, stream, &mut self.state, &mut self.ftl);
        self.gc.update_plane(plane, &mut self.state, &mut self.ftl);
        last
    }

    /// Which of the picked programs may not share a command with those before them on their die, one bit for each in the group's order: pages that go
    /// to the SLC cache and wordlines, or pages of other offsets where these must be the same.
    #[cold]
    pub(super) fn refuse_other_cells(&self) -> u64 {
        let board = &self.state.board;
        let same_page = board.facts.same_page[FlashOp::Program.index()];
        let planes = board.facts.geometry.planes_per_die as u8;
        let members = self.policy.group.members();
        let key = |id: TxnId| {
            let Transaction { plane, slot, reserves_slc, .. } = *board.txn(id);
            let slc = if self.ftl.has_rows() { self.goes_to_cache(id) } else { reserves_slc };
            let offset = if same_page { self.ftl.next_offset(plane, !slc) } else { 0 };
            (slot / planes, slc, offset)
        };
        let mut refused = 0u64;
        for (i, &id) in members.iter().enumerate() {
            let own = key(id);
            let clashes = |(j, &other): (usize, &TxnId)| {
                let other = key(other);
                refused >> j & 1 == 0 && other.0 == own.0 && other != own
            };
            if members[..i].iter().enumerate().any(clashes) {
                refused |= 1 << i;
            }
        }
        refused
    }

    /// Takes a trimmed page out of its waiting wordline, which is padded instead. Returns false for other pages, and for the one that is in
    /// a queue for all.
    #[cold]
    pub(super) fn take_from_wordline(&mut self, id: TxnId) -> bool {
        let Some(lead) = self.transactions.followers.leave(id) else { return false };
        let Transaction { serial, lpn, bytes, .. } = *self.state.board.txn(id);
        let transfer = self.state.board.facts.transfer(bytes);
        self.state.board.txn_mut(lead).transfer -= transfer;
        self.state.log(|| Event::Ended { txn: serial, end: End::Trimmed, paused: Duration::ZERO });
        self.ftl.count_version(lpn);
        self.page_order.trimmed += 1;
        self.state.free(id);
        true
    }

    /// The page that was in a queue for all of its wordline was trimmed: another takes its place in a queue, which is returned.
    #[cold]
    pub(super) fn wordline_lost_its_lead(&mut self, lead: TxnId) -> Option<TxnId> {
        let mut followers = self.transactions.followers.take(lead).into_iter();
        let next = followers.next()?;
        let transfer = self.state.board.facts.transfer(self.state.board.txn(next).bytes);
        self.state.board.txn_mut(next).transfer = transfer * (1 + followers.len() as u64);
        self.transactions.overtaking.joins_late();
        self.transactions.join_queue(next, &mut self.policy, &mut self.state);
        self.transactions.followers.set(next, followers.collect());
        Some(next)
    }
}

/// The buffer of a device of `config`.
pub(super) fn buffer_of(config: &Config) -> Option<Buffer> {
    let mut buffer = config.buffer.as_ref().map(|buffer| Buffer::new(buffer, config.flows.len()));
    if let Some(buffer) = &mut buffer {
        buffer.gathers = config.gathers_wordlines();
        buffer.holds_reads = config.front.order == BufferOrder::Shared;
    }
    buffer
}
