//! What a power cut leaves of writes: whole pages of those that were not answered and of those that only the page buffer had, drawn by a seed.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// What was lost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PowerCut {
    /// Writes that the drive had been given and had not answered.
    pub writes: u64,
    /// Their pages, those of which a part was written counted too.
    pub pages: u64,
    /// Pages of those that are on the drive.
    pub landed: u64,
    /// Pages of answered writes that only the page buffer had.
    pub buffered: u64,
    /// Pages of those that are as they were before.
    pub lost: u64,
}

/// Draws page by page.
pub(crate) struct Draw {
    rng: Pcg64Mcg,
    page_bytes: u64,
    pub(crate) cut: PowerCut,
}

impl Draw {
    pub(crate) fn new(seed: u64, page_bytes: u32) -> Draw {
        let rng = Pcg64Mcg::new((u128::from(seed) << 64) | 0x70_77_72_63_75_74_00_01);
        Draw { rng, page_bytes: page_bytes.into(), cut: PowerCut::default() }
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

    /// What has landed of a write: places on the drive, each with its bytes.
    pub(crate) fn landed(&mut self, offset: u64, data: &[u8]) -> Vec<(u64, Vec<u8>)> {
        self.cut.writes += 1;
        let mut landed = Vec::new();
        let mut at = 0;
        while at < data.len() {
            let place = offset + at as u64;
            let left = self.page_bytes - place % self.page_bytes;
            let end = data.len().min(at + left as usize);
            self.cut.pages += 1;
            if self.coin() {
                self.cut.landed += 1;
                landed.push((place, data[at..end].to_vec()));
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
        let data: Vec<u8> = (0..40_000).map(|at| (at / 7) as u8).collect();
        let of = |seed| {
            let mut draw = Draw::new(seed, 8192);
            let landed: Vec<_> = (0..100).flat_map(|write| draw.landed(write * 512, &data)).collect();
            (draw.cut, landed)
        };
        let (cut, landed) = of(1);
        assert_eq!((cut.writes, cut.landed as usize), (100, landed.len()));
        // 40,000 bytes touch five pages, or six where they begin near the end of one.
        assert!((500..=600).contains(&cut.pages) && (200..=350).contains(&cut.landed), "{cut:?}");
        for (place, bytes) in &landed {
            assert!(place / 8192 == (place + bytes.len() as u64 - 1) / 8192 && !bytes.is_empty());
        }
        assert!(of(1) == (cut, landed) && of(1) != of(2));
    }
}
