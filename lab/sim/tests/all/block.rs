//! Runs below the operating system's block layer, audited.

use flashlane_report::results::explain::history;
use flashlane_report::results::{Decisions, Format, ResultsDir, SchedulerResult, WaitStats};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, compare, histories, slowest};
use flashlane_testing::Random;

/// Runs a scenario, audited.
fn runs(text: &str) -> Vec<SchedulerResult> {
    let scenario = Scenario::parse("block.toml", text.to_owned()).expect("a scenario");
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    compare(&scenario, &options).unwrap_or_else(|error| panic!("{error}\n{text}")).summary.schedulers
}

/// A small reader beside a writer that keeps much in flight.
fn two(block: &str, flows: &str) -> String {
    format!(
        "schedulers = [\"fcfs\", \"read-first-suspend\"]\ndevice = \"flin-isca18\"\n[run]\nalone = false\n{block}\n{flows}\n\
         [[flow]]\nname = \"reader\"\nsynthetic = {{ requests = 400, arrivals = \"closed-loop\", depth = 4, size = {{ constant = 4096 }} }}\n\
         [[flow]]\nname = \"writer\"\nsynthetic = {{ requests = 1500, read_ratio = 0.0, arrivals = \"closed-loop\", depth = 96, size = {{ constant = 16384 }} }}\n"
    )
}

fn without_block(mut runs: Vec<SchedulerResult>) -> Vec<SchedulerResult> {
    runs.iter_mut().for_each(|run| run.block = None);
    runs
}

#[test]
fn a_depth_that_is_never_reached_changes_nothing() {
    let plain = runs(&two("", ""));
    let below = runs(&two("[block]\ndepth = 1023", ""));
    for run in &below {
        let flows = &run.block.as_ref().expect("a block layer").flows;
        let none = WaitStats { requests: 0, mean_ns: 0.0 };
        assert!(flows.iter().all(|flow| [flow.limit, flow.tag, flow.elevator, flow.driver] == [none; 4]), "{flows:?}");
        assert_eq!(flows.iter().map(|flow| flow.requests).collect::<Vec<_>>(), [400, 1_500]);
    }
    assert_eq!(without_block(below), plain);
}

/// A flush of the same instant covers a write that was asked before it, transactions have their rows, and slack is measured.
#[test]
fn requests_of_an_instant_and_observers_are_as_without_it() {
    let text = |block: &str| {
        format!(
            "schedulers = [\"fcfs\", \"slacker\"]\ndevice = \"cosmos-openssd\"\n{block}\n[run]\nslack = true\n[[flow]]\n\
             request = [ {{ at_ns = 0, op = \"write\", pages = [0, 4, 8] }}, {{ at_ns = 0, op = \"flush\" }} ]\n\
             [[flow]]\nsynthetic = {{ requests = 300, read_ratio = 0.5, rate_iops = 3000, size = {{ constant = 65536 }} }}\n"
        )
    };
    let plain = runs(&text(""));
    for elevator in ["none", "mq-deadline", "kyber"] {
        let below = runs(&text(&format!("[block]\nelevator = \"{elevator}\"\nnr_requests = 1023")));
        assert!(below[0].slack.is_some());
        assert_eq!(without_block(below), plain, "{elevator}");
    }
}

/// A reader that goes on in 4 KiB steps, eight at a time.
fn steps(block: &str) -> String {
    format!(
        "scheduler = \"fcfs\"\ndevice = \"flin-isca18\"\n{block}\n[run]\nslack = true\n[[flow]]\nname = \"reader\"\n\
         synthetic = {{ requests = 800, access = \"streaming\", arrivals = \"closed-loop\", depth = 8, size = {{ constant = 4096 }} }}\n"
    )
}

/// Eight bios of an instant are one request of the device: they complete together and ask for the next eight at one instant. Figures count bios.
#[test]
fn what_is_merged_completes_together_and_counts_one_by_one() {
    let found = |block: &str| runs(&steps(block)).remove(0);
    let [merged, apart, two] = ["[block]", "[block]\nmerges = false", "[block]\nmax_segments = 2"].map(found);
    for run in [&merged, &apart, &two] {
        let read = run.flows[0].figures.read.as_ref().expect("reads");
        assert_eq!((run.total.issued, run.total.completed, read.bytes), (800, 800, 800 * 4_096));
    }
    let requests = |run: &SchedulerResult| {
        let flow = &run.block.as_ref().expect("a block layer").flows[0];
        (flow.requests, flow.merged)
    };
    assert_eq!([&merged, &apart, &two].map(requests), [(800, 700), (800, 0), (800, 400)]);
    let read = merged.flows[0].figures.read.as_ref().expect("reads");
    let lone = runs(
        &steps("")
            .replace("requests = 800", "requests = 100")
            .replace("depth = 8", "depth = 1")
            .replace("4096", "32768"),
    );
    let whole = lone[0].flows[0].figures.read.as_ref().expect("reads");
    assert_eq!((read.mean_ns, read.max_ns), (whole.mean_ns, whole.max_ns), "as one reader of 32 KiB");
    assert_eq!(merged.slack, lone[0].slack, "transactions are of requests");
}

/// A request that went to the drive as a part of another is told by that one's history.
#[test]
fn explain_finds_what_was_merged() {
    let scenario = Scenario::parse("block.toml", steps("[block]")).expect("a scenario");
    let all = histories(&scenario, &[3, 8, 13, 900]).expect("a run");
    assert_eq!((all.requests, all.merged), (800, [(3, 0), (13, 8)].into()));
    let numbers: Vec<(u64, u32)> = all.found.iter().map(|history| (history.request, history.pages)).collect();
    assert_eq!(numbers, [(0, 4), (8, 4)], "32 KiB each, pages of 8 KiB");
}

#[test]
fn lists_of_pages_are_not_merged() {
    let text = |block: &str| {
        format!(
            "scheduler = \"fcfs\"\ndevice = \"flin-isca18\"\n{block}\n[[flow]]\n\
             request = [ {{ at_ns = 0, op = \"read\", pages = [0] }}, {{ at_ns = 0, op = \"read\", pages = [1, 2] }} ]\n"
        )
    };
    assert_eq!(without_block(runs(&text("[block]"))), runs(&text("")));
}

#[test]
fn a_limit_that_takes_longer_than_a_run_can_last_is_an_error() {
    let text = "scheduler = \"fcfs\"\ndevice = \"modern-tlc\"\n[block.flow.a]\nwrite_bps = 1\n[[flow]]\nname = \"a\"\n\
                request = [ { at_ns = 0, op = \"write-zeroes\", offset = 0, length = 80_000_000 } ]\n";
    for text in [text.to_owned(), text.replace("80_000_000", "20_000_000_000")] {
        let scenario = Scenario::parse("block.toml", text).expect("a scenario");
        let options = Options { audit: true, rows: None, activity: false, progress: None };
        let error = compare(&scenario, &options).expect_err("834 days").to_string();
        assert!(error.contains("longer than a run can last"), "{error}");
    }
}

/// Each scheduler runs below each elevator with the keys of that one, as it does in a scenario by itself, and below the first without limits too.
#[test]
fn elevators_and_schedulers_are_compared_each_with_each() {
    let limit = "[block.flow.writer]\nwrite_bps = 30_000_000\n";
    let class = "[block.flow.reader]\nclass = \"idle\"\n";
    let keys = "depth = 8\nnr_requests = 12";
    let all = runs(&two(
        &format!("[block]\nelevators = [\"none\", \"mq-deadline\"]\n{keys}\nfifo_batch = 1"),
        &format!("{limit}{class}"),
    ));
    let names: Vec<&str> = all.iter().map(|run| run.name.as_str()).collect();
    let below = |scheduler: &str| ["none", "mq-deadline", "none-unlimited"].map(|layer| format!("{scheduler}+{layer}"));
    assert_eq!(names, [below("fcfs"), below("read-first-suspend")].concat());
    let alone = [
        runs(&two(&format!("[block]\n{keys}"), limit)),
        runs(&two(&format!("[block]\nelevator = \"mq-deadline\"\n{keys}\nfifo_batch = 1"), &format!("{limit}{class}"))),
        runs(&two(&format!("[block]\n{keys}"), "")),
    ];
    for (i, run) in all.iter().enumerate() {
        let own = &alone[i % 3][i / 3];
        let same = (&run.total, &run.flows[0].figures, &run.flows[1].figures, &run.device, &run.block);
        assert_eq!(
            same,
            (&own.total, &own.flows[0].figures, &own.flows[1].figures, &own.device, &own.block),
            "{}",
            run.name
        );
    }
    assert!(all[0].total != all[1].total && all[0].total != all[2].total);
}

/// A flow alone is below the same block layer as with the others.
#[test]
fn flows_alone_are_below_the_same_elevator() {
    let block = "[block]\nelevators = [\"none\", \"mq-deadline\"]\ndepth = 1\nnr_requests = 4";
    for alone in ["alone = true", "alone_scheduler = \"fcfs\""] {
        let made = runs(&two(block, "").replace("alone = false", alone));
        let mean = |run: usize| made[run].flows[1].alone.as_ref().expect("alone").mean_ns;
        assert!(mean(0) != mean(1), "{alone}: with 4 tags an elevator orders the writer's requests");
        assert!(
            mean(0) == mean(2) && mean(1) == mean(3) || alone == "alone = true",
            "the one scheduler's runs are shared"
        );
    }
}

/// A reader's mean behind a drive that puts reads first: few tags keep its requests from the drive.
#[test]
fn few_tags_undo_what_the_drives_scheduler_gains() {
    let reads = |block: &str| {
        let made = runs(&two(block, ""));
        made[1].flows[0].figures.read.as_ref().expect("reads").mean_ns
    };
    let [deep, shallow] = ["[block]\ndepth = 1023", "[block]\ndepth = 16"].map(reads);
    assert!(shallow > 3.0 * deep, "16 tags: {shallow} ns, 1023: {deep} ns");
}

#[test]
fn a_limit_of_bytes_is_kept() {
    let made = runs(&two("[block]", "[block.flow.writer]\nwrite_bps = 20_000_000"));
    let writer = &made[0].flows[1].figures;
    let seconds = writer.last_completion_ns as f64 / 1e9;
    let rate = 1_500.0 * 16_384.0 / seconds;
    // The first slice goes at once, and the last is not full.
    assert!((18e6..=22.5e6).contains(&rate), "{rate} bytes a second");
    let block = &made[0].block.as_ref().expect("a block layer").flows;
    assert!(block[1].limit.requests > 1_000 && block[0].limit.requests == 0, "{block:?}");
}

/// Rows say what each request of a flow waited for, those that were merged too, and add up to the flow's figures.
#[test]
fn rows_have_what_requests_waited_for() {
    let text = "scheduler = \"fcfs\"\ndevice = \"flin-isca18\"\n[block]\nelevator = \"mq-deadline\"\ndepth = 2\nnr_requests = 4\n\
                [block.flow.a]\nwrite_iops = 2000\n[[flow]]\nname = \"a\"\n\
                synthetic = { requests = 600, read_ratio = 0.5, access = \"streaming\", arrivals = \"closed-loop\", depth = 24, size = { constant = 4096 } }\n";
    let scenario = Scenario::parse("rows.toml", text.to_owned()).expect("a scenario");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = ResultsDir::create(&folder.path().join("out")).expect("a folder for results");
    let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: false });
    let options = Options { audit: true, rows, activity: false, progress: None };
    let summary = compare(&scenario, &options).unwrap_or_else(|error| panic!("{error}")).summary;
    dir.write("summary.json", b"{}").expect("written");
    let path = dir.commit().expect("committed").join("requests.csv");
    let mut reader = csv::Reader::from_path(path).expect("the rows");
    let header: Vec<String> = reader.headers().expect("a header").iter().map(String::from).collect();
    assert_eq!(header[9..], ["issued_ns", "limit_ns", "tag_ns", "elevator_ns", "driver_ns"]);
    let rows: Vec<Vec<u64>> = reader
        .records()
        .map(|row| row.expect("a row").iter().map(|cell| cell.parse().unwrap_or_default()).collect())
        .collect();
    let flow = &summary.schedulers[0].block.as_ref().expect("a block layer").flows[0];
    assert!(rows.len() == 600 && flow.merged > 0, "{} rows, {} merged", rows.len(), flow.merged);
    for row in &rows {
        let [arrival, done, issued] = [row[5], row[6], row[9]];
        assert!(arrival + row[10..].iter().sum::<u64>() == issued && issued < done, "{row:?}");
    }
    for (place, (name, waited)) in (10..).zip(flow.stages()) {
        let waits: Vec<u64> = rows.iter().map(|row| row[place]).filter(|wait| *wait > 0).collect();
        assert_eq!(waits.len() as u64, waited.requests, "{name}");
        let mean = waits.iter().sum::<u64>() as f64 / waits.len().max(1) as f64;
        assert_eq!(mean, waited.mean_ns, "{name}");
    }
    assert!(flow.limit.requests > 0 && flow.tag.requests > 0 && flow.elevator.requests > 0, "{flow:?}");
}

/// Of a request that a limit held back `explain` says how long the device did not have it.
#[test]
fn explain_says_how_long_a_request_was_held_back() {
    let text = two("[block]", "[block.flow.writer]\nwrite_iops = 100");
    let scenario = Scenario::parse("block.toml", text.replace("requests = 1500", "requests = 40")).expect("a scenario");
    let slowest = slowest(&scenario, 1).expect("a run");
    let found = histories(&scenario, &slowest).expect("a run").found;
    // Ten a slice of 100 ms: the last of 40 goes with the fourth slice.
    assert_eq!(found[0].submitted_ns - found[0].arrival_ns, 300_000_000, "{found:?}");
    let told = history(&found[0], "fcfs", &Decisions::default(), &["reader".into(), "writer".into()]);
    assert!(told.contains("300.0 ms before the device got it"), "{told}");
}

/// Under an elevator the reader of the higher class waits little, and of all that waited somebody is told.
#[test]
fn classes_and_elevator_say_who_waited() {
    let block = "[block]\nelevator = \"mq-deadline\"\ndepth = 8";
    let class = |class: &str| {
        let made = runs(&two(block, &format!("[block.flow.reader]\nclass = \"{class}\"")));
        let waits = made[0].block.as_ref().expect("a block layer").flows.clone();
        assert!(waits[1].tag.requests > 0 && waits[1].elevator.requests > 0, "{waits:?}");
        made[0].flows[0].figures.read.as_ref().expect("reads").mean_ns
    };
    let [first, last] = ["real-time", "idle"].map(class);
    assert!(last > 2.0 * first, "real time {first} ns, idle {last} ns");
}

/// Trims, flushes and FUA pass; requests are neither lost nor served twice (the auditor), with one in the drive at a time.
#[test]
fn all_kinds_pass_one_at_a_time() {
    for elevator in ["none", "mq-deadline", "kyber"] {
        let text = format!(
            "scheduler = \"fcfs\"\ndevice = \"modern-tlc\"\n[block]\nelevator = \"{elevator}\"\ndepth = 1\nnr_requests = 3\n\
             [[flow]]\nsynthetic = {{ requests = 600, read_ratio = 0.3, trim_ratio = 0.2, flush_every_writes = 5, fua_ratio = 0.3, arrivals = \"closed-loop\", depth = 20 }}\n\
             [block.flow.flow0]\nwrite_iops = 4000\n"
        );
        let made = runs(&text);
        let total = &made[0].total;
        assert!(
            total.issued >= 600 && total.completed == total.issued,
            "{elevator}: {} of {}",
            total.completed,
            total.issued
        );
    }
}

/// A random block layer above a small drive, with two flows: one of all kinds, one that goes on from place to place.
fn drawn(seed: u64) -> String {
    let mut random = Random(seed << 32 | 0xb10c);
    let mut one_of = |choices: &[&str]| {
        let bits = random.bits() >> 32;
        choices[bits as usize % choices.len()].to_owned()
    };
    let keys = [
        one_of(&[
            "none",
            "mq-deadline\"\nfifo_batch = 2\nread_expire = 3\nx = \"",
            "kyber\"\nread_lat_nsec = 50_000\nx = \"",
        ]),
        one_of(&["1", "3", "32"]),
        one_of(&["", "nr_requests = 1", "nr_requests = 5", "nr_requests = 20"]),
        one_of(&["", "merges = false", "max_segments = 2", "max_request_bytes = 20_000"]),
        one_of(&["", "write_iops = 3_000", "read_bps = 9_000_000\nwrite_bps = 5_000_000"]),
        one_of(&["1", "2"]),
    ];
    let [elevator, depth, tags, merging, limit, threads] = keys;
    let [arrivals, size, kinds] = [
        one_of(&[
            "arrivals = \"closed-loop\", depth = 12",
            "rate_iops = 9_000",
            "rate_iops = 9_000, arrivals = \"bursty\", burst_requests = 9",
        ]),
        one_of(&["512", "4096", "12288"]),
        one_of(&["read_ratio = 0.5", "read_ratio = 0.2, trim_ratio = 0.2, flush_every_writes = 4, fua_ratio = 0.3"]),
    ];
    format!(
        "scheduler = \"read-first-suspend\"\ndevice = \"cosmos-openssd\"\n[run]\nalone = false\n[block]\ndepth = {depth}\n{tags}\n{merging}\n\
         elevator = \"{elevator}\"\n[block.flow.steps]\nthreads = {threads}\n{limit}\n[[flow]]\nname = \"steps\"\n\
         synthetic = {{ requests = 120, access = \"streaming\", read_ratio = 0.5, arrivals = \"closed-loop\", depth = 24, size = {{ constant = {size} }} }}\n\
         [[flow]]\nsynthetic = {{ requests = 80, {kinds}, {arrivals} }}\n"
    )
    .replace("x = \"\"\n", "")
}

/// Whatever the block layer, it and the drive keep to their rules, and nothing is lost.
#[test]
fn random_block_layers_keep_to_the_rules() {
    let mut merged = 0;
    for seed in 0..60 {
        let text = drawn(seed);
        let run = runs(&text).remove(0);
        let flows = run.block.as_ref().expect("a block layer").flows.clone();
        assert!(run.total.issued >= 200 && run.total.completed == run.total.issued, "{text}");
        assert_eq!(flows.iter().map(|flow| flow.requests).sum::<u64>(), run.total.issued, "{text}");
        merged += flows[0].merged;
    }
    assert!(merged > 500, "{merged} were merged");
}
