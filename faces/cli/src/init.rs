//! `flashlane init`: writes a commented scenario to start from.

use std::path::Path;

use flashlane_outputs::shown;
use flashlane_outputs::{Existing, Inputs, OutFile};
use flashlane_scenario::TEMPLATE;

use crate::arguments;
use crate::fail::Failure;
use crate::signals;
use crate::text::print;

/// Writes the template to `file`, which must not exist.
pub fn write(file: &Path) -> Result<(), Failure> {
    signals::install_handlers()?;
    let existing = Existing::Keep("exists already and is left as it is; give another name");
    OutFile::create(file, existing, &Inputs::default())?.write_whole(TEMPLATE.as_bytes())?;
    let quoted = arguments::quoted(file.as_os_str().to_owned());
    print(&format!("wrote {}; run it with: flashlane compare {quoted}\n", shown::path(file)))
}
