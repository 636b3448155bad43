//! Modelled drives beside measurements of real ones: the same workloads, and by how much the figures differ.
//!
//! Owns the cases and the measured figures. Simulated times do not depend on the machine, so that the table's figures come out
//! equal everywhere, and a change of the model that makes a drive worse shows.

mod cases;

use cases::{Amplification, Load, Peak, Writes, measured};
pub use cases::{CASES, Case};
use flashlane_fit::play::{self, flow, of, run, scenario, times};
use flashlane_fit::table::{Kind, Row};

/// Requests at the beginning of each flow that are not measured, where it shares the drive with others.
const SETTLE: u64 = 1_000;
/// Threads that write beside the one that is measured, and the requests that each thread has outstanding at most.
const WRITERS: [&str; 6] = ["1", "2", "3", "4", "5", "6"];
const OUTSTANDING: u32 = 64;
/// So that a thread has no more outstanding, and response times begin where it may have one more.
const THREADS: [(&str, &str); 2] = [("device.front.depth", "64"), ("run.response_from", "\"entry\"")];
/// Most writes before those of which the write amplification is taken, and most of these.
const SETTLING: u64 = 300_000;
/// What is written at full rate before that is measured, as a share of what is written at first: more than blocks that are kept free.
const FILLING: f64 = 0.6;
/// What is written at a rate before times at that rate are measured, as a multiple of what the blocks between the two thresholds of collection hold.
/// Until the free blocks of the rate before are used up or made up for, collection is behind or ahead.
const SETTLED: f64 = 2.0;
/// Names of the columns of times in the data.
const TIMES: [&str; 5] = ["p50_us", "p90_us", "p99_us", "p99_9_us", "mean_us"];

/// Runs a case.
///
/// # Errors
/// A device or a workload that cannot be run.
pub fn rows(case: &Case) -> Result<Vec<Row>, String> {
    match &case.load {
        Load::Reads(depth) => reads(case, *depth),
        Load::Writes(writes) => beside_writes(case, writes),
        Load::Peak(peak) => peak_rate(case, peak),
        Load::Amplification(amplification) => amplify(case, amplification),
    }
}

fn reads(case: &Case, depth: u32) -> Result<Vec<Row>, String> {
    let keys = format!("{}, depth = {depth}, requests = 300000", random(1.0, "closed-loop"));
    let result = run(&scenario(case.device, 0, &flow("reads", &keys))?)?;
    let reads = of(&result, "reads")?.read.as_ref();
    let start = format!("980 PRO,{depth},");
    let mut cells = pairs(times(reads)?, |column| measured(cases::READS, &start, column));
    let rate = reads.and_then(|reads| reads.own_iops).unwrap_or_default();
    cells.push([measured(cases::READS, &start, "iops"), rate]);
    let is_fitted = [1, 8, 128].contains(&depth);
    Ok(vec![Row::new(Kind::Reads, [case.name, &format!("depth {depth}"), "reads, us"], is_fitted, cells)])
}

/// A part of the drive is written at nine tenths of its rate, so that collection is neither behind nor idle when the rates begin, and each rate settles
/// without a pause. The saturated one is the last, after as much at full rate as brings the free blocks down to the reserve.
fn beside_writes(case: &Case, writes: &Writes) -> Result<Vec<Row>, String> {
    let whole = scenario(case.device, SETTLE, &flow("x", "requests = 1"))?;
    let first = play::bytes(&whole)?.0 as f64 / f64::from(writes.scale) * writes.before / 4096.0;
    let mut flows = String::new();
    let mut start = first / (0.9 * writes.expected * 0.99);
    let open = |name: &str, reads: f64, arrivals: &str, rate: f64, start: f64, seconds: f64| {
        let when = format!("rate_iops = {rate:.1}, start_us = {:.1}, duration_s = {seconds:.6}", start * 1e6);
        flow(name, &format!("{}, {when}", random(reads, arrivals)))
    };
    flows += &open("before", 0.01, "poisson", 0.9 * writes.expected, 0.0, start);
    let settling = SETTLED * play::units_between_thresholds(&whole)? / f64::from(writes.scale);
    for rate in writes.rates {
        let settled = settling / f64::from(*rate);
        flows += &open(&format!("settling {rate}"), 0.01, "poisson", f64::from(*rate), start, settled);
        start += settled;
        let seconds = writes.requests / f64::from(*rate);
        flows += &open(&format!("probe {rate}"), 0.5, "constant", 10_000.0, start, seconds);
        flows += &open(&format!("writers {rate}"), 0.01, "poisson", f64::from(*rate) - 5_000.0, start, seconds);
        start += seconds;
    }
    let closed = |name: &str, start: f64, seconds: f64| {
        let when = format!("depth = {OUTSTANDING}, start_us = {:.1}, duration_s = {seconds:.6}", start * 1e6);
        let keys = format!("{}, {when}", random(0.01, "closed-loop"));
        WRITERS.map(|thread| flow(&format!("{name} {thread}"), &keys)).concat()
    };
    let filling = FILLING * first / writes.expected;
    flows += &closed("filling up", start, filling);
    let seconds = writes.saturated_s;
    flows += &open("probe saturated", 0.5, "constant", 10_000.0, start + filling, seconds);
    flows += &closed("writers saturated", start + filling, seconds);
    // A thread that has fallen behind still writes.
    flows += &closed("afterwards", start + filling + seconds, seconds / 2.0);
    let mut scene = scenario(case.device, SETTLE, &flows)?;
    play::shrink(&mut scene, writes.scale, &THREADS)?;
    let result = run(&scene)?;
    let before = of(&result, "before")?;
    let made = before.completed as f64;
    if made < 0.98 * first {
        return Err(format!("{}: only {made} of {first:.0} writes before the rates", case.name));
    }
    let mut rows = Vec::new();
    let names = writes.rates.iter().map(u32::to_string).chain(["saturated".to_owned()]);
    for rate in names {
        let (start, probe) = (format!("{},{rate},", writes.drive), of(&result, &format!("probe {rate}"))?);
        let is_fitted = ["10000", "saturated"].contains(&&*rate);
        for (what, stats) in [("read", &probe.read), ("write", &probe.write)] {
            let cells =
                pairs(times(stats.as_ref())?, |name| measured(cases::WRITES, &start, &format!("{what}_{name}")));
            let load = if is_fitted && rate != "10000" { rate.clone() } else { format!("{rate}/s") };
            rows.push(Row::new(Kind::Beside, [case.name, &load, &format!("{what}s, us")], is_fitted, cells));
        }
    }
    let threads = WRITERS.map(|thread| format!("writers saturated {thread}"));
    let mut rate = 0.0;
    for name in threads.iter().map(String::as_str).chain(["probe saturated"]) {
        rate += of(&result, name)?.write.as_ref().and_then(|writes| writes.own_iops).unwrap_or_default();
    }
    let cell = [measured(cases::WRITES, &format!("{},saturated,", writes.drive), "writes_per_s"), rate];
    rows.push(Row::new(Kind::Rates, [case.name, "steady 4 KiB random writes", "a second"], true, vec![cell]));
    Ok(rows)
}

fn peak_rate(case: &Case, peak: &Peak) -> Result<Vec<Row>, String> {
    let is_bytes = peak.figure.starts_with("sequential");
    let size = if is_bytes { 131_072 } else { 4_096 };
    let keys = format!("{}, size = {{ constant = {size} }}, arrivals = \"closed-loop\", requests = 100000", peak.keys);
    let mut scene = scenario(case.device, 0, &flow("peak", &keys))?;
    play::shrink(&mut scene, 4, &[])?;
    let result = run(&scene)?;
    let stats = of(&result, "peak")?.all.as_ref().ok_or("no requests")?;
    let rate = stats.own_iops.unwrap_or_default() * if is_bytes { f64::from(size) / 1e6 } else { 1.0 };
    let start = format!("970 PRO 512 GB,{},", peak.figure);
    let mut results = ["first", "second", "third"].map(|column| measured(cases::PEAKS, &start, column));
    results.sort_by(f64::total_cmp);
    let median = if is_bytes { results[1] / 1e6 } else { results[1] };
    let unit = if is_bytes { "MB/s" } else { "a second" };
    Ok(vec![Row::new(Kind::Rates, [case.name, peak.figure, unit], !is_bytes, vec![[median, rate]])])
}

/// Zipf's equilibrium is far from the state at the start, which is that of uniform writes.
fn amplify(case: &Case, amplification: &Amplification) -> Result<Vec<Row>, String> {
    let figure = |column| measured(cases::AMPLIFICATION, amplification.line, column);
    let device = case.device.replace("VICTIM", amplification.victim);
    let (_, raw) = play::bytes(&scenario(&device, 0, &flow("x", "requests = 1"))?)?;
    let used = (figure("used_gib") / amplification.raw_gib * raw as f64) as u64 / 4096 * 4096;
    let pages = raw / 4096;
    let (access, before) = if amplification.line.contains("zipf") {
        ("access = \"zipf\", zipf_theta = 0.8", 3 * pages)
    } else {
        ("access = \"random\"", pages.min(SETTLING))
    };
    let keys =
        format!("read_ratio = 0, size = {{ constant = 4096 }}, {access}, arrivals = \"closed-loop\", depth = 32");
    let flow = flow("writes", &format!("{keys}, requests = {}", before + pages.min(2 * SETTLING)));
    let mut scene = scenario(&device, before, &flow)?;
    scene.assign(&[("device.ftl.user_bytes".into(), used.to_string())]).map_err(|error| error.to_string())?;
    let amplified = run(&scene)?.device.write_amplification.ok_or("no writes")? * figure("sequential");
    let load = amplification.line.trim_end_matches(',').replace(',', ", ") + " GiB";
    let cells = vec![[figure("measured"), amplified]];
    Ok(vec![Row::new(Kind::Amplification, [case.name, &load, amplification.victim], amplification.is_fitted, cells)])
}

/// Keys of random requests of 4 KiB.
fn random(read_ratio: f64, arrivals: &str) -> String {
    let where_to = "size = { constant = 4096 }, align_bytes = 4096, access = \"random\"";
    format!("read_ratio = {read_ratio}, {where_to}, arrivals = \"{arrivals}\"")
}

/// What was measured beside what came out.
fn pairs(modelled: [f64; 5], measured: impl Fn(&str) -> f64) -> Vec<[f64; 2]> {
    TIMES.iter().zip(modelled).map(|(column, modelled)| [measured(column), modelled]).collect()
}
