//! The cursor compared with one that looks at a byte at a time, and the common lines with the readers of their formats.
//!
//! A format reads a line by a cursor alone: if each of its steps has the same value, place and fault here and there,
//! so has every line.

use flashlane_testing::drawn::drawn;
use proptest::prelude::*;

use super::columns;
use super::cursor::{Cursor, DECIMAL, Fault, NUMBER, SECTORS, WHOLE, exponential};
use super::format::definition::How;
use super::format::record::Line;
use super::format::{Format, LineReader};
use super::lines::Lines;
use super::time_unit::TimeUnit;

/// One line, read a byte at a time.
struct Plain<'a> {
    line: &'a [u8],
    pos: usize,
}

impl<'a> Plain<'a> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.pos).copied()
    }

    fn skip(&mut self, is: impl Fn(u8) -> bool) -> &'a [u8] {
        let start = self.pos;
        while self.peek().is_some_and(&is) {
            self.pos += 1;
        }
        &self.line[start..self.pos]
    }

    fn blanks(&mut self) {
        self.skip(is_blank);
    }

    fn at_end(&mut self) -> bool {
        self.blanks();
        self.pos == self.line.len()
    }

    fn gap(&mut self) -> Result<(), Fault> {
        let fault = Fault { at: self.pos, field: "f", legal: "a value set off by a space" };
        if self.skip(is_blank).is_empty() { Err(fault) } else { Ok(()) }
    }

    fn comma(&mut self) -> Result<(), Fault> {
        self.blanks();
        if self.peek() != Some(b',') {
            return Err(Fault { at: self.pos, field: "f", legal: "a value set off by a comma" });
        }
        self.pos += 1;
        self.blanks();
        Ok(())
    }

    /// The value of one digit or more, if it fits 64 bits.
    fn digits(&mut self) -> Option<u64> {
        let digits = self.skip(|b| b.is_ascii_digit());
        std::str::from_utf8(digits).expect("digits").parse().ok()
    }

    fn times(&mut self, unit: u64, fault: Fault) -> Result<u64, Fault> {
        self.digits().and_then(|value| value.checked_mul(unit)).ok_or(fault)
    }

    fn units(&mut self, unit: u64) -> Result<u64, Fault> {
        let bytes = self.times(unit, Fault { at: self.pos, field: "the number", legal: NUMBER })?;
        if self.peek() == Some(b'.') {
            self.pos += 1;
            self.skip(|b| b == b'0');
        }
        Ok(bytes)
    }

    fn decimal(&mut self, field: &'static str, digits: usize) -> Result<u64, Fault> {
        let start = self.pos;
        let bad = Fault { at: start, field, legal: DECIMAL };
        let scale = 10u64.pow(digits as u32);
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(bad);
        }
        let Some(mut value) = self.digits().and_then(|whole| whole.checked_mul(scale)) else {
            return self.exponent(start, digits, bad);
        };
        if self.peek() == Some(b'.') {
            self.pos += 1;
            let mut unit = scale;
            for digit in self.skip(|b| b.is_ascii_digit()) {
                unit /= 10;
                value = value.checked_add(unit * u64::from(digit - b'0')).ok_or(bad)?;
            }
        }
        match self.peek() {
            Some(b'e' | b'E') => self.exponent(start, digits, bad),
            _ => Ok(value),
        }
    }

    fn exponent(&mut self, start: usize, digits: usize, bad: Fault) -> Result<u64, Fault> {
        self.pos = start;
        let text = self.skip(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
        exponential(text, digits).filter(|value| *value < 1 << 63).ok_or(bad)
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What a step gave, and where the cursor is then. After a fault nobody asks where.
type Step = Result<(u64, Vec<u8>, usize), Fault>;

/// A step by its number, of the cursor.
fn step(cursor: &mut Cursor<'_>, number: u8) -> Step {
    let mut bytes = Vec::new();
    let value = match number {
        0 => cursor.number("f")?,
        1 => cursor.sectors("f")?,
        2 => cursor.units(1)?,
        3 => cursor.units(4_096)?,
        4 => cursor.decimal("f", 6)?,
        5 => cursor.time(TimeUnit::S)?,
        6 => cursor.time(TimeUnit::Ns)?,
        7 => cursor.gap("f").map(|()| 0)?,
        8 => cursor.comma("f").map(|()| 0)?,
        9 => u64::from(cursor.at_end()),
        10 => {
            bytes = cursor.word().to_vec();
            0
        }
        11 => {
            bytes = cursor.cell().to_vec();
            0
        }
        _ => cursor.find(cursor.pos(), number) as u64,
    };
    Ok((value, bytes, cursor.pos()))
}

/// The same step, a byte at a time.
fn plain_step(plain: &mut Plain<'_>, number: u8) -> Step {
    let mut bytes = Vec::new();
    let fault = |plain: &Plain<'_>, legal| Fault { at: plain.pos, field: "f", legal };
    let value = match number {
        0 => plain.times(1, fault(plain, WHOLE))?,
        1 => plain.times(512, fault(plain, SECTORS))?,
        2 => plain.units(1)?,
        3 => plain.units(4_096)?,
        4 => plain.decimal("f", 6)?,
        5 => plain.decimal(TimeUnit::S.field(), 9)?,
        6 => plain.decimal(TimeUnit::Ns.field(), 0)?,
        7 => plain.gap().map(|()| 0)?,
        8 => plain.comma().map(|()| 0)?,
        9 => u64::from(plain.at_end()),
        10 => {
            bytes = plain.skip(|b| !is_blank(b)).to_vec();
            0
        }
        11 => {
            bytes = plain.skip(|b| b != b',').trim_ascii().to_vec();
            0
        }
        _ => {
            let rest = &plain.line[plain.pos..];
            rest.iter().position(|b| *b == number).map_or(plain.line.len(), |at| plain.pos + at) as u64
        }
    };
    Ok((value, bytes, plain.pos))
}

/// Runs of what lines are made of, in lengths around those at which digits are read otherwise.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let run = prop_oneof![
        4 => "[0-9]{1,21}",
        1 => "[0-9]{30,70}",
        1 => "0{1,40}",
        2 => "[ \t]{1,3}",
        1 => "[ ]{30,70}",
        2 => "[,;.eE+|-]",
        1 => "\\.[0-9]{0,12}",
        1 => "[a-zA-Z]{1,5}",
        1 => "[a-z]{30,40}",
        1 => "[\r\u{0}\u{c}\u{ff}\"/:]",
    ];
    proptest::collection::vec(run, 0..8).prop_map(|runs| runs.concat().into_bytes())
}

/// What follows a line in memory: nothing, or its end and other lines.
fn after() -> impl Strategy<Value = Vec<u8>> {
    let more = (prop_oneof![Just("\n"), Just("\r\n"), Just("\u{0}")], text(), 0usize..100);
    let more = more.prop_map(|(end, text, zeros)| [end.as_bytes(), &text, &vec![0; zeros]].concat());
    prop_oneof![1 => Just(Vec::new()), 3 => more]
}

/// A line of five columns, most of them common.
fn five_columns() -> impl Strategy<Value = Vec<u8>> {
    let number = || prop_oneof![6 => "[0-9]{1,10}", 2 => "[0-9]{1,18}", 1 => "[0-9a.]{0,3}"];
    let fraction = prop_oneof![2 => Just(String::new()), 2 => "\\.[0-9]{1,7}"];
    let gap = || prop_oneof![20 => Just(" "), 1 => Just("  "), 1 => Just("\t"), 1 => Just("")];
    let flag = prop_oneof![8 => "[01]", 1 => "[0-9a-f]{0,2}"];
    let numbers = (number(), number(), number(), number());
    ((fraction, flag), numbers, (gap(), gap(), gap(), gap())).prop_map(|((fraction, flag), (t, d, a, n), gaps)| {
        format!("{t}{fraction}{}{d}{}{a}{}{n}{}{flag}", gaps.0, gaps.1, gaps.2, gaps.3).into_bytes()
    })
}

proptest! {
    #![proptest_config(drawn(20_000, env!("CARGO_MANIFEST_DIR"), "traces-cursor"))]

    #[test]
    fn every_step_is_that_of_a_byte_at_a_time(
        line in text(),
        after in after(),
        known in prop_oneof![Just(0usize), 0usize..64, Just(64)],
        steps in proptest::collection::vec(prop_oneof![6 => 0u8..12, 1 => prop_oneof![Just(b','), Just(b' '), Just(b'7')]], 1..12),
    ) {
        let bytes = [&line[..], &after].concat();
        let known = bytes.iter().take(known).enumerate().filter(|(_, b)| !b.is_ascii_digit());
        let breaks = known.fold(0, |breaks, (at, _)| breaks | 1 << at);
        let (mut cursor, mut plain) = (Cursor::with_breaks(&bytes, line.len(), breaks), Plain { line: &line, pos: 0 });
        for number in steps {
            let (found, expected) = (step(&mut cursor, number), plain_step(&mut plain, number));
            prop_assert_eq!(&found, &expected, "step {} of `{}`", number, line.escape_ascii());
            if found.is_err() {
                break;
            }
        }
    }

    #[test]
    fn common_lines_are_read_as_their_format_reads_them(line in five_columns()) {
        for format in [Format::Mqsim, Format::Disksim, Format::Replayer] {
            let columns = format.about().columns.expect("five columns");
            let mut lines = Lines::new("t".to_owned(), Box::new(std::io::Cursor::new([&line[..], b"\n"].concat())));
            let common = columns::common(&lines.next().expect("sound").expect("a line"), columns);
            let read = LineReader::new(format, &How::PLAIN).read_any(&mut Cursor::new(&line, line.len()), 1);
            let is_short = |field: &[u8]| (1..=6).contains(&field.len()) && !field.contains(&b'\t');
            let is_plain = line.split(|b| *b == b' ').all(is_short) && matches!(read, Ok(Line::Request(_)));
            let is_usual = line.ends_with(b" 0") || line.ends_with(b" 1");
            let has_point = line.windows(2).any(|two| two[0] == b'.' && two[1] != b' ') != (format == Format::Mqsim);
            prop_assert!(common.is_some() || !(is_plain && is_usual && has_point), "{} `{}`", format, line.escape_ascii());
            if let Some(raw) = common {
                prop_assert_eq!(read, Ok(Line::Request(raw)), "{} `{}`", format, line.escape_ascii());
            }
        }
    }

    #[test]
    fn lines_are_cut_at_their_ends(texts in proptest::collection::vec((text(), prop_oneof![Just("\n"), Just("\r\n")]), 1..8)) {
        let whole: Vec<u8> = texts.iter().flat_map(|(text, end)| [&text[..], end.as_bytes()].concat()).collect();
        let mut lines = Lines::new("t".to_owned(), Box::new(std::io::Cursor::new(whole.clone())));
        for plain in whole.split_inclusive(|b| *b == b'\n') {
            let plain = plain.strip_suffix(b"\n").expect("each has its end");
            let plain = plain.strip_suffix(b"\r").unwrap_or(plain);
            let line = lines.next().expect("sound").expect("a line");
            prop_assert_eq!(line.line(), plain);
            for (at, byte) in plain.iter().enumerate().take(if line.breaks() == 0 { 0 } else { 64 }) {
                prop_assert_eq!(line.breaks() >> at & 1 == 0, byte.is_ascii_digit());
            }
        }
        prop_assert!(lines.next().expect("sound").is_none());
    }
}
