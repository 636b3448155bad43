//! What dies do over time, as a page's script reads it: heat maps of one byte a cell, base64.
//!
//! Owns the encoding; `assets/report/heat.js` reads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flashlane_core::Op;
use serde::Serialize;

use crate::metrics::{Activity, Measure, RowKind, step_from};

/// The most cells of a page, in bytes: with more, windows are merged.
const MOST_CELLS: usize = 3 << 20;

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
        let mut activity = activity.to_vec();
        while activity.iter().map(cells).sum::<usize>() > MOST_CELLS {
            activity.iter_mut().for_each(Activity::coarsen);
        }
        let kind = match first.kind() {
            RowKind::Die => "die",
            RowKind::Chip => "chip",
            RowKind::Channel => "channel",
        };
        let rows = (0..first.rows()).map(|row| first.row_name(row)).collect();
        Maps { kind, rows, runs: activity.iter().map(Run::of).collect() }
    }
}

/// Bytes that its heat maps take.
fn cells(run: &Activity) -> usize {
    let (first, last) = run.steps();
    run.windows() * (3 * run.rows() + 2 * (last - first))
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
}

fn map(windows: usize, rows: std::ops::Range<usize>, cell: impl Fn(usize, usize) -> u8) -> String {
    let cells: Vec<u8> =
        (0..windows).flat_map(|window| rows.clone().map(move |row| (window, row))).map(|(w, r)| cell(w, r)).collect();
    STANDARD.encode(cells)
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
    fn little_is_not_nothing_and_much_is_bounded() {
        assert_eq!([share(0.0), share(1e-6), share(0.5), share(1.0)], [0, 1, 128, 255]);
        assert_eq!([0.0, 0.01, 1.0, 3.0, 1e9].map(logarithmic), [0, 1, 12, 24, 255]);
    }
}
