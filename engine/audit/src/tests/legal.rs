//! Legal streams beyond the base scenes: other configurations, other orders of events, unknown start states.

use flashlane_core::Duration;
use flashlane_core::event::Event;
use flashlane_core::request::Op;
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_ssd::config::{Latency, ReadRetry, RetryState, Rounding};

use super::broken;
use super::case::*;
use super::scenes::*;
use super::table::{edit, submitted};
use crate::{Rule, Start};

fn silent(name: &str, case: &Case) {
    assert!(case.audit().is_clean(), "{name}: {}", broken(case));
    let verdict = case.audit_by_formula();
    assert!(verdict.is_clean(), "{name}, by formula: {verdict}");
}

#[test]
fn base_scenes_break_no_rule() {
    let scenes: [(&str, Case); 30] = [
        ("write", write()),
        ("write_read", write_read()),
        ("read_behind_write", read_behind_write()),
        ("two_writes", two_writes()),
        ("pair of planes", pair(1)),
        ("pair of dies", pair(2)),
        ("pair_program", pair_program()),
        ("two_units", two_units()),
        ("pause", pause(3 * ITERATION, FlashOp::Read)),
        ("paused_again", paused_again(2 * ITERATION)),
        ("cancel", cancel()),
        ("cancel_reported_late", cancel_reported_late()),
        ("cancel_at_once", cancel_at_once()),
        ("read_from_write", read_from_write()),
        ("read_entry", read_entry()),
        ("entry_makes_room", entry_makes_room(true)),
        ("served_in_turn", served_in_turn(true)),
        ("idle_flush", idle_flush()),
        ("trimmed_while_it_waits", trimmed_while_it_waits()),
        ("buffered", buffered()),
        ("waits_for_space", waits_for_space(true)),
        ("read_goes_on", read_goes_on(true)),
        ("buffered_twice", buffered_twice()),
        ("buffered_apart", buffered_apart()),
        ("collect", collect()),
        ("collect_stale", collect_stale()),
        ("collect_free", collect_free()),
        ("collect_around_read", collect_around_read(true)),
        ("collect_free_around_read", collect_free_around_read(true)),
        ("erase_paused", erase_paused()),
    ];
    for (name, case) in &scenes {
        silent(name, case);
    }
}

/// An auditor without a known start state reports nothing about a legal stream, and still checks what it has seen.
#[test]
fn an_unknown_start_state_breaks_no_rule() {
    let case = collect();
    let verdict = case.audit_from(Start::Unknown);
    assert!(verdict.is_clean(), "{verdict}");
    let mut case = collect();
    // A page seen being written is known to be valid: erasing its block is wrong.
    let at = case.events.last().unwrap().at.ns();
    case.push(at, Event::VictimChosen { plane: flashlane_core::PlaneId(0), block: 1, valid: 2 });
    case.erase(at, 6, 60, 0, 1);
    let verdict = case.audit_from(Start::Unknown);
    assert_eq!(verdict.by_rule, [(Rule::EraseValid, 1)], "{verdict}");
}

#[test]
fn the_mapping_may_be_reported_before_the_dispatch() {
    for mut case in [write_read(), collect()] {
        let mapped = case.find(0, |e| matches!(e, Event::Mapped { .. }));
        case.events.swap(mapped - 1, mapped);
        assert!(matches!(case.events[mapped].event, Event::Dispatched { .. }));
        silent("mapped first", &case);
    }
}

#[test]
fn a_read_may_omit_the_end_of_its_array_phase() {
    for mut case in [write_read(), two_units(), pair(1)] {
        let reads: Vec<u64> = case
            .events
            .iter()
            .filter_map(|s| match s.event {
                Event::ArrayStarted { command, until, .. } if until.since(s.at).ns() == READ => Some(command),
                _ => None,
            })
            .collect();
        case.events.retain(|s| !matches!(s.event, Event::ArrayEnded { command, .. } if reads.contains(&command)));
        silent("no array end", &case);
    }
}

/// Command times, set-up, spare bytes, MQSim's rounding and a gap between planes, one read and one program command.
#[test]
fn every_bus_time_counts() {
    let mut case = Case::new();
    case.config.bus.command = [100, 200, 300].map(Duration::from_ns);
    case.config.bus.data_out_setup = Duration::from_ns(30);
    case.config.bus.plane_gap = Duration::from_ns(500);
    case.config.bus.with_metadata = true;
    case.config.bus.rounding = Rounding::MqSim;
    case.config.bus.mega_transfers = 333;
    // 4,224 bytes in pairs at 6 ns; half of it.
    let (whole, half) = (2112 * 6, 1056 * 6);
    case.submit(0, 1, Op::Write, 2);
    case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
    case.queue(0, 2, Requester::Request(1), FlashOp::Program, 1, 1);
    edit!(case, 0, submitted, Event::Submitted { extent, .. } => *extent = Some((0, 4096 + 2048)));
    resize(&mut case, 1, 4224);
    resize(&mut case, 2, 2048);
    for (txn, plane) in [(1, 0u16), (2, 1)] {
        case.dispatch(0, txn, 0, 0, 0);
        case.map(0, plane as u32, plane, 0);
    }
    let at = 200 + whole + half;
    case.bus(0, 0, 0, at);
    case.array(at, 0, 0, PROGRAM + 500);
    let done = at + PROGRAM + 500;
    case.array_end(done, 0, 0);
    case.end(done, 1, flashlane_core::event::End::Flash, 0);
    case.end(done, 2, flashlane_core::event::End::Flash, 0);
    case.complete(done, 1);
    case.submit(done, 2, Op::Read, 1);
    case.queue(done, 3, Requester::Request(2), FlashOp::Read, 0, 0);
    edit!(case, 1, submitted, Event::Submitted { extent, .. } => *extent = Some((3000, 1000)));
    resize(&mut case, 3, 1000);
    case.dispatch(done, 3, 1, 0, 0);
    case.bus(done, 0, 1, 100);
    case.array(done + 100, 0, 1, READ);
    // 1,000 bytes are two sectors, with two eighths of 128 spare bytes.
    let out = done + 100 + READ;
    case.bus(out, 0, 1, 30 + 528 * 6);
    case.end(out + 30 + 528 * 6, 3, flashlane_core::event::End::Flash, 0);
    case.complete(out + 30 + 528 * 6, 2);
    silent("bus times", &case);
}

fn resize(case: &mut Case, which: u64, size: u32) {
    case.change(
        0,
        |e| matches!(e, Event::Queued { txn, .. } if *txn == which),
        |s| {
            if let Event::Queued { bytes, .. } = &mut s.event {
                *bytes = size;
            }
        },
    );
}

/// Odd pages are slow; the slowest member determines the time of a command.
#[test]
fn the_slowest_member_sets_the_array_time() {
    let times = Latency::fast_slow(Duration::from_ns(READ), Duration::from_ns(READ + 7));
    for (odd, length, legal) in [(0, READ, true), (1, READ + 7, true), (1, READ, false), (0, READ + 7, false)] {
        let mut case = Case::new();
        case.config.nand.read = times;
        case.submit(0, 1, Op::Read, 1);
        case.queue(0, 1, Requester::Request(1), FlashOp::Read, 0, 0);
        case.dispatch(0, 1, 0, 0, odd);
        case.array(0, 0, 0, length);
        case.bus(length, 0, 0, X);
        case.end(length + X, 1, flashlane_core::event::End::Flash, 0);
        case.complete(length + X, 1);
        let verdict = case.audit();
        let expected = if legal { vec![] } else { vec![(Rule::ArrayLength, 1)] };
        assert_eq!(verdict.by_rule, expected, "odd {odd} length {length}: {verdict}");
    }
}

/// A read takes a whole number of further steps, up to the most that any page takes.
#[test]
fn further_steps_of_a_read() {
    for (length, legal) in
        [(READ, true), (READ + 9, true), (READ + 18, true), (READ + 27, false), (READ + 8, false), (READ - 1, false)]
    {
        let mut case = Case::new();
        let states = vec![RetryState { erases: 0, age_days: 0, below: vec![1, 2, 1 << 32] }];
        let step = Duration::from_ns(9);
        case.config.retry = Some(ReadRetry { step, initial_erases: 0, initial_age_days: 0, states });
        case.submit(0, 1, Op::Read, 1);
        case.queue(0, 1, Requester::Request(1), FlashOp::Read, 0, 0);
        case.dispatch(0, 1, 0, 0, 0);
        case.array(0, 0, 0, length);
        case.bus(length, 0, 0, X);
        case.end(length + X, 1, flashlane_core::event::End::Flash, 0);
        case.complete(length + X, 1);
        let expected = if legal { vec![] } else { vec![(Rule::ArrayLength, 1)] };
        assert_eq!(case.audit().by_rule, expected, "{length}");
    }
}

/// A Gaussian time stays within six deviations.
#[test]
fn a_gaussian_time_has_bounds() {
    let mut case = write();
    for (mean, sd, legal) in [(PROGRAM + 600, 100, true), (PROGRAM - 600, 100, true), (PROGRAM + 602, 100, false)] {
        case.config.nand.program = Latency::Gaussian { mean: Duration::from_ns(mean), sd: Duration::from_ns(sd) };
        assert_eq!(case.audit().is_clean(), legal, "{mean} {sd}: {}", broken(&case));
    }
}

/// Partial write 1 reads first, so full write 2 of the same page joins the queue before it, and is still the younger one.
fn modify(first: u64, request: bool) -> Case {
    let mut case = write_read();
    case.config.ftl.read_modify_write = true;
    let at = 1_000_000;
    case.submit(at, 3, Op::Write, 1);
    case.queue(at, 10, if request { Requester::Request(3) } else { Requester::Buffer }, FlashOp::Read, 0, 0);
    if let Event::Queued { owner, .. } = &mut case.events.last_mut().unwrap().event {
        *owner = Owner::User;
    }
    case.submit(at, 4, Op::Write, 1);
    case.queue(at, 12, Requester::Request(4), FlashOp::Program, 0, 0);
    let read = case.read(at, 10, 10, 0, 0, 0);
    case.queue(read, 11, Requester::Request(3), FlashOp::Program, 0, 0);
    let (a, b) = if first == 11 { ((11, 3), (12, 4)) } else { ((12, 4), (11, 3)) };
    let done = case.program(read, a.0, 11, 0, (0, 1));
    case.complete(done, a.1);
    let done = case.program(done, b.0, 12, 0, (0, 2));
    case.complete(done, b.1);
    case
}

#[test]
fn a_partial_write_keeps_its_age_while_it_reads() {
    silent("with request", &modify(11, true));
    silent("without request", &modify(11, false));
    let verdict = modify(12, true).audit();
    assert_eq!(verdict.by_rule, [(Rule::WriteOrder, 1)], "{verdict}");
    for request in [true, false] {
        let mut case = modify(11, request);
        case.config.ftl.read_modify_write = false;
        let verdict = case.audit();
        assert_eq!(verdict.by_rule, [(Rule::TxnShape, 1)], "{verdict}");
    }
}

/// A read that should have been served from the waiting write of its page: it misses the newest version only if it begins before the
/// write does.
#[test]
fn a_read_queued_beside_a_waiting_write_is_judged_by_what_it_reads() {
    for (after, expected) in [(true, vec![Rule::ReadHazard]), (false, vec![Rule::ReadNewest, Rule::ReadHazard])] {
        let mut case = Case::new();
        case.submit(0, 1, Op::Write, 1);
        case.queue(0, 1, Requester::Request(1), FlashOp::Program, 0, 0);
        case.submit(0, 2, Op::Read, 1);
        case.queue(0, 2, Requester::Request(2), FlashOp::Read, 0, 0);
        let (written, read) = if after {
            let written = case.program(0, 1, 0, 0, (0, 0));
            (written, case.read(written, 2, 1, 0, 0, 0))
        } else {
            let read = case.read(0, 2, 0, 0, 0, 0);
            (case.program(read, 1, 1, 0, (0, 0)), read)
        };
        case.complete(written, 1);
        case.complete(read, 2);
        let verdict = case.audit();
        let rules: Vec<Rule> = verdict.by_rule.iter().map(|&(rule, _)| rule).collect();
        assert_eq!(rules, expected, "{verdict}");
    }
}
