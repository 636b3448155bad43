//! How long operations take, computed from the configuration alone.
//!
//! Written from model 0.2 and model 0.4 and the doc comments of the configuration; it calls none of the device's own
//! arithmetic, so that an error there shows.

use flashlane_core::Duration;
use flashlane_core::transaction::FlashOp;
use flashlane_ssd::config::{Config, Latency, Rounding, SuspendAt};

/// Bus and array times, in nanoseconds.
#[derive(Debug)]
pub(super) struct Times {
    width: u64,
    rate: u64,
    rounding: Rounding,
    page_bytes: u64,
    /// Pages of a row.
    slots: u32,
    /// Time of a whole page, spare bytes included if they cross the bus.
    page_on_bus: u64,
    command: [u64; 3],
    setup: u64,
    gap: u64,
    latency: [Latency; 3],
    /// Array times in SLC mode.
    slc: [u64; 3],
    /// A further step of a read, and most of them.
    retry: (u64, u64),
    /// One iteration of a program or an erase, by operation.
    pub(super) iteration: [u64; 3],
    /// Whether every pause begins at the end of one.
    pub(super) pauses_at_ends: bool,
    /// Shortest time between the end of a pause and the next.
    pub(super) suspend_min: u64,
    /// Time to pause.
    pub(super) suspend: Duration,
    /// Time to resume.
    pub(super) resume: Duration,
    /// How often a program or an erase may be paused.
    pub(super) suspend_limit: u32,
    whole: u64,
}

impl Times {
    pub(super) fn new(config: &Config) -> Times {
        let (page, spare) = (config.geometry.page_bytes as u64, config.geometry.metadata_bytes as u64);
        let typical = |latency| match latency {
            Latency::Constant(d) | Latency::Gaussian { mean: d, .. } => d.ns(),
            Latency::ByPage(times) => times.iter().map(Duration::ns).sum::<u64>() / times.iter().count() as u64,
        };
        let latency = [config.nand.read, config.nand.program, config.nand.erase];
        let parts = [1, config.nand.iterations, config.nand.erase_iterations].map(|parts| u64::from(parts.max(1)));
        let mut times = Times {
            width: config.bus.width_bytes as u64,
            rate: config.bus.mega_transfers as u64,
            rounding: config.bus.rounding,
            page_bytes: page,
            slots: config.geometry.slots,
            page_on_bus: if config.bus.with_metadata { page + spare } else { page },
            command: config.bus.command.map(Duration::ns),
            setup: config.bus.data_out_setup.ns(),
            gap: config.bus.plane_gap.ns(),
            latency,
            slc: config.slc.as_ref().map_or([0; 3], |slc| [slc.read, slc.program, slc.erase].map(Duration::ns)),
            retry: config.retry.as_ref().map_or((0, 0), |retry| {
                let most = retry.states.iter().map(|state| state.below.len() as u64 - 1).max();
                (retry.step.ns(), most.unwrap_or(0))
            }),
            iteration: [0, 1, 2].map(|op| (typical(latency[op]) / parts[op]).max(1)),
            pauses_at_ends: config.nand.suspend_at == SuspendAt::Segment,
            suspend_min: config.nand.suspend_min.ns(),
            suspend: config.nand.suspend,
            resume: config.nand.resume,
            suspend_limit: config.nand.suspend_limit,
            whole: 0,
        };
        times.whole = times.bytes_on_bus(times.page_on_bus);
        times
    }

    /// Most bytes a transaction moves.
    pub(super) fn page_on_bus(&self) -> u64 {
        self.page_on_bus
    }

    /// Bus time of one member's data: a whole page, or whole sectors; spare bytes that cross are shared out evenly
    /// among the sectors of a page.
    pub(super) fn data(&self, bytes: u32) -> u64 {
        let bytes = bytes as u64;
        if bytes == self.page_on_bus || bytes > self.page_bytes {
            return self.whole;
        }
        let sectors = bytes.div_ceil(512) * 512;
        let spare = self.page_on_bus - self.page_bytes;
        self.bytes_on_bus(sectors + sectors * spare / self.page_bytes)
    }

    fn bytes_on_bus(&self, bytes: u64) -> u64 {
        if self.rate == u32::MAX as u64 {
            return 0;
        }
        match self.rounding {
            Rounding::Exact => {
                let (num, den) = (bytes as u128 * 1000, self.width as u128 * self.rate as u128);
                let (whole, rest) = (num / den, num % den);
                (whole + u128::from(2 * rest >= den)) as u64
            }
            Rounding::MqSim => {
                let pairs = bytes / (2 * self.width) + u64::from(!bytes.is_multiple_of(2 * self.width));
                pairs * (2000 / self.rate)
            }
        }
    }

    /// The bus phase before the array phase: command, and for a program its members' data.
    pub(super) fn lead_in(&self, op: FlashOp, data: u64) -> u64 {
        self.command[op.index()] + if op == FlashOp::Program { data } else { 0 }
    }

    /// The bus phase after the array phase: only reads have one.
    pub(super) fn data_out(&self, op: FlashOp, data: u64) -> u64 {
        if op == FlashOp::Read { self.setup + data } else { 0 }
    }

    /// Shortest and longest legal array time of one member at page offset `offset` of a block that may be in SLC mode. How often a page's read is tried again is not followed
    /// here: any number of further steps up to the configured one is legal.
    pub(super) fn array(&self, op: FlashOp, offset: u32, is_slc: bool) -> (u64, u64) {
        if is_slc {
            return (self.slc[op.index()], self.slc[op.index()]);
        }
        let (low, high) = self.first_try(op, offset);
        if op == FlashOp::Read { (low, high + self.retry.0 * self.retry.1) } else { (low, high) }
    }

    /// Whether an array time, of members of which the slowest takes at least `low`, is that or has a whole number of further steps, where only
    /// these make reads longer.
    pub(super) fn is_whole_steps(&self, op: FlashOp, time: u64, low: u64) -> bool {
        match self.latency[0] {
            Latency::Constant(first) if op == FlashOp::Read && self.retry.0 > 0 => {
                time == low || time.checked_sub(first.ns()).is_some_and(|over| over.is_multiple_of(self.retry.0))
            }
            _ => true,
        }
    }

    fn first_try(&self, op: FlashOp, offset: u32) -> (u64, u64) {
        match self.latency[op.index()] {
            Latency::Constant(d) => (d.ns(), d.ns()),
            // Twelve uniforms of [0, 1) sum to within six deviations of their mean.
            Latency::Gaussian { mean, sd } => {
                (mean.ns().saturating_sub(6 * sd.ns()).max(1), mean.ns() + 6 * sd.ns() + 1)
            }
            Latency::ByPage(times) => {
                let place = (offset / self.slots) as usize % times.iter().count();
                times.iter().nth(place).map_or((0, 0), |time| (time.ns(), time.ns()))
            }
        }
    }

    /// What further planes add to a command's array time.
    pub(super) fn further_planes(&self, planes: usize) -> u64 {
        self.gap * (planes as u64 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::case;

    /// The bus of model 0.2: 333 MT/s, one byte wide, pages of 8 KiB with 448 spare bytes.
    fn times(rounding: Rounding, with_metadata: bool) -> Times {
        let mut config = case::config();
        (config.geometry.page_bytes, config.geometry.metadata_bytes) = (8192, 448);
        (config.bus.mega_transfers, config.bus.rounding, config.bus.with_metadata) = (333, rounding, with_metadata);
        Times::new(&config)
    }

    #[test]
    fn transfers_of_the_model() {
        assert_eq!(times(Rounding::Exact, false).data(8192), 24_601);
        assert_eq!(times(Rounding::Exact, true).data(8640), 25_946);
        assert_eq!(times(Rounding::MqSim, false).data(8192), 24_576);
        assert_eq!(times(Rounding::MqSim, true).data(8640), 25_920);
    }

    #[test]
    fn parts_of_a_page_move_in_whole_sectors() {
        let times = times(Rounding::Exact, true);
        assert_eq!(times.data(1), times.data(512));
        assert_eq!(times.data(513), times.data(1024));
        // 512 bytes and a sixteenth of 448.
        assert_eq!(times.data(512), 1622);
        assert_eq!(times.data(8192), times.data(8640));
    }

    #[test]
    fn a_free_bus_takes_no_time() {
        let mut config = case::config();
        config.bus.mega_transfers = u32::MAX;
        assert_eq!(Times::new(&config).data(4096), 0);
    }
}
