//! The corpus: scenarios whose figures say whether a mutant changes results.
//!
//! A mutant changes results if `summary.json` of any of them differs by a byte, or if a run fails or does not end. The
//! scenarios written for this lie in `xtask/corpus`; the hand-worked ones and the shipped ones, cut short, are here too.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::build::BuildFolders;
use super::process::{self, Ended, Program};

/// Requests of a shipped scenario that are run.
const REQUESTS: u32 = 400;

/// Processor time of a scenario without a mutant, at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run of the corpus.
struct Entry {
    name: String,
    args: Vec<String>,
    /// What it prints without a mutant, and how long that takes.
    usual: Vec<u8>,
    time: Duration,
}

/// The corpus, with its results without a mutant.
pub struct Corpus {
    entries: Vec<Entry>,
    program: PathBuf,
    folder: PathBuf,
}

/// How a mutant changes results.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The first scenario in which it shows.
    pub scenario: String,
    /// In how many it shows, as far as was looked.
    pub scenarios: usize,
    /// Largest relative change of a mean response time; none where a run failed.
    pub mean: Option<f64>,
    /// In words.
    pub how: String,
}

impl Corpus {
    /// Runs every scenario without a mutant.
    pub fn prepare(folders: &BuildFolders) -> Result<Corpus, String> {
        let mut corpus = Corpus { entries: Vec::new(), program: folders.program.clone(), folder: folders.copy.clone() };
        for (folder, shorten) in [("xtask/corpus", false), ("scenarios/golden", false), ("scenarios", true)] {
            for file in scenarios(&folders.copy.join(folder))? {
                let path = format!("{folder}/{file}");
                let text = std::fs::read_to_string(folders.copy.join(&path)).map_err(|e| format!("{path}: {e}"))?;
                if shorten && text.contains("[flow.trace]") || text.contains("trace = ") {
                    continue; // Its trace is the user's.
                }
                let shown = if shorten { short(folders, &file, &text)? } else { path.clone() };
                corpus.entries.push(Entry::new(path, vec![shown]));
            }
        }
        if corpus.entries.len() < 10 {
            return Err(format!("only {} scenarios found for the corpus", corpus.entries.len()));
        }
        let trace = "--trace scenarios/example-trace.csv --speedup 50 --limit 400 --device flin-isca18 --schedulers \
                     fcfs,slacker,flin";
        corpus.entries.push(Entry::new("a trace".into(), trace.split_whitespace().map(String::from).collect()));
        for i in 0..corpus.entries.len() {
            let entry = &corpus.entries[i];
            let outcome = corpus.program(entry, 0).run(PATIENCE, &mut |_| false)?;
            if outcome.ended != Ended::Itself(true) {
                let args = entry.args.join(" ");
                return Err(format!("{} fails without a mutant; see `flashlane compare {args}`", entry.name));
            }
            (corpus.entries[i].usual, corpus.entries[i].time) = (outcome.output, outcome.cpu);
        }
        // The quickest first: most changes show in several.
        corpus.entries.sort_by_key(|entry| entry.time);
        Ok(corpus)
    }

    /// Scenarios, and the processor time of all without a mutant.
    pub fn description(&self) -> (usize, Duration) {
        (self.entries.len(), self.entries.iter().map(|entry| entry.time).sum())
    }

    /// How mutant `number` changes results, if it does. `all`: looks at every scenario, not only up to the first.
    pub fn changes(&self, number: u32, all: bool) -> Result<Option<Change>, String> {
        let mut found: Option<Change> = None;
        for entry in &self.entries {
            let limit = entry.time * 10 + Duration::from_secs(2);
            let outcome = self.program(entry, number).run(limit, &mut |_| false)?;
            let (mean, how) = match outcome.ended {
                Ended::Itself(true) if outcome.output == entry.usual => continue,
                Ended::Itself(true) => {
                    let mean = change_of_means(&entry.usual, &outcome.output);
                    let how = if mean == Some(0.0) { "no mean response time, other figures" } else { "figures" };
                    (mean, how)
                }
                Ended::Itself(false) => (None, "the run fails"),
                _ => (None, "the run does not end"),
            };
            match &mut found {
                None => found = Some(Change { scenario: entry.name.clone(), scenarios: 1, mean, how: how.into() }),
                Some(change) => {
                    change.scenarios += 1;
                    // A run that fails says more than figures that differ, figures that differ more say more.
                    if mean.is_none() && change.mean.is_some() || change.mean.is_some() && mean > change.mean {
                        (change.scenario, change.mean, change.how) = (entry.name.clone(), mean, how.into());
                    }
                }
            }
            if !all {
                break;
            }
        }
        Ok(found)
    }

    fn program(&self, entry: &Entry, mutant: u32) -> Program<'_> {
        let words = ["compare", "--format", "json", "--jobs", "1"];
        let args = words.map(String::from).into_iter().chain(entry.args.iter().cloned()).collect();
        Program { exe: &self.program, args, folder: self.folder.clone(), mutant, patience: process::PATIENCE }
    }
}

impl Entry {
    fn new(name: String, args: Vec<String>) -> Entry {
        Entry { name, args, usual: Vec::new(), time: Duration::ZERO }
    }
}

/// The scenarios of a folder, in order.
fn scenarios(folder: &Path) -> Result<Vec<String>, String> {
    let fault = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let name = entry.map_err(fault)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Writes a shipped scenario, cut short, beside the copy; its path.
fn short(folders: &BuildFolders, file: &str, text: &str) -> Result<String, String> {
    let folder = folders.copy.with_file_name("corpus");
    let path = folder.join(file);
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, shortened(text)));
    written.map_err(|e| format!("{}: cannot be written: {e}", path.display()))?;
    Ok(path.display().to_string())
}

/// A scenario that ends after few requests, all of which count.
fn shortened(text: &str) -> String {
    let limit = format!("[run]\nrequests = {REQUESTS}\n");
    let kept = text.lines().filter(|line| !line.starts_with("warm_up"));
    let lines = kept.map(|line| if line.starts_with("[run]") { limit.clone() } else { format!("{line}\n") });
    lines.collect()
}

/// Largest relative change of a mean response time between two summaries.
fn change_of_means(usual: &[u8], now: &[u8]) -> Option<f64> {
    let means = |text: &[u8]| {
        let mut found = Vec::new();
        collect(serde_json::from_slice::<Value>(text).ok()?.get("schedulers")?, &mut found);
        Some(found)
    };
    let (usual, now) = (means(usual)?, means(now)?);
    let apart = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).abs() / a.abs().max(1.0) };
    Some(usual.iter().zip(&now).map(apart).fold(0.0, f64::max))
}

fn collect(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("mean_ns").and_then(Value::as_f64));
            // Means of slack and of paired requests are no response times of a run.
            let others = members.iter().filter(|(key, _)| !matches!(key.as_str(), "slack" | "paired"));
            others.for_each(|(_, member)| collect(member, found));
        }
        Value::Array(members) => members.iter().for_each(|member| collect(member, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_change_of_a_mean_counts() {
        let summary = |a: f64, b: f64, other: u64| {
            let of = |mean: f64| serde_json::json!({ "total": { "all": { "mean_ns": mean, "max_ns": other } } });
            let slack = serde_json::json!({ "slack": { "read": { "mean_ns": other } } });
            serde_json::json!({ "schedulers": [of(a), of(b), slack] }).to_string().into_bytes()
        };
        let change = |a: f64, b: f64, other| change_of_means(&summary(100.0, 200.0, 1), &summary(a, b, other));
        assert_eq!(change(110.0, 200.0, 1), Some(0.1));
        assert_eq!(change(110.0, 300.0, 1), Some(0.5));
        assert_eq!(change(100.0, 200.0, 2), Some(0.0));
        assert_eq!(change_of_means(&summary(1.0, 1.0, 1), b"no summary"), None);
    }

    #[test]
    fn shipped_scenarios_are_cut_short() {
        let text = "name = \"a\"\n[run]\nwarm_up_ms = 500\nalone = false\n[[flow]]\n";
        assert_eq!(shortened(text), "name = \"a\"\n[run]\nrequests = 400\nalone = false\n[[flow]]\n");
    }
}
