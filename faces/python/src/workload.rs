//! Requests from arrays, as a trace that the laboratory reads like any other.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::error::error;

/// The operations of a trace, by their codes in `flashlane/_workload.py`.
const OPERATIONS: [&str; 6] = ["W", "R", "write-fua", "trim", "write-zeroes", "flush"];
/// The code of a flush.
const FLUSH: i64 = 5;

/// Writes requests behind those in the file, as a CSV in nanoseconds and bytes.
///
/// `first` is the number of the first of them: 0 begins the file. `time_ns` is since the beginning, `op` the place of each operation in
/// [`OPERATIONS`], `offset` and `length` are bytes, both 0 of a flush.
#[pyfunction]
pub fn write_trace(
    path: PathBuf,
    first: usize,
    time_ns: PyReadonlyArray1<'_, i64>,
    op: PyReadonlyArray1<'_, i64>,
    offset: PyReadonlyArray1<'_, i64>,
    length: PyReadonlyArray1<'_, i64>,
) -> PyResult<()> {
    let (time, op) = (time_ns.as_array(), op.as_array());
    let (offset, length) = (offset.as_array(), length.as_array());
    let fault = |cause: std::io::Error| error(format!("{}: cannot be written: {cause}", path.display()));
    let out = OpenOptions::new().create(true).append(true).open(&path).map_err(fault)?;
    let mut out = BufWriter::with_capacity(1 << 20, out);
    if first == 0 {
        writeln!(out, "time_ns,op,offset,length").map_err(fault)?;
    }
    for (row, (((&time, &op), &offset), &length)) in time.iter().zip(op).zip(offset).zip(length).enumerate() {
        let row = first + row;
        if time < 0 || offset < 0 || length < 0 {
            let message =
                format!("row {row}: time, offset and length must be 0 or more, not {time}, {offset}, {length}");
            return Err(error(message));
        }
        if op == FLUSH && (offset, length) != (0, 0) {
            let message = format!("row {row}: offset and length of a flush must be 0, not {offset}, {length}");
            return Err(error(message));
        }
        let word = usize::try_from(op).ok().and_then(|op| OPERATIONS.get(op));
        let word = word.ok_or_else(|| error(format!("row {row}: op must be 0 to {}, not {op}", OPERATIONS.len() - 1)))?;
        writeln!(out, "{time},{word},{offset},{length}").map_err(fault)?;
    }
    out.flush().map_err(fault)
}
