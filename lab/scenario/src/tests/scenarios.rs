//! Overrides, defaults, ranges, names, hashes, the template and the reference page.

use super::*;

#[test]
fn the_template_is_a_scenario() {
    let scenario = parse(TEMPLATE).unwrap_or_else(|e| panic!("{e}"));
    scenario.check().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.name(), "two-tenants");
}

/// The commented-out parts of the template must be valid too: users remove the hash signs.
#[test]
fn the_templates_comments_are_keys() {
    let keys: String = TEMPLATE
        .lines()
        .skip_while(|line| !line.starts_with("# A flow that replays"))
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with('[') || line.contains(" = "))
        .map(|line| format!("{line}\n"))
        .collect();
    let scenario = parse(&format!("device = \"flin-isca18\"\n{keys}")).unwrap_or_else(|e| panic!("{e}\n{keys}"));
    let flows = scenario.flows(&scenario.device_config().unwrap()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(flows.len(), 2);
}

#[test]
fn a_capacity_replaces_the_presets_however_it_is_given() {
    let pages = |text: &str| with(text).device_config().unwrap_or_else(|e| panic!("{e}")).ftl.logical_pages;
    let flin = "[device]\npreset = \"flin-isca18\"\n[device.ftl]\n";
    assert_eq!(pages(flin), 58_593_750);
    assert_eq!(pages(&format!("{flin}user_bytes = 81920")), 10);
    assert_eq!(pages(&format!("{flin}user_gb = 100")), 12_207_031);
    assert_eq!(pages(&format!("{flin}over_provisioning_percent = 100")), 1 << 25);
}

#[test]
fn a_threshold_replaces_the_presets_however_it_is_given() {
    let gc = |text: &str| {
        let gc = with(&format!("[device]\npreset = \"flin-isca18\"\n[device.gc]\n{text}")).device_config().unwrap().gc;
        (gc.start_blocks, gc.hard_blocks)
    };
    assert_eq!(gc("start_blocks = 7\nhard_blocks = 6"), (7, 6));
    assert_eq!(gc("start_percent = 1.0"), (41, 20));
    assert_eq!(gc("start_percent = 0.0\nhard_percent = 0.0"), (2, 1));
    assert_eq!(gc("hard_blocks = 3"), (205, 3));
}

#[test]
fn latencies_have_four_forms() {
    use flashlane_core::Duration;
    use flashlane_ssd::config::{Latency as Device, PageTimes};
    let ns = Duration::from_ns;
    for (text, expect) in [
        ("5", Device::Constant(ns(5))),
        ("{ mean = 352_000, sd = 660 }", Device::Gaussian { mean: ns(352_000), sd: ns(660) }),
        ("{ fast = 50, slow = 90 }", Device::fast_slow(ns(50), ns(90))),
        ("{ pages = [60, 70, 95] }", Device::ByPage(PageTimes::new(&[60, 70, 95].map(ns)).unwrap())),
    ] {
        let scenario = with(&format!("[device]\npreset = \"flin-isca18\"\n[device.nand]\nread_ns = {text}"));
        assert_eq!(scenario.device_config().unwrap().nand.read, expect, "{text}");
    }
}

#[test]
fn no_buffer_is_no_pages() {
    assert!(with("device = \"cosmos-openssd\"").device_config().unwrap().buffer.is_some());
    assert!(with("[device]\npreset = \"cosmos-openssd\"\nbuffer.pages = 0").device_config().unwrap().buffer.is_none());
}

const THREE: &str = "
device = \"flin-isca18\"
[[flow]]
trace = \"a/web.csv.gz\"
[[flow]]
priority = 2
trace = { path = \"/b/web.csv\", speedup = 0.5 }
[[flow]]
range = { offset = 8192, length = 16384 }
[flow.synthetic]
rate_iops = 1
requests = 1
";

#[test]
fn flows_have_names_and_slices() {
    let scenario = parse(THREE).unwrap();
    let config = scenario.device_config().unwrap();
    assert_eq!(config.priorities, 3);
    let flows = scenario.flows(&config).unwrap();
    let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["web", "web-2", "flow2"]);
    let slice = 58_593_750 / 3 * 8192;
    assert_eq!(flows[0].range, ByteRange { offset: 0, length: slice });
    assert_eq!(flows[1].range, ByteRange { offset: slice, length: slice });
    assert_eq!(flows[2].range, ByteRange { offset: 8192, length: 16384 });
    let FlowSource::Trace(path, options) = &flows[1].source else { panic!("{:?}", flows[1].source) };
    assert_eq!((path.as_path(), options.speedup.as_ref()), (Path::new("/b/web.csv"), Some(&Speedup("0.5".into()))));
}

#[test]
fn inline_requests_see_the_whole_drive() {
    let scenario = with("device = \"unit-cycle\"");
    let flows = scenario.flows(&scenario.device_config().unwrap()).unwrap();
    assert_eq!(flows[0].range, ByteRange { offset: 0, length: 16_777_216 });
}

#[test]
fn schedulers_have_defaults_and_mixes_have_names() {
    let names = |text: &str| -> Vec<String> {
        with(text).schedulers().unwrap_or_else(|e| panic!("{e}")).iter().map(SchedulerChoice::name).collect()
    };
    assert_eq!(names(""), DEFAULT_SCHEDULERS);
    assert_eq!(names("scheduler = \"flin\""), ["flin"]);
    let mix = "scheduler = { base = \"fr-fcfs\", order = \"slack-bypass\", alpha = 50 }";
    assert_eq!(names(mix), ["fr-fcfs+order=slack-bypass+alpha=50"]);
    assert_eq!(names("schedulers = [\"fcfs\", { name = \"mine\", pick = \"x\" }]"), ["fcfs", "mine"]);
}

#[test]
fn the_hash_covers_what_changes_results_and_nothing_else() {
    let hash = |text: &str| with(text).hash().unwrap_or_else(|e| panic!("{e}"));
    let base = hash("device = \"flin-isca18\"");
    assert_eq!(base.len(), 16);
    assert!(base.bytes().all(|b| b.is_ascii_hexdigit()), "{base}");
    assert_eq!(base, hash("# a comment\nname = \"other\"\n[device]\npreset = \"flin-isca18\""));
    assert_eq!(base, hash("seed = 1\n[device]\npreset = \"flin-isca18\"\n[device.nand]\nread_ns = 75000"));
    let others = [
        "device = \"modern-tlc\"",
        "device = \"flin-isca18\"\nseed = 2",
        "device = \"flin-isca18\"\nscheduler = \"fcfs\"",
        "[device]\npreset = \"flin-isca18\"\n[device.nand]\nread_ns = 75001",
        "device = \"flin-isca18\"\n[run]\nrequests = 5",
    ];
    for (i, text) in others.iter().enumerate() {
        assert_ne!(base, hash(text), "{text}");
        assert!(others[..i].iter().all(|other| hash(other) != hash(text)), "{text}");
    }
}

/// Stores of runs are told apart by hashes: those of the presets stay what they are.
#[test]
fn the_hashes_of_the_presets() {
    let hashes: Vec<(&str, String)> =
        preset::PRESETS.iter().map(|p| (p.name, with(&format!("device = \"{}\"", p.name)).hash().unwrap())).collect();
    let kept = [
        ("slacker-asplos17", "e74d3852423f20af"),
        ("slacker-one-page", "435253d8c730592f"),
        ("flin-isca18", "d88ca414f3e7b760"),
        ("ncq-elex15", "3bfb28c38082eb44"),
        ("sos-msst13", "50277ff3e1b927b6"),
        ("cosmos-openssd", "8266b6e1b2ecfbcb"),
        ("modern-tlc", "250264149940a6a5"),
        ("datacenter-tlc", "22beb5aea8f80460"),
        ("client-tlc", "270d9f5dc4d8c619"),
        ("client-qlc", "ab6455801102da13"),
        ("samsung-970-pro-512gb", "2e372a0aae1d1bb0"),
        ("samsung-980-pro-1tb", "40c696ce84904827"),
        ("samsung-pm9a3-960gb", "afde1f133273a00c"),
        ("sk-hynix-pe8110-960gb", "84d2219173bc9048"),
        ("micron-7450-pro-960gb", "cbfa00e857127e4f"),
        ("micron-7450-max-800gb", "e0b4129f0cd16468"),
        ("wd-dc-960gb", "f0e0545fe19c3512"),
        ("solidigm-p5520-1920gb", "6bd418f18282e511"),
        ("unit-cycle", "1da24e5dfee0f669"),
    ];
    assert_eq!(hashes.iter().map(|(name, hash)| (*name, hash.as_str())).collect::<Vec<_>>(), kept);
}

/// A key that says in words what its absence says does not change the hash; any other value does.
#[test]
fn what_is_off_is_not_in_the_hash() {
    let hash = |keys: &str| with(&format!("[device]\npreset = \"flin-isca18\"\n{keys}")).hash().unwrap();
    assert_eq!(hash(""), hash("nand.suspend_limit = \"unlimited\""));
    assert_ne!(hash(""), hash("nand.suspend_limit = 3"));
    assert_eq!(hash(""), hash("ftl = { trim_ns = 0, trim_page_ns = 0, unmapped_reads = \"flash\" }"));
    assert_ne!(hash(""), hash("ftl.trim_page_ns = 100"));
    assert_ne!(hash(""), hash("ftl.unmapped_reads = \"memory\""));
    assert_eq!(hash(""), hash("buffer.protected = false"));
    assert_eq!(hash(""), hash("buffer.pages = 0"));
    let tlc = |keys: &str| with(&format!("[device]\npreset = \"modern-tlc\"\n{keys}")).hash().unwrap();
    assert_eq!(tlc(""), tlc("buffer.protected = true"));
    assert_ne!(tlc(""), tlc("buffer.protected = false"));
    // A device of keys alone has those of the default preset below them, and the default of a key that no preset gives is false.
    let keys = |keys: &str| with(&format!("[device]\n{keys}")).hash().unwrap();
    assert_eq!((keys(""), keys("buffer.protected = true")), (tlc(""), tlc("")));
    assert_eq!(keys("buffer.protected = false"), tlc("buffer.protected = false"));
    let own = "front.depth = 77\nbuffer = { pages = 512, write_back = true, flush_above = 64";
    let buffered = |more: &str| hash(&format!("{own}{more} }}"));
    assert_eq!(buffered(""), buffered(", protected = false"));
    assert_ne!(buffered(""), buffered(", protected = true"));
    assert_eq!(hash(""), hash("retry = { step_ns = 5, initial_age_days = 3, states = [] }"));
    assert_eq!(hash(""), hash("retry = { step_ns = 5, states = [] }"));
    assert_ne!(hash(""), hash("retry = { step_ns = 5, states = [{ shares = [0.9, 0.1] }] }"));
    assert_eq!(
        hash(""),
        hash(
            "mapping = { entries = \"unlimited\", entry_bytes = 8, entries_per_page = 5, host_entries = 7, start = \"warm\" }"
        )
    );
    let cached = hash("mapping = { entries = 1000 }");
    assert_ne!(hash(""), cached);
    assert_eq!(cached, hash("mapping = { entries = 1000, host_entries = 0, start = \"empty\" }"));
    for other in ["entries = 1001", "entries = 1000, host_entries = 1", "entries = 1000, start = \"warm\""] {
        assert_ne!(cached, hash(&format!("mapping = {{ {other} }}")), "{other}");
    }
}

/// The same for one-shot programs.
#[test]
fn defaults_of_a_block_layer_change_no_hash() {
    let hash = |block: &str| {
        let flow = "[[flow]]\nname = \"a\"\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";
        let text = format!("device = \"flin-isca18\"\n{block}\n{flow}");
        parse(&text).and_then(|scenario| scenario.hash()).unwrap_or_else(|why| panic!("{why}\n{text}"))
    };
    let plain = hash("[block]");
    for same in ["elevator = \"none\"", "depth = 1023", "nr_requests = 1023", "[block.flow.a]\nthreads = 1"] {
        assert_eq!(hash(&format!("[block]\n{same}")), plain, "{same}");
    }
    let deadline = "[block]\nelevator = \"mq-deadline\"";
    let same = hash(&format!("{deadline}\nread_expire = 500\n[block.flow.a]\nclass = \"best-effort\""));
    assert_eq!(same, hash(deadline));
    let others = ["", deadline, "[block]\ndepth = 32", "[block.flow.a]\nwrite_bps = 5"].map(hash);
    assert!(others.iter().all(|other| *other != plain), "{others:?} beside {plain}");
    let [two, one] =
        ["[\"none\", \"mq-deadline\"]", "[\"none\"]"].map(|list| hash(&format!("[block]\nelevators = {list}")));
    assert!(two != one && one != plain, "a list names its runs otherwise");
}

/// Where the elevator is an axis, keys of the file that belong to another are for its points; without one, and given beside it, they are refused.
#[test]
fn keys_of_an_elevator_apply_to_the_points_that_have_it() {
    let flow = "[[flow]]\nname = \"a\"\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";
    let keys = "elevator = \"mq-deadline\"\nfifo_batch = 4\ntime_scale = 10\n[block.flow.a]\nclass = \"idle\"";
    let below = |block: &str, sets: &[(&str, &str)]| {
        let mut scenario = parse(&format!("device = \"flin-isca18\"\n[block]\n{block}\n{flow}"))?;
        scenario
            .assign(&sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<Vec<_>>())?;
        let mut blocks = scenario.blocks(&scenario.device_config()?)?;
        Ok::<_, ScenarioError>((blocks.swap_remove(0).config, scenario.hash()?))
    };
    let none = below(keys, &[("block.elevator", "none")]).expect("a point of an axis");
    assert_eq!(none, below("elevator = \"none\"", &[]).expect("without the keys"));
    let other = below(keys, &[("block.elevator", "mq-deadline")]).expect("a point of an axis");
    assert_eq!(other, below(keys, &[]).expect("with the keys"));
    for (key, value) in [("block.fifo_batch", "8"), ("block.flow.a.class", "real-time"), ("block.time_scale", "5")] {
        let why = below(keys, &[("block.elevator", "none"), (key, value)]).expect_err("given beside it").to_string();
        assert!(why.contains(key) && why.contains("has no effect"), "{why}");
    }
}

#[test]
fn one_shot_programs_that_are_off_are_not_in_the_hash() {
    let hash =
        |keys: &str| with(&format!("[device]\npreset = \"cosmos-openssd\"\nnand = {{ {keys} }}")).hash().unwrap();
    let without = with("[device]\npreset = \"cosmos-openssd\"").hash().unwrap();
    assert_eq!(without, hash("one_shot_pages = 1, one_shot_wait_ms = 5"));
    let on = hash("one_shot_pages = 4");
    assert_ne!(without, on);
    assert_ne!(on, hash("one_shot_pages = 2"));
    assert_ne!(on, hash("one_shot_pages = 4, one_shot_wait_ms = 5"));
}

/// The same for the SLC cache.
#[test]
fn a_cache_that_is_off_is_not_in_the_hash() {
    let hash = |keys: &str| with(&format!("[device]\npreset = \"flin-isca18\"\nslc = {{ {keys} }}")).hash().unwrap();
    let without = with("[device]\npreset = \"flin-isca18\"").hash().unwrap();
    assert_eq!(
        without,
        hash("static_blocks = 0, dynamic = false, bits = 2, read_ns = 5, idle_ms = 3, full = \"direct\"")
    );
    let cache = "bits = 2, read_ns = 5, program_ns = 6, erase_ns = 7";
    let fixed = hash(&format!("static_blocks = 5, {cache}"));
    assert_ne!(without, fixed);
    assert_eq!(fixed, hash(&format!("static_blocks = 5, {cache}, dynamic = false, full = \"fold\"")));
    assert_eq!(fixed, hash(&format!("static_blocks = 5, {cache}, dynamic = false, dynamic_limit = 7")));
    let dynamic = hash(&format!("dynamic = true, {cache}"));
    assert_eq!(dynamic, hash(&format!("dynamic = true, {cache}, dynamic_limit = \"unlimited\"")));
    assert_ne!(dynamic, hash(&format!("dynamic = true, {cache}, dynamic_limit = 7")));
    for other in ["dynamic = true", "full = \"direct\"", "idle_ms = 0"] {
        assert_ne!(fixed, hash(&format!("static_blocks = 5, {cache}, {other}")), "{other}");
    }
}

#[test]
fn a_trace_enters_the_hash_by_its_bytes() {
    let folder = std::env::temp_dir().join(format!("flashlane-hash-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (a, b) = (folder.join("a.csv"), folder.join("b.csv"));
    std::fs::write(&a, "0 0 0 8 1\n").unwrap();
    std::fs::write(&b, "0 0 0 8 1\n").unwrap();
    let hash = |path: &Path| parse(&format!("[[flow]]\nname = \"f\"\ntrace = {path:?}")).unwrap().hash().unwrap();
    assert_eq!(hash(&a), hash(&b));
    std::fs::write(&b, "0 0 0 8 0\n").unwrap();
    assert_ne!(hash(&a), hash(&b));
    // A key counts where it is set.
    let table = |keys: &str| {
        parse(&format!("[[flow]]\nname = \"f\"\ntrace = {{ path = {a:?}{keys} }}")).unwrap().hash().unwrap()
    };
    assert_eq!(table(""), hash(&a));
    assert_ne!(table(", time_unit = \"us\""), hash(&a));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// `docs/scenario.md` is what the code generates. `cargo xtask bless docs` writes it anew.
#[test]
fn the_reference_page_is_up_to_date() {
    flashlane_testing::kept::same("docs", "docs/scenario.md", &reference());
}

#[test]
fn every_key_is_documented() {
    fn walk(value: &serde_json::Value, path: &str) {
        if let Some(properties) = value.get("properties").and_then(|p| p.as_object()) {
            for (key, schema) in properties {
                // The parts of a latency are described with it.
                let plain = match schema["type"].as_str() {
                    Some("integer") => ["mean", "sd", "fast", "slow"].contains(&key.as_str()),
                    Some("array") => key == "pages",
                    _ => false,
                };
                // A keyword with a value is described where it stands, not inside its own schema.
                let word = properties.len() == 1 && value["description"].is_string();
                assert!(plain || word || schema["description"].is_string(), "{path}.{key} has no description");
            }
        }
        match value {
            serde_json::Value::Object(map) => map.iter().for_each(|(key, inner)| walk(inner, &format!("{path}.{key}"))),
            serde_json::Value::Array(items) => items.iter().for_each(|inner| walk(inner, path)),
            _ => {}
        }
    }
    walk(&schema(), "scenario");
}
