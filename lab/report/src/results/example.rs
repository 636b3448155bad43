//! A small made-up comparison for the tests of this module: two flows, three schedulers, one skipped, names that need
//! escaping.

use std::sync::LazyLock;

use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::geometry::UnitKind;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Completion, Duration, FlowId, Geometry, Lpn, Op, Owner, PlaneId, RequestId, Time, UnitId};
use flashlane_host::{CpuTime, Errors, Meter, Seen};
use flashlane_ssd::{EraseCounts, Totals};

use super::{DeviceStats, FlowInfo, HostStats, MadeBy, SchedulerResult, Skipped, Summary};
use crate::metrics::{Activity, FlowMetrics, HostMetrics, LoadWindow, Pairs, ResponseTimes, Slack};

/// Metrics of a flow whose response times are spread from 40 to 2,600 µs, times `scale`.
pub(super) fn flow(seed: u64, n: u64, scale: u64, write_share: u64) -> FlowMetrics {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut sample = |below: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % below
    };
    let (mut metrics, mut window) = (FlowMetrics::new(), LoadWindow::default());
    let mut completions = Vec::new();
    for i in 0..n {
        let arrival = i * 20_000 + sample(5_000);
        let op = if sample(100) < write_share { Op::Write } else { Op::Read };
        let octave = sample(6);
        let busy = if (n / 3..n / 2).contains(&i) { 3 } else { 1 };
        let response = busy * scale * ((40_000 << octave) + sample(40_000 << octave)) / 10;
        let bytes = 4_096 << sample(4);
        metrics.issue(&mut window, op, Time::from_ns(arrival), true);
        if sample(500) == 0 {
            metrics.reject(op);
            continue;
        }
        completions.push(Completion {
            id: RequestId(i),
            flow: FlowId(0),
            op,
            arrival: Time::from_ns(arrival),
            done: Time::from_ns(arrival + response),
            lpn: Lpn(i as u32),
            pages: 1,
            bytes,
            tags: 0,
        });
    }
    completions.iter().for_each(|completion| metrics.complete(&window, completion));
    metrics.close(&window);
    metrics
}

/// The origin of the example, with every character that needs escaping in some output.
pub(super) fn made_by() -> MadeBy {
    MadeBy {
        flashlane: "0.1.0".into(),
        scenario: "two tenants </script><script>window.hacked = 1</script> & 'quotes' \"too\"".into(),
        scenario_hash: "5d41402abc4b2a76b9719d911017c592".into(),
        seed: 42,
        warm_up_ms: 100,
        warm_up_requests: 0,
        device: "flin-isca18".into(),
        drive_state: "steady".into(),
        without_effect: Vec::new(),
        not_measured: Vec::new(),
    }
}

/// The comparison, made once for all tests.
pub(super) fn example() -> Summary {
    static MADE: LazyLock<Summary> = LazyLock::new(made);
    MADE.clone()
}

fn made() -> Summary {
    let flows = vec![
        FlowInfo { name: "web".into(), workload: "web.csv, 70 % reads".into(), ..FlowInfo::default() },
        FlowInfo {
            name: "batch <img src=x onerror=\"window.hacked=2\">".into(),
            workload: "closed loop of 8, writes".into(),
            depth: Some(8),
            sequential: true,
            priority: 1,
            ..FlowInfo::default()
        },
    ];
    let run = |name: &str, web: u64, batch: u64| {
        let shared = [flow(7, 6_000, web, 30), flow(11, 4_000, batch, 100)];
        let alone = [flow(7, 6_000, 5, 30), flow(11, 4_000, 8, 100)];
        let device = DeviceStats::from(&Totals {
            now: Time::from_ns(140_000_000),
            unit_busy: (0..16).map(|chip| Duration::from_ns(60_000_000 + chip * web * 300_000)).collect(),
            channel_busy: vec![Duration::from_ns(20_000_000 + web * 100_000); 8],
            user: [21_000, 18_000],
            user_programs: 18_000,
            gc_programs: 4_000 + batch * 37,
            victims: 60,
            victim_valid: 4_100,
            erases: 60 - web / 3,
            cancelled: 500 + batch,
            moved: 300 + web,
            changes_waiting_writes: name == "sprinkler",
            pauses: web,
            erase_counts: EraseCounts { min: 0, max: 3, sum: 60 },
            blocks: 4_096,
            ..Totals::default()
        });
        let mut slack = Slack::default();
        (1..40).for_each(|pages| slack.record(Op::Write, pages, &[web * 1_000, web * 900, batch * 1_000]));
        let result = SchedulerResult::new(name, &flows, &shared, Some(&alone), &device);
        result.with_slack(Some(&slack)).with_host(Some(host(web)))
    };
    let schedulers = vec![run("fcfs", 20, 18), run("read-first", 12, 24), run("sprinkler", 9, 16)];
    let skipped = vec![Skipped { scheduler: "ncq-tsb".into(), reason: "needs a SATA device; this is NVMe".into() }];
    let mut summary = Summary::new(made_by(), flows, schedulers, skipped);
    let base = responses(20);
    let paired = |scale| Some(Pairs::of(&base, &responses(scale)).expect("few requests are held in memory"));
    summary.compare_with(0, &[None, paired(12), paired(24)]);
    summary
}

/// What four dies did in a run of some milliseconds: programs one after another, every third for a collection, and reads between them.
pub(super) fn activity(seed: u64) -> Activity {
    let geometry =
        Geometry { channels: 2, chips_per_channel: 2, planes_per_die: 2, unit: UnitKind::Die, ..Geometry::plain() };
    let mut activity = Activity::new(geometry);
    let plane = |i: u64| PlaneId((i * 7 % 8) as u16);
    for i in 0..400u64 {
        let owner = if i.is_multiple_of(3) { Owner::Gc } else { Owner::User };
        let begun = 300_000 * i + 10_000 * (seed * i % 7);
        let done = begun + 100_000 + 40_000 * (seed * i % 5) + if i / 60 % 2 == 0 { 0 } else { 90_000 };
        let mut event = |at: u64, event: Event| activity.event(&Stamped { at: Time::from_ns(at), event });
        let (request, flow, op, lpn) = (None, FlowId(0), FlashOp::Program, Lpn(0));
        event(begun, Event::Queued { txn: i, request, flow, op, owner, lpn, plane: plane(i), bytes: 4_096 });
        let (command, unit, slack) = (i, UnitId(plane(i).0 / 2), Duration::ZERO);
        event(begun + 5_000 * seed, Event::Dispatched { txn: i, command, unit, ppa: 0, slack });
        event(done, Event::Ended { txn: i, end: End::Flash, paused: Duration::ZERO });
        event(done, Event::Completed { request: RequestId(i) });
        let (arrival, done) = (Time::from_ns(begun), Time::from_ns(done));
        let op = if i.is_multiple_of(4) { Op::Write } else { Op::Read };
        let (id, pages, bytes, tags) = (RequestId(i), 1, 4_096, 0);
        activity.completed(&Completion { id, flow, op, arrival, done, lpn, pages, bytes, tags });
    }
    activity.finish()
}

/// A host of eight CPUs, one of which spins `scale` us for each I/O.
fn host(scale: u64) -> HostStats {
    let mut metrics = HostMetrics::default();
    for i in 0..1_000 {
        let [called, submitted, done, seen] =
            [0, 7_000, 368_000 + i, 370_000 + scale * i].map(|ns| Time::from_ns(400_000 * i + ns));
        let op = if i % 4 == 0 { Op::Write } else { Op::Read };
        let spun = Duration::from_us(scale);
        metrics.observe(&Seen { id: RequestId(i), flow: FlowId(0), op, called, submitted, done, seen, spun });
    }
    let cpu = CpuTime {
        submit: Duration::from_us(7_000),
        spin: Duration::from_us(1_000 * scale),
        overhead: Duration::from_us(5_800),
        background: Duration::from_us(350_000),
    };
    let at_message = Errors { count: 990, sum_ns: -1_200, squares_ns: 990 * 760 * 760, beyond_1us: 12 };
    let meter = Meter { cpu, messages: 980, too_late: 10, interrupts: 1_000, at_message, ..Meter::default() };
    let background = [(349_000_000, 390_000_000), (1_234, 1_250)];
    let figures = HostStats::new(&metrics, &meter, 8, 400_000_000, background.into_iter());
    figures.with_precompletion(&meter, vec![16_000; 8])
}

/// Response times of a run's requests, spread and multiplied by `scale`.
fn responses(scale: u64) -> ResponseTimes {
    let mut responses = ResponseTimes::default();
    for i in 0..10_000 {
        let completion = Completion {
            id: RequestId(i),
            flow: FlowId(0),
            op: if i % 3 == 0 { Op::Write } else { Op::Read },
            arrival: Time::ZERO,
            done: Time::from_ns(scale * (1_000 + i * 7_919 % 10_007)),
            lpn: Lpn(0),
            pages: (i % 20) as u32 + 1,
            bytes: 4_096,
            tags: 0,
        };
        responses.record(&completion).expect("few requests are held in memory");
    }
    responses
}
