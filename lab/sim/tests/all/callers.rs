//! What a program that calls the laboratory may do: keep rows in memory, and stop runs.

use flashlane_report::results::{Format, MemoryValues, ResultsDir};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, Progress, RowOutput, RunError, compare};

const SCENARIO: &str = "schedulers = [\"fcfs\", \"read-first\"]\n[device]\npreset = \"unit-cycle\"\n[run]\nalone = false\n[[flow]]\n[flow.synthetic]\n\
    read_ratio = 0.5\nsize = { constant = 2048 }\nrate_iops = 100_000\nrequests = REQUESTS\n";

fn scenario(requests: u64) -> Scenario {
    Scenario::parse("callers", SCENARIO.replace("REQUESTS", &requests.to_string())).expect("a scenario")
}

#[test]
fn rows_in_memory_are_those_of_the_file() {
    let memory = ResultsDir::in_memory();
    let rows = RowOutput { dir: &memory, format: Format::Parquet, transactions: true };
    let options = Options { audit: false, rows: Some(rows), activity: false, progress: None };
    compare(&scenario(500), &options).expect("runs");
    let kept = memory.take_rows();
    let names: Vec<&str> = kept.keys().map(String::as_str).collect();
    assert_eq!(names, ["fcfs/requests", "fcfs/transactions", "read-first/requests", "read-first/transactions"]);

    let folder = tempfile::tempdir().expect("a folder");
    let dir = ResultsDir::create(&folder.path().join("out")).expect("a folder");
    let rows = RowOutput { dir: &dir, format: Format::Csv, transactions: true };
    compare(&scenario(500), &Options { audit: false, rows: Some(rows), activity: false, progress: None })
        .expect("runs");
    let out = dir.commit().expect("committed");
    for (name, rows) in &kept {
        let written = std::fs::read_to_string(out.join(format!("{name}.csv"))).expect("written");
        let mut lines = written.lines();
        let heads: Vec<&str> = rows.table.columns.iter().map(|column| column.name).collect();
        assert_eq!(lines.next(), Some(heads.join(",").as_str()));
        assert!(rows.rows() >= 500);
        for row in 0..rows.rows() {
            let cells = rows.chunks[0].iter().map(|column| match (&column.present, &column.values) {
                (Some(present), _) if !present[row] => String::new(),
                (_, MemoryValues::Long(values)) => values[row].to_string(),
                (_, MemoryValues::Short(values)) => values[row].to_string(),
                (_, MemoryValues::Word(values)) => rows.words[values[row] as usize].to_owned(),
                (_, MemoryValues::Flag(values)) => values[row].to_string(),
            });
            assert_eq!(lines.next(), Some(cells.collect::<Vec<_>>().join(",").as_str()), "{name}, row {row}");
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn a_comparison_that_is_stopped_ends_without_figures() {
    let progress = Progress::default();
    let scenario = scenario(100_000_000_000);
    let ended = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            compare(&scenario, &Options { audit: false, rows: None, activity: false, progress: Some(&progress) })
        });
        while progress.done() == 0 {
            std::thread::yield_now();
        }
        progress.stop();
        run.join().expect("no panic")
    });
    assert!(matches!(ended, Err(RunError::Stopped)), "{:?}", ended.map(|made| made.summary.baseline));
}
