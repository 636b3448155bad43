//! The page of a real sweep in a browser: it draws the means of the runs' figures, with their intervals.

use std::path::Path;

use flashlane_testing::browser;
use serde_json::Value as Json;

use super::*;
use crate::{MakeOptions, Progress, Shard, make};
use flashlane_outputs::Store;
use flashlane_report::metrics::mean_and_ci95;
use flashlane_report::results::FrameValues;

/// A name that is markup, which must stay text.
const SWEEP: &str = "schedulers = [\"fcfs\", \"read-first\"]\nname = \"a <b>\"\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = false\n\
    [[flow]]\nname = \"f\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = { constant = 2048 }\nrate_iops = 100_000\nrequests = 30\n\
    [sweep]\nflow.f.synthetic.read_ratio = [0.3, 0.7]\nflow.f.synthetic.rate_iops = [50_000, 100_000, 200_000]\nseeds = 3\n";
/// Shows figures as changes against the first scheduler.
const AS_CHANGES: &str = "<script>const as = document.getElementById(\"as\"); as.value = \"changes\"; as.dispatchEvent(new Event(\"change\"));</script></body>";

/// Rates that span a hundredfold, and words.
const WIDE: &str = "schedulers = [\"fcfs\", \"read-first\"]\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = false\n\
    [[flow]]\nname = \"f\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = { constant = 2048 }\nrate_iops = 100_000\nrequests = 300\n\
    [sweep]\nflow.f.synthetic.rate_iops = [10, 1_000_000, 10_000_000]\nflow.f.synthetic.access = [\"random\", \"streaming\"]\n";
/// Lays the words across.
const WORDS_ACROSS: &str = "<script>for (const [id, value] of [[\"against\", \"1\"], [\"facet\", \"\"]]) document.getElementById(id).value = value;\
    document.getElementById(\"against\").dispatchEvent(new Event(\"change\"));</script></body>";

/// What the page says it drew.
fn drawn(opened: &browser::Opened) -> Json {
    let drawn = opened.dom.split_once("data-drawn=\"").expect("drawn").1.split_once('"').expect("closed").0;
    serde_json::from_str(&drawn.replace("&quot;", "\"")).expect("JSON")
}

/// `mean_ns` of all requests under `scheduler` at a rate of 100,000 and a read ratio of 0.7, by seed, from the table.
fn means(table: &Frame, scheduler: &str) -> Vec<f64> {
    let column = |name: &str| table.column(name).expect("a column");
    let chosen = |row: &usize| {
        column("flow.f.synthetic.rate_iops").number(*row) == Some(100_000.0)
            && column("flow.f.synthetic.read_ratio").number(*row) == Some(0.7)
            && (column("scheduler").text(*row).as_str(), column("op").text(*row).as_str()) == (scheduler, "all")
            && column("flow").text(*row).is_empty()
    };
    (0..table.rows()).filter(chosen).filter_map(|row| column("mean_ns").number(row)).collect()
}

/// Whether the line `drawn` has at `place` the mean of `values` and its interval.
fn has(drawn: &Json, place: usize, values: &[f64]) {
    assert_eq!(values.len(), 3);
    let (mean, half) = mean_and_ci95(values);
    let [drawn_mean, to] = ["mean", "to"].map(|key| drawn[key][place].as_f64().expect("a number"));
    assert!((drawn_mean - mean).abs() < 1e-6 && (to - mean - half.expect("several seeds")).abs() < 1e-6, "{drawn}");
}

/// The terminal said it, the page and the table did not.
#[test]
fn page_and_table_say_what_was_not_measured_when_the_device_was_fitted() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = "[device]\npreset = \"unit-cycle\"\n[fitted]\nwrites = \"not measured\"\n";
    std::fs::write(folder.path().join("mine.toml"), device).expect("written");
    let text = SWEEP.replacen("\"unit-cycle\"", "\"./mine.toml\"", 1);
    let sweep = Sweep::of_file(&folder.path().join("s.toml"), text).expect("a sweep");
    let plan = sweep.plan().expect("sound");
    let store = Store::open(&folder.path().join("store"), "1").expect("a store");
    let progress = Progress::default();
    let options = MakeOptions { shard: Shard::WHOLE, audit: false, command: "c".into(), progress: &progress };
    make(&sweep, &plan, &store, &options).expect("made");
    let table = plan.table(&sweep, &store).expect("whole");
    let last = table.columns.last().expect("columns");
    let FrameValues::Text(values) = &last.values else { panic!("{last:?}") };
    assert!(last.name == "not_measured" && values.iter().all(|value| value.as_deref() == Some("writes")), "{last:?}");
    let page = html(&sweep, &plan, &table, "flashlane sweep s.toml");
    let says = "<li>mine.toml: writes were not measured when this device was fitted: their figures are a guess</li>";
    assert!(page.contains(says), "{page}");
}

#[test]
fn the_page_draws_the_means_of_the_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = Sweep::of_file(Path::new("s.toml"), SWEEP.into()).expect("a sweep");
    let plan = sweep.plan().expect("sound");
    assert_eq!(plan.runs.len(), 18);
    let store = Store::open(&folder.path().join("store"), "1").expect("a store");
    let progress = Progress::default();
    let options = MakeOptions { shard: Shard::WHOLE, audit: true, command: "c".into(), progress: &progress };
    let made = make(&sweep, &plan, &store, &options).expect("made");
    assert_eq!((made.made, made.there, made.failed.len(), progress.done()), (18, 0, 0, 18));
    let table = plan.table(&sweep, &store).expect("whole");
    let page = html(&sweep, &plan, &table, "flashlane sweep 's <i>.toml'");
    assert!(page.contains("a &lt;b&gt;") && page.contains("s &lt;i&gt;.toml"), "names are text");
    let Some(opened) = browser::open(&page, "sweep-report", (1_280, 2_400), false) else { return };
    opened.check();
    let charts = drawn(&opened);
    assert_eq!(charts.as_array().expect("charts").len(), 2, "one for each read ratio");
    // The axis with the most values lies across, with its unit; all charts have the vertical axis of the figure in common.
    assert_eq!(charts[1]["across"], "flow.f.synthetic.rate_iops, requests/s");
    assert_eq!(charts[1]["xs"], serde_json::json!([50_000, 100_000, 200_000]));
    assert_eq!((&charts[0]["range"], charts[1]["label"].as_str()), (&charts[1]["range"], Some("mean response time")));
    let line = &charts[1]["lines"][1];
    assert_eq!(line["scheduler"], "read-first");
    has(line, 1, &means(&table, "read-first"));
    // As changes: each seed against the same seed under the first scheduler, which has no line of its own.
    let changed = browser::open(&page.replace("</body>", AS_CHANGES), "sweep-report", (1_280, 2_400), false);
    let charts = drawn(&changed.expect("there is a browser"));
    let changes = means(&table, "read-first")
        .iter()
        .zip(means(&table, "fcfs"))
        .map(|(own, first)| 100.0 * (own / first - 1.0))
        .collect::<Vec<f64>>();
    assert_eq!(charts[1]["lines"].as_array().expect("lines").len(), 1);
    assert_eq!(charts[1]["label"], "change of mean response time against fcfs");
    has(&charts[1]["lines"][0], 1, &changes);
}

/// Wide ranges are drawn by their ratios, on both axes; points of words are not joined; the sentences and the table stand above.
#[test]
fn the_page_has_logarithmic_axes_and_does_not_join_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = Sweep::of_file(Path::new("s.toml"), WIDE.into()).expect("a sweep");
    let plan = sweep.plan().expect("sound");
    let store = Store::open(&folder.path().join("store"), "1").expect("a store");
    let progress = Progress::default();
    let options = MakeOptions { shard: Shard::WHOLE, audit: false, command: "c".into(), progress: &progress };
    make(&sweep, &plan, &store, &options).expect("made");
    let page = html(&sweep, &plan, &plan.table(&sweep, &store).expect("whole"), "c");
    assert!(page.contains("<li>Shortest mean response time of 6 points: "), "the sentences");
    assert_eq!(page.matches("<th scope=\"row\">").count(), 12, "a row for each of six points, with two values");
    let Some(opened) = browser::open(&page, "sweep-wide", (1_280, 2_400), false) else { return };
    opened.check();
    let charts = drawn(&opened);
    let [least, most] = [0, 1].map(|end| charts[0]["range"][end].as_f64().expect("a number"));
    assert!(most > 10.0 * least, "{least} to {most}: the case of this test");
    for chart in charts.as_array().expect("charts") {
        assert_eq!([&chart["log"], &chart["across_log"], &chart["joined"]], [true, true, true], "{chart}");
    }
    let words = browser::open(&page.replace("</body>", WORDS_ACROSS), "sweep-words", (1_280, 2_400), false);
    let charts = drawn(&words.expect("there is a browser"));
    assert_eq!(charts[0]["across"], "flow.f.synthetic.access");
    assert_eq!([&charts[0]["across_log"], &charts[0]["joined"]], [false, false], "{charts}");
}
