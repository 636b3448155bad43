//! What the shipped scenarios of drives of today show in their pictures.

use std::path::Path;

use flashlane_report::results::{FlowResult, SchedulerResult, Summary};
use flashlane_scenario::{Document, Scenario};
use flashlane_sim::{Options, compare};

/// The summary of a shipped scenario under its first `schedulers`, without alone runs, after a `change`.
fn shown(name: &str, schedulers: usize, change: impl FnOnce(&mut Document)) -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let mut scenario = Scenario::load(&path).expect("a good scenario");
    scenario.set("this test", "this test", |document| {
        document.schedulers.as_mut().expect("several").truncate(schedulers);
        document.run.alone = Some(false);
        change(document);
    });
    compare(&scenario, &Options { audit: false, rows: None, activity: false, progress: None }).expect("a run").summary
}

/// Mean response times of a flow over time, us.
fn over_time(flow: &FlowResult) -> Vec<u64> {
    flow.figures.over_time.all.mean_ns.iter().map(|ns| ns / 1_000).collect()
}

/// A read of 4 KiB takes 125 us of the flash on average, 6 us of the bus, and 2 us and its data's time of the link: 134 us. With the read
/// of its entry before it, 4 KiB too, 265 us; two flows meet at four dies, which adds some. The twelve translation pages of `warm` lie in rows that
/// are read in 80 us.
#[test]
fn a_cold_map_makes_reads_cost_two_until_it_is_warm() {
    let summary = shown("cold-map.toml", 1, |_| ());
    let [warm, cold] = &summary.schedulers[0].flows[..] else { panic!("two flows") };
    let (warm, cold) = (over_time(warm), over_time(cold));
    let (first, last) = (warm[0], warm[warm.len() - 2]);
    assert!((245..300).contains(&first) && (134..165).contains(&last), "{warm:?}");
    assert!(cold.iter().take(cold.len() - 1).all(|mean| (270..330).contains(mean)), "{cold:?}");
    let mapping = summary.schedulers[0].device.mapping.as_ref().expect("a map on the flash");
    // Each of the 12,208 pages of `warm` misses once, which 50,000 reads of them leave 203 without; of `cold` hardly any read hits.
    assert!((41_900..=42_205).contains(&mapping.misses), "{mapping:?}");
}

/// A record every 100 us and a flush: with a volatile buffer the flush takes the log's program of 1.91 ms, those of other writes before it,
/// and what reads suspend them for; with capacitors the memory's 1 us and twice the link's 3 us.
#[test]
fn flushes_of_a_log_wait_for_programs_unless_capacitors_keep_the_buffer() {
    let means = |schedulers, protected| -> Vec<[u64; 2]> {
        let summary = shown("log-flushes.toml", schedulers, |document| {
            document.device.buffer.protected = Some(protected);
            // Half of the blocks show the same, and have half of the tables.
            document.device.geometry.blocks_per_plane = Some(350);
            document.device.ftl.over_provisioning_percent = Some(12.7);
        });
        let of = |run: &SchedulerResult| {
            let flush = run.flows[0].figures.commands.as_ref().and_then(|commands| commands.flush.as_ref());
            let read = run.flows[2].figures.read.as_ref();
            [flush.expect("flushes").mean_ns as u64 / 1_000, read.expect("reads").mean_ns as u64 / 1_000]
        };
        summary.schedulers.iter().map(of).collect()
    };
    let [fcfs, read_first, suspend] = means(3, false)[..] else { panic!("three schedulers") };
    assert!(
        fcfs[0] > 1_910 && read_first[0] > fcfs[0] && suspend[0] > read_first[0],
        "{fcfs:?} {read_first:?} {suspend:?}"
    );
    assert!(suspend[1] * 3 < fcfs[1], "{fcfs:?} {suspend:?}");
    assert_eq!(means(1, true)[0][0], 7);
}

/// SLC blocks take 196,608 units: 3,072 writes of 64, eight of each of 16 dies at a time in 230 us and eight transfers of 5.1 us; what comes after
/// them is programmed 24 units at a time in 2.61 ms and 24 transfers.
#[test]
fn a_copy_is_fast_until_the_slc_cache_is_full() {
    let summary = shown("burst-and-cliff.toml", 1, |_| ());
    let over_time = &summary.schedulers[0].flows[0].figures.over_time;
    let mb_per_s = |pages: f64, us: f64| pages * 16_384.0 / us;
    let rate: Vec<f64> = over_time
        .write
        .bytes
        .iter()
        .map(|bytes| mb_per_s(*bytes as f64 / 16_384.0, over_time.width_ns as f64 / 1e3))
        .collect();
    let (fast, slow) = (mb_per_s(32.0, 230.0 + 2.0 * 20.48), mb_per_s(96.0, 2610.0 + 6.0 * 20.48));
    let cliff = rate.iter().position(|rate| *rate < (fast + slow) / 2.0).expect("a cliff");
    let before: u64 = over_time.write.requests[..cliff].iter().sum();
    // The write buffer takes 8,192 units more. It fills in the first two windows; the one before the slow ones has a part of each rate.
    assert!((3_200..3_225).contains(&before), "{before}");
    assert!(rate[2..cliff - 1].iter().all(|rate| (rate / fast - 1.0).abs() < 0.03), "{fast} {rate:?}");
    assert!(rate[cliff + 1..rate.len() - 1].iter().all(|rate| (rate / slow - 1.0).abs() < 0.06), "{slow} {rate:?}");
    // Of 512,000 units 1,024 may stay in the buffer, and 16 for each die wait there for the rest of their wordline.
    let slc = summary.schedulers[0].device.slc.as_ref().expect("a cache");
    assert_eq!((slc.programs, slc.programs + slc.direct), (196_608, 512_000 - 1_024 - 16 * 16));
}
