//! Array times: constant, drawn, or by the page of a wordline.

use flashlane_core::Duration;

/// An array time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Latency {
    /// Always the same.
    Constant(Duration),
    /// Gaussian by the sum of twelve uniforms, never below 1 ns.
    Gaussian {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        sd: Duration,
    },
    /// By a page's place in its wordline (multi-level cells).
    ByPage(PageTimes),
}

/// Array times of the pages of a wordline, one a bit of its cells: the page at offset `o` of a block takes the time `o mod bits`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageTimes {
    times: [Duration; PageTimes::MOST_BITS],
    bits: u8,
}

impl PageTimes {
    /// Most pages of a wordline.
    pub const MOST_BITS: usize = 4;

    /// The times of a wordline's pages, in their order; `None` if there are none or more than [`PageTimes::MOST_BITS`].
    pub fn new(times: &[Duration]) -> Option<PageTimes> {
        let mut all = [Duration::ZERO; PageTimes::MOST_BITS];
        all.get_mut(..times.len())?.copy_from_slice(times);
        (!times.is_empty()).then_some(PageTimes { times: all, bits: times.len() as u8 })
    }

    /// In the order of the wordline.
    pub fn iter(&self) -> impl Iterator<Item = Duration> {
        self.times[..usize::from(self.bits)].iter().copied()
    }

    /// The time of the page at an offset of its block.
    #[inline(always)]
    pub fn at(&self, offset: u32) -> Duration {
        self.times[(offset % u32::from(self.bits)) as usize]
    }
}

impl Latency {
    /// Pages of even offset are fast, pages of odd offset slow.
    pub const fn fast_slow(fast: Duration, slow: Duration) -> Latency {
        Latency::ByPage(PageTimes { times: [fast, slow, Duration::ZERO, Duration::ZERO], bits: 2 })
    }

    /// The value that schedulers calculate with.
    pub fn typical(self) -> Duration {
        match self {
            Latency::Constant(d) => d,
            Latency::Gaussian { mean, .. } => mean,
            Latency::ByPage(times) => {
                Duration::from_ns(times.iter().map(Duration::ns).sum::<u64>() / u64::from(times.bits))
            }
        }
    }
}
