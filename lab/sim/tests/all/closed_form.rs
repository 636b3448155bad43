//! The device compared with closed forms: waiting times at one chip, Little's law, saturation bandwidth, write
//! amplification.
//!
//! A mean wait at 90 % load needs tens of millions of requests before 1 % is significant. So each queueing test has two
//! parts. Every completion of the device must equal, to the nanosecond, that of a plain recursion of a few lines with
//! the same arrivals; and the recursion's mean over many more arrivals, with its standard error from batch means, must
//! agree with the formula. (In terms of simulation, the recursion is a perfectly correlated control variate.)

use std::collections::VecDeque;

use crate::common::{device, one_plane, recipe};
use crate::theory::bandwidth::read_saturation;
use crate::theory::collection::{Pool, greedy};
use crate::theory::queueing::{Stream, little_jobs, md1_wait_ns, mg1_wait_ns, priority_waits_ns};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::{Completion, Duration, Extent, FlowId, Lpn, Request, RequestId, Time};
use flashlane_scenario::Scenario;
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::Device;
use flashlane_ssd::config::{Config, Latency, Precondition};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A Poisson stream with times in whole nanoseconds.
struct Poisson {
    rng: Pcg64Mcg,
    mean_gap: f64,
    at: f64,
}

impl Poisson {
    fn new(seed: u128, mean_gap: f64) -> Poisson {
        Poisson { rng: Pcg64Mcg::new(seed), mean_gap, at: 0.0 }
    }

    fn next(&mut self) -> u64 {
        let uniform = ((self.rng.next_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        self.at -= uniform.ln() * self.mean_gap;
        self.at as u64
    }
}

/// A job: its arrival time, its class (0 goes first), its service time.
#[derive(Clone, Copy)]
struct Job {
    at: u64,
    class: usize,
    takes: u64,
}

/// One server with two queues and no preemption: the plain model of one chip.
#[derive(Default)]
struct Server {
    lines: [VecDeque<(usize, Job)>; 2],
    free: u64,
    jobs: usize,
}

impl Server {
    /// Serves what begins before `end`, and calls `began(job number, job, instant)` for each. An arrival at an instant
    /// is seen by the decision at that instant.
    fn until(&mut self, end: u64, began: &mut impl FnMut(usize, Job, u64)) {
        loop {
            let heads = self.lines.iter().filter_map(|line| line.front()).map(|(_, job)| job.at);
            let Some(first) = heads.min() else { return };
            let now = self.free.max(first);
            if now >= end {
                return;
            }
            let ready = |line: &VecDeque<(usize, Job)>| line.front().is_some_and(|(_, job)| job.at <= now);
            let class = usize::from(!ready(&self.lines[0]));
            let (number, job) = self.lines[class].pop_front().expect("one is ready");
            self.free = now + job.takes;
            began(number, job, now);
        }
    }

    fn arrives(&mut self, job: Job, began: &mut impl FnMut(usize, Job, u64)) {
        self.until(job.at, began);
        self.lines[job.class].push_back((self.jobs, job));
        self.jobs += 1;
    }
}

/// A mean and its standard error, by batch means.
#[derive(Default)]
struct Batches {
    means: Vec<f64>,
    sum: f64,
    count: u64,
    size: u64,
}

impl Batches {
    fn of(size: u64) -> Batches {
        Batches { size, ..Batches::default() }
    }

    fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1;
        if self.count == self.size {
            self.means.push(self.sum / self.size as f64);
            (self.sum, self.count) = (0.0, 0);
        }
    }

    fn mean_and_error(&self) -> (f64, f64) {
        let n = self.means.len() as f64;
        let mean = self.means.iter().sum::<f64>() / n;
        let variance = self.means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    }

    /// Checks that the mean is within 1 % of `expected`, and that its standard error is small enough: 1 % is at least
    /// three of them.
    fn agrees(&self, what: &str, expected: f64) {
        let (mean, error) = self.mean_and_error();
        let text = format!("{what}: {mean:.1} ns, standard error {error:.1}, formula {expected:.1}");
        println!("{text}");
        assert!(3.0 * error < 0.01 * expected, "too few jobs to tell: {text}");
        assert!((mean / expected - 1.0).abs() < 0.01, "{text}");
    }
}

/// One chip of one plane, with transfers that take no time.
fn one_chip() -> Config {
    let mut config = one_plane();
    config.bus.mega_transfers = u32::MAX;
    config
}

fn submit(device: &mut Device, id: u64, at: u64, op: Op, extent: Extent<'_>) {
    let now = Time::from_ns(at);
    device.advance(now);
    let request = Request { id: RequestId(id), flow: FlowId(0), op, fua: false, arrival: now, extent };
    device.submit(now, &request).expect("within the drive");
}

/// Feeds `jobs` arrivals to the device and to the plain server; every completion must be the same.
fn device_is_the_server(config: &Config, recipe: &Recipe, jobs: usize, mut next: impl FnMut(usize) -> (Job, Op, Lpn)) {
    let mut device = device(config, recipe);
    let mut server = Server::default();
    let mut ends = vec![0; jobs];
    let mut note = |number: usize, job: Job, now: u64| ends[number] = now + job.takes;
    let mut done: Vec<Completion> = Vec::new();
    for i in 0..jobs {
        let (job, op, lpn) = next(i);
        submit(&mut device, i as u64, job.at, op, Extent::Pages(&[lpn]));
        server.arrives(job, &mut note);
        done.append(device.completions());
    }
    server.until(u64::MAX, &mut note);
    crate::common::drain(&mut device);
    done.append(device.completions());
    assert_eq!(done.len(), jobs);
    for c in done {
        assert_eq!(c.done.ns(), ends[c.id.0 as usize], "request {} of {} ns", c.id.0, c.arrival);
    }
}

const READ_NS: u64 = 75_000;

#[test]
fn mean_wait_of_one_chip_is_that_of_m_d_1() {
    let service = READ_NS as f64;
    for (load, jobs, size) in [(0.3, 4_000_000, 40_000), (0.6, 6_000_000, 60_000), (0.9, 48_000_000, 600_000)] {
        let rate = load / service;
        let mut arrivals = Poisson::new(11, 1.0 / rate);
        device_is_the_server(&one_chip(), &recipe("fcfs", &[]), 200_000, |_| {
            let job = Job { at: arrivals.next(), class: 0, takes: READ_NS };
            (job, Read, Lpn(arrivals.rng.next_u32() % 6144))
        });
        let mut waits = Batches::of(size);
        let mut arrivals = Poisson::new(12, 1.0 / rate);
        let mut free = 0;
        for _ in 0..jobs {
            let at = arrivals.next();
            let now = at.max(free);
            free = now + READ_NS;
            waits.add((now - at) as f64);
        }
        waits.agrees(&format!("M/D/1 at {load}"), md1_wait_ns(rate, service).expect("stable"));
    }
}

#[test]
fn mean_wait_with_fast_and_slow_pages_is_that_of_m_g_1() {
    let (fast, slow) = (25_000, 175_000);
    let mut config = one_chip();
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.nand.read = Latency::fast_slow(Duration::from_ns(fast), Duration::from_ns(slow));
    let takes = |odd: bool| if odd { slow } else { fast };
    let stream = Stream {
        rate_per_ns: 0.7 / ((fast + slow) as f64 / 2.0),
        service_ns: (fast + slow) as f64 / 2.0,
        service_squared_ns2: (fast * fast + slow * slow) as f64 / 2.0,
    };
    let mut arrivals = Poisson::new(21, 1.0 / stream.rate_per_ns);
    device_is_the_server(&config, &recipe("fcfs", &[]), 200_000, |_| {
        // Filling writes logical pages in order, so an odd page is at an odd offset: a slow page.
        let lpn = arrivals.rng.next_u32() % 6144;
        let job = Job { at: arrivals.next(), class: 0, takes: takes(lpn % 2 == 1) };
        (job, Read, Lpn(lpn))
    });
    let mut waits = Batches::of(120_000);
    let mut arrivals = Poisson::new(22, 1.0 / stream.rate_per_ns);
    let mut free = 0;
    for _ in 0..12_000_000 {
        let at = arrivals.next();
        let now = at.max(free);
        free = now + takes(arrivals.rng.next_u64() >> 63 == 1);
        waits.add((now - at) as f64);
    }
    waits.agrees("M/G/1 at 0.7", mg1_wait_ns(&stream).expect("stable"));
}

#[test]
fn read_first_is_a_priority_queue_of_two_classes() {
    let mut config = one_chip();
    // Room for every write without garbage collection.
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (1024, 256);
    config.ftl.logical_pages = 200_000;
    let program = 1_300_000;
    let takes = [READ_NS, program];
    let classes = [Stream::constant(0.3 / 75e3, 75e3), Stream::constant(0.4 / 1300e3, 1300e3)];
    let rate = classes[0].rate_per_ns + classes[1].rate_per_ns;
    let reads = classes[0].rate_per_ns / rate;
    let class_of = |rng: &mut Pcg64Mcg| usize::from(rng.next_u64() as f64 >= reads * 2f64.powi(64));
    let mut arrivals = Poisson::new(31, 1.0 / rate);
    let mut written = 1000;
    device_is_the_server(&config, &recipe("read-first", &[]), 400_000, |_| {
        let class = class_of(&mut arrivals.rng);
        let job = Job { at: arrivals.next(), class, takes: takes[class] };
        // Reads and writes go to different pages, each written once: nothing is served from memory, nothing is
        // collected.
        let lpn = if class == 0 { arrivals.rng.next_u32() % 1000 } else { written };
        written += class as u32;
        (job, [Read, Write][class], Lpn(lpn))
    });
    let mut waits = [Batches::of(200_000), Batches::of(15_000)];
    let mut server = Server::default();
    let mut arrivals = Poisson::new(32, 1.0 / rate);
    let mut note = |_, job: Job, now: u64| waits[job.class].add((now - job.at) as f64);
    for _ in 0..28_000_000 {
        let class = class_of(&mut arrivals.rng);
        server.arrives(Job { at: arrivals.next(), class, takes: takes[class] }, &mut note);
    }
    let expected = priority_waits_ns(&classes);
    waits[0].agrees("reads before writes: reads", expected[0].expect("stable"));
    waits[1].agrees("reads before writes: writes", expected[1].expect("stable"));
}

/// The number of requests present, integrated over time, equals the sum of their response times: on any device, to the
/// nanosecond.
#[test]
fn littles_law() {
    let mut config = crate::common::table1(2, 2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 16);
    config.ftl.logical_pages = config.geometry.planes() * 16 * 17;
    config.precondition = Precondition::Steady;
    let mut device = device(&config, &recipe("sprinkler", &[]));
    let mut arrivals = Poisson::new(41, 700_000.0);
    let (mut area, mut last, mut done) = (0u128, 0u64, Vec::new());
    let mut pass = |device: &mut Device, to: u64| {
        area += u128::from(to - last) * device.outstanding() as u128;
        last = to;
    };
    for i in 0..20_000u64 {
        let at = arrivals.next();
        loop {
            let next = device.next_event().ns();
            if next >= at {
                break;
            }
            pass(&mut device, next);
            device.advance(Time::from_ns(next));
        }
        pass(&mut device, at);
        let op = if arrivals.rng.next_u32().is_multiple_of(3) { Write } else { Read };
        let first = arrivals.rng.next_u32() % (config.ftl.logical_pages - 4);
        let length = 8192 * u64::from(1 + arrivals.rng.next_u32() % 4);
        submit(&mut device, i, at, op, Extent::Bytes { offset: u64::from(first) * 8192, length });
        done.append(device.completions());
    }
    loop {
        let next = device.next_event();
        if next == Time::NEVER {
            break;
        }
        pass(&mut device, next.ns());
        device.advance(next);
    }
    done.append(device.completions());
    let responses: u128 = done.iter().map(|c| u128::from((c.done - c.arrival).ns())).sum();
    assert_eq!(done.len(), 20_000);
    assert_eq!(area, responses);
    assert!(device.totals().erases > 100, "garbage collection takes part");
    let (span, count) = (last as f64, done.len() as f64);
    let present = little_jobs(count / span, responses as f64 / count);
    assert!((present / (area as f64 / span) - 1.0).abs() < 1e-9);
}

/// The preset with fewer blocks: their number does not affect reads.
fn flin() -> Config {
    let text = "[device]\npreset = \"flin-isca18\"\ngeometry.blocks_per_plane = 64\nftl.user_gb = 7\n\
                precondition.state = \"fresh\"\n[[flow]]\nsynthetic = { rate_iops = 1, requests = 1 }\n";
    Scenario::parse("saturation", text.to_owned()).unwrap().device_config().unwrap()
}

/// Bytes per second of random reads of `length`, with thousands outstanding.
fn saturated(config: &Config, recipe: &Recipe, length: u64) -> f64 {
    let mut device = device(config, recipe);
    let mut rng = Pcg64Mcg::new(51);
    let (outstanding, reads, warm_up) = (4096, 200_000, 40_000);
    let (mut id, mut seen, mut from) = (0, 0, Time::ZERO);
    while seen < reads {
        while id < seen + outstanding {
            let offset = u64::from(rng.next_u32() % config.ftl.logical_pages) * 8192;
            let now = device.now().ns();
            submit(&mut device, id, now, Read, Extent::Bytes { offset, length });
            id += 1;
        }
        let next = device.next_event();
        device.advance(next);
        for _ in device.completions().drain(..) {
            seen += 1;
            if seen == warm_up {
                from = next;
            }
        }
    }
    (seen - warm_up) as f64 * length as f64 * 1e9 / (device.now() - from).ns() as f64
}

/// Model 2.2, capacity note: one read in each command.
#[test]
fn saturation_bandwidth_of_the_flin_device() {
    let config = flin();
    let single = recipe("fcfs", &[("fcfs_widen", 0)]);
    for (length, published) in [(8192u32, 2.63e9), (4096, 1.50e9)] {
        let measured = saturated(&config, &single, length.into());
        let theory = read_saturation(&config, length).bytes_per_s();
        println!("{length} B reads: {measured:.4e} B/s, published {published:.3e}, theory {theory:.4e}");
        assert!((measured / published - 1.0).abs() < 0.01, "{length} B: {measured:.4e} against {published:.4e}");
        assert!((measured / theory - 1.0).abs() < 0.01, "{length} B: {measured:.4e} against {theory:.4e}");
    }
    // Multi-plane reads raise the units' bound, but not the buses'.
    let widened = saturated(&config, &recipe("fcfs", &[]), 4096);
    let bound = read_saturation(&config, 4096).buses_bytes_per_s;
    println!("4096 B reads, two planes per command: {widened:.4e} B/s, buses {bound:.4e}");
    assert!(widened > 1.6e9 && widened <= bound * 1.0001);
}

/// Write amplification of uniform writes of a page on one plane, after the first `warm_up` of `writes`, and what the balance equations say of it.
pub fn amplification_beside_greedy(config: &Config, warm_up: u64, writes: u64) -> (f64, f64) {
    let live = config.ftl.logical_pages;
    let (mut device, mut rng) = (device(config, &recipe("fcfs", &[])), Pcg64Mcg::new(61));
    let (mut before, mut free) = (device.totals(), 0u64);
    for i in 0..writes {
        if i == warm_up {
            before = device.totals();
        }
        let now = device.now().ns();
        submit(&mut device, i, now, Write, Extent::Pages(&[Lpn(rng.next_u32() % live)]));
        while device.completions().is_empty() {
            let next = device.next_event();
            device.advance(next);
        }
        device.completions().clear();
        free += u64::from(device.board().planes[0].free_blocks) * u64::from(i >= warm_up);
    }
    let after = device.totals();
    let user = (after.user_programs - before.user_programs) as f64;
    let moved = (after.gc_programs - before.gc_programs) as f64;
    let pool = Pool {
        blocks: config.geometry.blocks_per_plane.into(),
        pages_per_block: config.geometry.pages_per_block,
        live_pages: live.into(),
        free_blocks: free as f64 / (writes - warm_up) as f64,
        open_blocks: 1.0 + f64::from(u8::from(config.gc.separate_frontier)),
    };
    ((user + moved) / user, greedy(&pool).expect("spare space").write_amplification)
}

#[test]
fn write_amplification_of_greedy_collection() {
    let (blocks, pages) = (512u32, 64u32);
    let replayed = Precondition::Replayed { percent: 300 };
    for (share, state) in [(0.75, Precondition::Steady), (0.85, Precondition::Steady), (0.92, Precondition::Steady)]
        .into_iter()
        .chain([(0.75, replayed), (0.92, replayed)])
    {
        let mut config = one_plane();
        (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (blocks, pages);
        config.ftl.logical_pages = (f64::from(blocks * pages) * share) as u32;
        config.gc.start_blocks = 4;
        config.precondition = state;
        let live = u64::from(config.ftl.logical_pages);
        // The replayed state needs no warm-up: replaying was one.
        let warm_up = if state == replayed { 0 } else { 3 * live };
        let (measured, theory) = amplification_beside_greedy(&config, warm_up, warm_up + 5 * live);
        println!("share {share}, {state:?}: write amplification {measured:.4}, theory {theory:.4}");
        assert!((measured / theory - 1.0).abs() < 0.05, "share {share}, {state:?}: {measured} against {theory}");
    }
}
