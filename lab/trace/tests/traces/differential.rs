//! The fast readers compared with a slow, plain one that shares no code with them.

use proptest::prelude::*;

use super::*;

/// The plain reader on one line of a format: a request (time in ns on the file's axis), or `None` if the line is
/// illegal.
fn plain(format: Format, line: &str) -> Option<(u128, Op, u128, u128)> {
    let words: Vec<&str> = line.split([' ', '\t']).filter(|w| !w.is_empty()).collect();
    let cells: Vec<&str> = line.split(',').map(|c| c.trim_matches([' ', '\t'])).collect();
    let sectors = |field: &str| whole(field).map(|n| n * 512).filter(|n| *n <= u128::from(u64::MAX));
    let fits = |n: u128| (n <= u128::from(u64::MAX)).then_some(n);
    match (format, words.as_slice(), cells.as_slice()) {
        (Format::Mqsim | Format::Ssdsim, [t, d, a, n, o], _) => {
            whole(d)?;
            Some((whole(t)?, one_is_read(o)?, sectors(a)?, sectors(n)?))
        }
        (Format::Disksim, [t, d, a, n, o], _) => {
            whole(d)?;
            let digits = o.strip_prefix("0x").unwrap_or(o);
            let flags = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
            let op = if flags & 1 == 1 && digits.len() <= 8 { R } else { W };
            (digits.len() <= 8).then_some(())?;
            Some((decimal(t, 6)?, op, sectors(a)?, sectors(n)?))
        }
        (Format::Replayer, [t, d, a, n, o], _) => {
            whole(d)?;
            Some((decimal(t, 6)?, one_is_read(o)?, whole(a)?, whole(n)?))
        }
        (Format::Msr, _, [t, host, d, o, a, n, rest @ ..]) if rest.len() <= 1 => {
            whole(d)?;
            if host.is_empty() || rest.iter().any(|r| whole(r).is_none()) {
                return None;
            }
            Some((fits(whole(t)? * 100)?, letter(o)?, whole(a)?, whole(n)?))
        }
        (Format::Spc, _, [d, a, n, o, t, ..]) => {
            whole(d)?;
            Some((decimal(t, 9)?, letter(o)?, sectors(a)?, whole(n)?))
        }
        (Format::Alibaba, _, [d, o, a, n, t]) => {
            whole(d)?;
            Some((fits(whole(t)? * 1_000)?, letter(o)?, whole(a)?, whole(n)?))
        }
        (Format::Tencent, _, [t, a, n, o, d]) => {
            whole(d)?;
            let op = one_is_read(o)?;
            let op = if op == R { W } else { R };
            Some((whole(t).filter(|t| *t <= 18_446_744_072)? * 1_000_000_000, op, sectors(a)?, sectors(n)?))
        }
        _ => None,
    }
}

/// A whole number.
fn whole(field: &str) -> Option<u128> {
    let digits = !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| field.parse::<u64>().ok().map(u128::from)).flatten()
}

/// Exact decimal arithmetic on text: pads or cuts the fraction to `digits`.
fn decimal(field: &str, digits: usize) -> Option<u128> {
    let (integer, fraction) = field.split_once('.').unwrap_or((field, ""));
    whole(integer)?;
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let fraction: String = fraction.chars().chain(std::iter::repeat('0')).take(digits).collect();
    let value = format!("{integer}{fraction}").parse::<u128>().ok()?;
    (value <= u128::from(u64::MAX)).then_some(value)
}

fn one_is_read(field: &str) -> Option<Op> {
    match field {
        "1" => Some(R),
        "0" => Some(W),
        _ => None,
    }
}

fn letter(field: &str) -> Option<Op> {
    match field.to_ascii_lowercase().as_str() {
        "r" | "read" => Some(R),
        "w" | "write" => Some(W),
        _ => None,
    }
}

/// The formats that the plain reader supports.
const KNOWN: [Format; 8] = [
    Format::Mqsim,
    Format::Ssdsim,
    Format::Disksim,
    Format::Replayer,
    Format::Msr,
    Format::Spc,
    Format::Alibaba,
    Format::Tencent,
];

/// The fast reader on one line after a legal first one at time 0, which makes its time visible.
fn fast(format: Format, line: &str) -> Option<Row> {
    let first = match format {
        Format::Msr => "0,h,0,Read,0,512,0",
        Format::Spc => "0,0,512,r,0",
        Format::Alibaba => "0,R,0,512,0",
        Format::Tencent => "0,0,1,0,0",
        _ => "0 0 1 1 1",
    };
    let options = TraceOptions { jitter_seed: None, max_request_bytes: 1 << 30, ..as_format(format) };
    let whole = read_on(format!("{first}\n{line}\n").as_bytes(), &options, u64::MAX).ok()?;
    whole.rows.get(1).copied()
}

/// The request that the fast reader must yield: legal, and within the limits of all traces.
fn expected(format: Format, line: &str) -> Option<Row> {
    let (time, op, offset, length) = plain(format, line)?;
    let allowed = time <= u128::from(flashlane_core::Time::LAST.ns())
        && (1..=1 << 30).contains(&length)
        && offset + length <= u128::from(u64::MAX);
    allowed.then_some((time as u64, op, offset as u64, length as u64))
}

/// A number of any length, sometimes with leading zeros.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0u32..64, any::<u64>()).prop_map(|(shift, v)| (v >> shift).to_string()),
        1 => (0usize..12, any::<u32>()).prop_map(|(zeros, v)| format!("{}{v}", "0".repeat(zeros))),
        1 => "[0-9]{18,22}",
    ]
}

fn small() -> impl Strategy<Value = String> {
    prop_oneof![(1u64..200_000).prop_map(|n| n.to_string()), number()]
}

fn time() -> impl Strategy<Value = String> {
    // Some of them are within a device's time limit in any unit.
    let whole = prop_oneof![2 => number(), 1 => (0u64..1 << 26).prop_map(|n| n.to_string())];
    (whole, proptest::option::of("[0-9]{0,12}")).prop_map(|(whole, fraction)| match fraction {
        Some(fraction) => format!("{whole}.{fraction}"),
        None => whole,
    })
}

fn blank() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(" ".to_owned()), 1 => "[ \t]{1,4}"]
}

/// A line of a format: valid in shape, with any values.
fn line(format: Format) -> BoxedStrategy<String> {
    let letter = prop_oneof![Just("r"), Just("R"), Just("w"), Just("W"), Just("Read"), Just("write"), Just("x")];
    let bit = prop_oneof![4 => Just("0".to_owned()), 4 => Just("1".to_owned()), 1 => number(), 1 => "[0-9a-fx]{1,3}"];
    let fields = (time(), number(), number(), small(), letter, bit, small());
    let gaps = (blank(), proptest::option::of(blank()));
    (fields, gaps)
        .prop_map(move |((t, d, a, n, word, bit, rest), (gap, pad))| {
            let whole_time = t.split('.').next().unwrap_or_default().to_owned();
            let pad = pad.unwrap_or_default();
            match format {
                Format::Mqsim | Format::Ssdsim => format!("{pad}{whole_time}{gap}{d}{gap}{a}{gap}{n}{gap}{bit}{pad}"),
                Format::Disksim | Format::Replayer => format!("{pad}{t}{gap}{d}{gap}{a}{gap}{n}{gap}{bit}{pad}"),
                Format::Msr => format!("{whole_time},host,{d},{word},{a},{n},{rest}"),
                Format::Spc => format!("{pad}{d},{pad}{a}{pad},{n},{word},{t}{pad}"),
                Format::Alibaba => format!("{d},{word},{a}{pad},{n},{whole_time}"),
                _ => format!("{whole_time},{a},{n},{bit},{d}"),
            }
        })
        .boxed()
}

/// The line with one byte inserted, removed or replaced.
fn mutated(format: Format) -> impl Strategy<Value = String> {
    let bytes = prop_oneof![Just(' '), Just(','), Just('.'), Just('-'), Just('+'), Just('7'), Just('x'), Just('\t')];
    (line(format), any::<proptest::sample::Index>(), bytes, 0..3).prop_map(|(line, at, byte, kind)| {
        let mut chars: Vec<char> = line.chars().collect();
        let at = at.index(chars.len());
        match kind {
            0 => chars[at] = byte,
            1 => chars.insert(at, byte),
            _ => {
                chars.remove(at);
            }
        }
        chars.into_iter().collect()
    })
}

#[test]
fn the_fast_readers_agree_with_the_plain_one() {
    for format in KNOWN {
        proptest!(drawn(3_000, env!("CARGO_MANIFEST_DIR"), "traces-differential"), |(text in prop_oneof![line(format), mutated(format)])| {
            prop_assert_eq!(fast(format, &text), expected(format, &text), "{} `{}`", format, text);
        });
    }
}

#[test]
fn the_plain_reader_takes_a_good_part_of_the_lines() {
    // Checks that the comparison above does see legal lines.
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for format in KNOWN {
        let taken = (0..500)
            .filter(|_| {
                let text = line(format).new_tree(&mut runner).expect("a line").current();
                expected(format, &text).is_some()
            })
            .count();
        assert!(taken > 50, "{format}: {taken} of 500");
    }
}
