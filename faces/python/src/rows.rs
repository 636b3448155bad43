//! Rows as Arrow: the columns are handed over as they are in memory.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use flashlane_report::results::{Kind, MemoryColumn, MemoryRows, MemoryValues};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::error;

/// All rows of a table, as record batches.
pub(crate) struct Batches {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl Batches {
    /// The rows of a run whose flows have these names: the columns of the table, and the name of the flow.
    pub(crate) fn of(kept: MemoryRows, flows: &[String]) -> Batches {
        let rows = kept.rows();
        let MemoryRows { table, chunks, words, .. } = kept;
        let words: ArrayRef = Arc::new(StringArray::from(words));
        let flows: ArrayRef = Arc::new(StringArray::from_iter_values(flows));
        let word = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields = table.columns.iter().map(|column| {
            let kind = match column.kind {
                Kind::Long => DataType::Int64,
                Kind::Short => DataType::Int32,
                Kind::Word => word(),
                Kind::Flag => DataType::Boolean,
            };
            Field::new(column.name, kind, column.optional)
        });
        let of = table.columns.iter().position(|column| column.name == "flow").expect("every row has a flow");
        let fields = fields.chain([Field::new("flow_name", word(), true)]);
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batches = chunks.into_iter().map(|chunk| {
            let mut columns: Vec<ArrayRef> = chunk.into_iter().map(|column| array(column, &words)).collect();
            columns.push(names(&columns[of], &flows));
            RecordBatch::try_new(Arc::clone(&schema), columns).expect("the columns of the table")
        });
        Batches { batches: batches.collect(), rows, schema }
    }
}

/// The names of flows by their numbers, which are not copied.
fn names(numbers: &ArrayRef, flows: &ArrayRef) -> ArrayRef {
    let numbers = numbers.as_primitive::<Int32Type>();
    let keys = match DictionaryArray::try_new(numbers.clone(), Arc::clone(flows)) {
        Ok(names) => return Arc::new(names),
        // A transaction that is counted for no flow of the scenario.
        Err(_) => numbers.iter().map(|flow| flow.filter(|flow| (0..flows.len() as i32).contains(flow))),
    };
    Arc::new(DictionaryArray::<Int32Type>::new(keys.collect::<Int32Array>(), Arc::clone(flows)))
}

/// The column as Arrow; numbers are not copied.
fn array(column: MemoryColumn, words: &ArrayRef) -> ArrayRef {
    let nulls = column.present.map(NullBuffer::from);
    match column.values {
        MemoryValues::Long(values) => Arc::new(Int64Array::new(values.into(), nulls)),
        MemoryValues::Short(values) => Arc::new(Int32Array::new(values.into(), nulls)),
        MemoryValues::Flag(values) => Arc::new(BooleanArray::new(values.into(), nulls)),
        MemoryValues::Word(values) => {
            let keys = Int32Array::new(values.into(), nulls);
            Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::clone(words)))
        }
    }
}

/// Rows of requests or transactions, which pyarrow, polars, pandas and duckdb take without a copy.
#[pyclass(frozen)]
pub struct Rows(pub(crate) Arc<Batches>);

#[pymethods]
impl Rows {
    /// The Arrow C stream interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may leave casts to the consumer.
        let _ = requested_schema;
        let batches = self.0.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.0.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Rows are not read one by one: pandas' constructor and `list` would, an object for each number.
    fn __iter__(&self) -> PyResult<()> {
        Err(error(
            "rows are an Arrow stream, not objects one by one: pandas.DataFrame.from_arrow(rows) (pandas 3), \
             pyarrow.table(rows).to_pandas() (any), or polars.DataFrame(rows)",
        ))
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The address of a column's numbers in each batch, to see that they were not copied.
    fn addresses(&self, column: &str) -> PyResult<Vec<usize>> {
        let place = self.0.schema.index_of(column).map_err(error)?;
        let address = |batch: &RecordBatch| {
            let data = batch.column(place).to_data();
            data.buffers().first().map_or(0, |buffer| buffer.as_ptr() as usize)
        };
        Ok(self.0.batches.iter().map(address).collect())
    }

    fn __len__(&self) -> usize {
        self.0.rows
    }

    fn __repr__(&self) -> String {
        format!("<{} rows: {}>", self.0.rows, self.columns().join(", "))
    }
}
