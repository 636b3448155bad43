//! A device in the making: what the scheduler's answers say of themselves is asked once, here.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::board::{Board, Facts};
use flashlane_core::decide::{Group, Moments, Scheduler, Style};
use flashlane_core::{Divisor, Duration, PlaneId, Time, TxnId};

use super::known::Known;
use super::moves::Moves;
use super::slots::Slots;
use super::{Device, totals};
use crate::agenda::Agenda;
use crate::buffer::Buffer;
use crate::config::{Config, ConfigError};
use crate::flash::Flash;
use crate::front::Front;
use crate::ftl::Ftl;
use crate::log::Log;
use crate::lpn_table::LpnTable;

impl Device {
    /// Builds the device of `config` with `scheduler` in charge.
    ///
    /// # Errors
    /// The first configuration value that is out of range, by key.
    pub fn new(config: &Config, mut scheduler: Scheduler) -> Result<Device, ConfigError> {
        config.check()?;
        let mut board = first_board(config, &scheduler);
        let static_place = scheduler.place.is_static();
        let wants = scheduler.order.wants();
        let flash = first_flash(config, &scheduler);
        let owners = board.facts.writes_pay || scheduler.admit.wants_owners();
        let ftl = first_ftl(config, static_place, owners, &mut board);
        let style = scheduler.collect.style();
        scheduler.admit.prepare(&board);
        scheduler.order.prepare(&board);
        scheduler.pick.prepare(&board);
        let front = Front::new(&config.front, config.flows.len(), wants.decision);
        Ok(Device {
            address_reads: flash.reads_need_addresses() || board.facts.same_page[0],
            known: Known::of(&scheduler, config, &front),
            newcomer: TxnId::NONE,
            page_size: Divisor::new(config.geometry.page_bytes),
            ask_again: Time::NEVER,
            other_next: Time::NEVER,
            agenda: Agenda::new(),
            moves: Moves::new(board.units.len(), board.planes.len()),
            board,
            flash,
            ftl,
            buffer: config.buffer.as_ref().map(|b| Buffer::new(b, config.flows.len())),
            front,
            hears_departures: wants.departures_from == 0,
            wants,
            moments: scheduler.preempt.moments(),
            owners,
            draws: scheduler.place.binds_at_dispatch(),
            made: Vec::new(),
            estimates: Vec::new(),
            emptied: Vec::new(),
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
}

/// The board before the first request, without the state of the planes.
fn first_board(config: &Config, scheduler: &Scheduler) -> Board {
    let mut facts = config.facts();
    if !scheduler.pick.keeps_levels_apart() {
        facts.levels = 1;
    }
    facts.writes_pay = scheduler.collect.writes_pay();
    let mut board = Board::new(facts, config.flows.len());
    for (shown, flow) in board.flows.iter_mut().zip(&config.flows) {
        shown.level = flow.level;
    }
    board
}

/// The flash before the first request.
fn first_flash(config: &Config, scheduler: &Scheduler) -> Flash {
    let chosen_late = !scheduler.place.is_static();
    let pauses = scheduler.preempt.moments() != Moments::Never;
    let mut flash = Flash::new(config, chosen_late, pauses, Known::expectations(scheduler));
    if chosen_late {
        // Choosing a unit looks at the channels.
        flash.watch();
    }
    flash
}

/// The translation layer before the first request, shown on the board.
fn first_ftl(config: &Config, static_place: bool, owners: bool, board: &mut Board) -> Ftl {
    let mut ftl = Ftl::new(config, static_place);
    if owners {
        ftl.keep_owners(config, board);
    }
    for plane in 0..board.planes.len() as u16 {
        ftl.show(board, PlaneId(plane));
    }
    ftl
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
            writes_pay: false,
        }
    }
}
