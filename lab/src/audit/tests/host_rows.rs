//! Rows about requests and transactions.

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, FlowId, PlaneId, RequestId, Time};

use super::case::*;
use super::scenes::*;
use super::table::*;
use crate::audit::Rule;

pub fn requests() -> Vec<Row> {
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

pub fn transactions() -> Vec<Row> {
    vec![
        (Rule::QueueOnce, write(), |c| c.repeat(0, queued)),
        (Rule::TxnShape, write(), |c| edit!(c, 0, queued, Event::Queued { flow, .. } => *flow = FlowId(1))),
        (Rule::TxnShape, buffered(), |c| {
            edit!(c, 0, queued, Event::Queued { owner, .. } => *owner = flashlane_core::Owner::User);
        }),
        (Rule::TxnKnown, write(), |c| c.dispatch(0, 9, 9, 1, 0)),
        (Rule::TxnKnown, write(), |c| c.dispatch(900_000, 1, 9, 1, 0)),
        (Rule::MoveWaiting, write(), |c| c.push(900_000, Event::Moved { txn: 1, plane: PlaneId(0) })),
        (Rule::MoveWaiting, write(), |c| c.push(900_000, Event::Moved { txn: 9, plane: PlaneId(0) })),
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
            // The younger is dispatched and ends first, and with it its request.
            for s in &mut c.events {
                match &mut s.event {
                    Event::Dispatched { txn, .. } | Event::Ended { txn, .. } => *txn = 3 - *txn,
                    Event::Completed { request } => request.0 = 3 - request.0,
                    _ => {}
                }
            }
        }),
        (Rule::ReadHazard, read_behind_write(), |c| {
            c.put_after(bus, |e| matches!(e, Event::Queued { txn: 2, .. }));
            c.put_after(dispatched, |e| matches!(e, Event::Queued { txn: 2, .. }));
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
