//! Files that are storage traces but cannot be replayed, or are in a container that cannot be read: refused with the
//! reason.
//!
//! Must never guess: it refuses only when the content or the name is unmistakable.

use super::packed::{self, Kind};

/// Why Thesios is refused.
const THESIOS: &str =
    "Thesios traces cannot be replayed: a request names a file and an offset in it, never an address on the drive";
/// Why oracleGeneral is refused.
const ORACLE_GENERAL: &str = "libCacheSim oracleGeneral traces cannot be replayed: a record has an object and its next use, but neither operation nor address";

/// Why a format of this name is refused; `None` if it is not.
pub(super) fn by_name(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "thesios" => Some(THESIOS),
        "oraclegeneral" | "libcachesim" => Some(ORACLE_GENERAL),
        _ => None,
    }
}

/// Why a file with this beginning is refused; `None` if it is not.
pub(super) fn by_content(sample: &[u8], whole: bool) -> Option<&'static str> {
    archive(sample)
        .or_else(|| packed_twice(sample))
        .or_else(|| thesios(sample))
        .or_else(|| oracle_general(sample, whole))
}

/// Why a file with this line, which is not its first, is refused; `None` if it is not.
pub(super) fn by_line(line: &[u8]) -> Option<&'static str> {
    thesios(line)
}

/// What has been decompressed once and still is compressed.
pub(super) fn packed_twice(sample: &[u8]) -> Option<&'static str> {
    Some(match packed::kind(sample)? {
        Kind::Gz => "decompressed, this is compressed still, in gz: unpack it and compress it once at most",
        Kind::Zst => "decompressed, this is compressed still, in zst: unpack it and compress it once at most",
        Kind::Xz => "decompressed, this is compressed still, in xz: unpack it and compress it once at most",
        Kind::Bz2 => "decompressed, this is compressed still, in bz2: unpack it and compress it once at most",
    })
}

/// Containers and encodings that the user must unpack first.
fn archive(sample: &[u8]) -> Option<&'static str> {
    let has = |magic: &[u8], at: usize| sample.get(at..).is_some_and(|s| s.starts_with(magic));
    if has(b"ustar", 257) {
        return Some("this is a tar archive: unpack it and give one of the files in it");
    }
    if has(b"PK\x03\x04", 0) {
        return Some("this is a zip archive: unpack it and give one of the files in it");
    }
    if has(b"7z\xbc\xaf\x27\x1c", 0) {
        return Some("this is a 7z archive: unpack it and give one of the files in it");
    }
    if has(b"PAR1", 0) {
        return Some("Parquet is not read as a trace: export it to CSV in one of the formats");
    }
    if has(b"\xff\xfe", 0) || has(b"\xfe\xff", 0) {
        return Some("this is UTF-16 text: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
    }
    None
}

/// Google's Thesios: its header, or its unmistakable keywords for redundancy in CSV rows.
fn thesios(sample: &[u8]) -> Option<&'static str> {
    let first = sample.split(|b| *b == b'\n').next().unwrap_or_default();
    let has = |word: &[u8]| memchr::memmem::find(first, word).is_some();
    let header = has(b"filename,") && has(b"file_offset");
    let row = first.iter().filter(|b| **b == b',').count() >= 8
        && (has(b",REPLICATED,") || has(b",ERASURE_CODED,"))
        && (has(b",READ,") || has(b",WRITE,"));
    (header || row).then_some(THESIOS)
}

/// Packed records of 24 bytes: u32 time, u64 object, u32 size, i64 next use. Recognised only if there are at least two
/// records and all of up to a hundred are plausible.
fn oracle_general(sample: &[u8], whole: bool) -> Option<&'static str> {
    const RECORD: usize = 24;
    if sample.len() < 2 * RECORD || (whole && !sample.len().is_multiple_of(RECORD)) {
        return None;
    }
    let mut last = 0;
    for record in sample.chunks_exact(RECORD).take(100) {
        let number = |from: usize, to: usize| {
            record[from..to].iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
        };
        let (time, size, next) = (number(0, 4), number(12, 16), number(16, 24) as i64);
        let plausible = time >= last && size > 0 && size < 1 << 30 && (-2..1 << 40).contains(&next);
        // Text never passes: its bytes would be times of decades and sizes of gigabytes.
        if !plausible {
            return None;
        }
        last = time;
    }
    Some(ORACLE_GENERAL)
}
