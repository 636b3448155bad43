//! The cost of metrics: nanoseconds of CPU per completion observed. `cargo bench -p flashlane-report --bench metrics`.

use std::hint::black_box;
use std::time::Instant;

use flashlane_core::{Completion, Duration, FlowId, Lpn, Op, RequestId, Time};
use flashlane_report::metrics::{FlowMetrics, Histogram, LoadWindow};

const SAMPLE: u64 = 4_096;
const ROUNDS: u64 = 250;

/// Completions of a busy drive: 200,000 per second, response times log-uniform between 50 µs and 50 ms.
fn completions(n: u64) -> Vec<Completion> {
    let mut x = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    (0..n)
        .map(|i| {
            let done = 100_000_000 + i * 5_000;
            let octave = draw() % 10;
            let response = (50_000 << octave) + draw() % (50_000 << octave);
            Completion {
                id: RequestId(i),
                flow: FlowId(0),
                op: if draw() % 10 < 7 { Op::Read } else { Op::Write },
                arrival: Time::from_ns(done - response.min(done)),
                done: Time::from_ns(done),
                lpn: Lpn(draw() as u32),
                pages: 1,
                bytes: 4_096,
                tags: 0,
            }
        })
        .collect()
}

/// Best of several rounds: on a shared machine the smallest figure is the one least disturbed by other processes.
fn best(rounds: u32, items: usize, mut round: impl FnMut()) -> f64 {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_nanos() as f64 / items as f64
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    // As in a run, where a completion was just made: the sample stays in the cache, and time advances.
    let sample = completions(SAMPLE);
    let shifts = || (0..ROUNDS).map(|round| Duration::from_ns(round * SAMPLE * 5_000));
    let items = (ROUNDS * SAMPLE) as usize;
    let values: Vec<u64> = sample.iter().map(|c| c.done.since(c.arrival).ns()).collect();
    let record = best(15, items, || {
        let mut histogram = Histogram::new();
        shifts().for_each(|_| values.iter().for_each(|&value| histogram.record(value)));
        black_box(&histogram);
    });
    println!("histogram record        {record:6.2} ns per value");
    let observe = best(15, items, || {
        let (mut flow, mut window) = (FlowMetrics::new(), LoadWindow::default());
        for shift in shifts() {
            for c in &sample {
                let completion = Completion { arrival: c.arrival + shift, done: c.done + shift, ..*c };
                flow.issue(&mut window, completion.op, completion.arrival, true);
                flow.complete(&window, &completion);
            }
        }
        black_box(&flow);
    });
    println!("flow issue and observe  {observe:6.2} ns per request");
}
