//! Violations of the rules about requests and transactions.

use flashlane_core::event::{End, EntryAt, Event};
use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, FlowId, Lpn, PlaneId, RequestId, Time};
use flashlane_ssd::config::{BufferOrder, Charge, Protocol, Service, UnmappedReads};

use super::case::*;
use super::scenes::*;
use super::table::*;
use crate::Rule;

pub fn requests() -> Vec<Breach> {
    vec![
        (Rule::TimeForward, write_read(), |c| {
            c.as_given = true;
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
        // The drive has pages 0 to 255.
        (Rule::Address, buffered(), |c| edit!(c, 0, from_memory, Event::PageFromMemory { lpn, .. } => *lpn = Lpn(256))),
        (Rule::Address, one_read_in_series(), |c| {
            edit!(c, 0, in_flash, Event::PageInSeries { lpn, .. } => *lpn = Lpn(256));
        }),
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
    ]
}

pub fn admissions_and_completions() -> Vec<Breach> {
    vec![
        (Rule::InFlight, two_units(), |c| c.config.front.in_flight = 1),
        (Rule::InFlight, two_units(), |c| c.config.front.protocol = Protocol::Nvme { depth: 1 }),
        (Rule::InFlight, two_units(), |c| {
            edit!(c, 1, submitted, Event::Submitted { flow, .. } => *flow = FlowId(1));
            edit!(c, 1, queued, Event::Queued { flow, .. } => *flow = FlowId(1));
            c.config.front.protocol = Protocol::Sata { depth: 1 };
        }),
        (Rule::SharedOrder, waits_for_space(true), |c| c.config.front.order = BufferOrder::Shared),
        (Rule::AdmitTime, write(), |c| c.config.front.controller.command[1] = Duration::from_ns(1)),
        (Rule::AdmitTime, over_link(), |c| c.change(1, admitted, |s| s.at = Time::from_ns(2 * 4_096 + 499))),
        (Rule::AdmitTime, over_link(), |c| c.change(2, admitted, |s| s.at = Time::from_ns(2 * 4_096 + 499))),
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
        (Rule::CompleteTime, write(), |c| c.change(0, completed, |s| late(s, 1))),
        (Rule::CompleteTime, buffered(), |c| c.change(0, completed, |s| late(s, 1))),
        (Rule::CompleteTime, over_link(), |c| c.config.front.link_latency = Duration::from_ns(499)),
        // The replies to two reads at the same time.
        (Rule::CompleteTime, over_link(), |c| {
            let both = c.events.iter().map(|s| s.at).max().expect("some");
            c.events.iter_mut().for_each(|s| {
                if completed(&s.event) && s.at == both {
                    s.at = Time::from_ns(both.ns() - 4_096);
                }
            });
        }),
        (Rule::WriteFromMemory, buffered(), |c| c.config.buffer.as_mut().unwrap().write_back = false),
        (Rule::WriteFromMemory, buffered(), |c| c.config.buffer = None),
        (Rule::Alone, trimmed(), |c| c.config.front.protocol = Protocol::Sata { depth: 64 }),
        (Rule::TrimPages, trimmed(), |c| {
            edit!(c, 2, submitted, Event::Submitted { extent, .. } => *extent = Some((0, 8_191)));
        }),
        (Rule::TrimDrops, trimmed(), |c| {
            let unmapped = |e: &Event| matches!(e, Event::Unmapped { .. });
            edit!(c, 0, unmapped, Event::Unmapped { lpn, .. } => *lpn = Lpn(2));
        }),
        (Rule::UnmappedRead, two_units(), |c| c.config.unmap.reads = UnmappedReads::Memory),
        (Rule::Durable, flushed(), |c| c.change(1, completed, |s| s.at = Time::from_ns(100_000))),
        (Rule::Leftover, write_read(), |c| c.leave_out(1, completed)),
        (Rule::Leftover, collect(), |c| c.queue(900_000_000, 99, Requester::Buffer, FlashOp::Read, 5, 0)),
    ]
}

/// Rules about commands that are served one at a time.
pub fn serial_service() -> Vec<Breach> {
    vec![
        (Rule::CompleteTime, in_series(), |c| c.change(1, completed, |s| late(s, 1))),
        (Rule::CompleteTime, in_series(), |c| c.change(3, completed, |s| late(s, 1))),
        (Rule::CompleteTime, in_series(), |c| serve(c, 1, Charge::FreeAware)),
        (Rule::CompleteTime, in_series(), |c| serve(c, 4, Charge::Literal)),
        (Rule::PageCount, in_series(), |c| c.leave_out(0, in_flash)),
        (Rule::SerialHit, in_series(), |c| {
            c.change(0, hit, |s| s.event = Event::PageInSeries { request: RequestId(2), lpn: Lpn(2) });
        }),
        (Rule::SerialHit, in_series(), |c| {
            c.change(1, in_flash, |s| s.event = Event::PageFromMemory { request: RequestId(2), lpn: Lpn(4) });
        }),
        (Rule::SerialHit, one_read_in_series(), |c| c.config.front.service = Service::Parallel),
        (Rule::SerialEvict, in_series(), |c| {
            c.change(3, evicted, |s| s.event = Event::Evicted { lpn: Lpn(8) });
        }),
        (Rule::SerialEvict, in_series(), |c| {
            c.change(3, evicted, |s| s.event = Event::Evicted { lpn: Lpn(20) });
        }),
        (Rule::SerialEvict, in_series(), |c| c.push(900_000, Event::Evicted { lpn: Lpn(2) })),
        (Rule::SerialEvict, write(), |c| c.push(900_000, Event::Evicted { lpn: Lpn(2) })),
    ]
}

/// A buffer takes two writes of a page each, which cross a link of 1 GB/s and half a microsecond one after the other, and
/// then serves two reads of that page, whose data crosses the link in the same way.
fn over_link() -> Case {
    let mut case = buffered();
    case.events.clear();
    (case.config.front.link_bytes_per_s, case.config.front.link_latency) = (1_000_000_000, Duration::from_ns(500));
    for (request, op, at, here, done) in [
        (1, Op::Write, 0, 4_096 + 500, 4_096 + 500 + 1_000 + 500),
        (2, Op::Write, 0, 8_192 + 500, 8_192 + 500 + 1_000 + 500),
        (3, Op::Read, 1, 8_192 + 500, 8_192 + 500 + 1_000 + 4_096 + 500),
        (4, Op::Read, 20_000, 20_500, 21_500 + 4_096 + 500),
        (5, Op::Read, 20_000, 20_500, 21_500 + 8_192 + 500),
    ] {
        let request = RequestId(request);
        let (flow, arrival, extent) = (FlowId(0), Time::from_ns(at), None);
        case.push(at, Event::Submitted { request, flow, op, arrival, pages: 1, fua: false, extent });
        case.push(here, Event::Admitted { request });
        case.push(here, Event::PageFromMemory { request, lpn: flashlane_core::Lpn(0) });
        case.push(done, Event::Completed { request });
    }
    case
}

/// Serial service by four pages with a buffer of two pages: a write of pages 1 and 2, a read that hits page 2 and misses 3, 4 and 5, a
/// write that drives page 1 out, and one of two pages of which the second drives out the first.
fn in_series() -> Case {
    let mut case = buffered();
    case.events.clear();
    let buffer = case.config.buffer.as_mut().expect("a buffer");
    (buffer.pages, buffer.read_allocate) = (2, false);
    case.config.front.in_flight = 1;
    serve(&mut case, 4, Charge::FreeAware);
    let (read, program) = (READ + X, PROGRAM + X);
    let memory = |request, lpn| Event::PageFromMemory { request: RequestId(request), lpn: Lpn(lpn) };
    let flash = |lpn| Event::PageInSeries { request: RequestId(2), lpn: Lpn(lpn) };
    let gone = |lpn| Event::Evicted { lpn: Lpn(lpn) };
    for (request, op, at, pages, served, done) in [
        (1, Op::Write, 0, 2, vec![memory(1, 1), memory(1, 2)], 1_000),
        (2, Op::Read, 2_000, 4, vec![memory(2, 2), flash(3), flash(4), flash(5)], 2_000 + read),
        (3, Op::Write, 300_000, 1, vec![gone(1), memory(3, 6)], 300_000 + program),
        (
            4,
            Op::Write,
            600_000,
            3,
            vec![gone(2), memory(4, 7), gone(6), memory(4, 8), gone(7), memory(4, 9)],
            600_000 + program,
        ),
    ] {
        let request = RequestId(request);
        let (flow, arrival, extent) = (FlowId(0), Time::from_ns(at), None);
        case.push(at, Event::Submitted { request, flow, op, arrival, pages, fua: false, extent });
        case.push(at, Event::Admitted { request });
        served.into_iter().for_each(|event| case.push(at, event));
        case.push(done, Event::Completed { request });
    }
    case
}

/// Serial service of a read of one page.
fn one_read_in_series() -> Case {
    let mut case = in_series();
    case.events.clear();
    let (request, flow, arrival) = (RequestId(1), FlowId(0), Time::ZERO);
    case.push(0, Event::Submitted { request, flow, op: Op::Read, arrival, pages: 1, fua: false, extent: None });
    case.push(0, Event::Admitted { request });
    case.push(0, Event::PageInSeries { request, lpn: Lpn(3) });
    case.push(READ + X, Event::Completed { request });
    case
}

fn serve(case: &mut Case, cluster: u32, charge: Charge) {
    case.config.front.service = Service::Serial { cluster, charge };
}

fn hit(e: &Event) -> bool {
    matches!(e, Event::PageFromMemory { request: RequestId(2), .. })
}

fn from_memory(e: &Event) -> bool {
    matches!(e, Event::PageFromMemory { .. })
}

fn in_flash(e: &Event) -> bool {
    matches!(e, Event::PageInSeries { .. })
}

fn evicted(e: &Event) -> bool {
    matches!(e, Event::Evicted { .. })
}

/// A write of all but the first sector of a page; the device moves just that, or the whole page after reading it.
fn part_of_a_page(modifies: bool) -> Case {
    let mut case = write();
    case.config.ftl.read_modify_write = modifies;
    edit!(case, 0, submitted, Event::Submitted { extent, .. } => *extent = Some((512, 3_584)));
    if !modifies {
        edit!(case, 0, queued, Event::Queued { bytes, .. } => *bytes = 3_584);
        let shorter = X - 35_840;
        for stamped in &mut case.events {
            if stamped.at > Time::ZERO {
                stamped.at = Time::from_ns(stamped.at.ns() - shorter);
            }
            if let Event::BusTaken { until, .. } | Event::ArrayStarted { until, .. } = &mut stamped.event {
                *until = Time::from_ns(until.ns() - shorter);
            }
        }
    }
    case
}

/// What happens to request 2 after its submission.
fn about_second(e: &Event) -> bool {
    matches!(e, Event::Admitted { request } | Event::Completed { request } if request.0 == 2)
        || matches!(e, Event::Queued { txn: 2, .. } | Event::Ended { txn: 2, .. })
        || command_of(e) == Some(1)
}

pub fn transactions() -> Vec<Breach> {
    vec![
        (Rule::QueueOnce, write(), |c| c.repeat(0, queued)),
        (Rule::TxnShape, write(), |c| edit!(c, 0, queued, Event::Queued { flow, .. } => *flow = FlowId(1))),
        (Rule::TxnShape, buffered(), |c| {
            edit!(c, 0, queued, Event::Queued { owner, .. } => *owner = flashlane_core::Owner::User);
        }),
        (Rule::TxnShape, read_entry(), |c| {
            let at = c.events.last().expect("events").at.ns();
            c.queue(at, 9, Requester::Buffer, FlashOp::Read, 256, 0);
            c.read(at, 9, 9, 0, 1, 0);
        }),
        (Rule::TransferBytes, write(), |c| {
            edit!(c, 0, submitted, Event::Submitted { extent, .. } => *extent = Some((0, 4_095)));
        }),
        (Rule::TransferBytes, collect(), |c| edit!(c, 4, queued, Event::Queued { bytes, .. } => *bytes = 512)),
        (Rule::TransferBytes, part_of_a_page(false), |c| {
            edit!(c, 0, submitted, Event::Submitted { extent, .. } => *extent = Some((1_024, 3_072)));
        }),
        (Rule::TransferBytes, part_of_a_page(true), |c| c.config.ftl.read_modify_write = false),
        (Rule::TransferBytes, part_of_a_page(false), |c| c.config.ftl.read_modify_write = true),
        (Rule::TxnKnown, write(), |c| c.dispatch(0, 9, 9, 1, 0)),
        (Rule::TxnKnown, write(), |c| c.dispatch(900_000, 1, 9, 1, 0)),
        (Rule::MoveWaiting, write(), |c| c.push(900_000, Event::Moved { txn: 1, plane: PlaneId(0) })),
        (Rule::MoveWaiting, write(), |c| c.push(900_000, Event::Moved { txn: 9, plane: PlaneId(0) })),
        (Rule::MoveWaiting, cancel(), |c| c.push(0, Event::Moved { txn: 3, plane: PlaneId(1) })),
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
    ]
}

pub fn writes_and_reads() -> Vec<Breach> {
    vec![
        (Rule::WriteOrder, two_writes(), |c| {
            // The younger is dispatched and ends first, and with it its request.
            for s in &mut c.events {
                match &mut s.event {
                    Event::Dispatched { txn, .. } | Event::Ended { txn, .. } => *txn = 3 - *txn,
                    Event::Completed { request } => request.0 = 3 - request.0,
                    _ => {}
                }
            }
        }),
        // A write that was acknowledged is never programmed.
        (Rule::NewestHeld, buffered_apart(), |c| {
            c.leave_out_command(0);
            c.leave_out(0, mapped);
            c.leave_out(0, ended);
            c.leave_out(0, queued);
        }),
        (Rule::RestFirst, buffered_part(), |c| {
            // Its read ends after the program has joined its queue.
            c.change(0, |e| matches!(e, Event::Queued { txn: 1, .. }), |s| s.at = Time::from_ns(3_000));
        }),
        (Rule::RestFirst, buffered_part(), |c| {
            let at = c.events.last().expect("events").at.ns();
            rest_of(c, at, 9, 7);
            c.read(at, 9, 9, 0, 1, 0);
        }),
        // The younger write of two is never programmed.
        (Rule::ReadNewest, buffered_twice(), |c| {
            c.leave_out_command(1);
            c.leave_out(1, mapped);
            c.leave_out(1, ended);
            c.leave_out(1, queued);
            edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 0);
        }),
        (Rule::ReadFromMemory, read_from_write(), |c| {
            c.events.iter_mut().rev().take(4).for_each(|s| late(s, 600_000));
        }),
        (Rule::ReadHazard, read_behind_write(), |c| {
            c.put_after(bus, |e| matches!(e, Event::Queued { txn: 2, .. }));
            c.put_after(dispatched, |e| matches!(e, Event::Queued { txn: 2, .. }));
        }),
        (Rule::ReadHazard, waits_for_space(true), |c| *c = waits_for_space(false)),
        (Rule::OldestFirst, served_in_turn(true), |c| *c = served_in_turn(false)),
        (Rule::OldestFirst, served_in_turn(true), |c| *c = read_out_of_turn()),
        (Rule::OldestFirst, read_goes_on(true), |c| *c = read_goes_on(false)),
        (Rule::FlushTime, idle_flush(), |c| c.change(0, completed, |s| s.at = Time::from_ns(500))),
        (Rule::CompleteTime, trimmed_while_it_waits(), |c| {
            c.change(0, |e| matches!(e, Event::Completed { request: RequestId(2) }), |s| s.at = Time::from_ns(3_000));
        }),
        (Rule::TrimDrops, trimmed_while_it_waits(), |c| {
            edit!(c, 0, |e| matches!(e, Event::PageDropped { .. }), Event::PageDropped { lpn, .. } => *lpn = Lpn(2));
        }),
        (Rule::Slack, write(), |c| {
            let wrapped = Duration::from_ns(0u64.wrapping_sub(5));
            edit!(c, 0, dispatched, Event::Dispatched { slack, .. } => *slack = wrapped);
        }),
        (Rule::EstimateWaiting, estimated_write(), |c| {
            c.put_after(estimated, dispatched);
        }),
        (Rule::SlackShrinks, estimated_write(), |c| {
            edit!(c, 0, dispatched, Event::Dispatched { slack, .. } => *slack = Duration::from_ns(6));
        }),
    ]
}

/// Rules about entries of the map and translation pages.
pub fn entries_of_the_map() -> Vec<Breach> {
    vec![
        (Rule::EntryFirst, read_entry(), |c| {
            edit!(c, 0, queued, Event::Queued { lpn, .. } => *lpn = Lpn(257));
        }),
        (Rule::EntryFirst, read_entry(), |c| {
            c.put_after(|e| matches!(e, Event::Queued { txn: 2, .. }), |e| matches!(e, Event::Queued { txn: 1, .. }));
        }),
        // A dirty entry is lost that was used by a write; the last lookup found what had made room.
        (Rule::EntryHeld, entry_makes_room(true), |c| {
            edit!(c, 1, |e| matches!(e, Event::EntryLookedUp { .. }), Event::EntryLookedUp { lpn, at } => {
                (*lpn, *at) = (Lpn(6), EntryAt::Memory);
            });
        }),
        (Rule::EntryHeld, read_entry(), |c| c.repeat(0, |e| matches!(e, Event::EntryArrived { .. }))),
        (Rule::EntryFirst, read_entry(), |c| c.leave_out(0, |e| matches!(e, Event::EntryArrived { .. }))),
        // The translation page is never written anew; it is, without having been read; it is, and nothing has made room.
        (Rule::EntryWritten, entry_makes_room(true), |c| {
            let is_of = |e: &Event| matches!(e, Event::Queued { txn: 6 | 7, .. } | Event::Ended { txn: 6 | 7, .. });
            c.events.retain(|s| !is_of(&s.event) && !matches!(s.event, Event::Mapped { lpn: Lpn(256), .. }));
            (5..=6).for_each(|command| c.leave_out_command(command));
        }),
        (Rule::EntryWritten, entry_makes_room(true), |c| *c = entry_makes_room(false)),
        (Rule::EntryWritten, read_entry(), |c| {
            let at = c.events.last().expect("events").at.ns();
            c.queue(at, 9, Requester::Mapping, FlashOp::Program, 256, 0);
            c.program(at, 9, 9, 256, (0, 0));
        }),
    ]
}

/// A page that the flash serves in series breaks this rule too, beside those of the times that then do not come out.
#[test]
fn a_page_in_series_needs_an_admitted_request() {
    let mut case = one_read_in_series();
    case.leave_out(0, admitted);
    let broken = case.audit().by_rule;
    assert!(broken.iter().any(|&(rule, _)| rule == Rule::AdmitFirst), "{broken:?}");
}

/// The last page that enters, with none given up for it: three pages in a buffer of two.
#[test]
fn no_page_enters_a_full_buffer() {
    let mut case = in_series();
    case.leave_out(3, evicted);
    let broken = case.audit().by_rule;
    assert!(broken.contains(&(Rule::SerialEvict, 1)), "{broken:?}");
}
