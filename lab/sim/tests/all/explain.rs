//! Explanations of single requests: the parts of every wait add up, and a hand-worked scene is told as it is.

use crate::common::busy::busy;
use flashlane_report::results::explain::{self, Wait};
use flashlane_scenario::Scenario;
use flashlane_sim::{Deciders, Histories, histories, slowest};

fn scenario(scheduler: &str, text: &str) -> Scenario {
    Scenario::parse("explain", format!("scheduler = \"{scheduler}\"\n{text}")).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn the_parts_of_a_wait_add_up_under_every_kind_of_scheduler() {
    for scheduler in ["fcfs", "read-first", "sprinkler", "slacker", "flin", "sos", "dynalloc"] {
        let scenario = busy(scheduler, 0.3);
        let all: Vec<u64> = (0..860).collect();
        let Histories { found, requests, .. } = histories(&scenario, &all).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(requests, found.len() as u64);
        assert_eq!(found.len(), 860, "{scheduler}");
        let (mut waited, mut collected) = (0, 0);
        for history in &found {
            assert!(history.arrival_ns <= history.admitted_ns && Some(history.admitted_ns) <= history.done_ns);
            for step in &history.transactions {
                let Some(begun) = step.begun_ns else { continue };
                let parts: u64 = step.waits.values().map(|account| account.ns).sum();
                assert_eq!(parts, begun - step.queued_ns, "{scheduler}, request {}: {step:?}", history.request);
                assert!(begun <= step.ended_ns && Some(step.ended_ns) <= history.done_ns);
                waited += parts;
                let gc = |wait: &Wait| matches!(wait, Wait::InService(w) | Wait::Older(w) | Wait::Younger(w) if w.flow.is_none());
                collected += step.waits.iter().filter(|(wait, _)| gc(wait)).map(|(_, account)| account.ns).sum::<u64>();
            }
        }
        // Writes that get their chip only when they begin wait for none that collects.
        assert!(waited > 0 && (collected > 0 || scheduler == "dynalloc"), "{scheduler}: {waited} {collected}");
    }
}

#[test]
fn the_slowest_requests_are_those_of_the_rows() {
    let scenario = busy("fcfs", 0.3);
    let all: Vec<u64> = (0..860).collect();
    let found = histories(&scenario, &all).expect("a run").found;
    let mut by_time: Vec<(u64, u64)> =
        found.iter().map(|history| (history.done_ns.unwrap() - history.arrival_ns, history.request)).collect();
    by_time.sort_by_key(|&(time, request)| (std::cmp::Reverse(time), request));
    let expected: Vec<u64> = by_time.into_iter().take(5).map(|(_, request)| request).collect();
    assert_eq!(slowest(&scenario, 5).expect("a run"), expected);
}

/// A read of 1 cycle comes to a chip that programs for 4 cycles and has an older read waiting: it waits 3 cycles for the program and
/// one for the read, or with suspension only for the read.
#[test]
fn a_scene_is_told_as_it_is() {
    let scene = r#"
[device]
preset = "unit-cycle"
[device.geometry]
channels = 1
[[flow]]
name = "scene"
request = [
    { at_ns = 0, op = "write", pages = [1] },
    { at_ns = 1000, op = "read", pages = [2] },
    { at_ns = 1000, op = "read", pages = [3] },
]
"#;
    let flows = ["scene".to_owned()];
    let fcfs = scenario("fcfs", scene);
    let history = histories(&fcfs, &[2]).expect("a run").found.remove(0);
    let told = explain::history(&history, "fcfs", Deciders::of(&fcfs).expect("decisions").at(0).1, &flows);
    let expected = "\
Request 2 of scene under fcfs: read of 1 page, arrived at 1.000 µs, done after 5.000 µs
  read of page 3 on die 0.0.0
    waited 4.000 µs:
       3.000 µs  1 program of scene in service when it came
       1.000 µs  1 read of scene that had come before it
    then served in 1.000 µs
";
    assert_eq!(told, expected);
    let suspend = scenario("read-first-suspend", scene);
    let other = histories(&suspend, &[2]).expect("a run").found.remove(0);
    let told = explain::difference((&history, "fcfs"), (&other, "read-first-suspend"), &flows);
    let expected = "\
Under read-first-suspend it took -3.000 µs (2.000 µs against 5.000 µs):
   -3.000 µs  waiting for what was in service, of scene
";
    assert_eq!(told, expected);
}

/// A flush waits 1,324.601 us for the program of the only dirty page; the write with FUA behind it for its own.
#[test]
fn waiting_for_programs_is_told() {
    let scene = r#"
[device]
preset = "flin-isca18"
buffer = { pages = 8, flush_above = 8 }
precondition = { state = "fresh" }
[device.geometry]
channels = 1
chips_per_channel = 1
planes_per_die = 1
blocks_per_plane = 64
[device.ftl]
over_provisioning_percent = 50
[[flow]]
name = "scene"
request = [
    { at_ns = 0, op = "write", pages = [1] },
    { at_ns = 5000, op = "flush" },
    { at_ns = 6000, op = "write", fua = true, pages = [2] },
    { at_ns = 7000, op = "trim", pages = [3, 4] },
]
"#;
    let flows = ["scene".to_owned()];
    let scenario = scenario("fcfs", scene);
    let found = histories(&scenario, &[1, 2, 3]).expect("a run").found;
    let deciders = Deciders::of(&scenario).expect("decisions");
    let told = |one| explain::history(one, "fcfs", deciders.at(0).1, &flows);
    let told: Vec<String> = found.iter().map(told).collect();
    let expected = [
        "Request 1 of scene under fcfs: flush, arrived at 5.000 µs, done after 1.325 ms
  1.325 ms in the device and on the link back: a flush waits for the programs of the pages that are dirty when it comes
",
        "Request 2 of scene under fcfs: write of 1 page with FUA, arrived at 6.000 µs, done after 2.648 ms
  1 of its pages from memory: a waiting write, or the page buffer
  2.648 ms in the device and on the link back: FUA waits for the programs of its pages, unless the buffer is protected
",
        "Request 3 of scene under fcfs: trim of 2 pages, arrived at 7.000 µs, done after 0 ns
  0 ns in the device and on the link back: it changes the map
",
    ];
    assert_eq!(told, expected);
}

/// Two reads whose entries of the map are read first: the second's translation page comes before the first's page.
#[test]
fn waiting_for_an_entry_of_the_map_is_told() {
    let scene = r#"
[device]
preset = "unit-cycle"
[device.geometry]
channels = 1
[device.mapping]
entries = 2
entries_per_page = 4
[[flow]]
name = "scene"
request = [
    { at_ns = 1000, op = "read", pages = [0] },
    { at_ns = 1500, op = "read", pages = [5] },
]
"#;
    let fcfs = scenario("fcfs", scene);
    let history = histories(&fcfs, &[0]).expect("a run").found.remove(0);
    let told =
        explain::history(&history, "fcfs", Deciders::of(&fcfs).expect("decisions").at(0).1, &["scene".to_owned()]);
    let expected = "\
Request 0 of scene under fcfs: read of 1 page, arrived at 1.000 µs, done after 3.000 µs
  read of page 0 on die 0.0.0
    joined its queue 1.000 µs after the request had entered: its entry of the map, or space in the buffer for writes before it, came first
    waited 1.000 µs:
       1.000 µs  1 read of the map for scene that had come before it
    then served in 1.000 µs
";
    assert_eq!(told, expected);
}

/// Behind sixteen pages, which fill the cache's one block, a write waits until they have been folded: sixteen reads and programs, and the erase.
#[test]
fn waiting_for_a_fold_is_told() {
    let scene = r#"
[device]
preset = "unit-cycle"
[device.geometry]
channels = 1
[device.slc]
static_blocks = 1
bits = 4
read_ns = 1000
program_ns = 1000
erase_ns = 4000
[[flow]]
name = "scene"
request = [
    { at_ns = 1000, op = "write", pages = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] },
    { at_ns = 1000, op = "write", pages = [16] },
]
"#;
    let fcfs = scenario("fcfs", scene);
    let history = histories(&fcfs, &[1]).expect("a run").found.remove(0);
    let told =
        explain::history(&history, "fcfs", Deciders::of(&fcfs).expect("decisions").at(0).1, &["scene".to_owned()]);
    let expected = "\
Request 1 of scene under fcfs: write of 1 page, arrived at 1.000 µs, done after 101.0 µs
  program of page 16 on die 0.0.0
    waited 100.0 µs:
       64.00 µs  16 programs of folding that came after it (collect semi-preemptive)
       16.00 µs  16 programs of scene that had come before it
       16.00 µs  16 reads of folding that came after it (collect semi-preemptive)
       4.000 µs  1 erase of folding that came after it (collect semi-preemptive)
    then served in 1.000 µs
";
    assert_eq!(told, expected);
}
