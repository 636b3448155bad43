//! The page of a real sweep in a browser: it draws the means of the runs' figures, with their intervals.

use std::path::Path;

use serde_json::Value as Json;

use super::*;
use crate::metrics::mean_and_ci95;
use crate::outputs::Store;
use crate::results::report::tests::browser;
use crate::sweep::{MakeOptions, Progress, Shard, make};

/// A name that is markup, which must stay text.
const SWEEP: &str = "schedulers = [\"fcfs\", \"read-first\"]\nname = \"a <b>\"\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = false\n\
    [[flow]]\nname = \"f\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = { constant = 2048 }\nrate_iops = 100_000\nrequests = 30\n\
    [sweep]\nflow.f.synthetic.rate_iops = [50_000, 100_000, 200_000]\nflow.f.synthetic.read_ratio = [0.3, 0.7]\nseeds = 3\n";

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
    let drawn = opened.dom.split_once("data-drawn=\"").expect("drawn").1.split_once('"').expect("closed").0;
    let drawn: Json = serde_json::from_str(&drawn.replace("&quot;", "\"")).expect("JSON");
    assert_eq!(drawn.as_array().expect("charts").len(), 2, "one for each read ratio");
    let line = &drawn[1]["lines"][1];
    assert_eq!(line["scheduler"], "read-first");
    assert_eq!(drawn[1]["xs"], serde_json::json!([50_000, 100_000, 200_000]));
    // The mean of mean_ns over the seeds, from the table itself.
    let column = |name: &str| table.column(name).expect("a column");
    let chosen = |row: &usize| {
        column("flow.f.synthetic.rate_iops").number(*row) == Some(100_000.0)
            && column("flow.f.synthetic.read_ratio").number(*row) == Some(0.7)
            && (column("scheduler").text(*row).as_str(), column("op").text(*row).as_str()) == ("read-first", "all")
            && column("flow").text(*row).is_empty()
    };
    let values: Vec<f64> = (0..table.rows()).filter(chosen).filter_map(|row| column("mean_ns").number(row)).collect();
    assert_eq!(values.len(), 3);
    let (mean, half) = mean_and_ci95(&values);
    let [drawn_mean, to] = ["mean", "to"].map(|key| line[key][1].as_f64().expect("a number"));
    assert!((drawn_mean - mean).abs() < 1e-6 && (to - mean - half.expect("several seeds")).abs() < 1e-6, "{line}");
}
