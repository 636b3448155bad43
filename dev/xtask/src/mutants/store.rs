//! What is known of each mutant, kept in a file so that a run can go on where another ended.
//!
//! Results count for the sources, tests and scenarios they were made with; with others the file begins anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::corpus::Change;
use super::mutant::Mutant;
use super::programs::Detection;

/// What a mutant does.
#[derive(Clone, PartialEq, Debug)]
pub struct MutantResult {
    /// How it changes results.
    pub change: Option<Change>,
    /// How tests notice it.
    pub detection: Option<Detection>,
    /// Processor time the tests took, in seconds.
    pub seconds: f64,
}

/// The file.
pub struct Store {
    path: PathBuf,
    identity: String,
    /// The draw that the copy holds, and how many of each crate.
    copied: Option<(String, usize)>,
    records: BTreeMap<String, Value>,
}

impl Store {
    /// What the file at `path` holds for these sources.
    pub fn open(path: &Path, identity: &str) -> Store {
        let read = || serde_json::from_slice::<Value>(&std::fs::read(path).ok()?).ok();
        let held = read().filter(|held| held["sources"] == identity);
        let records = held.as_ref().and_then(|held| held["mutants"].as_object());
        let records = records.map(|all| all.iter().map(|(id, record)| (id.clone(), record.clone())).collect());
        let copied = held.as_ref().and_then(|held| {
            Some((held["copy"]["draw"].as_str()?.to_owned(), held["copy"]["sample"].as_u64()? as usize))
        });
        Store { path: path.into(), identity: identity.into(), copied, records: records.unwrap_or_default() }
    }

    /// How many mutants of each crate the copy holds, if they are of this draw.
    pub fn copied(&self, draw: &str) -> Option<usize> {
        self.copied.as_ref().filter(|(of, _)| of == draw).map(|&(_, sample)| sample)
    }

    /// Notes what the copy holds.
    pub fn note_copied(&mut self, draw: &str, sample: usize) {
        self.copied = Some((draw.to_owned(), sample));
    }

    /// How a mutant changes results, if it does; none if that is not known yet.
    pub fn change(&self, id: &str) -> Option<Option<Change>> {
        let change = self.records.get(id)?.get("changes")?;
        let text = |key: &str| change[key].as_str().unwrap_or_default().to_owned();
        Some(change.as_object().map(|_| Change {
            scenario: text("scenario"),
            scenarios: change["scenarios"].as_u64().unwrap_or_default() as usize,
            mean: change["mean"].as_f64(),
            how: text("how"),
        }))
    }

    /// What is known of a mutant that the tests have seen.
    pub fn result(&self, id: &str) -> Option<MutantResult> {
        let record = self.records.get(id).filter(|record| record.get("caught").is_some())?;
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let change = self.change(id)?;
        let detection = record["caught"].as_object().map(|_| {
            let detection = &record["caught"];
            Detection {
                suite: text(detection, "suite"),
                test: text(detection, "test"),
                hung: detection["hung"] == true,
                stored: detection["stored"] == true,
            }
        });
        Some(MutantResult { change, detection, seconds: record["seconds"].as_f64().unwrap_or_default() })
    }

    /// Whether a mutant is known to be no legal Rust.
    pub fn is_illegal(&self, id: &str) -> bool {
        self.records.get(id).is_some_and(|record| record["legal"] == false)
    }

    /// Notes that a mutant is no legal Rust.
    pub fn note_illegal(&mut self, mutant: &Mutant) {
        self.record(mutant)["legal"] = json!(false);
    }

    /// Notes how a mutant changes results.
    pub fn note_change(&mut self, mutant: &Mutant, change: Option<&Change>) {
        self.record(mutant)["changes"] = change.map_or(Value::Null, |change| {
            let Change { scenario, scenarios, mean, how } = change;
            json!({ "scenario": scenario, "scenarios": scenarios, "mean": mean, "how": how })
        });
    }

    /// Notes all that is known of a mutant that the tests have seen.
    pub fn note(&mut self, mutant: &Mutant, result: &MutantResult) {
        self.note_change(mutant, result.change.as_ref());
        let record = self.record(mutant);
        record["caught"] = result.detection.as_ref().map_or(
            Value::Null,
            |Detection { suite, test, hung, stored }| {
                json!({ "suite": suite, "test": test, "hung": hung, "stored": stored })
            },
        );
        record["seconds"] = json!((result.seconds * 100.0).round() / 100.0);
    }

    fn record(&mut self, mutant: &Mutant) -> &mut Value {
        let Mutant { kind, file, line, function, from, to, .. } = mutant;
        self.records.entry(mutant.id.clone()).or_insert_with(|| {
            let kind = kind.name();
            json!({ "kind": kind, "file": file, "line": line, "function": function, "from": from, "to": to, "legal": true })
        })
    }

    /// Writes the file atomically.
    pub fn write(&self) -> Result<(), String> {
        let copy = self.copied.as_ref().map(|(draw, sample)| json!({ "draw": draw, "sample": sample }));
        let all = json!({ "sources": self.identity, "copy": copy, "mutants": self.records });
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
        let path = std::env::temp_dir().join(format!("flashlane-results-{}.json", std::process::id()));
        let all = operators::find("a.rs", "fn f() -> bool { a < b && c == d }").unwrap();
        assert_eq!(all.len(), 5);
        let change = Change { scenario: "s".into(), scenarios: 3, mean: Some(0.25), how: "figures".into() };
        let failed = Change { mean: None, ..change.clone() };
        let detection = Detection { suite: "core lib".into(), test: "t".into(), hung: false, stored: true };
        let results = [
            MutantResult { change: Some(change), detection: Some(detection), seconds: 1.5 },
            MutantResult { change: Some(failed), detection: None, seconds: 2.25 },
            MutantResult { change: None, detection: None, seconds: 0.0 },
        ];
        let mut store = Store::open(&path, "one");
        for (mutant, result) in all.iter().zip(&results) {
            store.note(mutant, result);
        }
        store.note_illegal(&all[3]);
        store.note_change(&all[4], results[0].change.as_ref());
        store.note_copied("seed 1, all", 30);
        store.write().unwrap();
        let again = Store::open(&path, "one");
        assert_eq!(["seed 1, all", "seed 2, all"].map(|draw| again.copied(draw)), [Some(30), None]);
        for (mutant, result) in all.iter().zip(&results) {
            assert_eq!(again.result(&mutant.id).as_ref(), Some(result));
        }
        assert!(again.is_illegal(&all[3].id) && !again.is_illegal(&all[0].id));
        assert_eq!((again.change(&all[4].id), again.result(&all[4].id)), (Some(results[0].change.clone()), None));
        assert_eq!(again.change(&all[3].id), None);
        assert_eq!(Store::open(&path, "two").result(&all[0].id), None);
        std::fs::remove_file(&path).unwrap();
    }
}
