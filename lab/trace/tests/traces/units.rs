//! Times in another unit than the format's own, exactly; and where there is no other.

use flashlane_core::choice::Choice;
use flashlane_trace::{TimeUnit, TraceStat};

use super::*;

/// A format's options with times in a unit.
fn in_unit(format: Format, unit: TimeUnit) -> TraceOptions {
    TraceOptions { time_unit: Some(unit), ..as_format(format) }
}

/// Nanoseconds in a unit.
fn ns(unit: TimeUnit) -> u64 {
    match unit {
        TimeUnit::Ns => 1,
        TimeUnit::HundredNs => 100,
        TimeUnit::Us => 1_000,
        TimeUnit::Ms => 1_000_000,
        TimeUnit::S => 1_000_000_000,
    }
}

/// Two requests whose times are 3 and 8.
fn three_and_eight(format: Format) -> Option<&'static str> {
    Some(match format {
        Format::Mqsim | Format::Ssdsim | Format::Disksim | Format::Replayer => "3 0 512 8 1\n8 0 512 8 1\n",
        Format::Spc => "0,16,4096,R,3\n0,16,4096,R,8\n",
        Format::Vscsi => "1,3,40,4096,16\n1,8,40,4096,16\n",
        Format::Blkparse => "8,0 0 1 3 7 Q R 16 + 8 [a]\n8,0 0 2 8 7 Q R 16 + 8 [a]\n",
        Format::Ftrace => {
            "a-7 [000] 3.0: block_bio_queue: 8,0 R 16 + 8 [a]\na-7 [000] 8.0: block_bio_queue: 8,0 R 16 + 8 [a]\n"
        }
        Format::IologV2 => "fio version 2 iolog\n/x wait 3\n/x read 0 512\n/x wait 5\n/x read 0 512\n",
        Format::IologV3 => "fio version 3 iolog\n3 /x read 0 512\n8 /x read 0 512\n",
        Format::Msr | Format::Alibaba | Format::Tencent | Format::Systor => return None,
        // The header of a CSV names the unit.
        Format::Csv | Format::Blktrace | Format::VscsiBinary | Format::Record => return None,
    })
}

#[test]
fn every_format_without_a_date_takes_every_unit() {
    let mut tried = 0;
    for format in text_formats() {
        assert_eq!(three_and_eight(format).is_none(), format.has_date() || format == Format::Csv, "{format}");
        let Some(text) = three_and_eight(format) else { continue };
        for unit in TimeUnit::LIST.iter().map(|unit| unit.value) {
            let whole = read(text, &in_unit(format, unit)).unwrap_or_else(|why| panic!("{format} in {unit}: {why}"));
            assert_eq!(whole.rows.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 5 * ns(unit)], "{format} in {unit}");
            assert_eq!(whole.rows[0].1, R);
            tried += 1;
        }
        // The format's own unit is what it is without one.
        let own = read(text, &in_unit(format, format.time_unit())).unwrap();
        assert_eq!(own.rows, rows(format, text), "{format}");
    }
    assert_eq!(tried, 10 * 5);
}

#[test]
fn no_digit_is_lost() {
    let last = |text: &str, options: &TraceOptions| read(text, options).unwrap().rows.last().unwrap().0;
    // As milliseconds the digits after the sixth would go.
    let text = "0.000000000 0 8 8 1\n12.345678901 0 8 8 1\n";
    assert_eq!(last(text, &in_unit(Format::Disksim, TimeUnit::S)), 12_345_678_901);
    assert_eq!(last(text, &in_unit(Format::Disksim, TimeUnit::Us)), 12_345);
    let text = "0 0 8 8 1\n3.1538323200123456e+07 0 8 8 1\n";
    assert_eq!(last(text, &in_unit(Format::Mqsim, TimeUnit::S)), 31_538_323_200_123_456);
    // More seconds than fit nanoseconds, as microseconds.
    let text = "0,16,4096,R,1577808000000100\n0,16,4096,R,1577808000000107\n";
    assert!(read(text, &as_format(Format::Spc)).is_err());
    assert_eq!(last(text, &in_unit(Format::Spc, TimeUnit::Us)), 7_000);
}

#[test]
fn a_recognised_trace_takes_a_unit_too() {
    // Dense whole numbers are taken for ms; in bytes they could be read as nothing else.
    let text: String = (0..50).map(|i| format!("{} 0 {} 4096 1\n", 150 * i, 4096 * i)).collect();
    let asked = TraceOptions { time_unit: Some(TimeUnit::Ns), ..TraceOptions::default() };
    let whole = read(&text, &asked).unwrap();
    assert_eq!((whole.recognition.format, whole.rows[49].0), (Format::Replayer, 49 * 150));
    assert!(whole.recognition.reason.contains("times are in ns, as asked"), "{}", whole.recognition.reason);
    let text = "0,16,4096,R,1577808000000100\n0,16,4096,R,1577808000000107\n";
    let us = TraceOptions { time_unit: Some(TimeUnit::Us), ..TraceOptions::default() };
    assert_eq!(read(text, &us).unwrap().recognition.format, Format::Spc);
}

#[test]
fn a_date_has_one_unit() {
    for format in text_formats().filter(|format| format.has_date()) {
        for unit in TimeUnit::LIST.iter().map(|unit| unit.value) {
            match read(sample(format), &in_unit(format, unit)) {
                Ok(whole) => assert_eq!((whole.rows, unit), (rows(format, sample(format)), format.time_unit())),
                Err(why) => {
                    assert_ne!(unit, format.time_unit());
                    assert_eq!(why.place, "time_unit");
                    assert!(why.message.contains("carry a date") && why.message.contains("legal"), "{why}");
                }
            }
        }
    }
}

#[test]
fn units_are_named() {
    for unit in TimeUnit::LIST.iter().map(|unit| unit.value) {
        assert_eq!(unit.word().parse::<TimeUnit>(), Ok(unit));
    }
    let why = "usec".parse::<TimeUnit>().unwrap_err();
    assert_eq!(why, "`usec` is no unit of time; legal is one of ns, 100ns, us, ms, s");
}

#[test]
fn statistics_doubt_an_impossible_rate_as_recorded() {
    // 1,000 requests 100 us apart, read as ns: 10 million per second.
    let text: String = (0..1_000).map(|i| format!("{} 0 {} 8 1\n", 100 * i, 8 * i)).collect();
    let of = |options: &TraceOptions| TraceStat::of_bytes("t", text.as_bytes(), options).unwrap();
    let stat = of(&as_format(Format::Mqsim));
    let warning = stat.warning.clone().expect("a warning");
    assert!(warning.starts_with("10,000,000 requests/s were recorded") && warning.contains("--time-unit"), "{warning}");
    assert!(stat.to_string().contains(&format!("Warning: {warning}\n")));
    let right = of(&in_unit(Format::Mqsim, TimeUnit::Us));
    assert_eq!((right.warning.as_deref(), right.time_unit), (None, TimeUnit::Us));
    assert!((right.rate_iops - 10_010.0).abs() < 1.0 || (right.rate_iops - 10_000.0).abs() < 20.0);
    assert!(!right.to_string().contains("Warning"));
    // A speed-up is what the user wants: the recording is as good as it was.
    let speedup = "5000".parse().unwrap();
    assert_eq!(of(&TraceOptions { speedup, ..in_unit(Format::Mqsim, TimeUnit::Us) }).warning, None);
    let slowed = TraceOptions { speedup: "1/5000".parse().unwrap(), ..as_format(Format::Mqsim) };
    assert!(of(&slowed).warning.is_some());
    let hours = of(&in_unit(Format::Mqsim, TimeUnit::S));
    assert_eq!(hours.warning, None, "a request every 100 s");
}

/// Nine digits behind the point are nanoseconds of seconds: all lines together decide, however few digits one has.
#[test]
fn more_digits_than_milliseconds_have_are_seconds() {
    let lines = |digits: usize| -> String {
        (0..200).map(|i| format!("{}.{:0digits$} 0 {} 8 1\n", 242 + i / 100, i % 100, 8 * i)).collect()
    };
    for digits in [7, 9, 12] {
        let whole = read(lines(digits), &TraceOptions::default()).unwrap();
        assert!(
            whole.recognition.reason.contains(&format!("{digits} digits behind the point: s")),
            "{:?}",
            whole.recognition
        );
        assert_eq!(whole.rows[100].0, 1_000_000_000, "{digits}");
    }
    let mixed = format!("242 0 8 8 1\n242.5 0 8 8 1\n{}", "243.000000001 0 8 8 1\n");
    assert_eq!(read(mixed, &TraceOptions::default()).unwrap().rows.last().unwrap().0, 1_000_000_001);
    // In bytes too.
    let bytes = "1.000000000 0 4096 4096 1\n1.500000000 0 8192 512 0\n";
    let whole = read(bytes, &TraceOptions::default()).unwrap();
    assert_eq!((whole.recognition.format, whole.rows[1].0), (Format::Replayer, 500_000_000));
    let asked = in_unit(Format::Replayer, TimeUnit::Ms);
    assert_eq!(read(bytes, &asked).unwrap().rows[1].0, 500_000, "as asked");
    let whole = read(lines(6), &TraceOptions::default()).unwrap();
    assert!(whole.recognition.reason.contains("times have a decimal point: ms"), "{:?}", whole.recognition);
}

#[test]
fn a_unit_that_fits_better_is_named() {
    let note = |text: &str| read(text, &TraceOptions::default()).unwrap().recognition.notes.join("; ");
    // 1,000 requests per second with six digits; whole microseconds; and what needs no remark.
    let seconds: String =
        (0..500).map(|i| format!("{}.{:06} 0 {} 8 1\n", i / 1_000, i % 1_000 * 1_000, 8 * i)).collect();
    assert!(
        note(&seconds).contains("1000000 requests/s if times are in ms, and 1000 if they are in s"),
        "{}",
        note(&seconds)
    );
    let microseconds: String = (0..500).map(|i| format!("{} 0 {} 8 1\n", 900 * i, 8 * i)).collect();
    assert!(
        note(&microseconds).contains("1111111 requests/s if times are in ns, and 1111 if they are in us"),
        "{}",
        note(&microseconds)
    );
    let ordinary: String = (0..500).map(|i| format!("{} 0 {} 8 1\n", 20_000 * i, 8 * i)).collect();
    assert_eq!(note(&ordinary), "");
    let asked = in_unit(Format::Mqsim, TimeUnit::Ns);
    assert!(read(&microseconds, &asked).unwrap().recognition.notes.is_empty());
}
