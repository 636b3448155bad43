//! The rows: a request, a transaction.

use flashlane_core::decide::Estimate;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Completion, FlowId, Lpn, Owner, RequestId, Time};

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

/// A completed request, and whether figures count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow(pub Completion, pub bool);

const REQUEST_COLUMNS: &[Column] = &[
    column("id", Kind::Long, "Number of the request, unique in the run, in order of issue."),
    column("flow", Kind::Short, "Number of its flow: the position in `flows` of summary.json, from 0."),
    column("op", Kind::Word, "`read` or `write`."),
    column("lpn", Kind::Long, "First logical page it touches."),
    column("pages", Kind::Long, "Logical pages it touches."),
    column(
        "arrival_ns",
        Kind::Long,
        "When the host created it, since the start of the run; with `run.response_from = \"entry\"` when it entered its submission queue.",
    ),
    column("done_ns", Kind::Long, "When the host saw it done."),
    column("response_ns", Kind::Long, "`done_ns` less `arrival_ns`."),
    column("counted", Kind::Short, "1 if figures count it, 0 if it belongs to the warm-up."),
];

impl Row for RequestRow {
    const TABLE: Table = Table {
        title: "requests",
        name: "requests",
        about: "One row a completed request, in order of completion.",
        columns: REQUEST_COLUMNS,
    };
    type Cells = [Cell; REQUEST_COLUMNS.len()];

    fn cells(&self) -> Self::Cells {
        let c = &self.0;
        [
            Cell::Number(c.id.0),
            Cell::Number(c.flow.0.into()),
            Cell::Word(c.op.name()),
            Cell::Number(c.lpn.0.into()),
            Cell::Number(c.pages.into()),
            Cell::Number(c.arrival.ns()),
            Cell::Number(c.done.ns()),
            Cell::Number(c.done.since(c.arrival).ns()),
            Cell::Number(self.1.into()),
        ]
    }
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

const SEEN_REQUEST_COLUMNS: [Column; REQUEST_COLUMNS.len() + 3] = {
    const COMMON: usize = REQUEST_COLUMNS.len();
    let mut columns = [column("called_ns", Kind::Long, "When its thread asked for it."); COMMON + 3];
    let mut i = 0;
    while i < COMMON {
        columns[i] = REQUEST_COLUMNS[i];
        i += 1;
    }
    columns[5].about = "When the driver submitted it, since the start of the run.";
    columns[6].about = "When its completion reached the host.";
    columns[COMMON + 1] = column("seen_ns", Kind::Long, "When its thread saw it done.");
    columns[COMMON + 2] = column("user_ns", Kind::Long, "`seen_ns` less `called_ns`: the user-perceived latency.");
    columns
};

impl Row for SeenRequestRow {
    const TABLE: Table = Table {
        title: "requests behind a host",
        name: "requests",
        about: "With a `[host]`: one row a completed request, in the order in which threads saw them done.",
        columns: &SEEN_REQUEST_COLUMNS,
    };
    type Cells = [Cell; SEEN_REQUEST_COLUMNS.len()];

    fn cells(&self) -> Self::Cells {
        let [id, flow, op, lpn, pages, arrival, done, response, counted] =
            RequestRow(self.completion, self.counted).cells();
        let [called, seen, user] = [self.called.ns(), self.seen.ns(), (self.seen - self.called).ns()].map(Cell::Number);
        [id, flow, op, lpn, pages, arrival, done, response, counted, called, seen, user]
    }
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

const TRANSACTION_COLUMNS: &[Column] = &[
    optional("request", Kind::Long, "`id` of its request; empty for garbage collection and buffer evictions."),
    column("flow", Kind::Short, "Number of the flow it is counted for."),
    column("op", Kind::Word, "`read`, `program` or `erase`."),
    column("owner", Kind::Word, "On whose behalf: `user`, `gc` or `buffer` (a dirty page on its way out)."),
    optional("lpn", Kind::Long, "Logical page; empty for an erase."),
    column("channel", Kind::Short, "Channel of the device, from 0."),
    column("chip", Kind::Short, "Chip of the channel."),
    column("die", Kind::Short, "Die of the chip."),
    column("plane", Kind::Short, "Plane of the die."),
    column("enqueue_ns", Kind::Long, "When it joined its queue, since the start of the run."),
    optional("dispatch_ns", Kind::Long, "When its command began; empty if it never reached the flash."),
    column("done_ns", Kind::Long, "When it ended."),
    column("paused_ns", Kind::Long, "Time its command stood paused."),
    optional("slack_ns", Kind::Long, "What was left of its slack when its command began; empty if none did."),
    column(
        "cancelled",
        Kind::Flag,
        "Whether it ended without the flash: a write superseded by a younger one of its page, or a move of a page that \
         was no longer valid.",
    ),
    column("response_ns", Kind::Long, "`done_ns` less `enqueue_ns`."),
    optional(
        "estimated_response_ns",
        Kind::Long,
        "`response_ns` as estimated when it joined its queue; empty unless the scheduler estimates or `--shadow-estimator` is given.",
    ),
    optional("estimated_slack_ns", Kind::Long, "Its slack as estimated then; empty like the column before."),
    optional(
        "actual_slack_ns",
        Kind::Long,
        "From its end to that of its request's last transaction; empty without a request, and if it was superseded.",
    ),
];

impl Row for TransactionRow {
    const TABLE: Table = Table {
        title: "transactions",
        name: "transactions",
        about: "One row a flash transaction (a page read or programmed, a block erased), in the order they ended; those of a request come together when it completes.",
        columns: TRANSACTION_COLUMNS,
    };
    type Cells = [Cell; TRANSACTION_COLUMNS.len()];

    fn cells(&self) -> Self::Cells {
        let maybe = |number: Option<u64>| number.map_or(Cell::Nothing, Cell::Number);
        [
            maybe(self.request.map(|request| request.0)),
            Cell::Number(self.flow.0.into()),
            Cell::Word(self.op.name()),
            Cell::Word(self.owner.name()),
            maybe(self.lpn.map(|lpn| lpn.0.into())),
            Cell::Number(self.channel.into()),
            Cell::Number(self.chip.into()),
            Cell::Number(self.die.into()),
            Cell::Number(self.plane.into()),
            Cell::Number(self.enqueue_ns),
            maybe(self.dispatch_ns),
            Cell::Number(self.done_ns),
            Cell::Number(self.paused_ns),
            maybe(self.slack_ns),
            Cell::Flag(self.cancelled),
            Cell::Number(self.response_ns()),
            maybe(self.estimated_ns()),
            maybe(self.estimate.map(|(_, slack)| slack)),
            maybe(self.actual_slack_ns),
        ]
    }
}
