//! Rows of requests and transactions kept in memory, column by column, for programs that go on with them.
//!
//! Columns are in chunks of [`CHUNK_ROWS`] rows, so that none is ever copied to grow.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::columns::{Cell, Kind, Table};

/// Rows of a chunk.
pub const CHUNK_ROWS: usize = 1 << 20;

/// Rows by the name of their file, with its folder but without extension: `requests`, `fcfs/transactions`.
pub type KeptRows = BTreeMap<String, MemoryRows>;

/// Where rows in memory go when they are complete.
#[derive(Clone, Debug, Default)]
pub(super) struct MemorySink(Arc<Mutex<KeptRows>>);

impl MemorySink {
    pub(super) fn put(&self, name: String, rows: MemoryRows) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, rows);
    }

    pub(super) fn take(&self) -> KeptRows {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// All rows of a table.
#[derive(Debug)]
pub struct MemoryRows {
    /// The table.
    pub table: Table,
    /// Its columns, chunk by chunk.
    pub chunks: Vec<Vec<MemoryColumn>>,
    /// The words of its columns of words, which name them by their place.
    pub words: Vec<&'static str>,
    rows: usize,
}

/// A part of a column.
#[derive(Debug)]
pub struct MemoryColumn {
    /// Its values; where there is none, 0.
    pub values: MemoryValues,
    /// Whether there is a value, row by row; `None` for a column that always has one.
    pub present: Option<Vec<bool>>,
}

/// The values of a column.
#[derive(Debug)]
pub enum MemoryValues {
    /// Whole numbers of 64 bits.
    Long(Vec<i64>),
    /// Whole numbers of 32 bits.
    Short(Vec<i32>),
    /// Places in [`MemoryRows::words`].
    Word(Vec<i32>),
    /// True or false.
    Flag(Vec<bool>),
}

impl MemoryRows {
    pub(super) fn new(table: Table) -> MemoryRows {
        MemoryRows { table, chunks: Vec::new(), words: Vec::new(), rows: 0 }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn push(&mut self, cells: &[Cell]) {
        if self.rows.is_multiple_of(CHUNK_ROWS) {
            self.chunks.push(
                self.table.columns.iter().map(|column| MemoryColumn::new(column.kind, column.optional)).collect(),
            );
        }
        self.rows += 1;
        let Some(chunk) = self.chunks.last_mut() else { return };
        for (column, cell) in chunk.iter_mut().zip(cells) {
            column.push(*cell, &mut self.words);
        }
    }
}

impl MemoryColumn {
    fn new(kind: Kind, optional: bool) -> MemoryColumn {
        let values = match kind {
            Kind::Long => MemoryValues::Long(Vec::new()),
            Kind::Short => MemoryValues::Short(Vec::new()),
            Kind::Word => MemoryValues::Word(Vec::new()),
            Kind::Flag => MemoryValues::Flag(Vec::new()),
        };
        MemoryColumn { values, present: optional.then(Vec::new) }
    }

    fn push(&mut self, cell: Cell, words: &mut Vec<&'static str>) {
        if let Some(present) = &mut self.present {
            present.push(cell != Cell::Nothing);
        }
        let number = if let Cell::Number(number) = cell { number } else { 0 };
        match &mut self.values {
            // As in Parquet: signed, times beyond 292 years are limited to that.
            MemoryValues::Long(values) => values.push(number.try_into().unwrap_or(i64::MAX)),
            MemoryValues::Short(values) => values.push(number.try_into().unwrap_or(i32::MAX)),
            MemoryValues::Word(values) => {
                let Cell::Word(word) = cell else { return values.push(0) };
                let place = words.iter().position(|known| *known == word).unwrap_or_else(|| {
                    words.push(word);
                    words.len() - 1
                });
                values.push(place as i32);
            }
            MemoryValues::Flag(values) => values.push(cell == Cell::Flag(true)),
        }
    }
}
