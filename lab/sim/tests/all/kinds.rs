//! Kinds of requests from the scenario to the summary: none is lost, and each is counted for itself.

use std::path::Path;

use flashlane_report::results::Summary;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

fn compared(scenario: &Scenario) -> Summary {
    compare(scenario, &Options { audit: true, rows: None, activity: false, progress: None })
        .expect("no violation")
        .summary
}

/// Kind, issued, completed and rejected requests of each kind in a run.
fn received(summary: &Summary, run: usize) -> Vec<(String, [u64; 3])> {
    let commands = summary.schedulers[run].total.commands.as_ref().expect("trims");
    commands.received.iter().map(|kind| (kind.kind.clone(), [kind.issued, kind.completed, kind.rejected])).collect()
}

/// Three flows with trims and write zeroes under seven schedulers and the auditor: all serve the same requests of each kind, a trim takes 20
/// us and half a microsecond a mapped page, and reads and writes together leave them out.
#[test]
fn trims_of_synthetic_flows_and_by_hand_are_counted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/xtask/corpus/trims.toml");
    let summary = compared(&Scenario::load(&path).expect("a good scenario"));
    let first = received(&summary, 0);
    let kinds: Vec<&str> = first.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["read", "write", "trim", "write-zeroes"]);
    assert_eq!(first.iter().map(|(_, [issued, ..])| issued).sum::<u64>(), 604);
    for (i, run) in summary.schedulers.iter().enumerate() {
        assert_eq!(received(&summary, i), first, "{}", run.name);
        assert!(first.iter().all(|(_, [issued, completed, _])| issued == completed));
        let commands = run.total.commands.as_ref().expect("trims");
        let trims = commands.trim.as_ref().expect("they complete");
        let largest = 20_000 + 500 * 9;
        assert!(
            trims.min_ns >= 20_000 && trims.max_ns <= largest,
            "{}: {} to {} ns",
            run.name,
            trims.min_ns,
            trims.max_ns
        );
        let data = first[0].1[1] + first[1].1[1];
        assert_eq!(run.total.all.as_ref().map(|all| all.requests), Some(data));
        assert!(commands.flush.is_none());
    }
}

/// A trace with a trim that is left out: what was read of each kind is what was completed and what was rejected, at each run of the trace.
#[test]
fn a_trace_says_what_it_left_out_by_kind() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trims.csv");
    let text = "time_us,op,offset,length\n0,write,0,2048\n10,trim,99999999999999,2048\n20,trim,0,2048\n30,read,99999999999999,512\n\
                40,read,0,2048\n50,trim,99999999999999,2048\n";
    std::fs::write(&trace, text).expect("written");
    let text = format!(
        "schedulers = [\"fcfs\", \"read-first\"]\ndevice = \"unit-cycle\"\n[[flow]]\n[flow.trace]\npath = {:?}\nbeyond = \"reject\"\n",
        trace.display().to_string()
    );
    let summary = compared(&Scenario::parse("kinds", text).expect("a good scenario"));
    for run in 0..2 {
        let want = [("read", [2, 1, 1]), ("write", [1, 1, 0]), ("trim", [3, 1, 2])];
        assert_eq!(received(&summary, run), want.map(|(kind, counts)| (kind.to_owned(), counts)));
        assert_eq!(summary.schedulers[run].total.rejected, 3);
    }
}
