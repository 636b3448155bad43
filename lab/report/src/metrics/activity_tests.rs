//! What counts as busy, collecting and waiting, and that windows merge without a loss.

use super::windows::{LATENCIES, step_of};
use super::*;
use flashlane_core::event::End;
use flashlane_core::geometry::UnitKind;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, FlowId, Lpn, Owner, RequestId, Time, UnitId};

fn geometry(channels: u32, chips: u32, dies: u32) -> Geometry {
    Geometry {
        channels,
        chips_per_channel: chips,
        dies_per_chip: dies,
        planes_per_die: 2,
        blocks_per_plane: 4,
        pages_per_block: 4,
        unit: UnitKind::Die,
        ..Geometry::plain()
    }
}

/// Feeds events, each with its instant in ns.
fn after(geometry: Geometry, events: &[(u64, Event)]) -> Activity {
    let mut activity = Activity::new(geometry);
    events.iter().for_each(|&(at, event)| activity.event(&Stamped { at: Time::from_ns(at), event }));
    let last = events.iter().map(|&(at, _)| at).max().unwrap_or(0);
    activity.event(&done(last));
    activity.finish()
}

fn done(at: u64) -> Stamped {
    Stamped { at: Time::from_ns(at), event: Event::Completed { request: RequestId(0) } }
}

fn queued(txn: u64, owner: Owner, plane: u16) -> Event {
    let (flow, op, lpn) = (FlowId(0), FlashOp::Program, Lpn(0));
    Event::Queued { txn, request: None, flow, op, owner, lpn, plane: PlaneId(plane), bytes: 4_096 }
}

fn dispatched(txn: u64, command: u64) -> Event {
    Event::Dispatched { txn, command, unit: UnitId(0), ppa: 0, slack: Duration::ZERO }
}

fn ended(txn: u64) -> Event {
    Event::Ended { txn, end: End::Flash, paused: Duration::ZERO }
}

fn started(command: u64) -> Event {
    Event::ArrayStarted { unit: UnitId(0), command, until: Time::NEVER }
}

fn paused(command: u64) -> Event {
    Event::Paused { unit: UnitId(0), command, remaining: Duration::ZERO }
}

/// Die 0: a program from 100 to 900 that stands paused from 300 to 500, in which a read of another transaction runs. Die 1: a move.
#[test]
fn busy_is_served_and_not_paused_time() {
    let a = after(
        geometry(1, 2, 1),
        &[
            (0, queued(1, Owner::User, 0)),
            (100, dispatched(1, 7)),
            (150, started(7)),
            (200, queued(2, Owner::User, 1)),
            (200, queued(3, Owner::Gc, 2)),
            (300, paused(7)),
            (300, dispatched(2, 8)),
            (320, started(8)),
            (400, dispatched(3, 9)),
            (450, ended(2)),
            (500, started(7)),
            (600, ended(3)),
            (900, ended(1)),
        ],
    );
    let ns = |measure, row| (a.mean(measure, 0, row) * 1_000.0).round() as u64;
    assert_eq!((ns(Measure::Busy, 0), ns(Measure::Busy, 1)), (200 + 150 + 400, 200));
    assert_eq!((ns(Measure::Collecting, 0), ns(Measure::Collecting, 1)), (0, 200));
    assert_eq!((ns(Measure::Waiting, 0), ns(Measure::Waiting, 1)), (100 + 100, 200));
    assert_eq!((a.width_ns(), a.windows(), a.rows()), (1_000, 1, 2));
}

/// Two planes of a die in one command are one die that is busy until the last of them ends; one that moves waits elsewhere from then on.
#[test]
fn a_die_is_busy_once_and_waits_follow_moves() {
    let a = after(
        geometry(1, 2, 1),
        &[
            (0, queued(1, Owner::User, 0)),
            (0, queued(2, Owner::User, 1)),
            (0, queued(3, Owner::User, 0)),
            (0, dispatched(1, 7)),
            (0, dispatched(2, 7)),
            (300, Event::Moved { txn: 3, plane: PlaneId(2) }),
            (400, ended(1)),
            (500, ended(2)),
            (700, Event::Ended { txn: 3, end: End::Cancelled, paused: Duration::ZERO }),
        ],
    );
    let ns = |measure, row| (a.mean(measure, 0, row) * 1_000.0).round() as u64;
    assert_eq!((ns(Measure::Busy, 0), ns(Measure::Busy, 1)), (500, 0));
    assert_eq!((ns(Measure::Waiting, 0), ns(Measure::Waiting, 1)), (300, 400));
}

/// What goes on when the last request has completed counts up to then.
#[test]
fn nothing_counts_after_the_last_completion() {
    let mut activity = Activity::new(geometry(1, 1, 1));
    let at = |ns: u64, event| Stamped { at: Time::from_ns(ns), event };
    for event in [
        at(0, queued(1, Owner::Gc, 0)),
        at(10, queued(2, Owner::Gc, 0)),
        at(100, dispatched(1, 1)),
        done(400),
        at(500, ended(1)),
        at(600, dispatched(2, 2)),
        at(900_000_000, ended(2)),
    ] {
        activity.event(&event);
    }
    let activity = activity.finish();
    let ns = |measure| (activity.mean(measure, 0, 0) * 1_000.0).round() as u64;
    assert_eq!((ns(Measure::Collecting), ns(Measure::Waiting)), (300, 100 + 390));
    assert_eq!((activity.width_ns(), activity.windows()), (1_000, 1));
}

/// However long it takes, the windows are few, and nothing is lost when they are merged.
#[test]
fn windows_merge_and_lose_nothing() {
    let mut activity = Activity::new(geometry(1, 1, 1));
    let at = |ns: u64, event| Stamped { at: Time::from_ns(ns), event };
    for i in 0..5_000u64 {
        let begin = i * 777;
        activity.event(&at(begin, queued(i, Owner::User, 0)));
        activity.event(&at(begin + 100, dispatched(i, i)));
        activity.event(&at(begin + 500, ended(i)));
        activity.event(&done(begin + 500));
        activity.completed(&Completion {
            id: RequestId(i),
            flow: FlowId(0),
            op: if i % 3 == 0 { Op::Write } else { Op::Read },
            arrival: Time::from_ns(begin),
            done: Time::from_ns(begin + 500),
            lpn: Lpn(0),
            pages: 1,
            bytes: 4_096,
            tags: 0,
        });
    }
    let mut activity = activity.finish();
    let sum = |a: &Activity, measure| {
        (0..a.windows()).map(|window| a.mean(measure, window, 0) * a.width_ns() as f64).sum::<f64>().round() as u64
    };
    let requests = |a: &Activity, op| {
        (0..a.windows())
            .flat_map(|w| (0..LATENCIES).map(move |s| (w, s)))
            .map(|(w, s)| a.requests(op, w, s))
            .sum::<u32>()
    };
    let whole = (5_000 * 400, 5_000 * 100, 5_000 / 3 + 1);
    let of = |a: &Activity| (sum(a, Measure::Busy), sum(a, Measure::Waiting), requests(a, Op::Write));
    assert!((MAX_WINDOWS / 2..=MAX_WINDOWS).contains(&activity.windows()), "{}", activity.windows());
    assert_eq!(of(&activity), whole);
    activity.coarsen();
    assert_eq!(of(&activity), whole);
    assert_eq!(requests(&activity, Op::Read), 5_000 - 5_000 / 3 - 1);
    let (first, last) = activity.steps();
    assert_eq!((last - first, first), (1, step_of(500)));
}

#[test]
fn steps_are_quarters_of_an_octave() {
    for ns in [1, 2, 3, 4, 5, 7, 100, 1_000, 1_279, 1_280, 5_000_000_000, u64::MAX] {
        let step = step_of(ns);
        assert!(step_from(step) <= ns, "{ns}");
        if (4..1 << 62).contains(&ns) {
            assert!(ns < step_from(step + 1), "{ns}");
        }
    }
    assert_eq!((step_from(40), step_from(41)), (1_024, 1_280));
}

/// Drives with many dies are shown by chip, or by channel.
#[test]
fn rows_are_few_and_named() {
    let rows = |channels, chips, dies| {
        let a = Activity::new(geometry(channels, chips, dies));
        (a.kind(), a.rows(), a.row_name(a.rows() - 1))
    };
    assert_eq!(rows(2, 4, 2), (RowKind::Die, 16, "channel 1, chip 3, die 1".into()));
    assert_eq!(rows(8, 8, 4), (RowKind::Chip, 64, "channel 7, chip 7".into()));
    assert_eq!(rows(16, 16, 2), (RowKind::Channel, 16, "channel 15".into()));
}
