//! A server that does not answer, that is late, and that does not start.

use std::process::Command;
use std::time::{Duration, Instant};

use super::common::{flashlane, folder, text};
use super::serve::Served;
use super::serve_clients::client::Client;

/// `ctl` says after its time that a stopped server does not answer, however many have asked before; once it goes on it answers.
#[test]
fn a_stopped_server_is_not_waited_for() {
    let desk = folder();
    let path = desk.path();
    let served = Served::begin(path, &["--ctl", "ctl"]);
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &served.process().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    };
    let ctl = |args: &[&str]| {
        let done = flashlane(path, &[&["ctl", "ctl"], args].concat());
        (done.status.code(), text(&done.stdout) + &text(&done.stderr))
    };
    signal("-STOP");
    let begin = Instant::now();
    let (code, said) = ctl(&["--timeout-s", "1", "stats"]);
    let expected = "ctl: no answer within 1 s: the server is stopped, or its drive takes longer to drain";
    assert!(code == Some(2) && said.contains(expected), "{code:?} {said}");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    signal("-CONT");
    let (code, said) = ctl(&["stats"]);
    assert!(code == Some(0) && said.starts_with("scheduler fcfs; "), "{said}");
    let (code, said) = ctl(&["--timeout-s", "0", "stats"]);
    assert!(code == Some(2) && said.contains("0 is not in 1..=86400"), "{said}");
    served.end();
}

/// A drive a thousand times as fast as modelled, and a disk that is not: the server says that the machine does not keep up. A drive that
/// takes its time is not late.
#[test]
fn a_machine_that_does_not_keep_up_is_warned_of() {
    let desk = folder();
    let path = desk.path();
    let said_of = |scale: &str, writes: u64| {
        let served = Served::begin(path, &["--data", "contents", "--time-scale", scale]);
        let mut client = Client::open(&path.join("socket"), "writer", true);
        (0..writes).for_each(|at| client.write(at << 19, &[7; 1 << 19]));
        drop(client);
        served.end()
    };
    let warning = "warning: half of the answers came ";
    let said = said_of("0.001", 40);
    assert!(said.contains(warning) && said.contains("--time-scale 10 gives it ten times as long"), "{said}");
    let said = said_of("100", 2);
    assert!(!said.contains(warning), "{said}");
}

/// A start that fails leaves no file of contents and no record that it made, and touches none that was there.
#[test]
fn a_failed_start_leaves_nothing() {
    let desk = folder();
    let path = desk.path();
    let first = Served::begin(path, &["--ctl", "ctl"]);
    for args in [&["--data", "contents"][..], &["--data", "contents", "--record", "r"]] {
        let why = Served::try_begin(path, args).err().expect("the socket is in use");
        assert!(why.contains("cannot be listened at"), "{why}");
        assert!(!path.join("contents").exists() && !path.join("r").exists(), "{why}");
    }
    std::fs::write(path.join("contents"), []).expect("written");
    Served::try_begin(path, &["--data", "contents"]).err().expect("the socket is in use");
    assert!(path.join("contents").exists());
    first.end();
}
