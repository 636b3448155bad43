//! Every kind of bad input: the error names the place, the value, and what would be legal.

use std::path::Path;

use super::*;

/// The error of a text as a format.
fn fails(format: Format, text: &str) -> WorkloadError {
    read(text, &as_format(format)).expect_err(text)
}

/// Checks that the error is at this place and contains all of these texts.
#[track_caller]
fn says(why: &WorkloadError, place: &str, parts: &[&str]) {
    assert_eq!(why.place, place, "{why}");
    for part in parts {
        assert!(why.message.contains(part), "`{part}` is missing in: {why}");
    }
    assert!(why.message.contains("legal") || why.message.contains("the trace has"), "nothing legal named: {why}");
}

#[test]
fn malformed_fields_are_quoted_with_what_is_legal() {
    let m = Format::Mqsim;
    says(&fails(m, "1 0 8 8 1\nx12 0 8 8 1\n"), "t:2", &["the time in ns: `x12`", "ns device lba"]);
    says(&fails(m, "1 0 8 8 1\n12x 0 8 8 1\n"), "t:2", &["`12x`"]);
    says(&fails(m, "-5 0 8 8 1\n"), "t:1", &["`-5`", "from 0"]);
    says(&fails(m, "1 0 8 8 2\n"), "t:1", &["the type: `2`", "1 (read) or 0 (write)"]);
    says(&fails(m, "1 0 8 8 11\n"), "t:1", &["`11`"]);
    says(&fails(m, "1 0 8 8\n"), "t:1", &["the type: the line ends there"]);
    says(&fails(m, "1 0 8 8 1 9\n"), "t:1", &["the end of the line: `9`", "nothing more"]);
    says(&fails(m, "18446744073709551616 0 8 8 1\n"), "t:1", &["18446744073709551615"]);
    says(&fails(m, "1 0 36028797018963968 8 1\n"), "t:1", &["the address in sectors", "36028797018963967"]);
    says(&fails(Format::Disksim, "1e999 0 8 8 1\n"), "t:1", &["`1e999`"]);
    says(&fails(Format::Disksim, "1 0 8 8 g\n"), "t:1", &["`g`", "hexadecimal"]);
    says(&fails(Format::Replayer, "1,5 0 512 512 1\n"), "t:1", &["the time in ms: `1,5`"]);
    says(&fails(Format::Msr, "184467440737095517,h,0,Read,0,512,1\n"), "t:1", &["`184467440737095517`", "file time"]);
    says(&fails(Format::Msr, "1,h,0,Erase,0,512,1\n"), "t:1", &["`Erase`", "Read or Write"]);
    says(&fails(Format::Spc, "0,8,4096,x,1.0\n"), "t:1", &["`x`", "r, R, w or W"]);
    says(&fails(Format::Alibaba, "1,R,0,512,18446744073709552\n"), "t:1", &["microseconds"]);
    says(&fails(Format::Tencent, "18446744073,0,8,1,1\n"), "t:1", &["seconds"]);
    says(&fails(Format::Tencent, "1,0,8,2,1\n"), "t:1", &["`2`", "0 (read) or 1 (write)"]);
    says(&fails(Format::Systor, "1.0,0.1,X,0,0,512\n"), "t:1", &["`X`", "R, W or blank"]);
    says(&fails(Format::Blkparse, "8,0 0 1 0.1 7 Q R 16 8 [x]\n"), "t:1", &["plus"]);
    says(&fails(Format::IologV2, "fio version 2 iolog\n/dev/x erase 0 1\n"), "t:2", &["`erase`", "sync"]);
    says(&fails(Format::IologV2, "/dev/x add\n"), "t:1", &["`fio version 2 iolog`"]);
    says(&fails(Format::IologV3, "fio version 3 iolog\n5 /dev/x wait 10\n"), "t:2", &["version 2"]);
}

/// Where a number ends before its column does, that column is at fault, with all of its value.
#[test]
fn a_column_that_ends_early_is_the_one_at_fault() {
    let tencent = Format::Tencent;
    says(
        &fails(tencent, "1,2929680,1e3,1,0\n"),
        "t:1",
        &["the size in sectors: `1e3`", "a number of 512-byte sectors"],
    );
    says(&fails(tencent, "1,1.5,8,0,0\n"), "t:1", &["the offset in sectors: `1.5`"]);
    says(&fails(tencent, "1.5,8,8,0,0\n"), "t:1", &["the time in seconds: `1.5`", "a whole number"]);
    says(&fails(tencent, "1,8,8,0,0x7\n"), "t:1", &["the volume: `0x7`"]);
    says(&fails(Format::Mqsim, "5 0 8 1_000 1\n"), "t:1", &["the size in sectors: `1_000`"]);
    says(&fails(Format::Mqsim, "1.5 0 8 8 1\n"), "t:1", &["the time in ns: `1.5`"]);
    says(&fails(Format::Alibaba, "1,R,0x10,512,9\n"), "t:1", &["the offset in bytes: `0x10`"]);
    says(&fails(Format::Spc, "0,8;5,4096,r,1.0\n"), "t:1", &["`8;5`"]);
    says(&fails(Format::Blkparse, "8,0 0 1 0.1 7 Q R 0x800 + 8 [x]\n"), "t:1", &["the sector: `0x800`"]);
    says(&fails(Format::Blkparse, "8,0 0 1 0.1x 7 Q R 8 + 8 [x]\n"), "t:1", &["the time in seconds: `0.1x`"]);
    let ftrace = "fio-97 [000] ..... 12.5: block_bio_queue: 8,0 R 0x800 + 8 [fio]\n";
    says(&fails(Format::Ftrace, ftrace), "t:1", &["the sector: `0x800`"]);
    says(&fails(Format::Mqsim, "1 0 8 8\n"), "t:1", &["the type: the line ends there"]);
}

#[test]
fn only_the_beginning_of_a_file_says_that_it_is_utf_16() {
    let why = |bytes: &[u8]| read(bytes, &as_format(Format::Tencent)).unwrap_err().to_string();
    let line = "1,8,8,0,0\n";
    let later = why(&[line.as_bytes(), line.as_bytes(), b"\xff\xfe,8,8,0,0\n"].concat());
    assert!(later.starts_with("t:3") && !later.contains("UTF-16"), "{later}");
    let first = why(b"\xff\xfe1\0,\0\n");
    assert!(first.contains("UTF-16"), "{first}");
}

#[test]
fn a_device_that_is_none_of_many_is_told_how_many_there_are() {
    let text = |devices: usize| (0..devices).map(|n| format!("{n},8,4096,r,{n}.0\n")).collect::<String>();
    let options = TraceOptions { device: Some("99".into()), ..as_format(Format::Spc) };
    let why = |devices| read(text(devices), &options).unwrap_err().to_string();
    assert!(why(16).ends_with("the trace has `0`, `1`, `2`, `3`, `4`, `5`, `6`, `7` and 8 more"), "{}", why(16));
    assert!(why(8).ends_with("`6`, `7`"), "{}", why(8));
}

#[test]
fn times_that_go_back_are_refused_with_both_figures() {
    let why = fails(Format::Mqsim, "500 0 8 8 1\n900 0 8 8 1\n650 0 8 8 1\n");
    says(&why, "t:3", &["650 ns goes back by 250 ns", "ascending", "clamp"]);
}

#[test]
fn sizes_of_zero_or_too_much_are_refused() {
    says(&fails(Format::Mqsim, "1 0 8 8 1\n2 0 8 0 1\n"), "t:2", &["0 bytes", "1 to 67108864"]);
    says(&fails(Format::Replayer, "1 0 0 67108865 1\n"), "t:1", &["67108865 bytes"]);
    let fine = read("1 0 0 67108864 1\n", &as_format(Format::Replayer)).unwrap();
    assert_eq!(fine.rows, vec![(0, R, 0, 67_108_864)]);
}

#[test]
fn addresses_beyond_the_drive_are_refused() {
    let text = "1 0 4096 4096 1\n2 0 6144 4096 0\n";
    assert_eq!(read_on(text.as_bytes(), &as_format(Format::Replayer), 10_240).unwrap().rows.len(), 2);
    let why = read_on(text.as_bytes(), &as_format(Format::Replayer), 10_239).unwrap_err();
    says(&why, "t:2", &["bytes 6144 to 10239", "below 10239", "wrap", "reject"]);
    let edge = "1 0 18446744073709551615 512 1\n";
    says(&read(edge, &as_format(Format::Replayer)).unwrap_err(), "t:1", &["18446744073709552126"]);
}

#[test]
fn empty_missing_and_odd_files() {
    let open = |path: &Path| TraceSource::open(path, &TraceOptions::default(), HUGE).err().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let missing = path("missing");
    says(&open(&missing), missing.to_str().unwrap(), &["no such file"]);
    let empty = path("empty");
    std::fs::write(&empty, b"").unwrap();
    says(&open(&empty), empty.to_str().unwrap(), &["empty"]);
    says(&open(dir.path()), dir.path().to_str().unwrap(), &["directory", "blktrace.0"]);
    says(&read("", &TraceOptions::default()).unwrap_err(), "t", &["empty"]);
    says(&read("\n# only a comment\n", &TraceOptions::default()).unwrap_err(), "t:1", &["only blank lines"]);
    says(&fails(Format::Mqsim, "# nothing\n"), "t", &["no request", "ns device lba"]);
    let quiet = "Timestamp,Response,IOType,LUN,Offset,Size\n1.0,,,0,,\n";
    says(&fails(Format::Systor, quiet), "t", &["no request"]);
}

#[test]
fn unknown_formats_and_binary_data_are_refused() {
    let any = TraceOptions::default();
    says(&read("hello world\nthis is prose\n", &any).unwrap_err(), "t:1", &["`hello world`", "msr, spc, mqsim"]);
    says(&read([7u8, 0, 1, 2, 3, 250, 0, 1], &any).unwrap_err(), "t:1", &["binary data", "\\x07\\x00"]);
    says(&read("fio version 4 iolog\n", &any).unwrap_err(), "t:1", &["`fio version 4 iolog`", "2 or 3"]);
    let garbage: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let why = read(&garbage, &as_format(Format::Mqsim)).unwrap_err();
    assert!(why.place.starts_with("t:") && why.message.is_ascii(), "{why}");
    let long = vec![b'7'; (1 << 20) + 1];
    says(&read(&long, &as_format(Format::Mqsim)).unwrap_err(), "t:1", &["longer than 1 MiB"]);
}

#[test]
fn traces_that_cannot_be_replayed_are_refused_with_the_reason() {
    let any = TraceOptions::default();
    let header = "filename,application,file_offset,c_time,io_zone,redundancy_type,op_type,service_class\n";
    says(&read(header, &any).unwrap_err(), "t:1", &["Thesios", "never an address"]);
    let row = "a1b2,spanner,4096,1705276800,WARM,REPLICATED,READ,OTHER,0,1,4096,4096,0,1705276800.1\n";
    says(&read(row, &any).unwrap_err(), "t:1", &["Thesios"]);
    let oracle: Vec<u8> = (0..50u64)
        .flat_map(|i| {
            let mut record = Vec::new();
            record.extend_from_slice(&(1_000 + i as u32 / 3).to_le_bytes());
            record.extend_from_slice(&(0xdead_beef_0000 + i * 7919).to_le_bytes());
            record.extend_from_slice(&4096u32.to_le_bytes());
            record.extend_from_slice(&(if i % 2 == 0 { -1i64 } else { i as i64 + 9 }).to_le_bytes());
            record
        })
        .collect();
    says(&read(&oracle, &any).unwrap_err(), "t:1", &["oracleGeneral", "neither operation nor address"]);
    let mut tar = vec![0u8; 512];
    tar[257..262].copy_from_slice(b"ustar");
    says(&read(&tar, &any).unwrap_err(), "t:1", &["tar archive", "unpack"]);
    says(&read(b"PK\x03\x04rest", &any).unwrap_err(), "t:1", &["zip"]);
    says(&read(b"\xff\xfe1\x00 \x000\x00", &any).unwrap_err(), "t:1", &["UTF-16"]);
}

#[test]
fn a_device_that_is_not_there_is_answered_with_those_that_are() {
    let options = TraceOptions { device: Some("5".into()), ..as_format(Format::Mqsim) };
    says(&read("1 0 8 8 1\n2 3 8 8 1\n3 0 8 8 0\n", &options).unwrap_err(), "t", &["`5`", "`0`, `3`"]);
}

#[test]
fn options_out_of_range_are_named() {
    let text = sample(Format::Mqsim);
    let bad = |change: fn(&mut TraceOptions)| {
        let mut options = TraceOptions::default();
        change(&mut options);
        read(text, &options).unwrap_err()
    };
    says(&bad(|o| o.loops = 0), "loops", &["`0`"]);
    says(&bad(|o| o.limit = Some(0)), "limit", &["`0`"]);
    says(&bad(|o| o.offset = 2), "offset", &["`2`", "0 to 1"]);
    says(&bad(|o| o.max_request_bytes = 0), "max_request_bytes", &["`0`", "1073741824"]);
    says(&bad(|o| o.start = flashlane_core::Time::NEVER), "start_ns", &["18446744073709551615"]);
    says(&bad(|o| o.device = Some(String::new())), "device", &["legal"]);
}

#[test]
fn times_beyond_what_a_run_can_hold_are_refused() {
    let text = "0 0 8 8 1\n72057594037927935 0 8 8 1\n";
    assert_eq!(rows(Format::Mqsim, text)[1].0, flashlane_core::Time::LAST.ns());
    let later = read("0 0 8 8 1\n72057594037927936 0 8 8 1\n", &as_format(Format::Mqsim)).unwrap_err();
    says(&later, "t:2", &["72057594037927936", "legal is up to 72057594037927935"]);
    let slower = TraceOptions { speedup: "1/2".parse().unwrap(), ..as_format(Format::Mqsim) };
    says(&read(text, &slower).unwrap_err(), "t:2", &["72057594037927935"]);
    let twice = TraceOptions { loops: 2, ..as_format(Format::Mqsim) };
    says(&read(text, &twice).unwrap_err(), "t:1", &["legal is up to"]);
}

#[test]
fn a_byte_of_value_zero_is_reported_on_its_line() {
    let text = format!("{}0,usr,0,Re\0d,0,4096,1\n", "0,usr,0,Read,0,4096,1\n".repeat(5));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    std::fs::write(&path, text).unwrap();
    let why = TraceSource::open(&path, &TraceOptions::default(), HUGE).map(drop).unwrap_err();
    assert!(why.place.ends_with("t.csv:6") && why.message.contains("a byte of value 0"), "{why}");
}
