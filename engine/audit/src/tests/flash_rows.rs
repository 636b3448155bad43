//! Violations of the rules about commands, buses, array phases and pauses.

use flashlane_core::decide::{GcMode, SuspendPoints};
use flashlane_core::event::{Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{ChannelId, Duration, PlaneId, Time, UnitId};
use flashlane_ssd::config::SuspendAt;

use super::case::*;
use super::scenes::*;
use super::table::*;
use crate::Rule;

pub fn commands() -> Vec<Breach> {
    vec![
        (Rule::CommandNumber, write_read(), |c| {
            for s in &mut c.events {
                if let Event::Dispatched { command, .. }
                | Event::BusTaken { command, .. }
                | Event::ArrayStarted { command, .. }
                | Event::ArrayEnded { command, .. } = &mut s.event
                {
                    *command = 0;
                }
            }
        }),
        (Rule::NotIdle, write(), |c| delay(c, 0)),
        (Rule::NotIdle, write_read(), |c| delay(c, 500_000)),
        // Nothing but the end of the first write says that the unit could begin the second.
        (Rule::NotIdle, two_writes(), |c| delay(c, X + PROGRAM)),
        (Rule::NotIdle, collect(), |c| {
            let erase = c.find(0, |e| matches!(e, Event::Queued { op: FlashOp::Erase, .. }));
            delay(c, c.events[erase].at.ns());
        }),
        (Rule::UnitBusy, two_units(), |c| {
            edit!(c, 1, queued, Event::Queued { plane, .. } => *plane = PlaneId(1));
            for s in &mut c.events {
                if let Event::Dispatched { unit, .. }
                | Event::BusTaken { unit, .. }
                | Event::ArrayStarted { unit, .. }
                | Event::ArrayEnded { unit, .. } = &mut s.event
                {
                    *unit = UnitId(0);
                }
            }
        }),
        (Rule::OwnUnit, two_units(), |c| edit!(c, 1, queued, Event::Queued { plane, .. } => *plane = PlaneId(8))),
        (Rule::CommandClosed, pair(1), |c| c.put_after(|e| matches!(e, Event::Dispatched { txn: 2, .. }), array)),
        (Rule::SameOp, pair(1), |c| {
            edit!(c, 1, queued, Event::Queued { op, .. } => *op = FlashOp::Program);
            c.map(0, 1, 1, 0);
        }),
        (Rule::PlaneOnce, pair(1), |c| edit!(c, 1, queued, Event::Queued { plane, .. } => *plane = PlaneId(0))),
        (Rule::MultiPlane, pair(1), |c| c.config.nand.multi_plane = false),
        (Rule::MultiPlane, pair_program(), |c| c.config.nand.multi_plane = false),
        (Rule::MultiDie, pair(2), |c| c.config.nand.multi_die = false),
        (Rule::SamePage, with_page(pair(1), 5), |c| c.config.nand.same_page_read = true),
        // Rows of two planes: each reads a row of its own.
        (Rule::PlaneOnce, of_two_planes(), |c| edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 2)),
        (Rule::MultiPlane, of_two_planes(), |c| c.config.nand.multi_plane = false),
        (Rule::SamePage, of_two_planes(), |c| c.config.nand.same_page_read = true),
        (Rule::CommandKnown, write(), |c| c.array_end(5, 0, 9)),
        (Rule::CommandKnown, write(), |c| c.array_end(900_000, 0, 0)),
        (Rule::OwnChannel, write(), |c| edit!(c, 0, bus, Event::BusTaken { channel, .. } => *channel = ChannelId(1))),
    ]
}

/// Delays everything from the dispatch at `at` on by a nanosecond.
fn delay(case: &mut Case, at: u64) {
    let from = case.events.iter().position(|s| s.at.ns() == at && matches!(s.event, Event::Dispatched { .. }));
    for stamped in &mut case.events[from.expect("a dispatch then")..] {
        stamped.at += Duration::from_ns(1);
        if let Event::BusTaken { until, .. } | Event::ArrayStarted { until, .. } = &mut stamped.event {
            *until += Duration::from_ns(1);
        }
    }
}

/// The second transaction of a pair is for page `page`.
fn with_page(mut case: Case, page: u32) -> Case {
    edit!(case, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = page);
    case
}

/// One command of a die whose rows span two planes: it reads the first row of one plane and the second row of the other.
fn of_two_planes() -> Case {
    let mut case = with_page(pair(0), 3);
    (case.config.geometry.slots, case.config.geometry.row_planes) = (2, 2);
    case
}

pub fn phases() -> Vec<Breach> {
    vec![
        (Rule::PhaseOrder, write(), |c| c.repeat(0, array_end)),
        (Rule::PhaseOrder, write(), |c| c.delay(array, 1)),
        (Rule::PhaseOrder, write_read(), |c| c.bus(X, 0, 0, X)),
        (Rule::BusOverlap, two_units(), |c| {
            c.change(1, bus, |s| s.at = Time::from_ns(READ));
            edit!(c, 1, bus, Event::BusTaken { until, .. } => *until = Time::from_ns(READ + X));
            c.change(1, ended, |s| s.at = Time::from_ns(READ + X));
            c.change(1, completed, |s| s.at = Time::from_ns(READ + X));
        }),
        (Rule::BusOverlap, two_units(), |c| {
            c.change(1, bus, |s| s.at = Time::from_ns(READ + X - 1));
            edit!(c, 1, bus, Event::BusTaken { until, .. } => *until = Time::from_ns(READ + 2 * X - 1));
            c.change(1, ended, |s| s.at = Time::from_ns(READ + 2 * X - 1));
            c.change(1, completed, |s| s.at = Time::from_ns(READ + 2 * X - 1));
        }),
        (Rule::BusLength, write_read(), |c| {
            edit!(c, 1, bus, Event::BusTaken { until, .. } => *until += Duration::from_ns(1));
            c.change(1, ended, |s| late(s, 1));
            c.change(1, completed, |s| late(s, 1));
        }),
        (Rule::BusLength, write_read(), |c| {
            edit!(c, 1, bus, Event::BusTaken { until, .. } => *until = Time::from_ns(until.ns() - 1));
            c.change(1, ended, |s| s.at = Time::from_ns(s.at.ns() - 1));
            c.change(1, completed, |s| s.at = Time::from_ns(s.at.ns() - 1));
        }),
        (Rule::ArrayLength, write(), |c| {
            edit!(c, 0, array, Event::ArrayStarted { until, .. } => *until += Duration::from_ns(1));
            c.delay(array_end, 1);
        }),
        (Rule::ArrayLength, write(), |c| {
            edit!(c, 0, array, Event::ArrayStarted { until, .. } => *until = Time::from_ns(until.ns() - 1));
            c.change(0, array_end, |s| s.at = Time::from_ns(s.at.ns() - 1));
            c.change(0, ended, |s| s.at = Time::from_ns(s.at.ns() - 1));
            c.change(0, completed, |s| s.at = Time::from_ns(s.at.ns() - 1));
        }),
        (Rule::ArrayLength, write(), |c| c.delay(array_end, 1)),
        (Rule::EndTime, write(), |c| c.delay(ended, 1)),
        (Rule::EndTime, write_read(), |c| {
            c.change(1, ended, |s| s.at = Time::from_ns(s.at.ns() - 1));
            c.change(1, completed, |s| s.at = Time::from_ns(s.at.ns() - 1));
        }),
        (Rule::EndTime, write_read(), |c| {
            let (from, to) = (c.find(1, ended), c.find(1, array_end));
            let (event, at) = (c.events.remove(from).event, c.events[to].at);
            c.change(1, completed, |s| s.at = at);
            c.events.insert(to + 1, Stamped { at, event });
            c.events.retain(|s| !matches!(s.event, Event::BusTaken { command: 1, .. }));
        }),
    ]
}

pub fn pauses() -> Vec<Breach> {
    let at_boundary = || pause(3 * ITERATION, FlashOp::Read);
    let anywhere = |spent| {
        let mut case = pause(spent, FlashOp::Read);
        case.policy.suspend_points = SuspendPoints::Any;
        case
    };
    vec![
        (Rule::PauseAllowed, at_boundary(), |c| c.policy.suspend_points = SuspendPoints::Never),
        (Rule::PauseLimit, at_boundary(), |c| c.config.nand.suspend_limit = 0),
        (Rule::PauseAllowed, erase_paused(), |c| c.policy.gc_mode = GcMode::Transactions { pausable: false }),
        (Rule::PauseAllowed, erase_of_iterations(), |c| c.policy.suspend_points = SuspendPoints::Boundary),
        (Rule::PauseBoundary, anywhere(3 * ITERATION + 1), |c| c.policy.suspend_points = SuspendPoints::Boundary),
        (Rule::PauseBoundary, anywhere(3 * ITERATION - 1), |c| c.policy.suspend_points = SuspendPoints::Boundary),
        (Rule::PauseBoundary, anywhere(3 * ITERATION + 1), |c| c.config.nand.suspend_at = SuspendAt::Segment),
        (Rule::PauseBoundary, erase_of_iterations(), |c| {
            (c.config.nand.suspend_at, c.config.nand.erase_iterations) = (SuspendAt::Segment, 10);
        }),
        (Rule::PauseGap, paused_again(2 * ITERATION), |c| {
            c.config.nand.suspend_min = Duration::from_ns(2 * ITERATION + 1);
        }),
        (Rule::PauseRemaining, at_boundary(), |c| {
            let paused = |e: &Event| matches!(e, Event::Paused { .. });
            edit!(c, 0, paused, Event::Paused { remaining, .. } => *remaining += Duration::from_ns(1));
        }),
        (Rule::PauseReads, at_boundary(), |c| *c = pause(3 * ITERATION, FlashOp::Program)),
        (Rule::SuspendTime, at_boundary(), |c| c.config.nand.suspend = Duration::from_ns(SUSPEND + 1)),
        (Rule::ResumeTime, at_boundary(), |c| c.config.nand.resume = Duration::from_ns(RESUME + 1)),
        (Rule::ResumeTime, erase_paused(), |c| c.config.nand.resume = Duration::from_ns(RESUME + 1)),
        (Rule::PausedTime, at_boundary(), |c| {
            edit!(c, 1, ended, Event::Ended { paused, .. } => *paused += Duration::from_ns(1));
        }),
        (Rule::PausedTime, at_boundary(), |c| {
            edit!(c, 1, ended, Event::Ended { paused, .. } => *paused = Duration::ZERO);
        }),
    ]
}

/// An erase that is paused at the end of an iteration.
fn erase_of_iterations() -> Case {
    let mut case = erase_paused();
    case.config.nand.erase_iterations = ERASE as u32;
    case
}
