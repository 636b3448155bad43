//! Limits on the size of a scenario, and on how much of a file is read.
//!
//! Promises that a file that is too long, or has no end (`/dev/zero`, standard input that is written for ever), is refused
//! after as many bytes as are legal, before anything is parsed, that a named pipe is refused before it is opened, and that
//! flows beyond the device's limit are not built.
//! Must never know a flow's keys.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flashlane_ssd::config::MAX_FLOWS;
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};

use super::flow::Flow;

/// The longest legal scenario, in bytes: some hundred thousand requests written out. Parsing takes up to eighty times
/// as much memory.
pub(super) const BYTES: u64 = 4 << 20;
/// The most schedulers of a comparison.
pub(super) const SCHEDULERS: usize = 1024;
/// The most seeds of a comparison.
pub(super) const SEEDS: u64 = 1000;
/// The most bytes in the name of a scheduler or a flow.
pub(super) const NAME: usize = 200;

/// Reads a number of seeds; that it is one of the legal ones is checked with its place.
pub(super) fn seeds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct Seeds;
    impl Visitor<'_> for Seeds {
        type Value = u64;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a whole number from 1 to {SEEDS}")
        }
        fn visit_i64<E: Error>(self, n: i64) -> Result<u64, E> {
            u64::try_from(n).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
        }
        fn visit_u64<E: Error>(self, n: u64) -> Result<u64, E> {
            Ok(n)
        }
    }
    deserializer.deserialize_u64(Seeds).map(Some)
}

/// What a file is, in messages.
pub(super) struct What {
    /// `scenario`.
    name: &'static str,
    /// Where what makes it too long belongs.
    too_long: &'static str,
    /// What writes one.
    written_by: &'static str,
}

pub(super) const SCENARIO: What = What {
    name: "scenario",
    too_long: "; requests by the million belong in a trace file, which a flow names with `trace`",
    written_by: "`flashlane init` writes a scenario to start from",
};
pub(super) const DEVICE_FILE: What =
    What { name: "device file", too_long: "", written_by: "`flashlane devices NAME` prints one to start from" };

/// The text of the file at `path`, or an error about the file.
pub(super) fn read(path: &Path, what: &What) -> Result<String, String> {
    let What { name, too_long, written_by } = what;
    let unreadable = |e: std::io::Error| format!("cannot read the {name}: {e}");
    // Before it is opened: opening a named pipe waits for a writer, which may never come.
    if is_named_pipe(path) {
        return Err(format!("is a named pipe; legal is a file, or /dev/stdin for a {name} from standard input"));
    }
    let file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if about.is_dir() {
        return Err(format!("is a folder; legal is a {name}, a TOML file"));
    }
    let mut bytes = Vec::new();
    if about.len() <= BYTES {
        file.take(BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if about.len().max(bytes.len() as u64) > BYTES {
        return Err(format!(
            "longer than {BYTES} bytes ({} MiB), the most that a {name} may have{too_long}",
            BYTES >> 20
        ));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        format!("not a text file: byte {} is not UTF-8; a {name} is TOML", e.utf8_error().valid_up_to())
    })?;
    if text.trim().is_empty() {
        return Err(format!("the file is empty; {written_by}"));
    }
    if let Some(at) = text.find('\0') {
        let line = text[..at].matches('\n').count() + 1;
        return Err(format!("not a text file: byte {at}, on line {line}, is 0; a {name} is TOML"));
    }
    Ok(text)
}

/// Whether `path` is a pipe with a name in a file system. Pipes that a process was started with (`/dev/stdin`,
/// `/dev/fd/63`) have a writer, or end.
#[cfg(unix)]
fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let inherited = path.starts_with("/dev") || path.starts_with("/proc");
    !inherited && std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_named_pipe(_: &Path) -> bool {
    false
}

/// Reads the flows, and stops where there are more than a device can have.
pub(super) fn flows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Flow>, D::Error> {
    struct Shape;
    impl<'de> Visitor<'de> for Shape {
        type Value = Vec<Flow>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Flow>, A::Error> {
            let mut flows = Vec::new();
            while let Some(flow) = items.next_element()? {
                if flows.len() == MAX_FLOWS {
                    return Err(A::Error::custom(format_args!(
                        "more than {MAX_FLOWS} flows; must be at most {MAX_FLOWS}"
                    )));
                }
                flows.push(flow);
            }
            Ok(flows)
        }
    }
    deserializer.deserialize_seq(Shape)
}
