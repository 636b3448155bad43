//! Binding: the plane that a page is to be written to, the physical page that a program gets as it begins, and where a read finds its page.

use flashlane_core::decide::PageWrite;
use flashlane_core::event::Event;
use flashlane_core::{Lpn, Owner, PlaneId, Ppa, Transaction, TxnId};

use super::Device;

impl Device {
    /// The plane that a page is to be written to.
    #[inline(always)]
    pub(super) fn place(&mut self, lpn: Lpn) -> PlaneId {
        let home = self.ftl.map.home(lpn).0;
        let at = if self.policy.known.keeps.page_planes { self.ftl.map.plane_of(lpn) } else { home };
        self.policy.place(&self.state.board, PageWrite { lpn, home, at })
    }

    /// Whether the flash must read a page: it has a copy, or reads of pages without one use the flash all the same.
    #[inline(always)]
    pub(super) fn has_data(&self, lpn: Lpn) -> bool {
        !self.transactions.unmapped_from_memory || self.ftl.has_copy(lpn)
    }

    /// Notes the physical page of a read, how often it is tried again and whether its block is in SLC mode in its transaction, if the read does
    /// not keep an older copy. Of interest with [`Transactions::address_reads`] only.
    #[inline(always)]
    pub(super) fn look_up(&mut self, read: TxnId, lpn: Lpn) {
        if !self.page_order.keeps_copy(read) {
            let retries = self.ftl.retry_steps(lpn);
            let txn = self.state.board.txn_mut(read);
            (txn.ppa, txn.retries) = (self.ftl.map.lookup(lpn).0, retries);
            txn.slc = self.ftl.has_slc && self.ftl.lies_in_slc(lpn);
        }
    }

    /// Notes for a read that is about to join its queue where its page is, and in which plane of the flash.
    #[inline(always)]
    pub(super) fn address_read(&mut self, read: TxnId, lpn: Lpn) {
        self.look_up(read, lpn);
        let board = &mut self.state.board;
        let geometry = board.facts.geometry;
        if geometry.row_planes > 1 {
            let txn = board.txn_mut(read);
            txn.slot = txn.slot * geometry.row_planes as u8 + geometry.plane_in_row(txn.ppa) as u8;
        }
    }

    /// Gives a program its physical page, in native cells if it is one of a wordline, maps its logical page there, and releases the next waiting
    /// write of the same page. Returns its plane, of which the caller updates the board.
    #[inline(always)]
    pub(super) fn bind_page(&mut self, id: TxnId, is_of_wordline: bool) -> PlaneId {
        let Transaction { lpn, plane, flow, owner, unblocks, .. } = *self.state.board.txn(id);
        // The entry is removed when the program ends.
        self.page_order.prefetch(lpn);
        let left = if self.policy.known.static_place { plane } else { self.ftl.map.plane_of(lpn) };
        if left != plane {
            self.page_order.keep_copies(lpn, &self.ftl, &mut self.gc, &mut self.state.board);
        }
        if self.policy.known.keeps.valid_pages {
            self.count_valid(lpn, plane, left);
        }
        let ppa = if is_of_wordline { self.ftl.write_in_wordline(lpn, plane) } else { self.ftl.write(lpn, plane) };
        let ppa = ppa.expect("the free page was checked");
        self.state.board.txn_mut(id).ppa = ppa.0;
        if self.ftl.has_slc {
            self.note_mode(id, plane, ppa);
        }
        if owner != Owner::Mapping {
            self.host_changes_pages();
        }
        let board = &mut self.state.board;
        self.ftl.claim(lpn, flow, board);
        self.ftl.count_version(lpn);
        if unblocks.is_some() {
            board.txn_mut(id).unblocks = TxnId::NONE;
            let next = board.txn_mut(unblocks);
            (next.blocked_by, next.page_at) = (TxnId::NONE, plane);
            let waiter = board.txn(unblocks).unit;
            self.state.mark(waiter);
        }
        self.state.log(|| Event::Mapped { lpn, plane, ppa: ppa.0 });
        if left != plane {
            self.gc.page_left(left, &self.ftl);
        }
        plane
    }

    /// Notes whether the page that a program was given is in SLC mode.
    #[cold]
    fn note_mode(&mut self, id: TxnId, plane: PlaneId, ppa: Ppa) {
        let is_slc = self.ftl.is_slc(plane, ppa);
        self.state.board.txn_mut(id).slc = is_slc;
        if is_slc && self.ftl.is_first_of_block(ppa) {
            let block = ppa.0 / self.state.board.facts.geometry.pages_per_block;
            self.state.log(|| Event::SlcOpened { plane, block });
        }
    }

    /// Counts that the valid copy of `lpn`, if it has one, is no longer in the plane `left`, but in `plane`.
    fn count_valid(&mut self, lpn: Lpn, plane: PlaneId, left: PlaneId) {
        let planes = &mut self.state.board.planes;
        planes[left.index()].valid_pages -= u32::from(self.ftl.has_copy(lpn));
        planes[plane.index()].valid_pages += 1;
    }

    /// The host programs or trims pages.
    #[inline(always)]
    pub(super) fn host_changes_pages(&mut self) {
        if let Some(translation) = &mut self.translation {
            translation.in_a_row = 0;
        }
    }
}
