//! Cuts a byte stream into lines, in place, a chunk at a time.
//!
//! Promises every line whole, numbers lines from 1, and copies only the part of a line that is cut by a chunk's end. A
//! stream that breaks (a truncated gz) yields its whole lines first and then the error. Must never know what a line
//! means.

use std::io::{ErrorKind, Read};

use super::columns::REACH;
use super::cursor::Cursor;
use super::error;
use super::packed::broken;
use super::window::Window;
use flashlane_core::arrival::WorkloadError;

/// Bytes read at a time; also the length of the longest legal line.
const CHUNK: usize = 1 << 20;
/// Bytes past the last one read that may be accessed with it.
const PAD: usize = REACH;

/// The lines of one stream.
pub(super) struct Lines {
    name: String,
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    state: Stream,
    /// Whether the last line has no end.
    is_cut_off: bool,
}

enum Stream {
    Open,
    Ended,
    Broken(String),
}

impl Lines {
    /// The lines of `input`, which messages call `name`. Reads the first chunk.
    pub fn new(name: String, input: Box<dyn Read + Send>) -> Self {
        let mut lines = Lines {
            name,
            input,
            buffer: vec![0; CHUNK + PAD],
            start: 0,
            end: 0,
            number: 0,
            state: Stream::Open,
            is_cut_off: false,
        };
        lines.fill();
        if lines.buffer[..lines.end].starts_with(b"\xef\xbb\xbf") {
            lines.start = 3;
        }
        lines
    }

    /// The first bytes not yet returned, and whether they are the rest of the stream. Of a stream that broke they are not: its last
    /// line may be cut.
    pub fn sample(&self) -> (&[u8], bool) {
        (&self.buffer[self.start..self.end], matches!(self.state, Stream::Ended))
    }

    /// The error of a stream that broke within what was read so far.
    pub fn broken(&self) -> Option<WorkloadError> {
        match &self.state {
            Stream::Broken(why) => Some(error(&self.name, why)),
            _ => None,
        }
    }

    /// Lines returned so far.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line that was returned last is the stream's last, and has no end.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// The place of a line for messages: `file:line`.
    #[cold]
    pub fn place_of(&self, number: u64) -> String {
        format!("{}:{number}", self.name)
    }

    /// The next line without its end.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Cursor<'_>>, WorkloadError> {
        let Some(window) = self.buffer[self.start..].first_chunk().map(Window::of) else { unreachable!("padded") };
        let length = match window.ends {
            0 => memchr::memchr(b'\n', &self.buffer[self.start..self.end]),
            ends => Some(ends.trailing_zeros() as usize),
        };
        let (from, to, breaks) = match length {
            Some(length) => {
                let from = self.start;
                self.start += length + 1;
                (from, from + length, window.breaks)
            }
            None => match self.next_across()? {
                Some((from, to)) => (from, to, 0),
                None => return Ok(None),
            },
        };
        self.number += 1;
        let to = if to > from && self.buffer[to - 1] == b'\r' { to - 1 } else { to };
        Ok(Some(Cursor::with_breaks(&self.buffer[from..], to - from, breaks)))
    }

    /// The next line when the current chunk contains only its beginning.
    #[cold]
    fn next_across(&mut self) -> Result<Option<(usize, usize)>, WorkloadError> {
        loop {
            match &self.state {
                Stream::Open => {}
                Stream::Ended if self.start == self.end => return Ok(None),
                Stream::Ended => {
                    let range = (self.start, self.end);
                    self.start = self.end;
                    self.is_cut_off = true;
                    return Ok(Some(range));
                }
                Stream::Broken(why) => return Err(error(self.place_of(self.number + 1), why)),
            }
            let had = self.end - self.start;
            if had == CHUNK {
                let place = self.place_of(self.number + 1);
                return Err(error(place, "a line longer than 1 MiB; legal is a text trace with a request a line"));
            }
            self.buffer.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = had;
            self.fill();
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[had..self.end]) {
                self.start = had + at + 1;
                return Ok(Some((0, had + at)));
            }
        }
    }

    /// Reads until the chunk is full, or the stream ends or breaks.
    fn fill(&mut self) {
        while self.end < CHUNK && matches!(self.state, Stream::Open) {
            match self.input.read(&mut self.buffer[self.end..CHUNK]) {
                Ok(0) => self.state = Stream::Ended,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => self.state = Stream::Broken(broken(&e)),
            }
        }
        // The bytes that a cursor may access past the last line must not look like digits.
        self.buffer[self.end..self.end + PAD].fill(0);
    }
}
