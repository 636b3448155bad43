//! Requests from arrays, as a trace that the laboratory reads like any other.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::error::error;

/// Writes requests behind those in the file, as the replayer's five columns, which keep nanoseconds and bytes exactly.
///
/// `first` is the number of the first of them, for errors; `time_ns` is since the beginning, `is_read` 1 for reads and 0 for writes, `offset` and `length` are bytes.
#[pyfunction]
pub fn write_trace(
    path: PathBuf,
    first: usize,
    time_ns: PyReadonlyArray1<'_, i64>,
    is_read: PyReadonlyArray1<'_, i64>,
    offset: PyReadonlyArray1<'_, i64>,
    length: PyReadonlyArray1<'_, i64>,
) -> PyResult<()> {
    let (time, read) = (time_ns.as_array(), is_read.as_array());
    let (offset, length) = (offset.as_array(), length.as_array());
    let fault = |cause: std::io::Error| error(format!("{}: cannot be written: {cause}", path.display()));
    let out = OpenOptions::new().create(true).append(true).open(&path).map_err(fault)?;
    let mut out = BufWriter::with_capacity(1 << 20, out);
    for (row, (((&time, &read), &offset), &length)) in time.iter().zip(read).zip(offset).zip(length).enumerate() {
        if time < 0 || offset < 0 || length < 0 {
            let row = first + row;
            let message =
                format!("row {row}: time, offset and length must be 0 or more, not {time}, {offset}, {length}");
            return Err(error(message));
        }
        let (ms, rest) = (time / 1_000_000, time % 1_000_000);
        writeln!(out, "{ms}.{rest:06} 0 {offset} {length} {read}").map_err(fault)?;
    }
    out.flush().map_err(fault)
}
