//! The protocol of network block devices, as a state machine without input or output: bytes of a client come in, commands and
//! bytes for the client come out.
//!
//! Owns one connection's side of the conversation: the handshake (fixed newstyle) and the framing of commands and replies. Promises
//! that every sequence of bytes ends in commands within the export, in an answer, or in an end of the connection; that at most
//! [`MAX_PAYLOAD`] and a header of a client's bytes are held; and that nothing panics. Must never know what a command does.
//!
//! Source: the protocol's description in the NBD project, doc/proto.md.

mod handshake;
mod transmission;

use std::sync::Arc;

use handshake::Handshake;

/// The most bytes that one command reads or writes, bytes: what the description asks every client to keep to unless told otherwise.
pub const MAX_PAYLOAD: u32 = 32 << 20;

/// The smallest unit of an offset or length, bytes.
pub const MIN_BLOCK: u32 = 512;

/// What a client can open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Its name.
    pub name: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// The size of commands that suits it best, bytes.
    pub preferred: u32,
}

/// What a client asks of its export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// The client's number for it, which the reply repeats.
    pub cookie: u64,
    /// First byte, from the beginning of the export.
    pub offset: u64,
    /// Number of bytes: at least [`MIN_BLOCK`], of a flush 0.
    pub length: u64,
    /// Whether what it changes must be durable when it is answered (FUA).
    pub force: bool,
    /// What is to be done.
    pub kind: Kind,
}

impl Command {
    /// Bytes that count for it while it is under way: those of its data. A command without data counts for its work, which goes page by
    /// page: were all of a large drive trimmed in one go, others would wait for seconds.
    pub fn held(&self) -> usize {
        match self.kind {
            Kind::Read | Kind::Write(_) => self.length as usize,
            Kind::Trim | Kind::WriteZeroes { .. } | Kind::Flush => (self.length / 64).max(MIN_BLOCK.into()) as usize,
        }
    }
}

/// The kinds of commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Bytes to the client.
    Read,
    /// These bytes from the client.
    Write(Vec<u8>),
    /// The bytes are no longer needed: whole pages of them read as zeroes.
    Trim,
    /// The bytes shall read as zeroes.
    WriteZeroes {
        /// Whether the space for them is to be kept.
        keep: bool,
    },
    /// All writes that have been answered must be durable when this is answered.
    Flush,
}

/// Why a command failed, by the protocol's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The device has failed.
    Io,
    /// The command is none, or none that this export has, or beyond its end.
    Invalid,
    /// A write, or zeroes, beyond the end.
    NoSpace,
    /// The server ends.
    Shutdown,
}

impl Error {
    const fn number(self) -> u32 {
        match self {
            Error::Io => 5,
            Error::Invalid => 22,
            Error::NoSpace => 28,
            Error::Shutdown => 108,
        }
    }
}

/// Why a connection is to be closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Close {
    /// The client asked for it.
    Asked,
    /// The server has as many connections as it serves.
    Full,
    /// What it sent breaks the protocol: the reason.
    Broken(&'static str),
}

/// A connection.
#[derive(Debug)]
pub struct Session {
    exports: Arc<[Export]>,
    /// Bytes received and not yet understood.
    input: Vec<u8>,
    phase: Phase,
    /// Whether reads are answered in chunks that say what they are.
    structured: bool,
    /// Commands that were answered with an error at once.
    refused: u64,
    /// Whether commands that may be whole were left in `input`.
    paused: bool,
}

#[derive(Debug)]
enum Phase {
    Handshake(Handshake),
    /// Commands of the export of this number.
    Transmission(usize),
}

impl Session {
    /// A connection that has just been made; the greeting goes to `out`.
    pub fn new(exports: Arc<[Export]>, out: &mut Vec<u8>) -> Session {
        Session::begun(exports, Handshake::default(), out)
    }

    /// The same for a client that cannot be served: it is told so when it asks for an export.
    pub fn refusing(exports: Arc<[Export]>, out: &mut Vec<u8>) -> Session {
        Session::begun(exports, Handshake::refusing(), out)
    }

    fn begun(exports: Arc<[Export]>, handshake: Handshake, out: &mut Vec<u8>) -> Session {
        Handshake::greet(out);
        let phase = Phase::Handshake(handshake);
        Session { exports, input: Vec::new(), phase, structured: false, refused: 0, paused: false }
    }

    /// The number of the export that the client has opened.
    pub fn export(&self) -> Option<usize> {
        match self.phase {
            Phase::Handshake(_) => None,
            Phase::Transmission(export) => Some(export),
        }
    }

    /// Commands that were answered with an error at once, and not handed out.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether commands wait that [`Session::receive`] has not handed out: they come with the next call, which may bring no bytes.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Takes bytes of the client; adds the commands that they complete to `commands`, and answers to `out`. It hands out no further
    /// command once those of this call read and write `budget` bytes or more.
    ///
    /// # Errors
    /// The connection is to be closed once `out` has been sent.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        budget: usize,
        out: &mut Vec<u8>,
        commands: &mut Vec<Command>,
    ) -> Result<(), Close> {
        self.input.extend_from_slice(bytes);
        let (mut used, mut held) = (0, 0);
        let result = loop {
            self.paused = held >= budget;
            if self.paused {
                break Ok(());
            }
            let before = commands.len();
            let step = self.step(used, out, commands);
            held += commands[before..].iter().map(Command::held).sum::<usize>();
            match step {
                Ok(Some(taken)) => used += taken,
                Ok(None) => break Ok(()),
                Err(close) => break Err(close),
            }
        };
        self.input.drain(..used);
        // A large write's memory is not kept for the small ones after it.
        if self.input.is_empty() && self.input.capacity() > 64 << 10 {
            self.input = Vec::new();
        }
        result
    }

    /// Understands one message that begins at `from`; returns its length, `None` if it is not all there.
    fn step(&mut self, from: usize, out: &mut Vec<u8>, commands: &mut Vec<Command>) -> Result<Option<usize>, Close> {
        let input = &self.input[from..];
        match &mut self.phase {
            Phase::Handshake(handshake) => {
                let Some(step) = handshake.step(input, &self.exports, out)? else { return Ok(None) };
                self.structured |= step.structured;
                if let Some(export) = step.opened {
                    self.phase = Phase::Transmission(export);
                }
                Ok(Some(step.used))
            }
            Phase::Transmission(export) => {
                let Some((used, asked)) = transmission::command(input, &self.exports[*export])? else {
                    return Ok(None);
                };
                match asked {
                    Ok(command) => commands.push(command),
                    Err((cookie, is_read, error)) => {
                        self.refused += 1;
                        transmission::fail(out, self.structured && is_read, cookie, error);
                    }
                }
                Ok(Some(used))
            }
        }
    }

    /// Answers a read with `data`, which began at `offset`.
    pub fn answer_read(&self, out: &mut Vec<u8>, cookie: u64, offset: u64, data: &[u8]) {
        transmission::answer_read(out, self.structured, cookie, offset, data);
    }

    /// Answers a command that is done and has no data.
    pub fn answer_done(&self, out: &mut Vec<u8>, cookie: u64) {
        transmission::answer(out, cookie);
    }

    /// Answers a command that failed.
    pub fn fail(&self, out: &mut Vec<u8>, cookie: u64, is_read: bool, error: Error) {
        transmission::fail(out, self.structured && is_read, cookie, error);
    }
}

/// The big-endian number of two bytes at `at`; the caller knows that they are there.
fn u16_at(input: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([input[at], input[at + 1]])
}

/// The big-endian number of four bytes at `at`.
fn u32_at(input: &[u8], at: usize) -> u32 {
    u32::from(u16_at(input, at)) << 16 | u32::from(u16_at(input, at + 2))
}

/// The big-endian number of eight bytes at `at`.
fn u64_at(input: &[u8], at: usize) -> u64 {
    u64::from(u32_at(input, at)) << 32 | u64::from(u32_at(input, at + 4))
}

#[cfg(test)]
mod tests;
