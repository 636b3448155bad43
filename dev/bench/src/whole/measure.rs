//! Runs a case: under callgrind for its instructions, by itself for its CPU time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cost::Cost;
use super::{COUNTED, TIMED, WholeCase, input};
use crate::{callgrind, cpu};

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Timed runs; 0 for none.
    pub runs: u32,
    /// Whether to count instructions.
    pub count: bool,
}

/// Runs of the scene that are timed together: one is shorter than the clock's tick.
const SCENES: u32 = 50;

/// Measures `case` with the `flashlane` at `program`.
///
/// # Errors
/// Files that cannot be written, a program that fails.
pub fn measure(program: &Path, case: &WholeCase, effort: Effort) -> Result<Cost, String> {
    let instructions =
        if effort.count { Some(callgrind::whole(program, &arguments(program, case, COUNTED)?)?) } else { None };
    let args = if effort.runs > 0 { arguments(program, case, TIMED)? } else { Vec::new() };
    let mut seconds = (0..effort.runs).map(|_| timed(program, case, &args)).collect::<Result<Vec<f64>, String>>()?;
    seconds.sort_unstable_by(f64::total_cmp);
    Ok(Cost { instructions, seconds })
}

/// Measures `case` with two programs in turn, so that what disturbs the machine disturbs both: the CPU times in seconds of each pair of
/// runs, the program beside first.
///
/// # Errors
/// Files that cannot be written, a program that fails.
pub fn measure_pairs(beside: &Path, program: &Path, case: &WholeCase, runs: u32) -> Result<Vec<(f64, f64)>, String> {
    let args = arguments(program, case, TIMED)?;
    (0..runs).map(|_| Ok((timed(beside, case, &args)?, timed(program, case, &args)?))).collect()
}

/// CPU time of one run, in seconds.
fn timed(program: &Path, case: &WholeCase, args: &[String]) -> Result<f64, String> {
    let times = if case.replay.is_none() { SCENES } else { 1 };
    let before = cpu::seconds_of_children()?;
    for _ in 0..times {
        run(program, args)?;
    }
    Ok((cpu::seconds_of_children()? - before) / f64::from(times))
}

/// The command line of a case with this number of requests.
fn arguments(program: &Path, case: &WholeCase, requests: u64) -> Result<Vec<String>, String> {
    let several = case.schedulers.contains(',');
    let mut args: Vec<String> = match several {
        true => ["compare", "--seeds", "1", "--schedulers", case.schedulers].map(Into::into).to_vec(),
        false => vec!["run".into(), "--scheduler".into(), case.schedulers.into()],
    };
    args.extend(["--jobs", "1"].map(String::from));
    match case.replay {
        None => args.push(scene().display().to_string()),
        Some(replay) => {
            let folder = program.parent().ok_or("the program lies in no folder")?.join("bench-traces");
            let (scenario, trace) = input::files(&folder, replay, requests)?;
            args.extend([scenario.display().to_string(), "--trace".into(), trace.display().to_string()]);
        }
    }
    Ok(args)
}

/// A scenario of a few requests that are written out.
fn scene() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/golden/a-slk-01.toml")
}

fn run(program: &Path, args: &[String]) -> Result<(), String> {
    let output = Command::new(program)
        .args(args)
        .stdout(Stdio::piped())
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} {}: {}\n{message}", program.display(), args.join(" "), output.status));
    }
    Ok(())
}
