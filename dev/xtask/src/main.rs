//! The repository's own checks and chores: `cargo xtask help`.
//!
//! It knows the repository as files and manifests and imports none of the crates it checks, so it builds and runs
//! when they do not.

use std::path::PathBuf;
use std::process::ExitCode;

mod advisories;
mod arguments;
mod bless;
mod instructions;
mod mutants;
mod python;
mod test;
mod tidy;

const HELP: &str = "\
cargo xtask COMMAND

  tidy           check the rules of the project: sizes, module docs, who may name whom, links, words
  tidy --list    say what each rule asks
  test [ARGS]    cargo test --workspace --locked ARGS, and without ARGS the tests of the Python package; ends in what was skipped and
                 one line that counts all tests; with NIGHTLY=1 in the environment the nightly tests are among them
  nightly        the tests that take long, which have short forms among the others; counts and the Python package in release builds
  python         build the Python package in a fresh virtual environment and run its tests
  bless WHAT...  write anew what tests hold the code to: golden (figures), docs (generated pages), report (an example)
  mutants [ARGS] small changes of the source, one at a time: which of them change results, and which of those a test
                 notices; `mutants --help` says more
  help           this page
";

fn main() -> ExitCode {
    let args = match arguments::read() {
        Ok(args) => args,
        Err(message) => {
            eprintln!("xtask: {message}");
            return ExitCode::from(2);
        }
    };
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["tidy", "--list"] => {
            print!("{}", tidy::list());
            Ok(true)
        }
        ["test", rest @ ..] => test::Which::asked(std::env::var("NIGHTLY").ok().as_deref())
            .and_then(|which| test::run(&root(), rest, which)),
        ["nightly"] => test::run(&root(), &[], test::Which::Nightly),
        ["python"] => python::run(&root(), false).map(|counts| {
            println!("{}{}", counts.printed, counts.absent.as_deref().unwrap_or_default());
            counts.failed == 0 && counts.absent.is_none()
        }),
        ["bless", what @ ..] => bless::run(&root(), what),
        ["mutants", rest @ ..] => mutants::run(&root(), rest),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(true)
        }
        other => {
            let legal = "tidy, tidy --list, test, nightly, python, bless, mutants, help";
            Err(format!("unknown command {:?}; legal are: {legal}", other.join(" ")))
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// The top of the repository.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("xtask lies inside the repository").to_path_buf()
}
