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
