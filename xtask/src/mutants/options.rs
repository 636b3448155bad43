//! The words of the command `mutants`.

use std::time::Duration;

use super::mutant::{Kind, Mutant};

/// What `mutants --help` prints.
pub const HELP: &str = "\
cargo run -p xtask -- mutants [OPTIONS]

Changes the source of core, sched, ssd, host, audit, trace, scenario, report, sim and sweep in one small place at a time, says whether
results of the corpus change (xtask/corpus, xtask/commands, scenarios) and whether a test fails, and prints the share that is caught. Builds a
copy below target/mutants once for all; what is known already for the same sources is not done again.

  --sample N     mutants to draw of each crate (default 40); a larger sample holds the smaller one, and so does its copy
  --seed S       another draw (default 1)
  --only WORDS   only mutants of these files (core/src/state.rs, ssd/src/ftl, host), kinds (boundary) or ids, with commas
  --minutes M    begins no mutant after this many minutes (default: no limit); crates take turns, so that all are begun
  --jobs J       mutants at a time, 1 to 64 (default 1)
  --changing     tests see only mutants that change results: half of the time or less, and no figure of the others
  --build        builds what a run needs, and ends; a run with the same words then begins at once
  --list         says which would be drawn, and builds nothing
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Mutants to draw of each crate.
    pub sample: usize,
    /// Seed of the draw.
    pub seed: u64,
    /// Files, kinds or ids.
    pub only: Vec<String>,
    /// No mutant begins later than this.
    pub time: Duration,
    /// Mutants at a time.
    pub jobs: usize,
    /// Tests see only mutants that change results.
    pub changing: bool,
    /// Only builds.
    pub build: bool,
    /// Only says what would be drawn.
    pub list: bool,
}

impl Options {
    /// Reads the words of the command; none if help is wanted.
    pub fn parse(args: &[&str]) -> Result<Option<Options>, String> {
        let mut options = Options {
            sample: 40,
            seed: 1,
            only: Vec::new(),
            time: Duration::MAX,
            jobs: 1,
            changing: false,
            build: false,
            list: false,
        };
        let mut words = args.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or(format!("mutants: {word} needs a value"));
            match word {
                "--help" | "-h" | "help" => return Ok(None),
                "--list" => options.list = true,
                "--changing" => options.changing = true,
                "--build" => options.build = true,
                "--sample" => options.sample = number(word, value()?, 1, 1_000_000)? as usize,
                "--seed" => options.seed = number(word, value()?, 0, u64::MAX)?,
                "--minutes" => options.time = Duration::from_secs(60 * number(word, value()?, 1, 100_000)?),
                "--jobs" => options.jobs = number(word, value()?, 1, 64)? as usize,
                "--only" => options.only.extend(value()?.split(',').map(String::from)),
                other => {
                    let legal = "--sample, --seed, --only, --minutes, --jobs, --changing, --build, --list, --help";
                    return Err(format!("mutants: unknown option {other:?}; legal are: {legal}"));
                }
            }
        }
        Ok(Some(options))
    }

    /// What determines the order of the draw, in words.
    pub fn draw(&self) -> String {
        format!("seed {}, {}", self.seed, if self.only.is_empty() { "all".into() } else { self.only.join(",") })
    }

    /// Whether a mutant is among those asked for.
    pub fn concerns(&self, mutant: &Mutant) -> bool {
        let fits = |word: &String| {
            let kind = Kind::ALL.iter().any(|kind| kind.name() == word && mutant.kind == *kind);
            kind || mutant.id == *word || mutant.file == *word || mutant.file.starts_with(&format!("{word}/"))
        };
        self.only.is_empty() || self.only.iter().any(fits)
    }
}

fn number(option: &str, text: &str, least: u64, most: u64) -> Result<u64, String> {
    let parsed = text.parse().ok().filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| format!("mutants: {option} {text}: must be a whole number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::super::operators;
    use super::*;

    #[test]
    fn words_and_what_they_mean() {
        let parsed =
            Options::parse(&["--sample", "60", "--minutes", "2", "--only", "a,b", "--only", "c"]).unwrap().unwrap();
        assert_eq!((parsed.sample, parsed.seed, parsed.jobs, parsed.list), (60, 1, 1, false));
        assert_eq!((parsed.time, parsed.only), (Duration::from_secs(120), vec!["a".into(), "b".into(), "c".into()]));
        assert_eq!(Options::parse(&["--help"]), Ok(None));
    }

    #[test]
    fn complaints_say_what_is_legal() {
        let complaint = |args: &[&str]| Options::parse(args).unwrap_err();
        assert_eq!(complaint(&["--sample", "0"]), "mutants: --sample 0: must be a whole number from 1 to 1000000");
        assert_eq!(complaint(&["--jobs"]), "mutants: --jobs needs a value");
        assert!(
            complaint(&["--all"]).ends_with(
                "legal are: --sample, --seed, --only, --minutes, --jobs, --changing, --build, --list, --help"
            )
        );
    }

    #[test]
    fn only_takes_files_folders_kinds_and_ids() {
        let all = operators::find("ssd/src/ftl/map.rs", "fn f() -> bool { a < 1 }").unwrap();
        let left = |word: &str| {
            let options = Options::parse(&["--only", word]).unwrap().unwrap();
            all.iter().filter(|mutant| options.concerns(mutant)).count()
        };
        let words = ["ssd/src/ftl", "ssd/src/ftl/map.rs", "ssd/src/ft", "boundary", &all[1].id, "guard"];
        assert_eq!(words.map(left), [4, 4, 0, 1, 1, 0]);
    }
}
