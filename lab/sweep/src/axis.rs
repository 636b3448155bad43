//! The axes of a sweep: keys of the scenario by their path, and the values each takes.

use std::ops::Range;

use toml::de::{DeArray, DeTable, DeValue};
use toml::{Spanned, Value};

/// The most values of an axis, and the most runs of a sweep.
pub(super) const MAX_VALUES: usize = 1_000_000;
/// The most axes of a sweep: each is set anew for every run.
pub(super) const MAX_AXES: usize = 200;
/// Significant digits of the values inside a range, so that they read well as labels.
const DIGITS: usize = 6;

/// A key and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The key's path: `device.nand.program_ns`, `flow[0].synthetic.rate_iops`.
    pub path: String,
    /// The values, at least one, no two alike.
    pub values: Vec<Value>,
    /// The same as whole numbers, of a range that is written with fractions: for keys that take none else.
    pub(super) rounded: Option<Vec<Value>>,
    /// Where it stands in the file, bytes.
    pub(super) span: Range<usize>,
}

/// An error about the key `path`, at `span` in the file.
pub(super) struct AxisError {
    pub path: String,
    pub span: Range<usize>,
    pub value: String,
    pub message: String,
}

/// Collects the axes below `table`, whose path is `prefix`, in the order of the file.
pub(super) fn axes(table: &DeTable<'_>, prefix: &str, text: &str) -> Result<Vec<Axis>, AxisError> {
    let mut found = Vec::new();
    for (key, value) in table {
        let path = joined(prefix, key.get_ref());
        let span = value.span();
        let span = key.span().start.min(span.start)..span.end.max(key.span().end);
        let fail = |message: String| AxisError {
            path: path.clone(),
            span: key.span(),
            value: excerpt(&text[value.span()]),
            message,
        };
        match value.get_ref() {
            DeValue::Array(items) => {
                let values = list(items, text).map_err(fail)?;
                found.push(Axis { path, values, rounded: None, span });
            }
            DeValue::Table(inner) if is_range(inner) => {
                let (values, rounded) = range(&plain(value, text)).map_err(fail)?;
                found.push(Axis { path, values, rounded, span });
            }
            DeValue::Table(inner) => found.extend(axes(inner, &path, text)?),
            _ => {
                let message = "is one value; an axis is a list, or { from, to, points, scale }; a key with one value belongs outside [sweep]";
                return Err(fail(message.into()));
            }
        }
    }
    found.sort_by_key(|axis| axis.span.start);
    Ok(found)
}

/// How many axes stand below `table`, right or wrong.
pub(super) fn count(table: &DeTable<'_>) -> usize {
    let one = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::Table(inner) if !is_range(inner) => count(inner),
        _ => 1,
    };
    table.iter().map(|(_, value)| one(value)).sum()
}

/// The path of `key` below `prefix`: a number is a place in a list.
fn joined(prefix: &str, key: &str) -> String {
    match (prefix, key.parse::<usize>()) {
        ("", _) => normal(key),
        (_, Ok(index)) => format!("{prefix}[{index}]"),
        _ => format!("{prefix}.{}", normal(key)),
    }
}

/// A path with places in lists in brackets: `flow.0.priority` is `flow[0].priority`.
pub(super) fn normal(path: &str) -> String {
    let mut text = String::new();
    for part in path.split('.') {
        match part.parse::<usize>() {
            Ok(index) if !text.is_empty() => text.push_str(&format!("[{index}]")),
            _ if text.is_empty() => text.push_str(part),
            _ => text.push_str(&format!(".{part}")),
        }
    }
    text
}

fn is_range(table: &DeTable<'_>) -> bool {
    ["from", "to", "points"].iter().any(|key| table.get(*key).is_some())
}

/// A value without its place.
pub(super) fn plain(value: &Spanned<DeValue<'_>>, text: &str) -> Value {
    match value.get_ref() {
        DeValue::Array(items) => Value::Array(items.iter().map(|item| plain(item, text)).collect()),
        DeValue::Table(table) => {
            Value::Table(table.iter().map(|(key, value)| (key.get_ref().to_string(), plain(value, text))).collect())
        }
        _ => {
            let table: toml::Table = format!("value = {}", &text[value.span()]).parse().unwrap_or_default();
            table.get("value").cloned().unwrap_or(Value::Boolean(false))
        }
    }
}

fn list(items: &DeArray<'_>, text: &str) -> Result<Vec<Value>, String> {
    let values: Vec<Value> = items.iter().map(|item| plain(item, text)).collect();
    checked(values)
}

/// Refuses an axis without values, and one with a value twice.
pub(super) fn checked(values: Vec<Value>) -> Result<Vec<Value>, String> {
    if values.is_empty() {
        return Err("must have at least one value".into());
    }
    if values.len() > MAX_VALUES {
        return Err(format!("has {} values; must be at most {MAX_VALUES}", values.len()));
    }
    let mut texts: Vec<String> = values.iter().map(label).collect();
    texts.sort();
    match texts.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("has the value {} twice", pair[0])),
        None => Ok(values),
    }
}

type RangeOf = (Vec<Value>, Option<Vec<Value>>);

/// The values of `{ from, to, points, scale }`.
fn range(value: &Value) -> Result<RangeOf, String> {
    let table = value.as_table().ok_or("must be { from, to, points, scale }")?;
    if let Some(key) = table.keys().find(|key| !["from", "to", "points", "scale"].contains(&key.as_str())) {
        return Err(format!("unknown key `{key}`; a range has from, to, points and scale"));
    }
    let end = |key: &str| {
        let found = table.get(key).ok_or(format!("needs `{key}`"))?;
        let number = found.as_integer().map(|n| n as f64).or(found.as_float()).filter(|n| n.is_finite());
        number.map(|n| (n, found.is_integer())).ok_or(format!("`{key}` = {found} must be a number"))
    };
    let ((from, from_whole), (to, to_whole)) = (end("from")?, end("to")?);
    let points = table.get("points").ok_or("needs `points`")?;
    let points = points.as_integer().filter(|n| (2..=MAX_VALUES as i64).contains(n));
    let points = points.ok_or(format!("`points` must be a whole number from 2 to {MAX_VALUES}"))? as usize;
    let log = match table.get("scale").map(|scale| scale.as_str().unwrap_or_default()) {
        None | Some("lin") => false,
        Some("log") => true,
        Some(_) => return Err("`scale` must be \"lin\" or \"log\"".into()),
    };
    if log && (from <= 0.0 || to <= 0.0) {
        return Err("a range on a logarithmic scale must be above 0".into());
    }
    let at = |i: usize| {
        let share = i as f64 / (points - 1) as f64;
        match (i, log) {
            (0, _) => from,
            (i, _) if i == points - 1 => to,
            (_, false) => from + (to - from) * share,
            (_, true) => from * libm::pow(to / from, share),
        }
    };
    let numbers: Vec<f64> = (0..points).map(at).collect();
    let whole: Vec<Value> = numbers.iter().map(|n| Value::Integer(libm::round(*n) as i64)).collect();
    if from_whole && to_whole {
        return checked(whole).map(|values| (values, None)).map_err(|why| format!("rounded to whole numbers {why}"));
    }
    let short = |(i, n): (usize, &f64)| if i == 0 || i == points - 1 { *n } else { rounded(*n) };
    let values = numbers.iter().enumerate().map(|pair| Value::Float(short(pair))).collect();
    Ok((checked(values)?, checked(whole).ok()))
}

/// A number with [`DIGITS`] significant digits.
fn rounded(number: f64) -> f64 {
    format!("{number:.*e}", DIGITS - 1).parse().unwrap_or(number)
}

/// A value as a label: text without quotes, whole numbers without a fraction, everything else as TOML writes it.
pub fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}

/// A value short enough for a message: one line, at most 60 characters.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.char_indices().nth(60).map_or(line.to_owned(), |(end, _)| format!("{}...", &line[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Axis>, String> {
        let table = DeTable::parse(text).expect("TOML");
        axes(table.get_ref(), "", text).map_err(|error| format!("{} = {}: {}", error.path, error.value, error.message))
    }

    fn floats(axis: &Axis) -> Vec<f64> {
        axis.values.iter().map(|value| value.as_float().expect("a float")).collect()
    }

    #[test]
    fn paths_are_those_of_the_file_in_its_order() {
        let axes =
            of("flow.0.priority = [1, 2]\ndevice.nand.program_ns = [3]\n\"flow[1].priority\" = [4]\nb.c = [\"x\"]\n")
                .unwrap();
        let paths: Vec<&str> = axes.iter().map(|axis| axis.path.as_str()).collect();
        assert_eq!(paths, ["flow[0].priority", "device.nand.program_ns", "flow[1].priority", "b.c"]);
        assert_eq!(normal("flow.0.x"), "flow[0].x");
        assert_eq!(normal("flow.reader.x"), "flow.reader.x");
    }

    #[test]
    fn ranges_have_their_ends_and_equal_steps() {
        let axes =
            of("a = { from = 1e4, to = 1e6, points = 5, scale = \"log\" }\nb = { from = 0.1, to = 0.5, points = 5 }\n\
                       c = { from = 10, to = 1000, points = 3, scale = \"log\" }\n")
            .unwrap();
        assert_eq!(floats(&axes[0]), [1e4, 31622.8, 1e5, 316228.0, 1e6]);
        assert_eq!(floats(&axes[1]), [0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(axes[2].values, [10, 100, 1000].map(Value::Integer));
        assert_eq!(axes[0].rounded.as_ref().unwrap()[1], Value::Integer(31623));
        let table = of("[d.a]\nfrom = 1\nto = 3\npoints = 3\n").unwrap();
        assert_eq!((table[0].path.as_str(), table[0].values.len()), ("d.a", 3));
    }

    #[test]
    fn what_is_no_axis_is_said() {
        for (text, printed) in [
            ("a = []", "a = []: must have at least one value"),
            ("a = [1, 2, 1]", "has the value 1 twice"),
            ("a = 3", "an axis is a list"),
            ("a = { from = 1, to = 2 }", "needs `points`"),
            ("a = { from = 1, to = 2, points = 1 }", "from 2 to"),
            ("a = { from = 1, to = 2, points = 9 }", "rounded to whole numbers has the value"),
            ("a = { from = 0.0, to = 2, points = 9, scale = \"log\" }", "above 0"),
            ("a = { from = 0.0, to = 2, points = 9, step = 1 }", "unknown key `step`"),
            ("a = { from = \"x\", to = 2, points = 9 }", "must be a number"),
            ("a = { from = 0.0, to = 2, points = 9, scale = \"cubic\" }", "\"lin\" or \"log\""),
        ] {
            let error = of(text).expect_err(text);
            assert!(error.contains(printed), "{error}");
        }
    }
}
