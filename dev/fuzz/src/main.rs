//! The fuzzer as a program: `cargo run -p flashlane-fuzz -- --help`, or `make fuzz`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser};
use flashlane_fuzz::engine::{Effort, Failure, TIMEOUT, campaign, feed_one};
use flashlane_fuzz::{Target, targets};

/// Feeds mangled input to every reader
#[derive(Parser)]
struct Arguments {
    /// Only these targets
    #[arg(value_name = "TARGET", value_parser = names())]
    targets: Vec<String>,
    /// How long, for each target
    #[arg(long, value_name = "N", default_value_t = 30)]
    seconds: u64,
    /// How many inputs instead: the same ones every time
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    inputs: Option<u64>,
    /// Where to begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Feeds this file once to one target: an input saved by an earlier failure
    #[arg(long, value_name = "FILE", requires = "targets")]
    again: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    targets::ALL.iter().map(|target| PossibleValue::new(target.name).help(target.about)).into()
}

fn main() -> ExitCode {
    match execute(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("flashlane-fuzz: {message}");
            ExitCode::from(2)
        }
    }
}

fn execute(arguments: Arguments) -> Result<bool, String> {
    let is_named = |target: &&Target| arguments.targets.iter().any(|name| name == target.name);
    let named: Vec<Target> = targets::ALL.iter().filter(is_named).copied().collect();
    if let Some(path) = arguments.again {
        let [target] = named.as_slice() else { return Err("--again needs one target".into()) };
        let input = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let answer = feed_one(target, &input);
        println!("{}", answer.as_ref().unwrap_or_else(|panic| panic));
        return Ok(answer.is_ok());
    }
    let seconds = Effort::Time(Duration::from_secs(arguments.seconds));
    let effort = arguments.inputs.map_or(seconds, Effort::Inputs);
    let mut clean = true;
    for target in if named.is_empty() { targets::ALL.to_vec() } else { named } {
        match campaign(target, arguments.seed, effort, TIMEOUT) {
            Ok(stats) => {
                println!(
                    "{:<18} {} inputs, {} different answers, no failure",
                    target.name, stats.inputs, stats.answers
                );
            }
            Err(failure) => {
                clean = false;
                report(&target, &failure, arguments.seed)?;
            }
        }
    }
    Ok(clean)
}

fn report(target: &Target, failure: &Failure, seed: u64) -> Result<(), String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    let path = folder.join(format!("{}-{seed}-{}", target.name, failure.number));
    let saved = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, &failure.input));
    saved.map_err(|e| format!("{}: {e}", path.display()))?;
    println!("{:<18} FAILED at input {} of seed {seed}: {}", target.name, failure.number, failure.message);
    println!("  input: {}", failure.input.escape_ascii());
    println!("  again: cargo run -p flashlane-fuzz -- {} --again {}", target.name, path.display());
    Ok(())
}
