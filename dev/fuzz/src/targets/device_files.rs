//! The reader of device files: whatever a file contains, it is refused with a place and a reason, or is a device of which everything can be
//! computed.

use flashlane_scenario::{Document, Flow, PRESETS, Scenario, device_file};

use crate::Target;

/// The target of this module.
pub const TARGET: Target = Target {
    name: "device-files",
    about: "device_file never panics, and a refusal says where",
    seeds: || {
        let own = "[device]\npreset = \"modern-tlc\"\nnand.suspend_ns = 9_000\n[fitted]\nreads = \"measured\"\nwrites = \"bounded\"\n";
        PRESETS.iter().take(8).map(|preset| preset.text.into()).chain([own.into()]).collect()
    },
    words: &[
        "[device]",
        "[fitted]",
        "preset",
        "\"defaults\"",
        "\"./a.toml\"",
        "writes = \"not measured\"",
        "= -1",
        "nan",
    ],
    feed: |input| {
        let read = device_file("input", String::from_utf8_lossy(input).into_owned());
        let checked = read.and_then(|(device, _)| {
            let document = Document { device, flow: vec![Flow::default()], ..Document::default() };
            Scenario::from_document("input", document).device_config()
        });
        match checked {
            Ok(_) => "accepted".into(),
            Err(error) => {
                let message = error.to_string();
                assert!(message.starts_with("input:"), "no place in {message:?}");
                message.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(60).collect()
            }
        }
    },
};
