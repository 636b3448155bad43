//! The handshake: the client looks at exports and opens one.

use super::{Close, Export, MAX_PAYLOAD, MIN_BLOCK, u16_at, u32_at, u64_at};

const MAGIC: u64 = u64::from_be_bytes(*b"NBDMAGIC");
const OPTION_MAGIC: u64 = u64::from_be_bytes(*b"IHAVEOPT");
const REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;

/// Flags of both sides.
const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

/// Flags of an export: there are flags; it takes flushes, FUA, trims and write zeroes; several connections may use it at once.
const TRANSMISSION_FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8;

/// The most bytes of an option's data.
const MAX_OPTION: u32 = 16 << 10;

/// The longest name of an export, bytes.
const MAX_NAME: u32 = 4096;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;

/// Replies to options.
const ACK: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const UNSUPPORTED: u32 = 1 << 31 | 1;
const POLICY: u32 = 1 << 31 | 2;
const INVALID: u32 = 1 << 31 | 3;
const UNKNOWN: u32 = 1 << 31 | 6;
const TOO_BIG: u32 = 1 << 31 | 9;

/// Kinds of information about an export.
const OF_EXPORT: u16 = 0;
const OF_BLOCK_SIZE: u16 = 3;

/// How far a handshake is.
#[derive(Default, Debug)]
pub(super) struct Handshake {
    /// The flags of the client, once it has sent them.
    client: Option<u32>,
    /// Whether no export is opened or shown.
    refuses: bool,
}

/// One message understood.
#[derive(Default)]
pub(super) struct Step {
    /// Its bytes.
    pub(super) used: usize,
    /// Whether reads are answered in chunks from now on.
    pub(super) structured: bool,
    /// The export that it opens, which ends the handshake.
    pub(super) opened: Option<usize>,
}

impl Handshake {
    pub(super) fn refusing() -> Handshake {
        Handshake { refuses: true, ..Handshake::default() }
    }

    pub(super) fn greet(out: &mut Vec<u8>) {
        out.extend_from_slice(&MAGIC.to_be_bytes());
        out.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        out.extend_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    }

    pub(super) fn step(&mut self, input: &[u8], exports: &[Export], out: &mut Vec<u8>) -> Result<Option<Step>, Close> {
        let Some(client) = self.client else {
            if input.len() < 4 {
                return Ok(None);
            }
            let flags = u32_at(input, 0);
            if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
                return Err(Close::Broken("the client has flags that the server does not"));
            }
            self.client = Some(flags);
            return Ok(Some(Step { used: 4, ..Step::default() }));
        };
        if input.len() < 16 {
            return Ok(None);
        }
        if u64_at(input, 0) != OPTION_MAGIC {
            return Err(Close::Broken("an option does not begin with IHAVEOPT"));
        }
        let (option, length) = (u32_at(input, 8), u32_at(input, 12));
        if length > MAX_OPTION {
            reply(out, option, TOO_BIG, &[]);
            return Err(Close::Broken("an option has more than 16 KiB"));
        }
        let Some(data) = input[16..].get(..length as usize) else { return Ok(None) };
        let mut step = match self.refuses {
            true => refuse(option, out)?,
            false => act(option, data, client, exports, out)?,
        };
        step.used = 16 + data.len();
        Ok(Some(step))
    }
}

/// Answers an option of a client that is not served. It closes the connection itself: clients that find it closed after an answer do not
/// show the reason in that.
fn refuse(option: u32, out: &mut Vec<u8>) -> Result<Step, Close> {
    match option {
        ABORT => {
            reply(out, option, ACK, &[]);
            Err(Close::Asked)
        }
        // It can only be refused by closing the connection.
        EXPORT_NAME => Err(Close::Full),
        INFO | GO | LIST => {
            reply(out, option, POLICY, b"all connections that the server allows are in use; close one");
            Ok(Step::default())
        }
        _ => {
            reply(out, option, UNSUPPORTED, b"this option is not supported");
            Ok(Step::default())
        }
    }
}

/// Does what an option asks for.
fn act(option: u32, data: &[u8], client: u32, exports: &[Export], out: &mut Vec<u8>) -> Result<Step, Close> {
    let mut step = Step::default();
    match option {
        EXPORT_NAME => {
            let found = named(data, exports).ok_or(Close::Broken("there is no such export"))?;
            out.extend_from_slice(&exports[found].bytes.to_be_bytes());
            out.extend_from_slice(&TRANSMISSION_FLAGS.to_be_bytes());
            if client & u32::from(NO_ZEROES) == 0 {
                out.extend_from_slice(&[0; 124]);
            }
            step.opened = Some(found);
        }
        ABORT => {
            reply(out, option, ACK, &[]);
            return Err(Close::Asked);
        }
        LIST if !data.is_empty() => reply(out, option, INVALID, b"LIST has no data"),
        LIST => {
            for export in exports {
                let mut body = (export.name.len() as u32).to_be_bytes().to_vec();
                body.extend_from_slice(export.name.as_bytes());
                reply(out, option, SERVER, &body);
            }
            reply(out, option, ACK, &[]);
        }
        INFO | GO => match look(data) {
            None => reply(out, option, INVALID, b"the data are no name with a list of requests"),
            Some(name) => match named(name, exports) {
                None => reply(out, option, UNKNOWN, b"there is no such export"),
                Some(found) => {
                    tell(option, &exports[found], out);
                    step.opened = (option == GO).then_some(found);
                }
            },
        },
        STRUCTURED_REPLY if !data.is_empty() => reply(out, option, INVALID, b"STRUCTURED_REPLY has no data"),
        STRUCTURED_REPLY => {
            step.structured = true;
            reply(out, option, ACK, &[]);
        }
        _ => reply(out, option, UNSUPPORTED, b"this option is not supported"),
    }
    Ok(step)
}

/// What a client is told about an export: the size, and the sizes of blocks whether it asked or not.
fn tell(option: u32, export: &Export, out: &mut Vec<u8>) {
    let mut body = OF_EXPORT.to_be_bytes().to_vec();
    body.extend_from_slice(&export.bytes.to_be_bytes());
    body.extend_from_slice(&TRANSMISSION_FLAGS.to_be_bytes());
    reply(out, option, INFORMATION, &body);
    let mut body = OF_BLOCK_SIZE.to_be_bytes().to_vec();
    for size in [MIN_BLOCK, export.preferred, MAX_PAYLOAD] {
        body.extend_from_slice(&size.to_be_bytes());
    }
    reply(out, option, INFORMATION, &body);
    reply(out, option, ACK, &[]);
}

/// The name in the data of INFO or GO, which is followed by a list of what the client wants to know.
fn look(data: &[u8]) -> Option<&[u8]> {
    if data.len() < 6 {
        return None;
    }
    let length = u32_at(data, 0);
    if length > MAX_NAME {
        return None;
    }
    let (name, rest) = data[4..].split_at_checked(length as usize)?;
    let wanted = usize::from(u16_at(rest.get(..2)?, 0));
    (rest.len() == 2 + 2 * wanted).then_some(name)
}

/// The number of the export `name`; the first one has the empty name too.
fn named(name: &[u8], exports: &[Export]) -> Option<usize> {
    if name.is_empty() && !exports.is_empty() {
        return Some(0);
    }
    exports.iter().position(|export| export.name.as_bytes() == name)
}

fn reply(out: &mut Vec<u8>, option: u32, kind: u32, body: &[u8]) {
    out.extend_from_slice(&REPLY_MAGIC.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&(body.len() as u32).to_be_bytes());
    out.extend_from_slice(body);
}
