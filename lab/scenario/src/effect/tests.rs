//! Each key that depends on another: alone it is refused, beside the key that switches it off it is warned of, beside the key that
//! switches it on it is neither.

use super::super::device::Device;
use super::super::{PRESETS, Scenario};
use super::RULES;

const FLOW: &str = "\n[[flow]]\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";

/// What a key needs, with how the scenario says that it has it, and that it has not.
struct Case {
    /// A preset that switches the keys off; `None` where only a scenario does.
    preset: &'static str,
    is_refused: bool,
    keys: &'static [&'static str],
    off: &'static str,
    on: &'static str,
    with: &'static str,
}

const SLC: &str =
    "slc.static_blocks = 8; slc.dynamic = true; slc.bits = 4; slc.read_ns = 1; slc.program_ns = 1; slc.erase_ns = 1";
const STATES: &str = "retry.step_ns = 5; retry.states = [{ shares = [0.5, 0.5] }]";

const CASES: &[Case] = &[
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &[
            "slc.bits = 2",
            "slc.read_ns = 9",
            "slc.program_ns = 9",
            "slc.erase_ns = 9",
            "slc.idle_ms = 5",
            "slc.full = \"direct\"",
        ],
        off: "slc.static_blocks = 0",
        on: SLC,
        with: "device.slc.static_blocks above 0, or dynamic = true",
    },
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &["slc.dynamic_limit = 5"],
        off: "slc.dynamic = false",
        on: SLC,
        with: "device.slc.static_blocks above 0, or dynamic = true",
    },
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &[
            "mapping.entry_bytes = 8",
            "mapping.entries_per_page = 99",
            "mapping.read_bytes = 512",
            "mapping.host_entries = 5",
            "mapping.start = \"warm\"",
        ],
        off: "mapping.entries = \"unlimited\"",
        on: "mapping.entries = 1000",
        with: "a number of device.mapping.entries or bytes",
    },
    Case {
        preset: "modern-tlc",
        is_refused: true,
        keys: &["retry.step_ns = 9", "retry.initial_erases = 9", "retry.initial_age_days = 9"],
        off: "retry.states = []",
        on: STATES,
        with: "device.retry.states",
    },
    Case {
        preset: "cosmos-openssd",
        is_refused: true,
        keys: &["nand.one_shot_wait_ms = 9"],
        off: "nand.one_shot_pages = 1",
        on: "nand.one_shot_pages = 4",
        with: "device.nand.one_shot_pages above 1",
    },
    Case {
        preset: "slacker-one-page",
        is_refused: true,
        keys: &["nand.same_page_read = true", "nand.same_page_program = false"],
        off: "nand.multi_plane = false",
        on: "nand.multi_plane = true",
        with: "device.nand.multi_plane = true",
    },
    Case {
        preset: "sos-msst13",
        is_refused: true,
        keys: &["nand.multi_plane = true"],
        off: "geometry.planes_per_die = 1",
        on: "geometry.planes_per_die = 2",
        with: "device.geometry.planes_per_die above 1",
    },
    Case {
        preset: "flin-isca18",
        is_refused: false,
        keys: &["ftl.superblock = \"die\""],
        off: "geometry.planes_per_die = 1\ndevice.ftl.user_gb = 200",
        on: "geometry.planes_per_die = 2; buffer.pages = 4096",
        with: "device.geometry.planes_per_die above 1",
    },
    Case {
        preset: "datacenter-tlc",
        is_refused: false,
        keys: &["nand.same_page_program = false"],
        off: "ftl.superblock = \"die\"",
        on: "ftl.superblock = \"plane\"",
        with: "device.ftl.superblock = \"plane\"",
    },
    Case {
        preset: "sos-msst13",
        is_refused: true,
        keys: &["nand.multi_die = true"],
        off: "geometry.unit = \"die\"",
        on: "geometry.dies_per_chip = 2",
        with: "device.geometry.unit = \"chip\" and dies_per_chip above 1",
    },
    Case {
        preset: "slacker-one-page",
        is_refused: true,
        keys: &["bus.plane_gap_ns = 9"],
        off: "nand.multi_plane = false",
        on: "nand.multi_die = true",
        with: "device.nand.multi_plane or multi_die = true",
    },
    Case {
        preset: "unit-cycle",
        is_refused: true,
        keys: &["bus.width_bytes = 2", "bus.rounding = \"mqsim\"", "bus.with_metadata = true"],
        off: "bus.mega_transfers = \"unlimited\"",
        on: "bus.mega_transfers = 333",
        with: "a number of device.bus.mega_transfers",
    },
    Case {
        preset: "modern-tlc",
        is_refused: true,
        keys: &["gc.choices = 5"],
        off: "gc.victim = \"fifo\"",
        on: "gc.victim = \"d-choices\"",
        with: "device.gc.victim = \"d-choices\"",
    },
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &[
            "buffer.per_flow = true",
            "buffer.write_back = false",
            "buffer.read_allocate = true",
            "buffer.flush_above = 5",
            "buffer.protected = true",
            "buffer.pace_ns = 9",
            "front.order = \"shared\"",
        ],
        off: "buffer.pages = 0",
        on: "buffer.pages = 64",
        with: "device.buffer.pages above 0",
    },
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &["buffer.merge_writes = false"],
        off: "buffer.pages = 0",
        on: "buffer.pages = 64",
        with: "device.buffer.pages above 0",
    },
    Case {
        preset: "cosmos-openssd",
        is_refused: false,
        keys: &["buffer.flush_above = 5", "buffer.protected = true", "buffer.pace_ns = 9", "front.order = \"shared\""],
        off: "buffer.write_back = false",
        on: "buffer.write_back = true",
        with: "device.buffer.write_back = true",
    },
    Case {
        preset: "cosmos-openssd",
        is_refused: false,
        keys: &["ftl.read_modify_write = true"],
        off: "buffer.merge_writes = false",
        on: "buffer.merge_writes = true",
        with: "device.buffer.merge_writes = true",
    },
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &["front.cores = 2"],
        off: "front.read_command_ns = 0",
        on: "front.read_command_ns = 9",
        with: "device.front.read_command_ns, write_command_ns, read_page_ns or write_page_ns above 0",
    },
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &["front.cluster = 2", "front.charge = \"literal\""],
        off: "front.service = \"parallel\"",
        on: "front.in_flight = 1; front.service = \"serial\"",
        with: "device.front.service = \"serial\"",
    },
    Case {
        preset: "modern-tlc",
        is_refused: true,
        keys: &["precondition.fill_percent = 9"],
        off: "precondition.state = \"fresh\"",
        on: "precondition.state = \"filled\"",
        with: "device.precondition.state = \"filled\"",
    },
    Case {
        preset: "modern-tlc",
        is_refused: true,
        keys: &["precondition.overwrite_percent = 9"],
        off: "precondition.state = \"fresh\"",
        on: "precondition.state = \"replayed\"",
        with: "device.precondition.state = \"replayed\"",
    },
    Case {
        preset: "flin-isca18",
        is_refused: true,
        keys: &["nand.erase_iterations = 9"],
        off: "nand.suspend_at = \"instant\"",
        on: "nand.suspend_at = \"segment\"",
        with: "device.nand.suspend_at = \"segment\"",
    },
    Case {
        preset: "ncq-elex15",
        is_refused: false,
        keys: &[
            "nand.erase_ns = 9",
            "nand.iterations = 9",
            "nand.suspend_ns = 9",
            "nand.resume_ns = 9",
            "nand.suspend_limit = 9",
            "nand.suspend_min_ns = 9",
            "nand.suspend_at = \"segment\"",
            "nand.multi_plane = false",
            "nand.multi_die = false",
            "nand.same_page_read = true",
            "nand.same_page_program = false",
            "bus.mega_transfers = 9",
            "bus.read_command_ns = 9",
            "bus.program_command_ns = 9",
            "bus.erase_command_ns = 9",
            "bus.data_out_setup_ns = 9",
            "bus.plane_gap_ns = 9",
            "bus.dispatch = \"bus-idle\"",
            "gc.victim = \"fifo\"",
            "gc.separate_frontier = false",
            "ftl.read_modify_write = true",
            "precondition.state = \"filled\"",
            "front.read_queue_capacity = 9",
            "front.write_queue_capacity = 9",
            "front.order = \"shared\"",
            "buffer.pace_ns = 9",
        ],
        off: "front.service = \"serial\"",
        on: "front.service = \"parallel\"",
        with: "device.front.service = \"parallel\"",
    },
];

/// The error of a device with these keys, or what it is warned of.
fn said(preset: &str, keys: &[&str]) -> Result<Vec<String>, String> {
    let lines: String = keys.iter().map(|key| format!("device.{key}\n")).collect();
    let text = format!("device.preset = \"{preset}\"\n{lines}{FLOW}");
    let scenario = Scenario::parse("s.toml", text).map_err(|error| error.to_string())?;
    scenario.check().and_then(|()| scenario.keys_without_effect()).map_err(|error| error.to_string())
}

#[test]
fn a_key_is_refused_alone_warned_of_beside_off_and_taken_beside_on() {
    for case in CASES {
        for line in case.keys {
            let (key, value) = line.split_once(" = ").expect("a key and its value");
            if case.is_refused {
                let expected = format!(
                    "s.toml:2:{}: device.{key} = {value}: has no effect; legal with {}",
                    key.len() + 11,
                    case.with
                );
                assert_eq!(said(case.preset, &[line]), Err(expected), "{line}");
            }
            let warned = said(case.preset, &[line, case.off]).unwrap_or_else(|error| panic!("{error}"));
            let expected = format!("device.{key} has no effect, only with {}", case.with);
            assert!(warned.contains(&expected), "{line}: {warned:?}");
            // Writes that are not merged need more than a buffer.
            if key != "buffer.merge_writes" {
                let others = case.on.split("; ").filter(|on| !on.starts_with(&format!("{key} ")));
                let lines: Vec<&str> = others.chain([*line]).collect();
                let taken = said(case.preset, &lines).unwrap_or_else(|error| panic!("{line}: {error}"));
                assert!(!taken.contains(&expected), "{line}: {taken:?}");
            }
        }
    }
}

/// To say in words what is so anyway is no error.
#[test]
fn defaults_may_be_said() {
    let keys =
        ["buffer.protected = false", "mapping.host_entries = 0", "mapping.start = \"empty\"", "slc.full = \"fold\""];
    for key in
        keys.into_iter().chain(["slc.dynamic_limit = \"unlimited\"", "retry.initial_erases = 0", "gc.choices = 8"])
    {
        assert_eq!(said("flin-isca18", &[key]), Ok(Vec::new()), "{key}");
    }
}

/// A key that declares a need is tried without it above, and every need is what a rule says.
#[test]
fn every_need_of_a_key_has_a_case() {
    let mut count = 0;
    for key in Device::keys() {
        for need in key.needs {
            assert!(RULES.iter().any(|rule| rule.need == *need), "{}: {need:?} is no rule", key.path);
            count += 1;
        }
        let cased = CASES.iter().flat_map(|case| case.keys).any(|line| line.split(' ').next() == Some(key.path));
        assert_eq!(cased, !key.needs.is_empty(), "{}: needs {:?}", key.path, key.needs);
    }
    assert!(count > 50, "{count} needs");
}

/// A preset's own tables can be copied, and every preset may be switched off piece by piece.
#[test]
fn what_a_preset_gives_is_never_blamed() {
    for preset in PRESETS {
        let device = preset.device();
        let text = toml::to_string(&device).expect("a device has a TOML form").replace("[", "[device.");
        let text = format!(
            "device.preset = \"{}\"\n{}{FLOW}",
            preset.name,
            text.lines().skip(1).collect::<Vec<_>>().join("\n")
        );
        // Lists and tables in braces have brackets too.
        let text = text.replace("= [device.", "= [");
        let scenario = Scenario::parse("s.toml", text.clone()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(scenario.keys_without_effect().map_err(|e| e.to_string()), Ok(Vec::new()), "{}", preset.name);
        // One-shot programs need the buffer.
        let buffer = if device.nand.one_shot_pages.is_some() { "buffer.per_flow = false" } else { "buffer.pages = 0" };
        for off in [buffer, "bus.mega_transfers = \"unlimited\"", "precondition.state = \"fresh\""] {
            assert_eq!(said(preset.name, &[off]), Ok(Vec::new()), "{}", preset.name);
        }
    }
    for (preset, off) in [
        ("client-qlc", vec!["slc.static_blocks = 0", "slc.dynamic = false", "mapping.entries = \"unlimited\""]),
        ("client-tlc", vec!["slc.static_blocks = 0", "slc.dynamic = false"]),
        ("datacenter-tlc", vec!["nand.one_shot_pages = 1"]),
    ] {
        assert_eq!(said(preset, &off), Ok(Vec::new()), "{preset}");
    }
}

/// A sweep over presets may have keys that only some of them have a use for.
#[test]
fn keys_for_some_of_several_presets() {
    let text = format!("[device]\npreset = \"modern-tlc\"\nbuffer.flush_above = 64\n{FLOW}");
    let mut scenario = Scenario::parse("s.toml", text).unwrap_or_else(|error| panic!("{error}"));
    let set = ["device.preset", "flin-isca18"].map(str::to_owned);
    scenario.assign(&[(set[0].clone(), set[1].clone())]).unwrap_or_else(|error| panic!("{error}"));
    scenario.check().unwrap_or_else(|error| panic!("{error}"));
    let found = scenario.keys_without_effect().unwrap_or_else(|error| panic!("{error}"));
    assert!(found.len() == 1 && found[0].starts_with("device.buffer.flush_above has no effect"), "{found:?}");
    let text = format!("[device]\npreset = \"flin-isca18\"\nbuffer.flush_above = 64\n{FLOW}");
    assert!(
        Scenario::parse("s.toml", text).and_then(|scenario| scenario.check()).is_err(),
        "one preset, which has no buffer"
    );
}

/// Runs and flows: what the command line or a sweep sets beside what stands in the file.
#[test]
fn runs_and_flows() {
    let warned = |text: &str| {
        let scenario = Scenario::parse("s.toml", text.to_owned()).unwrap_or_else(|error| panic!("{error}"));
        scenario.check().and_then(|()| scenario.keys_without_effect()).map_err(|error| error.to_string())
    };
    let flow = "[[flow]]\nsynthetic = { requests = 5, rate_iops = 5.0, KEYS }";
    let synthetic = |keys: &str| warned(&flow.replace("KEYS", keys));
    for (keys, key) in [
        ("write_size = { constant = 512 }", "write_size"),
        ("rewrite = { ratio = 0.5, distance_requests = 5.0 }", "rewrite"),
        ("size_step_bytes = 4096", "size_step_bytes"),
        ("trim_size = { constant = 512 }", "trim_size"),
    ] {
        let error = synthetic(keys).expect_err(keys);
        assert!(error.contains(&format!("flow[0].synthetic.{key}")) && error.contains("legal only with"), "{error}");
    }
    for (keys, expected) in [
        ("read_ratio = 1.0, write_size = { constant = 512 }", Some("write_size has no effect, only with writes")),
        ("read_ratio = 0.5, write_size = { constant = 512 }", None),
        ("trim_ratio = 0.5, write_size = { constant = 512 }", None),
        (
            "size = { constant = 512 }, size_step_bytes = 4096",
            Some("size_step_bytes has no effect, only with a size that is drawn"),
        ),
        ("size = { uniform = { min_bytes = 1, max_bytes = 9000 } }, size_step_bytes = 4096", None),
        (
            "trim_ratio = 0.0, trim_size = { constant = 512 }",
            Some("trim_size has no effect, only with a trim_ratio above 0"),
        ),
        ("read_ratio = 0.5, trim_ratio = 1.0", Some("read_ratio has no effect, only with a trim_ratio below 1")),
    ] {
        let found = synthetic(keys).unwrap_or_else(|error| panic!("{error}"));
        let is_right = match expected {
            Some(expected) => found.len() == 1 && found[0].contains(expected),
            None => found.is_empty(),
        };
        assert!(is_right, "{keys}: {found:?}");
    }
    for (top, expected) in [
        ("[run]\nalone = false\nalone_scheduler = \"fcfs\"", "run.alone_scheduler"),
        ("[run]\nresponse_from = \"entry\"\n[device.front]\ndepth = \"unlimited\"", "run.response_from"),
        ("[run]\ncollect = \"atomic\"\nhold = { collect = \"preemptible\" }", "run.collect"),
        ("[host]\ncompletion = \"irq\"\npoll_interval_ns = 5", "host.poll_interval_ns"),
    ] {
        let found = warned(&format!("{top}\n{FLOW}")).unwrap_or_else(|error| panic!("{error}"));
        assert!(found.len() == 1 && found[0].starts_with(expected), "{top}: {found:?}");
    }
    let error = warned(&format!("[host]\npoll_interval_ns = 5\n{FLOW}")).expect_err("no thread spins");
    assert!(error.contains("host.poll_interval_ns = 5: has no effect; legal with a completion other than"), "{error}");
}
