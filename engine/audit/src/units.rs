//! Units and buses: which command each unit works on, and which unit has the channel.
//!
//! A plane belongs to one unit, a unit works on one command, and a command works a plane once: so "one operation per
//! plane at a time" needs no rule of its own. A paused command keeps its planes; reads served meanwhile may use them.

use flashlane_core::decide::{GcMode, SuspendPoints};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{ChannelId, Duration, Geometry, Time, UnitId};
use flashlane_ssd::config::Config;

use super::Policy;
use super::command::{Command, CommandRules, Phase};
use super::rule::{Log, Rule};
use super::times::Times;
use super::transactions::Txn;

/// A unit: a correct device has at most one command in service and at most one paused.
#[derive(Default, Debug)]
struct Unit {
    commands: Vec<Command>,
    /// When a command last ended.
    free: Time,
}

/// All units and channels.
#[derive(Debug)]
pub(super) struct Units {
    geometry: Geometry,
    can: CommandRules,
    times: Times,
    policy: Policy,
    units: Vec<Unit>,
    /// When each channel is released, the last time and the time before.
    channels: Vec<[Time; 2]>,
    /// Highest command number.
    newest: Option<u64>,
}

impl Units {
    /// Another scheduler decides when commands are paused.
    pub(super) fn scheduler_changes(&mut self, policy: Policy) {
        self.policy = policy;
    }

    pub(super) fn new(config: &Config, policy: Policy) -> Units {
        let geometry = config.geometry;
        Units {
            geometry,
            can: CommandRules {
                multi_plane: config.nand.multi_plane,
                multi_die: config.nand.multi_die,
                same_page: [config.nand.same_page_read, config.nand.same_page_program, false],
                wordline: config.nand.one_shot_pages * geometry.slots,
            },
            times: Times::new(config),
            policy,
            units: (0..geometry.units()).map(|_| Unit::default()).collect(),
            channels: vec![[Time::ZERO; 2]; geometry.channels as usize],
            newest: None,
        }
    }

    /// Most bytes a transaction moves.
    pub(super) fn page_on_bus(&self) -> u64 {
        self.times.page_on_bus()
    }

    /// Planes of a unit.
    pub(super) fn planes_per_unit(&self) -> u32 {
        self.geometry.planes_per_unit()
    }

    /// A transaction is dispatched to `unit` as a member of command `number`, for page `ppa` of a block that may be in SLC mode.
    pub(super) fn join(
        &mut self,
        serial: u64,
        txn: &Txn,
        (unit, number): (UnitId, u64),
        (ppa, is_slc): (u32, bool),
        log: &mut Log,
    ) {
        let own = UnitId((txn.plane.0 as u32 / self.geometry.planes_per_unit()) as u16);
        log.check(own == unit, Rule::OwnUnit, || {
            format!("command {number} of unit {} works plane {} of unit {}.", unit.0, txn.plane.0, own.0)
        });
        let Units { geometry, can, times, units, newest, .. } = self;
        let unit = &mut units[unit.index()];
        let index = match unit.commands.iter().position(|command| command.number == number) {
            Some(index) => index,
            None => {
                log.check(newest.is_none_or(|newest| number > newest), Rule::CommandNumber, || {
                    format!("command {number} begins after command {}.", newest.unwrap_or_default())
                });
                *newest = (*newest).max(Some(number));
                unit.begins(number, txn.op, times, log);
                unit.commands.push(Command::new(number, txn.op, txn.owner, log.now));
                unit.commands.len() - 1
            }
        };
        unit.commands[index].join((serial, txn, ppa, is_slc), geometry, can, times, log);
    }

    /// A phase of the command `number` of `unit`; `event` is one of the four of the bus and the array.
    pub(super) fn phase(&mut self, (unit, number): (UnitId, u64), event: &Event, log: &mut Log) {
        if unit.index() >= self.units.len() {
            log.report(Rule::Address, || format!("unit {} of {}.", unit.0, self.units.len()));
            return;
        }
        if let Event::BusTaken { channel, until, .. } = *event {
            self.bus(channel, unit, until, log);
        }
        let given_back = self.given_back(unit);
        let Units { units, times, policy, .. } = self;
        let unit = &mut units[unit.index()];
        let Some(index) = unit.commands.iter().position(|command| command.number == number) else {
            log.report(Rule::CommandKnown, || format!("the unit does not work on command {number}."));
            return;
        };
        match *event {
            Event::BusTaken { until, .. } => unit.commands[index].takes_bus(until, times, log),
            Event::ArrayStarted { until, .. } if unit.commands[index].is_paused() => {
                unit.resumes(index, until, times, log);
            }
            Event::ArrayStarted { until, .. } => unit.commands[index].starts(until, given_back, times, log),
            Event::ArrayEnded { .. } => unit.commands[index].array_ends(log),
            Event::Paused { remaining, .. } => pauses(&mut unit.commands[index], remaining, policy, times, log),
            _ => {}
        }
    }

    /// A channel is taken until `until`.
    fn bus(&mut self, channel: ChannelId, unit: UnitId, until: Time, log: &mut Log) {
        let own = unit.0 as u32 / self.geometry.units_per_channel();
        log.check(own == channel.0 as u32, Rule::OwnChannel, || {
            format!("unit {} of channel {own} takes the bus of channel {}.", unit.0, channel.0)
        });
        let Some(taken) = self.channels.get_mut(channel.index()) else { return };
        let [before, _] = *taken;
        log.check(log.now >= before, Rule::BusOverlap, || {
            format!("unit {} takes the bus of channel {}, taken until {before}.", unit.0, channel.0)
        });
        *taken = [until.max(before), before];
    }

    /// When the channel of `unit` was or will be released, the last time and the time before.
    fn given_back(&self, unit: UnitId) -> [Time; 2] {
        let channel = unit.0 as u32 / self.geometry.units_per_channel();
        self.channels.get(channel as usize).copied().unwrap_or_default()
    }

    /// A member of a command ended. `paused` is `None` if it was not ended by the flash, which has been reported.
    pub(super) fn member_ends(
        &mut self,
        serial: u64,
        (unit, number): (UnitId, u64),
        paused: Option<Duration>,
        log: &mut Log,
    ) {
        let given_back = self.given_back(unit);
        let Units { units, times, .. } = self;
        let Some(unit) = units.get_mut(unit.index()) else { return };
        let Some(index) = unit.commands.iter().position(|command| command.number == number) else {
            log.report(Rule::CommandKnown, || format!("a member of command {number} ended after it."));
            return;
        };
        let last = match paused {
            Some(paused) => unit.commands[index].member_ends(serial, paused.ns(), given_back, times, log),
            None => unit.commands[index].member_leaves(),
        };
        if last {
            unit.commands.swap_remove(index);
            unit.free = log.now;
        }
    }

    /// Whether a command of `unit` is paused.
    pub(super) fn has_paused(&self, unit: UnitId) -> bool {
        let commands = self.units.get(unit.index()).map(|unit| unit.commands.as_slice()).unwrap_or_default();
        commands.iter().any(Command::is_paused)
    }

    /// Whether `unit` has no command, in service or paused.
    pub(super) fn is_idle(&self, unit: UnitId) -> bool {
        self.units.get(unit.index()).is_some_and(|unit| unit.commands.is_empty())
    }

    /// Whether an erase of `unit` is still before the end of its array phase.
    pub(super) fn erase_runs(&self, unit: UnitId) -> bool {
        let commands = self.units.get(unit.index()).map(|unit| unit.commands.as_slice()).unwrap_or_default();
        commands.iter().any(|command| command.op == FlashOp::Erase && !command.array_over())
    }
}

impl Unit {
    /// A new command begins.
    fn begins(&self, number: u64, op: FlashOp, times: &Times, log: &mut Log) {
        let now = log.now;
        for other in &self.commands {
            let Phase::Paused(from) = other.phase else {
                log.report(Rule::UnitBusy, || {
                    format!("command {number} begins and command {} is in {:?}.", other.number, other.phase)
                });
                continue;
            };
            log.check(op == FlashOp::Read, Rule::PauseReads, || {
                format!("{} command {number} begins and command {} is paused.", op.name(), other.number)
            });
            log.check(now >= from + times.suspend, Rule::SuspendTime, || {
                format!("command {number} begins and command {} was paused at {from} only.", other.number)
            });
        }
    }

    /// A paused command resumes.
    fn resumes(&mut self, index: usize, until: Time, times: &Times, log: &mut Log) {
        let number = self.commands[index].number;
        if let Some(busy) = self.commands.iter().find(|command| !command.is_paused()) {
            log.report(Rule::UnitBusy, || format!("command {number} goes on and command {} runs.", busy.number));
        }
        let suspended = match self.commands[index].phase {
            Phase::Paused(from) => from + times.suspend,
            _ => Time::ZERO,
        };
        self.commands[index].resumes(until, self.free.max(suspended), times, log);
    }
}

/// Checks that the scheduler may pause a command, and pauses it.
fn pauses(command: &mut Command, remaining: Duration, policy: &Policy, times: &Times, log: &mut Log) {
    let (op, owner) = (command.op, command.owner);
    let allowed = match policy.suspend_points {
        SuspendPoints::Never => false,
        SuspendPoints::Boundary => op == FlashOp::Program,
        SuspendPoints::Any => op != FlashOp::Read,
    };
    let collects = !owner.collects() || policy.gc_mode == GcMode::Transactions { pausable: true };
    log.check(allowed && collects, Rule::PauseAllowed, || {
        format!("{} command {} of {} is paused.", op.name(), command.number, owner.name())
    });
    command.pauses(remaining.ns(), policy.suspend_points == SuspendPoints::Boundary, times, log);
}
