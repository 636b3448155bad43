//! Devices from files of the user's own.

use std::fs;
use std::path::Path;

use super::*;
use crate::preset::PRESETS;
use crate::words::{Measured, Word};

const FLOW: &str = "[[flow]]\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";

/// The scenario `head` in a folder of its own, beside these files.
fn beside<T>(files: &[(&str, &str)], head: &str, look: impl FnOnce(&Path, Scenario) -> T) -> T {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let path = folder.path().join("s.toml");
    look(folder.path(), Scenario::of_file(&path, format!("{head}\n{FLOW}")).expect("the test's own text"))
}

/// The error of a scenario on the device file `d.toml` with this text, without the folder.
fn refused(file: &str, head: &str) -> String {
    beside(&[("d.toml", file)], head, |folder, scenario| {
        let folder = format!("{}/", folder.display());
        scenario.check().expect_err(file).to_string().replace(&folder, "")
    })
}

#[test]
fn a_printed_preset_is_the_preset() {
    for preset in PRESETS {
        let named = with(&format!("device = \"{}\"", preset.name));
        beside(&[("mine.toml", preset.text)], "device = \"mine.toml\"", |_, own| {
            assert_eq!(own.hash(), named.hash(), "{}", preset.name);
            let [own, named] = [&own, &named].map(|one| format!("{:?}", one.device_config().expect("a device")));
            assert_eq!(own, named, "{}", preset.name);
        });
    }
}

#[test]
fn the_hash_has_the_values_and_neither_the_path_nor_what_was_fitted() {
    let hash = |name: &str, text: &str| {
        beside(&[(name, text)], &format!("device.preset = \"./{name}\""), |_, scenario| scenario.hash().expect("one"))
    };
    let text = "[device]\npreset = \"flin-isca18\"\nnand.read_ns = 60_000\n";
    let same = with("[device]\npreset = \"flin-isca18\"\nnand.read_ns = 60_000").hash().expect("one");
    assert_eq!(hash("a.toml", text), same);
    assert_eq!(hash("b.toml", &format!("source = \"mine\"\n{text}[fitted]\nreads = \"measured\"\n")), same);
    assert_ne!(hash("a.toml", &text.replace("60_000", "60_001")), same);
}

#[test]
fn keys_of_the_scenario_lie_over_those_of_the_file() {
    let file = "[device]\npreset = \"flin-isca18\"\nnand = { read_ns = 60_000, program_ns = 900_000 }\n\
                [fitted]\nreads = \"measured\"\nmixed = \"bounded\"\nwrites = \"not measured\"\n";
    beside(&[("d.toml", file)], "device = { preset = \"./d.toml\", nand.read_ns = 50_000 }", |_, scenario| {
        let same = with("device = { preset = \"flin-isca18\", nand = { read_ns = 50_000, program_ns = 900_000 } }");
        assert_eq!(scenario.hash(), same.hash());
        assert_eq!(scenario.device_name(), "d.toml");
        assert_eq!(scenario.device_described(), "d.toml with nand.read_ns 60000 -> 50000");
        let fitted = scenario.fitted().expect("a file");
        let words = [fitted.reads, fitted.mixed, fitted.writes];
        assert_eq!(words, [Measured::Measured, Measured::Bounded, Measured::NotMeasured].map(|word| Some(Word(word))));
    });
    assert_eq!(with("device = \"flin-isca18\"").fitted(), Ok(Fitted::default()));
}

/// The file is read once, and a record of the drive does without it.
#[test]
fn a_record_has_the_whole_device() {
    for preset in &PRESETS[..3] {
        let text = format!("{}\n[fitted]\nwrites = \"bounded\"\n", preset.text);
        let (head, own) = beside(&[("d.toml", &text)], "device = \"d.toml\"", |_, scenario| {
            let own = format!("{:?}", scenario.device_config().expect("a device"));
            (scenario.recording_head("a build", "").expect("a head"), own)
        });
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("served.record");
        fs::write(&path, &head).expect("written");
        let again = Scenario::load(&path).expect("a record");
        assert_eq!(format!("{:?}", again.device_config().expect("a device")), own);
        assert_eq!((again.device_name(), &*again.device_described()), ("d.toml", "d.toml"));
        assert_eq!(again.fitted().map(|fitted| fitted.writes), Ok(Some(Word(Measured::Bounded))));
        let mut given = again;
        given.assign(&[("seed".into(), "2".into()), ("device.nand.suspend_ns".into(), "7000".into())]).expect("keys");
        assert!(given.device_described().starts_with("d.toml with nand.suspend_ns "), "{}", given.device_described());
        assert_eq!(given.fitted().map(|fitted| fitted.writes), Ok(Some(Word(Measured::Bounded))));
        given.assign(&[("device.preset".into(), "\"unit-cycle\"".into())]).expect("keys");
        assert_eq!(given.device_name(), "unit-cycle");
        for name in ["", "..", "a/b.toml", "\\u001b.toml"] {
            let text = head.replace("\"d.toml\"", &format!("\"{name}\""));
            fs::write(&path, text).expect("written");
            let message = Scenario::load(&path).expect_err(name).to_string();
            assert!(message.contains("served.record:4: `# device file: `: expected the name of a file"), "{message}");
        }
        fs::write(&path, head.replace("\"bounded\"", "\"yes\"")).expect("written");
        let message = Scenario::load(&path).expect_err("no such word").to_string();
        assert!(message.contains("served.record:4: `# device file: `: unknown variant `yes`"), "{message}");
    }
}

#[test]
fn an_error_names_the_file_the_key_and_the_value() {
    let head = "device = \"d.toml\"";
    for (file, expected) in [
        (
            "[device]\nnand = { read = 5 }\n",
            "d.toml:2:10: device.nand.read: unknown key `read`, expected one of `read_ns`",
        ),
        ("[device.nand]\nread_ns = \"x\"\n", "d.toml:2:11: device.nand.read_ns = \"x\": "),
        (
            "[device]\npreset = \"flin\"\n",
            "d.toml:2:10: device.preset = \"flin\": no such device; there are slacker-asplos17",
        ),
        (
            "[device]\npreset = \"a/b.toml\"\n",
            "d.toml:2:10: device.preset = \"a/b.toml\": must be a preset of the program",
        ),
        ("[device]\npreset = \"flin-isca18\"\nbus.width_bytes = 65\n", "d.toml:3:19: device.bus.width_bytes = 65: "),
        (
            "[device]\n[fitted]\nwrites = \"yes\"\n",
            "d.toml:3:10: fitted.writes = \"yes\": unknown word `yes`, expected one of `measured`",
        ),
        ("[device]\n[fitted]\nwrite = \"measured\"\n", "d.toml:3:1: fitted.write: unknown key `write`"),
        // As fitted files are: the threshold was blamed, and the capacity, which is the preset's.
        (
            "[device]\npreset = \"client-tlc\"\nslc.static_blocks = 300\ngeometry.blocks_per_plane = 1400\n",
            "d.toml:3:21: device.slc.static_blocks = 300: device.ftl.user_gb = 500: must be at most the raw capacity of",
        ),
        (
            "[device]\npreset = \"client-tlc\"\ngc.start_percent = 1.0\nslc.static_blocks = 150\n",
            "d.toml:4:21: device.slc.static_blocks = 150: garbage collection would start above the over-provisioning: of a plane's \
             1400 blocks 150 are always in SLC mode, 1247 hold user data and 3 are open, which leaves no room for \
             device.gc.start_percent = 1 (14 blocks); give the user or the SLC cache less capacity",
        ),
        ("[geometry]\nchannels = 1\n", "d.toml:1:2: geometry: unknown key `geometry`"),
        (
            "summary = \"x\"\n",
            "d.toml: device.geometry.channels: missing: neither the scenario nor the preset gives it",
        ),
        ("[device]\n", "d.toml: device.geometry.channels: missing: neither the scenario nor the preset gives it"),
        ("", "s.toml:1:10: device = \"d.toml\": the file is empty; `flashlane devices NAME` prints one to start from"),
    ] {
        let error = refused(file, head);
        assert!(error.starts_with(expected), "{file:?}: {error}");
    }
    // What the scenario gives is the scenario's, also where the file gives it too.
    let file = "[device]\npreset = \"flin-isca18\"\nbus.width_bytes = 2\n";
    let error = refused(file, "device = { preset = \"d.toml\", bus.width_bytes = 65 }");
    assert!(error.starts_with("s.toml:1:49: device.bus.width_bytes = 65: "), "{error}");
    let error = refused(file, "device = \"e.toml\"");
    assert!(
        error.starts_with("s.toml:1:10: device = \"e.toml\": cannot read the device file: No such file"),
        "{error}"
    );
    let error = refused(file, "device.preset = \"./\"");
    assert!(error.starts_with("s.toml:1:17: device.preset = \"./\": is a folder; legal is a device file"), "{error}");
    // What makes a preset's value illegal is at fault.
    let file = "[device]\npreset = \"modern-tlc\"\n";
    let error = refused(file, "device = { preset = \"d.toml\", nand.erase_ns = 7 }");
    assert!(
        error.starts_with("s.toml:1:47: device.nand.erase_ns = 7: device.nand.erase_iterations = 20: must be 1 to 7"),
        "{error}"
    );
}
