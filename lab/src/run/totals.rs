//! A device's totals as the results take them.

use flashlane_core::Duration;
use flashlane_ssd::Totals;

use crate::results::DeviceTotals;

impl From<&Totals> for DeviceTotals {
    fn from(t: &Totals) -> DeviceTotals {
        let ns = |busy: &[Duration]| busy.iter().map(|d| d.ns()).collect();
        DeviceTotals {
            observed_ns: t.now.ns(),
            chip_busy_ns: ns(&t.unit_busy),
            channel_busy_ns: ns(&t.channel_busy),
            user_reads: t.user[0] - t.partial_reads,
            user_programs: t.user_programs,
            partial_write_reads: t.partial_reads,
            pages_from_memory: t.pages_from_memory,
            cancelled_writes: t.cancelled,
            advanced_commands: t.advanced_commands[0] + t.advanced_commands[1],
            pauses: t.pauses,
            erases: t.erases,
            gc_moves: t.gc_programs,
            gc_victims: t.victims,
            gc_victim_valid: t.victim_valid,
            gc_stalls: t.room_stalls,
            gc_forced: t.forced_batches,
            erase_count_min: u64::from(t.erase_counts.0),
            erase_count_sum: t.erase_counts.2,
            erase_count_max: u64::from(t.erase_counts.1),
            blocks: t.blocks,
        }
    }
}
