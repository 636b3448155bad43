//! Outputs of one command that would take each other's place: refused before anything runs.

use std::path::{Path, PathBuf};

use flashlane_outputs::shown;
use flashlane_outputs::{is_inside, same_place};
use flashlane_scenario::Scenario;

use crate::args::{Output, Workload};
use crate::fail::Failure;
use crate::timeline;

/// Refuses two outputs with one place, and files in the results folder that are no part of it: that folder is replaced as a whole. A
/// report inside it is a part of it.
pub fn check(workload: &Workload, scenario: &Scenario, output: &Output) -> Result<(), Failure> {
    let mut files: Vec<(&str, PathBuf)> = Vec::new();
    if let Some(path) = &output.timeline {
        files.extend(timeline::files(scenario, path)?.into_iter().map(|(_, file)| ("--timeline", file)));
    }
    files.extend(workload.state.clone().map(|path| ("--state", path)));
    if let Some(out) = &output.out
        && let Some((flag, path)) = files.iter().find(|(_, path)| is_inside(path, out))
    {
        return Err(refused(
            flag,
            path,
            "is in the results folder --out, which is replaced as a whole; name another place",
        ));
    }
    files.extend(output.report.clone().map(|path| ("--report", path)));
    for (place, (flag, path)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..place].iter().find(|(_, earlier)| same_place(earlier, path)) {
            return Err(refused(flag, path, &format!("is the place of {other} too; give them names of their own")));
        }
    }
    Ok(())
}

fn refused(flag: &str, path: &Path, message: &str) -> Failure {
    Failure::Input(format!("{flag} {}: {message}", shown::path(path)))
}
