//! Files of the user are not changed: in results folders, as reports, as inputs.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

const OUT: [&str; 4] = ["compare", "tiny.toml", "--out", "out"];
const WHOLE: [&str; 5] =
    ["fcfs/requests.parquet", "flashlane-files.json", "made-by.json", "read-first/requests.parquet", "summary.json"];

fn keys(folder: &Path) -> Vec<String> {
    files(folder).into_keys().collect()
}

#[test]
fn a_folder_with_a_summary_and_a_thesis_keeps_both() {
    let desk = desk();
    let desk = desk.path();
    fs::create_dir_all(desk.join("work/src")).unwrap();
    fs::write(desk.join("work/summary.json"), "{}").unwrap();
    fs::write(desk.join("work/src/main.rs"), "mine").unwrap();
    let message = refused(desk, &["compare", "tiny.toml", "--out", "work"]);
    assert!(
        message.starts_with("error: work: holds a summary.json and no flashlane-files.json: results of "),
        "{message}"
    );
    assert!(message.contains("move the folder away, or name another one"), "{message}");
    fs::write(desk.join("summary.json"), "{}").unwrap();
    for here in [".", "..", "work/..", desk.to_str().unwrap(), "/"] {
        let message = refused(desk, &["compare", "tiny.toml", "--out", here]);
        assert!(message.contains("is the working directory or lies above it") || here == "/", "{here}: {message}");
    }
}

#[test]
fn a_note_in_a_results_folder_keeps_it_from_being_replaced() {
    let desk = desk();
    let desk = desk.path();
    good(desk, &OUT);
    good(desk, &OUT);
    assert_eq!(keys(&desk.join("out")), WHOLE);
    fs::write(desk.join("out/notes.md"), "mine").unwrap();
    let wanted = "error: out: holds what flashlane did not write there: notes.md; nothing is replaced: move that away, or \
                  name another folder\n";
    assert_eq!(refused(desk, &OUT), wanted);
    // Nor does it come to be a store of runs.
    let message = refused(desk, &["paper", "slacker", "--quick", "--experiment", "E17", "--out", "out"]);
    assert!(
        message.starts_with("error: out: holds fcfs and no store.json, so it is no store of runs; name another"),
        "{message}"
    );
    // `--force` does not apply here: it is about a single file.
    assert!(refused(desk, &[&OUT[..], &["--force"]].concat()).contains("--report"));
    assert_eq!(refused(desk, &[&OUT[..], &["--force", "--report", "out/r.html"]].concat()), wanted);
    fs::rename(desk.join("out/notes.md"), desk.join("notes.md")).unwrap();
    good(desk, &OUT);
    assert_eq!(keys(&desk.join("out")), WHOLE);
    // Other results replace the folder as a whole.
    good(desk, &["run", "tiny.toml", "--out", "out", "--csv", "--transactions"]);
    assert_eq!(
        keys(&desk.join("out")),
        ["flashlane-files.json", "made-by.json", "requests.csv", "summary.csv", "summary.json", "transactions.csv"]
    );
    assert_eq!(names(desk), ["long.toml", "notes.md", "out", "thesis.tex", "tiny.toml"]);
}

/// With the options of `make demo`.
#[test]
fn a_report_in_the_results_folder_is_one_of_its_files() {
    let desk = desk();
    let desk = desk.path();
    for report in ["out/report.html", "./out/report.html", "out/pages/report.html"] {
        good(desk, &[&OUT[..], &["--report", report]].concat());
        let file = report.trim_start_matches("./").strip_prefix("out/").unwrap();
        let mut whole: Vec<&str> = WHOLE.to_vec();
        whole.push(file);
        whole.sort_unstable();
        assert_eq!(keys(&desk.join("out")), whole);
        let list = fs::read_to_string(desk.join("out/flashlane-files.json")).unwrap();
        assert!(list.contains(file), "{list}");
        assert!(fs::read_to_string(desk.join("out").join(file)).unwrap().starts_with("<!doctype html>"));
    }
    good(desk, &OUT);
    assert_eq!(keys(&desk.join("out")), WHOLE, "the report went with the results it was about");
    for (name, says) in [
        ("out/summary.json", "would be written twice"),
        ("out/flashlane-files.json", "would be written twice"),
        ("out/requests.parquet", "is the name of a row file"),
        ("out/fcfs/requests.parquet", "is the name of a row file"),
        ("out", "is the results folder itself"),
    ] {
        let message = refused(desk, &[&OUT[..], &["--report", name]].concat());
        assert!(message.contains(says), "{name}: {message}");
    }
}

/// It was a file called `-`, and the message about it went to standard output.
#[test]
fn a_trace_is_converted_to_standard_output() {
    let desk = desk();
    let desk = desk.path();
    fs::write(desk.join("web.csv"), "0 0 0 8 1\n1000000 0 8 8 0\n").unwrap();
    good(desk, &["trace", "convert", "web.csv", "web.msr", "--to", "msr"]);
    let output = flashlane(desk, &["trace", "convert", "web.csv", "-", "--to", "msr"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == fs::read(desk.join("web.msr")).unwrap(), "{message}");
    assert!(message.starts_with("standard output: 2 requests written as msr"), "{message}");
    assert!(!desk.join("-").exists());
    let full = faults::script(desk, "\"$0\" trace convert web.csv - --to msr > /dev/full");
    assert_eq!(full.status.code(), Some(1), "{}", String::from_utf8_lossy(&full.stderr));
}

/// The second of two outputs with one place replaced the first, or was refused after the runs.
#[test]
fn outputs_with_one_place_are_refused_before_the_runs() {
    let desk = desk();
    let desk = desk.path();
    symlink("x", desk.join("link")).unwrap();
    fs::create_dir(desk.join("folder")).unwrap();
    fs::write(desk.join("folder/x"), "").unwrap();
    symlink("folder/x", desk.join("far")).unwrap();
    let before = files(desk);
    for (args, says) in [
        ("--state x --report x", "--report x: is the place of --state too"),
        ("--state x --report ./x", "--report ./x: is the place of --state too"),
        ("--state x --report folder/../x", "is the place of --state too"),
        ("--state folder/x --report far --force", "--report far: is the place of --state too"),
        ("--schedulers fcfs --timeline x --report x", "--report x: is the place of --timeline too"),
        ("--schedulers fcfs --state x --timeline x", "--state x: is the place of --timeline too"),
        ("--schedulers fcfs,flin --timeline x --state x-flin", "--state x-flin: is the place of --timeline too"),
        ("--schedulers fcfs --timeline x --report x --force", "--report x: is the place of --timeline too"),
        ("--out q --state q", "--state q: is in the results folder"),
        ("--out q --state q/x", "--state q/x: is in the results folder"),
        ("--out q --timeline q/x.perfetto", "is in the results folder"),
    ] {
        // So long a run that a test which waits for it fails.
        let words: Vec<&str> = args.split(' ').collect();
        let message = refused(desk, &[&["compare", "long.toml"], &words[..]].concat());
        assert!(message.contains(says), "{args}: {message}");
        assert!(files(desk) == before, "{args}");
    }
    good(desk, &["compare", "tiny.toml", "--out", "q", "--report", "q/x.html", "--timeline", "x"]);
}

#[test]
fn a_report_replaces_reports_only() {
    let desk = desk();
    let desk = desk.path();
    let report = ["compare", "tiny.toml", "--report", "page.html"];
    good(desk, &report);
    good(desk, &report);
    fs::write(desk.join("page.html"), "<!doctype html><html>mine</html>").unwrap();
    let message = refused(desk, &report);
    assert!(message.starts_with("error: page.html: exists and is no report of flashlane"), "{message}");
    good(desk, &[&report[..], &["--force"]].concat());
    good(desk, &report);
    let message = refused(desk, &["compare", "tiny.toml", "--report", "none/page.html"]);
    assert!(message.contains("must be a file in a folder that exists"), "{message}");
    symlink("page.html", desk.join("latest.html")).unwrap();
    good(desk, &["compare", "tiny.toml", "--report", "latest.html"]);
    assert!(desk.join("latest.html").is_symlink());
    assert!(refused(desk, &["compare", "tiny.toml", "--report", "/dev/null"]).contains("no regular file"));
    assert_eq!(names(desk), ["latest.html", "long.toml", "page.html", "thesis.tex", "tiny.toml"]);
}

#[test]
fn no_output_is_an_input() {
    let desk = desk();
    let desk = desk.path();
    fs::write(desk.join("web.csv"), "0 0 0 8 1\n").unwrap();
    fs::hard_link(desk.join("web.csv"), desk.join("hard.csv")).unwrap();
    symlink("web.csv", desk.join("soft.csv")).unwrap();
    for name in ["web.csv", "hard.csv", "soft.csv", "./web.csv"] {
        let message = refused(desk, &["compare", "--trace", "web.csv", "--report", name, "--force"]);
        assert!(message.contains("is the trace web.csv, which is read"), "{message}");
        let message = refused(desk, &["trace", "convert", "web.csv", name, "--to", "msr", "--force"]);
        assert!(message.contains("is the trace web.csv, which is read"), "{message}");
    }
    let message = refused(desk, &["compare", "tiny.toml", "--report", "tiny.toml", "--force"]);
    assert!(message.starts_with("error: tiny.toml: is the scenario tiny.toml, which is read"), "{message}");
    // Rows of an earlier run, read as a trace, directly and through a hard link.
    good(desk, &["run", "--trace", "web.csv", "--scheduler", "fcfs", "--out", "out", "--csv"]);
    fs::write(desk.join("out/requests.csv"), "0 0 0 8 1\n").unwrap();
    fs::hard_link(desk.join("out/requests.csv"), desk.join("rows.csv")).unwrap();
    for trace in ["out/requests.csv", "rows.csv"] {
        let message = refused(desk, &["compare", "--trace", trace, "--out", "out"]);
        assert!(message.starts_with(&format!("error: out: holds the trace {trace}, which is read")), "{message}");
    }
    fs::create_dir(desk.join("traces")).unwrap();
    let paper = ["paper", "slacker", "--quick", "--experiment", "E17", "--traces", "traces", "--out"];
    assert!(refused(desk, &[&paper[..], &["traces"]].concat()).contains("holds the folder of traces traces"));
}

#[test]
fn a_converted_trace_replaces_nothing_unless_forced() {
    let desk = desk();
    let desk = desk.path();
    fs::write(desk.join("web.csv"), "0 0 0 8 1\n").unwrap();
    let convert = ["trace", "convert", "web.csv", "web.msr", "--to", "msr"];
    good(desk, &convert);
    let message = refused(desk, &convert);
    assert!(
        message.starts_with("error: web.msr: exists already and is left as it is; give another name, or --force"),
        "{message}"
    );
    good(desk, &[&convert[..], &["--force"]].concat());
    assert!(
        refused(desk, &["trace", "convert", "web.csv", "out/web.msr", "--to", "msr"]).contains("cannot be written")
    );
    assert_eq!(names(desk), ["long.toml", "thesis.tex", "tiny.toml", "web.csv", "web.msr"]);
}

#[test]
fn a_link_to_a_results_folder_stays_a_link() {
    let desk = desk();
    let desk = desk.path();
    fs::create_dir_all(desk.join("disk/one")).unwrap();
    symlink("disk/one", desk.join("out")).unwrap();
    good(desk, &[&OUT[..], &["--report", "out/report.html"]].concat());
    good(desk, &OUT);
    assert_eq!(fs::read_link(desk.join("out")).unwrap(), Path::new("disk/one"));
    assert_eq!(keys(&desk.join("disk/one")), WHOLE);
    assert_eq!(names(&desk.join("disk")), ["one"]);
}

#[test]
fn a_run_that_fails_leaves_what_was_there() {
    let desk = desk();
    let desk = desk.path();
    good(desk, &OUT);
    let mut text = "0 0 0 8 1\n".repeat(5_000);
    text.push_str("broken\n");
    fs::write(desk.join("bad.csv"), text).unwrap();
    let args = ["compare", "--trace", "bad.csv", "--trace-format", "mqsim", "--out", "out", "--report", "page.html"];
    assert!(refused(desk, &args).contains("bad.csv:5001"));
}

#[test]
fn two_runs_at_once_do_not_mix() {
    let desk = desk();
    let desk = desk.path();
    let args = |seed: &'static str| [&OUT[..], &["--report", "out/report.html", "--seed", seed]].concat();
    let mut wholes = Vec::new();
    for seed in ["1", "2"] {
        good(desk, &args(seed));
        wholes.push(files(&desk.join("out")));
    }
    assert_ne!(wholes[0], wholes[1]);
    for _ in 0..10 {
        let children = ["1", "2"].map(|seed| {
            program(desk, &args(seed)).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()
        });
        for child in children {
            assert!(child.unwrap().wait().unwrap().success());
        }
        assert!(wholes.contains(&files(&desk.join("out"))));
    }
    let mut left = names(desk);
    left.retain(|name| name != "out");
    assert_eq!(left, DESK);
}
