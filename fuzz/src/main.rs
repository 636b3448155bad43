//! The fuzzer as a program: `cargo run -p flashlane-fuzz -- help`, or `make fuzz`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use flashlane_fuzz::engine::{Effort, Failure, TIMEOUT, campaign, feed_one};
use flashlane_fuzz::{Target, targets};

const HELP: &str = "\
cargo run -p flashlane-fuzz -- [TARGET ...] [--seconds N | --inputs N] [--seed N]
cargo run -p flashlane-fuzz -- TARGET --again FILE

  --seconds N   how long, for each target (default 30)
  --inputs N    how many inputs instead: the same ones every time
  --seed N      where to begin (default 1)
  --again FILE  feed this file once: an input saved by an earlier failure
";

/// The parsed arguments.
struct Arguments {
    targets: Vec<Target>,
    effort: Effort,
    seed: u64,
    again: Option<PathBuf>,
}

fn main() -> ExitCode {
    let text = |(i, arg): (usize, std::ffi::OsString)| {
        arg.into_string().map_err(|arg| format!("argument {i}, {arg:?}: is not UTF-8; legal is text"))
    };
    let args: Vec<String> = match std::env::args_os().enumerate().skip(1).map(text).collect() {
        Ok(args) => args,
        Err(message) => {
            eprintln!("flashlane-fuzz: {message}");
            return ExitCode::from(2);
        }
    };
    if args.iter().any(|arg| matches!(arg.as_str(), "help" | "--help" | "-h")) {
        print!("{HELP}\nTargets:\n");
        targets::ALL.iter().for_each(|target| println!("  {:<18} {}", target.name, target.about));
        return ExitCode::SUCCESS;
    }
    match arguments(&args).and_then(execute) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("flashlane-fuzz: {message}");
            ExitCode::from(2)
        }
    }
}

fn arguments(args: &[String]) -> Result<Arguments, String> {
    let mut arguments =
        Arguments { targets: Vec::new(), effort: Effort::Time(Duration::from_secs(30)), seed: 1, again: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        let number = |text: &String| text.parse().map_err(|_| format!("{arg} {text:?}: not a whole number"));
        match arg.as_str() {
            "--seconds" => arguments.effort = Effort::Time(Duration::from_secs(number(value()?)?)),
            "--inputs" => arguments.effort = Effort::Inputs(number(value()?)?),
            "--seed" => arguments.seed = number(value()?)?,
            "--again" => arguments.again = Some(value()?.into()),
            name => {
                let target = targets::ALL.iter().find(|target| target.name == name);
                let names: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
                arguments.targets.push(*target.ok_or(format!("no target {name:?}; there are {}", names.join(", ")))?);
            }
        }
    }
    if arguments.again.is_some() && arguments.targets.len() != 1 {
        return Err("--again needs one target".into());
    }
    if arguments.targets.is_empty() {
        arguments.targets = targets::ALL.to_vec();
    }
    Ok(arguments)
}

fn execute(arguments: Arguments) -> Result<bool, String> {
    if let Some(path) = arguments.again {
        let input = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let answer = feed_one(&arguments.targets[0], &input);
        println!("{}", answer.as_ref().unwrap_or_else(|panic| panic));
        return Ok(answer.is_ok());
    }
    let mut clean = true;
    for target in arguments.targets {
        match campaign(target, arguments.seed, arguments.effort, TIMEOUT) {
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
