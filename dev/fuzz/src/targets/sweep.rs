//! The reader of sweep files: whatever a file contains, it is refused with a place and a reason, or its axes are read.

use std::path::Path;

use flashlane_sweep::Sweep;

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "sweep",
    about: "Sweep::of_file never panics, and a refusal says where",
    seeds: || {
        let base = "scheduler = \"fcfs\"\n[device]\npreset = \"unit-cycle\"\n[[flow]]\nname = \"a\"\n[[flow.request]]\nat_ns = 0\n\
                    op = \"read\"\npages = [0, 1]\n";
        let crossed = "[sweep]\nseeds = 3\nflow.0.priority = [1, 2]\nschedulers = [\"fcfs\", { base = \"fcfs\", pick = \"fr-fcfs\" }]\n\
                       device.nand.program_ns = { from = 1e4, to = 1e6, points = 3, scale = \"log\" }\n";
        let zipped = "[sweep]\nrequests = true\nseeds = [1, 4]\nexclude = [\"seed == 1 and flow.a.priority > 2\"]\n\
                      zip = [[\"seeds\", \"flow.a.priority\"]]\n[sweep.flow.a]\npriority = [0, 3]\n[run]\nalone = false\n";
        [crossed, zipped].map(|axes| format!("{base}{axes}").into_bytes()).into()
    },
    words: &[
        "[sweep]",
        "[sweep.flow.a]",
        "seeds",
        "zip",
        "exclude",
        "= []",
        "from",
        "points",
        "\"log\"",
        "sweep = {}",
        "[[",
        "= 1000000",
        "not not not not not not not not not not not not not not not not ",
        "seed == 1 and seed == 2 and seed == 3 and seed == 4 and ",
        "-------------------------------------",
        "|abs|abs|abs|abs|abs|abs",
        ".a.a.a.a.a.a.a.a.a.a",
    ],
    feed: |input| {
        let text = String::from_utf8_lossy(input).into_owned();
        match Sweep::of_file(Path::new("input"), text) {
            Ok(sweep) => format!("accepted with {} axes", sweep.axes.len().min(5)),
            Err(error) => {
                let message = error.to_string();
                assert!(message.starts_with("input:"), "no place in {message:?}");
                message.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(60).collect()
            }
        }
    },
};
