//! Keys of a scenario set from outside the file, by their path: `device.gc.start_percent=7`, `flow[1].synthetic.rate_iops=100`,
//! `flow.reader.priority=3`.
//!
//! Owns the path, and that one key is given one value. What a key may be is the document's.

use std::path::PathBuf;

use toml::{Table, Value};

use super::document::Document;
use super::error::{ScenarioError, excerpt, is_below, reword};
use super::names;

/// Where keys set by their path come from, in messages.
pub(super) const PLACE: &str = "--set";
/// The most steps of a path; the deepest key has six. Every step is a table in a table, over which readers recurse.
const MAX_STEPS: usize = 64;

/// A key that is given a value from outside the file, by an option of the command line.
#[derive(Clone, Debug)]
pub struct Given {
    /// The option: `--set`, `--seed`.
    by: &'static str,
    path: String,
    /// The value as the user wrote it.
    written: String,
    value: Value,
}

impl Given {
    /// A key set by its path, with the value as TOML, or as text if it is not.
    pub fn set(path: impl Into<String>, written: impl Into<String>) -> Given {
        let written = written.into();
        Given { by: PLACE, path: path.into(), value: value(&written), written }
    }

    /// A key that an option stands for.
    pub fn by(option: &'static str, path: impl Into<String>, value: impl Into<Value>) -> Given {
        let value = value.into();
        let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Given { by: option, path: path.into(), written, value }
    }

    /// A key that an option stands for, with all below it: a table with this key.
    pub fn table(option: &'static str, path: &str, key: &str, value: impl Into<Value>) -> Given {
        let given = Given::by(option, path, value);
        let table = [(key.to_owned(), given.value)].into_iter().collect();
        Given { value: Value::Table(table), ..given }
    }

    /// Flows that an option gives, each with its trace.
    pub fn flows(option: &'static str, traces: &[String]) -> Given {
        let table = |key: &str, value| Value::Table([(key.to_owned(), value)].into_iter().collect());
        let flow = |path: &String| table("trace", table("path", Value::String(path.clone())));
        let value = Value::Array(traces.iter().map(flow).collect());
        Given { by: option, path: "flow".into(), written: traces.join(", "), value }
    }

    /// The keys that it gives, each with its value as text: those of a table by their paths.
    pub fn leaves(&self) -> Vec<(String, String)> {
        let mut leaves = Vec::new();
        leaves_of(&self.path, &self.value, &mut leaves);
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        leaves.into_iter().map(|(path, value)| (path, text(value))).collect()
    }

    fn fail(&self, message: String) -> ScenarioError {
        ScenarioError { place: self.by.into(), key: excerpt(&self.path), value: excerpt(&self.written), message }
    }
}

/// Paths as errors name them, each with the option that gave it.
pub(super) type GivenPaths = Vec<(String, &'static str)>;

/// The document of `text` with the keys that are `given`, and the paths as errors name them, each with its option. What is given below a
/// key acts whether it stands before or after that key.
///
/// # Errors
/// No such key, a value that is none of its, or one key with two values.
pub(super) fn assigned(text: &str, given: &[Given]) -> Result<(Document, GivenPaths), ScenarioError> {
    let mut table: Table = text.parse().unwrap_or_default();
    let mut document = Document::default();
    let mut inner_last: Vec<&Given> = given.iter().collect();
    inner_last.sort_by_key(|one| steps(&one.path).map_or(0, |steps| steps.len()));
    let mut made: Vec<(String, &Given)> = Vec::new();
    for one in inner_last {
        let path = set(&mut table, &one.path, one.value.clone()).map_err(|message| one.fail(message))?;
        document = read(&table).map_err(|message| one.fail(message))?;
        made.push((path, one));
    }
    for (i, (path, one)) in made.iter().enumerate() {
        for (later, by) in made[i + 1..].iter().filter(|(later, _)| is_below(later, path)) {
            agree((&table, &document), (path, one), (later, by))?;
        }
    }
    Ok((document, made.into_iter().map(|(path, one)| (path, one.by)).collect()))
}

fn read(table: &Table) -> Result<Document, String> {
    table.clone().try_into().map_err(|error: toml::de::Error| reword(error.message()))
}

/// Whether what `one` gives is still so in the document, although `by` gives the same key, or one below it.
fn agree(
    (table, document): (&Table, &Document),
    (path, one): (&str, &Given),
    (later, by): (&str, &Given),
) -> Result<(), ScenarioError> {
    let mut leaves = Vec::new();
    leaves_of(path, &one.value, &mut leaves);
    for (leaf, value) in leaves.into_iter().filter(|(leaf, _)| is_below(leaf, later) || is_below(later, leaf)) {
        let mut again = table.clone();
        // A key that is gone was a table's, which another value took the place of.
        let same = set(&mut again, &leaf, value.clone())
            .is_ok_and(|_| again == *table || read(&again).as_ref() == Ok(document));
        if !same {
            let (ours, theirs) = (one.by, &by.path);
            let first = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let message = format!("{ours} gives {leaf} the value {first}; give {theirs} one value");
            return Err(by.fail(message));
        }
    }
    Ok(())
}

/// The values below `path`, each with its path: a device and a trace by their names are tables with that name.
fn leaves_of(path: &str, value: &Value, leaves: &mut Vec<(String, Value)>) {
    match value {
        Value::Table(table) => table.iter().for_each(|(key, value)| leaves_of(&format!("{path}.{key}"), value, leaves)),
        Value::Array(items) if items.iter().any(Value::is_table) => {
            items.iter().enumerate().for_each(|(i, value)| leaves_of(&format!("{path}[{i}]"), value, leaves));
        }
        _ => {
            let key = short_for(path).filter(|_| value.is_str()).map(|key| format!(".{key}")).unwrap_or_default();
            leaves.push((format!("{path}{key}"), value.clone()));
        }
    }
}

/// The paths of the values below `key` in `text`.
pub(super) fn below(text: &str, key: &str) -> Vec<String> {
    let table: Table = text.parse().unwrap_or_default();
    let mut leaves = Vec::new();
    table.get(key).into_iter().for_each(|value| leaves_of(key, value, &mut leaves));
    leaves.into_iter().map(|(path, _)| path).collect()
}

/// The key of the table at `path` that a text in its place stands for.
fn short_for(path: &str) -> Option<&'static str> {
    match path {
        "device" => Some("preset"),
        path if path.ends_with("].trace") => Some("path"),
        _ => None,
    }
}

/// The value as TOML, or as text if it is not.
fn value(written: &str) -> Value {
    let table = format!("value = {written}").parse::<Table>().ok().filter(|table| table.len() == 1);
    table.and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(written.to_owned()))
}

/// Sets the value at `path`, and creates tables on the way; returns the path with the places of flows in brackets.
fn set(table: &mut Table, path: &str, value: Value) -> Result<String, String> {
    let mut shown = String::new();
    let steps = with_flow_named(table, steps(path)?)?;
    // The first step is a key of the top level.
    let (first, rest) = steps.split_first().ok_or("must be KEY=VALUE, such as device.gc.start_percent=7")?;
    let Step::Key(first) = first else { return Err("must begin with a key, such as flow[0].priority".into()) };
    shown.push_str(first);
    if rest.is_empty() {
        table.insert(first.clone(), value);
        return Ok(shown);
    }
    let mut place = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
    for step in rest {
        // A device that is only the name of a preset becomes a table with that preset, a trace that is only a path one with that path.
        if let (Value::String(name), Some(key)) = (&*place, short_for(&shown)) {
            *place = Value::Table([(key.to_owned(), Value::String(name.clone()))].into_iter().collect());
        }
        place = match (place, step) {
            (Value::Array(items), Step::Index(index)) => {
                let count = items.len();
                shown.push_str(&format!("[{index}]"));
                items.get_mut(*index).ok_or_else(|| format!("{shown}: there are {count}, counted from 0"))?
            }
            // A flow by its name, as results show it, or by its number.
            (Value::Array(items), Step::Key(name)) => {
                let index = named(items, name).ok_or_else(|| none_of_the_name(&shown, items, name))?;
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

/// The steps of a path, in which a flow of the block layer that is given by its number has its name: its keys stand below that.
fn with_flow_named(table: &Table, mut steps: Vec<Step>) -> Result<Vec<Step>, String> {
    let [Step::Key(block), Step::Key(flow), which, ..] = &mut steps[..] else { return Ok(steps) };
    if block != "block" || flow != "flow" {
        return Ok(steps);
    }
    let flows = table.get("flow").and_then(Value::as_array).map_or_else(Vec::new, |flows| names_of(flows));
    let number = match &*which {
        Step::Index(index) => Some(*index),
        Step::Key(name) if flows.contains(name) => None,
        Step::Key(name) => name.parse().ok().filter(|number| *number < flows.len()),
    };
    if let Some(number) = number {
        let name = flows
            .get(number)
            .ok_or_else(|| format!("block.flow[{number}]: there are {} flows, counted from 0", flows.len()))?;
        *which = Step::Key(name.clone());
    }
    Ok(steps)
}

/// The flow that is called `name`, or has this number.
fn named(flows: &[Value], name: &str) -> Option<usize> {
    let number = || name.parse().ok().filter(|number| *number < flows.len());
    names_of(flows).iter().position(|shown| shown == name).or_else(number)
}

/// The names of flows as results show them.
fn names_of(flows: &[Value]) -> Vec<String> {
    let trace = |flow: &'_ Value| {
        let trace = flow.get("trace")?;
        trace.as_str().or_else(|| trace.get("path")?.as_str()).map(PathBuf::from)
    };
    let given = |flow: &Value| Some(flow.get("name")?.as_str()?.to_owned());
    names::of_flows(&flows.iter().map(|flow| (given(flow), trace(flow))).collect::<Vec<_>>())
}

/// The message where no flow is called `name`.
fn none_of_the_name(shown: &str, flows: &[Value], name: &str) -> String {
    const LISTED: usize = 8;
    let names = names_of(flows);
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("{name:?}")).collect();
    let more = match names.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let there = if names.is_empty() { "none".to_owned() } else { listed.join(", ") };
    format!("no {shown} has the name {name:?}; there is {there}{more}, also by number, such as {shown}[0]")
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
        let sets: Vec<Given> = sets.iter().map(|(key, value)| Given::set(*key, *value)).collect();
        let (document, paths) = assigned(TEXT, &sets)?;
        Ok((document, paths.into_iter().map(|(path, _)| path).collect()))
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
        assert!(paths.contains(&"flow[0].name".to_owned()), "{paths:?}");
    }

    /// Flows without a name have that which results show, and a number.
    #[test]
    fn flows_are_found_by_the_name_that_is_shown_and_by_number() {
        let text = "[[flow]]\ntrace = \"in/fin1-mini.spc.gz\"\n[[flow]]\ntrace = { path = \"fin1-mini.spc\" }\n\
                    [[flow]]\nsynthetic = { rate_iops = 5, requests = 1 }\n";
        for (key, at) in [("fin1-mini", 0), ("fin1-mini-2", 1), ("flow2", 2), ("1", 1)] {
            let (document, paths) = assigned(text, &[Given::set(format!("flow.{key}.priority"), "3")]).expect(key);
            assert_eq!(document.flow.iter().position(|flow| flow.priority == 3), Some(at), "{key}");
            assert_eq!(paths[0].0, format!("flow[{at}].priority"));
        }
        assert!(assigned(text, &[Given::set("flow.3.priority", "3")]).is_err());
    }

    /// The same below `block.flow`, whose tables have the names of flows: a number stands for the name, unless a flow has it as its name.
    #[test]
    fn flows_of_the_block_layer_are_found_by_name_and_by_number() {
        for (key, name) in [("b", "b"), ("1", "b"), ("1]", "b"), ("0", "a")] {
            let path = if key.ends_with(']') {
                format!("block.flow[{key}.threads")
            } else {
                format!("block.flow.{key}.threads")
            };
            let (document, paths) = with(&[(&path, "3")]).expect(key);
            let flows = document.block.expect("a block layer").flow;
            assert_eq!(
                flows.into_iter().map(|(name, flow)| (name, flow.threads)).collect::<Vec<_>>(),
                [(name.to_owned(), Some(3))]
            );
            assert_eq!(paths, [format!("block.flow.{name}.threads")]);
        }
        let named = TEXT.replace("\"a\"", "\"1\"");
        let (document, _) = assigned(&named, &[Given::set("block.flow.1.threads", "3")]).expect("a name");
        assert!(document.block.expect("a block layer").flow.contains_key("1"));
        let why = with(&[("block.flow[2].threads", "3")]).expect_err("no such flow").to_string();
        assert_eq!(why, "--set: block.flow[2].threads = 3: block.flow[2]: there are 2 flows, counted from 0");
    }

    #[test]
    fn the_keys_of_a_table_are_told_one_by_one() {
        let leaves = Given::set("run", "{ seeds = 2, hold = { collect = \"atomic\" } }").leaves();
        let expected = [("run.seeds", "2"), ("run.hold.collect", "atomic")];
        assert!(expected.iter().all(|(key, value)| leaves.contains(&((*key).into(), (*value).into()))), "{leaves:?}");
        assert_eq!(Given::set("run.seeds", "2").leaves(), [("run.seeds".to_owned(), "2".to_owned())]);
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
            ("flow.a.synthetic.size", "5", "expected a word, or a table with one key as in { constant = 4096 }"),
        ] {
            assert_eq!(fails(key, value), format!("--set: {key} = {value}: {message}"));
        }
        assert!(fails("seed", "many").starts_with("--set: seed = many: invalid type"), "{}", fails("seed", "many"));
        assert!(fails("flow[2].priority", "1").contains("flow[2]: there are 2, counted from 0"));
        let unknown = fails("flow.x.priority", "1");
        assert!(
            unknown.ends_with("no flow has the name \"x\"; there is \"a\", \"b\", also by number, such as flow[0]"),
            "{unknown}"
        );
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
