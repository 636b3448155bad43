//! What watching a run costs: whole processes of `flashlane run` with each option that watches, beside a plain one.

use std::fs;
use std::path::Path;

use crate::callgrind;
use crate::whole::{Drive, Workload, files};

/// Requests of a counted run.
const COUNTED: u64 = 10_000;

/// The options; `OUT` stands for a folder of the run's own. The first is a plain run.
const OPTIONS: [&[&str]; 8] = [
    &[],
    &["--slack"],
    &["--shadow-estimator"],
    &["--out", "OUT/results"],
    &["--out", "OUT/results", "--transactions"],
    &["--audit"],
    &["--report", "OUT/report.html"],
    &["--timeline", "OUT/run.perfetto"],
];

/// Counts the instructions of all options with the `flashlane` at `program`. Returns the table.
///
/// # Errors
/// Files that cannot be written, a program that fails.
pub fn table(program: &Path) -> Result<String, String> {
    let folder = program.parent().ok_or("the program lies in no folder")?.join("bench-traces");
    let mut text = String::from("| case | million instructions, 10,000 requests | times plain |\n|---|---:|---:|\n");
    for workload in Workload::ALL {
        let mut plain = None;
        for options in OPTIONS {
            let (name, count) = measure(program, &folder, workload, options)?;
            eprintln!("measured {name}");
            text += &rendered(&name, count, *plain.get_or_insert(count));
        }
    }
    Ok(text)
}

/// What is measured, and its instructions.
fn measure(program: &Path, folder: &Path, workload: Workload, options: &[&str]) -> Result<(String, u64), String> {
    let own = folder.join("watching");
    let _ = fs::remove_dir_all(&own);
    fs::create_dir_all(&own).map_err(|e| format!("{}: {e}", own.display()))?;
    let (scenario, trace) = files(folder, (workload, Drive::Small), COUNTED)?;
    let count = callgrind::whole(program, &arguments(&scenario, &trace, options, &own))?;
    let _ = fs::remove_dir_all(&own);
    let option: Vec<&str> = options.iter().copied().filter(|word| word.starts_with("--")).collect();
    let option = if option.is_empty() { "plain".to_owned() } else { option.join(" ") };
    Ok((format!("{}, {option}", workload.name()), count))
}

fn arguments(scenario: &Path, trace: &Path, options: &[&str], own: &Path) -> Vec<String> {
    let mut words: Vec<String> = ["run", "--scheduler", "fr-fcfs", "--jobs", "1"].map(String::from).into();
    words.extend([scenario.display().to_string(), "--trace".into(), trace.display().to_string()]);
    words.extend(options.iter().map(|word| word.replace("OUT", &own.display().to_string())));
    words
}

fn rendered(name: &str, count: u64, plain: u64) -> String {
    format!("| {name} | {:.1} | {:.2} |\n", count as f64 / 1e6, count as f64 / plain.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_it_is_beside_the_plain_one() {
        assert_eq!(rendered("mix, --audit", 350_000_000, 100_000_000), "| mix, --audit | 350.0 | 3.50 |\n");
    }

    #[test]
    fn every_option_has_a_place_of_its_own_for_what_it_writes() {
        for options in OPTIONS {
            let words = arguments(Path::new("s.toml"), Path::new("t.trace"), options, Path::new("own"));
            assert!(words.iter().all(|word| !word.contains("OUT")), "{words:?}");
            assert_eq!(words[..5], ["run", "--scheduler", "fr-fcfs", "--jobs", "1"]);
        }
    }
}
