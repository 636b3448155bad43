//! States of replayed drives in files: the same runs as without, whatever else of the drive differs, and files that are refused.

use std::fs;
use std::path::PathBuf;

use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

const TEXT: &str = r#"
schedulers = ["fr-fcfs", "slacker"]
[device]
preset = "flin-isca18"
[device.geometry]
channels = 2
chips_per_channel = 1
pages_per_block = 64
blocks_per_plane = 24
[device.ftl]
over_provisioning_percent = 30.0
[device.gc]
victim = "greedy"
[device.precondition]
state = "replayed"
overwrite_percent = 120
[device.nand]
program_ns = 1_300_000
[[flow]]
name = "one"
[flow.synthetic]
read_ratio = 0.3
rate_iops = 3000
requests = 2000
"#;

/// A fresh folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("states").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(text: &str, state: Option<&PathBuf>) -> Result<String, String> {
    let mut scenario = Scenario::parse("test", text.into()).unwrap_or_else(|why| panic!("{why}"));
    if let Some(path) = state {
        scenario.keep_state(path);
    }
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    compare(&scenario, &options).map(|made| made.summary.to_json()).map_err(|error| error.to_string())
}

fn files(folder: &PathBuf) -> usize {
    fs::read_dir(folder).expect("there").count()
}

#[test]
fn runs_from_a_file_are_the_same() {
    for victim in ["greedy", "random", "fifo", "cost-benefit", "d-choices"] {
        let text = TEXT.replace("greedy", victim);
        let folder = folder(victim);
        let plain = run(&text, None);
        assert!(plain.is_ok(), "{plain:?}");
        for time in ["written", "read"] {
            assert!(run(&text, Some(&folder)) == plain, "{victim}, {time}");
            assert_eq!(files(&folder), 1, "{victim}, {time}");
        }
    }
}

/// An SLC cache is empty before the run, but its static blocks hold no data: another number of them is another state, dynamic ones are not.
#[test]
fn static_blocks_in_slc_mode_are_part_of_the_state() {
    let folder = folder("slc");
    let slc = |keys: &str| {
        let times = "bits = 2, read_ns = 25_000, program_ns = 200_000, erase_ns = 2_000_000, idle_ms = 1";
        let keys = format!("{keys}, {times}").replace(", ", "\n");
        TEXT.replace("[device.ftl]", &format!("[device.slc]\n{keys}\n[device.ftl]"))
    };
    for (text, count) in [
        (TEXT.to_owned(), 1),
        (slc("static_blocks = 1"), 2),
        (slc("static_blocks = 2, full = \"direct\""), 3),
        (slc("dynamic = true"), 3),
        (slc("static_blocks = 1, dynamic = true"), 3),
    ] {
        let plain = run(&text, None);
        assert!(plain.is_ok(), "{plain:?}");
        for time in ["written", "read"] {
            assert!(run(&text, Some(&folder)) == plain, "{text}, {time}");
            assert_eq!(files(&folder), count, "{text}, {time}");
        }
    }
}

/// Planes are overwritten by all threads, and put together in any order.
#[test]
fn any_number_of_threads_makes_the_same_file() {
    let folder = folder("threads");
    let made = [1, 2, 5].map(|threads| {
        let file = folder.join(format!("{threads}.state"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| run(TEXT, Some(&file))).expect("made");
        fs::read(&file).expect("a file")
    });
    assert!(made.iter().all(|bytes| bytes.len() > 10_000 && *bytes == made[0]));
}

/// A state is found again by everything that it depends on, and by nothing else.
#[test]
fn the_name_is_what_determines_the_state() {
    let folder = folder("names");
    let mut expected = 1;
    run(TEXT, Some(&folder)).expect("made");
    for (from, to, other) in [
        ("1_300_000", "900_000", false),
        ("rate_iops = 3000", "rate_iops = 2000", false),
        ("[device.gc]", "[device.buffer]\npages = 64\n[device.gc]", false),
        ("name = \"one\"", "name = \"one\"\npriority = 3", false),
        ("120", "140", true),
        ("30.0", "31.0", true),
        ("greedy", "fifo", true),
        ("channels = 2", "channels = 1", true),
        ("schedulers =", "seed = 7\nschedulers =", true),
    ] {
        let text = TEXT.replace(from, to);
        assert_ne!(text, TEXT);
        expected += usize::from(other);
        assert!(run(&text, Some(&folder)) == run(&text, None), "{to}");
        assert_eq!(files(&folder), expected, "{to}");
    }
}

#[test]
fn files_that_are_no_such_state_are_refused_and_stay() {
    let folder = folder("refused");
    let file = folder.join("drive.state");
    run(TEXT, Some(&file)).expect("made");
    let whole = fs::read(&file).expect("a file");
    let refused = |text: &str, bytes: &[u8]| {
        fs::write(&file, bytes).expect("written");
        let error = run(text, Some(&file)).expect_err("refused");
        assert!(error.starts_with("--state ") && error.contains("drive.state: "), "{error}");
        assert!(fs::read(&file).expect("there") == bytes, "{error}");
        error
    };
    let other = refused(&TEXT.replace("blocks_per_plane = 24", "blocks_per_plane = 26"), &whole);
    assert!(other.contains("blocks_per_plane: 24; here blocks_per_plane: 26"), "{other}");
    assert!(refused(TEXT, b"").contains("is not a state of Flashlane"));
    assert!(refused(TEXT, b"seven reads of my own").contains("is not a state of Flashlane"));
    for cut in [10, 200, whole.len() / 2, whole.len() - 1] {
        assert!(refused(TEXT, &whole[..cut]).contains("is damaged"), "{cut}");
    }
    // What was added is not read: here 16 TiB without blocks on the disk, which took hours.
    for more in [1, 1 << 20, 1 << 44] {
        fs::write(&file, &whole).expect("written");
        let open = fs::OpenOptions::new().append(true).open(&file).expect("a file");
        if open.set_len(whole.len() as u64 + more).is_err() {
            println!("SKIPPED: the file system has no files of {more} bytes");
            continue;
        }
        let begun = std::time::Instant::now();
        let error = run(TEXT, Some(&file)).expect_err("refused");
        assert!(error.contains("is damaged"), "{more}: {error}");
        assert!(begun.elapsed().as_secs() < 20, "{more}: {:?}", begun.elapsed());
    }
    let head = whole.len() / 100;
    for at in (head..whole.len()).step_by(whole.len() / 40) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x20;
        let error = refused(TEXT, &flipped);
        assert!(error.contains("is damaged") || error.contains("holds another state"), "{at}: {error}");
    }
    // A state whose length says that the tail is a part of it.
    let mut longer = whole.clone();
    let at = whole.len() - 40;
    let length = u64::from_le_bytes(whole[at..at + 8].try_into().expect("eight bytes"));
    longer[at..at + 8].copy_from_slice(&(length + 8).to_le_bytes());
    assert!(refused(TEXT, &longer).contains("is damaged"));
    let steady = run(&TEXT.replace("\"replayed\"\noverwrite_percent = 120", "\"steady\""), Some(&file));
    assert!(steady.expect_err("refused").contains("must be \"replayed\""));
}

/// Opening a named pipe waits for a writer; a device has no end.
#[test]
#[cfg(unix)]
fn what_is_no_regular_file_is_refused_at_once() {
    let pipe = folder("pipe").join("drive.state");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        let error = run(TEXT, Some(&pipe)).expect_err("refused");
        assert!(error.ends_with("drive.state: is no regular file; name a file, or a folder"), "{error}");
    } else {
        println!("SKIPPED: no mkfifo here: a named pipe as a state was not tried");
    }
    let error = run(TEXT, Some(&PathBuf::from("/dev/zero"))).expect_err("refused");
    assert!(error.contains("is no regular file"), "{error}");
}
