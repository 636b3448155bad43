//! gz and zst: recognised by their magic bytes and decompressed, and refused when cut short.

use std::io::Write;

use super::*;

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

fn long() -> String {
    (0..50_000u64).map(|i| format!("{} 0 {} 8 {}\n", i * 977, i * 7_919 % 1_000_003, i % 2)).collect()
}

#[test]
fn packed_traces_read_as_plain_ones() {
    for format in text_formats() {
        let plain = rows(format, sample(format));
        for packed in [gz(sample(format).as_bytes()), zst(sample(format).as_bytes())] {
            assert_eq!(read(&packed, &as_format(format)).unwrap().rows, plain, "{format}");
        }
    }
    let plain = rows(Format::Mqsim, &long());
    let members = [gz(&long().as_bytes()[..100_000]), gz(&long().as_bytes()[100_000..])].concat();
    assert_eq!(read(members, &TraceOptions::default()).unwrap().rows, plain, "concatenated gz members");
    assert_eq!(read(zst(long().as_bytes()), &TraceOptions::default()).unwrap().rows, plain);
}

#[test]
fn a_truncated_file_gives_its_whole_lines_and_then_an_error_with_the_line() {
    for packed in [gz(long().as_bytes()), zst(long().as_bytes())] {
        for kept in [packed.len() - 1, packed.len() * 2 / 3, packed.len() / 2] {
            let mut source = TraceSource::from_bytes("t.gz", &packed[..kept], &as_format(Format::Mqsim), HUGE).unwrap();
            let mut requests = 0u64;
            let why = loop {
                match source.next() {
                    Ok(Next::Request(_)) => requests += 1,
                    Ok(other) => panic!("{other:?} after {requests} requests of a truncated file"),
                    Err(why) => break why,
                }
            };
            assert_eq!(why.place, format!("t.gz:{}", requests + 1), "{why}");
            assert!(why.message.contains("ends early") || why.message.contains("cannot be read on"), "{why}");
        }
    }
}

/// Without a whole line the format cannot be recognised; the message says that the file was cut, not that no format reads it.
#[test]
fn a_file_cut_within_its_first_line_is_called_cut() {
    let whole = gz(long().as_bytes());
    for kept in 2..40 {
        let why = read(&whole[..kept], &TraceOptions::default()).unwrap_err();
        assert!(why.message.contains("ends early"), "{kept} bytes: {why}");
    }
}

#[test]
fn a_gz_of_which_only_the_magic_is_left_or_whose_body_is_noise() {
    for bytes in [&[0x1f, 0x8b][..], &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff, 0x12]] {
        let why = read(bytes, &TraceOptions::default()).unwrap_err();
        assert!(why.message.contains("legal"), "{why}");
    }
    let mut flipped = gz(long().as_bytes());
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x55;
    assert!(read(flipped, &as_format(Format::Mqsim)).is_err(), "a flipped bit fails the checksum at the latest");
}

#[test]
fn a_packed_nothing_is_empty() {
    for packed in [gz(b""), zst(b"")] {
        let why = read(packed, &TraceOptions::default()).unwrap_err();
        assert!(why.message.contains("empty"), "{why}");
    }
}
