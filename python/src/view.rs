//! The board as Python sees it: the transactions that an idle unit may begin, as read-only numpy arrays over memory that every decision
//! uses again.

use flashlane_core::decide::Scope;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, TxnId, UnitId};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::error::error;

/// Columns, in their order.
const COLUMNS: [&str; 12] = [
    "is_read",
    "flow",
    "priority",
    "plane",
    "lpn",
    "serial",
    "enqueued_ns",
    "service_ns",
    "slack_ns",
    "request_pages",
    "request_pages_left",
    "request_arrival_ns",
];

/// What may be begun at an idle unit. Arrays have an entry for each waiting transaction that may go now, reads first, each kind in the
/// order of its queue. They are read-only and valid until `pick` returns.
#[pyclass]
pub struct BoardView {
    now_ns: u64,
    count: usize,
    /// Space for this many candidates in every column.
    capacity: usize,
    /// The columns that are filled.
    wanted: Vec<usize>,
    /// One array for all columns, one after the other: to borrow several would take longer than to fill them.
    cells: Py<PyArray1<i64>>,
    /// Its read-only view.
    view: Py<PyAny>,
    /// The view of a column as long as there are candidates now, made when first asked for.
    cut: Vec<Option<Py<PyAny>>>,
}

impl BoardView {
    /// A board that shows the columns `names`, or all.
    pub(crate) fn new(py: Python<'_>, names: Option<Vec<String>>) -> PyResult<BoardView> {
        let place = |name: String| {
            let found = COLUMNS.iter().position(|known| *known == name);
            found.ok_or_else(|| error(format!("columns: {name:?}: no such column; there are {}", COLUMNS.join(", "))))
        };
        let wanted = match names {
            Some(names) => names.into_iter().map(place).collect::<PyResult<_>>()?,
            None => (0..COLUMNS.len()).collect(),
        };
        let (capacity, cut) = (64, COLUMNS.iter().map(|_| None).collect());
        let (cells, view) = BoardView::cells(py, capacity)?;
        Ok(BoardView { now_ns: 0, count: 0, capacity, wanted, cells, view, cut })
    }

    fn cells(py: Python<'_>, capacity: usize) -> PyResult<(Py<PyArray1<i64>>, Py<PyAny>)> {
        let array = PyArray1::<i64>::zeros(py, capacity * COLUMNS.len(), false);
        let view = array.call_method0("view")?;
        view.getattr("flags")?.setattr("writeable", false)?;
        Ok((array.unbind(), view.unbind()))
    }

    /// Shows the candidates `waiting`.
    pub(crate) fn show(&mut self, py: Python<'_>, board: &Board, waiting: &[TxnId]) -> PyResult<()> {
        self.now_ns = board.now.ns();
        if self.count != waiting.len() {
            self.count = waiting.len();
            self.cut.iter_mut().for_each(|cut| *cut = None);
        }
        if self.wanted.is_empty() {
            return Ok(());
        }
        if waiting.len() > self.capacity {
            self.capacity = waiting.len().next_power_of_two();
            (self.cells, self.view) = BoardView::cells(py, self.capacity)?;
            self.cut.iter_mut().for_each(|cut| *cut = None);
        }
        let mut cells = self.cells.bind(py).try_readwrite().map_err(error)?;
        let cells = cells.as_slice_mut().map_err(error)?;
        for &column in &self.wanted {
            for (cell, &txn) in cells[column * self.capacity..].iter_mut().zip(waiting) {
                *cell = value(board, txn, column);
            }
        }
        Ok(())
    }

    fn column(&mut self, py: Python<'_>, column: usize) -> PyResult<Py<PyAny>> {
        if let Some(cut) = &self.cut[column] {
            return Ok(cut.clone_ref(py));
        }
        if !self.wanted.contains(&column) {
            return Err(error(format!("{} is not among the columns that the pick names", COLUMNS[column])));
        }
        let start = column * self.capacity;
        let slice = PySlice::new(py, start as isize, (start + self.count) as isize, 1);
        let cut = self.view.bind(py).get_item(slice)?.unbind();
        self.cut[column] = Some(cut.clone_ref(py));
        Ok(cut)
    }
}

fn value(board: &Board, txn: TxnId, column: usize) -> i64 {
    let of = board.txn(txn);
    let request = || board.request(txn);
    let ns = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    match column {
        0 => i64::from(of.op == FlashOp::Read),
        1 => i64::from(of.flow.0),
        2 => i64::from(of.priority),
        3 => i64::from(of.plane.0),
        4 => i64::from(of.lpn.0),
        5 => ns(of.serial),
        6 => ns(of.enqueued.ns()),
        7 => ns(board.service(txn).ns()),
        8 => ns(of.slack.ns()),
        9 => request().map_or(0, |request| i64::from(request.pages)),
        10 => request().map_or(0, |request| i64::from(request.remaining)),
        _ => request().map_or(ns(of.enqueued.ns()), |request| ns(request.arrival.ns())),
    }
}

/// The waiting transactions of `unit` that may go now, into `waiting`.
pub(crate) fn candidates(board: &Board, unit: UnitId, scope: Scope, waiting: &mut Vec<TxnId>) {
    waiting.clear();
    let ops = if scope == Scope::Any { &[FlashOp::Read, FlashOp::Program][..] } else { &[FlashOp::Read] };
    for &op in ops {
        waiting.extend(board.walk(board.queue_for(unit, op, 0)).filter(|&txn| board.eligible(txn)));
    }
}

#[pymethods]
impl BoardView {
    /// The instant of the decision, ns since the start of the run.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// 1 for a read, 0 for a program.
    #[getter]
    fn is_read(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 0)
    }

    /// Number of the flow.
    #[getter]
    fn flow(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 1)
    }

    /// Priority level of the flow, 0 lowest.
    #[getter]
    fn priority(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 2)
    }

    /// The plane.
    #[getter]
    fn plane(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 3)
    }

    /// The logical page.
    #[getter]
    fn lpn(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 4)
    }

    /// A number that grows with every transaction: the age, smaller is older.
    #[getter]
    fn serial(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 5)
    }

    /// When it joined its queue, ns.
    #[getter]
    fn enqueued_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 6)
    }

    /// How long it takes by itself, ns.
    #[getter]
    fn service_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 7)
    }

    /// How much later it may end without its request ending later, ns; 0 unless the order decision estimates it.
    #[getter]
    fn slack_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 8)
    }

    /// Pages of its request; 0 without one (a program of the page buffer).
    #[getter]
    fn request_pages(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 9)
    }

    /// Pages of its request that are not yet served.
    #[getter]
    fn request_pages_left(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 10)
    }

    /// When its request arrived, ns.
    #[getter]
    fn request_arrival_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, 11)
    }
}
