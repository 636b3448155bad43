//! The table of the scaling runs, and its cliffs.

use super::{SCHEDULERS, axes};

/// A point may cost this many times what its cheaper neighbour costs.
const CLIFF: f64 = 3.0;

/// One axis: its name, and for each value the figures of all schedulers.
pub type Axis = (&'static str, Vec<(u64, Vec<f64>)>);

/// The table of all axes, with a sentence on neighbours that are further apart than they may be.
pub fn render(axes: &[Axis]) -> String {
    let mut text = format!("| axis | value | {} |\n|---|---:|", SCHEDULERS.join(" | "));
    text += &"---:|".repeat(SCHEDULERS.len());
    text.push('\n');
    for (axis, rows) in axes {
        for (value, figures) in rows {
            let cells: Vec<String> = figures.iter().map(|ns| format!("{ns:.0}")).collect();
            text += &format!("| {axis} | {} | {} |\n", grouped(*value), cells.join(" | "));
        }
    }
    let cliffs = cliffs(axes);
    text += &match cliffs.as_slice() {
        [] => format!("\nNo figure is over {CLIFF} times its neighbour's.\n"),
        some => format!("\nOver {CLIFF} times the neighbour's: {}.\n", some.join("; ")),
    };
    text
}

/// The steps along an axis that cost more than [`CLIFF`] times as much, either way.
fn cliffs(axes: &[Axis]) -> Vec<String> {
    let mut found = Vec::new();
    for (axis, rows) in axes {
        for (number, scheduler) in SCHEDULERS.iter().enumerate() {
            for pair in rows.windows(2) {
                let (one, other) = (pair[0].1[number], pair[1].1[number]);
                let ratio = one.max(other) / one.min(other);
                if ratio > CLIFF {
                    let (from, to) = (grouped(pair[0].0), grouped(pair[1].0));
                    found.push(format!("{scheduler}, {axis} {from} to {to}: {ratio:.1}"));
                }
            }
        }
    }
    found
}

/// 30,000,000
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Number of measurements.
pub fn points() -> usize {
    axes().iter().map(|(_, points)| points.len() * SCHEDULERS.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cliff_is_named() {
        let even = vec![(1, vec![100.0; 4]), (1_000, vec![299.0; 4])];
        let text = render(&[("depth", even)]);
        assert!(
            text.contains("| depth | 1,000 | 299 | 299 | 299 | 299 |") && text.contains("No figure is over 3"),
            "{text}"
        );
        let steep = vec![(1, vec![100.0; 4]), (10, vec![100.0, 100.0, 310.0, 100.0])];
        let text = render(&[("flows", steep)]);
        assert!(text.contains("neighbour's: flin, flows 1 to 10: 3.1."), "{text}");
    }
}
