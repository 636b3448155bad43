//! The window (model 3.1.4, D-PRE-12, D-PRE-16).

use flashlane_host::WindowChoice;

#[derive(Debug)]
pub struct Window {
    /// A fixed one.
    fixed: Option<u64>,
    width: u64,
    /// Every window that would just have hidden a delay.
    needed: Vec<u64>,
}

impl Window {
    pub fn new(choice: WindowChoice) -> Window {
        let fixed = match choice {
            WindowChoice::Fixed(width) => Some(width.ns()),
            WindowChoice::Adaptive => None,
        };
        Window { fixed, width: fixed.unwrap_or(0), needed: Vec::new() }
    }

    pub fn width(&self) -> u64 {
        self.width
    }

    pub fn longest_spin(&self) -> u64 {
        4 * self.fixed.unwrap_or(self.width.max(4_000))
    }

    /// After 4, 8, 16, 32 and then every 64 observations an adaptive window becomes the shortest one that would have left a mean of at most
    /// 200 ns of the last 128, those beyond 64 us left out.
    pub fn observe(&mut self, needed: u64) {
        self.needed.push(needed);
        let seen = self.needed.len();
        if self.fixed.is_some() || !([4, 12, 28, 60].contains(&seen) || seen > 60 && (seen - 60).is_multiple_of(64)) {
            return;
        }
        let recent = &self.needed[seen.saturating_sub(128)..];
        let recent: Vec<u64> = recent.iter().copied().filter(|&needed| needed <= 64_000).collect();
        if recent.is_empty() {
            return;
        }
        let left = |width: u64| recent.iter().map(|needed| needed.saturating_sub(width)).sum::<u64>();
        let enough = |width: u64| left(width) <= 200 * recent.len() as u64;
        let (mut low, mut high) = (0, 64_000);
        while low < high {
            let middle = (low + high) / 2;
            (low, high) = if enough(middle) { (low, middle) } else { (middle + 1, high) };
        }
        self.width = low;
    }
}
