//! One run: the loop that feeds a device, the sources of its requests, and those who watch it.

pub(crate) mod actual_slack;
pub(crate) mod blocked;
pub(crate) mod counted;
pub(crate) mod entries;
pub(crate) mod feed;
pub(crate) mod flow_state;
pub(crate) mod host_outcome;
pub(crate) mod hosted;
pub(crate) mod next_times;
pub(crate) mod observers;
pub(crate) mod pairing;
pub(crate) mod request_rows;
pub(crate) mod simulation;
pub(crate) mod standstill;
pub(crate) mod traces;
pub(crate) mod transactions;
