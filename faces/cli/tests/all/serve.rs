//! `flashlane serve` as a user starts it: fio writes and checks, a signal ends it, wrong arguments are refused.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::common::{flashlane, folder, text};

/// The program while it serves; it does not outlive the test.
pub(super) struct Served {
    child: Child,
    printed: BufReader<ChildStdout>,
    /// What it has printed before the first client.
    pub(super) said: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// The program that serves `desk/s.toml` at `desk/socket`, once it does.
    pub(super) fn begin(desk: &Path, args: &[&str]) -> Served {
        Served::try_begin(desk, args).unwrap_or_else(|why| panic!("it ended: {why}"))
    }

    /// The same; what the program has printed if it ended instead.
    pub(super) fn try_begin(desk: &Path, args: &[&str]) -> Result<Served, String> {
        std::fs::write(desk.join("s.toml"), include_str!("../small.toml")).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
        command.args(["serve", "s.toml", "--nbd", "unix:socket"]).args(args).current_dir(desk);
        Served::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs"))
    }

    /// A program that has been started, once it serves.
    pub(super) fn of(mut child: Child) -> Result<Served, String> {
        let printed = BufReader::new(child.stdout.take().expect("its output"));
        let mut served = Served { child, printed, said: String::new() };
        while !served.said.ends_with("Ctrl-C ends it.\n") {
            if served.printed.read_line(&mut served.said).expect("text") == 0 {
                let errors = served.errors();
                return Err(format!("{}{errors}", served.said));
            }
        }
        Ok(served)
    }

    /// The number of its process.
    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    fn errors(&mut self) -> String {
        let mut errors = String::new();
        self.child.stderr.take().expect("its errors").read_to_string(&mut errors).expect("text");
        errors
    }

    /// KiB of memory that the program has.
    pub(super) fn memory(&self) -> i64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Ends the program by a signal that no shell ignores; what it has printed since, errors last.
    pub(super) fn end(self) -> String {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        self.ended()
    }

    /// What the program has printed since, errors last, once it has ended well.
    pub(super) fn ended(mut self) -> String {
        let mut said = String::new();
        self.printed.read_to_string(&mut said).expect("text");
        let errors = self.errors();
        assert_eq!(self.child.wait().expect("an end").code(), Some(0), "{said}{errors}");
        said + &errors
    }
}

/// fio over NBD: random writes and reads of several sizes and alignments, each checked, on a drive whose contents are in a file.
#[test]
fn fio_reads_what_it_wrote() {
    let engines = Command::new("fio").arg("--enghelp").output().map(|out| text(&out.stdout)).unwrap_or_default();
    if !engines.contains("nbd") {
        println!("SKIPPED: no fio with an engine for NBD on the PATH: it did not check a served drive");
        return;
    }
    let desk = folder();
    let served =
        Served::begin(desk.path(), &["--data", "contents", "--scheduler", "read-first", "--time-scale", "0.01"]);
    for part in [
        "s on flin-isca18 with ",
        " under read-first, ",
        "; contents in contents\n",
        "nbd+unix:///writer?socket=/",
        "/socket\n",
    ] {
        assert!(served.said.contains(part), "{part}: {}", served.said);
    }
    // Whole pages and more, and eleven sectors, which begin anywhere in a page. No two commands in flight overlap: they have no order.
    let jobs = [
        ["--rw=randwrite", "--bs=4k", "--offset=0"],
        ["--rw=randrw", "--bs=64k", "--offset=8m"],
        ["--rw=randwrite", "--bs=5632", "--offset=16m"],
    ];
    for job in jobs {
        let fio = Command::new("fio")
            .args(["--name=t", "--ioengine=nbd", "--uri=nbd+unix:///reader?socket=socket", "--iodepth=16", "--size=4m"])
            .args(["--verify=crc32c", "--verify_fatal=1", "--do_verify=1", "--randrepeat=1", "--fsync=16"])
            .args(job)
            .current_dir(desk.path())
            .output()
            .expect("fio runs");
        assert!(fio.status.success(), "{job:?}\n{}{}", text(&fio.stdout), text(&fio.stderr));
    }
    let said = served.end();
    let reads = said.lines().find(|line| line.starts_with("reader           read")).expect("a line");
    let figures: Vec<u64> =
        reads.split_whitespace().skip(2).take(3).map(|word| word.parse().expect("a count")).collect();
    assert!(figures[0] > 100 && figures[0] == figures[1] && figures[2] == 0, "{said}");
    assert!(said.contains(" done + 0 failed + ") && said.contains("answered later than by the model: p50 "), "{said}");
    assert!(said.contains(" us (model time: "), "{said}");
    assert!(!desk.path().join("socket").exists());
    assert!(std::fs::metadata(desk.path().join("contents")).is_ok_and(|file| file.len() > 16 << 20));
}

#[test]
fn a_socket_left_over_is_replaced_and_one_in_use_is_not() {
    let desk = folder();
    let first = Served::begin(desk.path(), &[]);
    let again = flashlane(desk.path(), &["serve", "s.toml", "--nbd", "unix:socket"]);
    assert_eq!(again.status.code(), Some(2));
    let said = "--nbd unix:socket: cannot be listened at: it is in use, as by another server";
    assert!(text(&again.stderr).contains(said), "{}", text(&again.stderr));
    drop(first);
    assert!(desk.path().join("socket").exists(), "what was killed leaves its socket");
    let again = Served::begin(desk.path(), &["--spare", "2", "--realtime"]);
    assert!(again.said.contains("spare2"), "{}", again.said);
    let said = again.end();
    assert!(said.contains("commands: 0 read = 0 done + 0 failed + 0 refused;"), "{said}");
}

/// A change of scheduler and of priority by `ctl`; then `run` and `explain` replay them, and `compare` leaves the one out.
#[test]
fn changes_are_made_recorded_and_replayed() {
    let desk = folder();
    let path = desk.path();
    let args = ["--ctl", "ctl", "--record", "r", "--scheduler", "fcfs", "--set", "device.front.priority_levels=2"];
    let served = Served::begin(path, &args);
    let ctl = |args: &[&str]| {
        let done = flashlane(path, &[&["ctl", "ctl"], args].concat());
        (done.status.code(), text(&done.stdout) + &text(&done.stderr))
    };
    assert_eq!(ctl(&["priority", "reader", "1"]), (Some(0), "reader has priority 1 from now on\n".into()));
    assert_eq!(ctl(&["scheduler", "flin"]), (Some(0), "the scheduler is flin now\n".into()));
    let (code, stats) = ctl(&["stats"]);
    assert!(code == Some(0) && stats.starts_with("scheduler flin; "), "{stats}");
    for (args, said) in [
        (&["scheduler", "none"][..], "no such scheduler"),
        (&["priority", "reader", "2"], "must be from 0 to 1"),
        (&["priority", "nobody", "1"], "no such flow; there are reader, writer"),
        (&["priority", "reader", "x"], "invalid value 'x'"),
        (&["priority", "reader", "0", "1"], "unexpected argument '1'"),
        (&["scheduler", "flin", "fcfs"], "unexpected argument 'fcfs'"),
        (&["scheduler", "flin\npower-cut"], "more than one line"),
        (&["scheduler", ""], "must be `scheduler NAME`"),
        (&["stats", "now"], "unexpected argument 'now'"),
        (&["power-cut", "now"], "unexpected argument 'now'"),
        (&["power-cut", "--now"], "unexpected argument '--now'"),
        (&["off"], "unexpected argument 'off'"),
    ] {
        let (code, text) = ctl(args);
        assert!(code == Some(2) && text.contains(said), "{args:?}: {text}");
    }
    let (code, help) = ctl(&["power-cut", "--help"]);
    assert!(code == Some(0) && help.contains("Usage: flashlane ctl"), "{help}");
    served.end();
    assert!(!path.join("ctl").exists(), "it is removed");
    let (code, text_) = ctl(&["stats"]);
    assert!(code == Some(2) && text_.contains("is a server running with --ctl"), "{text_}");
    // Two requests after the changes, and one that comes while the drive drains for a third.
    let mut record = std::fs::read_to_string(path.join("r")).expect("a record");
    record.push_str("0,900000000000,0,4096,read,0\n1,900000000000,0,8192,write,0\n");
    record.push_str("#! 900000000500 scheduler \"fcfs\"\n0,900000001000,0,4096,read,0\n");
    std::fs::write(path.join("r"), record).expect("written");
    let run = flashlane(path, &["run", "r", "--no-alone", "--audit"]);
    let said = text(&run.stdout) + &text(&run.stderr);
    assert!(said.contains("record: flow 0 has priority 1 from "), "{said}");
    assert!(said.contains("record: the scheduler is flin from ") && said.contains("no violation"), "{said}");
    assert!(said.contains("received 3 = completed 3"), "{said}");
    // The requests are told what the scheduler of their time decided.
    for (request, scheduler) in [("0", "flin"), ("2", "fcfs")] {
        let explained = flashlane(path, &["explain", "r", "--request", request]);
        let said = text(&explained.stdout) + &text(&explained.stderr);
        assert!(said.contains("record: the scheduler is flin from "), "{said}");
        assert!(said.contains(&format!("Request {request} of reader under {scheduler}: ")), "{said}");
    }
    for args in [&["compare", "r", "--schedulers", "fcfs,flin"][..], &["run", "r", "--scheduler", "sprinkler"]] {
        let done = flashlane(path, args);
        let said = text(&done.stdout) + &text(&done.stderr);
        let expected =
            "record: its changes of scheduler (2) are left out: only a run of the recorded scheduler, fcfs, makes them";
        assert!(done.status.success() && said.contains(expected), "{said}");
    }
}

/// The figures are at a port of this machine; without a terminal `--live` shows nothing.
#[test]
fn figures_can_be_read() {
    use std::net::TcpStream;
    let desk = folder();
    let served = Served::begin(desk.path(), &["--metrics", "127.0.0.1:0", "--live"]);
    let address = served.said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("its address");
    let get = |line: &str| {
        let mut client = TcpStream::connect(address).expect("it listens");
        client.write_all(format!("{line}\r\nHost: x\r\n\r\n").as_bytes()).expect("sent");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let answer = get("GET /metrics HTTP/1.1");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\nflashlane_response_seconds_count{export=\"reader\",op=\"read\"} 0\n"), "{answer}");
    assert!(get("GET / HTTP/1.1").starts_with("HTTP/1.1 404 "));
    assert!(get("POST /metrics HTTP/1.1").starts_with("HTTP/1.1 405 "));
    // Who breaks off, and who sends no end.
    drop(TcpStream::connect(address).expect("it listens"));
    let mut endless = TcpStream::connect(address).expect("it listens");
    let _ = endless.write_all(&[b'x'; 64 << 10]);
    // Who says nothing keeps no other waiting: one after the other they would take 60 s.
    let silent: Vec<TcpStream> = (0..12).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    let began = std::time::Instant::now();
    assert!(get("GET /metrics HTTP/1.1").starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    drop(silent);
    let said = served.end();
    assert!(!said.contains('\u{1b}'), "{said}");
    let refused = flashlane(desk.path(), &["serve", "s.toml", "--nbd", "unix:s", "--metrics", "0.0.0.0:9"]);
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("only this machine can read them"));
}

/// `memory` is a word, and a file of that name has a folder before it; a port of the system's choice is printed.
#[test]
fn contents_in_memory_and_a_free_port() {
    let desk = folder();
    std::fs::write(desk.path().join("s.toml"), include_str!("../small.toml")).expect("written");
    let serve = |data: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
        command.args(["serve", "s.toml", "--nbd", "tcp:127.0.0.1:0", "--data", data]).current_dir(desk.path());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        Served::of(child).unwrap_or_else(|why| panic!("{why}"))
    };
    let served = serve("memory");
    assert!(served.said.contains("; contents in memory, lost when the server ends or is killed\n"), "{}", served.said);
    let address = served.said.split("nbd://").nth(1).and_then(|rest| rest.split('/').next()).expect("its address");
    let mut greeting = [0; 8];
    std::net::TcpStream::connect(address).expect("it listens").read_exact(&mut greeting).expect("a greeting");
    assert_eq!(&greeting, b"NBDMAGIC");
    served.end();
    assert!(!desk.path().join("memory").exists() && !desk.path().join("memory.state").exists());
    let served = serve("./memory");
    assert!(served.said.contains("; contents in ./memory\n"), "{}", served.said);
    served.end();
    assert!(desk.path().join("memory").exists() && desk.path().join("memory.state").exists());
}

/// The drive's state comes back with the next session, and not after a server that was killed; not without the contents either.
#[test]
fn the_state_of_the_drive_is_kept() {
    let desk = folder();
    let state = desk.path().join("d.state");
    let begun = || Served::begin(desk.path(), &["--data", "d"]);
    let anew =
        "the drive begins as its precondition says: there is no state of an earlier session that ended by itself";
    let first = begun();
    assert!(first.said.contains(anew), "{}", first.said);
    let said = first.end();
    assert!(state.exists(), "{said}");
    // A server that cannot begin takes nothing away, and leaves no record.
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = port.local_addr().expect("its number").to_string();
    let args = ["serve", "s.toml", "--nbd", "unix:socket", "--data", "d", "--record", "r", "--metrics", &taken];
    let refused = flashlane(desk.path(), &args);
    let why = text(&refused.stderr);
    assert!(refused.status.code() == Some(2) && why.contains("it is in use, as by another server"), "{why}");
    assert!(state.exists() && !desk.path().join("r").exists());
    let second = begun();
    assert!(second.said.contains("the drive is as its last session left it"), "{}", second.said);
    drop(second);
    assert!(!state.exists(), "it was killed");
    let third = begun();
    assert!(third.said.contains(anew), "{}", third.said);
    third.end();
    std::fs::remove_file(desk.path().join("d")).expect("contents");
    let refused = flashlane(desk.path(), &["serve", "s.toml", "--nbd", "unix:socket", "--data", "d"]);
    let why = text(&refused.stderr);
    assert!(
        refused.status.code() == Some(2) && why.contains("d: is not there, but the state of its drive is"),
        "{why}"
    );
}

/// A power cut on demand ends the server.
#[test]
fn the_power_is_cut() {
    let desk = folder();
    let mut served = Served::begin(desk.path(), &["--ctl", "ctl"]);
    let done = flashlane(desk.path(), &["ctl", "ctl", "power-cut"]);
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), "the power is cut\n".into()));
    let mut said = String::new();
    served.printed.read_to_string(&mut said).expect("text");
    assert!(
        said.contains("the power was cut during 0 writes, trims and write zeroes; 0 of their 0 pages have landed"),
        "{said}"
    );
    assert!(said.contains("0 of 0 pages of answered writes that only the page buffer had are lost"), "{said}");
}

/// Records of another build and of another drive are run, and the run says so; what is no record is refused.
#[test]
fn a_record_says_where_it_is_from() {
    let desk = folder();
    let path = desk.path();
    Served::begin(path, &["--record", "r"]).end();
    let record = std::fs::read_to_string(path.join("r")).expect("a record") + "0,5,0,4096,read,0\n";
    let run = |record: &str, args: &[&str]| {
        std::fs::write(path.join("r"), record).expect("written");
        let done = flashlane(path, &[&["run", "r", "--no-alone"], args].concat());
        (done.status.code(), text(&done.stdout) + &text(&done.stderr))
    };
    let (code, said) = run(&record, &[]);
    assert!(code == Some(0) && !said.contains("record:"), "{said}");
    let (code, said) = run(&record.replace("recorded by: flashlane ", "recorded by: flashlane 0.0.1 "), &[]);
    assert!(code == Some(0) && said.contains("record: recorded by flashlane 0.0.1 "), "{said}");
    let (code, said) = run(&record, &["--seed", "77"]);
    assert!(code == Some(0) && said.contains("the drive is not the recorded one"), "{said}");
    for (change, why) in [
        ("9 priority 5 0", "a change of priority of flow 5: must be one of the drive's 2 flows, 0 to 1"),
        ("9 priority 0 7", "a change to priority 7: must be below 1"),
        ("18446744073709551615 priority 0 0", "a change at 18446744073709551615 ns: must be at"),
    ] {
        let (code, said) = run(&format!("{record}#! {change}\n"), &[]);
        let place = format!("error: r:{}: ", record.lines().count() + 1);
        assert!(code == Some(2) && said.contains(&(place + why)), "{change}: {said}");
    }
}

/// Out of file descriptors the server does not accept clients for a while, and does not spin meanwhile.
#[test]
fn out_of_descriptors_it_waits() {
    let desk = folder();
    std::fs::write(desk.path().join("s.toml"), include_str!("../small.toml")).expect("written");
    let program = env!("CARGO_BIN_EXE_flashlane");
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -n 24; exec {program} serve s.toml --nbd unix:socket")])
        .current_dir(desk.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let served = Served::of(child).unwrap_or_else(|why| panic!("{why}"));
    let socket = desk.path().join("socket");
    let connect = || std::os::unix::net::UnixStream::connect(&socket).expect("a place in the queue");
    let many: Vec<_> = (0..40).map(|_| connect()).collect();
    // Ticks of a hundredth of a second that the process has used.
    let used = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", served.child.id())).expect("a process");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
        [fields[11], fields[12]].map(|ticks| ticks.parse::<u64>().expect("ticks")).iter().sum::<u64>()
    };
    let before = used();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let spent = used() - before;
    assert!(spent < 20, "{spent} ticks");
    drop(many);
    let mut greeting = [0; 8];
    connect().read_exact(&mut greeting).expect("a greeting");
    assert_eq!(&greeting, b"NBDMAGIC");
    served.end();
}

/// An address whose path is too long for a socket.
const LONG: &str = concat!(
    "unix:",
    "........................................",
    "........................................",
    "........................................"
);

#[test]
fn what_is_wrong_is_refused() {
    let desk = folder();
    std::fs::write(desk.path().join("s.toml"), include_str!("../small.toml")).expect("written");
    std::fs::write(desk.path().join("file"), "no socket").expect("written");
    let hosted = format!("{}[host]\ncpus = 1\n", include_str!("../small.toml"));
    std::fs::write(desk.path().join("h.toml"), hosted).expect("written");
    for (args, said) in [
        (&["s.toml"][..], "--nbd"),
        (&["s.toml", "--nbd", "file"], "must be unix:PATH, or tcp:127.0.0.1:PORT"),
        (&["s.toml", "--nbd", "tcp:0.0.0.0:10809"], "other machines must not reach it"),
        (&["s.toml", "--nbd", "unix:file"], "--nbd unix:file: cannot be listened at: what is there is no socket"),
        (&["s.toml", "--nbd", "unix:no/such/socket"], "--nbd unix:no/such/socket: cannot be listened at"),
        (&["s.toml", "--nbd", "unix:socket", "--data", "file"], "--data file: has 9 bytes, and the drive has "),
        (&["s.toml", "--nbd", "unix:socket", "--time-scale", "0"], "must be a number from 0.001 to 1000000"),
        (&["s.toml", "--nbd", "unix:socket", "--time-scale", "NaN"], "must be a number from 0.001 to 1000000"),
        (&["s.toml", "--nbd", "unix:socket", "--time-scale", "-1"], "must be a number from 0.001 to 1000000"),
        (&["s.toml", "--nbd", "unix:socket", "--data", "d", "--record", "d"], "--record d: is the file of --data"),
        (
            &["s.toml", "--nbd", "unix:socket", "--data", "d", "--record", "./d.state"],
            "is where the state of the drive is",
        ),
        (&["s.toml", "--nbd", LONG], "the path has 120 bytes, and that of a socket at most 107"),
        (&["s.toml", "--nbd", "unix:socket", "--spin-us", "x"], "--spin-us"),
        (&["s.toml", "--nbd", "unix:socket", "--spare", "65"], "--spare"),
        (&["s.toml", "--nbd", "unix:socket", "--scheduler", "none"], "\"none\""),
        (&["s.toml", "--nbd", "unix:socket", "--ctl", "file"], "--ctl file: cannot be listened at"),
        (&["h.toml", "--nbd", "unix:socket"], "host"),
        (&["none.toml", "--nbd", "unix:socket"], "none.toml"),
    ] {
        let all: Vec<&str> = ["serve"].into_iter().chain(args.iter().copied()).collect();
        let done = flashlane(desk.path(), &all);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", text(&done.stderr));
        assert!(text(&done.stderr).contains(said), "{args:?}: {}", text(&done.stderr));
        assert!(!desk.path().join("socket").exists(), "{args:?}");
    }
    assert_eq!(std::fs::read_to_string(desk.path().join("file")).expect("the file"), "no socket");
}

/// A dashboard whose terminal has been closed does not keep the server from ending.
#[test]
fn a_closed_terminal_does_not_hold_the_server() {
    let desk = folder();
    std::fs::write(desk.path().join("s.toml"), include_str!("../small.toml")).expect("written");
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("its other side");
    let name = ptsname(&terminal, Vec::new()).expect("its name").into_string().expect("text");
    let side = || Stdio::from(File::options().read(true).write(true).open(&name).expect("the other side"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_flashlane"))
        .args(["serve", "s.toml", "--nbd", "unix:socket", "--live"])
        .current_dir(desk.path())
        .stdin(side())
        .stdout(side())
        .stderr(side())
        .spawn()
        .expect("the program runs");
    let mut terminal = File::from(terminal);
    let (mut seen, mut part) = (String::new(), [0; 4096]);
    // The figures are drawn on a screen of their own.
    while !seen.contains("\x1b[?1049h") {
        let read = terminal.read(&mut part).expect("what it draws");
        seen.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    drop(terminal);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs").success());
    let since = Instant::now();
    while child.try_wait().expect("its state").is_none() {
        if since.elapsed() > Duration::from_secs(60) {
            child.kill().and_then(|()| child.wait()).expect("killed");
            panic!("it went on without a terminal");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
