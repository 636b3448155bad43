//! Rates: what arrived and what completed in the window in which load is offered.
//!
//! The window of a run begins at its first counted arrival and ends at its last, of all flows together: before, the run warms up, and
//! after, the drive only empties its queues. Everything that happens inside is taken, whether the request is counted or not; but where
//! there is a warm-up no more counts as served than arrives, of each kind: a backlog that it left is no service. What
//! happens at the instant it begins is left out, what happens at the instant it ends is taken: n arrivals are n - 1 gaps.
//!
//! When the window ends is known only at the end of the run. Completions may be passed later than requests that arrived after them, but
//! never earlier than a request that arrived before them.

use flashlane_core::{Op, Time};

use super::KINDS;

/// The window of a run as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct LoadWindow {
    /// `NEVER` until a request is counted.
    first: Time,
    last: Time,
    /// Changes whenever the window grows.
    number: u64,
}

/// Both directions.
pub const BOTH: [Op; 2] = [Op::Read, Op::Write];

/// What a flow did in the window of its run.
#[derive(Clone, Debug, Default)]
pub struct Load {
    within: Counts,
    /// What happened since the window last grew; it is inside as soon as the window grows again.
    since: Counts,
    number: u64,
    /// Requests have completed that figures leave out.
    has_warm_up: bool,
    /// Length of the window, ns, once the run is over; 0 without one.
    length_ns: u64,
    /// When the window begins, once the run is over.
    begins: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    arrivals: [u64; KINDS],
    completions: [u64; KINDS],
    bytes: [u64; KINDS],
}

/// Rates of some kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Requests that arrived, per second.
    pub offered_iops: f64,
    /// Requests that completed, per second.
    pub iops: f64,
    /// Bytes of those, per second.
    pub bytes_per_s: f64,
}

impl Default for LoadWindow {
    fn default() -> LoadWindow {
        LoadWindow { first: Time::NEVER, last: Time::ZERO, number: 0 }
    }
}

impl LoadWindow {
    /// Counts an arrival: the window begins with it, or grows up to it.
    #[inline]
    pub fn arrive(&mut self, at: Time) {
        self.first = self.first.min(at);
        self.last = at;
        self.number += 1;
    }

    fn length_ns(&self) -> u64 {
        if self.first == Time::NEVER { 0 } else { self.last.since(self.first).ns() }
    }
}

impl Load {
    /// Counts a request that arrived; `window` has grown up to it already if figures count it.
    #[inline]
    pub fn arrive(&mut self, window: &LoadWindow, op: Op, at: Time) {
        if let Some(counts) = self.counts(window, at) {
            counts.arrivals[op.index()] += 1;
        }
    }

    /// Counts a request of `bytes` that completed.
    #[inline]
    pub fn complete(&mut self, window: &LoadWindow, op: Op, done: Time, bytes: u64) {
        if let Some(counts) = self.counts(window, done) {
            counts.completions[op.index()] += 1;
            counts.bytes[op.index()] += bytes;
        }
    }

    /// Counts a request of `bytes` that completed and that figures leave out.
    #[inline]
    pub fn complete_left_out(&mut self, window: &LoadWindow, op: Op, done: Time, bytes: u64) {
        self.has_warm_up = true;
        self.complete(window, op, done, bytes);
    }

    /// Where something that happened `at` belongs; `None` before the window.
    #[inline]
    fn counts(&mut self, window: &LoadWindow, at: Time) -> Option<&mut Counts> {
        if at <= window.first {
            return None;
        }
        if at <= window.last {
            return Some(&mut self.within);
        }
        self.catch_up(window);
        Some(&mut self.since)
    }

    /// Takes what happened before the window last grew.
    #[inline]
    fn catch_up(&mut self, window: &LoadWindow) {
        if self.number != window.number {
            self.number = window.number;
            self.within.add(&std::mem::take(&mut self.since));
        }
    }

    /// Ends the run: what happened after the window's end is left out.
    pub fn close(&mut self, window: &LoadWindow) {
        self.catch_up(window);
        self.since = Counts::default();
        (self.length_ns, self.begins) = (window.length_ns(), window.first);
        if self.has_warm_up {
            self.within.serve_at_most_what_arrives();
        }
    }

    /// Adds what another flow of the same run did.
    pub fn merge(&mut self, other: &Load) {
        self.within.add(&other.within);
        (self.length_ns, self.begins) = (self.length_ns.max(other.length_ns), other.begins);
    }

    /// When the window begins, which is when the first counted request arrives.
    pub fn begins(&self) -> Time {
        self.begins
    }

    /// Length of the window, ns; 0 if fewer than two instants of counted arrival make none.
    pub fn length_ns(&self) -> u64 {
        self.length_ns
    }

    /// Rates of these kinds together; `None` without a window.
    pub fn rates(&self, ops: &[Op]) -> Option<Rates> {
        let per_second = |of: &[u64; KINDS]| {
            let sum: u64 = ops.iter().map(|op| of[op.index()]).sum();
            sum as f64 / self.length_ns as f64 * 1e9
        };
        (self.length_ns > 0).then(|| Rates {
            offered_iops: per_second(&self.within.arrivals),
            iops: per_second(&self.within.completions),
            bytes_per_s: per_second(&self.within.bytes),
        })
    }
}

impl Counts {
    /// Takes off what was served beyond what arrived, with its part of the bytes.
    fn serve_at_most_what_arrives(&mut self) {
        for kind in 0..KINDS {
            let (arrived, served) = (self.arrivals[kind], self.completions[kind]);
            if served > arrived {
                self.bytes[kind] = (u128::from(self.bytes[kind]) * u128::from(arrived) / u128::from(served)) as u64;
                self.completions[kind] = arrived;
            }
        }
    }

    fn add(&mut self, other: &Counts) {
        for kind in 0..KINDS {
            self.arrivals[kind] += other.arrivals[kind];
            self.completions[kind] += other.completions[kind];
            self.bytes[kind] += other.bytes[kind];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What happens in a run: an arrival that figures count or do not, or a completion; of a flow.
    #[derive(Clone, Copy)]
    enum Happens {
        Counted(usize),
        Uncounted(usize),
        Done(usize),
    }
    use Happens::{Counted, Done, Uncounted};

    /// The loads of two flows to which this happens, reads of 10 bytes.
    fn loads(happens: &[(u64, Happens)]) -> [Load; 2] {
        let (mut window, mut loads) = (LoadWindow::default(), [Load::default(), Load::default()]);
        for &(at, what) in happens {
            let at = Time::from_ns(at);
            match what {
                Counted(flow) => {
                    window.arrive(at);
                    loads[flow].arrive(&window, Op::Read, at);
                }
                Uncounted(flow) => loads[flow].arrive(&window, Op::Read, at),
                Done(flow) => loads[flow].complete(&window, Op::Read, at, 10),
            }
        }
        loads.iter_mut().for_each(|load| load.close(&window));
        loads
    }

    /// Arrivals, completions and bytes of reads in the window, and its length.
    fn counted(load: &Load) -> (u64, u64, u64, u64) {
        let Counts { arrivals, completions, bytes } = load.within;
        (arrivals[0], completions[0], bytes[0], load.length_ns)
    }

    #[test]
    fn the_window_is_from_the_first_counted_arrival_to_the_last() {
        let [a, b] = loads(&[
            (5, Uncounted(0)),
            (8, Done(0)),
            (10, Counted(0)),
            (20, Uncounted(1)),
            (25, Done(0)),
            (30, Counted(1)),
            (40, Done(1)),
            (50, Counted(0)),
            (60, Uncounted(1)),
            (70, Done(1)),
        ]);
        assert_eq!(counted(&a), (1, 1, 10, 40), "the arrival at 10 begins it");
        assert_eq!(counted(&b), (2, 1, 10, 40), "warm-up of another flow is load too; what comes after 50 is not");
        let mut both = a;
        both.merge(&b);
        assert_eq!(both.rates(&BOTH), Some(Rates { offered_iops: 7.5e7, iops: 5e7, bytes_per_s: 5e8 }));
        assert_eq!(both.rates(&[Op::Write]), Some(Rates { offered_iops: 0.0, iops: 0.0, bytes_per_s: 0.0 }));
    }

    /// Of 1,000 ns: reads of 10 bytes and 20, a write of 400, by direction and together, of one flow and of two.
    #[test]
    fn bytes_are_those_of_their_direction() {
        let (mut window, mut loads) = (LoadWindow::default(), [Load::default(), Load::default()]);
        window.arrive(Time::ZERO);
        window.arrive(Time::from_ns(1_000));
        for (flow, op, bytes) in [(0, Op::Read, 10), (0, Op::Write, 400), (1, Op::Read, 20), (1, Op::Write, 3_000)] {
            loads[flow].complete(&window, op, Time::from_ns(500), bytes);
        }
        loads.iter_mut().for_each(|load| load.close(&window));
        let rate = |load: &Load, ops: &[Op]| load.rates(ops).map(|rates| (rates.bytes_per_s / 1e6).round());
        assert_eq!(
            [&[Op::Read][..], &[Op::Write], &BOTH].map(|ops| rate(&loads[0], ops)),
            [10.0, 400.0, 410.0].map(Some)
        );
        let [mut both, other] = loads;
        both.merge(&other);
        assert_eq!(
            [&[Op::Read][..], &[Op::Write], &BOTH].map(|ops| rate(&both, ops)),
            [30.0, 3_400.0, 3_430.0].map(Some)
        );
    }

    /// Of 1,000 ns in which five requests arrive: four of the warm-up that complete then, and some that are counted. No more is served than
    /// arrives, with its part of the bytes; without a warm-up all that completes is.
    #[test]
    fn warm_up_is_served_only_up_to_what_arrives() {
        let load = |warm_up: u64, counted: u64| {
            let (mut window, mut load) = (LoadWindow::default(), Load::default());
            for at in [0, 200, 400, 600, 800, 1_000] {
                window.arrive(Time::from_ns(at));
                load.arrive(&window, Op::Write, Time::from_ns(at));
            }
            (0..warm_up).for_each(|i| load.complete_left_out(&window, Op::Write, Time::from_ns(100 + i), 10));
            (0..counted).for_each(|i| load.complete(&window, Op::Write, Time::from_ns(900 + i), 100));
            load.close(&window);
            let rates = load.rates(&BOTH).expect("a window");
            [rates.offered_iops, rates.iops, rates.bytes_per_s].map(|rate| (rate / 1e6).round())
        };
        assert_eq!(load(4, 0), [5.0, 4.0, 40.0]);
        assert_eq!(load(4, 6), [5.0, 5.0, 320.0]);
        assert_eq!(load(0, 6), [5.0, 6.0, 600.0]);
    }

    /// Completions are passed in batches, later than requests that arrived after them: the same figures.
    #[test]
    fn completions_reported_late_change_nothing() {
        let in_time = loads(&[(0, Counted(0)), (4, Done(0)), (9, Counted(0)), (12, Done(0)), (15, Counted(0))]);
        let late = loads(&[(0, Counted(0)), (9, Counted(0)), (4, Done(0)), (12, Done(0)), (15, Counted(0))]);
        let latest = loads(&[(0, Counted(0)), (9, Counted(0)), (15, Counted(0)), (4, Done(0)), (12, Done(0))]);
        assert_eq!(counted(&in_time[0]), (2, 2, 20, 15));
        assert_eq!([counted(&late[0]), counted(&latest[0])], [counted(&in_time[0]); 2]);
    }

    #[test]
    fn one_instant_of_arrivals_has_no_rates() {
        let at_once = loads(&[(7, Counted(0)), (7, Counted(0)), (20, Done(0)), (20, Done(0))]);
        assert_eq!((counted(&at_once[0]), at_once[0].rates(&BOTH)), ((0, 0, 0, 0), None));
        assert_eq!(loads(&[])[0].rates(&BOTH), None);
        assert_eq!(loads(&[(5, Uncounted(0)), (9, Done(0))])[0].rates(&BOTH), None, "nothing is counted");
    }
}
