//! Errors in a scenario with their place: file, line, column, key, value, and what would be legal.
//!
//! Promises that an error points at the text the user wrote whenever the value comes from the file. Must never know
//! what a key means.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A scenario that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// File, with line and column where the value stands there (`two-tenants.toml:12:5`); or what else gave the value.
    pub place: String,
    /// The key at fault as a path, `device.gc.start_percent` or `flow[1].priority`; empty when the fault has no key.
    pub key: String,
    /// Its value as written; empty when there is none.
    pub value: String,
    /// What is wrong with it, or what would be legal.
    pub message: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        match (self.key.is_empty(), self.value.is_empty()) {
            (true, _) => {}
            (false, true) => write!(f, ": {}", self.key)?,
            (false, false) => write!(f, ": {} = {}", self.key, self.value)?,
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ScenarioError {}

/// An error about a key that has no place yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct KeyError {
    /// The keys that together cause the error, most likely first.
    pub keys: Vec<String>,
    pub value: String,
    pub message: String,
}

impl KeyError {
    pub fn new(key: impl Into<String>, value: impl fmt::Display, message: impl Into<String>) -> KeyError {
        KeyError { keys: vec![key.into()], value: value.to_string(), message: message.into() }
    }
}

/// The text of a scenario, in which errors are located.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// File name, or "command line".
    pub name: String,
    /// Its text.
    pub text: String,
    /// Keys (with all below them) that were given elsewhere than in the file, and where.
    pub overridden: Vec<(String, &'static str)>,
}

impl Origin {
    /// Finds the place of an error: the first of its keys that the file contains, since that is the one the user can
    /// change. If another key is at fault, one given by a preset, the message names it. If the file contains none of
    /// the keys, the first is reported without a line.
    pub fn locate(&self, error: KeyError) -> ScenarioError {
        let KeyError { keys, value, message } = error;
        let value = excerpt(&value);
        for (path, by) in self.overridden.iter().rev() {
            if let Some(i) = keys.iter().position(|key| is_below(key, path)) {
                let (value, message) = match i {
                    0 => (value, message),
                    _ if value.is_empty() => (value, message),
                    _ => (String::new(), format!("{} = {value}: {message}", keys[0])),
                };
                return ScenarioError { place: (*by).into(), key: keys[i].clone(), value, message };
            }
        }
        let tree = DeTable::parse(&self.text).ok();
        let found = keys.iter().enumerate().find_map(|(i, key)| {
            let at = tree.as_ref().and_then(|tree| find(tree.get_ref(), key))?;
            Some((i, key, at.span(), self.shown(at)))
        });
        match found {
            Some((0, key, span, shown)) => {
                let value = if value.is_empty() { shown } else { value };
                ScenarioError { place: self.at(span.start), key: key.clone(), value, message }
            }
            Some((_, key, span, shown)) => {
                let same = value.is_empty() || keys[0].starts_with(key.as_str());
                let message = if same { message } else { format!("{} = {value}: {message}", keys[0]) };
                ScenarioError { place: self.at(span.start), key: key.clone(), value: shown, message }
            }
            None => {
                let key = keys.into_iter().next().unwrap_or_default();
                ScenarioError { place: self.name.clone(), key, value, message }
            }
        }
    }

    /// Converts an error of the TOML reader.
    pub fn syntax(&self, error: &toml::de::Error) -> ScenarioError {
        let message = reword(error.message());
        let Some(span) = error.span() else {
            return ScenarioError { place: self.name.clone(), key: String::new(), value: String::new(), message };
        };
        let (mut key, mut value) = (String::new(), String::new());
        if let Ok(tree) = DeTable::parse(&self.text) {
            key = path_at(tree.get_ref(), &span).unwrap_or_default();
            value = find(tree.get_ref(), &key)
                .filter(|found| found.span() == span)
                .map(|found| self.shown(found))
                .unwrap_or_default();
        }
        // A table that is written as a list of tables is read as a list of its values.
        let is_headed = self.text[span.start.min(self.text.len())..].starts_with("[[");
        if let Some(name) = key.strip_suffix("[0]").filter(|_| is_headed && message.starts_with("invalid type: table"))
        {
            let message = format!("must be one table, [{name}]; [[{name}]] begins a list of tables");
            return ScenarioError { place: self.at(span.start), key: name.to_owned(), value: String::new(), message };
        }
        ScenarioError { place: self.at(span.start), key, value, message }
    }

    /// A value as written; empty for a table under a header of its own.
    fn shown(&self, value: &Spanned<DeValue<'_>>) -> String {
        let text = &self.text[value.span()];
        if value.get_ref().is_table() && text.starts_with('[') { String::new() } else { excerpt(text) }
    }

    fn at(&self, byte: usize) -> String {
        let before = &self.text[..byte.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        format!("{}:{line}:{column}", self.name)
    }
}

/// Whether `key` is `path` or lies below it.
pub(super) fn is_below(key: &str, path: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The value of `path` (`a.b[2].c`).
fn find<'a, 'i>(tree: &'a DeTable<'i>, path: &str) -> Option<&'a Spanned<DeValue<'i>>> {
    let mut table = tree;
    let mut steps = path.split('.').peekable();
    while let Some(step) = steps.next() {
        let (name, index) = match step.split_once('[') {
            Some((name, rest)) => (name, rest.strip_suffix(']')?.parse::<usize>().ok()),
            None => (step, None),
        };
        let mut value = table.get(name)?;
        if let Some(index) = index {
            value = value.get_ref().as_array()?.get(index)?;
        }
        if steps.peek().is_none() {
            return Some(value);
        }
        table = value.get_ref().as_table()?;
    }
    None
}

/// The path of the deepest value, or key, that `span` lies in.
fn path_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    let holds = |outer: &Range<usize>| outer.start <= span.start && span.end <= outer.end;
    for (key, value) in table {
        if holds(&key.span()) {
            return Some(key.get_ref().to_string());
        }
        let inner = match value.get_ref() {
            DeValue::Table(inner) => path_at(inner, span),
            DeValue::Array(items) => items.iter().enumerate().find_map(|(i, item)| match item.get_ref() {
                DeValue::Table(inner) => path_at(inner, span)
                    .map(|path| format!("\u{0}[{i}].{path}"))
                    .or_else(|| holds(&item.span()).then(|| format!("\u{0}[{i}]"))),
                _ => holds(&item.span()).then(|| format!("\u{0}[{i}]")),
            }),
            _ => None,
        };
        match inner {
            Some(path) => {
                let path = path.strip_prefix('\u{0}').map_or_else(|| format!(".{path}"), str::to_owned);
                return Some(format!("{}{path}", key.get_ref()));
            }
            None if holds(&value.span()) => return Some(key.get_ref().to_string()),
            None => {}
        }
    }
    None
}

/// Rewords a message of the Rust reader in terms of TOML, with the nearest name for an unknown one.
pub(super) fn reword(message: &str) -> String {
    let mut text = message.trim_end().replace('\n', "; ");
    for (rust, ours) in [
        ("expected u8", "expected a whole number from 0 to 255"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected a boolean", "expected true or false"),
        ("expected i8", "expected a whole number from -128 to 127"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        ("wanted string or table", "expected a word, or a table with one key as in { constant = 4096 }"),
        (
            "invalid type: unit variant, expected string only",
            "expected a word, or a table with one key as in { constant = 4096 }",
        ),
        (
            "invalid type: unit variant, expected newtype variant",
            "expected a table with one key as in { constant = 4096 }",
        ),
    ] {
        if let Some(head) = text.strip_suffix(rust) {
            text = format!("{head}{ours}");
        }
    }
    if let Some((head, name)) = text.rsplit_once("expected struct ")
        && name.chars().all(char::is_alphanumeric)
    {
        text = format!("{head}expected a table");
    }
    for (rust, ours) in [
        ("unknown field ", "unknown key "),
        ("unknown variant ", "unknown word "),
        ("missing field ", "missing key "),
        ("wanted exactly 1 element, found", "expected a table with one key, found"),
        ("invalid type: sequence,", "invalid type: list,"),
        ("invalid type: map,", "invalid type: table,"),
        ("invalid type: floating point ", "invalid type: number "),
    ] {
        if let Some(tail) = text.strip_prefix(rust) {
            text = format!("{ours}{tail}");
        }
    }
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if let [unknown, candidates @ ..] = names.as_slice()
        && message.starts_with("unknown ")
        && let Some(near) = nearest(unknown, candidates.iter().copied())
    {
        text.push_str(&format!("; did you mean `{near}`?"));
    }
    text
}

/// The candidate most similar to `name`, if one is similar enough to suggest. One that has all of it is, as `samsung-pm9a3-960gb` has `PM9A3`.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let part = if name.len() >= 3 && candidate.contains(&name) { 0.8 } else { 0.0 };
        strsim::jaro_winkler(&name, &candidate).max(part)
    };
    candidates
        .map(|candidate| (likeness(candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// A value short enough for a message: one line, at most 60 characters.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}
