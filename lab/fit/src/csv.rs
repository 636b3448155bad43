//! Measured points as a table: a line each, columns by their names.

use flashlane_outputs::shown;

use crate::error::FitError;
use crate::point::{Access, Kind, Point};

/// Columns that a table must have.
const NEEDED: &str = "rw,bs,depth,iops,mean_us";
/// The most lines of a table.
const MOST_LINES: usize = 100_000;

/// The points of `text`, the content of `file`.
///
/// # Errors
/// Columns that are missing or unknown, a line of another length, or a value that is none of its column.
pub fn read(file: &str, text: &str) -> Result<Vec<Point>, FitError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (_, head) = lines.next().ok_or_else(|| FitError::at(file, "is empty"))?;
    // Spreadsheets of many countries separate columns by semicolons, and write decimals with a comma.
    let separator = if head.contains(';') { ';' } else { ',' };
    let columns: Vec<&str> = head.split(separator).map(str::trim).collect();
    for needed in NEEDED.split(',') {
        if !columns.contains(&needed) {
            let message = format!("no column {needed}; needed are {NEEDED}, and p50_us, p99_us and others if known");
            return Err(FitError::at(file, message));
        }
    }
    for column in &columns {
        if columns
            .iter()
            .filter(|other| *other == column || rank(other).is_some_and(|r| Some(r) == rank(column)))
            .count()
            > 1
        {
            return Err(FitError::at(file, format!("{}: a column that stands there twice", shown::short(column))));
        }
        let known = NEEDED.split(',').chain(["name", "numjobs", "cpu_percent", "size_bytes"]);
        if known.into_iter().all(|known| known != *column) && rank(column).is_none() {
            let message = "no such column; legal are name, numjobs, cpu_percent, size_bytes, percentiles (p99_us)";
            return Err(FitError::at(file, format!("{}: {message}, {NEEDED}", shown::short(column))));
        }
    }
    let mut points = Vec::new();
    for (index, line) in lines {
        if points.len() == MOST_LINES {
            return Err(FitError::at(file, format!("over {MOST_LINES} lines")));
        }
        let place = format!("{file}:{}", index + 1);
        let line = if separator == ';' { line.replace(',', ".") } else { line.to_owned() };
        let cells: Vec<&str> = line.split(separator).map(str::trim).collect();
        if cells.len() != columns.len() {
            return Err(FitError::at(&place, format!("{} cells for {} columns", cells.len(), columns.len())));
        }
        points.push(point(file, &place, &columns, &cells)?);
    }
    if points.is_empty() {
        return Err(FitError::at(file, "no line below the names of columns"));
    }
    Ok(points)
}

/// The rank of a column of percentiles in millionths: of `p99.9_us` or `p99_9_us` 999,000.
fn rank(column: &str) -> Option<u32> {
    let percent: f64 = column.strip_prefix('p')?.strip_suffix("_us")?.replace('_', ".").parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then(|| (percent * 1e4).round() as u32)
}

fn point(file: &str, place: &str, columns: &[&str], cells: &[&str]) -> Result<Point, FitError> {
    let cell = |name: &str| columns.iter().position(|column| *column == name).map(|at| cells[at]);
    let fault = |name: &str, legal: &str| {
        let value = shown::short(cell(name).unwrap_or_default());
        FitError::at(place, format!("{name} = {value}: expected {legal}"))
    };
    let above_zero = |name: &str| {
        let number = cell(name).and_then(|text| text.parse::<f64>().ok());
        number.filter(|number| number.is_finite() && *number > 0.0).ok_or_else(|| fault(name, "a number above 0"))
    };
    let count = |name: &str| {
        let number = cell(name).and_then(|text| text.parse::<u32>().ok());
        number.filter(|number| (1..=65_536).contains(number)).ok_or_else(|| fault(name, "1 to 65536"))
    };
    let (kind, access) = match cell("rw").unwrap_or_default() {
        "randread" => (Kind::Reads, Access::Random),
        "read" => (Kind::Reads, Access::Other),
        "randwrite" => (Kind::Writes, Access::Random),
        "write" => (Kind::Writes, Access::Other),
        "randrw" => (Kind::Mixed, Access::Random),
        _ => return Err(fault("rw", "randread, read, randwrite, write or randrw")),
    };
    let bytes = cell("bs").and_then(crate::fio::bytes).filter(|&bytes| bytes > 0);
    let mut quantiles = Vec::new();
    for column in columns {
        let Some(rank) = rank(column).filter(|_| cell(column) != Some("")) else { continue };
        quantiles.push((rank, above_zero(column)?));
    }
    quantiles.sort_by_key(|&(rank, _)| rank);
    if quantiles.iter().zip(quantiles.iter().skip(1)).any(|(a, b)| a.1 > b.1) {
        return Err(FitError::at(place, "percentiles that fall"));
    }
    let optional = |name: &str| cell(name).filter(|text| !text.is_empty());
    let threads = if optional("numjobs").is_some() { count("numjobs")? } else { 1 };
    let size = optional("size_bytes").map(|text| text.parse().map_err(|_| fault("size_bytes", "bytes")));
    Ok(Point {
        file: file.into(),
        name: optional("name").map_or_else(|| place.to_owned(), shown::short),
        kind,
        access,
        bytes: bytes.ok_or_else(|| fault("bs", "a size, such as 4k"))?,
        depth: count("depth")?,
        threads,
        span: size.transpose()?,
        no_drive: None,
        apart: None,
        iops: above_zero("iops")?,
        mean_us: above_zero("mean_us")?,
        quantiles,
        writes: None,
        is_steady: None,
        core_percent: optional("cpu_percent").map(|_| above_zero("cpu_percent")).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_points_and_says_what_is_wrong_where() {
        let text = "# of a drive\nrw,bs,depth,iops,mean_us,p50_us,p99_9_us,cpu_percent\nrandread,4k,8,125350.5,63.3,57.6,142.3,\n";
        let points = read("a.csv", text).expect("a table");
        assert_eq!((points[0].bytes, points[0].depth, points[0].core_percent), (4_096, 8, None));
        assert_eq!(points[0].quantiles, [(500_000, 57.6), (999_000, 142.3)]);
        for (from, to, says) in [
            ("4k,8", "4x,8", "a.csv:3: bs = 4x: expected a size"),
            ("4k,8", "4k,0", "a.csv:3: depth = 0: expected 1 to 65536"),
            ("125350.5", "inf", "a.csv:3: iops = inf: expected a number above 0"),
            ("57.6,142.3", "57.6,42.3", "a.csv:3: percentiles that fall"),
            (",142.3,", ",142.3", "a.csv:3: 7 cells for 8 columns"),
            ("mean_us", "mean", "a.csv: no column mean_us"),
            ("p50_us", "p50", "a.csv: p50: no such column"),
        ] {
            let error = read("a.csv", &text.replacen(from, to, 1)).expect_err(from).to_string();
            assert!(error.starts_with(says), "{error}");
        }
        let other = text.replace('.', ",").replace("125350,5,63,3,57,6,142,3,", "125350,5;63,3;57,6;142,3;");
        let other = other.replace("randread,4k,8,", "randread;4k;8;").replace(
            "rw,bs,depth,iops,mean_us,p50_us,p99_9_us,cpu_percent",
            "rw;bs;depth;iops;mean_us;p50_us;p99_9_us;cpu_percent",
        );
        assert_eq!(read("a.csv", &other).expect("semicolons"), points);
        let empty = read("a.csv", text.rsplit_once("randread").expect("a line").0).expect_err("no line");
        assert_eq!(empty.to_string(), "a.csv: no line below the names of columns");
    }
}
