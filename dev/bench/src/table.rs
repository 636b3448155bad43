//! Figures as a table that is readable both as plain text and as Markdown.

use crate::measure::Cost;

const HEAD: [&str; 9] = [
    "scheduler",
    "workload",
    "drive",
    "queue depth",
    "ns per transaction",
    "lowest to highest",
    "instructions",
    "start-up, ms",
    "peak memory, MB",
];

/// Columns of words are aligned left, columns of numbers right.
const WORDS: usize = 3;

/// The table of all rows.
pub fn render(rows: &[([String; 4], Cost)]) -> String {
    let mut cells: Vec<[String; 9]> = vec![HEAD.map(String::from)];
    cells.extend(rows.iter().map(|(labels, figures)| row(labels, figures)));
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    for (number, row) in cells.iter().enumerate() {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            text += &if column < WORDS { format!("| {cell:<width$} ") } else { format!("| {cell:>width$} ") };
        }
        text += "|\n";
        if number == 0 {
            for (column, width) in widths.iter().enumerate() {
                text += &format!("|{}{}", "-".repeat(width + 1), if column < WORDS { "-" } else { ":" });
            }
            text += "|\n";
        }
    }
    text
}

fn row(labels: &[String; 4], figures: &Cost) -> [String; 9] {
    let [low, median, high] = figures.ns;
    let [scheduler, workload, drive, depth] = labels.clone();
    [
        scheduler,
        workload,
        drive,
        depth,
        format!("{median:.1}"),
        format!("{low:.1} to {high:.1}"),
        figures.instructions.map_or("not counted".into(), |count| format!("{count:.1}")),
        format!("{:.1}", figures.ready_ns as f64 / 1e6),
        format!("{:.1}", figures.peak_bytes as f64 / 1e6),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let a = Cost {
            ns: [99.0, 100.25, 1_000.0],
            instructions: Some(356.4),
            ready_ns: 4_200_000,
            peak_bytes: 495_000_000,
        };
        let b = Cost { ns: [1.0, 2.0, 3.0], instructions: None, ready_ns: 0, peak_bytes: 0 };
        let text = render(&[
            (["fr-fcfs", "random-read", "480 GB", "32"].map(String::from), a),
            (["x", "y", "z", "1"].map(String::from), b),
        ]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{text}");
        assert!(lines.iter().all(|line| line.matches('|').count() == 10), "{text}");
        let cells: Vec<&str> = lines[2].split('|').map(str::trim).collect();
        let expect =
            ["", "fr-fcfs", "random-read", "480 GB", "32", "100.2", "99.0 to 1000.0", "356.4", "4.2", "495.0", ""];
        assert_eq!(cells, expect);
        assert!(lines[3].contains("not counted"));
    }
}
