//! Sizes of whole pages with a given mean and standard deviation (model 9.4).
//!
//! Slacker §7.4 names requests of 1, 2 and 9 pages: those of one page, of two, and of 64 KB that begin inside a page. So a size is one of
//! three: a page; a small number of pages; and eight pages or a power of two times as many, and one more. Their shares follow from the
//! mean and the standard deviation.

/// Bytes of a page of Slacker's Table 1.
pub const PAGE_BYTES: u64 = 8192;

/// Largest sizes that are tried, pages, the first that fits.
const LARGE: [u32; 5] = [9, 17, 33, 65, 129];
/// A share this little below zero is rounding of the printed figures and counts as none.
const ROUNDING: f64 = 0.005;

/// Pages and share of each size; the shares add up to 1, and none is zero.
pub fn solve(mean_pages: f64, sd_pages: f64) -> Vec<(u32, f64)> {
    let mean = mean_pages.max(1.0);
    let square = sd_pages * sd_pages + mean * mean;
    let solved = LARGE.into_iter().flat_map(|large| (2..large).map(move |small| (small, large)));
    let fitting = solved.into_iter().find_map(|(small, large)| shares(mean, square, small, large));
    fitting.unwrap_or_else(|| by_mean(mean))
}

/// Shares of 1, `small` and `large` pages with this mean and mean square, if none is negative.
fn shares(mean: f64, square: f64, small: u32, large: u32) -> Option<Vec<(u32, f64)>> {
    let (k, l) = (f64::from(small), f64::from(large));
    // Above a page: b (k - 1) + c (l - 1) = mean - 1 and b (k^2 - 1) + c (l^2 - 1) = square - 1.
    let (first, second) = (mean - 1.0, square - 1.0);
    let determinant = (k - 1.0) * (l * l - 1.0) - (k * k - 1.0) * (l - 1.0);
    let b = (first * (l * l - 1.0) - second * (l - 1.0)) / determinant;
    let c = (second * (k - 1.0) - first * (k * k - 1.0)) / determinant;
    let shares = [(1, 1.0 - b - c), (small, b), (large, c)];
    if shares.iter().any(|&(_, share)| share < -ROUNDING) {
        return None;
    }
    let sum: f64 = shares.iter().map(|&(_, share)| share.max(0.0)).sum();
    Some(shares.into_iter().filter(|&(_, share)| share > 0.0).map(|(pages, share)| (pages, share / sum)).collect())
}

/// A page and the smallest large size above the mean, in shares that give the mean: where no three sizes have so small a deviation.
fn by_mean(mean: f64) -> Vec<(u32, f64)> {
    let large = LARGE.into_iter().find(|&large| f64::from(large) >= mean).unwrap_or(LARGE[LARGE.len() - 1]);
    let share = ((mean - 1.0) / (f64::from(large) - 1.0)).min(1.0);
    [(1, 1.0 - share), (large, share)].into_iter().filter(|&(_, share)| share > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::clone::SlackerTrace;

    fn moments(shares: &[(u32, f64)]) -> (f64, f64) {
        let mean: f64 = shares.iter().map(|&(pages, share)| f64::from(pages) * share).sum();
        let square: f64 = shares.iter().map(|&(pages, share)| f64::from(pages * pages) * share).sum();
        (mean, (square - mean * mean).max(0.0).sqrt())
    }

    #[test]
    fn sizes_of_the_paper_come_out() {
        // Exactly half one page and half two: 12.0 +- 4.0 KB, rsrch2-p's reads.
        assert_eq!(solve(1.5, 0.5), [(1, 0.5), (2, 0.5)]);
        // 38.6 +- 30.6 KB, prxy0's writes: 35, 19 and 45 percent.
        let prxy0 = solve(38.6 / 8.0, 30.6 / 8.0);
        let percent: Vec<_> = prxy0.iter().map(|&(pages, share)| (pages, (100.0 * share).round())).collect();
        assert_eq!(percent, [(1, 35.0), (2, 19.0), (9, 45.0)]);
        assert_eq!(solve(1.0, 0.0), [(1, 1.0)]);
        assert_eq!(solve(0.4, 0.0), [(1, 1.0)]);
    }

    #[test]
    fn every_cell_of_the_table_has_its_mean_and_deviation() {
        for row in SlackerTrace::all() {
            for (mean, sd) in [(row.read_kb_mean, row.read_kb_sd), (row.write_kb_mean, row.write_kb_sd)] {
                let shares = solve(mean / 8.0, sd / 8.0);
                let (found, spread) = moments(&shares);
                assert!((shares.iter().map(|&(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
                assert!((found * 8.0 - mean).abs() < 0.01 * mean, "{}: {mean}: {shares:?}", row.name);
                assert!((spread * 8.0 - sd).abs() < 0.02 * sd, "{}: {sd}: {shares:?}: {}", row.name, spread * 8.0);
            }
        }
    }
}
