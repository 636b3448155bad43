//! What dies do over time, as a page's script reads it: heat maps of one byte a cell, of zeros one and their number, base64.
//!
//! Owns the encoding; `assets/report/heat.js` reads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flashlane_core::Op;
use serde::Serialize;

use crate::metrics::{Activity, Measure, RowKind, step_from};

/// The most letters of a page's heat maps: with more, windows are merged.
const MAX_LETTERS: usize = 1_600_000;

/// The heat maps of all schedulers, in their order. Empty if nothing was recorded.
#[derive(Serialize)]
pub(super) struct Maps {
    /// What a row is: `die`, `chip` or `channel`.
    kind: &'static str,
    /// Names of the rows.
    rows: Vec<String>,
    runs: Vec<Run>,
}

/// The heat maps of a scheduler. Maps of dies have a cell for each window and row, windows first; those of response times for each window
/// and step.
#[derive(Serialize)]
struct Run {
    /// Width of a window, ns.
    width_ns: u64,
    windows: usize,
    /// Share of the time, 255 for all of it.
    busy: String,
    /// Share of the time.
    collecting: String,
    /// Transactions that wait; [`logarithmic`].
    waiting: String,
    /// Shortest response time of each step, and of the one after the last, ns.
    steps_ns: Vec<u64>,
    /// Requests; [`logarithmic`].
    reads: String,
    /// Requests.
    writes: String,
}

impl Maps {
    /// The heat maps of runs on the same device.
    pub(super) fn of(activity: &[Activity]) -> Maps {
        let Some(first) = activity.first() else { return Maps { kind: "die", rows: Vec::new(), runs: Vec::new() } };
        let mut runs: Vec<Run> = activity.iter().map(Run::of).collect();
        if runs.iter().map(Run::letters).sum::<usize>() > MAX_LETTERS {
            let mut activity = activity.to_vec();
            while runs.iter().map(Run::letters).sum::<usize>() > MAX_LETTERS {
                activity.iter_mut().for_each(Activity::coarsen);
                runs = activity.iter().map(Run::of).collect();
            }
        }
        let kind = match first.kind() {
            RowKind::Die => "die",
            RowKind::Chip => "chip",
            RowKind::Channel => "channel",
        };
        let rows = (0..first.rows()).map(|row| first.row_name(row)).collect();
        Maps { kind, rows, runs }
    }
}

impl Run {
    fn of(run: &Activity) -> Run {
        let (first, last) = run.steps();
        let dies = |measure: Measure, encode: fn(f64) -> u8| {
            map(run.windows(), 0..run.rows(), |window, row| encode(run.mean(measure, window, row)))
        };
        let requests = |op: Op| {
            map(run.windows(), first..last, |window, step| logarithmic(f64::from(run.requests(op, window, step))))
        };
        Run {
            width_ns: run.width_ns(),
            windows: run.windows(),
            busy: dies(Measure::Busy, share),
            collecting: dies(Measure::Collecting, share),
            waiting: dies(Measure::Waiting, logarithmic),
            steps_ns: (first..=last).map(step_from).collect(),
            reads: requests(Op::Read),
            writes: requests(Op::Write),
        }
    }

    fn letters(&self) -> usize {
        [&self.busy, &self.collecting, &self.waiting, &self.reads, &self.writes].iter().map(|map| map.len()).sum()
    }
}

fn map(windows: usize, rows: std::ops::Range<usize>, cell: impl Fn(usize, usize) -> u8) -> String {
    let cells = (0..windows).flat_map(|window| rows.clone().map(move |row| (window, row))).map(|(w, r)| cell(w, r));
    STANDARD.encode(packed(cells))
}

/// Cells with zeros as a zero and their number, 1 to 255.
fn packed(cells: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut packed: Vec<u8> = Vec::new();
    let mut zeros = 0u8;
    for cell in cells {
        if cell == 0 && (1..255).contains(&zeros) {
            zeros += 1;
            *packed.last_mut().expect("a number of zeros") = zeros;
        } else if cell == 0 {
            zeros = 1;
            packed.extend([0, 1]);
        } else {
            zeros = 0;
            packed.push(cell);
        }
    }
    packed
}

/// The cells of a map.
#[cfg(test)]
pub(super) fn unpacked(map: &str) -> Vec<u8> {
    let mut packed = STANDARD.decode(map).unwrap().into_iter();
    let mut cells = Vec::new();
    while let Some(cell) = packed.next() {
        let times = if cell == 0 { packed.next().unwrap() } else { 1 };
        cells.extend(std::iter::repeat_n(cell, times.into()));
    }
    cells
}

/// 0 to 1 as 0 to 255; anything above 0 is at least 1.
fn share(value: f64) -> u8 {
    ((255.0 * value).round() as u8).max(u8::from(value > 0.0))
}

/// 12 times the binary logarithm of 1 + value: a step is 6 %, and the largest 2.5 million. Anything above 0 is at least 1.
fn logarithmic(value: f64) -> u8 {
    ((12.0 * libm::log2(1.0 + value)).round() as u8).max(u8::from(value > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_packed_and_come_back() {
        let cells: Vec<u8> = [0, 7, 7, 0, 0, 9].into_iter().chain([0; 600]).chain([1]).collect();
        let text = map(1, 0..cells.len(), |_, row| cells[row]);
        assert_eq!(unpacked(&text), cells);
        assert_eq!(packed(cells.into_iter()).len(), 2 + 2 + 2 + 1 + 3 * 2 + 1);
    }

    #[test]
    fn small_shares_are_not_rounded_to_zero_and_large_ones_are_bounded() {
        assert_eq!([share(0.0), share(1e-6), share(0.5), share(1.0)], [0, 1, 128, 255]);
        assert_eq!([0.0, 0.01, 1.0, 3.0, 1e9].map(logarithmic), [0, 1, 12, 24, 255]);
    }
}
