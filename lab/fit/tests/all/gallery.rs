//! The gallery of docs/fit.md: a row for each fit to what others measured.

use flashlane_fit::Answer;

/// The row of a fit: of held-out jobs the middle and the largest error of means and 99th percentiles, and the uses that the device's file tells.
pub fn row(drive: &str, answer: &Answer) -> String {
    let reads = answer.rows.iter().map(|row| (row.is_fitted, Some(row.mean_error()), row.error(990_000)));
    let beside = answer.writes.iter().flat_map(|written| &written.beside).filter(|row| row.rate.is_some());
    let beside = beside.map(|row| (row.is_fitted, Some(row.error()), row.tail_error()));
    let all: Vec<_> = reads.chain(beside).collect();
    let fitted = all.iter().filter(|(is_fitted, ..)| *is_fitted).count();
    let cell = |errors: Vec<Option<f64>>| {
        let mut errors: Vec<f64> = errors.into_iter().flatten().map(|off| 100.0 * off.abs()).collect();
        errors.sort_by(f64::total_cmp);
        match errors.last() {
            Some(last) => format!("{:.1}, {last:.1} %", errors[errors.len() / 2]),
            None => "-".into(),
        }
    };
    let held_out = || all.iter().filter(|(is_fitted, ..)| !is_fitted);
    let [means, tails] = [held_out().map(|row| row.1).collect(), held_out().map(|row| row.2).collect()].map(cell);
    let word = |device: &str, of: &str| {
        let line = device.lines().rev().find_map(|line| line.strip_prefix(&format!("{of} = ")));
        format!("{of} {}", line.expect("it is in each file").trim_matches('"'))
    };
    let uses = match &answer.device {
        Ok(device) => ["reads", "mixed", "writes"].map(|of| word(device, of)).join(", "),
        Err(_) => "no device".into(),
    };
    format!("| {drive} | {} | {fitted}, {} | {means} | {tails} | {uses} |", answer.preset, all.len() - fitted)
}
