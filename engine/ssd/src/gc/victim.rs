//! Victims: the collection job of each plane, the blocks that reads still need, and the choice of the block that is emptied.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use flashlane_core::{Owner, PlaneId};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::config::{Config, FullCache, Victim};
use crate::ftl::{Block, Ftl, GroupMinima, Pool};

/// A plane's victim and the work left to empty it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// The block to empty.
    pub(super) block: u32,
    /// Page moves not yet ended.
    pub(super) moves_left: u32,
    /// Garbage collection, or folding.
    pub(super) owner: Owner,
}

/// Why a job is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    /// The plane has too few free blocks.
    Blocks,
    /// A write waits for a page.
    Page,
    /// No user transaction has been in the device for some time, and there may be blocks to fold.
    Idle,
}

/// The jobs of all planes.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    planes: Vec<Option<Job>>,
    victim: Victim,
    start_blocks: u32,
    /// Whether writes that find the SLC cache full go to native cells.
    pub(super) direct: bool,
    rng: Pcg64Mcg,
    /// Victims chosen.
    pub(super) victims: u64,
    /// Valid pages in them when they were chosen.
    pub(super) victim_valid: u64,
    /// Blocks in SLC mode whose folding began.
    pub(super) folds: u64,
}

impl Jobs {
    /// The jobs of an idle device: no plane is being collected.
    pub(super) fn new(config: &Config) -> Jobs {
        Jobs {
            planes: alloc::vec![None; config.geometry.planes() as usize],
            victim: config.gc.victim,
            start_blocks: config.gc.start_blocks,
            direct: config.slc.as_ref().is_none_or(|slc| slc.full == FullCache::Direct),
            rng: Pcg64Mcg::new(((config.seed as u128) << 64) | 0x5eed_0f7c_11ec_7013),
            victims: 0,
            victim_valid: 0,
            folds: 0,
        }
    }

    /// The generator of victim policies that sample at random.
    pub(super) fn rng(&self) -> &Pcg64Mcg {
        &self.rng
    }

    /// The jobs of an idle device whose next random victim `rng` samples.
    pub(super) fn with_rng(config: &Config, rng: Pcg64Mcg) -> Jobs {
        Jobs { rng, ..Jobs::new(config) }
    }

    /// Whether `plane` should start collecting now: it has no job and too few free blocks.
    #[inline]
    pub(super) fn needs_collection(&self, plane: PlaneId, ftl: &Ftl) -> bool {
        self.planes[plane.index()].is_none() && ftl.free_blocks(plane) < self.start_blocks
    }

    /// Opens a job in `plane`, however many blocks are free: a block in SLC mode is folded, or a victim is chosen. `None` when the plane
    /// has a job already, or there is neither.
    pub(super) fn open(&mut self, plane: PlaneId, need: Need, ftl: &mut Ftl) -> Option<Job> {
        if self.planes[plane.index()].is_some() {
            return None;
        }
        let job = if ftl.has_slc { self.open_fold(plane, need, ftl) } else { None };
        let job = match job {
            None if need != Need::Idle => self.open_collection(plane, ftl),
            job => job,
        };
        self.planes[plane.index()] = job;
        job
    }

    /// The job of folding the block in SLC mode that is next. For free blocks that is one which gives a free block, before any victim: the
    /// cache has no more of the plane's blocks than are free beyond those that garbage collection wants.
    #[cold]
    fn open_fold(&mut self, plane: PlaneId, need: Need, ftl: &mut Ftl) -> Option<Job> {
        let native_only = need == Need::Blocks || need == Need::Page && self.direct;
        let wordline = ftl.wordline;
        let (pool, pages) = ftl.pool_mut(plane);
        let block = pool.begin_fold(native_only, pages, wordline)?;
        self.folds += 1;
        let moves_left = u32::from(pool.valid_when_sealed()[block as usize]);
        Some(Job { block, moves_left, owner: Owner::Fold })
    }

    /// The job of collecting the block that the policy chooses.
    fn open_collection(&mut self, plane: PlaneId, ftl: &mut Ftl) -> Option<Job> {
        let below = ftl.victim_below;
        let (pool, pages) = ftl.pool_mut(plane);
        let Some(block) = choose(self.victim, pool, (below, pages), &mut self.rng) else {
            pool.board_stale = true;
            return None;
        };
        let valid = u32::from(pool.valid_when_sealed()[block as usize]);
        pool.becomes_victim(block);
        self.victims += 1;
        self.victim_valid += u64::from(valid);
        Some(Job { block, moves_left: valid, owner: Owner::Gc })
    }

    /// On whose behalf the job of `plane` runs.
    pub(super) fn owner(&self, plane: PlaneId) -> Owner {
        self.planes[plane.index()].map_or(Owner::Gc, |job| job.owner)
    }

    /// Counts the end of `count` page moves of `plane`'s job. Returns the block to erase if there are no others.
    pub(super) fn moves_ended(&mut self, plane: PlaneId, count: u32) -> Option<u32> {
        let job = self.planes[plane.index()].as_mut().expect("a move belongs to a job");
        job.moves_left -= count;
        (job.moves_left == 0).then_some(job.block)
    }

    /// All page moves of `plane`'s job have been made at once.
    pub(super) fn all_moved(&mut self, plane: PlaneId) {
        self.planes[plane.index()].as_mut().expect("a move belongs to a job").moves_left = 0;
    }

    /// Whether `block` is the victim of `plane` and has been emptied.
    pub(super) fn is_emptied(&self, plane: PlaneId, block: u32) -> bool {
        self.planes[plane.index()].is_some_and(|job| job.block == block && job.moves_left == 0)
    }

    /// Ends the job of `plane`, whose victim was erased.
    pub(super) fn close(&mut self, plane: PlaneId) {
        self.planes[plane.index()] = None;
    }

    /// Sets the counts of victims to zero.
    pub(super) fn reset_counts(&mut self) {
        (self.victims, self.victim_valid) = (0, 0);
    }
}

// Pinned blocks: those with a page that a read still needs although its logical page was written on another plane (model 4.1.2).
// Such a block may be emptied, and is erased when the last of these reads has ended.

/// The pinned blocks, by plane and block, each with the number of reads that need a page of it. Without such reads it is empty.
#[derive(Default, Debug)]
pub(super) struct Pins(BTreeMap<(PlaneId, u32), u32>);

impl Pins {
    /// One more read needs a page of the block.
    pub(super) fn pin(&mut self, plane: PlaneId, block: u32) {
        *self.0.entry((plane, block)).or_default() += 1;
    }

    /// One of these reads has ended. Returns whether it was the last one.
    pub(super) fn unpin(&mut self, plane: PlaneId, block: u32) -> bool {
        let reads = self.0.get_mut(&(plane, block)).expect("the read pinned its block");
        *reads -= 1;
        let last = *reads == 0;
        if last {
            self.0.remove(&(plane, block));
        }
        last
    }

    /// Whether a read needs a page of the block.
    #[inline]
    pub(super) fn holds(&self, plane: PlaneId, block: u32) -> bool {
        !self.0.is_empty() && self.0.contains_key(&(plane, block))
    }
}

// The choice of the block that garbage collection empties.
//
// Most policies scan the page counts of all blocks of the plane: a victim frees about a hundred pages, which pays for reading a
// few thousand 16-bit counts. The greedy policy reads one bound for each group of 64 blocks, and the blocks of few groups.

/// The victim that `policy` chooses among the sealed blocks with fewer than `below` valid pages, of `pages`.
pub(super) fn choose(policy: Victim, pool: &mut Pool, (below, pages): (u32, u32), rng: &mut Pcg64Mcg) -> Option<u32> {
    let valid = pool.valid_when_sealed();
    let candidate = |block: u32| pool.is_sealed(block) && u32::from(valid[block as usize]) < below;
    let blocks = 0..valid.len() as u32;
    match policy {
        Victim::Greedy => {
            let (states, valid, minima) = pool.counts();
            greedy(states, valid, minima, below)
        }
        Victim::Random => sample(rng, valid.len(), candidate),
        Victim::DChoices(d) => (0..d)
            .filter_map(|_| sample(rng, valid.len(), candidate))
            .min_by_key(|&block| (valid[block as usize], block)),
        Victim::Fifo => blocks.filter(|&b| candidate(b)).min_by_key(|&b| (pool.ages().sealed_at(b), b)),
        Victim::CostBenefit => blocks.filter(|&b| candidate(b)).max_by(|&a, &b| {
            let score = |block: u32| {
                let v = u128::from(valid[block as usize]);
                // (1 - u) / 2u * age with u = v / pages, as a fraction of two integers.
                ((u128::from(pages) - v) * u128::from(pool.ages().since_touched(block)), 2 * v)
            };
            let ((an, ad), (bn, bd)) = (score(a), score(b));
            // A block without valid pages (denominator zero) scores highest; ties go to the emptier block, then to the
            // lower number.
            (an * bd).cmp(&(bn * ad)).then(bd.cmp(&ad)).then(b.cmp(&a))
        }),
    }
}

/// The sealed block with fewest valid pages, the lowest one on a tie; `None` if none has fewer than `below`.
fn greedy(states: &[Block], valid: &[u16], minima: &mut GroupMinima, below: u32) -> Option<u32> {
    let count = |(state, valid): (&Block, &u16)| if *state == Block::Sealed { *valid } else { u16::MAX };
    loop {
        let (low, group) = minima.lowest(states.len());
        if u32::from(low) >= below {
            return None;
        }
        let first = group.start;
        let counts = || states[group.clone()].iter().zip(&valid[group.clone()]).map(count);
        let least = counts().fold(u16::MAX, u16::min);
        if least == low {
            // No group before this one has a block as low, and no later one has a lower block.
            return counts().position(|count| count == least).map(|place| (first + place) as u32);
        }
        minima.raise(first, least);
    }
}

/// A uniform sample of the candidates. If 64 samples among all blocks hit none (candidates are rare), the first candidate from a
/// random block on.
fn sample(rng: &mut Pcg64Mcg, blocks: usize, candidate: impl Fn(u32) -> bool) -> Option<u32> {
    let mut any = || ((u64::from(rng.next_u32()) * blocks as u64) >> 32) as u32;
    if let Some(block) = (0..64).map(|_| any()).find(|&b| candidate(b)) {
        return Some(block);
    }
    let start = any();
    (0..blocks as u32).map(|i| (start + i) % blocks as u32).find(|&b| candidate(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use flashlane_testing::Random;

    #[test]
    fn a_block_is_pinned_until_its_last_read_has_ended() {
        let mut pins = Pins::default();
        let (plane, other) = (PlaneId(3), PlaneId(4));
        for (plane, block) in [(plane, 7), (plane, 8), (plane, 7), (other, 7)] {
            pins.pin(plane, block);
        }
        assert!(!pins.unpin(plane, 7), "one of two");
        assert!(pins.unpin(plane, 8));
        assert_eq!(
            [(plane, 7), (plane, 8), (other, 7), (other, 8)].map(|(p, b)| pins.holds(p, b)),
            [true, false, true, false]
        );
        assert!(pins.unpin(plane, 7) && pins.unpin(other, 7));
        assert!(pins.0.is_empty());
    }

    /// Compares with a scan of all blocks, while blocks are filled, lose pages, are emptied and erased.
    #[test]
    fn greedy_takes_the_first_of_the_emptiest() {
        let mut random = Random(9);
        for blocks in [1, 2, 63, 64, 65, 137, 400] {
            for pages in [1, 3, 200, 32_768] {
                let mut states = vec![Block::Free; blocks];
                let mut valid = vec![0; blocks];
                let mut minima = GroupMinima::new(blocks);
                for turn in 0..3 * blocks {
                    let b = random.below(blocks as u64) as usize;
                    states[b] = match states[b] {
                        Block::Free => Block::Open,
                        Block::Open => Block::Sealed,
                        Block::Sealed if valid[b] > 0 && random.below(8) > 0 => Block::Sealed,
                        Block::Sealed => Block::Victim,
                        Block::Victim | Block::Slc => Block::Free,
                    };
                    match states[b] {
                        Block::Open => valid[b] = pages as u16,
                        Block::Sealed => {
                            valid[b] -= random.below(u64::from(valid[b]) + 1) as u16;
                            minima.note(b as u32, valid[b]);
                        }
                        _ => {}
                    }
                    let asked = if turn % 3 == 0 { pages } else { 1 + random.below(u64::from(pages)) as u32 };
                    let plain = (0..blocks)
                        .filter(|&b| states[b] == Block::Sealed && u32::from(valid[b]) < asked)
                        .min_by_key(|&b| (valid[b], b));
                    let chosen = greedy(&states, &valid, &mut minima, asked);
                    assert_eq!(chosen, plain.map(|block| block as u32), "{blocks} blocks of {pages} pages");
                }
            }
        }
    }

    const PAGES: u32 = 64;

    /// A pool in which every third block may be chosen, the `i`-th of them with `valid_of(i)` valid pages. The others have valid pages
    /// only, or are free, open or victims.
    fn every_third(blocks: usize, valid_of: fn(usize) -> u16) -> Pool {
        let others = [Block::Free, Block::Open, Block::Victim, Block::Slc];
        let state = |b: usize| if b.is_multiple_of(3) || b % 3 == 1 { Block::Sealed } else { others[b / 3 % 4] };
        let valid = |b: usize| if b % 3 == 1 { PAGES as u16 } else { valid_of(b / 3) };
        Pool::of((0..blocks).map(state).collect(), (0..blocks).map(valid).collect())
    }

    /// How often each block is chosen, by the block's number among the candidates.
    fn count_choices(policy: Victim, blocks: usize, valid_of: fn(usize) -> u16, times: u32) -> alloc::vec::Vec<u32> {
        let (mut pool, mut rng) = (every_third(blocks, valid_of), Pcg64Mcg::new(5));
        let mut counts = vec![0; blocks.div_ceil(3)];
        for _ in 0..times {
            let block = choose(policy, &mut pool, (PAGES, PAGES), &mut rng).expect("some may be chosen") as usize;
            assert_eq!(block % 3, 0, "block {block} may not be chosen");
            counts[block / 3] += 1;
        }
        counts
    }

    /// Among `d` samples from `n` blocks with different counts, the emptiest is the `i`-th block with probability
    /// `((n - i)^d - (n - i - 1)^d) / n^d`; and so is the lowest of blocks with equal counts.
    #[test]
    fn d_choices_take_the_emptiest_sampled_and_of_equals_the_lowest() {
        let (n, times) = (10u64, 40_000);
        let policies =
            [(Victim::Random, 1), (Victim::DChoices(1), 1), (Victim::DChoices(2), 2), (Victim::DChoices(3), 3)];
        let counts_of_valid: [fn(usize) -> u16; 2] = [|i| i as u16, |_| 7];
        for ((policy, d), valid_of) in policies.into_iter().flat_map(|policy| counts_of_valid.map(|of| (policy, of))) {
            let counts = count_choices(policy, 3 * n as usize, valid_of, times);
            for (i, &count) in counts.iter().enumerate() {
                let left = n - i as u64;
                let share = (left.pow(d) - (left - 1).pow(d)) as f64 / n.pow(d) as f64;
                let (mean, deviation) =
                    (share * f64::from(times), square_root(share * (1.0 - share) * f64::from(times)));
                let off = (f64::from(count) - mean).abs();
                assert!(off < 5.0 * deviation + 1.0, "{policy:?}: {i} of {n} {count} times, not {mean:.0}");
            }
        }
    }

    /// Square root by Newton's method, as `core` has none.
    fn square_root(x: f64) -> f64 {
        (0..60).fold(x.max(1.0), |guess, _| (guess + x / guess) / 2.0)
    }

    /// Of two candidates among 10,000 blocks each is chosen as often as blocks lie in front of it up to the other: where no draw hits
    /// one, the search begins at any block.
    #[test]
    fn a_rare_candidate_is_sought_from_any_block_on() {
        let mut kept = vec![PAGES as u16; 10_000];
        (kept[2_000], kept[4_500]) = (0, 0);
        let (mut pool, mut rng) = (Pool::of(vec![Block::Sealed; 10_000], kept), Pcg64Mcg::new(7));
        let chosen =
            (0..400).filter(|_| choose(Victim::Random, &mut pool, (PAGES, PAGES), &mut rng) == Some(4_500)).count();
        // A quarter of 400, with a deviation of 8.7.
        assert!((60..140).contains(&chosen), "{chosen} of 400");
    }

    /// A single candidate among 10,000 blocks is found though random samples hardly ever hit it; without one, nothing is chosen.
    #[test]
    fn the_only_candidate_is_found() {
        for policy in [Victim::Random, Victim::DChoices(4), Victim::Greedy, Victim::Fifo] {
            for only in [0, 1, 4_999, 9_998, 9_999] {
                let mut kept = vec![PAGES as u16; 10_000];
                kept[only] = PAGES as u16 - 1;
                let mut pool = Pool::of(vec![Block::Sealed; 10_000], kept);
                pool.counts().2.note(only as u32, PAGES as u16 - 1);
                let rng = &mut Pcg64Mcg::new(6);
                assert_eq!(choose(policy, &mut pool, (PAGES, PAGES), rng), Some(only as u32), "{policy:?}");
                assert_eq!(choose(policy, &mut pool, (PAGES - 1, PAGES), rng), None, "{policy:?}");
            }
        }
    }
}
