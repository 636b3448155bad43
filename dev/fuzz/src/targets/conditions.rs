//! Conditions of sweeps: whatever is written there, it is refused with a place and a reason, or each run is left out or kept.

use std::path::Path;

use flashlane_sweep::Sweep;

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "conditions",
    about: "conditions of a sweep (exclude): evaluated or refused with a place, whatever the text",
    seeds: || {
        let conditions = [
            "seed == 1 and flow.a.priority > 2",
            "flow[0].priority in [1, 2] or not seed is defined",
            "(device.nand.program_ns - 3) / 2 > 1e4 and flow.a.priority * 2 ** 3 <= 16",
            "device.preset == 'unit-cycle' and [1, 2]|length == 2",
            "(1 if seed else 2) // 3 % 4 < -seed|abs|float|int|round",
            "flow.a.name ~ 'b' == \"ab\" and [3, 1]|max > [2]|min",
            "seed[0:2] != (1, 2) and {1: 2}[1] == seed.x",
        ];
        conditions.map(|text| text.into()).into()
    },
    words: &[
        "seed",
        "flow",
        ".a",
        "[0]",
        "[1]",
        " * ",
        "10000",
        "100000000",
        "'a'",
        " ~ ",
        " ** ",
        " // ",
        "|length",
        "|max",
        "|abs",
        "|int",
        " in ",
        " not ",
        " and ",
        " or ",
        " is defined",
        " if ",
        " else ",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ", ",
        ":",
        "==",
        "<",
        "none",
        "true",
    ],
    feed,
};

fn feed(input: &[u8]) -> String {
    let mut quoted = String::new();
    for c in String::from_utf8_lossy(input).chars() {
        quoted.push_str(&format!("\\U{:08X}", u32::from(c)));
    }
    let text = format!(
        "device = \"unit-cycle\"\nscheduler = \"fcfs\"\n[[flow]]\nname = \"a\"\npriority = 1\n[[flow.request]]\nat_ns = 0\n\
         op = \"read\"\npages = [0, 1]\n[sweep]\nseeds = [1, 2]\nflow.a.priority = [1, 3]\nexclude = [\"{quoted}\"]\n"
    );
    let planned = Sweep::of_file(Path::new("input"), text).map_err(|error| error.to_string());
    match planned.and_then(|sweep| sweep.plan().map_err(|error| error.to_string())) {
        Ok(plan) => {
            assert_eq!(plan.runs.len() + plan.excluded, 4);
            format!("leaves out {}", plan.excluded)
        }
        Err(message) => {
            assert!(message.starts_with("input:"), "no place in {message:?}");
            message
        }
    }
}
