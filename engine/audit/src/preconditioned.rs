//! What a preconditioned drive holds before the first event: the auditor's own evaluation of model 0.9.
//!
//! Written from the model's text and not from the engine, which finds the same pages by other means: here the valid pages of a
//! plane's blocks are added up once, and every lookup is a search in these sums. Of the engine it uses the configuration. Must never
//! know what a device has done since.

use flashlane_core::{Geometry, Lpn, PlaneId, Ppa};
use flashlane_ssd::config::{Config, Precondition};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::Formula;

/// One page in the fixed point of the steady state's sums.
const PAGE: u64 = 1 << 24;

/// The low half of the state that the generator of the open blocks starts from; the high half is the seed.
const OPEN_BLOCKS: u128 = 0x0b10_c4a1_57a6_6e12;

/// The first state of a drive.
#[derive(Debug)]
pub struct Preconditioned {
    /// Logical pages that hold data: those below this number.
    data: u32,
    /// Translation pages that hold entries of these lie behind the data, as if they were the next pages; their numbers begin here.
    logical: u32,
    translation: u32,
    /// By place in the stripe, the plane; and the other way round.
    planes: Vec<PlaneId>,
    positions: Vec<u32>,
    /// Pages of a row: as many consecutive ones go to a plane before the next has its turn.
    slots: u32,
    pages_per_block: u32,
    /// `before[b]`: how many pages of a plane hold data in its blocks `0..b`, on a drive where every page of the last block in use holds data.
    before: Vec<u32>,
    /// The blocks of a plane that are written to their end; the next has the pages of `open`, plane by plane.
    full_blocks: u32,
    open: Vec<u32>,
}

impl Preconditioned {
    /// The first state of a drive of `config`; `None` if it comes from writing (`replayed`).
    pub fn of(config: &Config) -> Option<Preconditioned> {
        let geometry = &config.geometry;
        let (count, pages) = (geometry.planes(), geometry.pages_per_block);
        let logical = config.ftl.logical_pages;
        let data = match config.precondition {
            Precondition::Fresh => 0,
            Precondition::Filled { per_mille } => (u64::from(logical) * u64::from(per_mille) / 1_000) as u32,
            Precondition::Steady => logical,
            Precondition::Replayed { .. } => return None,
        };
        let translation = config.mapping.map_or(0, |mapping| data.div_ceil(mapping.entries_per_page));
        let of_plane = share(data + translation, 0, count, geometry.slots);
        let (valid, full_blocks, open) = if config.precondition == Precondition::Steady {
            let in_slc_mode = config.slc.as_ref().map_or(0, |slc| slc.static_blocks);
            let full_blocks = geometry.blocks_per_plane - in_slc_mode - 1 - config.gc.start_blocks;
            (steady_blocks(full_blocks, pages, of_plane), full_blocks, open_blocks(config))
        } else {
            // One page behind the other; the last block has room for more than lies in it.
            let blocks = vec![pages; of_plane.div_ceil(pages) as usize];
            (blocks, of_plane / pages, vec![of_plane % pages; count as usize])
        };
        // With one-shot programs a wordline that was begun before the run is given up.
        let program = config.nand.one_shot_pages * geometry.slots;
        let open = open.into_iter().map(|written| written.next_multiple_of(program)).collect();
        let mut before = vec![0];
        for valid in valid {
            before.push(before[before.len() - 1] + valid);
        }
        let planes = stripe(geometry, config);
        let mut positions = vec![0; planes.len()];
        for (position, plane) in (0..).zip(&planes) {
            positions[plane.index()] = position;
        }
        Some(Preconditioned {
            data,
            logical,
            translation,
            planes,
            positions,
            slots: geometry.slots,
            pages_per_block: pages,
            before,
            full_blocks,
            open,
        })
    }

    /// Pages with data in a block, in the same sense; a block behind the last that has any has none.
    fn valid_of(&self, block: usize) -> u32 {
        self.before.get(block + 1).map_or(0, |next| next - self.before[block])
    }

    /// The page inside its block where the `k`-th of its `valid` pages lies.
    fn spread(&self, k: u32, valid: u32) -> u32 {
        (u64::from(k) * u64::from(self.pages_per_block) / u64::from(valid)) as u32
    }
}

impl Formula for Preconditioned {
    fn place(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        let at = match lpn.0 {
            page if page < self.data => page,
            page if page >= self.logical && page - self.logical < self.translation => page - self.logical + self.data,
            _ => return None,
        };
        let count = self.planes.len() as u32;
        let (row, slot) = (at / self.slots, at % self.slots);
        let (of_plane, position) = (row / count * self.slots + slot, row % count);
        let block = self.before.partition_point(|&before| before <= of_plane) - 1;
        let page = self.spread(of_plane - self.before[block], self.valid_of(block));
        Some((self.planes[position as usize], Ppa(block as u32 * self.pages_per_block + page)))
    }

    fn lpn_at(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
        let (block, page) = ((ppa.0 / self.pages_per_block) as usize, ppa.0 % self.pages_per_block);
        let valid = self.valid_of(block);
        // The first of the block's pages with data that is not before this page.
        let (mut k, mut end) = (0, valid);
        while k < end {
            let middle = (k + end) / 2;
            if self.spread(middle, valid) < page { k = middle + 1 } else { end = middle }
        }
        if k == valid || self.spread(k, valid) != page {
            return None;
        }
        let of_plane = self.before[block] + k;
        let (row, slot) = (of_plane / self.slots, of_plane % self.slots);
        let at = (row * self.planes.len() as u32 + self.positions[plane.index()]) * self.slots + slot;
        let lpn = if at < self.data { at } else { at - self.data + self.logical };
        (at < self.data + self.translation).then_some(Lpn(lpn))
    }

    fn written(&self, plane: PlaneId, block: u32) -> u32 {
        match block.cmp(&self.full_blocks) {
            std::cmp::Ordering::Less => self.pages_per_block,
            std::cmp::Ordering::Equal => self.open[plane.index()],
            std::cmp::Ordering::Greater => 0,
        }
    }

    /// Of the logical pages that lie in the plane, as many are before the block as its earlier blocks have pages with data; of the last block in
    /// use some may be beyond the data.
    fn valid(&self, plane: PlaneId, block: u32) -> Option<u32> {
        let before = self.before.get(block as usize).copied().unwrap_or(u32::MAX);
        let (stored, position) = (self.data + self.translation, self.positions[plane.index()]);
        let of_plane = share(stored, position, self.planes.len() as u32, self.slots);
        Some(of_plane.saturating_sub(before).min(self.valid_of(block as usize)))
    }
}

/// How many of `pages` pages the plane at a position gets, if `count` planes get `slots` at a time in turn.
fn share(pages: u32, position: u32, count: u32, slots: u32) -> u32 {
    let rest = pages % (count * slots);
    pages / (count * slots) * slots + rest.saturating_sub(position * slots).min(slots)
}

/// The planes in the order in which consecutive logical pages go to them.
fn stripe(geometry: &Geometry, config: &Config) -> Vec<PlaneId> {
    (0..geometry.planes()).map(|number| geometry.plane_at(config.ftl.order.place(geometry, number))).collect()
}

/// Pages with data of each full block in the steady state, oldest first: from the youngest back a block has the share `ratio` of the
/// one behind it, where `ratio` is the largest multiple of 2^-32 below 1 with which all together have no more than `data`.
fn steady_blocks(blocks: u32, pages: u32, data: u32) -> Vec<u32> {
    let target = u64::from(data) * PAGE;
    let mut ratio = 0;
    for bit in (0..32).rev() {
        let more = ratio | (1 << bit);
        if ages(blocks, pages, more).sum::<u64>() <= target {
            ratio = more;
        }
    }
    // Whole pages: what the sum up to this age has more than the sum up to the age before.
    let mut valid = Vec::with_capacity(blocks as usize);
    let (mut sum, mut placed) = (0, 0);
    for share in ages(blocks, pages, ratio) {
        sum += share;
        let whole = ((sum / PAGE) as u32 - placed).min(pages).min(data - placed);
        valid.push(whole);
        placed += whole;
    }
    // What rounding has left over goes to the youngest that have space.
    for whole in &mut valid {
        let more = (data - placed).min(pages - *whole);
        *whole += more;
        placed += more;
    }
    valid.reverse();
    valid
}

/// The shares of blocks from the youngest on, in 2^-24 of a page, each rounded down.
fn ages(blocks: u32, pages: u32, ratio: u64) -> impl Iterator<Item = u64> {
    let older = move |share: &u64| Some(((u128::from(*share) * u128::from(ratio)) >> 32) as u64);
    std::iter::successors(Some(u64::from(pages) * PAGE), older).take(blocks as usize)
}

/// Pages written in each plane's open block in the steady state, of which none has data: one number a plane, below a block's pages.
fn open_blocks(config: &Config) -> Vec<u32> {
    let mut random = Pcg64Mcg::new((u128::from(config.seed) << 64) | OPEN_BLOCKS);
    (0..config.geometry.planes()).map(|_| random.next_u32() % config.geometry.pages_per_block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::case::config;

    /// Sixteen planes (stripe: channels first, then chips, dies, planes), blocks of four pages.
    fn drive(precondition: Precondition, logical_pages: u32) -> Config {
        let mut config = config();
        (config.precondition, config.ftl.logical_pages) = (precondition, logical_pages);
        config
    }

    #[test]
    fn a_filled_drive_by_hand() {
        // Half of 196 pages: 98, of which the first two planes of the stripe have 7 and the others 6; all are written 7 far.
        let sparse = Preconditioned::of(&drive(Precondition::Filled { per_mille: 500 }, 162)).unwrap();
        assert_eq!(
            sparse.place(Lpn(80)),
            Some((PlaneId(0), Ppa(5))),
            "81 pages: the sixth of the first plane follows the fifth"
        );
        let state = Preconditioned::of(&drive(Precondition::Filled { per_mille: 500 }, 196)).unwrap();
        assert_eq!(state.place(Lpn(0)), Some((PlaneId(0), Ppa(0))));
        // Logical page 1 is on channel 1, whose first plane is plane 8; page 2 is on the second chip of channel 0, in plane 4.
        assert_eq!(state.place(Lpn(1)), Some((PlaneId(8), Ppa(0))));
        assert_eq!(state.place(Lpn(2)), Some((PlaneId(4), Ppa(0))));
        assert_eq!(state.place(Lpn(97)), Some((PlaneId(8), Ppa(6))));
        assert_eq!(state.place(Lpn(98)), None);
        assert_eq!((state.lpn_at(PlaneId(8), Ppa(6)), state.lpn_at(PlaneId(4), Ppa(6))), (Some(Lpn(97)), None));
        assert_eq!([0, 1, 2].map(|block| state.written(PlaneId(4), block)), [4, 3, 0]);
    }

    /// The figures of a whole block are the sums over its pages.
    #[test]
    fn the_pages_with_data_of_every_block() {
        let filled = (0..=1_000).step_by(37).map(|per_mille| Precondition::Filled { per_mille });
        for precondition in filled.chain([Precondition::Fresh, Precondition::Steady]) {
            for logical_pages in 1..=340 {
                let config = drive(precondition, logical_pages);
                let state = Preconditioned::of(&config).unwrap();
                let geometry = &config.geometry;
                for (plane, block) in (0..16).flat_map(|plane| (0..geometry.blocks_per_plane).map(move |b| (plane, b)))
                {
                    let (plane, pages) = (PlaneId(plane), geometry.pages_per_block);
                    let held: Vec<u32> = (block * pages..(block + 1) * pages)
                        .filter(|&ppa| {
                            let lpn = state.lpn_at(plane, Ppa(ppa));
                            assert!(lpn.is_none_or(|lpn| state.place(lpn) == Some((plane, Ppa(ppa)))));
                            lpn.is_some()
                        })
                        .collect();
                    assert_eq!(state.valid(plane, block), Some(held.len() as u32), "{precondition:?} {logical_pages}");
                    assert!(held.iter().all(|ppa| ppa % pages < state.written(plane, block)));
                }
            }
        }
    }

    #[test]
    fn a_steady_drive_by_hand() {
        // Three full blocks of four pages with seven of data: 4, 4 r and 4 r^2 have the sum 7 with r = 1/2.
        assert_eq!(ages(3, 4, 1 << 31).collect::<Vec<_>>(), [4 * PAGE, 2 * PAGE, PAGE]);
        assert_eq!(steady_blocks(3, 4, 7), [1, 2, 4]);
        // As much as fits, and so little that even a ratio of 0 is too much.
        assert_eq!((steady_blocks(3, 4, 11), steady_blocks(3, 4, 3)), (vec![3, 4, 4], vec![0, 0, 3]));
        // Eight blocks less two less the open one are five. 16 * 7 pages, seven a plane: at most one block has all its pages.
        let state = Preconditioned::of(&drive(Precondition::Steady, 112)).unwrap();
        assert_eq!(state.full_blocks, 5);
        assert_eq!(state.before[5], 7);
        // Two pages with data of four lie at 0 and 2, one at 0.
        let two = (0..5).find(|&block| state.valid_of(block) == 2).unwrap();
        let held: Vec<bool> =
            (0..4).map(|page| state.lpn_at(PlaneId(0), Ppa(two as u32 * 4 + page)).is_some()).collect();
        assert_eq!(held, [true, false, true, false]);
        assert!((0..16).all(|plane| state.written(PlaneId(plane), 5) < 4 && state.written(PlaneId(plane), 6) == 0));
        assert!(Preconditioned::of(&drive(Precondition::Replayed { percent: 1 }, 112)).is_none());
    }
}
