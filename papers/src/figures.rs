//! Measured figures: numbers by name, one for each seed.
//!
//! A name is a path (`improvement`, `slacker`, `prxy0`). Promises to keep the order in which names were first added, so
//! that tables have the order of the paper's. Must never know what a figure means.

use std::collections::BTreeMap;

use flashlane_lab::metrics::mean_and_ci95;
use serde_json::{Map, Value, json};

/// Figures by name.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    entries: Vec<(Vec<String>, Vec<f64>)>,
    index: BTreeMap<Vec<String>, usize>,
    notes: Vec<String>,
}

impl Figures {
    /// Adds a value, that of one more seed, to the figure `path`.
    pub fn push(&mut self, path: &[&str], value: f64) {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        let at = *self.index.entry(path).or_insert_with_key(|path| {
            self.entries.push((path.clone(), Vec::new()));
            self.entries.len() - 1
        });
        self.entries[at].1.push(value);
    }

    /// Adds a value if there is one.
    pub fn push_some(&mut self, path: &[&str], value: Option<f64>) {
        if let Some(value) = value {
            self.push(path, value);
        }
    }

    /// Adds a note for readers of the figures; the same note only once.
    pub fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// The notes.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: Figures) {
        for (path, values) in other.entries {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            values.into_iter().for_each(|value| self.push(&path, value));
        }
        other.notes.into_iter().for_each(|note| self.note(note));
    }

    /// The mean over the seeds of the figure `path`.
    pub fn mean(&self, path: &[&str]) -> Option<f64> {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        self.index.get(&path).map(|&at| mean_and_ci95(&self.entries[at].1).0)
    }

    /// Names and values, in the order in which names were first added.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], &[f64])> {
        self.entries.iter().map(|(path, values)| (path.as_slice(), values.as_slice()))
    }

    /// All figures as nested objects, the innermost computed from the values by `leaf`.
    fn nested(&self, leaf: impl Fn(&[f64]) -> Value) -> Value {
        let mut root = Map::new();
        for (path, values) in &self.entries {
            let (last, above) = path.split_last().expect("a figure has a name");
            let mut map = &mut root;
            for part in above {
                let inner = map.entry(part.clone()).or_insert_with(|| Value::Object(Map::new()));
                map = inner.as_object_mut().unwrap_or_else(|| panic!("figure {path:?} lies below another"));
            }
            map.insert(last.clone(), leaf(values));
        }
        Value::Object(root)
    }

    /// The means, for expressions.
    pub fn means(&self) -> Value {
        self.nested(|values| json!(mean_and_ci95(values).0))
    }

    /// All values, for result files.
    pub fn to_json(&self) -> Value {
        self.nested(|values| {
            let (mean, ci95) = mean_and_ci95(values);
            json!({ "mean": mean, "ci95": ci95, "seeds": values })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_become_a_mean_and_an_interval() {
        let mut figures = Figures::default();
        for value in [1.0, 2.0, 3.0, 4.0, 5.0] {
            figures.push(&["gain", "wbyp", "prxy0"], value);
        }
        figures.push(&["gain", "wbyp", "a-p"], 7.0);
        assert_eq!(figures.mean(&["gain", "wbyp", "prxy0"]), Some(3.0));
        let (mean, width) = mean_and_ci95(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        // The standard deviation is sqrt(2.5), that of the mean sqrt(2.5 / 5).
        assert!((width.unwrap() - 2.776 * 0.5f64.sqrt()).abs() < 1e-12 && mean == 3.0);
        assert_eq!(figures.means(), json!({ "gain": { "wbyp": { "a-p": 7.0, "prxy0": 3.0 } } }));
        assert_eq!(figures.to_json()["gain"]["wbyp"]["a-p"], json!({ "mean": 7.0, "ci95": null, "seeds": [7.0] }));
        let names: Vec<_> = figures.iter().map(|(path, _)| path[2].as_str()).collect();
        assert_eq!(names, ["prxy0", "a-p"], "the order of giving");
    }

    #[test]
    fn merging_adds_seeds_and_keeps_notes_once() {
        let mut a = Figures::default();
        a.push(&["x"], 1.0);
        a.note("short".into());
        let mut b = a.clone();
        b.push(&["y"], 5.0);
        a.merge(b);
        assert_eq!((a.mean(&["x"]), a.mean(&["y"]), a.mean(&["z"])), (Some(1.0), Some(5.0), None));
        assert_eq!(a.notes(), ["short"]);
    }
}
