//! Where the columns of a CSV are: the separator, the header, and the number of each column, found from the first lines.
//!
//! Every separator is tried with the first lines, and the one with which most of them are requests is taken. Promises to name the columns
//! there are when one is not found. Must never choose silently: [`Layout::words`] says what was found.

use super::TimeUnit;
use super::column_spec::{Column, ColumnSpec, LEGAL};
use super::cursor::Cursor;
use super::error;
use super::format::cells::{CellReader, cells};
use super::format::record::Line;
use flashlane_core::arrival::WorkloadError;
use flashlane_core::choice::Choice;

/// Separators, in the order in which equals are preferred.
const SEPARATORS: [(u8, &str); 5] =
    [(b',', "commas"), (b'\t', "tabs"), (b';', "semicolons"), (b'|', "bars"), (b' ', "spaces")];

/// Names listed in a message.
const LISTED: usize = 40;

/// What the columns of a file are, and how they are read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    /// What reads a line.
    pub reader: CellReader,
    /// The unit of times.
    pub time_unit: TimeUnit,
    /// What was found, for the user.
    pub words: String,
}

/// A line that may name the columns.
struct Head<'a> {
    line: &'a [u8],
    number: usize,
    /// It begins with a number sign, and so is skipped as a comment.
    is_comment: bool,
}

impl<'a> Head<'a> {
    /// The first line that is no comment, and the comment before it.
    fn all(lines: &[&'a [u8]]) -> Vec<Head<'a>> {
        let mut heads = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let line = line.trim_ascii();
            let bare = line.strip_prefix(b"#");
            let head = Head { line: bare.unwrap_or(line), number: at + 1, is_comment: bare.is_some() };
            if !line.is_empty() && !head.is_comment {
                heads.insert(0, head);
                break;
            }
            if head.is_comment {
                heads = vec![head];
            }
        }
        heads
    }

    /// The names, if cells are set off by `separator`.
    fn names(&self, separator: u8) -> Vec<String> {
        cells(self.line, separator).map(unquoted).collect()
    }
}

/// A cell without its quotes.
fn unquoted(cell: &[u8]) -> String {
    let inner = cell.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(cell);
    String::from_utf8_lossy(inner).replace("\"\"", "\"").trim().to_owned()
}

/// Finds the columns of `spec` in the first lines; times without a unit are in `unit`. Messages call the file `name`.
pub(super) fn layout(
    spec: &ColumnSpec,
    unit: Option<TimeUnit>,
    lines: &[&[u8]],
    name: &str,
) -> Result<Layout, WorkloadError> {
    let mut first = None;
    for head in Head::all(lines) {
        match with_head(spec, unit, lines, &head) {
            Ok(layout) => return Ok(layout),
            Err(why) => first = first.or(Some(error(format!("{name}:{}", head.number), why))),
        }
    }
    let empty = || error(format!("{name}:1"), "only blank lines; legal is a CSV with requests");
    Err(first.unwrap_or_else(empty))
}

/// The columns where `head` names or shows them.
fn with_head(spec: &ColumnSpec, unit: Option<TimeUnit>, lines: &[&[u8]], head: &Head<'_>) -> Result<Layout, String> {
    let mut best: Option<((usize, usize), Layout)> = None;
    let mut failure: Option<(usize, String)> = None;
    for (separator, word) in SEPARATORS {
        let names = head.names(separator);
        match with_separator(spec, unit, (separator, word), head, &names) {
            Ok(layout) => {
                let merit = (accepted(&layout.reader, lines), names.len());
                if best.as_ref().is_none_or(|(best, _)| merit > *best) {
                    best = Some((merit, layout));
                }
            }
            // The message of the separator that makes most columns is the one to the point.
            Err(why) if failure.as_ref().is_none_or(|(columns, _)| names.len() > *columns) => {
                failure = Some((names.len(), why));
            }
            Err(_) => {}
        }
    }
    best.map(|(_, layout)| layout).ok_or_else(|| failure.map_or_else(String::new, |(_, why)| why))
}

/// The columns where cells are set off by a separator.
fn with_separator(
    spec: &ColumnSpec,
    unit: Option<TimeUnit>,
    (separator, word): (u8, &str),
    head: &Head<'_>,
    names: &[String],
) -> Result<Layout, String> {
    let [time, op, offset, length] = [&spec.time, &spec.op, &spec.offset, &spec.length].map(Some);
    let columns = [time, op, offset, length, spec.device.as_ref(), spec.fua.as_ref()];
    let mut places = [usize::MAX; 6];
    for (place, column) in places.iter_mut().zip(columns) {
        if let Some(column) = column {
            *place = found(column, names)?;
        }
    }
    const ROLES: [&str; 6] = ["time", "op", "offset", "length", "device", "fua"];
    for (role, place) in places.iter().enumerate() {
        if let Some(other) = places[..role].iter().position(|other| other == place && *place != usize::MAX) {
            return Err(format!("column {} is both {} and {}; {LEGAL}", place + 1, ROLES[other], ROLES[role]));
        }
    }
    let named = columns.into_iter().flatten().any(|column| matches!(column, Column::Name(_)));
    // A word where the time should be makes a header of the first line, as in the other formats.
    let time = names[places[0]].as_bytes().first();
    let is_word = time.is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || !b.is_ascii());
    let has_header = (named || is_word) && !head.is_comment;
    let title = |place: usize| names.get(place).filter(|_| named || has_header).cloned().unwrap_or_default();
    let time_unit = unit_of_times(spec, unit, &title(places[0]))?;
    let is_named = named || has_header || head.is_comment;
    let reader = CellReader::new(separator, places, (names, is_named), has_header, time_unit, spec);
    let column = |place: usize| match title(place) {
        name if name.is_empty() => format!("column {}", place + 1),
        name => format!("column {} ({})", place + 1, name.escape_debug()),
    };
    let values = spec.values.iter().map(|(value, meaning)| {
        let meaning = meaning.word();
        format!(", {} = {meaning}", value.escape_debug())
    });
    let in_bytes = |bytes: u64| match bytes {
        1 => "bytes".to_owned(),
        512 => "sectors".to_owned(),
        n => format!("units of {n} bytes"),
    };
    let words = format!(
        "time in {time_unit} in {}, op in {}{}, offset in {} in {}, length in {} in {}; set off by {word}",
        column(places[0]),
        column(places[1]),
        values.collect::<String>(),
        in_bytes(spec.offset_bytes),
        column(places[2]),
        in_bytes(spec.length_bytes),
        column(places[3])
    );
    let words = match spec.fua {
        Some(_) => format!("{words}; FUA in {}", column(places[5])),
        None => words,
    };
    Ok(Layout { reader, time_unit, words })
}

/// The place of a column.
fn found(column: &Column, names: &[String]) -> Result<usize, String> {
    let listed = || {
        let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{}`", name.escape_debug())).collect();
        let more = if names.len() > LISTED { ", ..." } else { "" };
        format!("{}{more}", listed.join(", "))
    };
    let name = match column {
        Column::At(at) if *at < names.len() => return Ok(*at),
        Column::At(at) => {
            return Err(format!("there is no column {}; legal is 1 to {}: {}", at + 1, names.len(), listed()));
        }
        Column::Name(name) => name,
    };
    let exact: Vec<usize> = (0..names.len()).filter(|at| names[*at] == *name).collect();
    let alike: Vec<usize> = (0..names.len()).filter(|at| names[*at].eq_ignore_ascii_case(name)).collect();
    match (&exact[..], &alike[..]) {
        ([at], _) | ([], [at]) => Ok(*at),
        ([], []) => Err(format!("there is no column `{}`; legal is one of {}", name.escape_debug(), listed())),
        ([], several) | (several, _) => {
            let numbers: Vec<String> = several.iter().map(|at| (at + 1).to_string()).collect();
            let name = name.escape_debug();
            Err(format!("`{name}` is the name of columns {}; legal is the number of one", numbers.join(" and ")))
        }
    }
}

/// The unit of times: what the columns say, the option, or what the column's name ends in.
fn unit_of_times(spec: &ColumnSpec, unit: Option<TimeUnit>, name: &str) -> Result<TimeUnit, String> {
    let suffix = name.rsplit_once('_').and_then(|(_, end)| end.to_ascii_lowercase().parse().ok());
    match (spec.time_unit, unit) {
        (Some(own), Some(asked)) if own != asked => Err(format!(
            "the columns say that times are in {own}, and the option that they are in {asked}; legal is one of them"
        )),
        (Some(unit), _) | (None, Some(unit)) => Ok(unit),
        (None, None) => suffix.ok_or_else(|| {
            let column = spec.time.shown();
            format!(
                "time={column}: in which unit? give time={column}:UNIT, where UNIT is one of {}",
                TimeUnit::WORDS.join(", ")
            )
        }),
    }
}

/// How many of the lines are requests.
fn accepted(reader: &CellReader, lines: &[&[u8]]) -> usize {
    let mut reader = reader.clone();
    let mut taken = 0;
    for line in lines {
        let mut cursor = Cursor::new(line, line.len());
        cursor.blanks();
        if !matches!(cursor.peek(), None | Some(b'#')) {
            taken += usize::from(matches!(reader.read(&mut cursor), Ok(Line::Request(_))));
        }
    }
    taken
}

/// The error of a CSV whose columns nothing names.
pub(super) fn unnamed(name: &str) -> WorkloadError {
    let message = "no header with the columns time_ns (or time_us, time_ms, time_s), op, offset and length";
    error(format!("{name}:1"), format!("{message}; legal is such a header, or --columns: {LEGAL}"))
}

/// The columns of a header that names them as Python does, if it does.
pub(super) fn own(lines: &[&[u8]]) -> Option<ColumnSpec> {
    let heads = Head::all(lines);
    let mut all = heads.iter().flat_map(|head| SEPARATORS.map(|(separator, _)| head.names(separator)));
    all.find_map(|names| {
        let has = |name: &str| names.iter().filter(|known| *known == name).count() == 1;
        if !["op", "offset", "length"].into_iter().all(has) {
            return None;
        }
        let mut units =
            TimeUnit::LIST.iter().map(|unit| ColumnSpec::own(unit.value)).filter(|spec| has(&spec.time.shown()));
        match (units.next(), units.next()) {
            (Some(spec), None) => Some(ColumnSpec { fua: has("fua").then(|| Column::Name("fua".to_owned())), ..spec }),
            _ => None,
        }
    })
}
