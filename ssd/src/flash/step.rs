//! The parts of the flash and the board that one step borrows: a channel with all its units, or with one of them.

use flashlane_core::board::{self, Facts};
use flashlane_core::transaction::Transaction;
use flashlane_core::{Time, UnitId};

use super::channel::Channel;
use super::{Common, Ended, Flash, FlashUnit};
use crate::agenda::Agenda;
use crate::log::Log;
use crate::state::State;

/// A channel with its units: everything that a step of the channel reads or changes.
pub(super) struct ChannelStep<'a> {
    pub(super) now: Time,
    pub(super) channel: &'a mut Channel,
    /// Index of the channel's first unit in `units` and `board_view`.
    pub(super) first: usize,
    pub(super) units: &'a mut [FlashUnit],
    /// What the board shows of the units.
    pub(super) board_view: &'a mut [board::Unit],
    /// What the board shows of the channel.
    pub(super) counters: &'a mut board::Channel,
    pub(super) txns: &'a mut [Transaction],
    pub(super) facts: &'a Facts,
    pub(super) common: &'a mut Common,
    pub(super) ended: &'a mut Ended,
    pub(super) agenda: &'a mut Agenda,
    pub(super) log: &'a mut Log,
}

/// A unit with its channel: everything that the phases of its command read or change.
pub(super) struct UnitStep<'a> {
    pub(super) now: Time,
    pub(super) id: UnitId,
    /// Its number on the channel.
    pub(super) way: usize,
    pub(super) unit: &'a mut FlashUnit,
    pub(super) board_view: &'a mut board::Unit,
    pub(super) channel: &'a mut Channel,
    pub(super) counters: &'a mut board::Channel,
    pub(super) txns: &'a mut [Transaction],
    pub(super) facts: &'a Facts,
    pub(super) common: &'a mut Common,
    pub(super) ended: &'a mut Ended,
    pub(super) agenda: &'a mut Agenda,
    pub(super) log: &'a mut Log,
}

impl ChannelStep<'_> {
    /// A unit of the channel.
    #[inline(always)]
    pub(super) fn unit_step(&mut self, way: usize) -> UnitStep<'_> {
        let index = self.first + way;
        UnitStep {
            now: self.now,
            id: UnitId(index as u16),
            way,
            unit: &mut self.units[index],
            board_view: &mut self.board_view[index],
            channel: self.channel,
            counters: self.counters,
            txns: self.txns,
            facts: self.facts,
            common: self.common,
            ended: self.ended,
            agenda: self.agenda,
            log: self.log,
        }
    }
}

impl Flash {
    /// A unit with its channel.
    #[inline(always)]
    pub(super) fn unit_step<'a>(&'a mut self, id: UnitId, state: &'a mut State) -> UnitStep<'a> {
        let State { board, agenda, log, .. } = state;
        let unit = &mut self.units[id.index()];
        let channel = usize::from(unit.channel);
        UnitStep {
            now: board.now,
            id,
            way: usize::from(unit.way),
            unit,
            board_view: &mut board.units[id.index()],
            channel: &mut self.channels[channel],
            counters: &mut board.channels[channel],
            txns: &mut board.txns,
            facts: &board.facts,
            common: &mut self.common,
            ended: &mut self.ended,
            agenda,
            log,
        }
    }

    /// The channel with its units.
    #[inline(always)]
    pub(super) fn channel_step<'a>(&'a mut self, channel: usize, state: &'a mut State) -> ChannelStep<'a> {
        let State { board, agenda, log, .. } = state;
        let counters = &mut board.channels[channel];
        let channel = &mut self.channels[channel];
        ChannelStep {
            now: board.now,
            first: usize::from(channel.first),
            units: &mut self.units,
            board_view: &mut board.units,
            channel,
            counters,
            txns: &mut board.txns,
            facts: &board.facts,
            common: &mut self.common,
            ended: &mut self.ended,
            agenda,
            log,
        }
    }
}
