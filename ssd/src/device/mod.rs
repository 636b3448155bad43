//! The device: applies all decisions; the other parts only return them.
//!
//! It holds the parts (`host`, `policy`, `gc`, `flash`, `ftl`, `buffer`) around one shared state. A request passes through the
//! files in this order: [`submit`] (checked, sent across the link), [`admit`], [`split`] and [`buffered`] (pages become
//! transactions, or the buffer serves them; under serial service [`serial`] does all that follows), [`supersede`] (older writes of
//! their pages are cancelled, or go first), [`queue`] (transactions wait), [`decide`] (the policy's action is applied),
//! [`rebalance`] (waiting writes move to idle units), [`dispatch`] (a command begins, perhaps before an older one: [`overtaking`];
//! [`older_reads`] keep what a write takes to another plane), [`finish`] (a transaction ends; the last
//! completes its request). [`step`] determines what happens at which instant.

mod admit;
mod buffered;
mod build;
mod decide;
mod dispatch;
mod estimate;
mod finish;
mod older_reads;
mod overtaking;
mod queue;
mod rebalance;
mod serial;
mod split;
mod step;
mod submit;
mod supersede;
mod totals;

use alloc::string::String;
use alloc::vec::Vec;

use flashlane_core::decide::{Estimate, Promotion};
use flashlane_core::event::{PageEnd, Stamped};
use flashlane_core::{Board, Completion, FlowId, Lpn, PlaneId, Ppa, Time, TxnId};

use crate::buffer::Buffer;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::gc::Gc;
use crate::host::Host;
use crate::lpn_table::LpnTable;
use crate::policy::Policy;
use crate::state::State;
pub use step::Stopped;
pub use totals::{EraseCounts, Totals};

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
    host: Host,
    ftl: Ftl,
    gc: Gc,
    buffer: Option<Buffer>,
    /// By logical page, its youngest write that has not ended: reads of the page are served from memory (D-SOS-10), and two writes of
    /// a page never swap (D-SLK-16). The pointer of SOS's mapping entry, the stage of that write being its flag (D-SOS-09).
    writes: LpnTable<TxnId>,
    estimates: Estimates,
    migrations: rebalance::InFlightMigrations,
    older_reads: older_reads::OlderReads,
    overtaking: overtaking::Overtaking,
    /// Flows in whose parts of the buffer a cancelled program has given its page back.
    buffer_partitions_with_space: Vec<FlowId>,
    transfer: Transfer,
    /// Serial service, if commands are served so.
    serial: Option<serial::Serial>,
    /// The pages of the command that is being served so.
    sorted_pages: Vec<Lpn>,
    /// Whether reads need their physical address before they begin, because their array time or the reads they may share a
    /// command with depend on it, or because they may keep an older copy of their page.
    address_reads: bool,
    counters: totals::Counters,
    fault: Option<Fault>,
}

/// The transactions of the request that is being split into pages, for estimates.
#[derive(Debug, Default)]
struct Estimates {
    /// All of them.
    created: Vec<TxnId>,
    /// Those of them that move forward in their queues.
    promotions: Vec<Promotion>,
    /// Their estimates in parts, to be logged.
    parts: Vec<(TxnId, Estimate)>,
}

/// How many bytes cross the bus for a page or a part of one.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    page_bytes: u32,
    metadata_bytes: u32,
    /// Whether a write of a part of a page reads the page first.
    read_modify_write: bool,
}

impl Transfer {
    /// Bytes that cross the bus for `bytes` of a page: with a whole page, its metadata too.
    #[inline(always)]
    fn of(self, bytes: u32) -> u32 {
        if bytes == self.page_bytes { bytes + self.metadata_bytes } else { bytes }
    }
}

impl Device {
    /// Completions since they were last drained, in order of time; the caller drains.
    #[inline]
    pub fn completions(&mut self) -> &mut Vec<Completion> {
        &mut self.host.completions
    }

    /// Why the device stopped, if it did.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Requests inside the device or in transit on the link.
    pub fn outstanding(&self) -> usize {
        self.host.outstanding()
    }

    /// Turns the event log on.
    pub fn report_events(&mut self) {
        (self.state.log.on, self.state.log.transactions_only) = (true, false);
        self.flash.disable_elision();
    }

    /// Turns the event log on for what transactions do, unless it is on already.
    pub fn report_transactions(&mut self) {
        if !self.state.log.on {
            self.report_events();
            self.state.log.transactions_only = true;
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
        self.ftl.is_valid(plane, ppa).then(|| self.ftl.lpn_at(plane, ppa))
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
