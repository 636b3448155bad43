//! Digits as numbers, eight or sixteen at a time, without a branch and without a check: so many fit 64 bits.

/// Powers of ten that fit 64 bits.
pub(super) const POWER: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = 10 * powers[at - 1];
        at += 1;
    }
    powers
};

/// The value of the first `count` (1 to 8) of eight bytes, which must be digits.
#[inline(always)]
pub(super) fn of_eight(bytes: [u8; 8], count: usize) -> u64 {
    // Digits move to the end, with leading zeros before them.
    value(digits(bytes) << (64 - 8 * count))
}

/// The value of the first `count` (1 to 16) of sixteen bytes, which must be digits.
#[inline(always)]
pub(super) fn of_sixteen(bytes: &[u8; 16], count: usize) -> u64 {
    let (eights, _) = bytes.as_chunks();
    let both = u128::from(digits(eights[0])) | u128::from(digits(eights[1])) << 64;
    let moved = both << (128 - 8 * count);
    value(moved as u64) * POWER[8] + value((moved >> 64) as u64)
}

/// Eight digits as bytes of 0 to 9, the first digit lowest.
#[inline(always)]
fn digits(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes) ^ 0x3030_3030_3030_3030
}

/// The value of eight digits; of a byte, the lower half counts.
#[inline(always)]
fn value(digits: u64) -> u64 {
    // Neighbours are added: pairs, fours, eights.
    let pairs = ((digits & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_digits_before_any_byte() {
        let all = b"9081726354453627";
        for after in [0, b'/', b':', b'9', 0xff] {
            for count in 1..=16 {
                let mut bytes = [after; 16];
                bytes[..count].copy_from_slice(&all[..count]);
                let expected = all[..count].iter().fold(0, |value, digit| 10 * value + u64::from(digit - b'0'));
                assert_eq!(of_sixteen(&bytes, count), expected);
                if count <= 8 {
                    assert_eq!(of_eight(*bytes.first_chunk().expect("sixteen"), count), expected);
                }
            }
        }
    }
}
