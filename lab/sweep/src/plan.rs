//! The runs of a sweep: every combination of the axes' values that no condition excludes, with its name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rayon::prelude::*;

use super::axis::{Axis, MAX_VALUES, label};
use super::file::Sweep;
use super::runner::name_of;
use flashlane_outputs::shown::escaped;
use flashlane_report::results::verdict;
use flashlane_scenario::{Scenario, ScenarioError};
use flashlane_sim::{Memory, RunError};

/// The name of the runs of a sweep that has none of its own.
const UNNAMED: &str = "sweep";

/// What was not measured when the device of a scenario was fitted, a sentence; none if nothing is to be said. Results of runs say it of what they do.
///
/// # Errors
/// A device file that cannot be read.
pub fn not_measured(scenario: &Scenario) -> Result<Option<String>, ScenarioError> {
    let uses = scenario.fitted()?.not_measured();
    let uses: Vec<&str> = uses.iter().filter(|(_, is_unknown)| *is_unknown).map(|(what, _)| *what).collect();
    let sentence = verdict::not_measured(&uses);
    Ok(sentence.map(|sentence| format!("{}: {sentence}", escaped(scenario.device_name()))))
}

/// All runs of a sweep, checked.
#[derive(Debug)]
pub struct Plan {
    /// The runs, in the order of the axes, the last of which changes fastest.
    pub runs: Vec<PlannedRun>,
    /// Combinations that a condition excluded.
    pub excluded: usize,
    /// The most memory that a run takes.
    pub memory: Option<Memory>,
}

impl Plan {
    /// What was not measured when the devices of the `sweep` were fitted, a sentence for each device.
    ///
    /// # Errors
    /// A device file that is there no more.
    pub fn not_measured(&self, sweep: &Sweep) -> Result<Vec<String>, RunError> {
        let is_of_device = |path: &str| path == "device" || path == "device.preset";
        let axis = sweep.axes.iter().position(|axis| is_of_device(&axis.path));
        let mut sentences = BTreeMap::new();
        for run in &self.runs {
            if let Entry::Vacant(entry) = sentences.entry(axis.map(|axis| run.at[axis])) {
                entry.insert(not_measured(&sweep.scenario(&run.at)?)?);
            }
        }
        Ok(sentences.into_values().flatten().collect())
    }
}

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// Its name: a hash of the scenario, the seed, the version of Flashlane, and what is kept. 16 hexadecimal digits.
    pub name: String,
    /// For each axis, the place of its value.
    pub at: Vec<usize>,
}

impl Sweep {
    /// All runs, each checked as far as that is possible without making it.
    ///
    /// # Errors
    /// The first run that is wrong.
    pub fn plan(&self) -> Result<Plan, RunError> {
        let combinations = self.combinations()?;
        let of = combinations.len();
        let planned = combinations.into_par_iter().map(|at| self.planned(at)).collect::<Result<Vec<_>, _>>()?;
        let mut memory: Option<Memory> = None;
        let mut runs = Vec::new();
        for (run, needs) in planned.into_iter().flatten() {
            memory = Some(memory.map_or(needs, |most| largest(most, needs)));
            runs.push(run);
        }
        let mut names: Vec<(&str, usize)> = runs.iter().enumerate().map(|(i, run)| (run.name.as_str(), i)).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [a, b] = [pair[0].1, pair[1].1].map(|i| self.describe(&runs[i].at));
            return Err(self.error("", format!("two runs are the same: {a}, and {b}")).into());
        }
        if runs.is_empty() {
            return Err(self.error("exclude", format!("excludes all {of} runs")).into());
        }
        Ok(Plan { excluded: of - runs.len(), runs, memory })
    }

    /// The scenario of a run.
    ///
    /// # Errors
    /// No such key, or a value that is none of its.
    pub fn scenario(&self, at: &[usize]) -> Result<Scenario, RunError> {
        let value = |(axis, at): (&Axis, &usize)| (axis.path.clone(), axis.values[*at].to_string());
        let sets: Vec<(String, String)> = self.axes.iter().zip(at).map(value).collect();
        let mut scenario = self.base.clone();
        scenario.assign(&sets).map_err(|error| RunError::Input(self.relocated(error.to_string())))?;
        if !self.is_named {
            // The file's name is no part of an experiment: under another name its runs are the same.
            scenario.set("name", "sweep", |document| document.name = Some(UNNAMED.into()));
        }
        Ok(scenario)
    }

    /// The values of a run in words: `device.gc.start_percent = 7, seed = 2`.
    pub fn describe(&self, at: &[usize]) -> String {
        let word = |(axis, at): (&Axis, &usize)| format!("{} = {}", axis.path, label(&axis.values[*at]));
        self.axes.iter().zip(at).map(word).collect::<Vec<_>>().join(", ")
    }

    /// A run with its name and its memory, if no condition excludes it.
    fn planned(&self, at: Vec<usize>) -> Result<Option<(PlannedRun, Memory)>, RunError> {
        let scenario = self.scenario(&at)?;
        let excluded = self.conditions.exclude(scenario.document(), scenario.seed());
        if excluded.map_err(|error| self.condition_error(error))? {
            return Ok(None);
        }
        let located = |error: RunError| match error {
            RunError::Input(message) => {
                RunError::Input(format!("{} (in the run with {})", self.relocated(message), self.describe(&at)))
            }
            other => other,
        };
        let prepared = flashlane_sim::prepare(&scenario).map_err(located)?;
        let memory = flashlane_sim::memory(&prepared).map_err(located)?;
        let hash = scenario.hash().map_err(|error| located(error.into()))?;
        let kept = if self.requests { "requests" } else { "summary" };
        Ok(Some((PlannedRun { name: name_of(&[&hash, scenario.name(), kept]), at }, memory)))
    }

    /// All combinations: places of values, an entry for each axis.
    fn combinations(&self) -> Result<Vec<Vec<usize>>, RunError> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for axis in 0..self.axes.len() {
            match self.zipped.iter().find(|group| group.contains(&axis)) {
                Some(group) if group.iter().min() == Some(&axis) => groups.push(group.clone()),
                Some(_) => {}
                None => groups.push(vec![axis]),
            }
        }
        let lengths: Vec<usize> = groups.iter().map(|group| self.axes[group[0]].values.len()).collect();
        let count =
            lengths.iter().try_fold(1usize, |all, &length| all.checked_mul(length)).filter(|&all| all <= MAX_VALUES);
        let Some(count) = count else {
            return Err(self.error("", format!("has more than {MAX_VALUES} runs; that is the most")).into());
        };
        let combination = |mut number: usize| {
            let mut at = vec![0; self.axes.len()];
            for (group, length) in groups.iter().zip(&lengths).rev() {
                group.iter().for_each(|&axis| at[axis] = number % length);
                number /= length;
            }
            at
        };
        Ok((0..count).map(combination).collect())
    }
}

fn largest(a: Memory, b: Memory) -> Memory {
    Memory {
        space: a.space.max(b.space),
        resident: a.resident.max(b.resident),
        kept: a.kept.max(b.kept),
        runs: a.runs + b.runs,
        short: a.short && b.short,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const SCENARIO: &str =
        "device = \"flin-isca18\"\n[[flow]]\nname = \"a\"\n[flow.synthetic]\nrate_iops = 5\nrequests = 1\n";

    /// The names of the runs of a sweep in a file at `path`.
    fn names_at(path: &str, before: &str, sweep: &str) -> Vec<String> {
        let sweep = Sweep::of_file(Path::new(path), format!("{before}{SCENARIO}[sweep]\n{sweep}")).expect("a sweep");
        sweep.plan().expect("runs").runs.into_iter().map(|run| run.name).collect()
    }

    fn names(before: &str, sweep: &str) -> Vec<String> {
        names_at("s.toml", before, sweep)
    }

    /// What is not in the name is found in the store although it is another run: its results would be taken for these.
    #[test]
    fn a_name_says_all_that_determines_what_is_kept() {
        let plain = names("", "seeds = 2");
        assert_ne!(plain[0], plain[1], "the seed");
        let others = [
            ("requests", names("", "seeds = 2\nrequests = true")),
            ("a key of the scenario", names("schedulers = [\"fcfs\"]\n", "seeds = 2")),
            ("the scenario's name", names("name = \"mine\"\n", "seeds = 2")),
            ("an axis", names("", "seeds = 2\nflow.a.priority = [2]")),
        ];
        for (what, others) in others {
            assert_eq!(others.len(), 2, "{what}");
            assert!(others.iter().all(|name| !plain.contains(name)), "{what}: {others:?} {plain:?}");
        }
    }

    #[test]
    fn a_name_says_nothing_else() {
        let plain = names("", "seeds = 2");
        assert_eq!(names_at("another.toml", "", "seeds = 2"), plain, "a file under another name");
        assert_eq!(names("", "seeds = 2\nrequests = false"), plain);
        assert_eq!(names("", "seeds = [2, 1]"), [plain[1].clone(), plain[0].clone()]);
        assert_eq!(
            names("seed = 2\n", "flow.a.synthetic.rate_iops = [5]"),
            plain[1..],
            "a key as an axis with one value"
        );
    }
}
