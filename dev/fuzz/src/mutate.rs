//! The mutator: small random changes to an input, as text of lines, fields and numbers and as plain bytes.

use rand::{Rng, RngExt};

/// Inputs longer than this are cut: many short inputs find more than few long ones.
pub const MAX_BYTES: usize = 1 << 16;

/// Numbers at which arithmetic and range checks go wrong.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "255",
    "256",
    "511",
    "512",
    "513",
    "32767",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e308",
    "1e-320",
    "-0",
    "0x10",
    "08",
    "+7",
    "1_000",
    "1.5",
    "NaN",
    "inf",
    "",
];

/// Bytes with a meaning in some format.
const BYTES: &[u8] = b"\n\r\t ,;:#\"'[]{}=.-+eE0\0\x1f\x7f\x80\xc3\xff";

/// Changes `input` once to a few times. `other` is another input to take pieces from, `words` are the target's own
/// words.
pub fn mutate(rng: &mut impl Rng, input: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    // Mostly one change, so that inputs stay close to valid ones; sometimes many.
    let mut rounds = 1 + rng.random::<u32>().trailing_zeros().min(8);
    while rounds > 0 {
        once(rng, input, other, words);
        input.truncate(MAX_BYTES);
        rounds -= 1;
    }
}

fn once(rng: &mut impl Rng, input: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    let at = rng.random_range(0..=input.len());
    match rng.random_range(0..11) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = pick(rng, BYTES);
            }
        }
        2 => replace(input, at, 0, &[pick(rng, BYTES)]),
        3 => {
            let cut = piece(rng, input);
            input.drain(cut);
        }
        4 => {
            let copy = input[piece(rng, input)].to_vec();
            replace(input, at, 0, &copy);
        }
        5 => input.truncate(at),
        6 => replace(input, at, 0, &other[piece(rng, other)]),
        7 | 8 => number(rng, input),
        9 => line(rng, input),
        _ => {
            if !words.is_empty() {
                replace(input, at, 0, pick(rng, words).as_bytes());
            }
        }
    }
}

/// Replaces a number by one that is likely to cause trouble, or by a close neighbour of one.
fn number(rng: &mut impl Rng, input: &mut Vec<u8>) {
    let numbers: Vec<(usize, usize)> = runs(input, |byte| byte.is_ascii_digit());
    if numbers.is_empty() {
        return;
    }
    let (start, end) = pick(rng, &numbers);
    let old = std::str::from_utf8(&input[start..end]).ok().and_then(|text| text.parse::<u64>().ok());
    let new = match (old, rng.random_range(0..4)) {
        (Some(old), 0) => old.wrapping_add(1).to_string(),
        (Some(old), 1) => old.wrapping_sub(1).to_string(),
        _ => pick(rng, NUMBERS).to_string(),
    };
    replace(input, start, end - start, new.as_bytes());
}

/// Drops, doubles or swaps lines.
fn line(rng: &mut impl Rng, input: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = input.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let (a, b) = (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
    match rng.random_range(0..3) {
        0 => {
            lines.remove(a);
        }
        1 => lines.insert(b, lines[a].clone()),
        _ => lines.swap(a, b),
    }
    *input = lines.concat();
}

/// Runs of bytes of the same kind.
fn runs(input: &[u8], belongs: impl Fn(u8) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, &byte) in input.iter().enumerate() {
        match (belongs(byte), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| (from, input.len())));
    found
}

/// A piece of `input`, mostly short.
fn piece(rng: &mut impl Rng, input: &[u8]) -> std::ops::Range<usize> {
    let start = rng.random_range(0..=input.len());
    let longest = if rng.random_ratio(3, 4) { 16 } else { input.len() };
    start..start + rng.random_range(0..=longest.min(input.len() - start))
}

fn replace(input: &mut Vec<u8>, at: usize, len: usize, by: &[u8]) {
    input.splice(at..at + len, by.iter().copied());
}

fn pick<T: Copy>(rng: &mut impl Rng, from: &[T]) -> T {
    from[rng.random_range(0..from.len())]
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg32;

    use super::*;

    #[test]
    fn the_same_seed_does_the_same_damage() {
        let run = |seed| {
            let mut rng = Pcg32::seed_from_u64(seed);
            let mut input = b"1,2,3\nread,4,5\n".to_vec();
            (0..200).for_each(|_| mutate(&mut rng, &mut input, b"other 9\n", &["word"]));
            input
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }

    #[test]
    fn inputs_never_grow_past_the_limit_and_empty_ones_are_no_trouble() {
        let mut rng = Pcg32::seed_from_u64(1);
        let mut input = Vec::new();
        for _ in 0..2_000 {
            mutate(&mut rng, &mut input, b"", &[]);
            assert!(input.len() <= MAX_BYTES);
        }
        let mut input = vec![b'7'; MAX_BYTES];
        for _ in 0..200 {
            let other = input.clone();
            mutate(&mut rng, &mut input, &other, &["word"]);
            assert!(input.len() <= MAX_BYTES);
        }
    }

    #[test]
    fn numbers_are_replaced_whole() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..500 {
            let mut input = b"at 1234 ns".to_vec();
            number(&mut Pcg32::seed_from_u64(seed), &mut input);
            let text = String::from_utf8(input).unwrap();
            let middle = text.strip_prefix("at ").and_then(|rest| rest.strip_suffix(" ns")).expect("the rest stays");
            seen.insert(middle.to_string());
        }
        assert!(["1235", "1233", "18446744073709551616", ""].iter().all(|n| seen.contains(*n)), "{seen:?}");
    }

    #[test]
    fn runs_are_found_at_both_ends() {
        assert_eq!(runs(b"12,a3", |b| b.is_ascii_digit()), [(0, 2), (4, 5)]);
        assert_eq!(runs(b"", |b| b.is_ascii_digit()), []);
    }
}
