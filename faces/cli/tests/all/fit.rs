//! `flashlane fit` as a user runs it: the jobs, a device with its table, and refusals that write nothing.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{flashlane, folder, program, text, write};

/// Reads of a drive by depth, as a table.
const TABLE: &str = "rw,bs,depth,iops,mean_us,p50_us,p90_us,p99_us\n\
                     randread,4k,1,16583,59.8,56.1,68.1,69.1\nrandread,4k,2,32927,60.2,56.1,68.1,74.2\n\
                     randread,4k,8,125351,63.3,57.6,71.2,111\nrandread,4k,128,735639,174,134,334,602\n";

#[test]
fn jobs_are_printed_and_bad_results_refused_without_a_file() {
    let folder = folder();
    let jobs = flashlane(folder.path(), &["fit", "--jobs", "--size", "64G", "--engine", "libaio"]);
    let printed = text(&jobs.stdout);
    assert!(printed.contains("\nsize=68719476736\n") && printed.contains("\n[span-16g]\n"), "{printed}");
    let writes = flashlane(folder.path(), &["fit", "--write-jobs", "--size", "960G"]);
    let printed = text(&writes.stdout);
    assert!(printed.starts_with("# THESE JOBS DESTROY ALL DATA") && printed.contains("[burst-128g]\n"), "{printed}");
    write(&folder, "half.json", "{\"jobs\": [{\"jobname\": \"a\"");
    write(&folder, "memory.csv", &TABLE.replace("56.1", "6.1"));
    let limited = TABLE.replace("125351,63.3", "20000,400").replace("735639,174", "20000,6400");
    write(&folder, "virtual.csv", &limited);
    write(&folder, "drive.csv", TABLE);
    write(&folder, "writes.csv", "rw,bs,depth,iops,mean_us\nrandwrite,4k,1,50000,19\n");
    write(&folder, "there.toml", "mine");
    let files = || fs::read_dir(folder.path()).expect("a folder").count();
    let before = files();
    for (args, says) in [
        (&["fit", "half.json", "-o", "d.toml"][..], "error: half.json: ends in the middle of its JSON"),
        (&["fit", "none.json", "-o", "d.toml"], "error: none.json: "),
        (&["fit", "memory.csv", "-o", "d.toml"], "error: no device is fitted: memory.csv:2: reads take 6.1 us"),
        (&["fit", "virtual.csv", "-o", "d.toml"], "are 1.2 times those at depth 1"),
        (&["fit", "drive.csv", "-o", "drive.csv"], "error: drive.csv: "),
        (&["fit", "drive.csv", "-o", "there.toml"], "error: there.toml: exists; --force overwrites it"),
        (&["fit", "memory.csv", "--report", "p.html"], "error: no device is fitted: memory.csv:2: "),
        (&["fit", "drive.csv", "-o", "d.toml", "--report", "drive.csv"], "error: drive.csv: is results drive.csv"),
        (&["fit", "drive.csv", "-o", "d.toml", "--report", "there.toml"], "exists and is no report of flashlane"),
        (&["fit", "drive.csv", "-o", "d.toml", "--report", "no/p.html"], "must be a file in a folder that exists"),
        (&["fit", "drive.csv", "-o", "d.toml", "--report", "./d.toml"], "is the place of -o d.toml too"),
        (&["fit", "drive.csv", "--force"], "--out <DEVICE.toml>|--report <FILE.html>"),
        (&["fit", "drive.csv", "-o", "none/d.toml"], "error: none/d.toml: "),
        (&["fit", "drive.csv", "--smart", "half.json,there.toml"], "error: half.json: is no JSON ("),
        (
            &["fit", "drive.csv", "--time-scale", "20"],
            "memory answered (a file in the page cache, tmpfs, a part of the drive that never was written) (times are divided by --time-scale 20)",
        ),
        (&["fit", "--jobs", "-o", "d.toml"], "the argument '--out <DEVICE.toml>' cannot be used with"),
        (&["fit", "--probe", "s.toml", "--time-scale", "2"], "cannot be used with"),
        (
            &["fit", "drive.csv", "writes.csv", "--time-scale", "20"],
            "--time-scale: writes.csv: job writes.csv:2 writes",
        ),
        (&["fit", "drive.csv", "--smart", "half.json"], "error: --smart: 1 files; expected BEFORE.json,AFTER.json"),
        (&["fit", "drive.csv", "--preset", "modern-tcl"], "error: --preset modern-tcl: no such device; there are "),
    ] {
        let output = flashlane(folder.path(), args);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(says), "{printed}");
        assert_eq!(files(), before, "nothing is written: {args:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("there.toml")).expect("text"), "mine");
    assert_eq!(fs::read_to_string(folder.path().join("drive.csv")).expect("text"), TABLE);
}

#[test]
#[ignore = "nightly: 65 s of CPU; the pages themselves are tested by day in lab/fit"]
fn a_page_is_written_with_or_without_a_device() {
    let folder = folder();
    let fit = |table: &str, args: &[&str]| {
        write(&folder, "a <i>.csv", table);
        let begin = ["fit", "a <i>.csv", "--preset", "samsung-980-pro-1tb", "--report", "fit.html"];
        let output = flashlane(folder.path(), &[&begin[..], args].concat());
        let page = fs::read_to_string(folder.path().join("fit.html")).expect("a page");
        (output, page)
    };
    let table: String = TABLE.lines().take(4).enumerate().fold(String::new(), |table, (place, line)| {
        let name = if place == 0 { "name".into() } else { format!("<b>{place}\u{1b}[2J") };
        table + &format!("{name},{line}\n")
    });
    let (output, page) = fit(&table, &["-o", "d.toml"]);
    let printed = text(&output.stdout);
    assert!(output.status.success() && printed.contains("report: fit.html\ndevice: d.toml\n"), "{printed}");
    assert!(!page.contains('\u{1b}') && !page.contains("<i>"), "names are text");
    for part in ["A device fitted to a &lt;i&gt;.csv</h1>", ">&lt;b&gt;2\\u{1b}[2J</th>", ">nand.read_ns</th>"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // A job that takes twice as long when it is run again; the page is one of ours, so that it is replaced.
    let again = table.clone() + "again,randread,4k,1,8291,119.6,112.2,136.2,138.2\n";
    let (output, page) = fit(&again, &["-o", "none.toml"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no device is written: a job that was run again differs by 100 %"), "{said}");
    assert!(page.contains("No device fits a &lt;i&gt;.csv</h1>") && page.contains("differs by 100 %"), "{page}");
    assert!(!folder.path().join("none.toml").exists());
}

/// The outputs were begun before the fit, so that hidden files were left.
#[test]
fn a_fit_that_is_killed_leaves_nothing() {
    let folder = folder();
    write(&folder, "drive.csv", TABLE);
    let mut fit = program(&folder);
    fit.args(["fit", "drive.csv", "-o", "d.toml", "--report", "p.html", "--threads", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = fit.spawn().expect("it runs");
    sleep(Duration::from_secs(1));
    child.kill().expect("killed");
    assert_eq!(child.wait().expect("ended").code(), None, "it ended before it was killed");
    let there: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("one").file_name()).collect();
    assert_eq!(there, ["drive.csv"]);
}

/// The scenario is of the file that `--device` names, with what `--set` says over that, and that it is another device is said.
#[test]
fn a_probe_takes_another_device_and_other_values() {
    let folder = folder();
    write(
        &folder,
        "s.toml",
        "device = { preset = \"modern-tlc\", gc.start_percent = 9 }\n[[flow]]\ntrace = \"t.csv\"\n",
    );
    write(&folder, "d.toml", "[device]\npreset = \"unit-cycle\"\n");
    let refused = |args: &[&str]| {
        let output = flashlane(folder.path(), &[&["fit"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        text(&output.stderr)
    };
    let message = refused(&["--probe", "s.toml", "--device", "d.toml", "--set", "device.geometry.channels=0"]);
    let says =
        "--device: d.toml replaces the scenario's own device: left out is device.gc.start_percent\nerror: --set: ";
    assert!(message.starts_with(says) && message.contains("geometry.channels"), "{message}");
    let message = refused(&["--probe", "s.toml", "--device", "none"]);
    assert!(
        message.contains("--device") && message.contains("none") && message.contains("no such device"),
        "{message}"
    );
    for (args, says) in [
        (&["--jobs", "--device", "d.toml"][..], "cannot be used with"),
        (&["drive.csv", "--set", "seed=2"], "cannot be used with"),
        (&["--write-jobs", "--set", "seed=2"], "--probe <SCENARIO.toml>"),
    ] {
        let message = refused(args);
        assert!(message.contains(says), "{message}");
    }
}
