//! The arguments of `flashlane paper`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flashlane_papers::Setting;

/// What is made of a paper.
#[derive(Args, Debug)]
pub struct PaperArgs {
    /// The paper; without it, the papers are listed
    pub name: Option<String>,

    /// Only these experiments, separated by commas
    #[arg(long, value_name = "E1,E2,...", value_delimiter = ',')]
    pub experiment: Vec<String>,

    /// Lists the claims and runs nothing
    #[arg(long)]
    pub list: bool,

    /// Uses few requests and one seed: quick, and too little to judge by
    #[arg(long)]
    pub quick: bool,

    /// Number of seeds for each workload; by default the paper's (slacker 5, flin 2, precompletion 3), with --quick 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: Option<u64>,

    /// The first seed; the others follow (flin: other draws of mixes)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub first_seed: u64,

    /// How what the paper leaves open is read: as the text says, or as was chosen after results were seen
    #[arg(long, value_name = "SETTING", value_enum, default_value_t = PaperSetting::Plain)]
    pub setting: PaperSetting,

    /// A variant of the chosen setting, which is otherwise in one thing (--list names them)
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,

    /// A folder of traces; a trace with the name of a clone replaces that clone
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,

    /// Also prints every figure behind the claims
    #[arg(long)]
    pub tables: bool,

    /// Keeps every run in this folder, and writes results.json there; runs that it has are not made again
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Number of runs at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// How what a paper leaves open is read.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaperSetting {
    /// As the paper's text says, and the nearest where it says nothing
    Plain,
    /// The one setting for the whole paper that was chosen after results were seen (--list says what it sets and why)
    Chosen,
}

impl PaperSetting {
    /// The setting.
    pub fn setting(self) -> Setting {
        match self {
            PaperSetting::Plain => Setting::Plain,
            PaperSetting::Chosen => Setting::Chosen,
        }
    }
}
