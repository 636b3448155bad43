//! Results: what a run leaves behind.
//!
//! Owns `summary.json` and everything made from it (the comparison table, the HTML report, fio's JSON), and the rows of
//! requests and transactions as Parquet or CSV. Promises that the same scenario gives the same bytes and that a file is
//! either whole or not there. Must never know how a run is made: it gets figures and events.

mod change;
mod columns;
mod csv;
mod dir;
pub mod docs;
mod estimation;
#[cfg(test)]
mod example;
mod figures;
pub mod fio;
mod format;
mod paired;
mod parquet;
pub mod report;
mod rows;
mod slowdowns;
mod summary;
pub mod table;
mod transactions;
mod waits;
mod whole_file;
mod writer;

pub use columns::{Column, Kind, Table};
pub use dir::ResultsDir;
pub use estimation::{EstimateFigures, EstimationFigures, PartFigures, PartsFigures};
pub use paired::*;
pub use rows::{RequestRow, Row, TransactionRow};
pub use slowdowns::SlowdownOverTime;
pub use summary::*;
pub use transactions::TransactionLog;
pub use waits::Waited;
pub use whole_file::{ResultsError, write_whole};
pub use writer::{Format, RowWriter};
