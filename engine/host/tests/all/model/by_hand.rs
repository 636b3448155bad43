//! Scenes worked by hand, times in microseconds: who has which CPU when, and when a thread therefore sees its I/O. Unless a scene says
//! otherwise an interrupt takes 1 us, waking 2, a switch 3, a submission 5; the period is 240 us, the shortest slice 30, the granularity 40.
//! The host and its plain model must both do what the hand says.

use flashlane_core::{Duration, Op, Time};
use flashlane_host::{Background, Completion, Config, Costs, Fairness, Host, Predictor, Waiting, WindowChoice, Work};

use crate::common;
use crate::model::plain::Plain;
use crate::model::scene::device::{Fate, Tables, geometry};
use crate::model::scene::{Application, RunResult, Scene, Stepped, play};

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// One CPU without background, before a device with room for eight reads at once.
fn host(completion: Completion) -> Config {
    let plain = common::plain(completion);
    Config {
        waiting: Waiting { read_hit_spin: us(20), ..plain.waiting },
        costs: Costs { irq: us(1), wake: us(2), switch: us(3), submit: us(5) },
        fairness: Fairness { period: us(240), min_slice: us(30), wakeup_granularity: us(40) },
        geometry: geometry(1, 8),
        ..plain
    }
}

fn beside(host: Config, background: &[Background]) -> Config {
    Config { background: background.to_vec(), ..host }
}

fn burner(nice: i8) -> Background {
    Background { work: Work::Burn, threads: 1, nice }
}

/// Precompletion with a fixed window, in microseconds.
fn early(window: u64, predictor: Predictor) -> Completion {
    Completion::Precompletion { window: WindowChoice::Fixed(us(window)), predictor }
}

/// Reads that take the given times in turn, on a device whose transfers take no time. Threads begin at `begins`, and go on at once when they have seen
/// a read, until `count` have been asked for.
fn reads(host: Config, takes: &[u64], begins: &[u64], count: u64) -> Scene {
    let device = Tables {
        geometry: host.geometry,
        array: takes.iter().map(|&takes| takes * 1_000).collect(),
        bytes: vec![4096],
        sector: 0,
        gap: 0,
        link: vec![0],
        fates: vec![Fate::Flash],
        memory: 0,
        free: vec![None],
        pairs: false,
        own: Vec::new(),
    };
    let application = Application {
        begins: begins.iter().map(|&at| at * 1_000).collect(),
        think: vec![0],
        ios: (0..8).map(|page| (Op::Read, page, 1)).collect(),
    };
    Scene { host, device, applications: vec![application], count }
}

/// What comes of a scene, which host and plain model must agree on.
fn played(scene: &Scene) -> RunResult {
    scene.host.check().expect("legal");
    let plain = play(scene, Plain::new(&scene.host));
    for left_behind in [false, true] {
        assert_eq!(play(scene, Stepped::new(&scene.host, left_behind)), plain, "left behind: {left_behind}");
    }
    plain
}

/// When each I/O was submitted, done and seen, ns, in the order in which they were asked for.
fn instants(scene: &Scene) -> Vec<[u64; 3]> {
    let mut seen = played(scene).seen;
    seen.sort_by_key(|seen| seen.id);
    seen.iter().map(|seen| [seen.submitted, seen.done, seen.seen].map(Time::ns)).collect()
}

/// The same in whole microseconds.
fn in_us(scene: &Scene) -> Vec<[u64; 3]> {
    let whole = |ns: u64| {
        assert_eq!(ns % 1_000, 0, "{ns} ns");
        ns / 1_000
    };
    instants(scene).iter().map(|times| times.map(whole)).collect()
}

/// The burner has the first slice, 120 of 240. At 120 it has had 120 and the reader nothing: switch to 123, submission to 128, and the
/// burner at once. The read is done at 228, its interrupt over at 231. The burner has had 220, and the floor with it; the reader had 5 and
/// is put at 220 - 120 = 100, 120 behind and more than 40: it preempts, runs at 234. Then: submitted at 239, had 105; done at 339, burner
/// 220 + 100 = 320, reader at 200: runs at 345.
#[test]
fn a_woken_thread_preempts_at_once() {
    let scene = reads(beside(host(Completion::Irq), &[burner(0)]), &[100], &[0], 2);
    assert_eq!(in_us(&scene), [[128, 228, 234], [239, 339, 345]]);
}

/// The same with a granularity of exactly the 120 that the reader is behind, which is not more: the burner, 100 into its second slice of 120 at
/// 231, goes on to 251. Then the reader has the least: it runs at 254. With a nanosecond less it runs at 234.
#[test]
fn a_thread_that_is_behind_by_the_granularity_waits() {
    let behind = |granularity| {
        let mut host = beside(host(Completion::Irq), &[burner(0)]);
        host.fairness.wakeup_granularity = Duration::from_ns(granularity);
        instants(&reads(host, &[100], &[0], 1))[0][2]
    };
    assert_eq!([120_000, 119_999].map(behind), [254_000, 234_000]);
}

/// A reader of nice 5 (weight 336) beside a burner of nice 0 (1,024). Slice of the burner: 240 * 1024 / 1360 = 180.705 (of 180.7058), at its end
/// the switch: 183.705, submitted at 188.705, done at 288.705, interrupt over at 291.705. The burner has had 280.705, so the reader is put at
/// 160.705, 120 behind. 40 us of its own count 40 * 1024 / 336 = 121.904: it does not preempt. The burner is 100 into its slice and has
/// 80.705 left: 372.410, and the switch.
#[test]
fn the_granularity_is_the_woken_ones() {
    let mut config = beside(host(Completion::Irq), &[burner(0)]);
    config.waiting.nice = 5;
    assert_eq!(instants(&reads(config, &[100], &[0], 1)), [[188_705, 288_705, 375_410]]);
    // The other way round the burner counts 3.0476 for each: slice 240 * 336 / 1360 = 59.294, had floor(59.294 * 1024 / 336) = 180.705.
    // The reader submits at 67.294, is done at 167.294; had 180.705 + 304.761 = 485.466 at 167.294 it is put at 365.466: preempts at 170.294.
    let config = beside(host(Completion::Irq), &[burner(5)]);
    assert_eq!(instants(&reads(config, &[100], &[0], 1)), [[67_294, 167_294, 173_294]]);
}

/// Burners of nice -1 (1,280) and 0 (1,024): of a period of 23.04 ms 12.8 and 10.24, and 12.8 ms at 1,280 count as 10.24: they are equal
/// after each round, and the first goes first. After five rounds and 13 ms: 76.8 ms and 51.4.
#[test]
fn two_burners_share_by_weight() {
    let mut config = beside(host(Completion::Irq), &[burner(-1), burner(0)]);
    config.fairness = Fairness { period: us(23_040), min_slice: us(3_000), wakeup_granularity: us(4_000) };
    config.costs.switch = Duration::ZERO;
    let until = |ms: u64| Host::background_alone(&config, Time::from_ns(ms * 100_000)).operations;
    assert_eq!(until(128), [12_800_000, 0]);
    assert_eq!(until(1152 + 130), [76_800_000, 51_400_000]);
}

/// Two burners and two readers, all new, a quarter of 240 each. The first burner has 60. Of the three that have had nothing the readers go first,
/// the older before the younger, though both were made after the second burner: 63 + 5 = 68 and, as giving up costs no switch, 73.
#[test]
fn of_equals_the_foreground_goes_first() {
    let two = Background { threads: 2, ..burner(0) };
    let scene = reads(beside(host(Completion::Irq), &[two]), &[400], &[0, 0], 2);
    let submitted: Vec<u64> = in_us(&scene).iter().map(|times| times[0]).collect();
    assert_eq!(submitted, [68, 73]);
}

/// The floor is the least that anyone runnable has had. Beside two burners: the first has a third of 240, 80, then the reader submits at 88 and the
/// second goes on. From then on they take turns of 120 with a switch of 3 between: the second from 88, 334, 580, 826 and 1,072, the first from 211, 457,
/// 703 and 949. When the read is done at 1,088 the first has had 80 + 4 * 120 = 560 and the second 4 * 120 + 16 = 496. So the reader is put at
/// 496 - 120 = 376 when the interrupt is over, and runs at 1,094.
#[test]
fn the_floor_is_the_least_of_all_that_are_runnable() {
    let two = Background { threads: 2, ..burner(0) };
    let mut config = beside(host(Completion::Irq), &[two]);
    assert_eq!(in_us(&reads(config.clone(), &[1_000], &[0], 2))[..1], [[88, 1_088, 1_094]]);
    // With a granularity of 120 it must wait for the end of a slice: the second's began at 1,072, the interrupt took 3, and from 1,091 it is
    // one of three: 80 less 16, to 1,155.
    config.fairness.wakeup_granularity = us(120);
    assert_eq!(in_us(&reads(config, &[1_000], &[0], 1)), [[88, 1_088, 1_158]]);
}

/// A poller that looks every 7 us: a read of 98 us is seen at once, one of 99 at 105.
#[test]
fn a_poller_looks_at_intervals() {
    let mut config = host(Completion::Poll);
    config.waiting.poll_interval = us(7);
    let seen = |takes| in_us(&reads(config.clone(), &[takes], &[0], 1))[0];
    assert_eq!([98, 99, 105].map(seen), [[5, 103, 103], [5, 104, 110], [5, 110, 110]]);
}

/// Two pollers on a CPU, slices of 120. The first submits at 5, spins, and sees its read at 105; the second then has the CPU without a switch and
/// submits at 110. With reads of 130 the first has had its slice at 120: switch to 123, submission to 128, and the second spins until its own
/// slice is over at 243. They are equal, so the older goes on, at 246, and finds its read done since 135; then the second, which sees its own at 258.
#[test]
fn pollers_take_turns() {
    let seen = |takes| in_us(&reads(host(Completion::Poll), &[takes], &[0, 0], 2));
    assert_eq!(seen(100), [[5, 105, 105], [110, 210, 210]]);
    assert_eq!(seen(130), [[5, 135, 246], [128, 258, 258]]);
}

/// Three reads of one CPU complete at once. Each interrupt takes 3, one after the other: 108, 111, 114; then one switch, and each sees its own in turn.
#[test]
fn completions_queue_on_a_cpu() {
    let scene = reads(host(Completion::Irq), &[100, 95, 90], &[0, 0, 0], 3);
    assert_eq!(in_us(&scene), [[5, 105, 117], [10, 105, 117], [15, 105, 117]]);
    // Done at 105, 110, 115: interrupt to 108, switch to 111, seen; the second's interrupt waits for the switch, 111 to 114, the second has the CPU
    // from the first without a switch; the third's from 115 to 118 on an idle CPU, switch to 121.
    let scene = reads(host(Completion::Irq), &[100], &[0, 0, 0], 3);
    assert_eq!(in_us(&scene), [[5, 105, 111], [10, 110, 114], [15, 115, 121]]);
}

/// A thread in the background works 20 us that cannot be preempted, then waits 50 for its device. It begins; the reader submits from 20 to 25.
/// Done at 65: 68, 71; the alarm of 70 waits for the switch. Done at 70 with the alarm: the completion's interrupt first, to 73, then the alarm's
/// to 76, then the reader, which has had less, at 79. Done at 75: the background is switched to at 76 (73 + 3) and interrupted at once, to 79;
/// at 79 the reader is 15 behind, less than 40: the section ends at 99 and gives the CPU up.
#[test]
fn sections_in_the_kernel_are_not_preempted() {
    let io = Background { work: Work::Io { section: us(20), device: us(50) }, threads: 1, nice: 0 };
    let seen = |takes| in_us(&reads(beside(host(Completion::Irq), &[io]), &[takes], &[0], 1))[0];
    assert_eq!([40, 45, 50].map(seen), [[25, 65, 71], [25, 70, 79], [25, 75, 99]]);
    // Without a granularity it preempts, but not inside the section.
    let mut config = beside(host(Completion::Irq), &[io]);
    config.fairness.wakeup_granularity = Duration::ZERO;
    assert_eq!(in_us(&reads(config, &[50], &[0], 1)), [[25, 75, 99]]);
}

/// Threads are made in turn over the CPUs, and the one that finished last is used first. Reads of 100, 40 and 60 us begin at 0: the first and
/// third on CPU 0, the second on CPU 1. They are seen at 105 + 6, 45 + 6 and 70 + 6. Two more at 200 are then the first's and the
/// third's, one after the other on CPU 0: a switch (from idle), 208 and 213; a third is the second's, on CPU 1: 208.
#[test]
fn the_thread_that_finished_last_is_used_first() {
    let mut config = host(Completion::Irq);
    config.cpus = 2;
    let mut scene = reads(config, &[100, 40, 60, 10, 10, 10], &[0, 0, 0, 200, 200, 200], 6);
    scene.applications[0].think = vec![9_999_000];
    let made = in_us(&scene);
    assert_eq!(made[..3], [[5, 105, 111], [5, 45, 51], [10, 70, 76]]);
    let submitted: Vec<u64> = made[3..].iter().map(|times| times[0]).collect();
    assert_eq!(submitted, [208, 213, 208]);
}

/// The first three reads of a predictor are interrupted at their ends (6 us late), the fourth 20 us before: submitted at 5 + 3 * 111 = 338, done at
/// 438, message at 418, runs at 424, spins for 14 and sees it at 438. A window of 6 hides the delay exactly, without spinning.
#[test]
fn a_message_hides_the_delay() {
    let of = |window| {
        let made = played(&reads(host(early(window, Predictor::AtIssue)), &[100], &[0], 4));
        let fourth = made.seen[3];
        ((fourth.seen - fourth.done).ns(), fourth.spun.ns(), made.meter.messages, made.meter.cold)
    };
    assert_eq!([20, 6, 5, 0].map(of), [(0, 14_000, 1, 3), (0, 0, 1, 3), (1_000, 0, 1, 3), (6_000, 0, 0, 3)]);
}

/// An adaptive window begins at zero. After four observations, each 6 us, it is what leaves 0.2 of them.
#[test]
fn a_window_adapts() {
    let completion = Completion::Precompletion { window: WindowChoice::Adaptive, predictor: Predictor::AtIssue };
    let made = played(&reads(host(completion), &[100], &[0], 6));
    let late: Vec<u64> = made.seen.iter().map(|seen| (seen.seen - seen.done).ns()).collect();
    assert_eq!(late, [6_000, 6_000, 6_000, 6_000, 200, 200]);
    assert_eq!(made.windows, [Duration::from_ns(5_800)]);
}

/// A read that the memory was thought to hold is spun for, 20 us, then its thread sleeps; the device's free pages are not its concern.
#[test]
fn a_read_is_spun_for_as_long_as_told() {
    let mut config = host(Completion::Irq);
    (config.waiting.read_hits, config.buffer_pages) = (true, Some(4));
    let mut scene = reads(config, &[100], &[0], 3);
    scene.applications[0].ios = vec![(Op::Read, 0, 1)];
    scene.device.memory = 10_000;
    // From memory; taken for a hit and the flash is needed: 20 of spinning, then an interrupt; no longer taken for one.
    scene.device.fates = vec![Fate::Memory, Fate::Flash, Fate::Flash];
    let made = played(&scene);
    let figures: Vec<(u64, u64)> =
        made.seen.iter().map(|seen| ((seen.seen - seen.submitted).ns() / 1_000, seen.spun.ns() / 1_000)).collect();
    assert_eq!(figures, [(16, 0), (106, 20), (106, 0)]);
    let reads = made.meter.reads;
    assert_eq!((reads.hit, reads.miss, reads.unseen, made.meter.gave_up), (0, 1, 1, 0));
}

/// Each flow has four pages of the buffer. Writes of three pages that begin together: both fit, each in its own part; in a common one only the first
/// does. Done after 10 us, seen at once by who spins and 6 us later by who sleeps.
#[test]
fn parts_of_the_buffer_are_counted_apart() {
    let of = |per_flow| {
        let mut config = host(Completion::Irq);
        config.cpus = 2;
        (config.waiting.buffer_hits, config.buffer_pages, config.buffer_per_flow) = (true, Some(4), per_flow);
        let mut scene = reads(config, &[100], &[0], 2);
        (scene.device.fates, scene.device.memory) = (vec![Fate::Memory], 10_000);
        scene.applications[0].ios = vec![(Op::Write, 0, 3)];
        scene.applications.push(scene.applications[0].clone());
        let made = in_us(&scene);
        [made[0][2], made[1][2]]
    };
    assert_eq!([true, false].map(of), [[15, 15], [15, 21]]);
}
