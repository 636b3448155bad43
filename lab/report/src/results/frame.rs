//! A data frame whose columns are known only when it is made: as Parquet and as CSV.
//!
//! Promises byte-identical output for the same columns. Columns of requests and transactions are fixed and stand in `columns`.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 17;

/// A column of a frame; any row may have no value.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameColumn {
    /// Its name; it ends in the unit if the column has one.
    pub name: String,
    /// Its values.
    pub values: FrameValues,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameValues {
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Text.
    Text(Vec<Option<String>>),
    /// True or false.
    Flag(Vec<Option<bool>>),
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The columns, in order.
    pub columns: Vec<FrameColumn>,
}

impl FrameValues {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            FrameValues::Whole(values) => values.len(),
            FrameValues::Number(values) => values.len(),
            FrameValues::Text(values) => values.len(),
            FrameValues::Flag(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row as a number, if it is one.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self {
            FrameValues::Whole(values) => values[row].map(|value| value as f64),
            FrameValues::Number(values) => values[row],
            FrameValues::Text(_) | FrameValues::Flag(_) => None,
        }
    }

    /// The value of a row as text; empty without one.
    pub fn text(&self, row: usize) -> String {
        fn shown(value: &Option<impl ToString>) -> String {
            value.as_ref().map(ToString::to_string).unwrap_or_default()
        }
        match self {
            FrameValues::Whole(values) => shown(&values[row]),
            FrameValues::Number(values) => shown(&values[row]),
            FrameValues::Text(values) => shown(&values[row]),
            FrameValues::Flag(values) => shown(&values[row]),
        }
    }
}

impl Frame {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column `name`.
    pub fn column(&self, name: &str) -> Option<&FrameValues> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// Writes it as Parquet.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_parquet<W: Write + Send>(&self, out: W) -> Result<W> {
        let fields = self.columns.iter().map(|column| {
            let (physical, logical) = match &column.values {
                FrameValues::Whole(_) => (Physical::INT64, None),
                FrameValues::Number(_) => (Physical::DOUBLE, None),
                FrameValues::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                FrameValues::Flag(_) => (Physical::BOOLEAN, None),
            };
            let field = Type::primitive_type_builder(&column.name, physical);
            field.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build().map(Arc::new)
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let schema = Type::group_type_builder("results").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        for start in (0..self.rows()).step_by(GROUP_ROWS) {
            let end = self.rows().min(start + GROUP_ROWS);
            let mut group = file.next_row_group()?;
            for column in &self.columns {
                let mut writer = group.next_column()?.ok_or_else(|| ParquetError::General("too few columns".into()))?;
                match &column.values {
                    FrameValues::Whole(values) => write::<Int64Type, _>(&mut writer, &values[start..end], |n| *n)?,
                    FrameValues::Number(values) => write::<DoubleType, _>(&mut writer, &values[start..end], |n| *n)?,
                    FrameValues::Text(values) => {
                        write::<ByteArrayType, _>(&mut writer, &values[start..end], |text| {
                            ByteArray::from(text.as_str())
                        })?;
                    }
                    FrameValues::Flag(values) => write::<BoolType, _>(&mut writer, &values[start..end], |flag| *flag)?,
                }
                writer.close()?;
            }
            group.close()?;
        }
        file.into_inner()
    }

    /// Writes it as CSV: a header, then a line per row; an absent value is empty.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_csv<W: Write>(&self, out: W) -> std::io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|column| column.name.as_str()))?;
        for row in 0..self.rows() {
            writer.write_record(self.columns.iter().map(|column| column.values.text(row)))?;
        }
        writer.flush()
    }
}

fn write<D: DataType, V>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[Option<V>],
    convert: impl Fn(&V) -> D::T,
) -> Result<()> {
    let present: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    let values: Vec<D::T> = values.iter().flatten().map(convert).collect();
    writer.typed::<D>().write_batch(&values, Some(&present), None).map(drop)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    fn frame() -> Frame {
        let column = |name: &str, values| FrameColumn { name: name.into(), values };
        Frame {
            columns: vec![
                column("flow[0].rate", FrameValues::Number(vec![Some(0.5), None])),
                column("n", FrameValues::Whole(vec![Some(-3), Some(4)])),
                column("who", FrameValues::Text(vec![Some("a, \"b\"".into()), None])),
                column("on", FrameValues::Flag(vec![None, Some(true)])),
            ],
        }
    }

    #[test]
    fn parquet_and_csv_hold_the_same_values() {
        let bytes = frame().write_parquet(Vec::new()).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows[0], "{flow[0].rate: 0.5, n: -3, who: \"a, \"b\"\", on: null}");
        assert_eq!(rows[1], "{flow[0].rate: null, n: 4, who: null, on: true}");
        let mut text = Vec::new();
        frame().write_csv(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "flow[0].rate,n,who,on\n0.5,-3,\"a, \"\"b\"\"\",\n,4,,true\n");
    }
}
