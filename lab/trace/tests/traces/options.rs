//! The effect of the options: speed-up, start, window, loops, filter, wrap, reject, clamp.

use flashlane_core::Time;
use flashlane_trace::{Beyond, Sizes, Speedup, TimeOrder};

use super::*;

const TEXT: &str = "1000 0 16 8 1\n2000 1 32 8 0\n4000 0 48 8 1\n7000 1 64 8 0\n";

fn times(options: TraceOptions) -> Vec<u64> {
    read(TEXT, &options).unwrap_or_else(|why| panic!("{why}")).rows.iter().map(|r| r.0).collect()
}

fn plain() -> TraceOptions {
    as_format(Format::Mqsim)
}

#[test]
fn the_first_request_is_time_zero_or_the_start() {
    assert_eq!(times(plain()), [0, 1000, 3000, 6000]);
    assert_eq!(times(TraceOptions { start: Time::from_ns(50), ..plain() }), [50, 1050, 3050, 6050]);
}

#[test]
fn speedups_are_exact_ratios() {
    let at = |text: &str| times(TraceOptions { speedup: text.parse().unwrap(), ..plain() });
    assert_eq!(at("2"), [0, 500, 1500, 3000]);
    assert_eq!(at("0.5"), [0, 2000, 6000, 12000]);
    assert_eq!(at("3/2"), [0, 666, 2000, 4000]);
    assert_eq!("50.0".parse(), Speedup::new(50, 1));
    assert_eq!("0.25".parse::<Speedup>().unwrap().to_string(), "25/100");
    for bad in ["0", "-1", "", "x", "1/0", "0/1", "1e3", ".", "9999999999", "1.0000000001"] {
        let why = bad.parse::<Speedup>().unwrap_err();
        assert!(why.contains("legal is a number or a ratio above 0"), "{bad}: {why}");
    }
}

#[test]
fn offset_and_limit_make_a_window_whose_first_request_is_the_origin() {
    assert_eq!(times(TraceOptions { offset: 1, limit: Some(2), ..plain() }), [0, 2000]);
    assert_eq!(times(TraceOptions { offset: 3, ..plain() }), [0]);
    assert_eq!(times(TraceOptions { limit: Some(99), ..plain() }), [0, 1000, 3000, 6000]);
    let short = read(format!("{TEXT}garbage\n"), &TraceOptions { limit: Some(4), ..plain() }).unwrap();
    assert_eq!(short.counts.requests, 4, "what lies behind the limit is not read");
}

#[test]
fn loops_follow_one_mean_gap_after_the_last_arrival() {
    let twice = times(TraceOptions { loops: 2, ..plain() });
    assert_eq!(twice, [0, 1000, 3000, 6000, 8000, 9000, 11000, 14000]);
    let window = TraceOptions { loops: 3, offset: 1, limit: Some(2), ..plain() };
    assert_eq!(times(window), [0, 2000, 4000, 6000, 8000, 10000]);
    let faster = TraceOptions { loops: 2, speedup: Speedup::new(2, 1).unwrap(), ..plain() };
    assert_eq!(times(faster), [0, 500, 1500, 3000, 4000, 4500, 5500, 7000]);
    let whole = read(TEXT, &TraceOptions { loops: 2, ..plain() }).unwrap();
    assert_eq!((whole.counts.lines, whole.counts.requests), (8, 8));
}

#[test]
fn loops_work_for_every_format() {
    for format in text_formats() {
        let once = read(sample(format), &as_format(format)).unwrap();
        let thrice = read(sample(format), &TraceOptions { loops: 3, ..as_format(format) }).unwrap();
        let tail: Vec<_> = once.rows.iter().map(|r| (r.1, r.2, r.3)).cycle().take(6).collect();
        assert_eq!(thrice.rows.iter().map(|r| (r.1, r.2, r.3)).collect::<Vec<_>>(), tail, "{format}");
        let gap = once.rows[1].0;
        assert!(thrice.rows.windows(2).all(|w| w[1].0 - w[0].0 == gap), "{format}");
    }
}

#[test]
fn the_device_filter_comes_before_the_window() {
    let one = TraceOptions { device: Some("1".into()), ..plain() };
    let whole = read(TEXT, &one).unwrap();
    assert_eq!(whole.rows, vec![(0, W, 32 * 512, 4096), (5000, W, 64 * 512, 4096)]);
    assert_eq!((whole.counts.lines, whole.counts.filtered, whole.counts.requests), (4, 2, 2));
    assert_eq!(times(TraceOptions { offset: 1, ..one }), [0]);
    for name in ["usr_1", "usr,1"] {
        let options = TraceOptions { device: Some(name.into()), ..as_format(Format::Msr) };
        assert_eq!(read(sample(Format::Msr), &options).unwrap().rows.len(), 2, "{name}");
    }
}

#[test]
fn unsorted_lines_of_other_devices_do_not_matter() {
    let text = "1000 0 16 8 1\n5 1 32 8 0\n2000 0 48 8 1\n";
    let zero = TraceOptions { device: Some("0".into()), ..plain() };
    assert_eq!(read(text, &zero).unwrap().rows.len(), 2);
    assert!(read(text, &plain()).is_err());
}

#[test]
fn clamped_times_take_their_predecessors() {
    let clamp = TraceOptions { order: TimeOrder::Clamp, ..plain() };
    let text = "1000 0 8 8 1\n3000 0 8 8 1\n2000 0 8 8 1\n2500 0 8 8 1\n3500 0 8 8 1\n500 0 8 8 1\n";
    let whole = read(text, &clamp).unwrap();
    assert_eq!(whole.rows.iter().map(|r| r.0).collect::<Vec<_>>(), [0, 2000, 2000, 2000, 2500, 2500]);
    assert_eq!(whole.counts.clamped, 3);
}

#[test]
fn beyond_the_drive_requests_wrap_or_are_left_out_and_counted() {
    let capacity = 20 * 512;
    let text = "1 0 8 8 1\n2 0 18 4 1\n3 0 43 2 0\n4 0 16 4 0\n5 0 38 4 1\n";
    let wrap = TraceOptions { beyond: Beyond::Wrap, ..plain() };
    let whole = read_on(text.as_bytes(), &wrap, capacity).unwrap();
    let sectors: Vec<_> = whole.rows.iter().map(|r| (r.2 / 512, r.3 / 512)).collect();
    assert_eq!(sectors, [(8, 8), (0, 4), (3, 2), (16, 4), (0, 4)], "a straddler starts at 0");
    assert_eq!((whole.counts.wrapped, whole.counts.rejected), (3, 0));
    let reject = TraceOptions { beyond: Beyond::Reject, ..plain() };
    let whole = read_on(text.as_bytes(), &reject, capacity).unwrap();
    assert_eq!(whole.rows.iter().map(|r| r.0).collect::<Vec<_>>(), [0, 3]);
    assert_eq!((whole.counts.wrapped, whole.counts.rejected, whole.counts.requests), (0, 3, 5));
    let larger_than_the_drive = read_on(b"1 0 0 21 1\n", &wrap, capacity).unwrap_err();
    assert!(larger_than_the_drive.message.contains("bytes 0 to 10751"), "{larger_than_the_drive}");
    assert!(read_on(b"1 0 0 21 1\n", &wrap, 0).is_err());
}

#[test]
fn illegal_sizes_can_be_left_out() {
    let options = TraceOptions { sizes: Sizes::Reject, max_request_bytes: 4096, ..plain() };
    let whole = read("1 0 8 0 1\n2 0 8 8 1\n3 0 8 9 1\n", &options).unwrap();
    assert_eq!(whole.rows, vec![(1, R, 4096, 4096)]);
    assert_eq!((whole.counts.rejected, whole.counts.requests), (2, 3));
}

#[test]
fn several_flows_read_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trace");
    std::fs::write(&path, TEXT).unwrap();
    let mut both: Vec<_> = (0..2).map(|_| TraceSource::open(&path, &plain(), HUGE).unwrap()).collect();
    let mut seen = [Vec::new(), Vec::new()];
    for _ in 0..4 {
        for (source, seen) in both.iter_mut().zip(&mut seen) {
            let Ok(Next::Request(arrival)) = source.next() else { panic!("four requests each") };
            source.completed(arrival.at);
            seen.push(arrival);
        }
    }
    assert_eq!(seen[0], seen[1]);
}

/// A request that ends with the drive is on it, one byte further it is not; one that is wrapped stays where it falls if it just
/// fits there, and begins at 0 if it does not.
#[test]
fn requests_at_the_end_of_the_drive() {
    let capacity = 1 << 20;
    let at = |offset: u64, length: u64, beyond: Beyond| {
        let options = TraceOptions { beyond, ..as_format(Format::Replayer) };
        read_on(format!("0 0 {offset} {length} 1\n").as_bytes(), &options, capacity).map(|whole| {
            let row = whole.rows.first().map(|row| (row.2, row.3));
            (row, whole.counts.wrapped, whole.counts.rejected)
        })
    };
    for beyond in [Beyond::Error, Beyond::Reject, Beyond::Wrap] {
        assert_eq!(at(capacity - 4096, 4096, beyond), Ok((Some((capacity - 4096, 4096)), 0, 0)));
        assert_eq!(at(0, capacity, beyond), Ok((Some((0, capacity)), 0, 0)));
    }
    assert!(at(capacity - 4096, 4097, Beyond::Error).is_err());
    assert_eq!(at(capacity - 4096, 4097, Beyond::Reject), Ok((None, 0, 1)));
    for (offset, length, wanted) in [
        (capacity - 4096, 4097, 0),
        (3 * capacity - 4096, 4096, capacity - 4096),
        (3 * capacity - 4096, 4097, 0),
        (3 * capacity - 4097, 4096, capacity - 4097),
        (3 * capacity, 4096, 0),
        (3 * capacity + 512, 4096, 512),
        (capacity, capacity, 0),
    ] {
        assert_eq!(at(offset, length, Beyond::Wrap), Ok((Some((wanted, length)), 1, 0)), "{offset}");
    }
    assert!(at(0, capacity + 1, Beyond::Wrap).is_err(), "nowhere");
}

#[test]
fn times_that_go_back_are_those_of_the_latest_before_them() {
    let text = "10000 0 0 8 1\n5000 0 8 8 1\n7000 0 16 8 1\n12000 0 24 8 1\n11000 0 32 8 1\n13000 0 40 8 1\n";
    let clamped = read(text, &TraceOptions { order: TimeOrder::Clamp, ..plain() }).unwrap();
    assert_eq!(clamped.rows.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 0, 0, 2000, 2000, 3000]);
    assert_eq!(clamped.counts.clamped, 3);
}

#[test]
fn the_largest_size_is_legal_and_one_byte_more_is_not() {
    let sized = |length: u64, sizes: Sizes| {
        let options = TraceOptions { max_request_bytes: 8192, sizes, ..as_format(Format::Replayer) };
        read(format!("0 0 0 {length} 1\n"), &options).map(|whole| (whole.rows.len(), whole.counts.rejected))
    };
    for sizes in [Sizes::Error, Sizes::Reject] {
        assert_eq!((sized(8192, sizes), sized(1, sizes)), (Ok((1, 0)), Ok((1, 0))));
    }
    assert!(sized(8193, Sizes::Error).is_err() && sized(0, Sizes::Error).is_err());
    assert_eq!((sized(8193, Sizes::Reject), sized(0, Sizes::Reject)), (Ok((0, 1)), Ok((0, 1))));
}
