//! gz, zst, xz and bz2: recognised by their magic bytes and decompressed, and refused when cut short.

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

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A frame of zst that decoders skip.
fn skippable(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[0x50 | kind, 0x2a, 0x4d, 0x18][..], &(content.len() as u32).to_le_bytes(), content].concat()
}

type Packer = fn(&[u8]) -> Vec<u8>;
const PACKERS: [(&str, Packer); 4] = [("gz", gz), ("zst", zst), ("xz", xz), ("bz2", bz2)];

fn long() -> String {
    (0..50_000u64).map(|i| format!("{} 0 {} 8 {}\n", i * 977, i * 7_919 % 1_000_003, i % 2)).collect()
}

#[test]
fn packed_traces_read_as_plain_ones() {
    for (name, packed) in PACKERS {
        for format in text_formats() {
            let plain = rows(format, sample(format));
            assert_eq!(
                read(packed(sample(format).as_bytes()), &as_format(format)).unwrap().rows,
                plain,
                "{format} {name}"
            );
        }
    }
}

/// As `cat a.gz b.gz`, `pzstd`, `xz -T`, `pbzip2` and `lbzip2` write them.
#[test]
fn members_frames_and_streams_follow_one_another() {
    let plain = rows(Format::Mqsim, &long());
    let text = long();
    let (first, second) = text.as_bytes().split_at(100_000);
    for (name, packed) in PACKERS {
        assert_eq!(read(packed(text.as_bytes()), &TraceOptions::default()).unwrap().rows, plain, "{name}");
        let parts = [packed(first), packed(b""), packed(second)].concat();
        assert_eq!(read(parts, &TraceOptions::default()).unwrap().rows, plain, "{name} in parts");
        let empty_first = [packed(b""), packed(text.as_bytes())].concat();
        assert_eq!(read(empty_first, &TraceOptions::default()).unwrap().rows, plain, "{name}, an empty part first");
    }
    let padded = [xz(first), vec![0; 8], xz(second)].concat();
    assert_eq!(read(padded, &TraceOptions::default()).unwrap().rows, plain, "padding between streams of xz");
}

#[test]
fn frames_of_zst_that_are_skipped_may_stand_anywhere() {
    let text = long();
    let plain = rows(Format::Mqsim, &text);
    let (first, second) = text.as_bytes().split_at(77_777);
    for kind in 0..16 {
        let frames =
            [skippable(kind, b"size"), zst(first), skippable(kind, &[7; 3000]), zst(second), skippable(kind, b"")];
        assert_eq!(read(frames.concat(), &TraceOptions::default()).unwrap().rows, plain, "kind {kind}");
    }
    let why = read(skippable(0, b"nothing else"), &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("empty"), "{why}");
}

/// The header of the first block says how large a dictionary it wants: a file of 100 bytes may ask for 4 GiB.
#[test]
fn a_dictionary_of_xz_has_a_limit() {
    let asking = |property: u8| {
        let mut file = xz(sample(Format::Mqsim).as_bytes());
        let length = (usize::from(file[12]) + 1) * 4;
        assert_eq!(&file[14..16], [0x21, 1], "LZMA2 with one property");
        file[16] = property;
        let mut crc = flate2::Crc::new();
        crc.update(&file[12..12 + length - 4]);
        file[12 + length - 4..12 + length].copy_from_slice(&crc.sum().to_le_bytes());
        file
    };
    // 64 MiB, as xz -9 has.
    assert_eq!(read(asking(28), &TraceOptions::default()).unwrap().rows, rows(Format::Mqsim, sample(Format::Mqsim)));
    for property in [29, 30, 39, 40] {
        let why = read(asking(property), &TraceOptions::default()).unwrap_err();
        assert!(why.message.contains("dictionary is larger than 64 MiB; legal is up to 64 MiB"), "{why}");
    }
}

/// Ten million lines pack into a few kilobytes: they are read a piece at a time, and a line has a limit.
#[test]
fn what_unpacks_to_much_is_read_in_pieces() {
    for (name, packed) in PACKERS {
        let why = read(packed(&vec![b'7'; 40 << 20]), &as_format(Format::Mqsim)).unwrap_err();
        assert!(why.message.contains("longer than 1 MiB"), "{name}: {why}");
    }
}

#[test]
fn a_text_that_begins_like_bz2_is_a_text() {
    let why = read("BZh9 is no compressed file\n", &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("no format reads the first lines"), "{why}");
}

#[test]
fn a_truncated_file_gives_its_whole_lines_and_then_an_error_with_the_line() {
    for (name, packed) in PACKERS {
        let packed = packed(long().as_bytes());
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
            assert_eq!(why.place, format!("t.gz:{}", requests + 1), "{name}: {why}");
            assert!(why.message.contains("ends early") || why.message.contains("cannot be read on"), "{name}: {why}");
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
    for (name, packed) in PACKERS {
        let why = read(packed(b""), &TraceOptions::default()).unwrap_err();
        assert!(why.message.contains("empty"), "{name}: {why}");
    }
}

#[test]
fn what_was_compressed_twice_is_refused_with_its_inner_format() {
    for (outer, packed) in PACKERS {
        for (inner, first) in PACKERS {
            let bytes = packed(&first(sample(Format::Spc).as_bytes()));
            for options in [TraceOptions::default(), as_format(Format::Spc)] {
                let why = read(&bytes, &options).unwrap_err().to_string();
                assert!(why.contains(&format!("compressed still, in {inner}: unpack it")), "{inner} in {outer}: {why}");
            }
        }
    }
}
