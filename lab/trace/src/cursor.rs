//! A cursor over one line: fields in place, the end of each found in one step.
//!
//! Promises to allocate nothing. An unexpected field is a [`Fault`] with its place and what
//! is legal, from which [`super::records`] makes a message. Must never know a format.

use flashlane_core::Op;

use super::TimeUnit;
use super::digits::{self, POWER};
use super::window::{self, STEP};

/// A field that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    /// Where the offending field starts (or an index inside it).
    pub at: usize,
    /// Which field it is, with its unit.
    pub field: &'static str,
    /// What would be legal.
    pub legal: &'static str,
}

/// What a field is that stands behind a blank.
pub(super) const BY_SPACE: &str = "a value set off by a space";
/// What one is that stands behind a comma.
pub(super) const BY_COMMA: &str = "a value set off by a comma";
/// What stands at the end of the line.
pub(super) const NOTHING_MORE: &str = "nothing more";
/// A whole number.
pub(super) const WHOLE: &str = "a whole number from 0 to 18446744073709551615";
/// A number that stays in range when scaled to nanoseconds.
pub(super) const DECIMAL: &str = "a number from 0 that fits 64 bits in nanoseconds, such as 12.5";
/// An address that stays in range when scaled to bytes.
pub(super) const SECTORS: &str = "a number of 512-byte sectors from 0 to 36028797018963967";

/// A number of units that stays in range when scaled to bytes.
pub(super) const NUMBER: &str = "a whole number that fits 64 bits in bytes";

/// One line, read from left to right. Fields are found fastest where [`STEP`] bytes or more follow the line's end.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    line: &'a [u8],
    /// The line and what follows it; the byte after the line, if any, is not a digit.
    bytes: &'a [u8],
    pos: usize,
    /// A bit map of the first bytes that are not digits; empty if it was not computed.
    breaks: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of a line that ends at `end`.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], end: usize) -> Self {
        debug_assert!(end <= bytes.len() && bytes.get(end).is_none_or(|b| !b.is_ascii_digit()));
        Cursor { line: &bytes[..end], bytes, pos: 0, breaks: 0 }
    }

    /// A cursor with a known bit map of the first bytes that are not digits.
    #[inline(always)]
    pub fn with_breaks(bytes: &'a [u8], end: usize, breaks: u64) -> Self {
        Cursor { breaks, ..Cursor::new(bytes, end) }
    }

    /// The bit map of the first bytes that are not digits.
    #[inline(always)]
    pub fn breaks(&self) -> u64 {
        self.breaks
    }

    /// The end of the line.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.line.len()
    }

    /// The first `N` bytes of the line and of what follows it, if there are that many.
    #[inline(always)]
    pub fn reach<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.bytes.first_chunk()
    }

    /// The part of the line from `from` to `to`, after which no digit follows.
    #[inline(always)]
    pub fn part(&self, from: usize, to: usize) -> Cursor<'a> {
        Cursor::new(&self.bytes[from..], to - from)
    }

    /// The current position.
    #[inline(always)]
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// The line without what follows it.
    #[inline(always)]
    pub fn line(&self) -> &'a [u8] {
        self.line
    }

    /// Whether only white space is left.
    #[inline(always)]
    pub fn at_end(&mut self) -> bool {
        self.blanks();
        self.pos >= self.end()
    }

    /// The next byte, if the line has one.
    #[inline(always)]
    pub fn peek(&self) -> Option<u8> {
        self.line.get(self.pos).copied()
    }

    /// Skips spaces and tabs.
    #[inline(always)]
    pub fn blanks(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.pos += 1;
        }
    }

    /// The next byte behind spaces and tabs, if the line has one.
    #[inline(always)]
    pub fn after_blanks(mut self) -> Option<u8> {
        self.blanks();
        self.peek()
    }

    /// Where the bytes from `from` on end whose number `count` tells, the line's end at most.
    #[inline(always)]
    fn after(&self, from: usize, count: impl Fn(&[u8; STEP]) -> usize) -> usize {
        let mut at = from;
        loop {
            let found = count(&self.ahead(at));
            at = (at + found).min(self.end());
            if found < STEP || at == self.end() {
                return at;
            }
        }
    }

    /// The bytes from `at` on; zeros follow the last one there is.
    #[inline(always)]
    fn ahead(&self, at: usize) -> [u8; STEP] {
        let rest = &self.bytes[at..];
        rest.first_chunk().copied().unwrap_or_else(|| padded(rest))
    }

    /// Where the next `byte` at or after `from` is, the line's end if there is none.
    #[inline(always)]
    pub fn find(&self, from: usize, byte: u8) -> usize {
        self.after(from, |bytes| window::to_byte(bytes, byte))
    }

    /// Skips the white space before the next field; if there is none, `field` is reported as missing.
    #[inline(always)]
    pub fn gap(&mut self, field: &'static str) -> Result<(), Fault> {
        let Some(b' ' | b'\t') = self.peek() else {
            return Err(self.fault(field, BY_SPACE));
        };
        self.pos += 1;
        self.blanks();
        Ok(())
    }

    /// Skips a comma and the white space around it; if there is none, `field` is reported as missing.
    #[inline(always)]
    pub fn comma(&mut self, field: &'static str) -> Result<(), Fault> {
        self.blanks();
        if self.peek() != Some(b',') {
            return Err(self.fault(field, BY_COMMA));
        }
        self.pos += 1;
        self.blanks();
        Ok(())
    }

    /// Checks that nothing follows.
    #[inline(always)]
    pub fn finish(&mut self) -> Result<(), Fault> {
        if self.at_end() { Ok(()) } else { Err(self.fault("the end of the line", NOTHING_MORE)) }
    }

    /// A fault of `field` at the current position.
    #[inline(always)]
    pub fn fault(&self, field: &'static str, legal: &'static str) -> Fault {
        Fault { at: self.pos, field, legal }
    }

    /// A whole number.
    #[inline(always)]
    pub fn number(&mut self, field: &'static str) -> Result<u64, Fault> {
        let start = self.pos;
        let value = self.digits();
        match value {
            Some(v) if self.pos > start => Ok(v),
            _ => Err(Fault { at: start, field, legal: WHOLE }),
        }
    }

    /// A whole number of 512-byte sectors, in bytes.
    #[inline(always)]
    pub fn sectors(&mut self, field: &'static str) -> Result<u64, Fault> {
        let start = self.pos;
        match self.digits() {
            Some(v) if self.pos > start && v <= u64::MAX / 512 => Ok(v * 512),
            _ => Err(Fault { at: start, field, legal: SECTORS }),
        }
    }

    /// A whole number of units, in bytes; spreadsheets may have written it with a fraction of zeros.
    pub fn units(&mut self, unit_bytes: u64) -> Result<u64, Fault> {
        let start = self.pos;
        let bytes = self.digits().filter(|_| self.pos > start).and_then(|units| units.checked_mul(unit_bytes));
        if self.peek() == Some(b'.') {
            self.pos += 1;
            while self.peek() == Some(b'0') {
                self.pos += 1;
            }
        }
        bytes.ok_or(Fault { at: start, field: "the number", legal: NUMBER })
    }

    /// A number with an optional fraction, times 10 to the power `digits` (at most 9); further digits are dropped.
    #[inline(always)]
    pub fn decimal(&mut self, field: &'static str, digits: usize) -> Result<u64, Fault> {
        let start = self.pos;
        let whole = self.digits();
        let bad = Fault { at: start, field, legal: DECIMAL };
        if self.pos == start {
            return Err(bad);
        }
        let scale = POWER[digits];
        let Some(mut value) = whole.and_then(|w| w.checked_mul(scale)) else {
            // An exponent may bring it back into range.
            return self.exponent(start, digits, bad);
        };
        if self.peek() == Some(b'.') {
            let from = self.pos + 1;
            self.pos = self.after(from, window::digits);
            let used = (self.pos - from).min(digits);
            if used > 0 {
                let fraction = digits::of_sixteen(&first_half(&self.ahead(from)), used) * POWER[digits - used];
                value = value.checked_add(fraction).ok_or(bad)?;
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            return self.exponent(start, digits, bad);
        }
        Ok(value)
    }

    /// A time in a unit that the user named, in nanoseconds, exactly; what is finer than a nanosecond is dropped.
    #[inline(never)]
    pub fn time(&mut self, unit: TimeUnit) -> Result<u64, Fault> {
        self.decimal(unit.field(), unit.digits())
    }

    /// A number written with an exponent (`1.5e+04`), as spreadsheets and numpy write large times.
    #[cold]
    fn exponent(&mut self, start: usize, digits: usize, bad: Fault) -> Result<u64, Fault> {
        self.pos = start;
        while self.peek().is_some_and(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-')) {
            self.pos += 1;
        }
        // 2^63: sums of times stay below 64 bits.
        exponential(&self.line[start..self.pos], digits).filter(|value| *value < 1 << 63).ok_or(bad)
    }

    /// The value of the digits at the current position; `None` if it exceeds 64 bits. Whether there were any digits,
    /// the caller sees from [`Self::pos`].
    #[inline(always)]
    fn digits(&mut self) -> Option<u64> {
        let bytes = self.ahead(self.pos);
        // Within the window no field waits for the one before.
        let count = match self.breaks.checked_shr(self.pos as u32) {
            None | Some(0) => window::digits(&bytes),
            Some(breaks) => breaks.trailing_zeros() as usize,
        };
        let value = match count {
            0 => 0,
            1..=8 => digits::of_eight(bytes.as_chunks().0[0], count),
            9..=16 => digits::of_sixteen(&first_half(&bytes), count),
            // Nineteen digits fit 64 bits.
            17..=19 => {
                let first = digits::of_sixteen(&first_half(&bytes), 16);
                first * POWER[count - 16] + digits::of_eight(bytes.as_chunks().0[2], count - 16)
            }
            _ => return self.digits_in_turn(),
        };
        self.pos += count;
        Some(value)
    }

    /// Reads digits one by one, of a number that may exceed 64 bits.
    fn digits_in_turn(&mut self) -> Option<u64> {
        let mut value = 0u64;
        while let Some(d @ b'0'..=b'9') = self.peek() {
            value = value.checked_mul(10)?.checked_add(u64::from(d - b'0'))?;
            self.pos += 1;
        }
        Some(value)
    }

    /// The bytes up to the next white space.
    #[inline(always)]
    pub fn word(&mut self) -> &'a [u8] {
        let start = self.pos;
        self.pos = self.after(start, window::to_blank);
        &self.line[start..self.pos]
    }

    /// The bytes up to the next comma, white space around them dropped.
    #[inline(always)]
    pub fn cell(&mut self) -> &'a [u8] {
        let start = self.pos;
        self.pos = self.find(start, b',');
        self.bytes[start..self.pos].trim_ascii()
    }

    /// A field that is 1 for a read and 0 for a write.
    #[inline(always)]
    pub fn one_is_read(&mut self, field: &'static str) -> Result<Op, Fault> {
        // Reads and writes alternate unpredictably, so the result is computed without a branch.
        let bit = self.peek().unwrap_or_default() ^ b'0';
        if bit > 1 {
            return Err(self.fault(field, "1 (read) or 0 (write)"));
        }
        let op = [Op::Write, Op::Read][usize::from(bit)];
        match self.line.get(self.pos + 1) {
            None | Some(b' ' | b'\t') => {
                self.pos += 1;
                Ok(op)
            }
            Some(_) => Err(self.fault(field, "1 (read) or 0 (write)")),
        }
    }
}

/// The first sixteen bytes.
#[inline(always)]
fn first_half(bytes: &[u8; STEP]) -> [u8; 16] {
    bytes.as_chunks().0[0]
}

/// The bytes, fewer than [`STEP`], and zeros.
#[cold]
fn padded(bytes: &[u8]) -> [u8; STEP] {
    let mut all = [0; STEP];
    all[..bytes.len()].copy_from_slice(bytes);
    all
}

/// `1.5e+04` times 10 to the power `digits`, exactly; further digits are dropped. `None` if it is no such number, or above 64 bits.
pub(super) fn exponential(text: &[u8], digits: usize) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0u128;
    for digit in whole.bytes().chain(fraction.bytes()) {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u128::from(digit - b'0'))?;
    }
    let shift = i64::from(exponent.parse::<i32>().ok()?) + digits as i64 - fraction.len() as i64;
    let power = |by: u64| u32::try_from(by).ok().and_then(|by| 10u128.checked_pow(by));
    let scaled = match (shift, power(shift.unsigned_abs())) {
        _ if value == 0 => 0,
        (0.., Some(power)) => value.checked_mul(power)?,
        (0.., None) => return None,
        (_, Some(power)) => value / power,
        (_, None) => 0,
    };
    u64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> (Option<u64>, usize) {
        let mut c = Cursor::new(text.as_bytes(), text.len());
        let v = c.number("n").ok();
        (v, c.pos())
    }

    #[test]
    fn digits_of_every_length_and_at_every_distance_from_the_end() {
        let all = "12345678901234567890123";
        for length in 1..=20 {
            for tail in ["", " ", " x", ",1234567", ":99999999", "/00000000", "\u{ff}1"] {
                let text = format!("{}{tail}", &all[..length]);
                assert_eq!(number(&text).0, all[..length].parse::<u64>().ok(), "{text}");
            }
        }
    }

    #[test]
    fn the_largest_number_and_the_one_after() {
        assert_eq!(number("18446744073709551615").0, Some(u64::MAX));
        assert_eq!(number("18446744073709551616").0, None);
        assert_eq!(number("00000000000000000000000000007").0, Some(7));
        assert_eq!(number("").0, None);
        assert_eq!(number("x").0, None);
        assert_eq!(number("-1").0, None);
    }

    #[test]
    fn decimals_scale_exactly_and_drop_what_is_finer() {
        let cases = [
            ("0.221", Some(221_000)),
            ("7", Some(7_000_000)),
            ("7.", Some(7_000_000)),
            ("1.0000009", Some(1_000_000)),
            ("143068.077 ", Some(143_068_077_000)),
            ("1.5e+04", Some(15_000_000_000)),
            ("1e400", None),
            ("1e-400", Some(0)),
            ("1.538323200123456e+09", Some(1_538_323_200_123_456)),
            ("1538323200123456789e-9", Some(1_538_323_200_123_456)),
            ("9.9e+1,7", Some(99_000_000)),
            ("1e", None),
            ("1e+", None),
            ("1.5e1e1", None),
            (".5", None),
            ("-0.5", None),
            ("99999999999999999", None),
        ];
        for (text, want) in cases {
            assert_eq!(Cursor::new(text.as_bytes(), text.len()).decimal("t", 6).ok(), want, "{text}");
        }
    }
}
