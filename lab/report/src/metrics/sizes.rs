//! Classes of request sizes.

/// Classes of request sizes: 1 to 16 pages, and more than that (SLK-E13).
pub const SIZES: usize = 17;

/// The class of a request of `pages` pages.
pub fn size_class(pages: u32) -> usize {
    (pages.clamp(1, SIZES as u32) - 1) as usize
}

/// Pages of the smallest and of the largest request of a class; the last class has no largest.
pub fn pages_of(class: usize) -> (u32, Option<u32>) {
    let least = class as u32 + 1;
    (least, (class + 1 < SIZES).then_some(least))
}
