//! Measures one case: several timed runs and two counted ones, each in a process of its own.

use std::path::Path;
use std::process::Command;

use crate::callgrind::{count, per_item};
use crate::case::Case;
use crate::outcome::Outcome;

/// How much to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Timed runs; at least 1.
    pub runs: u32,
    /// Share of each case's requests to run, in thousandths.
    pub per_mille: u64,
    /// Requests of every timed run, instead of the case's own number.
    pub requests: Option<u64>,
    /// Whether to count instructions.
    pub count: bool,
}

/// The measured cost of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// CPU time per item in ns: lowest, median, highest run.
    pub ns: [f64; 3],
    /// Instructions per item, if counted.
    pub instructions: Option<f64>,
    /// CPU time of start-up, the median of all runs.
    pub ready_ns: u64,
    /// Peak memory, the highest of all runs.
    pub peak_bytes: u64,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [low, median, high] = self.ns;
        write!(f, "{median:.1} ns ({low:.1} to {high:.1})")?;
        self.instructions.map_or(Ok(()), |count| write!(f, ", {count:.1} instructions"))
    }
}

/// The argument that makes the program run one case instead of measuring all.
const CHILD: &str = "--run-case";

/// Measures `case` in child processes of `program`.
pub fn measure(program: &Path, case: &Case, effort: Effort) -> Result<Cost, String> {
    let scaled = |requests: u64| (requests * effort.per_mille / 1000).max(1);
    let args = |requests: u64| [CHILD.to_string(), case.name(), requests.to_string()];
    let mut outcomes = Vec::new();
    for _ in 0..effort.runs {
        outcomes.push(timed(program, &args(effort.requests.unwrap_or(scaled(case.requests))))?);
    }
    let instructions = if effort.count {
        let short = count(program, &args(scaled(case.counted)))?;
        let long = count(program, &args(2 * scaled(case.counted)))?;
        Some(per_item(short, long)?)
    } else {
        None
    };
    summary(&outcomes, instructions)
}

fn timed(program: &Path, args: &[String]) -> Result<Outcome, String> {
    let output = Command::new(program).args(args).output().map_err(|e| format!("{}: {e}", program.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} {}: {}\n{message}", program.display(), args.join(" "), output.status));
    }
    Outcome::find(&String::from_utf8_lossy(&output.stdout))
}

fn summary(outcomes: &[Outcome], instructions: Option<f64>) -> Result<Cost, String> {
    let mut ns: Vec<f64> = outcomes.iter().map(|o| o.work_ns as f64 / o.items as f64).collect();
    ns.sort_unstable_by(f64::total_cmp);
    let mut ready: Vec<u64> = outcomes.iter().map(|o| o.ready_ns).collect();
    ready.sort_unstable();
    let (Some(&low), Some(&high)) = (ns.first(), ns.last()) else { return Err("no run was timed".into()) };
    if outcomes.iter().any(|outcome| outcome.items == 0) {
        return Err("a run did no work".into());
    }
    let peak_bytes = outcomes.iter().map(|o| o.peak_bytes).max().unwrap_or_default();
    Ok(Cost { ns: [low, middle(&ns), high], instructions, ready_ns: middle(&ready), peak_bytes })
}

/// The median of sorted values; of an even number the lower of the two in the middle, so that it is a measured value.
fn middle<T: Copy>(sorted: &[T]) -> T {
    sorted[(sorted.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_measured_value() {
        assert_eq!(middle(&[1]), 1);
        assert_eq!(middle(&[1, 5]), 1);
        assert_eq!(middle(&[1, 5, 9]), 5);
        assert_eq!(middle(&[1, 5, 9, 100]), 5);
    }

    #[test]
    fn runs_are_summed_up() {
        let run = |work_ns, ready_ns, peak_bytes| Outcome { items: 10, work_ns, ready_ns, peak_bytes };
        let figures = summary(&[run(1_000, 7, 5), run(3_000, 9, 6), run(1_500, 8, 4)], Some(12.5)).unwrap();
        let expect = Cost { ns: [100.0, 150.0, 300.0], instructions: Some(12.5), ready_ns: 8, peak_bytes: 6 };
        assert_eq!(figures, expect);
        assert_eq!(figures.to_string(), "150.0 ns (100.0 to 300.0), 12.5 instructions");
        assert!(summary(&[], None).is_err());
        assert!(summary(&[Outcome { items: 0, work_ns: 1, ready_ns: 1, peak_bytes: 1 }], None).is_err());
    }
}
