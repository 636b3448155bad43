//! The rows: a request, a transaction.

use flashlane_block::Stage;
use flashlane_core::decide::Estimate;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Completion, Duration, FlowId, Lpn, Owner, RequestId, Time};

use super::columns::{Cell, Column, Kind, Table, column, optional};
use super::waits::Waited;

/// A type whose values are written as rows of a table.
pub trait Row {
    /// The table.
    const TABLE: Table;
    /// An array of as many cells as the table has columns.
    type Cells: AsRef<[Cell]>;
    /// The row's cells, in the order of the columns.
    fn cells(&self) -> Self::Cells;
}

/// Declares the columns of a type, each beside the cell that a row has there, so that header and rows have one order.
macro_rules! columns {
    ($type:ty as $row:ident, $columns:ident $(, $table:expr)?; $($column:ident($($about:tt)*) => $cell:expr;)*) => {
        const $columns: &[Column] = &[$($column($($about)*)),*];

        columns! { @ $type, $row, $columns, [$($cell),*] $(, $table)? }
    };
    (@ $type:ty, $row:ident, $columns:ident, $cells:expr, $table:expr) => {
        impl Row for $type {
            const TABLE: Table = $table;
            type Cells = [Cell; $columns.len()];

            fn cells(&self) -> Self::Cells {
                let $row = self;
                $cells
            }
        }
    };
    (@ $type:ty, $row:ident, $columns:ident, $cells:expr) => {
        impl $type {
            fn cells(&self) -> [Cell; $columns.len()] {
                let $row = self;
                $cells
            }
        }
    };
}

/// A completed request, and whether figures count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow(pub Completion, pub bool);

columns! {
    RequestRow as row, REQUEST_COLUMNS,
    Table {
        title: "requests",
        name: "requests",
        about: "One row per completed request, in order of completion.",
        columns: REQUEST_COLUMNS,
    };
    column("id", Kind::Long, "Number of the request, unique in the run, in order of issue.") => Cell::Number(row.0.id.0);
    column("flow", Kind::Short, "Number of its flow: the position in `flows` of summary.json, from 0.")
        => Cell::Number(row.0.flow.0.into());
    column("op", Kind::Word, "`read`, `write`, `trim`, `write-zeroes` or `flush`.") => Cell::Word(row.0.op.name());
    column("lpn", Kind::Long, "First logical page it touches.") => Cell::Number(row.0.lpn.0.into());
    column("pages", Kind::Long, "Logical pages it touches.") => Cell::Number(row.0.pages.into());
    column(
        "arrival_ns",
        Kind::Long,
        "When the host created it, since the start of the run; with `run.response_from = \"entry\"` when it entered its submission queue.",
    ) => Cell::Number(row.0.arrival.ns());
    column("done_ns", Kind::Long, "When the host saw it done.") => Cell::Number(row.0.done.ns());
    column("response_ns", Kind::Long, "`done_ns` less `arrival_ns`.") => Cell::Number(row.0.done.since(row.0.arrival).ns());
    column("counted", Kind::Short, "1 if figures count it, 0 if it belongs to the warm-up.") => Cell::Number(row.1.into());
}

/// A request behind a host whose thread has seen it done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenRequestRow {
    /// The request, as the device served it.
    pub completion: Completion,
    /// Whether figures count it.
    pub counted: bool,
    /// When its thread asked for it.
    pub called: Time,
    /// When its thread saw it done.
    pub seen: Time,
}

/// The columns of a request, two of them with another meaning, and those of its thread.
const SEEN_REQUEST_COLUMNS: &[Column] = &{
    let mut columns: [Column; REQUEST_COLUMNS.len() + THREAD_COLUMNS.len()] = joined(REQUEST_COLUMNS, THREAD_COLUMNS);
    named(&mut columns, "arrival_ns").about = "When the driver submitted it, since the start of the run.";
    named(&mut columns, "done_ns").about = "When its completion reached the host.";
    columns
};

impl Row for SeenRequestRow {
    const TABLE: Table = Table {
        title: "requests behind a host",
        name: "requests",
        about: "With a `[host]`: one row per completed request, in the order in which threads saw them done.",
        columns: SEEN_REQUEST_COLUMNS,
    };
    type Cells = [Cell; SEEN_REQUEST_COLUMNS.len()];

    fn cells(&self) -> Self::Cells {
        joined(&RequestRow(self.completion, self.counted).cells(), &ThreadCells(self).cells())
    }
}

/// What a row of [`SeenRequestRow`] has behind the columns of [`RequestRow`].
struct ThreadCells<'r>(&'r SeenRequestRow);

columns! {
    ThreadCells<'_> as row, THREAD_COLUMNS;
    column("called_ns", Kind::Long, "When its thread asked for it.") => Cell::Number(row.0.called.ns());
    column("seen_ns", Kind::Long, "When its thread saw it done.") => Cell::Number(row.0.seen.ns());
    column("user_ns", Kind::Long, "`seen_ns` less `called_ns`: the user-perceived latency.")
        => Cell::Number((row.0.seen - row.0.called).ns());
}

/// A request below a block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldRequestRow {
    /// The request, as its flow asked for it.
    pub completion: Completion,
    /// Whether figures count it.
    pub counted: bool,
    /// What it waited for before the device got it, in the order of [`Stage::ALL`].
    pub waited: [Duration; 4],
}

/// The columns of a request, and those of its waits.
const HELD_REQUEST_COLUMNS: &[Column] = &{
    let columns: [Column; REQUEST_COLUMNS.len() + WAIT_COLUMNS.len()] = joined(REQUEST_COLUMNS, WAIT_COLUMNS);
    columns
};

impl Row for HeldRequestRow {
    const TABLE: Table = Table {
        title: "requests below a block layer",
        name: "requests",
        about: "With a `[block]`: one row per completed request of a flow, in order of completion. Of several that were merged each has its own.",
        columns: HELD_REQUEST_COLUMNS,
    };
    type Cells = [Cell; HELD_REQUEST_COLUMNS.len()];

    fn cells(&self) -> Self::Cells {
        joined(&RequestRow(self.completion, self.counted).cells(), &WaitCells(self).cells())
    }
}

/// What a row of [`HeldRequestRow`] has behind the columns of [`RequestRow`].
struct WaitCells<'r>(&'r HeldRequestRow);

impl WaitCells<'_> {
    fn waited(&self, stage: Stage) -> Cell {
        Cell::Number(self.0.waited[stage as usize].ns())
    }
}

columns! {
    WaitCells<'_> as row, WAIT_COLUMNS;
    column("issued_ns", Kind::Long, "When the driver gave it to the device: `arrival_ns` and the four waits.")
        => Cell::Number(row.0.waited.into_iter().fold(row.0.completion.arrival, |at, wait| at + wait).ns());
    column("limit_ns", Kind::Long, "How long it waited for its flow's limit.") => row.waited(Stage::Limit);
    column("tag_ns", Kind::Long, "Then for a tag, in its flow's plug included.") => row.waited(Stage::Tag);
    column("elevator_ns", Kind::Long, "Then in the elevator.") => row.waited(Stage::Elevator);
    column("driver_ns", Kind::Long, "Then for room in the drive.") => row.waited(Stage::Driver);
}

/// One list behind the other.
#[inline]
const fn joined<T: Copy, const ALL: usize>(first: &[T], then: &[T]) -> [T; ALL] {
    assert!(first.len() + then.len() == ALL);
    let mut all = [first[0]; ALL];
    let mut i = 0;
    while i < ALL {
        all[i] = if i < first.len() { first[i] } else { then[i - first.len()] };
        i += 1;
    }
    all
}

/// The column with this name.
const fn named<'c>(columns: &'c mut [Column], name: &str) -> &'c mut Column {
    let mut at = 0;
    while !is(columns[at].name, name) {
        at += 1;
    }
    &mut columns[at]
}

/// Whether the names are equal, at compile time.
const fn is(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// A transaction that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionRow {
    /// The request it belongs to; `None` for garbage collection and buffer evictions.
    pub request: Option<RequestId>,
    /// The flow it is counted for.
    pub flow: FlowId,
    /// The flash operation.
    pub op: FlashOp,
    /// Whose transaction it is.
    pub owner: Owner,
    /// The logical page; `None` for an erase.
    pub lpn: Option<Lpn>,
    /// Channel of the device.
    pub channel: u32,
    /// Chip of the channel.
    pub chip: u32,
    /// Die of the chip.
    pub die: u32,
    /// Plane of the die.
    pub plane: u32,
    /// When it joined its queue.
    pub enqueue_ns: u64,
    /// When its command began; `None` if it never reached the flash.
    pub dispatch_ns: Option<u64>,
    /// When it ended.
    pub done_ns: u64,
    /// Time for which its command was paused.
    pub paused_ns: u64,
    /// The slack it had left when its command began.
    pub slack_ns: Option<u64>,
    /// Whether it ended without a flash operation.
    pub cancelled: bool,
    /// Its estimate, where the scheduler made one, and its slack then, ns.
    pub estimate: Option<(Estimate, u64)>,
    /// From its end to the end of its request's last transaction; known when the request has completed.
    pub actual_slack_ns: Option<u64>,
    /// The parts of its waiting time.
    pub waited: Waited,
}

impl TransactionRow {
    /// From joining its queue to its end, ns.
    pub fn response_ns(&self) -> u64 {
        self.done_ns - self.enqueue_ns
    }

    /// The estimated response time, with the correction for past errors, ns.
    pub fn estimated_ns(&self) -> Option<u64> {
        let (estimate, _) = self.estimate?;
        Some(estimate.response().ns().saturating_add_signed(estimate.correction))
    }
}

columns! {
    TransactionRow as row, TRANSACTION_COLUMNS,
    Table {
        title: "transactions",
        name: "transactions",
        about: "One row per flash transaction (a page read or programmed, a block erased), in the order they ended; those of a request come together when it completes.",
        columns: TRANSACTION_COLUMNS,
    };
    optional("request", Kind::Long, "`id` of its request; empty for garbage collection and buffer evictions.")
        => Cell::of(row.request.map(|request| request.0));
    column("flow", Kind::Short, "Number of the flow it is counted for.")
        => Cell::Number(row.flow.0.into());
    column("op", Kind::Word, "`read`, `program` or `erase`.")
        => Cell::Word(row.op.name());
    column("owner", Kind::Word, "On whose behalf: `user`, `gc`, `buffer` (a dirty page on its way out) or `mapping` (a page of the map).")
        => Cell::Word(row.owner.name());
    optional("lpn", Kind::Long, "Logical page; empty for an erase.")
        => Cell::of(row.lpn.map(|lpn| lpn.0.into()));
    column("channel", Kind::Short, "Channel of the device, from 0.")
        => Cell::Number(row.channel.into());
    column("chip", Kind::Short, "Chip of the channel.")
        => Cell::Number(row.chip.into());
    column("die", Kind::Short, "Die of the chip.")
        => Cell::Number(row.die.into());
    column("plane", Kind::Short, "Plane of the die.")
        => Cell::Number(row.plane.into());
    column("enqueue_ns", Kind::Long, "When it joined its queue, since the start of the run.")
        => Cell::Number(row.enqueue_ns);
    optional("dispatch_ns", Kind::Long, "When its command began; empty if it never reached the flash.")
        => Cell::of(row.dispatch_ns);
    column("done_ns", Kind::Long, "When it ended.")
        => Cell::Number(row.done_ns);
    column("paused_ns", Kind::Long, "Time its command was paused.")
        => Cell::Number(row.paused_ns);
    optional("slack_ns", Kind::Long, "What was left of its slack when its command began; empty if it had no command.")
        => Cell::of(row.slack_ns);
    column(
        "cancelled",
        Kind::Flag,
        "Whether it ended without the flash: a write superseded by a younger one of its page, or a move of a page that \
         was no longer valid.",
    )
        => Cell::Flag(row.cancelled);
    column("response_ns", Kind::Long, "`done_ns` less `enqueue_ns`.")
        => Cell::Number(row.response_ns());
    optional(
        "estimated_response_ns",
        Kind::Long,
        "`response_ns` as estimated when it joined its queue; empty unless the scheduler estimates or `--shadow-estimator` is given.",
    )
        => Cell::of(row.estimated_ns());
    optional("estimated_slack_ns", Kind::Long, "Its slack as estimated then; empty like the column before.")
        => Cell::of(row.estimate.map(|(_, slack)| slack));
    optional(
        "actual_slack_ns",
        Kind::Long,
        "From its end to that of its request's last transaction; empty without a request, and if it was superseded.",
    )
        => Cell::of(row.actual_slack_ns);
}
