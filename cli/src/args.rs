//! The command line: commands, flags, help with examples.
//!
//! Owns the words only. What flags mean for a scenario is `plan`'s.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// What does a scheduling policy do to my workload on this SSD?
#[derive(Parser, Debug)]
#[command(
    name = "flashlane",
    version,
    about,
    after_help = "\
Examples:
  flashlane init mine.toml                    write a commented scenario
  flashlane check mine.toml                   say whether it can run, and what it comes to
  flashlane devices flin-isca18               print a device and where its values come from"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Checks a scenario without running it, and prints what it comes to
    #[command(after_help = "\
Examples:
  flashlane check mine.toml
  flashlane check mine.toml --device modern-tlc --speedup 50
  flashlane check --trace web.csv.gz --trace db.csv.gz --beyond wrap")]
    Check(Workload),

    /// Lists the shipped devices, or prints one with the source of each value
    #[command(after_help = "\
Examples:
  flashlane devices
  flashlane devices slacker-asplos17
  flashlane devices defaults")]
    Devices {
        /// The device to print, or `defaults`
        name: Option<String>,
    },

    /// Writes a commented scenario to start from; never overwrites
    #[command(after_help = "\
Examples:
  flashlane init
  flashlane init experiments/mine.toml")]
    Init {
        /// The file to write
        #[arg(default_value = "scenario.toml")]
        file: PathBuf,
    },

    /// Prints a completion script for a shell
    #[command(after_help = "\
Examples:
  flashlane completions bash > ~/.local/share/bash-completion/completions/flashlane
  flashlane completions zsh > ~/.zfunc/_flashlane
  flashlane completions fish > ~/.config/fish/completions/flashlane.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// What to run: a scenario, or traces, or a scenario with traces in place of its flows.
#[derive(Args, Debug, Default)]
#[group(id = "what", required = true, multiple = true, args = ["scenario", "trace"])]
pub struct Workload {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,

    /// A trace to replay; given several times, one flow each. Replaces the scenario's flows
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,

    /// The traces' format, recognised from their content by default
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,

    /// Replays traces this much faster: 50, 0.5 or 3/2
    #[arg(long, value_name = "X")]
    pub speedup: Option<String>,

    /// What becomes of a trace's requests beyond the flow's part of the drive
    #[arg(long)]
    pub beyond: Option<Beyond>,

    /// Requests to read of each trace, at most
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,

    /// Priority of each flow, 0 lowest to 7: one for all, or one a flow, separated by commas
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub priority: Vec<u8>,

    /// The part of the drive each flow may touch: all of it, or an equal slice of its own
    #[arg(long)]
    pub range: Option<RangeWord>,

    /// The device, a preset's name; default that of the scenario, else modern-tlc
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Seed of everything random
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// The scheduler of the runs alone; default the one under test
    #[arg(long, value_name = "NAME", conflicts_with = "no_alone")]
    pub alone_scheduler: Option<String>,

    /// No runs alone, so no slowdown and no fairness
    #[arg(long)]
    pub no_alone: bool,
}

/// What becomes of requests beyond the drive.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    /// The trace is refused there
    Error,
    /// The address is taken modulo the flow's part of the drive
    Wrap,
    /// The request is left out and counted
    Reject,
}

/// A part of the drive.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeWord {
    /// All of it
    All,
    /// An equal part of its own
    Slice,
}
