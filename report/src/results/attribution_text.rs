//! An attribution as text for the terminal.

use super::attribution::Attribution;
use super::format::{or_dash, signed, time};
use super::table::{section, table};
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
        let mut rows = table(["", "contributes", "± 95 %", "of the change", "made first", "made last"]);
        let change = measure.to_ns - measure.from_ns;
        rows.add_row([from.clone(), time(measure.from_ns), String::new(), String::new(), String::new(), String::new()]);
        for (difference, part) in attribution.differences.iter().zip(&measure.parts) {
            rows.add_row([
                format!("{}: {} -> {}", difference.what, difference.from, difference.to),
                signed(part.contribution_ns),
                or_dash(part.ci95_ns, time),
                or_dash((change != 0.0).then(|| part.contribution_ns / change), |share| {
                    format!("{:.0}%", 100.0 * share)
                }),
                signed(part.first_ns),
                signed(part.last_ns),
            ]);
        }
        rows.add_row([to.clone(), time(measure.to_ns), String::new(), String::new(), String::new(), String::new()]);
        section(&mut text, &escaped(&measure.name), rows);
    }
    text
}
