//! Where digits stop, fields part and the line ends in the next bytes of a text, found for all these bytes at once.
//!
//! Fields vary in length: looking at one byte after another makes every field depend on the one before, with
//! branches that are mispredicted. A vector of bytes is compared without a branch. Must never know a format.

use wide::{u8x32, u8x64};

/// Bytes in a window: enough for a line of most traces.
pub(super) const WIDTH: usize = 64;

/// Bytes in which the end of a field is looked for at a time.
pub(super) const STEP: usize = 32;

/// Bit maps of a window, the first byte lowest.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Window {
    /// Bytes that are not digits.
    pub breaks: u64,
    /// Bytes that end a line.
    pub ends: u64,
}

impl Window {
    /// The bit maps of these bytes.
    #[inline(always)]
    pub fn of(bytes: &[u8; WIDTH]) -> Window {
        let bytes = u8x64::new(*bytes);
        // Digits become 0 to 9; what is below them wraps around.
        let digits = bytes - u8x64::splat(b'0');
        Window {
            breaks: digits.simd_gt(u8x64::splat(9)).to_bitmask(),
            ends: bytes.simd_eq(u8x64::splat(b'\n')).to_bitmask(),
        }
    }
}

/// How many digits the bytes begin with.
#[inline(always)]
pub(super) fn digits(bytes: &[u8; STEP]) -> usize {
    let digits = u8x32::new(*bytes) - u8x32::splat(b'0');
    digits.simd_gt(u8x32::splat(9)).to_bitmask().trailing_zeros() as usize
}

/// How many bytes there are before the first space or tab.
#[inline(always)]
pub(super) fn to_blank(bytes: &[u8; STEP]) -> usize {
    let bytes = u8x32::new(*bytes);
    let blanks = bytes.simd_eq(u8x32::splat(b' ')) | bytes.simd_eq(u8x32::splat(b'\t'));
    blanks.to_bitmask().trailing_zeros() as usize
}

/// How many bytes there are before the first one that is `byte`.
#[inline(always)]
pub(super) fn to_byte(bytes: &[u8; STEP], byte: u8) -> usize {
    u8x32::new(*bytes).simd_eq(u8x32::splat(byte)).to_bitmask().trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for at in 0..WIDTH {
                for around in [b'0', b'9', b'\n', 0xff, b'/', b':'] {
                    let mut bytes = [around; WIDTH];
                    bytes[at] = byte;
                    let window = Window::of(&bytes);
                    for (i, b) in bytes.iter().enumerate() {
                        assert_eq!(window.breaks >> i & 1 == 0, b.is_ascii_digit(), "{byte} at {at} in {around}");
                        assert_eq!(window.ends >> i & 1 == 1, *b == b'\n', "{byte} at {at} in {around}");
                    }
                }
            }
        }
    }

    #[test]
    fn runs_end_at_the_first_other_byte() {
        let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
        for byte in 0..=255u8 {
            for at in 0..STEP {
                for around in [b'0', b'9', b' ', b'\t', b',', 0xff] {
                    let mut bytes = [around; STEP];
                    bytes[at] = byte;
                    let first = |stops: &dyn Fn(&u8) -> bool| bytes.iter().position(stops).unwrap_or(STEP);
                    assert_eq!(digits(&bytes), first(&|b| !b.is_ascii_digit()), "{byte} at {at} in {around}");
                    assert_eq!(to_blank(&bytes), first(&is_blank), "{byte} at {at} in {around}");
                    assert_eq!(to_byte(&bytes, byte), first(&|b| *b == byte), "{byte} at {at} in {around}");
                }
            }
        }
    }
}
