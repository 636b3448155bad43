//! Response time over time and in total: windows of equal width, never more than [`MAX_WINDOWS`] of them.
//!
//! Owns the windows. When a run needs more of them, their width doubles and neighbours merge, so that memory stays
//! bounded for a run of any length. Only the newest window is a full histogram; the others are stored as their
//! non-empty buckets. A value is counted once, in the open window, which is added to the histogram of the whole run
//! when it closes. Must never know which flow it belongs to.

use super::histogram::{Histogram, index_of, middle_of, rank};

/// The most windows of a timeline. A run ends with between half as many and as many (or fewer, when nothing completes
/// for a long time).
pub const MAX_WINDOWS: u64 = 200;

/// So few buckets of a window are added to those of another one by one, as where many flows have few completions each.
const FEW: usize = 4;

/// Initial width of a window.
const FIRST_WIDTH_NS: u64 = 1_000;

/// Completions of one direction (reads or writes) over time.
#[derive(Clone, Debug)]
pub struct Timeline {
    width: u64,
    /// Start and end of the open window; the end is 0 before the first completion.
    open_from: u64,
    open_until: u64,
    open: Histogram,
    open_bytes: u64,
    /// Values of all closed windows.
    total: Histogram,
    /// Closed windows, in order of time, none empty.
    closed: Vec<ClosedWindow>,
}

/// A closed window.
#[derive(Clone, Debug)]
struct ClosedWindow {
    index: u64,
    sum: u128,
    bytes: u64,
    max: u64,
    min: u64,
    /// Non-empty buckets of the histogram, by index.
    buckets: Vec<(u16, u64)>,
}

/// The completions of one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// When it begins, ns.
    pub at_ns: u64,
    /// Requests that completed in it.
    pub requests: u64,
    /// Bytes of those requests.
    pub bytes: u64,
    /// Their mean response time, ns.
    pub mean_ns: f64,
    /// The 99th percentile of their response times, ns.
    pub p99_ns: u64,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline {
            width: FIRST_WIDTH_NS,
            open_from: 0,
            open_until: 0,
            open: Histogram::new(),
            open_bytes: 0,
            total: Histogram::new(),
            closed: Vec::new(),
        }
    }
}

impl Timeline {
    /// Counts a completion at `at` with response time `value`.
    #[inline]
    pub fn record(&mut self, at: u64, value: u64, bytes: u64) {
        if at >= self.open_until || at < self.open_from {
            return self.record_elsewhere(at, value, bytes);
        }
        self.open.record(value);
        self.open_bytes += bytes;
    }

    /// Counts a completion outside the open window: opens the next window, or adds to a closed one (when the completion
    /// is reported late).
    #[cold]
    fn record_elsewhere(&mut self, at: u64, value: u64, bytes: u64) {
        if at < self.open_from {
            let buckets = vec![(index_of(value) as u16, 1)];
            self.total.record(value);
            let late =
                ClosedWindow { index: at / self.width, sum: value.into(), bytes, max: value, min: value, buckets };
            return self.insert(late);
        }
        self.close();
        while at / self.width >= MAX_WINDOWS {
            self.double();
        }
        self.open_from = at - at % self.width;
        self.open_until = self.open_from.saturating_add(self.width);
        self.open.record(value);
        self.open_bytes = bytes;
    }

    /// The open window as a closed one, if it holds anything.
    fn opened(&self) -> Option<ClosedWindow> {
        let (min, max) = (self.open.min()?, self.open.max()?);
        let buckets = self.open.indexed().map(|(index, count)| (index as u16, count)).collect();
        let index = self.open_from / self.width;
        Some(ClosedWindow { index, sum: self.open.sum(), bytes: self.open_bytes, max, min, buckets })
    }

    /// Moves the open window, if it holds anything, to the closed ones.
    fn close(&mut self) {
        if let Some(window) = self.opened() {
            self.closed.push(window);
            self.total.merge(&self.open);
            self.open.clear();
            self.open_bytes = 0;
        }
    }

    /// All windows, each at least `width` wide, without the histograms, which are large.
    fn windows_of_width(&self, width: u64) -> Vec<ClosedWindow> {
        let mut all: Vec<ClosedWindow> = self.closed.iter().cloned().chain(self.opened()).collect();
        let mut own = self.width;
        while own < width {
            (all, own) = (doubled(all), own.saturating_mul(2));
        }
        all
    }

    /// Adds `window` to the closed window of the same index, or inserts it.
    fn insert(&mut self, window: ClosedWindow) {
        match self.closed.binary_search_by_key(&window.index, |closed| closed.index) {
            Ok(found) => self.closed[found].add(&window),
            Err(place) => self.closed.insert(place, window),
        }
    }

    /// Doubles the width of the windows; the open window must be closed.
    fn double(&mut self) {
        self.width = self.width.saturating_mul(2);
        self.closed = doubled(std::mem::take(&mut self.closed));
    }

    /// Adds the completions of `other`.
    pub fn merge(&mut self, other: &Timeline) {
        self.close();
        self.total.merge(&other.total);
        self.total.merge(&other.open);
        while self.width < other.width {
            self.double();
        }
        other.windows_of_width(self.width).into_iter().for_each(|window| self.insert(window));
        // The next value either opens a window after all of these or is added to one of them.
        self.open_from = self.closed.last().map_or(0, |last| (last.index + 1).saturating_mul(self.width));
        self.open_until = self.open_from;
    }

    /// The values of all windows together.
    pub fn total(&self) -> Histogram {
        let mut total = self.total.clone();
        total.merge(&self.open);
        total
    }

    /// Completions counted so far.
    pub fn count(&self) -> u64 {
        self.total.count() + self.open.count()
    }

    /// Width of a window, ns.
    pub fn width_ns(&self) -> u64 {
        self.width
    }

    /// Whether nothing completed.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The windows in which something completed, in order of time, each at least `width_ns` wide: timelines shown side
    /// by side need one width. `width_ns` must be this timeline's width times a power of two.
    pub fn windows(&self, width_ns: u64) -> Vec<Window> {
        let width = width_ns.max(self.width);
        self.windows_of_width(width).iter().map(|window| window.figures(width)).collect()
    }
}

impl ClosedWindow {
    fn add(&mut self, other: &ClosedWindow) {
        self.sum += other.sum;
        self.bytes += other.bytes;
        self.max = self.max.max(other.max);
        self.min = self.min.min(other.min);
        if other.buckets.len() > FEW {
            self.buckets = join(&self.buckets, &other.buckets);
            return;
        }
        for &(index, count) in &other.buckets {
            match self.buckets.binary_search_by_key(&index, |bucket| bucket.0) {
                Ok(found) => self.buckets[found].1 += count,
                Err(place) => self.buckets.insert(place, (index, count)),
            }
        }
    }

    fn figures(&self, width: u64) -> Window {
        let requests = self.buckets.iter().map(|&(_, count)| count).sum();
        let rank = rank(requests, 990_000).unwrap_or(0);
        let mut below = 0;
        let p99 = self.buckets.iter().find(|&&(_, count)| {
            below += count;
            below >= rank
        });
        Window {
            at_ns: self.index * width,
            requests,
            bytes: self.bytes,
            mean_ns: self.sum as f64 / requests as f64,
            p99_ns: p99.map_or(self.max, |&(index, _)| middle_of(index.into())).clamp(self.min, self.max),
        }
    }
}

/// Windows, in order of time, of twice the width.
fn doubled(narrow: Vec<ClosedWindow>) -> Vec<ClosedWindow> {
    let mut wide: Vec<ClosedWindow> = Vec::with_capacity(narrow.len() / 2 + 1);
    for mut window in narrow {
        window.index /= 2;
        match wide.last_mut() {
            Some(last) if last.index == window.index => last.add(&window),
            _ => wide.push(window),
        }
    }
    wide
}

/// Merges the buckets of two windows, each in ascending order.
fn join(a: &[(u16, u64)], b: &[(u16, u64)]) -> Vec<(u16, u64)> {
    let mut joined = Vec::with_capacity(a.len().max(b.len()));
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    while let (Some(&left), Some(&right)) = (a.peek(), b.peek()) {
        let count = if left.0 == right.0 {
            left.1 + right.1
        } else if left.0 < right.0 {
            left.1
        } else {
            right.1
        };
        joined.push((left.0.min(right.0), count));
        if left.0 <= right.0 {
            a.next();
        }
        if right.0 <= left.0 {
            b.next();
        }
    }
    joined.extend(a.chain(b));
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(completions: impl IntoIterator<Item = (u64, u64)>) -> Timeline {
        let mut timeline = Timeline::default();
        completions.into_iter().for_each(|(at, value)| timeline.record(at, value, 512));
        timeline
    }

    #[test]
    fn windows_count_what_completes_in_them() {
        let t = of([(0, 10), (999, 20), (1_000, 30), (5_500, 40)]);
        let windows = t.windows(1_000);
        assert_eq!(
            windows.iter().map(|w| (w.at_ns, w.requests, w.bytes)).collect::<Vec<_>>(),
            [(0, 2, 1_024), (1_000, 1, 512), (5_000, 1, 512)]
        );
        assert_eq!((windows[0].mean_ns, windows[0].p99_ns), (15.0, 20));
    }

    #[test]
    fn width_doubles_and_nothing_is_lost() {
        let n = 100_000;
        let t = of((0..n).map(|i| (i * 700, i)));
        let windows = t.windows(t.width_ns());
        assert!((MAX_WINDOWS / 2..=MAX_WINDOWS).contains(&(windows.len() as u64)), "{}", windows.len());
        assert_eq!(windows.iter().map(|w| w.requests).sum::<u64>(), n);
        assert_eq!(t.width_ns() % FIRST_WIDTH_NS, 0);
        for w in &windows {
            let first = w.at_ns.div_ceil(700);
            assert_eq!(w.mean_ns, first as f64 + (w.requests - 1) as f64 / 2.0, "window at {}", w.at_ns);
        }
    }

    #[test]
    fn the_width_depends_on_the_last_completion_alone() {
        assert_eq!(of([(10_000_000, 1)]).width_ns(), of((0..=10_000).map(|i| (i * 1_000, 1))).width_ns());
        assert!(of([(u64::MAX, 1)]).windows(1_000).len() == 1);
    }

    #[test]
    fn a_late_report_joins_its_window() {
        let t = of([(100, 1), (9_000, 2), (150, 3), (4_000, 4)]);
        assert_eq!(
            t.windows(1_000).iter().map(|w| (w.at_ns, w.requests)).collect::<Vec<_>>(),
            [(0, 2), (4_000, 1), (9_000, 1)]
        );
    }

    /// Whatever doubles, comes late or is merged: a window holds the requests, bytes and times that a plain table by time holds.
    #[test]
    fn windows_hold_what_a_plain_table_holds() {
        let completions: Vec<(u64, u64, u64)> =
            (0..20_000u64).map(|i| (i * 7_919 % (60 * i + 1_000), 10 + i % 1_000, 1 + i * i % 4_096)).collect();
        let mut whole = Timeline::default();
        let mut halves = [Timeline::default(), Timeline::default()];
        for (i, &(at, value, bytes)) in completions.iter().enumerate() {
            whole.record(at, value, bytes);
            halves[i % 3 / 2].record(at, value, bytes);
        }
        let [mut merged, other] = halves;
        merged.merge(&other);
        for timeline in [&whole, &merged] {
            let width = timeline.width_ns();
            assert!(width > FIRST_WIDTH_NS);
            let mut table = std::collections::BTreeMap::<u64, (u64, u64, u64)>::new();
            for &(at, value, bytes) in &completions {
                let row = table.entry(at / width * width).or_default();
                *row = (row.0 + 1, row.1 + bytes, row.2 + value);
            }
            let found = timeline.windows(width);
            let found =
                found.iter().map(|w| (w.at_ns, (w.requests, w.bytes, (w.mean_ns * w.requests as f64).round() as u64)));
            assert_eq!(found.collect::<Vec<_>>(), table.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn merging_equals_recording_all_in_one() {
        let a: Vec<_> = (0..5_000).map(|i| (i * 900, 100 + i)).collect();
        let b: Vec<_> = (0..300).map(|i| (i * 311, 7 * i)).collect();
        let mut all = [&a[..], &b[..]].concat();
        all.sort_unstable();
        let mut merged = of(b);
        merged.merge(&of(a));
        assert_eq!(merged.windows(1_000), of(all).windows(1_000));
        merged.record(50, 1, 1);
        merged.record(900_000_000, 1, 1);
        assert_eq!(merged.windows(1_000).iter().map(|w| w.requests).sum::<u64>(), 5_302);
    }
}
