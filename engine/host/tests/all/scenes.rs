//! The hand-worked statements about precompletion (model 8.3), each with exact times.

use crate::common::{Script, USUAL, figures, plain, pre, reads, us};
use flashlane_core::{Duration, FlowId, Op, RequestId, Time};
use flashlane_host::{Background, Completion, Config, Costs, Fairness, Host, Io, Work};

/// A burner on the only CPU, and 11 us from a message to the thread running.
fn beside_a_burner(completion: Completion) -> Config {
    let background = vec![Background { work: Work::Burn, threads: 1, nice: 0 }];
    let costs = Costs { irq: us(30), wake: us(30), switch: us(50), submit: Duration::ZERO };
    Config { costs, background, ..plain(completion) }
}

/// The figures of the last of ten reads; the last follows `last`.
fn last(config: &Config, last: Script) -> (u64, u64) {
    let (seen, ..) = reads(config, 10, |i| if i == 9 { last } else { USUAL });
    figures(&seen[9])
}

/// A-PRE-02.
#[test]
fn latency_and_spinning_of_every_method() {
    let of = |completion| last(&beside_a_burner(completion), USUAL);
    let windows = [4, 8, 11, 16, 32].map(|window| of(pre(window)));
    assert_eq!(windows, [(3_880, 0), (3_840, 0), (3_810, 0), (3_810, 50), (3_810, 210)]);
    assert_eq!(of(Completion::Irq), (3_920, 0));
    assert_eq!(of(Completion::Poll), (3_810, 3_810));
}

/// A-PRE-03: completions other than predicted.
#[test]
fn mispredictions() {
    let config = beside_a_burner(pre(16));
    let of = |done| last(&config, Script { ready: done - 90, done, ..USUAL });
    let completions = [3_790, 3_700, 3_650, 3_600, 4_010].map(of);
    assert_eq!(completions, [(3_790, 30), (3_760, 0), (3_760, 0), (3_710, 0), (4_010, 250)]);
}

/// The message follows the issue to the chip, however long the read has waited before; a window longer than the flash time
/// sends it at once (D-PRE-05); a read that is very late lets its thread sleep again (D-PRE-12).
#[test]
fn the_timer_starts_with_the_flash() {
    let config = beside_a_burner(pre(16));
    let later = |wait| Script { issued: 200 + wait, ready: 3_720 + wait, done: 3_810 + wait };
    for wait in [0, 1, 100, 50_000] {
        assert_eq!(last(&config, later(wait)), (3_810 + wait, 50), "{wait}");
    }
    assert_eq!(
        last(&beside_a_burner(pre(400)), USUAL),
        (3_810, 3_810 - 200 - 110),
        "at the issue, 20 us after submission"
    );
    let (seen, mut host, end) = reads(&config, 10, |i| if i == 9 { Script { done: 9_000, ..USUAL } } else { USUAL });
    assert_eq!(figures(&seen[9]), (9_000 + 110, 640), "64 us of spinning, then as an interrupt");
    assert_eq!(host.counted(end).0.gave_up, 1);
    let late = Script { done: 9_000, ..USUAL };
    let spun = [2, 1, 0].map(|window| last(&beside_a_burner(pre(window)), late));
    assert_eq!(spun, [(9_110, 80), (9_110, 40), (9_110, 0)], "four windows, however short");
}

/// The first three reads are not predicted (D-PRE-04).
#[test]
fn a_cold_predictor_says_nothing() {
    let (seen, mut host, end) = reads(&beside_a_burner(pre(16)), 5, |_| USUAL);
    let all: Vec<_> = seen.iter().map(figures).collect();
    assert_eq!(all, [(3_920, 0), (3_920, 0), (3_920, 0), (3_810, 50), (3_810, 50)]);
    let (meter, _) = host.counted(end);
    assert_eq!((meter.cold, meter.messages, meter.interrupts, meter.at_issue.count), (3, 2, 5, 2));
    assert_eq!(meter.at_issue.squares_ns, 0);
}

/// A-PRE-06: every I/O keeps the spinning thread busy for 368 us of its fifth of the CPU.
#[test]
fn spinning_among_cpu_threads() {
    let mut config = plain(Completion::Poll);
    config.costs.submit = us(70);
    config.background = vec![Background { work: Work::Burn, threads: 4, nice: 0 }];
    config.fairness.min_slice = us(3_680);
    config.fairness.period = us(1);
    let (seen, ..) = reads(&config, 50, |_| Script { issued: 0, ready: 3_520, done: 3_610 });
    // A burner began; from the third I/O on the five take turns.
    let latencies = seen[2..].iter().map(|seen| (seen.seen - seen.called).ns() / 100);
    assert!(latencies.clone().all(|latency| latency == 18_400), "{:?}", latencies.collect::<Vec<_>>());
}

/// A-PRE-08: shares of the CPUs left for the background, with a submission that costs 7 us, in ten thousandths.
#[test]
fn what_is_left_for_the_background() {
    let share = |completion, cpus: u32, nice| {
        let mut config = Config { cpus, ..beside_a_burner(completion) };
        config.costs.submit = us(70);
        config.waiting.nice = nice;
        // Ten I/Os to get going; with a raised priority the poller's first slice holds them all.
        let left = |count| {
            let (seen, mut host, end) = reads(&config, count, |_| USUAL);
            assert_eq!(seen.len() as u64, count);
            (host.counted(end).0.cpu.background.ns(), end.since(Time::ZERO).ns())
        };
        let (before, after) = (left(10), left(50));
        let (background, elapsed) = (after.0 - before.0, (after.1 - before.1) * u64::from(cpus));
        (background * 20_000 + elapsed) / (2 * elapsed)
    };
    assert_eq!(share(Completion::Irq, 1, 0), 9_549);
    assert_eq!([8, 16, 32].map(|window| share(pre(window), 1, 0)), [9_540, 9_407, 8_995]);
    assert_eq!(share(Completion::Poll, 1, -20), 0);
    assert_eq!(share(Completion::Poll, 8, -20), 8_750);
    assert_eq!(share(pre(16), 8, 0), 9_926);
}

/// A-PRE-09: mean exposed delay by window, ns, behind sections of 10 us and behind user code.
#[test]
fn the_window_that_hides_the_delay() {
    let costs = Costs { irq: us(15), wake: us(15), switch: us(28), submit: Duration::ZERO };
    let exposed = |work, window: u64| {
        let background = vec![Background { work, threads: 1, nice: 0 }];
        let config = Config { costs, background, ..plain(pre(window)) };
        let (seen, ..) = reads(&config, 5_000, |_| USUAL);
        let late: u64 = seen[10..].iter().map(|seen| (seen.seen - seen.done).ns()).sum();
        late / (seen.len() as u64 - 10)
    };
    let sections = Work::Io { section: us(100), device: Duration::ZERO };
    let measured = [0, 2, 4, 8, 12, 16].map(|window| exposed(sections, window));
    for (measured, stated) in measured.into_iter().zip([10_800u64, 8_800, 6_800, 3_042, 722, 0]) {
        assert!(measured.abs_diff(stated) <= 5, "{measured} ns for {stated}");
    }
    assert_eq!([0, 2, 4, 8].map(|window| exposed(Work::Burn, window)), [5_800, 3_800, 1_800, 0]);
}

/// Beside one burner: slices of 12 ms, a granularity of 4 ms, and nothing but submitting costs anything.
fn in_slices_of_12_ms(submit: Duration) -> Config {
    let fairness = Fairness { wakeup_granularity: us(40_000), ..plain(Completion::Irq).fairness };
    let costs = Costs { submit, ..plain(Completion::Irq).costs };
    let background = vec![Background { work: Work::Burn, threads: 1, nice: 0 }];
    Config { fairness, costs, background, ..plain(Completion::Irq) }
}

/// A-PRE-10: while the thread sleeps for a second, only the burner runs; then it is half a period behind the burner, not the whole
/// second. It has 12 ms until they are equal, the next 12 as the one in the foreground, and from then on they take turns.
#[test]
fn a_woken_thread_is_half_a_period_behind() {
    let config = in_slices_of_12_ms(us(400_000));
    let (seen, ..) = reads(&config, 4, |_| Script { issued: 0, ready: 9_000_000, done: 10_000_000 });
    let submissions: Vec<u64> = seen.iter().map(|seen| (seen.submitted - seen.called).ns() / 1_000_000).collect();
    // 24, 12 and 4 ms of its own and the burner's 12 between; at the start the burner has the first slice too.
    assert_eq!(submissions, [40 + 36, 40 + 24, 40 + 24, 40 + 24]);
    assert!(seen.iter().all(|seen| seen.seen == seen.done), "each time it takes the CPU at once");
}

/// A completion at the very instant at which its spinning thread's slice is over is seen; one that comes later waits for the thread's next.
#[test]
fn a_completion_comes_before_the_end_of_a_slice() {
    let mut config = in_slices_of_12_ms(Duration::ZERO);
    config.waiting.completion = Completion::Poll;
    // After the burner's first slice the thread has two, the second as the one in the foreground.
    let exposed = |done| {
        let (seen, ..) = reads(&config, 1, |_| Script { issued: 0, ready: 0, done });
        (seen[0].seen - seen[0].done).ns() / 100
    };
    assert_eq!([240_000, 240_001].map(exposed), [0, 119_999]);
}

/// Background threads are runnable before the first call of time 0: the burner has the first slice. The first thread of a CPU is not
/// switched to; one that is woken when the CPU has become idle is.
#[test]
fn at_time_0_the_cpu_is_the_burners() {
    let mut config = in_slices_of_12_ms(us(70));
    config.costs.switch = us(50);
    let (seen, ..) = reads(&config, 1, |_| USUAL);
    assert_eq!((seen[0].submitted - seen[0].called).ns() / 100, 120_000 + 50 + 70);
    config.background.clear();
    let (seen, ..) = reads(&config, 2, |_| USUAL);
    let added =
        seen.iter().map(|seen| [seen.submitted - seen.called, seen.seen - seen.done].map(|time| time.ns() / 100));
    assert_eq!(added.collect::<Vec<_>>(), [[70, 50], [70, 50]]);
}

/// A flush and a write with force unit access sleep until the interrupt where others spin: with polling, and with space in the buffer.
#[test]
fn what_is_no_plain_read_or_write_is_waited_for_by_interrupt() {
    let mut with_space = plain(Completion::Irq);
    (with_space.waiting.buffer_hits, with_space.buffer_pages) = (true, Some(64));
    for (config, op) in
        [(plain(Completion::Poll), Op::Flush), (plain(Completion::Poll), Op::Read), (with_space, Op::Write)]
    {
        let interrupts = [false, true].map(|plain| {
            let mut host = Host::new(&config);
            host.call(Time::ZERO, Io { id: RequestId(0), flow: FlowId(0), op, plain, page: 0, pages: 1 });
            host.settle(Time::ZERO);
            while host.submissions().is_empty() {
                let now = host.next_event();
                host.advance(now);
                host.settle(now);
            }
            let done = host.next_event().min(Time::from_ns(1_000_000)).max(Time::from_ns(500_000));
            host.advance(done);
            host.completed(done, RequestId(0), Some(64));
            host.settle(done);
            while host.seen().is_empty() {
                let now = host.next_event();
                host.advance(now);
                host.settle(now);
            }
            let seen = host.seen()[0].seen;
            host.counted(seen).0.interrupts
        });
        assert_eq!(interrupts, [1, 0], "{op:?}");
    }
}

/// A thread that spins when counting ends has spun up to then: 5 us of submission, and of 100 us the rest. What it spins afterwards is not
/// counted, and what it did not sleep through is not submission.
#[test]
fn spinning_under_way_counts() {
    let of = |completion, end: u64| {
        let mut config = plain(completion);
        config.costs.submit = us(50);
        let mut host = Host::new(&config);
        let io = Io { id: RequestId(0), flow: FlowId(0), op: Op::Read, plain: true, page: 0, pages: 1 };
        host.call(Time::ZERO, io);
        host.settle(Time::ZERO);
        let mut now = Time::ZERO;
        while host.next_event() <= Time::from_ns(end) {
            now = host.next_event();
            host.advance(now);
            host.settle(now);
        }
        assert!(now <= Time::from_ns(end) && host.seen().is_empty());
        let cpu = host.counted(Time::from_ns(end)).0.cpu;
        [cpu.submit, cpu.spin].map(Duration::ns)
    };
    assert_eq!(of(Completion::Poll, 100_000), [5_000, 95_000]);
    assert_eq!(of(Completion::Poll, 5_000), [5_000, 0]);
    assert_eq!(of(Completion::Poll, 3_000), [3_000, 0]);
    assert_eq!(of(Completion::Irq, 100_000), [5_000, 0]);
}

/// Background alone: burners share the CPU time, I/O threads do one section per round.
#[test]
fn the_background_by_itself() {
    let mut config = plain(Completion::Irq);
    config.cpus = 2;
    let io = |device| Work::Io { section: us(100), device };
    config.background = vec![Background { work: Work::Burn, threads: 3, nice: 0 }];
    let second = Time::from_ns(1_000_000_000);
    assert_eq!(Host::background_alone(&config, second).operations, [2_000_000_000]);
    config.background = vec![Background { work: io(us(900)), threads: 1, nice: 0 }];
    assert_eq!(Host::background_alone(&config, second).operations, [20_000]);
    config.costs = Costs { irq: us(15), wake: us(15), switch: us(28), submit: Duration::ZERO };
    let rounds = 2 * (1_000_000 / 1_058) + 2;
    assert!(Host::background_alone(&config, second).operations[0].abs_diff(10 * rounds) < 20);
}
