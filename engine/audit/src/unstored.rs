//! Pages of writes that wait for space in a write-back buffer: the device has taken them in, and the buffer has not stored them.
//!
//! Not known of requests that list their pages, which the stream does not name.

use flashlane_core::Lpn;
use rustc_hash::FxHashMap;

/// The number of such writes of each page.
#[derive(Default, Debug)]
pub(super) struct Unstored(FxHashMap<Lpn, u32>);

impl Unstored {
    /// A write of these bytes was admitted.
    pub(super) fn admitted(&mut self, (first, length): (u64, u64), page: u64) {
        for lpn in first / page..(first + length).div_ceil(page) {
            *self.0.entry(Lpn(lpn as u32)).or_default() += 1;
        }
    }

    /// The buffer has stored a page of such a write.
    pub(super) fn stored(&mut self, lpn: Lpn) {
        if let Some(writes) = self.0.get_mut(&lpn) {
            *writes -= 1;
            if *writes == 0 {
                self.0.remove(&lpn);
            }
        }
    }

    /// Whether a write of the page waits.
    pub(super) fn contains(&self, lpn: Lpn) -> bool {
        self.0.contains_key(&lpn)
    }
}
