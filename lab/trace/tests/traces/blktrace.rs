//! Binary blktrace, made here byte by byte in both byte orders.

use flashlane_trace::{Action, TimeOrder};

use super::*;

const MAGIC: u32 = 0x6561_7407;
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const FS: u32 = 1 << 24;
const PC: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const FUA: u32 = 1 << 31;
const DISCARD: u32 = 1 << 29;

/// One record: time, sector, bytes, action word, device, extra bytes.
#[derive(Clone, Copy)]
struct Rec(u64, u64, u32, u32, u32, u16);

const SDA: u32 = 8 << 20;
const SDB: u32 = 8 << 20 | 16;

fn encode(records: &[Rec], big: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, Rec(time, sector, bytes, action, device, pdu)) in records.iter().copied().enumerate() {
        let mut word = |v: u32| out.extend_from_slice(&if big { v.to_be_bytes() } else { v.to_le_bytes() });
        word(MAGIC);
        word(i as u32);
        let halves = |v: u64| if big { [(v >> 32) as u32, v as u32] } else { [v as u32, (v >> 32) as u32] };
        for half in [halves(time), halves(sector)].concat() {
            word(half);
        }
        for value in [bytes, action, 4242, device, 3] {
            word(value);
        }
        for half in [0u16, pdu] {
            out.extend_from_slice(&if big { half.to_be_bytes() } else { half.to_le_bytes() });
        }
        out.extend(std::iter::repeat_n(0xee, pdu as usize));
    }
    out
}

const CPU0: [Rec; 6] = [
    Rec(0, 0, 0, NOTIFY, 0, 12),
    Rec(1_000, 16, 4096, READ | QUEUE, SDA, 0),
    Rec(1_500, 16, 4096, READ | ISSUE, SDA, 7),
    Rec(3_000, 1 << 33, 8192, WRITE | QUEUE | 1 << 8, SDA, 8),
    Rec(3_100, 64, 4096, WRITE | DISCARD | QUEUE, SDA, 0),
    Rec(3_200, u64::MAX, 0, WRITE | FLUSH | QUEUE, SDA, 0),
];
const CPU1: [Rec; 2] = [Rec(2_000, 80, 512, WRITE | QUEUE, SDB, 0), Rec(3_000, 96, 1024, READ | QUEUE, SDA, 3)];

#[test]
fn times_in_another_unit() {
    let options = TraceOptions { time_unit: Some(flashlane_trace::TimeUnit::Us), ..TraceOptions::default() };
    let times =
        |bytes: &[u8]| read(bytes, &options).map(|whole| whole.rows.iter().map(|row| row.0).collect::<Vec<_>>());
    assert_eq!(times(&encode(&CPU0, false)), Ok(vec![0, 2_000_000, 2_100_000, 2_200_000]));
    let late = encode(&[Rec(u64::MAX / 1_000 + 1, 16, 4096, READ | QUEUE, SDA, 0)], false);
    let why = times(&late).unwrap_err();
    assert!(why.place == "t:record 1" && why.message.contains("legal is 0 to 18446744073709551"), "{why}");
}

#[test]
fn both_byte_orders_pdus_notifies_and_other_actions() {
    for big in [false, true] {
        let bytes = encode(&CPU0, big);
        let whole = read(&bytes, &TraceOptions::default()).unwrap();
        assert_eq!(whole.recognition.format, Format::Blktrace);
        let commands = [(2_100, T, 32_768, 4096), (2_200, F, 0, 0)];
        assert_eq!(whole.rows, [&[(0, R, 8192, 4096), (2_000, W, 512 << 33, 8192)], &commands[..]].concat());
        assert_eq!((whole.counts.lines, whole.counts.skipped), (6, 2));
        let issued = TraceOptions { action: Some(Action::Issue), ..TraceOptions::default() };
        assert_eq!(read(&bytes, &issued).unwrap().rows, vec![(0, R, 8192, 4096)]);
    }
    let only_issued = encode(&[CPU0[0], CPU0[2]], false);
    assert_eq!(read(only_issued, &TraceOptions::default()).unwrap().rows.len(), 1, "D when there is no Q");
}

/// As the kernel writes them: what the driver gets has the category of file systems (FS), or of commands passed through (PC).
#[test]
fn flushes_come_before_their_data_and_forced_writes_have_the_flag() {
    let records = [
        Rec(1_000, 16, 4096, WRITE | FLUSH | FUA | QUEUE, SDA, 0),
        Rec(1_100, 0, 0, READ | FLUSH | FS | ISSUE, SDA, 0),
        Rec(1_200, 16, 4096, WRITE | FUA | FS | ISSUE, SDA, 0),
        Rec(1_300, 16, 4096, READ | PC | ISSUE, SDA, 0),
        Rec(1_400, 32, 512, WRITE | DISCARD | FS | ISSUE, SDA, 0),
        Rec(1_500, 48, 512, READ | FUA | FS | ISSUE, SDA, 0),
    ];
    let whole = read(encode(&records, false), &TraceOptions::default()).unwrap();
    assert_eq!((whole.rows, whole.fua), (vec![(0, F, 0, 0), (0, W, 8192, 4096)], vec![1]));
    assert_eq!((whole.counts.requests, whole.counts.lines, whole.counts.skipped), (2, 6, 5));
    let issued = TraceOptions { action: Some(Action::Issue), ..TraceOptions::default() };
    let whole = read(encode(&records, true), &issued).unwrap();
    let want = [(0, F, 0, 0), (100, W, 8192, 4096), (300, T, 16_384, 512), (400, R, 24_576, 512)];
    assert_eq!((whole.rows, whole.fua), (want.to_vec(), vec![1]));
}

#[test]
fn a_limit_and_loops_may_part_a_flush_from_its_write() {
    let records = [Rec(1_000, 16, 512, WRITE | FLUSH | QUEUE, SDA, 0), Rec(3_000, 16, 512, READ | QUEUE, SDA, 0)];
    let limited = TraceOptions { limit: Some(1), loops: 2, ..TraceOptions::default() };
    assert_eq!(read(encode(&records, false), &limited).unwrap().rows, [(0, F, 0, 0); 2]);
    let offset = TraceOptions { offset: 1, ..TraceOptions::default() };
    assert_eq!(read(encode(&records, false), &offset).unwrap().rows, [(0, W, 8192, 512), (2_000, R, 8192, 512)]);
}

#[test]
fn per_cpu_files_are_merged_by_time_however_they_are_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("sda.blktrace.0"), encode(&CPU0, false)).unwrap();
    std::fs::write(dir.path().join("sda.blktrace.1"), encode(&CPU1, false)).unwrap();
    std::fs::write(dir.path().join("sda.blktrace.2"), b"").unwrap();
    std::fs::write(dir.path().join("notes.txt"), b"not a trace").unwrap();
    let want = vec![
        (0, R, 8192, 4096),
        (1_000, W, 80 * 512, 512),
        (2_000, W, 512 << 33, 8192),
        (2_000, R, 96 * 512, 1024),
        (2_100, T, 32_768, 4096),
        (2_200, F, 0, 0),
    ];
    let any = TraceOptions::default();
    for path in [dir.path().to_path_buf(), dir.path().join("sda"), dir.path().join("sda.blktrace.*")] {
        let whole = drain(TraceSource::open(&path, &any, HUGE).unwrap(), HUGE).unwrap();
        assert_eq!(whole.rows, want, "{}", path.display());
    }
    let one = drain(TraceSource::open(&dir.path().join("sda.blktrace.1"), &any, HUGE).unwrap(), HUGE).unwrap();
    assert_eq!(one.rows.len(), 2, "a file named in full is that file");
    let device = TraceOptions { device: Some("8,16".into()), loops: 2, ..any };
    let whole = drain(TraceSource::open(dir.path(), &device, HUGE).unwrap(), HUGE).unwrap();
    assert_eq!(whole.rows, vec![(0, W, 80 * 512, 512); 2]);
}

/// The kernel's numbers have 12 bits of major and 20 of minor: partitions of NVMe drives go beyond 255.
#[test]
fn devices_have_large_numbers_too() {
    let nvme = |minor: u32| Rec(1_000, 16, 4096, READ | QUEUE, 259 << 20 | minor, 0);
    let bytes = encode(&[nvme(300), nvme(300 - 256), nvme(0xf_ffff)], false);
    for (name, count) in [("259,300", 1), ("259,44", 1), ("259,1048575", 1)] {
        let options = TraceOptions { device: Some(name.into()), ..TraceOptions::default() };
        assert_eq!(read(&bytes, &options).unwrap().rows.len(), count, "{name}");
    }
}

#[test]
fn broken_records_are_refused_by_number() {
    let bytes = encode(&CPU0, false);
    for (kept, number) in [(20, 1), (48 + 5, 1), (48 + 12 + 47, 1), (48 + 12 + 48 + 48 + 3, 3)] {
        let why = read(&bytes[..kept], &as_format(Format::Blktrace)).unwrap_err();
        assert_eq!(why.place, format!("t:record {number}"), "{why}");
        assert!(why.message.contains("ends inside a record"), "{why}");
    }
    let mut flipped = bytes.clone();
    flipped[60] ^= 1;
    let why = read(&flipped, &TraceOptions::default()).unwrap_err();
    assert_eq!(why.place, "t:record 2");
    assert!(why.message.contains("version 6; legal is 7"), "{why}");
    flipped[63] = 0;
    let why = read(&flipped, &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("magic 0x00617406; legal is 0x65617407"), "{why}");
    let why = read(encode(&CPU0[..1], false), &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("no request"), "{why}");
}

#[test]
fn unsorted_records_of_one_cpu_are_an_error_or_clamped() {
    let records = [CPU1[1], CPU1[0]];
    let why = read(encode(&records, true), &TraceOptions::default()).unwrap_err();
    assert_eq!(why.place, "t:record 2");
    let clamp = TraceOptions { order: TimeOrder::Clamp, ..TraceOptions::default() };
    assert_eq!(read(encode(&records, true), &clamp).unwrap().counts.clamped, 1);
}

const REMAP: u32 = 15;
const COMPLETE: u32 = 8;

/// A remap: its extra bytes name the device it comes from in the byte order of networks, behind a control group if it has one.
fn remapped(record: Rec, from: u32, big: bool, cgroup: bool) -> Vec<u8> {
    let Rec(time, sector, bytes, action, device, _) = record;
    let pdu = if cgroup { 24 } else { 16 };
    let flag = if cgroup { 1 << 8 } else { 0 };
    let mut out = encode(&[Rec(time, sector, bytes, action | flag, device, pdu)], big);
    let at = out.len() - 16;
    out[at..at + 4].copy_from_slice(&from.to_be_bytes());
    out
}

#[test]
fn requests_of_stacked_devices_are_read_once_in_either_byte_order() {
    let dm = 253 << 20;
    for (big, cgroup) in [(false, false), (true, false), (false, true), (true, true)] {
        let parts = [
            encode(&[Rec(1_000, 8, 4096, READ | QUEUE, dm, 0)], big),
            remapped(Rec(1_100, 2056, 4096, READ | REMAP, SDA, 0), dm, big, cgroup),
            encode(&[Rec(1_200, 2056, 4096, READ | QUEUE, SDA, 0)], big),
            encode(
                &[Rec(1_300, 2056, 4096, READ | ISSUE, SDA, 0), Rec(1_900, 2056, 4096, READ | COMPLETE, SDA, 0)],
                big,
            ),
            encode(&[Rec(2_000, 8, 4096, READ | COMPLETE, dm, 0)], big),
        ];
        let bytes = parts.concat();
        let whole = read(&bytes, &TraceOptions::default()).unwrap();
        assert_eq!((whole.rows, whole.counts.stacked), (vec![(0, R, 2056 * 512, 4096)], 1), "{big} {cgroup}");
        let notes = whole.recognition.notes.join("; ");
        assert!(notes.contains("Q (queued) 2 is read, by default; not read: D (issued) 1, C (completed) 2"), "{notes}");
        assert!(notes.contains("`253,0` lies over `8,0`: its 1 request is left out"), "{notes}");
        let upper = TraceOptions { device: Some("253,0".into()), ..TraceOptions::default() };
        assert_eq!(read(&bytes, &upper).unwrap().rows, [(0, R, 4096, 4096)], "asked for, it is read");
        let completed = TraceOptions { action: Some(Action::Complete), ..TraceOptions::default() };
        assert_eq!(read(&bytes, &completed).unwrap().rows, [(0, R, 2056 * 512, 4096)]);
        // Nothing below was issued but by the disk itself.
        let issued = TraceOptions { action: Some(Action::Issue), ..TraceOptions::default() };
        assert_eq!(read(&bytes, &issued).unwrap().counts.stacked, 0);
    }
}

#[test]
fn completions_alone_are_read_only_on_request() {
    let records = [Rec(1_000, 16, 4096, READ | COMPLETE, SDA, 0), Rec(4_000, 0, 0, WRITE | FLUSH | COMPLETE, SDA, 0)];
    let bytes = encode(&records, false);
    let why = read(&bytes, &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("only completions (C 2): Q (queued) or D (issued) is read"), "{why}");
    let asked = TraceOptions { action: Some(Action::Complete), ..TraceOptions::default() };
    assert_eq!(read(&bytes, &asked).unwrap().rows, [(0, R, 8192, 4096), (3_000, F, 0, 0)]);
    let issued = TraceOptions { action: Some(Action::Issue), ..TraceOptions::default() };
    let why = read(&bytes, &issued).unwrap_err();
    assert!(
        why.place == "action" && why.message.contains("0 D (issued); it has C (completed) 2: legal is complete"),
        "{why}"
    );
}
