//! The words of a table with a bit for each page.

/// The words that have the bits from `first` up to `end`, which must be more than `first`, and which of their bits these are.
#[inline(always)]
pub(super) fn words_of(first: u32, end: u32) -> impl Iterator<Item = (usize, u64)> {
    let last = end - 1;
    (first / 64..=last / 64).map(move |word| {
        let from = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
        let to = if word == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
        (word as usize, from & to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the bits one at a time: within a word, up to its end, over several.
    #[test]
    fn a_run_of_pages_is_marked_in_its_words() {
        for (first, end) in [(0, 1), (3, 64), (63, 65), (64, 128), (10, 200), (127, 129)] {
            let mut bits = [0u64; 4];
            words_of(first, end).for_each(|(word, mask)| bits[word] |= mask);
            let is_set = |page: u32| bits[page as usize / 64] >> (page % 64) & 1 == 1;
            assert!((0..256).all(|page| is_set(page) == (first..end).contains(&page)), "{first} to {end}");
        }
    }
}
