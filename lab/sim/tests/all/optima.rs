//! Bounds and schedulers against exact optima of small scenes: no bound is above the best schedule there is, and no scheduler below it.
//!
//! Two searches that know nothing of the bounds' arithmetic. Both know all requests in advance and may leave units idle.
//!
//! - *With pauses*, at any instant and at no cost, and with transfers that take no time. If there is a schedule with given ends of requests,
//!   then every unit that serves first the page whose request is to end first (earliest deadline first) meets them. So the best of all orders
//!   of requests, each a fixed priority on every unit, is the optimum.
//! - *Without pauses*, and with transfers over shared channels. The optimum is among the schedules in which nothing could begin earlier
//!   without another order on some unit or channel: all those orders are tried, except where a partial schedule is already no better.
//!
//! With free placement, both try every unit for every page of a write.

use flashlane_ceiling::{Class, Effort, Placement, Work, Writes};
use flashlane_core::arrival::Span;
use flashlane_core::geometry::Stripe;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Lpn, Op, Time};
use flashlane_sched::catalogue::{build, schedulers};
use flashlane_ssd::config::{Config, Latency};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::common::play::{TestRequest, Touch, Wake, play};
use crate::common::{recipe, table1};

/// Scenes of each search, every day and nightly.
const DAILY: u64 = 150;
const NIGHTLY: u64 = 1_500;

/// A page of a request: on a unit (for a write that may go anywhere, one after the other), and how long it takes.
#[derive(Clone, Copy, Debug)]
struct Page {
    request: usize,
    unit: usize,
    movable: bool,
    is_read: bool,
    array: u64,
    transfer: u64,
}

/// A small scene: requests in the order of arrival, none of which touches a page that another touches.
struct Scene {
    config: Config,
    asks: Vec<TestRequest>,
    pages: Vec<Page>,
    units: usize,
}

/// The least sum and the least largest of the response times: not of one schedule, but each of its own best.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Optimum {
    sum: u64,
    worst: u64,
}

impl Optimum {
    const NONE: Optimum = Optimum { sum: u64::MAX, worst: u64::MAX };

    fn include(&mut self, ends: &[u64], asks: &[TestRequest]) {
        let responses = || ends.iter().zip(asks).map(|(end, ask)| end - ask.at);
        self.sum = self.sum.min(responses().sum());
        self.worst = self.worst.min(responses().max().unwrap_or(0));
    }
}

/// A random scene of few requests and pages on up to `chips` chips of each of up to `channels` channels.
fn scene(seed: u64, [channels, chips]: [u32; 2], [most_requests, most_pages]: [u32; 2], has_transfers: bool) -> Scene {
    let mut rng = Pcg64Mcg::new(u128::from(seed) << 64 | 0x0b71);
    let mut upto = |most: u32| rng.next_u32() % (most + 1);
    let mut config = table1(1 + upto(channels - 1), 1 + upto(chips - 1));
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages = config.geometry.planes() * config.geometry.pages_per_plane() / 2;
    config.nand.read = Latency::Constant(Duration::from_us(u64::from(20 + upto(100))));
    config.nand.program = Latency::Constant(Duration::from_us(u64::from(100 + upto(600))));
    (config.nand.multi_plane, config.nand.multi_die) = (false, false);
    if !has_transfers {
        config.bus.mega_transfers = u32::MAX;
    }
    let stripe = Stripe::new(&config.geometry, config.ftl.order);
    let page_bytes = u64::from(config.geometry.page_bytes);
    let (mut asks, mut pages) = (Vec::new(), Vec::new());
    let (mut at, mut next) = (0, upto(50));
    for request in 0..2 + upto(most_requests - 2) as usize {
        let op = if upto(99) < 60 { Op::Read } else { Op::Write };
        let count = (1 + upto(1)).min(most_pages - pages.len() as u32);
        if count == 0 {
            break;
        }
        let flash_op = if op == Op::Read { FlashOp::Read } else { FlashOp::Program };
        for lpn in next..next + count {
            pages.push(Page {
                request,
                unit: config.geometry.unit_of(stripe.home(Lpn(lpn)).0).index(),
                movable: op == Op::Write,
                is_read: op == Op::Read,
                array: config.typical(flash_op).ns(),
                transfer: config.transfer(page_bytes).ns(),
            });
        }
        let touch = Touch::Bytes(u64::from(next) * page_bytes, u64::from(count) * page_bytes);
        asks.push(TestRequest { at, flow: 0, op, touch });
        next += count + upto(3);
        at += u64::from(upto(400)) * 1000;
    }
    config.check().expect("a legal device");
    let units = config.geometry.units() as usize;
    Scene { config, asks, pages, units }
}

/// Calls `each` with every placement of the pages that may go anywhere; with fixed placement, with the one there is.
fn placements(scene: &Scene, placement: Placement, mut each: impl FnMut(&[Page])) {
    let mut pages = scene.pages.clone();
    let movable: Vec<usize> = (0..pages.len()).filter(|&i| pages[i].movable).collect();
    let choices = match placement {
        Placement::Fixed => return each(&pages),
        Placement::Free => scene.units.pow(movable.len() as u32),
    };
    for mut choice in 0..choices {
        for &i in &movable {
            pages[i].unit = choice % scene.units;
            choice /= scene.units;
        }
        each(&pages);
    }
}

// With pauses.

/// Calls `each` with every order of `0..order.len()` that begins as `order` does up to `fixed`.
fn orders(order: &mut Vec<usize>, fixed: usize, each: &mut impl FnMut(&[usize])) {
    if fixed == order.len() {
        return each(order);
    }
    for i in fixed..order.len() {
        order.swap(fixed, i);
        orders(order, fixed + 1, each);
        order.swap(fixed, i);
    }
}

/// When each request ends if every unit serves the pages of the first request of `order` first, pausing others for them.
fn ends_by_priority(scene: &Scene, pages: &[Page], order: &[usize]) -> Vec<u64> {
    let mut ends = vec![0; scene.asks.len()];
    for unit in 0..scene.units {
        // Busy intervals of what goes first, disjoint and in order of time.
        let mut busy: Vec<(u64, u64)> = Vec::new();
        for &request in order {
            let of_request = |page: &&Page| page.unit == unit && page.request == request;
            let mut work: u64 = pages.iter().filter(of_request).map(|page| page.array).sum();
            if work == 0 {
                continue;
            }
            let mut now = scene.asks[request].at;
            let mut taken = Vec::new();
            for &(from, to) in busy.iter().filter(|(_, to)| *to > scene.asks[request].at) {
                let gap = from.saturating_sub(now).min(work);
                if gap > 0 {
                    taken.push((now, now + gap));
                    work -= gap;
                }
                if work == 0 {
                    break;
                }
                now = now.max(to);
            }
            if work > 0 {
                taken.push((now, now + work));
            }
            ends[request] = ends[request].max(taken.last().expect("it has work").1);
            busy.extend(taken);
            busy.sort_unstable();
        }
    }
    ends
}

fn with_pauses(scene: &Scene, placement: Placement) -> Optimum {
    let mut best = Optimum::NONE;
    placements(scene, placement, |pages| {
        let mut order: Vec<usize> = (0..scene.asks.len()).collect();
        orders(&mut order, 0, &mut |order| best.include(&ends_by_priority(scene, pages, order), &scene.asks));
    });
    best
}

// Without pauses.

/// A partial schedule: each page has two phases, a read array and transfer, a program transfer and array.
#[derive(Clone)]
struct Partial {
    /// Phases of each page that are scheduled, and the end of the last.
    phases: Vec<(u8, u64)>,
    /// When each unit and each channel is free.
    unit_free: Vec<u64>,
    channel_free: Vec<u64>,
    /// The page that occupies each unit between its phases.
    inside: Vec<Option<usize>>,
    ends: Vec<u64>,
}

/// Tries every order of what is left, and notes the best.
fn extend(scene: &Scene, pages: &[Page], partial: &Partial, best: &mut Optimum) {
    // What has ended by now, and for the rest its arrival, are the least the responses can be.
    let responses = || partial.ends.iter().zip(&scene.asks).map(|(end, ask)| end.saturating_sub(ask.at));
    if responses().sum::<u64>() >= best.sum && responses().max() >= Some(best.worst) {
        return;
    }
    if partial.phases.iter().all(|&(phases, _)| phases == 2) {
        best.include(&partial.ends, &scene.asks);
        return;
    }
    for (i, page) in pages.iter().enumerate() {
        let (phase, before) = partial.phases[i];
        let occupied = partial.inside[page.unit];
        if phase == 2 || (phase == 0 && occupied.is_some()) {
            continue;
        }
        debug_assert!(phase == 0 || occupied == Some(i));
        let channel = page.unit / (scene.units / partial.channel_free.len());
        let transfers = page.is_read == (phase == 1);
        let mut from = before.max(partial.unit_free[page.unit]).max(scene.asks[page.request].at);
        if transfers {
            from = from.max(partial.channel_free[channel]);
        }
        let to = from + if transfers { page.transfer } else { page.array };
        let mut next = partial.clone();
        next.phases[i] = (phase + 1, to);
        next.unit_free[page.unit] = to;
        next.inside[page.unit] = (phase == 0).then_some(i);
        if transfers {
            next.channel_free[channel] = to;
        }
        next.ends[page.request] = next.ends[page.request].max(to);
        extend(scene, pages, &next, best);
    }
}

fn without_pauses(scene: &Scene, placement: Placement) -> Optimum {
    let mut best = Optimum::NONE;
    placements(scene, placement, |pages| {
        let start = Partial {
            phases: vec![(0, 0); pages.len()],
            unit_free: vec![0; scene.units],
            channel_free: vec![0; scene.config.geometry.channels as usize],
            inside: vec![None; scene.units],
            ends: vec![0; scene.asks.len()],
        };
        extend(scene, pages, &start, &mut best);
    });
    best
}

// The comparison.

/// What scenes have shown: how far optima are from bounds, and schedulers from optima.
#[derive(Default)]
struct Seen {
    scenes: u64,
    /// Of the logarithms of optimum over bound, mean and worst, by placement.
    log_gaps: [[f64; 2]; 2],
    /// How often they were equal to a ns.
    equal: [[u64; 2]; 2],
    /// Runs of schedulers, and how many of them reached the least sum.
    runs: u64,
    optimal_runs: u64,
}

impl Seen {
    /// Checks that the bounds are at most the optimum of their placement.
    fn bounds(&mut self, seed: u64, scene: &Scene, optima: [Optimum; 2]) {
        let mut work = Work::new(&scene.config);
        for ask in &scene.asks {
            let Touch::Bytes(offset, length) = ask.touch else { unreachable!("scenes are of bytes") };
            work.add(Time::from_ns(ask.at), ask.op, &Span::Bytes { offset, length }, true);
        }
        let bounds = work.bounds(&Effort::default()).expect("requests");
        for (i, placement) in [Placement::Fixed, Placement::Free].into_iter().enumerate() {
            let bound = bounds.of(Class { placement, writes: Writes::Kept });
            let least = [optima[i].sum as f64 / scene.asks.len() as f64, optima[i].worst as f64];
            for (k, bound) in [bound.mean_ns, bound.worst_ns].into_iter().enumerate() {
                assert!(bound as f64 <= least[k], "scene {seed}, {placement:?}: bound {bound} above {}", least[k]);
                self.log_gaps[i][k] += (least[k] / bound as f64).ln();
                self.equal[i][k] += u64::from(least[k].floor() == bound as f64);
            }
        }
        self.scenes += 1;
    }

    /// Checks that no scheduler is better than the optimum of its placement.
    fn schedulers(&mut self, seed: u64, scene: &Scene, optima: [Optimum; 2], may_pause: bool) {
        for entry in schedulers() {
            let recipe = recipe(entry.name, &[]);
            let is_static = build(&recipe).expect("a shipped scheduler").place.declares().is_static;
            let optimum = optima[usize::from(!is_static)];
            let played = play(&scene.config, &recipe, &scene.asks, Wake::Plain);
            if played.totals.pauses > 0 && !may_pause {
                continue;
            }
            let responses = || played.completions.iter().map(|c| (c.done - c.arrival).ns());
            let (sum, worst) = (responses().sum::<u64>(), responses().max().unwrap_or(0));
            let name = entry.name;
            assert!(sum >= optimum.sum, "scene {seed}: {name} has sum {sum}, the optimum is {}", optimum.sum);
            assert!(worst >= optimum.worst, "scene {seed}: {name} has worst {worst}, optimum {}", optimum.worst);
            self.runs += 1;
            self.optimal_runs += u64::from(sum == optimum.sum);
        }
    }

    /// Geometric means of optimum over bound.
    fn report(&self, kind: &str) -> [[f64; 2]; 2] {
        let gaps = self.log_gaps.map(|of| of.map(|sum| (sum / self.scenes as f64).exp()));
        println!(
            "{kind}: {} scenes; optimum over bound, fixed and free placement: mean {:.4} and {:.4} (equal in {} and {}), \
             worst {:.4} and {:.4} (equal in {} and {}); {} of {} runs of schedulers are optimal",
            self.scenes,
            gaps[0][0],
            gaps[1][0],
            self.equal[0][0],
            self.equal[1][0],
            gaps[0][1],
            gaps[1][1],
            self.equal[0][1],
            self.equal[1][1],
            self.optimal_runs,
            self.runs
        );
        gaps
    }
}

/// Compares scenes of both kinds.
fn compare(scenes: u64) {
    let both = [Placement::Fixed, Placement::Free];
    let (mut pausing, mut steady) = (Seen::default(), Seen::default());
    for seed in 0..scenes {
        let free_pauses = scene(seed, [2, 2], [5, 5], false);
        let optima = both.map(|placement| with_pauses(&free_pauses, placement));
        pausing.bounds(seed, &free_pauses, optima);
        pausing.schedulers(seed, &free_pauses, optima, true);
        let no_pauses = scene(seed, [2, 2], [3, 4], true);
        let optima = both.map(|placement| without_pauses(&no_pauses, placement));
        steady.bounds(seed, &no_pauses, optima);
        steady.schedulers(seed, &no_pauses, optima, false);
    }
    for (seen, kind) in [(pausing, "with pauses"), (steady, "without pauses")] {
        let gaps = seen.report(kind);
        assert!(seen.optimal_runs > 0, "{kind}: no run reaches the optimum, which is then perhaps too small");
        assert!(gaps.iter().flatten().all(|gap| *gap < 1.1), "{kind}: bounds far below the optima: {gaps:?}");
    }
}

#[test]
fn bounds_and_schedulers_keep_to_exact_optima() {
    compare(DAILY);
}

#[test]
#[ignore = "nightly: ten times the scenes"]
fn bounds_and_schedulers_keep_to_exact_optima_further() {
    compare(NIGHTLY);
}
