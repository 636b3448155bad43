//! What an installed program brings beside itself: manual pages, the processors it needs.

use std::process::Command;

use crate::common::{folder, program, text};

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder();
    let page = |words: &[&str]| {
        let output = program(&folder).arg("man").args(words).output().expect("the program runs");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{words:?}");
        text(&output.stdout)
    };
    let of_all = page(&[]);
    assert!(of_all.contains(".TH flashlane 1") && of_all.contains("on this SSD?"), "{of_all}");
    let help = text(&program(&folder).arg("--help").output().expect("the program runs").stdout);
    let commands =
        help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list of commands");
    // A command's line is indented by two; what it continues on, by more.
    let own = commands.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names: Vec<&str> = own.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 12 && names.contains(&"compare"), "{names:?}");
    for name in names {
        let page = page(&[name]);
        assert!(page.contains(&format!(".TH flashlane-{name} 1")), "{page}");
    }
    assert!(page(&["trace", "stat"]).contains(".TH flashlane-trace-stat 1"));
    let refused = program(&folder).args(["man", "trace", "start"]).output().expect("the program runs");
    let complaint = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("\"start\": no such command; there are stat, convert"), "{complaint}");
}

#[test]
fn the_version_names_the_processors_it_needs() {
    let output = program(&folder()).arg("--version").output().expect("the program runs");
    let said = text(&output.stdout);
    assert!(said.starts_with(&format!("flashlane {}\nThis build needs ", env!("CARGO_PKG_VERSION"))), "{said}");
}

/// A processor of 2008, emulated.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_processor_without_the_instructions_is_refused_in_words() {
    let mut old = Command::new("qemu-x86_64");
    let output = old.args(["-cpu", "Nehalem", env!("CARGO_BIN_EXE_flashlane"), "devices"]).output();
    let Ok(output) = output else {
        println!("SKIPPED: no qemu-x86_64 here: an old processor was not emulated");
        return;
    };
    let said = text(&output.stderr);
    let is_refused =
        output.status.code() == Some(1) && said.starts_with("error: this build needs an x86-64-v3 processor");
    let needs_nothing = !cfg!(target_feature = "avx2") && output.status.success();
    assert!(is_refused || needs_nothing, "{said}");
}
