//! Inline scenes: requests that a scenario spells out one by one, such as a hand-worked example of a paper.
//!
//! Owns the keys of `[[flow.request]]` and the source that hands the requests over. Promises that every request lies
//! in the flow's address range and that times never decrease. Must never know the device.

use std::vec::IntoIter;

use flashlane_core::{Lpn, Op, Time};
use flashlane_outputs::shown::counted;
use prefetch_index::prefetch_index;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AddressRange;
use super::range::refuse;
use flashlane_core::arrival::{Arrival, Produced, Source, Span, WorkloadError};

/// One request of a scene: `at_ns`, `op`, and, except for a flush, either `offset` with `length` or `pages`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneRequest {
    /// When the host creates it, in nanoseconds from the start of the run; not before the request above it.
    pub at_ns: u64,
    /// What it asks for.
    pub op: SceneOp,
    /// `op = "write"`: whether it completes only when its data is safe (force unit access). Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fua: bool,
    /// First byte, counted from the start of the flow's address range. Needs `length`.
    pub offset: Option<u64>,
    /// Number of bytes, at least 1. Needs `offset`.
    pub length: Option<u64>,
    /// Pages in any order, counted from the start of the flow's address range. Instead of `offset` and `length`.
    pub pages: Option<Vec<u64>>,
}

/// How a scene spells an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SceneOp {
    /// Data from the drive.
    Read,
    /// Data to the drive.
    Write,
    /// The whole pages of the range are unmapped.
    Trim,
    /// The whole pages of the range read as zeroes: served as a trim.
    WriteZeroes,
    /// What was written before is safe when it completes. It has no address.
    Flush,
}

impl SceneOp {
    fn op(self) -> Op {
        match self {
            SceneOp::Read => Op::Read,
            SceneOp::Write => Op::Write,
            SceneOp::Trim => Op::Trim,
            SceneOp::WriteZeroes => Op::WriteZeroes,
            SceneOp::Flush => Op::Flush,
        }
    }
}

/// How many requests ahead are prefetched.
const PREFETCH_DISTANCE: usize = 16;

/// The requests of a scene as a stream.
#[derive(Clone, Debug)]
pub struct SceneSource {
    arrivals: IntoIter<Arrival>,
}

impl SceneSource {
    /// Number of requests still to come.
    pub fn left(&self) -> u64 {
        self.arrivals.len() as u64
    }

    /// Checks all requests before the first is handed over. Errors name `request[i]`, counted from 0, and the key.
    pub fn new(requests: &[SceneRequest], range: &AddressRange) -> Result<SceneSource, WorkloadError> {
        range.check()?;
        if requests.is_empty() {
            return Err(refuse("request", "an empty list", "one [[flow.request]] or more"));
        }
        let mut arrivals = Vec::with_capacity(requests.len());
        let mut before = 0;
        for (i, request) in requests.iter().enumerate() {
            let key = |name: &str| format!("request[{i}].{name}");
            if request.at_ns < before {
                let legal = format_args!("at least {before}, the time of the request before it");
                return Err(refuse(&key("at_ns"), request.at_ns, legal));
            }
            before = request.at_ns;
            let (at, op, fua) = (Time::from_ns(request.at_ns), request.op.op(), request.fua);
            if fua && op != Op::Write {
                return Err(refuse(
                    &key("fua"),
                    fua,
                    "false, or op = \"write\": only a write can have force unit access",
                ));
            }
            let extent = request.span(range, key)?;
            arrivals.push(Arrival { at, op, fua, extent });
        }
        Ok(SceneSource { arrivals: arrivals.into_iter() })
    }
}

impl SceneRequest {
    fn span(&self, range: &AddressRange, key: impl Fn(&str) -> String) -> Result<Span, WorkloadError> {
        if self.op == SceneOp::Flush {
            return self.no_span(key);
        }
        match (self.offset, self.length, &self.pages) {
            (Some(offset), Some(length), None) => bytes(offset, length, range, key),
            (None, None, Some(pages)) => whole_pages(pages, range, key),
            (None, None, None) => Err(refuse(&key("offset"), "no address", FORMS)),
            (_, _, Some(_)) => Err(refuse(&key("pages"), "pages beside offset or length", FORMS)),
            (Some(_), None, None) => Err(refuse(&key("length"), "an offset without length", FORMS)),
            (None, Some(_), None) => Err(refuse(&key("offset"), "a length without offset", FORMS)),
        }
    }

    /// The range of a flush, which has none.
    fn no_span(&self, key: impl Fn(&str) -> String) -> Result<Span, WorkloadError> {
        let no_address = "no address: a flush is of the whole drive";
        let given = [("offset", self.offset), ("length", self.length)];
        if let Some((name, value)) = given.into_iter().find_map(|(name, value)| Some((name, value?))) {
            return Err(refuse(&key(name), value, no_address));
        }
        match &self.pages {
            Some(pages) => Err(refuse(&key("pages"), format_args!("{pages:?}"), no_address)),
            None => Ok(Span::Bytes { offset: 0, length: 0 }),
        }
    }
}

const FORMS: &str = "either offset and length in bytes, or pages = [...]";

fn bytes(offset: u64, length: u64, range: &AddressRange, key: impl Fn(&str) -> String) -> Result<Span, WorkloadError> {
    if offset >= range.bytes {
        return Err(refuse(&key("offset"), offset, format_args!("below {}, the flow's address range", range.bytes)));
    }
    let room = range.bytes - offset;
    if length == 0 || length > room {
        return Err(refuse(&key("length"), length, format_args!("1 to {room}, what lies behind this offset")));
    }
    Ok(Span::Bytes { offset: range.start_bytes + offset, length })
}

fn whole_pages(pages: &[u64], range: &AddressRange, key: impl Fn(&str) -> String) -> Result<Span, WorkloadError> {
    if pages.is_empty() {
        return Err(refuse(&key("pages"), "an empty list", "one page or more"));
    }
    let page_bytes = range.page_bytes as u64;
    let (first, count) = (range.start_bytes / page_bytes, range.bytes / page_bytes);
    let lpn = |&page: &u64| {
        let lpn = (page < count).then(|| u32::try_from(first + page).ok()).flatten();
        lpn.map(Lpn).ok_or_else(|| {
            let legal = format!("0 to {}, the {} of the flow's address range", count - 1, counted(count, "page"));
            refuse(&key("pages"), page, legal)
        })
    };
    Ok(Span::Pages(pages.iter().map(lpn).collect::<Result<_, _>>()?))
}

impl Source for SceneSource {
    #[inline]
    fn next_request(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError> {
        let Some(next) = self.arrivals.next() else { return Ok(Produced::End) };
        // A scene of millions of requests does not fit the processor's caches.
        prefetch_index(self.arrivals.as_slice(), PREFETCH_DISTANCE);
        *arrival = next;
        Ok(Produced::Request)
    }

    fn completed(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests;
