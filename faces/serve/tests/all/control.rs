//! The control socket: a command is a whole line with its end, and whatever else is sent there is refused and does nothing.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flashlane_scenario::Scenario;
use flashlane_serve::{Backing, send};
use flashlane_sim::{ObserverOptions, run_observed};

use super::client::Client;
use super::{FLUSH, SCENARIO, Served, mixed, with_key};

/// Sends these pieces, each as a packet of its own; the answer. The client goes on listening, so that the server cannot see that it has no more.
fn asked(control: &Path, pieces: &[&[u8]]) -> String {
    let mut client = UnixStream::connect(control).expect("a server");
    for piece in pieces {
        client.write_all(piece).expect("sent");
        std::thread::sleep(Duration::from_millis(if pieces.len() > 1 { 20 } else { 0 }));
    }
    answer(&mut client)
}

/// The same, with no more to come from the client, which still listens.
fn asked_and_ended(control: &Path, sent: &[u8]) -> String {
    let mut client = UnixStream::connect(control).expect("a server");
    client.write_all(sent).expect("sent");
    client.shutdown(Shutdown::Write).expect("half of it is closed");
    answer(&mut client)
}

fn answer(client: &mut UnixStream) -> String {
    let mut text = String::new();
    client.read_to_string(&mut text).expect("an answer, and its end");
    text
}

struct Desk {
    _folder: tempfile::TempDir,
    socket: PathBuf,
    control: PathBuf,
    record: PathBuf,
    served: Served,
}

fn desk(text: String) -> Desk {
    let folder = tempfile::tempdir().expect("a folder");
    let (socket, record) = (folder.path().join("socket"), folder.path().join("record"));
    let served = Served::recorded(&socket, Backing::Memory, 0.01, text, Some(record.clone()));
    Desk { control: socket.with_extension("ctl"), socket, record, served, _folder: folder }
}

impl Desk {
    /// The server goes on as if nothing had been sent: it is the same, a client is served, nothing is in the record.
    fn ends_untouched(self) {
        let stats = asked(&self.control, &[b"stats\n"]);
        assert!(stats.starts_with("ok\nscheduler read-first; "), "{stats}");
        let priorities: Vec<&str> = stats.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
        assert_eq!(priorities.iter().filter(|word| **word == "1").count(), 0, "{stats}");
        let mut client = Client::open(&self.socket, "db", false);
        client.write(0, &[5; 512]);
        assert_eq!(client.read(0, 512), [5; 512]);
        let report = self.served.end();
        assert!(report.cut.is_none(), "the power was cut");
        let record = std::fs::read_to_string(&self.record).expect("a record");
        assert!(!record.contains("#! "), "{record}");
    }
}

/// Lines that are no command, though most begin as one.
const WRONG: [&[u8]; 22] = [
    b"\n",
    b"power-cut --help\n",
    b"power-cut -h\n",
    b"power-cut now\n",
    b"power-cut \n",
    b" power-cut\n",
    b"power-cut\r\n",
    b"power-cut\0\n",
    b"power-cut\0--help\n",
    b"\0power-cut\n",
    b"power-cut\nstats\n",
    b"stats\npower-cut\n",
    b"power-cut\npower-cut\n",
    b"power-cut\n\0",
    b"power\n",
    b"\xffpower-cut\n",
    b"stats --help\n",
    b"scheduler\n",
    b"scheduler flin --help\n",
    b"priority db 1 --help\n",
    b"priority db 1 2\n",
    b"priority db +1\n",
];

#[test]
fn what_is_no_command_is_refused_and_does_nothing() {
    let desk = desk(SCENARIO.to_owned());
    for sent in WRONG {
        for answer in [asked(&desk.control, &[sent]), asked_and_ended(&desk.control, sent)] {
            assert!(answer.starts_with("error\n") && answer.len() > "error\nxxx\n".len(), "{sent:?}: {answer}");
        }
    }
    desk.ends_untouched();
}

/// A line that the client did not end is none, however much of it is there: the rest may be `--help`.
#[test]
fn a_line_without_its_end_is_refused() {
    let desk = desk(SCENARIO.to_owned());
    for sent in
        [&b"power-cut"[..], b"power-cut --help", b"power-cut\0", b"power-c", b"scheduler flin", b"priority db 1"]
    {
        let answer = asked_and_ended(&desk.control, sent);
        assert!(answer.starts_with("error\n") && answer.contains("a line without its end ('\\n')"), "{answer}");
        // Gone without waiting for an answer.
        let mut client = UnixStream::connect(&desk.control).expect("a server");
        client.write_all(sent).expect("sent");
    }
    drop(UnixStream::connect(&desk.control).expect("a server"));
    // One that sends nothing more but stays is told so, and holds others up for no longer than that.
    let began = Instant::now();
    let answer = asked(&desk.control, &[b"power-cut"]);
    assert!(answer.contains("a line without its end"), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    desk.ends_untouched();
}

/// The time is that of the whole line: a client that sends a byte now and then gets no more of it.
#[test]
fn a_slow_client_has_no_more_time() {
    let desk = desk(SCENARIO.to_owned());
    let mut slow = UnixStream::connect(&desk.control).expect("a server");
    let mut writer = slow.try_clone().expect("the same connection");
    let began = Instant::now();
    let writes = std::thread::spawn(move || {
        while began.elapsed() < Duration::from_secs(60) && writer.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let mut first = [0; 5];
    slow.read_exact(&mut first).expect("an answer");
    assert_eq!((&first, began.elapsed() < Duration::from_secs(20)), (b"error", true));
    drop(slow);
    writes.join().expect("it ends");
    desk.ends_untouched();
}

/// Clients that say nothing for as long as they may keep no other from its answer; one beyond 16 is told that there are too many.
#[test]
fn silent_clients_keep_no_other_waiting() {
    let desk = desk(SCENARIO.to_owned());
    let silent = |count: usize| -> Vec<UnixStream> {
        (0..count).map(|_| UnixStream::connect(&desk.control).expect("a server")).collect()
    };
    let mut held = silent(15);
    // One after the other they would take 75 s.
    let began = Instant::now();
    assert!(asked(&desk.control, &[b"stats\n"]).starts_with("ok\n"));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    held.extend(silent(16));
    let refused = "error\n16 clients are being answered; try again later\n";
    assert_eq!(answer(held.last_mut().expect("one too many")), refused);
    drop(held);
    // Those that are gone take no place, once their threads have seen it.
    let until = Instant::now() + Duration::from_secs(60);
    while send(&desk.control, "stats", Duration::from_secs(60)).is_err() {
        assert!(Instant::now() < until, "their places are still taken");
        std::thread::sleep(Duration::from_millis(10));
    }
    desk.ends_untouched();
}

#[test]
fn a_line_may_have_4096_bytes() {
    let desk = desk(SCENARIO.to_owned());
    let named = |bytes: usize| format!("scheduler {}\n", "x".repeat(bytes - "scheduler \n".len()));
    for pieces in [1, 3] {
        let line = named(4096);
        let parts: Vec<&[u8]> = line.as_bytes().chunks(4096_usize.div_ceil(pieces)).collect();
        let answer = asked(&desk.control, &parts);
        assert!(answer.starts_with("error\n") && answer.contains("no such scheduler"), "whole: {answer}");
    }
    let long = "error\na line that is longer than 4096 bytes with its end\n";
    assert_eq!(asked(&desk.control, &[named(4097).as_bytes()]), long);
    assert_eq!(asked(&desk.control, &[&[b'x'; 4096]]), long, "no end has come, and no more is waited for");
    // One whose first part would be a command, and whose rest is long.
    let mut cut = b"power-cut ".to_vec();
    cut.resize(300_000, b' ');
    cut.extend_from_slice(b"\npower-cut\n");
    assert_eq!(asked(&desk.control, &[&cut]), long);
    desk.ends_untouched();
}

/// A command may come in pieces; what comes behind it at once is not a part of it, and is not taken for one.
#[test]
fn a_line_in_pieces_is_one_line() {
    let desk = desk(SCENARIO.to_owned());
    let pieces: Vec<&[u8]> = b"priority db 1\n".chunks(1).collect();
    assert_eq!(asked(&desk.control, &pieces), "ok\ndb has priority 1 from now on\n");
    assert_eq!(asked(&desk.control, &[b"priority db", b" 0", b"\n"]), "ok\ndb has priority 0 from now on\n");
    assert_eq!(asked_and_ended(&desk.control, b"scheduler flin\n"), "ok\nthe scheduler is flin now\n");
    assert!(asked(&desk.control, &[b"power-cut", b" --help\n"]).starts_with("error\n"));
    assert!(asked(&desk.control, &[b"power-cut", b"\nstats\n"]).starts_with("error\n"));
    // Our own client sends nothing that it would not send whole.
    for command in ["power-cut --help", "power-cut\nstats", "power-cut\n", "", "scheduler flin\npower-cut"] {
        assert!(send(&desk.control, command, Duration::from_secs(60)).is_err(), "{command:?}");
    }
    assert_eq!(asked(&desk.control, &[b"power", b"-cut", b"\n"]), "ok\nthe power is cut\n");
    let Desk { served: Served { stop: _stop, thread, .. }, record, .. } = desk;
    assert!(thread.join().expect("a report").cut.is_some());
    let record = std::fs::read_to_string(record).expect("a record");
    assert_eq!(record.lines().filter(|line| line.starts_with("#! ")).count(), 3, "{record}");
}

/// A drive that programs pages for every cause there is: its map does not fit into memory, and it has an SLC cache and one-shot programs.
fn with_every_cause() -> String {
    with_key(
        "buffer = { pages = 512, write_back = true, protected = true }\n\
         nand.one_shot_pages = 2\n\
         mapping = { entries = 512, entries_per_page = 64 }\n\
         slc = { static_blocks = 3, bits = 2, read_ns = 25_000, program_ns = 200_000, erase_ns = 2_000_000, full = \"fold\" }\n",
    )
}

/// `stats`, the figures of Prometheus and a run of the record say the same of write amplification, whatever the pages are programmed for.
#[test]
fn write_amplification_is_that_of_a_run() {
    for text in [SCENARIO.to_owned(), with_every_cause()] {
        let desk = desk(text);
        let mut client = Client::open(&desk.socket, "db", false);
        let before = asked(&desk.control, &[b"stats\n"]);
        assert!(before.contains("\nwrite amplification -, "), "{before}");
        let mut random = mixed(3);
        for _ in 0..60 {
            (0..32).for_each(|_| _ = client.send(1, 4096 * random(5_000), 4096, &[7; 4096]));
            client.send(FLUSH, 0, 0, &[]);
            (0..33).for_each(|_| assert_eq!(client.answer(0).1, 0));
        }
        // A run's figures end with the last completion: that of a command after all work in the background.
        std::thread::sleep(Duration::from_millis(200));
        client.send(FLUSH, 0, 0, &[]);
        assert_eq!(client.answer(0).1, 0);
        let stats = asked(&desk.control, &[b"stats\n"]);
        let live =
            stats.split("write amplification ").nth(1).and_then(|rest| rest.split(',').next()).expect("it is there");
        desk.served.end();
        let scenario = Scenario::load(&desk.record).unwrap_or_else(|why| panic!("{why}"));
        let outcome = run_observed(&scenario, ObserverOptions::default()).unwrap_or_else(|why| panic!("{why}"));
        let device = outcome.device;
        if let Some(causes) = &device.write_amplification_by {
            let parts = [causes.gc, causes.mapping, causes.fold, causes.padding.unwrap_or(0.0)];
            assert!(parts.iter().all(|part| *part > 0.01), "{parts:?}");
        }
        assert_eq!(live, format!("{:.2}", device.write_amplification.expect("pages")), "{stats}");
    }
}
