//! The controller: the only part that acts.
//!
//! One request's way through it, file by file: [`submit`] (checked, across the link), [`admit`], [`intake`] (buffer, map
//! and place, cancel), [`queue`] (order), [`decide`] (pick, preempt), [`dispatch`] (bind pages, begin the command),
//! [`finish`] (free, count, complete). [`live`] says at what instant what happens. Beside it [`buffered`] keeps the page buffer, [`estimate`] asks for slack, [`draw`]
//! gives late-bound writes their plane, [`build`] makes the device, and [`collect`] turns the translation layer's jobs into transactions.

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
mod live;
mod moves;
mod queue;
mod slots;
mod submit;
mod totals;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use flashlane_core::Board;
use flashlane_core::decide::{Estimate, Group, Moments, Scheduler, Style, Wants};
use flashlane_core::event::Stamped;
use flashlane_core::{Completion, Divisor, Duration, FlowId, Lpn, PlaneId, Ppa, Time, TxnId};

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
///
/// What is asked for at every request and every instant comes first and lies together.
#[repr(C)]
pub struct Device {
    board: Board,
    /// First free slot of the transaction slab.
    free_txn: TxnId,
    /// The only transaction to decide about at this instant, which stands in no queue yet; none where another is.
    newcomer: TxnId,
    serials: u64,
    /// The earliest instant of anything but flash.
    other_next: Time,
    log: Log,
    known: Known,
    moments: Moments,
    style: Style,
    static_place: bool,
    /// Whether the order decision is told of departures by now.
    hears_departures: bool,
    /// Whether whose data the pages hold is kept.
    owners: bool,
    /// Writes get their plane at dispatch.
    draws: bool,
    read_modify_write: bool,
    suspensions_of_gc: bool,
    address_reads: bool,
    wants: Wants,
    logical_pages: u32,
    metadata_bytes: u32,
    flows: usize,
    page_size: Divisor,
    front: Front,
    agenda: Agenda,
    flash: Flash,
    fault: Option<Fault>,
    completions: Vec<Completion>,
    pending: LpnTable,
    slots: Slots,
    tally: totals::Tally,
    ftl: Ftl,
    moves: Moves,
    buffer: Option<Buffer>,
    scheduler: Scheduler,
    /// The transactions of the request that is being taken in, if they are to be estimated.
    made: Vec<TxnId>,
    /// The estimates of a request, to be logged.
    estimates: Vec<(TxnId, Estimate)>,
    /// Planes that lost a copy of a page to another plane and want collecting.
    emptied: Vec<PlaneId>,
    /// Requests served from memory, on their way.
    soon: VecDeque<(Time, SlotId)>,
    memory: Duration,
    queue_capacity: [u32; 2],
    /// When the admit decision wants to be asked again.
    ask_again: Time,
    group: Group,
}

impl Device {
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
        self.known.newcomers = false;
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
