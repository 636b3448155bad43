//! Measured points as a table: a line each, columns by their names.

use flashlane_outputs::shown;

use crate::error::FitError;
use crate::point::{Access, Figures, Kind, Point, Writers};

/// Columns that a table must have.
const NEEDED: &str = "rw,bs,depth,iops,mean_us";
/// Those that it may have, beside percentiles.
const OTHERS: &str = "name,numjobs,cpu_percent,size_bytes,writes_per_s,write_mean_us";
/// The most lines of a table.
const MOST_LINES: usize = 100_000;
/// Bytes of requests beside writes.
const BESIDE_BYTES: u64 = 4_096;

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
    check(file, &columns)?;
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
        points.push(Line { place: &place, columns: &columns, cells: &cells }.point(file)?);
    }
    if points.is_empty() {
        return Err(FitError::at(file, "no line below the names of columns"));
    }
    Ok(points)
}

/// Checks the names of columns.
fn check(file: &str, columns: &[&str]) -> Result<(), FitError> {
    for needed in NEEDED.split(',') {
        if !columns.contains(&needed) {
            let message = format!("no column {needed}; needed are {NEEDED}, and p50_us, p99_us and others if known");
            return Err(FitError::at(file, message));
        }
    }
    for column in columns {
        let is_same = |other: &&&str| *other == column || rank(other).is_some_and(|r| Some(r) == rank(column));
        if columns.iter().filter(is_same).count() > 1 {
            return Err(FitError::at(file, format!("{}: a column that stands there twice", shown::short(column))));
        }
        if NEEDED.split(',').chain(OTHERS.split(',')).all(|known| known != *column) && rank(column).is_none() {
            let legal = format!("legal are {NEEDED},{OTHERS} and percentiles (p99_us, write_p99_us)");
            return Err(FitError::at(file, format!("{}: no such column; {legal}", shown::short(column))));
        }
    }
    Ok(())
}

/// Whether a column of percentiles is of writes, and its rank in millionths: of `p99.9_us` or `p99_9_us` 999,000.
fn rank(column: &str) -> Option<(bool, u32)> {
    let of_writes = column.strip_prefix("write_");
    let name = of_writes.unwrap_or(column);
    let percent: f64 = name.strip_prefix('p')?.strip_suffix("_us")?.replace('_', ".").parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then(|| (of_writes.is_some(), (percent * 1e4).round() as u32))
}

/// A line of a table.
struct Line<'a> {
    place: &'a str,
    columns: &'a [&'a str],
    cells: &'a [&'a str],
}

impl<'a> Line<'a> {
    /// What stands in this column; none if it is empty, or there is no such column.
    fn cell(&self, name: &str) -> Option<&'a str> {
        let at = self.columns.iter().position(|column| *column == name)?;
        Some(self.cells[at]).filter(|text| !text.is_empty())
    }

    fn fault(&self, name: &str, legal: &str) -> FitError {
        let value = shown::short(self.cell(name).unwrap_or_default());
        FitError::at(self.place, format!("{name} = {value}: expected {legal}"))
    }

    fn above_zero(&self, name: &str) -> Result<f64, FitError> {
        let number = self.cell(name).and_then(|text| text.parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite() && *number > 0.0);
        number.ok_or_else(|| self.fault(name, "a number above 0"))
    }

    fn count(&self, name: &str) -> Result<u32, FitError> {
        let number = self.cell(name).and_then(|text| text.parse::<u32>().ok());
        number.filter(|number| (1..=65_536).contains(number)).ok_or_else(|| self.fault(name, "1 to 65536"))
    }

    /// Percentiles of reads, or of writes.
    fn quantiles(&self, of_writes: bool) -> Result<Vec<(u32, f64)>, FitError> {
        let mut quantiles = Vec::new();
        for column in self.columns {
            let rank = rank(column).filter(|&(writes, _)| writes == of_writes && self.cell(column).is_some());
            let Some((_, rank)) = rank else { continue };
            quantiles.push((rank, self.above_zero(column)?));
        }
        quantiles.sort_by_key(|&(rank, _)| rank);
        if quantiles.iter().zip(quantiles.iter().skip(1)).any(|(a, b)| a.1 > b.1) {
            return Err(FitError::at(self.place, "percentiles that fall"));
        }
        Ok(quantiles)
    }

    /// What is written beside the line's reads.
    fn beside(&self, kind: Kind, bytes: u64) -> Result<Option<Writers>, FitError> {
        let Some(text) = self.cell("writes_per_s") else { return Ok(None) };
        if kind != Kind::Mixed {
            return Err(self.fault("rw", "randrw where writes_per_s is given"));
        }
        if bytes != BESIDE_BYTES {
            return Err(self.fault("bs", "4k where writes_per_s is given"));
        }
        let rate = || text.parse().ok().filter(|rate| *rate > 0).map(Writers::Rate);
        let writers = if text == "most" { Some(Writers::Most) } else { rate() };
        writers.map(Some).ok_or_else(|| self.fault("writes_per_s", "a whole number above 0, or most"))
    }

    fn point(&self, file: &str) -> Result<Point, FitError> {
        let (kind, access) = match self.cell("rw").unwrap_or_default() {
            "randread" => (Kind::Reads, Access::Random),
            "read" => (Kind::Reads, Access::Other),
            "randwrite" => (Kind::Writes, Access::Random),
            "write" => (Kind::Writes, Access::Other),
            "randrw" => (Kind::Mixed, Access::Random),
            _ => return Err(self.fault("rw", "randread, read, randwrite, write or randrw")),
        };
        let bytes = self.cell("bs").and_then(crate::fio::bytes).filter(|&bytes| bytes > 0);
        let bytes = bytes.ok_or_else(|| self.fault("bs", "a size, such as 4k"))?;
        let beside = self.beside(kind, bytes)?;
        let iops = self.above_zero("iops")?;
        let writes = match self.cell("write_mean_us") {
            None => None,
            Some(_) => {
                let mean_us = self.above_zero("write_mean_us")?;
                Some(Figures { iops, mean_us, quantiles: self.quantiles(true)? })
            }
        };
        // What comes at a rate has no depth.
        let has_depth = beside.is_none() || self.cell("depth").is_some();
        let size = self.cell("size_bytes").map(|text| text.parse().map_err(|_| self.fault("size_bytes", "bytes")));
        Ok(Point {
            file: file.into(),
            name: self.cell("name").map_or_else(|| self.place.to_owned(), shown::short),
            kind,
            access,
            bytes,
            depth: if has_depth { self.count("depth")? } else { 1 },
            threads: if self.cell("numjobs").is_some() { self.count("numjobs")? } else { 1 },
            span: size.transpose()?,
            no_drive: None,
            apart: None,
            iops,
            mean_us: self.above_zero("mean_us")?,
            quantiles: self.quantiles(false)?,
            writes: writes.filter(|_| kind == Kind::Mixed),
            beside,
            is_steady: None,
            core_percent: self.cell("cpu_percent").map(|_| self.above_zero("cpu_percent")).transpose()?,
        })
    }
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

    #[test]
    fn reads_beside_writes_at_a_rate_have_no_depth() {
        let text = "rw,bs,depth,iops,mean_us,p50_us,write_mean_us,write_p50_us,writes_per_s\n\
                    randrw,4k,,5000,75,64,11.5,11,30000\nrandrw,4k,,5000,953,899,,,most\n";
        let points = read("a.csv", text).expect("a table");
        assert_eq!([0, 1].map(|line| points[line].beside), [Some(Writers::Rate(30_000)), Some(Writers::Most)]);
        assert_eq!((points[0].kind, &points[0].quantiles[..]), (Kind::Mixed, &[(500_000, 64.0)][..]));
        let writes = points[0].writes.as_ref().expect("given");
        assert_eq!((writes.mean_us, &writes.quantiles[..]), (11.5, &[(500_000, 11.0)][..]));
        assert_eq!(points[1].writes, None);
        for (from, to, says) in [
            ("30000", "0", "a.csv:2: writes_per_s = 0: expected a whole number above 0, or most"),
            ("30000", "all", "a.csv:2: writes_per_s = all: expected a whole number above 0, or most"),
            ("randrw", "randread", "a.csv:2: rw = randread: expected randrw where writes_per_s is given"),
            ("4k", "8k", "a.csv:2: bs = 8k: expected 4k where writes_per_s is given"),
            ("30000", "", "a.csv:2: depth = : expected 1 to 65536"),
            ("write_p50_us", "p50.0_us", "a.csv: p50_us: a column that stands there twice"),
        ] {
            let error = read("a.csv", &text.replacen(from, to, 1)).expect_err(from).to_string();
            assert_eq!(error, says);
        }
    }
}
