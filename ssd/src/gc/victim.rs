//! Which block garbage collection empties.
//!
//! Scans of the plane's counts: a victim frees a hundred pages or so, which pays for looking at a few thousand 16-bit
//! counts. The greedy choice looks at 64 blocks where it must, and at a count for each 64 else.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::config::Victim;
use crate::ftl::{Block, GroupMinima, Pool};

/// The victim that `policy` chooses among the sealed blocks with at least one invalid page.
pub(super) fn choose(policy: Victim, pool: &mut Pool, pages: u32, rng: &mut Pcg64Mcg) -> Option<u32> {
    let valid = pool.valid_when_sealed();
    let candidate = |block: u32| pool.is_sealed(block) && u32::from(valid[block as usize]) < pages;
    let blocks = 0..valid.len() as u32;
    match policy {
        Victim::Greedy => {
            let (states, valid, minima) = pool.counts();
            greedy(states, valid, minima, pages)
        }
        Victim::Random => draw(rng, valid.len(), candidate),
        Victim::DChoices(d) => {
            (0..d).filter_map(|_| draw(rng, valid.len(), candidate)).min_by_key(|&block| (valid[block as usize], block))
        }
        Victim::Fifo => blocks.filter(|&b| candidate(b)).min_by_key(|&b| (pool.ages().sealed_at(b), b)),
        Victim::CostBenefit => blocks.filter(|&b| candidate(b)).max_by(|&a, &b| {
            let score = |block: u32| {
                let v = u128::from(valid[block as usize]);
                // (1 - u) / 2u * age with u = v / pages, as a fraction of two integers.
                ((u128::from(pages) - v) * u128::from(pool.ages().since_touched(block)), 2 * v)
            };
            let ((an, ad), (bn, bd)) = (score(a), score(b));
            // An empty block (denominator zero) beats every other; ties go to the lower block.
            (an * bd).cmp(&(bn * ad)).then(bd.cmp(&ad)).then(b.cmp(&a))
        }),
    }
}

/// Fewest valid pages, lowest block on a tie.
fn greedy(states: &[Block], valid: &[u16], minima: &mut GroupMinima, pages: u32) -> Option<u32> {
    let count = |(state, valid): (&Block, &u16)| if *state == Block::Sealed { *valid } else { u16::MAX };
    loop {
        let (low, those) = minima.lowest(states.len());
        if u32::from(low) >= pages {
            return None;
        }
        let first = those.start;
        let counts = || states[those.clone()].iter().zip(&valid[those.clone()]).map(count);
        let least = counts().fold(u16::MAX, u16::min);
        if least == low {
            // None of those before is as low, and none behind is lower.
            return counts().position(|count| count == least).map(|place| (first + place) as u32);
        }
        minima.raise(first, least);
    }
}

/// A uniform draw among the candidates: by chance first, in order from a random start when chance fails.
fn draw(rng: &mut Pcg64Mcg, blocks: usize, candidate: impl Fn(u32) -> bool) -> Option<u32> {
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

    /// Against looking at one block after the other, while blocks are filled, lose pages, are emptied and erased.
    #[test]
    fn greedy_takes_the_first_of_the_emptiest() {
        let mut x: u64 = 9;
        let mut drawn = |below: u64| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) % below
        };
        for blocks in [1, 2, 63, 64, 65, 137, 400] {
            for pages in [1, 3, 200, 32_768] {
                let mut states = vec![Block::Free; blocks];
                let mut valid = vec![0; blocks];
                let mut minima = GroupMinima::new(blocks);
                for turn in 0..3 * blocks {
                    let b = drawn(blocks as u64) as usize;
                    states[b] = match states[b] {
                        Block::Free => Block::Open,
                        Block::Open => Block::Sealed,
                        Block::Sealed if valid[b] > 0 && drawn(8) > 0 => Block::Sealed,
                        Block::Sealed => Block::Victim,
                        Block::Victim => Block::Free,
                    };
                    match states[b] {
                        Block::Open => valid[b] = pages as u16,
                        Block::Sealed => {
                            valid[b] -= drawn(u64::from(valid[b]) + 1) as u16;
                            minima.note(b as u32, valid[b]);
                        }
                        _ => {}
                    }
                    let asked = if turn % 3 == 0 { pages } else { 1 + drawn(u64::from(pages)) as u32 };
                    let plain = (0..blocks)
                        .filter(|&b| states[b] == Block::Sealed && u32::from(valid[b]) < asked)
                        .min_by_key(|&b| (valid[b], b));
                    let chosen = greedy(&states, &valid, &mut minima, asked);
                    assert_eq!(chosen, plain.map(|block| block as u32), "{blocks} blocks of {pages} pages");
                }
            }
        }
    }
}
