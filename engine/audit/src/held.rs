//! Which entries of the page map memory holds, and which translation pages must be written (model 0.11).
//!
//! An entry is used when it is looked up and found in the controller's memory, when it has come there, and when its page is written, moved or
//! trimmed; the last makes it dirty too. From that alone follows where each entry is at any time: the controller's memory has those used last,
//! the host's those used before these. So every lookup has one right answer. A dirty entry that makes room owes a program of its translation
//! page, which must wait by the end of the instant, or a read of the page, behind which it comes.

use std::collections::{BTreeMap, BTreeSet};

use flashlane_core::Lpn;
use flashlane_core::event::EntryAt;
use flashlane_ssd::config::Mapping;
use rustc_hash::{FxHashMap, FxHashSet};

use super::rule::{Log, Rule};

/// An entry that is held.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its place in the order of use.
    used: u64,
    in_host: bool,
    dirty: bool,
}

/// A translation page.
#[derive(Default, Debug)]
struct TranslationPage {
    held: u32,
    dirty: BTreeSet<u32>,
    /// A dirty entry of it has made room, and no program has been made since; whether it must be read first.
    owes: Option<bool>,
    /// Its reads that have not ended, and its programs that wait and that run.
    reads: u32,
    waiting: u32,
    running: u32,
    /// A whole read of it ended at this instant, or a program of it began.
    was_read: bool,
    began: bool,
}

/// The entries that memory holds.
#[derive(Debug)]
pub(super) struct Held {
    logical_pages: u32,
    per_page: u32,
    page_bytes: u64,
    /// Entries that the controller's memory holds at most, and those of the host's with them.
    capacity: usize,
    held_at_most: usize,
    entries: FxHashMap<u32, Entry>,
    /// By their last use, those of the controller's memory and those of the host's.
    memory: BTreeMap<u64, u32>,
    host: BTreeMap<u64, u32>,
    uses: u64,
    pages: FxHashMap<u32, TranslationPage>,
    /// Lookups of each page that found its entry elsewhere and wait for it.
    awaited: FxHashMap<u32, u32>,
    /// Logical pages whose map entries were used at this instant.
    used_now: FxHashSet<u32>,
    /// Translation pages of which something has changed at this instant.
    changed: Vec<u32>,
    /// Whether the device has one-shot programs: then a translation page may share a wordline with pages that still wait for their map entries.
    gathers: bool,
}

impl Held {
    pub(super) fn new(mapping: &Mapping, logical_pages: u32, page_bytes: u64, gathers: bool) -> Held {
        let mut held = Held {
            logical_pages,
            per_page: mapping.entries_per_page,
            page_bytes,
            capacity: mapping.entries as usize,
            held_at_most: (mapping.entries + mapping.host_entries) as usize,
            entries: FxHashMap::default(),
            memory: BTreeMap::new(),
            host: BTreeMap::new(),
            uses: 0,
            pages: FxHashMap::default(),
            awaited: FxHashMap::default(),
            used_now: FxHashSet::default(),
            changed: Vec::new(),
            gathers,
        };
        if mapping.warm {
            let first = (mapping.entries + mapping.host_entries).min(logical_pages);
            held.begins_with((0..first).rev().map(|lpn| (Lpn(lpn), false)));
        }
        held
    }

    /// Before the first event memory holds these, the one used longest ago first, each with whether it is dirty.
    pub(super) fn begins_with(&mut self, entries: impl Iterator<Item = (Lpn, bool)>) {
        (self.entries, self.pages) = Default::default();
        (self.memory, self.host) = Default::default();
        for (lpn, dirty) in entries {
            match self.number(lpn) {
                // A translation page that memory has and must still write.
                Some(number) => self.page(number).owes = Some(false),
                None if dirty => self.changed(lpn),
                None => self.used(lpn),
            }
        }
        (self.changed, self.used_now) = Default::default();
    }

    fn page(&mut self, number: u32) -> &mut TranslationPage {
        self.pages.entry(number).or_default()
    }

    /// The number of a translation page.
    fn number(&self, page: Lpn) -> Option<u32> {
        page.0.checked_sub(self.logical_pages)
    }

    /// Entries of a translation page: the last may have fewer.
    fn entries_of(&self, number: u32) -> u32 {
        self.per_page.min(self.logical_pages - number * self.per_page)
    }

    /// An entry is used: it is in the controller's memory from now on.
    fn used(&mut self, lpn: Lpn) {
        self.used_now.insert(lpn.0);
        self.uses += 1;
        let used = self.uses;
        match self.entries.get_mut(&lpn.0) {
            Some(entry) => {
                let from = if entry.in_host { &mut self.host } else { &mut self.memory };
                from.remove(&entry.used);
                (entry.used, entry.in_host) = (used, false);
            }
            None => {
                if self.entries.len() == self.held_at_most {
                    self.make_room();
                }
                self.entries.insert(lpn.0, Entry { used, in_host: false, dirty: false });
                self.page(lpn.0 / self.per_page).held += 1;
            }
        }
        self.memory.insert(used, lpn.0);
        if self.memory.len() > self.capacity
            && let Some((used, oldest)) = self.memory.pop_first()
        {
            self.host.insert(used, oldest);
            self.entries.entry(oldest).and_modify(|entry| entry.in_host = true);
        }
    }

    /// The entry used longest ago is no longer held.
    fn make_room(&mut self) {
        let oldest = if self.host.is_empty() { &mut self.memory } else { &mut self.host };
        let Some((_, lpn)) = oldest.pop_first() else { return };
        let dirty = self.entries.remove(&lpn).is_some_and(|entry| entry.dirty);
        let number = lpn / self.per_page;
        let all = self.entries_of(number);
        let page = self.page(number);
        let is_whole = page.held == all;
        page.held -= 1;
        if dirty {
            page.owes = Some(!is_whole && page.owes != Some(false) && page.waiting + page.running == 0);
            let written = std::mem::take(&mut page.dirty);
            for lpn in written {
                self.entries.entry(lpn).and_modify(|entry| entry.dirty = false);
            }
            self.changed.push(number);
        }
    }

    /// A page was written, moved or trimmed.
    pub(super) fn changed(&mut self, lpn: Lpn) {
        self.used(lpn);
        self.entries.entry(lpn.0).and_modify(|entry| entry.dirty = true);
        self.page(lpn.0 / self.per_page).dirty.insert(lpn.0);
    }

    /// An entry was looked up, and said to be there.
    pub(super) fn looked_up(&mut self, lpn: Lpn, at: EntryAt, log: &mut Log) {
        let is = match self.entries.get(&lpn.0) {
            Some(entry) if entry.in_host => EntryAt::Host,
            Some(_) => EntryAt::Memory,
            None => EntryAt::Flash,
        };
        log.check(at == is, Rule::EntryHeld, || {
            format!("the entry of page {} was looked up and found in {}, and is in {}.", lpn.0, name(at), name(is))
        });
        if at == EntryAt::Memory {
            self.used(lpn);
        } else {
            *self.awaited.entry(lpn.0).or_default() += 1;
        }
    }

    /// An entry that was looked up has come.
    pub(super) fn arrived(&mut self, lpn: Lpn, log: &mut Log) {
        let awaited = self.awaited.get_mut(&lpn.0).filter(|count| **count > 0);
        match awaited {
            Some(count) => *count -= 1,
            None => log.report(Rule::EntryHeld, || format!("the entry of page {} came unasked for.", lpn.0)),
        }
        self.used(lpn);
    }

    /// Whether the entry of a page was used at this instant.
    pub(super) fn is_used_now(&self, lpn: Lpn) -> bool {
        self.used_now.contains(&lpn.0)
    }

    // Translation pages.

    /// A read of a translation page joined its queue.
    pub(super) fn read_queued(&mut self, page: Lpn) {
        if let Some(number) = self.number(page) {
            self.page(number).reads += 1;
        }
    }

    /// A read of `bytes` of a translation page ended.
    pub(super) fn read_ended(&mut self, page: Lpn, bytes: u64) {
        let Some(number) = self.number(page) else { return };
        let whole = bytes >= self.page_bytes;
        let page = self.page(number);
        page.reads = page.reads.saturating_sub(1);
        page.was_read |= whole;
        self.changed.push(number);
    }

    /// A program of a translation page joined its queue.
    pub(super) fn program_queued(&mut self, page: Lpn, serial: u64, log: &mut Log) {
        let (Some(number), gathers) = (self.number(page), self.gathers) else { return };
        let page = self.page(number);
        let owed = page.owes.take();
        let was_read = page.was_read || page.running > 0 || gathers;
        page.waiting += 1;
        log.check(owed.is_some_and(|must_be_read| !must_be_read || was_read), Rule::EntryWritten, || {
            let why = if owed.is_some() { "without having been read" } else { "though no dirty entry has made room" };
            format!("translation page {number} is written by {serial} {why}.")
        });
    }

    /// A program of a translation page begins.
    pub(super) fn program_begins(&mut self, page: Lpn) {
        let Some(number) = self.number(page) else { return };
        let page = self.page(number);
        page.waiting = page.waiting.saturating_sub(1);
        page.running += 1;
        page.began = true;
        self.changed.push(number);
    }

    /// A program of a translation page ended.
    pub(super) fn program_ended(&mut self, page: Lpn) {
        if let Some(number) = self.number(page) {
            let page = self.page(number);
            page.running = page.running.saturating_sub(1);
        }
    }

    /// The instant is over: a translation page that must be written is being read, or its program waits.
    pub(super) fn settle(&mut self, log: &mut Log) {
        self.used_now.clear();
        for number in std::mem::take(&mut self.changed) {
            let gathers = self.gathers;
            let page = self.page(number);
            // Who gathers pages may queue a program later that was made when another had just begun.
            if page.waiting > 0 || page.began && !gathers {
                page.owes = None;
            }
            let comes = page.owes.is_none() || page.reads > 0 || gathers;
            (page.was_read, page.began) = (false, false);
            log.check(comes, Rule::EntryWritten, || {
                format!(
                    "a dirty entry of translation page {number} made room, and the page is neither read nor written."
                )
            });
        }
    }
}

/// Where an entry is, in words.
fn name(at: EntryAt) -> &'static str {
    match at {
        EntryAt::Memory => "the controller's memory",
        EntryAt::Host => "the host's memory",
        EntryAt::Flash => "its translation page",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of a translation page begins, and in that instant a dirty entry of the page may make room: the program made for it shares a wordline
    /// with a page whose entry is awaited, and joins its queue later. Returns the violations.
    fn queued_after_another_began(makes_room: bool) -> u64 {
        let (entries, entries_per_page, read_bytes) = (1, 64, 4096);
        let config = Mapping { entries, host_entries: 0, entries_per_page, entry_bytes: 4, read_bytes, warm: false };
        let (mut held, mut log) = (Held::new(&config, 256, 4096, true), Log::new(1));
        let page = Lpn(256);
        held.changed(Lpn(5));
        held.changed(Lpn(70));
        held.program_queued(page, 1, &mut log);
        held.settle(&mut log);
        held.program_begins(page);
        if makes_room {
            held.changed(Lpn(6));
            held.changed(Lpn(71));
        }
        held.settle(&mut log);
        held.program_queued(page, 2, &mut log);
        log.total()
    }

    #[test]
    fn a_program_in_a_wordline_may_join_its_queue_after_the_instant_in_which_it_was_made() {
        assert_eq!(queued_after_another_began(true), 0);
        assert_eq!(queued_after_another_began(false), 1);
    }
}
