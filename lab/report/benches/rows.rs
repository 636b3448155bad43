//! The cost of writing rows: nanoseconds and bytes per row. `cargo bench -p flashlane-report --bench rows`.

use std::time::Instant;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Completion, FlowId, Lpn, Op, Owner, RequestId, Time};
use flashlane_report::results::{Format, RequestRow, Row, RowWriter, TransactionRow, Waited};

const ROWS: u64 = 1_000_000;

/// A pseudo-random number, the same on every run.
fn scattered(i: u64) -> u64 {
    let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn request(i: u64) -> RequestRow {
    let arrival = i * 5_000 + scattered(i) % 5_000;
    RequestRow(
        Completion {
            id: RequestId(i),
            flow: FlowId((i % 4) as u16),
            op: if scattered(i) % 10 < 7 { Op::Read } else { Op::Write },
            arrival: Time::from_ns(arrival),
            done: Time::from_ns(arrival + 60_000 + scattered(i + 1) % 900_000),
            lpn: Lpn((scattered(i + 2) % 100_000_000) as u32),
            pages: 1 + (scattered(i + 3) % 8) as u32,
            bytes: 4_096,
            tags: 0,
        },
        true,
    )
}

fn transaction(i: u64) -> TransactionRow {
    let enqueue_ns = i * 2_000 + scattered(i) % 2_000;
    let gc = i.is_multiple_of(9);
    let dispatch_ns = enqueue_ns + scattered(i + 1) % 300_000;
    TransactionRow {
        request: (!gc).then_some(RequestId(i / 3)),
        flow: FlowId((i % 4) as u16),
        op: if scattered(i) % 10 < 7 { FlashOp::Read } else { FlashOp::Program },
        owner: if gc { Owner::Gc } else { Owner::User },
        lpn: Some(Lpn((scattered(i + 2) % 100_000_000) as u32)),
        channel: (scattered(i + 3) % 8) as u32,
        chip: (scattered(i + 4) % 4) as u32,
        die: (scattered(i + 5) % 2) as u32,
        plane: (scattered(i + 6) % 2) as u32,
        enqueue_ns,
        dispatch_ns: Some(dispatch_ns),
        done_ns: dispatch_ns + 75_000 + scattered(i + 7) % 9_000,
        paused_ns: 0,
        slack_ns: Some(scattered(i + 8) % 50_000),
        cancelled: false,
        estimate: None,
        actual_slack_ns: Some(scattered(i + 9) % 50_000),
        waited: Waited::default(),
    }
}

fn measure<R: Row>(make: fn(u64) -> R) {
    let rows: Vec<R> = (0..ROWS).map(make).collect();
    for format in [Format::Parquet, Format::Csv] {
        let path = std::env::temp_dir().join(format!("flashlane-bench-{}", std::process::id()));
        let mut best = f64::INFINITY;
        let mut bytes = 0;
        for _ in 0..3 {
            let start = Instant::now();
            let mut writer = RowWriter::create(&path, format).expect("the temporary folder is writable");
            rows.iter().for_each(|row| writer.push(row).expect("there is room"));
            writer.finish().expect("there is room");
            best = best.min(start.elapsed().as_nanos() as f64 / ROWS as f64);
            bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
            let _ = std::fs::remove_file(&path);
        }
        let bytes = bytes as f64 / ROWS as f64;
        println!("{:12} {:8} {best:6.0} ns and {bytes:5.1} bytes per row", R::TABLE.name, format.extension());
    }
}

fn main() {
    measure(request);
    measure(transaction);
}
