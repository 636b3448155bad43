//! Arrival processes against renewal and queueing theory, and the closed loop.

use flashlane_core::{Op, Time};
use proptest::prelude::*;

use super::super::SyntheticSource;
use super::{Drawn, RANGE, draw, draw_over, mean, moments, near, spec};
use flashlane_core::arrival::{Next, Source};

fn gaps(drawn: &[Drawn]) -> Vec<f64> {
    drawn.windows(2).map(|pair| (pair[1].at - pair[0].at) as f64).collect()
}

/// Variance over mean of the counts in windows of `window_ns`.
fn dispersion(drawn: &[Drawn], window_ns: u64) -> f64 {
    let windows = drawn.last().map_or(0, |last| last.at / window_ns) as usize;
    let mut counts = vec![0.0; windows];
    drawn.iter().for_each(|d| {
        if let Some(count) = counts.get_mut((d.at / window_ns) as usize) {
            *count += 1.0;
        }
    });
    let (m, variance) = moments(&counts);
    variance / m
}

#[test]
fn constant_arrivals_do_not_drift() {
    // 1e9 / 51,000 is 19,607.84 ns: rounding each gap would lose 43 us in a second.
    let drawn = draw("arrivals = \"constant\"\nrate_iops = 51000\nduration_s = 1.0\nstart_us = 250");
    assert_eq!(drawn.len(), 51_000);
    assert_eq!(drawn[0].at, 250_000);
    for (i, d) in drawn.iter().enumerate() {
        near(d.at as f64, 250_000.0 + i as f64 * 1e9 / 51_000.0, 0.501);
    }
}

#[test]
fn poisson_has_its_rate_and_a_scv_of_one() {
    let n = 500_000.0f64;
    let drawn = draw("rate_iops = 200000\nrequests = 500000");
    let (m, variance) = moments(&gaps(&drawn));
    near(m, 5000.0, 5.0 * 5000.0 / n.sqrt());
    // The variance has a relative error of sqrt(8 / n), the squared mean one of sqrt(4 / n); they cancel in part.
    near(variance / (m * m), 1.0, 5.0 * (8.0 / n).sqrt());
    // 2,500 windows: the estimate has a relative error of sqrt(2 / 2500).
    near(dispersion(&drawn, 1_000_000), 1.0, 5.0 * (2.0f64 / 2500.0).sqrt());
}

/// A thousand million requests per second, a nanosecond apart on average: what is lost of each gap would show.
#[test]
fn fractions_of_a_nanosecond_count() {
    let n = 200_000.0f64;
    let drawn = draw("rate_iops = 1e9\nrequests = 200000");
    near(drawn.last().expect("requests").at as f64, n, 5.0 * n.sqrt());
}

#[test]
fn a_bursty_flow_has_its_rate_and_the_dispersion_of_an_mmpp() {
    let drawn = draw("arrivals = \"bursty\"\nmean_gap_us = 10\nrequests = 4000000");
    // Defaults, in units of the mean gap: rates 8 and 2/9, stays 8 and 72, so the dispersion of counts in long windows is
    // 1 + 2 (8 - 2/9)^2 w1 w2 / ((w1 + w2)^2 (8 w2 + 2/9 w1)) with w1 = 1/8, w2 = 1/72.
    let (burst, quiet, w1, w2) = (8.0f64, 2.0 / 9.0, 1.0 / 8.0, 1.0 / 72.0);
    let limit = 2.0 * (burst - quiet).powi(2) * w1 * w2 / ((w1 + w2) * (w1 + w2) * (burst * w2 + quiet * w1));
    let n = 4e6f64;
    let rate = n / drawn.last().expect("requests").at as f64 * 10_000.0;
    near(rate, 1.0, 5.0 * ((1.0 + limit) / n).sqrt());
    // 2,000 windows of 2,000 mean gaps; a window is finite, hence the factor.
    let rt = (w1 + w2) * 2000.0;
    let expected = 1.0 + limit * (1.0 - (1.0 - (-rt).exp()) / rt);
    assert!(expected > 70.0);
    near(dispersion(&drawn, 20_000_000) / expected, 1.0, 5.0 * (2.0f64 / 2000.0).sqrt());
    // Most requests fall into bursts: 8 times the rate in a tenth of the time.
    let scv = |(m, variance): (f64, f64)| variance / (m * m);
    assert!(scv(moments(&gaps(&drawn))) > 2.0);
}

#[test]
fn a_bursty_flow_has_its_rate_from_the_start() {
    // Four thousand flows, each for one mean gap. The variance of such a count is at most 1 plus that of the rate: 0.1
    // * 8^2 + 0.9 * (2/9)^2 - 1 = 5.4. If all flows began in the quiet state, the count would be about a third.
    let toml = "arrivals = \"bursty\"\nmean_gap_us = 10\nduration_s = 1e-5";
    let counts = (0..4000).map(|seed| draw_over(toml, &RANGE, seed).len() as f64);
    near(mean(counts), 1.0, 5.0 * (6.4f64 / 4000.0).sqrt());
}

#[test]
fn a_duty_of_one_over_the_factor_is_silent_between_bursts() {
    let toml = "arrivals = \"bursty\"\nburst_factor = 10\nburst_duty = 0.1\nburst_requests = 20\nmean_gap_us = 10\nrequests = 400000";
    let drawn = draw(toml);
    let gaps = gaps(&drawn);
    near(mean(gaps.iter().copied()), 10_000.0, 10_000.0 * 0.05);
    // Inside a burst gaps are a microsecond on average; between bursts there is silence of 180 us on average.
    let long: Vec<f64> = gaps.iter().copied().filter(|&gap| gap > 30_000.0).collect();
    let bursts = 400_000.0 / 20.0;
    // A share of e^(-1/6) of the silences is above 30 us; a gap within a burst is so once in e^30.
    near(long.len() as f64 / bursts, (-30.0f64 / 180.0).exp(), 0.05);
}

#[test]
fn a_batch_comes_at_once_and_has_the_size_asked_for() {
    let drawn = draw("arrivals = \"batch\"\nburst_requests = 5\nrate_iops = 1000\nrequests = 500000");
    let gaps = gaps(&drawn);
    let n = gaps.len() as f64;
    let batches = gaps.iter().filter(|&&gap| gap > 0.0).count() as f64;
    // Geometric of mean 5: standard deviation sqrt(20).
    near(n / batches, 5.0, 5.0 * (20.0 / batches).sqrt());
    // Counts are compound Poisson: E[size^2] / E[size] = 2 * 5 - 1.
    let rate = n / drawn.last().expect("requests").at as f64 * 1e6;
    near(rate, 1.0, 5.0 * (9.0 / n).sqrt());
    near(dispersion(&drawn, 500_000_000) / 9.0, 1.0, 5.0 * (2.0f64 / 1000.0).sqrt());
}

#[test]
fn a_rate_in_megabytes_is_the_rate_of_the_bytes() {
    let toml = "read_ratio = 0.3\nrate_mb_per_s = 250\nduration_s = 20.0\n\
                size = { lognormal = { mean_bytes = 20000, sd_bytes = 15000 } }\nwrite_size = { constant = 4096 }";
    let drawn = draw(toml);
    let bytes: f64 = drawn.iter().map(|d| d.length as f64).sum();
    // A sum of n sizes at Poisson times has a relative error of sqrt(E[size^2] / E[size]^2 / n).
    let second = mean(drawn.iter().map(|d| (d.length as f64).powi(2)));
    let first = mean(drawn.iter().map(|d| d.length as f64));
    near(bytes / 20.0 / 250e6, 1.0, 5.0 * (second / (first * first) / drawn.len() as f64).sqrt());
}

#[test]
fn reads_and_writes_may_arrive_apart() {
    let drawn = draw("arrivals = \"poisson\"\nread_gap_us = 10\nwrite_gap_us = 40\nduration_s = 2.0");
    let reads = drawn.iter().filter(|d| d.op == Op::Read).count() as f64;
    near(reads, 200_000.0, 5.0 * 200_000f64.sqrt());
    near(drawn.len() as f64 - reads, 50_000.0, 5.0 * 50_000f64.sqrt());
    assert!(drawn.windows(2).all(|pair| pair[0].at <= pair[1].at));
}

#[test]
fn the_flow_ends_with_its_requests_or_its_duration() {
    let drawn = draw("arrivals = \"constant\"\nrate_iops = 1000\nduration_s = 0.01\nrequests = 7");
    assert_eq!(drawn.len(), 7);
    let drawn = draw("arrivals = \"constant\"\nrate_iops = 1000\nduration_s = 0.01\nrequests = 70");
    assert_eq!(drawn.len(), 10, "at 0, 1, ... 9 ms, and not at 10");
    let drawn = draw("mean_gap_us = 1e13\nrequests = 1000000");
    assert!((1_500..2_200).contains(&drawn.len()), "time runs out after 2^64 ns: {}", drawn.len());
}

#[test]
fn of_a_read_and_a_write_at_one_instant_the_read_goes_first() {
    let drawn = draw("arrivals = \"constant\"\nread_gap_us = 10\nwrite_gap_us = 20\nrequests = 7");
    let expected = [(0, Op::Read), (0, Op::Write), (10, Op::Read), (20, Op::Read), (20, Op::Write), (30, Op::Read)];
    let found: Vec<_> = drawn.iter().map(|d| (d.at / 1_000, d.op)).collect();
    assert_eq!(found[..6], expected);
    assert_eq!(found[6], (40, Op::Read));
}

#[test]
fn a_duration_counts_from_the_start_of_the_flow() {
    let drawn = draw("arrivals = \"constant\"\nrate_iops = 1000\nduration_s = 0.01\nstart_us = 5000");
    assert_eq!(drawn.iter().map(|d| d.at / 1_000_000).collect::<Vec<_>>(), (5..15).collect::<Vec<_>>());
}

#[test]
fn a_closed_loop_keeps_its_depth_and_its_pause() {
    let spec = spec("arrivals = \"closed-loop\"\ndepth = 2\nthink_us = 5\nstart_us = 1\nrequests = 4");
    let mut source = SyntheticSource::new(&spec, &RANGE, 1).expect("sound");
    let mut at = || source.next().map(|next| if let Next::Request(a) = next { Some(a.at.ns()) } else { None });
    assert_eq!((at(), at(), at()), (Ok(Some(1000)), Ok(Some(1000)), Ok(None)));
    assert_eq!(source.next(), Ok(Next::Await));
    source.completed(Time::from_ns(7000));
    assert!(matches!(source.next(), Ok(Next::Request(a)) if a.at.ns() == 12_000));
    assert_eq!(source.next(), Ok(Next::Await));
    source.completed(Time::from_ns(9000));
    source.completed(Time::from_ns(20_000));
    assert!(matches!(source.next(), Ok(Next::Request(a)) if a.at.ns() == 14_000));
    assert_eq!(source.next(), Ok(Next::End), "four requests");
}

proptest! {
    #![proptest_config(flashlane_testing::drawn::drawn(256, env!("CARGO_MANIFEST_DIR"), "synthetic-arrivals"))]

    /// A server that completes a random outstanding number of requests after random times.
    #[test]
    fn a_closed_loop_never_exceeds_its_depth(
        depth in 1u32..40, think_us in 0u64..100, serves in proptest::collection::vec((1usize..8, 0u64..200_000), 1..200),
    ) {
        let spec = spec(&format!("arrivals = \"closed-loop\"\ndepth = {depth}\nthink_us = {think_us}\nrequests = 500"));
        let mut source = SyntheticSource::new(&spec, &RANGE, 1).expect("sound");
        let (mut now, mut last, mut inside, mut seen, mut over) = (0u64, 0u64, 0usize, 0usize, false);
        for (finish, time) in serves {
            loop {
                match source.next().expect("sound") {
                    Next::Request(arrival) => {
                        prop_assert!(arrival.at.ns() >= last);
                        last = arrival.at.ns();
                        inside += 1;
                        seen += 1;
                    }
                    Next::Await => {
                        prop_assert_eq!(inside, depth as usize, "waits only with its places full");
                        break;
                    }
                    Next::End => {
                        over = true;
                        break;
                    }
                }
            }
            prop_assert!(inside <= depth as usize);
            now = now.max(last) + time;
            for _ in 0..finish.min(inside) {
                source.completed(Time::from_ns(now));
                inside -= 1;
            }
        }
        prop_assert!(seen <= 500 && (!over || seen == 500));
    }
}
