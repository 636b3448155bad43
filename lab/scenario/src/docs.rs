//! The reference of scenario keys, generated from the schema so that the two cannot differ.
//!
//! Owns the layout of `docs/scenario.md`. The text is that of the keys' doc comments.

use flashlane_trace::Format;
use serde_json::Value;

use super::{DEFAULTS, Document, PRESETS};

const HEAD: &str = "\
# Scenario keys

A scenario is a TOML file. `flashlane init` writes one to start from; this page lists every key. It is made from the
program's own schema (`cargo xtask bless docs`), so it says what the program does.

The file is at most 4 MiB long and has at most 1,024 flows and 1,024 schedulers; millions of requests belong in a trace
file. It is a regular file or `/dev/stdin`.

Units are in the names: device times are whole nanoseconds (`_ns`), times of a run whole milliseconds (`_ms`); `offset`
and `length` are bytes. An unknown key is an error. Keys of `[device...]` that a scenario does not give come from
the preset, and from the [defaults](#presets) where the preset gives none. A capacity or a threshold given in one way
(`user_gb`) replaces the preset's given in another (`over_provisioning_percent`).

An error names the file, line and column, the key with its value, and what would be legal. A key that has no effect beside
the others (`idle_ms` of an SLC cache where there is none) is an error where the scenario gives it. If the scenario also
gives the key that switches it off (`static_blocks = 0`, as a sweep over that key does), or its preset is set from outside
(a sweep over `device.preset`), it is a warning of `check` and of the results. What a preset gives may stay without effect.
";

const DEVICE_FILES: &str = "\
## Device files

A drive of your own lies in a file; what `flashlane devices NAME` prints is one. `device.preset` takes its path, which has a
folder or ends in `.toml`, relative to the scenario; so does `--device`, relative to the working directory. A `[sweep]`, `recommend`, `serve` and
Python take it in the same way. The scenario's own keys lie over it.

```toml
[device]                 # every key of a scenario's device
preset = \"modern-tlc\"    # what the file starts from; without it, the defaults alone
nand.suspend_ns = 9_000

[fitted]                 # optional: \"measured\", \"bounded\" or \"not measured\"
reads = \"measured\"
mixed = \"not measured\"   # reads beside writes
writes = \"not measured\"
```

Every command that runs it warns of what `[fitted]` calls not measured. `summary` and `source`, texts as presets have them, are optional.

";

const PRESETS_HEAD: &str = "\
## Presets

The values of every shipped device. `flashlane devices NAME` prints one with the source of each value; its tables can
be copied into a scenario, or the whole into a [device file](#device-files), and changed there.

";

const HASH: &str = "\
## The scenario hash

Results carry a hash of the scenario: 16 hexadecimal digits of BLAKE3 over its effective content. It covers the complete
device (preset, device file and defaults included), the host, seed, schedulers, limits and flows; a trace enters by its length and the hash of
its bytes as stored, not by its path. The scenario's name, comments and the order of keys do not enter.
";

/// The JSON Schema of a scenario file.
pub fn schema() -> Value {
    schemars::schema_for!(Document).to_value()
}

/// The text of `docs/scenario.md`.
pub fn reference() -> String {
    let root = schema();
    let mut page = String::from(HEAD);
    section(&mut page, &root, &root, "Top level", "");
    for table in SECTIONS {
        let schema = property(&root, &root, &["device", table]);
        section(&mut page, &root, schema, &format!("[device.{table}]"), "");
    }
    section(&mut page, &root, property(&root, &root, &["host"]), "[host]", "");
    section(&mut page, &root, property(&root, &root, &["host", "background"]), "[[host.background]]", "");
    section(&mut page, &root, property(&root, &root, &["block"]), "[block]", "");
    section(&mut page, &root, property(&root, &root, &["block", "flow"]), "[block.flow.NAME]", "");
    section(&mut page, &root, property(&root, &root, &["run"]), "[run]", "");
    section(&mut page, &root, property(&root, &root, &["run", "hold"]), "[run.hold]", HOLD_NOTE);
    section(&mut page, &root, property(&root, &root, &["flow"]), "[[flow]]", "");
    section(&mut page, &root, property(&root, &root, &["flow", "trace"]), "[flow.trace]", "");
    section(&mut page, &root, property(&root, &root, &["flow", "synthetic"]), "[flow.synthetic]", "");
    section(&mut page, &root, property(&root, &root, &["flow", "clone"]), "[flow.clone]", "");
    section(&mut page, &root, property(&root, &root, &["flow", "request"]), "[[flow.request]]", "");
    let mix = property(&root, &root, &["scheduler"]);
    section(&mut page, &root, mix, "A scheduler as a table", MIX_EXAMPLE);
    schedulers(&mut page);
    formats(&mut page);
    page.push('\n');
    page.push_str(DEVICE_FILES);
    page.push_str(PRESETS_HEAD);
    presets(&mut page);
    page.push('\n');
    page.push_str(HASH);
    page
}

/// One table of the catalogue: a row per scheduler.
fn schedulers(page: &mut String) {
    page.push_str("\n## Schedulers\n\n| name | from | what it does |\n|---|---|---|\n");
    for entry in flashlane_sched::catalogue::schedulers() {
        page.push_str(&format!("| `{}` | {}, {} | {} |\n", entry.name, entry.paper, entry.section, entry.summary));
    }
}

const SECTIONS: [&str; 11] =
    ["geometry", "nand", "retry", "slc", "bus", "ftl", "mapping", "gc", "buffer", "front", "precondition"];

const HOLD_NOTE: &str = "\
On the command line: `--preempt NAME`, `--collect NAME`.\n";

const MIX_EXAMPLE: &str = "\
`scheduler = { base = \"fr-fcfs\", order = \"slack-bypass\", cancel = \"overwrite\" }`, or the same in the `schedulers` list.
Any key that is not below is a parameter of the scheduler, a whole number.\n";

/// The schema of the object that the keys in `path` lead to.
fn property<'a>(root: &'a Value, schema: &'a Value, path: &[&str]) -> &'a Value {
    let object = object(root, schema);
    match path.split_first() {
        None => object,
        Some((key, rest)) => property(root, &object["properties"][*key], rest),
    }
}

/// Follows references, arrays and alternatives to the object schema in them.
fn object<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if schema.get("properties").is_some() {
        return schema;
    }
    if let Some(target) = schema["$ref"].as_str() {
        return object(root, &root["$defs"][target.trim_start_matches("#/$defs/")]);
    }
    for entries in ["items", "additionalProperties"] {
        if let Some(entries) = schema.get(entries).filter(|entries| entries.is_object()) {
            return object(root, entries);
        }
    }
    let alternatives = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    alternatives.iter().map(|s| object(root, s)).find(|s| s.get("properties").is_some()).unwrap_or(&Value::Null)
}

fn section(page: &mut String, root: &Value, schema: &Value, title: &str, note: &str) {
    let about = schema["description"].as_str().unwrap_or_default();
    page.push_str(&format!("\n## {title}\n\n{}\n{note}\n| key | value | meaning |\n|---|---|---|\n", one_line(about)));
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let meaning = one_line(property["description"].as_str().unwrap_or_default()).replace('|', "\\|");
        page.push_str(&format!("| `{key}` | {} | {meaning} |\n", kind(root, property).replace('|', "\\|")));
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The form of a value, in words.
fn kind(root: &Value, schema: &Value) -> String {
    if let Some(words) = schema["x-type"].as_str() {
        return words.into();
    }
    if let Some(target) = schema["$ref"].as_str() {
        return kind(root, &root["$defs"][target.trim_start_matches("#/$defs/")]);
    }
    if let Some(word) = schema["const"].as_str() {
        return format!("`\"{word}\"`");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(alternatives) = schema[key].as_array() {
            let kinds = alternatives.iter().filter(|s| s["type"] != "null").map(|s| kind(root, s));
            return kinds.collect::<Vec<_>>().join(", ");
        }
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str).map(|word| format!("`\"{word}\"`"));
        return words.collect::<Vec<_>>().join(", ");
    }
    let name = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("any");
    match name {
        "integer" => "whole number".into(),
        "boolean" => "true or false".into(),
        "array" => format!("list of: {}", kind(root, &schema["items"])),
        "object" => match schema["properties"].as_object() {
            Some(keys) if keys.len() <= 4 => format!("{{ {} }}", keys.keys().cloned().collect::<Vec<_>>().join(", ")),
            _ => "table".into(),
        },
        name => name.into(),
    }
}

/// One table of all formats of traces: a row per format.
fn formats(page: &mut String) {
    page.push_str("\n## Trace formats\n\n| `format` | what | a line, with units | written by `trace convert` |\n|---|---|---|---|\n");
    for format in Format::ALL {
        let shape = format.shape().replace('|', "\\|");
        let line = if shape.contains('`') { shape } else { format!("`{shape}`") };
        let written = if format.writable() { "yes" } else { "no" };
        page.push_str(&format!("| `{}` | {} | {line} | {written} |\n", format.key(), format.title()));
    }
}

/// One table of all presets: a row per key, a column per preset.
fn presets(page: &mut String) {
    let mut columns = vec![("defaults".to_owned(), leaves(DEFAULTS))];
    columns.extend(PRESETS.iter().map(|preset| (preset.name.to_owned(), leaves(preset.text))));
    let root = schema();
    let mut keys = Vec::new();
    for table in SECTIONS {
        let schema = property(&root, &root, &["device", table]);
        keys.extend(schema["properties"].as_object().into_iter().flatten().map(|(key, _)| format!("{table}.{key}")));
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    page.push_str(&format!("| key | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len())));
    for key in keys {
        let cells: Vec<&str> =
            columns.iter().map(|(_, leaves)| leaves.iter().find(|(k, _)| *k == key).map_or("", |(_, v)| v)).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            page.push_str(&format!("| `{key}` | {} |\n", cells.join(" | ")));
        }
    }
}

/// Every `section.key` of a preset file with its value.
fn leaves(text: &str) -> Vec<(String, String)> {
    let table: toml::Table = text.parse().expect("preset files are part of the program and tested");
    let sections = table["device"].as_table().into_iter().flatten();
    sections
        .flat_map(|(section, keys)| {
            let keys = keys.as_table().into_iter().flatten();
            keys.map(move |(key, value)| (format!("{section}.{key}"), plain(value)))
        })
        .collect()
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(word) => word.clone(),
        toml::Value::Table(table) => {
            let parts = table.iter().map(|(key, value)| format!("{key} {}", plain(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(" "),
        toml::Value::Integer(n) => n.to_string(),
        toml::Value::Float(x) => x.to_string(),
        toml::Value::Boolean(b) => b.to_string(),
        other => format!("{other:?}"),
    }
}
