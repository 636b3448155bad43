//! Results in fio's form: JSON of fio 3's layout, one job for each flow, with the histograms of json+.
//!
//! Made from the summary alone. The histogram's buckets are fio's, so its bins are exactly those fio would have made of
//! the same response times; percentiles are computed from them as fio does. A response time is fio's completion
//! latency; the submission latency is zero, since a simulated host takes no time to submit.

use serde_json::{Map, Value, json};

use super::flow_stats::{Cdf, FlowStats, ResponseStats};
use super::summary::{FlowInfo, SchedulerResult, Summary};
use crate::metrics::Bucket;

/// fio's default list of percentiles, in millionths.
const PERCENTILES: [u32; 17] = [
    10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000, 900_000, 950_000, 990_000,
    995_000, 999_000, 999_500, 999_900,
];

/// The last value of fio's own table (bucket 1,855, about 17 s); longer times are counted in that bucket.
const FIO_LAST: u64 = (127 << 27) + (1 << 26);

/// The document. With one scheduler a job is named after its flow, with several `scheduler/flow`.
pub fn document(summary: &Summary) -> Value {
    let several = summary.schedulers.len() > 1;
    let jobs: Vec<Value> = summary
        .schedulers
        .iter()
        .enumerate()
        .flat_map(|(group, run)| {
            summary.flows.iter().zip(&run.flows).map(move |(info, flow)| {
                let name = if several { format!("{}/{}", run.name, flow.name) } else { flow.name.clone() };
                job(&name, group, info, &flow.figures, run)
            })
        })
        .collect();
    json!({
        "fio version": "fio-3.33",
        "flashlane": summary.made_by,
        "global options": { "ioengine": "flashlane", "filename": summary.made_by.device },
        "jobs": jobs,
    })
}

fn job(name: &str, group: usize, info: &FlowInfo, figures: &FlowStats, run: &SchedulerResult) -> Value {
    let ms = runtime_ms(figures, run);
    let commands = figures.commands.as_deref();
    let mut job = json!({
        "jobname": name,
        "groupid": group,
        "error": 0,
        "elapsed": figures.makespan_ns.div_ceil(1_000_000_000),
        "job options": options(name, info, figures, run),
        "read": direction(&figures.read, ms),
        "write": direction(&figures.write, ms),
        "trim": commands.map_or_else(|| direction(&None, ms), |commands| direction(&commands.trim, ms)),
        "job_runtime": ms,
        "latency_depth": info.depth.unwrap_or(0),
    });
    if let Some(flushes) = commands.and_then(|commands| commands.flush.as_ref()) {
        let mut times = latency(&Some(flushes.clone()));
        times["percentile"] = percentiles(&bins(&flushes.cdf));
        job["sync"] = json!({ "total_ios": flushes.requests, "lat_ns": times });
    }
    job
}

/// How long the counted requests of a flow took, from the first's arrival to the last's completion, in whole ms as fio counts: at least one.
fn runtime_ms(figures: &FlowStats, run: &SchedulerResult) -> u64 {
    // The window of a run begins with its first counted arrival.
    let counted_from = run.total.last_arrival_ns.saturating_sub(figures.window_ns);
    let from = figures.first_arrival_ns.unwrap_or(0).max(counted_from);
    figures.last_completion_ns.saturating_sub(from).div_ceil(1_000_000).max(1)
}

/// Job options in the form fio's tools read: all strings.
fn options(name: &str, info: &FlowInfo, figures: &FlowStats, run: &SchedulerResult) -> Value {
    let kind = match (&figures.read, &figures.write) {
        (Some(_), Some(_)) => "rw",
        (None, Some(_)) => "write",
        _ => "read",
    };
    let access = if info.sequential { kind.to_string() } else { format!("rand{kind}") };
    // The mean size of a request, since fio's tools need one.
    let block = figures.all.as_ref().map_or(0, |all| all.bytes / all.requests);
    json!({
        "name": name,
        "rw": access,
        "bs": if block > 0 && block.is_multiple_of(1_024) { format!("{}k", block / 1_024) } else { block.to_string() },
        "iodepth": info.depth.unwrap_or(1).to_string(),
        "numjobs": "1",
        "ioscheduler": run.name,
    })
}

/// One direction of a job. As fio does, rates are the counts over the runtime that is printed.
fn direction(figures: &Option<ResponseStats>, runtime_ms: u64) -> Value {
    let (requests, bytes) = figures.as_ref().map_or((0, 0), |f| (f.requests, f.bytes));
    let per_second = |amount: u64| amount as f64 * 1_000.0 / runtime_ms as f64;
    let mut completion = latency(figures);
    let total = completion.clone();
    if let (Some(f), Some(map)) = (figures, completion.as_object_mut()) {
        let bins = bins(&f.cdf);
        map.insert("percentile".into(), percentiles(&bins));
        map.insert(
            "bins".into(),
            bins.iter().map(|&(at, count)| (at.to_string(), json!(count))).collect::<Map<_, _>>().into(),
        );
    }
    json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / 1_024,
        "bw_bytes": per_second(bytes) as u64,
        "bw": (per_second(bytes) / 1_024.0) as u64,
        "iops": per_second(requests),
        "runtime": if figures.is_some() { runtime_ms } else { 0 },
        "total_ios": requests,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": latency(&None),
        "clat_ns": completion,
        "lat_ns": total,
    })
}

fn latency(figures: &Option<ResponseStats>) -> Value {
    let Some(f) = figures else {
        return json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 });
    };
    // fio's standard deviation is that of a sample: it divides by n - 1.
    let sample = if f.requests > 1 { (f.requests as f64 / (f.requests - 1) as f64).sqrt() } else { 0.0 };
    json!({ "min": f.min_ns, "max": f.max_ns, "mean": f.mean_ns, "stddev": f.stdev_ns * sample, "N": f.requests })
}

/// The bins of json+: fio's value for each non-empty bucket, and its count.
fn bins(cdf: &Cdf) -> Vec<(u64, u64)> {
    let mut bins: Vec<(u64, u64)> = Vec::with_capacity(cdf.requests.len());
    let mut before = 0;
    for (&at_most, &upto) in cdf.at_most_ns.iter().zip(&cdf.requests) {
        let value = Bucket::of(at_most).middle().min(FIO_LAST);
        match bins.last_mut() {
            Some((last, count)) if *last == value => *count += upto - before,
            _ => bins.push((value, upto - before)),
        }
        before = upto;
    }
    bins
}

/// fio's percentiles: the value of the first bin at which the share is reached.
fn percentiles(bins: &[(u64, u64)]) -> Value {
    let total: u64 = bins.iter().map(|&(_, count)| count).sum();
    let at = |millionths: u32| {
        let mut upto = 0;
        let reached = |&&(_, count): &&(u64, u64)| {
            upto += count;
            u128::from(upto) * 1_000_000 >= u128::from(total) * u128::from(millionths)
        };
        bins.iter().find(reached).map_or(0, |&(value, _)| value)
    };
    PERCENTILES.iter().map(|&p| (format!("{:.6}", f64::from(p) / 1e4), json!(at(p)))).collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::example::example;
    use crate::results::{DeviceStats, SchedulerResult};

    #[test]
    fn has_the_shape_fio_tools_expect() {
        let summary = example();
        let fio = document(&summary);
        assert!(fio["fio version"].as_str().unwrap().starts_with("fio-3."));
        let jobs = fio["jobs"].as_array().unwrap();
        assert_eq!(jobs.len(), 6, "three schedulers, two flows");
        assert_eq!(jobs[2]["jobname"], "read-first/web");
        for job in jobs {
            for key in ["rw", "bs", "iodepth", "numjobs"] {
                assert!(job["job options"][key].is_string(), "{key}");
            }
            for side in ["read", "write", "trim"] {
                for key in ["io_bytes", "bw", "iops", "runtime", "total_ios"] {
                    assert!(job[side][key].is_number(), "{side} {key}");
                }
                for time in ["slat_ns", "clat_ns", "lat_ns"] {
                    for key in ["min", "max", "mean", "stddev", "N"] {
                        assert!(job[side][time][key].is_number(), "{side} {time} {key}");
                    }
                }
            }
        }
        assert_eq!(jobs[0]["job options"]["rw"], "randrw");
        assert_eq!((&jobs[1]["job options"]["rw"], &jobs[1]["job options"]["iodepth"]), (&json!("write"), &json!("8")));
    }

    /// Rates are those of the counts and the runtime beside them, in every job and direction, a burst's too.
    #[test]
    fn rates_are_counts_over_the_runtime() {
        let mut burst = example();
        for run in &mut burst.schedulers {
            let flows = run.flows.iter_mut().map(|flow| &mut flow.figures);
            for figures in flows.chain([&mut run.total]) {
                (figures.window_ns, figures.last_arrival_ns) = (0, figures.first_arrival_ns.unwrap_or(0));
                for stats in [&mut figures.all, &mut figures.read, &mut figures.write].into_iter().flatten() {
                    (stats.iops, stats.offered_iops, stats.mb_per_s) = (None, None, None);
                }
            }
        }
        for summary in [example(), burst] {
            let fio = document(&summary);
            let number = |value: &Value| value.as_f64().expect("a number");
            for job in fio["jobs"].as_array().expect("jobs") {
                for side in
                    ["read", "write", "trim"].map(|side| &job[side]).into_iter().filter(|side| side["total_ios"] != 0)
                {
                    let seconds = number(&side["runtime"]) / 1_000.0;
                    assert_eq!(side["runtime"], job["job_runtime"]);
                    assert!((number(&side["iops"]) - number(&side["total_ios"]) / seconds).abs() < 1e-6, "{side}");
                    let bytes = number(&side["io_bytes"]) / seconds;
                    assert_eq!(
                        (number(&side["bw_bytes"]), number(&side["bw"])),
                        (bytes.floor(), (bytes / 1_024.0).floor()),
                        "{side}"
                    );
                }
            }
        }
    }

    #[test]
    fn figures_are_those_of_the_summary() {
        let mut summary = example();
        summary.schedulers.truncate(1);
        let fio = document(&summary);
        let flow = &summary.schedulers[0].flows[0];
        let (job, read) = (&fio["jobs"][0], flow.figures.read.as_ref().unwrap());
        assert_eq!(job["jobname"], "web");
        assert_eq!(job["read"]["total_ios"], read.requests);
        assert_eq!(job["read"]["io_bytes"], read.bytes);
        assert_eq!(job["read"]["clat_ns"]["max"], read.max_ns);
        let bins = job["read"]["clat_ns"]["bins"].as_object().unwrap();
        assert_eq!(bins.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), read.requests);
        let median = job["read"]["clat_ns"]["percentile"]["50.000000"].as_u64().unwrap();
        assert_eq!(median, read.p50_ns, "inside the range both are the middle of the same bucket");
    }

    /// Response times that fio 3.33 measured, and the figures it printed for them.
    #[test]
    fn bins_and_percentiles_are_fio_s_own() {
        let times = [27_466, 27_500, 28_000, 65_300, 87_600, 237_584];
        let mut histogram = crate::metrics::Histogram::new();
        times.iter().for_each(|&time| histogram.record(time));
        let (at_most_ns, requests) = histogram.cdf().into_iter().unzip();
        let bins = bins(&Cdf { at_most_ns, requests });
        assert_eq!(bins, [(27_520, 2), (28_032, 1), (65_280, 1), (87_552, 1), (238_592, 1)]);
        let percentiles = percentiles(&bins);
        assert_eq!((&percentiles["50.000000"], &percentiles["99.990000"]), (&json!(28_032), &json!(238_592)));
    }

    #[test]
    fn times_beyond_fio_s_table_fall_into_its_last_bin() {
        let cdf = Cdf { at_most_ns: vec![100, 20_000_000_000, 90_000_000_000], requests: vec![1, 2, 4] };
        assert_eq!(bins(&cdf), [(100, 1), (FIO_LAST, 3)]);
    }

    #[test]
    fn a_flow_that_did_nothing_is_all_zeros() {
        let flows = [FlowInfo::default()];
        let idle = crate::metrics::FlowMetrics::new();
        let run = SchedulerResult::new("fcfs", &flows, &[idle], None, &DeviceStats::default());
        let fio = document(&Summary::new(Default::default(), flows.to_vec(), vec![run], vec![]));
        assert_eq!(fio["jobs"][0]["read"]["clat_ns"]["N"], 0);
        assert!(fio["jobs"][0]["read"]["clat_ns"].get("percentile").is_none());
    }
}
