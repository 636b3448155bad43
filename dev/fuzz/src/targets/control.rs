//! The control socket of a served drive: what is understood is what was sent, to the byte.

use flashlane_serve::control_line::{ControlCommand, LINE_BYTES};

use crate::Target;

/// The target of this module. The input is what a client sends.
pub const TARGET: Target = Target {
    name: "control",
    about: "what a client of the control socket sends: one whole line that is a command, or a reason why it is none",
    seeds: || {
        ["stats\n", "power-cut\n", "scheduler flin\n", "priority my db 1\n"].map(|line| line.as_bytes().to_vec()).into()
    },
    words: &["power-cut", "priority ", "scheduler ", "stats", "\n", "\0", " ", "--help", "7"],
    feed: |input| match ControlCommand::of(input) {
        Ok(command) => {
            let line = match &command {
                ControlCommand::Stats => "stats".to_owned(),
                ControlCommand::PowerCut => "power-cut".to_owned(),
                ControlCommand::Scheduler(name) => format!("scheduler {name}"),
                ControlCommand::Priority(flow, priority) => {
                    assert!(*priority <= 7);
                    // A number may have zeroes before it.
                    let number = input.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
                    let zeroes = number.iter().take_while(|&&byte| byte == b'0').count();
                    let before = "0".repeat(if *priority == 0 { zeroes - 1 } else { zeroes });
                    format!("priority {flow} {before}{priority}")
                }
            };
            assert_eq!(format!("{line}\n").as_bytes(), input);
            assert!(input.len() <= LINE_BYTES);
            format!("{command:?}")
        }
        Err(why) => {
            assert!(!why.is_empty() && !why.contains(char::is_control) && why.len() < 1_000);
            why
        }
    },
};
