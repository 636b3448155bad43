//! Several volumes in one file: overlaid, each after the other, or one of them in the time of all.

use flashlane_trace::{TraceStat, Volumes, volumes};

use super::*;

/// Two disks in every format that names them: the first up to 24 KiB, the second up to 1 MiB and 8 KiB.
fn texts() -> Vec<(Format, String, [&'static str; 2])> {
    let msr = |us: u64, disk: u32, op: &str, at: u64| {
        format!("{},usr,{disk},{op},{at},8192,1\n", 128_166_372_003_061_629 + us * 10)
    };
    let lines = [(0u64, 0u32, true, 16_384u64), (40, 1, false, 1 << 20), (90, 0, true, 0), (100, 1, true, 0)];
    let of = |line: &dyn Fn(u64, u32, bool, u64) -> String| -> String {
        lines.iter().map(|&(us, disk, read, at)| line(us, disk, read, at)).collect()
    };
    vec![
        (
            Format::Msr,
            of(&|us, disk, read, at| msr(us, disk, if read { "Read" } else { "Write" }, at)),
            ["usr,0", "usr,1"],
        ),
        (
            Format::Spc,
            of(&|us, disk, read, at| {
                format!("{disk},{},8192,{},{}\n", at / 512, if read { "r" } else { "w" }, us as f64 / 1e6)
            }),
            ["0", "1"],
        ),
        (
            Format::Alibaba,
            of(&|us, disk, read, at| {
                format!("{},{},{at},8192,{}\n", disk + 60, if read { "R" } else { "W" }, 1_577_808_000_000_000 + us)
            }),
            ["60", "61"],
        ),
        (
            Format::Disksim,
            of(&|us, disk, read, at| format!("{} {disk} {} 16 {}\n", us as f64 / 1e3, at / 512, u8::from(read))),
            ["0", "1"],
        ),
        (
            Format::Blkparse,
            of(&|us, disk, read, at| {
                let op = if read { "R" } else { "W" };
                format!("  8,{} 0 1 0.{:09} 7 Q {op} {} + 16 [x]\n", 16 * disk, us * 1_000, at / 512)
            }),
            ["8,0", "8,16"],
        ),
        (
            Format::Systor,
            of(&|us, disk, read, at| {
                format!("1455592426.{us:06},0.1,{},{disk},{at},8192\n", if read { "R" } else { "W" })
            }),
            ["0", "1"],
        ),
        (
            Format::Mqsim,
            of(&|us, disk, read, at| format!("{} {disk} {} 16 {}\n", us * 1_000, at / 512, u8::from(read))),
            ["0", "1"],
        ),
        (
            Format::IologV3,
            format!(
                "fio version 3 iolog\n{}",
                of(&|us, disk, read, at| format!(
                    "{us} /dev/sd{disk} {} {at} 8192\n",
                    if read { "read" } else { "write" }
                ))
            ),
            ["/dev/sd0", "/dev/sd1"],
        ),
    ]
}

fn offsets(whole: &Whole) -> Vec<u64> {
    whole.rows.iter().map(|row| row.2).collect()
}

#[test]
fn volumes_lie_one_after_the_other_if_they_are_together() {
    for (format, text, names) in texts() {
        let overlaid = read(&text, &as_format(format)).unwrap_or_else(|why| panic!("{format}: {why}"));
        assert_eq!(offsets(&overlaid), [16_384, 1 << 20, 0, 0], "{format}");
        let options = TraceOptions { volumes: Volumes::Together, ..as_format(format) };
        let together = read(&text, &options).unwrap_or_else(|why| panic!("{format}: {why}"));
        // The first ends at 24 KiB; the second begins at the next MiB.
        assert_eq!(offsets(&together), [16_384, 2 << 20, 0, 1 << 20], "{format}");
        let times = |whole: &Whole| whole.rows.iter().map(|row| (row.0, row.1, row.3)).collect::<Vec<_>>();
        assert_eq!(times(&together), times(&overlaid));
        let twice = read(&text, &TraceOptions { loops: 2, ..options.clone() }).unwrap();
        assert_eq!(offsets(&twice)[4..], offsets(&together)[..], "{format}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace");
        std::fs::write(&path, &text).unwrap();
        let found = volumes(&path, &as_format(format), 1_000).unwrap();
        let found: Vec<_> =
            found.iter().map(|v| (String::from_utf8_lossy(&v.name).into_owned(), v.requests, v.end_byte)).collect();
        assert_eq!(found, [(names[0].to_owned(), 2, 24_576), (names[1].to_owned(), 2, (1 << 20) + 8192)], "{format}");
    }
}

/// A part has the times, the window and the loops of the whole.
#[test]
fn one_volume_keeps_the_times_of_all() {
    for (format, text, names) in texts() {
        let part = |number: usize, options: TraceOptions| {
            read(&text, &TraceOptions { part: Some(names[number].into()), ..options })
                .unwrap_or_else(|why| panic!("{format}: {why}"))
        };
        let times = |whole: Whole| whole.rows.iter().map(|row| row.0 / 1_000).collect::<Vec<_>>();
        let second = part(1, as_format(format));
        assert_eq!((second.counts.requests, second.counts.filtered), (2, 2));
        assert_eq!((times(part(0, as_format(format))), times(second)), (vec![0, 90], vec![40, 100]), "{format}");
        let three = TraceOptions { limit: Some(3), ..as_format(format) };
        assert_eq!((times(part(0, three.clone())), times(part(1, three))), (vec![0, 90], vec![40]), "{format}");
        // Two loops of four requests, the second 100 / 3 us after the first.
        let twice = TraceOptions { loops: 2, ..as_format(format) };
        assert_eq!(times(part(1, twice)), [40, 100, 173, 233], "{format}");
    }
}

/// Times are whole seconds, whose requests are spread: only addresses and counts are compared.
#[test]
fn volumes_of_whole_seconds_are_told_apart() {
    let text = "1538323200,32,16,0,7\n1538323200,2048,16,1,9\n1538323201,0,16,0,7\n1538323201,0,16,1,9\n";
    let of = |options: TraceOptions| offsets(&read(text, &options).expect("legal"));
    let overlaid = as_format(Format::Tencent);
    assert_eq!(of(overlaid.clone()), [16_384, 1 << 20, 0, 0]);
    assert_eq!(of(TraceOptions { volumes: Volumes::Together, ..overlaid.clone() }), [16_384, 2 << 20, 0, 1 << 20]);
    assert_eq!(of(TraceOptions { part: Some("9".into()), ..overlaid }), [1 << 20, 0]);
}

#[test]
fn the_recorded_time_that_is_the_beginning_may_be_given() {
    let text = "1000 0 16 8 1\n3000 0 32 8 0\n";
    let options = TraceOptions { origin_ns: Some(400), loops: 2, ..as_format(Format::Mqsim) };
    let times: Vec<_> = read(text, &options).unwrap().rows.iter().map(|row| row.0).collect();
    // The second loop comes one gap after the first, not another 600 ns later.
    assert_eq!(times, [600, 2_600, 4_600, 6_600]);
    let open = || TraceSource::from_bytes("t", text.as_bytes(), &as_format(Format::Mqsim), HUGE).unwrap();
    assert_eq!(open().first_recorded(), Some(1_000));
    assert!(open().reaches(3_000) && !open().reaches(3_001));
}

#[test]
fn dates_are_told_whatever_they_count_from() {
    let dates = [
        (Format::Msr, 128_166_372_003_061_629),
        (Format::Alibaba, 1_577_808_000_000_100),
        (Format::Tencent, 1_538_323_200),
    ]
    .map(|(format, time): (Format, u64)| {
        format.date(
            time * if format == Format::Msr {
                100
            } else if format == Format::Alibaba {
                1_000
            } else {
                1_000_000_000
            },
        )
    });
    let seconds = dates.map(|date| date.expect("a date") / 1_000_000_000);
    assert_eq!(seconds, [1_172_163_600, 1_577_808_000, 1_538_323_200], "2007, 2020, 2018");
    assert_eq!((Format::Spc.date(5), Format::Csv.date(5)), (None, None));
    assert_eq!(Format::Csv.date(1_577_808_000_000_000_000), Some(1_577_808_000_000_000_000));
}

#[test]
fn statistics_have_the_footprint_of_a_run() {
    for (format, text, _) in texts() {
        let of = |volumes| {
            let options = TraceOptions { volumes, ..as_format(format) };
            let s = TraceStat::of_bytes("t", text.as_bytes(), &options).unwrap();
            // Distinct pages of the requests that a run of these options issues.
            let mut pages: Vec<u64> = read(&text, &options)
                .unwrap()
                .rows
                .iter()
                .flat_map(|row| row.2 / 4096..(row.2 + row.3) / 4096)
                .collect();
            pages.sort();
            pages.dedup();
            (s.footprint_bytes / 4096, s.footprint_apart_bytes.map(|bytes| bytes / 4096), pages.len() as u64)
        };
        assert_eq!(of(Volumes::Overlaid), (6, Some(8), 6), "{format}");
        assert_eq!(of(Volumes::Together), (8, Some(8), 8), "{format}");
        assert_eq!(of(Volumes::Apart), (8, Some(8), 6), "{format}");
    }
}

#[test]
fn volumes_without_room_are_refused() {
    let big = u64::MAX / 512 - 8;
    let text = format!("0 0 {big} 8 1\n1 1 {big} 8 1\n");
    let options = TraceOptions { volumes: Volumes::Together, ..as_format(Format::Mqsim) };
    let why = read(&text, &options).unwrap_err();
    assert!(why.message.contains("together longer than 64 bits count; legal are volumes overlaid or apart"), "{why}");
}
