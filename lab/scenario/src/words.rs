//! Keys whose values are words.
//!
//! Owns how a word is read, written and described; the words and their meanings are the type's own list. Types of the device that take
//! numbers with some of their values are listed here.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use flashlane_core::choice::Choice;
use flashlane_core::choices;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that users write as a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word<C>(pub C);

impl<C: Choice> Serialize for Word<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<'de, C: Choice> Deserialize<'de> for Word<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word<C>, D::Error> {
        struct Reader<C>(PhantomData<C>);
        impl<C: Choice> Visitor<'_> for Reader<C> {
            type Value = Word<C>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a word: \"{}\"", C::WORDS.join("\" or \""))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Word<C>, E> {
                C::of(text).map(Word).ok_or_else(|| E::unknown_variant(text, C::WORDS))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<C: Choice> JsonSchema for Word<C> {
    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<C>().into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = C::LIST.iter().map(|named| json_schema!({ "const": named.word, "description": named.meaning }));
        json_schema!({ "oneOf": words.collect::<Vec<_>>() })
    }
}

choices! {
    /// Victim selection.
    pub enum Victim {
        /// Fewest valid pages.
        Greedy = "greedy",
        /// Any block with an invalid page.
        Random = "random",
        /// The best of `choices` drawn at random.
        DChoices = "d-choices",
        /// Sealed longest ago.
        Fifo = "fifo",
        /// Largest benefit over cost, with age.
        CostBenefit = "cost-benefit",
    }
}

choices! {
    /// How well the values of a device are known for a use of the drive.
    pub enum Measured {
        /// Fitted to measurements of this use.
        Measured = "measured",
        /// Measurements leave a range.
        Bounded = "bounded",
        /// No measurement tells.
        NotMeasured = "not measured",
    }
}

choices! {
    /// What is opened, filled, collected and erased together.
    pub enum Superblock {
        /// A block of a plane.
        Plane = "plane",
        /// The blocks of one number of all planes of a die, which then share every program and erase, but not reads.
        Die = "die",
    }
}

choices! {
    /// Entries of the map that memory holds before the first request.
    pub enum MappingStart {
        /// None.
        Empty = "empty",
        /// As many as it can, those of the first pages.
        Warm = "warm",
    }
}

choices! {
    /// Host protocol.
    pub enum Protocol {
        /// NVMe.
        Nvme = "nvme",
        /// SATA with native command queuing.
        Sata = "sata",
    }
}

choices! {
    /// How commands in the device are served.
    pub enum Service {
        /// By the flash.
        Parallel = "parallel",
        /// One after the other, without the flash.
        Serial = "serial",
    }
}

choices! {
    /// State of the drive before the first request.
    pub enum DriveState {
        /// Erased.
        Fresh = "fresh",
        /// Written once, in part.
        Filled = "filled",
        /// Garbage collection in equilibrium.
        Steady = "steady",
        /// Overwritten at random before the run.
        Replayed = "replayed",
    }
}
