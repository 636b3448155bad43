//! The figures of whole processes, as the table that keeps them, and the check against it.

/// What was measured of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// Instructions of the process with [`COUNTED`](super::COUNTED) requests, if they were counted.
    pub instructions: Option<u64>,
    /// CPU time of runs with [`TIMED`](super::TIMED) requests in seconds, ascending.
    pub seconds: Vec<f64>,
}

/// How much more instructions than stored are let pass, in percent.
pub const MAX_PERCENT: u64 = 5;

/// The table of all rows.
pub fn render(rows: &[(String, Cost)]) -> String {
    let cells = |(name, figures): &(String, Cost)| {
        let millions = |count: u64| format!("{}.{:02}", count / 1_000_000, count / 10_000 % 100);
        let seconds = match figures.seconds.as_slice() {
            [] => ["not measured".into(), String::new()],
            all => [format!("{:.3}", all[(all.len() - 1) / 2]), format!("{:.3} to {:.3}", all[0], all[all.len() - 1])],
        };
        let [median, range] = seconds;
        [name.clone(), figures.instructions.map_or("not counted".into(), millions), median, range]
    };
    let head = ["case", "million instructions, 50,000 requests", "CPU s, 1 M requests", "lowest to highest"];
    aligned(&head, rows.iter().map(cells))
}

/// The table of pairs of CPU times, the other program's first: the median of each, how many times as long the other takes (median of the
/// pairs), and the range of that.
pub fn render_pairs(rows: &[(String, Vec<(f64, f64)>)]) -> String {
    let cells = |(name, pairs): &(String, Vec<(f64, f64)>)| {
        let sorted = |value: fn(&(f64, f64)) -> f64| {
            let mut values: Vec<f64> = pairs.iter().map(value).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let median = |values: &[f64]| values.get((values.len().max(1) - 1) / 2).copied().unwrap_or_default();
        let ratios = sorted(|(other, this)| other / this);
        let range =
            ratios.first().zip(ratios.last()).map_or(String::new(), |(low, high)| format!("{low:.2} to {high:.2}"));
        let [other, this] =
            [sorted(|pair| pair.0), sorted(|pair| pair.1)].map(|values| format!("{:.3}", median(&values)));
        [name.clone(), other, this, format!("{:.2}", median(&ratios)), range]
    };
    aligned(&["case", "other build", "this build", "other / this", "lowest to highest"], rows.iter().map(cells))
}

/// A Markdown table whose columns are aligned, all but the first to the right.
fn aligned<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut lines = vec![head.map(String::from)];
    lines.extend(rows);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            text += &if column == 0 { format!("| {cell:<width$} ") } else { format!("| {cell:>width$} ") };
        }
        text += "|\n";
        if number == 0 {
            for (column, width) in widths.iter().enumerate() {
                text += &format!("|{}{}", "-".repeat(width + 1), if column == 0 { "-" } else { ":" });
            }
            text += "|\n";
        }
    }
    text
}

/// The stored figures: the compiler's name from the line before the table, and the instructions of each case.
#[derive(Debug)]
pub struct Stored {
    /// The words before the table.
    pub about: String,
    rows: Vec<(String, u64)>,
}

impl Stored {
    /// Reads a file of them.
    ///
    /// # Errors
    /// A file without a table, or with rows that cannot be read.
    pub fn read(text: &str) -> Result<Stored, String> {
        let (about, table) = text.split_once("\n|").ok_or("no table")?;
        let mut rows = Vec::new();
        for line in table.lines().skip(2) {
            let mut cells = line.trim_matches('|').split('|').map(str::trim);
            let (Some(name), Some(count)) = (cells.next(), cells.next()) else { continue };
            if count == "not counted" {
                continue;
            }
            let bad = || format!("the instructions of {name} are {count:?}, not millions with two decimals");
            let (whole, part) = count.split_once('.').ok_or_else(bad)?;
            let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
            rows.push((name.to_owned(), 1_000_000 * number(whole)? + 10_000 * number(part)?));
        }
        Ok(Stored { about: about.trim().to_owned(), rows })
    }

    /// Compares a case's instructions with the stored ones: a line of text, and whether they are no more than
    /// [`MAX_PERCENT`] above.
    pub fn compare(&self, name: &str, counted: u64) -> (String, bool) {
        let Some((_, stored)) = self.rows.iter().find(|(row, _)| row == name) else {
            return (format!("{name}: no stored figure"), false);
        };
        let change = 100.0 * (counted as f64 / *stored as f64 - 1.0);
        let millions = |count: u64| format!("{:.2}", count as f64 / 1e6);
        let text =
            format!("{name}: {} million instructions, stored {}, {change:+.1} %", millions(counted), millions(*stored));
        (text, counted * 100 <= stored * (100 + MAX_PERCENT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> String {
        let rows = [
            ("scene".to_owned(), Cost { instructions: Some(12_345_678), seconds: vec![0.01, 0.02, 0.5] }),
            ("reads/16 GB".to_owned(), Cost { instructions: None, seconds: vec![] }),
        ];
        format!("On a machine, rustc 1.0.\n\n{}", render(&rows))
    }

    #[test]
    fn what_is_written_is_read_back_and_compared() {
        let stored = Stored::read(&table()).expect("a table");
        assert_eq!(stored.about, "On a machine, rustc 1.0.");
        assert_eq!(stored.rows, [("scene".to_owned(), 12_340_000)]);
        assert!(stored.compare("scene", 12_345_678).1);
        assert!(stored.compare("scene", 12_957_000).1, "5 % more");
        let (text, fine) = stored.compare("scene", 12_957_001);
        assert!(!fine && text.contains("stored 12.34, +5.0 %"), "{text}");
        assert!(!stored.compare("reads/16 GB", 1).1, "nothing stored is not fine");
        assert!(table().contains(" 0.020 |"), "the median\n{}", table());
    }

    #[test]
    fn pairs_are_compared_pair_by_pair() {
        let pairs = vec![(2.0, 1.0), (9.0, 3.0), (4.0, 1.0)];
        let text = render_pairs(&[("reads".to_owned(), pairs)]);
        let row = text.lines().last().expect("a row");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells, ["reads", "4.000", "1.000", "3.00", "2.00 to 4.00"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_said_to_be_so() {
        assert!(Stored::read("On a machine.\n").unwrap_err().contains("no table"));
        let mangled = table().replace("12.34", "many");
        assert!(Stored::read(&mangled).unwrap_err().contains("\"many\""));
    }
}
