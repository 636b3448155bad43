//! The JSON trace format of Chrome's viewer (`traceEvents`): the twin of the protobuf, for programs that read no protobuf.
//!
//! Times are microseconds with three decimals, so that no nanosecond is lost.

use std::io::{self, Write};

use super::slice::{Slice, Track};

pub(super) struct Chrome<W: Write> {
    out: W,
    /// Names of the counters, with the tracks that they belong to, by their number less that of the first.
    counters: Vec<(Track, &'static str)>,
    names: Vec<String>,
    first: bool,
}

/// Counters are numbered from here on.
const COUNTERS: Track = 1 << 32;

impl<W: Write> Chrome<W> {
    pub(super) fn new(mut out: W) -> io::Result<Chrome<W>> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        Ok(Chrome { out, counters: Vec::new(), names: Vec::new(), first: true })
    }

    pub(super) fn track(&mut self, name: &str, _: Option<Track>) -> io::Result<Track> {
        self.names.push(name.to_owned());
        let track = self.names.len() as Track;
        let quoted = serde_json::to_string(name).map_err(io::Error::other)?;
        self.event(format_args!(
            "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":{track},\"args\":{{\"name\":{quoted}}}}}"
        ))?;
        self.event(format_args!(
            "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":{track},\"args\":{{\"sort_index\":{track}}}}}"
        ))?;
        Ok(track)
    }

    pub(super) fn counter_track(&mut self, name: &'static str, parent: Track) -> Track {
        self.counters.push((parent, name));
        COUNTERS + self.counters.len() as Track - 1
    }

    pub(super) fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        self.begin(slice)?;
        self.end(slice.track, slice.until)
    }

    pub(super) fn begin(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        let Slice { track, name, begun, .. } = *slice;
        let message: Vec<String> =
            [slice.value, slice.second].iter().flatten().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let args = if message.is_empty() { String::new() } else { format!(",\"args\":{{{}}}", message.join(",")) };
        let at = us(begun);
        self.event(format_args!("{{\"ph\":\"B\",\"name\":\"{name}\",\"pid\":1,\"tid\":{track},\"ts\":{at}{args}}}"))?;
        for (phase, ids) in [("s", slice.leaves), ("f", slice.arrives)] {
            for id in ids {
                let binding = if phase == "f" { ",\"bp\":\"e\"" } else { "" };
                self.event(format_args!(
                    "{{\"ph\":\"{phase}\",\"name\":\"of\",\"cat\":\"request\",\"id\":{id},\"pid\":1,\"tid\":{track},\"ts\":{at}{binding}}}"
                ))?;
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self, track: Track, at: u64) -> io::Result<()> {
        self.event(format_args!("{{\"ph\":\"E\",\"pid\":1,\"tid\":{track},\"ts\":{}}}", us(at)))
    }

    pub(super) fn counter(&mut self, track: Track, at: u64, value: i64) -> io::Result<()> {
        let (parent, kind) = self.counters[(track - COUNTERS) as usize];
        let owner = self.names[parent as usize - 1].clone();
        self.event(format_args!(
            "{{\"ph\":\"C\",\"name\":\"{owner} {kind}\",\"pid\":1,\"ts\":{},\"args\":{{\"waiting\":{value}}}}}",
            us(at)
        ))
    }

    fn event(&mut self, event: std::fmt::Arguments<'_>) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        write!(self.out, "{comma}{event}")
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Nanoseconds as microseconds.
fn us(ns: u64) -> String {
    format!("{}.{:03}", ns / 1_000, ns % 1_000)
}
