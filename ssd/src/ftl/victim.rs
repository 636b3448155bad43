//! Which block garbage collection empties.
//!
//! A plain scan of the plane's counts: a victim frees a hundred pages or so, which pays for looking at a few thousand
//! 16-bit counts, and no write pays for keeping an order.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::pool::{Block, Pool};
use crate::config::Victim;

/// The victim that `policy` chooses among the sealed blocks with at least one invalid page.
pub(super) fn choose(policy: Victim, pool: &Pool, pages: u32, rng: &mut Pcg64Mcg) -> Option<u32> {
    let valid = pool.kept();
    let candidate = |block: u32| pool.is_sealed(block) && u32::from(valid[block as usize]) < pages;
    let blocks = 0..valid.len() as u32;
    match policy {
        Victim::Greedy => greedy(pool.states(), valid, pages),
        Victim::Random => draw(rng, valid.len(), candidate),
        Victim::DChoices(d) => {
            (0..d).filter_map(|_| draw(rng, valid.len(), candidate)).min_by_key(|&block| (valid[block as usize], block))
        }
        Victim::Fifo => blocks.filter(|&b| candidate(b)).min_by_key(|&b| (pool.sealed_at(b), b)),
        Victim::CostBenefit => blocks.filter(|&b| candidate(b)).max_by(|&a, &b| {
            let score = |block: u32| {
                let v = u128::from(valid[block as usize]);
                // (1 - u) / 2u * age with u = v / pages, as a fraction of two integers.
                ((u128::from(pages) - v) * u128::from(pool.age(block)), 2 * v)
            };
            let ((an, ad), (bn, bd)) = (score(a), score(b));
            // An empty block (denominator zero) beats every other; ties go to the lower block.
            (an * bd).cmp(&(bn * ad)).then(bd.cmp(&ad)).then(b.cmp(&a))
        }),
    }
}

/// Blocks looked at together.
const TOGETHER: usize = 64;

/// Fewest valid pages, lowest block on a tie. The least of some blocks at a time: that is done for many at once, and only where
/// it is the least of all it is asked whose it is.
fn greedy(states: &[Block], valid: &[u16], pages: u32) -> Option<u32> {
    let count = |(state, valid): (&Block, &u16)| if *state == Block::Sealed { *valid } else { u16::MAX };
    let mut best = (pages, None);
    for (some, (states, valid)) in states.chunks(TOGETHER).zip(valid.chunks(TOGETHER)).enumerate() {
        let least = u32::from(states.iter().zip(valid).map(count).fold(u16::MAX, u16::min));
        if least < best.0 {
            best = (least, Some(some * TOGETHER));
        }
    }
    let (least, first) = (best.0, best.1?);
    let whose = states[first..].iter().zip(&valid[first..]).map(count).position(|count| u32::from(count) == least);
    whose.map(|place| (first + place) as u32)
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
    use alloc::vec::Vec;

    /// Against looking at one block after the other.
    #[test]
    fn greedy_takes_the_first_of_the_emptiest() {
        let mut x: u64 = 9;
        let mut drawn = |below: u64| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) % below
        };
        for blocks in [1, 2, 63, 64, 65, 137, 400] {
            for most in [1, 3, 200, u64::from(u16::MAX) + 1] {
                let states: Vec<Block> =
                    (0..blocks).map(|_| [Block::Free, Block::Open, Block::Sealed][drawn(3) as usize]).collect();
                let valid: Vec<u16> = (0..blocks).map(|_| drawn(most) as u16).collect();
                for pages in [1, 2, 128, 65_535] {
                    let plain = (0..blocks)
                        .filter(|&b| states[b] == Block::Sealed && u32::from(valid[b]) < pages)
                        .min_by_key(|&b| (valid[b], b));
                    assert_eq!(greedy(&states, &valid, pages), plain.map(|block| block as u32));
                }
            }
        }
    }
}
