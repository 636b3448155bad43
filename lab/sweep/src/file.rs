//! The sweep file: a scenario with a table `[sweep]`.
//!
//! Promises that an error names the file, the line and the key. The keys of `[sweep]` itself are `seeds`, `schedulers`, `zip`,
//! `exclude` and `requests`; every other is the path of a key of the scenario.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::axis::{self, Axis, plain};
use super::exclude::Conditions;
use super::masked_toml::MaskedToml;
use flashlane_scenario::{Scenario, ScenarioError};

/// A sweep: a scenario, and the values its keys take.
#[derive(Debug)]
pub struct Sweep {
    /// The scenario without the axes.
    pub base: Scenario,
    /// The axes, in the order of the file; seeds last.
    pub axes: Vec<Axis>,
    /// Whether a row for each request is kept.
    pub requests: bool,
    /// Whether the scenario has a name of its own, and not the file's.
    pub(super) is_named: bool,
    /// For each group of axes that advance together, their places in `axes`.
    pub(super) zipped: Vec<Vec<usize>>,
    pub(super) conditions: Conditions,
    place: Place,
}

/// Where errors are.
#[derive(Clone, Debug)]
struct Place {
    name: String,
    text: String,
}

impl Place {
    fn error(&self, span: &Range<usize>, key: &str, value: &str, message: impl Into<String>) -> ScenarioError {
        let before = &self.text[..span.start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let place = format!("{}:{line}:{column}", self.name);
        ScenarioError { place, key: format!("sweep.{key}"), value: value.into(), message: message.into() }
    }

    /// Refuses more axes than a sweep may have, before any of them is looked at.
    fn count(&self, table: &DeTable<'_>) -> Result<(), ScenarioError> {
        let count = axis::count(table);
        if count <= axis::MAX_AXES {
            return Ok(());
        }
        let message = format!("names {count} keys; must be at most {}", axis::MAX_AXES);
        Err(ScenarioError { place: self.name.clone(), key: "sweep".into(), value: String::new(), message })
    }
}

impl Sweep {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// A file that cannot be read, or whose `[sweep]` is wrong. Axes are tried by [`Sweep::plan`](super::Sweep::plan).
    pub fn load(path: &Path) -> Result<Sweep, ScenarioError> {
        if flashlane_scenario::is_record(path) {
            let message = "is a record of a served drive, which has no [sweep]; flashlane run replays it";
            return Err(ScenarioError {
                place: path.display().to_string(),
                key: String::new(),
                value: String::new(),
                message: message.into(),
            });
        }
        Sweep::of_file(path, flashlane_scenario::read_text(path)?)
    }

    /// The sweep of `text`, which stands in the file at `path`: the files it names are relative to that file's folder.
    ///
    /// # Errors
    /// As [`Sweep::load`].
    pub fn of_file(path: &Path, text: String) -> Result<Sweep, ScenarioError> {
        let place = Place { name: path.display().to_string(), text };
        // What is no TOML at all is the scenario's to complain of.
        let Ok(tree) = DeTable::parse(&place.text) else {
            Scenario::of_file(path, place.text.clone())?;
            return Err(place.error(&(0..0), "", "", "is no TOML"));
        };
        let Some((key, value)) = tree.get_ref().get_key_value("sweep") else {
            let message = "the file has no [sweep]: name the keys there that take several values";
            return Err(ScenarioError {
                place: place.name,
                key: "sweep".into(),
                value: String::new(),
                message: message.into(),
            });
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(place.error(&key.span(), "", "", "must be a table"));
        };
        place.count(table)?;
        let mut lines = MaskedToml::new(&place.text);
        lines.remove(key.span());
        lines.remove_all(value);
        let base = Scenario::of_file(path, lines.text())?;
        let mut parts =
            Parts { place: &place, base: &base, axes: Vec::new(), requests: false, zip: None, conditions: None };
        parts.read(table)?;
        let (axes, requests, zip) = (parts.axes, parts.requests, parts.zip);
        let conditions = match parts.conditions {
            Some(conditions) => conditions,
            None => Conditions::new(Vec::new()).expect("none is wrong"),
        };
        if axes.is_empty() {
            return Err(place.error(
                &key.span(),
                "",
                "",
                "names no axis: no key with several values, no seeds, no schedulers",
            ));
        }
        let zipped = match zip {
            Some(value) => zipped(&place, value, &axes)?,
            None => Vec::new(),
        };
        let is_named = tree.get_ref().contains_key("name") || axes.iter().any(|axis| axis.path == "name");
        let mut sweep = Sweep { base, axes, requests, is_named, zipped, conditions, place };
        sweep.choose_whole_numbers();
        Ok(sweep)
    }

    /// For a range with fractions over a key that takes whole numbers only: whole numbers.
    fn choose_whole_numbers(&mut self) {
        for i in 0..self.axes.len() {
            let Some(rounded) = self.axes[i].rounded.take() else { continue };
            let is_refused = |values: &[Value]| {
                let set = [(self.axes[i].path.clone(), values[0].to_string())];
                self.base.clone().assign(&set).is_err()
            };
            if is_refused(&self.axes[i].values) && !is_refused(&rounded) {
                self.axes[i].values = rounded;
            }
        }
    }

    /// The error about a key of the scenario that an axis set.
    pub(super) fn relocated(&self, error: String) -> String {
        let Some(rest) = error.strip_prefix("--set: ") else { return error };
        let named = rest.split([' ', ':']).next().unwrap_or_default();
        // An error may be about a key below the axis's.
        let axis = self.axes.iter().filter(|axis| named.starts_with(&axis.path)).max_by_key(|axis| axis.path.len());
        let axis = axis.or_else(|| self.axes.iter().find(|axis| same_end(&axis.path, named)));
        match axis {
            Some(axis) => self.place.error(&axis.span, "", "", "").place + ": sweep." + rest,
            None => format!("{}: sweep.{rest}", self.place.name),
        }
    }

    /// The error about a condition.
    pub(super) fn condition_error(&self, (text, why): (String, String)) -> ScenarioError {
        let at = self.place.text.find(&text).unwrap_or(0);
        self.place.error(&(at..at), "exclude", &format!("{:?}", axis::excerpt(&text)), why)
    }

    /// An error about the sweep as a whole.
    pub(super) fn error(&self, key: &str, message: impl Into<String>) -> ScenarioError {
        let key = format!("sweep{}{key}", if key.is_empty() { "" } else { "." });
        ScenarioError { place: self.place.name.clone(), key, value: String::new(), message: message.into() }
    }
}

/// Whether two paths have the same last key: a flow may be named or counted.
fn same_end(a: &str, b: &str) -> bool {
    a.rsplit('.').next() == b.rsplit('.').next()
}

/// What `[sweep]` is read into.
struct Parts<'a> {
    place: &'a Place,
    base: &'a Scenario,
    axes: Vec<Axis>,
    requests: bool,
    zip: Option<&'a Spanned<DeValue<'a>>>,
    conditions: Option<Conditions>,
}

impl<'a> Parts<'a> {
    fn read(&mut self, table: &'a DeTable<'a>) -> Result<(), ScenarioError> {
        let text = &self.place.text;
        let mut keys = DeTable::new();
        let (mut seeds, mut schedulers) = (None, None);
        for (key, value) in table {
            let written = axis::excerpt(&text[value.span()]);
            let fail = |message: &str| self.place.error(&key.span(), key.get_ref(), &written, message);
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("seeds", _) => seeds = Some((key.span(), self.seeds(key.span(), value)?)),
                ("schedulers", DeValue::Array(items)) => {
                    let values: Vec<Value> = items.iter().map(|item| plain(item, text)).collect();
                    let values = axis::checked(values).map_err(|message| fail(&message))?;
                    schedulers = Some((key.span(), values));
                }
                ("schedulers", _) => return Err(fail("must be a list; each scheduler is then a run of its own")),
                ("requests", DeValue::Boolean(keep)) => self.requests = *keep,
                ("requests", _) => return Err(fail("must be true or false")),
                ("zip", DeValue::Array(_)) => self.zip = Some(value),
                ("zip", _) => return Err(fail("must be a list of lists of keys")),
                ("exclude", DeValue::Array(items)) => {
                    let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
                    let texts =
                        texts.collect::<Option<Vec<_>>>().ok_or(fail("must be a list of conditions, each a string"))?;
                    let compiled = Conditions::new(texts);
                    self.conditions = Some(
                        compiled
                            .map_err(|(condition, why)| fail(&format!("{:?}: {why}", axis::excerpt(&condition))))?,
                    );
                }
                ("exclude", _) => return Err(fail("must be a list of conditions")),
                _ => drop(keys.insert(key.clone(), value.clone())),
            }
        }
        self.axes = axis::axes(&keys, "", text)
            .map_err(|error| self.place.error(&error.span, &error.path, &error.value, error.message))?;
        let single = self.base.document().scheduler.is_some();
        if let Some((span, values)) = schedulers {
            // Under the key that the scenario has, so that the one replaces the other.
            let path = if single { "scheduler" } else { "schedulers" };
            let list = |value| if single { value } else { Value::Array(vec![value]) };
            let values = values.into_iter().map(list).collect();
            self.axes.push(Axis { path: path.into(), values, rounded: None, span });
            self.axes.sort_by_key(|axis| axis.span.start);
        }
        if let Some((span, values)) = seeds {
            self.axes.push(Axis { path: "seed".into(), values, rounded: None, span });
        }
        let mut paths: Vec<&Axis> = self.axes.iter().collect();
        paths.sort_by_key(|axis| &axis.path);
        match paths.windows(2).find(|pair| pair[0].path == pair[1].path) {
            Some(pair) => Err(self.place.error(&pair[1].span, &pair[1].path, "", "is an axis twice")),
            None => Ok(()),
        }
    }

    /// The seeds: a number of them, from 1 on, or a list.
    fn seeds(&self, at: Range<usize>, value: &Spanned<DeValue<'_>>) -> Result<Vec<Value>, ScenarioError> {
        let fail = |message: &str| self.place.error(&at, "seeds", &self.place.text[value.span()], message);
        let whole = |value: &Value| value.as_integer().is_some_and(|seed| seed >= 0);
        match plain(value, &self.place.text) {
            Value::Integer(count) if (1..=axis::MAX_VALUES as i64).contains(&count) => {
                Ok((1..=count).map(Value::Integer).collect())
            }
            Value::Array(values) if values.iter().all(whole) => axis::checked(values).map_err(|message| fail(&message)),
            _ => Err(fail("must be how many seeds, counted from 1, or a list of whole numbers")),
        }
    }
}

/// The groups of axes that advance together.
fn zipped(place: &Place, value: &Spanned<DeValue<'_>>, axes: &[Axis]) -> Result<Vec<Vec<usize>>, ScenarioError> {
    let written = &place.text[value.span()];
    let fail = |message: String| place.error(&value.span(), "zip", written, message);
    let groups_written = plain(value, &place.text);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for group in groups_written.as_array().into_iter().flatten() {
        let names = group.as_array().ok_or_else(|| fail("must be a list of lists of keys".into()))?;
        let mut members = Vec::new();
        for name in names {
            let path = axis::normal(name.as_str().unwrap_or_default());
            let path = match path.as_str() {
                "seeds" => "seed",
                "schedulers" if axes.iter().any(|axis| axis.path == "scheduler") => "scheduler",
                other => other,
            };
            let found = axes.iter().position(|axis| axis.path == path);
            let names = || axes.iter().map(|axis| axis.path.as_str()).collect::<Vec<_>>().join(", ");
            members.push(found.ok_or_else(|| fail(format!("{name} is no axis; there are {}", names())))?);
        }
        let lengths: Vec<usize> = members.iter().map(|&axis| axes[axis].values.len()).collect();
        if members.len() < 2 {
            return Err(fail("a group must have at least two axes".into()));
        }
        if lengths.iter().any(|&length| length != lengths[0]) {
            let counts = members.iter().map(|&axis| format!("{} has {}", axes[axis].path, axes[axis].values.len()));
            let counts = counts.collect::<Vec<_>>().join(", ");
            return Err(fail(format!("axes that advance together must have as many values each; {counts}")));
        }
        let mut all: Vec<usize> = groups.iter().flatten().chain(&members).copied().collect();
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(fail(format!("{} stands twice", axes[pair[0]].path)));
        }
        groups.push(members);
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str =
        "device = \"flin-isca18\"\n[[flow]]\nname = \"a\"\n[flow.synthetic]\nrate_iops = 5\nrequests = 1\n";

    fn sweep(text: &str) -> Result<Sweep, String> {
        let whole = format!("{SCENARIO}{text}");
        Sweep::of_file(Path::new("s.toml"), whole).map_err(|error| error.to_string())
    }

    #[test]
    fn a_record_is_called_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("served.record");
        std::fs::write(&path, "# flashlane record 1\n# flow,ns\n").expect("written");
        let error = Sweep::load(&path).expect_err("no sweep").to_string();
        assert!(
            error.ends_with(
                "served.record: is a record of a served drive, which has no [sweep]; flashlane run replays it"
            ),
            "{error}"
        );
    }

    /// Of two axes that advance together the first values belong together, and the second; a third axis is crossed with them.
    #[test]
    fn zipped_axes_advance_together() {
        let runs = |text: &str| {
            let axes =
                format!("[sweep]\nseeds = 2\nflow.a.priority = [1, 3]\nflow.a.synthetic.rate_iops = [5, 6, 7]\n{text}");
            sweep(&axes).expect("sound").plan().expect("sound").runs.len()
        };
        assert_eq!(runs(""), 12);
        assert_eq!(runs("zip = [[\"seeds\", \"flow.a.priority\"]]\n"), 6);
    }

    #[test]
    fn axes_stand_in_their_order_with_seeds_last() {
        let made = sweep(
            "[sweep]\nseeds = 3\nflow.0.priority = [1, 2]\nschedulers = [\"fcfs\"]\ndevice.gc.start_percent = [5, 7]\n\
                          [run]\nalone = false\n[sweep.flow.a]\nrange = [\"all\"]\n",
        )
        .unwrap();
        let paths: Vec<&str> = made.axes.iter().map(|axis| axis.path.as_str()).collect();
        assert_eq!(paths, ["flow[0].priority", "schedulers", "device.gc.start_percent", "flow.a.range", "seed"]);
        assert_eq!(made.base.document().run.alone, Some(false), "a table after [sweep] is the scenario's");
        assert_eq!(made.base.name(), "s");
    }

    /// Each axis is set anew for every run: 20,000 of them were refused after nine seconds.
    #[test]
    fn axes_are_counted_before_they_are_read() {
        let many = |count: usize| -> String {
            let lines = (0..count).map(|i| format!("flow.{i}.priority = [1]\n"));
            format!("[sweep]\n{}", lines.collect::<String>())
        };
        assert_eq!(sweep(&many(axis::MAX_AXES)).unwrap().axes.len(), axis::MAX_AXES);
        let begun = std::time::Instant::now();
        assert_eq!(sweep(&many(20_000)).unwrap_err(), "s.toml: sweep: names 20000 keys; must be at most 200");
        let nested = format!("[sweep]\nseeds = 2\n[sweep.flow.a]\n{}", many(200).replace("[sweep]\n", ""));
        assert_eq!(sweep(&nested).unwrap_err(), "s.toml: sweep: names 201 keys; must be at most 200");
        assert!(begun.elapsed() < std::time::Duration::from_secs(4), "{:?}", begun.elapsed());
    }

    #[test]
    fn lines_of_the_scenario_keep_their_numbers() {
        let text = "[sweep]\nseeds = [\n  1,\n  2,\n]\n[run]\nalon = true\n";
        assert!(sweep(text).unwrap_err().starts_with("s.toml:13:1: run.alon"), "{}", sweep(text).unwrap_err());
    }

    #[test]
    fn wrong_tables_are_named_with_their_line() {
        for (text, printed) in [
            ("", "s.toml: sweep: the file has no [sweep]"),
            ("[sweep]\n", "names no axis"),
            ("[sweep]\nseeds = 0\n", "s.toml:8:1: sweep.seeds = 0: must be how many seeds"),
            ("[sweep]\nseed = [1]\nseeds = 2\n", "sweep.seed: is an axis twice"),
            ("[sweep]\nseeds = 2\nzip = [[\"seeds\", \"device.x\"]]\n", "\"device.x\" is no axis; there are seed"),
            (
                "[sweep]\nseeds = 2\ndevice.gc.start_percent = [1, 2, 3]\nzip = [[\"seeds\", \"device.gc.start_percent\"]]\n",
                "must have as many values each; seed has 2, device.gc.start_percent has 3",
            ),
            ("[sweep]\nseeds = 2\nexclude = [\"seed >\"]\n", "s.toml:9:1: sweep.exclude"),
            ("[sweep]\nseeds = 2\nrequests = 3\n", "must be true or false"),
            ("[sweep]\nseeds = 2\nseeds = 3\n", "duplicate key"),
        ] {
            let error = sweep(text).expect_err(text);
            assert!(error.contains(printed), "{error}");
        }
    }
}
