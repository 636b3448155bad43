//! What was changed of a served drive while it was recorded (`flashlane ctl`), and by which build from which state.
//!
//! A change is a line of the record, `#! ns scheduler NAME` (or a mix as JSON) or `#! ns priority FLOW N`: a comment for whoever reads the
//! requests only. It holds for what comes after it; requests of its instant come before it.

use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::base::Fitted;
use super::scheduler::SchedulerChoice;

/// How a line of a change begins.
const CHANGE: &[u8] = b"#! ";

/// How the lines of the head begin that say by what the record was made, and in which state the drive was.
const BUILD: &str = "# recorded by: flashlane ";
const STATE: &str = "# state before the first request: ";
/// Of a drive whose device came from a file: a [`RecordedFile`] as JSON.
const DEVICE_FILE: &str = "# device file: ";

/// The most bytes of a line of a change, and the most changes of a record.
const LINE_BYTES: usize = 64 << 10;
const MAX_CHANGES: usize = 100_000;

/// What a record says besides the drive and its requests.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Recording {
    /// The record.
    pub file: std::path::PathBuf,
    /// The name of the scheduler at the beginning.
    pub scheduler: String,
    /// The build that served it: version and figures.
    pub build: String,
    /// A hash of what determines the drive's state before the first request, and what the record says of that state.
    pub state: String,
    /// The file that the device came from.
    pub device_file: Option<RecordedFile>,
    /// Changes, in order of their instants.
    pub changes: Vec<RecordedChange>,
}

/// The file that a recorded drive's device came from. Its values are in the record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedFile {
    /// Its name without folders.
    pub name: String,
    /// The name, and what the served scenario had otherwise.
    pub described: String,
    /// What it was fitted for.
    pub fitted: Fitted,
}

impl RecordedFile {
    /// The longest description: that of a device all of whose keys differ is shorter.
    const LONGEST: usize = 16 << 10;

    fn checked(self) -> Result<RecordedFile, String> {
        let is_name = Path::new(&self.name).file_name().is_some_and(|name| name == self.name.as_str());
        let is_text = !self.described.contains(char::is_control) && self.described.len() <= RecordedFile::LONGEST;
        if is_name && is_text && self.described.starts_with(&self.name) {
            return Ok(self);
        }
        Err("expected the name of a file without folders, and a description that begins with it".into())
    }
}

/// A change that was made while the drive was recorded.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedChange {
    /// The line of the record, from 1 on.
    pub line: u64,
    /// When it was made, simulated ns.
    pub ns: u64,
    /// What was changed.
    pub change: Change,
}

/// A change of a served drive.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Another scheduler decides once the drive has drained.
    Scheduler(SchedulerChoice),
    /// Commands of this flow, by number, that enter from then on have this priority.
    Priority {
        /// The flow's number.
        flow: u16,
        /// Its priority, 0 lowest.
        priority: u8,
    },
}

impl Change {
    /// The line of a record that says so.
    pub fn line(&self, ns: u64) -> String {
        let mut line = format!("#! {ns} ");
        let _ = match self {
            Change::Scheduler(choice) => {
                let choice = serde_json::to_string(choice).expect("a choice with text keys has a JSON form");
                writeln!(line, "scheduler {choice}")
            }
            Change::Priority { flow, priority } => writeln!(line, "priority {flow} {priority}"),
        };
        line
    }

    fn parse(line: &[u8]) -> Option<(u64, Change)> {
        let line = std::str::from_utf8(line).ok()?;
        let (ns, change) = line.split_once(' ')?;
        let change = match change.split_once(' ')? {
            ("scheduler", choice) => Change::Scheduler(serde_json::from_str(choice).ok()?),
            ("priority", both) => {
                let (flow, priority) = both.split_once(' ')?;
                Change::Priority { flow: flow.parse().ok()?, priority: priority.parse().ok().filter(|&p| p < 8)? }
            }
            _ => return None,
        };
        Some((ns.parse().ok()?, change))
    }
}

impl Recording {
    /// The lines of the head that say what made the record and in which state the drive was.
    pub(super) fn about(build: &str, state: &str, device_file: Option<&RecordedFile>) -> String {
        let mut lines = format!("{BUILD}{build}\n{STATE}{state}\n");
        if let Some(file) = device_file {
            let file = serde_json::to_string(file).expect("plain values have a JSON form");
            let _ = writeln!(lines, "{DEVICE_FILE}{file}");
        }
        lines
    }

    /// Takes a line of the head, if it says what made the record, in which state the drive was, or where its device came from.
    ///
    /// # Errors
    /// A device file that is not said as it should be.
    pub(super) fn take(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim_end_matches('\n');
        if let Some(build) = line.strip_prefix(BUILD) {
            build.clone_into(&mut self.build);
        } else if let Some(state) = line.strip_prefix(STATE) {
            state.clone_into(&mut self.state);
        } else if let Some(file) = line.strip_prefix(DEVICE_FILE) {
            let file: RecordedFile = serde_json::from_str(file).map_err(|why| format!("`{DEVICE_FILE}`: {why}"))?;
            self.device_file = Some(file.checked().map_err(|why| format!("`{DEVICE_FILE}`: {why}"))?);
        }
        Ok(())
    }

    /// Reads the changes among the requests; `number` lines of the record come before them.
    ///
    /// # Errors
    /// A file that cannot be read; a change that is none, or is out of order: its line, and why.
    pub(super) fn read_changes(&mut self, mut input: impl BufRead, mut number: u64) -> Result<(), (u64, String)> {
        let mut line = Vec::new();
        while next_change(&mut input, &mut line, &mut number)
            .map_err(|why| (number, format!("cannot be read: {why}")))?
        {
            let shown = || String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            let Some((ns, change)) = Change::parse(&line[CHANGE.len()..]) else {
                let legal = "must be `#! NS scheduler NAME` or `#! NS priority FLOW N` with a priority from 0 to 7";
                return Err((number, format!("a change, {:?}, {legal}", shown())));
            };
            if self.changes.last().is_some_and(|before| before.ns > ns) {
                return Err((number, format!("a change, {:?}, must not be before the one above it", shown())));
            }
            if self.changes.len() == MAX_CHANGES {
                return Err((number, format!("has more than {MAX_CHANGES} changes")));
            }
            self.changes.push(RecordedChange { line: number, ns, change });
        }
        Ok(())
    }
}

/// Puts the next line of a change into `line`, without its end; whether there is one. Other lines are skipped, however long they are, and a
/// last line without an end, which was cut off. `number` counts the lines that have ended.
fn next_change(input: &mut impl BufRead, line: &mut Vec<u8>, number: &mut u64) -> io::Result<bool> {
    line.clear();
    let mut is_skipped = false;
    loop {
        let bytes = match input.fill_buf() {
            Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok(false);
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        if !is_skipped {
            line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            let begins = CHANGE.len().min(line.len());
            is_skipped = line[..begins] != CHANGE[..begins] || line.len() > LINE_BYTES;
        }
        let used = end.map_or(bytes.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            *number += 1;
            if !is_skipped && line.len() >= CHANGE.len() {
                return Ok(true);
            }
            line.clear();
            is_skipped = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read(text: &str, buffer: usize) -> Result<Vec<RecordedChange>, (u64, String)> {
        let mut recording = Recording::default();
        recording.read_changes(BufReader::with_capacity(buffer, text.as_bytes()), 7)?;
        Ok(recording.changes)
    }

    /// Every change comes back, through buffers of any size, between requests and comments; a last line that was cut off is left out.
    #[test]
    fn changes_are_read_as_they_were_written() {
        let mix = "{\"base\":\"flin\",\"preempt\":\"never\",\"name\":\"a b\"}";
        let changes = [
            (5, Change::Scheduler(SchedulerChoice::Named("flin".into()))),
            (5, Change::Priority { flow: 3, priority: 7 }),
            (1 << 60, Change::Scheduler(serde_json::from_str(mix).expect("a mix"))),
        ];
        let mut text = String::from("0,1,2,3,read,0\n# a comment\n#!\n");
        for (ns, change) in &changes {
            text.push_str(&change.line(*ns));
            text.push_str("1,9,8192,4096,write,1\n");
        }
        text.push_str("#! 1152921504606846977 priority 1 ");
        let made = |(at, (ns, change)): (u64, (u64, Change))| RecordedChange { line: 11 + 2 * at, ns, change };
        let changes: Vec<RecordedChange> = (0..).zip(changes).map(made).collect();
        for buffer in [1, 2, 3, 7, 64, 4096] {
            assert_eq!(read(&text, buffer).as_ref(), Ok(&changes), "{buffer}");
        }
    }

    #[test]
    fn what_is_no_change_is_refused() {
        for line in ["x priority 0 1", "5 priority 0 8", "5 priority 0", "5 scheduler flin", "5 pause", "5"] {
            let (at, why) = read(&format!("#! {line}\n"), 64).expect_err(line);
            assert!(at == 8 && why.contains(line) && why.contains("must be"), "{at}: {why}");
        }
        let (at, why) = read("#! 7 priority 0 1\n#! 6 priority 0 1\n", 64).expect_err("back in time");
        assert!(at == 9 && why.contains("must not be before"), "{at}: {why}");
        assert_eq!(read(&format!("#! 5 priority {}\n", "0".repeat(LINE_BYTES)), 64), Ok(Vec::new()), "no line of ours");
    }
}
