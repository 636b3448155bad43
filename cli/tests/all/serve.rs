//! `flashlane serve` as a user starts it: fio writes and checks, a signal ends it, wrong arguments are refused.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::common::{flashlane, folder, text};

/// The program while it serves; it does not outlive the test.
struct Served {
    child: Child,
    printed: BufReader<ChildStdout>,
    /// What it has printed before the first client.
    said: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// The program that serves `desk/s.toml` at `desk/socket`, once it does.
    fn begin(desk: &Path, args: &[&str]) -> Served {
        std::fs::write(desk.join("s.toml"), include_str!("../small.toml")).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
        command.args(["serve", "s.toml", "--nbd", "unix:socket"]).args(args).current_dir(desk);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let printed = BufReader::new(child.stdout.take().expect("its output"));
        let mut served = Served { child, printed, said: String::new() };
        while !served.said.ends_with("Ctrl-C ends it.\n") {
            if served.printed.read_line(&mut served.said).expect("text") == 0 {
                let errors = served.errors();
                panic!("it ended: {}{errors}", served.said);
            }
        }
        served
    }

    fn errors(&mut self) -> String {
        let mut errors = String::new();
        self.child.stderr.take().expect("its errors").read_to_string(&mut errors).expect("text");
        errors
    }

    /// Ends the program by a signal that no shell ignores; what it has printed since.
    fn end(mut self) -> String {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let mut said = String::new();
        self.printed.read_to_string(&mut said).expect("text");
        let errors = self.errors();
        assert_eq!(self.child.wait().expect("an end").code(), Some(0), "{said}{errors}");
        said
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
        "s on flin-isca18, changed under read-first, ",
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
    assert!(!desk.path().join("socket").exists());
    assert!(std::fs::metadata(desk.path().join("contents")).is_ok_and(|file| file.len() > 16 << 20));
}

#[test]
fn a_socket_left_over_is_replaced_and_one_in_use_is_not() {
    let desk = folder();
    let first = Served::begin(desk.path(), &[]);
    let again = flashlane(desk.path(), &["serve", "s.toml", "--nbd", "unix:socket"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--nbd unix:socket: cannot be listened at"), "{}", text(&again.stderr));
    drop(first);
    assert!(desk.path().join("socket").exists(), "what was killed leaves its socket");
    let said = Served::begin(desk.path(), &[]).end();
    assert!(said.contains("commands: 0 read = 0 done + 0 failed + 0 refused, 0 of them flushes"), "{said}");
}

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
        (&["s.toml", "--nbd", "unix:file"], "--nbd unix:file: cannot be listened at"),
        (&["s.toml", "--nbd", "unix:no/such/socket"], "--nbd unix:no/such/socket: cannot be listened at"),
        (&["s.toml", "--nbd", "unix:socket", "--data", "file"], "--data file: has 9 bytes, and the drive has "),
        (&["s.toml", "--nbd", "unix:socket", "--time-scale", "0"], "must be a number from 0.001 to 1000000"),
        (&["s.toml", "--nbd", "unix:socket", "--spin-us", "x"], "--spin-us"),
        (&["s.toml", "--nbd", "unix:socket", "--scheduler", "none"], "\"none\""),
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
