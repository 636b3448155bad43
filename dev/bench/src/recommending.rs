//! What `flashlane recommend` finds, and how long it takes: whole processes on the shipped scenarios, and on traces of the reader's.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use flashlane_report::results::{Judged, Recommendation};

/// The shipped scenarios, each measured against `fcfs`: how that is said where they have a list of schedulers, and where they have one.
const LIST: &str = "schedulers=[\"fcfs\"]";
const ONE: &str = "scheduler=\"fcfs\"";
const SCENARIOS: [(&str, &str); 8] = [
    ("two-tenants", LIST),
    ("noisy-neighbour", LIST),
    ("gc-pressure", LIST),
    ("free-mix", LIST),
    ("behind-a-host", ONE),
    ("mqsim-reference", ONE),
    ("trace-template", LIST),
    ("mixing", LIST),
];
/// Traces by the names of their files and how much faster than recorded they are replayed; those that are not there are left out.
const TRACES: [(&str, &str); 5] = [
    ("msr-cut-rw40.heimdall", "16"),
    ("tpcc-small.mqsim", "0.2"),
    ("ssdsim-example.ascii", "300"),
    ("wsrch-small.mqsim", "113"),
    ("msnfs.disksim.gz", "21"),
];
/// The device of the traces.
const DEVICE: &str = "slacker-asplos17";

/// Measures all with the `flashlane` at `program`, the scenarios in the folder `scenarios` and the traces in `traces`, with so many `jobs`.
/// Returns the table.
///
/// # Errors
/// A program that fails.
pub fn table(program: &Path, scenarios: &Path, traces: Option<&Path>, jobs: u32) -> Result<String, String> {
    let mut text = String::from(
        "| workload | requests | runs | s | to take | its mean over that of fcfs, where chosen and where judged | over that of late | largest change of a flow's p99 | write amplification | over the ceiling |\n\
         |---|---:|---:|---:|---|---|---:|---:|---:|---:|\n",
    );
    for (name, first) in SCENARIOS {
        let path = scenarios.join(format!("{name}.toml")).display().to_string();
        text += &row(name, program, &[&path, "--set", first], jobs)?;
    }
    for (name, speedup) in TRACES {
        let Some(path) = traces.map(|folder| folder.join(name)).filter(|path| path.is_file()) else {
            eprintln!("SKIPPED: {name} is not there");
            continue;
        };
        let path = path.display().to_string();
        let args = ["--trace", &path, "--speedup", speedup, "--beyond", "wrap", "--device", DEVICE];
        text += &row(&format!("{name}, x{speedup}"), program, &args, jobs)?;
    }
    Ok(text)
}

/// The row of one workload.
fn row(name: &str, program: &Path, args: &[&str], jobs: u32) -> Result<String, String> {
    let jobs = jobs.to_string();
    let mut command = Command::new(program);
    command.arg("recommend").args(args).args(["--json", "--jobs", &jobs]).stdin(Stdio::null());
    let begun = Instant::now();
    let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    let seconds = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("recommend {args:?}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let made = serde_json::from_slice(&output.stdout).map_err(|error| format!("recommend {args:?}: {error}"))?;
    eprintln!("measured {name}");
    Ok(rendered(name, seconds, &made))
}

fn rendered(name: &str, seconds: f64, made: &Recommendation) -> String {
    let begin = format!("| {name} | {} | {} | {seconds:.1} |", made.requests, made.runs);
    if let Some(why) = &made.refusal {
        return format!("{begin} `{}`, the default: {why} | - | - | - | - | - |\n", made.default);
    }
    let Some(take) = made.take.map(|take| &made.judged[take]) else {
        return format!("{begin} nothing keeps the limits | - | - | - | - | - |\n");
    };
    let first = &made.judged[0];
    let default = made.judged.iter().find(|judged| judged.name == made.default);
    let gap = take.ceiling.and_then(|gap| gap.mean_free);
    let ratio = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.3}"));
    let amplification = take.figures.write_amplification.zip(first.figures.write_amplification);
    format!(
        "{begin} {}{} | {:.3}, {:.3} | {} | {} | {} | {} |\n",
        code(&take.written),
        not_taken(made, take),
        take.chosen_ratio,
        take.ratio,
        ratio(default.map(|default| take.ratio / default.ratio)),
        worst_p99(take, first).map_or_else(|| "-".into(), |change| format!("{change:+.0} %")),
        amplification.map_or_else(|| "-".into(), |(own, first)| format!("{own:.2} ({first:.2})")),
        ratio(gap),
    )
}

/// Why the best found is not what to take.
fn not_taken(made: &Recommendation, take: &Judged) -> String {
    let default = made.judged.iter().find(|judged| judged.name == made.default && judged.name != take.name);
    let default = default
        .filter(|default| !default.broken.is_empty())
        .map(|default| format!("; `{}` breaks a limit ({})", default.name, default.broken.join(", ")));
    let best = made.judged.iter().find(|judged| judged.is_best && judged.name != take.name);
    let best = best.filter(|best| best.name != made.default).map(|best| match best.broken.is_empty() {
        true => format!(
            "; {} was {:.3} of its mean where chosen, is {:.3} where judged",
            code(&best.written),
            best.chosen_ratio / take.chosen_ratio,
            best.ratio / take.ratio
        ),
        false => format!("; {} breaks a limit where judged", code(&best.written)),
    });
    default.into_iter().chain(best).collect()
}

fn code(written: &str) -> String {
    format!("`{}`", written.trim_matches('"'))
}

/// The largest change of a flow's p99, percent.
fn worst_p99(own: &Judged, first: &Judged) -> Option<f64> {
    let pairs =
        own.figures.flows.iter().zip(&first.figures.flows).filter_map(|(own, first)| Some((own.all?, first.all?)));
    pairs.map(|(own, first)| 100.0 * (own.p99_ns / first.p99_ns - 1.0)).max_by(f64::total_cmp)
}
