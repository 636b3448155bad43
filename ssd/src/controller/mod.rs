//! The controller: the only part that acts.
//!
//! One request's way through it, file by file: [`submit`] (checked, across the link), [`admit`], [`intake`] (buffer, map
//! and place, cancel), [`queue`] (order), [`decide`] (pick, preempt), [`dispatch`] (bind pages, begin the command),
//! [`finish`] (free, count, complete). Beside it [`buffered`] keeps the page buffer, [`estimate`] asks for slack, [`draw`]
//! gives late-bound writes their plane, [`build`] makes the device, and [`collect`] turns the translation layer's jobs into transactions.
//!
//! # Instants
//! Events of one instant happen in the order of R-ORDER (SPEC 0.3): completions and timers, then arrivals, then
//! decisions. So [`Device::advance`] lives the completions of `now` but leaves its decisions open until time moves on
//! or [`Device::next_event`] closes the instant: what is submitted at `now` is seen by the decisions at `now`.

mod admit;
mod buffered;
mod build;
mod collect;
mod decide;
mod dispatch;
mod draw;
mod estimate;
mod finish;
mod intake;
mod known;
mod moves;
mod queue;
mod slots;
mod submit;
mod totals;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use flashlane_core::Board;
use flashlane_core::decide::{Estimate, Group, Moments, Scheduler, Style, Wants};
use flashlane_core::event::Stamped;
use flashlane_core::{Completion, Divisor, Duration, FlowId, Lpn, PlaneId, Ppa, Time, TxnId, UnitId};

use crate::agenda::Agenda;
use crate::buffer::Buffer;
use crate::flash::Flash;
use crate::front::{Front, SlotId};
use crate::ftl::Ftl;
use crate::log::Log;
use crate::lpn_table::LpnTable;
use known::Known;
use moves::Moves;
use slots::Slots;
pub use submit::Refusal;
pub use totals::Totals;

/// Why a device cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// When.
    pub at: Time,
    /// What, with the plane and the figures.
    pub message: String,
}

/// A modelled SSD.
pub struct Device {
    board: Board,
    flash: Flash,
    ftl: Ftl,
    buffer: Option<Buffer>,
    front: Front,
    scheduler: Scheduler,
    moments: Moments,
    style: Style,
    static_place: bool,
    wants: Wants,
    known: Known,
    /// Whether the order decision is told of departures by now.
    hears_departures: bool,
    /// Whether whose data the pages hold is kept.
    owners: bool,
    /// Writes get their plane at dispatch.
    draws: bool,
    /// The transactions of the request that is being taken in, if they are to be estimated.
    made: Vec<TxnId>,
    /// The estimates of a request, to be logged.
    estimates: Vec<(TxnId, Estimate)>,
    /// Planes that lost a copy of a page to another plane and want collecting.
    emptied: Vec<PlaneId>,
    slots: Slots,
    pending: LpnTable,
    /// First free slot of the transaction slab.
    free_txn: TxnId,
    serials: u64,
    agenda: Agenda,
    /// The only transaction to decide about at this instant, which stands in no queue yet; none where another is.
    newcomer: TxnId,
    /// Requests served from memory, on their way.
    soon: VecDeque<(Time, SlotId)>,
    memory: Duration,
    group: Group,
    moves: Moves,
    completions: Vec<Completion>,
    log: Log,
    fault: Option<Fault>,
    read_modify_write: bool,
    queue_capacity: [u32; 2],
    metadata_bytes: u32,
    logical_pages: u32,
    flows: usize,
    suspensions_of_gc: bool,
    address_reads: bool,
    page_size: Divisor,
    /// When the admit decision wants to be asked again.
    ask_again: Time,
    /// The earliest instant of anything but flash.
    other_next: Time,
    tally: totals::Tally,
}

impl Device {
    /// When the next event happens, [`Time::NEVER`] if none will or the device has stopped. Closes the present instant:
    /// its decisions are made now, so submit first what arrives now.
    pub fn next_event(&mut self) -> Time {
        let runs = self.fault.is_none() && self.settle();
        let next = self.next_instant();
        match runs {
            true if next <= Time::LAST => next,
            true => self.end_life(next),
            false => Time::NEVER,
        }
    }

    /// Lives every event up to and including `now`, [`Time::LAST`] at most, each at its own time; the decisions of `now` itself
    /// stay open.
    pub fn advance(&mut self, now: Time) {
        debug_assert!(now <= Time::LAST, "lived beyond the last instant");
        self.live(now, false);
        self.board.now = self.board.now.max(now);
    }

    /// Lives events up to and including `limit`, but no longer than the first instant that completes a request, the
    /// decisions of which stay open: for a host whose requests depend on completions. Whether that was it; if not, nothing
    /// is left to happen up to `limit`.
    pub fn advance_to_completion(&mut self, limit: Time) -> bool {
        self.live(limit.min(Time::LAST), true);
        if !self.completions.is_empty() {
            return true;
        }
        if limit <= Time::LAST {
            self.board.now = self.board.now.max(limit);
        } else if self.fault.is_none() {
            self.end_life(self.next_instant());
        }
        false
    }

    /// Lives events up to and including `limit`, or to the first instant with a completion.
    #[inline(always)]
    fn live(&mut self, limit: Time, to_completion: bool) {
        // Only decisions can stop the device.
        let mut runs = self.fault.is_none();
        while runs {
            let mut next = self.next_instant();
            if next > self.board.now {
                if to_completion && !self.completions.is_empty() {
                    break;
                }
                if self.agenda.open && limit > self.board.now {
                    runs = self.settle();
                    next = self.next_instant();
                }
                if next > limit || !runs {
                    break;
                }
                self.board.now = next;
            }
            if self.flash.next_event() == next {
                self.flash.step(&mut self.board, &mut self.agenda, &mut self.log);
                self.hear();
            } else {
                self.live_other();
            }
        }
    }

    /// Nothing happens up to the last instant: stops the device if something is to happen at `next`, after it.
    #[cold]
    fn end_life(&mut self, next: Time) -> Time {
        if next != Time::NEVER {
            let (next, last) = (next.ns(), Time::LAST.ns());
            let message = format!("its next event comes at {next} ns, and it lives to {last} ns at most (2.28 years)");
            self.fault = Some(Fault { at: self.board.now, message });
        }
        Time::NEVER
    }

    /// The earliest instant of anything.
    #[inline(always)]
    fn next_instant(&self) -> Time {
        self.flash.next_event().min(self.other_next)
    }

    /// Recomputes the earliest instant of anything but flash.
    pub(super) fn refresh_other(&mut self) {
        let soon = self.soon.front().map_or(Time::NEVER, |&(at, _)| at);
        let front = self.front.inward.next().min(self.front.outward.next());
        self.other_next = soon.min(front).min(self.ask_again);
    }

    /// Lives one event of this instant that is none of the flash's.
    fn live_other(&mut self) {
        let now = self.board.now;
        if let Some(slot) = self.front.outward.arrived(now) {
            self.deliver(slot);
        } else if self.soon.front().is_some_and(|&(at, _)| at <= now) {
            let (_, slot) = self.soon.pop_front().expect("just seen");
            self.served(slot);
        } else if let Some(slot) = self.front.inward.arrived(now) {
            let flow = self.slots.get(slot).answer.flow;
            self.front.push(flow, slot, &mut self.board);
            self.agenda.open = true;
        } else if self.ask_again <= now {
            self.ask_again = Time::NEVER;
            self.agenda.open = true;
        }
        self.refresh_other();
    }

    /// Takes note of the transactions whose flash work is done.
    #[inline(always)]
    fn hear(&mut self) {
        while let Some(txn) = self.flash.ended.pop(&self.board) {
            self.ended(txn);
        }
    }

    /// Makes the decisions of this instant: admission, then the units in ascending (channel, way) order, until nothing
    /// is left to decide. Whether the device goes on after that; it must not have stopped before.
    #[inline(always)]
    fn settle(&mut self) -> bool {
        while self.agenda.open {
            self.agenda.open = false;
            if self.front.could_admit() {
                self.admit();
            }
            if self.draws {
                self.draw();
            }
            if self.newcomer.is_some() {
                self.begin_newcomer();
            }
            let mut ahead = u64::MAX;
            while let Some((word, mut bits)) = self.agenda.take(ahead) {
                while bits != 0 {
                    self.decide(UnitId((word * 64) as u16 + bits.trailing_zeros() as u16));
                    bits &= bits - 1;
                }
                ahead = !1 << word;
            }
            if self.front.could_admit() {
                // Dispatching made space in the queues.
                self.admit();
            }
            if self.fault.is_some() {
                return false;
            }
            // Those of transfers that took no time.
            self.hear();
        }
        true
    }

    /// Completions since they were last drained, in order of time; the caller drains.
    #[inline]
    pub fn completions(&mut self) -> &mut Vec<Completion> {
        &mut self.completions
    }

    /// Why the device stopped, if it did.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Requests inside the device or on their way to or from it.
    pub fn outstanding(&self) -> usize {
        self.front.outstanding()
    }

    /// Turns event reporting on.
    pub fn report_events(&mut self) {
        // The log tells of queues.
        (self.known.newcomers, self.known.lone_requests) = (false, false);
        self.log.on = true;
        self.flash.watch();
    }

    /// Events since they were last drained; the caller drains.
    #[inline]
    pub fn events(&mut self) -> &mut Vec<Stamped> {
        &mut self.log.events
    }

    /// The instant the device has lived up to.
    #[inline]
    pub fn now(&self) -> Time {
        self.board.now
    }

    /// What a scheduler sees.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The logical page a physical page was last written with, if any: for auditors, at the start of a run.
    pub fn owner_of(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
        self.ftl.is_valid(plane, ppa).then(|| self.ftl.owner(plane, ppa))
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
        self.ftl.check(&self.board);
    }
}
