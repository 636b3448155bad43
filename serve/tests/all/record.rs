//! What a served drive was given, replayed by a run: the same response times to the nanosecond.

use std::path::Path;
use std::time::Duration;

use flashlane_core::Op;
use flashlane_scenario::Scenario;
use flashlane_serve::{Place, Report, send};
use flashlane_sim::{ObserverOptions, Outcome, run_observed};

use super::client::Client;
use super::{SCENARIO, Served, mixed};

/// Serves `requests` random commands of each tenant, thirty-two at a time, with flushes between them.
fn served(folder: &Path, scheduler: &str, requests: usize, changes: &[(u64, &str)]) -> (std::path::PathBuf, Report) {
    let (socket, record) = (folder.join(format!("{scheduler}.socket")), folder.join(format!("{scheduler}.record")));
    let text = SCENARIO.replace("\"read-first\"", &format!("\"{scheduler}\""));
    let served = Served::recorded(&socket, Place::Memory, 1.0, text, Some(record.clone()));
    let tenant = |export: &'static str, seed: u64| {
        let mut client = Client::open(&socket, export, false);
        std::thread::spawn(move || {
            let mut random = mixed(seed);
            let mut left = requests;
            while left > 0 {
                let batch = left.min(32);
                let mut reads = Vec::new();
                for _ in 0..batch {
                    let (offset, length) = (512 * random(20_000), 512 * (1 + random(48)) as u32);
                    match random(3) {
                        0 => drop(client.send(1, offset, length, &vec![7; length as usize])),
                        _ => reads.push((client.send(0, offset, length, &[]), length)),
                    }
                }
                client.send(3, 0, 0, &[]);
                for _ in 0..=batch {
                    let length = |cookie| reads.iter().find(|read| read.0 == cookie).map_or(0, |read| read.1);
                    assert_eq!(client.answer_of(length).1, 0);
                }
                left -= batch;
            }
        })
    };
    let tenants = [tenant("db", 5), tenant("backup", 6)];
    let control = socket.with_extension("ctl");
    for (pause_ms, command) in changes {
        std::thread::sleep(Duration::from_millis(*pause_ms));
        send(&control, command).unwrap_or_else(|why| panic!("{command}: {why}"));
    }
    tenants.into_iter().for_each(|tenant| tenant.join().expect("served"));
    (record, served.end())
}

fn replay(record: &Path) -> Outcome {
    let scenario = Scenario::load(record).unwrap_or_else(|why| panic!("{why}"));
    run_observed(&scenario, ObserverOptions::default()).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn a_replay_is_equal_to_the_nanosecond() {
    let folder = tempfile::tempdir().expect("a folder");
    let changes: [&[(u64, &str)]; 3] = [
        &[
            (40, "priority db 1"),
            (40, "scheduler flin"),
            (40, "priority db 0"),
            (30, "priority backup 1"),
            (40, "scheduler slacker"),
        ],
        &[(60, "priority backup 1"), (60, "priority db 1"), (30, "priority backup 0")],
        &[
            (30, "scheduler sos"),
            (40, "scheduler flin"),
            (0, "scheduler fcfs"),
            (30, "priority db 1"),
            (20, "scheduler flin"),
        ],
    ];
    for (scheduler, changes) in ["fr-fcfs", "slacker", "flin"].into_iter().zip(changes) {
        let (record, report) = served(folder.path(), scheduler, 5_000, changes);
        assert!(report.recorded.as_ref().is_some_and(|lines| lines.as_ref().is_ok_and(|lines| *lines > 10_000)));
        let outcome = replay(&record);
        for (live, again) in report.exports.iter().zip(&outcome.flows).take(2) {
            assert_eq!(live.completed() - live.flushes[1], 5_000);
            for op in [Op::Read, Op::Write] {
                let (live, again) = (&live.response[op.index()], again.response(op));
                assert_eq!((live.count(), live.sum(), live.max()), (again.count(), again.sum(), again.max()));
                assert!(*live == again, "{scheduler}: the distributions differ");
            }
        }
    }
}

/// A tenant that asked for nothing; a record that is cut off within its last line.
#[test]
fn a_line_that_is_cut_off_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (socket, record) = (folder.path().join("socket"), folder.path().join("one.record"));
    let served = Served::recorded(&socket, Place::Memory, 0.01, SCENARIO.to_owned(), Some(record.clone()));
    let mut client = Client::open(&socket, "backup", false);
    (0..3).for_each(|at| drop(client.read(at << 14, 4096)));
    served.end();
    let counts = |outcome: &Outcome| [outcome.flows[0].completed(), outcome.flows[1].completed()];
    let whole = replay(&record);
    assert_eq!(counts(&whole), [0, 3]);
    let text = std::fs::read_to_string(&record).expect("a record");
    let other = folder.path().join("renamed");
    std::fs::write(&other, &text[..text.len() - 2]).expect("written");
    let cut = replay(&other);
    assert_eq!(counts(&cut), [0, 2]);
    assert!(cut.remarks[1].as_ref().is_some_and(|remark| remark.contains("cut off")), "{:?}", cut.remarks);
    assert!(whole.remarks[1].as_ref().is_some_and(|remark| !remark.contains("cut off")), "{:?}", whole.remarks);
}
