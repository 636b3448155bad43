//! For every rule, at least one legal stream and one change to it that breaks the rule and no other.

use flashlane_core::decide::{Moments, Style};
use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{ChannelId, Duration, FlowId, PlaneId, RequestId, Time, UnitId};

use super::case::*;
use super::scenes::*;
use crate::audit::Rule;

/// A rule, a legal stream, and what to change.
type Row = (Rule, Case, fn(&mut Case));

#[test]
fn every_rule_has_a_stream_that_breaks_it_alone() {
    let mut rows = requests();
    rows.extend(transactions());
    rows.extend(commands());
    rows.extend(phases());
    rows.extend(pauses());
    rows.extend(pages());
    rows.extend(collection());
    let mut wrong = Vec::new();
    for (index, (rule, legal, change)) in rows.iter().enumerate() {
        let (name, verdict) = (rule.name(), legal.audit());
        if !verdict.is_clean() {
            wrong.push(format!("row {index}, {name}, before the change: {verdict}"));
        }
        let mut illegal = legal.clone();
        change(&mut illegal);
        let verdict = illegal.audit();
        if !matches!(verdict.by_rule.as_slice(), [(only, _)] if only == rule) {
            wrong.push(format!("row {index}, {name}: {verdict}"));
        }
        assert_eq!(verdict.kept.len() as u64, verdict.total, "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for rule in Rule::ALL {
        assert!(rows.iter().any(|(other, ..)| other == rule), "{} has no row", rule.name());
    }
}

fn submitted(e: &Event) -> bool {
    matches!(e, Event::Submitted { .. })
}

fn admitted(e: &Event) -> bool {
    matches!(e, Event::Admitted { .. })
}

fn completed(e: &Event) -> bool {
    matches!(e, Event::Completed { .. })
}

fn queued(e: &Event) -> bool {
    matches!(e, Event::Queued { .. })
}

fn dispatched(e: &Event) -> bool {
    matches!(e, Event::Dispatched { .. })
}

fn mapped(e: &Event) -> bool {
    matches!(e, Event::Mapped { .. })
}

fn bus(e: &Event) -> bool {
    matches!(e, Event::BusTaken { .. })
}

fn array(e: &Event) -> bool {
    matches!(e, Event::ArrayStarted { .. })
}

fn array_end(e: &Event) -> bool {
    matches!(e, Event::ArrayEnded { .. })
}

fn ended(e: &Event) -> bool {
    matches!(e, Event::Ended { .. })
}

fn chosen(e: &Event) -> bool {
    matches!(e, Event::VictimChosen { .. })
}

fn late(s: &mut Stamped, by: u64) {
    s.at += Duration::from_ns(by);
}

/// Edits fields of an event in place.
macro_rules! edit {
    ($case:expr, $n:expr, $is:expr, $pattern:pat => $change:expr) => {
        $case.change($n, $is, |s| {
            if let $pattern = &mut s.event {
                $change
            }
        })
    };
}

fn requests() -> Vec<Row> {
    vec![
        (Rule::TimeForward, write_read(), |c| {
            c.as_told = true;
            c.change(1, completed, |s| s.at = Time::from_ns(1));
        }),
        (Rule::Address, write(), |c| {
            c.push(900_000, Event::VictimChosen { plane: PlaneId(0), block: 8, valid: 0 });
        }),
        (Rule::Address, write(), |c| {
            edit!(c, 0, submitted, Event::Submitted { flow, .. } => *flow = FlowId(2));
            edit!(c, 0, queued, Event::Queued { flow, .. } => *flow = FlowId(2));
        }),
        (Rule::Address, write(), |c| edit!(c, 0, queued, Event::Queued { bytes, .. } => *bytes = 4097)),
        (Rule::SubmitOnce, write_read(), |c| c.repeat(0, submitted)),
        (Rule::SubmitOnce, write_read(), |c| {
            edit!(c, 1, submitted, Event::Submitted { request, .. } => *request = RequestId(1));
            c.events.retain(|s| !about_second(&s.event));
        }),
        (Rule::RequestKnown, write(), |c| c.push(0, Event::Admitted { request: RequestId(9) })),
        (Rule::RequestKnown, write(), |c| c.push(900_000, Event::Admitted { request: RequestId(1) })),
        (Rule::AdmitOnce, write(), |c| c.repeat(0, admitted)),
        (Rule::AdmitFirst, write(), |c| c.leave_out(0, admitted)),
        (Rule::AdmitFirst, buffered(), |c| c.leave_out(0, admitted)),
        (Rule::CompleteOnce, write(), |c| c.repeat(0, completed)),
        (Rule::CompleteOnce, write(), |c| c.push(0, Event::Completed { request: RequestId(9) })),
        (Rule::NotBeforeArrival, write(), |c| {
            edit!(c, 0, submitted, Event::Submitted { arrival, .. } => *arrival = Time::from_ns(X + PROGRAM + 1));
        }),
        (Rule::NotBeforeTransactions, write_read(), |c| {
            let last = c.events.len() - 1;
            c.events.swap(last - 1, last);
        }),
        (Rule::PageCount, write(), |c| edit!(c, 0, submitted, Event::Submitted { pages, .. } => *pages = 2)),
        (Rule::PageCount, pair_program(), |c| edit!(c, 0, submitted, Event::Submitted { pages, .. } => *pages = 1)),
        (Rule::NotBeforeSuccessor, cancel(), |c| c.change(1, completed, |s| s.at = Time::from_ns(11))),
        (Rule::WriteFromMemory, buffered(), |c| c.config.buffer.as_mut().unwrap().write_back = false),
        (Rule::WriteFromMemory, buffered(), |c| c.config.buffer = None),
        (Rule::Leftover, write_read(), |c| c.leave_out(1, completed)),
        (Rule::Leftover, collect(), |c| c.queue(900_000_000, 99, Whose::Buffer, FlashOp::Read, 5, 0)),
    ]
}

/// What happens to request 2 after its submission.
fn about_second(e: &Event) -> bool {
    matches!(e, Event::Admitted { request } | Event::Completed { request } if request.0 == 2)
        || matches!(e, Event::Queued { txn: 2, .. } | Event::Ended { txn: 2, .. })
        || command_of(e) == Some(1)
}

fn transactions() -> Vec<Row> {
    vec![
        (Rule::QueueOnce, write(), |c| c.repeat(0, queued)),
        (Rule::TxnShape, write(), |c| edit!(c, 0, queued, Event::Queued { flow, .. } => *flow = FlowId(1))),
        (Rule::TxnShape, buffered(), |c| {
            edit!(c, 0, queued, Event::Queued { owner, .. } => *owner = flashlane_core::Owner::User);
        }),
        (Rule::TxnKnown, write(), |c| c.dispatch(0, 9, 9, 1, 0)),
        (Rule::TxnKnown, write(), |c| c.dispatch(900_000, 1, 9, 1, 0)),
        (Rule::DispatchOnce, write(), |c| c.repeat(0, dispatched)),
        (Rule::EndOnce, write(), |c| c.repeat(0, ended)),
        (Rule::EndOnce, write(), |c| c.end(0, 9, End::Flash, 0)),
        (Rule::EndDispatched, write_read(), |c| c.leave_out_command(1)),
        (Rule::DropWaiting, write_read(), |c| edit!(c, 1, ended, Event::Ended { end, .. } => *end = End::Stale)),
        (Rule::DropWaiting, collect(), |c| edit!(c, 1, ended, Event::Ended { end, .. } => *end = End::Stale)),
        (Rule::DropKind, write_read(), |c| {
            c.leave_out_command(1);
            edit!(c, 1, ended, Event::Ended { end, .. } => *end = End::Cancelled);
        }),
        (Rule::DropKind, write_read(), |c| {
            c.leave_out_command(1);
            edit!(c, 1, ended, Event::Ended { end, .. } => *end = End::Stale);
        }),
        (Rule::HasSuccessor, write_read(), |c| {
            c.leave_out_command(0);
            c.leave_out(0, mapped);
            edit!(c, 0, ended, Event::Ended { end, .. } => *end = End::Cancelled);
            c.change(0, completed, |s| late(s, 1));
        }),
        (Rule::WriteOrder, two_writes(), |c| {
            let first = c.find(0, queued);
            c.events.swap(first, first + 1);
        }),
        (Rule::ReadHazard, read_behind_write(), |c| {
            c.put_after(bus, |e| matches!(e, Event::Queued { txn: 2, .. }));
            c.put_after(dispatched, |e| matches!(e, Event::Queued { txn: 2, .. }));
        }),
        (Rule::Slack, write(), |c| {
            let wrapped = Duration::from_ns(0u64.wrapping_sub(5));
            edit!(c, 0, dispatched, Event::Dispatched { slack, .. } => *slack = wrapped);
        }),
    ]
}

fn commands() -> Vec<Row> {
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
        (Rule::CommandKnown, write(), |c| c.array_end(5, 0, 9)),
        (Rule::CommandKnown, write(), |c| c.array_end(900_000, 0, 0)),
        (Rule::OwnChannel, write(), |c| edit!(c, 0, bus, Event::BusTaken { channel, .. } => *channel = ChannelId(1))),
    ]
}

/// The second transaction of a pair works another page.
fn with_page(mut case: Case, page: u32) -> Case {
    edit!(case, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = page);
    case
}

fn phases() -> Vec<Row> {
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
        }),
        (Rule::BusLength, write_read(), |c| {
            edit!(c, 1, bus, Event::BusTaken { until, .. } => *until += Duration::from_ns(1));
            c.change(1, ended, |s| late(s, 1));
            c.change(1, completed, |s| late(s, 1));
        }),
        (Rule::BusLength, write_read(), |c| {
            edit!(c, 1, bus, Event::BusTaken { until, .. } => *until = Time::from_ns(until.ns() - 1));
            c.change(1, ended, |s| s.at = Time::from_ns(s.at.ns() - 1));
        }),
        (Rule::ArrayLength, write(), |c| {
            edit!(c, 0, array, Event::ArrayStarted { until, .. } => *until += Duration::from_ns(1));
            c.delay(array_end, 1);
        }),
        (Rule::ArrayLength, write(), |c| {
            edit!(c, 0, array, Event::ArrayStarted { until, .. } => *until = Time::from_ns(until.ns() - 1));
            c.change(0, array_end, |s| s.at = Time::from_ns(s.at.ns() - 1));
            c.change(0, ended, |s| s.at = Time::from_ns(s.at.ns() - 1));
        }),
        (Rule::ArrayLength, write(), |c| c.delay(array_end, 1)),
        (Rule::EndTime, write(), |c| c.delay(ended, 1)),
        (Rule::EndTime, write_read(), |c| {
            c.change(1, ended, |s| s.at = Time::from_ns(s.at.ns() - 1));
        }),
        (Rule::EndTime, write_read(), |c| {
            let (from, to) = (c.find(1, ended), c.find(1, array_end));
            let event = c.events.remove(from).event;
            c.events.insert(to + 1, Stamped { at: c.events[to].at, event });
            c.events.retain(|s| !matches!(s.event, Event::BusTaken { command: 1, .. }));
        }),
    ]
}

fn pauses() -> Vec<Row> {
    let at_boundary = || pause(3 * ITERATION, FlashOp::Read);
    let anywhere = |spent| {
        let mut case = pause(spent, FlashOp::Read);
        case.policy.moments = Moments::Any;
        case
    };
    vec![
        (Rule::PauseAllowed, at_boundary(), |c| c.policy.moments = Moments::Never),
        (Rule::PauseAllowed, erase_paused(), |c| c.policy.style = Style::Transactions { pausable: false }),
        (Rule::PauseAllowed, erase_of_iterations(), |c| c.policy.moments = Moments::Boundary),
        (Rule::PauseBoundary, anywhere(3 * ITERATION + 1), |c| c.policy.moments = Moments::Boundary),
        (Rule::PauseBoundary, anywhere(3 * ITERATION - 1), |c| c.policy.moments = Moments::Boundary),
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

/// An erase paused where a program could be: at a multiple of the iteration.
fn erase_of_iterations() -> Case {
    let mut case = erase_paused();
    case.config.nand.iterations = PROGRAM as u32;
    case
}

fn pages() -> Vec<Row> {
    vec![
        (Rule::StartState, collect(), |c| c.start = Some((&[(0, 0, 0), (1, 0, 3), (2, 0, 9)], AGED.1))),
        (Rule::StartState, write(), |c| c.start = Some((&[(5, 0, 4), (6, 0, 4)], &[(0, 1, 1)]))),
        (Rule::StartState, write(), |c| c.start = Some((&[], &[(1, 1, 5)]))),
        (Rule::PageOnce, two_writes(), |c| {
            edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 0);
            edit!(c, 1, mapped, Event::Mapped { ppa, .. } => *ppa = 0);
        }),
        (Rule::PageOnce, write(), |c| c.start = Some((&[], &[(0, 0, 1)]))),
        (Rule::PageOrder, two_writes(), |c| {
            edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 2);
            edit!(c, 1, mapped, Event::Mapped { ppa, .. } => *ppa = 2);
        }),
        (Rule::MapProgram, write(), |c| c.leave_out(0, mapped)),
        (Rule::MapProgram, write(), |c| c.map(900_000, 9, 3, 0)),
        (Rule::MapProgram, write(), |c| edit!(c, 0, dispatched, Event::Dispatched { ppa, .. } => *ppa = 1)),
        (Rule::MapProgram, collect_free(), |c| c.map(6, 9, 3, 0)),
        (Rule::OwnPlane, write(), |c| edit!(c, 0, mapped, Event::Mapped { plane, .. } => *plane = PlaneId(1))),
        (Rule::ReadPlace, write_read(), |c| edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 1)),
        (Rule::ReadPlace, read_of_moved(), |c| {
            // After the erase the old place will not do any more.
            edit!(c, 5, dispatched, Event::Dispatched { ppa, .. } => *ppa = 0);
        }),
    ]
}

/// A read queued before its page is moved, dispatched after the old block is erased: it reads the new place.
fn read_of_moved() -> Case {
    let mut case = collect();
    case.submit(0, 8, Op::Read, 1);
    case.queue(0, 80, Whose::Request(8), FlashOp::Read, 0, 0);
    let erased = case.events.iter().map(|s| s.at.ns()).max().unwrap();
    let done = case.read(erased, 80, 80, 0, 4, 0);
    case.complete(done, 8);
    case
}

fn collection() -> Vec<Row> {
    vec![
        (Rule::VictimState, collect(), |c| c.repeat(0, chosen)),
        (Rule::VictimState, collect(), |c| {
            c.push(1, Event::VictimChosen { plane: PlaneId(0), block: 2, valid: 1 });
        }),
        (Rule::VictimCount, collect(), |c| edit!(c, 0, chosen, Event::VictimChosen { valid, .. } => *valid = 3)),
        (Rule::MoveFromVictim, collect(), |c| {
            c.queue(5_000_000, 20, Whose::Gc, FlashOp::Read, 2, 0);
            c.read(5_000_000, 20, 200, 0, 8, 0);
        }),
        (Rule::StaleMove, collect(), |c| overwrite(c, 10, 0)),
        (Rule::EraseVictim, collect(), |c| {
            c.erase(5_000_000, 20, 200, 0, 3);
        }),
        (Rule::EraseVictim, collect_free(), |c| c.push(9, Event::Erased { plane: PlaneId(0), block: 3 })),
        (Rule::EraseMoves, collect_stale(), |c| {
            let erase = |e: &Event| matches!(e, Event::Dispatched { txn: 5, .. });
            c.put_after(|e| matches!(e, Event::Ended { txn: 3, .. }), erase);
        }),
        (Rule::EraseValid, collect(), |c| {
            c.events.retain(|s| {
                let command = matches!(command_of(&s.event), Some(30 | 40));
                let txn = matches!(s.event, Event::Queued { txn: 3 | 4, .. } | Event::Ended { txn: 3 | 4, .. });
                let map = matches!(s.event, Event::Mapped { ppa: 5, .. });
                !(command || txn || map)
            });
        }),
        (Rule::EraseValid, collect_free(), |c| {
            c.events.retain(|s| !matches!(s.event, Event::Mapped { ppa: 5, .. }));
        }),
        (Rule::EraseDone, collect(), |c| {
            let erased = c.find(0, |e| matches!(e, Event::Erased { .. }));
            c.events.swap(erased - 1, erased);
        }),
        (Rule::EraseDone, collect(), |c| {
            c.push(9_000_000, Event::Erased { plane: PlaneId(0), block: 0 });
        }),
    ]
}
