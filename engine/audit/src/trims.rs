//! Trims: what they unmap, what they drop, and how long they take.

use std::ops::Range;

use flashlane_core::{Duration, Lpn, RequestId};
use flashlane_ssd::config::{Config, Service, UnmappedReads};

use super::Auditor;
use super::rule::{Log, Rule};

/// The account of trims.
#[derive(Debug)]
pub(super) struct Trims {
    command: Duration,
    page: Duration,
    /// Pages of the user: translation pages come behind them.
    pages: u32,
    /// Whether reads of pages without a copy need no flash.
    reads_need_none: bool,
    /// Writes that ended at this instant for a trim: page and serial.
    dropped: Vec<(Lpn, u64)>,
    /// Pages unmapped at this instant.
    unmapped: Vec<Range<u32>>,
}

impl Trims {
    /// For a device of `config`.
    pub(super) fn new(config: &Config) -> Trims {
        let unmap = config.unmap;
        let parallel = config.front.service == Service::Parallel;
        Trims {
            command: unmap.command,
            page: unmap.page,
            pages: config.ftl.logical_pages,
            reads_need_none: unmap.reads == UnmappedReads::Memory && parallel,
            dropped: Vec::new(),
            unmapped: Vec::new(),
        }
    }

    /// Time of a trim of this many mapped pages.
    fn time(&self, mapped: u64) -> Duration {
        Duration::from_ns(self.command.ns().saturating_add(self.page.ns().saturating_mul(mapped)))
    }

    /// A write ended for a trim.
    pub(super) fn dropped(&mut self, lpn: Lpn, serial: u64) {
        self.dropped.push((lpn, serial));
    }

    /// Whether [`Trims::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.dropped.is_empty() || !self.unmapped.is_empty()
    }

    /// The instant is over: what was dropped must have been unmapped.
    pub(super) fn settle(&mut self, log: &mut Log) {
        for (lpn, serial) in self.dropped.drain(..) {
            let holds = self.unmapped.iter().any(|range| range.contains(&lpn.0));
            log.check(holds, Rule::TrimDrops, || format!("write {serial} of page {} was dropped.", lpn.0));
        }
        self.unmapped.clear();
    }
}

impl Auditor {
    /// Whether the page needs no flash to be read, because it has no copy.
    pub(super) fn reads_without_copy(&self, lpn: Lpn) -> bool {
        self.trims.reads_need_none
            && lpn.0 < self.trims.pages
            && self.pages.knows_start()
            && !self.pages.find(lpn).is_known()
    }

    /// A trim unmapped pages.
    pub(super) fn unmapped(&mut self, request: RequestId, first: Lpn, pages: u32) {
        let end = u64::from(first.0) + u64::from(pages);
        let all = self.logical_pages;
        if !self.log.check(end <= all.into(), Rule::Address, || format!("pages to {end} of {all} were unmapped.")) {
            return;
        }
        let range = first.0..first.0 + pages;
        let mut mapped = 0;
        for lpn in range.clone().map(Lpn) {
            if let Some(serial) = &mut self.serial {
                serial.trimmed(lpn);
                continue;
            }
            let old = self.pages.unmap(lpn, &mut self.log);
            mapped += u64::from(old.is_known());
            if let Some(entries) = self.entries.as_mut().filter(|_| old.is_known()) {
                entries.changed(lpn);
            }
            self.choice.lost(old, &self.pages);
            self.reads.mapped(lpn, old, None, &self.pages);
            self.versions.trimmed(lpn);
            if let Some(padding) = &mut self.padding {
                padding.trimmed(lpn);
            }
            if let Some(rests) = &mut self.rests {
                rests.trimmed(lpn);
            }
        }
        self.trims.unmapped.push(range);
        let trims = &self.trims;
        self.requests.unmapped(
            request,
            (first, pages),
            mapped,
            self.page_bytes,
            |mapped| trims.time(mapped),
            &mut self.log,
        );
    }
}
