//! The commands of an open export, and their answers.

use super::{Close, Command, Error, Export, Kind, MAX_PAYLOAD, MIN_BLOCK, u16_at, u32_at, u64_at};

const REQUEST_MAGIC: u32 = 0x2560_9513;
const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
const CHUNK_MAGIC: u32 = 0x668e_33ef;

/// Bytes of a request without its data.
const HEADER: usize = 28;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const TRIM: u16 = 4;
const WRITE_ZEROES: u16 = 6;

/// The flag of a change that must be durable when it is answered. With other commands it means nothing.
const FORCE: u16 = 1;

/// The flag of zeroes whose space is to be kept.
const NO_HOLE: u16 = 1 << 1;

/// The last chunk of an answer.
const DONE: u16 = 1;
const OFFSET_DATA: u16 = 1;
const ERROR: u16 = 1 << 15 | 1;

/// A command, or the cookie of one that fails at once, whether it is a read, and why.
type Asked = Result<Command, (u64, bool, Error)>;

/// The command at the beginning of `input` and its length; `None` if it is not all there.
pub(super) fn command(input: &[u8], export: &Export) -> Result<Option<(usize, Asked)>, Close> {
    if input.len() < HEADER {
        return Ok(None);
    }
    if u32_at(input, 0) != REQUEST_MAGIC {
        return Err(Close::Broken("a command does not begin with its magic number"));
    }
    let (flags, kind, cookie) = (u16_at(input, 4), u16_at(input, 6), u64_at(input, 8));
    let (offset, length) = (u64_at(input, 16), u32_at(input, 24));
    if kind == DISCONNECT {
        return Err(Close::Asked);
    }
    let mut used = HEADER;
    if kind == WRITE {
        // Its data cannot be skipped without reading them all.
        if length > MAX_PAYLOAD {
            return Err(Close::Broken("a write has more than 32 MiB"));
        }
        used += length as usize;
        if input.len() < used {
            return Ok(None);
        }
    }
    let fails = |error| Ok(Some((used, Err((cookie, kind == READ, error)))));
    let sound = |kind| {
        let command = Command { cookie, offset, length: length.into(), force: flags & FORCE != 0, kind };
        Ok(Some((used, Ok(command))))
    };
    let legal = if kind == WRITE_ZEROES { FORCE | NO_HOLE } else { FORCE };
    if flags & !legal != 0 {
        return fails(Error::Invalid);
    }
    if kind == FLUSH && offset == 0 && length == 0 {
        return sound(Kind::Flush);
    }
    let is_whole = offset.is_multiple_of(u64::from(MIN_BLOCK)) && length.is_multiple_of(MIN_BLOCK);
    if length == 0 || !is_whole || kind == READ && length > MAX_PAYLOAD {
        return fails(Error::Invalid);
    }
    let is_beyond = offset.checked_add(u64::from(length)).is_none_or(|end| end > export.bytes);
    match kind {
        WRITE | WRITE_ZEROES if is_beyond => fails(Error::NoSpace),
        _ if is_beyond => fails(Error::Invalid),
        READ => sound(Kind::Read),
        WRITE => sound(Kind::Write(input[HEADER..used].to_vec())),
        TRIM => sound(Kind::Trim),
        WRITE_ZEROES => sound(Kind::WriteZeroes { keep: flags & NO_HOLE != 0 }),
        _ => fails(Error::Invalid),
    }
}

/// Answers a read.
pub(super) fn answer_read(out: &mut Vec<u8>, structured: bool, cookie: u64, offset: u64, data: &[u8]) {
    if structured {
        chunk(out, OFFSET_DATA, cookie, 8 + data.len());
        out.extend_from_slice(&offset.to_be_bytes());
    } else {
        simple(out, cookie, 0);
    }
    out.extend_from_slice(data);
}

/// Answers a command that is done and has no data.
pub(super) fn answer(out: &mut Vec<u8>, cookie: u64) {
    simple(out, cookie, 0);
}

/// Answers a command that failed.
pub(super) fn fail(out: &mut Vec<u8>, in_chunks: bool, cookie: u64, error: Error) {
    if !in_chunks {
        return simple(out, cookie, error.number());
    }
    chunk(out, ERROR, cookie, 6);
    out.extend_from_slice(&error.number().to_be_bytes());
    out.extend_from_slice(&0_u16.to_be_bytes());
}

fn simple(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
}

/// The head of a chunk that is an answer's last, and is followed by `length` bytes.
fn chunk(out: &mut Vec<u8>, kind: u16, cookie: u64, length: usize) {
    out.extend_from_slice(&CHUNK_MAGIC.to_be_bytes());
    out.extend_from_slice(&DONE.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&(length as u32).to_be_bytes());
}
