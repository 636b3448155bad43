//! Files of measured points: results of fio, or a table.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flashlane_outputs::shown;

use crate::error::FitError;
use crate::point::Point;
use crate::{csv, fio};

/// The points of the file at `path`.
///
/// # Errors
/// A file that cannot be read, is too long, or is neither.
pub fn read(path: &Path) -> Result<Vec<Point>, FitError> {
    let place = path.display().to_string();
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| FitError::at(&place, error))?;
    let most = fio::LONGEST as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(|error| FitError::at(&place, error))?;
    if bytes.len() > fio::LONGEST {
        return Err(FitError::at(&place, format!("over {} bytes; results of fio are shorter", fio::LONGEST)));
    }
    let text = String::from_utf8(bytes).map_err(|_| FitError::at(&place, "is no text in UTF-8"))?;
    points(&place, &text)
}

/// The points of `text`, the content of `file`.
///
/// # Errors
/// As [`read`].
pub fn points(file: &str, text: &str) -> Result<Vec<Point>, FitError> {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    // Remarks of fio and of what ran it may be before its results.
    let has_object = text.lines().any(|line| line.starts_with('{'));
    let is_table = !has_object && first.contains(',') && !first.contains(['{', '}', '"']);
    if is_table && !first.starts_with("fio") { csv::read(file, text) } else { fio::read(file, text) }
}

/// A file's name, short: that of its last part.
pub fn short(file: &str) -> String {
    Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| shown::bytes(name.as_encoded_bytes()))
}
