//! The corpus: runs of the program whose output says whether a mutant changes results.
//!
//! A mutant changes results if what any of them prints or writes differs by a byte, or if it fails or does not end. Scenarios, of which
//! `summary.json` is compared, are those written for this in `dev/xtask/corpus`, the hand-worked ones, and the shipped ones, cut short.
//! Commands are the lines of `dev/xtask/commands/list.txt`: tables, rows, reports, sweeps, traces, and what the auditor says of damaged
//! events.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::build::BuildFolders;
use super::process::{self, Ended, Outcome, Program};

/// Requests of a shipped scenario that are run.
const REQUESTS: u32 = 400;

/// Processor time of a command without a mutant, at most.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The folder of the commands, with their list. They run in an empty folder beside the copy; `FILES` stands for this one in them.
const COMMANDS: &str = "dev/xtask/commands";

/// A run of the corpus.
struct Entry {
    name: String,
    exe: PathBuf,
    args: Vec<String>,
    /// What it prints and writes without a mutant, and how long that takes.
    usual: Vec<u8>,
    time: Duration,
}

/// The corpus, with its results without a mutant.
pub struct Corpus {
    entries: Vec<Entry>,
    /// The copy of the repository, where the commands run.
    copy: PathBuf,
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
    /// Runs every entry without a mutant.
    pub fn prepare(folders: &BuildFolders) -> Result<Corpus, String> {
        let mut corpus = Corpus { entries: Vec::new(), copy: folders.copy.clone() };
        for (folder, shorten) in [("dev/xtask/corpus", false), ("scenarios/golden", false), ("scenarios", true)] {
            for file in scenarios(&folders.copy.join(folder))? {
                let path = format!("{folder}/{file}");
                let text = std::fs::read_to_string(folders.copy.join(&path)).map_err(|e| format!("{path}: {e}"))?;
                if shorten && text.contains("[flow.trace]") || text.contains("trace = ") {
                    continue; // Its trace is the user's.
                }
                let shown = if shorten { short(folders, &file, &text)? } else { format!("../src/{path}") };
                let words = ["compare", "--format", "json", "--jobs", "1", shown.as_str()];
                corpus.entries.push(Entry::new(path, &folders.program, &words));
            }
        }
        if corpus.entries.len() < 10 {
            return Err(format!("only {} scenarios found for the corpus", corpus.entries.len()));
        }
        let list = format!("{COMMANDS}/list.txt");
        let list = std::fs::read_to_string(folders.copy.join(&list)).map_err(|e| format!("{list}: {e}"))?;
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (exe, words) = match line.split_once(' ') {
                Some(("flashlane", words)) => (&folders.program, words),
                Some(("damaged_events", words)) => (&folders.damaged, words),
                _ => return Err(format!("{COMMANDS}/list.txt: {line}: must begin with flashlane or damaged_events")),
            };
            let words = words.replace("FILES", &format!("../src/{COMMANDS}"));
            let words: Vec<&str> = words.split_whitespace().collect();
            corpus.entries.push(Entry::new(line.into(), exe, &words));
        }
        for i in 0..corpus.entries.len() {
            let entry = &corpus.entries[i];
            let (first, again) = (corpus.run(entry, 0, "out", TIMEOUT)?, corpus.run(entry, 0, "again", TIMEOUT)?);
            if first.ended != Ended::Itself(true) {
                return Err(format!("without a mutant this fails: {}", entry.args.join(" ")));
            }
            if first.output != again.output {
                return Err(format!("this differs from run to run: {}", entry.args.join(" ")));
            }
            (corpus.entries[i].usual, corpus.entries[i].time) = (first.output, first.cpu);
        }
        // The quickest first: most changes show in several.
        corpus.entries.sort_by_key(|entry| entry.time);
        Ok(corpus)
    }

    /// Commands, and the processor time of all without a mutant.
    pub fn description(&self) -> (usize, Duration) {
        (self.entries.len(), self.entries.iter().map(|entry| entry.time).sum())
    }

    /// How mutant `number` changes results, if it does. `all`: looks at every scenario, not only up to the first.
    pub fn changes(&self, number: u32, all: bool) -> Result<Option<Change>, String> {
        let mut found: Option<Change> = None;
        for entry in &self.entries {
            let limit = entry.time * 10 + Duration::from_secs(2);
            let outcome = self.run(entry, number, &format!("out-{number}"), limit)?;
            let (mean, how) = match outcome.ended {
                Ended::Itself(true) if outcome.output == entry.usual => continue,
                Ended::Itself(true) => {
                    let mean = change_of_means(&entry.usual, &outcome.output);
                    let how = match mean {
                        Some(0.0) => "no mean response time, other figures",
                        Some(_) => "figures",
                        None => "other output",
                    };
                    (mean.or(Some(0.0)), how)
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

    /// Runs an entry in a folder of this name; the output is what it prints and then the files that it leaves there, by their names.
    fn run(&self, entry: &Entry, mutant: u32, name: &str, limit: Duration) -> Result<Outcome, String> {
        let folder = self.copy.with_file_name(name);
        let fault = |e: std::io::Error| format!("{}: {e}", folder.display());
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(fault)?;
        }
        std::fs::create_dir_all(&folder).map_err(fault)?;
        let (args, patience) = (entry.args.clone(), process::TIMEOUT);
        let program = Program { exe: &entry.exe, args, folder: folder.clone(), mutant, patience };
        let mut outcome = program.run(limit, &mut |_| false)?;
        let mut files = BTreeMap::new();
        collect_files(&folder, "", &mut files).map_err(fault)?;
        for (path, content) in files {
            outcome.output.extend(format!("\n{path}\n").into_bytes());
            outcome.output.extend(content);
        }
        std::fs::remove_dir_all(&folder).map_err(fault)?;
        Ok(outcome)
    }
}

impl Entry {
    fn new(name: String, exe: &Path, args: &[&str]) -> Entry {
        let args = args.iter().map(|&word| word.to_owned()).collect();
        Entry { name, exe: exe.into(), args, usual: Vec::new(), time: Duration::ZERO }
    }
}

/// The files below a folder, by their paths from there.
fn collect_files(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{below}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect_files(&entry.path(), &path, found)?;
        } else {
            found.insert(path, std::fs::read(entry.path())?);
        }
    }
    Ok(())
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
