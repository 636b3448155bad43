//! Write amplification of garbage collection under uniform random overwrites.
//!
//! The mean-field view: with many blocks, the share of blocks that hold `i` valid pages follows a deterministic flow.
//! Every overwrite invalidates a valid page chosen at random, so a block with `i` valid pages loses one at a rate
//! proportional to `i`; full blocks appear at the rate at which victims are reclaimed; greedy takes victims at the
//! lowest `i` there is. Bux and Iliadis, Performance Evaluation 67 (2010), and Desnoyers, ACM Transactions on Storage
//! 10 (2014), study greedy this way; Van Houdt, SIGMETRICS 2013, proves the limit for a family of policies of which
//! greedy is the extreme case. The stationary point of the greedy flow is solved here from its balance equations.

/// The parameters of a plane (or of any pool of blocks that is collected by itself).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pool {
    /// All its blocks.
    pub blocks: f64,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Logical pages stored in it.
    pub live_pages: f64,
    /// Erased blocks on average: they hold no data, so they are no spare space. A device that collects with fewer than
    /// `t` free blocks has between `t - 1` and `t` of them: nearer `t` the faster it collects.
    pub free_blocks: f64,
    /// Blocks open for writing at a time; each is half full on average.
    pub open_blocks: f64,
}

impl Pool {
    /// Valid pages over pages of the blocks in use: an open block counts half, a free one not at all.
    pub fn utilisation(&self) -> f64 {
        let used = self.blocks - self.free_blocks - self.open_blocks / 2.0;
        self.live_pages / (used * self.pages_per_block as f64)
    }
}

/// The stationary state under greedy garbage collection.
#[derive(Clone, PartialEq, Debug)]
pub struct Greedy {
    /// Pages programmed for each page the host writes.
    pub write_amplification: f64,
    /// Valid pages of a victim, on average.
    pub victim_valid: f64,
    /// Share of the blocks that hold `i` valid pages, for `i` from 0 to the pages of a block.
    pub distribution: Vec<f64>,
}

/// Greedy garbage collection of `pool`; `None` unless its utilisation lies between 0 and 1.
pub fn greedy(pool: &Pool) -> Option<Greedy> {
    greedy_at(pool.pages_per_block, pool.utilisation())
}

/// Greedy garbage collection with `b` pages per block, of which a share `rho` is valid; `None` unless `0 < rho < 1`.
///
/// Let blocks be filled and reclaimed at rate `r` per overwrite, and `n_i` be the blocks with `i` valid pages out of
/// `N`. Overwrites move a block from `i` to `i - 1` at rate `i n_i / (rho b N)`. Above the lowest occupied level `j +
/// 1`, inflow equals outflow: `i n_i = r rho b N`. A block that falls to `j` is reclaimed at once; if those, `f` per
/// overwrite, are fewer than `r`, the rest is taken at `j + 1`: `(j + 1) n_(j+1) = f rho b N`. An overwrite hits some
/// block, so `r (b - j - 1) + f = 1`, and the blocks add up to `N`. For each `j` these are two linear equations; the
/// `j` with `0 <= f <= r` is the solution.
///
/// Where empty blocks are left over even though every victim is empty (`rho` times the harmonic sum is at most 1),
/// greedy takes only those, and no page is ever moved.
pub fn greedy_at(b: u32, rho: f64) -> Option<Greedy> {
    let pages = b as f64;
    if !(rho > 0.0 && rho < 1.0 && b > 0) {
        return None;
    }
    let idle = 1.0 - (1..=b).map(|i| rho / i as f64).sum::<f64>();
    if idle >= 0.0 {
        return Some(settled(b, rho, 1.0 / pages, (0, idle)));
    }
    // Sum of 1/i for i from j + 2 to b; a full block alone (j = b - 1) is no solution.
    let mut above = 1.0 / pages;
    for j in (0..b - 1).rev() {
        let level = j as f64 + 1.0;
        let born = pages - level;
        // With f = 1 - r filled, the blocks add up when rho b (r above + f / level) = 1.
        let r = (1.0 / (rho * pages) - 1.0 / level) / (above - born / level);
        let f = 1.0 - r * born;
        // The solutions of neighbouring levels meet where f is 0 or r: rounding must not open a gap between them.
        if f >= -1e-12 && f <= r + 1e-12 {
            return Some(settled(b, rho, r, (j + 1, f.max(0.0) * rho * pages / level)));
        }
        above += 1.0 / level;
    }
    None
}

/// The state with victims reclaimed at rate `r`, a share of the blocks at the lowest level, and flow above it.
fn settled(b: u32, rho: f64, r: f64, (lowest, share): (u32, f64)) -> Greedy {
    let pages = b as f64;
    let flow = |i: u32| r * rho * pages / i as f64;
    let distribution = (0..=b)
        .map(|i| match i.cmp(&lowest) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => share,
            std::cmp::Ordering::Greater => flow(i),
        })
        .collect();
    Greedy { write_amplification: pages * r, victim_valid: pages - 1.0 / r, distribution }
}

/// Write amplification when the block written longest ago is reclaimed (FIFO, also called LRU). Greedy has less, and
/// approaches this value as blocks become large.
///
/// A page survives a turn of the pool with probability `alpha = exp(-(1 - alpha) / rho)`, so
/// `alpha = -rho W(-exp(-1 / rho) / rho)` with Lambert's `W`, and the write amplification is `1 / (1 - alpha)`.
///
/// Source: Desnoyers, Analytic modeling of SSD write performance, SYSTOR 2012, whose LRU cleaning this is.
pub fn fifo_write_amplification(rho: f64) -> Option<f64> {
    if !(rho > 0.0 && rho < 1.0) {
        return None;
    }
    let alpha = -rho * lambert_w(-(-1.0 / rho).exp() / rho)?;
    Some(1.0 / (1.0 - alpha))
}

/// The principal branch of Lambert's function, `w` with `w exp(w) = x` and `w >= -1`; `None` below `-1 / e`.
///
/// By Halley's iteration from the series at the branch point; Corless and others, On the Lambert W function, Advances
/// in Computational Mathematics 5 (1996).
pub fn lambert_w(x: f64) -> Option<f64> {
    let distance = 2.0 * (std::f64::consts::E * x + 1.0);
    if distance < 0.0 {
        return None;
    }
    let root = distance.sqrt();
    let mut w = if x < 0.5 { -1.0 + root - distance / 6.0 } else { x.ln_1p() };
    for _ in 0..64 {
        let e = w.exp();
        let error = w * e - x;
        let step = error / (e * (w + 1.0) - (w + 2.0) * error / (2.0 * w + 2.0));
        if !step.is_finite() || step.abs() < 1e-15 * w.abs().max(1e-300) {
            break;
        }
        w -= step;
    }
    Some(w)
}

#[cfg(test)]
mod tests;
