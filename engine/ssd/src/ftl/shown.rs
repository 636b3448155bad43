//! What the board shows of a plane's blocks and pages: how many are free, and where the next write goes.

use flashlane_core::{Board, PlaneId};

use super::{Ftl, Pool, Stream};

impl Ftl {
    /// From now on gathered writes get their planes only at dispatch, if `together`. They go to the caches as long as that of every plane has a page
    /// (model 0.15). Once one has none, the next write goes to native cells, and the board shows those alone: by what other caches have left, a plane
    /// would seem to have most free pages, or to be at an offset that it never leaves.
    pub(crate) fn fill_caches_together(&mut self, together: bool) {
        self.full_caches = together.then_some(0);
        self.pools.iter_mut().for_each(Pool::forget_full_cache);
    }

    /// Updates what the board shows of `plane`'s blocks and pages.
    #[inline]
    pub fn publish(&mut self, board: &mut Board, plane: PlaneId) {
        if self.full_caches.is_some() && self.count_full_cache(plane) {
            (0..board.planes.len() as u16).for_each(|each| self.show(board, PlaneId(each)));
        }
        self.show(board, plane);
    }

    #[inline]
    fn show(&self, board: &mut Board, plane: PlaneId) {
        let (pool, pages) = (&self.pools[plane.index()], self.geometry.pages_per_block);
        let board_view = &mut board.planes[plane.index()];
        board_view.free_blocks = pool.free_blocks();
        board_view.has_free_page = pool.has_free_page(pages);
        (board_view.free_pages, board_view.next_page) = match self.full_caches {
            None | Some(0) => (pool.free_pages(), pool.next_page(pages)),
            Some(_) => (pool.native_free_pages(), pool.next_native_page(pages)),
        };
    }

    /// Counts whether the cache of `plane` is full. Returns whether writes thereby go to the caches again, or no longer.
    #[cold]
    fn count_full_cache(&mut self, plane: PlaneId) -> bool {
        let Some(full_caches) = &mut self.full_caches else { return false };
        let before = *full_caches;
        match self.pools[plane.index()].cache_became_full() {
            Some(true) => *full_caches += 1,
            Some(false) => *full_caches -= 1,
            None => {}
        }
        (before == 0) != (*full_caches == 0)
    }

    /// Updates the board after one more page was written for `stream`. False if more than the page counts has changed: the caller
    /// must then update the whole plane ([`Ftl::publish`]), and the plane may need garbage collection.
    #[inline(always)]
    pub fn publish_page(&mut self, board: &mut Board, plane: PlaneId, stream: Stream) -> bool {
        let pool = &mut self.pools[plane.index()];
        if core::mem::take(&mut pool.board_stale) || pool.has_slc() {
            return false;
        }
        let board_view = &mut board.planes[plane.index()];
        board_view.free_pages = pool.free_pages();
        board_view.next_page += u32::from(pool.uses_host_block(stream));
        true
    }
}
