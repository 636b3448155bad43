//! The schedulers of SOS: its baseline, and the baseline with one or both of its parts.

use super::{OPEN_COLLECT, PLAIN};
use crate::entries::{Answers, SchedulerEntry};

const PAPER: &str = "SOS (MSST 2013)";
const FIFO: Answers = Answers { pick: "fcfs", ..PLAIN };
/// A chip does one operation at a time.
const SET: &[(&str, u64)] = &[("fcfs_widen", 0)];

pub(super) const HOS: SchedulerEntry = SchedulerEntry {
    name: "hos",
    paper: PAPER,
    section: "HOS; model 4.1.1",
    summary: "out of order across chips, first come first served on each, by physical addresses; SOS's baseline",
    answers: FIFO,
    open: OPEN_COLLECT,
    set: SET,
};

pub(super) const QSL: SchedulerEntry = SchedulerEntry {
    name: "hos+qsl",
    paper: PAPER,
    section: "QSL; model 4.1.2",
    summary: "hos, and idle chips take waiting writes from the chip with the most work",
    answers: Answers { place: "rebalance", ..FIFO },
    open: OPEN_COLLECT,
    set: SET,
};

pub(super) const WHM: SchedulerEntry = SchedulerEntry {
    name: "hos+whm",
    paper: PAPER,
    section: "WHM; model 4.1.2",
    summary: "hos, and a waiting write is dropped when a younger write of its page arrives",
    answers: Answers { cancel: "overwrite", ..FIFO },
    open: OPEN_COLLECT,
    set: SET,
};

pub(super) const BOTH: SchedulerEntry = SchedulerEntry {
    name: "sos",
    paper: PAPER,
    section: "SOS; model 4.1.2",
    summary: "hos with both: balanced queues and no useless writes",
    answers: Answers { place: "rebalance", cancel: "overwrite", ..FIFO },
    open: OPEN_COLLECT,
    set: SET,
};
