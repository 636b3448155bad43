//! Pauses that begin at the end of an iteration (`nand.suspend_at = "segment"`) and the shortest time between two (`nand.suspend_min_ns`): scenes
//! worked out by hand, and a unit written down plainly beside the device's.

use crate::common::{Line, device, drain, ends, one_plane, recipe, scene};
use flashlane_core::Op::{Read, Write};
use flashlane_core::event::Event;
use flashlane_core::{Duration, Op};
use flashlane_ssd::config::{Config, SuspendAt};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A read, and the transfer of a page before the array programs it.
const READ: u64 = 99_601;
const TRANSFER: u64 = 24_601;
const PROGRAM: u64 = 1_300_000;

/// One plane whose programs have `iterations` parts, at whose ends they are paused.
fn segments(iterations: u32) -> Config {
    let mut config = one_plane();
    (config.nand.suspend_at, config.nand.iterations) = (SuspendAt::Segment, iterations);
    config
}

/// The ends of a write at 0 and of reads at these instants.
fn with_reads(config: &Config, reads: &[u64]) -> Vec<u64> {
    let pages: Vec<[u32; 1]> = (1..=reads.len() as u32).map(|page| [page]).collect();
    let mut lines: Vec<Line<'_>> = vec![(0, Write, &[0u32][..])];
    lines.extend(reads.iter().zip(&pages).map(|(&at, page)| (at, Read, &page[..])));
    ends(config, &recipe("read-first-suspend", &[]), &lines)
}

/// Four parts of 325 us, which end at 349,601, 674,601 and 999,601 ns.
#[test]
fn a_pause_begins_at_the_end_of_the_running_iteration() {
    let mut config = segments(4);
    let end = TRANSFER + PROGRAM;
    let first = TRANSFER + 325_000;
    for at in [10_000, TRANSFER, 300_000, first] {
        assert_eq!(with_reads(&config, &[at]), [end + READ, first + READ], "read at {at}");
    }
    assert_eq!(with_reads(&config, &[first + 1])[1], first + 325_000 + READ);
    // In the last part nothing can be paused any more.
    assert_eq!(with_reads(&config, &[end - 325_000 + 1]), [end, end + READ]);
    // Parts are counted on from the pause: the second read comes 325 us after the program has gone on.
    let second = first + READ + 325_000;
    assert_eq!(with_reads(&config, &[first, second - 1]), [end + 2 * READ, first + READ, second + READ]);
    (config.nand.suspend, config.nand.resume) = (Duration::from_ns(5_000), Duration::from_ns(7_000));
    assert_eq!(with_reads(&config, &[300_000]), [end + READ + 12_000, first + 5_000 + READ]);
}

/// An erase of 3,800 us in 19 parts of 200 us is paused for a read that comes in its third part at the end of that.
#[test]
fn an_erase_is_paused_at_the_end_of_its_own_parts() {
    let mut config = segments(4);
    config.nand.erase_iterations = 19;
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block, config.ftl.logical_pages) = (8, 2, 4);
    config.gc.start_blocks = 4;
    let writes = |at: &[u64]| {
        let mut device = device(&config, &recipe("read-first-suspend", &[]));
        device.report_events();
        let pages: Vec<[u32; 1]> = (0..12).map(|i| [i % 2]).collect();
        let mut lines: Vec<Line<'_>> = (0..12).map(|i| (i as u64 * 2_000_000, Write, &pages[i][..])).collect();
        lines.extend(at.iter().map(|&at| (at, Read, &[3u32][..])));
        lines.sort_by_key(|line| line.0);
        let done = scene(&mut device, &lines);
        drain(&mut device);
        (done, std::mem::take(device.events()))
    };
    let (_, events) = writes(&[]);
    let erase = events.iter().find_map(|stamped| match stamped.event {
        Event::ArrayStarted { until, .. } if until.since(stamped.at).ns() == 3_800_000 => Some(stamped.at.ns()),
        _ => None,
    });
    let erase = erase.expect("a block is erased");
    let (done, events) = writes(&[erase + 400_001]);
    let read = done.iter().find(|done| done.op == Read).expect("the read");
    assert_eq!(read.done.ns(), erase + 600_000 + READ);
    let paused = events.iter().find_map(|stamped| match stamped.event {
        Event::Paused { remaining, .. } => Some((stamped.at.ns(), remaining.ns())),
        _ => None,
    });
    assert_eq!(paused, Some((erase + 600_000, 3_200_000)));
}

/// The first read resumes the program at 399,601 ns; the second, 10 us later, waits for the rest of 50 us, also if it comes before the
/// program works again.
#[test]
fn the_least_time_passes_between_two_pauses() {
    let mut config = one_plane();
    config.nand.suspend_min = Duration::from_ns(50_000);
    let on = 300_000 + READ;
    assert_eq!(with_reads(&config, &[300_000, on + 10_000])[1..], [on, on + 50_000 + READ]);
    assert_eq!(with_reads(&config, &[300_000, on + 60_000])[1..], [on, on + 60_000 + READ]);
    config.nand.resume = Duration::from_ns(30_000);
    assert_eq!(with_reads(&config, &[300_000, on + 10_000])[1..], [on, on + 80_000 + READ]);
    // Parts of 65 us: the fifth ends at 349,601 ns; after 100 us the end of the second part is the next.
    let mut config = segments(20);
    config.nand.suspend_min = Duration::from_ns(100_000);
    let on = TRANSFER + 5 * 65_000 + READ;
    assert_eq!(with_reads(&config, &[300_000, on + 1])[1..], [on, on + 130_000 + READ]);
}

/// When a unit whose transfers take no time ends each of `lines`, reads first, by the text of model 0.4.
fn plain(config: &Config, lines: &[(u64, Op)]) -> Vec<u64> {
    let nand = &config.nand;
    let [read, program] = [nand.read, nand.program].map(|time| time.typical().ns());
    let [suspend, resume, rest] = [nand.suspend, nand.resume, nand.suspend_min].map(Duration::ns);
    let part = program / u64::from(nand.iterations);
    let mut ends = vec![0; lines.len()];
    // The program that is under way or stands paused: its line, what is left of it, and its pauses.
    let mut open: Option<(usize, u64, u32)> = None;
    let mut now = 0;
    let waiting = |ends: &[u64], op: Op, by: u64| {
        (0..lines.len()).find(|&i| ends[i] == 0 && lines[i].1 == op && lines[i].0 <= by)
    };
    while ends.contains(&0) {
        if let Some(i) = waiting(&ends, Read, now) {
            now += read;
            ends[i] = now;
            continue;
        }
        let (line, left, pauses, from) = match (open, waiting(&ends, Write, now)) {
            (Some((line, left, pauses)), _) => (line, left, pauses, now + resume),
            (None, Some(line)) => (line, program, 0, now),
            (None, None) => {
                now = (0..lines.len()).filter(|&i| ends[i] == 0).map(|i| lines[i].0).min().expect("one is left");
                continue;
            }
        };
        let end = from + left;
        let earliest = if pauses > 0 { from + rest } else { from };
        let next_read = (0..lines.len()).filter(|&i| ends[i] == 0 && lines[i].1 == Read).map(|i| lines[i].0).min();
        let pause = next_read.filter(|_| pauses < nand.suspend_limit).map(|read| match nand.suspend_at {
            SuspendAt::Instant => read.max(earliest),
            SuspendAt::Segment => (1..).map(|n| from + n * part).find(|&at| at >= earliest.max(read)).expect("one"),
        });
        match pause.filter(|&at| at + suspend + resume < end) {
            Some(at) => {
                open = Some((line, end - at, pauses + 1));
                now = at + suspend;
            }
            None => {
                (open, now, ends[line]) = (None, end, end);
            }
        }
    }
    ends
}

/// 1,000 random scenes of a unit end as the plain one says.
#[test]
fn a_unit_pauses_as_a_plain_one() {
    let mut rng = Pcg64Mcg::new(54);
    let mut up_to = |most: u32| u64::from(rng.next_u32() % (most + 1));
    let mut pauses = [0; 2];
    for round in 0..1000 {
        let mut config = segments(1 + up_to(11) as u32);
        config.bus.mega_transfers = u32::MAX;
        let is_instant = up_to(2) == 0;
        if is_instant {
            config.nand.suspend_at = SuspendAt::Instant;
        }
        let mut overhead = || Duration::from_ns(up_to(1) * up_to(30_000));
        (config.nand.suspend, config.nand.resume) = (overhead(), overhead());
        config.nand.suspend_min = Duration::from_ns(up_to(1) * up_to(400_000));
        config.nand.suspend_limit = if up_to(3) > 0 { u32::MAX } else { up_to(3) as u32 };
        let mut now = 0;
        let lines: Vec<(u64, Op)> = (0..20)
            .map(|_| {
                now += up_to(2) * up_to(400_000);
                (now, if up_to(2) == 0 { Write } else { Read })
            })
            .collect();
        let pages: Vec<[u32; 1]> = (0..20).map(|page| [page]).collect();
        let scene_lines: Vec<Line<'_>> =
            lines.iter().zip(&pages).map(|(&(at, op), page)| (at, op, &page[..])).collect();
        let mut device = device(&config, &recipe("read-first-suspend", &[]));
        let ends: Vec<u64> = scene(&mut device, &scene_lines).iter().map(|done| done.done.ns()).collect();
        assert_eq!(ends, plain(&config, &lines), "round {round}: {lines:?} {:?}", config.nand);
        pauses[usize::from(is_instant)] += device.totals().pauses;
    }
    assert!(pauses.iter().all(|&pauses| pauses > 1000), "{pauses:?} pauses are too few");
}
