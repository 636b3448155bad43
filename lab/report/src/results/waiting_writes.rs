//! What became of waiting writes under a scheduler that moves or cancels them (SOS): the endurance it gains.

use flashlane_ssd::Totals;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Waiting writes that moved or were cancelled, and what that saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingWrites {
    /// Writes of pages that moved to a chip with nothing to do.
    pub moved: u64,
    /// Programs saved: writes of pages that were cancelled, as a younger write of the page came first.
    pub programs_saved: u64,
    /// Their share of all writes of pages, percent; null if nothing was written.
    pub programs_saved_percent: Option<f64>,
    /// Pages programmed for any reason over all pages written, those of cancelled writes included; null if nothing was written.
    /// (`write_amplification` is over the pages programmed for the host.)
    pub programs_per_page_written: Option<f64>,
    /// Blocks erased fewer than under the scheduler `baseline`; null for that one.
    pub erases_saved: Option<i64>,
}

impl WaitingWrites {
    /// The figures of a device, if its scheduler moves or cancels waiting writes.
    pub(super) fn of(totals: &Totals) -> Option<WaitingWrites> {
        if !totals.changes_waiting_writes {
            return None;
        }
        let written = totals.user_programs + totals.cancelled;
        Some(WaitingWrites {
            moved: totals.moved,
            programs_saved: totals.cancelled,
            programs_saved_percent: ratio(100 * totals.cancelled, written),
            programs_per_page_written: ratio(
                totals.user_programs + totals.gc_programs + totals.mapping_programs,
                written,
            ),
            erases_saved: None,
        })
    }
}

/// `part` over `whole`, if there is any.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
