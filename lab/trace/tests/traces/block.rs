//! blkparse's text as it is found: several outputs in a file, what blkparse prints about them anywhere, actions, devices over others.

use flashlane_trace::Action;

use super::*;

const TWO: &str = "  8,0    0        1     0.000000000   100  Q   R 8192 + 8 [app]\n  8,0    1        1     0.000200000   100  Q  WS 16384 + 16 [app]\n";
const TWO_MORE: &str = "  8,16   0        1     0.000300000   100  Q   R 8192 + 8 [app]\n  8,16   1        1     0.000500000   100  Q  WS 16384 + 16 [app]\n";
/// All that blkparse prints beside events, also under `-s` and `-t`.
const SUMMARY: &str = "\
Input file sdx.blktrace.0 added
my app (100)
 Reads Queued:           2,        8KiB\t Writes Queued:           0,        0KiB
 Read Dispatches:        2,        8KiB\t Write Dispatches:        0,        0KiB
 Reads Requeued:         0\t\t Writes Requeued:         0
 Reads Completed:        2,        8KiB\t Writes Completed:        0,        0KiB
 Read Merges:            0,        0KiB\t Write Merges:            0,        0KiB
 PC Reads Queued:        0,        0KiB\t PC Writes Queued:        0,        0KiB
 IO unplugs:             0        \t Timer unplugs:           0
 Allocation wait:        0            \t Allocation wait:        0
 Dispatch wait:          0            \t Dispatch wait:          0
 Completion wait:        0            \t Completion wait:        0

kworker/0:1 (31, ...)
 Reads Queued:           2,        8KiB\t Writes Queued:           0,        0KiB

CPU0 (sdx):
 Reads Queued:           2,        8KiB\t Writes Queued:           0,        0KiB
 Read depth:             1        \t Write depth:             1
Total (sdx):
 Reads Queued:           2,        8KiB\t Writes Queued:           1,        8KiB

Throughput (R/W): 4KiB/s / 8KiB/s
Events (sdx): 2 entries
Skips: 0 forward (0 -   0.0%)
";

#[test]
fn what_blkparse_prints_beside_events_may_stand_anywhere() {
    let all = [TWO, TWO_MORE].concat();
    let lines: Vec<&str> = all.lines().collect();
    let want = rows(Format::Blkparse, &all);
    assert_eq!(want.len(), 4);
    for at in 0..=lines.len() {
        let text = format!("{}\n{SUMMARY}{}\n", lines[..at].join("\n"), lines[at..].join("\n"));
        let whole = read(&text, &TraceOptions::default()).unwrap_or_else(|why| panic!("{at}: {why}"));
        assert_eq!((whole.recognition.format, whole.rows), (Format::Blkparse, want.clone()), "{at}");
    }
    // Each of its lines alone, too.
    for line in SUMMARY.lines() {
        let text = format!("{TWO}{line}\n{TWO_MORE}");
        assert_eq!(read(&text, &TraceOptions::default()).unwrap().rows, want, "{line}");
    }
}

#[test]
fn a_line_that_blkparse_does_not_print_is_an_error_wherever_it_stands() {
    for line in [
        "garbage",
        "Reads 5",
        "app",
        "app (x)",
        "8,x 0 1 0.1 7 Q R 8 + 8",
        "8,0 0 1 0.1 7 Q R 8 8 [a]",
        "8,0 0 1 0.1 7 Q R x",
    ] {
        let text = format!("{TWO}{SUMMARY}{line}\n{TWO_MORE}");
        let why = read(&text, &as_format(Format::Blkparse)).unwrap_err();
        assert_eq!(why.place, format!("t:{}", 3 + SUMMARY.lines().count()), "{line}: {why}");
    }
}

#[test]
fn outputs_whose_times_begin_anew_are_an_error_or_clamped() {
    let text = format!("{TWO}{SUMMARY}{TWO}");
    let why = read(&text, &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("goes back"), "{why}");
}

/// What the driver is told and what blkparse prints with -t.
#[test]
fn commands_passed_through_and_times_since_queued() {
    let text = "\
8,0 0 1 0.1 7 D R 36 (12 00 00 00 24 00) [udev]
8,0 0 2 0.2 7 D R (1a 00) [udev]
8,0 0 3 0.3 7 D R 8 + 8 (    1234) [app]
8,0 0 4 0.4 7 D FF 0 [kworker]
8,0 0 5 0.5 7 D FN [kworker]
8,0 0 6 0.6 7 D ZR 8 + 8 [app]
8,0 0 7 0.7 7 C R 8 + 8 (    5678) [0]
8,0 0 8 0.8 7 C FF 0 [0]
8,0 0 9 0.9 0 C R (1a 00) [0]
";
    let issued = read(text, &TraceOptions::default()).unwrap();
    assert_eq!(issued.rows, [(0, R, 4096, 4096), (100_000_000, F, 0, 0), (200_000_000, F, 0, 0)]);
    let completed = TraceOptions { action: Some(Action::Complete), ..TraceOptions::default() };
    assert_eq!(read(text, &completed).unwrap().rows, [(0, R, 4096, 4096), (100_000_000, F, 0, 0)]);
}

#[test]
fn one_action_is_read_and_the_others_are_counted() {
    let text = "\
8,0 0 1 0.1 7 G R 8 + 8 [a]
8,0 0 2 0.2 7 I R 8 + 8 [a]
8,0 0 3 0.3 7 D R 8 + 8 [a]
8,0 0 4 0.4 7 C R 8 + 8 [0]
8,0 0 5 0.5 7 C W 8 + 8 [0]
";
    let whole = read(text, &TraceOptions::default()).unwrap();
    assert_eq!(whole.rows.len(), 1);
    assert_eq!(
        whole.recognition.notes,
        ["D (issued) 1 is read, by default; not read: C (completed) 2 (--action takes another); G 1, I 1"]
    );
    let completed = TraceOptions { action: Some(Action::Complete), ..TraceOptions::default() };
    let whole = read(text, &completed).unwrap();
    assert_eq!(
        (whole.rows, whole.recognition.notes.len()),
        (vec![(0, R, 4096, 4096), (100_000_000, W, 4096, 4096)], 0)
    );
    let queued = TraceOptions { action: Some(Action::Queue), ..TraceOptions::default() };
    let why = read(text, &queued).unwrap_err();
    assert_eq!(why.place, "action");
    assert!(
        why.message.contains("0 Q (queued); it has D (issued) 1, C (completed) 2: legal is issue or complete"),
        "{why}"
    );
}

#[test]
fn completions_alone_are_named() {
    let text = "1,0 15 1 0.0 100 C WS 4096 + 8 [0]\n1,0 15 2 0.1 100 C R 8192 + 8 [0]\n";
    let why = read(text, &TraceOptions::default()).unwrap_err();
    assert!(why.message.contains("only completions (C 2): Q (queued) or D (issued) is read"), "{why}");
    let asked = TraceOptions { action: Some(Action::Complete), ..TraceOptions::default() };
    assert_eq!(read(text, &asked).unwrap().rows.len(), 2);
}

#[test]
fn an_action_of_a_trace_that_has_none_is_refused() {
    let asked = TraceOptions { action: Some(Action::Issue), ..TraceOptions::default() };
    for format in [Format::Mqsim, Format::Csv, Format::Msr] {
        let why = read(sample(format), &asked).unwrap_err();
        assert!(why.place == "action" && why.message.contains("which has no actions"), "{format}: {why}");
    }
}

/// A file system on a volume, on an encrypted device, on a RAID of two disks: each request is there at every level.
const STACKED: &str = "\
253,1 0 1 0.000001 7 Q W 0 + 16 [a]
253,0 0 2 0.000002 7 A W 2048 + 16 <- (253,1) 0
253,0 0 3 0.000003 7 Q W 2048 + 16 [a]
9,0   0 4 0.000004 7 A W 4096 + 16 <- (253,0) 2048
9,0   0 5 0.000005 7 Q W 4096 + 16 [a]
8,0   0 6 0.000006 7 A W 8192 + 8 <- (9,0) 4096
8,0   0 7 0.000007 7 Q W 8192 + 8 [a]
8,16  0 8 0.000008 7 A W 8192 + 8 <- (9,0) 4104
8,16  0 9 0.000009 7 Q W 8192 + 8 [a]
8,0   0 1 0.000010 7 Q R 64 + 8 [other]
253,1 0 2 0.000011 7 Q R 32 + 8 [a]
8,16  0 3 0.000012 7 Q R 8224 + 8 [a]
";

#[test]
fn of_stacked_devices_the_lowest_stay() {
    let whole = read(STACKED, &TraceOptions::default()).unwrap();
    let want = [
        (0, W, 8192 * 512, 4096),
        (2_000, W, 8192 * 512, 4096),
        (3_000, R, 64 * 512, 4096),
        (5_000, R, 8224 * 512, 4096),
    ];
    assert_eq!(whole.rows, want);
    assert_eq!((whole.counts.stacked, whole.counts.requests), (4, 4));
    let notes = whole.recognition.notes.join("; ");
    for part in [
        "`253,1` lies over `253,0`, `8,0`, `8,16`, `9,0`: its 2 requests",
        "`253,0` lies over",
        "`9,0` lies over `8,0`, `8,16`",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    let twice = TraceOptions { loops: 2, ..TraceOptions::default() };
    assert_eq!(read(STACKED, &twice).unwrap().counts.stacked, 8);
}

/// The requests of a device stay where the lower one, which they go on to, does not have them.
#[test]
fn what_does_not_appear_below_is_read_where_it_is() {
    let text =
        "8,0 0 1 0.1 7 A R 2256 + 8 <- (8,1) 208\n8,1 0 2 0.2 7 Q R 208 + 8 [a]\n8,0 0 3 0.3 7 Q R 4096 + 8 [a]\n";
    let whole = read(text, &TraceOptions::default()).unwrap();
    assert_eq!((whole.rows.len(), whole.counts.stacked), (2, 0));
    assert!(!whole.recognition.notes.join("; ").contains("lies over"), "{:?}", whole.recognition.notes);
    let below = format!("{text}8,0 0 4 0.4 7 Q R 2256 + 8 [a]\n");
    assert_eq!(read(&below, &TraceOptions::default()).unwrap().counts.stacked, 1);
}

/// As older kernels print it (the request appears at the whole disk), and newer ones (at the partition, with the disk's sector).
#[test]
fn the_remap_of_a_partition_leaves_out_nothing() {
    for text in [
        "8,0 0 1 0.1 7 A R 2056 + 8 <- (8,1) 8\n8,0 0 2 0.2 7 Q R 2056 + 8 [a]\n8,0 0 3 0.3 7 Q R 8 + 8 [a]\n",
        "8,1 0 1 0.1 7 A R 2056 + 8 <- (8,1) 8\n8,1 0 2 0.2 7 Q R 2056 + 8 [a]\n8,0 0 3 0.3 7 Q R 8 + 8 [a]\n",
        "8,1 0 1 0.1 7 Q R 8 + 8 [a]\n8,0 0 2 0.2 7 A R 2056 + 8 <- (8,1) 8\n8,1 0 3 0.3 7 Q R 16 + 8 [a]\n8,0 0 4 0.4 7 D R 2056 + 8 [a]\n",
    ] {
        let whole = read(text, &TraceOptions::default()).unwrap();
        assert_eq!((whole.rows.len(), whole.counts.stacked), (2, 0), "{text}");
    }
}
