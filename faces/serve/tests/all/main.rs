//! A served drive and its clients: what is written is read, bad clients disturb nobody, figures add up.
#![cfg(target_os = "linux")]

mod client;
mod control;
mod fault;
mod power_cut;
mod record;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use client::{Client, greeted};
use flashlane_scenario::Scenario;
use flashlane_serve::{Backing, Message, Options, Report, Stop, open};
use flashlane_sim::Drive;
use flashlane_testing::Random;

/// Two tenants on a small fast drive.
const SCENARIO: &str = "\
scheduler = \"read-first\"
[device]
preset = \"flin-isca18\"
front.priority_levels = 2
geometry.blocks_per_plane = 32
geometry.pages_per_block = 16
ftl.over_provisioning_percent = 60
precondition.state = \"steady\"
[[flow]]
name = \"db\"
synthetic = { read_ratio = 0.5, rate_iops = 1000, requests = 1 }
[[flow]]
name = \"backup\"
synthetic = { read_ratio = 0.5, rate_iops = 1000, requests = 1 }
";

/// A page buffer that completes writes and loses them with the power, as a key of the drive.
const VOLATILE_BUFFER: &str =
    "buffer = { pages = 256, write_back = true, protected = false, flush_above = 200, read_allocate = false }\n";

/// Kinds of commands.
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;

/// [`SCENARIO`] with a key more of its drive.
fn with_key(key: &str) -> String {
    SCENARIO.replacen("front.", &format!("{key}front."), 1)
}

/// A server on a thread of its own.
struct Served {
    stop: Stop,
    thread: JoinHandle<Report>,
    /// What it says about faults of the drive.
    faults: Receiver<String>,
}

impl Served {
    fn begin(socket: &Path, data: Backing, time_scale: f64) -> Served {
        Served::recorded(socket, data, time_scale, SCENARIO.to_owned(), None)
    }

    fn recorded(socket: &Path, data: Backing, time_scale: f64, text: String, record: Option<PathBuf>) -> Served {
        let control = Some(socket.with_extension("ctl"));
        let nbd = Some(flashlane_serve::Address::Unix(socket.to_owned()));
        let options = Options { nbd, data, time_scale, record, control, ..Options::default() };
        Served::with(options, text)
    }

    fn with(options: Options, text: String) -> Served {
        Served::changed(options, text, |_| {})
    }

    /// With a change to the drive before it is served.
    fn changed(options: Options, text: String, change: impl FnOnce(&mut Drive) + Send + 'static) -> Served {
        let (tell, told) = channel();
        let (fault, faults) = channel();
        // The drive's scheduler stays on the thread that made it.
        let thread = std::thread::spawn(move || {
            let mut scenario = Scenario::parse("t.toml", text).unwrap_or_else(|why| panic!("{why}"));
            scenario.add_spare_flows(1).unwrap_or_else(|why| panic!("{why}"));
            let state = options.state.as_deref();
            let mut drive = flashlane_sim::drive(&scenario, Vec::new(), state).unwrap_or_else(|why| panic!("{why}"));
            change(&mut drive);
            let (ready, stop) = open(drive, &options, &[]).unwrap_or_else(|why| panic!("{why}"));
            tell.send(stop).expect("a test");
            let mut say = |message: Message<'_>| {
                if let Message::Fault(why) = message {
                    fault.send(why.to_owned()).expect("a test");
                }
            };
            ready.run(&mut say).unwrap_or_else(|why| panic!("{why}"))
        });
        Served { stop: told.recv().expect("a server"), thread, faults }
    }

    fn end(self) -> Report {
        self.stop.now();
        self.thread.join().expect("a report")
    }
}

/// Numbers that look random, the same in every run.
fn mixed(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut random = Random(seed);
    move |below| random.below(below)
}

/// Random commands of any alignment against a plain copy, in both forms of answers and for both places of the bytes; several commands in
/// flight; what was written through one connection is read through another; the file is the same after another start.
#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("contents");
    for (place, structured) in [(Backing::Memory, false), (Backing::File(file.clone()), true)] {
        let socket = folder.path().join("socket");
        let served = Served::begin(&socket, place.clone(), 0.01);
        let mut one = Client::open(&socket, "backup", structured);
        let mut plain = vec![0; 4 << 20];
        assert!(one.bytes > plain.len() as u64);
        let mut random = mixed(7);
        for round in 0..300_u64 {
            let (offset, sectors) = (512 * random(8000), 1 + random(128));
            let length = 512 * sectors;
            let range = offset as usize..(offset + length) as usize;
            match random(6) {
                0 | 1 => {
                    let data: Vec<u8> = (0..length).map(|at| (at * 7 + round) as u8).collect();
                    plain[range].copy_from_slice(&data);
                    one.write(offset, &data);
                }
                2 => {
                    // Whole pages; the flow's part of the drive begins at one.
                    let (from, to) = (range.start.next_multiple_of(8192), range.end / 8192 * 8192);
                    plain[from..to.max(from)].fill(0);
                    one.change(TRIM, offset, length as u32, &[]);
                }
                3 => {
                    plain[range].fill(0);
                    one.change(WRITE_ZEROES, offset, length as u32, &[]);
                }
                _ => assert!(one.read(offset, length as u32) == plain[range], "{round}"),
            }
        }
        // Sixty-four at once, of which each is answered once.
        let mut cookies: Vec<u64> = (0..64).map(|at| one.send(0, at * 4096, 4096, &[])).collect();
        for _ in 0..64 {
            let (cookie, error, data) = one.answer(4096);
            let at = cookies.iter().position(|known| *known == cookie).expect("a cookie of these");
            let first = (cookie - cookies.iter().min().expect("some").min(&cookie)) as usize;
            assert_eq!((error, data.len()), (0, 4096), "{first}");
            cookies.swap_remove(at);
        }
        let flush = one.send(FLUSH, 0, 0, &[]);
        assert_eq!(one.answer(0), (flush, 0, Vec::new()));
        let mut other = Client::open(&socket, "backup", !structured);
        assert!(other.read(0, 4 << 20) == plain, "through another connection");
        let mut neighbour = Client::open(&socket, "db", structured);
        assert!(neighbour.read(0, 1 << 20).iter().all(|byte| *byte == 0), "the tenants have parts of their own");
        let report = served.end();
        let [db, backup, _] = &report.exports[..] else { panic!("two exports and a spare one") };
        assert_eq!((db.name.as_str(), db.received, db.completed()), ("db", [1, 0, 0, 0, 0], 1));
        assert_eq!((backup.received.iter().sum::<u64>(), backup.completed(), backup.failed), (366, 366, 0));
        assert!(backup.received.iter().all(|&count| count > 0) && backup.received[4] == 1, "{:?}", backup.received);
        assert_eq!((report.late.count(), report.refused, report.broken.len(), report.fault), (367, 0, 0, None));
        assert!(!socket.exists(), "the socket is removed");

        let again = Served::begin(&socket, place.clone(), 0.01);
        let mut later = Client::open(&socket, "backup", structured);
        let kept = later.read(0, 4 << 20);
        match place {
            Backing::Memory => assert!(kept.iter().all(|byte| *byte == 0), "memory is lost"),
            Backing::File(_) => assert!(kept == plain, "the file is kept"),
        }
        again.end();
    }
    let size = std::fs::metadata(&file).expect("the file").len();
    assert!(size > 16 << 20, "the whole drive, {size} bytes");
}

/// The flows' slices are parts of their own; a spare flow sees all of them.
#[test]
fn exports_are_views_of_one_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let served = Served::begin(&socket, Backing::Memory, 0.01);
    let [mut db, mut backup, mut spare] = ["db", "backup", "spare1"].map(|export| Client::open(&socket, export, true));
    assert_eq!(db.bytes, backup.bytes);
    assert!(spare.bytes >= 2 * db.bytes);
    db.write(512, &[1; 1024]);
    backup.write(0, &[2; 512]);
    assert_eq!(spare.read(512, 1024), [1; 1024]);
    let second = db.bytes;
    assert_eq!(spare.read(second, 512), [2; 512]);
    spare.write(second + 512, &[3; 512]);
    assert_eq!(backup.read(0, 1024), [[2; 512], [3; 512]].concat());
    let report = served.end();
    let names: Vec<&str> = report.exports.iter().map(|export| export.name.as_str()).collect();
    assert_eq!(names, ["db", "backup", "spare1"]);
}

/// A read takes as long as the drive does, times the scale; sixteen at once on sixteen chips take as long as one.
#[test]
fn commands_take_their_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let served = Served::begin(&socket, Backing::Memory, 100.0);
    let mut client = Client::open(&socket, "db", false);
    let began = Instant::now();
    client.read(0, 4096);
    // 75 us in the array and 10 us on the bus, a hundred times.
    let alone = began.elapsed();
    assert!(alone > Duration::from_millis(7), "{alone:?}");
    let report = served.end();
    let response = report.exports[0].response[0].mean().expect("one") as u64;
    assert!((75_000..120_000).contains(&response), "{response}");
    assert!(alone >= Duration::from_nanos(100 * response), "{alone:?} for {response} ns");
}

/// While these clients misbehave another one is served, and none of them ends the server.
#[test]
fn bad_clients_disturb_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let served = Served::begin(&socket, Backing::Memory, 0.01);
    let mut good = Client::open(&socket, "db", false);
    good.write(0, &[5; 4096]);
    let closed = |mut stream: std::os::unix::net::UnixStream| {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).is_ok()
    };
    // What is no handshake; an option that has no end; a command that is none; one that is too large.
    let mut garbage = greeted(&socket);
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    assert!(closed(garbage));
    let mut endless = greeted(&socket);
    endless.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x03\xff\xff\xff\xff").expect("sent");
    assert!(closed(endless));
    let mut wild = Client::open(&socket, "db", false);
    wild.socket.write_all(&[9; 28]).expect("sent");
    assert!(closed(wild.socket));
    let mut huge = Client::open(&socket, "db", false);
    huge.send(1, 0, (32 << 20) + 512, &[]);
    assert!(closed(huge.socket));
    // Beyond the end, one byte, a command that the drive has not: refused one by one, and the next is served.
    let mut beyond = Client::open(&socket, "db", true);
    let bytes = beyond.bytes;
    for (kind, offset, length, error) in
        [(0, bytes, 512, 22), (1, bytes - 512, 1024, 28), (0, 0, 1, 22), (5, 0, 512, 22)]
    {
        let data = vec![0; if kind == 1 { length as usize } else { 0 }];
        let cookie = beyond.send(kind, offset, length, &data);
        assert_eq!(beyond.answer(0), (cookie, error, Vec::new()), "{kind} at {offset}");
    }
    assert_eq!(beyond.read(0, 4096), [5; 4096]);
    // Half a header, half a write, and gone; commands whose answers nobody waits for.
    let half = Client::open(&socket, "db", false);
    (&half.socket).write_all(&[0x25, 0x60, 0x95]).expect("sent");
    drop(half);
    let mut torn = Client::open(&socket, "db", false);
    torn.send(1, 0, 4096, &[1; 100]);
    drop(torn);
    for _ in 0..50 {
        let mut gone = Client::open(&socket, "backup", false);
        for at in 0..32 {
            gone.send(0, at << 16, 1 << 16, &[]);
        }
    }
    // Ten thousand that come and go; three hundred that stay, of which some are turned away.
    for _ in 0..10_000 {
        drop(std::os::unix::net::UnixStream::connect(&socket));
    }
    let many: Vec<_> = (0..300).filter_map(|_| std::os::unix::net::UnixStream::connect(&socket).ok()).collect();
    assert_eq!(good.read(0, 4096), [5; 4096], "half a write was none");
    drop(many);
    assert_eq!(good.read(0, 4096), [5; 4096]);
    let report = served.end();
    assert_eq!(report.refused, 4);
    assert_eq!(report.broken.values().sum::<u64>(), 4, "{:?}", report.broken);
    assert!(report.turned_away > 0);
    let backup = &report.exports[1];
    assert_eq!(backup.received[0], backup.completed(), "what has begun is done though nobody waits for it");
}

/// A client that takes no answers is read no further: what the server holds for it is bounded.
#[test]
fn a_client_that_takes_no_answers_is_read_no_further() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let served = Served::begin(&socket, Backing::Memory, 0.01);
    let mut greedy = Client::open(&socket, "db", false);
    greedy.socket.set_write_timeout(Some(Duration::from_millis(300))).expect("a limit");
    let head = |cookie: u64| {
        let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
        bytes.extend_from_slice(&[0, 0, 0, 0]);
        bytes.extend_from_slice(&cookie.to_be_bytes());
        bytes.extend_from_slice(&0_u64.to_be_bytes());
        bytes.extend_from_slice(&(1_u32 << 20).to_be_bytes());
        bytes
    };
    // A hundred thousand reads of 1 MiB, until the server takes no more of them.
    let sent = (0..100_000).take_while(|&cookie| greedy.socket.write_all(&head(cookie)).is_ok()).count();
    assert!(sent < 100_000, "the server took all of them");
    let mut good = Client::open(&socket, "backup", false);
    good.write(0, &[5; 512]);
    assert_eq!(good.read(0, 512), [5; 512]);
    drop(greedy);
    let report = served.end();
    assert!(report.exports[0].received[0] < 500, "{:?}", report.exports[0].received);
    assert_eq!(report.exports[1].completed(), 2);
}

/// Commands beyond what may be under way wait in the server, and are answered without another byte of the client: also flushes and
/// refusals, which need no event of the drive, behind the last of them.
#[test]
fn commands_that_wait_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let served = Served::begin(&socket, Backing::Memory, 0.01);
    let client = Client::open(&socket, "db", false);
    let mut sender = client.again();
    let mut receiver = client;
    // All in one piece: forty reads of 1 MiB, twenty flushes, ten reads beyond the end.
    let all = std::thread::spawn(move || {
        let cookies: Vec<u64> = (0..40).map(|at| sender.send(0, at << 20, 1 << 20, &[])).collect();
        let flushes: Vec<u64> = (0..20).map(|_| sender.send(FLUSH, 0, 0, &[])).collect();
        let beyond: Vec<u64> = (0..10).map(|_| sender.send(0, u64::MAX - 511, 512, &[])).collect();
        [cookies, flushes, beyond]
    });
    let [reads, flushes, beyond] = all.join().expect("sent");
    // So that the drive has nothing more to do when the client takes its answers.
    std::thread::sleep(Duration::from_millis(200));
    let mut answered = Vec::new();
    for _ in 0..70 {
        // Only reads of the first kind bring bytes, and a head says which it is.
        let (cookie, error, _) = receiver.answer_of(|cookie| if reads.contains(&cookie) { 1 << 20 } else { 0 });
        assert_eq!(error, if beyond.contains(&cookie) { 22 } else { 0 }, "{cookie}");
        answered.push(cookie);
    }
    answered.sort_unstable();
    assert_eq!(answered, [reads, flushes, beyond].concat());
    let report = served.end();
    assert_eq!(
        (report.exports[0].received, report.exports[0].completed(), report.refused),
        ([40, 0, 0, 0, 20], 60, 10)
    );
}

/// Who opens no export in time is disconnected, also if it sends something now and then; who has opened one may be idle.
#[test]
fn a_handshake_has_a_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let nbd = Some(flashlane_serve::Address::Unix(socket.clone()));
    let limit = Duration::from_millis(300);
    let served = Served::with(Options { nbd, handshake: limit, ..Options::default() }, SCENARIO.to_owned());
    let mut idle = Client::open(&socket, "db", false);
    let began = Instant::now();
    let [mut silent, talker] = [greeted(&socket), greeted(&socket)];
    let talks = std::thread::spawn(move || {
        (&talker).write_all(&3_u32.to_be_bytes()).expect("flags");
        // LIST, again and again.
        while (&talker).write_all(b"IHAVEOPT\0\0\0\x03\0\0\0\0").is_ok() {
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    assert_eq!(silent.read(&mut [0; 1]).expect("the end"), 0);
    assert!(began.elapsed() >= limit, "{:?}", began.elapsed());
    talks.join().expect("closed");
    // It can be due once more after both.
    std::thread::sleep(limit);
    idle.write(0, &[5; 512]);
    let report = served.end();
    assert_eq!(report.broken.into_iter().collect::<Vec<_>>(), [("no export was opened in time", 2)]);
}

/// With as many connections as there may be the next ones are told so, those beyond them are closed at once, and nobody else notices.
#[test]
fn connections_beyond_the_limit_get_an_error_or_are_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let served = Served::begin(&socket, Backing::Memory, 0.01);
    let mut all: Vec<Client> = (0..256).map(|_| Client::open(&socket, "db", false)).collect();
    let ask = |options: &[u8]| {
        let mut client = greeted(&socket);
        client.write_all(&[&3_u32.to_be_bytes(), options].concat()).expect("options");
        let mut answers = Vec::new();
        client.read_to_end(&mut answers).expect("answers, and the end");
        answers
    };
    let options: [&[u8]; 3] =
        [b"IHAVEOPT\0\0\0\x08\0\0\0\0", b"IHAVEOPT\0\0\0\x07\0\0\0\x08\0\0\0\x02db\0\0", b"IHAVEOPT\0\0\0\x02\0\0\0\0"];
    // There are no structured replies, GO is against the server's policy, for a reason, and ABORT ends it.
    let answers = ask(&options.concat());
    let why = b"all connections that the server allows are in use; close one";
    let (policy, bye) = (answers.len() - 20 - 20 - why.len(), answers.len() - 20);
    assert_eq!(answers[8..16], *b"\0\0\0\x08\x80\0\0\x01");
    assert_eq!(answers[policy + 8..policy + 16], *b"\0\0\0\x07\x80\0\0\x02");
    assert_eq!(answers[policy + 20..bye], *why);
    assert_eq!(answers[bye + 8..bye + 16], *b"\0\0\0\x02\0\0\0\x01");
    assert_eq!(ask(b"IHAVEOPT\0\0\0\x01\0\0\0\x02db"), b"", "the old way has no refusal");
    assert_eq!(all[0].read(0, 512), [0; 512]);
    // Thirty-two can be told at a time; others are not even greeted.
    let told: Vec<_> = (0..32).map(|_| greeted(&socket)).collect();
    let mut beyond = std::os::unix::net::UnixStream::connect(&socket).expect("a server");
    assert_eq!(beyond.read(&mut [0; 18]).unwrap_or(0), 0);
    drop(told);
    // A client that leaves makes room, once the server has seen that.
    all.pop();
    std::thread::sleep(Duration::from_millis(200));
    let mut next = Client::open(&socket, "db", true);
    assert_eq!(next.read(0, 512), [0; 512]);
    let report = served.end();
    assert_eq!((report.turned_away, report.broken.len()), (2 + 32 + 1, 0));
}
