//! Traces whose times go back a little, in the order of their times.

use flashlane_trace::{TimeOrder, TraceStat};
use proptest::prelude::*;

use super::*;

/// The most requests of later times before a request.
const WINDOW: usize = 65_536;

fn sort() -> TraceOptions {
    TraceOptions { order: TimeOrder::Sort, ..as_format(Format::Mqsim) }
}

/// Lines with these times, each at an address of its own.
fn lines(times: &[u64]) -> String {
    times.iter().enumerate().map(|(i, at)| format!("{at} 0 {} 8 1\n", 8 * i)).collect()
}

#[test]
fn requests_come_by_time_and_equal_times_in_file_order() {
    let whole = read(lines(&[500, 100, 100, 900, 400, 900]), &sort()).unwrap();
    let by_line: Vec<_> = whole.rows.iter().map(|row| (row.0, row.2 / 4096)).collect();
    assert_eq!(by_line, [(0, 1), (0, 2), (300, 4), (400, 0), (800, 3), (800, 5)]);
    let sorted = whole.counts.sorted;
    // Lines 2, 3 and 5 came forward, by one place, one and two; the largest step back is from 900 to 400.
    assert_eq!((sorted.requests, sorted.places, sorted.back_ns), (3, 2, 500));
    assert_eq!(whole.counts.clamped, 0);
    let text = TraceStat::of_bytes("t", lines(&[500, 100]).as_bytes(), &sort()).unwrap().to_string();
    assert!(
        text.contains(
            "sorted        1 put before others by their times, the furthest by 1 place; times go back by at most 400 ns"
        ),
        "{text}"
    );
}

/// What is sorted comes first: the window is of the earliest requests, and each loop is sorted.
#[test]
fn offset_limit_and_loops_are_of_the_sorted_trace() {
    let options = TraceOptions { offset: 1, limit: Some(2), loops: 2, ..sort() };
    let whole = read(lines(&[500, 100, 300, 900]), &options).unwrap();
    assert_eq!(
        whole.rows.iter().map(|row| (row.0, row.2 / 4096)).collect::<Vec<_>>(),
        [(0, 2), (200, 0), (400, 2), (600, 0)]
    );
}

#[test]
fn a_request_as_far_back_as_the_window_is_sorted_and_one_further_back_is_refused() {
    let late = |behind: usize| {
        let mut times: Vec<u64> = (0..behind as u64).map(|i| 1_000 + i).collect();
        times.push(7);
        read(lines(&times), &sort())
    };
    let whole = late(WINDOW).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((whole.rows[0].2, whole.counts.sorted.places), (4096 * WINDOW as u64, WINDOW as u64));
    let why = late(WINDOW + 1).unwrap_err();
    assert_eq!(why.place, format!("t:{}", WINDOW + 2));
    assert!(
        why.message.starts_with("the time 7 ns goes back by 66529 ns, behind more than 65536 requests of later times"),
        "{why}"
    );
    let why = read(lines(&[5, 3]), &as_format(Format::Mqsim)).unwrap_err();
    assert!(why.message.contains("or sort: by time"), "{why}");
}

proptest! {
    #![proptest_config(drawn(200, env!("CARGO_MANIFEST_DIR"), "traces-sorted"))]

    /// Any order of any times: that of a stable sort, where nothing is further back than the window.
    #[test]
    fn the_order_is_that_of_a_stable_sort(times in proptest::collection::vec(0u64..50, 1..200)) {
        let whole = read(lines(&times), &sort()).unwrap();
        let mut wanted: Vec<_> = times.iter().zip(0u64..).map(|(at, line)| (*at, line)).collect();
        wanted.sort();
        let first = wanted[0].0;
        let wanted: Vec<_> = wanted.into_iter().map(|(at, line)| (at - first, line * 4096)).collect();
        prop_assert_eq!(whole.rows.iter().map(|row| (row.0, row.2)).collect::<Vec<_>>(), wanted);
    }
}
