//! Every kind of error in a scenario, with its exact message.

use super::*;

const FLOW: &str = "[[flow]]\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";

/// The error message for `text`.
#[track_caller]
fn complaint(text: &str) -> String {
    match parse(text).and_then(|scenario| scenario.check()) {
        Ok(()) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn bad_top_level_and_device_keys() {
    for (text, expected) in TOP {
        assert_eq!(complaint(&format!("{text}\n{FLOW}")), *expected, "{text}");
    }
}

#[test]
fn fewer_levels_than_priorities() {
    let text = |levels| {
        let flow = "[[flow]]\npriority = 2\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";
        format!("[device]\npreset = \"unit-cycle\"\n[device.front]\npriority_levels = {levels}\n{flow}")
    };
    for levels in [1, 2] {
        let expected = format!(
            "s.toml:4:19: device.front.priority_levels = {levels}: must be above every flow's priority, here up to 2; 0 gives \
             as many levels as the flows use"
        );
        assert_eq!(complaint(&text(levels)), expected);
    }
    for levels in [0, 3, 8] {
        parse(&text(levels)).and_then(|scenario| scenario.check()).expect("levels enough");
    }
}

#[test]
fn bad_flows() {
    for (text, expected) in FLOWS {
        assert_eq!(complaint(&format!("device = \"unit-cycle\"\n{text}")), *expected, "{text}");
    }
}

#[test]
fn a_value_from_the_command_line_is_not_blamed_on_the_file() {
    let mut scenario = with("device = \"flin-isca18\"");
    scenario.set("device", "--device", |document| document.device = Device::preset("flin".into()));
    let error = scenario.check().unwrap_err().to_string();
    assert!(error.starts_with("--device: device.preset = \"flin\": no such device; there are "), "{error}");
    assert!(error.ends_with("did you mean \"flin-isca18\"?"), "{error}");
}

#[test]
fn a_key_that_a_preset_gives_is_named_where_the_user_broke_it() {
    let text = "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 4";
    let expected = "s.toml:4:12: device.geometry.channels = 4: device.ftl.user_gb = 480: must be at most the raw capacity \
                    of 274877906944 bytes";
    assert_eq!(complaint(&format!("{text}\n{FLOW}")), expected);
    let text = "[device]\npreset = \"flin-isca18\"\n[device.gc]\nstart_blocks = 7";
    let expected = "s.toml:4:16: device.gc.start_blocks = 7: device.gc.hard_percent = 0.5 (20 blocks): must be 1 to 6, \
                    fewer than where collection starts (device.gc.start_blocks)";
    assert_eq!(complaint(&format!("{text}\n{FLOW}")), expected);
}

#[test]
fn files_that_are_no_scenario() {
    let folder = std::env::temp_dir().join(format!("flashlane-complaints-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let load = |name: &str, bytes: Option<&[u8]>| {
        let path = folder.join(name);
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).unwrap();
        }
        let error = Scenario::load(&path).map(drop).unwrap_err().to_string();
        error.strip_prefix(&format!("{}: ", path.display())).unwrap_or_else(|| panic!("{error}")).to_owned()
    };
    assert_eq!(load("none.toml", None), "cannot read the scenario: No such file or directory (os error 2)");
    assert_eq!(load("empty.toml", Some(b" \n")), "the file is empty; `flashlane init` writes a scenario to start from");
    let binary = load("binary.toml", Some(b"name = \x80\xff"));
    assert_eq!(binary, "not a text file: byte 7 is not UTF-8; a scenario is TOML");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_missing_trace_is_found_when_it_is_hashed() {
    let scenario = parse("[[flow]]\ntrace = \"/nowhere/x.csv\"").unwrap();
    let expected =
        "s.toml:2:9: flow[0].trace = \"/nowhere/x.csv\": cannot read the trace: No such file or directory (os error 2)";
    assert_eq!(scenario.hash().unwrap_err().to_string(), expected);
}

/// For each text, placed above a valid flow, the error message.
#[rustfmt::skip]
const TOP: &[(&str, &str)] = &[
    ("seed = ", "s.toml:1:8: string values must be quoted, expected literal string"),
    ("sede = 1", "s.toml:1:1: sede: unknown key `sede`, expected one of `name`, `seed`, `device`, `host`, `block`, `scheduler`, `schedulers`, `run`, `flow`; did you mean `seed`?"),
    ("seed = -1", "s.toml:1:8: seed = -1: invalid value: integer `-1`, expected a whole number, 0 or more"),
    ("seed = \"x\"", "s.toml:1:8: seed = \"x\": invalid type: string \"x\", expected a whole number, 0 or more"),
    ("device = \"flin-isca81\"", "s.toml:1:10: device = \"flin-isca81\": no such device; there are slacker-asplos17, slacker-one-page, flin-isca18, ncq-elex15, sos-msst13, cosmos-openssd, modern-tlc, datacenter-tlc, client-tlc, client-qlc, samsung-970-pro-512gb, samsung-980-pro-1tb, samsung-pm9a3-960gb, sk-hynix-pe8110-960gb, micron-7450-pro-960gb, micron-7450-max-800gb, wd-dc-960gb, solidigm-p5520-1920gb, unit-cycle; did you mean \"flin-isca18\"?"),
    ("device = 5", "s.toml:1:10: device = 5: invalid type: integer `5`, expected the name of a preset or a table of device keys"),
    ("[device]\npreset = \"zzz\"", "s.toml:2:10: device.preset = \"zzz\": no such device; there are slacker-asplos17, slacker-one-page, flin-isca18, ncq-elex15, sos-msst13, cosmos-openssd, modern-tlc, datacenter-tlc, client-tlc, client-qlc, samsung-970-pro-512gb, samsung-980-pro-1tb, samsung-pm9a3-960gb, sk-hynix-pe8110-960gb, micron-7450-pro-960gb, micron-7450-max-800gb, wd-dc-960gb, solidigm-p5520-1920gb, unit-cycle"),
    ("[device.geometri]\nchannels=1", "s.toml:1:9: device.geometri: unknown key `geometri`, expected one of `preset`, `geometry`, `nand`, `retry`, `slc`, `bus`, `ftl`, `mapping`, `gc`, `buffer`, `front`, `precondition`; did you mean `geometry`?"),
    ("[device.geometry]\nchanels = 1", "s.toml:2:1: device.geometry.chanels: unknown key `chanels`, expected one of `channels`, `chips_per_channel`, `dies_per_chip`, `planes_per_die`, `blocks_per_plane`, `pages_per_block`, `page_bytes`, `metadata_bytes`, `unit`; did you mean `channels`?"),
    ("[device.geometry]\nchannels = 0", "s.toml:2:12: device.geometry.channels = 0: must be at least 1"),
    ("[device.geometry]\nchannels = -1", "s.toml:2:12: device.geometry.channels = -1: invalid value: integer `-1`, expected a whole number from 0 to 4294967295"),
    ("[device.geometry]\nchannels = 5000000000", "s.toml:2:12: device.geometry.channels = 5000000000: invalid value: integer `5000000000`, expected a whole number from 0 to 4294967295"),
    ("[device.geometry]\nchannels = 65", "s.toml:2:12: device.geometry.channels = 65: must be 1 to 64"),
    ("[device.geometry]\nblocks_per_plane = 1048576\npages_per_block=32768", "s.toml:2:20: device.geometry.blocks_per_plane = 1048576: the device has 8 x 2 x 1 x 4 x 1048576 x 32768 pages (channels x chips x dies x planes x blocks x pages), must be at most 4294967293"),
    ("[device.geometry]\nunit = \"dye\"", "s.toml:2:8: device.geometry.unit = \"dye\": unknown word `dye`, expected `chip` or `die`; did you mean `die`?"),
    ("[device.geometry]\npage_bytes = 1000", "s.toml:2:14: device.geometry.page_bytes = 1000: must be a multiple of 512"),
    ("[device.buffer]\npace_ns = 3600000000001", "s.toml:2:11: device.buffer.pace_ns = 3600000000001: must be 0 to 3600000000000"),
    ("[device]\npreset = \"flin-isca18\"\nbuffer.pace_ns = 9", "s.toml:3:18: device.buffer.pace_ns = 9: has no effect; legal with device.buffer.pages above 0"),
    ("[device.nand]\nread_ns = 0", "s.toml:2:11: device.nand.read_ns = 0: must be 1 to 3600000000000"),
    ("[device.nand]\nread_ns = -5", "s.toml:2:11: device.nand.read_ns = -5: invalid value: integer `-5`, expected a whole number, 0 or more"),
    ("[device.nand]\nread_ns = { mean = 5 }", "s.toml:2:11: device.nand.read_ns = { mean = 5 }: not a form of a latency, expected nanoseconds, or { mean, sd }, or { fast, slow }, or { pages = [..] }"),
    ("[device.nand]\nread_ns = { mean = 5, ds = 3 }", "s.toml:2:23: device.nand.read_ns.ds: unknown key `ds`, expected one of `mean`, `sd`, `fast`, `slow`, `pages`"),
    ("[device.nand]\nread_ns = { pages = [] }", "s.toml:2:21: device.nand.read_ns.pages = []: 0 times, expected 1 to 4"),
    ("[device.nand]\nread_ns = { pages = [1, 2, 3, 4, 5] }", "s.toml:2:21: device.nand.read_ns.pages = [1, 2, 3, 4, 5]: 5 times, expected 1 to 4"),
    ("[device.nand]\nread_ns = { pages = [1, 0] }", "s.toml:2:11: device.nand.read_ns = 0: must be 1 to 3600000000000"),
    ("[device.nand]\nread_ns = { pages = [1], mean = 2 }", "s.toml:2:11: device.nand.read_ns = { pages = [1], mean = 2 }: not a form of a latency, expected nanoseconds, or { mean, sd }, or { fast, slow }, or { pages = [..] }"),
    ("[device.nand]\nread_ns = \"fast\"", "s.toml:2:11: device.nand.read_ns = \"fast\": invalid type: string \"fast\", expected nanoseconds, or { mean, sd }, or { fast, slow }, or { pages = [..] }"),
    ("[device.nand]\nsuspend_limit = \"never\"", "s.toml:2:17: device.nand.suspend_limit = \"never\": unknown word \"never\", expected a whole number or \"unlimited\""),
    ("[device.retry]\nstates = [{ shares = [1.0] }]", "s.toml:2:10: device.retry.states = [{ shares = [1.0] }]: needs device.retry.step_ns, which neither the scenario nor the preset gives"),
    ("[device.retry]\nstep_ns = 0\nstates = [{ shares = [1.0] }]", "s.toml:2:11: device.retry.step_ns = 0: must be 1 to 3600000000000"),
    ("[device.retry]\nstep_ns = 1\nstates = [{ shares = [0.5, 0.4] }]", "s.toml:3:22: device.retry.states[0].shares = [0.5, 0.4]: must be 1 to 32 numbers from 0 to 1 that add up to 1, one for each number of further steps from 0 on"),
    ("[device.retry]\nstep_ns = 1\nstates = [{ share = [1.0] }]", "s.toml:3:13: device.retry.states[0].share: unknown key `share`, expected one of `erases`, `age_days`, `shares`; did you mean `shares`?"),
    ("[device]\npreset = \"modern-tlc\"\n[device.nand]\none_shot_pages = 5", "s.toml:4:18: device.nand.one_shot_pages = 5: must be 1 to 4"),
    ("[device]\npreset = \"modern-tlc\"\n[device.nand]\none_shot_pages = 3\none_shot_wait_ms = -1", "s.toml:5:20: device.nand.one_shot_wait_ms = -1: must be 0 to 3600000"),
    ("[device]\npreset = \"cosmos-openssd\"\n[device.nand]\none_shot_pages = 2\n[device.buffer]\npages = 15", "s.toml:6:9: device.buffer.pages = 15: must be at least 32 with nand.one_shot_pages: 2 for each of 16 planes"),
    ("[device]\npreset = \"flin-isca18\"\n[device.nand]\none_shot_pages = 2", "s.toml:4:18: device.nand.one_shot_pages = 2: needs a page buffer with write_back and merge_writes, or an SLC cache, [device.slc], with full = \"fold\"; without them it must be 1"),
    ("[device]\npreset = \"modern-tlc\"\n[device.nand]\none_shot_pages = 4294967295", "s.toml:4:18: device.nand.one_shot_pages = 4294967295: must be 1 to 4"),
    ("[device]\npreset = \"ncq-elex15\"\nfront = { service = \"serial\" }\nretry = { step_ns = 1, states = [{ shares = [1.0] }] }", "s.toml:3:21: device.front.service = serial: has no flash whose reads could be tried again; leave [device.retry] out"),
    ("[device.ftl]\nunit_bytes = 0", "s.toml:2:14: device.ftl.unit_bytes = 0: must be a multiple of 512 that divides geometry.page_bytes, 16384"),
    ("[device.ftl]\nunit_bytes = 6144", "s.toml:2:14: device.ftl.unit_bytes = 6144: must be a multiple of 512 that divides geometry.page_bytes, 16384"),
    ("[device.ftl]\nunit_bytes = 256", "s.toml:2:14: device.ftl.unit_bytes = 256: must be a multiple of 512 that divides geometry.page_bytes, 16384"),
    ("[device.ftl]\nsuperblock = \"chip\"", "s.toml:2:14: device.ftl.superblock = \"chip\": unknown word `chip`, expected `plane` or `die`"),
    ("[device.ftl]\nsuperblock = \"die\"\n[device.nand]\nmulti_plane = false", "s.toml:2:14: device.ftl.superblock = \"die\": needs nand.multi_plane = true: the planes of a die work together"),
    ("[device.ftl]\nsuperblock = \"die\"\n[device.bus]\nplane_gap_ns = 5", "s.toml:2:14: device.ftl.superblock = \"die\": needs bus.plane_gap_ns = 0: all planes of a die work at once"),
    ("[device.ftl]\nsuperblock = \"die\"\nunit_bytes = 512", "s.toml:3:14: device.ftl.unit_bytes = 512: a block of the map has 1536 x 32 x 4 units (pages x units of a page x planes), must be at most 65535"),
    ("[device]\npreset = \"client-tlc\"\n[device.buffer]\nmerge_writes = false", "s.toml:4:16: device.buffer.merge_writes = false: units smaller than a page and superblocks need a page buffer: buffer.pages above 0, write_back and merge_writes"),
    ("[device]\npreset = \"flin-isca18\"\n[device.ftl]\nunit_bytes = 4096", "s.toml:4:14: device.ftl.unit_bytes = 4096: units smaller than a page and superblocks need a page buffer: buffer.pages above 0, write_back and merge_writes"),
    ("[device]\npreset = \"datacenter-tlc\"\n[device.ftl]\nunit_bytes = 8192\n[device.buffer]\npages = 500", "s.toml:6:9: device.buffer.pages = 500: must be at least 768 with programs of several pages: 24 for each of 32 planes"),
    ("[device]\npreset = \"solidigm-p5520-1920gb\"\n[device.geometry]\npage_bytes = 2048", "s.toml:4:14: device.geometry.page_bytes = 2048: device.ftl.unit_bytes = 4096: must be a multiple of 512 that divides geometry.page_bytes, 2048"),
    ("[device]\npreset = \"client-tlc\"\n[device.geometry]\npages_per_block = 766", "s.toml:4:19: device.geometry.pages_per_block = 766: device.slc.bits = 3: must be a divisor of geometry.pages_per_block, which is 766"),
    ("[device.retry]\nstates = 5", "s.toml:2:10: device.retry.states = 5: invalid type: integer `5`, expected a list"),
    ("[device.retry]\nstates = [5]", "s.toml:2:11: device.retry.states[0] = 5: invalid type: integer `5`, expected a table"),
    ("[device.slc]\nidle_ms = \"long\"", "s.toml:2:11: device.slc.idle_ms = \"long\": invalid type: string \"long\", expected a number"),
    ("[device.slc]\nfull = 3", "s.toml:2:8: device.slc.full = 3: invalid type: integer `3`, expected a word: \"fold\" or \"direct\""),
    ("[device.slc]\nstatic_blocks = 5", "s.toml:2:17: device.slc.static_blocks = 5: needs device.slc.bits, which neither the scenario nor the preset gives"),
    ("[device.slc]\nstatic_blocks = 5\nbits = 5\nread_ns = 1\nprogram_ns = 1\nerase_ns = 1", "s.toml:3:8: device.slc.bits = 5: must be 2 to 4"),
    ("[device.geometry]\npages_per_block = 1537\n[device.slc]\nstatic_blocks = 5\nbits = 3\nread_ns = 1\nprogram_ns = 1\nerase_ns = 1", "s.toml:5:8: device.slc.bits = 3: must be a divisor of geometry.pages_per_block, which is 1537"),
    ("[device.slc]\ndynamic = true\ndynamic_limit = 0\nbits = 3\nread_ns = 1\nprogram_ns = 1\nerase_ns = 1", "s.toml:3:17: device.slc.dynamic_limit = 0: must be at least 1; dynamic = false is for none"),
    ("[device.slc]\nstatic_blocks = 700\nbits = 2\nread_ns = 1\nprogram_ns = 1\nerase_ns = 1", "s.toml:2:17: device.slc.static_blocks = 700: must be less than the 700 blocks of a plane"),
    ("[device.slc]\nstatic_blocks = 600\nbits = 2\nread_ns = 1\nprogram_ns = 1\nerase_ns = 1", "s.toml:2:17: device.slc.static_blocks = 600: device.ftl.user_gb = 1000: must be at most the raw capacity of 161061273600 bytes beside the static blocks of the SLC cache"),
    ("[device.slc]\ndynamic = true\nbits = 2\nread_ns = 0\nprogram_ns = 1\nerase_ns = 1", "s.toml:4:11: device.slc.read_ns = 0: must be 1 to 3600000000000"),
    ("[device.slc]\ndynamic = true\nbits = 2\nidle_ms = -1\nread_ns = 1\nprogram_ns = 1\nerase_ns = 1", "s.toml:4:11: device.slc.idle_ms = -1: must be 0 to 86400000"),
    ("[device.slc]\ndynamic = true\nfull = \"wait\"", "s.toml:3:8: device.slc.full = \"wait\": unknown word `wait`, expected `fold` or `direct`"),
    ("[device]\npreset = \"ncq-elex15\"\nfront = { service = \"serial\" }\nslc = { dynamic = true, bits = 2, read_ns = 1, program_ns = 1, erase_ns = 1 }", "s.toml:3:21: device.front.service = serial: has no flash whose blocks could be in SLC mode; leave [device.slc] out"),
    ("[device.slc]\nstatic_blocks = 7\nbits = 3", "s.toml:2:17: device.slc.static_blocks = 7: needs device.slc.read_ns, which neither the scenario nor the preset gives"),
    ("[device.mapping]\nentries = 0", "s.toml:2:11: device.mapping.entries = 0: must be 1 to 1073741824"),
    ("[device.mapping]\nbytes = 4194303", "s.toml:2:9: device.mapping.bytes = 4194303: must be a multiple of entry_bytes, 4; or give entries"),
    ("[device.mapping]\nbytes = 2", "s.toml:2:9: device.mapping.bytes = 2: must be a multiple of entry_bytes, 4; or give entries"),
    ("[device.mapping]\nentries = 5\nbytes = 20", "s.toml:2:11: device.mapping.entries = 5: give exactly one of entries, bytes, not device.mapping.entries = 5 and device.mapping.bytes = 20"),
    ("[device.mapping]\nentries = 5\nentry_bytes = 0", "s.toml:3:15: device.mapping.entry_bytes = 0: must be 1 to 4096, the bytes of a unit of the map"),
    ("[device.mapping]\nentries = 5\nentry_bytes = 6", "s.toml:3:15: device.mapping.entry_bytes = 6: does not divide the bytes of a unit of the map, 4096: give entries_per_page"),
    ("[device.mapping]\nentries = 5\nentry_bytes = 6\nentries_per_page = 2731", "s.toml:4:20: device.mapping.entries_per_page = 2731: must be 1 to 682"),
    ("[device.mapping]\nentries = 5\nentries_per_page = 1", "s.toml:3:20: device.mapping.entries_per_page = 1: garbage collection would start above the over-provisioning: of a plane's 700 blocks 1245 would be needed for user data and the map and 2 are open, which leaves no room for device.gc.start_percent = 1 (7 blocks); give the user less capacity"),
    ("[device.mapping]\nentries = 5\nentries_per_page = 0", "s.toml:3:20: device.mapping.entries_per_page = 0: must be 1 to 1024"),
    ("[device.mapping]\nentries = 5\nread_bytes = 1000", "s.toml:3:14: device.mapping.read_bytes = 1000: must be a multiple of 512"),
    ("[device.mapping]\nentries = 5\nread_bytes = 32768", "s.toml:3:14: device.mapping.read_bytes = 32768: must be 512 to 4096"),
    ("[device.mapping]\nentries = 5\nhost_entries = 1073741825", "s.toml:3:16: device.mapping.host_entries = 1073741825: must be 0 to 1073741824"),
    ("[device.mapping]\nentries = 5\nstart = \"full\"", "s.toml:3:9: device.mapping.start = \"full\": unknown word `full`, expected `empty` or `warm`"),
    ("[device]\npreset = \"ncq-elex15\"\nfront = { service = \"serial\" }\nmapping = { entries = 5 }", "s.toml:3:21: device.front.service = serial: has no flash on which the map could lie; leave [device.mapping] out"),
    ("[device.nand]\nread_ns = 1.5", "s.toml:2:11: device.nand.read_ns = 1.5: invalid type: number `1.5`, expected nanoseconds, or { mean, sd }, or { fast, slow }, or { pages = [..] }"),
    ("[device.bus]\nmega_transfers = \"infinite\"", "s.toml:2:18: device.bus.mega_transfers = \"infinite\": unknown word \"infinite\", expected a whole number or \"unlimited\""),
    ("[device.bus]\nmega_transfers = 0", "s.toml:2:18: device.bus.mega_transfers = 0: must be 1 to 4294967295"),
    ("[device.bus]\nmega_transfers = 4294967296", "s.toml:2:18: device.bus.mega_transfers = 4294967296: must be a whole number up to 4294967294, or \"unlimited\""),
    ("[device.ftl]\nallocation = \"CWDX\"", "s.toml:2:14: device.ftl.allocation = \"CWDX\": must be four different letters of C, W, D, P, such as \"CWDP\"; did you mean \"CWDP\"?"),
    ("[device.ftl]\nuser_gb = 5000", "s.toml:2:11: device.ftl.user_gb = 5000: must be at most the raw capacity of 1127428915200 bytes"),
    ("[device.ftl]\nuser_gb = 0", "s.toml:2:11: device.ftl.user_gb = 0: must leave the user at least one page of 4096 bytes"),
    ("[device.ftl]\nuser_gb = 50\nuser_bytes = 5", "s.toml:2:11: device.ftl.user_gb = 50: give exactly one of user_gb, user_bytes, over_provisioning_percent, not device.ftl.user_gb = 50 and device.ftl.user_bytes = 5"),
    ("[device.ftl]\nover_provisioning_percent = -1", "s.toml:2:29: device.ftl.over_provisioning_percent = -1: must be 0 to 10000"),
    ("[device.gc]\nstart_percent = 50", "s.toml:2:17: device.gc.start_percent = 50 (350 blocks): garbage collection would start above the over-provisioning: of a plane's 700 blocks 623 hold user data and 2 are open; must be at most 75 blocks (10.7 %), or give the user less capacity"),
    ("[device.gc]\nstart_percent = 101", "s.toml:2:17: device.gc.start_percent = 101: must be 0 to 100"),
    ("[device.gc]\nstart_blocks = 1", "s.toml:2:16: device.gc.start_blocks = 1: must be 2 to 700"),
    ("[device.gc]\nhard_blocks = 2000", "s.toml:2:15: device.gc.hard_blocks = 2000: must be 1 to 6, fewer than where collection starts (device.gc.start_percent)"),
    ("[device.gc]\nstart_blocks=3\nstart_percent=5", "s.toml:3:15: device.gc.start_percent = 5: give exactly one of start_percent, start_blocks, not device.gc.start_percent = 5 and device.gc.start_blocks = 3"),
    ("[device.gc]\nvictim = { d-choices = 4 }", "s.toml:2:10: device.gc.victim = { d-choices = 4 }: invalid type: table, expected a word: \"greedy\" or \"random\" or \"d-choices\" or \"fifo\" or \"cost-benefit\""),
    ("[device.gc]\nvictim = { d-choices = { of = 4 } }", "s.toml:2:10: device.gc.victim = { d-choices = { of = 4 } }: invalid type: table, expected a word: \"greedy\" or \"random\" or \"d-choices\" or \"fifo\" or \"cost-benefit\""),
    ("[device.gc]\nvictim = \"greed\"", "s.toml:2:10: device.gc.victim = \"greed\": unknown word `greed`, expected one of `greedy`, `random`, `d-choices`, `fifo`, `cost-benefit`; did you mean `greedy`?"),
    ("[device.gc]\nvictim = \"d-choices\"\nchoices = 0", "s.toml:3:11: device.gc.choices = 0: must be 1 to 700"),
    ("[device.ftl]\nover_provisioning_percent = 1", "s.toml:2:29: device.ftl.over_provisioning_percent = 1: device.gc.start_percent = 1 (7 blocks): garbage collection would start above the over-provisioning: of a plane's 700 blocks 695 hold user data and 2 are open; must be at most 3 blocks (0.4 %), or give the user less capacity"),
    ("[device.precondition]\nstate = \"filled\"\nfill_percent = 120", "s.toml:3:16: device.precondition.fill_percent = 120: must be 0 to 100"),
    ("[device.front]\ndepth = 0", "s.toml:2:9: device.front.depth = 0: must be 1 to 4294967295"),
    ("[device.front]\nservice = \"series\"", "s.toml:2:11: device.front.service = \"series\": unknown word `series`, expected `parallel` or `serial`; did you mean `serial`?"),
    ("[device]\npreset = \"flin-isca18\"\n[device.front]\nservice = \"serial\"", "s.toml:4:11: device.front.service = \"serial\": device.front.in_flight = unlimited: must be 1 with serial service"),
    ("[device.front]\nservice = \"serial\"", "s.toml:2:11: device.front.service = serial: has no flash; needs ftl.unit_bytes = geometry.page_bytes and ftl.superblock = \"plane\""),
    ("[device]\npreset = \"flin-isca18\"\n[device.front]\nin_flight = 1\nservice = \"serial\"\ncluster = 33", "s.toml:6:11: device.front.cluster = 33: must be 1 to 32"),
    ("[device]\npreset = \"flin-isca18\"\n[device.front]\nin_flight = 1\nservice = \"serial\"\ncluster = 0", "s.toml:6:11: device.front.cluster = 0: must be 1 to 32"),
    ("[device]\npreset = \"ncq-elex15\"\nfront = { service = \"serial\" }\nbuffer = { flush_above = 8192 }", "s.toml:4:26: device.buffer.flush_above = 8192: has no meaning with front.service = \"serial\"; leave it out"),
    ("[device]\npreset = \"ncq-elex15\"\nfront = { service = \"serial\" }\nbuffer = { flush_above = 0 }", "s.toml:4:26: device.buffer.flush_above = 0: has no meaning with front.service = \"serial\"; leave it out"),
    ("[device]\npreset = \"ncq-elex15\"\nfront = { service = \"serial\" }\nbuffer = { merge_writes = false }", "s.toml:4:27: device.buffer.merge_writes = false: has no meaning with front.service = \"serial\"; leave it out"),
    ("[device.front]\ncluster = 4", "s.toml:2:11: device.front.cluster = 4: has no effect; legal with device.front.service = \"serial\""),
    ("[device.front]\ncharge = \"literal\"", "s.toml:2:10: device.front.charge = \"literal\": has no effect; legal with device.front.service = \"serial\""),
    ("[device.front]\nlink_bytes_per_s = 0", "s.toml:2:20: device.front.link_bytes_per_s = 0: must be at least 1, or \"unlimited\""),
    ("[device.front]\npriority_levels = 9", "s.toml:2:19: device.front.priority_levels = 9: must be 1 to 8"),
    ("schedulers = []", "s.toml:1:14: schedulers = []: must name at least one scheduler"),
    ("schedulers = [\"a\", \"a\"]", "s.toml:1:20: schedulers[1] = \"a\": has the name of schedulers[0]; names must differ"),
    ("schedulers = [\"a\", 5]", "s.toml:1:20: schedulers[1] = 5: invalid type: integer `5`, expected the name of a scheduler or a table of answers"),
    ("scheduler = \"a\"\nschedulers = [\"b\"]", "s.toml:1:13: scheduler = \"a\": give scheduler or schedulers, not both"),
    ("schedulers = [{ params = { late_choices = 3 } }]", "s.toml:1:26: schedulers[0].params = { late_choices = 3 }: invalid type: table, expected parameters beside the name, as in { base = \"late\", late_choices = 3 }"),
    ("schedulers = [{ pik = [1] }]", "s.toml:1:23: schedulers[0].pik = [1]: unknown key `pik`, expected one of `name`, `base`, `admit`, `place`, `order`, `pick`, `preempt`, `collect`, `cancel`, or a parameter, which has a whole number; did you mean `pick`?"),
    ("scheduler = { base = \"fcfs\", prempt = \"suspend\" }", "s.toml:1:39: scheduler.prempt = \"suspend\": unknown key `prempt`, expected one of `name`, `base`, `admit`, `place`, `order`, `pick`, `preempt`, `collect`, `cancel`, or a parameter, which has a whole number; did you mean `preempt`?"),
    ("schedulers = [\"fcfs\", {}]", "s.toml:1:23: schedulers[1] = {}: is empty; a mix has a base, an answer to a question or a parameter of read-first, its default base"),
    ("scheduler = { name = \"\" }", "s.toml:1:22: scheduler.name = \"\": must not be empty; a mix without it has the names of its answers"),
    ("schedulers = [{ name = \"a\" }, { name = \"a\" }]", "s.toml:1:40: schedulers[1].name = \"a\": has the name of schedulers[0]; names must differ"),
    ("schedulers = [{ fetch_burst = -1 }]", "s.toml:1:31: schedulers[0].fetch_burst = -1: invalid value: integer `-1`, expected a whole number from 1 to 65535 (commands)"),
    ("schedulers = [{ late_fair = 1.5 }]", "s.toml:1:29: schedulers[0].late_fair = 1.5: invalid type: number `1.5`, expected a whole number from 0 to 1048576 (writes)"),
    ("[[schedulers]]\npick = 3", "s.toml:2:8: schedulers[0].pick = 3: invalid type: integer `3`, expected a string"),
    ("scheduler = \"\"", "s.toml:1:13: scheduler = \"\": must be a name; `flashlane schedulers` lists them"),
    ("[run]\nduration_s = 5", "s.toml:2:1: run.duration_s: unknown key `duration_s`, expected one of `duration_ms`, `requests`, `warm_up_ms`, `warm_up_requests`, `response_from`, `alone`, `alone_scheduler`, `collect`, `hold`, `baseline`, `seeds`, `slack`, `shadow_estimator`; did you mean `duration_ms`?"),
    ("[run]\nalone = 1", "s.toml:2:9: run.alone = 1: invalid type: integer `1`, expected true or false"),
];

/// For each `[host]` table, placed above a valid flow on the Cosmos prototype, the error message.
#[rustfmt::skip]
const HOSTS: &[(&str, &str)] = &[
    ("[host]\ncpu = 1", "s.toml:3:1: host.cpu: unknown key `cpu`, expected one of `cpus`, `completion`, `window_ns`, `predictor`, `buffer_hits`, `read_hits`, `read_hit_spin_ns`, `max_spin_ns`, `poll_interval_ns`, `nice`, `irq_ns`, `wake_ns`, `switch_ns`, `submit_ns`, `period_ns`, `min_slice_ns`, `wakeup_granularity_ns`, `background`; did you mean `cpus`?"),
    ("[host]\ncpus = 65", "s.toml:3:8: host.cpus = 65: must be 1 to 64"),
    ("[host]\ncpus = 0", "s.toml:3:8: host.cpus = 0: must be 1 to 64"),
    ("[host]\ncompletion = \"pol\"", "s.toml:3:14: host.completion = \"pol\": unknown word `pol`, expected one of `irq`, `poll`, `poll-prio`, `precompletion`; did you mean `poll`?"),
    ("[host]\nwindow_ns = 8000", "s.toml:3:13: host.window_ns = 8000: has no effect; legal with completion = \"precompletion\""),
    ("[host]\ncompletion = \"precompletion\"\nwindow_ns = \"auto\"", "s.toml:4:13: host.window_ns = \"auto\": unknown word \"auto\", expected a whole number of nanoseconds or \"adaptive\""),
    ("[host]\ncompletion = \"precompletion\"\nwindow_ns = -1", "s.toml:4:13: host.window_ns = -1: invalid value: integer `-1`, expected a whole number of nanoseconds or \"adaptive\""),
    ("[host]\ncompletion = \"poll\"\nbuffer_hits = true", "s.toml:4:15: host.buffer_hits = true: a thread that always spins needs no prediction; legal with completion = \"irq\" or \"precompletion\""),
    ("[host]\nread_hit_spin_ns = 5", "s.toml:3:20: host.read_hit_spin_ns = 5: has no effect; legal with read_hits = true"),
    ("[host]\nmax_spin_ns = 5", "s.toml:3:15: host.max_spin_ns = 5: has no effect; legal with completion = \"precompletion\""),
    ("[host]\nnice = 20", "s.toml:3:8: host.nice = 20: must be -20 to 19"),
    ("[host]\nmin_slice_ns = 0", "s.toml:3:16: host.min_slice_ns = 0: must be 1000 to 3600000000000"),
    ("[[host.background]]\nthreads = 2", "s.toml:2:1: host.background[0]: missing key `work`"),
    ("[[host.background]]\nwork = \"cpu\"\nthreads = 0", "s.toml:4:11: host.background[0].threads = 0: must be 1 to 256"),
    ("[[host.background]]\nwork = \"cpu\"\nsection_ns = 5", "s.toml:4:14: host.background[0].section_ns = 5: has no effect; legal with work = \"io\""),
    ("[[host.background]]\nwork = \"io\"\nsection_ns = 0", "s.toml:4:14: host.background[0].section_ns = 0: must be 100 to 3600000000000"),
];

#[test]
fn bad_hosts() {
    for (text, expected) in HOSTS {
        assert_eq!(complaint(&format!("device = \"cosmos-openssd\"\n{text}\n{FLOW}")), *expected, "{text}");
    }
    let without_buffer = complaint(&format!("device = \"unit-cycle\"\n[host]\nbuffer_hits = true\n{FLOW}"));
    let expected = "s.toml:3:15: host.buffer_hits = true: the device has no write-back buffer; legal with \
                    device.buffer.pages and write_back = true";
    assert_eq!(without_buffer, expected);
}

/// For each `[block]` table, placed above a valid flow, the error message.
#[rustfmt::skip]
const BLOCKS: &[(&str, &str)] = &[
    ("[block]\nelevator = \"bfq\"", "s.toml:3:12: block.elevator = \"bfq\": unknown word `bfq`, expected one of `none`, `mq-deadline`, `kyber`"),
    ("[block]\ndepth = 0", "s.toml:3:9: block.depth = 0: must be 1 to 65535"),
    ("[block]\ntime_scale = 0", "s.toml:3:14: block.time_scale = 0: must be 1 to 1000"),
    ("[block]\ntime_scale = 10", "s.toml:3:14: block.time_scale = 10: has no effect; legal with another elevator than none, or a limit"),
    ("[block]\nnr_requests = 0", "s.toml:3:15: block.nr_requests = 0: must be 1 to 131070"),
    ("[block]\nfifo_batch = 4", "s.toml:3:14: block.fifo_batch = 4: has no effect; legal with elevator = \"mq-deadline\", or with \"mq-deadline\" in elevators"),
    ("[block]\nelevator = \"mq-deadline\"\nfifo_batch = 0", "s.toml:4:14: block.fifo_batch = 0: must be 1 to 3600000"),
    ("[block]\nelevator = \"kyber\"\nfifo_batch = 4", "s.toml:4:14: block.fifo_batch = 4: has no effect; legal with elevator = \"mq-deadline\", or with \"mq-deadline\" in elevators"),
    ("[block]\nelevator = \"mq-deadline\"\nread_lat_nsec = 4000", "s.toml:4:17: block.read_lat_nsec = 4000: has no effect; legal with elevator = \"kyber\", or with \"kyber\" in elevators"),
    ("[block]\nelevator = \"kyber\"\nread_lat_nsec = 999", "s.toml:4:17: block.read_lat_nsec = 999: must be 1000 to 4294967295"),
    ("[block]\nelevator = \"kyber\"\n[block.flow.flow0]\nclass = \"idle\"", "s.toml:5:9: block.flow.flow0.class = \"idle\": has no effect; legal with block.elevator = \"mq-deadline\", or with that in block.elevators"),
    ("[block]\nmax_segments = 0", "s.toml:3:16: block.max_segments = 0: must be 1 to 65535"),
    ("[block]\nmax_request_bytes = 511", "s.toml:3:21: block.max_request_bytes = 511: must be 512 to 1073741824"),
    ("[block]\nmerges = false\nmax_segments = 9", "s.toml:4:16: block.max_segments = 9: has no effect; legal with merges = true"),
    ("[block.flow.backup]\nread_iops = 5", "s.toml:2:1: block.flow.backup: no flow has this name; flows: flow0"),
    ("[block.flow.flow0]\nread_iops = 0", "s.toml:3:13: block.flow.flow0.read_iops = 0: must be at least 1; without a limit leave the key out"),
    ("[block.flow.flow0]\nthreads = 0", "s.toml:3:11: block.flow.flow0.threads = 0: must be 1 to 1024"),
    ("[block.flow.flow0]\nclass = \"idle\"", "s.toml:3:9: block.flow.flow0.class = \"idle\": has no effect; legal with block.elevator = \"mq-deadline\", or with that in block.elevators"),
    ("[[block]]\ndepth = 4", "s.toml:2:1: block: must be one table, [block]; [[block]] begins a list of tables"),
    ("[block]\nelevators = []", "s.toml:3:13: block.elevators = []: must have at least one of none, mq-deadline, kyber"),
    ("[block]\nelevators = [\"none\", \"none\"]", "s.toml:3:13: block.elevators = [\"none\", \"none\"]: has none twice"),
    ("[block]\nelevator = \"none\"\nelevators = [\"none\"]", "s.toml:4:13: block.elevators = [\"none\"]: must not be there with block.elevator; give one of them"),
    ("[block]\nelevators = [\"none\"]\nfifo_batch = 4", "s.toml:4:14: block.fifo_batch = 4: has no effect; legal with elevator = \"mq-deadline\", or with \"mq-deadline\" in elevators"),
    ("[block]\nelevators = [\"none\", \"bfq\"]", "s.toml:3:22: block.elevators[1] = \"bfq\": unknown word `bfq`, expected one of `none`, `mq-deadline`, `kyber`"),
    ("[block]\n[host]\ncpus = 1", "s.toml:2:1: block: must not be there with [host]: threads ask the device themselves"),
];

#[test]
fn bad_block_layers() {
    for (text, expected) in BLOCKS {
        assert_eq!(complaint(&format!("device = \"cosmos-openssd\"\n{text}\n{FLOW}")), *expected, "{text}");
    }
    let sata =
        "[device]\npreset = \"unit-cycle\"\n[device.front]\nprotocol = \"sata\"\ndepth = 32\n[block]\ndepth = 64\n";
    let expected = "s.toml:7:9: block.depth = 64: must be at most device.front.depth, 32: the drive takes no more";
    assert_eq!(complaint(&format!("{sata}{FLOW}")), expected);
}

/// For each text of flows on the unit-cycle device, the error message.
#[rustfmt::skip]
const FLOWS: &[(&str, &str)] = &[
    ("", "s.toml: flow: a scenario needs at least one [[flow]]"),
    ("[[flow]]", "s.toml:2:1: flow[0]: give one of trace, synthetic, clone, request"),
    ("[[flow]]\nname=\"\"\ntrace=\"x\"", "s.toml:3:6: flow[0].name = \"\": must not be empty"),
    ("[[flow]]\nname=\"a\"\ntrace=\"x\"\n[[flow]]\nname=\"a\"\ntrace=\"x\"", "s.toml:6:6: flow[1].name = \"a\": another flow has this name; names must differ"),
    ("[[flow]]\npriority = 8\ntrace=\"x\"", "s.toml:3:12: flow[0].priority = 8: must be 0 to 7"),
    ("[[flow]]\npriority = 256\ntrace=\"x\"", "s.toml:3:12: flow[0].priority = 256: invalid value: integer `256`, expected a whole number from 0 to 255"),
    ("[[flow]]\ntrace=\"x\"\n[flow.synthetic]\nrate_iops=5", "s.toml:4:1: flow[0].synthetic: the flow has trace too; give only one of trace, synthetic, clone, request"),
    ("[[flow]]\ntrace=\"\"", "s.toml:3:7: flow[0].trace = \"\": must be the path of a trace file"),
    ("[[flow]]\ntrace=5", "s.toml:3:7: flow[0].trace = 5: invalid type: integer `5`, expected the path of a trace file or a table of trace keys"),
    ("[[flow]]\ntrace={path=\"x\", speedup=0}", "s.toml:3:26: flow[0].trace.speedup = 0: invalid speedup 0, expected a number or a ratio above 0, such as 50, 0.5 or \"3/2\""),
    ("[[flow]]\ntrace={path=\"x\", beyond=\"rap\"}", "s.toml:3:25: flow[0].trace.beyond = \"rap\": unknown word `rap`, expected one of `error`, `wrap`, `reject`; did you mean `wrap`?"),
    ("[[flow]]\n[flow.trace]\nspeedup=1", "s.toml:3:1: flow[0].trace: missing key `path`"),
    ("[[flow]]\ntrace={path=\"x\", sped=0}", "s.toml:3:18: flow[0].trace.sped: unknown key `sped`, expected one of `path`, `format`, `time_unit`, `columns`, `speedup`, `start_ns`, `offset`, `limit`, `loops`, `device`, `action`, `volumes`, `replay`, `depth`, `beyond`, `order`, `sizes`, `max_request_bytes`; did you mean `speedup`?"),
    ("[[flow]]\nrange=\"half\"\ntrace=\"x\"", "s.toml:3:7: flow[0].range = \"half\": unknown range \"half\", expected \"all\", \"slice\" or { offset, length } in bytes"),
    ("[[flow]]\nrange={offset=5,length=4096}\ntrace=\"x\"", "s.toml:3:15: flow[0].range.offset = 5: must be a multiple of the page, 4096 bytes, below the drive's 16777216 bytes"),
    ("[[flow]]\nrange={offset=0,length=99999999}\ntrace=\"x\"", "s.toml:3:24: flow[0].range.length = 99999999: must be a multiple of the page, 4096 bytes, from 1 page to 16777216 bytes"),
    ("[[flow]]\n[[flow.request]]\nat_ns=0\nop=\"erase\"\npages=[1]", "s.toml:5:4: flow[0].request[0].op = \"erase\": unknown word `erase`, expected one of `read`, `write`, `trim`, `write-zeroes`, `flush`"),
    ("[[flow]]\n[flow.synthetic]\ntrim_size = { constant = 5 }", "s.toml:4:13: flow[0].synthetic.trim_size = { constant = 5 }: legal only with trim_ratio"),
    ("[[flow]]\n[flow.synthetic]\nsize = \"constant\"", "s.toml:4:8: flow[0].synthetic.size = \"constant\": expected a table with one key as in { constant = 4096 }"),
    ("[[flow]]\n[flow.synthetic]\ntrim_ratio = 0.5\ntrim_size = 5", "s.toml:5:13: flow[0].synthetic.trim_size = 5: expected a word, or a table with one key as in { constant = 4096 }"),
    ("[[flow]]\n[[flow.request]]\nat_ns=0\nop=\"flush\"\noffset=4096\nlength=1", "s.toml:6:8: flow[0].request[0].offset = 4096: 4096 is not legal; legal: no address: a flush is of the whole drive"),
    ("[[flow]]\n[[flow.request]]\nat_ns=0\nop=\"trim\"\noffset=0\nlength=99999999999", "s.toml:7:8: flow[0].request[0].length = 99999999999: 99999999999 is not legal; legal: 1 to 16777216, what lies behind this offset"),
    ("[[flow]]\n[[flow.request]]\nat_ns=0\nop=\"read\"\npages=[1]\nfua=true", "s.toml:7:5: flow[0].request[0].fua = true: true is not legal; legal: false, or op = \"write\": only a write can have force unit access"),
    ("[[flow]]\n[[flow.request]]\nat_ns=0\nop=\"read\"", "s.toml:3:1: flow[0].request[0]: no address is not legal; legal: either offset and length in bytes, or pages = [...]"),
    ("[[flow]]\n[[flow.request]]\nat_ns=0\nop=\"read\"\npages=[]", "s.toml:6:7: flow[0].request[0].pages = []: an empty list is not legal; legal: one page or more"),
    ("[[flow]]\n[[flow.request]]\nat_ns=0\nop=\"read\"\npages=[0, 4096]", "s.toml:6:7: flow[0].request[0].pages = [0, 4096]: 4096 is not legal; legal: 0 to 4095, the 4096 pages of the flow's address range"),
    ("[[flow]]\n[[flow.request]]\nat_ns=5\nop=\"read\"\npages=[0]\n[[flow.request]]\nat_ns=4\nop=\"read\"\npages=[0]", "s.toml:8:7: flow[0].request[1].at_ns = 4: 4 is not legal; legal: at least 5, the time of the request before it"),
    ("[[flow]]\n[[flow.request]]\nat_ns=5\nop=\"read\"\noffset=0\nlength=0", "s.toml:7:8: flow[0].request[0].length = 0: 0 is not legal; legal: 1 to 16777216, what lies behind this offset"),
    ("[[flow]]\n[[flow.request]]\nat_ns=5\nop=\"read\"\noffset=16777216\nlength=1", "s.toml:6:8: flow[0].request[0].offset = 16777216: 16777216 is not legal; legal: below 16777216, the flow's address range"),
    ("[[flow]]\n[[flow.request]]\nat_ns=5\nop=\"read\"\noffset=16777215\nlength=2", "s.toml:7:8: flow[0].request[0].length = 2: 2 is not legal; legal: 1 to 1, what lies behind this offset"),
    ("[[flow]]\n[[flow.request]]\nop=\"read\"\npages=[1]", "s.toml:3:1: flow[0].request[0]: missing key `at_ns`"),
];

/// A results folder has a folder for each scheduler, so a name must not lead out of it.
#[test]
fn a_scheduler_s_name_is_no_path() {
    for name in ["../x", "a/b", ".", "/tmp", "a:b"] {
        let printed = complaint(&format!("scheduler = {{ name = {name:?}, pick = \"fcfs\" }}\n{FLOW}"));
        assert!(printed.contains(name) && printed.contains("must not begin with a dot"), "{printed}");
    }
}

/// The end of a closed loop of requests that take no time never comes. What takes time, or has a number of requests, is legal.
#[test]
fn a_closed_loop_that_takes_no_time() {
    let text = |device: &str, flow: &str| {
        format!(
            "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n{device}\n[[flow]]\nname = \"log\"\n[flow.synthetic]\narrivals = \
             \"closed-loop\"\n{flow}\n"
        )
    };
    let instant = "front.link_latency_ns = 0";
    let trims = "trim_ratio = 1.0\nduration_s = 0.001";
    let says = |kinds: &str, keys: &str| {
        format!(
            "never comes for the flow `log`, a closed loop of {kinds}, which take no time on this device: each follows the one \
             before at the same instant; legal is with requests (a number), with think_us above 0, or on a device with {keys} above 0"
        )
    };
    let expected = says("trims", "device.ftl.trim_ns or device.front.link_latency_ns");
    let error = complaint(&text(instant, trims));
    assert_eq!(error, format!("s.toml:10:14: flow[0].synthetic.duration_s = 0.001: {expected}"));
    let memory = format!(
        "{instant}\nfront.link_bytes_per_s = \"unlimited\"\nbuffer.access_ns = 0\nftl.unmapped_reads = \"memory\"\n\
         precondition.state = \"fresh\""
    );
    for (flow, kinds) in [("", "reads of unmapped pages"), ("trim_ratio = 0.5", "trims and reads of unmapped pages")] {
        let error = complaint(&text(&memory, &format!("duration_s = 0.001\n{flow}")));
        assert!(error.ends_with(&says(kinds, "device.front.link_latency_ns")), "{error}");
    }
    let legal = |device: &str, flow: &str| {
        let checked = parse(&text(device, flow)).and_then(|scenario| scenario.check());
        checked.unwrap_or_else(|error| panic!("{device}, {flow}: {error}"));
    };
    for flow in ["requests = 9", "think_us = 1.0"] {
        legal(instant, &format!("{trims}\n{flow}"));
    }
    legal("front.link_latency_ns = 1", trims);
    legal("front.link_latency_ns = 0\nftl.trim_ns = 1", trims);
    legal(instant, "duration_s = 0.001\ntrim_ratio = 0.5");
    legal(&format!("{memory}\n[run]\nrequests = 9"), "duration_s = 0.001");
}

/// No message has an empty value, wherever keys come from.
#[test]
fn keys_of_which_one_is_legal_are_named_with_their_values() {
    let mut scenario = with("device = \"flin-isca18\"");
    let sets = [("device.gc.start_percent", "7"), ("device.gc.start_blocks", "3")];
    scenario.assign(&sets.map(|(key, value)| (key.to_owned(), value.to_owned()))).expect("two keys");
    let expected = "--set: device.gc.start_blocks: give exactly one of start_percent, start_blocks, not device.gc.start_percent = 7 and \
                    device.gc.start_blocks = 3";
    assert_eq!(scenario.check().unwrap_err().to_string(), expected);
}
