//! What users wait for: whole processes of `flashlane`, from a trace file to the table.
//!
//! A case is a scenario, a trace that is generated here ([`input`]) and words of a command line. Instructions are counted
//! for a short trace, CPU time is measured for a long one. A file of dev/bench/tables has the figures of the last commit
//! ([`figures`]), against which a short run is checked.

pub mod cost;
mod input;
pub mod measure;

pub(crate) use input::files;
pub use input::{Drive, Workload};

/// A case: one command line.
pub struct WholeCase {
    /// The name, in the table and on the command line.
    pub name: String,
    /// What it replays, and on which drive; `None` for a scene of a few requests, in one of the scenarios.
    pub replay: Option<(Workload, Drive)>,
    /// The schedulers, separated by commas: several make it a comparison.
    pub schedulers: &'static str,
    /// Whether it is one of those that are checked every night, in the build that users have.
    pub checked: bool,
    /// Whether it is one of those that every change is checked with, in the build that tests have.
    pub daily: bool,
}

/// Requests of a counted run.
pub const COUNTED: u64 = 50_000;
/// Requests of a timed run.
pub const TIMED: u64 = 1_000_000;

/// The schedulers of the comparisons.
const FOUR: &str = "fr-fcfs,sprinkler,flin,slacker";

/// Every case, in the order of the table.
pub fn all() -> Vec<WholeCase> {
    let mut cases =
        vec![WholeCase { name: "scene".into(), replay: None, schedulers: "fr-fcfs", checked: true, daily: true }];
    for workload in Workload::ALL {
        for drive in Drive::ALL {
            let checked = matches!(
                (workload, drive),
                (Workload::Reads | Workload::Mix, Drive::Reference) | (Workload::Writes, Drive::Small)
            );
            let daily = matches!((workload, drive), (Workload::Reads, Drive::Small));
            let name = format!("{}/{}/fr-fcfs", workload.name(), drive.name());
            cases.push(WholeCase { name, replay: Some((workload, drive)), schedulers: "fr-fcfs", checked, daily });
        }
        let checked = workload == Workload::Reads;
        let name = format!("{}/{}/four", workload.name(), Drive::Small.name());
        cases.push(WholeCase { name, replay: Some((workload, Drive::Small)), schedulers: FOUR, checked, daily: false });
    }
    let (name, replay) = ("steady-writes/datacenter/fr-fcfs".into(), Some((Workload::Steady, Drive::Datacenter)));
    cases.push(WholeCase { name, replay, schedulers: "fr-fcfs", checked: true, daily: false });
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_some_cases_are_checked() {
        let mut names: Vec<String> = all().into_iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
        assert_eq!(all().iter().filter(|case| case.checked).count(), 6);
        assert_eq!(all().iter().filter(|case| case.daily).count(), 2);
    }
}
