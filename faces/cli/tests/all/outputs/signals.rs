//! SIGINT, SIGTERM and SIGHUP: unfinished outputs are removed, existing files stay.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// Sends `signal` to a child process.
fn send(child: &Child, signal: &str) {
    assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
}

/// Waits until a long run has begun to write.
#[track_caller]
fn wait_for_rows(desk: &Path) {
    let begun = Instant::now();
    loop {
        let found = files(desk);
        if found.keys().any(|name| name.starts_with(".out.flashlane-") && name.ends_with("requests.parquet")) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", found.keys());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a process to end and returns its exit code.
fn ends(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("it did not end within 60 s");
}

/// Whether this process, and so the programs it starts, ignores a signal.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(ignored.trim(), 16).is_ok_and(|set| set >> (number - 1) & 1 == 1)
}

#[test]
fn a_signal_removes_what_is_unfinished() {
    let desk = desk();
    let desk = desk.path();
    good(desk, &["compare", "tiny.toml", "--out", "out", "--report", "page.html"]);
    let before = files(desk);
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        if is_ignored(number) {
            println!(
                "SKIPPED: SIG{signal} is ignored where these tests run (a background job), and so by what they start"
            );
            continue;
        }
        let code = 128 + number;
        let args = ["compare", "long.toml", "--out", "out", "--transactions", "--report", "page.html"];
        let mut child = program(desk, &args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_rows(desk);
        send(&child, signal);
        assert_eq!(ends(&mut child), Some(code), "{signal}");
        let message = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        assert_eq!(message, format!("error: ended by SIG{signal}; unfinished outputs are removed\n"));
        assert_eq!(files(desk), before, "{signal}");
    }
}

/// As under `nohup`, or for a background job of a script.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    if !Path::new("/proc/self/status").exists() {
        println!("SKIPPED: this system does not say which signals are ignored");
        return;
    }
    let desk = desk();
    let desk = desk.path();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" compare long.toml --out out", env!("CARGO_BIN_EXE_flashlane")]);
    let mut child = shell.current_dir(desk).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_rows(desk);
    send(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it went on");
    send(&child, "TERM");
    assert_eq!(ends(&mut child), Some(143));
    assert_eq!(names(desk), DESK);
}
