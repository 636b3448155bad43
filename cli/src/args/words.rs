//! Options whose values are words of a closed list.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use flashlane_core::choice::Choice;

/// Reads a word of `C`; help shows the list.
pub fn words<C: Choice + Send + Sync>() -> impl TypedValueParser<Value = C> {
    let words = C::LIST.iter().map(|named| PossibleValue::new(named.word).help(named.meaning.trim_end_matches('.')));
    PossibleValuesParser::new(words).try_map(|word| C::of(&word).ok_or("not in the list"))
}
