//! Keys of a scenario set from outside the file, by their path: `device.gc.start_percent=7`, `flow[1].synthetic.rate_iops=100`,
//! `flow.reader.priority=3`.
//!
//! Owns the path. What a key may be is the document's.

use toml::{Table, Value};

use super::document::Document;
use super::error::{ScenarioError, excerpt, reword};

/// Where such keys come from, in messages.
pub(super) const PLACE: &str = "--set";
/// The most steps of a path; the deepest key has six. Every step is a table in a table, over which readers recurse.
const MAX_STEPS: usize = 64;

/// The document of `text` with the keys in `sets` (path and value as written) set in that order, and the paths as errors name them.
pub(super) fn assigned(text: &str, sets: &[(String, String)]) -> Result<(Document, Vec<String>), ScenarioError> {
    let mut table: Table = text.parse().unwrap_or_default();
    let mut document = Document::default();
    let mut paths = Vec::new();
    for (path, written) in sets {
        let fail = |message: String| ScenarioError {
            place: PLACE.into(),
            key: excerpt(path),
            value: written.clone(),
            message,
        };
        paths.push(set(&mut table, path, value(written)).map_err(fail)?);
        document = table.clone().try_into().map_err(|error: toml::de::Error| fail(reword(error.message())))?;
    }
    Ok((document, paths))
}

/// The value as TOML, or as text if it is not.
fn value(written: &str) -> Value {
    let table = format!("value = {written}").parse::<Table>().ok().filter(|table| table.len() == 1);
    table.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(written.to_owned()))
}

/// Sets the value at `path`, and creates tables on the way; returns the path with the places of flows in brackets.
fn set(table: &mut Table, path: &str, value: Value) -> Result<String, String> {
    let mut shown = String::new();
    let steps = steps(path)?;
    // The first step is a key of the top level.
    let (first, rest) = steps.split_first().ok_or("must be KEY=VALUE, such as device.gc.start_percent=7")?;
    let Step::Key(first) = first else { return Err("must begin with a key, such as flow[0].priority".into()) };
    shown.push_str(first);
    if rest.is_empty() {
        table.insert(first.clone(), value);
        return Ok(shown);
    }
    let mut place = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
    // A device that is only the name of a preset becomes a table with that preset.
    if let (Value::String(name), "device") = (&*place, first.as_str()) {
        *place = Value::Table([("preset".to_owned(), Value::String(name.clone()))].into_iter().collect());
    }
    for step in rest {
        place = match (place, step) {
            (Value::Array(items), Step::Index(index)) => {
                let count = items.len();
                shown.push_str(&format!("[{index}]"));
                items.get_mut(*index).ok_or_else(|| format!("{shown}: there are {count}, counted from 0"))?
            }
            // A flow by its name.
            (Value::Array(items), Step::Key(name)) => {
                let called = |item: &Value| item.get("name").and_then(Value::as_str) == Some(name);
                let index = items.iter().position(called).ok_or_else(|| format!("no {shown} has the name {name:?}"))?;
                shown.push_str(&format!("[{index}]"));
                &mut items[index]
            }
            (Value::Table(inner), Step::Key(key)) => {
                shown.push_str(&format!(".{key}"));
                inner.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()))
            }
            _ => return Err(format!("{shown} has no keys below it")),
        };
    }
    *place = value;
    Ok(shown)
}

enum Step {
    Key(String),
    Index(usize),
}

/// The steps of a path.
fn steps(path: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for part in path.trim().split('.') {
        let (key, indices) = part.split_once('[').map_or((part, ""), |(key, _)| (key, &part[key.len()..]));
        if key.is_empty() {
            return Err("an empty key; must be KEY=VALUE, such as device.gc.start_percent=7".into());
        }
        steps.push(Step::Key(key.trim().to_owned()));
        for index in indices.split('[').skip(1) {
            let number = index.strip_suffix(']').and_then(|digits| digits.parse().ok());
            steps.push(Step::Index(number.ok_or_else(|| format!("[{index}: must be a number in brackets"))?));
        }
        if steps.len() > MAX_STEPS {
            return Err(format!("is more than {MAX_STEPS} keys deep; no key is"));
        }
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "device = \"flin-isca18\"\n[[flow]]\nname = \"a\"\n[flow.synthetic]\nrate_iops = 5\nrequests = 1\n\
                        [[flow]]\nname = \"b\"\n[flow.synthetic]\nrate_iops = 5\nrequests = 1\n";

    fn with(sets: &[(&str, &str)]) -> Result<(Document, Vec<String>), ScenarioError> {
        let sets: Vec<(String, String)> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        assigned(TEXT, &sets)
    }

    #[test]
    fn keys_are_set_by_place_and_by_name() {
        let (document, paths) = with(&[
            ("seed", "7"),
            ("device.gc.start_percent", "9"),
            ("flow[1].priority", "3"),
            ("flow.a.name", "c"),
            ("run.collect", "atomic"),
            ("schedulers", "[\"fcfs\", { base = \"fr-fcfs\", alpha = 50 }]"),
        ])
        .expect("legal");
        assert_eq!(document.seed, Some(7));
        assert_eq!(document.device.preset.as_deref(), Some("flin-isca18"), "the preset stays");
        assert_eq!(document.device.gc.start_percent, Some(9.0));
        assert_eq!((document.flow[1].priority, document.flow[0].name.as_deref()), (3, Some("c")));
        assert_eq!(document.run.collect.as_deref(), Some("atomic"));
        assert_eq!(document.schedulers.map(|list| list.len()), Some(2));
        assert_eq!(paths[3], "flow[0].name");
    }

    #[test]
    fn wrong_keys_and_values_are_named() {
        let fails = |key: &str, value: &str| with(&[(key, value)]).expect_err(key).to_string();
        assert!(fails("sed", "7").starts_with("--set: sed = 7: unknown key `sed`"), "{}", fails("sed", "7"));
        for (key, value, message) in [
            ("device.slc.idle_ms", "x", "invalid type: string \"x\", expected a number"),
            ("device.retry.states", "5", "invalid type: integer `5`, expected a list"),
            ("device.retry.states", "[5]", "invalid type: integer `5`, expected a table"),
            ("device.mapping.entries", "-1", "invalid value: integer `-1`, expected a whole number, 0 or more"),
            ("device.slc.full", "3", "invalid type: integer `3`, expected a word: \"fold\" or \"direct\""),
            ("flow.a.synthetic.size", "5", "expected a word or a table with one key"),
        ] {
            assert_eq!(fails(key, value), format!("--set: {key} = {value}: {message}"));
        }
        assert!(fails("seed", "many").starts_with("--set: seed = many: invalid type"), "{}", fails("seed", "many"));
        assert!(fails("flow[2].priority", "1").contains("flow[2]: there are 2, counted from 0"));
        assert!(fails("flow.x.priority", "1").contains("no flow has the name \"x\""));
        assert!(fails("seed.x", "1").contains("unknown") || fails("seed.x", "1").contains("invalid"));
        assert!(fails("", "1").contains("KEY=VALUE"));
        // Tables in tables overflow the stack of who reads them.
        for deep in [["a"; 20_000].join("."), format!("flow{}", "[0]".repeat(20_000))] {
            let error = fails(&deep, "1");
            assert!(error.contains("is more than 64 keys deep"), "{}", &error[..100]);
            assert!(error.len() < 300, "{} bytes", error.len());
        }
    }
}
