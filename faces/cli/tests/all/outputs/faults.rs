//! Full disks, folders without write permission, size limits: a clear error, the earlier results intact, nothing left
//! over.

use super::*;

/// Runs a script in which `$0` is the program and `$1` the test's folder.
pub(super) fn script(desk: &Path, script: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_flashlane");
    Command::new("sh").args(["-c", script, program]).arg(desk).current_dir(desk).output().unwrap()
}

/// Runs a script like [`script`] that may mount file systems. `None`, with a SKIPPED line, where that is not possible.
fn script_with_mounts(desk: &Path, text: &str) -> Option<Output> {
    let try_out = "mkdir -p m && mount -t tmpfs tmpfs m";
    let tried = Command::new("unshare").args(["-r", "-m", "sh", "-c", try_out]).current_dir(desk).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: no file system can be mounted here (unshare -r -m)");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_flashlane");
    let output =
        Command::new("unshare").args(["-r", "-m", "sh", "-c", text, program]).arg(desk).current_dir(desk).output();
    Some(output.unwrap())
}

/// The standard output of a script that makes all checks itself.
#[track_caller]
fn checked(output: Output) -> String {
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    printed
}

/// A script of a run that fills the disk after one that succeeded: exit code 1 with a message, and only the earlier
/// results are left.
const FILLS: &str = r#"
    set -e
    mkdir -p m
    mount -t tmpfs -o "$OPTIONS" tmpfs m
    "$0" compare tiny.toml --out m/out --csv > /dev/null
    cp -r m/out before
    if "$0" compare long.toml --out m/out --csv > out.txt 2> err.txt; then exit 90; else code=$?; fi
    cat err.txt
    echo "code $code"
    diff -r m/out before
    ls -A m
    # A report alone needs more than is left too.
    if "$0" compare tiny.toml --report m/page.html > out.txt 2> err.txt; then exit 91; else echo "report $?"; fi
    cat err.txt
    ls -A m
"#;

#[test]
fn a_full_disk_leaves_the_earlier_results() {
    let desk = desk();
    let Some(output) = script_with_mounts(desk.path(), &FILLS.replace("$OPTIONS", "size=64k")) else { return };
    let printed = checked(output);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("error: m/out/") && lines[0].contains("No space left on device"), "{printed}");
    assert_eq!(lines[1..4], ["code 1", "out", "report 1"], "{printed}");
    assert!(lines[4].starts_with("error: m/page.html: cannot be written: No space left on device"), "{printed}");
    assert_eq!(lines[5..], ["out"], "{printed}");
}

#[test]
fn a_disk_without_inodes_leaves_the_earlier_results() {
    let desk = desk();
    let fills = FILLS.replace("$OPTIONS", "size=8m,nr_inodes=12").split("# A report").next().unwrap().to_owned();
    let Some(output) = script_with_mounts(desk.path(), &fills) else { return };
    let printed = checked(output);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("error: m/out") && lines[0].contains("No space left on device"), "{printed}");
    assert_eq!(lines[1..], ["code 1", "out"], "{printed}");
}

#[test]
fn a_folder_that_may_not_be_written_is_refused_before_the_run() {
    let desk = desk();
    let text = r#"
        set -e
        mkdir -p m
        mount -t tmpfs tmpfs m
        "$0" compare tiny.toml --out m/out --csv > /dev/null
        mkdir m/mounted
        mount -t tmpfs tmpfs m/mounted
        if "$0" compare long.toml --out m/mounted 2> err.txt; then exit 91; else echo "code $?"; fi
        cat err.txt
        umount m/mounted
        rmdir m/mounted
        mount -o remount,ro m
        for args in "--out m/out" "--out m/other" "--report m/page.html"; do
            if "$0" compare long.toml $args 2> err.txt; then exit 90; else echo "code $?"; fi
            cat err.txt
        done
        ls -A m m/out
    "#;
    let Some(output) = script_with_mounts(desk.path(), text) else { return };
    let printed = checked(output);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "code 2", "{printed}");
    assert!(lines[1].starts_with("error: m/mounted: is a file system of its own and cannot be replaced"), "{printed}");
    for (at, name) in [(2, "m/out"), (4, "m/other"), (6, "m/page.html")] {
        assert_eq!(lines[at], "code 1", "{printed}");
        let wanted = format!("error: {name}: cannot be written: Read-only file system");
        assert!(lines[at + 1].starts_with(&wanted), "{printed}");
    }
    assert!(
        printed.ends_with(
            "m:\nout\n\nm/out:\nfcfs\nflashlane-files.json\nmade-by.json\nread-first\nsummary.csv\nsummary.json\n"
        ),
        "{printed}"
    );
}

/// With a limit of some kilobytes on file sizes, the run ends with an error, not killed by SIGXFSZ.
#[test]
fn a_limit_of_file_sizes_leaves_the_earlier_results() {
    let desk = desk();
    let desk = desk.path();
    good(desk, &["compare", "tiny.toml", "--out", "out"]);
    // The rows and the timeline of 50,000 requests are beyond both limits; those of three million would take half a minute.
    std::fs::write(desk.join("long.toml"), LONG.replace("duration_s = 300.0", "duration_s = 5.0")).unwrap();
    std::fs::write(desk.join("web.csv"), "0 0 0 8 1\n".repeat(100_000)).unwrap();
    let replayed = "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nblocks_per_plane = 64\npages_per_block = 16\n\
                    [device.ftl]\nover_provisioning_percent = 40.0\n[device.precondition]\nstate = \"replayed\"\n\
                    [[flow]]\n[flow.synthetic]\nrate_iops = 1000\nrequests = 10\n";
    std::fs::write(desk.join("replayed.toml"), replayed).unwrap();
    let before = files(desk);
    let commands = [
        "compare long.toml --out out --csv",
        "compare long.toml --out out",
        "compare long.toml --out out --csv --transactions --jobs 1",
        "compare long.toml --out out --csv --transactions --jobs 4",
        "run long.toml --timeline drawn.json --jobs 1",
        "run long.toml --timeline drawn.json --jobs 2",
        "compare tiny.toml --report page.html",
        "compare tiny.toml --out out --report out/page.html",
        "trace convert web.csv web.msr --to msr",
        "run replayed.toml --state drive.state",
    ];
    for limit in ["0", "16"] {
        for command in commands {
            let output = script(desk, &format!("ulimit -f {limit}; exec \"$0\" {command}"));
            let printed = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{limit}, {command}: {printed}");
            assert!(
                printed.starts_with("error: ") && printed.contains("File too large"),
                "{limit}, {command}: {printed}"
            );
            assert_eq!(files(desk), before, "{limit}, {command}");
        }
    }
}
