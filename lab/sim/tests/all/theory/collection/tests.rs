//! The mean-field solution against its own equations, against a plane simulated write by write, and against the bound.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::*;

/// A plane: blocks of pages, uniform overwrites, greedy victims, one open block for host writes and moves alike.
struct Plane {
    pages_per_block: usize,
    /// Logical page by physical page; `u32::MAX` where free or invalid.
    lpn_of: Vec<u32>,
    /// Physical page by logical page.
    place: Vec<usize>,
    valid: Vec<usize>,
    sealed: Vec<bool>,
    free: Vec<usize>,
    open: usize,
    next: usize,
    programmed: u64,
}

impl Plane {
    fn new(blocks: usize, pages_per_block: usize, live: usize) -> Plane {
        let mut plane = Plane {
            pages_per_block,
            lpn_of: vec![u32::MAX; blocks * pages_per_block],
            place: vec![usize::MAX; live],
            valid: vec![0; blocks],
            sealed: vec![false; blocks],
            free: (1..blocks).rev().collect(),
            open: 0,
            next: 0,
            programmed: 0,
        };
        (0..live).for_each(|lpn| plane.program(lpn));
        plane
    }

    fn program(&mut self, lpn: usize) {
        if self.place[lpn] != usize::MAX {
            self.valid[self.place[lpn] / self.pages_per_block] -= 1;
            self.lpn_of[self.place[lpn]] = u32::MAX;
        }
        if self.next == self.pages_per_block {
            self.sealed[self.open] = true;
            self.open = self.free.pop().unwrap();
            self.next = 0;
        }
        let page = self.open * self.pages_per_block + self.next;
        self.next += 1;
        self.lpn_of[page] = lpn as u32;
        self.place[lpn] = page;
        self.valid[self.open] += 1;
        self.programmed += 1;
    }

    /// Reclaims blocks until `keep` are free.
    fn collect(&mut self, keep: usize) {
        while self.free.len() < keep {
            let sealed = (0..self.valid.len()).filter(|&block| self.sealed[block]);
            let victim = sealed.min_by_key(|&block| self.valid[block]).unwrap();
            for page in victim * self.pages_per_block..(victim + 1) * self.pages_per_block {
                if self.lpn_of[page] != u32::MAX {
                    self.program(self.lpn_of[page] as usize);
                }
            }
            self.sealed[victim] = false;
            self.free.push(victim);
        }
    }

    /// Write amplification of random overwrites: `warm` times the valid pages unmeasured, then `turns` times measured.
    fn amplification(&mut self, keep: usize, warm: usize, turns: usize) -> f64 {
        let mut rng = Pcg64Mcg::new(2024);
        let live = self.place.len();
        let mut before = 0;
        for write in 0..(warm + turns) * live {
            if write == warm * live {
                before = self.programmed;
            }
            self.collect(keep);
            self.program((rng.next_u64() % live as u64) as usize);
        }
        (self.programmed - before) as f64 / (turns * live) as f64
    }
}

#[test]
fn greedy_agrees_with_a_simulated_plane() {
    const BLOCKS: usize = 512;
    const KEEP: usize = 4;
    for (pages_per_block, live_share) in [(64, 0.93), (64, 0.85), (64, 0.75), (16, 0.85)] {
        let live = (BLOCKS as f64 * pages_per_block as f64 * live_share) as usize;
        let measured = Plane::new(BLOCKS, pages_per_block, live).amplification(KEEP, 12, 12);
        let pool = Pool {
            blocks: BLOCKS as f64,
            pages_per_block: pages_per_block as u32,
            live_pages: live as f64,
            free_blocks: KEEP as f64,
            open_blocks: 1.0,
        };
        let expected = greedy(&pool).unwrap().write_amplification;
        println!("{pages_per_block} pages, {live_share} live: simulated {measured:.4}, mean field {expected:.4}");
        let error = measured / expected - 1.0;
        assert!(error.abs() < 0.02, "{pages_per_block} pages, {live_share} live: {measured} against {expected}");
    }
}

/// The solution satisfies the balance equations it was derived from.
#[test]
fn greedy_balances() {
    for b in [1u32, 2, 3, 4, 16, 64, 256, 1024] {
        for rho in [0.01, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.999] {
            let state = greedy_at(b, rho).unwrap();
            let blocks: f64 = state.distribution.iter().sum();
            let live: f64 = state.distribution.iter().enumerate().map(|(i, share)| i as f64 * share).sum();
            assert!((blocks - 1.0).abs() < 1e-9, "{b} {rho}: shares add up to {blocks}");
            assert!((live / (rho * b as f64) - 1.0).abs() < 1e-9, "{b} {rho}: live {live}");
            assert!(state.distribution.iter().all(|&share| share >= 0.0), "{b} {rho}");
            let freed = b as f64 / (b as f64 - state.victim_valid);
            assert!((state.write_amplification / freed - 1.0).abs() < 1e-9, "{b} {rho}");
        }
    }
}

/// The write amplification rises with utilisation, without gaps where the lowest level changes.
#[test]
fn greedy_rises_smoothly() {
    for b in [4u32, 64] {
        let at = |rho: f64| greedy_at(b, rho).unwrap().write_amplification;
        let mut last = 1.0;
        for step in 1..10_000 {
            let wa = at(step as f64 / 10_000.0);
            assert!(wa >= last - 1e-9 && wa < 1.1 * last + 1e-9 || step > 9_900, "{b} {step}: {last} {wa}");
            last = wa;
        }
        // Each reclaimed block frees a single invalid page: a whole block is moved for each.
        assert!((at(1.0 - 1e-9) / b as f64 - 1.0).abs() < 0.01, "{b}: {}", at(1.0 - 1e-9));
    }
}

/// Greedy is never worse than FIFO, and as good as FIFO when blocks are large.
#[test]
fn fifo_bounds_greedy() {
    for rho in [0.3, 0.5, 0.7, 0.8, 0.9, 0.95] {
        let fifo = fifo_write_amplification(rho).unwrap();
        let mut last = 0.0;
        for b in [64, 256, 1024, 16384] {
            let wa = greedy_at(b, rho).unwrap().write_amplification;
            assert!(wa <= fifo && wa >= last, "{b} {rho}: {last} {wa} {fifo}");
            last = wa;
        }
        assert!(last / fifo > 0.995, "{rho}: {last} {fifo}");
    }
}

#[test]
fn fifo_satisfies_its_equation() {
    for rho in [0.05, 0.3, 0.5, 0.7, 0.9, 0.99] {
        let alpha = 1.0 - 1.0 / fifo_write_amplification(rho).unwrap();
        assert!((alpha - (-(1.0 - alpha) / rho).exp()).abs() < 1e-9, "{rho}: {alpha}");
    }
}

#[test]
fn lambert_inverts() {
    for w in [-0.999f64, -0.9, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0] {
        let x = w * w.exp();
        assert!((lambert_w(x).unwrap() - w).abs() < 1e-6 * w.abs().max(1.0), "{w}: {:?}", lambert_w(x));
    }
    assert_eq!(lambert_w(-0.4), None);
}

#[test]
fn nonsense_has_no_answer() {
    for rho in [-0.1, 0.0, 1.0, 1.5, f64::NAN] {
        assert_eq!(greedy_at(64, rho), None, "{rho}");
        assert_eq!(fifo_write_amplification(rho), None, "{rho}");
    }
    assert_eq!(greedy_at(0, 0.5), None);
}
