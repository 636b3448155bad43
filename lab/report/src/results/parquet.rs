//! Rows as Parquet: a row group every [`GROUP_ROWS`] rows, so that memory stays bounded.
//!
//! Numbers are delta-encoded, words dictionary-encoded, pages compressed with zstd.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::columns::{Cell, Column, Kind, Table};

/// Rows of a row group: about 17 MB of buffered transactions.
const GROUP_ROWS: usize = 1 << 17;

/// Buffers rows and writes them one row group at a time.
pub(super) struct ParquetRows<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Waiting>,
    rows: usize,
}

/// The buffered values of a column.
struct Waiting {
    values: Values,
    /// 1 where there is a value, 0 where there is none; `None` for a column that always has one.
    present: Option<Vec<i16>>,
}

enum Values {
    Long(Vec<i64>),
    Short(Vec<i32>),
    Word(Vec<ByteArray>),
    Flag(Vec<bool>),
}

impl<W: Write + Send> ParquetRows<W> {
    pub(super) fn new(table: &Table, out: W) -> Result<ParquetRows<W>> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk);
        for column in table.columns {
            let path = ColumnPath::from(column.name);
            if matches!(column.kind, Kind::Long | Kind::Short) {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let schema = Arc::new(parse_message_type(&schema(table))?);
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
        Ok(ParquetRows { file, columns: table.columns.iter().map(Waiting::new).collect(), rows: 0 })
    }

    pub(super) fn push(&mut self, cells: &[Cell]) -> Result<()> {
        debug_assert_eq!(cells.len(), self.columns.len());
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(*cell);
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Writes the buffered rows and the footer, and returns the file.
    pub(super) fn finish(mut self) -> Result<W> {
        self.write_group()?;
        self.file.into_inner()
    }

    fn write_group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group.next_column()?.ok_or_else(|| ParquetError::General("too few columns".into()))?;
            column.write(&mut writer)?;
            writer.close()?;
            column.clear();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Waiting {
    fn new(column: &Column) -> Waiting {
        let values = match column.kind {
            Kind::Long => Values::Long(Vec::new()),
            Kind::Short => Values::Short(Vec::new()),
            Kind::Word => Values::Word(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
        };
        Waiting { values, present: column.optional.then(Vec::new) }
    }

    fn push(&mut self, cell: Cell) {
        if let Some(present) = &mut self.present {
            present.push((cell != Cell::Nothing).into());
        }
        match (&mut self.values, cell) {
            // Parquet's plain integers are signed: times beyond 292 years are limited to that.
            (Values::Long(values), Cell::Number(number)) => values.push(number.try_into().unwrap_or(i64::MAX)),
            (Values::Short(values), Cell::Number(number)) => values.push(number.try_into().unwrap_or(i32::MAX)),
            (Values::Word(values), Cell::Word(word)) => values.push(bytes::Bytes::from_static(word.as_bytes()).into()),
            (Values::Flag(values), Cell::Flag(flag)) => values.push(flag),
            (_, Cell::Nothing) => debug_assert!(self.present.is_some(), "a column that is always filled"),
            (_, cell) => unreachable!("{cell:?} in a column of another kind"),
        }
    }

    fn write(&self, writer: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let present = self.present.as_deref();
        match &self.values {
            Values::Long(values) => writer.typed::<Int64Type>().write_batch(values, present, None),
            Values::Short(values) => writer.typed::<Int32Type>().write_batch(values, present, None),
            Values::Word(values) => writer.typed::<ByteArrayType>().write_batch(values, present, None),
            Values::Flag(values) => writer.typed::<BoolType>().write_batch(values, present, None),
        }
        .map(drop)
    }

    fn clear(&mut self) {
        match &mut self.values {
            Values::Long(values) => values.clear(),
            Values::Short(values) => values.clear(),
            Values::Word(values) => values.clear(),
            Values::Flag(values) => values.clear(),
        }
        if let Some(present) = &mut self.present {
            present.clear();
        }
    }
}

/// The schema in Parquet's own notation.
fn schema(table: &Table) -> String {
    let mut text = format!("message {} {{\n", table.name);
    for column in table.columns {
        let repetition = if column.optional { "optional" } else { "required" };
        let (kind, annotation) = match column.kind {
            Kind::Long => ("int64", ""),
            Kind::Short => ("int32", ""),
            Kind::Word => ("binary", " (string)"),
            Kind::Flag => ("boolean", ""),
        };
        text.push_str(&format!("  {repetition} {kind} {}{annotation};\n", column.name));
    }
    text.push('}');
    text
}
