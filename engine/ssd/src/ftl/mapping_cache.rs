//! The mapping cache: which entries of the page map memory holds, where the map lies on the flash in translation pages (model 0.11).
//!
//! Owns the entries in the order of their last use, which of them have changed since their translation page was written (dirty), and
//! which translation pages must be written anew. Memory is the controller's; the entries used longest ago may be in the host's. It
//! must never know transactions or times. DFTL: Gupta, Kim and Urgaonkar, ASPLOS 2009.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::event::EntryAt;
use flashlane_core::{Divisor, FlowId, Lpn};

use crate::config::Mapping;

/// Bytes that a held entry takes, and a logical page.
pub(crate) const ENTRY_BYTES: [u64; 2] = [24, 4];

/// No node.
const NONE: u32 = u32::MAX;

/// A held entry.
#[derive(Clone, Copy, Debug)]
struct Node {
    lpn: u32,
    /// The entry used next before this one, and next after it.
    older: u32,
    younger: u32,
    /// The next of the dirty entries of its translation page.
    next_dirty: u32,
    /// The flow that used it last.
    flow: FlowId,
    dirty: bool,
    /// It is in the host's memory.
    in_host: bool,
}

/// A translation page.
#[derive(Clone, Copy, Debug)]
struct TranslationPage {
    /// Its entries that are held.
    held: u32,
    /// The first of those that are dirty.
    dirty: u32,
}

/// A translation page that must be written anew: an entry of it was dirty and is no longer held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rewrite {
    /// Its logical page number.
    pub(crate) page: Lpn,
    /// The flow that used the entry last.
    pub(crate) flow: FlowId,
    /// All its entries were held, so that it need not be read first.
    pub(crate) is_whole: bool,
}

/// Which entries memory holds.
#[derive(Clone, Debug)]
pub(crate) struct MappingCache {
    /// Entries that the controller's memory holds at most, and those of the host's memory with them.
    capacity: u32,
    held_at_most: u32,
    entries_per_page: Divisor,
    logical_pages: u32,
    /// By logical page: its node plus one, 0 if its entry is not held.
    node_of: Vec<u32>,
    nodes: Vec<Node>,
    /// The entry used last, the one used longest ago of those in the controller's memory, and of all.
    youngest: u32,
    oldest_in_memory: u32,
    oldest: u32,
    in_memory: u32,
    pages: Vec<TranslationPage>,
    rewrites: VecDeque<Rewrite>,
    /// Entries that were looked up and found in the controller's memory, in the host's memory, and in neither.
    pub(crate) looked_up: [u64; 3],
}

/// An entry that is held, as it is stored: logical page, flow and whether it is dirty. With the number of a translation page: that is still to be
/// written.
pub(crate) type HeldEntry = (u32, u16, bool);

/// Those that are held, from the one used longest ago on.
pub(crate) type HeldEntries = Vec<HeldEntry>;

// A used drive's cache.
impl MappingCache {
    /// What is held, and which translation pages are still to be written.
    pub(crate) fn held(&self) -> HeldEntries {
        let mut entries = Vec::with_capacity(self.nodes.len());
        let mut at = self.oldest;
        while let Some(&Node { lpn, flow, dirty, younger, .. }) = self.nodes.get(at as usize) {
            entries.push((lpn, flow.0, dirty));
            at = younger;
        }
        entries.extend(self.rewrites.iter().map(|rewrite| (rewrite.page.0, rewrite.flow.0, true)));
        entries
    }

    /// A cache that holds these entries; `None` if they are of another drive.
    pub(super) fn holding(config: &Mapping, logical_pages: u32, held: &[HeldEntry]) -> Option<MappingCache> {
        let mut cache = MappingCache::new(&Mapping { warm: false, ..*config }, logical_pages);
        let (held, to_write): (Vec<HeldEntry>, Vec<HeldEntry>) = held.iter().partition(|entry| entry.0 < logical_pages);
        if held.len() > cache.held_at_most as usize {
            return None;
        }
        for (page, flow, _) in to_write {
            cache.pages.get((page - logical_pages) as usize)?;
            cache.write_again(Lpn(page), FlowId(flow));
        }
        for (lpn, flow, dirty) in held {
            if *cache.node_of.get(lpn as usize)? != 0 {
                return None;
            }
            cache.insert(Lpn(lpn), FlowId(flow));
            if dirty {
                cache.changed(Lpn(lpn), FlowId(flow));
            }
        }
        Some(cache)
    }
}

impl MappingCache {
    /// The cache of a drive of `logical_pages` before the first request.
    pub(super) fn new(config: &Mapping, logical_pages: u32) -> MappingCache {
        let pages = logical_pages.div_ceil(config.entries_per_page) as usize;
        let mut cache = MappingCache {
            capacity: config.entries,
            held_at_most: config.held(),
            entries_per_page: Divisor::new(config.entries_per_page),
            logical_pages,
            node_of: vec![0; logical_pages as usize],
            nodes: Vec::new(),
            youngest: NONE,
            oldest_in_memory: NONE,
            oldest: NONE,
            in_memory: 0,
            pages: vec![TranslationPage { held: 0, dirty: NONE }; pages],
            rewrites: VecDeque::new(),
            looked_up: [0; 3],
        };
        if config.warm {
            (0..logical_pages.min(config.held())).rev().for_each(|lpn| cache.arrived(Lpn(lpn), FlowId(0)));
        }
        cache
    }

    /// Whether this is the number of a translation page.
    #[inline(always)]
    pub(crate) fn is_translation_page(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.logical_pages
    }

    /// The translation page that has the entry of a logical page, by its logical page number.
    pub(crate) fn page_of(&self, lpn: Lpn) -> Lpn {
        Lpn(self.logical_pages + self.number_of(lpn.0) as u32)
    }

    fn number_of(&self, lpn: u32) -> usize {
        self.entries_per_page.quotient(lpn.into()) as usize
    }

    /// Entries of a translation page: the last may have fewer.
    fn entries_of(&self, number: usize) -> u32 {
        let [first, next] = [number, number + 1].map(|number| number as u64 * self.entries_per_page.number());
        (next.min(self.logical_pages.into()) - first) as u32
    }

    /// Looks up the entry of a page for `flow`. One in the controller's memory is used now, one elsewhere when it has arrived.
    pub(crate) fn look_up(&mut self, lpn: Lpn, flow: FlowId) -> EntryAt {
        let at = match self.node_of[lpn.0 as usize] {
            0 => EntryAt::Flash,
            node if self.nodes[node as usize - 1].in_host => EntryAt::Host,
            node => {
                self.use_now(node - 1, flow);
                EntryAt::Memory
            }
        };
        self.looked_up[at as usize] += 1;
        at
    }

    /// The entry of a page has arrived in the controller's memory, for `flow`.
    pub(crate) fn arrived(&mut self, lpn: Lpn, flow: FlowId) {
        match self.node_of[lpn.0 as usize] {
            0 => self.insert(lpn, flow),
            node => self.use_now(node - 1, flow),
        }
    }

    /// A page lies elsewhere now: its entry is dirty, and the one used last. One that is not held, or only in the host's memory, is in the
    /// controller's from now on, whatever was known of it.
    #[inline(never)]
    pub(crate) fn changed(&mut self, lpn: Lpn, flow: FlowId) {
        self.arrived(lpn, flow);
        let at = self.node_of[lpn.0 as usize] - 1;
        if self.nodes[at as usize].dirty {
            return;
        }
        let number = self.number_of(lpn.0);
        let next = core::mem::replace(&mut self.pages[number].dirty, at);
        let node = &mut self.nodes[at as usize];
        (node.dirty, node.next_dirty) = (true, next);
    }

    /// Whether a translation page must be written anew.
    #[inline(always)]
    pub(crate) fn has_rewrites(&self) -> bool {
        !self.rewrites.is_empty()
    }

    /// Memory has a whole translation page, which must be written anew.
    pub(crate) fn write_again(&mut self, page: Lpn, flow: FlowId) {
        self.rewrites.push_back(Rewrite { page, flow, is_whole: true });
    }

    /// The next translation page that must be written anew.
    pub(crate) fn next_rewrite(&mut self) -> Option<Rewrite> {
        self.rewrites.pop_front()
    }

    /// Holds one more entry, used now. If memory is full, the one used longest ago is evicted.
    fn insert(&mut self, lpn: Lpn, flow: FlowId) {
        let number = self.number_of(lpn.0);
        let node =
            Node { lpn: lpn.0, older: NONE, younger: NONE, next_dirty: NONE, flow, dirty: false, in_host: false };
        let at = if self.nodes.len() < self.held_at_most as usize {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let free = self.evict();
            self.nodes[free as usize] = node;
            free
        };
        self.node_of[lpn.0 as usize] = at + 1;
        self.pages[number].held += 1;
        self.push_youngest(at);
    }

    /// An entry is used.
    fn use_now(&mut self, at: u32, flow: FlowId) {
        self.nodes[at as usize].flow = flow;
        if self.youngest != at {
            self.unlink(at);
            self.push_youngest(at);
        }
    }

    /// Takes an entry out of the order of use.
    fn unlink(&mut self, at: u32) {
        let Node { older, younger, in_host, .. } = self.nodes[at as usize];
        if self.oldest_in_memory == at {
            self.oldest_in_memory = younger;
        }
        match self.nodes.get_mut(older as usize) {
            Some(node) => node.younger = younger,
            None => self.oldest = younger,
        }
        match self.nodes.get_mut(younger as usize) {
            Some(node) => node.older = older,
            None => self.youngest = older,
        }
        self.in_memory -= u32::from(!in_host);
    }

    /// Puts an entry in front of the order of use. If that is one too many for the controller's memory, the one used longest ago goes to
    /// the host's.
    fn push_youngest(&mut self, at: u32) {
        let older = core::mem::replace(&mut self.youngest, at);
        let node = &mut self.nodes[at as usize];
        (node.older, node.younger, node.in_host) = (older, NONE, false);
        match self.nodes.get_mut(older as usize) {
            Some(node) => node.younger = at,
            None => self.oldest = at,
        }
        if self.oldest_in_memory == NONE {
            self.oldest_in_memory = at;
        }
        self.in_memory += 1;
        if self.in_memory > self.capacity {
            let node = &mut self.nodes[self.oldest_in_memory as usize];
            node.in_host = true;
            self.oldest_in_memory = node.younger;
            self.in_memory -= 1;
        }
    }

    /// Drops the entry used longest ago; returns its node. If it is dirty, its translation page must be written anew, with all its dirty
    /// entries, which are clean then.
    fn evict(&mut self) -> u32 {
        let at = self.oldest;
        let Node { lpn, flow, dirty, .. } = self.nodes[at as usize];
        let number = self.number_of(lpn);
        if dirty {
            let is_whole = self.pages[number].held == self.entries_of(number);
            self.clean(number);
            self.rewrites.push_back(Rewrite { page: self.page_of(Lpn(lpn)), flow, is_whole });
        }
        self.unlink(at);
        self.node_of[lpn as usize] = 0;
        self.pages[number].held -= 1;
        at
    }

    /// All entries of a translation page are clean.
    fn clean(&mut self, number: usize) {
        let mut at = core::mem::replace(&mut self.pages[number].dirty, NONE);
        while let Some(node) = self.nodes.get_mut(at as usize) {
            at = node.next_dirty;
            (node.dirty, node.next_dirty) = (false, NONE);
        }
    }
}
