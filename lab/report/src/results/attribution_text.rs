//! An attribution as text for the terminal.

use super::attribution::{Attribution, Measure, NoShares};
use super::format::{faster, or_dash, signed, time};
use super::listed::{section, table};
use flashlane_outputs::shown::escaped;

/// The attribution as text for the terminal.
pub fn render(attribution: &Attribution) -> String {
    let Attribution { from, to, mixes, seeds, .. } = attribution;
    let mut text = format!(
        "From {from} to {to}: what each decision contributes to the mean response time\n\
         (Shapley value: the mean over all orders of making the changes; {mixes} mixes, {seeds} {})\n\n",
        if *seeds == 1 { "seed" } else { "seeds" }
    );
    for measure in &attribution.measures {
        let heads = ["", "contributes", "± 95 %", "of the change", "other way", "made first", "made last"];
        let mut rows = table(heads);
        let end = |name: &str, ns: f64, cells: [String; 3]| {
            let [interval, change, seeds] = cells;
            [name.to_owned(), time(ns), interval, change, seeds, String::new(), String::new()]
        };
        rows.add_row(end(from, measure.from_ns, Default::default()));
        for (difference, part) in attribution.differences.iter().zip(&measure.parts) {
            rows.add_row([
                format!("{}: {} -> {}", difference.what, difference.from, difference.to),
                signed(part.contribution_ns),
                or_dash(part.ci95_ns, time),
                or_dash(part.share, |share| format!("{:.0}%", 100.0 * share)),
                other_way(part.other_way, *seeds),
                signed(part.first_ns),
                signed(part.last_ns),
            ]);
        }
        let interval = measure.change_ci95_ns.map_or_else(String::new, time);
        rows.add_row(end(to, measure.to_ns, [interval, by(measure), other_way(measure.other_way, *seeds)]));
        let title = match no_shares(measure, *seeds) {
            Some(why) => format!("{} ({why})", escaped(&measure.name)),
            None => escaped(&measure.name).into_owned(),
        };
        section(&mut text, &title, rows);
    }
    text
}

/// How much faster the scheduler at the end is, if it is.
pub(super) fn by(measure: &Measure) -> String {
    match measure.no_shares {
        Some(NoShares::Alike) => "alike".into(),
        Some(NoShares::SeedsDisagree) => "not decided".into(),
        None if measure.to_ns > 0.0 => faster(measure.from_ns / measure.to_ns),
        None => String::new(),
    }
}

/// Why the change of a measure is not shared out.
pub(super) fn no_shares(measure: &Measure, seeds: u64) -> Option<String> {
    let change = signed(measure.to_ns - measure.from_ns);
    Some(match measure.no_shares? {
        NoShares::Alike => format!("no shares: the means differ by at most 1 %, {change}"),
        NoShares::SeedsDisagree => format!(
            "no shares: the change over {seeds} seeds is {change} +- {}, and may be none",
            or_dash(measure.change_ci95_ns, time)
        ),
    })
}

/// In how many of the seeds it goes the other way, if in some.
pub(super) fn other_way(count: u64, seeds: u64) -> String {
    if count == 0 { String::new() } else { format!("{count} of {seeds}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::attribution::Difference;

    fn text(seeds: &[[f64; 4]]) -> String {
        let values: Vec<Vec<f64>> = seeds.iter().map(|values| values.map(|ms| 1e6 * ms).to_vec()).collect();
        let difference = |what: &str| Difference { what: what.into(), from: "a".into(), to: "b".into() };
        render(&Attribution {
            from: "one".into(),
            to: "other".into(),
            differences: vec![difference("order"), difference("pick")],
            mixes: 4,
            seeds: seeds.len() as u64,
            measures: vec![Measure::of("writes", 2, &values)],
        })
    }

    fn rows(text: &str) -> Vec<Vec<&str>> {
        text.lines()
            .skip(3)
            .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect()
    }

    #[test]
    fn a_change_is_shared_out_in_the_words_of_a_comparison() {
        let text = text(&[[1.0, 0.7, 0.8, 0.5]]);
        let rows = rows(&text);
        assert_eq!(rows[0], ["writes"]);
        assert_eq!(rows[3], ["order: a -> b", "-300.0 µs", "-", "60%", "-300.0 µs", "-300.0 µs"]);
        assert_eq!(rows[5], ["other", "500.0 µs", "2.0x faster"]);
    }

    #[test]
    fn a_change_that_is_not_there_has_no_shares() {
        let alike = text(&[[1.0, 1.0088, 0.9962, 1.005]]);
        assert!(alike.contains("\nwrites (no shares: the means differ by at most 1 %, +5.000 µs)\n"), "{alike}");
        assert!(alike.contains("  alike") && !alike.contains("176%") && !alike.contains("x faster"), "{alike}");
        let seeds = [[10.0, 9.1, 10.0, 9.1], [10.0, 9.2, 10.0, 9.2], [10.0, 14.0, 10.0, 14.0], [10.0, 9.3, 10.0, 9.3]];
        let unsure = text(&seeds);
        assert!(unsure.contains("\nwrites (no shares: the change over 4 seeds is +400.0 µs +- "), "{unsure}");
        assert!(unsure.contains("not decided") && unsure.contains("3 of 4"), "{unsure}");
        assert_eq!(rows(&unsure)[4][3], "-", "{unsure}");
    }
}
