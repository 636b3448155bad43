//! Which column of a CSV is what, as users write it: `time=ts:us,op=rw,offset=lba:sectors,length=bytes`.
//!
//! Promises that what can be meant in two ways is refused and not guessed: a time without a unit, an address called `lba` of which it is
//! not stated whether it counts bytes. Must never know a file.

use flashlane_core::Op;

use super::TimeUnit;

/// What is legal, for messages.
pub(super) const LEGAL: &str = "legal is time=COLUMN:UNIT,op=COLUMN,offset=COLUMN[:UNIT],length=COLUMN[:UNIT][,device=COLUMN][,fua=COLUMN], such as \
     time=ts:us,op=rw,offset=lba:sectors,length=bytes, where a COLUMN is its name in the header or its number from 1";

/// A column: a name of the header, or a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Column {
    /// Its name in the header.
    Name(String),
    /// Its number from 0.
    At(usize),
}

impl Column {
    /// As users write it.
    pub fn shown(&self) -> String {
        match self {
            Column::Name(name) => name.escape_debug().to_string(),
            Column::At(at) => (at + 1).to_string(),
        }
    }
}

/// What a value of the column `op` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    Is(Op),
    /// A write with force unit access.
    WriteFua,
    /// The line is no request.
    Skip,
}

/// The word for a write with force unit access.
pub(super) const WRITE_FUA: &str = "write-fua";

impl Meaning {
    /// What a word says, in either case.
    pub fn of_word(word: &[u8]) -> Option<Meaning> {
        let op = Op::ALL.into_iter().find(|op| word.eq_ignore_ascii_case(op.name().as_bytes()));
        op.map(Meaning::Is).or_else(|| word.eq_ignore_ascii_case(WRITE_FUA.as_bytes()).then_some(Meaning::WriteFua))
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Meaning::Is(op) => op.name(),
            Meaning::WriteFua => WRITE_FUA,
            Meaning::Skip => "skipped",
        }
    }
}

/// The columns of a CSV, as the user named them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnSpec {
    pub(super) time: Column,
    /// The unit of times; by default what the option says.
    pub(super) time_unit: Option<TimeUnit>,
    pub(super) op: Column,
    /// Values of the operation beside the usual words, and what they say.
    pub(super) values: Vec<(String, Meaning)>,
    pub(super) offset: Column,
    pub(super) length: Column,
    /// Bytes in a unit of offset and of length.
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
    pub(super) device: Option<Column>,
    /// Whether a write has force unit access.
    pub(super) fua: Option<Column>,
}

impl ColumnSpec {
    /// The columns by the names that requests have in Python, the time in `unit`. Digits of the operation are left out: nothing says
    /// which of them is a read.
    pub(super) fn own(unit: TimeUnit) -> ColumnSpec {
        let name = |name: &str| Column::Name(name.to_owned());
        ColumnSpec {
            time: Column::Name(format!("time_{unit}")),
            time_unit: Some(unit),
            op: name("op"),
            values: Vec::new(),
            offset: name("offset"),
            length: name("length"),
            offset_bytes: 1,
            length_bytes: 1,
            device: None,
            fua: None,
        }
    }
}

/// A role with its column and what follows the colons.
struct Given {
    column: Column,
    rest: Vec<String>,
}

impl std::str::FromStr for ColumnSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<ColumnSpec, String> {
        const ROLES: [&str; 6] = ["time", "op", "offset", "length", "device", "fua"];
        let wrong = |what: String| format!("{what}; {LEGAL}");
        let mut given: [Option<Given>; 6] = Default::default();
        for part in split(text, ',') {
            let (role, value) = part.split_once('=').unwrap_or((part, ""));
            let Some(at) = ROLES.iter().position(|known| *known == role.trim()) else {
                return Err(wrong(format!("`{}` names none of {}", part.escape_debug(), ROLES.join(", "))));
            };
            if given[at].is_some() {
                return Err(wrong(format!("`{}` is there twice", ROLES[at])));
            }
            let mut pieces = split(value, ':').into_iter();
            let column = column(pieces.next().unwrap_or_default())
                .map_err(|why| wrong(format!("`{}`: {why}", part.trim().escape_debug())))?;
            given[at] = Some(Given { column, rest: pieces.map(|piece| piece.trim().to_owned()).collect() });
        }
        let [time, op, offset, length, device, fua] = given;
        let missing = |role: &str| wrong(format!("it does not say which column is the {role}"));
        let time = time.ok_or_else(|| missing("time"))?;
        let op = op.ok_or_else(|| missing("op"))?;
        let offset = offset.ok_or_else(|| missing("offset"))?;
        let length = length.ok_or_else(|| missing("length"))?;
        for (role, given) in [("device", &device), ("fua", &fua)] {
            if given.as_ref().is_some_and(|given| !given.rest.is_empty()) {
                return Err(wrong(format!("{role}: takes a column alone")));
            }
        }
        Ok(ColumnSpec {
            time_unit: time_unit(&time).map_err(wrong)?,
            time: time.column,
            values: values(&op.rest).map_err(wrong)?,
            op: op.column,
            offset_bytes: bytes("offset", &offset).map_err(wrong)?,
            offset: offset.column,
            length_bytes: bytes("length", &length).map_err(wrong)?,
            length: length.column,
            device: device.map(|device| device.column),
            fua: fua.map(|fua| fua.column),
        })
    }
}

/// The parts of `text` between `by`, which inside double quotes separates nothing.
fn split(text: &str, by: char) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c| {
        quoted ^= c == '"';
        c == by && !quoted
    })
    .collect()
}

fn column(text: &str) -> Result<Column, &'static str> {
    let text = text.trim();
    if let Some(name) = text.strip_prefix('"') {
        let name = name.strip_suffix('"').filter(|name| !name.is_empty() && !name.contains('"'));
        return name.map(|name| Column::Name(name.to_owned())).ok_or("a name in quotes that has no end");
    }
    if text.is_empty() {
        return Err("names no column");
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(Column::Name(text.to_owned()));
    }
    match text.parse::<usize>() {
        Ok(number @ 1..=10_000) => Ok(Column::At(number - 1)),
        _ => Err("columns are counted from 1, to 10000"),
    }
}

/// The unit of times: what follows the column, or what its name ends in.
fn time_unit(time: &Given) -> Result<Option<TimeUnit>, String> {
    match &time.rest[..] {
        [] => Ok(None),
        [unit] => unit.parse().map(Some).map_err(|why| format!("time: {why}")),
        _ => Err("time: takes a column and a unit".to_owned()),
    }
}

/// The values of the operation that the user explains, such as `1=read`, `40=write`, `D=skip`. One digit of 0 and 1 explains the other,
/// and none leaves 0 a read and 1 a write.
fn values(rest: &[String]) -> Result<Vec<(String, Meaning)>, String> {
    let mut values: Vec<(String, Meaning)> = Vec::new();
    for piece in rest {
        let meaning = match piece.split_once('=') {
            Some((_, "skip")) => Some(Meaning::Skip),
            Some((_, word)) => Meaning::of_word(word.as_bytes()),
            None => None,
        };
        let Some(meaning) = meaning else {
            return Err(format!(
                "op: `{}`: legal is VALUE=read, VALUE=write, VALUE=write-fua, VALUE=trim, VALUE=write-zeroes, VALUE=flush or VALUE=skip",
                piece.escape_debug()
            ));
        };
        let value = piece.split_once('=').unwrap_or_default().0.trim();
        if value.is_empty() || values.iter().any(|(known, _)| known == value) {
            return Err(format!("op: `{}`: names no value, or one that is there already", piece.escape_debug()));
        }
        values.push((value.to_owned(), meaning));
    }
    let of = |digit: &str| values.iter().find(|(value, _)| value == digit).map(|(_, meaning)| *meaning);
    let other = |meaning: Meaning| match meaning {
        Meaning::Is(Op::Read) => Some(Meaning::Is(Op::Write)),
        Meaning::Is(Op::Write) => Some(Meaning::Is(Op::Read)),
        Meaning::Is(_) | Meaning::WriteFua | Meaning::Skip => None,
    };
    let (zero, one) = match (of("0"), of("1")) {
        (None, None) => (Some(Meaning::Is(Op::Read)), Some(Meaning::Is(Op::Write))),
        (Some(zero), None) => (None, other(zero)),
        (None, Some(one)) => (other(one), None),
        (Some(zero), Some(one)) if zero == one && zero != Meaning::Skip => {
            return Err("op: 0 and 1 mean the same".to_owned());
        }
        (Some(_), Some(_)) => (None, None),
    };
    values.extend(zero.map(|meaning| ("0".to_owned(), meaning)));
    values.extend(one.map(|meaning| ("1".to_owned(), meaning)));
    Ok(values)
}

/// Bytes in a unit of addresses or lengths.
fn bytes(role: &str, given: &Given) -> Result<u64, String> {
    const LARGEST: u64 = 1 << 30;
    match &given.rest[..] {
        [] => match &given.column {
            Column::Name(name) if counts_blocks(name) => Err(format!(
                "{role}={}: is it in bytes or in sectors? give {role}={0}:bytes, {role}={0}:sectors (512 bytes) or {role}={0}:N (N bytes)",
                name.escape_debug()
            )),
            _ => Ok(1),
        },
        [unit] => match unit.as_str() {
            "bytes" => Ok(1),
            "sectors" => Ok(512),
            other => match other.parse() {
                Ok(bytes @ 1..=LARGEST) => Ok(bytes),
                _ => Err(format!(
                    "{role}: `{}` is no unit; legal is bytes, sectors (512 bytes), or a number of bytes up to {LARGEST}",
                    other.escape_debug()
                )),
            },
        },
        _ => Err(format!("{role}: takes a column and a unit")),
    }
}

/// Whether a column of this name may count sectors or blocks, so that its unit must be given.
fn counts_blocks(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["lba", "lbn", "lsn", "lpn", "sector", "sect", "block", "blk", "page"].iter().any(|word| name.contains(word))
}
