//! Digits as numbers, eight at a time, without a branch.

/// Powers of ten by the number of digits in a word.
pub(super) const POWER: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// How many digits the eight bytes begin with (the first byte is the lowest).
#[inline(always)]
pub(super) fn digits_of(word: u64) -> usize {
    let t = word ^ 0x3030_3030_3030_3030;
    // A digit is now 0..=9: its high nibble is zero, and still is when 6 is added. A carry can only come from a byte
    // that is not a digit, so the first non-digit is found exactly; the bytes after it do not matter.
    let other = (t | t.wrapping_add(0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0;
    (other.trailing_zeros() / 8) as usize
}

/// The value of the first `count` of eight bytes, which must be digits.
#[inline(always)]
pub(super) fn value_of(word: u64, count: usize) -> u64 {
    // Move the digits to the top, with leading zeros below, then add neighbours: pairs, fours, eights. Two shifts,
    // since a single shift by 64 bits would be no shift.
    let t = (word ^ 0x3030_3030_3030_3030) << (32 - 4 * count as u32) << (32 - 4 * count as u32);
    let pairs = ((t & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 << 32 | 1) >> 32
}
