//! Entries of the page map, where the map lies on the flash: which memory could have when a transaction joins its queue.
//!
//! What was never fetched nor made cannot be there: that holds of every transaction. A host's read joins its queue in the instant in which its
//! entry is used. Which entries memory has at any time, by the order of their use, is in [`Held`].

use flashlane_core::Lpn;
use flashlane_core::event::{End, EntryAt};
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_ssd::config::Config;
use rustc_hash::FxHashSet;

use super::held::Held;
use super::rule::{Log, Rule};
use super::transactions::Txn;

/// The entries that memory could have.
#[derive(Debug)]
pub(super) struct Entries {
    logical_pages: u32,
    entries_per_page: u32,
    /// Bytes of a read for an entry.
    pub(super) read_bytes: u64,
    /// Pages below this one had their entries in memory at the start.
    at_start: u32,
    /// By translation page, whether it has been read or was to be written.
    seen: Vec<bool>,
    /// Pages of others that were written, moved or trimmed.
    changed: FxHashSet<Lpn>,
    /// Programs that joined their queues at this instant before their entries were read: a trim must drop them.
    early: Vec<(u64, Lpn)>,
    /// Which entries memory holds, if it is known which pages have a copy.
    held: Option<Held>,
}

impl Entries {
    /// Those before the first event; `None` if memory has the whole map.
    pub(super) fn new(config: &Config, knows_copies: bool) -> Option<Entries> {
        let mapping = config.mapping?;
        let (pages, page_bytes) = (config.ftl.logical_pages, config.geometry.page_bytes.into());
        let gathers = config.nand.one_shot_pages * config.geometry.slots > 1;
        let held = knows_copies.then(|| Held::new(&mapping, pages, page_bytes, gathers));
        Some(Entries {
            logical_pages: config.ftl.logical_pages,
            entries_per_page: mapping.entries_per_page,
            read_bytes: mapping.read_bytes.into(),
            at_start: if mapping.warm { mapping.entries + mapping.host_entries } else { 0 },
            seen: vec![false; config.ftl.logical_pages.div_ceil(mapping.entries_per_page) as usize],
            changed: FxHashSet::default(),
            early: Vec::new(),
            held,
        })
    }

    /// Before the first event memory holds the entries of these pages, and no others: the one used longest ago first, with whether it is dirty.
    pub(super) fn hold_at_start(&mut self, entries: &[(Lpn, bool)]) {
        self.at_start = 0;
        self.changed.extend(entries.iter().map(|entry| entry.0));
        // Translation pages that are still to be written.
        entries.iter().for_each(|entry| self.page_seen(entry.0));
        if let Some(held) = &mut self.held {
            held.begins_with(entries.iter().copied());
        }
    }

    /// An entry was looked up.
    pub(super) fn looked_up(&mut self, lpn: Lpn, at: EntryAt, log: &mut Log) {
        self.held.iter_mut().for_each(|held| held.looked_up(lpn, at, log));
    }

    /// An entry has come to memory.
    pub(super) fn arrived(&mut self, lpn: Lpn, log: &mut Log) {
        self.held.iter_mut().for_each(|held| held.arrived(lpn, log));
    }

    /// Whether a transaction of this owner may be for this page.
    pub(super) fn are_for(&self, owner: Owner, lpn: Lpn) -> bool {
        match owner {
            Owner::Mapping => lpn.0 >= self.logical_pages,
            Owner::User | Owner::Buffer => lpn.0 < self.logical_pages,
            Owner::Gc | Owner::Fold => true,
        }
    }

    /// A transaction joined its queue; `is_read` if it is of a host's read.
    pub(super) fn queued(
        &mut self,
        serial: u64,
        (owner, op, lpn): (Owner, FlashOp, Lpn),
        is_read: bool,
        log: &mut Log,
    ) {
        match owner {
            Owner::Mapping if op == FlashOp::Program => {
                self.page_seen(lpn);
                self.held.iter_mut().for_each(|held| held.program_queued(lpn, serial, log));
            }
            Owner::Mapping => self.held.iter_mut().for_each(|held| held.read_queued(lpn)),
            Owner::Gc | Owner::Fold => {}
            Owner::User | Owner::Buffer => {
                let page = (lpn.0 / self.entries_per_page) as usize;
                let has = lpn.0 < self.at_start
                    || self.seen.get(page).copied().unwrap_or(true)
                    || self.changed.contains(&lpn);
                let used = !is_read || self.held.as_ref().is_none_or(|held| held.is_used_now(lpn));
                match op {
                    _ if has && used => {}
                    FlashOp::Program => self.early.push((serial, lpn)),
                    FlashOp::Read | FlashOp::Erase => too_early(op, serial, lpn, log),
                }
            }
        }
    }

    /// A program begins.
    pub(super) fn begins(&mut self, txn: &Txn) {
        if txn.owner == Owner::Mapping && txn.op == FlashOp::Program {
            self.held.iter_mut().for_each(|held| held.program_begins(txn.lpn));
        }
    }

    /// A transaction ended.
    pub(super) fn ended(&mut self, serial: u64, txn: &Txn, end: End) {
        if end == End::Trimmed {
            self.early.retain(|&(early, _)| early != serial);
        }
        if txn.owner == Owner::Mapping && txn.op == FlashOp::Read {
            self.page_seen(txn.lpn);
            self.held.iter_mut().for_each(|held| held.read_ended(txn.lpn, txn.bytes.into()));
        } else if txn.owner == Owner::Mapping {
            self.held.iter_mut().for_each(|held| held.program_ended(txn.lpn));
        }
    }

    /// The instant has ended: programs that were queued before their entries were read, and that no trim has dropped since, are violations.
    pub(super) fn settle(&mut self, log: &mut Log) {
        self.early.drain(..).for_each(|(serial, lpn)| too_early(FlashOp::Program, serial, lpn, log));
        self.held.iter_mut().for_each(|held| held.settle(log));
    }

    /// Memory has all entries of a translation page, at least for a moment.
    fn page_seen(&mut self, page: Lpn) {
        let number = page.0.checked_sub(self.logical_pages);
        if let Some(seen) = number.and_then(|number| self.seen.get_mut(number as usize)) {
            *seen = true;
        }
    }

    /// A page lies elsewhere, or nowhere.
    pub(super) fn changed(&mut self, lpn: Lpn) {
        if lpn.0 < self.logical_pages {
            self.held.iter_mut().for_each(|held| held.changed(lpn));
        }
        if !self.seen.get((lpn.0 / self.entries_per_page) as usize).copied().unwrap_or(true) {
            self.changed.insert(lpn);
        }
    }
}

fn too_early(op: FlashOp, serial: u64, lpn: Lpn, log: &mut Log) {
    log.report(Rule::EntryFirst, || {
        format!("{} {serial} of page {} was queued before its entry was read.", op.name(), lpn.0)
    });
}
