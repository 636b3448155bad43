//! Results: the output of a run or a comparison.
//!
//! Owns `summary.json` and everything made from it (the comparison table, the HTML report, fio's JSON), and the rows of
//! requests and transactions as Parquet or CSV. Promises that the same scenario gives the same bytes. That a file is
//! either whole or absent is the promise of `outputs`. Must never know how a run is made: it gets figures and events.

mod activity;
mod attribution;
pub mod attribution_text;
mod block;
pub mod brief;
mod ceiling;
mod ceiling_text;
mod change;
mod columns;
mod csv;
mod deciding;
mod decisions;
mod dir;
pub mod docs;
mod estimation;
#[cfg(test)]
mod example;
pub mod explain;
pub mod export;
pub mod fio;
mod flow_stats;
pub mod format;
mod frame;
mod host;
mod listed;
mod memory;
mod over_seeds;
mod paired;
mod parquet;
mod recommendation;
pub mod recommendation_page;
pub mod recommendation_text;
mod replications;
pub mod report;
mod rows;
mod slowdowns;
mod stats;
mod summary;
pub mod table;
mod timeline;
mod transactions;
pub mod verdict;
mod waiting_writes;
mod waits;
mod waterfall;
mod writer;

pub use attribution::{Attribution, Difference, Measure, NoShares, Part};
pub use block::*;
pub use ceiling::{Ceiling, CeilingBound, CeilingGap};
pub use columns::{Column, Kind, Table};
pub use deciding::{Deciding, MOST_OF_IT, TriedDecision, Untried, Way};
pub use decisions::Decisions;
pub use dir::ResultsDir;
pub use estimation::{EstimateStats, EstimationStats, PartStats, PartsStats};
pub use flow_stats::*;
pub use frame::{Frame, FrameColumn, FrameValues};
pub use host::*;
pub use memory::{KeptRows, MemoryColumn, MemoryRows, MemoryValues};
pub use over_seeds::*;
pub use paired::*;
pub use recommendation::{Failed, FlowTimes, Judged, Recommendation, Response, Role, RunStats, Tried};
pub use replications::*;
pub use rows::{HeldRequestRow, RequestRow, Row, SeenRequestRow, TransactionRow};
pub use slowdowns::{OverloadStats, SlowdownOverTime};
pub use summary::*;
pub use timeline::{Timeline, TimelineFormat};
pub use transactions::TransactionLog;
pub use waiting_writes::WaitingWrites;
pub use waits::Waited;
pub use writer::{Format, RowWriter};

/// The names of row files, without their extensions.
pub const TABLES: [&str; 2] = [<RequestRow as Row>::TABLE.name, <TransactionRow as Row>::TABLE.name];
