//! The search for the numbers with which many differences together are least: steps of Levenberg and Marquardt, with slopes that each step corrects (Broyden).
//!
//! Promises the same steps for the same function, and no more evaluations than it may make and the first slopes need.

/// The longest step along an axis.
const LONGEST: f64 = 0.7;
/// Shorter steps end the search.
const SHORTEST: f64 = 1e-3;
/// Steps shorter than this correct no slopes: what they change is not told from noise.
const TELLS: f64 = 0.01;
/// What slopes are damped with at first, at least, and at most: with more, no step is better.
const DAMPING: [f64; 3] = [1e-2, 1e-4, 1e2];
/// What an axis is damped with at least, as a share of the steepest: without, one of which nothing depends would be divided by zero.
const FLOOR: f64 = 1e-4;

/// The best place, and how the differences change there.
#[derive(Debug)]
pub struct Least {
    /// The place.
    pub at: Vec<f64>,
    /// How much each difference changes along each axis.
    pub slopes: Vec<Vec<f64>>,
}

/// The place near `start` where the sum of the squares of `differences` is least, after about `most` evaluations, the first of which are `step` apart. Where it has none,
/// a place is avoided; `None` if that is so at the start.
pub fn least(
    start: &[f64],
    step: f64,
    most: usize,
    mut differences: impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Option<Least> {
    let (mut at, mut here) = (start.to_vec(), differences(start)?);
    let mut slopes: Vec<Vec<f64>> = (0..at.len()).map(|axis| slope(&at, &here, axis, step, &mut differences)).collect();
    let mut damping = DAMPING[0];
    for _ in (1 + at.len())..most {
        let against: Vec<f64> = slopes.iter().map(|slope| -product(slope, &here)).collect();
        let by = solved(&slopes, damping, &against);
        let by: Vec<f64> = by.into_iter().map(|by| by.clamp(-LONGEST, LONGEST)).collect();
        let length = product(&by, &by).sqrt();
        if length < SHORTEST || damping > DAMPING[2] {
            break;
        }
        let next: Vec<f64> = at.iter().zip(&by).map(|(at, by)| at + by).collect();
        let Some(there) = differences(&next) else {
            damping *= 10.0;
            continue;
        };
        if length > TELLS {
            for row in 0..here.len() {
                let expected: f64 = slopes.iter().zip(&by).map(|(slope, by)| slope[row] * by).sum();
                let off = (there[row] - here[row] - expected) / (length * length);
                slopes.iter_mut().zip(&by).for_each(|(slope, by)| slope[row] += off * by);
            }
        }
        if product(&there, &there) < product(&here, &here) {
            (at, here) = (next, there);
            damping = (damping / 5.0).max(DAMPING[1]);
        } else {
            damping *= 5.0;
        }
    }
    Some(Least { at, slopes })
}

/// How the differences change along an axis; not at all if they cannot be had on either side.
fn slope(
    at: &[f64],
    here: &[f64],
    axis: usize,
    step: f64,
    differences: &mut impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Vec<f64> {
    for step in [step, -step] {
        let mut next = at.to_vec();
        next[axis] += step;
        if let Some(there) = differences(&next) {
            return there.iter().zip(here).map(|(there, here)| (there - here) / step).collect();
        }
    }
    vec![0.0; here.len()]
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves for the numbers that the damped products of `slopes` make to `right`.
pub fn solved(slopes: &[Vec<f64>], damping: f64, right: &[f64]) -> Vec<f64> {
    let count = slopes.len();
    let largest = slopes.iter().map(|slope| product(slope, slope)).fold(1e-12, f64::max);
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|row| {
            let mut all: Vec<f64> = slopes.iter().map(|slope| product(&slopes[row], slope)).collect();
            all[row] += damping * all[row] + FLOOR * largest;
            all.push(right[row]);
            all
        })
        .collect();
    // The products are positive definite, so that no pivot is zero.
    for pivot in 0..count {
        let (above, below) = rows.split_at_mut(pivot + 1);
        for row in below {
            let factor = row[pivot] / above[pivot][pivot];
            row.iter_mut().zip(&above[pivot]).for_each(|(own, above)| *own -= factor * above);
        }
    }
    let mut solved = vec![0.0; count];
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|column| rows[row][column] * solved[column]).sum();
        solved[row] = (rows[row][count] - known) / rows[row][row];
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn the_bottom_of_a_bent_valley_is_found() {
        let mut made = 0;
        let found = least(&[-1.2, 1.0], 0.1, 60, |x| {
            made += 1;
            Some(vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0], 0.0])
        });
        let at = found.expect("a place").at;
        assert!((at[0] - 1.0).abs() < 1e-2 && (at[1] - 1.0).abs() < 2e-2, "{at:?}");
        assert!(made <= 60, "{made}");
    }

    #[test]
    fn what_cannot_be_evaluated_is_avoided_and_an_axis_that_does_nothing_stays() {
        let of = |x: &[f64]| (x[0] > 0.0).then(|| vec![x[0] - 0.1, 2.0 * x[0] - 0.2]);
        let at = least(&[1.0, 3.0], -1.5, 40, of).expect("a place").at;
        assert!((at[0] - 0.1).abs() < 1e-2 && (at[1] - 3.0).abs() < 1e-3, "{at:?}");
        assert!(least(&[-1.0], 0.1, 9, of).is_none());
    }
}
