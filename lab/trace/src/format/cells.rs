//! Lines of any CSV: the columns that a layout names, in any order, others passed over; cells may be in double quotes.
//!
//! Every line has as many cells as the header, or the first line where there is none: with fewer or more nobody knows which cell is what.
//! Operations are `R`, `W` and the names of the kinds of requests in either case, and the values that the user explains. Must never know
//! how the columns were found.

use flashlane_core::Op;
use flashlane_outputs::shown::counted;

use super::record::{Line, RawRecord, read_or_write};
use crate::TimeUnit;
use crate::column_spec::{ColumnSpec, Meaning};
use crate::cursor::{Cursor, DECIMAL, Fault, NUMBER};

/// What a cell must be, for messages.
const OPERATION: &str = "R, W, read, write, write-fua, trim, write-zeroes, flush, or a value that the columns explain (op=COLUMN:VALUE=read)";
const NO_PLACE: &str = "0 or nothing: a flush has neither offset nor length";
const FUA: &str = "0, 1, false, true or nothing";
const ONLY_WRITES: &str = "0, false or nothing, because only a write can have it";
/// The field of a fault where a line has another number of cells than the header: [`CellReader::wrong_number`] says how many.
pub(crate) const CELLS: &str = "the cells";
const AS_MANY: &str = "as many cells as columns";
/// Names listed in a message.
const LISTED: usize = 40;

/// What a column is. [`OTHER`] is one that is not read.
type Role = usize;
const OTHER: Role = 6;

/// Reads the lines of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CellReader {
    pub separator: u8,
    /// What the columns are, up to the last one that is read.
    roles: Vec<Role>,
    /// The cells of the header, or of the first line.
    names: Vec<String>,
    is_named: bool,
    header_is_ahead: bool,
    time_unit: TimeUnit,
    offset_bytes: u64,
    length_bytes: u64,
    values: Vec<(Box<[u8]>, Meaning)>,
}

impl CellReader {
    /// `places` are the numbers, from 0, of the columns with the time, the operation, the offset, the length, the device and force unit
    /// access; the largest number if there is none. `names` are the cells of the header, or of the first line if it is none.
    pub fn new(
        separator: u8,
        places: [usize; 6],
        (names, is_named): (&[String], bool),
        has_header: bool,
        time_unit: TimeUnit,
        spec: &ColumnSpec,
    ) -> CellReader {
        let last = places.into_iter().filter(|place| *place != usize::MAX).max().unwrap_or(0);
        let role = |column| places.iter().position(|place| *place == column).unwrap_or(OTHER);
        let roles = (0..=last).map(role).collect();
        let values = spec.values.iter().map(|(value, meaning)| (value.as_bytes().into(), *meaning)).collect();
        let (offset_bytes, length_bytes) = (spec.offset_bytes, spec.length_bytes);
        let names = names.to_vec();
        CellReader {
            separator,
            roles,
            names,
            is_named,
            header_is_ahead: has_header,
            time_unit,
            offset_bytes,
            length_bytes,
            values,
        }
    }

    /// What is wrong with a line of another number of cells than the header.
    #[cold]
    pub fn wrong_number(&self, line: &[u8]) -> String {
        let line = if self.separator == b' ' { line.trim_ascii_end() } else { line };
        let found = cells(line, self.separator).count();
        let listed: Vec<String> =
            self.names.iter().take(LISTED).map(|name| format!("`{}`", name.escape_debug())).collect();
        let (dots, of) = (
            if self.names.len() > LISTED { ", ..." } else { "" },
            if self.is_named { "the header has" } else { "the first line has" },
        );
        let blank = match self.separator {
            b' ' if found < self.names.len() => ": between spaces an empty cell cannot be seen",
            _ => "",
        };
        format!(
            "the line has {}, and {of} {}: {}{dots}; legal are as many cells as columns{blank}",
            counted(found, "cell"),
            self.names.len(),
            listed.join(", ")
        )
    }

    /// Where the cell behind one goes on, if there is one: spaces at the end are none.
    #[inline]
    fn next_of(&self, line: &[u8], next: Option<usize>) -> Option<usize> {
        let is_there = |at: &usize| self.separator != b' ' || line[*at..].iter().any(|b| !matches!(b, b' ' | b'\t'));
        next.filter(is_there)
    }

    /// Reads one line that is neither blank nor a comment.
    #[inline]
    pub fn read(&mut self, line: &mut Cursor<'_>) -> Result<Line, Fault> {
        if std::mem::take(&mut self.header_is_ahead) {
            return Ok(Line::Skip);
        }
        let whole = line.line();
        // The last one takes the cells of columns that are not read.
        let mut found = [(whole.len(), whole.len()); OTHER + 1];
        let mut at = 0;
        let (last, before) = self.roles.split_last().expect("there is a column with the time");
        for role in before {
            let (cell, next) = cell(line, at, self.separator);
            found[*role] = cell;
            at = self.next_of(whole, next).ok_or(Fault { at: whole.len(), field: CELLS, legal: AS_MANY })?;
        }
        let (last_read, mut next) = cell(line, at, self.separator);
        found[*last] = last_read;
        for _ in self.roles.len()..self.names.len() {
            let at = self.next_of(whole, next).ok_or(Fault { at: whole.len(), field: CELLS, legal: AS_MANY })?;
            next = cell(line, at, self.separator).1;
        }
        if let Some(at) = self.next_of(whole, next) {
            return Err(Fault { at, field: CELLS, legal: AS_MANY });
        }
        let [time, op, offset, length, device, fua, _] = found;
        let time_ns = value(line, time, (self.time_unit.field(), DECIMAL), |cell| cell.time(self.time_unit))?;
        let device = (device.0 as u32, device.1 as u32);
        let (op, forced) = match self.operation(&whole[op.0..op.1]) {
            Some(Meaning::Is(op)) => (op, false),
            Some(Meaning::WriteFua) => (Op::Write, true),
            Some(Meaning::Skip) => return Ok(Line::Skip),
            None => return Err(Fault { at: op.0, field: "the operation", legal: OPERATION }),
        };
        let fua = forced | forced_by(whole, fua, op)?;
        if op == Op::Flush {
            for (cell, field) in [(offset, "the offset"), (length, "the length")] {
                if cell.0 < cell.1 && value(line, cell, (field, NO_PLACE), |cell| cell.units(1))? > 0 {
                    return Err(Fault { at: cell.0, field, legal: NO_PLACE });
                }
            }
            return Ok(Line::Request(RawRecord::flush(time_ns, device)));
        }
        let offset = value(line, offset, ("the offset", NUMBER), |cell| cell.units(self.offset_bytes))?;
        let length = value(line, length, ("the length", NUMBER), |cell| cell.units(self.length_bytes))?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, fua, device, ..RawRecord::PLAIN }))
    }

    /// What the cell of an operation says.
    #[inline]
    fn operation(&self, cell: &[u8]) -> Option<Meaning> {
        let explained = self.values.iter().find(|(value, _)| **value == *cell).map(|(_, meaning)| *meaning);
        explained.or_else(|| read_or_write(cell).map(Meaning::Is)).or_else(|| Meaning::of_word(cell))
    }
}

/// Whether the cell of force unit access asks for it; only a write can.
#[inline]
fn forced_by(line: &[u8], (from, to): (usize, usize), op: Op) -> Result<bool, Fault> {
    let fault = |legal| Fault { at: from, field: "force unit access", legal };
    let asks = match &line[from..to] {
        b"" | b"0" => false,
        b"1" => true,
        word if word.eq_ignore_ascii_case(b"false") => false,
        word if word.eq_ignore_ascii_case(b"true") => true,
        _ => return Err(fault(FUA)),
    };
    if asks && op != Op::Write { Err(fault(ONLY_WRITES)) } else { Ok(asks) }
}

/// The value of a cell, which must be all of it; else `field` is not what is legal.
#[inline]
fn value(
    line: &Cursor<'_>,
    (from, to): (usize, usize),
    (field, legal): (&'static str, &'static str),
    read: impl FnOnce(&mut Cursor<'_>) -> Result<u64, Fault>,
) -> Result<u64, Fault> {
    let mut cell = line.part(from, to);
    match read(&mut cell) {
        Ok(value) if cell.at_end() => Ok(value),
        _ => Err(Fault { at: from, field, legal }),
    }
}

/// The cell at `at`, without blanks and quotes around it, and where the next begins.
#[inline]
fn cell(cursor: &Cursor<'_>, at: usize, separator: u8) -> ((usize, usize), Option<usize>) {
    let line = cursor.line();
    let mut start = at;
    while line.get(start).is_some_and(|b| *b == b' ' || *b == b'\t' && separator != b'\t') {
        start += 1;
    }
    let quoted = line.get(start) == Some(&b'"');
    let mut end = if quoted { end_of_quoted(line, start, separator) } else { cursor.find(start, separator) };
    let next = (end < line.len()).then(|| end + 1);
    while end > start && matches!(line[end - 1], b' ' | b'\t') {
        end -= 1;
    }
    if quoted && end > start + 1 && line[end - 1] == b'"' {
        (start, end) = (start + 1, end - 1);
    }
    ((start, end), next)
}

/// Where the cell that begins with the quote at `start` ends: at the next separator outside of quotes, or with the line.
fn end_of_quoted(line: &[u8], start: usize, separator: u8) -> usize {
    let mut inside = false;
    let ends = |byte: &u8| {
        inside ^= *byte == b'"';
        *byte == separator && !inside
    };
    line[start..].iter().position(ends).map_or(line.len(), |length| start + length)
}

/// The cells of a line, with their quotes.
pub(crate) fn cells(line: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let cursor = Cursor::new(line, line.len());
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let ((start, end), next) = cell(&cursor, at?, separator);
        at = next;
        let quoted = start > 0 && line[start - 1] == b'"' && line.get(end) == Some(&b'"');
        Some(if quoted { &line[start - 1..=end] } else { &line[start..end] })
    })
}

#[cfg(test)]
mod tests {
    use flashlane_testing::drawn::drawn;
    use proptest::prelude::*;

    use super::*;

    fn texts(line: &str, separator: u8) -> Vec<String> {
        cells(line.as_bytes(), separator).map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    }

    #[test]
    fn cells_are_set_off_by_the_separator_outside_quotes() {
        assert_eq!(texts("a, b ,,c", b','), ["a", "b", "", "c"]);
        assert_eq!(texts("a\tb c\t", b'\t'), ["a", "b c", ""]);
        assert_eq!(texts("\"a,\"\"b\";\"c;d\";e", b';'), ["\"a,\"\"b\"", "\"c;d\"", "e"]);
        assert_eq!(texts("  a   b  c", b' '), ["a", "b", "c"]);
        assert_eq!(texts("", b','), [""]);
        assert_eq!(texts("\"open", b','), ["\"open"]);
    }

    /// As [`cell`], a byte at a time.
    fn plain_cell(line: &[u8], at: usize, separator: u8) -> ((usize, usize), Option<usize>) {
        let is_blank = |b: u8| b == b' ' || b == b'\t' && separator != b'\t';
        let start = at + line[at..].iter().take_while(|b| is_blank(**b)).count();
        let quoted = line.get(start) == Some(&b'"');
        let mut end = start;
        let mut inside = false;
        while end < line.len() && (inside || line[end] != separator) {
            inside ^= quoted && line[end] == b'"';
            end += 1;
        }
        let next = (end < line.len()).then(|| end + 1);
        let blanks = line[start..end].iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        match &line[start..end - blanks] {
            [b'"', .., b'"'] => ((start + 1, end - blanks - 1), next),
            _ => ((start, end - blanks), next),
        }
    }

    proptest! {
        #![proptest_config(drawn(20_000, env!("CARGO_MANIFEST_DIR"), "traces-cells"))]

        #[test]
        fn cells_are_those_found_a_byte_at_a_time(
            runs in proptest::collection::vec("([0-9a-z]{0,40}|[ \t]{0,40}|[,;|\t \"]{1,3}|\"[,; a]{0,5}\")", 0..12),
            after in "(|\n[0-9,; \"]{0,70})",
        ) {
            let line = runs.concat();
            let bytes = format!("{line}{after}");
            for separator in *b",;|\t " {
                let cursor = Cursor::new(bytes.as_bytes(), line.len());
                let mut at = Some(0);
                while let Some(from) = at {
                    let found = cell(&cursor, from, separator);
                    prop_assert_eq!(found, plain_cell(line.as_bytes(), from, separator), "`{}` at {}", line, from);
                    at = found.1;
                }
            }
        }
    }
}
