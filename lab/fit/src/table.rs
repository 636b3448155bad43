//! The table of measured drives beside the model: for each figure what was measured, what came out, and the difference in percent; and whether it grew.

use std::fmt::Write as _;

/// What a row is about; each has a table of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads of a closed loop.
    Reads,
    /// Requests beside steady writes.
    Beside,
    /// Requests or bytes a second.
    Rates,
    /// Physical over host writes.
    Amplification,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Reads, Kind::Beside, Kind::Rates, Kind::Amplification];

    /// The heads of its columns.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Kind::Reads => &["p50", "p90", "p99", "p99.9", "mean", "a second"],
            Kind::Beside => &["p50", "p90", "p99", "p99.9", "mean"],
            Kind::Rates => &["rate"],
            Kind::Amplification => &["write amplification"],
        }
    }
}

/// A row.
#[derive(Debug)]
pub struct Row {
    kind: Kind,
    /// Device or job, load, whether devices are fitted to it or judged by it, and what is measured.
    pub labels: [String; 4],
    /// Whether devices are fitted to it.
    pub is_fitted: bool,
    /// What was measured, and what came out; NaN if it was not measured.
    pub cells: Vec<[f64; 2]>,
}

impl Row {
    /// A row of these `labels` (device or job, load, what is measured) and cells of what was measured and what came out.
    pub fn new(kind: Kind, labels: [&str; 3], is_fitted: bool, cells: Vec<[f64; 2]>) -> Row {
        let [first, load, what] = labels;
        let labels = [first, load, if is_fitted { "fit" } else { "judge" }, what].map(Into::into);
        Row { kind, labels, is_fitted, cells }
    }

    /// As a line of the table begins.
    fn begin(&self) -> String {
        format!("| {} |", self.labels.join(" | "))
    }

    /// A cell as text: measured, modelled, difference; `None` if one was not measured.
    pub fn shown(cell: [f64; 2]) -> Option<[String; 3]> {
        let [measured, modelled] = cell.map(number);
        let is_known = cell.iter().all(|value| !value.is_nan());
        is_known.then(|| [measured, modelled, format!("{:+.1} %", Row::error(cell))])
    }

    /// Difference of a cell, percent.
    fn error([measured, modelled]: [f64; 2]) -> f64 {
        100.0 * (modelled / measured - 1.0)
    }

    fn line(&self) -> String {
        let mut line = self.begin();
        for &cell in &self.cells {
            let shown = Row::shown(cell).map_or_else(|| "-".into(), |parts| parts.join(" "));
            write!(line, " {shown} |").expect("a string takes all");
        }
        line
    }
}

/// About three digits.
fn number(value: f64) -> String {
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$}")
}

/// What each cell has.
pub const CELLS: &str = "Each cell: measured, modelled, difference.";

/// The rows of each kind that there is.
pub fn by_kind(rows: &[Row]) -> impl Iterator<Item = (Kind, Vec<&Row>)> {
    let of = |kind| (kind, rows.iter().filter(|row| row.kind == kind).collect::<Vec<_>>());
    Kind::ALL.into_iter().map(of).filter(|(_, rows)| !rows.is_empty())
}

/// The table of `rows`; the head of its first column is `first`.
pub fn render(first: &str, rows: &[Row]) -> String {
    let mut text = format!("{CELLS}\n");
    for (kind, rows) in by_kind(rows) {
        let columns = kind.columns();
        let (heads, line) = (columns.join(" | "), "---:|".repeat(columns.len()));
        write!(text, "\n| {first} | load | for | of | {heads} |\n|---|---|---|---|{line}\n")
            .expect("a string takes all");
        rows.iter().for_each(|row| writeln!(text, "{}", row.line()).expect("a string takes all"));
    }
    text
}

/// By how much a difference may grow before it is a fault, points of percent: tails are of few requests.
fn margin(column: &str) -> f64 {
    match column {
        "p99.9" => 10.0,
        "p90" | "p99" => 5.0,
        _ => 3.0,
    }
}

/// What of `rows` is further from what was measured than the `stored` table says, a line each.
///
/// # Errors
/// A row that the stored table does not have.
pub fn worse(rows: &[Row], stored: &str) -> Result<Vec<String>, String> {
    let mut worse = Vec::new();
    for row in rows {
        let begin = row.begin();
        let line = stored.lines().find_map(|line| line.strip_prefix(&*begin));
        let line = line.ok_or_else(|| format!("not in the table: {begin}"))?;
        for ((cell, &now), column) in line.split('|').zip(&row.cells).zip(row.kind.columns()) {
            let error = cell.trim().trim_end_matches(" %").rsplit(' ').next().unwrap_or_default();
            let before: f64 = error.parse().map_err(|_| format!("{begin}: no difference: {cell}"))?;
            if Row::error(now).abs() > before.abs() + margin(column) {
                let [measured, now_is] = now.map(number);
                let is = Row::error(now);
                worse.push(format!("{begin} {column} {measured}: {now_is}, {is:+.1} %, was {before:+} %"));
            }
        }
    }
    Ok(worse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(modelled: [f64; 2]) -> Row {
        let cells = vec![[100.0, modelled[0]], [0.5, modelled[1]], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]];
        Row::new(Kind::Beside, ["a drive", "10000/s", "reads, us"], true, cells)
    }

    #[test]
    fn a_row_further_off_than_stored_is_found() {
        let stored = render("device", &[row([80.0, 0.5])]);
        assert!(
            stored.contains("| a drive | 10000/s | fit | reads, us | 100 80.0 -20.0 % | 0.50 0.50 +0.0 % |"),
            "{stored}"
        );
        let found = |modelled| worse(&[row(modelled)], &stored).expect("such a row is stored");
        assert!(found([80.0, 0.5]).is_empty() && found([122.0, 0.52]).is_empty(), "within the margins");
        assert_eq!(found([76.9, 0.5]).len(), 1, "further below");
        assert_eq!(found([123.1, 0.53]).len(), 2, "further above, and the other column");
        let other = Row::new(Kind::Rates, ["another", "x", "y"], true, vec![[1.0, 1.0]]);
        assert!(worse(&[other], &stored).is_err_and(|why| why.contains("another")));
    }
}
