//! What is left of the operation in service (Slacker §5.1, eq. 7), in the states the paper does not mention: idle,
//! collecting, erasing, paused, or running longer than typical (D-SLK-07).

use flashlane_core::board::{Command, Service, Unit};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, PlaneId, Time, UnitId};

use super::formula::{Latency, latency, residual};

/// Time until `unit` is free of what it works on: its command, a paused one behind it, and the rest of a collection.
///
/// `physical` asks the hardware's expected end instead of taking the typical time (D-SLK-07, `residual_phy`).
#[inline(always)]
pub(super) fn remaining(board: &Board, unit: UnitId, physical: bool) -> u64 {
    let state = &board.units[unit.index()];
    let mut left = match state.service {
        Service::Idle | Service::Paused => 0,
        Service::Busy => of_command(board, &state.command, board.now, physical),
    };
    if state.paused.lead.is_some() {
        left += match physical {
            true => (state.paused.remaining + board.facts.resume).ns(),
            false => of_command(board, &state.paused, state.paused.paused_at, false),
        };
    }
    if state.gc.any() {
        left += burst(board, unit, state, &latency(board));
    }
    left
}

#[inline(always)]
fn of_command(board: &Board, command: &Command, at: Time, physical: bool) -> u64 {
    if physical {
        return command.ends.since(board.now).ns();
    }
    let typical = board.facts.typical(command.op).ns();
    // The device moves `started` of a command that resumes by the length of the pause. Right after the resume it may
    // therefore be later than now by the overhead.
    residual(typical, command.started.ns().min(at.ns()), at.ns())
}

/// The known rest of a unit's collections, beside the operation in service: waiting moves, the program of a
/// move whose page is being read, and an erase for every plane that is being emptied.
#[cold]
fn burst(board: &Board, unit: UnitId, state: &Unit, latency: &Latency) -> u64 {
    let [reads, programs] = [state.gc.reads, state.gc.programs].map(u64::from);
    let working = |op| state.service == Service::Busy && state.command.owner.collects() && state.command.op == op;
    let programs = programs + u64::from(working(FlashOp::Read));
    let planes = board.facts.geometry.planes_per_unit() as u16;
    let own = (unit.0 * planes..(unit.0 + 1) * planes).map(PlaneId);
    let victims = own.filter(|&plane| board.plane(plane).collecting).count() as u64;
    let erases = victims.saturating_sub(u64::from(working(FlashOp::Erase)));
    reads * (latency.read + latency.program) + programs * latency.program + erases * latency.erase
}
