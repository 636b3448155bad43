//! Quantities: time in nanoseconds, logical and physical page addresses.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// An instant of simulated time: nanoseconds since the start of the run (model 0.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A span of simulated time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens: "no event".
    pub const NEVER: Time = Time(u64::MAX);
    /// The last instant a device can simulate, 2.28 years after its start: an event that would come later stops it. (Instants are
    /// packed with small numbers into 64 bits, so they have 56.)
    pub const LAST: Time = Time((1 << 56) - 1);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }

    /// Nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// The span since `earlier`, zero if `earlier` is in fact later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Duration {
        Duration(ns)
    }

    /// A span of `us` microseconds.
    pub const fn from_us(us: u64) -> Duration {
        Duration(us * 1_000)
    }

    /// The span in nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// `self - other`, zero when `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0 + d.0)
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        self.0 += d.0;
    }
}

impl Sub<Time> for Time {
    type Output = Duration;
    fn sub(self, earlier: Time) -> Duration {
        Duration(self.0 - earlier.0)
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0 + d.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, d: Duration) {
        self.0 += d.0;
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, d: Duration) -> Duration {
        Duration(self.0 - d.0)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, d: Duration) {
        self.0 -= d.0;
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, k: u64) -> Duration {
        Duration(self.0 * k)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { f.write_str("never") } else { write!(f, "{} ns", self.0) }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Logical page number: which page of the address space the host sees.
///
/// 32 bits, so a drive has at most 2^32 - 2 logical pages (16 TiB of 4 KiB pages).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lpn(pub u32);

/// Physical page address inside one plane: `block * pages_per_block + page`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Ppa(pub u32);
