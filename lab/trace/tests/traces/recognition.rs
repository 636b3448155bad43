//! Which format is recognised from a content, and the reason given.

use super::*;

fn recognised(text: &str) -> Recognition {
    let source = TraceSource::from_bytes("t", text.as_bytes(), &TraceOptions::default(), HUGE);
    source.unwrap_or_else(|why| panic!("{why}\n{text}")).recognition().clone()
}

#[test]
fn every_sample_is_recognised() {
    for format in text_formats() {
        let found = recognised(sample(format));
        let alike = [Format::Mqsim, Format::Ssdsim];
        assert!(found.format == format || (alike.contains(&format) && alike.contains(&found.format)), "{found:?}");
        assert!(!found.reason.is_empty());
        let dressed = format!("# recorded on a Monday\n\n{}", sample(format));
        if !matches!(format, Format::IologV2 | Format::IologV3 | Format::Record) {
            assert_eq!(recognised(&dressed).format, found.format, "a comment changes nothing");
        }
    }
}

#[test]
fn a_single_line_is_enough() {
    for format in
        text_formats().filter(|f| !matches!(f, Format::IologV2 | Format::IologV3 | Format::Csv | Format::Record))
    {
        let line = sample(format).lines().last().unwrap();
        let found = recognised(line);
        let alike = [Format::Mqsim, Format::Ssdsim];
        assert!(found.format == format || (alike.contains(&format) && alike.contains(&found.format)), "{found:?}");
    }
}

#[test]
fn five_columns_are_told_apart_by_their_units() {
    let trace = |time: &dyn Fn(u64) -> String, unit: u64| -> String {
        (0..200)
            .map(|i| format!("{} 0 {} {} 1\n", time(i), unit * (i * 977 % 9_999), unit * (8 + 8 * (i % 4))))
            .collect()
    };
    let ns = |i: u64| (i * 20_000).to_string();
    let ms = |i: u64| format!("{}.{:03}", i * 3, i * 7 % 1000);
    let whole_ms = |i: u64| (i * 3).to_string();
    assert_eq!(recognised(&trace(&ns, 1)).format, Format::Mqsim);
    assert_eq!(recognised(&trace(&ms, 1)).format, Format::Disksim);
    assert_eq!(recognised(&trace(&ms, 512)).format, Format::Replayer);
    assert_eq!(recognised(&trace(&whole_ms, 1)).format, Format::Disksim, "3 ns apart cannot be");
    assert_eq!(recognised(&trace(&whole_ms, 512)).format, Format::Replayer);
    let odd = recognised(&trace(&ns, 512));
    assert_eq!(odd.format, Format::Replayer);
    assert!(odd.reason.contains("check"), "ns with bytes is no format's: the reason: {}", odd.reason);
}

/// One time with an exponent does not make the others milliseconds; it is an error where they are nanoseconds.
#[test]
fn an_exponent_is_no_decimal_point() {
    let rest = "3000 0 3637680 8 1\n5000 0 3637680 8 1\n";
    let why = read(format!("1e-9 0 3637680 8 1\n{rest}"), &TraceOptions::default()).unwrap_err().to_string();
    assert!(why.starts_with("t:1") && why.contains("the time in ns: `1e-9`"), "{why}");
    let all = recognised("1e+03 0 8 8 1\n3e+03 0 8 8 1\n5e+03 0 16 8 1\n");
    assert!(all.format == Format::Disksim && all.reason.contains("times have an exponent: ms"), "{all:?}");
    let one = recognised("0 0 8 8 1\n1500.5 0 8 8 1\n3000 0 16 8 1\n");
    assert!(one.format == Format::Disksim && one.reason.contains("times have a decimal point: ms"), "{one:?}");
}

#[test]
fn large_sequential_transfers_in_sectors_are_not_taken_for_bytes() {
    // Requests of 256 KiB: 512 sectors each, at addresses that are no multiple of 512.
    let text: String = (0..100u64).map(|i| format!("{} 0 {} 512 1\n", i * 500_000, 63 + i * 512)).collect();
    assert_eq!(recognised(&text).format, Format::Mqsim);
}

#[test]
fn the_choice_is_explained_and_can_be_overridden() {
    let found = recognised(sample(Format::Mqsim));
    for part in ["whole-number times", "sectors", "share one shape"] {
        assert!(found.reason.contains(part), "{}", found.reason);
    }
    let whole = read(sample(Format::Mqsim), &as_format(Format::Replayer)).unwrap();
    assert_eq!(whole.rows[0], (0, R, 16, 8));
    assert_eq!(whole.recognition.reason, "as asked");
}

#[test]
fn a_bad_line_does_not_hide_the_format() {
    let text = format!("{}nonsense here\n", sample(Format::Alibaba));
    let why = read(text, &TraceOptions::default()).unwrap_err();
    assert_eq!(why.place, "t:3");
    assert!(why.message.contains("Alibaba"), "{why}");
}

#[test]
fn a_blkparse_text_without_q_is_still_one() {
    let text = "  8,0    0        1     0.000001000   697  D   R 16 + 8 [dd]\n";
    assert_eq!(recognised(text).format, Format::Blkparse);
}
