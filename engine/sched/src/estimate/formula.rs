//! Equations 3 to 6 of Slacker §5.1 in integers: what the counters of a chip and of its channel say about a wait.
//!
//! Owns the arithmetic and nothing else. Every part is a fraction of whole numbers, rounded half up to a nanosecond, so
//! that results are equal on every machine and need no floating point.

use flashlane_core::Board;
use flashlane_core::board::UnitCounters;
use flashlane_core::transaction::FlashOp;

/// Which of the paper's sentences are followed literally where model 1.3 decides otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// The advanced counter counts commands, not transactions (against D-SLK-02).
    pub literal_advanced: bool,
    /// Waiting reads count twice for a write (against D-SLK-03).
    pub double_count: bool,
    /// Collection may come before every operation ahead, not once a wait (against D-SLK-06).
    pub gc_per_operation: bool,
    /// The residual time is what the hardware expects, not typical time less time passed (against D-SLK-07).
    pub physical_residual: bool,
}

/// Typical service times of a whole page or block, transfer included (D-SLK-05), ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Latency {
    /// Of a read.
    pub read: u64,
    /// Of a program.
    pub program: u64,
    /// Of an erase.
    pub erase: u64,
}

/// Typical service times (D-SLK-05).
#[inline(always)]
pub(super) fn latency(board: &Board) -> Latency {
    let typical = |op| board.facts.typical(op).ns();
    Latency { read: typical(FlashOp::Read), program: typical(FlashOp::Program), erase: typical(FlashOp::Erase) }
}

/// `a * b / c`, rounded half up; `c` is not zero.
#[inline(always)]
pub(super) fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    match a.checked_mul(b).and_then(|product| product.checked_add(c / 2)) {
        Some(sum) => sum / c,
        None => wide_mul_div(a, b, c),
    }
}

/// `a * b / c`, rounded half up, for products that do not fit 64 bits.
#[cold]
fn wide_mul_div(a: u64, b: u64, c: u64) -> u64 {
    ((u128::from(a) * u128::from(b) + u128::from(c / 2)) / u128::from(c)) as u64
}

/// `time` scaled by the share of a command that a transaction of `direction` is on average: `(1 - Pr) + Pr / N`
/// (eq. 4). With transactions counted, `Pr / N` is the commands over all transactions, so the factor is exact.
#[inline(always)]
fn shared(time: u64, counters: &UnitCounters, direction: usize, options: Options) -> u64 {
    let all = counters.user[direction];
    let (advanced, commands) = (counters.advanced[direction], counters.advanced_commands[direction]);
    if time == 0 || advanced == 0 {
        return time;
    }
    if options.literal_advanced {
        return shared_by_commands(time, all, advanced, commands);
    }
    mul_div(time, all - advanced + commands, all)
}

/// The share by the paper's literal definition: `Pr` = commands / all, `N` = advanced / commands, so that
/// `1 - Pr + Pr / N` over the common denominator.
#[cold]
fn shared_by_commands(time: u64, all: u64, advanced: u64, commands: u64) -> u64 {
    let [all, advanced, commands] = [all, advanced, commands].map(u128::from);
    let numerator = (all - commands) * advanced + commands * commands;
    let denominator = all * advanced;
    ((u128::from(time) * numerator + denominator / 2) / denominator) as u64
}

/// Service of the operations ahead of a read: `reads` of them (eq. 3, 4).
#[inline(always)]
pub fn read_queue(reads: u64, latency: &Latency, counters: &UnitCounters, options: Options) -> u64 {
    shared(reads * latency.read, counters, 0, options)
}

/// Service of the operations ahead of a write: all waiting reads, and `writes` before it (eq. 3, 4, D-SLK-03, D-SLK-04).
#[inline(always)]
pub fn write_queue(reads: u64, writes: u64, latency: &Latency, counters: &UnitCounters, options: Options) -> u64 {
    let twice = if options.double_count { reads * latency.read } else { 0 };
    read_queue(reads, latency, counters, options) + shared(twice + writes * latency.program, counters, 1, options)
}

/// Garbage collection that may come between (eq. 5); `ahead` operations go first.
#[inline(always)]
pub fn collection(ahead: u64, latency: &Latency, counters: &UnitCounters, options: Options) -> u64 {
    if counters.erases == 0 {
        return 0;
    }
    let served = counters.user[0] + counters.user[1];
    if served == 0 {
        return 0;
    }
    // Pr_GC (moves / erases * (read + program) + erase), with Pr_GC = erases / served.
    let spent = counters.moves * (latency.read + latency.program) + counters.erases * latency.erase;
    let times = if options.gc_per_operation { ahead + 1 } else { 1 };
    mul_div(spent, times, served)
}

/// Waiting for the bus: the share of data phases that found it taken, times a page's transfer (eq. 6, D-SLK-08).
#[inline(always)]
pub fn interference(stalled: u64, transfers: u64, transfer: u64) -> u64 {
    if stalled == 0 { 0 } else { mul_div(stalled, transfer, transfers) }
}

/// What is left of an operation of typical length `latency` that began at `started` (eq. 7), none if it takes longer
/// than typical (D-SLK-07).
#[inline(always)]
pub fn residual(latency: u64, started: u64, now: u64) -> u64 {
    latency.saturating_sub(now - started)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: Latency = Latency { read: 100_000, program: 1_325_000, erase: 3_800_000 };
    const LITERAL: Options =
        Options { literal_advanced: true, double_count: true, gc_per_operation: false, physical_residual: false };

    /// A-SLK-06: 10 reads and 20 writes ahead; 400 of 1000 reads and 300 of 500 writes went in two-transaction commands.
    #[test]
    fn a_slk_06_advanced_commands() {
        let counters = UnitCounters {
            user: [1000, 500],
            advanced: [400, 300],
            advanced_commands: [200, 150],
            ..UnitCounters::default()
        };
        let fixed = Options::default();
        assert_eq!(read_queue(10, &LATENCY, &counters, fixed), 800_000);
        assert_eq!(write_queue(10, 20, &LATENCY, &counters, fixed), 19_350_000);
        assert_eq!(read_queue(10, &LATENCY, &counters, LITERAL), 900_000);
        assert_eq!(write_queue(10, 20, &LATENCY, &counters, LITERAL), 24_275_000);
        // Each of the two options alone.
        let literal_counters = Options { literal_advanced: true, ..fixed };
        assert_eq!(write_queue(10, 20, &LATENCY, &counters, literal_counters), 900_000 + 26_500_000 * 85 / 100);
        let twice = Options { double_count: true, ..fixed };
        assert_eq!(write_queue(10, 20, &LATENCY, &counters, twice), 800_000 + 27_500_000 * 7 / 10);
    }

    /// A-SLK-07: 950/3 us, to the ns half up.
    #[test]
    fn a_slk_07_collection() {
        let mut counters = UnitCounters { user: [1000, 500], erases: 5, moves: 320, ..UnitCounters::default() };
        assert_eq!(collection(7, &LATENCY, &counters, Options::default()), 316_667);
        let per_operation = Options { gc_per_operation: true, ..Options::default() };
        assert_eq!(collection(7, &LATENCY, &counters, per_operation), 8 * 950_000 / 3);
        counters.erases = 0;
        assert_eq!(collection(7, &LATENCY, &counters, Options::default()), 0);
        assert_eq!(collection(7, &LATENCY, &UnitCounters { erases: 1, ..UnitCounters::default() }, LITERAL), 0);
    }

    /// A-SLK-08, the last sentence: 7380.3 ns.
    #[test]
    fn a_slk_08_interference() {
        assert_eq!(interference(450, 1500, 24_601), 7_380);
        assert_eq!(interference(0, 0, 24_601), 0);
    }

    /// A-SLK-09, but for the idle chip.
    #[test]
    fn a_slk_09_residual() {
        assert_eq!(residual(1_325_000, 1_000_000, 1_500_000), 825_000);
        assert_eq!(residual(100_000, 1_000_000, 1_200_000), 0);
        assert_eq!(residual(3_800_000, 1_000_000, 2_000_000), 2_800_000);
    }

    #[test]
    fn large_products_do_not_wrap() {
        assert_eq!(mul_div(u64::MAX / 2, 4, 8), u64::MAX / 4 + 1);
        assert_eq!(mul_div(1, 1, 2), 1);
        assert_eq!(mul_div(1, 1, 3), 0);
    }
}
