//! A device is built: in its first state, or in one that [`Replayed::of`] or an earlier use made.

use alloc::vec::Vec;

use flashlane_core::board::{Facts, FlowFigures};
use flashlane_core::decide::Scheduler;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, PlaneId};

use super::Device;
use super::durability::Durability;
use super::migration::Migrations;
use super::page_order::PageOrder;
use super::rests::Rests;
use super::serial::Serial;
use super::slack::Slack;
use super::transactions::Transactions;
use super::translation::Translation;
use super::wordlines::{Wordlines, buffer_of};
use crate::config::{Config, ConfigError, FlowConfig};
use crate::flash::Flash;
use crate::frontend::Frontend;
use crate::ftl::Ftl;
use crate::gc::{Gc, Replayed};
use crate::policy::Policy;
use crate::shared::State;

impl Device {
    /// Builds the device of `config` with `scheduler`.
    ///
    /// # Errors
    /// The first configuration value that is out of range, by key.
    pub fn new(config: &Config, scheduler: Scheduler) -> Result<Device, ConfigError> {
        let replayed = Replayed::of(config)?;
        Device::in_state(config, scheduler, replayed)
    }

    /// Builds the device of `config` with `scheduler`, in the state `replayed` that [`Replayed::of`] or an earlier use made for it.
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn in_state(
        config: &Config,
        scheduler: Scheduler,
        mut replayed: Option<Replayed>,
    ) -> Result<Device, ConfigError> {
        config.check()?;
        let used = replayed.as_mut().and_then(|replayed| replayed.used.take());
        let mut board = first_board(config, &scheduler);
        let mut policy = Policy::new(scheduler, config);
        let (mut ftl, gc) = Gc::first(config, replayed, policy.known.collects_for_free);
        ftl.cache_entries(config);
        begin_policy(&mut policy, &mut ftl, &mut board, config);
        let flash = first_flash(config, &policy);
        let address_reads = config.retry.is_some()
            || config.slc.is_some()
            || flash.reads_need_addresses()
            || board.facts.same_page[FlashOp::Read.index()]
            || config.geometry.slots > 1;
        let wordlines = Wordlines::of(config, &policy);
        let mut device = Device {
            frontend: Frontend::new(config, policy.known.needs.decision),
            transactions: Transactions::new(config, &policy.known, &board, address_reads),
            page_order: PageOrder::new(!policy.known.static_place),
            state: State::new(board),
            policy,
            flash,
            ftl,
            gc,
            buffer: buffer_of(config),
            wordlines,
            slack: Slack::default(),
            migrations: Migrations::default(),
            translation: Translation::of(config),
            durability: Durability::of(config),
            rests: Rests::of(config),
            serial: Serial::of(config),
            unmap: config.unmap,
            began_used: used.is_some(),
            folds_after: config.slc.as_ref().and_then(|slc| slc.idle),
            effects: Vec::new(),
            fault: None,
        };
        if let Some(used) = used {
            device.take_up(*used, config);
        }
        Ok(device)
    }
}

/// What the drive is for `scheduler`.
pub(super) fn facts_under(config: &Config, scheduler: &Scheduler) -> Facts {
    let mut facts = config.facts();
    if !scheduler.pick.declares().per_priority_queues {
        facts.priorities = 1;
    }
    let collect = scheduler.collect.declares();
    (facts.write_triggered_gc, facts.paced_gc) = (collect.write_triggered, collect.paced);
    facts
}

/// Keeps what the scheduler needs of the drive, shows it the planes, and lets it prepare.
pub(super) fn begin_policy(policy: &mut Policy, ftl: &mut Ftl, board: &mut Board, config: &Config) {
    if !policy.known.static_place {
        ftl.map.enable_dynamic_placement();
    }
    // Pages that another scheduler has placed elsewhere may still be there.
    policy.known.static_place &= !ftl.map.is_dynamic();
    // Reads find those of their request that lie in the same row.
    policy.known.keeps.request_pages |= config.geometry.slots > 1;
    if policy.known.keeps.page_flows {
        ftl.keep_page_flows(config, board);
    }
    let passes_caches = config.gathers_wordlines() && config.slc.is_some() && !config.waits_for_folds();
    ftl.fill_caches_together(policy.known.binds_at_dispatch && passes_caches);
    for plane in 0..board.planes.len() as u16 {
        ftl.publish(board, PlaneId(plane));
        if policy.known.keeps.valid_pages {
            board.planes[usize::from(plane)].valid_pages = ftl.valid_pages_of(PlaneId(plane));
        }
    }
    policy.prepare(board);
}

/// The board before the first request, without the state of the planes.
fn first_board(config: &Config, scheduler: &Scheduler) -> Board {
    let mut board = Board::new(facts_under(config, scheduler), config.flows.len());
    let at_start = |flow: &FlowConfig| FlowFigures { priority: flow.priority, ..FlowFigures::default() }.into();
    board.flows = config.flows.iter().map(at_start).collect();
    board
}

/// The flash before the first request.
fn first_flash(config: &Config, policy: &Policy) -> Flash {
    let known = &policy.known;
    let mut flash = Flash::new(config, !known.static_place, known.pauses, known.reads_expected_ends);
    if known.places_by_times {
        flash.disable_elision();
    }
    flash
}
