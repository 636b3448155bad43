//! The words of the command `mutants`.

use std::time::Duration;

use clap::Parser;

use super::mutant::{Kind, Mutant};

/// Changes the source of core, sched, ssd, host, audit, trace, scenario, report, sim and sweep in one small place at a time, says whether
/// results of the corpus change (dev/xtask/corpus, dev/xtask/commands, scenarios) and whether a test fails, and prints the share that is caught.
/// Builds a copy below target/mutants once for all; what is known already for the same sources is not done again.
#[derive(Parser, Debug)]
#[command(name = "cargo run -p xtask -- mutants")]
pub struct Options {
    /// Mutants to draw of each crate; a larger sample holds the smaller one, and so does its copy
    #[arg(long, value_name = "N", default_value = "40", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    sample: u32,
    /// Another draw
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Only mutants of these files (engine/core/src/state.rs, engine/ssd/src/ftl, host), kinds (boundary) or ids, with commas
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Begins no mutant after this many minutes; crates take turns, so that all are begun
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    minutes: Option<u64>,
    /// Mutants at a time
    #[arg(long, value_name = "J", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub jobs: u8,
    /// Tests see only mutants that change results: half of the time or less, and no figure of the others
    #[arg(long)]
    pub changing: bool,
    /// Builds what a run needs, and ends; a run with the same words then begins at once
    #[arg(long)]
    pub build: bool,
    /// Says which would be drawn, and builds nothing
    #[arg(long)]
    pub list: bool,
}

impl Options {
    /// Mutants to draw of each crate.
    pub fn sample(&self) -> usize {
        self.sample as usize
    }

    /// No mutant begins later than this.
    pub fn time(&self) -> Duration {
        self.minutes.map_or(Duration::MAX, |minutes| Duration::from_secs(60 * minutes))
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

#[cfg(test)]
mod tests {
    use super::super::operators;
    use super::*;

    #[test]
    fn only_takes_files_folders_kinds_and_ids() {
        let all = operators::find("engine/ssd/src/ftl/map.rs", "fn f() -> bool { a < 1 }").unwrap();
        let left = |word: &str| {
            let options = Options::parse_from(["mutants", "--only", word]);
            all.iter().filter(|mutant| options.concerns(mutant)).count()
        };
        let words =
            ["engine/ssd/src/ftl", "engine/ssd/src/ftl/map.rs", "engine/ssd/src/ft", "boundary", &all[1].id, "guard"];
        assert_eq!(words.map(left), [4, 4, 0, 1, 1, 0]);
    }
}
