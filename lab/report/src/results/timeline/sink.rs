//! Where slices and counters go, whatever the format.

use std::io::{self, Write};

use super::TimelineFormat;
use super::chrome::Chrome;
use super::perfetto::Perfetto;
use super::slice::{Slice, Track};

/// A timeline in one of its formats.
pub(super) enum Sink<W: Write> {
    Perfetto(Perfetto<W>),
    Chrome(Chrome<W>),
}

impl<W: Write + Send + 'static> Sink<W> {
    pub(super) fn new(out: W, format: TimelineFormat, apart: bool) -> io::Result<Sink<W>> {
        Ok(match format {
            TimelineFormat::Perfetto => Sink::Perfetto(Perfetto::new(out, apart)?),
            TimelineFormat::Chrome => Sink::Chrome(Chrome::new(out)?),
        })
    }

    pub(super) fn track(&mut self, name: &str, parent: Option<Track>) -> io::Result<Track> {
        match self {
            Sink::Perfetto(sink) => sink.track(name, parent, false),
            Sink::Chrome(sink) => sink.track(name, parent),
        }
    }

    pub(super) fn counter_track(&mut self, name: &'static str, parent: Track) -> io::Result<Track> {
        match self {
            Sink::Perfetto(sink) => sink.track(name, Some(parent), true),
            Sink::Chrome(sink) => Ok(sink.counter_track(name, parent)),
        }
    }

    /// Begins a slice. Slices of a track that are begun and ended so must be nested, and told in order of time.
    pub(super) fn begin(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        match self {
            Sink::Perfetto(sink) => sink.begin(slice),
            Sink::Chrome(sink) => sink.begin(slice),
        }
    }

    /// Ends the innermost slice of a track.
    pub(super) fn end(&mut self, track: Track, at: u64) -> io::Result<()> {
        match self {
            Sink::Perfetto(sink) => sink.end(track, at),
            Sink::Chrome(sink) => sink.end(track, at),
        }
    }

    /// Writes a whole slice.
    pub(super) fn slice(&mut self, slice: &Slice<'_>) -> io::Result<()> {
        match self {
            Sink::Perfetto(sink) => sink.slice(slice),
            Sink::Chrome(sink) => sink.slice(slice),
        }
    }

    pub(super) fn counter(&mut self, track: Track, at: u64, value: i64) -> io::Result<()> {
        match self {
            Sink::Perfetto(sink) => sink.counter(track, at, value),
            Sink::Chrome(sink) => sink.counter(track, at, value),
        }
    }

    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Sink::Perfetto(sink) => sink.finish(),
            Sink::Chrome(sink) => sink.finish(),
        }
    }
}
