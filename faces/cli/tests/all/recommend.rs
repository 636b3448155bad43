//! `flashlane recommend` as a user runs it: the same answer however its runs are made, and clear refusals.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::sweep::{SCENARIO, count, good, refused, spawn, there};

/// A folder with `s.toml`: the small scenario with `reads` and `writes` requests.
fn desk(reads: u64, writes: u64) -> TempDir {
    let desk = tempfile::tempdir().expect("a folder");
    let text = SCENARIO.replace("requests = 200", &format!("requests = {reads}"));
    let text = text.replace("requests = 100", &format!("requests = {writes}"));
    assert!(text.contains(&format!("= {reads}\n")) && text.contains(&format!("= {writes}")), "{text}");
    fs::write(desk.path().join("s.toml"), text).expect("written");
    desk
}

/// A trace of so many requests, reads and writes of 8 KiB.
fn trace(desk: &Path, requests: u64) {
    let line = |i: u64| {
        let op = if i.is_multiple_of(3) { "write" } else { "read" };
        format!("{},{op},{},8192\n", i * 40 + i * i % 37, i * 7919 % 1000 * 8192)
    };
    let lines: String = (0..requests).map(line).collect();
    fs::write(desk.join("t.csv"), format!("time_us,op,offset,length\n{lines}")).expect("written");
}

#[test]
fn the_answer_is_the_same_however_it_is_made() {
    let desk = desk(2_000, 800);
    let desk = desk.path();
    let answer = good(desk, &["recommend", "s.toml"]);
    for part in [
        "s on flin-isca18 with ",
        ": 2,800 requests\n",
        " runs of 64 schedulers and mixes, chosen by their mean response time on seed 1, judged on seeds 2 to 4\n",
        "What has to be kept: p99 of every flow at most +5 % against fcfs, write amplification at most +5 % against fcfs\n",
        "\n    schedulers = [\"fcfs\", ",
        "  reader reads  ",
        "  writer writes  ",
        "Ceiling, of the mean response time of all requests on seed 2\n  fcfs: ",
        // The drive has no buffer, and these ask what it holds.
        "Not run: ncq-sb: s.toml: device.buffer.pages = 0: must be at least 1",
    ] {
        assert!(answer.contains(part), "{part}\n{answer}");
    }
    let runs: usize = answer
        .split(" runs of")
        .next()
        .and_then(|text| text.rsplit('\n').next())
        .expect("a count")
        .parse()
        .expect("a number");
    assert!((80..=130).contains(&runs), "{runs}");
    assert!(good(desk, &["recommend", "s.toml", "--jobs", "1"]) == answer);
    assert!(good(desk, &["recommend", "s.toml", "--jobs", "2", "--audit"]) == answer);
    assert_eq!(count(desk), 1, "nothing is left over");
    assert!(good(desk, &["recommend", "s.toml", "--out", "store", "--jobs", "2"]) == answer);
    assert_eq!(there(desk, "store"), runs);
    assert!(good(desk, &["recommend", "s.toml", "--out", "store", "--jobs", "1"]) == answer, "read from the store");
    assert_eq!((there(desk, "store"), count(&desk.join("store/unfinished"))), (runs, 0));
}

/// What it says to take can be pasted, and has the figures that it says.
#[test]
fn what_it_says_can_be_run() {
    let desk = desk(2_000, 800);
    let desk = desk.path();
    let answer = good(desk, &["recommend", "s.toml"]);
    let lines = answer.lines().find_map(|line| line.strip_prefix("    schedulers = ")).expect("lines");
    let table = good(desk, &["compare", "s.toml", "--set", &format!("schedulers={lines}"), "--seed", "2", "--ceiling"]);
    let json: serde_json::Value = serde_json::from_str(&good(desk, &["recommend", "s.toml", "--json"])).expect("JSON");
    assert_eq!(json["line"], format!("schedulers = {lines}"));
    // The ceiling is that of one seed, so that its gap is a figure of this very run.
    let gap = answer.split("on seed 2\n  fcfs: ").nth(1).and_then(|text| text.lines().next()).expect("a gap");
    assert!(table.contains(&format!("fcfs: {gap}\n")), "{gap}\n{table}");
}

#[test]
fn the_page_is_the_same_each_time_and_replaces_no_other_file() {
    let desk = desk(2_000, 800);
    let desk = desk.path();
    let args = ["recommend", "s.toml", "--report", "page.html"];
    let answer = good(desk, &args);
    let page = fs::read_to_string(desk.join("page.html")).expect("a page");
    let advice = answer.lines().find(|line| line.starts_with("Take ") || line.starts_with("Keep ")).expect("advice");
    assert!(
        page.contains(&format!("<p>{advice}</p>")) && page.contains("flashlane recommend s.toml --report page.html")
    );
    assert_eq!(page.matches(" of 3</td>").count(), 64, "all that was tried");
    assert!(good(desk, &args) == answer && fs::read_to_string(desk.join("page.html")).expect("a page") == page);
    fs::write(desk.join("page.html"), "mine").expect("written");
    assert!(refused(desk, &args).contains("page.html: exists and is no report of flashlane"));
    assert_eq!(fs::read(desk.join("page.html")).expect("there"), b"mine");
    good(desk, &[&args[..], &["--force"]].concat());
    assert!(refused(desk, &["recommend", "s.toml", "--report", "none/page.html"]).contains("in a folder that exists"));
}

#[test]
fn a_recommendation_that_was_stopped_goes_on_where_it_stopped() {
    let desk = desk(6_000, 2_000);
    let desk = desk.path();
    let answer = good(desk, &["recommend", "s.toml"]);
    let child = spawn(desk, &["recommend", "s.toml", "--out", "store", "--jobs", "1"]);
    let begun = Instant::now();
    while there(desk, "store") < 5 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no run was made");
        std::thread::sleep(Duration::from_millis(2));
    }
    // Jobs in the background, and what they start, ignore SIGINT.
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(143), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty());
    assert_eq!(count(&desk.join("store/unfinished")), 0, "unfinished runs are removed");
    let before = there(desk, "store");
    assert!((5..90).contains(&before), "{before}");
    let killed = |desk: &Path| {
        let mut child = spawn(desk, &["recommend", "s.toml", "--out", "store"]);
        std::thread::sleep(Duration::from_millis(150));
        child.kill().expect("killed");
        child.wait().expect("ended");
    };
    killed(desk);
    assert!(there(desk, "store") >= before);
    assert!(good(desk, &["recommend", "s.toml", "--out", "store"]) == answer);
}

#[test]
fn traces_are_chosen_on_their_first_half_and_judged_on_the_second() {
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    trace(desk, 2_400);
    let args = ["recommend", "--trace", "t.csv", "--device", "flin-isca18"];
    let answer = good(desk, &args);
    assert!(
        answer.contains("on the first half, judged on the second half, on the drive as the first half left it\n"),
        "{answer}"
    );
    assert!(answer.contains("of all requests on the second half\n"), "{answer}");
    // Judged are the requests after the first half, each of which ran before them.
    let gap = answer.split("on the second half\n  fcfs: ").nth(1).and_then(|text| text.lines().next()).expect("a gap");
    let second = ["--set", "run.warm_up_requests=1200", "--schedulers", "fcfs", "--ceiling"];
    let table = good(desk, &[&["compare"], &args[1..], &second].concat());
    assert!(table.contains(&format!("fcfs: {gap}\n")), "{gap}\n{table}");
}

#[test]
fn with_too_few_requests_the_default_is_recommended() {
    let desk = desk(1_500, 499);
    let desk = desk.path();
    let answer = good(desk, &["recommend", "s.toml", "--out", "store"]);
    let wanted = ": 1,999 requests\nNothing was chosen: a choice needs at least 2,000.\n\n\
                  Take the default, late:\n\n    scheduler = \"late\"\n";
    assert!(answer.starts_with("s on flin-isca18 with ") && answer.contains(wanted), "{answer}");
    assert_eq!(there(desk, "store"), 0, "without a run");
    trace(desk, 1_999);
    assert!(good(desk, &["recommend", "--trace", "t.csv"]).contains("1,999 requests\nNothing was chosen"));
}

#[test]
fn limits_decide_what_is_taken() {
    let desk = desk(2_000, 800);
    let desk = desk.path();
    let all = ["--p99", "none", "--write-amplification", "none"];
    let free = good(desk, &[&["recommend", "s.toml"][..], &all].concat());
    assert!(free.contains("What has to be kept: nothing\n") && !free.contains("What breaks a limit"), "{free}");
    let strict = good(desk, &["recommend", "s.toml", "--p99", "1us"]);
    assert!(strict.contains("p99 of every flow at most 1.000 µs, write"), "{strict}");
    assert!(strict.contains("Nothing that was tried keeps what has to be kept"), "{strict}");
    assert!(strict.contains("What breaks a limit\n  fcfs: p99 of reader is "), "{strict}");
    let fair = good(desk, &["recommend", "s.toml", "--fairness", "-20%", "--p99", "-1%"]);
    assert!(
        fair.contains("fairness at least -20 % against fcfs\n") && fair.contains("most -1 % against fcfs"),
        "{fair}"
    );
}

#[test]
fn wrong_arguments_are_refused_with_what_is_legal() {
    let desk = desk(2_000, 800);
    let desk = desk.path();
    let own = "schedulers = [\"fcfs\", \"read-first\"]";
    let text = fs::read_to_string(desk.join("s.toml")).expect("there");
    fs::write(desk.join("bad.toml"), text.replace(own, "schedulers = [\"fcfs\", \"fcsf\"]")).expect("written");
    let cases: [(&[&str], &str); 11] = [
        (&["recommend"], "SCENARIO.toml"),
        (&["recommend", "s.toml", "--p99", "5%"], "must be a time such as 2ms or 800us, a change such as +5%, or none"),
        (&["recommend", "s.toml", "--p99", "2"], "must be a time such as 2ms"),
        (&["recommend", "s.toml", "--write-amplification", "0.5"], "must be a value from 1 on"),
        (&["recommend", "s.toml", "--fairness", "2"], "must be a value from 0 to 1"),
        (&["recommend", "s.toml", "--fairness", "0.5", "--no-alone"], "legal here is none"),
        (&["recommend", "s.toml", "--jobs", "0"], "1..=1024"),
        (&["recommend", "none.toml"], "none.toml"),
        (&["recommend", "bad.toml"], "did you mean \"fcfs\"?"),
        (&["recommend", "s.toml", "--limit", "5"], "--limit: no flow replays a trace"),
        (&["recommend", "s.toml", "--out", "."], "holds"),
    ];
    for (args, says) in cases {
        let message = refused(desk, args);
        assert!(message.contains(says), "{args:?}: {message}");
        assert_eq!(count(desk), 2, "nothing was written: {message}");
    }
}
