//! FLIN's formulas, shared by its answers: each answer evaluates them for itself from the board.
//!
//! ```text
//! intensity       §5.1            how fast each flow sends: low or high
//! slowdown        §5.2, eq. 3-5   what waiting does to a transaction
//! stage1_queue    §4.1            a queue as stage 1 sees it
//! region          §4.1, §5.3      a stretch of it, and the place in it that is fairest
//! block           §5.3            transactions that stand together, looked at as a whole
//! envelope        §5.3            the extreme slowdowns of a block of a region
//! priority_sequence  §4.2            which priority is next
//! balance         §5.4, eq. 6-8   how a read's wait weighs against a write's
//! gc_quota        §5.4, eq. 9-10  garbage collection that goes before a write
//! cost            §5.5            memory FLIN takes in the controller
//! params          2.1.8           the configuration values, and every choice where the paper is silent
//! ```

pub(crate) mod balance;
mod block;
mod cost;
mod envelope;
pub(crate) mod gc_quota;
pub(crate) mod intensity;
mod params;
pub(crate) mod priority_sequence;
pub(crate) mod region;
pub(crate) mod slowdown;
pub(crate) mod stage1_queue;

pub use cost::dram_bytes;
pub(crate) use params::{ORDER_PARAMS, QUOTA_PARAMS, SUSPENSION_PARAMS, order_settings, quota_rule};
