//! Access patterns: shares, runs, files, rewrites.

use std::collections::BTreeMap;

use flashlane_core::Op;

use super::{Drawn, RANGE, draw, draw_over, mean, near};
use crate::workload::AddressRange;

const SMALL: AddressRange = AddressRange { start_bytes: 81_920, bytes: 8_192_000, page_bytes: 8192 };

fn slots(drawn: &[Drawn]) -> Vec<u64> {
    drawn.iter().map(|d| (d.offset - SMALL.start_bytes) / 8192).collect()
}

#[test]
fn streaming_walks_the_working_set_and_starts_again() {
    let drawn = draw_over(
        "access = \"streaming\"\nsize = { constant = 65536 }\nrate_iops = 1e4\nrequests = 300\n\
         working_set_bytes = 1000000\nworking_set_offset_bytes = 100000",
        &SMALL,
        1,
    );
    // 81,920 + 100,000 rounded up to 8 KiB; 15 requests fit into 1,000,000 bytes.
    drawn.iter().enumerate().for_each(|(i, d)| assert_eq!(d.offset, 188_416 + i as u64 % 15 * 65_536));
}

#[test]
fn random_starts_are_flat_over_what_fits() {
    let drawn = draw_over("size = { constant = 40960 }\nrate_iops = 1e6\nrequests = 996000", &SMALL, 1);
    let mut counts = vec![0.0; 1000];
    slots(&drawn).into_iter().for_each(|slot| counts[slot as usize] += 1.0);
    // A request of 5 pages can start at 996 of 1,000 pages; about 1,000 requests start at each.
    assert!(counts[996..].iter().all(|&count| count == 0.0));
    let chi_square: f64 = counts[..996].iter().map(|count| (count - 1000.0) * (count - 1000.0) / 1000.0).sum();
    near(chi_square, 995.0, 5.0 * (2.0 * 995.0f64).sqrt());
}

#[test]
fn hot_cold_has_its_share_in_its_space() {
    let n = 400_000;
    let hot = "access = \"hot-cold\"\nhot_access = 0.9\nhot_space = 0.05\nrate_iops = 1e6\nrequests = 400000\n";
    let slots_of = |more: &str| slots(&draw_over(&format!("{hot}{more}"), &SMALL, 1));
    let share = slots_of("").iter().filter(|&&slot| slot < 50).count() as f64 / n as f64;
    near(share, 0.9, 5.0 * (0.09 / n as f64).sqrt());
    // Scattered, the same share lies in 50 starts somewhere.
    let mut counts = vec![0u32; 1000];
    slots_of("scatter = true").iter().for_each(|&slot| counts[slot as usize] += 1);
    let hottest = |counts: &[u32]| counts.iter().filter(|&&count| count > 2000).count();
    assert_eq!(hottest(&counts), 50);
    assert!(hottest(&counts[..500]) > 10 && hottest(&counts[500..]) > 10, "spread over the working set");
}

/// 61 lanes of 16 starts each, and 24 starts left over.
#[test]
fn lanes_have_their_popularity_and_all_starts_of_a_lane_are_alike() {
    let n = 400_000.0;
    let of = |seed| {
        let text = "access = \"uneven\"\nlanes = 61\nlane_theta = 0.7\nsize = { constant = 8192 }\nrate_iops = 1e6\nrequests = 400000";
        slots(&draw_over(text, &SMALL, seed))
    };
    let drawn = of(1);
    let mut lanes = vec![0.0; 61];
    drawn.iter().for_each(|slot| lanes[(slot % 61) as usize] += 1.0);
    let first = (0..61).max_by(|&a, &b| f64::total_cmp(&lanes[a], &lanes[b])).expect("lanes") as u64;
    lanes.sort_unstable_by(|a, b| f64::total_cmp(b, a));
    let all: f64 = (1..=61).map(|k| f64::from(k).powf(-0.7)).sum();
    for (rank, &count) in lanes.iter().take(10).enumerate() {
        let share = (rank as f64 + 1.0).powf(-0.7) / all;
        near(count / n, share, 6.0 * (share / n).sqrt());
    }
    let mut rows = [0.0; 16];
    drawn.iter().filter(|&slot| slot % 61 == first).for_each(|slot| rows[(slot / 61) as usize] += 1.0);
    let each = rows.iter().sum::<f64>() / 16.0;
    rows.iter().for_each(|&count| near(count, each, 5.0 * each.sqrt()));
    let popular = |slots: &[u64], lane: u64| slots.iter().filter(|&&slot| slot % 61 == lane).count();
    assert!((2..20).any(|seed| popular(&of(seed), first) < popular(&drawn, first) / 2), "seeds have other favourites");
}

#[test]
fn large_requests_start_at_their_residue() {
    let drawn = draw_over(
        "access = \"uneven\"\nsize = { mix = [[8192, 1], [16384, 1], [24576, 1], [73728, 1]] }\nrate_iops = 1e6\nrequests = 60000\n\
         large_starts = { from_bytes = 24576, align_bytes = 65536, offset_bytes = 24576 }",
        &SMALL,
        1,
    );
    let mut starts = [vec![0u32; 1000], vec![0; 1000]];
    for d in &drawn {
        let slot = (d.offset - SMALL.start_bytes) / 8192;
        assert!(slot + d.length / 8192 <= 1000, "inside");
        starts[usize::from(d.length >= 24_576)][slot as usize] += 1;
    }
    assert!(starts[1].iter().enumerate().all(|(slot, &count)| (count > 0) == (slot % 8 == 3 && slot <= 995)));
    assert!(starts[0].iter().filter(|&&count| count > 0).count() > 900, "small ones anywhere");
}

#[test]
fn zipf_accesses_have_their_frequencies_wherever_they_lie() {
    let zipf = "access = \"zipf\"\nzipf_theta = 1.0\nrate_iops = 1e6\nrequests = 400000\n";
    let counts_of = |more: &str| {
        let mut counts = vec![0u32; 1000];
        slots(&draw_over(&format!("{zipf}{more}"), &SMALL, 1)).iter().for_each(|&slot| counts[slot as usize] += 1);
        counts
    };
    let (together, mut spread) = (counts_of("scatter = false"), counts_of(""));
    let harmonic: f64 = (1..=1000).map(|k| 1.0 / k as f64).sum();
    for k in [1usize, 2, 3, 10, 100] {
        let p = 1.0 / (k as f64 * harmonic);
        near(together[k - 1] as f64, 4e5 * p, 5.0 * (4e5 * p).sqrt());
    }
    assert_ne!(together, spread);
    let mut together = together;
    together.sort_unstable();
    spread.sort_unstable();
    assert_eq!(together, spread, "a shuffle moves popularity and changes none of it");
}

#[test]
fn runs_continue_with_their_probability() {
    let n = 400_000.0f64;
    let drawn = draw("sequential_probability = 0.2\nsize = { constant = 12288 }\nrate_iops = 1e6\nrequests = 400000");
    let runs = drawn.windows(2).filter(|pair| pair[1].offset == pair[0].end()).count() as f64;
    near(runs / n, 0.2, 5.0 * (0.16 / n).sqrt());
    let jumps = drawn.windows(2).filter(|pair| pair[1].offset != pair[0].end());
    assert!(jumps.into_iter().all(|pair| pair[1].offset % 8192 == 0), "jumps are aligned");
}

#[test]
fn files_keep_requests_inside_and_have_their_popularity() {
    let toml = |sequential: bool| {
        format!(
            "access = \"files\"\nfiles = 4\nfile_min_bytes = 1000000\nfile_max_bytes = 100000000\nfile_theta = 0.9\n\
             file_sequential = {sequential}\nsize = {{ constant = 65536 }}\nrate_iops = 1e6\nrequests = 100000"
        )
    };
    // With sequential access, each file shows as the run of requests between two restarts.
    let mut starts: BTreeMap<u64, u32> = BTreeMap::new();
    let walked = draw_over(&toml(true), &RANGE, 5);
    let mut expected: Vec<u64> = Vec::new();
    for d in &walked {
        match expected.iter_mut().find(|end| **end == d.offset) {
            Some(end) => *end = d.end(),
            None => {
                *starts.entry(d.offset).or_default() += 1;
                expected.push(d.end());
            }
        }
    }
    assert_eq!(starts.len(), 4, "four files, each from its first byte: {starts:?}");
    let firsts: Vec<u64> = starts.into_keys().collect();
    let file_of = |d: &Drawn| firsts.iter().rposition(|&first| first <= d.offset).expect("inside a file");
    let random = draw_over(&toml(false), &RANGE, 5);
    let total: f64 = (1..=4).map(|k| (k as f64).powf(-0.9)).sum();
    for (k, first) in firsts.iter().enumerate() {
        let share = mean(random.iter().map(|d| (file_of(d) == k) as u64 as f64));
        let p = ((k + 1) as f64).powf(-0.9) / total;
        near(share, p, 5.0 * (p * (1.0 - p) / 1e5).sqrt());
        // No request crosses into the next file, so its first byte is never in the middle of one.
        assert!(random.iter().all(|d| d.offset >= *first || d.end() <= *first));
    }
}

/// Files of one seed under draws of two: where sequential walks begin is where the files begin.
#[test]
fn files_can_have_a_seed_of_their_own() {
    let firsts = |file_seed: &str, seed: u64| {
        let toml = format!(
            "access = \"files\"\nfiles = 4\nfile_min_bytes = 1000000\nfile_max_bytes = 100000000\nfile_sequential = true\n\
             {file_seed}\nsize = {{ constant = 65536 }}\nrate_iops = 1e6\nrequests = 2000"
        );
        let mut expected: Vec<(u64, u64)> = Vec::new();
        for d in draw_over(&toml, &RANGE, seed) {
            match expected.iter_mut().find(|(_, end)| *end == d.offset) {
                Some((_, end)) => *end = d.end(),
                None => expected.push((d.offset, d.end())),
            }
        }
        expected.into_iter().map(|(first, _)| first).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(firsts("file_seed = 9", 1), firsts("file_seed = 9", 2));
    assert_eq!(firsts("file_seed = 9", 1), firsts("", 9), "by default the flow's seed is that of the files");
    assert_ne!(firsts("", 1), firsts("", 2));
}

/// One write in four, said by a share and by the gaps of reads and writes.
#[test]
fn rewrites_have_their_share_and_distance() {
    // A fresh start is one of 10^14 places, so a write to a known start is a rewrite.
    let range = AddressRange { start_bytes: 0, bytes: 1 << 60, page_bytes: 8192 };
    for rates in ["read_ratio = 0.75\nrate_iops = 1e6", "read_gap_us = 4\nwrite_gap_us = 12"] {
        let toml = format!(
            "{rates}\nrewrite = {{ ratio = 0.4, distance_requests = 100 }}\nrequests = 800000\n\
             size = {{ uniform = {{ min_bytes = 512, max_bytes = 65536 }} }}"
        );
        let drawn = draw_over(&toml, &range, 1);
        let mut written: BTreeMap<u64, (usize, u64)> = BTreeMap::new();
        let (mut writes, mut distances) = (0, Vec::new());
        for (i, d) in drawn.iter().enumerate().filter(|(_, d)| d.op == Op::Write) {
            writes += 1;
            if let Some((before, length)) = written.insert(d.offset, (i, d.length)) {
                assert_eq!(length, d.length, "a rewrite covers what it overwrites");
                distances.push((i - before) as f64);
            }
        }
        near(writes as f64 / 800_000.0, 0.25, 5.0 * (0.1875f64 / 800_000.0).sqrt());
        near(distances.len() as f64 / writes as f64, 0.4, 5.0 * (0.24 / writes as f64).sqrt());
        // The extent that lies D writes back may have been written again since, so the distance to its latest write is the
        // shorter of D and later picks: between half of 100 and 100.
        let m = mean(distances);
        assert!((60.0..100.0).contains(&m), "{rates}: mean distance {m}");
    }
}

/// What just fits is used: the last request of the working set, of a file, and the last start in it.
#[test]
fn requests_reach_the_last_byte() {
    let cycle = |toml: &str| {
        let drawn =
            draw_over(&format!("{toml}\nsize = {{ constant = 65536 }}\nrate_iops = 1e6\nrequests = 20"), &SMALL, 1);
        let starts: Vec<u64> = drawn.iter().map(|d| (d.offset - SMALL.start_bytes) / 65_536).collect();
        assert_eq!(starts, (0..20).map(|i| i % 4).collect::<Vec<_>>(), "{toml}");
    };
    cycle("access = \"streaming\"\nworking_set_bytes = 262144");
    cycle("access = \"files\"\nfiles = 1\nfile_min_bytes = 262144\nfile_max_bytes = 262144\nfile_sequential = true");
    let drawn = draw_over(
        "access = \"files\"\nfiles = 1\nfile_min_bytes = 81920\nfile_max_bytes = 81920\nsize = { constant = 8192 }\n\
         rate_iops = 1e6\nrequests = 100000",
        &SMALL,
        1,
    );
    let mut counts = [0.0; 10];
    slots(&drawn).into_iter().for_each(|slot| counts[slot as usize] += 1.0);
    counts.iter().for_each(|&count| near(count, 10_000.0, 5.0 * 9_000f64.sqrt()));
}

/// 299.6 of 1,000 starts are hot: 300, and the last of them is as hot as the first.
#[test]
fn the_hot_part_is_rounded_to_whole_starts() {
    let text = "access = \"hot-cold\"\nhot_access = 0.9\nhot_space = 0.2996\nrate_iops = 1e6\nrequests = 400000";
    let mut counts = vec![0.0; 1000];
    slots(&draw_over(text, &SMALL, 1)).into_iter().for_each(|slot| counts[slot as usize] += 1.0);
    near(counts[0], 1_200.0, 5.0 * 1_200f64.sqrt());
    near(counts[299], 1_200.0, 5.0 * 1_200f64.sqrt());
    assert!(counts[300] < 150.0, "{}", counts[300]);
}

/// A share of the flow's address range, wherever in it the working set begins.
#[test]
fn a_share_is_one_of_the_whole_range() {
    let text = "access = \"streaming\"\nsize = { constant = 8192 }\nrate_iops = 1e6\nrequests = 1000\n\
                working_set_fraction = 0.25\nworking_set_offset_bytes = 4096000";
    let drawn = slots(&draw_over(text, &SMALL, 1));
    assert_eq!(drawn, (0..1000).map(|i| 500 + i % 250).collect::<Vec<_>>());
}

/// Whatever the previous request was: a read, a write, or one that rewrites.
#[test]
fn a_run_goes_on_behind_reads_writes_and_rewrites() {
    let base = "sequential_probability = 1.0\nread_ratio = 0.5\nsize = { constant = 8192 }\nrate_iops = 1e6\nrequests = 900\nseed = 3";
    let plain = draw_over(base, &SMALL, 1);
    let goes_on = |pair: &[Drawn]| pair[1].offset == pair[0].end();
    let breaks = plain.windows(2).filter(|pair| !goes_on(pair));
    assert!(breaks.clone().all(|pair| pair[0].end() == SMALL.start_bytes + SMALL.bytes) && breaks.count() <= 1);
    let rewriting = draw_over(&format!("{base}\nrewrite = {{ ratio = 0.3, distance_requests = 20 }}"), &SMALL, 1);
    let behind = |op: Op| rewriting.windows(2).filter(move |pair| pair[0].op == op && pair[1].op == Op::Read);
    assert!(behind(Op::Write).count() > 150 && behind(Op::Read).count() > 150);
    let whole = |pair: &[Drawn]| goes_on(pair) || pair[0].end() == SMALL.start_bytes + SMALL.bytes;
    assert!(behind(Op::Write).chain(behind(Op::Read)).all(whole), "a read follows whatever was before");
}

/// At a distance of one write: from the second on, every write goes where the first went.
#[test]
fn a_rewrite_may_take_the_oldest_write_there_is() {
    let text = "read_ratio = 0.0\nrewrite = { ratio = 1.0, distance_requests = 1 }\nrate_iops = 1e6\nrequests = 50";
    let drawn = draw(text);
    assert!(drawn.iter().all(|d| (d.offset, d.length) == (drawn[0].offset, drawn[0].length)), "{drawn:?}");
}
