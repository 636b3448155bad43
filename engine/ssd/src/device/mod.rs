//! The device: applies all decisions; the other parts only return them.
//!
//! It holds the parts (`frontend`, `policy`, `gc`, `flash`, `ftl`, `buffer`) around one shared state. This file has what the caller uses: a
//! device takes requests, and advances to an instant or a completion, which is one loop ([`Device::poll`]); it is built in [`build`] and gives
//! [`totals`]. A request passes through [`scheduling`] (it is admitted), [`pages`] (it becomes transactions, perhaps by way of [`write_back`],
//! [`translation`], [`programs`] or [`serial`]), [`page_order`] (older writes of its pages are cancelled or go first, older reads keep their copy),
//! [`slack`], [`transactions`] (they wait), [`scheduling`] again (they begin; [`binding`], [`overtaking`], [`migration`]) and [`ends`] (they end).
//!
//! Methods of the device lie in layers and call down only (`xtask tidy` has the list). From below: the queues ([`transactions`], [`followers`],
//! [`overtaking`], [`slack`], [`migration`]); [`page_order`]; [`binding`]; side by side, none knowing another, [`write_back`], [`translation`],
//! [`wordlines`] and [`durability`]; [`rests`] of pages; [`programs`] of what these hold; requests, in [`trim`] and [`pages`]; [`scheduling`] and [`ends`]; the loop.
//! What must go up is an [`Effect`] on a stack, which the loop empties after each step.
//!
//! Events of one instant happen in the order of R-ORDER (model 0.3): completions and timers, then arrivals, then
//! decisions. So [`Device::advance`] processes the completions of `now` but leaves its decisions open until time moves on
//! or [`Device::next_event`] closes the instant: decisions at `now` take into account what is submitted at `now`.
//!
//! Completions of an instant come by channel and then by unit, and not by creation number; then entries of the map from the host's memory and
//! timers; then answers of memory and link, and arrivals. A device ends at [`Time::LAST`], because instants are packed with the
//! numbers of units and channels: arrivals after it are refused, and a device that has something to do after it stops with a fault.

mod binding;
mod build;
mod change;
mod durability;
mod effects;
mod ends;
mod followers;
mod migration;
mod overtaking;
mod page_order;
mod pages;
mod programs;
mod rests;
mod scheduling;
mod serial;
mod slack;
mod timers;
mod totals;
mod transactions;
mod translation;
mod trim;
mod used;
mod wordlines;
mod write_back;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::event::{Event, Kinds, PageEnd, Stamped};
use flashlane_core::transaction::tag;
use flashlane_core::{Board, Completion, Duration, Extent, FlowId, Lpn, Op, PlaneId, Ppa, Request, Time, UnitId};

use crate::buffer::Buffer;
use crate::config::Unmap;
use crate::flash::Flash;
use crate::frontend::{Frontend, Refusal, RequestSlot, Set, Shape, Step};
use crate::ftl::Ftl;
use crate::gc::Gc;
use crate::policy::Policy;
use crate::shared::State;
pub use durability::BufferedPage;
use durability::Durability;
use effects::Effect;
use migration::Migrations;
use page_order::PageOrder;
use rests::Rests;
use serial::Serial;
use slack::Slack;
pub use totals::{EraseCounts, MappingTotals, Programs, SlcTotals, Totals};
use transactions::Transactions;
use translation::Translation;
pub use used::{SavedUse, UsedState};
use wordlines::Wordlines;

/// Why a device stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// When.
    pub at: Time,
    /// What, with the plane and the figures.
    pub message: String,
}

/// A modelled SSD.
pub struct Device {
    state: State,
    policy: Policy,
    flash: Flash,
    frontend: Frontend,
    ftl: Ftl,
    gc: Gc,
    buffer: Option<Buffer>,
    transactions: Transactions,
    page_order: PageOrder,
    slack: Slack,
    migrations: Migrations,
    /// Entries of the map that are fetched, if memory does not hold all.
    translation: Option<Translation>,
    /// Pages of the buffer that are gathered to wordlines, if they are.
    wordlines: Option<Wordlines>,
    /// What waits for programs of the buffer, if that loses dirty pages with the power.
    durability: Option<Durability>,
    /// Pages of the buffer that lack their rest, if some may.
    rests: Option<Rests>,
    /// Serial service, if commands are served so.
    serial: Option<Serial>,
    /// What trims take.
    unmap: Unmap,
    /// It began in the state in which an earlier use left the drive.
    began_used: bool,
    /// How long the device has no user transaction before blocks in SLC mode are folded; `None` for ever.
    folds_after: Option<Duration>,
    /// What is to be done before anything else.
    effects: Vec<Effect>,
    fault: Option<Fault>,
}

impl Device {
    /// Completions since they were last drained, in order of time; the caller drains.
    #[inline]
    pub fn completions(&mut self) -> &mut Vec<Completion> {
        &mut self.frontend.completions
    }

    /// Why the device stopped, if it did.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Requests inside the device or in transit on the link.
    pub fn outstanding(&self) -> usize {
        self.frontend.outstanding()
    }

    /// Turns the event log on.
    pub fn report_events(&mut self) {
        self.report(Kinds::ALL);
    }

    /// From now on keeps events of these kinds too.
    pub fn report(&mut self, kinds: Kinds) {
        let log = &mut self.state.log;
        log.kinds = log.kinds.and(kinds);
        log.on = log.kinds != Kinds::NONE;
        if log.kinds.include(Kinds::PHASES) {
            self.flash.disable_elision();
        }
    }

    /// From now on reports when the flash ends a transaction of a request. Unlike events, this changes nothing else of a run.
    pub fn report_page_ends(&mut self) {
        self.state.log.ends_on = true;
    }

    /// Ends since they were last drained; the caller drains. Those of a request are there before its completion.
    #[inline]
    pub fn page_ends(&mut self) -> &mut Vec<PageEnd> {
        &mut self.state.log.ends
    }

    /// Events since they were last drained; the caller drains.
    #[inline]
    pub fn events(&mut self) -> &mut Vec<Stamped> {
        &mut self.state.log.events
    }

    /// The instant the device has reached.
    #[inline]
    pub fn now(&self) -> Time {
        self.state.now()
    }

    /// The board: what a scheduler sees.
    pub fn board(&self) -> &Board {
        &self.state.board
    }

    /// The logical page whose current copy a physical page holds, if any: for auditors, at the start of a run.
    pub fn lpn_at(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
        self.ftl.validity.is_valid(plane, ppa).then(|| self.ftl.lpn_at(plane, ppa))
    }

    /// Programmed pages of a block: for auditors, at the start of a run.
    pub fn written_in(&self, plane: PlaneId, block: u32) -> u32 {
        self.ftl.written(plane, block)
    }

    /// Pages a write of `flow` could put into the buffer at once.
    pub fn free_buffer_pages(&self, flow: FlowId) -> Option<u32> {
        self.buffer.as_ref().map(|b| b.free_pages(flow))
    }

    /// Checks the translation layer's tables against one another, visiting every page; for tests.
    pub fn check(&self) {
        self.ftl.check(&self.state.board);
    }
}

// Submission.

impl Device {
    /// Submits a request at `now`, which must not be before the instant the device has reached, nor after [`Time::LAST`].
    ///
    /// # Errors
    /// A request that the device could not serve; the device is unchanged then.
    #[inline]
    pub fn submit(&mut self, now: Time, request: &Request<'_>) -> Result<(), Refusal> {
        let Request { id, flow, op, fua, arrival, extent } = *request;
        let shape = self.frontend.validator.check(flow, op, &extent)?;
        if now > self.now() {
            self.advance(now);
        }
        debug_assert!(arrival <= now && now == self.now(), "submitted into the past");
        debug_assert!(now <= Time::LAST, "submitted after the last instant");
        let Shape { first: lpn, pages, skip, bytes } = shape;
        let (list, bytes_touched) = match extent {
            Extent::Bytes { offset, length } => (None, Some((offset, length))),
            Extent::Pages(list) => (Some(list), None),
        };
        self.state.log(|| Event::Submitted { request: id, flow, op, arrival, pages, fua, extent: bytes_touched });
        let request = ActiveRequest {
            id,
            arrival,
            bytes,
            flow,
            op,
            lpn,
            pages,
            remaining: pages,
            skip,
            buffered: 0,
            entered: false,
            fua: fua && self.waits_for_programs(op),
            scattered: list.is_some(),
            tags: if fua && op == Op::Write { tag::FUA } else { 0 },
        };
        let slot = self.frontend.requests.insert(request, list, &mut self.state.board);
        if !op.is_data() {
            self.send_without_data(slot);
        } else if self.policy.known.single_command_enters
            && self.frontend.queues.enters_at_once(flow, &mut self.state.board)
        {
            self.enter_at_once(slot, &request);
            self.follow_up();
            return Ok(());
        } else {
            self.frontend.send(slot, &mut self.state);
        }
        if self.policy.known.ranks_all_waiting {
            // What else arrives at this instant is to be compared with it.
            self.state.agenda.open = true;
        } else if self.frontend.inward.is_instant() {
            self.admit();
        }
        Ok(())
    }

    /// Sends a trim, write zeroes or a flush, of whose pages none has to be served.
    #[cold]
    fn send_without_data(&mut self, slot: RequestSlot) {
        let request = &mut self.state.board.requests[slot as usize];
        request.remaining = 0;
        let is_flush = request.op == Op::Flush;
        self.frontend.send(slot, &mut self.state);
        if is_flush && self.frontend.inward.is_instant() {
            self.flush_arrives(slot);
        }
    }

    /// Prefetches memory for a request that begins at byte `offset` and will be submitted soon. Changes nothing but speed.
    #[inline]
    pub fn prefetch(&self, offset: u64) {
        let lpn = self.frontend.validator.page_at(offset);
        self.page_order.prefetch(lpn);
        if self.transactions.address_reads {
            self.ftl.map.prefetch_lookup(lpn);
        }
    }
}

// Advancing in time.

/// Where processing events stops before its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// Nowhere.
    Limit,
    /// After the first instant at which a request completes.
    Completion,
    /// After the first instant at which a request completes or the log has more events than this.
    Report(usize),
}

/// At which point of an instant a device stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// After its completions and timers.
    BeforeDecisions,
    /// Once decisions of this instant have been made.
    AfterDecisions,
}

impl Device {
    /// When the next event happens; [`Time::NEVER`] if there is none or the device has stopped. Makes the decisions of the
    /// present instant, so everything that arrives at this instant must be submitted before.
    pub fn next_event(&mut self) -> Time {
        let runs = self.fault.is_none() && self.settle();
        let next = self.next_instant();
        match runs {
            true if next <= Time::LAST => next,
            true => self.stop_after_last(next),
            false => Time::NEVER,
        }
    }

    /// Processes every event up to and including `now`, which must not be after [`Time::LAST`], each at its own time. The
    /// decisions of `now` itself stay open.
    pub fn advance(&mut self, now: Time) {
        debug_assert!(now <= Time::LAST, "advanced beyond the last instant");
        self.process_events(now, Stop::Limit);
        self.state.board.now = self.state.board.now.max(now);
    }

    /// Processes events up to and including `limit`, but not beyond the first instant at which a request completes; the decisions
    /// of that instant stay open. For a host whose requests depend on completions. Returns whether a request completed; if not,
    /// all events up to `limit` have been processed.
    pub fn advance_to_completion(&mut self, limit: Time) -> bool {
        self.process_events(limit.min(Time::LAST), Stop::Completion);
        self.is_over(Stop::Completion) || self.reached(limit)
    }

    /// As [`Device::advance_to_completion`], and if `events` also not beyond the first instant at which an event is logged. For a host
    /// that may act on what it learns from the log. Returns where it stopped; `None` if nothing of this happened up to `limit`.
    pub fn advance_to_report(&mut self, limit: Time, events: bool) -> Option<Stopped> {
        let stop = if events { Stop::Report(self.state.log.events.len()) } else { Stop::Completion };
        let stopped = self.process_events(limit.min(Time::LAST), stop);
        if self.is_over(stop) {
            return Some(stopped);
        }
        self.reached(limit);
        None
    }

    /// Nothing has stopped the device up to `limit`: it is there now, or has nothing to do for ever. Returns false.
    #[inline(always)]
    fn reached(&mut self, limit: Time) -> bool {
        if limit <= Time::LAST {
            self.state.board.now = self.state.board.now.max(limit);
        } else if self.fault.is_none() {
            self.stop_after_last(self.next_instant());
        }
        false
    }

    /// Whether what `stop` waits for has happened.
    #[inline(always)]
    fn is_over(&self, stop: Stop) -> bool {
        match stop {
            Stop::Limit => false,
            Stop::Completion => !self.frontend.completions.is_empty(),
            Stop::Report(logged) => !self.frontend.completions.is_empty() || self.state.log.events.len() > logged,
        }
    }

    /// Processes events up to and including `limit`, or to the first instant at which there is what `stop` says. Returns how far into
    /// the last instant it came.
    #[inline(always)]
    fn process_events(&mut self, limit: Time, stop: Stop) -> Stopped {
        let mut stopped = Stopped::BeforeDecisions;
        // Only decisions can stop the device.
        let mut runs = self.fault.is_none();
        while runs {
            let mut next = self.next_instant();
            if next > self.state.board.now {
                if self.is_over(stop) {
                    break;
                }
                if self.state.agenda.open && limit > self.state.board.now {
                    runs = self.settle();
                    stopped = Stopped::AfterDecisions;
                    next = self.next_instant();
                    if next > self.state.board.now && self.is_over(stop) {
                        // Transfers that take no time have completed a request during the decisions, or these were logged.
                        break;
                    }
                }
                if next > limit || !runs {
                    break;
                }
                self.state.board.now = next;
                stopped = Stopped::BeforeDecisions;
            }
            self.poll(next);
        }
        stopped
    }

    /// Takes the next event of the instant `next`, with all that follows from it: ends in the flash first, then what was set for the instant, then
    /// answers and arrivals.
    #[inline(always)]
    fn poll(&mut self, next: Time) {
        if self.flash.soonest == next {
            self.flash.step(&mut self.state);
            return self.drain_ended();
        }
        if self.frontend.is_set(next) {
            match self.frontend.take_set(&mut self.state) {
                Set::Timer => {
                    self.rewrites_entries();
                    self.timer_ended();
                }
                Set::Entry => self.entries_from_host(),
                Set::Decision => {}
            }
        } else {
            match self.frontend.step(self.policy.known.single_arrival_enters, &mut self.state) {
                Step::Enters(slot) => {
                    self.enter_from_link(slot);
                    // A read that takes no time may have ended.
                    self.drain_ended();
                }
                Step::FlushArrives(slot) => self.flush_arrives(slot),
                Step::Other => {}
            }
        }
        self.follow_up();
    }

    /// Called when no event is left up to [`Time::LAST`]: stops the device if there is one later, at `next`.
    #[cold]
    fn stop_after_last(&mut self, next: Time) -> Time {
        if next != Time::NEVER {
            let last = Time::LAST.ns();
            // The flash packs instants with channel numbers; unpacking extended the top bit of this one as a sign.
            let next = next.ns() & (2 * last + 1);
            let message = format!("its next event comes at {next} ns, and a device ends at {last} ns (2.28 years)");
            self.fault = Some(Fault { at: self.state.board.now, message });
        }
        Time::NEVER
    }

    /// The earliest instant of an event in the flash or the host interface.
    #[inline(always)]
    fn next_instant(&self) -> Time {
        self.flash.soonest.min(self.frontend.next)
    }

    /// Ends the transactions that the flash has finished.
    #[inline(always)]
    fn drain_ended(&mut self) {
        while let Some(txn) = self.flash.ended.pop(&self.state.board) {
            self.ended(txn);
            self.follow_up();
        }
    }

    /// Fetches commands as long as the admit decision names one and the device has space.
    fn admit(&mut self) {
        while self.admit_next() {
            self.follow_up();
        }
    }

    /// Does what the stage that has just run leaves to others ([`effects`]).
    #[inline(always)]
    fn follow_up(&mut self) {
        if !self.effects.is_empty() {
            self.follow_effects();
        }
    }

    #[inline(never)]
    fn follow_effects(&mut self) {
        while let Some(effect) = self.effects.pop() {
            match effect {
                Effect::FillBuffer { slot, waited } => self.fill_buffer(slot, waited),
                Effect::ReadGoes(slot) => self.read_goes(slot),
                Effect::WriteOut(page) => self.write_out(page),
                Effect::FlushPart(flow) => self.flush_part(flow),
                Effect::SpaceFreed(flow) => self.space_freed(flow),
                Effect::SpaceGivenBack => self.space_given_back(),
                Effect::EntriesArrived(id) => self.entries_arrived(id),
                Effect::RewritePage { page, flow, whole } => self.rewrite_page(page, flow, whole),
                Effect::RewriteEntries => self.write_back_entries(),
            }
        }
    }

    /// Makes the decisions of this instant: admission, then the units in ascending (channel, way) order, until nothing
    /// is left to decide. Returns false if that stopped the device. Must not be called when it has stopped before.
    #[inline(always)]
    fn settle(&mut self) -> bool {
        debug_assert!(self.effects.is_empty(), "what follows from an event is done before decisions");
        while self.state.agenda.open {
            self.state.agenda.open = false;
            if self.frontend.queues.could_admit() {
                self.admit();
            }
            if self.wordlines.as_ref().is_some_and(|wordlines| wordlines.are_due(self.state.board.now)) {
                self.close_wordlines();
            }
            if self.policy.known.binds_at_dispatch && self.state.board.any_unplaced() {
                let is_left = self.transactions.place_unplaced(&mut self.policy, &mut self.state);
                if is_left && self.gc.writes_wait_for_folds() {
                    self.gc.fold_for_unplaced(&mut self.state, &mut self.ftl);
                }
            }
            let mut ahead = u64::MAX;
            while let Some((word, mut bits)) = self.state.agenda.take(ahead) {
                while bits != 0 {
                    self.decide(UnitId((word * 64) as u16 + bits.trailing_zeros() as u16));
                    bits &= bits - 1;
                }
                ahead = !1 << word;
            }
            if self.policy.known.migrates_writes {
                let Device { migrations, policy, transactions, frontend, state, .. } = self;
                migrations.rebalance(migration::Parts { policy, transactions, frontend, state });
                if self.migrations.any() {
                    self.gc.idle_time_is_over();
                }
            }
            if self.frontend.queues.could_admit() {
                // Dispatching made space in the queues.
                self.admit();
            }
            self.write_back_entries();
            if self.fault.is_some() {
                return false;
            }
            // Transfers that take no time may have ended transactions.
            self.drain_ended();
        }
        true
    }
}
