//! Arguments of `flashlane sweep`.

use std::path::PathBuf;

use clap::Args;
use flashlane_sweep::Shard;

/// A sweep and its store.
#[derive(Args, Debug)]
pub struct SweepArgs {
    /// The sweep: a scenario with a table [sweep]
    #[arg(value_name = "SWEEP.toml")]
    pub file: PathBuf,

    /// The store of the runs and their results; by default the file's name without .toml, in the working directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Makes one part of the runs only, such as 3/8
    #[arg(long, value_name = "I/N", conflicts_with = "status")]
    pub shard: Option<Shard>,

    /// Prints which runs are missing, and makes none
    #[arg(long)]
    pub status: bool,

    /// Prints the summary.json of this run, and makes none; the table's column `run` has the names
    #[arg(long, value_name = "RUN", conflicts_with_all = ["shard", "status"])]
    pub summary: Option<String>,

    /// Writes results.csv beside results.parquet
    #[arg(long)]
    pub csv: bool,

    /// Writes report.html beside it, a page that draws figures against axes
    #[arg(long)]
    pub report: bool,

    /// Checks every rule of the device during the runs; slower
    #[arg(long)]
    pub audit: bool,

    /// Number of runs at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}
