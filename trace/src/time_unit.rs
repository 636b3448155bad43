//! The units that a trace's times may be in.
//!
//! All are powers of ten of a nanosecond, so that a time written in any of them is exact.

use serde::{Serialize, Serializer};

/// The unit of a trace's times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Units of 100 ns, as in Windows.
    HundredNs,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    /// All units.
    pub const ALL: [TimeUnit; 5] = [TimeUnit::Ns, TimeUnit::HundredNs, TimeUnit::Us, TimeUnit::Ms, TimeUnit::S];

    /// What users write: `ns`, `100ns`, `us`, `ms`, `s`.
    pub const fn key(self) -> &'static str {
        match self {
            TimeUnit::Ns => "ns",
            TimeUnit::HundredNs => "100ns",
            TimeUnit::Us => "us",
            TimeUnit::Ms => "ms",
            TimeUnit::S => "s",
        }
    }

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

    /// The names of all units, for messages.
    pub(super) fn keys() -> String {
        TimeUnit::ALL.map(TimeUnit::key).join(", ")
    }
}

impl std::str::FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeUnit, String> {
        let found = TimeUnit::ALL.into_iter().find(|unit| unit.key() == text);
        let legal = TimeUnit::keys;
        found.ok_or_else(|| format!("`{}` is no unit of time; legal is one of {}", text.escape_debug(), legal()))
    }
}

impl std::fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}

impl Serialize for TimeUnit {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.key())
    }
}
