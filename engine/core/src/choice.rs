//! Closed lists of values that users write as words, in files and as options.
//!
//! A type has one list. Whatever reads or explains the words (scenario files, options, schemas, messages) takes them from it.

/// A type whose values users write as words.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value.
    const LIST: &'static [Named<Self>];
    /// The words of all values, in the order of the list.
    const WORDS: &'static [&'static str];

    /// The word for it.
    fn word(self) -> &'static str {
        Self::LIST.iter().find(|named| named.value == self).map_or("", |named| named.word)
    }

    /// The value that `word` stands for.
    fn of(word: &str) -> Option<Self> {
        Self::LIST.iter().find(|named| named.word == word).map(|named| named.value)
    }
}

/// A value of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named<T> {
    /// The value.
    pub value: T,
    /// What users write.
    pub word: &'static str,
    /// What it means: a sentence.
    pub meaning: &'static str,
}

/// Declares an enum whose values have words; the comment of a value, one line, says what it means.
#[macro_export]
macro_rules! choices {
    ($(#[$attribute:meta])* pub enum $name:ident {
        $(#[doc = $meaning:literal] $(#[$more:meta])* $value:ident = $word:literal,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $(#[doc = $meaning] $(#[$more])* $value,)+
        }

        impl $crate::choice::Choice for $name {
            const LIST: &'static [$crate::choice::Named<$name>] = &[
                $($crate::choice::Named { value: $name::$value, word: $word, meaning: $meaning.trim_ascii() },)+
            ];
            const WORDS: &'static [&'static str] = &[$($word,)+];
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Choice;

    choices! {
        /// Where a tree stands.
        #[derive(Default)]
        pub enum Place {
            /// In a row.
            #[default]
            Avenue = "avenue",
            /// Among others.
            Wood = "wood",
        }
    }

    #[test]
    fn words_and_values_are_one_list() {
        assert_eq!(Place::WORDS, ["avenue", "wood"]);
        assert_eq!((Place::Wood.word(), Place::of("wood"), Place::of("Wood")), ("wood", Some(Place::Wood), None));
        assert_eq!((Place::LIST[0].meaning, Place::default()), ("In a row.", Place::Avenue));
    }
}
