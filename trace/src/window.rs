//! Where digits stop and where the line ends in the next bytes of a text, computed for all bytes at once.
//!
//! Numbers vary in length: looking for the end of each in turn makes every field depend on the one before, with
//! branches that are mispredicted. Eight bytes at a time without a branch is faster. Must never know a format.

/// Bytes in a window: enough for a line of most traces.
pub(super) const WIDTH: usize = 40;

/// Bit maps of a window, the first byte lowest.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Window {
    /// Bytes that are not digits.
    pub breaks: u64,
    /// Bytes that end a line.
    pub ends: u64,
}

const LOW_7: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGH: u64 = 0x8080_8080_8080_8080;

impl Window {
    /// The bit maps of these bytes.
    #[inline(always)]
    pub fn of(bytes: &[u8; WIDTH]) -> Window {
        let mut window = Window::default();
        for (at, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let digit = word ^ 0x3030_3030_3030_3030;
            // A digit is now 0 to 9. Adding 0x76 to the lower seven bits sets the highest bit from 10 on, and never
            // carries.
            let no_digit = (((digit & LOW_7) + 0x7676_7676_7676_7676) | digit) & HIGH;
            let end = word ^ 0x0a0a_0a0a_0a0a_0a0a;
            let no_end = (((end & LOW_7) + LOW_7) | end) & HIGH;
            window.breaks |= gather(no_digit) << (8 * at);
            window.ends |= gather(no_end ^ HIGH) << (8 * at);
        }
        window
    }
}

/// The highest bits of eight bytes side by side.
#[inline(always)]
fn gather(high: u64) -> u64 {
    // The highest bit of byte i moves to bit i of the product's upper half; all other bits land above bit 7, and no two
    // bits meet. The upper half is used because compilers then do not vectorise the eight products: there is no vector
    // instruction for it, and emulated 64-bit vector products are several times slower.
    const SPREAD: u128 = 1 << 57 | 1 << 50 | 1 << 43 | 1 << 36 | 1 << 29 | 1 << 22 | 1 << 15 | 1 << 8;
    ((u128::from(high) * SPREAD) >> 64) as u64 & 0xff
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
                    assert_eq!((window.breaks | window.ends) >> WIDTH, 0);
                }
            }
        }
    }
}
