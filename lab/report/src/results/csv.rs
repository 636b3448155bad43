//! Rows as comma-separated values with a header line.
//!
//! No cell ever needs quotes: numbers, fixed words, `true` and `false`.

use std::io::{self, Write};

use super::columns::{Cell, Table};

/// Writes the header.
pub(super) fn header(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    writeln!(out, "{}", names.join(","))
}

/// Writes a row.
pub(super) fn row(cells: &[Cell], out: &mut impl Write) -> io::Result<()> {
    let mut digits = itoa::Buffer::new();
    for (i, cell) in cells.iter().enumerate() {
        if i > 0 {
            out.write_all(b",")?;
        }
        out.write_all(match cell {
            Cell::Number(number) => digits.format(*number).as_bytes(),
            Cell::Word(word) => word.as_bytes(),
            Cell::Flag(flag) => if *flag { "true" } else { "false" }.as_bytes(),
            Cell::Nothing => b"",
        })?;
    }
    out.write_all(b"\n")
}
