//! What the verdict says of an elevator and of limits above the drive.

use super::tests::two_flows;
use super::{Finding, FindingKind, Verdict};
use crate::results::Summary;
use crate::results::block::{BlockFlowStats, BlockStats, WaitStats};

/// A block layer: `elevator`, in which `waiting` of 1,000 requests of each flow wait; whether `batch` has a limit.
fn layer(elevator: &str, waiting: u64, is_limited: bool) -> BlockStats {
    let none = WaitStats { requests: 0, mean_ns: 0.0 };
    let flow = |name: &str, is_limited: bool| BlockFlowStats {
        name: name.into(),
        is_limited,
        requests: 1_000,
        merged: 0,
        limit: none,
        tag: none,
        elevator: WaitStats { requests: waiting, mean_ns: 1_000.0 },
        driver: none,
    };
    let flows = vec![flow("web", false), flow("batch", is_limited)];
    BlockStats { scheduler: "s".into(), elevator: elevator.into(), depth: 32, nr_requests: 64, flows }
}

/// Runs of two flows, `web` that reads and `batch` that writes, whose response times have these scales, below these block layers.
fn below(runs: &[(&str, u64, u64, BlockStats)]) -> Summary {
    let plain: Vec<(&str, u64, u64)> = runs.iter().map(|&(name, web, batch, _)| (name, web, batch)).collect();
    let mut summary = two_flows(&plain);
    for (made, (.., block)) in summary.schedulers.iter_mut().zip(runs) {
        made.block = Some(block.clone());
        made.decisions.pick = "fcfs".into();
    }
    summary
}

fn of_host(summary: &Summary) -> Vec<Finding> {
    let kinds = [FindingKind::HostGains, FindingKind::HostPays, FindingKind::LimitBringsNothing];
    Verdict::of(summary).findings.into_iter().filter(|finding| kinds.contains(&finding.kind)).collect()
}

fn texts(summary: &Summary) -> Vec<String> {
    of_host(summary).into_iter().map(|finding| finding.text).collect()
}

/// A limit that brings reads nothing, and who pays for it; why is said only of a drive that takes reads first.
#[test]
fn a_limit_that_brings_reads_nothing() {
    let mut summary =
        below(&[("s+none", 10, 60, layer("none", 0, true)), ("s+none-unlimited", 10, 20, layer("none", 0, false))]);
    for (pick, why) in [("fcfs", ""), ("read-first", "; the drive itself takes reads before writes (pick read-first)")]
    {
        summary.schedulers[0].decisions.pick = pick.into();
        let said = texts(&summary);
        let pays =
            "batch pays for limits under s+none: mean 3.0x slower than under s+none-unlimited (29.99 µs -> 89.97 µs)";
        assert!(said[0].starts_with(pays), "{said:?}");
        assert!(said[1].starts_with("limits bring web nothing under s+none: mean alike ("), "{said:?}");
        assert!(said[1].ends_with(&format!("within 5%){why}")) && said.len() == 2, "{said:?}");
    }
}

/// Reads that limits make a little longer they bring nothing; from a tenth on reads pay.
#[test]
fn reads_that_limits_make_longer() {
    let said = |with: u64| {
        let runs =
            [("s+none", with, 20, layer("none", 0, true)), ("s+none-unlimited", 100, 20, layer("none", 0, false))];
        texts(&below(&runs)).swap_remove(0)
    };
    assert!(
        said(105).starts_with("limits bring web nothing under s+none: mean 5% slower than under "),
        "{}",
        said(105)
    );
    assert!(said(120).starts_with("web pays for limits under s+none: mean 20% slower than under "), "{}", said(120));
}

#[test]
fn a_limit_that_brings_reads_something() {
    let summary =
        below(&[("s+none", 10, 60, layer("none", 0, true)), ("s+none-unlimited", 40, 20, layer("none", 0, false))]);
    let said = texts(&summary);
    assert!(
        said[0].starts_with("web gains by limits under s+none: mean 4.0x faster than under s+none-unlimited ("),
        "{said:?}"
    );
    assert!(said[1].starts_with("batch pays for limits under s+none: "), "{said:?}");
    assert_eq!(said.len(), 2);
}

/// Who pays for an elevator is said against its scheduler below `none`, unless the run is compared with that one anyway.
#[test]
fn who_pays_for_an_elevator() {
    let mut summary = below(&[
        ("s+none", 10, 20, layer("none", 0, false)),
        ("s+mq-deadline", 20, 20, layer("mq-deadline", 900, false)),
        ("other", 5, 5, layer("none", 0, false)),
    ]);
    summary.schedulers[2].block.as_mut().expect("a block layer").scheduler = "t".into();
    assert_eq!(texts(&summary), [""; 0], "{:?}", texts(&summary));
    summary.compare_with(2, &[]);
    let said = texts(&summary);
    assert!(
        said[0].starts_with("web pays for mq-deadline under s+mq-deadline: mean 2.0x slower than under s+none ("),
        "{said:?}"
    );
    assert!(said.len() == 1 && said[0].ends_with(')'), "{said:?}");
    let block = summary.schedulers[1].block.as_mut().expect("a block layer");
    (block.nr_requests, block.flows[0].tag.requests) = (32, 400);
    let why = "; it has 32 tags and none 64, and 40% of the flow's requests waited for one";
    assert!(texts(&summary)[0].ends_with(why), "{:?}", texts(&summary));
}

/// Fewer than one in a hundred waited in the elevator: its order could not matter. Of `none` it is not said.
#[test]
fn an_elevator_with_nothing_to_order() {
    let said = |waiting: u64| {
        let summary = below(&[
            ("s+none", 10, 20, layer("none", 900, false)),
            ("s+mq-deadline", 10, 20, layer("mq-deadline", waiting, false)),
        ]);
        let found = Verdict::of(&summary).findings.into_iter().find(|one| one.kind == FindingKind::NothingToOrder);
        found.map(|finding| finding.text)
    };
    let text = "the host had nothing to order under s+mq-deadline: at most 1% of the requests waited in its elevator";
    assert_eq!((said(10).as_deref(), said(11)), (Some(text), None));
    let alone = below(&[("s+mq-deadline", 10, 20, layer("mq-deadline", 0, false))]);
    let found = Verdict::of(&alone).findings;
    assert!(found.iter().any(|finding| finding.text == text), "{found:?}");
}
