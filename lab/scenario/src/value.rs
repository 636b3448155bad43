//! Values of forms that TOML has no type for: a latency, a limit that may be unlimited, a name or a table.
//!
//! Owns how such a value is written, read and documented. Each is read by a visitor of its own, because serde's
//! untagged enums lose the place of an error in the file. Must never know which key holds the value.

use std::borrow::Cow;
use std::fmt;

use flashlane_core::Duration;
use flashlane_ssd::config::{Latency as Device, PageTimes};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};

/// An array time in nanoseconds: `75_000`, or `{ mean = 352_000, sd = 660 }` (Gaussian), or `{ fast = .., slow = .. }`
/// (pages of even offset are fast, of odd offset slow), or `{ pages = [.., .., ..] }` (the pages of a wordline, one a bit of its cells).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Latency {
    /// Always the same.
    Constant(u64),
    /// Gaussian.
    Gaussian {
        /// Mean, ns.
        mean: u64,
        /// Standard deviation, ns.
        sd: u64,
    },
    /// Fast and slow pages of multi-level cells.
    FastSlow {
        /// Pages of even offset, ns.
        fast: u64,
        /// Pages of odd offset, ns.
        slow: u64,
    },
    /// The pages of a wordline.
    Pages {
        /// One a bit of its cells, in the order of the block's pages.
        pages: Wordline,
    },
}

/// Times of the pages of a wordline, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wordline(PageTimes);

impl Serialize for Wordline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Duration::ns))
    }
}

impl<'de> Deserialize<'de> for Wordline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Wordline, D::Error> {
        let times = Vec::<u64>::deserialize(deserializer)?;
        let all: Vec<Duration> = times.iter().copied().map(Duration::from_ns).collect();
        let wrong = || D::Error::custom(format_args!("{} times, expected 1 to {}", times.len(), PageTimes::MOST_BITS));
        PageTimes::new(&all).map(Wordline).ok_or_else(wrong)
    }
}

impl Latency {
    /// The value for the device.
    pub fn to_device(self) -> Device {
        match self {
            Latency::Constant(ns) => Device::Constant(Duration::from_ns(ns)),
            Latency::Gaussian { mean, sd } => {
                Device::Gaussian { mean: Duration::from_ns(mean), sd: Duration::from_ns(sd) }
            }
            Latency::FastSlow { fast, slow } => Device::fast_slow(Duration::from_ns(fast), Duration::from_ns(slow)),
            Latency::Pages { pages: Wordline(times) } => Device::ByPage(times),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LatencyParts {
    mean: Option<u64>,
    sd: Option<u64>,
    fast: Option<u64>,
    slow: Option<u64>,
    pages: Option<Wordline>,
}

const LATENCY: &str = "nanoseconds, or { mean, sd }, or { fast, slow }, or { pages = [..] }";

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Latency, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Latency;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(LATENCY)
            }
            fn visit_i64<E: Error>(self, ns: i64) -> Result<Latency, E> {
                u64::try_from(ns).map(Latency::Constant).map_err(|_| negative(ns))
            }
            fn visit_u64<E: Error>(self, ns: u64) -> Result<Latency, E> {
                Ok(Latency::Constant(ns))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Latency, A::Error> {
                match LatencyParts::deserialize(MapAccessDeserializer::new(map))? {
                    LatencyParts { mean: Some(mean), sd: Some(sd), fast: None, slow: None, pages: None } => {
                        Ok(Latency::Gaussian { mean, sd })
                    }
                    LatencyParts { mean: None, sd: None, fast: Some(fast), slow: Some(slow), pages: None } => {
                        Ok(Latency::FastSlow { fast, slow })
                    }
                    LatencyParts { mean: None, sd: None, fast: None, slow: None, pages: Some(pages) } => {
                        Ok(Latency::Pages { pages })
                    }
                    _ => Err(A::Error::custom(format_args!("not a form of a latency, expected {LATENCY}"))),
                }
            }
        }
        deserializer.deserialize_any(Shape)
    }
}

impl JsonSchema for Latency {
    fn schema_name() -> Cow<'static, str> {
        "Latency".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let ns = json_schema!({ "type": "integer", "minimum": 0 });
        json_schema!({
            "x-type": LATENCY,
            "anyOf": [
                ns,
                { "type": "object", "additionalProperties": false, "required": ["mean", "sd"],
                  "properties": { "mean": ns, "sd": ns } },
                { "type": "object", "additionalProperties": false, "required": ["fast", "slow"],
                  "properties": { "fast": ns, "slow": ns } },
                { "type": "object", "additionalProperties": false, "required": ["pages"],
                  "properties": { "pages": { "type": "array", "minItems": 1, "maxItems": 4, "items": ns } } },
            ]
        })
    }
}

/// A number, or `"unlimited"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// At most this much.
    At(u64),
    /// As much as comes.
    Unlimited,
}

impl Limit {
    /// As 32 bits, `u32::MAX` for unlimited; `None` when the number is larger than that.
    pub fn to_u32(self) -> Option<u32> {
        match self {
            Limit::At(n) => u32::try_from(n).ok(),
            Limit::Unlimited => Some(u32::MAX),
        }
    }

    /// The value in the form the user writes it.
    pub fn text(self) -> String {
        match self {
            Limit::At(n) => n.to_string(),
            Limit::Unlimited => "\"unlimited\"".into(),
        }
    }
}

const LIMIT: &str = "a whole number or \"unlimited\"";

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Limit::At(n) => serializer.serialize_u64(*n),
            Limit::Unlimited => serializer.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Limit, D::Error> {
        struct Shape;
        impl Visitor<'_> for Shape {
            type Value = Limit;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(LIMIT)
            }
            fn visit_i64<E: Error>(self, n: i64) -> Result<Limit, E> {
                u64::try_from(n).map(Limit::At).map_err(|_| negative(n))
            }
            fn visit_u64<E: Error>(self, n: u64) -> Result<Limit, E> {
                Ok(Limit::At(n))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Limit, E> {
                match text {
                    "unlimited" => Ok(Limit::Unlimited),
                    _ => Err(E::custom(format_args!("unknown word \"{text}\", expected {LIMIT}"))),
                }
            }
        }
        deserializer.deserialize_any(Shape)
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "x-type": LIMIT,
            "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": "unlimited" }]
        })
    }
}

/// Reads either a string or a table that is a `Table`.
pub(super) fn text_or_table<'de, D, Table, T>(
    deserializer: D,
    expecting: &'static str,
    from_text: fn(String) -> T,
    from_table: fn(Table) -> T,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    Table: Deserialize<'de>,
{
    struct Shape<Table, T>(&'static str, fn(String) -> T, fn(Table) -> T);
    impl<'de, Table: Deserialize<'de>, T> Visitor<'de> for Shape<Table, T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok((self.1)(text.to_owned()))
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            Table::deserialize(MapAccessDeserializer::new(map)).map(self.2)
        }
    }
    deserializer.deserialize_any(Shape(expecting, from_text, from_table))
}

fn negative<E: Error>(value: i64) -> E {
    E::custom(format_args!("invalid value: integer `{value}`, expected a whole number, 0 or more"))
}
