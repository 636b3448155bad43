//! The columns of the row files: one description for the Parquet schema, the CSV header and `docs/columns.md`.

/// A kind of rows.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// What the documentation calls it.
    pub title: &'static str,
    /// The name of its file: `requests` gives `requests.parquet`.
    pub name: &'static str,
    /// What one row is.
    pub about: &'static str,
    /// Its columns, in order.
    pub columns: &'static [Column],
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name; it ends in the unit if the column has one.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether a row may have no value here (Parquet: null; CSV: empty).
    pub optional: bool,
    /// What it means.
    pub about: &'static str,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 64 bits, never negative.
    Long,
    /// A whole number of 32 bits, never negative.
    Short,
    /// One of a few fixed words.
    Word,
    /// True or false.
    Flag,
}

/// A value of a row, of the kind its column says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A number.
    Number(u64),
    /// A word.
    Word(&'static str),
    /// True or false.
    Flag(bool),
    /// No value.
    Nothing,
}

impl Cell {
    /// A number, or no value.
    pub(super) fn of(number: Option<u64>) -> Cell {
        number.map_or(Cell::Nothing, Cell::Number)
    }
}

impl Table {
    /// The name of the table's file.
    pub fn file_name(&self, extension: &str) -> String {
        format!("{}.{extension}", self.name)
    }
}

impl Kind {
    /// The kind's name in the documentation.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Kind::Long => "int64",
            Kind::Short => "int32",
            Kind::Word => "string",
            Kind::Flag => "boolean",
        }
    }
}

/// A column with a value in every row.
pub(super) const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, optional: false, about }
}

/// A column that may be empty.
pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, optional: true, about }
}
