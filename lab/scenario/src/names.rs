//! Which names schedulers and flows may have.
//!
//! A scheduler's rows are written to a folder of its name inside the results folder. So the name must be valid for a
//! folder on every system, must not be that of a result file, and must differ from the others even where case is
//! ignored. Must never know which schedulers there are.

use std::path::{Path, PathBuf};

use super::limits::NAME;
use flashlane_outputs::shown::is_plain;

/// Endings of the files that a results folder holds: `summary.json`, `requests.parquet`, a report.
const OURS: [&str; 5] = [".json", ".parquet", ".csv", ".html", ".partial"];

/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Checks `name` as the name of a scheduler.
pub(super) fn of_scheduler(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("must be a name; `flashlane schedulers` lists them".into());
    }
    length(name)?;
    let awkward = |c: char| !is_plain(c) || "/\\:*?\"<>|".contains(c);
    if name.starts_with('.') || name.contains(awkward) {
        return Err("must not begin with a dot or contain / \\ : * ? \" < > | or characters that cannot be seen".into());
    }
    if name.starts_with(' ') || name.ends_with(['.', ' ']) {
        return Err("must not begin with a space or end in a dot or a space: results have a folder of this name".into());
    }
    let lower = name.to_lowercase();
    if let Some(ending) = OURS.iter().find(|ending| lower.ends_with(**ending)) {
        return Err(format!("must not end in {ending}: a results folder has files of such names beside its folders"));
    }
    let stem = lower.split('.').next().unwrap_or_default().trim_end();
    let numbered = ["com", "lpt"].iter().any(|port| {
        stem.strip_prefix(port)
            .is_some_and(|rest| rest.chars().count() == 1 && rest.contains(|c| "123456789¹²³".contains(c)))
    });
    if numbered || DEVICES.contains(&stem) {
        return Err("must not be the name of a Windows device, which no folder can have".into());
    }
    Ok(())
}

/// Whether two schedulers would share a folder on some system.
pub(super) fn clash(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// Checks `name` as the name of a flow.
pub(super) fn of_flow(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("must not be empty".into());
    }
    length(name)?;
    match name.chars().find(|&c| !is_plain(c)) {
        Some(c) => Err(format!("must not contain characters that cannot be seen, such as {}", c.escape_unicode())),
        None => Ok(()),
    }
}

/// The names of flows that are given a name, or a trace, or neither, as results show them: that of a trace is its file's up to the first dot.
pub(super) fn of_flows(flows: &[(Option<String>, Option<PathBuf>)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(flows.len());
    for (i, (given, trace)) in flows.iter().enumerate() {
        let own = || trace.as_deref().map_or_else(|| format!("flow{i}"), stem);
        let is_taken =
            |name: &String| names.contains(name) || flows.iter().any(|(given, _)| given.as_ref() == Some(name));
        let name = given.clone().unwrap_or_else(|| unused(own(), is_taken));
        names.push(name);
    }
    names
}

/// `name`, or `name-2`, `name-3`, ... when it is taken: one trace may be replayed by two flows.
fn unused(name: String, is_taken: impl Fn(&String) -> bool) -> String {
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name)).unwrap_or(name)
}

/// The file's name up to its first dot, not counting a leading one.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    match name.char_indices().skip(1).find(|&(_, c)| c == '.') {
        Some((end, _)) => name[..end].to_owned(),
        None => name,
    }
}

fn length(name: &str) -> Result<(), String> {
    match name.len() {
        0..=NAME => Ok(()),
        bytes => Err(format!("is {bytes} bytes long; must be at most {NAME}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_are_legal() {
        for name in ["fcfs", "fr-fcfs+collect=when-idle", "größe 2", "a.b", "console", "com10", "summary"] {
            assert_eq!(of_scheduler(name), Ok(()), "{name}");
        }
        assert_eq!(of_scheduler(&"x".repeat(NAME)), Ok(()));
    }

    #[test]
    fn names_that_no_folder_can_have_are_refused() {
        let long = "x".repeat(300);
        for (name, says) in [
            ("", "must be a name"),
            (".", "dot"),
            ("..", "dot"),
            (".hidden", "dot"),
            ("a/b", "/ \\"),
            ("a\0b", "cannot be seen"),
            ("a\nb", "cannot be seen"),
            ("a\u{202e}b", "cannot be seen"),
            ("a.", "end in a dot"),
            ("a ", "a space"),
            (" a", "a space"),
            ("summary.json", ".json"),
            ("Summary.JSON", ".json"),
            ("flashlane-files.json", ".json"),
            ("requests.parquet", ".parquet"),
            ("transactions.csv", ".csv"),
            ("report.html", ".html"),
            ("NUL", "Windows"),
            ("con.fast", "Windows"),
            ("Com1", "Windows"),
            ("lpt9.x", "Windows"),
            (long.as_str(), "300 bytes long; must be at most 200"),
        ] {
            let why = of_scheduler(name).expect_err(name);
            assert!(why.contains(says), "{name:?}: {why}");
        }
    }

    #[test]
    fn case_does_not_tell_folders_apart() {
        assert!(clash("fcfs", "Fcfs") && clash("GRÖSSE", "grösse") && !clash("fcfs", "fcfs-2"));
    }

    #[test]
    fn flows_may_be_called_anything_that_can_be_read() {
        assert!(of_flow("a/b: *?") == Ok(()) && of_flow("日本語") == Ok(()));
        assert!(of_flow("").is_err() && of_flow("a\x1b[2J").is_err() && of_flow(&"x".repeat(201)).is_err());
    }
}
