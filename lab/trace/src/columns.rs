//! Reads common lines of the five-column formats without a branch per field: single spaces, no sign, nothing unusual.
//!
//! Reads a line only when its meaning is certain; any other (tabs, longer numbers, a flag of two digits, an error) is
//! left to the format's own reader, which reads every common line alike. Must never make an error.

use flashlane_core::Op;

use super::cursor::Cursor;
use super::digits::{POWER, of_eight, of_sixteen};
use super::format::record::RawRecord;
use super::window::WIDTH;

/// Which of the five-column formats a line is read as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Columns {
    /// ns, sectors.
    Nanoseconds,
    /// ms with a decimal point, sectors.
    Milliseconds,
    /// ms with a decimal point, bytes.
    MillisecondsBytes,
}

/// The bytes a line is read from: those for which a cursor knows the breaks, and as many more, so that words can be
/// loaded at its last field.
pub(super) const REACH: usize = 2 * WIDTH;

/// Reads a line if it is a common one.
#[inline(always)]
pub(super) fn common(line: &Cursor<'_>, columns: Columns) -> Option<RawRecord> {
    let bytes = line.reach::<REACH>()?;
    let mut breaks = line.breaks();
    let mut next = || {
        let at = breaks.trailing_zeros() as usize;
        breaks &= breaks.wrapping_sub(1);
        at
    };
    let point = if columns == Columns::Nanoseconds { 0 } else { next() };
    let (a, b, c, d) = (next(), next(), next(), next());
    // The last field is one digit at the end of the line. Breaks ascend, so all of them are inside the window if the
    // last one is.
    if d >= WIDTH || d + 2 != line.end() {
        return None;
    }
    let at = |i: usize| bytes[i % WIDTH];
    let spaces = (at(a) ^ b' ') | (at(b) ^ b' ') | (at(c) ^ b' ') | (at(d) ^ b' ');
    let bit = at(d + 1) ^ b'0';
    // Each length is compared after subtracting 1, so that 0 wraps around and is refused too.
    let digits = |from: usize, to: usize| to.wrapping_sub(from).wrapping_sub(1);
    let device = digits(a + 1, b) < 16;
    let sizes = digits(b + 1, c) < 16 && digits(c + 1, d) < 8;
    if spaces != 0 || bit > 1 || !device || !sizes {
        return None;
    }
    let time_ns = if columns == Columns::Nanoseconds {
        if digits(0, a) >= 16 {
            return None;
        }
        of_sixteen(&load(bytes, 0), a)
    } else {
        if at(point) != b'.' || digits(0, point) >= 8 || digits(point + 1, a) >= 6 {
            return None;
        }
        let fraction = a - point - 1;
        of_eight(load(bytes, 0), point) * POWER[6] + of_eight(load(bytes, point + 1), fraction) * POWER[6 - fraction]
    };
    let unit = if columns == Columns::MillisecondsBytes { 1 } else { 512 };
    Some(RawRecord {
        time_ns,
        // Sixteen digits times 512 fit 64 bits.
        offset: of_sixteen(&load(bytes, b + 1), c - b - 1) * unit,
        length: of_eight(load(bytes, c + 1), d - c - 1) * unit,
        op: [Op::Write, Op::Read][usize::from(bit)],
        device: (a as u32 + 1, b as u32),
        ..RawRecord::PLAIN
    })
}

/// The `N` bytes at `at`, which is in the window.
#[inline(always)]
fn load<const N: usize>(bytes: &[u8; REACH], at: usize) -> [u8; N] {
    *bytes[at % WIDTH..].first_chunk().expect("there are as many bytes after the window as in it")
}
