//! The program as a user runs it: exit codes, messages, files.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::{flashlane, folder, text, write};

/// The names of the files in a folder, in order.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Runs and expects success; returns the standard output.
#[track_caller]
fn good(folder: &Path, args: &[&str]) -> String {
    let output = flashlane(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "", "{args:?}");
    text(&output.stdout)
}

/// Runs and expects an error about the input; returns the text after `error: `.
#[track_caller]
fn bad(folder: &Path, args: &[&str]) -> String {
    let output = flashlane(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "", "{args:?}");
    let complaint = text(&output.stderr);
    complaint.strip_prefix("error: ").unwrap_or_else(|| panic!("{complaint}")).trim_end().to_owned()
}

#[test]
fn init_writes_a_scenario_that_checks() {
    let folder = folder();
    let message = good(folder.path(), &["init"]);
    assert_eq!(message, "wrote scenario.toml; run it with: flashlane compare scenario.toml\n");
    let message = good(folder.path(), &["check", "scenario.toml"]);
    let lines: Vec<&str> = message.lines().collect();
    assert!(lines[0].starts_with("two-tenants: scenario ") && lines[0].ends_with(", seed 1"), "{message}");
    let device = "device      flin-isca18: 32 units on 8 channels, 480.00 GB for the user of 549.76 GB raw (14.5 % \
                  over-provisioning)";
    assert_eq!(lines[1], device);
    assert_eq!(lines[3], "schedulers  fcfs, read-first, read-first-suspend, flin");
    assert_eq!(lines[4], "flow        reader: synthetic; priority 0; bytes 0 to 240000000000");
    assert_eq!(lines[5], "flow        writer: synthetic; priority 0; bytes 240000000000 to 480000000000");
}

/// 8 of 350 blocks are always in SLC mode: a third of 805.3 MB, and no part of the over-provisioning.
#[test]
fn check_says_what_the_slc_cache_and_the_map_come_to() {
    let folder = folder();
    let scenario = "[device]\npreset = \"client-tlc\"\n[device.geometry]\nblocks_per_plane = 350\npages_per_block = 192\n\
                    [device.ftl]\nuser_gb = 31\n[device.slc]\nstatic_blocks = 8\ndynamic_limit = 20\n[device.mapping]\nentries = 5000\nhost_entries = 70\n\
                    [[flow]]\n[flow.synthetic]\nrate_iops = 5\nrequests = 5\n";
    write(&folder, "slc.toml", scenario);
    let message = good(folder.path(), &["check", "slc.toml"]);
    let lines: Vec<&str> = message.lines().collect();
    let expected = [
        "device      client-tlc: 16 units on 8 channels, 31.00 GB for the user of 35.23 GB raw (11.1 % over-provisioning)",
        "SLC cache   0.27 GB: 8 blocks of a plane, 512 pages each, and up to 20 others while more than 18 are free",
        "map         5000 of 7568359 entries in the controller's memory, 70 in the host's; 7391 translation pages, 0.03 GB of the over-provisioning",
        "collecting  below 18 free blocks of a plane's 342, at or below 1 before anything else",
    ];
    assert_eq!(lines[1..5], expected);
}

/// What the template's comments say one can do, done.
#[test]
fn the_advice_of_init_works_when_followed() {
    let folder = folder();
    let message = good(folder.path(), &["init", "my scenario.toml"]);
    assert!(message.ends_with("flashlane compare 'my scenario.toml'\n"), "{message}");
    let template = std::fs::read_to_string(folder.path().join("my scenario.toml")).unwrap();
    let begin = template.find("# [device]").expect("the advice on the device");
    let (before, rest) = template.split_at(begin);
    let (advice, after) = rest.split_once("\n\n").expect("it ends with an empty line");
    let advice = advice.replace("# ", "");
    write(&folder, "device.toml", &format!("{}{advice}\n\n{after}", before.replace("device = \"flin-isca18\"\n", "")));
    assert!(good(folder.path(), &["check", "device.toml"]).contains("(20.0 % over-provisioning)"));
    let listed = template.lines().find_map(|line| line.strip_prefix("#   schedulers = ")).expect("the advice on mixes");
    let own = template.lines().find(|line| line.starts_with("schedulers = ")).expect("the schedulers");
    write(&folder, "mixes.toml", &template.replace(own, &format!("schedulers = {listed}")));
    assert!(good(folder.path(), &["check", "mixes.toml"]).contains("schedulers  fcfs, mine"));
    write(&folder, "trace.csv", "0,usr,0,Read,0,4096,1\n");
    for (name, first) in [("trace", "# [[flow]]\n# [flow.trace]"), ("scene", "# [[flow]]\n# name = \"scene\"")] {
        let begin = template.find(first).expect("the advice on a flow");
        let (before, rest) = template.split_at(begin);
        let (advice, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
        let advice: String =
            advice.lines().map(|line| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n").collect();
        write(&folder, "flow.toml", &format!("{before}{advice}\n{after}"));
        assert!(good(folder.path(), &["check", "flow.toml"]).contains(&format!("flow        {name}: ")), "{name}");
    }
}

#[test]
fn init_never_overwrites() {
    let folder = folder();
    let mine = write(&folder, "mine.toml", "name = \"mine\"\n");
    let message = bad(folder.path(), &["init", "mine.toml"]);
    assert_eq!(message, "mine.toml: exists already and is left as it is; give another name");
    assert_eq!(std::fs::read_to_string(mine).unwrap(), "name = \"mine\"\n");
    let message = bad(folder.path(), &["init", "no/such/folder.toml"]);
    assert_eq!(message, "no/such/folder.toml: cannot be written: No such file or directory (os error 2)");
    assert_eq!(names(&folder), ["mine.toml"]);
}

#[test]
fn a_full_disk_is_a_fault_not_bad_input() {
    if !Path::new("/dev/full").exists() {
        println!("SKIPPED: no /dev/full here");
        return;
    }
    let folder = folder();
    let out = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    let output = command.arg("devices").current_dir(folder.path()).stdout(out).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert_eq!(message, "error: standard output: No space left on device (os error 28)\n");
}

#[test]
fn devices_lists_and_prints() {
    let folder = folder();
    let list = good(folder.path(), &["devices"]);
    for name in [
        "slacker-asplos17",
        "slacker-one-page",
        "flin-isca18",
        "ncq-elex15",
        "sos-msst13",
        "cosmos-openssd",
        "modern-tlc",
    ] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name}: {list}");
        let one = good(folder.path(), &["devices", name]);
        assert!(one.contains("[device.geometry]") && one.contains("source = "), "{name}");
    }
    assert!(good(folder.path(), &["devices", "defaults"]).contains("[device.front]"));
    let message = bad(folder.path(), &["devices", "./my.toml"]);
    assert!(message.contains("is the path of a file; legal is the name of a preset"), "{message}");
    let message = bad(folder.path(), &["devices", "flin"]);
    assert!(message.starts_with("device \"flin\": no such device; there are slacker-asplos17, "), "{message}");
    assert!(message.ends_with("; did you mean \"flin-isca18\"?"), "{message}");
}

/// The output of `devices` can be pasted into a scenario.
#[test]
fn a_printed_device_is_a_device() {
    let folder = folder();
    let preset = good(folder.path(), &["devices", "slacker-asplos17"]);
    let tables = &preset[preset.find("[device").unwrap()..];
    let scene = "[[flow]]\n[[flow.request]]\nat_ns = 0\nop = \"read\"\npages = [0]\n";
    write(
        &folder,
        "paste.toml",
        &format!("name = \"same\"\n[device]\npreset = \"slacker-asplos17\"\n{tables}\n{scene}"),
    );
    write(&folder, "name.toml", &format!("name = \"same\"\ndevice = \"slacker-asplos17\"\n{scene}"));
    assert_eq!(good(folder.path(), &["check", "paste.toml"]), good(folder.path(), &["check", "name.toml"]));
}

/// An SLC cache that nothing empties: `check` says so of the device, a run once writes have gone past the cache.
#[test]
fn a_cache_that_fills_for_ever_is_warned_of() {
    let folder = folder();
    let with = |writes: u32, idle: &str| {
        let cache =
            "static_blocks = 1, bits = 4, read_ns = 1000, program_ns = 1000, erase_ns = 1000, full = \"direct\"";
        let flow = format!(
            "synthetic = {{ read_ratio = 0, size = {{ constant = 8192 }}, rate_iops = 1000, requests = {writes} }}"
        );
        let geometry = "channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 64, pages_per_block = 64";
        let text = format!(
            "[device]\npreset = \"flin-isca18\"\ngeometry = {{ {geometry} }}\nftl = {{ over_provisioning_percent = 50 }}\n\
             slc = {{ {cache}{idle} }}\n[[flow]]\n{flow}\n"
        );
        write(&folder, "s.toml", &text);
        ["check", "run"].map(|command| {
            good(folder.path(), &[command, "s.toml"]).contains("Warning: the SLC cache fills once and for ever")
        })
    };
    // The cache has 16 pages.
    assert_eq!(with(16, ""), [true, false]);
    assert_eq!(with(40, ""), [true, true]);
    assert_eq!(with(40, ", idle_ms = 5"), [false, false]);
}

#[test]
fn a_bad_scenario_is_located() {
    let folder = folder();
    write(&folder, "bad.toml", "device = \"flin-isca18\"\n\n[run]\nduraton_ms = 5\n");
    let message = bad(folder.path(), &["check", "bad.toml"]);
    assert!(
        message.starts_with("bad.toml:4:1: run.duraton_ms: unknown key `duraton_ms`, expected one of "),
        "{message}"
    );
    assert!(message.ends_with("; did you mean `duration_ms`?"), "{message}");
    let message = bad(folder.path(), &["check", "none.toml"]);
    assert_eq!(message, "none.toml: cannot read the scenario: No such file or directory (os error 2)");
}

#[test]
fn flags_lie_over_the_scenario_and_are_blamed_for_themselves() {
    let folder = folder();
    write(&folder, "a.csv", "0 0 0 8 1\n");
    write(&folder, "b.csv", "0 0 0 8 1\n");
    good(folder.path(), &["init", "s.toml"]);
    let args =
        ["check", "s.toml", "--trace", "a.csv", "--trace", "b.csv", "--priority", "0,3", "--device", "modern-tlc"];
    let message = good(folder.path(), &args);
    assert!(message.contains("device      modern-tlc: 16 units"), "{message}");
    assert!(message.contains("\nflow        b: trace ") && message.contains("/b.csv; priority 3; bytes "), "{message}");
    let message = good(folder.path(), &["check", "--trace", "a.csv", "--range", "all"]);
    assert!(message.contains("flow        a: trace a.csv; priority 0; bytes 0 to 1000000000000"), "{message}");

    let message = bad(folder.path(), &["check", "s.toml", "--device", "modern"]);
    assert!(message.starts_with("--device: device.preset = \"modern\": no such device; "), "{message}");
    let message = bad(folder.path(), &["check", "--trace", "a.csv", "--priority", "9"]);
    assert_eq!(message, "--priority: flow[0].priority = 9: must be 0 to 7");
    let message = bad(folder.path(), &["check", "--trace", "a.csv", "--priority", "1,2"]);
    assert_eq!(message, "--priority: 2 given for 1 flow; give one, or one for each flow");
    let message = bad(folder.path(), &["check", "s.toml", "--speedup", "5"]);
    assert_eq!(message, "--speedup: no flow replays a trace; give one with --trace");
    let message = bad(folder.path(), &["check", "--trace", "none.csv"]);
    let expected =
        "--trace: flow[0].trace.path = \"none.csv\": cannot read the trace: No such file or directory (os error 2)";
    assert_eq!(message, expected);
}

#[test]
fn compare_says_what_it_is_against() {
    let folder = folder();
    write(&folder, "a.csv", "0 0 0 8 0\n0 0 8 16 1\n1000 0 0 16 1\n");
    let compare = ["compare", "--trace", "a.csv", "--schedulers", "fcfs,read-first"];
    let message = good(folder.path(), &[&compare[..], &["--baseline", "read-first", "--slack", "--full"]].concat());
    assert!(message.contains("\nRequest by request against read-first\n"), "{message}");
    assert!(message.contains("\nActual slack of the transactions of reads and of writes\n"), "{message}");
    let message = good(folder.path(), &[&compare[..], &["--slack"]].concat());
    assert!(message.contains("\nActual slack of ") && !message.contains("\nRequest by request"), "{message}");
    let message = good(folder.path(), &[&compare[..], &["--full"]].concat());
    assert!(message.contains("\nRequest by request against fcfs\n") && !message.contains("slack"), "{message}");
    let message = bad(folder.path(), &[&compare[..], &["--baseline", "fcsf"]].concat());
    assert_eq!(message, "--baseline: run.baseline = \"fcsf\": must be one that runs: fcfs, read-first");
}

#[test]
fn flags_change_the_hash_and_repeating_does_not() {
    let folder = folder();
    write(&folder, "a.csv", "0 0 0 8 1\n");
    let hash = |extra: &[&str]| {
        let message = good(folder.path(), &[&["check", "--trace", "a.csv"], extra].concat());
        message.split_whitespace().nth(2).unwrap().trim_end_matches(',').to_owned()
    };
    let base = hash(&[]);
    assert_eq!(base, hash(&[]));
    let flags: [&[&str]; 6] = [
        &["--seed", "2"],
        &["--speedup", "2"],
        &["--limit", "1"],
        &["--beyond", "wrap"],
        &["--priority", "1"],
        &["--no-alone"],
    ];
    for flag in flags {
        assert_ne!(base, hash(flag), "{flag:?}");
    }
}

/// State as the paper counts it: eight counters, a flag and two registers per chip, two counters per channel; 7 bits
/// per page.
#[test]
fn schedulers_say_what_they_cost() {
    let folder = folder();
    let output = good(folder.path(), &["schedulers", "--cost"]);
    let chip = "49 bytes: 8 counters of 32 bits, 1 flag of 1 bit, 2 registers of 64 bits";
    assert!(
        output.contains(chip) && output.contains("8 bytes: 2 counters of 32 bits (Cntr_Ready, Cntr_Total)"),
        "{output}"
    );
    assert!(
        output.contains("16 chips x 49 + 4 channels x 8 = 816 bytes") && output.contains("117440512 bytes"),
        "{output}"
    );
    let flin = "64 chips, 128 flows, 262144 transactions: 1180672 bytes, 1.13 MiB, 0.055 % of 2 GiB.";
    assert!(output.contains(flin) && output.contains("16 bytes: arrival rates"), "{output}");
    assert!(bad(folder.path(), &["schedulers", "slacker", "--cost"]).contains("--cost"));
}

/// The shadow estimator reports only when asked, and for each scheduler.
#[test]
fn the_shadow_estimator_speaks_when_asked() {
    let folder = folder();
    write(&folder, "a.csv", "0 0 0 64 0\n0 0 64 64 1\n1000 0 0 64 1\n");
    let compare = ["compare", "--trace", "a.csv", "--schedulers", "fcfs,slacker"];
    assert!(!good(folder.path(), &compare).contains("Estimated"));
    let output = good(folder.path(), &[&compare[..], &["--shadow-estimator"]].concat());
    assert!(output.contains("Estimated against actual") && output.contains("MAPE"), "{output}");
}

#[test]
fn a_wrong_command_line_is_bad_input() {
    let folder = folder();
    for args in [
        &["check"][..],
        &["chek"],
        &[],
        &["check", "--beyond", "rap", "--trace", "x"],
        &["check", "x.toml", "--no-alone", "--alone-scheduler", "fcfs"],
        &["check", "x.toml", "--limit", "-1"],
        &["completions", "tcsh"],
    ] {
        assert_eq!(flashlane(folder.path(), args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn help_is_everywhere_and_has_examples() {
    let folder = folder();
    for args in
        [&["--help"][..], &["check", "--help"], &["devices", "--help"], &["init", "--help"], &["completions", "--help"]]
    {
        let help = good(folder.path(), args);
        assert!(help.contains("Examples:\n  flashlane "), "{args:?}: {help}");
    }
}

#[test]
fn completions_know_the_commands() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = good(folder.path(), &["completions", shell]);
        assert!(
            script.contains("flashlane") && script.contains("devices") && script.contains("trace-format"),
            "{shell}"
        );
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flashlane"));
    let mut child = command
        .args(["completions", "bash"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}
