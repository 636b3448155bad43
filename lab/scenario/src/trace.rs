//! The keys of a flow that replays a trace file.
//!
//! Owns how the options are written. Whether a format or a ratio is legal is checked by the reader, which has the same
//! options under the same names. Must never open a file.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use flashlane_core::choices;
use flashlane_trace::{Action, Beyond, Sizes, TimeOrder, TimeUnit, TraceOptions, Volumes};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::value::text_or_table;
use super::words::Word;

/// A trace file and how it is replayed. `trace = "FILE"` is short for `trace = { path = "FILE" }`.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFlow {
    /// The file, relative to the scenario's folder; gz, zst, xz and bz2 are read as they are.
    pub path: PathBuf,
    /// Its format (`flashlane trace stat --help` lists them). Default: recognised from the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The unit of its times, for formats whose times include no date. Default: the format's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<Word<TimeUnit>>,
    /// Which column of a CSV is what, by its name in the header or its number: `"time=ts:us,op=rw,offset=lba:sectors,length=bytes"`
    /// (docs/traces.md). Default: `time_ns` (or `time_us`, `time_ms`, `time_s`), `op`, `offset`, `length`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// How much faster than recorded it is replayed: `50`, `0.5` or `"3/2"`. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<Speedup>,
    /// When its first request arrives, ns after the start. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<u64>,
    /// Number of requests to skip at the beginning. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Largest number of requests to read in a loop. Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Number of times the trace is replayed. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<u32>,
    /// Only requests of this device, named as the trace names it (`2`, `hm_0`, `8,0`). Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Block traces (`blkparse`, `blktrace`, `ftrace`): the events that are read as requests. Default: `queue` if the trace has any, else
    /// `issue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Word<Action>>,
    /// What the volumes (disks, ASUs, devices) of the file share. Default `overlaid`: addresses. With `apart` each is a flow of its own, called
    /// `FLOW:VOLUME`, with all keys of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<Word<Volumes>>,
    /// When its requests are sent. Default `open`: when the trace says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Word<Replay>>,
    /// `replay = "closed"`: the number of requests that it keeps outstanding, 1 to 65536.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Requests beyond the flow's range. Default `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Word<Beyond>>,
    /// Times that go backwards. Default `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Word<TimeOrder>>,
    /// Sizes of zero or above `max_request_bytes`. Default `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Word<Sizes>>,
    /// The largest legal request, bytes. Default 67108864 (64 MiB).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_request_bytes: Option<u64>,
    /// The volume of the file that this flow has of those that are apart; made, never read.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub part: Option<Vec<u8>>,
    /// The recorded time that is the beginning, if that is not the first request's; found before a run.
    #[serde(skip)]
    pub origin_ns: Option<u64>,
}

choices! {
    /// When the requests of a trace are sent.
    pub enum Replay {
        /// When the trace says, however long the drive takes.
        Open = "open",
        /// In the order of the trace, each as soon as fewer than `depth` are outstanding.
        Closed = "closed",
    }
}

/// The most requests that a closed replay keeps outstanding.
const DEEPEST: u32 = 65_536;

impl TraceFlow {
    /// The file, replayed with default options.
    pub fn file<P: Into<PathBuf>>(path: P) -> TraceFlow {
        TraceFlow { path: path.into(), ..TraceFlow::default() }
    }

    /// The number of requests that it keeps outstanding; none if they are sent when the trace says.
    pub fn closed_depth(&self) -> Option<u32> {
        self.depth.filter(|_| self.replay == Some(Word(Replay::Closed)))
    }

    /// Refuses keys of a closed replay that do not go together.
    fn check_replay(&self) -> Result<(), (&'static str, String)> {
        let depths = format!("1 to {DEEPEST} requests outstanding");
        match (self.replay == Some(Word(Replay::Closed)), self.depth) {
            (false, Some(depth)) => Err((
                "depth",
                format!("a depth of {depth} has no meaning without replay closed; legal is both, or neither"),
            )),
            (true, None) => Err(("replay", format!("closed needs a depth of {depths}"))),
            (true, Some(depth)) if !(1..=DEEPEST).contains(&depth) => {
                Err(("depth", format!("a depth of {depth} is none that a closed replay can keep; legal is {depths}")))
            }
            (true, _) if self.speedup.is_some() => {
                let message =
                    "has no meaning with replay closed, which does not use the times of the trace; leave it out";
                Err(("speedup", message.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The options in the reader's form; an error names the key and says what is legal.
    pub fn options(&self) -> Result<TraceOptions, (&'static str, String)> {
        self.check_replay()?;
        let plain = TraceOptions::default();
        let format = match &self.format {
            Some(name) => Some(name.parse().map_err(|message: String| ("format", message))?),
            None => None,
        };
        let columns = match &self.columns {
            Some(text) => Some(text.parse().map_err(|message: String| ("columns", message))?),
            None => None,
        };
        let speedup = match &self.speedup {
            Some(text) => text.0.parse().map_err(|message: String| ("speedup", message))?,
            None => plain.speedup,
        };
        let options = TraceOptions {
            format,
            columns,
            time_unit: self.time_unit.map(|word| word.0),
            speedup,
            start: self.start_ns.map_or(plain.start, flashlane_core::Time::from_ns),
            offset: self.offset.unwrap_or(plain.offset),
            limit: self.limit,
            loops: self.loops.unwrap_or(plain.loops),
            device: self.device.clone(),
            action: self.action.map(|word| word.0),
            volumes: self.volumes.map_or(plain.volumes, |word| word.0),
            part: self.part.clone(),
            origin_ns: self.origin_ns,
            beyond: self.beyond.map_or(plain.beyond, |word| word.0),
            order: self.order.map_or(plain.order, |word| word.0),
            sizes: self.sizes.map_or(plain.sizes, |word| word.0),
            max_request_bytes: self.max_request_bytes.unwrap_or(plain.max_request_bytes),
            ..plain
        };
        Ok(options)
    }

    /// Reads a path or a table.
    pub(super) fn name_or_table<'de, D: Deserializer<'de>>(d: D) -> Result<Option<TraceFlow>, D::Error> {
        text_or_table(d, "the path of a trace file or a table of trace keys", TraceFlow::file::<String>, |table| table)
            .map(Some)
    }

    /// The schema of a path or a table.
    pub(super) fn name_or_table_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<TraceFlow>();
        json_schema!({ "x-type": "a path, or a table", "anyOf": [{ "type": "string" }, table] })
    }
}

/// A speedup as its decimal text or ratio, so that no digit is lost on the way to the reader.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct Speedup(pub String);

const SPEEDUP: &str = "a number or a ratio above 0, such as 50, 0.5 or \"3/2\"";

impl<'de> Deserialize<'de> for Speedup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Speedup, D::Error> {
        struct Shape;
        impl Visitor<'_> for Shape {
            type Value = Speedup;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(SPEEDUP)
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Speedup, E> {
                positive(n > 0, n)
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Speedup, E> {
                positive(n > 0, n)
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Speedup, E> {
                positive(x > 0.0 && x.is_finite(), x)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Speedup, E> {
                Ok(Speedup(text.to_owned()))
            }
        }
        fn positive<E: Error>(legal: bool, value: impl fmt::Display) -> Result<Speedup, E> {
            if legal {
                return Ok(Speedup(value.to_string()));
            }
            Err(E::custom(format_args!("invalid speedup {value}, expected {SPEEDUP}")))
        }
        deserializer.deserialize_any(Shape)
    }
}

impl JsonSchema for Speedup {
    fn schema_name() -> Cow<'static, str> {
        "Speedup".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-type": "a number, or \"N/M\"",
            "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "type": "string" }]
        })
    }
}
