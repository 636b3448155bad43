//! Statistics of a trace small enough to compute by hand.

use flashlane_trace::TraceStat;

use super::*;

const TEXT: &str = "\
0.000 0 0 8192 0
1.000 0 8192 4096 0
1.000 1 8192 4096 1
3.000 0 12288 4096 1
4.000 0 4096 8192 0
2000.000 0 1048064 1024 1
";

#[test]
fn every_figure_by_hand() {
    let s = TraceStat::of_bytes("t", TEXT.as_bytes(), &as_format(Format::Replayer)).unwrap();
    assert_eq!((s.all.requests, s.reads.requests, s.writes.requests), (6, 3, 3));
    assert_eq!((s.reads.bytes, s.writes.bytes), (9_216, 20_480));
    assert_eq!((s.reads.min, s.reads.p50, s.reads.p90, s.reads.max), (1_024, 4_096, 4_096, 4_096));
    assert_eq!((s.writes.p50, s.writes.p99, s.all.p50), (8_192, 8_192, 4_096));
    assert!((s.reads.mean - 3_072.0).abs() < 1e-9);
    assert_eq!(s.devices, vec![("0".to_owned(), 5), ("1".to_owned(), 1)]);
    assert!((s.span_s - 2.0).abs() < 1e-12);
    // Five gaps, and the bytes of the requests after the first.
    assert!((s.rate_iops - 2.5).abs() < 1e-12);
    assert!((s.rate_bytes_per_s - 10_752.0).abs() < 1e-9);
    assert_eq!(s.peak_iops, 5);
    assert_eq!((s.first_byte, s.end_byte), (0, 1_049_088));
    // Device 0: pages 0 to 3 and 255 to 256; device 1: page 2, which is the same page of the drive.
    assert_eq!((s.footprint_bytes, s.footprint_apart_bytes), (6 * 4_096, Some(7 * 4_096)));
    assert!(s.to_string().contains("volumes       2 share addresses (overlaid): "), "{s}");
    // Requests 2 and 4 start where their predecessor on device 0 ended.
    assert!((s.sequential_share - 2.0 / 6.0).abs() < 1e-12);
    // Five pages written, the last two of them for the second time.
    assert!((s.rewrite_share - 2.0 / 5.0).abs() < 1e-12);
    assert!((s.unaligned_share - 1.0 / 6.0).abs() < 1e-12);
    assert!((s.gaps.mean_ns - 400_000_000.0).abs() < 1e-3);
    assert!((s.gaps.zero_share - 0.2).abs() < 1e-12);
    let within = |got: u64, want: u64| got.abs_diff(want) <= want / 1_000;
    assert!(within(s.gaps.p50_ns, 1_000_000) && within(s.gaps.max_ns, 1_996_000_000), "{:?}", s.gaps);
    // Gaps 1, 0, 2, 1, 1996 ms: standard deviation 798.0 ms over a mean of 400 ms.
    assert!((s.gaps.variation - 1.995).abs() < 0.001, "{}", s.gaps.variation);
}

#[test]
fn pages_across_blocks_of_the_bit_map_are_counted_once() {
    // 64 MiB from page 511 on, twice as a write: 16,384 pages over 33 blocks.
    let text = "0 0 2093056 67108864 0\n1 0 2093056 67108864 0\n";
    let s = TraceStat::of_bytes("t", text.as_bytes(), &as_format(Format::Replayer)).unwrap();
    assert_eq!(s.footprint_bytes, 67_108_864);
    assert!((s.rewrite_share - 0.5).abs() < 1e-12);
}

#[test]
fn text_and_json_hold_the_figures() {
    let s = TraceStat::of_bytes("t", TEXT.as_bytes(), &as_format(Format::Replayer)).unwrap();
    let text = s.to_string();
    assert!(text.ends_with("unaligned to 4 KiB\n") && !text.ends_with("\n\n"), "{text}");
    for part in [
        "replayer (five-column replayer): as asked",
        "6 read",
        "0 (5) 1 (1)",
        "2.000 s",
        "2.5 IOPS",
        "33.3 % sequential",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&serde_json::to_string(&s).unwrap()).unwrap();
    assert_eq!(json["format"], "replayer");
    assert_eq!(json["writes"]["bytes"], 20_480);
    assert_eq!(json["counts"]["requests"], 6);
}

/// Trims, write zeroes and flushes are rows of their own, and no part of sizes, footprint and patterns.
#[test]
fn commands_are_counted_apart() {
    let text = "time_ms,op,offset,length\n0,write,0,4096\n1,trim,0,1073741824\n1,flush,,\n2,write-fua,4096,4096\n\
                500,write-zeroes,8192,512\n1000,flush,,\n";
    let s = TraceStat::of_bytes("t", text.as_bytes(), &as_format(Format::Csv)).unwrap();
    assert_eq!((s.all.requests, s.writes.requests, s.flushes, s.fua_writes), (2, 2, 2, 1));
    assert_eq!((s.trims.requests, s.trims.bytes, s.write_zeroes.max), (1, 1 << 30, 512));
    assert_eq!((s.footprint_bytes, s.end_byte, s.devices[0].1), (8_192, 1 << 30, 6));
    // After the first instant: a write, and two flushes, a trim and write zeroes.
    assert_eq!((s.rate_iops, s.rate_bytes_per_s, s.rate_commands, s.peak_iops), (1.0, 4_096.0, Some(4.0), 5));
    assert_eq!((s.sequential_share, s.unaligned_share, s.rewrite_share), (0.5, 0.0, 0.0));
    let printed = s.to_string();
    for row in [
        "\ntrims                  1  16.7 % ",
        "\nzeroes ",
        "\nflushes                2  33.3 %\n",
        "\nFUA        1 of the writes\n",
    ] {
        assert!(printed.contains(row), "`{row}` is missing in\n{printed}");
    }
    let plain = TraceStat::of_bytes("t", TEXT.as_bytes(), &as_format(Format::Replayer)).unwrap();
    assert!(!plain.to_json().contains("trims") && !plain.to_string().contains("trims"));
    let only_flushes =
        TraceStat::of_bytes("t", b"time_ms,op,offset,length\n0,flush,,\n", &as_format(Format::Csv)).unwrap();
    assert_eq!((only_flushes.first_byte, only_flushes.end_byte, only_flushes.all.requests), (0, 0, 0));
}

#[test]
fn one_request_has_no_rate() {
    let s = TraceStat::of_bytes("t", b"5 0 0 512 1\n", &as_format(Format::Replayer)).unwrap();
    assert_eq!((s.span_s, s.rate_iops, s.gaps.max_ns), (0.0, 0.0, 0));
}

#[test]
fn offsets_and_sizes_are_both_looked_at_for_alignment() {
    let text = "0 0 512 4096 0\n1 0 8192 512 0\n2 0 8192 4096 0\n3 0 12288 8192 0\n";
    let s = TraceStat::of_bytes("t", text.as_bytes(), &as_format(Format::Replayer)).unwrap();
    assert!((s.unaligned_share - 0.5).abs() < 1e-12);
}

/// The peak is that of any second from the first arrival on, however many are empty.
#[test]
fn the_peak_is_that_of_one_second() {
    let text = "0 0 0 512 0\n999.999 0 0 512 0\n1000 0 0 512 0\n1001 0 0 512 0\n1999 0 0 512 0\n5000 0 0 512 0\n";
    let s = TraceStat::of_bytes("t", text.as_bytes(), &as_format(Format::Replayer)).unwrap();
    assert_eq!(s.peak_iops, 3);
}

/// A rate is doubted as it was recorded, not as it is played.
#[test]
fn a_speed_up_gives_no_doubt() {
    let text: String = (0..100).map(|i| format!("{i}.000000 0 0 4096 0\n")).collect();
    let of = |speedup: &str| {
        let options = TraceOptions { speedup: speedup.parse().unwrap(), ..as_format(Format::Replayer) };
        TraceStat::of_bytes("t", text.as_bytes(), &options).unwrap()
    };
    assert_eq!((of("1").warning, of("100000").warning), (None, None));
    assert!(of("100000").rate_iops > 5e6);
    let text: String = (0..100).map(|i| format!("0.{i:06} 0 0 4096 0\n")).collect();
    let slow = TraceOptions { speedup: "1/1000".parse().unwrap(), ..as_format(Format::Replayer) };
    assert!(TraceStat::of_bytes("t", text.as_bytes(), &slow).unwrap().warning.is_some(), "recorded within 100 ns");
}
