//! The repository's own checks and chores: `cargo run -p xtask -- help`.
//!
//! It knows the repository as files and manifests and imports none of the crates it checks, so it builds and runs
//! when they do not.

use std::path::PathBuf;
use std::process::ExitCode;

mod mutants;
mod test;
mod tidy;

const HELP: &str = "\
cargo run -p xtask -- COMMAND

  tidy           check the house rules: sizes, module docs, who may name whom, links, words
  tidy --list    say what each rule asks
  test [ARGS]    cargo test --workspace --locked ARGS, ending in one line that counts all tests
  mutants [ARGS] small changes of the engine, one at a time: which of them change results, and which of those a test
                 notices; `mutants --help` says more
  help           this page
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(&root()),
        ["tidy", "--list"] => {
            print!("{}", tidy::list());
            Ok(true)
        }
        ["test", rest @ ..] => test::run(&root(), rest),
        ["mutants", rest @ ..] => mutants::run(&root(), rest),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(true)
        }
        other => {
            Err(format!("unknown command {:?}; legal are: tidy, tidy --list, test, mutants, help", other.join(" ")))
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
    here.parent().expect("xtask lies inside the repository").to_path_buf()
}
