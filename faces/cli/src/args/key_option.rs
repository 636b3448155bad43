//! Options that stand for keys of a scenario: each is declared once, with the key that it stands for.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use flashlane_core::choice::Choice;

/// An option of the arguments `A` that stands for a key.
pub struct KeyOption<A> {
    /// The option.
    pub flag: &'static str,
    /// The key's path; `flow.` stands for every flow.
    pub key: &'static str,
    /// Its values as given: none, one, or one for each flow.
    pub values: fn(&A) -> Vec<Value>,
}

/// A value as keys have them.
#[derive(Clone)]
pub enum Value {
    /// A word or a name.
    Text(String),
    /// A whole number.
    Number(u64),
    /// A switch.
    On(bool),
}

/// Declares arguments. Behind one that stands for a key is how its value is given, with the option and the key.
macro_rules! arguments {
    ($(#[$about:meta])* $Arguments:ident {
        $($(#[$argument:meta])* $field:ident: $type:ty $(= $values:ident($flag:literal, $key:literal))?,)*
    }) => {
        $(#[$about])*
        #[derive(clap::Args, Clone, Debug, Default)]
        #[group(skip)]
        pub struct $Arguments {
            $($(#[$argument])* pub $field: $type,)*
        }

        impl $Arguments {
            /// Those that stand for keys.
            pub const KEYS: &'static [KeyOption<$Arguments>] = &[
                $($(KeyOption { flag: $flag, key: $key, values: |given| $values(&given.$field) },)?)*
            ];
        }
    };
}
pub(super) use arguments;

pub(super) fn text(given: &Option<String>) -> Vec<Value> {
    texts(given.as_slice())
}

pub(super) fn texts(given: &[String]) -> Vec<Value> {
    given.iter().cloned().map(Value::Text).collect()
}

pub(super) fn word<C: Choice>(given: &Option<C>) -> Vec<Value> {
    given.iter().map(|word| Value::Text(word.word().to_owned())).collect()
}

pub(super) fn number<N: Copy + Into<u64>>(given: &Option<N>) -> Vec<Value> {
    numbers(given.as_slice())
}

pub(super) fn numbers<N: Copy + Into<u64>>(given: &[N]) -> Vec<Value> {
    given.iter().map(|&number| Value::Number(number.into())).collect()
}

pub(super) fn on(given: &bool) -> Vec<Value> {
    given.then_some(Value::On(true)).into_iter().collect()
}

pub(super) fn off(given: &bool) -> Vec<Value> {
    given.then_some(Value::On(false)).into_iter().collect()
}

/// Reads a word of `C`; help shows the list.
pub(super) fn words<C: Choice + Send + Sync>() -> impl TypedValueParser<Value = C> {
    let words = C::LIST.iter().map(|named| PossibleValue::new(named.word).help(named.meaning.trim_end_matches('.')));
    PossibleValuesParser::new(words).try_map(|word| C::of(&word).ok_or("not in the list"))
}
