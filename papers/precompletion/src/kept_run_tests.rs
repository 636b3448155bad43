//! The run that is kept in docs/results/papers/oslab-2cpu.csv, and what docs/results/papers/precompletion.md says of it.

use std::path::PathBuf;

use crate::figures::{Paired, Quartiles, Row};
use crate::verdicts::{alone, render};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/papers").join(name)
}

/// The slots of the kept run.
fn rows() -> Vec<Row> {
    let rows = csv::Reader::from_path(file("oslab-2cpu.csv")).expect("the kept run").into_deserialize();
    rows.collect::<Result<_, _>>().expect("slots")
}

fn read_page() -> String {
    let path = file("precompletion.md");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The page's words with single spaces, so that a line's end may be anywhere.
fn page() -> String {
    read_page().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_page_has_the_table_of_the_kept_run() {
    let printed = render(&rows(), &[]);
    assert!(printed.lines().count() > 24, "{printed}");
    assert!(read_page().contains(printed.trim_end()), "the page has another table than\n{printed}");
}

/// How far the kept run is from what counts as disturbed.
#[test]
fn the_page_has_the_extremes_of_the_kept_run() {
    let rows = rows();
    assert!(!render(&rows, &[]).contains("nothing is shown"));
    let paired = Paired::all(&rows);
    let beside = paired.iter().filter(|p| p.background != "idle");
    let most = beside.map(|p| p.background_over_alone.expect("pairs").q3).fold(0.0, f64::max);
    let spread = ["cpu", "io"].map(|background| {
        let alone = alone(background, &rows).expect("slots");
        alone.q3 / alone.q1
    });
    let poll = paired.iter().find(|p| (p.background.as_str(), p.method.as_str()) == ("idle", "poll"));
    let late = poll.and_then(|p| p.exposed_us).expect("rounds").median;
    let message = format!("these are {most:.2}, {:.2} and {late:.1} us at most", spread[0].max(spread[1]));
    assert!(page().contains(&message), "the page does not say: {message}");
}

/// The means of the adaptive window over those of the interrupt, slot beside slot, and what is left in the middle.
#[test]
fn the_page_has_the_ratios_of_the_kept_run() {
    let rows = rows();
    let of = |background: &str| {
        let own = rows.iter().filter(|s| s.background == background && s.method.as_deref() == Some("pre-adaptive"));
        let ratios = own.filter_map(|own| Some(own.added_us? / own.beside(&rows, Some("irq"))?.added_us?));
        let Quartiles { q1, median, q3, rounds } = Quartiles::of(ratios).expect("rounds");
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
    let all = Paired::all(&rows);
    let paired = |background: &str, method: &str| {
        let own = all.iter().find(|p| p.background == background && p.method == method);
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
