//! Where a difference between two runs lies: in which windows of time, and in how few requests.
//!
//! Adds up the gains of requests by window and, for either sign, by size in the buckets of a histogram, so that it takes the same memory for any
//! number of requests.

use super::histogram::index_of;

/// Windows of equal length from the first to the last arrival.
pub(super) const WINDOWS: usize = 100;

/// Gains of the requests of a run, ns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GainPlaces {
    /// By window: their sum, and how many requests there are.
    windows: Vec<(i128, u64)>,
    /// By bucket of their size: how many, and their sum. Gains, then losses.
    by_size: [Vec<(u64, u128)>; 2],
}

/// Where the net difference lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concentrated {
    /// Sum of the gains, ns.
    pub gained_ns: u128,
    /// Sum of the losses, ns.
    pub lost_ns: u128,
    /// The fewest windows that hold nine tenths of the net difference.
    pub windows: u32,
    /// When the first of them begins and the last ends, ns.
    pub span_ns: [u64; 2],
    /// Requests in them.
    pub window_requests: u64,
    /// The fewest requests that hold as much, up to the width of a bucket.
    pub requests: u64,
}

/// Finds the windows of requests that mostly come in the order of their arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    first: u64,
    length: u64,
    /// The window of the last request, and the arrivals that are in it.
    now: usize,
    within: [u64; 2],
}

impl Windows {
    /// Windows from the first arrival to the last.
    pub fn new([first, last]: [u64; 2]) -> Windows {
        let mut windows = Windows { first, length: last.saturating_sub(first), now: 0, within: [first, first] };
        windows.within[1] = windows.begin(1);
        windows
    }

    /// When a window begins.
    fn begin(&self, window: usize) -> u64 {
        // The first instant of which `window_of` is this window.
        self.first + (u128::from(self.length) * window as u128).div_ceil(WINDOWS as u128) as u64
    }

    /// The window of an arrival; the last arrival is in the last window that has any length.
    #[inline]
    pub fn of(&mut self, arrival: u64) -> usize {
        if arrival < self.within[0] || arrival >= self.within[1] {
            self.now = self.search(arrival);
            self.within =
                [self.begin(self.now), if self.now + 1 < WINDOWS { self.begin(self.now + 1) } else { u64::MAX }];
        }
        self.now
    }

    #[cold]
    fn search(&self, arrival: u64) -> usize {
        let since = u128::from(arrival.saturating_sub(self.first));
        let window = since * WINDOWS as u128 / u128::from(self.length.max(1));
        (window as usize).min(WINDOWS - 1)
    }
}

impl Default for GainPlaces {
    fn default() -> GainPlaces {
        GainPlaces { windows: vec![(0, 0); WINDOWS], by_size: Default::default() }
    }
}

impl GainPlaces {
    /// Adds a request of a window.
    #[inline]
    pub fn add(&mut self, window: usize, gain_ns: i64) {
        let of_window = &mut self.windows[window];
        of_window.0 += i128::from(gain_ns);
        of_window.1 += 1;
        if gain_ns != 0 {
            let size = gain_ns.unsigned_abs();
            let (buckets, bucket) = (&mut self.by_size[usize::from(gain_ns < 0)], index_of(size));
            if bucket >= buckets.len() {
                buckets.resize(bucket + 1, (0, 0));
            }
            buckets[bucket].0 += 1;
            buckets[bucket].1 += u128::from(size);
        }
    }

    /// Adds the requests of another.
    pub fn merge(&mut self, other: &GainPlaces) {
        for (own, other) in self.windows.iter_mut().zip(&other.windows) {
            *own = (own.0 + other.0, own.1 + other.1);
        }
        for (own, other) in self.by_size.iter_mut().zip(&other.by_size) {
            own.resize(own.len().max(other.len()), (0, 0));
            own.iter_mut().zip(other).for_each(|(own, other)| *own = (own.0 + other.0, own.1 + other.1));
        }
    }

    /// Where the net difference lies; `None` if there is none.
    pub fn concentrated(&self, windows: &Windows) -> Option<Concentrated> {
        let sum = |side: usize| self.by_size[side].iter().map(|(_, sum)| sum).sum::<u128>();
        let (gained_ns, lost_ns) = (sum(0), sum(1));
        let net = gained_ns.abs_diff(lost_ns);
        if net == 0 {
            return None;
        }
        let wanted = (9 * net).div_ceil(10);
        let sign = if gained_ns > lost_ns { 1 } else { -1 };
        let mut by_gain: Vec<usize> = (0..WINDOWS).collect();
        by_gain.sort_by_key(|&window| -sign * self.windows[window].0);
        let mut held = 0;
        let mut taken: Vec<usize> = by_gain
            .into_iter()
            .take_while(|&window| {
                let goes_on = held < wanted as i128;
                held += sign * self.windows[window].0;
                goes_on
            })
            .collect();
        taken.sort_unstable();
        Some(Concentrated {
            gained_ns,
            lost_ns,
            windows: taken.len() as u32,
            span_ns: [windows.begin(taken[0]), windows.begin(taken[taken.len() - 1] + 1)],
            window_requests: taken.iter().map(|&window| self.windows[window].1).sum(),
            requests: fewest(&self.by_size[usize::from(sign < 0)], wanted),
        })
    }
}

/// The fewest values that add up to `wanted`, from the buckets that hold them: of the last bucket all are taken for equal.
fn fewest(buckets: &[(u64, u128)], wanted: u128) -> u64 {
    let (mut held, mut requests) = (0, 0);
    for &(count, sum) in buckets.iter().rev().filter(|(count, _)| *count > 0) {
        if held + sum >= wanted {
            return requests + ((wanted - held) * u128::from(count)).div_ceil(sum) as u64;
        }
        (held, requests) = (held + sum, requests + count);
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests a microsecond apart, with these gains.
    fn of(gains: &[i64]) -> Option<Concentrated> {
        let mut windows = Windows::new([5_000, 5_000 + 1_000 * (gains.len() as u64 - 1)]);
        let mut places = GainPlaces::default();
        for (i, &gain) in gains.iter().enumerate() {
            places.add(windows.of(5_000 + 1_000 * i as u64), gain);
        }
        places.concentrated(&windows)
    }

    #[test]
    fn what_lies_in_few_windows_is_found_there() {
        // A thousand requests: the last thirty gain 100 ns, ten in the middle lose 10, the others are alike.
        let gains: Vec<i64> =
            (0..1_000).map(|i| if i >= 970 { 100 } else { -10 * i64::from((500..510).contains(&i)) }).collect();
        let found = of(&gains).expect("a difference");
        assert_eq!((found.gained_ns, found.lost_ns), (3_000, 100));
        // Nine tenths of 2,900 are 2,610: 27 requests, the last three windows.
        assert_eq!((found.windows, found.requests, found.window_requests), (3, 27, 30));
        assert_eq!(found.span_ns, [5_000 + 969_030, 5_000 + 999_000]);
        let turned: Vec<i64> = gains.iter().map(|gain| -gain).collect();
        let turned = of(&turned).expect("a difference");
        assert_eq!((turned.gained_ns, turned.lost_ns), (100, 3_000));
        assert_eq!((turned.windows, turned.span_ns, turned.requests), (found.windows, found.span_ns, found.requests));
    }

    #[test]
    fn what_lies_everywhere_takes_nine_tenths_of_all() {
        let found = of(&vec![7; 2_000]).expect("a difference");
        assert_eq!((found.windows, found.requests, found.window_requests), (90, 1_800, 1_800));
    }

    #[test]
    fn gains_that_losses_cancel_are_no_difference() {
        assert_eq!(of(&[5, -5, 0]), None);
        assert_eq!(of(&[0]), None);
        let found = of(&[5, -4]).expect("a difference of 1");
        assert_eq!((found.gained_ns, found.lost_ns, found.requests, found.windows), (5, 4, 1, 1));
    }

    /// Both answers against those from all gains, sorted.
    #[test]
    fn few_windows_and_requests_are_those_of_sorted_gains() {
        use rand_core::Rng;
        let mut rng = rand_pcg::Pcg64Mcg::new(11);
        for round in 0..200 {
            let count = 50 + rng.next_u32() as usize % 3_000;
            let long = 1 + round as u32 % 40;
            let gains: Vec<i64> =
                (0..count).map(|_| (rng.next_u64() >> (63 - long)) as i64 - (rng.next_u32() % 1_000) as i64).collect();
            let Some(found) = of(&gains) else { continue };
            let net: i128 = gains.iter().map(|&gain| i128::from(gain)).sum();
            let with_net = |gain: i64| i128::from(gain) * net.signum();
            let wanted = (9 * net.abs() + 9) / 10;
            let mut sorted: Vec<i128> = gains.iter().map(|&gain| with_net(gain)).collect();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let fewest = |values: &[i128]| {
                let mut held = 0;
                values
                    .iter()
                    .take_while(|&&value| {
                        let on = held < wanted;
                        held += value;
                        on
                    })
                    .count()
            };
            let (exact, of_it) = (fewest(&sorted) as f64, found.requests as f64);
            assert!((exact - of_it).abs() <= 1.0 + 0.02 * exact, "{exact} {of_it}");
            let mut windows = vec![0; WINDOWS];
            for (i, &gain) in gains.iter().enumerate() {
                windows[(i * WINDOWS / (count - 1)).min(WINDOWS - 1)] += with_net(gain);
            }
            windows.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(found.windows as usize, fewest(&windows));
        }
    }

    #[test]
    fn a_window_is_found_in_any_order_of_arrivals() {
        let mut windows = Windows::new([1_000, 1_999]);
        let exact = |at: u64| (((at - 1_000) * 100 / 999) as usize).min(99);
        for at in (1_000..2_000).chain((1_000..2_000).rev()).chain([1_500, 1_000, 1_999]) {
            assert_eq!(windows.of(at), exact(at), "{at}");
        }
        let mut one = Windows::new([7, 7]);
        assert_eq!((one.of(7), one.of(7)), (0, 0), "one instant is one window");
    }
}
