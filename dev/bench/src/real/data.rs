//! The figures that were measured on real drives, by their files in `dev/bench/data/real`, whose README names the sources.

/// 4 KiB random reads by depth.
pub const READS: &str = include_str!("../../data/real/random-reads.csv");
/// Response times beside steady random writes, and saturated rates.
pub const WRITES: &str = include_str!("../../data/real/steady-writes.csv");
/// Peak rates of a client drive, three results each.
pub const PEAKS: &str = include_str!("../../data/real/peak-rates.csv");
/// Write amplification by used space and by pattern.
pub const AMPLIFICATION: &str = include_str!("../../data/real/write-amplification.csv");

/// The figure in `column` of the line of `file` that begins with `start`, such as `980 PRO,8,`.
///
/// # Panics
/// If the file, which is part of this program, has no such line, column or number.
pub fn measured(file: &str, start: &str, column: &str) -> f64 {
    let head = file.lines().next().unwrap_or_default();
    let index = head.split(',').position(|name| name == column).unwrap_or_else(|| panic!("no column {column}"));
    let line = file.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no line {start}"));
    let cell = line.split(',').nth(index).unwrap_or_default();
    cell.parse().unwrap_or_else(|_| panic!("{start}: {column} is {cell:?}"))
}
