//! What watching a run costs: whole processes of `flashlane run` with each option that watches, beside a plain one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::whole::{Drive, Workload, files};
use crate::{callgrind, cpu};

/// Requests of a counted run, and of a timed one.
const COUNTED: u64 = 10_000;
const TIMED: u64 = 200_000;

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

/// What one option costs.
struct Row {
    name: String,
    instructions: Option<u64>,
    /// CPU and wall time, the lowest of the runs: a machine that others use makes it longer, never shorter.
    seconds: Option<[f64; 2]>,
}

/// Measures all options with the `flashlane` at `program`; `jobs` are the threads of a timed run. Returns the table.
///
/// # Errors
/// Files that cannot be written, a program that fails.
pub fn table(program: &Path, count: bool, runs: u32, jobs: u32) -> Result<String, String> {
    let folder = program.parent().ok_or("the program lies in no folder")?.join("bench-traces");
    let mut text = String::from(
        "| case | million instructions, 10,000 requests | times plain | CPU s, 200,000 requests | times plain | wall s | times plain |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for workload in Workload::ALL {
        let mut plain: Option<Row> = None;
        for options in OPTIONS {
            let row = measure(program, &folder, workload, options, (count, runs, jobs))?;
            eprintln!("measured {}", row.name);
            text += &rendered(&row, plain.as_ref().unwrap_or(&row));
            plain.get_or_insert(row);
        }
    }
    Ok(text)
}

fn measure(
    program: &Path,
    folder: &Path,
    workload: Workload,
    options: &[&str],
    (count, runs, jobs): (bool, u32, u32),
) -> Result<Row, String> {
    let own = folder.join("watching");
    let words = |requests: u64, jobs: u32| {
        let _ = fs::remove_dir_all(&own);
        fs::create_dir_all(&own).map_err(|e| format!("{}: {e}", own.display()))?;
        let (scenario, trace) = files(folder, (workload, Drive::Small), requests)?;
        Ok::<_, String>(arguments(&scenario, &trace, options, (&own, jobs)))
    };
    let instructions = if count { Some(callgrind::whole(program, &words(COUNTED, 1)?)?) } else { None };
    let mut seconds: Option<[f64; 2]> = None;
    for _ in 0..runs {
        let words = words(TIMED, jobs)?;
        let (before, begun) = (cpu::seconds_of_children()?, Instant::now());
        run(program, &words)?;
        let wall = begun.elapsed().as_secs_f64();
        let used = cpu::seconds_of_children()? - before;
        seconds = Some(seconds.map_or([used, wall], |[cpu, lowest]| [cpu.min(used), lowest.min(wall)]));
    }
    let _ = fs::remove_dir_all(&own);
    let option: Vec<&str> = options.iter().copied().filter(|word| word.starts_with("--")).collect();
    let option = if option.is_empty() { "plain".to_owned() } else { option.join(" ") };
    Ok(Row { name: format!("{}, {option}", workload.name()), instructions, seconds })
}

fn arguments(scenario: &Path, trace: &Path, options: &[&str], (own, jobs): (&PathBuf, u32)) -> Vec<String> {
    let mut words: Vec<String> = ["run", "--scheduler", "fr-fcfs", "--jobs"].map(String::from).into();
    words.extend([jobs.to_string(), scenario.display().to_string(), "--trace".into(), trace.display().to_string()]);
    words.extend(options.iter().map(|word| word.replace("OUT", &own.display().to_string())));
    words
}

fn run(program: &Path, words: &[String]) -> Result<(), String> {
    let output = Command::new(program).args(words).stdout(Stdio::null()).output();
    let output = output.map_err(|e| format!("{}: {e}", program.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} {}: {}\n{message}", program.display(), words.join(" "), output.status));
    }
    Ok(())
}

fn rendered(row: &Row, plain: &Row) -> String {
    let cells = |own: Option<f64>, plain: Option<f64>, digits: usize| match own.zip(plain) {
        Some((own, plain)) => format!("{own:.digits$} | {:.2}", own / plain.max(1e-9)),
        None => "not measured | ".to_owned(),
    };
    let millions = |row: &Row| row.instructions.map(|count| count as f64 / 1e6);
    let time = |row: &Row, which: usize| row.seconds.map(|seconds| seconds[which]);
    format!(
        "| {} | {} | {} | {} |\n",
        row.name,
        cells(millions(row), millions(plain), 1),
        cells(time(row, 0), time(plain, 0), 2),
        cells(time(row, 1), time(plain, 1), 2)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_it_is_beside_the_plain_one() {
        let row = |count, seconds| Row { name: "mix, --audit".into(), instructions: Some(count), seconds };
        let plain = row(100_000_000, Some([0.5, 0.25]));
        assert_eq!(
            rendered(&row(350_000_000, Some([1.0, 0.5])), &plain),
            "| mix, --audit | 350.0 | 3.50 | 1.00 | 2.00 | 0.50 | 2.00 |\n"
        );
        assert_eq!(
            rendered(&row(1_000_000, None), &plain),
            "| mix, --audit | 1.0 | 0.01 | not measured |  | not measured |  |\n"
        );
    }

    #[test]
    fn every_option_has_a_place_of_its_own_for_what_it_writes() {
        for options in OPTIONS {
            let own = PathBuf::from("own");
            let words = arguments(Path::new("s.toml"), Path::new("t.trace"), options, (&own, 2));
            assert!(words.iter().all(|word| !word.contains("OUT")), "{words:?}");
            assert_eq!(words[..5], ["run", "--scheduler", "fr-fcfs", "--jobs", "2"]);
        }
    }
}
