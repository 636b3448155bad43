//! The order of the writes and reads of a page.
//!
//! A write of a page of which an older write has not ended waits for that one, or that one is cancelled (SOS, model 4.1.2). The table of
//! the youngest writes finds the older one at constant cost, wherever it waits.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage, Transaction, held, tag};
use flashlane_core::{Board, Duration, Lpn, Owner, Ppa, TxnId};

use super::Device;
use super::transactions::{QueuePlacement, report_queued};
use crate::frontend::RequestSlot;
use crate::ftl::Ftl;
use crate::gc::Gc;
use crate::policy::Policy;
use crate::shared::{LpnTable, State};

/// The writes and reads of each page that have not ended.
#[derive(Debug)]
pub(super) struct PageOrder {
    /// By logical page, its youngest write that has not ended: reads of the page are served from memory (D-SOS-10), and two writes of
    /// a page never swap (D-SLK-16). The pointer of SOS's mapping entry, the stage of that write being its flag (D-SOS-09).
    writes: LpnTable<TxnId>,
    /// The reads, where pages leave their home plane or were trimmed; elsewhere no read is recorded.
    reads: Option<OlderReads>,
    /// Waiting writes dropped because a younger write of their page came.
    pub(super) cancelled: u64,
    /// Waiting writes dropped because their page was trimmed.
    pub(super) trimmed: u64,
    /// Reads that kept an older copy of their page.
    pub(super) kept_reads: u64,
}

impl PageOrder {
    /// Nothing is under way; `pages_move` if pages leave their home plane.
    pub(super) fn new(pages_move: bool) -> PageOrder {
        let reads = pages_move.then(OlderReads::new);
        PageOrder { writes: LpnTable::default(), reads, cancelled: 0, trimmed: 0, kept_reads: 0 }
    }

    /// Whether pages leave their home plane from now on. Nothing may be under way.
    pub(super) fn set_pages_move(&mut self, pages_move: bool) {
        self.reads = pages_move.then(OlderReads::new);
    }

    // Writes.

    /// The youngest write of a page that has not ended; [`TxnId::NONE`] if there is none.
    #[inline(always)]
    pub(super) fn youngest_write(&self, lpn: Lpn) -> TxnId {
        self.writes.get(lpn)
    }

    /// Prefetches the entry of a page.
    #[inline(always)]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        self.writes.prefetch(lpn);
    }

    /// Notes `program` as the youngest write of its page. Returns the older write if that still waits and is dropped; otherwise an older
    /// write that has not begun goes first.
    #[inline(always)]
    pub(super) fn add_write(
        &mut self,
        program: TxnId,
        lpn: Lpn,
        policy: &mut Policy,
        board: &mut Board,
    ) -> Option<TxnId> {
        let old = self.writes.insert(lpn, program);
        if old.is_none() { None } else { drop_or_go_behind(old, program, policy, board) }
    }

    /// A page is trimmed: returns its youngest write that has not ended, of which reads that come now know nothing.
    pub(super) fn forget_writes(&mut self, lpn: Lpn) -> TxnId {
        let youngest = self.writes.get(lpn);
        if youngest.is_some() {
            self.writes.remove(lpn, youngest);
        }
        youngest
    }

    /// A write has ended.
    #[inline(always)]
    pub(super) fn write_ended(&mut self, lpn: Lpn, program: TxnId) {
        self.writes.remove(lpn, program);
    }

    // Reads.

    /// Notes a read of `lpn` that was created.
    #[inline(always)]
    pub(super) fn add_read(&mut self, lpn: Lpn, id: TxnId) {
        if let Some(reads) = &mut self.reads {
            reads.add(lpn, id);
        }
    }

    /// Pages are going to be trimmed: from now on reads are recorded, those too that have not ended.
    pub(super) fn follow_reads(&mut self, board: &Board) {
        if self.reads.is_some() {
            return;
        }
        let is_read = |txn: &Transaction| txn.op == FlashOp::Read && !txn.owner.collects() && txn.stage != Stage::Free;
        let mut open: Vec<usize> = (0..board.txns.len()).filter(|&i| is_read(&board.txns[i])).collect();
        open.sort_unstable_by_key(|&i| board.txns[i].serial);
        let reads = self.reads.insert(OlderReads::new());
        for i in open {
            reads.add(board.txns[i].lpn, TxnId(i as u32));
        }
    }

    /// Whether a read keeps the copy that its page had before a younger write took that to another plane, or a trim unmapped it.
    #[inline(always)]
    pub(super) fn keeps_copy(&self, read: TxnId) -> bool {
        self.reads.as_ref().is_some_and(|all| all.reads[read.index()].source != Source::Current)
    }

    /// Called before a write takes `lpn` to another plane, or a trim unmaps it: the reads of it that have not ended keep its copy.
    #[inline(never)]
    pub(super) fn keep_copies(&mut self, lpn: Lpn, ftl: &Ftl, gc: &mut Gc, board: &mut Board) {
        let Some(all) = &mut self.reads else { return };
        let mut id = all.take(lpn);
        if id.is_none() {
            return;
        }
        let source = if ftl.map.current(lpn).is_some() { Source::Kept } else { Source::KeptBlank };
        let (ppa, retries, slc) = (ftl.map.lookup(lpn), ftl.retry_steps(lpn), ftl.lies_in_slc(lpn));
        while id.is_some() {
            all.reads[id.index()].source = source;
            let txn = board.txn_mut(id);
            (txn.ppa, txn.retries, txn.slc) = (ppa.0, retries, slc);
            debug_assert_eq!(txn.plane, ftl.map.plane_of(lpn), "a read waits where its page is");
            let plane = txn.plane;
            if source == Source::Kept {
                gc.pin(plane, ppa, board);
            }
            self.kept_reads += 1;
            id = all.take(lpn);
        }
    }

    /// A read has ended. Returns whether it read an older copy than the current one.
    #[inline(always)]
    pub(super) fn read_ended(&mut self, id: TxnId, gc: &mut Gc, ftl: &mut Ftl, state: &mut State) -> bool {
        match &mut self.reads {
            Some(reads) => reads.ended(id, gc, ftl, state),
            None => false,
        }
    }
}

/// What becomes of `program` and the older write `old` of its page: returns `old` if it waits and is dropped; if it has not begun
/// otherwise, `program` waits for it.
fn drop_or_go_behind(old: TxnId, program: TxnId, policy: &mut Policy, board: &mut Board) -> Option<TxnId> {
    let stage = board.txn(old).stage;
    if stage == Stage::InService {
        return None;
    }
    if stage == Stage::Waiting && policy.drops(board, old) {
        return Some(old);
    }
    board.txn_mut(program).blocked_by = old;
    board.txn_mut(old).unblocks = program;
    None
}

impl Device {
    /// Notes `program` as the youngest write of its page. An older write that still waits is cancelled, or goes first. If it was cancelled,
    /// returns where `program` joins its queue.
    #[inline(always)]
    pub(super) fn supersede(&mut self, program: TxnId, lpn: Lpn) -> Option<QueuePlacement> {
        if self.policy.known.keeps.page_planes {
            self.state.board.txn_mut(program).page_at = self.ftl.map.plane_of(lpn);
        }
        let dropped = self.page_order.add_write(program, lpn, &mut self.policy, &mut self.state.board);
        dropped.map(|old| self.drop_write(old, program))
    }

    /// Takes the waiting write `old` out of its queue. It is done with `successor`, or at once (D-SOS-06). Returns where that joins.
    #[cold]
    pub(super) fn drop_write(&mut self, old: TxnId, successor: TxnId) -> QueuePlacement {
        let Transaction { blocked_by: older, serial, next, priority, .. } = *self.state.board.txn(old);
        let inherits = self.policy.known.inherits_place && self.state.board.txn(successor).priority == priority;
        if inherits {
            if self.state.board.txn(successor).reserves_slc {
                let [from, to] = [successor, old].map(|id| self.state.board.txn(id).plane);
                self.transactions.reserved_rows.move_to(from, to);
            }
            inherit(old, successor, &mut self.state.board);
        }
        self.transactions.withdraw(old, &mut self.policy, &mut self.state);
        self.release_cache_row(old);
        let board = &mut self.state.board;
        if older.is_some() {
            board.txn_mut(older).unblocks = successor;
            board.txn_mut(old).blocked_by = TxnId::NONE;
        }
        board.txn_mut(old).stage = Stage::Cancelled;
        board.txn_mut(successor).blocked_by = older;
        self.page_order.cancelled += 1;
        self.ftl.count_version(self.state.board.txn(old).lpn);
        let paused = Duration::ZERO;
        self.state.log(|| Event::Ended { txn: serial, end: End::Cancelled, paused });
        let is_buffers = self.state.board.txn(old).owner == Owner::Buffer;
        if is_buffers || self.policy.known.dropped_end_at_once {
            self.end_dropped(old);
        } else {
            self.state.board.txn_mut(successor).on_completion = old;
        }
        if inherits { QueuePlacement::InFrontOf(next) } else { QueuePlacement::AsOrdered }
    }

    /// Drops a write of a trimmed page that has not begun; it is done, with those that were dropped for it. One that is held is marked, and freed
    /// once no reason is left for which it is.
    pub(super) fn drop_program(&mut self, id: TxnId) {
        self.release_cache_row(id);
        let Transaction { stage, held: reasons, serial, owner, request, flow, lpn, on_completion, tag, .. } =
            *self.state.board.txn(id);
        if stage == Stage::Waiting {
            self.transactions.withdraw(id, &mut self.policy, &mut self.state);
        } else if self.state.log.on && reasons & held::MOVING == 0 {
            // It has not been in a queue yet.
            report_queued(id, &mut self.state);
        }
        self.state.log(|| Event::Ended { txn: serial, end: End::Trimmed, paused: Duration::ZERO });
        self.ftl.count_version(lpn);
        self.page_order.trimmed += 1;
        if owner == Owner::Buffer {
            if let Some(buffer) = self.buffer.as_mut().filter(|buffer| !buffer.merges) {
                buffer.give_back(flow);
            }
            self.durability.iter_mut().for_each(|durability| durability.program_gone(lpn));
        }
        if request != RequestSlot::MAX {
            self.page_ended(id, request, tag);
        }
        self.end_superseded(on_completion);
        if stage == Stage::Waiting {
            self.state.free(id);
            return;
        }
        let txn = self.state.board.txn_mut(id);
        (txn.blocked_by, txn.unblocks, txn.on_completion) = (TxnId::NONE, TxnId::NONE, TxnId::NONE);
        (txn.request, txn.tag) = (RequestSlot::MAX, tag::TRIMMED);
    }

    /// Completes a cancelled write's page at once. The buffer's writes were acknowledged long ago.
    fn end_dropped(&mut self, id: TxnId) {
        let Transaction { request, tag, on_completion, owner, lpn, .. } = *self.state.board.txn(id);
        debug_assert!(on_completion.is_none(), "all dropped before it ended at once");
        if owner == Owner::Buffer
            && let Some(durability) = &mut self.durability
        {
            durability.program_gone(lpn);
        }
        if request != RequestSlot::MAX {
            // Its request may be the one that is being split into pages.
            self.slack.forget(id);
            self.page_ended(id, request, tag);
        }
        self.state.free(id);
    }

    /// Completes the cancelled writes that `id` begins a list of: the write that took their place has ended.
    #[cold]
    pub(super) fn end_superseded(&mut self, mut id: TxnId) {
        while id.is_some() {
            let Transaction { on_completion, request, tag, .. } = *self.state.board.txn(id);
            self.page_ended(id, request, tag);
            self.state.free(id);
            id = on_completion;
        }
    }

    /// A page of a request is served: its transaction `id` has ended.
    #[inline(always)]
    pub(super) fn page_ended(&mut self, id: TxnId, request: RequestSlot, tag: u8) {
        if self.policy.known.keeps.request_pages {
            self.state.board.leaves_request(id);
        }
        self.frontend.page_done(request, tag, &mut self.state);
    }
}

/// Gives `successor` the unit and the age of the waiting write `old`.
fn inherit(old: TxnId, successor: TxnId, board: &mut Board) {
    let Transaction { plane, unit, slot, queue, .. } = *board.txn(old);
    let age = board.txn(old).age();
    let new = board.txn_mut(successor);
    (new.plane, new.unit, new.slot, new.queue) = (plane, unit, slot, queue);
    new.age_bonus = new.serial - age;
}

// Reads that are older than a write of their page which goes to another plane (SOS, model 4.1.2, D-SOS-16), or than a trim of it.
//
// A read follows its page while that stays on its plane: garbage collection may move it there, and a younger write of it may take it to
// another page of the plane. When a younger write takes it to another plane, the reads of it that have not ended keep the copy that
// the page had until then, and pin its block: it is not erased before they end ([`crate::gc::Gc::pin`]). They stay where they are,
// in the queue of the unit that has the copy.
//
// Owns, by logical page, the reads that have not ended and follow it. Only where pages leave their home plane, or once one was trimmed;
// elsewhere no read is recorded. Memory is bounded by the transactions in flight.

/// The physical page that a read reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// Where its logical page is when it begins.
    Current,
    /// [`Transaction::ppa`], in a pinned block.
    Kept,
    /// [`Transaction::ppa`], where nothing is: its logical page had never been written.
    KeptBlank,
}

/// A read that has not ended.
#[derive(Clone, Copy, Debug)]
struct OpenRead {
    source: Source,
    lpn: Lpn,
    /// The next older and the next younger read of its list, while it follows its page.
    older: TxnId,
    younger: TxnId,
}

/// The reads that have not ended.
#[derive(Debug)]
struct OlderReads {
    /// Those that follow their pages, in lists by a hash of the page: the youngest of each. There are more lists than transactions, a
    /// power of two.
    youngest: Vec<TxnId>,
    /// By transaction, if it is a read that has not ended.
    reads: Vec<OpenRead>,
}

impl OlderReads {
    /// None.
    fn new() -> OlderReads {
        OlderReads { youngest: vec![TxnId::NONE; 64], reads: Vec::new() }
    }

    /// The list of a page.
    #[inline(always)]
    fn list(&self, lpn: Lpn) -> usize {
        // Fibonacci hashing: the upper bits of the product depend on all bits of the page.
        (u64::from(lpn.0).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.youngest.len() - 1)
    }

    /// A read of `lpn` was created, which follows its page.
    #[inline(always)]
    fn add(&mut self, lpn: Lpn, id: TxnId) {
        if self.reads.len() <= id.index() {
            self.grow(id);
        }
        let list = self.list(lpn);
        let older = core::mem::replace(&mut self.youngest[list], id);
        self.reads[id.index()] = OpenRead { source: Source::Current, lpn, older, younger: TxnId::NONE };
        if older.is_some() {
            self.reads[older.index()].younger = id;
        }
    }

    /// Makes space for a transaction, and lists enough.
    #[cold]
    fn grow(&mut self, id: TxnId) {
        let none = OpenRead { source: Source::Current, lpn: Lpn(0), older: TxnId::NONE, younger: TxnId::NONE };
        self.reads.resize((id.index() + 1).next_power_of_two(), none);
        if self.youngest.len() >= self.reads.len() {
            return;
        }
        let lists = core::mem::replace(&mut self.youngest, vec![TxnId::NONE; 2 * self.reads.len()]);
        for youngest in lists {
            // The oldest first, so that each list stays in order.
            let mut id = youngest;
            while id.is_some() && self.reads[id.index()].older.is_some() {
                id = self.reads[id.index()].older;
            }
            while id.is_some() {
                let OpenRead { lpn, younger, .. } = self.reads[id.index()];
                self.add(lpn, id);
                id = younger;
            }
        }
    }

    /// A read that follows its page no longer does.
    #[inline(always)]
    fn remove(&mut self, id: TxnId) {
        let OpenRead { lpn, older, younger, .. } = self.reads[id.index()];
        if older.is_some() {
            self.reads[older.index()].younger = younger;
        }
        if younger.is_some() {
            self.reads[younger.index()].older = older;
        } else {
            let list = self.list(lpn);
            self.youngest[list] = older;
        }
    }

    /// The youngest of the reads that follow `lpn`, which no longer does; [`TxnId::NONE`] if there is none.
    fn take(&mut self, lpn: Lpn) -> TxnId {
        let mut id = self.youngest[self.list(lpn)];
        while id.is_some() && self.reads[id.index()].lpn != lpn {
            id = self.reads[id.index()].older;
        }
        if id.is_some() {
            self.remove(id);
        }
        id
    }

    /// A read has ended. Returns whether it read an older copy than the current one.
    #[inline(always)]
    fn ended(&mut self, id: TxnId, gc: &mut Gc, ftl: &mut Ftl, state: &mut State) -> bool {
        let Transaction { plane, ppa, .. } = *state.board.txn(id);
        let source = self.reads[id.index()].source;
        match source {
            Source::Current => self.remove(id),
            Source::Kept => gc.unpin(plane, Ppa(ppa), state, ftl),
            Source::KeptBlank => {}
        }
        source != Source::Current
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use flashlane_testing::Random;

    /// Compares with a list for each page, while reads come, end and no longer follow their page.
    #[test]
    fn the_reads_of_a_page_are_those_that_follow_it() {
        let (mut reads, mut plain) = (OlderReads::new(), BTreeMap::<u32, Vec<TxnId>>::new());
        let mut random = Random(11);
        let mut sample = |below: usize| random.below(below as u64) as usize;
        let mut free: Vec<TxnId> = (0..300).map(TxnId).collect();
        let mut taken = 0;
        for _ in 0..50_000 {
            let lpn = (sample(20) * sample(20)) as u32;
            let list = plain.entry(lpn).or_default();
            match sample(60) {
                0 => {
                    for &read in list.iter().rev() {
                        assert_eq!(reads.take(Lpn(lpn)), read, "youngest first");
                        taken += 1;
                    }
                    assert!(reads.take(Lpn(lpn)).is_none());
                    free.append(list);
                }
                1..31 if !free.is_empty() => {
                    let id = free.swap_remove(sample(free.len()));
                    reads.add(Lpn(lpn), id);
                    list.push(id);
                }
                _ if !list.is_empty() => {
                    let id = list.remove(sample(list.len()));
                    reads.remove(id);
                    free.push(id);
                }
                _ => {}
            }
        }
        for (lpn, list) in plain {
            assert!(list.iter().rev().all(|&read| reads.take(Lpn(lpn)) == read) && reads.take(Lpn(lpn)).is_none());
        }
        assert!(taken > 1_000, "{taken}");
    }
}
