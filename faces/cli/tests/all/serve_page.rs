//! docs/serve.md as a reader follows it: its servers are started as printed, and what it has a reader type beside them works.

use std::process::Stdio;

use super::common::{flashlane, program, text};
use super::pages::{Tested, block_commands, desk, run, tested, words};
use super::serve::Served;
use tempfile::TempDir;

/// A server with these arguments, once it serves.
fn served(folder: &TempDir, args: &[&str]) -> Served {
    let child = program(folder).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    Served::of(child.expect("the program runs")).unwrap_or_else(|why| panic!("{args:?}: {why}"))
}

/// A record of a session in which two tenants asked for something, made as the page says: its lines are what clients would have sent.
fn make_record(folder: &TempDir) {
    served(folder, &["serve", "scenarios/two-tenants.toml", "--nbd", "unix:r.sock", "--record", "drive.record"]).end();
    let path = folder.path().join("drive.record");
    let mut record = std::fs::read_to_string(&path).expect("a record");
    record.push_str("0,900000000000,0,4096,read,0\n1,900000000000,0,8192,write,0\n0,900000001000,8192,4096,read,0\n");
    std::fs::write(path, record).expect("written");
}

#[test]
fn its_blocks_run_as_printed() {
    let Some(folder) = desk() else { return };
    make_record(&folder);
    let (mut server, mut ran) = (None::<Served>, [0, 0]);
    for command in block_commands().into_iter().filter(|command| tested(command) == Tested::BesideServer) {
        let args = words(&command.line).expect("a command");
        if args[0] == "serve" {
            // The one before has done what the page wanted of it.
            server.take().map(Served::end);
            server = Some(served(&folder, &args));
            ran[0] += 1;
        } else {
            run(&folder, &command.page, &args);
            ran[1] += 1;
        }
    }
    assert_eq!(ran, [2, 5], "servers, and commands");
    let stats = flashlane(folder.path(), &["ctl", "ctl.sock", "stats"]);
    let stats = text(&stats.stdout);
    let reader: Vec<&str> =
        stats.lines().filter(|line| line.starts_with("reader")).flat_map(str::split_whitespace).collect();
    assert!(stats.starts_with("scheduler flin; ") && reader[1..3] == ["1", "read"], "{stats}");
    server.take().map(Served::end);
    assert!(!folder.path().join("ctl.sock").exists());
}
