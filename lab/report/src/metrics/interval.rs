//! Means over seeds, with their confidence intervals.

/// Student's t for 95 % on both sides, by degrees of freedom from 1; beyond them, that of the normal distribution.
const T_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// The mean of `values`, and half the width of its 95 % confidence interval if there are several.
pub fn mean_and_ci95(values: &[f64]) -> (f64, Option<f64>) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if values.len() < 2 {
        return (mean, None);
    }
    let t = T_95.get(values.len() - 2).copied().unwrap_or(1.96);
    (mean, Some(t * standard_error(values, mean)))
}

/// The standard error of the mean of several values.
pub(super) fn standard_error(values: &[f64], mean: f64) -> f64 {
    let n = values.len() as f64;
    let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of Student's t: 2 and 30 degrees of freedom, and beyond the table.
    #[test]
    fn intervals_are_those_of_student() {
        assert_eq!(mean_and_ci95(&[7.0]), (7.0, None));
        for (n, t) in [(2, 12.706), (3, 4.303), (31, 2.042), (32, 1.96), (100, 1.96)] {
            let values: Vec<f64> = (0..n).map(|i| f64::from(i % 2)).collect();
            let (mean, half) = mean_and_ci95(&values);
            let ones = f64::from(n / 2);
            let count = f64::from(n);
            assert_eq!(mean, ones / count, "{n}");
            let variance = (ones - ones * ones / count) / (count - 1.0);
            let half = half.expect("several values");
            assert!((half - t * (variance / count).sqrt()).abs() < 1e-12, "{n}: {half}");
        }
    }
}
