//! Records of results in a pack, a file to which one process appends: how a record is written, found and read.
//!
//! ```text
//! record   mark, lengths of name, body and unpacked body, hash of the body, name, hash of all that; body
//! body     zstd of: for each file of the result its name's length and its own, the name, the bytes
//! ```
//!
//! Promises that nothing is taken for a record that was not written as one, and that what is damaged hides no other record: after it
//! the next mark is looked for. A record is complete by itself, so that each result is read alone and a process that is killed loses
//! none that it has appended.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The first bytes of a record.
const MARK: [u8; 8] = *b"\x93FLrec1\n";
/// Bytes before the name.
const FIXED: usize = 8 + 2 + 4 + 4 + HASH;
/// Bytes of a hash.
const HASH: usize = 16;
/// Bytes of the longest head; a name is that of a file.
const LONGEST_HEAD: usize = FIXED + LONGEST_NAME + HASH;
const LONGEST_NAME: usize = 255;
/// The most bytes of the files of a result that has a record; larger results have folders.
pub(super) const MAX_BYTES: usize = 64 << 20;
/// Fast, and a tenth of a summary's bytes; higher levels are slower and save little of lists of numbers.
const LEVEL: i32 = 1;
/// So much is read at a time while records are looked for, unless they are long and mostly passed over.
const WINDOW: usize = 8 << 10;

/// What says which result a record has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    body: u32,
    unpacked: u32,
    hash: [u8; HASH],
}

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) at: u64,
    /// Bytes of head and body.
    pub(super) bytes: u32,
}

/// The files of a result with their names.
pub(super) type Files = Vec<(String, Vec<u8>)>;

impl Head {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        bytes.extend((self.name.len() as u16).to_le_bytes());
        bytes.extend(self.body.to_le_bytes());
        bytes.extend(self.unpacked.to_le_bytes());
        bytes.extend(self.hash);
        bytes.extend(self.name.as_bytes());
        bytes.extend(hash(&bytes));
        bytes
    }

    /// The head at the beginning of `bytes`, and its length.
    fn parse(bytes: &[u8]) -> Option<(Head, usize)> {
        let fixed = bytes.get(..FIXED).filter(|fixed| fixed.starts_with(&MARK))?;
        let number = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let end = FIXED + usize::from(u16::from_le_bytes([fixed[8], fixed[9]]));
        let hashed = bytes.get(end..end + HASH)?;
        if hash(&bytes[..end]) != hashed {
            return None;
        }
        let name = String::from_utf8(bytes[FIXED..end].to_vec()).ok()?;
        let own = fixed[FIXED - HASH..].try_into().ok()?;
        Some((Head { name, body: number(10), unpacked: number(14), hash: own }, end + HASH))
    }
}

/// The record of the result `name`; `None` if it is too large for one.
pub(super) fn record(name: &str, files: &Files) -> io::Result<Option<Vec<u8>>> {
    let unpacked: usize = files.iter().map(|(name, bytes)| 6 + name.len() + bytes.len()).sum();
    if unpacked > MAX_BYTES || name.len() > LONGEST_NAME {
        return Ok(None);
    }
    let mut body = Vec::with_capacity(unpacked);
    for (name, bytes) in files {
        body.extend((name.len() as u16).to_le_bytes());
        body.extend((bytes.len() as u32).to_le_bytes());
        body.extend(name.as_bytes());
        body.extend(bytes);
    }
    let body = zstd::bulk::compress(&body, LEVEL)?;
    let head = Head { name: name.to_owned(), body: body.len() as u32, unpacked: unpacked as u32, hash: hash(&body) };
    let mut record = head.to_bytes();
    record.extend(body);
    Ok(Some(record))
}

/// The files in the bytes of a record of the result `name`; `None` if they are not those that were written.
pub(super) fn files(record: &[u8], name: &str) -> Option<Files> {
    let body = body(record, name)?;
    let (head, _) = Head::parse(record)?;
    let unpacked = zstd::bulk::decompress(body, (head.unpacked as usize).min(MAX_BYTES)).ok()?;
    let (mut files, mut rest) = (Files::new(), &unpacked[..]);
    while let Some((fixed, after)) = rest.split_at_checked(6) {
        let name_bytes = usize::from(u16::from_le_bytes([fixed[0], fixed[1]]));
        let bytes = u32::from_le_bytes([fixed[2], fixed[3], fixed[4], fixed[5]]) as usize;
        let (name, after) = after.split_at_checked(name_bytes)?;
        let (bytes, after) = after.split_at_checked(bytes)?;
        files.push((String::from_utf8(name.to_vec()).ok()?, bytes.to_vec()));
        rest = after;
    }
    (rest.is_empty() && unpacked.len() == head.unpacked as usize).then_some(files)
}

/// Whether the bytes of a record are those that were written for the result `name`.
pub(super) fn is_whole(record: &[u8], name: &str) -> bool {
    body(record, name).is_some()
}

fn body<'a>(record: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (head, length) = Head::parse(record)?;
    let body = &record[length..];
    (head.name == name && body.len() == head.body as usize && hash(body) == head.hash).then_some(body)
}

/// The bytes at `extent` in a pack.
pub(super) fn read(file: &mut File, extent: Extent) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; extent.bytes as usize];
    file.seek(SeekFrom::Start(extent.at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The names and places of the records from the byte `from` on in a pack of `length` bytes, and where the last ends: what is after that
/// is no record yet, or of one whose writer was killed. Bodies are not looked at.
pub(super) fn scan(file: &mut File, from: u64, length: u64) -> io::Result<(Vec<(String, Extent)>, u64)> {
    let mut window = Window { file, bytes: Vec::new(), at: 0 };
    let (mut found, mut at, mut end) = (Vec::new(), from, from);
    while at < length {
        let head = Head::parse(window.from(at, LONGEST_HEAD)?);
        match head.map(|(head, bytes)| (head.name, bytes as u64 + u64::from(head.body))) {
            Some((name, bytes)) if at + bytes <= length && u32::try_from(bytes).is_ok() => {
                found.push((name, Extent { at, bytes: bytes as u32 }));
                at += bytes;
                end = at;
            }
            _ => match window.next_mark(at + 1)? {
                Some(next) => at = next,
                None => break,
            },
        }
    }
    Ok((found, end))
}

/// A part of a file.
struct Window<'a> {
    file: &'a mut File,
    bytes: Vec<u8>,
    at: u64,
}

impl Window<'_> {
    /// The bytes from `at` on: at least `wanted`, but for the end of the file.
    fn from(&mut self, at: u64, wanted: usize) -> io::Result<&[u8]> {
        let inside = at.checked_sub(self.at).is_some_and(|skipped| skipped + wanted as u64 <= self.bytes.len() as u64);
        if !inside {
            self.bytes.clear();
            self.at = at;
            self.file.seek(SeekFrom::Start(at))?;
            (&mut *self.file).take(wanted.max(WINDOW) as u64).read_to_end(&mut self.bytes)?;
        }
        Ok(&self.bytes[(at - self.at) as usize..])
    }

    /// Where the next mark is, from `at` on.
    fn next_mark(&mut self, mut at: u64) -> io::Result<Option<u64>> {
        loop {
            let bytes = self.from(at, WINDOW)?;
            if let Some(skipped) = bytes.windows(MARK.len()).position(|bytes| bytes == MARK) {
                return Ok(Some(at + skipped as u64));
            }
            if bytes.len() < WINDOW {
                return Ok(None);
            }
            at += (bytes.len() + 1 - MARK.len()) as u64;
        }
    }
}

fn hash(bytes: &[u8]) -> [u8; HASH] {
    let mut short = [0; HASH];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..HASH]);
    short
}

/// Opens a pack. What is no regular file, such as a named pipe, which would wait for a writer, is not opened.
pub(super) fn open(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(ErrorKind::InvalidData.into()),
    }
}
