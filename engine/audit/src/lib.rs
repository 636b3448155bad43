//! The auditor: checks, from the event stream alone, what must be true of a device under every scheduler.
//!
//! It keeps a simple account of its own of everything: requests, transactions, commands, buses, and a page map. It shares
//! no code with the engine: from the device it takes only the configuration (shape and times). It computes every time itself, and
//! where preconditioning put the pages ([`Preconditioned`]); only the content of a `replayed` drive, which the device's own policies
//! make, is read from the device before the first event ([`Start::Known`]). It changes nothing and never reads the board.
//!
//! [`Rule`] lists what it checks, one sentence each. It relies on these properties of the stream:
//!
//! - Within an instant events come in the order they happen: `Submitted`, `Admitted`, then the request's `Queued` and
//!   `PageFromMemory`; `Ended` of the last transaction before `Completed`. A partial write's read serves no page
//!   and belongs to the write's request or to none; a program of the buffer has no request.
//! - A transaction that waits for another (the program of a move) is `Queued` when it joins the queue. One that ends
//!   without having been queued produces no events.
//! - A cancelled write's `Ended` may come when it is cancelled (the write that replaces it is then queued within that
//!   instant, or has been) or with the end of its successor. Its request completes no earlier than that.
//! - The `Dispatched` events of a command come first, then its phases: the bus for the command and (program) the data of all
//!   members; the array; (read) the bus once per member, in the order of their `Dispatched`, for set-up and data. Programs
//!   and erases end with the array phase, each read with its data. Bus phases of zero length, and a read's `ArrayEnded`,
//!   may be left out.
//! - `Paused` comes at the instant the array stops. Nothing starts during the suspend time that follows. On resuming,
//!   `ArrayStarted` may come before or after the resume time has passed: `until` includes that time in the first case.
//! - `Mapped` comes in the instant of its program's `Dispatched`, before or after it. Only free garbage collection
//!   maps without a program. `Erased` comes in the instant of the erase's `Ended`, before or after it.
//! - Under serial service a request's pages come right after its `Admitted`: those it hits in the buffer first, then the others, each
//!   after the `Evicted` that made room for it.
//! - A trim's `Admitted` is followed, within the instant, by what it drops (the `Ended` of waiting programs, the `PageDropped` of pages
//!   that wait for space in the buffer), and then by its `Unmapped`.
//! - `Padded` comes after the `Mapped` of the pages of its wordline, in the same instant.
//! - `SlcOpened` comes before the `Mapped` and the `Dispatched` of the first page in its block.
//! - `VictimChosen` comes in the instant of the `Mapped` or `Erased` that leaves its plane short of free blocks or gives it a block
//!   to empty, and after it.
//!
//! Memory is bounded by what is in flight, plus six bytes a block and four a logical page (committed where pages were
//! written and, without a formula, where they were at the start).

mod ages;
mod choice;
mod command;
mod entries;
mod held;
mod link;
mod number_set;
mod padding;
mod pages;
mod pairs;
mod preconditioned;
mod reads;
mod requests;
mod rests;
mod rule;
mod serial;
mod slc;
mod start;
mod steps;
mod times;
mod transactions;
mod trims;
mod units;
mod unstored;
mod versions;
mod victims;
mod waiting;
mod wordlines;
mod writes;

#[cfg(test)]
pub(crate) mod tests;

use flashlane_core::decide::GcMode;
use flashlane_core::event::{Event, Stamped};
use flashlane_core::{Lpn, Op, PlaneId, RequestId};
use flashlane_ssd::config::Config;

use ages::Ages;
use choice::Choice;
use entries::Entries;
use link::Link;
use padding::Padding;
use pages::Pages;
use pairs::Pairs;
pub use preconditioned::Preconditioned;
use reads::Reads;
use requests::Requests;
use rests::Rests;
use rule::Log;
pub use rule::{Rule, Verdict, Violation};
use serial::Serial;
use slc::Slc;
pub use start::{Formula, LpnOf, Policy, Start, Written};
use transactions::Transactions;
use trims::Trims;
use units::Units;
use unstored::Unstored;
use versions::Versions;
use victims::Victims;
use waiting::Waiting;
use wordlines::Wordlines;
use writes::Writes;

/// Checks a device's events one by one. A field for each matter that rules are about.
pub struct Auditor {
    log: Log,
    events: u64,
    flows: usize,
    logical_pages: u32,
    /// Those and the translation pages behind them.
    stored_pages: u32,
    planes: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    page_bytes: u64,
    write_back: bool,
    modifies: bool,
    free_collection: bool,
    requests: Requests,
    txns: Transactions,
    writes: Writes,
    reads: Reads,
    unstored: Unstored,
    versions: Versions,
    units: Units,
    pages: Pages,
    victims: Victims,
    choice: Choice,
    pairs: Pairs,
    waiting: Waiting,
    ages: Ages,
    entries: Option<Entries>,
    trims: Trims,
    serial: Option<Serial>,
    slc: Option<Slc>,
    wordlines: Option<Wordlines>,
    padding: Option<Padding>,
    rests: Option<Rests>,
}

/// Default number of violations kept with their messages.
pub const KEPT: usize = 100;

/// Pages that a full drive stores: the logical pages and, where the map lies on the flash, the translation pages behind them.
fn stored_pages(config: &Config) -> u32 {
    let pages = config.ftl.logical_pages;
    pages + config.mapping.map_or(0, |mapping| pages.div_ceil(mapping.entries_per_page))
}

impl Auditor {
    /// An auditor of a device of `config` whose initial state is `start`. Keeps the first `keep` violations with their
    /// messages ([`KEPT`] is a good number) and counts all.
    pub fn new(config: &Config, policy: Policy, start: Start<'_>, keep: usize) -> Auditor {
        let mut log = Log::new(keep);
        let pages = Pages::new(config, stored_pages(config), start, &mut log);
        Auditor {
            events: 0,
            flows: config.flows.len(),
            logical_pages: config.ftl.logical_pages,
            stored_pages: stored_pages(config),
            planes: config.geometry.planes(),
            blocks_per_plane: config.geometry.blocks_per_plane,
            pages_per_block: config.geometry.pages_per_block,
            page_bytes: config.geometry.page_bytes.into(),
            write_back: config.buffer.as_ref().is_some_and(|buffer| buffer.write_back),
            modifies: config.ftl.read_modify_write,
            free_collection: policy.gc_mode == GcMode::Free,
            requests: Requests::new(config, Link::new(config)),
            txns: Transactions::default(),
            writes: Writes::new(policy.cancelled_end_at_once),
            reads: Reads::default(),
            unstored: Unstored::default(),
            versions: Versions::new(config),
            units: Units::new(config, policy),
            victims: Victims::default(),
            choice: Choice::new(config),
            pairs: Pairs::new(policy.gc_mode == GcMode::Free),
            waiting: Waiting::new(config, policy),
            ages: Ages::new(config, policy),
            entries: Entries::new(config, pages.knows_start()),
            trims: Trims::new(config),
            serial: Serial::new(config),
            slc: Slc::new(config),
            wordlines: Wordlines::new(config),
            padding: Padding::new(config),
            rests: Rests::new(config, pages.knows_start()),
            pages,
            log,
        }
    }

    /// Before the first request the memory of a used drive holds the entries of the map of these pages (`entries`), and in the page buffer
    /// these, by part: of both the one used longest ago first, with whether they are dirty.
    pub fn memory_holds(&mut self, parts: &[Vec<(Lpn, bool)>], entries: &[(Lpn, bool)]) {
        if let Some(own) = &mut self.entries {
            own.hold_at_start(entries);
        }
        if let Some(padding) = &mut self.padding {
            parts.iter().flatten().filter(|page| page.1).for_each(|page| padding.holds(page.0));
        }
        if let Some(rests) = &mut self.rests {
            parts.iter().flatten().filter(|page| page.1).for_each(|page| rests.stored(page.0, true, false));
        }
        if let Some(serial) = &mut self.serial {
            parts.iter().enumerate().for_each(|(part, pages)| serial.holds(part, pages));
        }
    }

    /// The blocks of a plane that are in SLC mode at the start of the run of a drive that has been used before: the open block, the full blocks
    /// in the order in which they were filled, and the number of erased static blocks.
    pub fn slc_holds(&mut self, plane: PlaneId, open: Option<u32>, filled: &[u32], erased: u32) {
        if let Some(slc) = &mut self.slc {
            slc.holds(plane, open, filled, erased, &mut self.pages);
        }
    }

    /// From now on another scheduler decides, which declares this. Nothing may be in flight.
    pub fn scheduler_changes(&mut self, policy: Policy) {
        self.settle();
        self.free_collection = policy.gc_mode == GcMode::Free;
        self.writes.scheduler_changes(policy.cancelled_end_at_once);
        self.units.scheduler_changes(policy);
        self.pairs.scheduler_changes(policy.gc_mode == GcMode::Free);
        self.waiting.scheduler_changes(policy);
        self.ages.scheduler_changes(policy);
    }

    /// Takes the next event.
    #[inline]
    pub fn observe(&mut self, stamped: &Stamped) {
        self.events += 1;
        if stamped.at != self.log.now {
            self.settle();
            let (now, at) = (self.log.now, stamped.at);
            self.log.check(at > now, Rule::TimeForward, || format!("an event of {at} comes after {now}."));
            self.log.now = now.max(at);
        }
        self.take(&stamped.event);
    }

    /// The violations kept so far.
    pub fn violations(&self) -> &[Violation] {
        self.log.kept()
    }

    /// Violations so far.
    pub fn total(&self) -> u64 {
        self.log.total()
    }

    /// Ends the audit. The device has nothing left to do, so nothing may be in flight.
    pub fn finish(mut self) -> Verdict {
        self.settle();
        for request in self.requests.leftover() {
            self.log.report(Rule::Leftover, || format!("request {} did not complete.", request.0));
        }
        for (serial, txn) in self.txns.leftover() {
            self.log.report(Rule::Leftover, || {
                let state = if txn.dispatched.is_some() { "was dispatched" } else { "waits" };
                format!("{} {serial} of {} {state} and did not end.", txn.op.name(), txn.owner.name())
            });
        }
        self.log.verdict(self.events)
    }

    /// Makes the checks that need all events of an instant.
    fn settle(&mut self) {
        if self.writes.unsettled() {
            self.writes.settle(&mut self.requests, &mut self.log);
        }
        if self.versions.unsettled() {
            self.versions.settle(&mut self.log);
        }
        if self.pairs.unsettled() {
            self.pairs.settle(&mut self.log);
        }
        if self.victims.unsettled() {
            self.victims.settle(&self.pages, &mut self.log);
        }
        if self.choice.unsettled() {
            self.choice.settle(&self.victims, &mut self.pages, &mut self.log);
        }
        if let Some(entries) = &mut self.entries {
            entries.settle(&mut self.log);
        }
        if self.trims.unsettled() {
            self.trims.settle(&mut self.log);
        }
        if let Some(wordlines) = self.wordlines.as_mut().filter(|wordlines| wordlines.unsettled()) {
            wordlines.settle(&mut self.log);
        }
        if let Some(padding) = self.padding.as_mut().filter(|padding| padding.unsettled()) {
            padding.settle(&mut self.log);
        }
        if self.waiting.unsettled() {
            self.waiting.settle(&self.units, &mut self.log);
        }
    }

    fn take(&mut self, event: &Event) {
        let log = &mut self.log;
        match *event {
            Event::Submitted { request, flow, op, arrival, pages, fua, extent } => {
                log.check(flow.index() < self.flows, Rule::Address, || format!("flow {} of {}.", flow.0, self.flows));
                self.requests.submitted(request, ((flow, op, arrival), pages, extent), fua, log);
                if op == Op::Flush {
                    self.versions.flush_submitted(request);
                }
            }
            Event::Admitted { request } => self.admitted(request),
            Event::PageFromMemory { request, lpn } => {
                let pages = self.logical_pages;
                log.check(lpn.0 < pages, Rule::Address, || format!("logical page {} of {pages}.", lpn.0));
                self.requests.serve_from_memory(request, self.write_back, log);
                self.page_from_memory(request, lpn);
            }
            Event::PageDropped { request, lpn } => self.page_dropped(request, lpn),
            Event::EntryLookedUp { lpn, at } => self.entries.iter_mut().for_each(|own| own.looked_up(lpn, at, log)),
            Event::EntryArrived { lpn } => self.entries.iter_mut().for_each(|own| own.arrived(lpn, log)),
            Event::PageInSeries { request, lpn } => self.served_in_series(request, lpn),
            Event::Evicted { lpn } => match &mut self.serial {
                Some(serial) => serial.evicted(lpn, log),
                None => log.report(Rule::SerialEvict, || format!("page {} on a device without it.", lpn.0)),
            },
            Event::Queued { .. } => self.queued(event),
            Event::Moved { txn, plane } => self.moved(txn, plane),
            Event::Estimated { txn, slack, .. } => self.txns.estimate(txn, slack, log),
            Event::Dispatched { txn, command, unit, ppa, slack } => self.dispatched(txn, command, unit, ppa, slack),
            Event::BusTaken { unit, command, .. }
            | Event::ArrayStarted { unit, command, .. }
            | Event::ArrayEnded { unit, command }
            | Event::Paused { unit, command, .. } => self.units.phase((unit, command), event, log),
            Event::Ended { txn, end, paused } => self.ended(txn, end, paused),
            Event::Completed { request } => self.completed(request),
            Event::VictimChosen { plane, block, valid } => self.victim_chosen(plane, block, valid),
            Event::SlcOpened { plane, block } => self.slc_opened(plane, block),
            Event::Mapped { lpn, plane, ppa } => self.mapped(lpn, plane, ppa),
            Event::Padded { plane, ppa } => self.padded(plane, ppa),
            Event::Unmapped { request, lpn, pages } => self.unmapped(request, lpn, pages),
            Event::Erased { plane, block } => self.erased(plane, block),
        }
    }

    fn completed(&mut self, request: RequestId) {
        if let Some(padding) = &mut self.padding {
            let is_flush = self.requests.kind(request).is_some_and(|(_, op)| op == Op::Flush);
            padding.completed(request, is_flush, self.log.now);
        }
        self.ages.completed(request);
        let fua = self.requests.completed(request, &mut self.log);
        self.versions.completed(request, fua, &mut self.log);
    }

    /// A waiting write moves to another plane.
    fn moved(&mut self, txn: u64, plane: PlaneId) {
        if !self.has_page(plane, Some(0)) {
            return;
        }
        if let Some(waits) = self.txns.get(txn).filter(|waits| waits.dispatched.is_none()) {
            self.waiting.moved(txn, waits, plane);
            self.ages.moved(txn, waits, plane);
            if let Some(slc) = &mut self.slc {
                slc.moved(txn, waits, plane);
            }
        }
        self.txns.relocate(txn, plane, &mut self.log);
    }

    /// A page of a write that waited for space was trimmed.
    fn page_dropped(&mut self, request: RequestId, lpn: Lpn) {
        self.requests.page_dropped(request, &mut self.log);
        self.trims.dropped(lpn, request.0);
        if self.requests.bytes_of_write(request).is_some() {
            self.unstored.stored(lpn);
        }
    }

    /// A device with serial service has served a page from the flash, or written it out.
    fn served_in_series(&mut self, request: RequestId, lpn: Lpn) {
        let (pages, serial) = (self.logical_pages, self.serial.is_some());
        self.log.check(lpn.0 < pages, Rule::Address, || format!("logical page {} of {pages}.", lpn.0));
        self.log.check(serial, Rule::SerialHit, || format!("page {} on a device without it.", lpn.0));
        match self.serial.as_mut().and_then(|serial| serial.writes_out(request, lpn)) {
            Some(ends) => self.requests.ends_at(request, ends),
            None => {
                self.requests.serve_from_flash(request, &mut self.log);
                self.page_in_series(request, lpn, true);
            }
        }
    }

    /// A logical page lies elsewhere from now on.
    fn mapped(&mut self, lpn: Lpn, plane: PlaneId, ppa: u32) {
        if !self.has_page(plane, Some(ppa)) || !self.has_logical(lpn) {
            return;
        }
        if let Some(slc) = &mut self.slc {
            let (old, blocks) = (self.pages.find(lpn), (&mut self.choice, &self.victims, &self.pages));
            slc.mapped((plane, ppa), old, blocks, &mut self.log);
        }
        let old = self.pages.map(lpn, plane, ppa, &mut self.log);
        if let Some(wordlines) = &mut self.wordlines {
            wordlines.programmed(plane, ppa, false, &self.pages, &mut self.log);
        }
        // Collection that costs nothing leaves the entries of what it moves alone.
        let moves = self.free_collection && old.is_known() && self.victims.contains(self.pages.block_at(old));
        if let Some(entries) = self.entries.as_mut().filter(|_| !moves) {
            entries.changed(lpn);
        }
        self.choice.mapped(old, plane, ppa, &self.pages);
        self.reads.mapped(lpn, old, Some(plane), &self.pages);
        self.pairs.mapped(lpn, (plane, ppa), old, (&self.victims, &self.pages), &mut self.log);
    }

    /// A page of a wordline is programmed without data.
    fn padded(&mut self, plane: PlaneId, ppa: u32) {
        if !self.has_page(plane, Some(ppa)) {
            return;
        }
        self.pages.pad(plane, ppa, &mut self.log);
        self.choice.programmed(plane, ppa, &self.pages);
        let is_slc = self.pages.is_slc(self.pages.block_of(plane, ppa));
        if let Some(slc) = self.slc.as_mut().filter(|_| is_slc) {
            slc.programmed(plane, ppa);
        }
        if let Some(padding) = &mut self.padding {
            padding.padded(plane, ppa, is_slc);
        }
        match &mut self.wordlines {
            Some(wordlines) => wordlines.programmed(plane, ppa, true, &self.pages, &mut self.log),
            None => self.log.report(Rule::Wordline, || format!("page {ppa} of plane {} was padded.", plane.0)),
        }
    }

    /// A block is about to be emptied.
    fn victim_chosen(&mut self, plane: PlaneId, block: u32, valid: u32) {
        if !self.has_page(plane, block.checked_mul(self.pages_per_block)) {
            return;
        }
        let index = self.pages.block(plane, block);
        match &mut self.slc {
            Some(slc) if self.pages.is_slc(index) => {
                slc.chosen(plane, block, &mut self.choice, &self.pages, &mut self.log);
            }
            slc => {
                if let Some(slc) = slc {
                    slc.victim_chosen(plane, &mut self.log);
                }
                self.choice.chosen(plane, block, &self.victims, &mut self.pages, &mut self.log);
            }
        }
        self.victims.chosen(index, valid, &mut self.pages, &mut self.log);
    }

    fn slc_opened(&mut self, plane: PlaneId, block: u32) {
        if self.has_page(plane, block.checked_mul(self.pages_per_block)) {
            match &mut self.slc {
                Some(slc) => slc.opened(plane, block, &mut self.choice, &mut self.pages, &mut self.log),
                None => self
                    .log
                    .report(Rule::SlcOpen, || format!("block {block} of plane {}, and there is no cache.", plane.0)),
            }
        }
    }

    fn admitted(&mut self, request: RequestId) {
        let is_flush = self.requests.kind(request).is_some_and(|(_, op)| op == Op::Flush);
        let at_once = is_flush && self.serial.is_none() && self.versions.nothing_is_dirty();
        self.requests.admitted(request, at_once, &mut self.log);
        self.ages.admitted(request);
        if let Some(padding) = self.padding.as_mut().filter(|_| is_flush) {
            padding.flush_admitted(self.log.now);
        }
        if let (Some(serial), Some(kind)) = (&mut self.serial, self.requests.kind(request)) {
            serial.admitted(request, kind, self.log.now);
        }
        if self.write_back
            && let Some(bytes) = self.requests.bytes_of_write(request)
        {
            self.unstored.admitted(bytes, self.page_bytes);
        }
    }

    /// Under serial service, a page of a request was served: its end is known from what has been served.
    fn page_from_memory(&mut self, request: RequestId, lpn: Lpn) {
        if self.serial.is_some() {
            // No flash that could hold versions: pages are accounted for by their places in the buffer.
            self.page_in_series(request, lpn, false);
        } else if self.requests.is_read(request) {
            let unmapped = self.reads_without_copy(lpn);
            self.versions.served(lpn, unmapped, &mut self.log);
        } else {
            self.versions.buffered(lpn, request);
            if let Some(padding) = &mut self.padding {
                padding.stored(request, lpn, self.requests.is_fua(request), self.log.now);
            }
            if self.requests.bytes_of_write(request).is_some() {
                self.unstored.stored(lpn);
            }
            let (page, needs_none) = (self.page_bytes, self.reads_without_copy(lpn));
            if let Some(rests) = &mut self.rests {
                let written = self.requests.touches(request, lpn.0.into(), page, false);
                rests.stored(lpn, written == Some(page), needs_none);
            }
        }
    }

    fn page_in_series(&mut self, request: RequestId, lpn: Lpn, by_flash: bool) {
        if let Some(serial) = &mut self.serial
            && let Some(ends) = serial.page(request, lpn, by_flash, &mut self.log)
        {
            self.requests.ends_at(request, ends);
        }
    }

    /// Whether a physical page exists.
    fn has_page(&mut self, plane: PlaneId, ppa: Option<u32>) -> bool {
        let all = self.blocks_per_plane * self.pages_per_block;
        let inside = (plane.0 as u32) < self.planes && ppa.is_some_and(|ppa| ppa < all);
        self.log.check(inside, Rule::Address, || match ppa {
            Some(ppa) => format!("page {ppa} of plane {} ({} planes of {all} pages).", plane.0, self.planes),
            None => format!("a block beyond plane {} ({} planes of {all} pages).", plane.0, self.planes),
        })
    }

    /// Whether a logical page, or a translation page, exists.
    fn has_logical(&mut self, lpn: Lpn) -> bool {
        let pages = self.stored_pages;
        self.log.check(lpn.0 < pages, Rule::Address, || format!("logical page {} of {pages}.", lpn.0))
    }
}
