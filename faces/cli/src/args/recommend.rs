//! Arguments of `flashlane recommend`.

use std::path::PathBuf;

use clap::Args;
use flashlane_sweep::Limit;

use super::run::Workload;

/// What to recommend a scheduler for, and what it has to keep.
#[derive(Args, Debug)]
pub struct RecommendArgs {
    /// What to run
    #[command(flatten)]
    pub workload: Workload,

    /// Most that the 99th percentile of any flow's reads and writes may be: a time (2ms), a change (+5%), or none
    #[arg(long, value_name = "LIMIT", value_parser = Limit::of_p99, default_value = "+5%", allow_hyphen_values = true)]
    pub p99: Limit,

    /// The same for its flushes, where it has some
    #[arg(long, value_name = "LIMIT", value_parser = Limit::of_p99, default_value = "+5%", allow_hyphen_values = true)]
    pub flush_p99: Limit,

    /// Most that write amplification may be: a value (1.5), a change (+5%), or none
    #[arg(long, value_name = "LIMIT", value_parser = Limit::of_write_amplification, default_value = "+5%", allow_hyphen_values = true)]
    pub write_amplification: Limit,

    /// Least that fairness may be: a value (0.6), a change (-5%), or none
    #[arg(long, value_name = "LIMIT", value_parser = Limit::of_fairness, default_value = "none", allow_hyphen_values = true)]
    pub fairness: Limit,

    /// Keeps the runs in this store, as sweeps do: what is there is never made again
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Writes a page: what to take, who gains and who pays, and all that was tried
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Overwrites the --report file even if flashlane did not write it
    #[arg(long, requires = "report")]
    pub force: bool,

    /// Prints JSON
    #[arg(long)]
    pub json: bool,

    /// Checks every rule of the device during the runs; slower
    #[arg(long)]
    pub audit: bool,

    /// Number of runs at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}
