//! Files of measured points: results of fio, or a table.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flashlane_outputs::shown;

use crate::error::FitError;
use crate::point::Point;
use crate::{csv, fio};

/// Why iocost's results are refused. On 35 client drives that others measured, small reads in sequence make 0.37 to 2.9 times the rate of random ones, and
/// writes 0.37 to 14 times. So four of the six rates do not predict the other two, and none of them gives the time of a request.
const IOCOST: &str = "has the rates of iocost (rbps, rseqiops, ...), which tell no time that a request takes, nor one another; expected results of fio, \
                      for which flashlane fit --jobs prints the jobs";

/// The points of the file at `path`.
///
/// # Errors
/// A file that cannot be read, is too long, or is neither.
pub fn read(path: &Path) -> Result<Vec<Point>, FitError> {
    let text = text_of(path, fio::LONGEST as u64, "results of fio are shorter")?;
    points(&path.display().to_string(), &text)
}

/// The content of the file at `path`, of at most `longest` bytes.
///
/// # Errors
/// A file that cannot be read, is too long, or is no text.
pub fn text_of(path: &Path, longest: u64, why: &str) -> Result<String, FitError> {
    let place = path.display().to_string();
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| FitError::at(&place, error))?;
    file.take(longest + 1).read_to_end(&mut bytes).map_err(|error| FitError::at(&place, error))?;
    if bytes.len() as u64 > longest {
        return Err(FitError::at(&place, format!("over {longest} bytes; {why}")));
    }
    String::from_utf8(bytes).map_err(|_| FitError::at(&place, "is no text in UTF-8"))
}

/// The points of `text`, the content of `file`.
///
/// # Errors
/// As [`read`].
pub fn points(file: &str, text: &str) -> Result<Vec<Point>, FitError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if ["rbps", "rrandiops", "wrandiops"].into_iter().all(|rate| text.contains(rate)) {
        return Err(FitError::at(file, IOCOST));
    }
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    // Remarks of fio and of what ran it may be before its results.
    let has_object = text.lines().any(|line| line.starts_with('{'));
    let is_table = !has_object && first.contains([',', ';']) && !first.contains(['{', '}', '"']);
    if is_table && !first.starts_with("fio") { csv::read(file, text) } else { fio::read(file, text) }
}

/// A file's name, short: that of its last part.
pub fn short(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| shown::bytes(name.as_encoded_bytes()))
}
