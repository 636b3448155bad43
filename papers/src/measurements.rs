//! Measured figures: numbers by name, one for each seed.
//!
//! A name is a path (`improvement`, `slacker`, `prxy0`). Promises to keep the order in which names were first added, so
//! that tables have the order of the paper's. Must never know what a figure means.

use std::collections::{BTreeMap, BTreeSet};

use flashlane_report::metrics::mean_and_ci95;
use serde_json::{Map, Value, json};

/// Figures by name.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    entries: Vec<(Vec<String>, Vec<f64>)>,
    index: BTreeMap<Vec<String>, usize>,
    notes: Vec<String>,
}

impl Measurements {
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
    pub fn merge(&mut self, other: Measurements) {
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

    /// The values of the figure `path`.
    pub fn values(&self, path: &[String]) -> Option<&[f64]> {
        self.index.get(path).map(|&at| self.entries[at].1.as_slice())
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

    /// All values by seed, for expressions and for storage.
    pub fn all_values(&self) -> Value {
        self.nested(|values| json!(values))
    }

    /// Figures from [`Measurements::all_values`], in the order of their names.
    ///
    /// # Errors
    /// What is no list of numbers, by its name.
    pub fn from_values(values: &Value) -> Result<Measurements, String> {
        let mut figures = Measurements::default();
        figures.add_values(values, &mut Vec::new())?;
        Ok(figures)
    }

    fn add_values(&mut self, value: &Value, path: &mut Vec<String>) -> Result<(), String> {
        let wrong = || format!("figure {:?} is no list of numbers", path.join("."));
        match value {
            Value::Object(map) => {
                for (name, inner) in map {
                    path.push(name.clone());
                    self.add_values(inner, path)?;
                    path.pop();
                }
            }
            Value::Array(list) if !path.is_empty() => {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                for value in list {
                    self.push(&path, value.as_f64().ok_or_else(wrong)?);
                }
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// Figures with other values of some: those for which `change` yields any.
    pub fn replaced(&self, change: impl Fn(&[String], &[f64]) -> Option<Vec<f64>>) -> Measurements {
        let mut figures = Measurements { notes: self.notes.clone(), ..Measurements::default() };
        for (path, values) in &self.entries {
            let changed = change(path, values);
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            changed.as_deref().unwrap_or(values).iter().for_each(|&value| figures.push(&path, value));
        }
        figures
    }

    /// The figures with seven significant digits, as they are stored and judged.
    pub fn rounded(&self) -> Measurements {
        let round = |value: &f64| format!("{value:.6e}").parse().unwrap_or(*value);
        self.replaced(|_, values| Some(values.iter().map(round).collect()))
    }

    /// The figures of the seed at `at` among `seeds` alone. A figure that does not have a value for each seed is the same for all; one
    /// whose name says that it is another seed's (`names_of_a_seed` of a paper's claims) is left out, unless none of its first name is of
    /// this seed.
    pub(crate) fn of_seed(&self, at: usize, seeds: &[u64], names_of_a_seed: Option<u64>) -> Measurements {
        let of = |path: &[String]| {
            let seed = names_of_a_seed.and_then(|count| path.iter().find_map(|name| seed_of(name, count)));
            seed.filter(|seed| seeds.contains(seed))
        };
        let own = self.entries.iter().filter(|(path, _)| of(path) == Some(seeds[at]));
        let has_own: BTreeSet<&str> = own.map(|(path, _)| path[0].as_str()).collect();
        self.replaced(|path, values| match of(path) {
            Some(seed) if has_own.contains(path[0].as_str()) => (seed != seeds[at]).then(Vec::new),
            _ if values.len() == seeds.len() => Some(vec![values[at]]),
            _ => Some(vec![mean_and_ci95(values).0]),
        })
    }

    /// All values, for result files.
    pub fn to_json(&self) -> Value {
        self.nested(|values| {
            let (mean, ci95) = mean_and_ci95(values);
            json!({ "mean": mean, "ci95": ci95, "seeds": values })
        })
    }
}

/// The seed of a name that begins with two numbers, `25-11`, if each seed has `count` of them.
fn seed_of(name: &str, count: u64) -> Option<u64> {
    let (class, rest) = name.split_once('-')?;
    class.parse::<u32>().ok()?;
    let number: u64 = rest.split(' ').next()?.parse().ok()?;
    Some(number.checked_sub(1)? / count + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_become_a_mean_and_an_interval() {
        let mut figures = Measurements::default();
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
        let mut a = Measurements::default();
        a.push(&["x"], 1.0);
        a.note("short".into());
        let mut b = a.clone();
        b.push(&["y"], 5.0);
        a.merge(b);
        assert_eq!((a.mean(&["x"]), a.mean(&["y"]), a.mean(&["z"])), (Some(1.0), Some(5.0), None));
        assert_eq!(a.notes(), ["short"]);
    }

    #[test]
    fn a_seed_has_its_values_and_its_names() {
        let mut figures = Measurements::default();
        for (path, values) in [
            (["gain", "a"], &[1.0, 3.0][..]),
            (["mix", "25-10 tpcc"], &[4.0]),
            (["mix", "25-11"], &[6.0]),
            (["first", "25-01"], &[5.0]),
        ] {
            values.iter().for_each(|&value| figures.push(&path, value));
        }
        figures.push(&["once"], 9.0);
        let of = |at, count| figures.of_seed(at, &[1, 2], count).all_values();
        assert_eq!(
            of(0, Some(10)),
            json!({ "gain": { "a": [1.0] }, "first": { "25-01": [5.0] }, "mix": { "25-10 tpcc": [4.0] }, "once": [9.0] })
        );
        assert_eq!(
            of(1, Some(10)),
            json!({ "gain": { "a": [3.0] }, "first": { "25-01": [5.0] }, "mix": { "25-11": [6.0] }, "once": [9.0] })
        );
        assert_eq!(of(1, None)["mix"], json!({ "25-10 tpcc": [4.0], "25-11": [6.0] }));
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let mut figures = Measurements::default();
        figures.push(&["x", "y"], 1.0 / 3.0);
        figures.push(&["x", "y"], -20_000_001.5);
        figures.push(&["z"], 0.0);
        let rounded = figures.rounded();
        assert_eq!(rounded.all_values(), json!({ "x": { "y": [0.333_333_3, -20_000_000.0] }, "z": [0.0] }));
        let again = Measurements::from_values(&rounded.all_values()).expect("figures");
        assert_eq!(again.all_values(), rounded.all_values());
        assert_eq!(again.rounded().all_values(), rounded.all_values());
        let message = Measurements::from_values(&json!({ "x": { "y": 1.0 } })).expect_err("no list");
        assert_eq!(message, "figure \"x.y\" is no list of numbers");
    }
}
