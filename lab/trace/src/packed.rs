//! Compressed files, recognised by their first bytes: gz, zst, xz and bz2.
//!
//! Promises that all members, frames or streams of a file are read one after the other, and that the memory for it has a limit: zst has
//! windows of up to 128 MiB, xz dictionaries of up to 64 MiB. Must never know a format.

use std::io::{self, BufReader, Cursor, Read};

use bzip2::read::MultiBzDecoder;
use lzma_rust2::{XzReader, lzma2_get_memory_usage};

use super::gz::GzMembers;

/// A stream after decompression.
pub(super) type Stream = Box<dyn Read + Send>;

/// Bytes that tell how a file is compressed.
pub(super) const TELLING: usize = 10;
/// The largest dictionary of xz.
const XZ_DICTIONARY: u32 = 64 << 20;
/// How the blocks of bz2 begin, and what ends them.
const BZ2_BLOCKS: [[u8; 6]; 2] = [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];
/// The compressions by name, for messages.
const KINDS: &str = "gz, zst, xz or bz2";

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Gz,
    Zst,
    Xz,
    Bz2,
}

/// How a file with these first bytes is compressed; `None` if it is not.
pub(super) fn kind(first: &[u8]) -> Option<Kind> {
    let is = |magic: &[u8]| first.starts_with(magic);
    // A frame with data, or one of the sixteen kinds that decoders skip.
    let is_skipped = || first.first().is_some_and(|b| b & 0xf0 == 0x50) && first[1..].starts_with(&[0x2a, 0x4d, 0x18]);
    match () {
        () if is(&[0x1f, 0x8b]) => Some(Kind::Gz),
        () if is(&[0x28, 0xb5, 0x2f, 0xfd]) || is_skipped() => Some(Kind::Zst),
        () if is(&[0xfd, b'7', b'z', b'X', b'Z', 0]) => Some(Kind::Xz),
        () if is(b"BZh") && BZ2_BLOCKS.iter().any(|block| first[3..].get(1..7) == Some(block)) => Some(Kind::Bz2),
        () => None,
    }
}

/// What `raw` holds; `first` are its first bytes, up to [`TELLING`].
///
/// # Errors
/// There is no memory for a decoder.
pub(super) fn unpacked<R: Read + Send + 'static>(first: Vec<u8>, raw: R) -> io::Result<Stream> {
    let kind = kind(&first);
    let whole = Cursor::new(first).chain(raw);
    Ok(match kind {
        Some(Kind::Gz) => Box::new(GzMembers::new(whole)),
        Some(Kind::Zst) => Box::new(zstd::stream::read::Decoder::new(whole)?),
        Some(Kind::Xz) => {
            // It reads some fields a byte at a time.
            Box::new(XzReader::new_mem_limit(BufReader::new(whole), true, lzma2_get_memory_usage(XZ_DICTIONARY)))
        }
        Some(Kind::Bz2) => Box::new(MultiBzDecoder::new(whole)),
        None => Box::new(whole),
    })
}

/// A failed read in the user's terms.
pub(super) fn broken(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            format!("the compressed data ends early ({e}); legal is a complete {KINDS} file")
        }
        io::ErrorKind::OutOfMemory => format!(
            "its xz dictionary is larger than {0} MiB; legal is up to {0} MiB (compress it anew with xz -9 or less)",
            XZ_DICTIONARY >> 20
        ),
        _ => format!("cannot be read on ({e}); legal is an intact file (plain, {KINDS})"),
    }
}
