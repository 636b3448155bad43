//! Runs lists of requests on a device, with or without spare wake-ups, audited or not.

use flashlane_audit::{Auditor, Policy, Preconditioned, Start, Verdict};
use flashlane_core::decide::Scheduler;
use flashlane_core::event::{Event, Stamped};
use flashlane_core::{Completion, Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_sched::catalogue::{Recipe, build};
use flashlane_ssd::config::Config;
use flashlane_ssd::{Device, Totals};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::durable::DurablePages;
use super::{device, drain};

/// A request to be sent.
#[derive(Clone, Debug)]
pub struct TestRequest {
    /// Arrival time, ns.
    pub at: u64,
    /// Its flow.
    pub flow: u16,
    /// Read or write.
    pub op: Op,
    /// The bytes or pages it touches.
    pub touch: Touch,
}

/// The bytes or pages of a request.
#[derive(Clone, Debug)]
pub enum Touch {
    /// Offset and length.
    Bytes(u64, u64),
    /// Whole pages, in any order.
    Pages(Vec<Lpn>),
    /// Offset and length of a write with FUA.
    Fua(u64, u64),
}

/// How the device is woken between requests.
#[derive(Clone, Debug)]
pub enum Wake {
    /// Only when a request arrives.
    Plain,
    /// Also at random instants, given by this seed, where its next event is asked for.
    Spare(u64),
    /// At every completion, as a closed loop does.
    Completions,
}

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunResult {
    /// The completions in the order they happened.
    pub completions: Vec<Completion>,
    /// The device's totals.
    pub totals: Totals,
}

/// A device of `config` under `recipe`, or the error in either.
pub fn built(config: &Config, recipe: &Recipe) -> Result<(Device, Policy), String> {
    built_under(config, build(recipe).map_err(|e| e.to_string())?)
}

/// A device of `config` under `scheduler`, or the error in the configuration.
pub fn built_under(config: &Config, scheduler: Scheduler) -> Result<(Device, Policy), String> {
    let policy = Policy::of(&scheduler);
    Ok((Device::new(config, scheduler).map_err(|e| e.to_string())?, policy))
}

/// Submits `ask` as request `id` at its instant, to which the device has been advanced.
pub fn hand_over(device: &mut Device, id: u64, ask: &TestRequest) {
    let now = Time::from_ns(ask.at);
    let extent = match &ask.touch {
        Touch::Bytes(offset, length) | Touch::Fua(offset, length) => Extent::Bytes { offset: *offset, length: *length },
        Touch::Pages(list) => Extent::Pages(list),
    };
    let fua = matches!(ask.touch, Touch::Fua(..));
    let request = Request { id: RequestId(id), flow: FlowId(ask.flow), op: ask.op, fua, arrival: now, extent };
    device.submit(now, &request).unwrap_or_else(|refusal| panic!("refused {ask:?}: {refusal:?}"));
}

/// Runs `asks` (in order of time) to the end, without the auditor.
pub fn play(config: &Config, recipe: &Recipe, asks: &[TestRequest], wake: Wake) -> RunResult {
    play_under(config, build(recipe).expect("a legal recipe"), asks, wake)
}

/// Runs `asks` as [`play`] does, under `scheduler`.
pub fn play_under(config: &Config, scheduler: Scheduler, asks: &[TestRequest], wake: Wake) -> RunResult {
    let (mut device, _) = built_under(config, scheduler).expect("a legal device");
    let stops = matches!(wake, Wake::Completions);
    let mut rng = match wake {
        Wake::Plain | Wake::Completions => None,
        Wake::Spare(seed) => Some(Pcg64Mcg::new(u128::from(seed) | 1)),
    };
    let mut completions = Vec::new();
    for (id, ask) in asks.iter().enumerate() {
        if let Some(rng) = &mut rng {
            wander(&mut device, ask.at, rng);
        }
        if stops {
            stop_at_completions(&mut device, Time::from_ns(ask.at), &mut completions);
        }
        device.advance(Time::from_ns(ask.at));
        hand_over(&mut device, id as u64, ask);
        completions.append(device.completions());
    }
    loop {
        if stops {
            stop_at_completions(&mut device, Time::NEVER, &mut completions);
        }
        let next = device.next_event();
        if next == Time::NEVER {
            break;
        }
        assert!(!stops, "something is left to happen at {next}");
        if let Some(rng) = &mut rng {
            wander(&mut device, next.ns(), rng);
        }
        device.advance(next);
        completions.append(device.completions());
    }
    completions.append(device.completions());
    assert_eq!(device.fault(), None);
    assert_eq!(device.outstanding(), 0, "requests left in the device");
    device.check();
    RunResult { completions, totals: device.totals() }
}

/// Advances to `limit` with a stop at every instant at which a request completes.
fn stop_at_completions(device: &mut Device, limit: Time, completions: &mut Vec<Completion>) {
    while device.advance_to_completion(limit) {
        let now = device.now();
        assert!(now <= limit && device.completions().iter().all(|completion| completion.done == now));
        completions.append(device.completions());
    }
    assert!(limit == Time::NEVER || device.now() == limit);
}

/// Wakes the device up to three times strictly before `end`: at random instants, or right at its next event.
fn wander(device: &mut Device, end: u64, rng: &mut Pcg64Mcg) {
    for _ in 0..rng.next_u32() % 4 {
        let now = device.now().ns();
        if now + 1 >= end {
            return;
        }
        let target = match rng.next_u32() % 3 {
            0 => device.next_event().ns().min(end - 1),
            1 => now + rng.next_u64() % (end - now).min(2000),
            _ => now + rng.next_u64() % (end - now),
        };
        device.advance(Time::from_ns(target.min(end - 1)));
        if rng.next_u32().is_multiple_of(2) {
            device.next_event();
        }
    }
}

/// Runs `asks` to the end with the auditor; the error is a violation, a fault or a lost request, as text.
pub fn audit(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Result<(RunResult, Verdict), String> {
    audit_under(config, build(recipe).map_err(|e| e.to_string())?, asks, &mut |_| {})
}

/// [`audit`] under `scheduler`; `see` gets every event.
pub fn audit_under(
    config: &Config,
    scheduler: Scheduler,
    asks: &[TestRequest],
    see: &mut dyn FnMut(&Event),
) -> Result<(RunResult, Verdict), String> {
    let (mut device, policy) = built_under(config, scheduler)?;
    device.report_events();
    let (lpn_of, written) = (|p, a| device.lpn_at(p, a), |p, b| device.written_in(p, b));
    let start = match Preconditioned::of(config) {
        Some(formula) => Start::Formula(Box::new(formula)),
        None => Start::Known { lpn_of: &lpn_of, written: &written },
    };
    let mut auditor = Auditor::new(config, policy, start, 8);
    let mut durable = DurablePages::of(config, &mut device);
    let mut completions = Vec::new();
    let mut observe = |device: &mut Device, durable: &mut DurablePages| {
        for stamped in device.events().drain(..) {
            see(&stamped.event);
            durable.see(&stamped.event);
            auditor.observe(&stamped);
        }
        let before = completions.len();
        completions.append(device.completions());
        durable.take(device, asks, &completions[before..])
    };
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        observe(&mut device, &mut durable)?;
        durable.submits(id as u64, ask);
        hand_over(&mut device, id as u64, ask);
        observe(&mut device, &mut durable)?;
    }
    loop {
        let next = device.next_event();
        if next == Time::NEVER || device.fault().is_some() {
            break;
        }
        device.advance(next);
        observe(&mut device, &mut durable)?;
    }
    observe(&mut device, &mut durable)?;
    if let Some(fault) = device.fault() {
        return Err(format!("fault at {}: {}", fault.at, fault.message));
    }
    if device.outstanding() != 0 {
        return Err(format!("nothing to do at {}, and yet {}", device.now(), left(&device)));
    }
    let verdict = auditor.finish();
    if !verdict.is_clean() {
        return Err(verdict.to_string());
    }
    conserved(asks, &completions)?;
    device.check();
    Ok((RunResult { completions, totals: device.totals() }, verdict))
}

/// What a device with no further event still holds, as text.
fn left(device: &Device) -> String {
    let board = device.board();
    let flows: Vec<_> = board.flows.iter().map(|f| (f.waiting(), f.in_flight())).collect();
    let mut text = format!("{} requests are left; flows (waiting, in flight): {flows:?}", device.outstanding());
    for (u, unit) in board.units.iter().enumerate() {
        if unit.user_waiting() > 0 || unit.gc.any() || unit.service != flashlane_core::board::Service::Idle {
            let (user, gc) = (unit.user_waiting(), unit.gc);
            text.push_str(&format!("\n  unit {u}: {:?}, {user} user transactions and {gc:?} waiting", unit.service));
        }
    }
    for txn in board.txns.iter().filter(|txn| txn.stage != flashlane_core::transaction::Stage::Free).take(8) {
        text.push_str(&format!("\n  {txn:?}"));
    }
    text
}

/// A request of the whole page `number`, of 8 KiB.
pub fn page(at: u64, op: Op, number: u64) -> TestRequest {
    TestRequest { at, flow: 0, op, touch: Touch::Bytes(number * 8_192, 8_192) }
}

/// A write of a whole page that ends only once the flash has it.
pub fn fua(at: u64, number: u64) -> TestRequest {
    TestRequest { at, flow: 0, op: Op::Write, touch: Touch::Fua(number * 8_192, 8_192) }
}

/// A flush.
pub fn flush(at: u64) -> TestRequest {
    TestRequest { at, flow: 0, op: Op::Flush, touch: Touch::Bytes(0, 0) }
}

/// What happens when a device serves `asks`.
pub fn events(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Vec<Stamped> {
    let mut device = device(config, recipe);
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        hand_over(&mut device, id as u64, ask);
    }
    drain(&mut device);
    device.events().to_vec()
}

/// When each request is done, and the totals, of an audited run.
pub fn ends_under(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    let RunResult { mut completions, totals } = audit(config, recipe, asks).unwrap_or_else(|why| panic!("{why}")).0;
    completions.sort_by_key(|completion| completion.id);
    (completions.iter().map(|completion| completion.done.ns()).collect(), totals)
}

/// Checks that every request completed exactly once, unchanged, not before its arrival, in order of time.
pub fn conserved(asks: &[TestRequest], completions: &[Completion]) -> Result<(), String> {
    let mut seen = vec![false; asks.len()];
    let mut last = Time::ZERO;
    for c in completions {
        let ask = asks.get(c.id.0 as usize).ok_or_else(|| format!("request {} was never made", c.id.0))?;
        if std::mem::replace(&mut seen[c.id.0 as usize], true) {
            return Err(format!("request {} completed twice", c.id.0));
        }
        if (c.op, c.flow.0, c.arrival.ns()) != (ask.op, ask.flow, ask.at) || c.done < c.arrival || c.done < last {
            return Err(format!("{c:?} does not answer {ask:?}, or comes before {last}"));
        }
        last = c.done;
    }
    match seen.iter().position(|done| !done) {
        Some(lost) => Err(format!("request {lost} of {} was lost: {:?}", asks.len(), asks[lost])),
        None => Ok(()),
    }
}

/// The distribution of random requests.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Number of requests.
    pub requests: usize,
    /// Mean gap, ns.
    pub gap: u64,
    /// Reads per hundred requests.
    pub reads: u32,
    /// Largest request, pages.
    pub pages: u64,
    /// Requests per hundred that go to the first few pages.
    pub hot: u32,
    /// Requests per hundred that touch parts of pages.
    pub partial: u32,
    /// Requests per hundred that list pages from all over the drive.
    pub scattered: u32,
}

/// Random requests for the device of `config`; several may arrive at one instant.
pub fn asks(config: &Config, mix: &Mix, rng: &mut Pcg64Mcg) -> Vec<TestRequest> {
    let page = u64::from(config.geometry.page_bytes);
    let drive = u64::from(config.ftl.logical_pages);
    let mut at = 0;
    let chance = |rng: &mut Pcg64Mcg, of_hundred: u32| rng.next_u32() % 100 < of_hundred;
    (0..mix.requests)
        .map(|_| {
            if !chance(rng, 20) {
                at += rng.next_u64() % (5 * mix.gap / 2).max(1);
            }
            let op = if chance(rng, mix.reads) { Op::Read } else { Op::Write };
            let flow = (rng.next_u32() as usize % config.flows.len()) as u16;
            let span = if chance(rng, mix.hot) { drive.min(24) } else { drive };
            let touch = if chance(rng, mix.scattered) {
                let count = 1 + rng.next_u64() % mix.pages;
                Touch::Pages((0..count).map(|_| Lpn((rng.next_u64() % span) as u32)).collect())
            } else {
                let pages = 1 + rng.next_u64() % mix.pages.min(span);
                let first = rng.next_u64() % (span - pages + 1);
                let whole = (first * page, pages * page);
                if chance(rng, mix.partial) {
                    let skip = 512 * (rng.next_u64() % (page / 512));
                    let cut = 512 * (rng.next_u64() % (page / 512));
                    let length = (whole.1 - skip).saturating_sub(cut).max(512);
                    Touch::Bytes(whole.0 + skip, length)
                } else {
                    Touch::Bytes(whole.0, whole.1)
                }
            };
            TestRequest { at, flow, op, touch }
        })
        .collect()
}

/// Makes a share of the requests trims, write zeroes, flushes and writes with FUA.
pub fn with_commands(asks: &mut [TestRequest], of_hundred: u32, rng: &mut Pcg64Mcg) {
    for ask in asks {
        if rng.next_u32() % 100 < of_hundred {
            ask.op = match rng.next_u32() % 8 {
                0 => Op::WriteZeroes,
                1..4 => Op::Trim,
                4..6 => Op::Flush,
                _ => Op::Write,
            };
            match (ask.op, &ask.touch) {
                (Op::Flush, _) => ask.touch = Touch::Bytes(0, 0),
                (Op::Write, &Touch::Bytes(offset, length)) => ask.touch = Touch::Fua(offset, length),
                _ => {}
            }
        }
    }
}

/// Runs `asks` on one device for each of `configs`, in one process, alternating at every request.
pub fn interleaved(configs: [(&Config, &Recipe); 2], asks: [&[TestRequest]; 2]) -> [Vec<Completion>; 2] {
    let mut devices = configs.map(|(config, recipe)| built(config, recipe).expect("a legal device").0);
    let mut next = [0, 0];
    let mut done = [Vec::new(), Vec::new()];
    loop {
        let mut idle = true;
        for i in 0..2 {
            let device = &mut devices[i];
            if let Some(ask) = asks[i].get(next[i]) {
                device.advance(Time::from_ns(ask.at));
                hand_over(device, next[i] as u64, ask);
                next[i] += 1;
                idle = false;
            } else {
                let at = device.next_event();
                if at != Time::NEVER {
                    device.advance(at);
                    idle = false;
                }
            }
            done[i].append(device.completions());
        }
        if idle {
            return done;
        }
    }
}

/// The ends of requests in the order in which they were sent, under `fcfs` with non-preemptive collection, and the totals; audited.
pub fn ends(config: &Config, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    let atomic = super::atomic("fcfs", &[]);
    let (result, _) = audit(config, &atomic, asks).unwrap_or_else(|why| panic!("{why}"));
    let unwatched = play(config, &atomic, asks, Wake::Spare(7));
    assert_eq!(unwatched.completions, result.completions, "spare wake-ups and the auditor change nothing");
    let mut ends = vec![0; asks.len()];
    result.completions.iter().for_each(|c| ends[c.id.0 as usize] = c.done.ns());
    (ends, result.totals)
}

/// Writes of one page each that arrive at `at`.
pub fn burst(at: u64, pages: impl IntoIterator<Item = u64>) -> Vec<TestRequest> {
    pages.into_iter().map(|number| page(at, Op::Write, number)).collect()
}
