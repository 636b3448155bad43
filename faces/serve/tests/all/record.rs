//! What a served drive was given, replayed by a run: the same response times to the nanosecond.

use std::path::Path;
use std::time::Duration;

use flashlane_core::Op;
use flashlane_scenario::Scenario;
use flashlane_serve::{Backing, Report, send};
use flashlane_sim::{ObserverOptions, Outcome, run_observed};

use super::client::Client;
use super::{FLUSH, SCENARIO, Served, TRIM, VOLATILE_BUFFER, WRITE_ZEROES, mixed, with_key};

/// The scenario under another scheduler, with a buffer that loses writes with the power and what `key` adds to the drive.
fn under(scheduler: &str, key: &str) -> String {
    with_key(&format!("{VOLATILE_BUFFER}{key}")).replace("\"read-first\"", &format!("\"{scheduler}\""))
}

/// An SLC cache, which is folded whenever nothing has been done for a tenth of a millisecond.
const SLC: &str = "slc = { static_blocks = 3, dynamic = true, bits = 2, read_ns = 25_000, program_ns = 200_000, \
                   erase_ns = 2_000_000, idle_ms = 0.1 }\n";

/// Serves random commands, and records them.
fn served(folder: &Path, text: String, requests: usize, changes: &[(u64, &str)]) -> (std::path::PathBuf, Report) {
    let (socket, record) = (folder.join("socket"), folder.join("record"));
    let served = Served::recorded(&socket, Backing::Memory, 1.0, text, Some(record.clone()));
    send_commands(&socket, requests, changes);
    (record, served.end())
}

/// Asks for `requests` random commands of each tenant, thirty-two at a time, with flushes between them.
fn send_commands(socket: &Path, requests: usize, changes: &[(u64, &str)]) {
    let tenant = |export: &'static str, seed: u64| {
        let mut client = Client::open(socket, export, false);
        std::thread::spawn(move || {
            let mut random = mixed(seed);
            let mut left = requests;
            while left > 0 {
                let batch = left.min(32);
                let mut reads = Vec::new();
                for _ in 0..batch {
                    let (offset, length) = (512 * random(20_000), 512 * (1 + random(48)) as u32);
                    match random(16) {
                        0..=3 => drop(client.send(1, offset, length, &vec![7; length as usize])),
                        4 => drop(client.send_forced(1, offset, length, &vec![8; length as usize])),
                        5 => drop(client.send(TRIM, offset, 8 * length, &[])),
                        6 => drop(client.send(WRITE_ZEROES, offset, length, &[])),
                        _ => reads.push((client.send(0, offset, length, &[]), length)),
                    }
                }
                client.send(FLUSH, 0, 0, &[]);
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
        send(&control, command, Duration::from_secs(60)).unwrap_or_else(|why| panic!("{command}: {why}"));
    }
    tenants.into_iter().for_each(|tenant| tenant.join().expect("served"));
}

fn replay(record: &Path) -> Outcome {
    let scenario = Scenario::load(record).unwrap_or_else(|why| panic!("{why}"));
    run_observed(&scenario, ObserverOptions::default()).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn a_replay_is_equal_to_the_nanosecond() {
    let changes: [&[(u64, &str)]; 4] = [
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
        &[(30, "scheduler flin"), (30, "scheduler read-first-suspend"), (30, "scheduler fcfs")],
    ];
    let texts = [under("fr-fcfs", ""), under("slacker", ""), under("flin", ""), under("fr-fcfs", SLC)];
    for (text, changes) in texts.into_iter().zip(changes) {
        let folder = tempfile::tempdir().expect("a folder");
        let (record, report) = served(folder.path(), text.clone(), 5_000, changes);
        assert!(report.recorded.as_ref().is_some_and(|lines| lines.as_ref().is_ok_and(|lines| *lines > 10_000)));
        let outcome = replay(&record);
        for (live, again) in report.exports.iter().zip(&outcome.flows).take(2) {
            assert_eq!(live.completed() - live.response[Op::Flush.index()].count(), 5_000);
            for op in Op::ALL {
                assert!(live.received[op.index()] > 100, "{op:?}");
                let (live, again) = (&live.response[op.index()], again.response(op));
                assert_eq!((live.count(), live.sum(), live.max()), (again.count(), again.sum(), again.max()));
                assert!(*live == again, "the distributions differ: {text}");
            }
        }
    }
}

/// A tenant that asked for nothing; a record that is cut off within its last line.
#[test]
fn a_line_that_is_cut_off_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (socket, record) = (folder.path().join("socket"), folder.path().join("one.record"));
    let served = Served::recorded(&socket, Backing::Memory, 0.01, SCENARIO.to_owned(), Some(record.clone()));
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

/// A session of the drive in `folder`, which keeps its state there, and the replay of its record.
fn session(folder: &Path, name: &str, text: &str) {
    let path = |name: &str| folder.join(name);
    let (record, state) = (path(&format!("{name}.record")), path("contents.state"));
    let options = flashlane_serve::Options {
        nbd: Some(flashlane_serve::Address::Unix(path("socket"))),
        data: Backing::File(path("contents")),
        time_scale: 0.2,
        record: Some(record.clone()),
        state: Some(state.clone()),
        ..Default::default()
    };
    let served = Served::with(options, text.to_owned());
    assert!(!state.exists(), "a server that is killed leaves none");
    send_commands(&path("socket"), 1_500, &[]);
    let report = served.end();
    assert_eq!(report.kept, Some(Ok(state)));
    let outcome = replay(&record);
    for (live, again) in report.exports.iter().zip(&outcome.flows).take(2) {
        for op in Op::ALL {
            assert!(live.response[op.index()] == again.response(op), "{name}, {}, {op:?}", live.name);
        }
    }
}

/// What an SLC cache holds is there in the next session too.
#[test]
fn a_used_drive_comes_back_with_its_slc_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = under("read-first-suspend", SLC);
    session(folder.path(), "first", &text);
    session(folder.path(), "second", &text);
    let mut scenario = Scenario::parse("t.toml", text).unwrap_or_else(|why| panic!("{why}"));
    scenario.add_spare_flows(1).unwrap_or_else(|why| panic!("{why}"));
    let drive = flashlane_sim::drive(&scenario, Vec::new(), Some(&folder.path().join("contents.state")));
    let drive = drive.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(drive.start, "the drive is as its last session left it");
    assert!(drive.device.slc_states().iter().any(|state| state.open.is_some()));
}

/// A drive goes on where its last session ended, with pages away from home and open blocks; a record of that session is replayed from the
/// state beside it. There is no state while it is served, and none for another drive.
#[test]
fn a_used_drive_comes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let state = path("contents.state");
    let text = SCENARIO.replace("\"read-first\"", "\"sprinkler\"");
    session(folder.path(), "first", &text);
    session(folder.path(), "second", &text);
    assert!(path("second.record.state").exists() && !path("first.record.state").exists());
    // Without the state beside it the record says so.
    let prepared = |record: &str| {
        let scenario = Scenario::load(&path(record)).unwrap_or_else(|why| panic!("{why}"));
        flashlane_sim::prepare(&scenario).unwrap_or_else(|why| panic!("{why}")).notes().join("; ")
    };
    assert_eq!(prepared("second.record"), "");
    std::fs::remove_file(path("second.record.state")).expect("it was there");
    let notes = prepared("second.record");
    assert!(notes.contains("second.record.state is not there") && notes.contains("is not the recorded one"), "{notes}");
    // The drive of another seed.
    let begun = |text: &str| {
        let mut scenario = Scenario::parse("t.toml", text.into()).unwrap_or_else(|why| panic!("{why}"));
        scenario.add_spare_flows(1).unwrap_or_else(|why| panic!("{why}"));
        flashlane_sim::drive(&scenario, Vec::new(), Some(&state))
            .map(|drive| drive.start)
            .map_err(|why| why.to_string())
    };
    assert_eq!(begun(&text).as_deref(), Ok("the drive is as its last session left it"));
    let other = begun(&format!("seed = 5\n{text}")).expect("it begins anew");
    assert!(other.contains("contents.state is of another drive or build (seed: 1; here seed: 5)"), "{other}");
    let mut bytes = std::fs::read(&state).expect("a state");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&state, &bytes).expect("written");
    assert!(begun(&text).expect("it begins anew").contains("contents.state is damaged"));
    std::fs::write(&state, "notes").expect("written");
    assert!(begun(&text).expect_err("no state").contains("contents.state: is no state of a drive"));
}
