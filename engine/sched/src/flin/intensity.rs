//! Which flows are of high intensity, for reads and for writes; renewed every epoch (FLIN §5.1).
//!
//! Epochs end at multiples of their length; the classes are updated when they are needed, up to that instant, which gives
//! the same classes as a timer. Before the first epoch ends every flow is of low intensity.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Board, FlowId, Time, UnitId};

/// The rule by which flows are classed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// Length of an epoch.
    pub(crate) epoch_ns: u64,
    /// Bytes per second, or bytes of an epoch, from which on a flow is of high intensity, for reads and writes (D-FLN-02:
    /// decimal).
    pub(crate) limit: [u64; 2],
    /// Whether the limits are bytes of an epoch (D-FLN-27).
    pub(crate) per_epoch: bool,
    /// Epochs a rate is taken over (D-FLN-03).
    pub(crate) window: u64,
    /// Whether a unit's transactions are compared with the limit over the number of units (D-FLN-02).
    pub(crate) per_unit: bool,
}

/// Pages a flow sent, reads and writes.
#[derive(Clone, Copy, Default, Debug)]
struct PageCounts {
    /// In this epoch.
    now: [u32; 2],
    /// In the last epochs, as many as the window has.
    sum: [u32; 2],
    high: [bool; 2],
}

/// The classes of all flows.
#[derive(Debug)]
pub(crate) struct Intensity {
    rule: Rule,
    epoch: u64,
    cells: Vec<PageCounts>,
    /// What each cell counted in the last epochs, one epoch after another.
    past: Vec<[u32; 2]>,
    units: usize,
    /// Pages from which on a cell is of high intensity.
    least: [u32; 2],
}

impl Intensity {
    pub(crate) const fn new(rule: Rule) -> Intensity {
        Intensity { rule, epoch: 0, cells: Vec::new(), past: Vec::new(), units: 1, least: [0; 2] }
    }

    /// Reserves what the flows and units of `board` need.
    pub(crate) fn prepare(&mut self, board: &Board) {
        self.units = if self.rule.per_unit { board.units.len() } else { 1 };
        let cells = board.flows.len() * self.units;
        self.cells = vec![PageCounts::default(); cells];
        self.past = vec![[0; 2]; cells * self.rule.window as usize];
        // High from the first count n with n * page >= limit * time.
        let page = u128::from(board.facts.geometry.page_bytes) * 1_000_000_000 * self.units as u128;
        let epoch = if self.rule.per_epoch { 1_000_000_000 } else { u128::from(self.rule.epoch_ns) };
        let time = epoch * u128::from(self.rule.window);
        self.least = self.rule.limit.map(|limit| (u128::from(limit) * time).div_ceil(page).min(u32::MAX.into()) as u32);
    }

    /// Counts a transaction of `flow` (`direction` 0 read, 1 write) and says whether the flow's class is high.
    #[inline]
    pub(crate) fn count(&mut self, now: Time, flow: FlowId, unit: UnitId, direction: usize) -> bool {
        self.roll(now);
        let cell = self.cell(flow, unit);
        let cell = &mut self.cells[cell];
        cell.now[direction] += 1;
        cell.high[direction]
    }

    /// Whether the class of `flow` is high, as of the last count.
    #[inline]
    pub(crate) fn is_high(&self, flow: FlowId, unit: UnitId, direction: usize) -> bool {
        self.cells[self.cell(flow, unit)].high[direction]
    }

    #[inline]
    fn cell(&self, flow: FlowId, unit: UnitId) -> usize {
        if self.units == 1 { flow.index() } else { flow.index() * self.units + unit.index() }
    }

    /// Ends the epochs that are over. Returns how many epochs have been.
    #[inline]
    pub(crate) fn roll(&mut self, now: Time) -> u64 {
        let epoch = now.ns() / self.rule.epoch_ns;
        if epoch != self.epoch {
            self.end_epochs(epoch);
        }
        epoch
    }

    #[cold]
    fn end_epochs(&mut self, epoch: u64) {
        let window = self.rule.window;
        // After a window of epochs without a transaction all counts are zero, so no further ones need be ended.
        for ended in 0..(epoch - self.epoch).min(window + 1) {
            let row = ((self.epoch + ended) % window) as usize * self.cells.len();
            for (cell, past) in self.cells.iter_mut().zip(&mut self.past[row..]) {
                let now = core::mem::take(&mut cell.now);
                cell.sum = [0, 1].map(|direction| cell.sum[direction] + now[direction] - past[direction]);
                cell.high = [0, 1].map(|direction| cell.sum[direction] >= self.least[direction]);
                *past = now;
            }
        }
        self.epoch = epoch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::board;
    use flashlane_testing::Random;

    const MS: u64 = 1_000_000;
    const PAPER: Rule =
        Rule { epoch_ns: 10 * MS, limit: [32_000_000, 256_000], per_epoch: false, window: 1, per_unit: false };

    fn classes(rule: Rule) -> Intensity {
        let mut board = board(1, 2);
        board.facts.geometry.page_bytes = 8192;
        board.flows = vec![Default::default(); 3];
        let mut intensity = Intensity::new(rule);
        intensity.prepare(&board);
        intensity
    }

    /// The class after an epoch with this number of transactions.
    fn after(rule: Rule, direction: usize, transactions: u32) -> bool {
        let mut classes = classes(rule);
        for _ in 0..transactions {
            assert!(!classes.count(Time::ZERO, FlowId(1), UnitId(0), direction), "low before the first epoch ends");
        }
        classes.count(Time::from_ns(rule.epoch_ns), FlowId(1), UnitId(0), direction)
    }

    /// A-FLN-02.
    #[test]
    fn limits_of_the_model() {
        assert!(!after(PAPER, 0, 39) && after(PAPER, 0, 40));
        assert!(!after(PAPER, 1, 0) && after(PAPER, 1, 1));
        let binary = Rule { limit: [32 << 20, 256_000], ..PAPER };
        assert!(!after(binary, 0, 40) && after(binary, 0, 41));
    }

    #[test]
    fn the_last_nanosecond_of_an_epoch_belongs_to_it() {
        let mut classes = classes(PAPER);
        assert!(!classes.count(Time::from_ns(10 * MS - 1), FlowId(0), UnitId(0), 1));
        assert!(classes.count(Time::from_ns(10 * MS), FlowId(0), UnitId(0), 1));
        assert!(classes.is_high(FlowId(0), UnitId(0), 1) && !classes.is_high(FlowId(1), UnitId(0), 1));
        assert!(!classes.count(Time::from_ns(35 * MS), FlowId(0), UnitId(0), 1), "an epoch without one went by");
    }

    /// D-FLN-03: over ten epochs the write limit is 3.125 pages.
    #[test]
    fn a_rate_over_ten_epochs() {
        let wide = Rule { window: 10, ..PAPER };
        let mut classes = classes(wide);
        let at = |ms: u64| Time::from_ns(ms * MS);
        for ms in [5, 15, 25] {
            classes.count(at(ms), FlowId(0), UnitId(0), 1);
        }
        classes.roll(at(35));
        assert!(!classes.is_high(FlowId(0), UnitId(0), 1), "three pages");
        assert!(!classes.count(at(36), FlowId(0), UnitId(0), 1));
        classes.roll(at(45));
        assert!(classes.is_high(FlowId(0), UnitId(0), 1), "four pages");
        classes.roll(at(105));
        assert!(classes.is_high(FlowId(0), UnitId(0), 1), "the first is still within ten epochs of 100 ms");
        classes.roll(at(115));
        assert!(!classes.is_high(FlowId(0), UnitId(0), 1), "and is not any more");
    }

    /// Updating at every instant or seldom gives the same classes as a timer.
    #[test]
    fn lazy_updates_equal_a_timer() {
        let rule = Rule { window: 3, ..PAPER };
        let (mut lazy, mut eager) = (classes(rule), classes(rule));
        let mut at = 0u64;
        let mut random = Random(12345);
        for _ in 0..3000 {
            let sample = random.bits();
            let next = at + (sample >> 33) % (if sample >> 60 == 0 { 200 * MS } else { 3 * MS });
            for ms in at / MS..next / MS {
                eager.roll(Time::from_ns(ms * MS));
            }
            at = next;
            let (flow, direction) = (FlowId((sample >> 20) as u16 % 3), (sample >> 40) as usize & 1);
            let classed = [&mut lazy, &mut eager].map(|c| c.count(Time::from_ns(at), flow, UnitId(0), direction));
            assert_eq!(classed[0], classed[1], "at {at}");
        }
    }

    /// D-FLN-02: per unit, against the limit over the number of units.
    #[test]
    fn limits_per_unit() {
        let mut board = crate::pick::testing::board(1, 2);
        board.facts.geometry.page_bytes = 8192;
        board.units = vec![board.units[0]; 4];
        let mut classes = Intensity::new(Rule { per_unit: true, ..PAPER });
        classes.prepare(&board);
        for n in 0..10 {
            let unit = UnitId(u16::from(n == 9));
            classes.count(Time::ZERO, FlowId(0), unit, 0);
            classes.count(Time::ZERO, FlowId(0), UnitId(2), 0);
        }
        classes.roll(Time::from_ns(10 * MS));
        let high = [0, 1, 2, 3].map(|unit| classes.is_high(FlowId(0), UnitId(unit), 0));
        assert_eq!(high, [false, false, true, false], "9.77 pages an epoch and unit");
    }

    /// D-FLN-27: as bytes of an epoch, however long that is, the limits are 3,906.25 pages and 31.25; over two epochs twice that;
    /// per unit of four a quarter.
    #[test]
    fn limits_of_an_epoch() {
        for epoch_ns in [MS, 10 * MS] {
            let rule = Rule { per_epoch: true, epoch_ns, ..PAPER };
            assert!(!after(rule, 0, 3_906) && after(rule, 0, 3_907), "{epoch_ns}");
            assert!(!after(rule, 1, 31) && after(rule, 1, 32), "{epoch_ns}");
            assert!(!after(Rule { window: 2, ..rule }, 1, 62) && after(Rule { window: 2, ..rule }, 1, 63));
        }
        let mut board = crate::pick::testing::board(1, 2);
        board.facts.geometry.page_bytes = 8192;
        board.units = vec![board.units[0]; 4];
        let mut classes = Intensity::new(Rule { per_epoch: true, per_unit: true, ..PAPER });
        classes.prepare(&board);
        assert_eq!(classes.least, [977, 8]);
    }

    /// A class becomes high at the first count of pages whose rate reaches the limit, for any page size, epoch and limit; and
    /// however much time lies between the last transaction and the question, the last epochs are those that have ended.
    #[test]
    fn high_from_the_first_count_at_the_limit() {
        // 4 pages of 8,192 bytes in 10 ms are 3,276,800 bytes a second.
        for (limit, pages) in
            [(3_276_799, 4), (3_276_800, 4), (3_276_801, 5), (0, 0), (1, 1), (819_200, 1), (819_201, 2)]
        {
            for direction in [0, 1] {
                let rule = Rule { limit: [limit; 2], ..PAPER };
                assert!(after(rule, direction, pages), "{limit}: {pages}");
                assert!(pages == 0 || !after(rule, direction, pages - 1), "{limit}: {}", pages - 1);
            }
        }
        let mut classes = classes(Rule { limit: [819_200; 2], window: 3, ..PAPER });
        assert_eq!([0; 3].map(|_| classes.count(Time::from_ns(5 * MS), FlowId(0), UnitId(0), 0)), [false; 3]);
        for (ms, high) in [(10, true), (39, true), (40, false), (95, false)] {
            classes.roll(Time::from_ns(ms * MS));
            assert_eq!(classes.is_high(FlowId(0), UnitId(0), 0), high, "at {ms} ms");
        }
    }
}
