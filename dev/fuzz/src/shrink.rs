//! Shrinks a failing input to a size that can be read.

/// Cuts pieces out of `input`, large ones first, as long as it keeps failing; tries at most `budget` inputs.
pub fn shrink(input: &[u8], budget: usize, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let mut tries = 0;
    let mut size = best.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        let mut cut_any = false;
        while at < best.len() {
            if tries == budget {
                return best;
            }
            tries += 1;
            let end = (at + size).min(best.len());
            let shorter = [&best[..at], &best[end..]].concat();
            if fails(&shorter) {
                best = shorter;
                cut_any = true;
            } else {
                at = end;
            }
        }
        if !cut_any || size > 1 {
            size /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_goes() {
        let input = b"a long line of words, of which one is BAD, and more";
        let fails = |bytes: &[u8]| bytes.windows(3).any(|w| w == b"BAD");
        assert_eq!(shrink(input, 10_000, fails), b"BAD");
        assert!(shrink(input, 3, fails).len() > 3, "the budget holds");
        assert_eq!(shrink(input, 10_000, |_| false), input);
        assert_eq!(shrink(b"", 10, |_| true), b"");
    }

    #[test]
    fn two_far_pieces_both_stay() {
        let fails = |bytes: &[u8]| bytes.contains(&b'<') && bytes.contains(&b'>');
        assert_eq!(shrink(b"..<.........>....", 10_000, fails), b"<>");
    }
}
