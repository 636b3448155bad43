//! The hand-worked scenes of model 8.0 as files that a user can run: each has the times of this table, passes the
//! audit, and states them in its comments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flashlane_report::results::{Format, ResultsDir};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, compare};

/// File, scheduler, when each request is done (ns, in the order of the file).
const SCENES: &[(&str, &str, &[u64])] = &[
    ("a-fln-05", "read-first", &[1000, 2000, 3000, 4000, 5000, 6000, 7000]),
    ("a-fln-05", "flin", &[1000, 3000, 4000, 5000, 6000, 7000, 2000]),
    ("a-fln-05", "flin-stage1", &[1000, 3000, 4000, 5000, 6000, 7000, 2000]),
    ("a-fln-05", "flin-stage3", &[1000, 2000, 3000, 4000, 5000, 6000, 7000]),
    (
        "a-fln-08",
        "read-first",
        &[1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000],
    ),
    (
        "a-fln-08",
        "flin-stage3",
        &[8000, 4000, 12000, 2000, 6000, 10000, 14000, 1000, 3000, 5000, 7000, 9000, 11000, 13000, 15000],
    ),
    ("a-fln-08-two", "flin-stage3", &[3000, 8000, 1000, 2000, 4000, 5000, 6000, 7000, 9000, 10000]),
    (
        "a-fln-09",
        "read-first",
        &[
            1000, 24000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000,
            16000, 17000, 18000, 19000, 20000,
        ],
    ),
    (
        "a-fln-09",
        "flin",
        &[
            1000, 19000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000,
            20000, 21000, 22000, 23000, 24000,
        ],
    ),
    (
        "a-fln-09",
        "flin-stage3",
        &[
            1000, 19000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000, 13000, 14000, 15000,
            20000, 21000, 22000, 23000, 24000,
        ],
    ),
    ("a-fln-12", "read-first", &[100000, 200000, 300000, 400000, 500000, 1825000, 1925000]),
    ("a-fln-12", "flin", &[100000, 200000, 300000, 400000, 500000, 1925000, 1025000]),
    ("a-fln-12", "read-first-suspend", &[100000, 200000, 300000, 400000, 500000, 1925000, 1025000]),
    ("a-fln-12-late", "flin", &[1325000, 2650000, 2750000]),
    ("a-fln-12-late", "read-first-suspend", &[1325000, 2750000, 2730000]),
    ("a-fln-14", "fcfs", &[1_325_000, 1_425_000, 2_750_000, 2_850_000]),
    ("a-fln-14", "read-first", &[1_525_000, 100_000, 2_850_000, 200_000]),
    ("a-fln-16", "sprinkler", &[1000, 2000, 1000, 1000, 2000]),
    ("a-ncq-01", "ncq-fcfs", &[2800000, 6200000, 11600000, 12880000, 13520000, 13920000, 13920000]),
    ("a-ncq-01", "ncq-s", &[2800000, 6200000, 11600000, 13920000, 12640000, 12000000, 12000000]),
    ("a-ncq-01", "ncq-sb", &[2800000, 6200000, 12000000, 13920000, 12640000, 10400000, 10000000]),
    ("a-ncq-01", "ncq-ts", &[2800000, 6200000, 13520000, 11920000, 10640000, 13920000, 10000000]),
    ("a-ncq-01", "ncq-tsb", &[2800000, 6200000, 13920000, 12320000, 11040000, 10400000, 10000000]),
    (
        "a-ncq-02",
        "alpha-90",
        &[
            9000000, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000, 10000000, 11000000, 12000000,
            13000000, 14000000,
        ],
    ),
    (
        "a-ncq-02",
        "alpha-50",
        &[
            3000000, 1000000, 4000000, 5000000, 6000000, 7000000, 8000000, 9000000, 10000000, 11000000, 12000000,
            13000000, 14000000,
        ],
    ),
    (
        "a-ncq-02",
        "alpha-0",
        &[
            3000000, 1000000, 4000000, 5000000, 6000000, 7000000, 8000000, 9000000, 10000000, 11000000, 12000000,
            13000000, 14000000,
        ],
    ),
    (
        "a-ncq-02",
        "alpha-100",
        &[
            14000000, 1000000, 2000000, 3000000, 4000000, 5000000, 6000000, 7000000, 8000000, 9000000, 10000000,
            11000000, 12000000,
        ],
    ),
    ("a-ncq-03", "ncq-tsb", &[0, 1400000, 2020000, 3020000]),
    ("a-ncq-05", "ncq-fcfs", &[0, 1440000, 2000000, 3020000]),
    (
        "a-slk-01",
        "fr-fcfs",
        &[1000, 2000, 3000, 4000, 5000, 6000, 7000, 1000, 2000, 3000, 4000, 1000, 8000, 6000], // A, B: 8, 6
    ),
    ("a-slk-01", "rbyp", &[1000, 2000, 3000, 4000, 5000, 6000, 7000, 1000, 2000, 3000, 4000, 1000, 8000, 5000]),
    ("a-slk-01", "slacker", &[1000, 2000, 3000, 4000, 5000, 6000, 7000, 1000, 2000, 3000, 4000, 1000, 8000, 5000]),
    (
        "a-slk-02",
        "fr-fcfs",
        &[
            4000, 1000, 2000, 3000, 4000, 5000, 6000, 1000, 2000, 3000, 4000, 1000, 2000, 3000, 4000, 5000, 7000, 6000,
            7000, // RA, RB, RC arrive at 2000: 5, 4, 5
        ],
    ),
    (
        "a-slk-02",
        "rbyp",
        &[
            4000, 1000, 2000, 3000, 4000, 5000, 6000, 1000, 2000, 3000, 4000, 1000, 2000, 3000, 4000, 5000, 7000, 5000,
            6000,
        ],
    ),
    (
        "a-slk-02",
        "slacker",
        &[
            4000, 1000, 2000, 3000, 4000, 5000, 6000, 1000, 2000, 3000, 4000, 1000, 2000, 3000, 4000, 5000, 7000, 5000,
            6000,
        ],
    ),
    (
        "a-slk-03",
        "fr-fcfs",
        &[4000, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 12_000, 12_000], // WB from 3000: 9; WC from 4000: 8
    ),
    ("a-slk-03", "wbyp", &[4000, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 12000, 8000]),
    ("a-slk-03", "slacker", &[4000, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 12000, 8000]),
    ("a-slk-04", "fr-fcfs", &[4000, 1000, 2000, 3000, 4000, 5000, 9000, 6000, 7000]),
    ("a-slk-04", "wp", &[4000, 1000, 2000, 3000, 4000, 5000, 9000, 5000, 4000]),
    ("a-slk-04", "slacker", &[4000, 1000, 2000, 3000, 4000, 5000, 9000, 5000, 4000]),
    ("a-slk-11", "fr-fcfs-10", &[1000, 2000, 6000, 7000, 8000, 9000, 10_000, 11_000, 12_000, 13_000, 3000, 4000, 5000]),
    ("a-slk-14", "fr-fcfs", &[100000, 200000, 300000, 400000, 500000, 1825000, 1425000]),
    ("a-slk-14", "wp", &[100000, 200000, 300000, 400000, 500000, 1825000, 450000]),
    ("a-slk-15", "fr-fcfs", &[100000, 1425000, 1445000]),
    ("a-slk-15", "wp", &[100000, 1425000, 1445000]),
    ("a-slk-15", "wp-blind", &[100000, 1445000, 470000]),
    ("a-slk-19", "static", &[4000, 8000, 12_000, 16_000]),
    ("a-slk-19", "rotate", &[4000, 4000, 4000, 8000]),
    ("a-slk-19", "dynalloc", &[4000, 4000, 4000, 8000]),
    ("a-sos-01", "hos", &[4000, 8000, 9000, 13000, 1000]),
    ("a-sos-01", "hos+qsl", &[4000, 4000, 5000, 5000, 1000]),
    ("a-sos-01", "sos", &[4000, 4000, 5000, 5000, 1000]),
    ("a-sos-02", "hos", &[1000, 2000, 3000, 4000, 5000, 4000, 8000]),
    ("a-sos-02", "hos+qsl", &[1000, 2000, 3000, 4000, 5000, 4000, 4000]),
    ("a-sos-02", "sos", &[1000, 2000, 3000, 4000, 5000, 4000, 4000]),
    ("a-sos-03", "keep", &[4000, 8000, 12_000, 16_000, 20_000]),
    ("a-sos-03", "overwrite", &[4000, 8000, 12_000, 8000, 12_000]),
    ("a-sos-03", "hos", &[4000, 8000, 12_000, 16_000, 20_000]),
    ("a-sos-03", "hos+whm", &[4000, 8000, 12_000, 8000, 12_000]),
    ("a-sos-03", "sos", &[4000, 8000, 12_000, 8000, 12_000]),
    ("a-sos-03", "at-once", &[4000, 2000, 3000, 8000, 12_000]),
    ("a-sos-03-buffer", "hos", &[1000, 1000, 2000, 3000, 5000]),
    ("a-sos-03-buffer", "hos+whm", &[1000, 1000, 2000, 3000, 4000]),
    ("a-sos-03-place", "hos", &[4000, 8000, 12_000, 13_000, 17_000]),
    ("a-sos-03-place", "tail", &[4000, 13_000, 8000, 9000, 13_000]),
    ("a-sos-03-place", "place", &[4000, 8000, 12_000, 13_000, 8000]),
    ("a-sos-03-place", "place-at-once", &[4000, 1000, 12_000, 13_000, 8000]),
    ("a-sos-04", "overwrite", &[4000, 8000, 8000, 104_000, 104_000]),
    ("a-sos-04", "hos+whm", &[4000, 8000, 8000, 104_000, 104_000]),
    ("a-sos-04", "sos", &[4000, 8000, 8000, 104_000, 104_000]),
    ("a-sos-04", "at-once", &[4000, 2000, 8000, 100_000, 104_000]),
    ("a-sos-05", "hos", &[4000, 5000, 1000, 9000, 10000, 7000, 13_000, 17_000]),
    ("a-sos-05", "hos+qsl", &[4000, 5000, 1000, 5000, 10000, 11_000, 10000, 14_000]),
    ("a-sos-05", "sos", &[4000, 5000, 1000, 5000, 10000, 11_000, 10000, 14_000]),
    ("a-sos-06", "hos", &[4000, 8000, 12_000, 1000, 5000]),
    ("a-sos-06", "hos+qsl", &[4000, 4000, 5000, 1000, 4000]),
    ("a-sos-07", "tail", &[4000, 8000, 7000, 7000, 1000, 2000, 3000, 1000, 2000, 3000]),
    ("a-sub-01", "read-first", &[1_349_202, 10_124_202]),
    ("a-sub-01-single", "read-first", &[2_649_202, 10_199_202]),
    ("a-sub-02", "read-first", &[99_601, 124_202, 148_803, 173_404]),
    ("a-sub-03", "read-first", &[1_324_601, 1_349_202, 1_373_803, 1_398_404]),
    ("a-sub-05", "fcfs", &[1_424_202, 6_424_202, 11_424_202, 12_948_005]),
    ("a-sub-06", "fcfs", &[20_240, 130_480, 150_720, 540_480, 565_240]),
    ("a-sub-07", "fcfs", &[40_480, 150_720, 260_960]),
    ("a-sub-08", "read-first", &[130_480, 350_720]),
    ("a-sub-09", "fcfs", &[777, 787, 5_000, 5_000, 120_777, 120_100]),
    ("a-sub-10", "fcfs", &[40_480, 40_480, 1_020_240, 2_040_480]),
    ("a-sub-11", "fcfs", &[1_000, 1_000, 3_000, 5_000, 7_000]),
    ("fln-exact-fractions", "exact", &[8_000, 17_000, 26_000, 9_000, 18_000, 27_000, 28_000]),
    ("fln-read-slot", "flin-stage3", &[4_000, 10_000, 2_000, 6_000, 14_000, 12_000]),
    ("fln-read-slot", "flin", &[4_000, 10_000, 2_000, 6_000, 14_000, 12_000]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/golden")
}

/// When each request was done, in order of issue, from a file of request rows.
fn done(rows: &str) -> Vec<u64> {
    let mut lines = rows.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).expect("a documented column");
    let (id, done) = (column("id"), column("done_ns"));
    let by_id: BTreeMap<u64, u64> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[id].parse().expect("a number"), cells[done].parse().expect("a number"))
        })
        .collect();
    by_id.into_values().collect()
}

/// Runs a file with the auditor; returns the times by scheduler.
fn run(name: &str) -> BTreeMap<String, Vec<u64>> {
    let scenario = Scenario::load(&folder().join(format!("{name}.toml"))).expect("a good scenario");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(name);
    // Results of another version may be there.
    let _ = std::fs::remove_dir_all(&out);
    let dir = ResultsDir::create(&out).expect("a folder for results");
    let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: false });
    let options = Options { audit: true, rows, activity: false, progress: None };
    let comparison = compare(&scenario, &options).expect("a run without a violation");
    dir.write("summary.json", comparison.summary.to_json().as_bytes()).expect("written");
    let at = dir.commit().expect("committed");
    let names: Vec<String> = scenario.schedulers().expect("schedulers").iter().map(|s| s.name()).collect();
    let several = names.len() > 1;
    let times = names.into_iter().map(|scheduler| {
        let folder = if several { at.join(&scheduler) } else { at.clone() };
        let rows = std::fs::read_to_string(folder.join("requests.csv")).expect("rows of requests");
        (scheduler, done(&rows))
    });
    times.collect()
}

#[test]
fn every_file_comes_to_its_times() {
    let mut names: Vec<&str> = SCENES.iter().map(|(name, ..)| *name).collect();
    names.dedup();
    for name in names {
        let expected: BTreeMap<String, Vec<u64>> = SCENES
            .iter()
            .filter(|(file, ..)| *file == name)
            .map(|(_, scheduler, times)| (scheduler.to_string(), times.to_vec()))
            .collect();
        assert_eq!(run(name), expected, "{name}");
    }
}

#[test]
fn every_file_is_in_the_table_and_says_its_times() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder of scenes")
        .map(|entry| entry.expect("an entry").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut names: Vec<&str> = SCENES.iter().map(|(name, ..)| *name).collect();
    names.dedup();
    assert_eq!(files, names);
    for (name, scheduler, times) in SCENES {
        let text = std::fs::read_to_string(folder().join(format!("{name}.toml"))).expect("a scenario");
        let line = format!("# done {scheduler} = {times:?}");
        assert!(text.lines().any(|l| l == line), "{name}.toml does not say: {line}");
    }
}
