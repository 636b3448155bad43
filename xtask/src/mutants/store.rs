//! What is known of each mutant, kept in a file so that a run can go on where another ended.
//!
//! Results count for the sources, tests and scenarios they were made with; with others the file begins anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::corpus::Change;
use super::mutant::Mutant;
use super::programs::Catch;

/// What a mutant does.
#[derive(Clone, PartialEq, Debug)]
pub struct Fate {
    /// How it changes results.
    pub change: Option<Change>,
    /// How tests notice it.
    pub catch: Option<Catch>,
    /// Processor time the tests took, in seconds.
    pub seconds: f64,
}

/// The file.
pub struct Store {
    path: PathBuf,
    identity: String,
    records: BTreeMap<String, Value>,
}

impl Store {
    /// What the file at `path` holds for these sources.
    pub fn open(path: &Path, identity: &str) -> Store {
        let read = || serde_json::from_slice::<Value>(&std::fs::read(path).ok()?).ok();
        let held = read().filter(|held| held["sources"] == identity);
        let records = held.as_ref().and_then(|held| held["mutants"].as_object());
        let records = records.map(|all| all.iter().map(|(id, record)| (id.clone(), record.clone())).collect());
        Store { path: path.into(), identity: identity.into(), records: records.unwrap_or_default() }
    }

    /// What is known of a mutant.
    pub fn fate(&self, id: &str) -> Option<Fate> {
        let record = self.records.get(id)?;
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let change = record["changes"].as_object().map(|_| {
            let change = &record["changes"];
            Change {
                scenario: text(change, "scenario"),
                scenarios: change["scenarios"].as_u64().unwrap_or_default() as usize,
                mean: change["mean"].as_f64(),
                how: text(change, "how"),
            }
        });
        let catch = record["caught"].as_object().map(|_| {
            let catch = &record["caught"];
            Catch { program: text(catch, "program"), test: text(catch, "test"), hung: catch["hung"] == true }
        });
        Some(Fate { change, catch, seconds: record["seconds"].as_f64().unwrap_or_default() })
    }

    /// Whether a mutant is known to be no legal Rust.
    pub fn is_illegal(&self, id: &str) -> bool {
        self.records.get(id).is_some_and(|record| record["legal"] == false)
    }

    /// Notes what a mutant does; without a fate, that it is no legal Rust.
    pub fn note(&mut self, mutant: &Mutant, fate: Option<&Fate>) {
        let mut record = json!({
            "kind": mutant.kind.name(), "file": mutant.file, "line": mutant.line, "function": mutant.function,
            "from": mutant.from, "to": mutant.to, "legal": fate.is_some(),
        });
        if let Some(fate) = fate {
            record["changes"] = fate.change.as_ref().map_or(Value::Null, |change| {
                json!({ "scenario": change.scenario, "scenarios": change.scenarios, "mean": change.mean, "how": change.how })
            });
            record["caught"] = fate.catch.as_ref().map_or(
                Value::Null,
                |catch| json!({ "program": catch.program, "test": catch.test, "hung": catch.hung }),
            );
            record["seconds"] = json!((fate.seconds * 100.0).round() / 100.0);
        }
        self.records.insert(mutant.id.clone(), record);
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self) -> Result<(), String> {
        let all = json!({ "sources": self.identity, "mutants": self.records });
        let beside = self.path.with_extension("json.new");
        let text = format!("{all:#}\n");
        let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &self.path));
        written.map_err(|e| format!("{}: cannot be written: {e}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::operators;
    use super::*;

    #[test]
    fn what_is_written_is_read_again_for_the_same_sources() {
        let path = std::env::temp_dir().join(format!("flashlane-fates-{}.json", std::process::id()));
        let all = operators::find("a.rs", "fn f() -> bool { a < b && c == d }").unwrap();
        let change = Change { scenario: "s".into(), scenarios: 3, mean: Some(0.25), how: "figures".into() };
        let failed = Change { mean: None, ..change.clone() };
        let catch = Catch { program: "core lib".into(), test: "t".into(), hung: false };
        let fates = [
            Fate { change: Some(change), catch: Some(catch), seconds: 1.5 },
            Fate { change: Some(failed), catch: None, seconds: 2.25 },
            Fate { change: None, catch: None, seconds: 0.0 },
        ];
        let mut store = Store::open(&path, "one");
        for (mutant, fate) in all.iter().zip(&fates) {
            store.note(mutant, Some(fate));
        }
        store.note(&all[3], None);
        store.write().unwrap();
        let again = Store::open(&path, "one");
        for (mutant, fate) in all.iter().zip(&fates) {
            assert_eq!(again.fate(&mutant.id).as_ref(), Some(fate));
        }
        assert!(again.is_illegal(&all[3].id) && !again.is_illegal(&all[0].id));
        assert_eq!(Store::open(&path, "two").fate(&all[0].id), None);
        std::fs::remove_file(&path).unwrap();
    }
}
