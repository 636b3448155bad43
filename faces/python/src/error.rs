//! Errors as Python sees them.

use std::fmt::Display;

use flashlane_outputs::shown;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(flashlane, Error, PyException, "What the program `flashlane` would print after `error: `.");

/// What errors call a scenario that was given as a dict, before they get here.
pub(crate) const DICT: &str = "<dict>";

/// An error with the text that the program prints.
pub(crate) fn error(error: impl Display) -> PyErr {
    Error::new_err(shown::escaped(&in_python(&error.to_string())).into_owned())
}

/// What errors call an argument that gives a key of its name.
pub(crate) const ARGUMENT: &str = "an argument";

/// The text without what there is not in Python: the lines of a scenario that never was a text, and the flag `--set`.
fn in_python(text: &str) -> String {
    let by_key = ["--set", ARGUMENT].into_iter().find_map(|by| text.strip_prefix(by)?.strip_prefix(": "));
    if let Some(rest) = by_key {
        return format!("keys: {}", rest.replacen(": --set gives ", ": set gives ", 1));
    }
    let Some((before, rest)) = text.split_once(DICT) else { return text.to_owned() };
    if before.contains(": ") {
        return text.to_owned();
    }
    format!("scenario{}", rest.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()).replacen(' ', ": ", 1))
}

/// The error for a panic, which is a defect of Flashlane.
pub(crate) fn panicked(cause: &(dyn std::any::Any + Send)) -> PyErr {
    let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref::<&str>().copied());
    error(format!("a defect of flashlane: {}", text.unwrap_or("it panicked")))
}

#[cfg(test)]
mod tests {
    use super::in_python;

    #[test]
    fn places_in_a_dict_have_no_lines() {
        assert_eq!(in_python("<dict>:5:20: seed = x: must be 3"), "scenario: seed = x: must be 3");
        assert_eq!(in_python("/a/<dict>:5:20: sweep.seeds: no"), "scenario: sweep.seeds: no");
        assert_eq!(in_python("<dict>: seed: no"), "scenario: seed: no");
        assert_eq!(in_python("--set: seed = 3: no"), "keys: seed = 3: no");
        assert_eq!(in_python("s.toml:1:2: name = \"<dict>\": no"), "s.toml:1:2: name = \"<dict>\": no");
    }
}
