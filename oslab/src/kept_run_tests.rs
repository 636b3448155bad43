//! The run that is kept in docs/papers/oslab-2cpu.csv, and what docs/papers/precompletion.md says of it.

use std::path::PathBuf;

use crate::figures::{Quartiles, RawSlot};
use crate::findings::Findings;
use crate::methods::Settings;
use crate::text::render;

fn read(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/papers").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The slots of the kept run.
fn slots() -> Vec<RawSlot> {
    let text = read("oslab-2cpu.csv");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), columns.len(), "{line}");
            let cell = |name: &str| cells[columns.iter().position(|&column| column == name).expect(name)];
            let number = |name: &str| (!cell(name).is_empty()).then(|| cell(name).parse::<f64>().expect(name));
            let background = ["idle", "cpu", "io"].into_iter().find(|&word| word == cell("background"));
            RawSlot {
                background: background.expect("a known background"),
                round: cell("round").parse().expect("a round"),
                pair: cell("pair").into(),
                method: Some(cell("method")).filter(|method| !method.is_empty()).map(String::from),
                ios: cell("ios").parse().expect("I/Os"),
                device_late: cell("device_late").parse().expect("I/Os left out"),
                added_us: number("added_us"),
                exposed_us: number("exposed_us"),
                exposed_p50_us: number("exposed_p50_us"),
                exposed_p99_us: number("exposed_p99_us"),
                wake_p50_us: number("wake_p50_us"),
                wake_p90_us: number("wake_p90_us"),
                wake_p99_us: number("wake_p99_us"),
                spin_share: number("spin_share").expect("a share"),
                background_per_s: number("background_per_s").expect("operations"),
            }
        })
        .collect()
}

/// The page's words with single spaces, so that a line's end may be anywhere.
fn page() -> String {
    read("precompletion.md").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_page_has_the_table_of_the_kept_run() {
    let findings = Findings::new(Settings::default(), 2, Vec::new(), slots());
    let printed = render(&findings);
    assert!(printed.lines().count() > 24, "{printed}");
    assert!(read("precompletion.md").contains(printed.trim_end()), "the page has another table than\n{printed}");
}

/// How far the kept run is from what counts as disturbed.
#[test]
fn the_page_has_the_extremes_of_the_kept_run() {
    let slots = slots();
    let findings = Findings::new(Settings::default(), 2, Vec::new(), slots.clone());
    assert!(findings.disturbed.is_empty(), "{:?}", findings.verdicts);
    let beside = findings.paired.iter().filter(|p| p.background != "idle");
    let most = beside.map(|p| p.background_over_alone.expect("pairs").q3).fold(0.0, f64::max);
    let spread = ["cpu", "io"].map(|background| {
        let alone = slots.iter().filter(|s| s.background == background && s.method.is_none());
        let alone = Quartiles::of(alone.map(|s| s.background_per_s).collect()).expect("slots");
        alone.q3 / alone.q1
    });
    let poll = findings.paired.iter().find(|p| (p.background, p.method.as_str()) == ("idle", "poll"));
    let late = poll.and_then(|p| p.exposed_us).expect("rounds").median;
    let message = format!("these are {most:.2}, {:.2} and {late:.1} us at most", spread[0].max(spread[1]));
    assert!(page().contains(&message), "the page does not say: {message}");
}

/// The means of the adaptive window over those of the interrupt, slot beside slot, and what is left in the middle.
#[test]
fn the_page_has_the_ratios_of_the_kept_run() {
    let slots = slots();
    let of = |background: &str| {
        let own = slots.iter().filter(|s| s.background == background && s.method.as_deref() == Some("pre-adaptive"));
        let ratios = own.filter_map(|own| {
            let is_beside = |s: &&RawSlot| {
                (s.background, s.round, &s.pair, s.method.as_deref())
                    == (own.background, own.round, &own.pair, Some("irq"))
            };
            Some(own.added_us? / slots.iter().find(is_beside)?.added_us?)
        });
        let Quartiles { q1, median, q3, rounds } = Quartiles::of(ratios.collect()).expect("rounds");
        assert_eq!(rounds, 16);
        [median, q1, q3].map(|ratio| format!("{ratio:.2}"))
    };
    let page = page();
    let ([cpu, c1, c3], [io, i1, i3], [idle, a1, a3]) = (of("cpu"), of("io"), of("idle"));
    for message in [
        format!(
            "the mean is {cpu} of the interrupt's beside CPU threads (quartiles {c1} to {c3}) and {io} beside I/O threads ({i1} to {i3})"
        ),
        format!("on an idle CPU it is {idle} ({a1} to {a3})"),
    ] {
        assert!(page.contains(&message), "the page does not say: {message}");
    }
    let findings = Findings::new(Settings::default(), 2, Vec::new(), slots.clone());
    let paired = |background: &str, method: &str| {
        let own = findings.paired.iter().find(|p| p.background == background && p.method == method);
        own.expect("measured").clone()
    };
    let left =
        |background, method| format!("{:.2}", paired(background, method).exposed_over_irq.expect("pairs").median);
    let message = format!(
        "a window of 16 us leaves {} beside CPU threads and {} beside I/O threads, the adaptive one {} beside both",
        left("cpu", "pre16"),
        left("io", "pre16"),
        left("cpu", "pre-adaptive")
    );
    assert!(page.contains(&message), "the page does not say: {message}");
    assert_eq!(left("cpu", "pre-adaptive"), left("io", "pre-adaptive"));
    let lost = |method| {
        let of = |background| 100.0 * (1.0 - paired(background, method).background_over_alone.expect("pairs").median);
        [of("cpu"), of("io")]
    };
    let windows = [lost("pre16"), lost("pre-adaptive")].concat();
    assert!(windows.iter().all(|&percent| (3.5..6.5).contains(&percent)), "4 to 6 %: {windows:?}");
    assert!(lost("poll-prio").iter().all(|&percent| (95.0..97.0).contains(&percent)), "96 %: {:?}", lost("poll-prio"));
}
