//! Arguments of `flashlane serve`.

use std::path::PathBuf;

use clap::Args;
use flashlane_serve::Address;

use super::run::Workload;

/// What to serve, and how.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// The drive, and its exports: one for each flow
    #[command(flatten)]
    pub workload: Workload,

    /// Scheduler of the drive; by default the scenario's first
    #[arg(long, value_name = "NAME")]
    pub scheduler: Option<String>,

    /// Where clients find it: unix:PATH, or tcp:127.0.0.1:PORT
    #[arg(long, value_name = "ADDRESS")]
    pub nbd: Address,

    /// File with the drive's contents, made if there is none; by default they are in memory, and lost when the server ends
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,

    /// Record what the drive is given to this new file, which `run`, `compare` and `explain` replay
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Seconds that a second of the model takes
    #[arg(long, value_name = "X", value_parser = time_scale, default_value = "1")]
    pub time_scale: f64,

    /// How long before an event of the drive the server polls instead of sleeping, us
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000), default_value = "20")]
    pub spin_us: u32,
}

/// The factor of `--time-scale`.
fn time_scale(text: &str) -> Result<f64, String> {
    let legal = |scale: &f64| (0.001..=1e6).contains(scale);
    text.parse().ok().filter(legal).ok_or_else(|| "must be a number from 0.001 to 1000000".into())
}
