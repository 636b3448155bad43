//! The board as Python sees it: transactions, units and planes as read-only numpy arrays over memory that every decision uses again.

use std::collections::BTreeSet;

use flashlane_core::board::{Command, Flow, Service};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Board, PlaneId, Transaction, TxnId, UnitId};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::error::error;

/// What a column has an entry for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Each transaction that the decision is about.
    Transactions,
    /// Each unit of the device.
    Units,
    /// Each plane of the device.
    Planes,
    /// Each flow.
    Flows,
}

/// The columns of each kind, in their order.
const COLUMNS: [(Rows, &[&str]); 4] = [
    (
        Rows::Transactions,
        &[
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
            // From here on they are there by name only: they cost the device work.
            "page_at",
            "request_units",
        ],
    ),
    (
        Rows::Units,
        &[
            "unit_channel",
            "unit_state",
            "unit_busy_ns",
            "unit_command",
            "unit_pauses",
            "unit_reads",
            "unit_programs",
            "unit_gc",
        ],
    ),
    (
        Rows::Planes,
        &[
            "plane_unit",
            "plane_free_blocks",
            "plane_free_pages",
            "plane_has_free_page",
            "plane_collecting",
            "plane_valid_pages",
            "plane_next_page",
            "plane_victim_pages",
        ],
    ),
    (Rows::Flows, &["flow_waiting", "flow_in_flight", "flow_programmed", "flow_valid_pages", "flow_moved"]),
];

/// Columns of transactions that are there if none is named.
const USUAL: usize = 12;

/// The board of a decision. Arrays have an entry for each transaction that it is about, or, if their names begin with `unit_`,
/// `plane_` or `flow_`, for each unit or plane of the device or each flow. They are read-only and valid until the method returns.
#[pyclass]
pub struct BoardView {
    now_ns: u64,
    waiting_for_buffer: u32,
    tables: [Table; 4],
}

/// The columns of one kind.
struct Table {
    rows: Rows,
    names: &'static [&'static str],
    count: usize,
    /// Space for this many entries in every column.
    capacity: usize,
    /// The columns that are filled.
    wanted: Vec<usize>,
    /// One array for all columns, one after the other: to borrow several would take longer than to fill them.
    cells: Py<PyArray1<i64>>,
    /// Its read-only view.
    view: Py<PyAny>,
    /// The view of a column as long as there are entries now, made when first asked for.
    cut: Vec<Option<Py<PyAny>>>,
}

impl Table {
    fn new(py: Python<'_>, rows: Rows, names: &'static [&'static str]) -> PyResult<Table> {
        let (cells, view) = Table::cells(py, names.len())?;
        let cut = names.iter().map(|_| None).collect();
        Ok(Table { rows, names, count: 0, capacity: 1, wanted: Vec::new(), cells, view, cut })
    }

    fn cells(py: Python<'_>, length: usize) -> PyResult<(Py<PyArray1<i64>>, Py<PyAny>)> {
        let array = PyArray1::<i64>::zeros(py, length, false);
        let view = array.call_method0("view")?;
        view.getattr("flags")?.setattr("writeable", false)?;
        Ok((array.unbind(), view.unbind()))
    }

    /// Shows `count` entries; `value` computes that of an entry in a column.
    fn show(&mut self, py: Python<'_>, count: usize, value: impl Fn(usize, usize) -> i64) -> PyResult<()> {
        if self.count != count {
            self.count = count;
            self.cut.iter_mut().for_each(|cut| *cut = None);
        }
        if self.wanted.is_empty() {
            return Ok(());
        }
        if count > self.capacity {
            self.capacity = count.next_power_of_two();
            (self.cells, self.view) = Table::cells(py, self.capacity * self.names.len())?;
            self.cut.iter_mut().for_each(|cut| *cut = None);
        }
        let mut cells = self.cells.bind(py).try_readwrite().map_err(error)?;
        let cells = cells.as_slice_mut().map_err(error)?;
        for &column in &self.wanted {
            let start = column * self.capacity;
            cells[start..start + count].iter_mut().enumerate().for_each(|(entry, cell)| *cell = value(entry, column));
        }
        Ok(())
    }

    fn column(&mut self, py: Python<'_>, column: usize) -> PyResult<Py<PyAny>> {
        if let Some(cut) = &self.cut[column] {
            return Ok(cut.clone_ref(py));
        }
        if !self.wanted.contains(&column) {
            return Err(error(format!("{} is not among the columns that the answer names", self.names[column])));
        }
        let start = column * self.capacity;
        let slice = PySlice::new(py, start as isize, (start + self.count) as isize, 1);
        let cut = self.view.bind(py).get_item(slice)?.unbind();
        self.cut[column] = Some(cut.clone_ref(py));
        Ok(cut)
    }
}

impl BoardView {
    /// A board that shows the columns `names`, or the usual ones of the transactions.
    pub(crate) fn new(py: Python<'_>, names: Option<&[String]>) -> PyResult<BoardView> {
        let [transactions, units, planes, flows] = COLUMNS.map(|(rows, names)| Table::new(py, rows, names));
        let mut tables = [transactions?, units?, planes?, flows?];
        for name in names.unwrap_or_default() {
            let found = tables.iter_mut().find_map(|table| {
                let column = table.names.iter().position(|known| known == name)?;
                Some((table, column))
            });
            let Some((table, column)) = found else {
                let all = COLUMNS.map(|(_, names)| names.join(", ")).join(", ");
                return Err(error(format!("columns: {name:?}: no such column; there are {all}")));
            };
            table.wanted.push(column);
        }
        if names.is_none() {
            tables[0].wanted = (0..USUAL).collect();
        }
        Ok(BoardView { now_ns: 0, waiting_for_buffer: 0, tables })
    }

    /// Shows the transactions `rows`, the units and planes of the device, and the flows.
    pub(crate) fn show(&mut self, py: Python<'_>, board: &Board, rows: &[TxnId]) -> PyResult<()> {
        self.now_ns = board.now.ns();
        self.waiting_for_buffer = board.waiting_for_buffer;
        for table in &mut self.tables {
            match table.rows {
                Rows::Transactions => {
                    table.show(py, rows.len(), |entry, column| of_transaction(board, rows[entry], column))?;
                }
                Rows::Units => {
                    table.show(py, board.units.len(), |entry, column| of_unit(board, UnitId(entry as u16), column))?;
                }
                Rows::Planes => {
                    table
                        .show(py, board.planes.len(), |entry, column| of_plane(board, PlaneId(entry as u16), column))?;
                }
                Rows::Flows => {
                    table.show(py, board.flows.len(), |entry, column| of_flow(&board.flows[entry], column))?;
                }
            }
        }
        Ok(())
    }

    fn column(&mut self, py: Python<'_>, rows: Rows, column: usize) -> PyResult<Py<PyAny>> {
        self.tables[rows as usize].column(py, column)
    }
}

fn ns(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

fn of_transaction(board: &Board, txn: TxnId, column: usize) -> i64 {
    let of = board.txn(txn);
    let request = || board.request(txn);
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
        11 => request().map_or(ns(of.enqueued.ns()), |request| ns(request.arrival.ns())),
        12 => i64::from(of.page_at.0),
        _ => units_held(board, of.request),
    }
}

/// Units that transactions of a request wait for or are in service at.
fn units_held(board: &Board, request: u32) -> i64 {
    let has_unit = |txn: &&Transaction| match txn.stage {
        Stage::InService => true,
        Stage::Waiting => txn.queue != board.unplaced(),
        Stage::Held | Stage::Cancelled | Stage::Free => false,
    };
    let transactions = board.transactions_of(request).map(|txn| board.txn(txn));
    let units: BTreeSet<u16> = transactions.filter(has_unit).map(|txn| txn.unit.0).collect();
    units.len() as i64
}

fn of_unit(board: &Board, id: UnitId, column: usize) -> i64 {
    let unit = &board.units[id.index()];
    let command: Option<&Command> = match unit.service {
        Service::Idle => None,
        Service::Paused => Some(&unit.paused),
        Service::Busy => Some(&unit.command),
    };
    match column {
        0 => i64::from(unit.channel.0),
        1 => match unit.service {
            Service::Idle => 0,
            Service::Paused => 1,
            Service::Busy => 2,
        },
        2 => ns(board.busy_for(id).ns()),
        3 => command.map_or(0, |command| command.op.index() as i64 + 1),
        4 => command.map_or(0, |command| i64::from(command.pauses)),
        5 => i64::from(unit.waiting(FlashOp::Read)),
        6 => i64::from(unit.waiting(FlashOp::Program)),
        _ => i64::from(unit.gc.reads) + i64::from(unit.gc.programs) + i64::from(unit.gc.erases),
    }
}

fn of_plane(board: &Board, id: PlaneId, column: usize) -> i64 {
    let plane = board.plane(id);
    match column {
        0 => i64::from(board.home_of(id).0.0),
        1 => i64::from(plane.free_blocks),
        2 => i64::from(plane.free_pages),
        3 => i64::from(plane.has_free_page),
        4 => i64::from(plane.collecting),
        5 => i64::from(plane.valid_pages),
        6 => i64::from(plane.next_page),
        _ => {
            if plane.collecting {
                i64::from(plane.victim_pages)
            } else {
                0
            }
        }
    }
}

fn of_flow(flow: &Flow, column: usize) -> i64 {
    let figures = flow.figures();
    match column {
        0 => i64::from(figures.waiting),
        1 => i64::from(figures.in_flight),
        2 => ns(figures.programmed),
        3 => ns(figures.valid_pages),
        _ => ns(figures.moved),
    }
}

#[pymethods]
impl BoardView {
    /// The instant of the decision, ns since the start of the run.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Write requests inside the device some of whose pages wait for space in the page buffer.
    #[getter]
    fn waiting_for_buffer(&self) -> u32 {
        self.waiting_for_buffer
    }

    /// How many transactions the decision is about.
    fn __len__(&self) -> usize {
        self.tables[0].count
    }

    /// 1 for a read, 0 for a program.
    #[getter]
    fn is_read(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 0)
    }

    /// Number of the flow.
    #[getter]
    fn flow(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 1)
    }

    /// Priority level of the flow, 0 lowest.
    #[getter]
    fn priority(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 2)
    }

    /// The plane.
    #[getter]
    fn plane(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 3)
    }

    /// The logical page.
    #[getter]
    fn lpn(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 4)
    }

    /// A number that grows with every transaction: the age, smaller is older.
    #[getter]
    fn serial(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 5)
    }

    /// When it joined its queue, ns.
    #[getter]
    fn enqueued_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 6)
    }

    /// How long it takes by itself, ns.
    #[getter]
    fn service_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 7)
    }

    /// How much later it may end without its request ending later, ns; 0 unless the order decision estimates it.
    #[getter]
    fn slack_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 8)
    }

    /// Pages of its request; 0 without one (a program of the page buffer).
    #[getter]
    fn request_pages(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 9)
    }

    /// Pages of its request that are not yet served.
    #[getter]
    fn request_pages_left(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 10)
    }

    /// When its request arrived, ns.
    #[getter]
    fn request_arrival_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 11)
    }

    /// Number of the unit's channel.
    #[getter]
    fn unit_channel(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 0)
    }

    /// 0 idle, 1 free with a program or erase paused, 2 busy.
    #[getter]
    fn unit_state(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 1)
    }

    /// How long the unit will be busy as far as is known, with what it has paused, ns.
    #[getter]
    fn unit_busy_ns(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 2)
    }

    /// The command in service or paused: 0 none, 1 a read, 2 a program, 3 an erase.
    #[getter]
    fn unit_command(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 3)
    }

    /// How often that command has been paused.
    #[getter]
    fn unit_pauses(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 4)
    }

    /// User reads that wait.
    #[getter]
    fn unit_reads(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 5)
    }

    /// User programs that wait.
    #[getter]
    fn unit_programs(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 6)
    }

    /// Reads, programs and erases of garbage collection that wait.
    #[getter]
    fn unit_gc(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Units, 7)
    }

    /// Number of the plane's unit.
    #[getter]
    fn plane_unit(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 0)
    }

    /// Erased blocks.
    #[getter]
    fn plane_free_blocks(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 1)
    }

    /// Free pages, in erased and in open blocks.
    #[getter]
    fn plane_free_pages(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 2)
    }

    /// 1 if a user program can be given a page now.
    #[getter]
    fn plane_has_free_page(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 3)
    }

    /// 1 while a victim is being emptied.
    #[getter]
    fn plane_collecting(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 4)
    }

    /// Pages that hold the current copy of a logical page.
    #[getter]
    fn plane_valid_pages(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 5)
    }

    /// Of a write that waits for no older one of its page: the plane that has the page now.
    #[getter]
    fn page_at(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 12)
    }

    /// Units that transactions of its request wait for or are in service at; a write without a plane is at none.
    #[getter]
    fn request_units(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Transactions, 13)
    }

    /// Page of its block that the next user program gets.
    #[getter]
    fn plane_next_page(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 6)
    }

    /// Valid pages of the victim that is being emptied, when it was chosen; 0 if none is.
    #[getter]
    fn plane_victim_pages(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Planes, 7)
    }

    /// Commands of the flow that wait in its submission queue and may be fetched.
    #[getter]
    fn flow_waiting(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Flows, 0)
    }

    /// Commands of the flow that are in the device.
    #[getter]
    fn flow_in_flight(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Flows, 1)
    }

    /// Pages that the flow has programmed.
    #[getter]
    fn flow_programmed(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Flows, 2)
    }

    /// Pages of the drive that hold its data.
    #[getter]
    fn flow_valid_pages(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Flows, 3)
    }

    /// Pages of its data that garbage collection has moved.
    #[getter]
    fn flow_moved(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column(py, Rows::Flows, 4)
    }
}
