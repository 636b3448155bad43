//! Writes rows one by one to a file that is whole or absent.

use std::fs::File;
use std::io::BufWriter;
use std::marker::PhantomData;
use std::path::Path;

use parquet::errors::ParquetError;

use super::csv;
use super::memory::{MemoryRows, MemorySink};
use super::parquet::ParquetRows;
use super::rows::Row;
use flashlane_outputs::{Existing, Inputs, OutFile, OutputError, Pending};

/// The format of row files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Columnar, compressed: for pandas, polars, DuckDB, Spark.
    Parquet,
    /// Text with a header line: for all other programs.
    Csv,
}

impl Format {
    /// `parquet` or `csv`: the extension of the file's name.
    pub const fn extension(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Csv => "csv",
        }
    }
}

/// A file of rows being written. Dropped before [`RowWriter::finish`], it leaves nothing.
pub struct RowWriter<R: Row> {
    sink: Sink,
    rows: u64,
    of: PhantomData<R>,
}

enum Sink {
    Parquet(Box<ParquetRows<BufWriter<File>>>, Pending),
    Csv(BufWriter<File>, Pending),
    /// In memory: the rows, where they go, and their name there.
    Memory(Box<MemoryRows>, MemorySink, String),
}

impl<R: Row> RowWriter<R> {
    /// Begins the file `path`.
    pub fn create(path: &Path, format: Format) -> Result<RowWriter<R>, OutputError> {
        RowWriter::to(OutFile::create(path, Existing::Replace, &Inputs::default())?, format)
    }

    /// Begins writing to a file that was just created.
    pub(super) fn to(file: OutFile, format: Format) -> Result<RowWriter<R>, OutputError> {
        let (file, pending) = file.parts();
        RowWriter::on(file, pending, format)
    }

    fn on(mut file: BufWriter<File>, pending: Pending, format: Format) -> Result<RowWriter<R>, OutputError> {
        let at = |failure: Failure| failure.at(pending.shown());
        let sink = match format {
            Format::Parquet => {
                let rows = ParquetRows::new(&R::TABLE, file).map_err(|error| at(error.into()))?;
                Sink::Parquet(Box::new(rows), pending)
            }
            Format::Csv => {
                csv::header(&R::TABLE, &mut file).map_err(|error| at(error.into()))?;
                Sink::Csv(file, pending)
            }
        };
        Ok(RowWriter { sink, rows: 0, of: PhantomData })
    }

    /// Begins rows in memory, which go to `sink` under `name`.
    pub(super) fn in_memory(sink: MemorySink, name: String) -> RowWriter<R> {
        RowWriter { sink: Sink::Memory(Box::new(MemoryRows::new(R::TABLE)), sink, name), rows: 0, of: PhantomData }
    }

    /// Adds a row.
    pub fn push(&mut self, row: &R) -> Result<(), OutputError> {
        let cells = row.cells();
        self.rows += 1;
        match &mut self.sink {
            Sink::Parquet(rows, pending) => {
                rows.push(cells.as_ref()).map_err(|error| Failure::from(error).at(pending.shown()))
            }
            Sink::Csv(file, pending) => {
                csv::row(cells.as_ref(), file).map_err(|error| Failure::from(error).at(pending.shown()))
            }
            Sink::Memory(rows, ..) => {
                rows.push(cells.as_ref());
                Ok(())
            }
        }
    }

    /// Completes the file, gives it its name, and returns the number of rows.
    pub fn finish(self) -> Result<u64, OutputError> {
        match self.sink {
            Sink::Parquet(rows, pending) => {
                let file = rows.finish().map_err(|error| Failure::from(error).at(pending.shown()))?;
                pending.finish(file)?;
            }
            Sink::Csv(file, pending) => pending.finish(file)?,
            Sink::Memory(rows, sink, name) => sink.put(name, *rows),
        }
        Ok(self.rows)
    }
}

/// A write error without the name of its file.
struct Failure(String);

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure(error.to_string())
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Failure {
        Failure(match error {
            ParquetError::External(inner) => inner.to_string(),
            other => other.to_string(),
        })
    }
}

impl Failure {
    fn at(self, path: &Path) -> OutputError {
        OutputError::fault(path, format!("cannot be written: {}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::path::PathBuf;

    use flashlane_core::transaction::FlashOp;
    use flashlane_core::{Completion, FlowId, Lpn, Op, Owner, RequestId, Time};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, RowAccessor};

    use super::*;
    use crate::results::{RequestRow, TransactionRow, Waited};
    use flashlane_testing::scratch;

    fn request(i: u64) -> RequestRow {
        RequestRow(
            Completion {
                id: RequestId(i),
                flow: FlowId((i % 3) as u16),
                op: if i.is_multiple_of(4) { Op::Write } else { Op::Read },
                arrival: Time::from_ns(i * 1_000),
                done: Time::from_ns(i * 1_000 + 70_000 + i % 977),
                lpn: Lpn((i * 2_654_435_761 % 4_000_000_000) as u32),
                pages: 1 + (i % 8) as u32,
                bytes: 4_096,
                tags: 0,
            },
            i >= 3,
        )
    }

    fn erase() -> TransactionRow {
        TransactionRow {
            request: None,
            flow: FlowId(0),
            op: FlashOp::Erase,
            owner: Owner::Gc,
            lpn: None,
            channel: 1,
            chip: 2,
            die: 3,
            plane: 0,
            enqueue_ns: 10,
            dispatch_ns: Some(20),
            done_ns: 3_000_020,
            paused_ns: 5,
            slack_ns: Some(0),
            cancelled: false,
            estimate: None,
            actual_slack_ns: None,
            waited: Waited::default(),
        }
    }

    fn cancelled() -> TransactionRow {
        TransactionRow {
            request: Some(RequestId(9)),
            op: FlashOp::Program,
            owner: Owner::User,
            lpn: Some(Lpn(u32::MAX - 2)),
            dispatch_ns: None,
            slack_ns: None,
            cancelled: true,
            ..erase()
        }
    }

    fn write<R: Row>(path: &Path, format: Format, rows: impl IntoIterator<Item = R>) -> u64 {
        let mut writer = RowWriter::create(path, format).unwrap();
        rows.into_iter().for_each(|row| writer.push(&row).unwrap());
        writer.finish().unwrap()
    }

    #[test]
    fn parquet_reads_back_what_was_written() {
        let dir = scratch("parquet");
        let path = dir.join("requests.parquet");
        let n = 300_000;
        assert_eq!(write(&path, Format::Parquet, (0..n).map(request)), n);
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let metadata = reader.metadata();
        assert_eq!(metadata.file_metadata().num_rows() as u64, n);
        assert_eq!(metadata.num_row_groups(), 3, "memory is bounded by the row group");
        let names: Vec<&str> = metadata.file_metadata().schema_descr().columns().iter().map(|c| c.name()).collect();
        assert_eq!(names, RequestRow::TABLE.columns.iter().map(|c| c.name).collect::<Vec<_>>());
        let mut read = 0;
        for (i, row) in reader.get_row_iter(None).unwrap().enumerate() {
            let (row, expect) = (row.unwrap(), request(i as u64).0);
            assert_eq!(row.get_long(0).unwrap(), expect.id.0 as i64);
            assert_eq!(row.get_int(1).unwrap(), i32::from(expect.flow.0));
            assert_eq!(row.get_string(2).unwrap(), expect.op.name());
            assert_eq!(row.get_long(3).unwrap(), i64::from(expect.lpn.0));
            assert_eq!(row.get_long(4).unwrap(), i64::from(expect.pages));
            assert_eq!(row.get_long(7).unwrap(), row.get_long(6).unwrap() - row.get_long(5).unwrap());
            read += 1;
        }
        assert_eq!(read, n);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn absent_values_are_null_in_parquet() {
        let dir = scratch("parquet-null");
        let path = dir.join("transactions.parquet");
        write(&path, Format::Parquet, [erase(), cancelled()]);
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let field = |row: usize, name: &str| {
            rows[row].get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field.clone()).unwrap()
        };
        assert_eq!(
            ["request", "lpn", "slack_ns"].map(|name| field(0, name)),
            [Field::Null, Field::Null, Field::Long(0)]
        );
        assert_eq!(
            ["request", "dispatch_ns", "lpn", "cancelled"].map(|name| field(1, name)),
            [Field::Long(9), Field::Null, Field::Long(i64::from(u32::MAX - 2)), Field::Bool(true)]
        );
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn csv_has_a_header_and_a_line_a_row() {
        let dir = scratch("csv");
        let path = dir.join("transactions.csv");
        assert_eq!(write(&path, Format::Csv, [erase(), cancelled()]), 2);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "request,flow,op,owner,lpn,channel,chip,die,plane,enqueue_ns,dispatch_ns,done_ns,paused_ns,slack_ns,cancelled,\
             response_ns,estimated_response_ns,estimated_slack_ns,actual_slack_ns\n\
             ,0,erase,gc,,1,2,3,0,10,20,3000020,5,0,false,3000010,,,\n\
             9,0,program,user,4294967293,1,2,3,0,10,,3000020,5,,true,3000010,,,\n"
        );
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn same_rows_same_bytes_and_no_rows_is_a_file_too() {
        let dir = scratch("rows-same");
        let files: Vec<PathBuf> = ["a", "b", "none"].map(|name| dir.join(name)).to_vec();
        write(&files[0], Format::Parquet, (0..1_000).map(request));
        write(&files[1], Format::Parquet, (0..1_000).map(request));
        assert_eq!(fs::read(&files[0]).unwrap(), fs::read(&files[1]).unwrap());
        assert_eq!(write(&files[2], Format::Parquet, std::iter::empty::<RequestRow>()), 0);
        let reader = SerializedFileReader::new(File::open(&files[2]).unwrap()).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file_and_leaves_nothing() {
        for format in [Format::Parquet, Format::Csv] {
            let dir = scratch(&format!("full-{}", format.extension()));
            let path = dir.join("requests");
            // The kernel's always-full device stands in for the temporary file.
            let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
                eprintln!("SKIPPED: no /dev/full on this system");
                return;
            };
            let (_, pending) = OutFile::create(&path, Existing::Replace, &Inputs::default()).unwrap().parts();
            let mut writer = RowWriter::on(BufWriter::new(full), pending, format).unwrap();
            let error = (0..1_000_000).find_map(|i| writer.push(&request(i)).err()).expect("the disk is full");
            assert_eq!(error.path, path);
            assert!(error.message.contains("No space left on device"), "{error}");
            drop(writer);
            assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "nothing half-written");
            fs::remove_dir_all(dir).unwrap();
        }
    }

    #[test]
    fn a_disk_that_fills_at_the_last_byte_is_an_error() {
        let dir = scratch("full-end");
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
            eprintln!("SKIPPED: no /dev/full on this system");
            return;
        };
        let path = dir.join("requests.csv");
        let (_, pending) = OutFile::create(&path, Existing::Replace, &Inputs::default()).unwrap().parts();
        let mut writer = RowWriter::on(BufWriter::new(full), pending, Format::Csv).unwrap();
        writer.push(&request(1)).unwrap();
        assert!(writer.finish().unwrap_err().message.contains("No space left"));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        fs::remove_dir_all(dir).unwrap();
    }
}
