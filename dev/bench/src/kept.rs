//! The files that keep what was measured, in dev/bench/tables: each is written as a whole, by the program that measured it.

use std::fs;
use std::path::Path;

/// The figures of whole processes.
pub const WHOLE: &str = "whole.txt";
/// Those of a build with checks.
pub const CHECKS: &str = "checks.txt";
/// The figures of the engine.
pub const ENGINE: &str = "engine.txt";
/// What watching costs.
pub const WATCHING: &str = "watching.txt";
/// The scaling runs.
pub const SCALING: &str = "scaling.txt";
/// What recommendations come to.
pub const RECOMMENDING: &str = "recommending.txt";
/// Modelled drives beside real ones.
pub const REAL: &str = "real.txt";

/// Writes the file `name` of `folder`, which is there already.
///
/// # Errors
/// A file that is not there or cannot be written; it is then as before.
pub fn write(folder: &Path, name: &str, figures: &str) -> Result<(), String> {
    let path = folder.join(name);
    let fault = |e: std::io::Error| format!("{}: {e}", path.display());
    fs::metadata(&path).map_err(fault)?;
    // Written to another file and renamed, so that a full disk leaves the old one intact.
    let beside = path.with_extension("txt.new");
    fs::write(&beside, format!("{}\n", figures.trim())).and_then(|()| fs::rename(&beside, &path)).map_err(|e| {
        // The old file is intact; an incomplete new one is of no use.
        let _ = fs::remove_file(&beside);
        fault(e)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_none_is_made() {
        let folder = std::env::temp_dir().join(format!("flashlane-tables-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(write(&folder, WHOLE, "new").unwrap_err().contains("whole.txt"), "a wrong folder is said");
        fs::write(folder.join(WHOLE), "old").unwrap();
        write(&folder, WHOLE, "\nnew\n\n").unwrap();
        assert_eq!(fs::read_to_string(folder.join(WHOLE)).unwrap(), "new\n");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
