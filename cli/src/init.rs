//! `flashlane init`: writes a commented scenario to start from.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use flashlane_lab::scenario::TEMPLATE;
use flashlane_lab::shown;

use crate::fail::Failure;
use crate::text::print;

/// Writes the template to `file`, which must not exist.
pub fn write(file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    let mut created = OpenOptions::new().write(true).create_new(true).open(file).map_err(|e| {
        Failure::Input(match e.kind() {
            ErrorKind::AlreadyExists => format!("{shown}: exists already and is left as it is; give another name"),
            _ => format!("{shown}: cannot be written: {e}"),
        })
    })?;
    if let Err(e) = created.write_all(TEMPLATE.as_bytes()) {
        // Half a scenario would be worse than none; when even the removal fails, the first fault is the one to tell.
        drop(created);
        let _ = std::fs::remove_file(file);
        return Err(Failure::Fault(format!("{shown}: cannot be written: {e}")));
    }
    let shown = shown::path(file);
    print(&format!("wrote {shown}; run it with: flashlane compare {shown}\n"))
}
