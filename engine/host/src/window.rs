//! How early a precompletion message comes: a fixed window, or one that adapts (model 3.1.4, D-PRE-16).

use flashlane_core::Duration;

use crate::config::WindowChoice;

/// Observations an adaptive window keeps.
const KEPT: usize = 128;
/// The longest adaptive window, ns: the longest of the paper's set (model 3.1.5).
const LONGEST: u32 = 64_000;
/// Mean exposed delay, ns, that an adaptive window leaves.
const LEFT: u64 = 200;
/// The shortest adaptive window that a time to spin is reckoned from: it may have become very short since a message was sent.
const SHORTEST_SPUN: Duration = Duration::from_us(4);

/// A window.
#[derive(Clone, Debug)]
pub struct Window {
    width: Duration,
    adapts: bool,
    /// The windows that would just have hidden the delay of each recent I/O, ns.
    needed: [u32; KEPT],
    filled: usize,
    next: usize,
    until_next: u32,
    interval: u32,
}

impl Window {
    /// The window chosen; an adaptive one begins at zero.
    pub fn new(choice: WindowChoice) -> Window {
        let (width, adapts) = match choice {
            WindowChoice::Fixed(width) => (width, false),
            WindowChoice::Adaptive => (Duration::ZERO, true),
        };
        Window { width, adapts, needed: [0; KEPT], filled: 0, next: 0, until_next: 4, interval: 4 }
    }

    /// How early the next message should come.
    #[inline]
    pub fn width(&self) -> Duration {
        self.width
    }

    /// How long a thread that was woken early spins before it sleeps again: four windows (D-PRE-12).
    #[inline]
    pub fn longest_spin(&self) -> Duration {
        let window = if self.adapts { self.width.max(SHORTEST_SPUN) } else { self.width };
        window * 4
    }

    /// Takes the window that would just have hidden the delay of an I/O: its thread ran that long after the instant that
    /// the message announced as so far ahead.
    #[inline]
    pub fn observe(&mut self, needed: Duration) {
        if !self.adapts {
            return;
        }
        self.needed[self.next] = needed.ns().min(u64::from(u32::MAX)) as u32;
        self.next = if self.next + 1 == KEPT { 0 } else { self.next + 1 };
        self.filled = (self.filled + 1).min(KEPT);
        self.until_next -= 1;
        if self.until_next == 0 {
            // Often at first, then twice for each full memory.
            self.interval = (self.interval * 2).min(KEPT as u32 / 2);
            self.until_next = self.interval;
            self.adapt();
        }
    }

    /// Sets the shortest window under which the mean exposed delay of the observations kept would have been at most
    /// [`LEFT`]. Delays that no window hides, those of a thread whose share of its CPU is used up, are left out: a longer
    /// window would have it spin more, and wait for its share for longer still.
    #[inline(never)]
    fn adapt(&mut self) {
        let mut sorted = self.needed;
        let sorted = &mut sorted[..self.filled];
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let hidden = sorted.partition_point(|&needed| needed > LONGEST);
        let sorted = &sorted[hidden..];
        let allowed = LEFT * sorted.len() as u64;
        // With the k largest needs above the window, the exposed delays sum to their sum less k windows.
        let mut sum = 0;
        for (k, &need) in sorted.iter().enumerate() {
            sum += u64::from(need);
            let count = k as u64 + 1;
            let width = sum.saturating_sub(allowed).div_ceil(count);
            let following = sorted.get(k + 1).copied().unwrap_or(0);
            if width >= u64::from(following) {
                self.width = Duration::from_ns(width.min(u64::from(LONGEST)));
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn adapted(needs: impl Iterator<Item = u64>) -> u64 {
        let mut window = Window::new(WindowChoice::Adaptive);
        needs.for_each(|ns| window.observe(Duration::from_ns(ns)));
        window.width().ns()
    }

    #[test]
    fn a_constant_delay_is_hidden_but_for_what_may_be_left() {
        assert_eq!(adapted((0..1_000).map(|_| 5_800)), 5_600);
        assert_eq!(adapted((0..4).map(|_| 5_800)), 5_600, "after four I/Os already");
        assert_eq!(adapted((0..3).map(|_| 5_800)), 0);
    }

    /// Delays uniform on 5.8 to 15.8 us (model 3.1.6): the mean exposed delay of a window w is (15.8 - w)^2 / 20.
    #[test]
    fn of_a_spread_delay_the_tail_is_left() {
        let width = adapted((0..1_024).map(|i| 5_800 + i * 7_919 % 10_001));
        assert!((13_400..14_200).contains(&width), "{width}: (15.8 - 13.8)^2 / 20 is 0.2");
    }

    #[test]
    fn delays_beyond_every_window_do_not_lengthen_it_for_nothing() {
        let width = adapted((0..1_024).map(|i| if i % 64 == 0 { 3_000_000 } else { 5_800 }));
        assert_eq!(width, 5_600);
        assert_eq!(adapted((0..1_024).map(|_| 3_000_000)), 0);
    }

    /// The longest window is 64 us: what exactly that hides counts, what needs a nanosecond more does not.
    #[test]
    fn the_longest_window_is_one_that_counts() {
        let of = |needs: [u64; 4]| adapted(needs.into_iter());
        assert_eq!(of([64_000; 4]), 63_800);
        assert_eq!(of([64_001; 4]), 0);
        // Of 10, 10 and 64 us the mean may leave 200: 600 of the longest.
        assert_eq!(of([10_000, 64_000, 64_001, 10_000]), 63_400);
    }

    /// D-PRE-12: four windows, as short as a fixed one may be; an adaptive one counts as 4 us at least.
    #[test]
    fn a_thread_spins_for_four_windows() {
        let fixed = |us| Window::new(WindowChoice::Fixed(Duration::from_us(us))).longest_spin().ns();
        assert_eq!([0, 1, 2, 4, 64].map(fixed), [0, 4_000, 8_000, 16_000, 256_000]);
        let mut window = Window::new(WindowChoice::Adaptive);
        assert_eq!(window.longest_spin().ns(), 16_000, "it begins at zero");
        (0..4).for_each(|_| window.observe(Duration::from_ns(3_000)));
        assert_eq!((window.width().ns(), window.longest_spin().ns()), (2_800, 16_000));
        (0..256).for_each(|_| window.observe(Duration::from_ns(5_800)));
        assert_eq!((window.width().ns(), window.longest_spin().ns()), (5_600, 22_400));
    }

    #[test]
    fn it_follows_a_change() {
        assert_eq!(adapted((0..2_000).map(|i| if i < 1_000 { 30_000 } else { 5_800 })), 5_600);
    }

    /// The rule, by trying every window of whole 10 ns.
    #[test]
    fn the_window_is_the_shortest_that_leaves_little_enough() {
        for seed in 1..20u64 {
            let need = |i: u64| (i * 2_654_435_761 * seed) % (seed * 4_321) + seed * 97;
            let mut window = Window::new(WindowChoice::Adaptive);
            (0..KEPT as u64 * 8).for_each(|i| window.observe(Duration::from_ns(need(i))));
            // Since the last adaptation the memory has been filled anew in part, so its content is compared right after one.
            window.adapt();
            let kept: Vec<u64> = window.needed.iter().map(|&n| u64::from(n)).filter(|&n| n <= 64_000).collect();
            let left = |w: u64| kept.iter().map(|n| n.saturating_sub(w)).sum::<u64>();
            let (width, allowed) = (window.width().ns(), LEFT * kept.len() as u64);
            assert!(left(width) <= allowed, "seed {seed}: {width} leaves too much");
            assert!(width == 0 || left(width - 1) > allowed, "seed {seed}: {width} is too long");
        }
    }
}
