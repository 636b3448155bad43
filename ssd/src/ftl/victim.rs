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

/// Fewest valid pages, lowest block on a tie.
fn greedy(states: &[Block], valid: &[u16], pages: u32) -> Option<u32> {
    let mut best = (pages, u32::MAX);
    for (block, (state, &valid)) in states.iter().zip(valid).enumerate() {
        if *state == Block::Sealed && u32::from(valid) < best.0 {
            best = (u32::from(valid), block as u32);
        }
    }
    (best.1 != u32::MAX).then_some(best.1)
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
