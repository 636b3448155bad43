//! The versions of each logical page: which write of it is the newest, which was acknowledged, and what the flash holds.
//!
//! A version counts up with the writes of a page: that of a host's program is its serial, that of a write which ends in a buffer
//! its number among those. A page is forgotten once the flash holds its newest version, so memory is bounded by what is in
//! flight or in the buffer.

use flashlane_core::{Lpn, RequestId, Sequence};
use flashlane_ssd::config::{Buffer, Config};
use rustc_hash::FxHashMap;

use super::rule::{Log, Rule};

/// The versions of a page with writes in flight; 0 stands for what the page was before them.
#[derive(Default, Debug)]
struct Page {
    /// Which page it is of all that were given versions: a page that was forgotten is another when it comes back.
    number: u64,
    /// Versions before this one entered a buffer before the page is followed: the flash has them.
    since: u64,
    /// The newest that entered the device, and the newest that was acknowledged.
    newest: u64,
    acknowledged: u64,
    /// The newest in a buffer that merges writes: it may hold it without a program under way.
    buffered: u64,
    /// The newest of those whose program has begun.
    begun: u64,
    /// The newest of those whose program has ended.
    ended: u64,
    /// Programs queued and not ended: serial and version.
    live: Vec<(u64, u64)>,
}

impl Page {
    /// The newest version that is anywhere.
    fn held(&self) -> u64 {
        let live = self.live.iter().map(|&(_, version)| version).max().unwrap_or_default();
        live.max(self.ended).max(self.buffered)
    }
}

/// What a waiting read must return.
#[derive(Clone, Copy, Debug)]
struct Expected {
    /// The version it must return at least, and that of the copy it was queued for.
    version: u64,
    copy: u64,
    /// The number of its page.
    page: u64,
}

/// The versions of all pages with writes in flight.
#[derive(Debug)]
pub(super) struct Versions {
    pages: FxHashMap<Lpn, Page>,
    /// The versions that each write adds, by request.
    by_request: Sequence<Vec<(Lpn, u64)>>,
    /// Waiting reads of such pages, by serial.
    reads: Sequence<Expected>,
    /// What had been acknowledged and was not in the flash when each flush was submitted: page, its number, version.
    flushes: Sequence<Vec<(Lpn, u64, u64)>>,
    /// Pages of which something has changed at this instant.
    changed: Vec<Lpn>,
    /// Writes taken into a buffer so far, and pages given versions.
    count: u64,
    numbers: u64,
    has_buffer: bool,
    /// The buffer loses dirty pages with the power.
    loses: bool,
    /// A program may wait for its page's entry of the map before it joins a queue. One of the buffer has then a version that is not known:
    /// what the buffer holds is not checked.
    fetches_entries: bool,
    merges: bool,
    modifies: bool,
}

impl Versions {
    pub(super) fn new(config: &Config) -> Versions {
        Versions {
            pages: FxHashMap::default(),
            by_request: Sequence::default(),
            reads: Sequence::default(),
            flushes: Sequence::default(),
            loses: config.buffer.as_ref().is_some_and(Buffer::is_volatile),
            changed: Vec::new(),
            count: 0,
            numbers: 0,
            has_buffer: config.buffer.is_some(),
            fetches_entries: config.mapping.is_some(),
            merges: config.buffer.as_ref().is_some_and(|buffer| buffer.merge_writes),
            modifies: config.ftl.read_modify_write,
        }
    }

    /// A program joined its queue, of a version of its own (a host's, the mapping cache's) or of the newest (the buffer's).
    pub(super) fn queued(&mut self, lpn: Lpn, serial: u64, is_new: bool) {
        let page = self.page(lpn);
        let version = if is_new { serial + 1 } else { page.newest };
        page.newest = page.newest.max(version);
        page.live.push((serial, version));
    }

    /// A page of a write ended in the buffer.
    pub(super) fn buffered(&mut self, lpn: Lpn, request: RequestId) {
        let (version, merges) = (self.count + 1, self.merges);
        let page = self.page(lpn);
        page.newest = version;
        if merges {
            page.buffered = version;
        }
        self.count = version;
        self.add_version(request, lpn, version);
    }

    /// A write adds a version of a page.
    pub(super) fn add_version(&mut self, request: RequestId, lpn: Lpn, version: u64) {
        match self.by_request.get_mut(request.0) {
            Some(by_request) => by_request.push((lpn, version)),
            None => drop(self.by_request.insert(request.0, vec![(lpn, version)])),
        }
    }

    fn page(&mut self, lpn: Lpn) -> &mut Page {
        let (numbers, since) = (&mut self.numbers, self.count + 1);
        self.pages.entry(lpn).or_insert_with(|| {
            *numbers += 1;
            Page { number: *numbers, since, ..Page::default() }
        })
    }

    /// A page of a read was served from memory; `unmapped` if it has no copy and needs no flash.
    pub(super) fn served(&self, lpn: Lpn, unmapped: bool, log: &mut Log) {
        // A write may wait for the rest of its page or for an entry of the map without having appeared in the stream.
        if self.has_buffer || self.modifies || self.fetches_entries || unmapped {
            return;
        }
        let writes = self.pages.get(&lpn).is_some_and(|page| !page.live.is_empty());
        log.check(writes, Rule::ReadFromMemory, || format!("page {} was read from memory.", lpn.0));
    }

    /// A host's read joined its queue.
    pub(super) fn read_queued(&mut self, lpn: Lpn, serial: u64) {
        if let Some(page) = self.pages.get(&lpn) {
            self.reads.insert(serial, Expected { version: page.newest, copy: page.begun, page: page.number });
        }
    }

    /// A host's read begins; `moved` if it reads an older copy than the current one.
    pub(super) fn read_dispatched(&mut self, lpn: Lpn, serial: u64, moved: bool, log: &mut Log) {
        let Some(Expected { version: expected, copy, page }) = self.reads.remove(serial) else { return };
        // Of a page that was forgotten in between the flash has held everything.
        let current = self.pages.get(&lpn).filter(|now| now.number == page).map_or(expected, |page| page.begun);
        let returned = if moved { copy } else { current };
        log.check(returned >= expected, Rule::ReadNewest, || {
            format!("read {serial} returns version {returned} of page {}, which has version {expected}.", lpn.0)
        });
    }

    /// A program begins.
    pub(super) fn dispatched(&mut self, lpn: Lpn, serial: u64) {
        let Some(page) = self.pages.get_mut(&lpn) else { return };
        if let Some(&(_, version)) = page.live.iter().find(|&&(live, _)| live == serial) {
            page.begun = version;
        }
    }

    /// A program ended, by the flash or (`cancelled`) without it.
    pub(super) fn ended(&mut self, lpn: Lpn, serial: u64, cancelled: bool) {
        let Some(page) = self.pages.get_mut(&lpn) else { return };
        if let Some(place) = page.live.iter().position(|&(live, _)| live == serial) {
            let (_, version) = page.live.remove(place);
            if !cancelled {
                page.ended = page.ended.max(version);
            }
            self.changed.push(lpn);
        }
    }

    /// A page is trimmed, which holds all its versions: they need no flash any more.
    pub(super) fn trimmed(&mut self, lpn: Lpn) {
        if let Some(page) = self.pages.get_mut(&lpn) {
            (page.begun, page.ended, page.buffered) = (page.newest, page.newest, 0);
            self.changed.push(lpn);
        }
    }

    /// A flush is submitted.
    pub(super) fn flush_submitted(&mut self, request: RequestId) {
        if self.loses {
            let missing = self.pages.iter().filter(|(_, page)| page.acknowledged > page.ended);
            self.flushes.insert(request.0, missing.map(|(&lpn, page)| (lpn, page.number, page.acknowledged)).collect());
        }
    }

    /// Whether a flush that enters now certainly has nothing to wait for: the flash has all that was stored.
    pub(super) fn nothing_is_dirty(&self) -> bool {
        let knows = !(self.fetches_entries && self.has_buffer);
        !self.loses || knows && self.pages.values().all(|page| page.ended >= page.newest)
    }

    /// A request is acknowledged, with `fua` if the flash must have its pages.
    pub(super) fn completed(&mut self, request: RequestId, fua: bool, log: &mut Log) {
        for (lpn, number, version) in self.flushes.remove(request.0).unwrap_or_default() {
            let has = self.pages.get(&lpn).is_none_or(|page| page.number != number || page.ended >= version);
            log.check(has, Rule::Durable, || {
                format!("flush {} completed before version {version} of page {} was programmed.", request.0, lpn.0)
            });
        }
        for (lpn, version) in self.by_request.remove(request.0).unwrap_or_default() {
            if let Some(page) = self.pages.get_mut(&lpn) {
                page.acknowledged = page.acknowledged.max(version);
                let has = !fua || version < page.since || page.ended >= version;
                log.check(has, Rule::Durable, || {
                    format!("write {} completed before version {version} of page {} was programmed.", request.0, lpn.0)
                });
            }
            self.changed.push(lpn);
        }
    }

    /// Whether [`Versions::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The instant is over: the newest version that was acknowledged must be held.
    pub(super) fn settle(&mut self, log: &mut Log) {
        for lpn in self.changed.drain(..) {
            let Some(page) = self.pages.get_mut(&lpn) else { continue };
            let held = page.held();
            let is_known = !(self.fetches_entries && self.has_buffer);
            log.check(page.acknowledged <= held || !is_known, Rule::NewestHeld, || {
                format!(
                    "version {} of page {} was acknowledged, and {held} is the newest held.",
                    page.acknowledged, lpn.0
                )
            });
            page.acknowledged = page.acknowledged.min(held);
            if page.live.is_empty() && page.ended == page.newest {
                self.pages.remove(&lpn);
            }
        }
    }
}
