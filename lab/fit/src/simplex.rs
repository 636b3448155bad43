//! The search for the least of a function of few numbers: the simplex of Nelder and Mead.
//!
//! Promises the same steps for the same function, and no more evaluations than it may make and one step needs.

/// The best place found from `start` with first steps of `step` along each axis, and the value there, after about `most` evaluations.
pub fn least(start: &[f64], step: f64, most: usize, mut value_of: impl FnMut(&[f64]) -> f64) -> (Vec<f64>, f64) {
    let mut corners: Vec<(Vec<f64>, f64)> = vec![(start.to_vec(), value_of(start))];
    for axis in 0..start.len() {
        let mut corner = start.to_vec();
        corner[axis] += step;
        let value = value_of(&corner);
        corners.push((corner, value));
    }
    let mut made = corners.len();
    while made < most {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (worst, others) = corners.split_last().expect("a simplex has corners");
        let middle: Vec<f64> = (0..start.len())
            .map(|axis| others.iter().map(|(corner, _)| corner[axis]).sum::<f64>() / others.len() as f64)
            .collect();
        // A point on the line from the worst corner through the middle of the others.
        let along = |factor: f64| -> Vec<f64> {
            middle.iter().zip(&worst.0).map(|(middle, worst)| middle + factor * (middle - worst)).collect()
        };
        let reflected = along(1.0);
        let value = value_of(&reflected);
        made += 1;
        let (best, second) = (others[0].1, others[others.len() - 1].1);
        let next = if value < best {
            let further = along(2.0);
            let value_further = value_of(&further);
            made += 1;
            if value_further < value { (further, value_further) } else { (reflected, value) }
        } else if value < second {
            (reflected, value)
        } else {
            let nearer = along(if value < worst.1 { 0.5 } else { -0.5 });
            let value_nearer = value_of(&nearer);
            made += 1;
            (nearer, value_nearer)
        };
        if next.1 < worst.1 {
            let last = corners.len() - 1;
            corners[last] = next;
            continue;
        }
        // Nothing along the line is better: all corners move half the way to the best.
        let best = corners[0].0.clone();
        for (corner, value) in corners.iter_mut().skip(1) {
            corner.iter_mut().zip(&best).for_each(|(at, best)| *at = (*at + best) / 2.0);
            *value = value_of(corner);
            made += 1;
        }
    }
    corners.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("a simplex has corners")
}

#[cfg(test)]
mod tests {
    use super::least;

    #[test]
    fn the_bottom_of_a_bent_valley_is_found() {
        let mut made = 0;
        let (place, value) = least(&[-1.2, 1.0], 0.5, 300, |x| {
            made += 1;
            100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2)
        });
        assert!(value < 1e-6 && (place[0] - 1.0).abs() < 1e-2, "{place:?}: {value}");
        assert!((300..306).contains(&made), "{made}");
    }

    #[test]
    fn what_cannot_be_evaluated_is_avoided() {
        let value_of = |x: &[f64]| if x[0] < 0.0 { f64::INFINITY } else { (x[0] - 0.1).abs() };
        assert!((least(&[1.0], -1.5, 60, value_of).0[0] - 0.1).abs() < 1e-3);
    }
}
