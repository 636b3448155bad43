//! How the instructions of a request grow with the number of flows, the size of the drive and the depth of the queues.
//!
//! Two processes are counted under callgrind, the second with twice the requests of the first. Their difference is that of the requests alone,
//! without start-up and output.

use std::fs;
use std::path::Path;

use super::{MIDDLE, Point};
use crate::callgrind;

/// The schedulers, in the order of the columns.
pub const SCHEDULERS: [&str; 3] = ["fcfs", "flin", "late"];

/// How many times the instructions of the first point another may have.
const MOST: f64 = 1.5;

/// What is counted: the small case first, then others that differ from it in what their name says.
pub fn points() -> [(&'static str, Point); 6] {
    let small = Point { requests: 40_960, ..MIDDLE };
    [
        ("16 GB, 1 flow, 256 in flight", small),
        ("1,024 flows, each 1 in flight", Point { flows: 1_024, depth: 1_024, ..small }),
        ("10,000 in flight", Point { depth: 10_000, ..small }),
        ("100,000 in flight, 2 flows", Point { requests: 204_800, flows: 2, depth: 100_000, ..small }),
        ("2 TB", Point { dies: 128, blocks: 4_270, ..small }),
        ("8 TB", Point { dies: 512, blocks: 4_270, ..small }),
    ]
}

/// Instructions of a request beyond start-up, with the `flashlane` at `program`.
///
/// # Errors
/// A file that cannot be written, a program that fails.
pub fn count(program: &Path, point: &Point, scheduler: &str) -> Result<f64, String> {
    let folder = program.parent().ok_or("the program lies in no folder")?;
    let path = folder.join("bench-growth.toml");
    let whole = |requests: u64| {
        fs::write(&path, Point { requests, ..*point }.scenario()).map_err(|e| format!("{}: {e}", path.display()))?;
        let args = ["run", "--scheduler", scheduler, "--jobs", "1", &path.display().to_string()].map(String::from);
        callgrind::whole(program, &args)
    };
    let (once, twice) = (whole(point.requests)?, whole(2 * point.requests)?);
    Ok(twice.saturating_sub(once) as f64 / point.requests as f64)
}

/// The table: each row the name of a point and the counts of all schedulers, with how many times those of the first row they are.
pub fn render(rows: &[(&str, Vec<f64>)]) -> String {
    let mut text =
        format!("| instructions a request | {} |\n|---|{}\n", SCHEDULERS.join(" | "), "---:|".repeat(SCHEDULERS.len()));
    let first = rows.first().map(|row| row.1.as_slice()).unwrap_or_default();
    let mut over = Vec::new();
    for (name, counts) in rows {
        let cells: Vec<String> = counts.iter().zip(first).map(|(n, of)| format!("{n:.0} ({:.2})", n / of)).collect();
        text += &format!("| {name} | {} |\n", cells.join(" | "));
        let steep = counts.iter().zip(first).zip(SCHEDULERS).filter(|((n, of), _)| **n > MOST * **of);
        over.extend(steep.map(|(_, scheduler)| format!("{scheduler}, {name}")));
    }
    text += &match over.as_slice() {
        [] => format!("\nNone is over {MOST} times the first row.\n"),
        some => format!("\nOver {MOST} times the first row: {}.\n", some.join("; ")),
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_too_much_is_named() {
        let rows = [("small", vec![100.0, 200.0, 300.0]), ("large", vec![150.0, 301.0, 300.0])];
        let text = render(&rows);
        assert!(text.contains("| large | 150 (1.50) | 301 (1.50) | 300 (1.00) |"), "{text}");
        assert!(text.ends_with("Over 1.5 times the first row: flin, large.\n"), "{text}");
        assert!(render(&rows[..1]).ends_with("None is over 1.5 times the first row.\n"));
    }
}
