//! A host beside a device that follows a script: every I/O is issued to the flash a while after its submission, and completes
//! when the script says.

use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Duration, FlowId, Lpn, Op, PlaneId, RequestId, Time, UnitId};
use flashlane_host::{Completion, Config, Costs, Fairness, Host, Io, Predictor, Seen, Waiting, WindowChoice};

use crate::model::scene::device::geometry;

/// A time in tenths of a microsecond, which is as fine as the statements are.
pub fn us(tenths: u64) -> Duration {
    Duration::from_ns(tenths * 100)
}

/// A host of one CPU on which nothing costs anything and nothing runs.
pub fn plain(completion: Completion) -> Config {
    let zero = Duration::ZERO;
    Config {
        cpus: 1,
        waiting: Waiting {
            completion,
            buffer_hits: false,
            read_hits: false,
            read_hit_spin: us(100),
            max_spin: None,
            poll_interval: zero,
            nice: 0,
        },
        costs: Costs { irq: zero, wake: zero, switch: zero, submit: zero },
        fairness: Fairness { period: us(240_000), min_slice: us(30_000), wakeup_granularity: zero },
        background: Vec::new(),
        geometry: geometry(1, 1),
        buffer_pages: None,
        buffer_per_flow: false,
    }
}

/// Precompletion with a fixed window, in microseconds.
pub fn pre(window_us: u64) -> Completion {
    let window = WindowChoice::Fixed(Duration::from_us(window_us));
    Completion::Precompletion { window, predictor: Predictor::AtIssue }
}

/// One I/O of the script, in tenths of a microsecond from its submission: waits, is read in the flash, completes.
#[derive(Clone, Copy)]
pub struct Script {
    pub issued: u64,
    pub ready: u64,
    pub done: u64,
}

/// The script of the statements: issued after 20 us, 352 us in the flash, 9 us of DMA.
pub const USUAL: Script = Script { issued: 200, ready: 3_720, done: 3_810 };

/// Reads of one page, one after the other, as `script` says for each; and the host at the end.
pub fn reads(config: &Config, count: u64, script: impl Fn(u64) -> Script) -> (Vec<Seen>, Host, Time) {
    config.check().expect("legal");
    let mut host = Host::new(config);
    let mut now = Time::ZERO;
    let (mut seen, mut events): (Vec<Seen>, Vec<(Time, Step)>) = (Vec::new(), Vec::new());
    let mut next = 0;
    loop {
        for step in events.extract_if(.., |(at, _)| *at <= now).map(|(_, step)| step) {
            match step {
                Step::Event(event) => host.observe(&Stamped { at: now, event }),
                Step::Completed(id) => host.completed(now, id, None),
            }
        }
        host.advance(now);
        let new: Vec<Seen> = host.seen().drain(..).collect();
        if (now == Time::ZERO || !new.is_empty()) && next < count {
            host.call(
                now,
                Io { id: RequestId(next), flow: FlowId(0), op: Op::Read, plain: true, page: next, pages: 1 },
            );
            next += 1;
        }
        seen.extend(new);
        host.settle(now);
        for id in host.submissions().drain(..) {
            let Script { issued, ready, done } = script(id.0);
            events.extend(life(id, now + us(issued), now + us(ready), now + us(done)));
        }
        if seen.len() as u64 == count {
            return (seen, host, now);
        }
        now = events.iter().map(|&(at, _)| at).fold(host.next_event(), Time::min);
    }
}

enum Step {
    Event(Event),
    Completed(RequestId),
}

fn life(id: RequestId, issued: Time, ready: Time, done: Time) -> Vec<(Time, Step)> {
    let (request, txn, command, unit) = (Some(id), id.0, id.0, UnitId(0));
    let (op, owner, lpn, plane, flow) = (FlashOp::Read, Owner::User, Lpn(0), PlaneId(0), FlowId(0));
    let queued = Event::Queued { txn, request, flow, op, owner, lpn, plane, bytes: 4096 };
    let dispatched = Event::Dispatched { txn, command, unit, ppa: 0, slack: Duration::ZERO };
    let ended = Event::Ended { txn, end: End::Flash, paused: Duration::ZERO };
    let started = Event::ArrayStarted { unit, command, until: ready };
    let at_issue = [queued, dispatched, started].map(|event| (issued, Step::Event(event)));
    at_issue.into_iter().chain([(ready, Step::Event(ended)), (done, Step::Completed(id))]).collect()
}

/// Latency from the submission and time spun, in tenths of a microsecond.
pub fn figures(seen: &Seen) -> (u64, u64) {
    ((seen.seen - seen.submitted).ns() / 100, seen.spun.ns() / 100)
}
