//! The `[[flow]]` keys: a flow's name, its priority, its part of the drive, and its source.
//!
//! Owns the flow's keys and the rule that a flow has exactly one source. Must never read a trace or draw a number: a
//! source's own keys belong to `workload`.

use std::borrow::Cow;

use flashlane_core::choice::Choice;
use flashlane_core::choices;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::trace::TraceFlow;
use super::value::text_or_table;
use super::words::Word;
use crate::workload::clone::CloneSpec;
use crate::workload::scene::SceneRequest;
use crate::workload::synthetic::SyntheticSpec;

/// A flow: a tenant with a submission queue of its own. Give one of `trace`, `synthetic`, `clone`, `request`.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flow {
    /// What the tables call it; unique. Default: the trace's file name without its endings, else `flow0`, `flow1`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Priority level, 0 (default) lowest, to 7.
    pub priority: u8,
    /// The part of the drive it may access: `"all"`, `"slice"` (an equal part of its own, in the order of the flows) or
    /// bytes. Its addresses count from the start of the range. Default: `"slice"`; for inline requests `"all"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Replays a trace file: its path, or a table of trace keys.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "TraceFlow::name_or_table")]
    #[schemars(schema_with = "TraceFlow::name_or_table_schema")]
    pub trace: Option<TraceFlow>,
    /// Generates requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<SyntheticSpec>,
    /// Generates requests like those of a published trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clone: Option<CloneSpec>,
    /// Requests written out, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub request: Vec<SceneRequest>,
}

impl Flow {
    /// Another seed, if it has one of its own.
    pub(super) fn shift_seed(&mut self, by: u64) {
        let own = self.synthetic.as_mut().and_then(|synthetic| synthetic.seed.as_mut());
        let own = own.or(self.clone.as_mut().and_then(|clone| clone.seed.as_mut()));
        if let Some(seed) = own {
            *seed = seed.wrapping_add(by);
        }
    }
}

/// A part of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", untagged)]
pub enum Range {
    /// All of it, or an equal slice.
    Word(Word<RangeWord>),
    /// Bytes.
    Bytes(ByteRange),
}

choices! {
    /// A part of the drive by name.
    pub enum RangeWord {
        /// All of it.
        All = "all",
        /// An equal part of its own.
        Slice = "slice",
    }
}

/// A part of the drive in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByteRange {
    /// First byte, a multiple of the page size.
    pub offset: u64,
    /// Number of bytes, at least a page.
    pub length: u64,
}

impl ByteRange {
    /// Whether the two have no byte in common.
    pub(super) fn is_apart(self, other: ByteRange) -> bool {
        self.offset + self.length <= other.offset || other.offset + other.length <= self.offset
    }
}

const RANGE: &str = "\"all\", \"slice\" or { offset, length } in bytes";

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Range, D::Error> {
        let range: Result<Range, String> = text_or_table(
            deserializer,
            RANGE,
            |word| RangeWord::of(&word).map(|known| Range::Word(Word(known))).ok_or(word),
            |bytes| Ok(Range::Bytes(bytes)),
        )?;
        range.map_err(|word| D::Error::custom(format_args!("unknown range \"{word}\", expected {RANGE}")))
    }
}

impl JsonSchema for Range {
    fn schema_name() -> Cow<'static, str> {
        "Range".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bytes = generator.subschema_for::<ByteRange>();
        json_schema!({ "x-type": RANGE, "anyOf": [{ "enum": RangeWord::WORDS }, bytes] })
    }
}
