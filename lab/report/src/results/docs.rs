//! The documentation of the result files: generated from the types, so that the two cannot differ.
//!
//! A test compares the files in `docs/` with these texts; `cargo xtask bless docs` writes them.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::columns::Table;
use super::rows::{HeldRequestRow, RequestRow, Row, SeenRequestRow, TransactionRow};
use super::stats::WithVerdict;

/// `docs/summary.md`.
pub fn summary_markdown() -> String {
    let schema = schema();
    let mut text = String::from(
        "# summary.json\n\nGenerated from the types that write it; do not edit. Times are nanoseconds of simulated time, \
         rates are per second of simulated time. Results are byte-identical for the same scenario and seed.\n\n",
    );
    object(&mut text, "Summary", &schema);
    let empty = Map::new();
    for (name, definition) in schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty) {
        object(&mut text, name, definition);
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The JSON schema of `summary.json`.
pub fn schema() -> Value {
    schemars::schema_for!(WithVerdict<'static>).to_value()
}

/// `docs/columns.md`.
pub fn columns_markdown() -> String {
    let mut text = String::from(
        "# Columns of the row files\n\nGenerated from the types that write them; do not edit. The Parquet and the CSV file \
         have the same columns. Times are nanoseconds of simulated time since the start of the run. Numbers are never \
         negative. An empty value is null in Parquet and nothing between the commas in CSV.\n",
    );
    for table in [RequestRow::TABLE, SeenRequestRow::TABLE, HeldRequestRow::TABLE, TransactionRow::TABLE] {
        columns(&mut text, &table);
    }
    text
}

fn columns(text: &mut String, table: &Table) {
    let files = format!("`{}`, `{}`", table.file_name("parquet"), table.file_name("csv"));
    text.push_str(&format!("\n## {}\n\n{files}. {}\n\n", table.title, table.about));
    text.push_str("| column | type | may be empty | meaning |\n|---|---|---|---|\n");
    for column in table.columns {
        let empty = if column.optional { "yes" } else { "no" };
        text.push_str(&format!("| `{}` | {} | {empty} | {} |\n", column.name, column.kind.describe(), column.about));
    }
}

/// A heading, the object's description, and a table of its keys.
fn object(text: &mut String, name: &str, schema: &Value) {
    let _ = write!(text, "## {name}\n\n{}\n\n", about(schema));
    text.push_str("| key | type | meaning |\n|---|---|---|\n");
    let order = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    // `required` has the order of the fields; optional ones follow.
    let mut keys: Vec<&str> = order.into_iter().flatten().filter_map(Value::as_str).collect();
    for key in properties.into_iter().flat_map(Map::keys) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    for key in keys {
        if let Some(property) = properties.and_then(|properties| properties.get(key)) {
            let _ = writeln!(text, "| `{key}` | {} | {} |", kind(property), about(property).replace('|', "\\|"));
        }
    }
    text.push('\n');
}

/// The description as one line.
fn about(schema: &Value) -> String {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let paragraphs: Vec<String> =
        description.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    paragraphs.join(" ")
}

/// The type in words: `integer`, `list of number`, `[Cdf](#cdf) or null`.
fn kind(schema: &Value) -> String {
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match schema.get("type") {
        Some(Value::String(one)) if one == "array" => {
            format!("list of {}", schema.get("items").map_or_else(String::new, kind))
        }
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::example::example;

    fn compare(file: &str, text: &str) {
        flashlane_testing::kept::same("docs", &format!("docs/{file}"), text);
    }

    #[test]
    fn the_documentation_says_what_the_code_does() {
        compare("summary.md", &summary_markdown());
        compare("columns.md", &columns_markdown());
    }

    /// Every key of a real summary is in the schema, under the type it has, with a description.
    #[test]
    fn every_key_is_documented() {
        fn check(at: &str, value: &Value, schema: &Value, root: &Value) {
            let schema = match schema.get("$ref").and_then(Value::as_str) {
                Some(path) => root.pointer(path.trim_start_matches('#')).expect("a definition"),
                None => schema,
            };
            if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
                if !value.is_null() {
                    check(at, value, &choices[0], root);
                }
                return;
            }
            match value {
                Value::Object(map) => {
                    for (key, value) in map {
                        let property = schema.pointer(&format!("/properties/{key}"));
                        let property = property.unwrap_or_else(|| panic!("{at}/{key} is not in the schema"));
                        assert!(!about(property).is_empty(), "{at}/{key} has no description");
                        check(&format!("{at}/{key}"), value, property, root);
                    }
                }
                Value::Array(items) => items.iter().for_each(|item| check(at, item, &schema["items"], root)),
                Value::Null => assert!(kind(schema).contains("null"), "{at}"),
                Value::Number(_) => {
                    assert!(kind(schema).contains("integer") || kind(schema).contains("number"), "{at}")
                }
                Value::String(_) => assert!(kind(schema).contains("string"), "{at}"),
                Value::Bool(_) => assert!(kind(schema).contains("boolean"), "{at}"),
            }
        }
        let root = schema();
        check("", &serde_json::to_value(example()).unwrap(), &root, &root);
    }
}
