//! Windows of equal width over a run: what each row of dies did in them, and the response times of the requests that completed.
//!
//! Owns the windows: at most [`MAX_WINDOWS`], whose width doubles when a run needs more.

use flashlane_core::Op;

/// The most windows. A run ends with more than half as many.
pub const MAX_WINDOWS: usize = 160;
/// Initial width of a window, ns.
const FIRST_WIDTH: u64 = 1_000;
/// Steps of response time in an octave.
pub const STEPS: u32 = 4;
/// Steps in all.
pub(super) const LATENCIES: usize = 64 * STEPS as usize;

/// The measures of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Time in which it serves a command that is not paused.
    Busy,
    /// The part of it for garbage collection.
    Collecting,
    /// Number of transactions that wait for it, times how long.
    Waiting,
}

/// The windows of a run.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    pub(super) width: u64,
    rows: usize,
    /// For each measure, for each window, for each row: ns.
    sums: [Vec<u64>; 3],
    /// For each direction (reads, writes), for each window, for each step of response time: requests.
    latencies: [Vec<u32>; 2],
}

impl Windows {
    pub(super) fn new(rows: usize) -> Windows {
        Windows { width: FIRST_WIDTH, rows, sums: [const { Vec::new() }; 3], latencies: [const { Vec::new() }; 2] }
    }

    /// Adds `times` for each nanosecond between two instants.
    pub(super) fn add(&mut self, measure: Measure, row: usize, from: u64, to: u64, times: u64) {
        if from >= to || times == 0 {
            return;
        }
        let last = self.window_of(to - 1);
        let sums = &mut self.sums[measure as usize];
        if sums.len() < (last + 1) * self.rows {
            sums.resize((last + 1) * self.rows, 0);
        }
        let mut at = from;
        while at < to {
            let window = at / self.width;
            let end = ((window + 1).saturating_mul(self.width)).min(to);
            sums[window as usize * self.rows + row] += (end - at) * times;
            at = end;
        }
    }

    /// Counts a request that completed at an instant.
    pub(super) fn complete(&mut self, op: Op, at: u64, response: u64) {
        let window = self.window_of(at);
        let table = &mut self.latencies[usize::from(op == Op::Write)];
        let place = window * LATENCIES + step_of(response);
        if table.len() <= place {
            table.resize((window + 1) * LATENCIES, 0);
        }
        table[place] += 1;
    }

    /// Windows with anything in them, from the first of the run on.
    pub(super) fn count(&self) -> usize {
        let dies = self.sums.iter().map(|sums| sums.len() / self.rows.max(1));
        dies.chain(self.latencies.iter().map(|table| table.len() / LATENCIES)).max().unwrap_or(0)
    }

    pub(super) fn sum(&self, measure: Measure, window: usize, row: usize) -> u64 {
        self.sums[measure as usize].get(window * self.rows + row).copied().unwrap_or(0)
    }

    pub(super) fn requests(&self, op: Op, window: usize, step: usize) -> u32 {
        self.latencies[usize::from(op == Op::Write)].get(window * LATENCIES + step).copied().unwrap_or(0)
    }

    /// The first step with a request, and one past the last.
    pub(super) fn steps(&self) -> (usize, usize) {
        let used = |step: &usize| {
            self.latencies.iter().any(|table| table.iter().skip(*step).step_by(LATENCIES).any(|count| *count > 0))
        };
        let first = (0..LATENCIES).find(used).unwrap_or(0);
        let last = (first..LATENCIES).rev().find(used).map_or(first, |last| last + 1);
        (first, last)
    }

    /// Halves the number of windows.
    pub(super) fn coarsen(&mut self) {
        self.width = self.width.saturating_mul(2);
        for sums in &mut self.sums {
            halve(sums, self.rows);
        }
        for table in &mut self.latencies {
            halve(table, LATENCIES);
        }
    }

    /// The window of an instant, which is there after this.
    fn window_of(&mut self, at: u64) -> usize {
        while at / self.width >= MAX_WINDOWS as u64 {
            self.coarsen();
        }
        (at / self.width) as usize
    }
}

/// Adds each second window of `size` entries to the one before it.
fn halve<T: Copy + std::ops::AddAssign>(table: &mut Vec<T>, size: usize) {
    let windows = table.len() / size;
    for window in 0..windows {
        for entry in 0..size {
            let value = table[window * size + entry];
            if window % 2 == 0 {
                table[window / 2 * size + entry] = value;
            } else {
                table[window / 2 * size + entry] += value;
            }
        }
    }
    table.truncate(windows.div_ceil(2) * size);
}

/// The step of a response time: four an octave.
pub(super) fn step_of(ns: u64) -> usize {
    let octave = ns.max(1).ilog2();
    let quarter = if octave >= 2 { (ns >> (octave - 2)) & 3 } else { 0 };
    (octave * STEPS) as usize + quarter as usize
}

/// The shortest response time of a step, ns.
pub fn step_from(step: usize) -> u64 {
    let (octave, quarter) = (step as u32 / STEPS, (step as u32 % STEPS) as u64);
    if octave >= 2 { (1 << octave) + (quarter << (octave - 2)) } else { 1 << octave }
}
