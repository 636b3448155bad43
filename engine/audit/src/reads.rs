//! The copies that reads need: the current one of their page or, if a younger write took the page to another plane, the one it had
//! until then (model 4.1.2). The block of such a copy must not be erased before the read has ended.

use flashlane_core::{Lpn, PlaneId, Sequence};
use rustc_hash::FxHashMap;

use super::pages::{Pages, Place};
use super::rule::{Log, Rule};
use super::transactions::Txn;

/// A read of a host or of the buffer that has not ended.
#[derive(Clone, Copy, Debug)]
struct Follows {
    serial: u64,
    plane: PlaneId,
}

/// All reads of hosts and of the buffer that have not ended.
#[derive(Default, Debug)]
pub(super) struct Reads {
    /// By logical page, those that follow it.
    follow: FxHashMap<Lpn, Vec<Follows>>,
    /// The others, by serial: the copy they keep.
    keep: Sequence<Place>,
    /// Blocks with such copies: how many reads keep one.
    blocks: FxHashMap<u32, u32>,
}

impl Reads {
    /// A read joined its queue.
    pub(super) fn queued(&mut self, lpn: Lpn, serial: u64, plane: PlaneId) {
        self.follow.entry(lpn).or_default().push(Follows { serial, plane });
    }

    /// A page is written, or moved, from `old` to `plane`: its reads on other planes keep the copy there. After a trim (`plane` is `None`)
    /// all do, if it had one: else nothing has changed for them.
    pub(super) fn mapped(&mut self, lpn: Lpn, old: Place, plane: Option<PlaneId>, pages: &Pages) {
        if plane.is_none() && !old.is_known() {
            return;
        }
        let Some(follow) = self.follow.get_mut(&lpn) else { return };
        follow.retain(|read| {
            let stays = Some(read.plane) == plane;
            if !stays {
                self.keep.insert(read.serial, old);
                if old.is_known() {
                    *self.blocks.entry(pages.block_at(old)).or_default() += 1;
                }
            }
            stays
        });
        if follow.is_empty() {
            self.follow.remove(&lpn);
        }
    }

    /// Whether a read is of a page that has, or had when it was kept, a copy.
    pub(super) fn has_copy(&self, serial: u64, lpn: Lpn, pages: &Pages) -> bool {
        self.keep.get(serial).copied().unwrap_or_else(|| pages.find(lpn)).is_known()
    }

    /// A read begins, of the page `ppa` of its plane.
    pub(super) fn dispatched(&self, serial: u64, txn: &Txn, ppa: u32, pages: &Pages, log: &mut Log) {
        let kept = self.keep.get(serial);
        let due = kept.copied().unwrap_or_else(|| pages.find(txn.lpn));
        // A page that was never written may be read from anywhere.
        log.check(!due.is_known() || pages.is_at(due, txn.plane, ppa), Rule::ReadPlace, || {
            let which = if kept.is_some() { "kept" } else { "current" };
            format!(
                "page {ppa} of plane {} was read for logical page {}, whose {which} copy is {}.",
                txn.plane.0,
                txn.lpn.0,
                pages.describe_place(due)
            )
        });
    }

    /// A read has ended.
    pub(super) fn ended(&mut self, lpn: Lpn, serial: u64, pages: &Pages) {
        if let Some(kept) = self.keep.remove(serial) {
            if kept.is_known() {
                let block = pages.block_at(kept);
                let reads = self.blocks.get_mut(&block).expect("counted when the read began to keep it");
                *reads -= 1;
                if *reads == 0 {
                    self.blocks.remove(&block);
                }
            }
        } else if let Some(follow) = self.follow.get_mut(&lpn) {
            follow.retain(|read| read.serial != serial);
            if follow.is_empty() {
                self.follow.remove(&lpn);
            }
        }
    }

    /// A block is erased: no read may keep a page of it.
    pub(super) fn erased(&self, block: u32, pages: &Pages, log: &mut Log) {
        let reads = self.blocks.get(&block).copied().unwrap_or_default();
        log.check(reads == 0, Rule::EraseRead, || {
            format!("{} is erased and {reads} reads that keep a page of it have not ended.", pages.describe(block))
        });
    }
}
