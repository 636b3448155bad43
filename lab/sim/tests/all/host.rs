//! Runs behind a host: latencies as threads see them, on the Cosmos prototype and on busier devices (model 3.1).

use flashlane_report::results::{Format, HostStats, ResultsDir, SchedulerResult};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, compare};

use crate::common::FLIN;

/// Runs a scenario, audited.
fn runs(text: &str) -> Vec<SchedulerResult> {
    let scenario = Scenario::parse("host.toml", text.to_owned()).expect("a scenario");
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    compare(&scenario, &options).unwrap_or_else(|error| panic!("{error}\n{text}")).summary.schedulers
}

fn host(text: &str) -> HostStats {
    runs(text).remove(0).host.expect("behind a host")
}

/// The Cosmos prototype without noise: a read of 4 KB takes 352 us and 9 us of DMA, rounded up to 9,001 ns.
const COSMOS: &str =
    "scheduler = \"fr-fcfs\"\n[device]\npreset = \"cosmos-openssd\"\n[device.nand]\nread_ns = 352_000\n";

fn reads(host_keys: &str, flow_keys: &str) -> HostStats {
    let flow = format!("arrivals = \"closed-loop\", {flow_keys}");
    host(&format!("{COSMOS}[run]\nwarm_up_requests = 10\n[host]\n{host_keys}\n[[flow]]\nsynthetic = {{ {flow} }}\n"))
}

/// One read after another on an idle CPU: 7 us of submission, 361 us of device, 5.8 us until the thread runs.
#[test]
fn latency_is_device_time_and_what_the_host_adds() {
    let of = |keys: &str| {
        let figures = reads(keys, "requests = 60");
        let all = figures.all.expect("reads");
        assert_eq!((all.requests, all.device_mean_ns), (50, 361_001.0), "{keys}");
        assert_eq!(all.user_mean_ns, all.device_mean_ns + all.added_mean_ns, "{keys}");
        (all.exposed_mean_ns, all.spun_mean_ns, all.added_mean_ns)
    };
    assert_eq!(of("completion = \"irq\""), (5_800.0, 0.0, 12_800.0));
    assert_eq!(of("completion = \"poll\""), (0.0, 361_001.0, 7_000.0));
    assert_eq!(of("completion = \"precompletion\"\nwindow_ns = 4000"), (1_800.0, 0.0, 8_800.0));
    assert_eq!(of("completion = \"precompletion\"\nwindow_ns = 16000"), (0.0, 10_200.0, 7_000.0));
    let (exposed, spun, _) = of("completion = \"precompletion\"\nwindow_ns = \"adaptive\"");
    assert_eq!((exposed, spun), (200.0, 0.0), "what an adaptive window leaves");
    assert_eq!(of("completion = \"poll\"\npoll_interval_ns = 2000"), (999.0, 362_000.0, 7_999.0));
}

/// An early message spends no link latency: 16 us before a completion that spends 50 us of it, its thread is awake after 5.8 us.
#[test]
fn a_message_spends_no_link_latency() {
    let text = format!(
        "{COSMOS}[device.front]\nlink_latency_ns = 50_000\n[run]\nwarm_up_requests = 10\n[host]\ncompletion = \"precompletion\"\n\
         [[flow]]\nsynthetic = {{ arrivals = \"closed-loop\", requests = 60 }}\n"
    );
    let all = host(&text).all.expect("reads");
    assert_eq!(all.device_mean_ns, 361_001.0 + 2.0 * 50_000.0);
    assert_eq!((all.exposed_mean_ns, all.spun_mean_ns), (0.0, 10_200.0));
}

/// The rows of requests say when each thread asked and when it saw its request done; their mean is the summary's.
#[test]
fn rows_have_what_threads_saw() {
    let text = "scheduler = \"fr-fcfs\"\n[device]\npreset = \"flin-isca18\"\n[run]\nalone = false\n[host]\ncpus = 2\n\
                completion = \"precompletion\"\n[[host.background]]\nwork = \"cpu\"\n[[flow]]\n\
                synthetic = { read_ratio = 0.5, arrivals = \"closed-loop\", depth = 6, requests = 400 }\n";
    let scenario = Scenario::parse("rows.toml", text.to_owned()).expect("a scenario");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = ResultsDir::create(&folder.path().join("out")).expect("a folder for results");
    let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: false });
    let options = Options { audit: false, rows, activity: false, progress: None };
    let summary = compare(&scenario, &options).unwrap_or_else(|error| panic!("{error}")).summary;
    dir.write("summary.json", b"{}").expect("written");
    let path = dir.commit().expect("committed").join("requests.csv");
    let mut reader = csv::Reader::from_path(path).expect("the rows");
    let header: Vec<String> = reader.headers().expect("a header").iter().map(String::from).collect();
    assert_eq!(header[5..], ["arrival_ns", "done_ns", "response_ns", "counted", "called_ns", "seen_ns", "user_ns"]);
    let rows: Vec<Vec<u64>> = reader
        .records()
        .map(|row| row.expect("a row").iter().map(|cell| cell.parse().unwrap_or_default()).collect())
        .collect();
    assert_eq!(rows.len(), 400);
    let place = |name: &str| header.iter().position(|column| column == name).expect("a column");
    let [id, seen_ns, user_ns] = ["id", "seen_ns", "user_ns"].map(place);
    for row in &rows {
        let [arrival, done, called, seen, user] =
            ["arrival_ns", "done_ns", "called_ns", "seen_ns", "user_ns"].map(|name| row[place(name)]);
        assert!(called <= arrival && arrival <= done && done <= seen && user == seen - called, "{row:?}");
    }
    assert!(rows.is_sorted_by_key(|row| row[seen_ns]), "in the order in which threads saw them done");
    let mut ids: Vec<u64> = rows.iter().map(|row| row[id]).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..400));
    let host = summary.schedulers[0].host.as_ref().expect("behind a host");
    let mean = rows.iter().map(|row| row[user_ns]).sum::<u64>() as f64 / 400.0;
    assert_eq!(host.all.as_ref().expect("requests").user_mean_ns, mean);
}

/// Reads that queue for one chip are told of 16 us before they end, not before they would have ended without a queue.
#[test]
fn the_message_follows_the_flash_and_not_the_arrival() {
    for predictor in ["at-issue", "staged"] {
        let keys = format!("completion = \"precompletion\"\ncpus = 8\npredictor = \"{predictor}\"");
        let figures = reads(&keys, "depth = 8, requests = 400, working_set_bytes = 4096");
        let all = figures.all.expect("reads");
        assert!(all.device_mean_ns > 2_500_000.0, "they queue: {}", all.device_mean_ns);
        assert_eq!((all.exposed_mean_ns, all.spun_mean_ns), (0.0, 10_200.0), "{predictor}");
        let pre = figures.precompletion.expect("precompletion");
        assert_eq!(
            (pre.at_issue.rmse_ns, pre.at_message.rmse_ns, pre.too_late),
            (Some(0.0), Some(0.0), 0),
            "{predictor}"
        );
        // The fourth is issued before the third has completed.
        assert_eq!((pre.cold, pre.messages), (4, 396), "{predictor}");
    }
}

/// A thread that is known to find space in the buffer spins and saves the whole delay; a miss costs and saves nothing.
#[test]
fn writes_into_the_buffer_are_spun_for() {
    let of = |classify: bool, pages: u32| {
        let text = format!(
            "{COSMOS}[device.buffer]\npages = {pages}\n[host]\nbuffer_hits = {classify}\n[[flow]]\n\
             synthetic = {{ read_ratio = 0.0, arrivals = \"closed-loop\", think_us = 2000, requests = 400 }}\n"
        );
        host(&text)
    };
    let (with, without) = (of(true, 64), of(false, 64));
    let (spinning, sleeping) = (with.write.expect("writes"), without.write.expect("writes"));
    assert_eq!(sleeping.exposed_mean_ns - spinning.exposed_mean_ns, 5_800.0);
    let hits = with.buffer_hits.expect("classified");
    assert_eq!((hits.hit, hits.miss, hits.unseen), (400, 0, 0));
    assert!(without.buffer_hits.is_none());
    // A buffer of one page and threads that do not wait: nearly every write finds it full.
    let full = "[device.buffer]\npages = 1\n[host]\nbuffer_hits = true\n[[flow]]\n\
                synthetic = { read_ratio = 0.0, arrivals = \"closed-loop\", requests = 400 }\n";
    let full = host(&format!("{COSMOS}{full}"));
    let spun_ns = spun_in_all(&full);
    let hits = full.buffer_hits.expect("classified");
    assert_eq!((hits.hit, hits.miss, hits.unseen), (1, 0, 0));
    assert_eq!(full.write.expect("writes").spun_mean_ns * 400.0, spun_ns);
}

/// Time spun in all, ns, as the CPU counts it.
fn spun_in_all(figures: &HostStats) -> f64 {
    (figures.cpu.spin * figures.cpu.observed_ns as f64).round()
}

/// Reads of a small set of pages that a read cache holds: spun for once they are known, and given up after 20 us where the
/// cache has lost them.
#[test]
fn reads_from_the_buffer_are_spun_for() {
    let of = |pages: u64| {
        let text = format!(
            "{COSMOS}[device.buffer]\npages = 64\nread_allocate = true\n[host]\nread_hits = true\n[[flow]]\n\
             synthetic = {{ arrivals = \"closed-loop\", requests = 2000, working_set_bytes = {} }}\n",
            pages * 8192
        );
        host(&text)
    };
    let small = of(32);
    let hits = small.read_hits.expect("classified");
    assert_eq!(hits.hit + hits.miss + hits.unseen, 2_000 - 32, "each page is read from flash once");
    assert!(hits.miss == 0 && hits.hit >= 1_900, "{hits:?}");
    let large = of(1_000);
    let hits = large.read_hits.clone().expect("classified");
    assert!(hits.miss < 60 && hits.hit < 200, "{hits:?}");
    let spun = large.all.expect("reads").spun_mean_ns * 2_000.0;
    assert!(spun <= (hits.miss * 20_000 + hits.hit * 10_001) as f64, "no read is spun for longer: {spun}");
}

/// A page that was trimmed or written with FUA is not taken for one that the buffer holds; a protected buffer that does hold it then surprises the driver.
#[test]
fn the_driver_knows_what_trims_and_fua_do_to_the_buffer() {
    let of = |protected: bool, before: &[&str]| {
        let (before, buffer) = (before.join(", "), "pages = 64\nflush_above = 64\n");
        let text = format!(
            "{COSMOS}[device.buffer]\n{buffer}protected = {protected}\n[host]\nread_hits = true\n[[flow]]\nrequest = [{before}, \
             {{ at_ns = 90_000_000, op = \"read\", pages = [5] }}]\n"
        );
        let hits = host(&text).read_hits.expect("classified");
        (hits.hit, hits.miss, hits.unseen)
    };
    let write = "{ at_ns = 0, op = \"write\", pages = [5] }";
    let trim = "{ at_ns = 30_000_000, op = \"trim\", pages = [5] }";
    let fua = "{ at_ns = 60_000_000, op = \"write\", fua = true, pages = [5] }";
    let flush = "{ at_ns = 60_000_000, op = \"flush\" }";
    assert_eq!(of(false, &[write]), (1, 0, 0));
    assert_eq!(of(false, &[write, trim]), (0, 0, 0));
    assert_eq!(of(false, &[write, fua]), (0, 0, 0));
    assert_eq!(of(true, &[write, fua]), (0, 0, 1));
    // What a flush writes out is found to be gone by the first read of it.
    assert_eq!(of(false, &[write, flush]), (0, 1, 0));
}

/// Every row, deep queues, writes and collection, every way of waiting: all requests are seen, the same figures twice, and the
/// auditor finds nothing.
#[test]
fn every_scheduler_runs_behind_every_host() {
    let rows = "\"fcfs\", \"fr-fcfs\", \"slacker\", \"flin\", \"sprinkler\", \"dynalloc\"";
    let device = "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nblocks_per_plane = 24\n[device.ftl]\n\
                  over_provisioning_percent = 30.0\n[device.gc]\nstart_blocks = 3\nhard_blocks = 2\n";
    for completion in [
        "irq",
        "poll",
        "poll-prio",
        "precompletion\"\nwindow_ns = \"adaptive",
        "precompletion\"\npredictor = \"at-issue",
        "precompletion\"\nwindow_ns = 300_000\nread_hits = false\nmax_spin_ns = 20_000\npredictor = \"staged",
    ] {
        let text = format!(
            "schedulers = [{rows}]\n[run]\nalone = false\n{device}[host]\ncpus = 2\ncompletion = \"{completion}\"\n\
             [[host.background]]\nwork = \"io\"\ndevice_ns = 30_000\n[[host.background]]\nwork = \"cpu\"\nthreads = 2\n\
             [[flow]]\nsynthetic = {{ read_ratio = 0.6, arrivals = \"closed-loop\", depth = 12, requests = 900, size = {{ uniform = {{ \
             min_bytes = 512, max_bytes = 20480 }} }} }}\n\
             [[flow]]\nsynthetic = {{ read_ratio = 0.8, rate_iops = 4000, requests = 600 }}\n"
        );
        let made = runs(&text);
        assert_eq!(made, runs(&text), "{completion}");
        for run in made {
            let figures = run.host.expect("behind a host");
            let all = figures.all.expect("I/Os");
            assert_eq!((all.requests, run.total.completed), (1_500, 1_500), "{} {completion}", run.name);
            assert_eq!(all.cdf.requests.last(), Some(&1_500));
            let device = run.total.all.expect("requests").mean_ns;
            assert!((all.device_mean_ns - device).abs() < 1e-6 * device, "both count from the submission");
            let cpu = &figures.cpu;
            let sum = cpu.submit + cpu.spin + cpu.overhead + cpu.background + cpu.idle;
            assert!((sum - 1.0).abs() < 1e-9, "{} {completion}: {cpu:?}", run.name);
            // I/O threads beside burners may even gain a little by what else is switched to.
            let most = |alone: u64| alone as f64 * 1.02 + 2.0;
            let within = figures.background.iter().all(|group| group.operations as f64 <= most(group.alone));
            assert!(within, "{} {completion}: {:?}", run.name, figures.background);
        }
    }
}

/// The staged predictor knows what the channel is about to do: its errors stay small where those at issue grow.
#[test]
fn prediction_holds_at_depth() {
    let of = |predictor: &str| {
        let text = format!(
            "scheduler = \"fr-fcfs\"\n{FLIN}[host]\ncpus = 8\ncompletion = \"precompletion\"\n\
             predictor = \"{predictor}\"\n[[flow]]\nsynthetic = {{ arrivals = \"closed-loop\", depth = 64, requests = 20_000 }}\n"
        );
        let pre = host(&text).precompletion.expect("precompletion");
        (pre.at_issue.rmse_ns.expect("predictions"), pre.at_message.rmse_ns.expect("predictions"))
    };
    let (naive, _) = of("at-issue");
    let (_, staged) = of("staged");
    assert!(staged < 1_000.0 && naive > 5.0 * staged, "{staged} ns, {naive} ns");
}
