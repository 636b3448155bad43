//! Arbitrary bytes, and damaged valid traces: the result is an error or a valid trace, never a panic.

use proptest::prelude::*;

use flashlane_core::choice::Choice;
use flashlane_trace::{Action, Beyond, Sizes, TimeOrder, TimeUnit, Volumes};

use super::*;

/// The entry point for a fuzzer: all that a file can make the readers do, with the format chosen by the first byte.
fn fuzz_bytes(data: &[u8]) {
    let (first, bytes) = data.split_first().unwrap_or((&0, &[]));
    let format = Format::ALL.get(*first as usize % (Format::ALL.len() + 1)).copied();
    for (lenient, order) in [(false, TimeOrder::Error), (true, TimeOrder::Clamp), (true, TimeOrder::Sort)] {
        let options = TraceOptions {
            format,
            time_unit: TimeUnit::LIST.get(*first as usize / (Format::ALL.len() + 1)).map(|unit| unit.value),
            speedup: if lenient { "3/2".parse().unwrap() } else { "1".parse().unwrap() },
            loops: if lenient { 2 } else { 1 },
            order,
            volumes: if order == TimeOrder::Sort { Volumes::Together } else { Volumes::Overlaid },
            beyond: if lenient { Beyond::Wrap } else { Beyond::Error },
            sizes: if lenient { Sizes::Reject } else { Sizes::Error },
            action: lenient.then_some(Action::Issue),
            ..TraceOptions::default()
        };
        // `read_on` checks order, addresses, sizes and counts of the requests.
        let outcome = read_on(bytes, &options, 1 << 32);
        if let Err(why) = outcome {
            assert!(!why.place.is_empty() && !why.message.is_empty());
            assert!(why.message.len() < 2_000, "a message for people: {why}");
        }
        let _ = flashlane_trace::TraceStat::of_bytes("t", bytes, &options);
    }
}

proptest! {
    #![proptest_config(drawn(2_000, env!("CARGO_MANIFEST_DIR"), "traces-fuzz"))]

    #[test]
    fn arbitrary_bytes_never_panic(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        fuzz_bytes(&data);
    }

    #[test]
    fn arbitrary_lines_never_panic(format in any::<u8>(), text in "([0-9]{0,21}[ ,.+\\-\teERWQDrwN\\[\\]:#x]{0,2}){0,40}(\r?\n)?") {
        fuzz_bytes(&[&[format], text.as_bytes()].concat());
    }

    #[test]
    fn damaged_traces_never_panic(
        number in 0..Format::ALL.len(),
        auto in any::<bool>(),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<proptest::sample::Index>(),
        packed in any::<bool>(),
    ) {
        let format = Format::ALL[number];
        let mut bytes = match format {
            Format::Blktrace => [0x07, 0x74, 0x61, 0x65].into_iter().chain((0..92).map(|i| i % 5)).collect(),
            Format::VscsiBinary => (0..80).map(|i| [0x28, 0, 7, 2].get(i % 40).copied().unwrap_or(i as u8 % 5)).collect(),
            format => sample(format).repeat(2).into_bytes(),
        };
        if packed {
            bytes = zstd::stream::encode_all(&bytes[..], 1).unwrap();
        }
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        bytes.insert(0, if auto { Format::ALL.len() } else { number } as u8);
        fuzz_bytes(&bytes);
    }
}

/// A property that fails for numbers above 1,000 is tried with stored failures before new numbers are drawn.
#[test]
fn a_failure_is_kept_and_tried_first() {
    use proptest::test_runner::TestRunner;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kept.txt");
    let config = || ProptestConfig { source_file: Some(file!()), ..kept_in(256, file.display().to_string()) };
    let small = |number: u64| if number > 1_000 { Err(TestCaseError::fail("large")) } else { Ok(()) };
    assert!(TestRunner::new(config()).run(&any::<u64>(), small).is_err());
    let kept = std::fs::read_to_string(&file).expect("a file of failures");
    assert!(kept.lines().any(|line| line.starts_with("cc ")), "{kept}");

    let tried = std::cell::Cell::new(0);
    let once = ProptestConfig { cases: 0, ..config() };
    let outcome = TestRunner::new(once).run(&any::<u64>(), |number| {
        tried.set(tried.get() + 1);
        small(number)
    });
    assert!(outcome.is_err() && tried.get() > 0, "what failed is tried without any drawn case");
}
