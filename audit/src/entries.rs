//! Entries of the page map, where the map lies on the flash: of which pages memory could have one.
//!
//! The stream does not say which entries memory holds, so this is a bound: what was never fetched nor made cannot be there.

use flashlane_core::Lpn;
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_ssd::config::Config;
use rustc_hash::FxHashSet;

use super::rule::{Log, Rule};

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
}

impl Entries {
    /// Those before the first event; `None` if memory has the whole map.
    pub(super) fn new(config: &Config) -> Option<Entries> {
        let mapping = config.mapping?;
        Some(Entries {
            logical_pages: config.ftl.logical_pages,
            entries_per_page: mapping.entries_per_page,
            read_bytes: mapping.read_bytes.into(),
            at_start: if mapping.warm { mapping.entries + mapping.host_entries } else { 0 },
            seen: vec![false; config.ftl.logical_pages.div_ceil(mapping.entries_per_page) as usize],
            changed: FxHashSet::default(),
            early: Vec::new(),
        })
    }

    /// Before the first event memory holds the entries of these pages, and no others.
    pub(super) fn hold_at_start(&mut self, pages: &[Lpn]) {
        self.at_start = 0;
        self.changed.extend(pages);
    }

    /// Whether a transaction of this owner may be for this page.
    pub(super) fn are_for(&self, owner: Owner, lpn: Lpn) -> bool {
        match owner {
            Owner::Mapping => lpn.0 >= self.logical_pages,
            Owner::User | Owner::Buffer => lpn.0 < self.logical_pages,
            Owner::Gc | Owner::Fold => true,
        }
    }

    /// A transaction joined its queue.
    pub(super) fn queued(&mut self, serial: u64, owner: Owner, op: FlashOp, lpn: Lpn, log: &mut Log) {
        match owner {
            Owner::Mapping if op == FlashOp::Program => self.page_seen(lpn),
            Owner::Mapping | Owner::Gc | Owner::Fold => {}
            Owner::User | Owner::Buffer => {
                let page = (lpn.0 / self.entries_per_page) as usize;
                let has = lpn.0 < self.at_start
                    || self.seen.get(page).copied().unwrap_or(true)
                    || self.changed.contains(&lpn);
                match op {
                    _ if has => {}
                    FlashOp::Program => self.early.push((serial, lpn)),
                    FlashOp::Read | FlashOp::Erase => too_early(op, serial, lpn, log),
                }
            }
        }
    }

    /// A trim has dropped a write.
    pub(super) fn dropped(&mut self, serial: u64) {
        self.early.retain(|&(early, _)| early != serial);
    }

    /// The instant has ended: programs that were queued before their entries were read, and that no trim has dropped since, are violations.
    pub(super) fn settle(&mut self, log: &mut Log) {
        self.early.drain(..).for_each(|(serial, lpn)| too_early(FlashOp::Program, serial, lpn, log));
    }

    /// Memory has all entries of a translation page, at least for a moment.
    pub(super) fn page_seen(&mut self, page: Lpn) {
        let number = page.0.checked_sub(self.logical_pages);
        if let Some(seen) = number.and_then(|number| self.seen.get_mut(number as usize)) {
            *seen = true;
        }
    }

    /// A page lies elsewhere, or nowhere.
    pub(super) fn changed(&mut self, lpn: Lpn) {
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
