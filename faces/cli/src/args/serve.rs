//! Arguments of `flashlane serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use flashlane_serve::{Address, Backing};

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
    #[arg(long, value_name = "ADDRESS", required_unless_present = "fuse")]
    pub nbd: Option<Address>,

    /// Mount the exports as files at this empty folder, for loop devices
    #[arg(long, value_name = "FOLDER")]
    pub fuse: Option<PathBuf>,

    /// File with the drive's contents, made if there is none; or the word memory: they are lost when the server ends or is killed (a file of that
    /// name is ./memory)
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().map(Backing::from), default_value = "memory")]
    pub data: Backing,

    /// Record what the drive is given to this new file, which `run`, `compare` and `explain` replay
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Listen at this path for `flashlane ctl`, for this user only
    #[arg(long, value_name = "PATH")]
    pub ctl: Option<PathBuf>,

    /// Serve the figures to Prometheus at http://ADDRESS:PORT/metrics
    #[arg(long, value_name = "127.0.0.1:PORT", value_parser = of_this_machine)]
    pub metrics: Option<SocketAddr>,

    /// Cut the power once the drive has been given N commands
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub power_cut: Option<u64>,

    /// Answer flushes and FUA without doing them, so that tests can show that they find the loss
    #[arg(long, hide = true)]
    pub ignore_flushes: bool,

    /// Show what the drive does on the terminal; nothing if the output is not one
    #[arg(long)]
    pub live: bool,

    /// Number of further flows, each an export of the whole drive: spare1, spare2, ...
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=64), allow_negative_numbers = true, default_value = "0")]
    pub spare: u16,

    /// Seconds that a second of the model takes
    #[arg(long, value_name = "X", value_parser = time_scale, allow_negative_numbers = true, default_value = "1")]
    pub time_scale: f64,

    /// How long before an event of the drive the server polls instead of sleeping, us
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000), allow_negative_numbers = true, default_value = "20")]
    pub spin_us: u32,

    /// Ask for real-time priority for the thread of the drive (first in, first out, 10)
    #[arg(long)]
    pub realtime: bool,
}

/// An address that other machines cannot reach.
fn of_this_machine(text: &str) -> Result<SocketAddr, String> {
    let legal = |address: &SocketAddr| address.ip().is_loopback();
    text.parse().ok().filter(legal).ok_or_else(|| "must be 127.0.0.1:PORT: only this machine can read them".into())
}

/// The factor of `--time-scale`.
/// Seconds that a second of the model takes.
pub fn time_scale(text: &str) -> Result<f64, String> {
    let legal = |scale: &f64| (0.001..=1e6).contains(scale);
    text.parse().ok().filter(legal).ok_or_else(|| "must be a number from 0.001 to 1000000".into())
}

/// What to ask of a server.
#[derive(Args, Debug)]
pub struct CtlArgs {
    /// The path that the server was given with --ctl
    pub socket: PathBuf,

    /// Wait at most this long for the answer, seconds: a change of scheduler waits for the drive to drain
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=86_400), default_value = "60")]
    pub timeout_s: u32,

    /// What to do
    #[command(subcommand)]
    pub ask: CtlCommand,
}

/// What a running server does.
#[derive(Subcommand, Debug)]
pub enum CtlCommand {
    /// Changes the scheduler once the drive has drained, and waits for that
    Scheduler {
        /// A scheduler of the catalogue, or of the scenario that is served
        name: String,
    },
    /// Changes the priority of a flow's commands that enter the drive from now on
    Priority {
        /// The flow's name
        flow: String,
        /// Its priority, 0 lowest, below the drive's `device.front.priority_levels`
        #[arg(value_parser = clap::value_parser!(u8).range(0..=7))]
        priority: u8,
    },
    /// Prints the figures so far
    Stats,
    /// Ends the server as a power cut would: writes that are not answered land or not, page by page
    PowerCut,
}
