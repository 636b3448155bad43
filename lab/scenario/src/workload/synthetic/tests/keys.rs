//! Error messages name key, value and what is legal; the documentation lists every key.

use super::super::{SyntheticSource, SyntheticSpec};
use super::RANGE;
use crate::workload::clone::CloneSpec;
use crate::workload::scene::SceneRequest;
use flashlane_core::arrival::WorkloadError;

const SOUND: &str = "rate_iops = 1000\nrequests = 10\n";

fn error(toml: &str) -> WorkloadError {
    let spec: SyntheticSpec = toml::from_str(toml).unwrap_or_else(|e| panic!("{toml}: {e}"));
    SyntheticSource::new(&spec, &RANGE, 1).err().unwrap_or_else(|| panic!("accepted: {toml}"))
}

#[test]
fn every_value_out_of_range_is_named() {
    let cases = [
        ("read_ratio = 1.5", "read_ratio", "1.5 is not legal; legal: a number from 0 to 1"),
        ("read_ratio = nan", "read_ratio", "NaN"),
        ("size = { constant = 0 }", "size.constant", "from 1 to 1073741824"),
        ("size = { constant = 2000000000 }", "size.constant", "2000000000"),
        ("write_size = { constant = 0 }", "write_size.constant", "0 is not legal"),
        ("size = { uniform = { min_bytes = 9, max_bytes = 8 } }", "size.min_bytes", "from 1 to 8"),
        ("size = { uniform = { min_bytes = 513, max_bytes = 1023 } }", "size.min_bytes", "multiple of size_step_bytes"),
        ("size = { lognormal = { mean_bytes = 0, sd_bytes = 1 } }", "size.mean_bytes", "0 is not"),
        ("size = { lognormal = { mean_bytes = 9, sd_bytes = -1 } }", "size.sd_bytes", "-1 is not"),
        ("size = { mix = [] }", "size.mix", "at least one [bytes, weight] pair"),
        ("size = { mix = [[4096, -1]] }", "size.mix", "-1"),
        ("size_step_bytes = 0", "size_step_bytes", "0 is not"),
        ("align_bytes = 0", "align_bytes", "0 is not"),
        ("sequential_probability = 2.0", "sequential_probability", "2 is not"),
        ("access = \"zipf\"\nzipf_theta = -1.0", "zipf_theta", "from 0 to 10"),
        ("access = \"hot-cold\"\nhot_space = 1.0", "hot_space", "above 0 and below 1"),
        ("access = \"hot-cold\"\nhot_access = 1.1", "hot_access", "1.1"),
        ("access = \"files\"\nfiles = 0", "files", "from 1 to 65536"),
        ("access = \"files\"\nfile_min_bytes = 9999999999", "file_min_bytes", "9999999999"),
        ("access = \"files\"\nfile_min_bytes = 100", "file_min_bytes", "at least the largest request, 4096"),
        ("access = \"files\"\nfiles = 60000", "files", "fit the working set of 17179869184 bytes"),
        ("access = \"uneven\"\nlanes = 0", "lanes", "from 1 to 65536"),
        ("access = \"uneven\"\nlanes = 9\nworking_set_bytes = 65536", "lanes", "at most 8, the starts"),
        ("access = \"uneven\"\nlane_theta = 11", "lane_theta", "from 0 to 10"),
        (
            "large_starts = { from_bytes = 0, align_bytes = 1, offset_bytes = 0 }",
            "large_starts.from_bytes",
            "0 is not legal",
        ),
        (
            "large_starts = { from_bytes = 4096, align_bytes = 8192, offset_bytes = 4097 }\nworking_set_bytes = 8192",
            "large_starts.offset_bytes",
            "at most 4096, what the largest request leaves",
        ),
        ("rewrite = { ratio = 2.0, distance_requests = 5 }", "rewrite.ratio", "2 is not"),
        ("rewrite = { ratio = 0.5, distance_requests = 0 }", "rewrite.distance_requests", "from 1 to 100000"),
        ("working_set_bytes = 17179869185", "working_set_bytes", "at most 17179869184"),
        ("working_set_bytes = 4095", "size", "at most the working set, 4095 bytes"),
        ("working_set_fraction = 0.0", "working_set_fraction", "above 0, at most 1"),
        ("working_set_fraction = 0.9\nworking_set_offset_bytes = 8000000000", "working_set_fraction", "offset leaves"),
        ("working_set_fraction = 0.5\nworking_set_bytes = 8192", "working_set_bytes", "not both"),
        ("working_set_offset_bytes = 17179869184", "working_set_offset_bytes", "17179869184 is not"),
        ("working_set_offset_bytes = 9223372036854775807", "working_set_offset_bytes", "below the end"),
        ("arrivals = \"bursty\"\nburst_factor = 0.5", "burst_factor", "from 1 to"),
        ("arrivals = \"bursty\"\nburst_duty = 0.2", "burst_duty", "at most 1 / burst_factor, 0.125"),
        ("arrivals = \"bursty\"\nburst_duty = 1.0", "burst_duty", "below 1"),
        ("arrivals = \"batch\"\nburst_requests = 0.5", "burst_requests", "0.5"),
        ("start_us = -1.0", "start_us", "-1"),
        ("duration_s = 0.0", "duration_s", "0 is not"),
        ("duration_s = inf", "duration_s", "inf"),
        ("trim_ratio = 1.5", "trim_ratio", "1.5 is not legal; legal: a number from 0 to 1"),
        ("trim_ratio = 0.5\ntrim_size = { constant = 0 }", "trim_size.constant", "0 is not legal"),
        (
            "trim_ratio = 0.5\ntrim_size = { constant = 1048576 }\nworking_set_bytes = 65536",
            "trim_size",
            "a request of up to 1048576 bytes is not legal; legal: at most the working set, 65536 bytes",
        ),
        ("read_ratio = 0.5\nfua_ratio = -0.5", "fua_ratio", "-0.5 is not"),
        ("read_ratio = 0.5\nflush_every_writes = 0", "flush_every_writes", "from 1 to 1000000000"),
        ("flush_every_ms = 0", "flush_every_ms", "from 1e-9 to"),
    ];
    for (toml, place, message) in cases {
        let error = error(&format!("{SOUND}{toml}"));
        assert_eq!(error.place, place, "{toml}: {error}");
        assert!(error.message.contains(message), "{toml}: {error}");
    }
}

#[test]
fn keys_without_effect_are_refused() {
    let cases = [
        ("access = \"streaming\"\nsequential_probability = 0.1", "sequential_probability", "other than \"streaming\""),
        ("zipf_theta = 0.9", "zipf_theta", "only with access = \"zipf\""),
        ("hot_space = 0.1", "hot_space", "access = \"hot-cold\""),
        ("hot_access = 0.1", "hot_access", "access = \"hot-cold\""),
        ("scatter = true", "scatter", "access = \"zipf\" or \"hot-cold\""),
        ("files = 3", "files", "access = \"files\""),
        ("lanes = 16", "lanes", "access = \"uneven\""),
        ("lane_theta = 0.5", "lane_theta", "access = \"uneven\""),
        (
            "access = \"streaming\"\nlarge_starts = { from_bytes = 1, align_bytes = 1, offset_bytes = 0 }",
            "large_starts",
            "other than \"streaming\"",
        ),
        ("file_seed = 3", "file_seed", "access = \"files\""),
        ("file_sequential = true", "file_sequential", "access = \"files\""),
        ("burst_factor = 3", "burst_factor", "arrivals = \"bursty\""),
        ("burst_requests = 3", "burst_requests", "arrivals = \"bursty\" or \"batch\""),
        ("depth = 3", "depth", "arrivals = \"closed-loop\""),
        ("think_us = 3", "think_us", "arrivals = \"closed-loop\""),
        ("flush_every_writes = 3", "flush_every_writes", "only with writes, which a read_ratio below 1 brings"),
        ("fua_ratio = 0.5\nread_ratio = 1", "fua_ratio", "only with writes"),
        ("trim_size = { constant = 4096 }", "trim_size", "only with trim_ratio"),
        ("arrivals = \"closed-loop\"", "rate_iops", "no rate with arrivals = \"closed-loop\""),
    ];
    for (toml, place, message) in cases {
        let error = error(&format!("{SOUND}{toml}"));
        assert_eq!(error.place, place, "{toml}: {error}");
        assert!(error.message.contains(message), "{toml}: {error}");
    }
}

#[test]
fn a_flow_needs_one_rate_and_one_end() {
    let cases = [
        ("requests = 10", "rate_iops", "missing: give exactly one of rate_iops"),
        ("rate_iops = 1", "requests", "missing: give requests"),
        ("requests = 0\nrate_iops = 1", "requests", "0 is not"),
        ("requests = 10\nrate_iops = 0", "rate_iops", "0 is not legal; legal: a number from 1e-7 to"),
        ("requests = 10\nrate_iops = 9.9e-8", "rate_iops", "a number from 1e-7 to"),
        ("requests = 10\nmean_gap_us = 1.1e13", "mean_gap_us", "a number from 1e-9 to 10000000000000"),
        ("requests = 10\nrate_iops = -3.5", "rate_iops", "-3.5 is not"),
        ("requests = 10\nrate_mb_per_s = nan", "rate_mb_per_s", "NaN"),
        ("requests = 10\nrate_iops = 1\nmean_gap_us = 1", "mean_gap_us", "rate_iops, mean_gap_us at once"),
        ("requests = 10\nread_gap_us = 1", "read_gap_us", "together with write_gap_us"),
        ("requests = 10\nwrite_gap_us = 1", "write_gap_us", "together with read_gap_us"),
        ("requests = 10\nread_gap_us = 1\nwrite_gap_us = 1\nread_ratio = 0.5", "read_ratio", "already say the ratio"),
        ("requests = 10\narrivals = \"closed-loop\"\ndepth = 0", "depth", "from 1 to 65536"),
        ("requests = 10\narrivals = \"closed-loop\"\nthink_us = -1", "think_us", "-1"),
        (
            "requests = 10\nread_gap_us = 1\nwrite_gap_us = 1\ntrim_ratio = 0.5",
            "trim_ratio",
            "only with one rate for all requests",
        ),
        (
            "requests = 10\nread_gap_us = 1\nwrite_gap_us = 1\nflush_every_writes = 5",
            "flush_every_writes",
            "only with one rate for all requests",
        ),
        ("requests = 10\nrate_mb_per_s = 1\nflush_every_ms = 5", "flush_every_ms", "only with a rate in requests"),
        ("requests = 10\nrate_mb_per_s = 1\ntrim_ratio = 1", "rate_mb_per_s", "only with reads or writes"),
    ];
    for (toml, place, message) in cases {
        let error = error(toml);
        assert_eq!(error.place, place, "{toml}: {error}");
        assert!(error.message.contains(message), "{toml}: {error}");
    }
}

#[test]
fn unknown_keys_and_words_are_refused_with_their_line() {
    let parse = |toml: &str| toml::from_str::<SyntheticSpec>(toml).expect_err("refused").to_string();
    let unknown = parse("rate_iops = 1\nread_ration = 0.5");
    assert!(unknown.contains("line 2") && unknown.contains("read_ration"), "{unknown}");
    let word = parse("rate_iops = 1\n\naccess = \"zipff\"");
    assert!(word.contains("line 3") && word.contains("zipff") && word.contains("hot-cold"), "{word}");
    let inner = parse("size = { lognormal = { mean_bytes = 1, sd = 2 } }");
    assert!(inner.contains("line 1") && inner.contains("sd_bytes"), "{inner}");
}

/// Every example of the documentation is accepted by the parser and the generator.
#[test]
fn the_examples_of_the_documentation_run() {
    let text = include_str!("../../../../../../docs/workloads.md");
    let (mut synthetic, mut clones, mut scenes) = (0, 0, 0);
    for block in text.split("```toml\n").skip(1) {
        let block = block.split("```").next().expect("a block ends");
        let scenario: toml::Table = toml::from_str(block).unwrap_or_else(|e| panic!("{block}: {e}"));
        for flow in scenario["flow"].as_array().expect("flows") {
            let part = |key: &str| flow.get(key).cloned();
            if let Some(value) = part("synthetic") {
                let spec: SyntheticSpec = value.try_into().unwrap_or_else(|e| panic!("{block}: {e}"));
                SyntheticSource::new(&spec, &RANGE, 1).unwrap_or_else(|e| panic!("{block}: {e}"));
                synthetic += 1;
            }
            if let Some(value) = part("clone") {
                let spec: CloneSpec = value.try_into().unwrap_or_else(|e| panic!("{block}: {e}"));
                spec.source(&RANGE, 1).unwrap_or_else(|e| panic!("{block}: {e}"));
                clones += 1;
            }
            if let Some(value) = part("request") {
                let requests: Vec<SceneRequest> = value.try_into().unwrap_or_else(|e| panic!("{block}: {e}"));
                crate::workload::scene::SceneSource::new(&requests, &RANGE).unwrap_or_else(|e| panic!("{block}: {e}"));
                scenes += 1;
            }
        }
    }
    assert!(synthetic >= 5 && clones >= 3 && scenes >= 1, "{synthetic} {clones} {scenes}");
}
