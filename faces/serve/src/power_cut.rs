//! What a power cut leaves of writes, trims and write zeroes: whole pages of those that the drive had not ended, and of writes that only the
//! page buffer had, sampled by a seed.

use std::ops::Range;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// What was lost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PowerCut {
    /// Writes, trims and write zeroes that the drive had been given and had not ended.
    pub commands: u64,
    /// Their pages, those of which a part is changed counted too.
    pub pages: u64,
    /// Pages of those that are changed on the drive.
    pub landed: u64,
    /// Pages of answered writes that only the page buffer had.
    pub buffered: u64,
    /// Pages of those that are as they were before.
    pub lost: u64,
}

/// Samples page by page what a cut leaves.
pub(crate) struct PageSampler {
    rng: Pcg64Mcg,
    page_bytes: u64,
    pub(crate) cut: PowerCut,
}

impl PageSampler {
    pub(crate) fn new(seed: u64, page_bytes: u32) -> PageSampler {
        let rng = Pcg64Mcg::new((u128::from(seed) << 64) | 0x70_77_72_63_75_74_00_01);
        PageSampler { rng, page_bytes: page_bytes.into(), cut: PowerCut::default() }
    }

    fn coin(&mut self) -> bool {
        self.rng.next_u32() >> 31 == 1
    }

    /// Whether a page that only the buffer had is lost: `before`, what it held before, if so.
    pub(crate) fn takes(&mut self, before: Vec<u8>) -> Option<Vec<u8>> {
        self.cut.buffered += 1;
        let is_lost = self.coin();
        self.cut.lost += u64::from(is_lost);
        is_lost.then_some(before)
    }

    /// What has landed of a command that changes these bytes of the drive: all of them in some of its pages. Neighbouring pages are one range.
    pub(crate) fn landed(&mut self, bytes: Range<u64>) -> Vec<Range<u64>> {
        self.cut.commands += 1;
        let mut landed: Vec<Range<u64>> = Vec::new();
        let mut at = bytes.start;
        while at < bytes.end {
            let end = bytes.end.min(at - at % self.page_bytes + self.page_bytes);
            self.cut.pages += 1;
            if self.coin() {
                self.cut.landed += 1;
                match landed.last_mut() {
                    Some(last) if last.end == at => last.end = end,
                    _ => landed.push(at..end),
                }
            }
            at = end;
        }
        landed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces end where pages do, half of them land, and a seed has one outcome.
    #[test]
    fn whole_pages_land_or_do_not() {
        let of = |seed| {
            let mut sampler = PageSampler::new(seed, 8192);
            let landed: Vec<_> = (0..100).map(|write| sampler.landed(write * 512..write * 512 + 40_000)).collect();
            (sampler.cut, landed)
        };
        let (cut, landed) = of(1);
        // 40,000 bytes touch five pages, or six where they begin near the end of one.
        assert!(cut.commands == 100 && (500..=600).contains(&cut.pages), "{cut:?}");
        assert!((200..=350).contains(&cut.landed), "{cut:?}");
        let mut pages = 0;
        for (write, ranges) in landed.iter().enumerate() {
            let (begin, end) = (write as u64 * 512, write as u64 * 512 + 40_000);
            for range in ranges {
                assert!(range.start == begin || range.start.is_multiple_of(8192), "{range:?}");
                assert!(range.end == end || range.end.is_multiple_of(8192), "{range:?}");
                pages += range.end.div_ceil(8192) - range.start / 8192;
            }
            assert!(ranges.windows(2).all(|two| two[0].end < two[1].start), "neighbours are one: {ranges:?}");
        }
        assert_eq!(pages, cut.landed);
        assert!(of(1) == (cut, landed) && of(1) != of(2));
    }
}
