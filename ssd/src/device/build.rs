//! Construction of a device.

use alloc::vec::Vec;

use flashlane_core::board::{Board, Facts};
use flashlane_core::decide::Scheduler;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, PlaneId};

use super::overtaking::Overtaking;
use super::{Device, Estimates, Transfer, serial, totals};
use crate::buffer::Buffer;
use crate::config::{Config, ConfigError};
use crate::flash::Flash;
use crate::gc::{Gc, Replayed};
use crate::host::Host;
use crate::lpn_table::LpnTable;
use crate::policy::Policy;
use crate::state::State;

impl Device {
    /// Builds the device of `config` with `scheduler`.
    ///
    /// # Errors
    /// The first configuration value that is out of range, by key.
    pub fn new(config: &Config, scheduler: Scheduler) -> Result<Device, ConfigError> {
        let replayed = Replayed::of(config)?;
        Device::in_state(config, scheduler, replayed)
    }

    /// Builds the device of `config` with `scheduler`, in the state `replayed` that [`Replayed::of`] made for it.
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn in_state(config: &Config, scheduler: Scheduler, replayed: Option<Replayed>) -> Result<Device, ConfigError> {
        config.check()?;
        let mut board = first_board(config, &scheduler);
        let mut policy = Policy::new(scheduler, config);
        let page_flows = policy.needs_page_flows();
        let (mut ftl, gc) = Gc::first(config, replayed, policy.collects_for_free(), page_flows);
        if !policy.is_place_static() {
            ftl.enable_dynamic_placement();
        }
        if page_flows {
            ftl.keep_page_flows(config, &mut board);
        }
        for plane in 0..board.planes.len() as u16 {
            ftl.publish(&mut board, PlaneId(plane));
        }
        policy.prepare(&board);
        let flash = first_flash(config, &policy);
        Ok(Device {
            address_reads: flash.reads_need_addresses()
                || board.facts.same_page[FlashOp::Read.index()]
                || !policy.is_place_static(),
            host: Host::new(config, policy.needs().decision),
            overtaking: Overtaking::new(&board),
            state: State::new(board),
            policy,
            flash,
            ftl,
            gc,
            buffer: config.buffer.as_ref().map(|b| Buffer::new(b, config.flows.len())),
            writes: LpnTable::default(),
            estimates: Estimates::default(),
            migrations: Default::default(),
            older_reads: Default::default(),
            buffer_partitions_with_space: Vec::new(),
            transfer: Transfer {
                page_bytes: config.geometry.page_bytes,
                metadata_bytes: config.page_on_bus() - config.geometry.page_bytes,
                read_modify_write: config.ftl.read_modify_write,
            },
            serial: serial::Serial::of(config),
            sorted_pages: Vec::new(),
            counters: totals::Counters::default(),
            fault: None,
        })
    }
}

/// The board before the first request, without the state of the planes.
fn first_board(config: &Config, scheduler: &Scheduler) -> Board {
    let mut facts = config.facts();
    if !scheduler.pick.declares().per_priority_queues {
        facts.priorities = 1;
    }
    facts.write_triggered_gc = scheduler.collect.declares().write_triggered;
    let mut board = Board::new(facts, config.flows.len());
    for (board_view, flow) in board.flows.iter_mut().zip(&config.flows) {
        board_view.priority = flow.priority;
    }
    board
}

/// The flash before the first request.
fn first_flash(config: &Config, policy: &Policy) -> Flash {
    let chosen_late = !policy.is_place_static();
    let mut flash = Flash::new(config, chosen_late, policy.pauses(), policy.asks_expected_ends());
    if chosen_late {
        // The choice of a plane reads the channels' counters.
        flash.disable_elision();
    }
    flash
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
            priorities: self.priorities,
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
            write_triggered_gc: false,
        }
    }
}
