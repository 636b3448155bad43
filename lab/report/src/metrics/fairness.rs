//! Fairness between flows that share a device (model 2.1.1).
//!
//! Owns the four figures and the slowdowns they are computed from. Must never know how the mean response times were
//! found.

/// How many times slower a flow is in company than alone (eq. 1): mean response time shared over mean response time
/// alone. `None` unless both are positive and finite.
pub fn slowdown(shared: f64, alone: f64) -> Option<f64> {
    let legal = |rt: f64| rt.is_finite() && rt > 0.0;
    (legal(shared) && legal(alone)).then(|| shared / alone)
}

/// Fairness figures of a set of slowdowns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fairness {
    /// Smallest slowdown over largest (eq. 2): in (0, 1], 1 is perfectly fair.
    pub fairness: f64,
    /// Largest slowdown.
    pub max_slowdown: f64,
    /// Population standard deviation of the slowdowns.
    pub stdev: f64,
    /// Sum of the inverse slowdowns (eq. 11): the number of flows when no flow is slowed.
    pub weighted_speedup: f64,
}

impl Fairness {
    /// The figures of these slowdowns; `None` when there are none.
    pub fn of(slowdowns: &[f64]) -> Option<Fairness> {
        if slowdowns.is_empty() {
            return None;
        }
        let n = slowdowns.len() as f64;
        let min = slowdowns.iter().copied().fold(f64::INFINITY, f64::min);
        let max = slowdowns.iter().copied().fold(0.0, f64::max);
        let mean = slowdowns.iter().sum::<f64>() / n;
        let variance = slowdowns.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / n;
        Some(Fairness {
            fairness: min / max,
            max_slowdown: max,
            stdev: variance.sqrt(),
            weighted_speedup: slowdowns.iter().map(|s| 1.0 / s).sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the example A-FLN-01.
    #[test]
    fn the_worked_example_of_the_model() {
        let alone = [100.0, 200.0, 50.0, 400.0];
        let shared = [150.0, 600.0, 400.0, 480.0];
        let slowdowns: Vec<f64> = shared.iter().zip(alone).map(|(&s, a)| slowdown(s, a).unwrap()).collect();
        assert_eq!(slowdowns, [1.5, 3.0, 8.0, 1.2]);
        let f = Fairness::of(&slowdowns).unwrap();
        assert!((f.fairness - 0.15).abs() < 1e-12);
        assert_eq!(f.max_slowdown, 8.0);
        assert!((f.stdev - 2.727_980).abs() < 5e-7);
        assert!((f.weighted_speedup - 1.958_333).abs() < 5e-7);
    }

    #[test]
    fn one_flow_is_fair_to_itself() {
        let f = Fairness::of(&[2.0]).unwrap();
        assert_eq!(f, Fairness { fairness: 1.0, max_slowdown: 2.0, stdev: 0.0, weighted_speedup: 0.5 });
    }

    #[test]
    fn no_figure_without_a_meaning() {
        assert_eq!(Fairness::of(&[]), None);
        assert_eq!(slowdown(10.0, 0.0), None);
        assert_eq!(slowdown(0.0, 10.0), None);
        assert_eq!(slowdown(f64::NAN, 10.0), None);
    }
}
