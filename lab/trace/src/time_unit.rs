//! The units that a trace's times may be in.
//!
//! All are powers of ten of a nanosecond, so that a time written in any of them is exact.

use flashlane_core::choice::Choice;
use flashlane_core::choices;
use serde::{Serialize, Serializer};

choices! {
    /// The unit of a trace's times.
    pub enum TimeUnit {
        /// Nanoseconds.
        Ns = "ns",
        /// Units of 100 ns, as in Windows.
        HundredNs = "100ns",
        /// Microseconds.
        Us = "us",
        /// Milliseconds.
        Ms = "ms",
        /// Seconds.
        S = "s",
    }
}

impl TimeUnit {
    /// The decimal logarithm of its nanoseconds.
    pub(super) const fn digits(self) -> usize {
        match self {
            TimeUnit::Ns => 0,
            TimeUnit::HundredNs => 2,
            TimeUnit::Us => 3,
            TimeUnit::Ms => 6,
            TimeUnit::S => 9,
        }
    }

    /// Its nanoseconds.
    pub(super) const fn ns(self) -> u64 {
        10u64.pow(self.digits() as u32)
    }

    /// A field with a time in this unit, for messages.
    pub(super) const fn field(self) -> &'static str {
        match self {
            TimeUnit::Ns => "the time in ns",
            TimeUnit::HundredNs => "the time in 100 ns",
            TimeUnit::Us => "the time in us",
            TimeUnit::Ms => "the time in ms",
            TimeUnit::S => "the time in s",
        }
    }
}

impl std::str::FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeUnit, String> {
        let legal = || TimeUnit::WORDS.join(", ");
        TimeUnit::of(text)
            .ok_or_else(|| format!("`{}` is no unit of time; legal is one of {}", text.escape_debug(), legal()))
    }
}

impl std::fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for TimeUnit {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.word())
    }
}
