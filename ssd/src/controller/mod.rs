//! The controller: the only part that acts.
//!
//! One request's way through it, in the order of the files: [`intake`] (admit, buffer, map and place, cancel, order),
//! [`decide`] (pick, preempt), [`dispatch`] (bind pages, begin the command), [`finish`] (free, count, complete), with
//! [`collect`] turning the translation layer's jobs into transactions.
//!
//! # Instants
//! Events of one instant happen in the order of R-ORDER (SPEC 0.3): completions and timers, then arrivals, then
//! decisions. So [`Device::advance`] lives the completions of `now` but leaves its decisions open until time moves on
//! or [`Device::next_event`] closes the instant: what is submitted at `now` is seen by the decisions at `now`.

mod collect;
mod decide;
mod dispatch;
mod draw;
mod estimate;
mod finish;
mod intake;
mod slots;
mod totals;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use flashlane_core::board::{Board, Facts};
use flashlane_core::decide::{Estimate, Group, Moments, Scheduler, Style, Wants};
use flashlane_core::event::{Event, Stamped};
use flashlane_core::{Completion, Duration, Extent, FlowId, Lpn, PlaneId, Ppa, Request, Time, TxnId, UnitId};

use crate::agenda::Agenda;
use crate::buffer::Buffer;
use crate::config::{Config, ConfigError};
use crate::flash::Flash;
use crate::front::{Front, SlotId};
use crate::ftl::Ftl;
use crate::log::Log;
use crate::lpn_table::LpnTable;
use slots::{Slot, Slots};
pub use totals::Totals;

/// A request the device cannot take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It reaches past the last logical page.
    BeyondDrive {
        /// Pages the drive has.
        pages: u32,
    },
    /// It touches nothing.
    Empty,
    /// Its flow was not configured.
    UnknownFlow,
}

/// Why a device cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// When.
    pub at: Time,
    /// What, with the plane and the figures.
    pub message: String,
}

/// What a request touches: its first page, how many, bytes of the first page before it begins, bytes in all.
struct Shape {
    first: Lpn,
    pages: u32,
    skip: u32,
    bytes: u64,
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
    tail_order: bool,
    wants: Wants,
    /// Writes get their plane at dispatch.
    draws: bool,
    /// The estimates of a request, to be logged.
    estimates: Vec<(TxnId, Estimate)>,
    slots: Slots,
    pending: LpnTable,
    /// First free slot of the transaction slab.
    free_txn: TxnId,
    serials: u64,
    agenda: Agenda,
    /// Requests served from memory, on their way.
    soon: VecDeque<(Time, SlotId)>,
    memory: Duration,
    group: Group,
    scratch: Vec<Ppa>,
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
    lone_commands_pass: bool,
    lone_transactions_go: bool,
    page_shift: Option<u32>,
    /// The earliest instant of anything but flash.
    other_next: Time,
    tally: totals::Tally,
}

impl Device {
    /// Builds the device of `config` with `scheduler` in charge.
    ///
    /// # Errors
    /// The first configuration value that is out of range, by key.
    pub fn new(config: &Config, scheduler: Scheduler) -> Result<Device, ConfigError> {
        config.check()?;
        let mut facts = config.facts();
        if !scheduler.pick.keeps_levels_apart() {
            facts.levels = 1;
        }
        let mut board = Board::new(facts, config.flows.len());
        for (shown, flow) in board.flows.iter_mut().zip(&config.flows) {
            shown.level = flow.level;
        }
        let static_place = scheduler.place.is_static();
        let wants = scheduler.order.wants();
        let mut flash = Flash::new(config, !static_place);
        if wants.estimates || !static_place {
            // Estimates look at the channels.
            flash.watch();
        }
        let ftl = Ftl::new(config, static_place);
        for plane in 0..board.planes.len() as u16 {
            ftl.show(&mut board, PlaneId(plane));
        }
        let style = scheduler.collect.style();
        Ok(Device {
            address_reads: flash.reads_need_addresses() || board.facts.same_page[0],
            lone_commands_pass: scheduler.admit.lets_lone_commands_in() && config.front.queue_capacity == [u32::MAX; 2],
            lone_transactions_go: scheduler.pick.lets_lone_transactions_go() && static_place,
            page_shift: config
                .geometry
                .page_bytes
                .is_power_of_two()
                .then(|| config.geometry.page_bytes.trailing_zeros()),
            other_next: Time::NEVER,
            agenda: Agenda::new(board.units.len()),
            board,
            flash,
            ftl,
            buffer: config.buffer.as_ref().map(|b| Buffer::new(b, config.flows.len())),
            front: Front::new(&config.front, config.flows.len(), wants.decision),
            wants,
            moments: scheduler.preempt.moments(),
            tail_order: scheduler.order.is_tail(),
            draws: scheduler.place.binds_at_dispatch(),
            estimates: Vec::new(),
            style,
            suspensions_of_gc: matches!(style, Style::Transactions { pausable: true }),
            scheduler,
            static_place,
            slots: Slots::default(),
            pending: LpnTable::default(),
            free_txn: TxnId::NONE,
            serials: 0,
            soon: VecDeque::new(),
            memory: config.memory,
            group: Group::new(),
            scratch: Vec::new(),
            completions: Vec::new(),
            log: Log::default(),
            fault: None,
            read_modify_write: config.ftl.read_modify_write,
            queue_capacity: config.front.queue_capacity,
            metadata_bytes: if config.bus.with_metadata { config.geometry.metadata_bytes } else { 0 },
            logical_pages: config.ftl.logical_pages,
            flows: config.flows.len(),
            tally: totals::Tally::default(),
        })
    }

    /// Hands the device a request at `now`, which must not be before the last instant it lived.
    ///
    /// # Errors
    /// Refuses what it could not serve; nothing has changed then.
    pub fn submit(&mut self, now: Time, request: &Request<'_>) -> Result<(), Refusal> {
        if request.flow.index() >= self.flows {
            return Err(Refusal::UnknownFlow);
        }
        let Shape { first, pages, skip, bytes } = self.shape_of(request)?;
        if now > self.board.now {
            self.advance(now);
        }
        debug_assert!(request.arrival <= now && now == self.board.now, "submitted into the past");
        let Request { id, flow, op, arrival, extent } = *request;
        if self.log.on {
            self.log.push(now, Event::Submitted { request: id, flow, op, arrival, pages });
        }
        let scattered = matches!(extent, Extent::Pages(_));
        let slot = self.slots.insert(Slot {
            id,
            arrival,
            bytes,
            skip,
            first,
            pages,
            remaining: pages,
            cursor: 0,
            flow,
            op,
            touched: 0,
            txns: TxnId::NONE,
            scattered,
        });
        if let Extent::Pages(list) = extent {
            self.slots.scatter(slot, list);
        }
        if !self.front.inward.is_instant() {
            let bytes = if op == flashlane_core::Op::Write { bytes } else { 0 };
            self.front.inward.send(now, slot, bytes);
            self.refresh_other();
        } else if self.lone_commands_pass && self.front.is_open(flow, &self.board) {
            self.front.pass(flow, &mut self.board);
            if self.log.on {
                self.log.push(now, Event::Admitted { request: id });
            }
            self.take_in(slot);
        } else {
            self.front.push(flow, slot, &mut self.board);
            self.admit();
        }
        Ok(())
    }

    /// What a request touches.
    fn shape_of(&self, request: &Request<'_>) -> Result<Shape, Refusal> {
        let page = u64::from(self.board.facts.geometry.page_bytes);
        let beyond = Refusal::BeyondDrive { pages: self.logical_pages };
        match request.extent {
            Extent::Bytes { length: 0, .. } | Extent::Pages([]) => Err(Refusal::Empty),
            Extent::Bytes { offset, length } => {
                let end = offset.checked_add(length).ok_or(beyond)?;
                if end > u64::from(self.logical_pages) * page {
                    return Err(beyond);
                }
                let (first, skip, pages) = match self.page_shift {
                    Some(shift) => {
                        let skip = offset & (page - 1);
                        (offset >> shift, skip, (skip + length + page - 1) >> shift)
                    }
                    None => (offset / page, offset % page, (offset % page + length).div_ceil(page)),
                };
                Ok(Shape { first: Lpn(first as u32), pages: pages as u32, skip: skip as u32, bytes: length })
            }
            Extent::Pages(list) => {
                if list.iter().any(|lpn| lpn.0 >= self.logical_pages) {
                    return Err(beyond);
                }
                Ok(Shape { first: list[0], pages: list.len() as u32, skip: 0, bytes: list.len() as u64 * page })
            }
        }
    }

    /// When the next event happens, [`Time::NEVER`] if none will. Closes the present instant: its decisions are made
    /// now, so submit first what arrives now.
    pub fn next_event(&mut self) -> Time {
        self.settle();
        self.flash.next_event().min(self.other_next)
    }

    /// Lives every event up to and including `now`, each at its own time; the decisions of `now` itself stay open.
    pub fn advance(&mut self, now: Time) {
        while self.fault.is_none() {
            let next = self.flash.next_event().min(self.other_next);
            if self.agenda.open && self.board.now < next.min(now) {
                self.settle();
                continue;
            }
            if next > now {
                break;
            }
            self.board.now = next;
            if self.flash.next_event() == next {
                self.flash.step(&mut self.board, &mut self.agenda, &mut self.log);
                self.hear();
            } else {
                self.live_other();
            }
        }
        self.board.now = self.board.now.max(now);
    }

    /// Recomputes the earliest instant of anything but flash.
    pub(super) fn refresh_other(&mut self) {
        let soon = self.soon.front().map_or(Time::NEVER, |&(at, _)| at);
        self.other_next = soon.min(self.front.inward.next()).min(self.front.outward.next());
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
            let flow = self.slots.get(slot).flow;
            self.front.push(flow, slot, &mut self.board);
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
    /// is left to decide.
    fn settle(&mut self) {
        while self.agenda.open && self.fault.is_none() {
            self.agenda.open = false;
            if self.front.could_admit() {
                self.admit();
            }
            if self.draws {
                self.draw();
            }
            for word in 0..self.agenda.words() {
                let mut bits = self.agenda.take(word);
                while bits != 0 {
                    let unit = UnitId((word * 64) as u16 + bits.trailing_zeros() as u16);
                    bits &= bits - 1;
                    self.decide(unit);
                }
            }
            if self.front.could_admit() {
                // Dispatching made space in the queues.
                self.admit();
            }
            // Those of transfers that took no time.
            self.hear();
        }
    }

    /// Completions since they were last drained, in order of time; the caller drains.
    pub fn completions(&mut self) -> &mut Vec<Completion> {
        &mut self.completions
    }

    /// Why the device stopped, if it did.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Requests inside the device or on their way to or from it.
    pub fn outstanding(&self) -> usize {
        self.slots.len()
    }

    /// Turns event reporting on.
    pub fn report_events(&mut self) {
        self.log.on = true;
        self.flash.watch();
    }

    /// Events since they were last drained; the caller drains.
    pub fn events(&mut self) -> &mut Vec<Stamped> {
        &mut self.log.events
    }

    /// The instant the device has lived up to.
    pub fn now(&self) -> Time {
        self.board.now
    }

    /// What a scheduler sees.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The logical page a physical page was last written with, if any: for auditors, at the start of a run.
    pub fn owner_of(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
        self.ftl.is_valid(plane, ppa).then(|| self.ftl.owner(plane, ppa)).flatten()
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
        self.ftl.check();
    }
}

impl Config {
    /// What the board shows of this configuration.
    pub fn facts(&self) -> Facts {
        use flashlane_core::transaction::FlashOp::{Erase, Program, Read};
        let page = self.geometry.page_bytes;
        let metadata = |bytes: u32| {
            if self.bus.with_metadata { bytes as u64 * self.geometry.metadata_bytes as u64 / page as u64 } else { 0 }
        };
        Facts {
            geometry: self.geometry,
            levels: self.levels,
            command: self.bus.command,
            array: [self.typical(Read), self.typical(Program), self.typical(Erase)],
            transfer_page: self.transfer(self.page_on_bus() as u64),
            transfer_sectors: (0..=page / 512).map(|s| self.transfer(s as u64 * 512 + metadata(s * 512))).collect(),
            iteration: Duration::from_ns((self.nand.program.typical().ns() / self.nand.iterations as u64).max(1)),
            suspend: self.nand.suspend,
            resume: self.nand.resume,
            multi_plane: self.nand.multi_plane,
            multi_die: self.nand.multi_die,
            same_page: [self.nand.same_page_read, self.nand.same_page_program, false],
            gc_hard_blocks: self.gc.hard_blocks,
            gc_start_blocks: self.gc.start_blocks,
        }
    }
}
