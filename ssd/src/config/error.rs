//! A configuration that cannot be built, and the checks of single values.

use alloc::format;
use alloc::string::String;

/// An hour, ns: the greatest legal value of most times.
pub(super) const HOUR: u64 = 3_600_000_000_000;

/// A configuration that cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The key at fault, as a path: `geometry.channels`.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What would be legal.
    pub legal: String,
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.legal)
    }
}

impl core::error::Error for ConfigError {}

/// Checks that a value is from `min` to `max`.
pub(super) fn range(key: &'static str, value: u64, min: u64, max: u64) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ConfigError { key, value: format!("{value}"), legal: format!("must be {min} to {max}") })
}

/// The error of this value, with what would be legal.
pub(super) fn error(key: &'static str, value: u32, legal: &str) -> ConfigError {
    ConfigError { key, value: format!("{value}"), legal: String::from(legal) }
}
