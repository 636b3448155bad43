//! The kernel's `block:` events as ftrace, trace-cmd and perf print them, and binary VSCSI records: made here.

use flashlane_trace::{Action, TimeUnit};

use super::*;

/// How a tool prints an event at a time in us.
type Printed = fn(us: u64, event: &str, says: &str) -> String;

fn seconds(us: u64) -> String {
    format!("{}.{:06}", 100 + us / 1_000_000, us % 1_000_000)
}

const TOOLS: [(&str, Printed); 6] = [
    ("trace_pipe", |us, event, says| {
        format!("           <...>-97      [001] d..1.   {}: {event}: {says}\n", seconds(us))
    }),
    ("trace of old kernels", |us, event, says| {
        format!("     kworker/0:1-31    [000] ....  {}: {event}: {says}\n", seconds(us))
    }),
    ("trace with groups", |us, event, says| {
        format!("     fio-97   (   96) [000] d.... {}: {event}: {says}\n", seconds(us))
    }),
    ("trace-cmd", |us, event, says| {
        format!("             fio-97    [003]   {}: {event:<21}{says}\n", seconds(us), event = format!("{event}:"))
    }),
    ("perf", |us, event, says| format!("my fio    97 [001]   {}:  block:{event}: {says}\n", seconds(us))),
    ("perf with periods", |us, event, says| {
        format!("fio    97 [001] {}000:          1 block:{event}: {says} \n", seconds(us))
    }),
];

/// What happens to a read, a flushing write with FUA, a discard and a command that is passed through.
const EVENTS: [(u64, &str, &str); 17] = [
    (10, "block_bio_queue", "8,0 R 16 + 8 [fio]"),
    (11, "block_getrq", "8,0 R 16 + 8 [fio]"),
    (12, "block_rq_insert", "8,0 R 4096 () 16 + 8 be,0,4 [fio]"),
    (13, "block_rq_issue", "8,0 R 4096 () 16 + 8 be,0,4 [fio]"),
    (20, "block_bio_queue", "8,0 FWFS 80 + 48 [my: fio]"),
    (21, "block_rq_issue", "8,0 FF 0 () 18446744073709551615 + 0 [kworker/0:1H]"),
    (22, "block_rq_complete", "8,0 FF () 18446744073709551615 + 0 [0]"),
    (23, "block_rq_issue", "8,0 WFS 24576 () 80 + 48 none,0,0 [kworker/0:1H]"),
    (24, "block_rq_complete", "8,0 R () 16 + 8 be,0,4 [0]"),
    (30, "block_plug", "[fio]"),
    (31, "block_unplug", "[fio] 1"),
    (40, "block_bio_queue", "8,16 DS 0 + 64 [fstrim]"),
    (41, "block_rq_issue", "8,16 DS 32768 () 0 + 64 [fstrim]"),
    (42, "block_rq_issue", "8,0 R 36 (12 00 00 00 24 00) 0 + 0 [udev]"),
    (43, "block_rq_issue", "8,0 N 0 (a1 08) 0 + 0 [smartd]"),
    (44, "block_rq_complete", "8,0 WFS () 80 + 48 [0]"),
    (45, "sched_switch", "prev_comm=fio prev_pid=97 ==> next_comm=x: 8,0 R"),
];

fn printed(tool: Printed, events: &[(u64, &str, &str)]) -> String {
    events.iter().map(|(us, event, says)| tool(*us, event, says)).collect()
}

#[test]
fn each_tool_prints_the_same_events() {
    let options = |action| TraceOptions { action, ..TraceOptions::default() };
    for (name, tool) in TOOLS {
        let text = printed(tool, &EVENTS);
        let whole = read(&text, &options(None)).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(whole.recognition.format, Format::Ftrace, "{name}");
        let queued = [(0, R, 8192, 4096), (10_000, F, 0, 0), (10_000, W, 40_960, 24_576), (30_000, T, 0, 32_768)];
        assert_eq!((whole.rows, whole.fua), (queued.to_vec(), vec![2]), "{name}");
        assert_eq!((whole.counts.lines, whole.counts.skipped), (17, 14), "{name}");
        let notes = whole.recognition.notes.join("; ");
        let said = "Q (queued) 3 is read, by default; not read: D (issued) 6, C (completed) 3 (--action takes another); block_getrq 1";
        assert!(notes.starts_with(said), "{name}: {notes}");
        let issued = [(0, R, 8192, 4096), (8_000, F, 0, 0), (10_000, W, 40_960, 24_576), (28_000, T, 0, 32_768)];
        assert_eq!(read(&text, &options(Some(Action::Issue))).unwrap().rows, issued, "{name}");
        let completed = [(0, F, 0, 0), (2_000, R, 8192, 4096), (22_000, W, 40_960, 24_576)];
        assert_eq!(read(&text, &options(Some(Action::Complete))).unwrap().rows, completed, "{name}");
        let device = TraceOptions { device: Some("8,16".into()), ..TraceOptions::default() };
        assert_eq!(read(&text, &device).unwrap().rows, [(0, T, 0, 32_768)], "{name}");
    }
}

/// The first lines may have no block event at all, and each tool's own lines may stand anywhere.
#[test]
fn what_the_tools_print_beside_events_is_skipped() {
    let beside = [
        "# tracer: nop",
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
        "version = 7",
        "CPU 0 is empty",
        "cpus=4",
        "",
        "        ffffffff8140a1b2 blk_mq_start_request+0x92 ([kernel.kallsyms])",
        "            7f3a2b1c pread64+0x17 (/usr/lib/libc.so.6)",
        " => submit_bio_noacct",
        "             fio-97    [000] .....    99.000001: vfs_read <-ksys_read",
        "             fio-97    [000] .....    99.000001: sched_waking: comm=a pid=7 prio=120 target_cpu=000",
    ];
    for (name, tool) in TOOLS {
        let text = printed(tool, &EVENTS);
        let want = read(&text, &TraceOptions::default()).unwrap().rows;
        let (first, second) =
            text.split_at(text.find("block_getrq").map(|at| text[..at].rfind('\n').unwrap() + 1).unwrap());
        let whole =
            read(format!("{}\n{first}{}\n{second}", beside.join("\n"), beside.join("\n")), &TraceOptions::default());
        let whole = whole.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((whole.recognition.format, whole.rows), (Format::Ftrace, want), "{name}");
    }
}

#[test]
fn lost_events_are_counted_and_said() {
    let text = printed(TOOLS[0].1, &EVENTS);
    for lost in ["CPU:1 [LOST 52 EVENTS]", "CPU 3: 17 EVENTS DROPPED", "CPU:0 [7 EVENTS DROPPED]"] {
        let whole = read(format!("{lost}\n{text}{lost}\n"), &TraceOptions::default()).unwrap();
        assert!(whole.recognition.notes.contains(&"its recorder lost events in 2 places".to_owned()), "{lost}");
    }
}

#[test]
fn broken_events_are_refused_by_line() {
    let fails = |line: &str, says: &str| {
        let text = format!("{}{line}\n", printed(TOOLS[4].1, &EVENTS));
        let why = read(text, &as_format(Format::Ftrace)).unwrap_err();
        assert!(why.place == "t:18" && why.message.contains(says), "{line}: {why}");
    };
    fails("fio 97 [001] 100.5: block:block_bio_queue: 8,0 R 16 8 [fio]", "the plus sign: `8`");
    fails("fio 97 [001] 100.5: block:block_bio_queue: 8,0 R 16 + x [fio]", "the number of sectors: `x`");
    fails("fio 97 [001] 100.5: block:block_bio_queue: 8 R 16 + 8 [fio]", "the minor number");
    fails("fio 97 [001] 100.5: block:block_bio_queue: 8,0 7 16 + 8 [fio]", "the operation (rwbs): `7`");
    fails("fio 97 [001] 100.5: block:block_bio_queue: 8,0 R 99999999999999999999 + 8", "the sector");
    fails("fio 97 [001] 100: block:block_bio_queue: 8,0 R 16 + 8", "seconds with a decimal point");
    fails("fio 97 [001] 100.5: block:block_bio_queue: 8,0", "the operation (rwbs)");
    fails("fio 97 [001] block:block_bio_queue: 8,0 R 16 + 8", "the event");
    fails("8,0 0 1 0.1 7 Q R 16 + 8 [a]", "the event");
    let issued = "fio 97 [001] 100.5: block:block_rq_issue: 8,0 R 4096 16 + 8 [fio]\n";
    let why = read(issued, &as_format(Format::Ftrace)).unwrap_err();
    assert!(why.message.contains("the command: `16`"), "{why}");
}

#[test]
fn stacked_devices_and_partitions_as_in_blkparse() {
    let events = [
        (1, "block_bio_queue", "253,0 R 8 + 8 [a]"),
        (2, "block_bio_remap", "8,2 R 2056 + 8 <- (253,0) 8"),
        (3, "block_bio_remap", "8,2 R 4104 + 8 <- (8,2) 2056"),
        (4, "block_bio_queue", "8,2 R 4104 + 8 [a]"),
        (5, "block_rq_issue", "8,0 R 4096 () 4104 + 8 [a]"),
    ];
    for (name, tool) in TOOLS {
        let whole = read(printed(tool, &events), &TraceOptions::default()).unwrap();
        assert_eq!((whole.rows, whole.counts.stacked), (vec![(0, R, 4104 * 512, 4096)], 1), "{name}");
    }
}

/// A record of VSCSI: version, command, length, block, time.
#[derive(Clone, Copy)]
struct Scsi(u8, u16, u32, u64, u64);

fn packed(records: &[Scsi]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, Scsi(version, command, length, block, time)) in records.iter().copied().enumerate() {
        let (serial, sg) = ((number as u32).to_le_bytes(), 1u32.to_le_bytes());
        let version_word = (u16::from(version) << 8 | 7).to_le_bytes();
        let (command, length) = (command.to_le_bytes(), length.to_le_bytes());
        let (block, time) = (block.to_le_bytes(), time.to_le_bytes());
        match version {
            1 => out.extend([&serial[..], &length, &sg, &command, &version_word, &block, &time].concat()),
            _ => out.extend(
                [&command[..], &version_word, &serial, &length, &sg, &block, &time, &250u64.to_le_bytes()].concat(),
            ),
        }
    }
    out
}

fn scsi(version: u8) -> Vec<Scsi> {
    vec![
        Scsi(version, 0x28, 4096, 16, 5_633_898_368_802),
        Scsi(version, 0x2a, 24_576, 80, 5_633_898_369_052),
        Scsi(version, 0x42, 24, 0, 5_633_898_369_053),
        Scsi(version, 0x12, 36, 0, 5_633_898_369_054),
        Scsi(version, 0x35, 0, 0, 5_633_898_369_055),
        Scsi(version, 0x88, 512, 1 << 33, 5_633_898_369_056),
    ]
}

#[test]
fn both_versions_of_binary_vscsi_are_recognised_and_read() {
    let want = [(0, R, 8192, 4096), (250_000, W, 40_960, 24_576), (253_000, F, 0, 0), (254_000, R, 512 << 33, 512)];
    for version in [1, 2] {
        let bytes = packed(&scsi(version));
        let whole = read(&bytes, &TraceOptions::default()).unwrap();
        assert_eq!((whole.recognition.format, &whole.rows[..]), (Format::VscsiBinary, &want[..]), "{version}");
        assert_eq!((whole.counts.lines, whole.counts.skipped), (6, 2), "{version}");
        let gz = {
            use std::io::Write;
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        };
        let twice = TraceOptions { loops: 2, ..TraceOptions::default() };
        assert_eq!(read(gz, &twice).unwrap().rows.len(), 8, "{version}");
        let unit = TraceOptions { time_unit: Some(TimeUnit::Ns), ..TraceOptions::default() };
        assert_eq!(read(&bytes, &unit).unwrap().rows[1].0, 250, "{version}");
        assert_eq!(read(packed(&scsi(version)[..1]), &TraceOptions::default()).unwrap().rows.len(), 1, "one record");
    }
}

#[test]
fn broken_records_of_vscsi_are_refused_by_number() {
    for version in [1, 2] {
        let size = if version == 1 { 32 } else { 40 };
        let bytes = packed(&scsi(version));
        let fails = |bytes: &[u8], number: usize, says: &str| {
            let why = read(bytes, &as_format(Format::VscsiBinary)).unwrap_err();
            assert!(why.place == format!("t:record {number}") && why.message.contains(says), "{version}: {why}");
        };
        for kept in [size + 1, 2 * size - 1, 5 * size + 7] {
            fails(&bytes[..kept], kept / size + 1, "ends inside a record");
        }
        let mut other = scsi(version);
        other[3].0 = 3 - version;
        let mut mixed = packed(&other[..3]);
        let mut wrong = packed(&scsi(version)[3..4]);
        wrong[if version == 1 { 15 } else { 3 }] = 9;
        mixed.extend(wrong);
        fails(&mixed, 4, "version 9; legal is");
        let mut command = scsi(version);
        command[2].1 = 0x128;
        fails(&packed(&command), 3, "the command 0x0128");
        let mut block = scsi(version);
        block[1].3 = u64::MAX / 512 + 1;
        fails(&packed(&block), 2, "legal is 0 to");
        fails(&bytes[..20], 1, "no record of VSCSI");
    }
    let why = read("1,5000,40,4096,16\n1,5000,40,4096,16\n", &as_format(Format::VscsiBinary)).unwrap_err();
    assert!(why.message.contains("no record of VSCSI; legal are"), "{why}");
}
