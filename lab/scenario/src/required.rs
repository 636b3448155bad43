//! Keys that a device must have, from the scenario or its preset.

use super::error::KeyError;

/// The value of a key that every complete device has.
macro_rules! key {
    ($device:ident . $section:ident . $key:ident) => {
        $device.$section.$key.ok_or_else(|| missing(concat!("device.", stringify!($section), ".", stringify!($key))))?
    };
}
pub(super) use key;

pub(super) fn missing(key: &'static str) -> KeyError {
    KeyError::new(key, "", "missing: neither the scenario nor the preset gives it")
}

/// The value of a key of a table that the first given of `switches` has switched on.
pub(super) fn needed<T>(value: Option<T>, key: &str, switches: &[&str]) -> Result<T, KeyError> {
    value.ok_or_else(|| KeyError {
        keys: switches.iter().map(|&key| key.to_owned()).collect(),
        value: String::new(),
        message: format!("needs {key}, which neither the scenario nor the preset gives"),
    })
}
