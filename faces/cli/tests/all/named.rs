//! Keys and options that pages name exist: what a reader copies from a page is never unknown to the program.

use std::collections::BTreeSet;
use std::path::Path;

use flashlane_sched::catalogue::{Question, SHIPPED};
use serde_json::Value;

use crate::common::{folder, program, text};

/// Options in commands of Flashlane or alone that are another program's, with that program.
const OTHERS: [(&str, &str); 6] = [
    ("--family", "papers/late/judge.py"),
    ("--requests", "flashlane-bench"),
    ("--write", "flashlane-bench"),
    ("--locked", "cargo"),
    ("--require-hashes", "pip"),
    ("--python-scheduler", "python -m flashlane"),
];
/// Keys in blocks and sentences that are none of a scenario: of a sweep, of a device file, of a manifest of Cargo, of Python, and of a formula.
const NO_SCENARIO: [&str; 22] = [
    "a",
    "baseline",
    "binds_at_dispatch",
    "dependencies",
    "edition",
    "exclude",
    "from",
    "git",
    "mixed",
    "name",
    "panic",
    "path",
    "points",
    "reads",
    "rev",
    "scale",
    "seeds",
    "tag",
    "to",
    "values",
    "version",
    "writes",
];

/// README and the pages of docs: name and text.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md")];
    for folder in ["docs", "docs/tutorials", "docs/results"] {
        files.extend(
            std::fs::read_dir(root.join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path()),
        );
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("a page"))).collect()
}

/// What a page has between backquotes in its sentences, and the lines of its blocks, of which a command's may go on on the next.
fn code(page: &str) -> Vec<String> {
    let (mut found, mut prose) = (Vec::new(), String::new());
    for (number, part) in page.split("```").enumerate() {
        match number % 2 {
            0 => prose.push_str(part),
            _ => found.extend(part.replace("\\\n", " ").lines().skip(1).map(str::to_owned)),
        }
    }
    found.extend(prose.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned));
    found.extend(prose.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")));
    found
}

/// The options in a text: `--` and a word of small letters and hyphens.
fn options(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let starts = text.match_indices("--").map(|(at, _)| at).filter(|at| !text[..*at].ends_with(|c: char| is_part(c)));
    let word = |at: usize| text[at..].chars().take_while(|c| is_part(*c)).collect::<String>();
    starts.map(word).filter(|word| word[2..].starts_with(|c: char| c.is_ascii_lowercase())).collect()
}

#[test]
fn the_options_that_pages_name_exist() {
    let output = program(&folder()).args(["completions", "bash"]).output().expect("the program runs");
    let known: BTreeSet<String> = options(&text(&output.stdout)).into_iter().collect();
    assert!(known.contains("--trace-format") && known.len() > 60, "{known:?}");
    let mut seen = BTreeSet::new();
    for (page, text) in pages() {
        for piece in code(&text) {
            let piece = piece.split(" #").next().unwrap_or_default().trim();
            if !piece.starts_with("flashlane ") && !piece.starts_with("--") {
                continue;
            }
            let own = piece.split(" | ").next().unwrap_or_default();
            for option in options(own) {
                let is_other = OTHERS.iter().any(|(other, _)| *other == option);
                assert!(known.contains(&option) || is_other, "{page}: no command has `{option}`: {piece}");
                seen.insert(option);
            }
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}

/// The names of all keys in a schema, and the words that a value may have.
fn names(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                found.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| names(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

/// The keys that a line of a scenario sets: each word before an equals sign at its beginning, behind a comma or a brace.
fn keys(line: &str) -> Vec<&str> {
    let line = line.split(" #").next().unwrap_or_default();
    // What is in quotes is a value.
    let plain: Vec<&str> = line.split('"').step_by(2).collect();
    let before = plain.iter().flat_map(|part| part.split(['{', ',', '['])).filter_map(|part| part.split_once(" = "));
    let name = |key: &str| key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    before.map(|(key, _)| key.trim()).filter(|key| !key.is_empty() && name(key)).collect()
}

#[test]
fn the_keys_that_pages_name_exist() {
    let mut known = BTreeSet::new();
    names(&flashlane_scenario::schema(), &mut known);
    // Of a scheduler that is a table, any other key is a parameter.
    let answers = Question::ALL.into_iter().flat_map(|question| SHIPPED.answers(question));
    known.extend(answers.flat_map(|answer| answer.params).map(|param| param.name.to_owned()));
    known.insert("shadow".into());
    assert!(known.contains("time_unit") && known.contains("read_ratio"), "{known:?}");
    let mut seen = BTreeSet::new();
    for (page, text) in pages() {
        let tables = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let spans = text.split("```").step_by(2).flat_map(|prose| prose.split('`').skip(1).step_by(2));
        for line in tables.flat_map(str::lines).chain(spans) {
            for key in keys(line) {
                assert!(
                    known.contains(key) || NO_SCENARIO.contains(&key),
                    "{page}: no scenario has the key `{key}`: {line}"
                );
                seen.insert(key.to_owned());
            }
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}
