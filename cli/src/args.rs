//! The command line: commands, flags, help with examples.
//!
//! Owns the words only. What flags mean for a scenario is `plan`'s.

mod paper;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use paper::PaperArgs;

/// What does a scheduling policy do to my workload on this SSD?
#[derive(Parser, Debug)]
#[command(
    name = "flashlane",
    version,
    about,
    after_help = "\
Examples:
  flashlane compare --trace web.csv.gz --device flin-isca18 --schedulers fcfs,read-first,fr-fcfs,sprinkler
  flashlane run mine.toml --scheduler sprinkler --report mine.html
  flashlane trace stat web.csv.gz             what is in a trace
  flashlane schedulers                        the schedulers, and the papers they come from
  flashlane init mine.toml                    write a commented scenario
  flashlane check mine.toml                   check it without running it
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
    /// Runs one scheduler
    #[command(after_help = "\
Examples:
  flashlane run mine.toml --scheduler sprinkler
  flashlane run mine.toml --out results/ --transactions --csv
  flashlane run --trace db.mqsim --scheduler fr-fcfs --format json")]
    Run {
        /// What to run
        #[command(flatten)]
        workload: Workload,
        /// Scheduler to run; by default the scenario's first
        #[arg(long, value_name = "NAME")]
        scheduler: Option<String>,
        /// What becomes of the results
        #[command(flatten)]
        output: Output,
    },

    /// Runs several schedulers on the same requests and compares them with the first
    #[command(after_help = "\
Examples:
  flashlane compare mine.toml
  flashlane compare mine.toml --schedulers fcfs,sprinkler --out results/ --report results.html
  flashlane compare --trace db.mqsim --device flin-isca18 --schedulers fcfs,read-first,fr-fcfs,sprinkler
  flashlane compare --trace db.mqsim --trace web.mqsim --speedup 10     two tenants, with slowdown and fairness")]
    Compare {
        /// What to run
        #[command(flatten)]
        workload: Workload,
        /// Schedulers to compare, separated by commas; by default the scenario's
        #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
        schedulers: Vec<String>,
        /// Scheduler that the others are compared with; by default the first
        #[arg(long, value_name = "NAME")]
        against: Option<String>,
        /// What becomes of the results
        #[command(flatten)]
        output: Output,
    },

    /// Describes and converts trace files
    #[command(subcommand)]
    Trace(TraceCommand),

    /// Lists the schedulers, or shows one with its answers and parameters
    #[command(after_help = "\
Examples:
  flashlane schedulers
  flashlane schedulers fr-fcfs
  flashlane schedulers --cost                 the state they would need in a controller")]
    Schedulers {
        /// The scheduler to show
        name: Option<String>,
        /// Prints the bytes of state that schedulers keep for every chip, channel and page
        #[arg(long, conflicts_with = "name")]
        cost: bool,
    },

    /// Repeats a paper's experiments and compares the results with its claims
    #[command(after_help = "\
Examples:
  flashlane paper                               list the papers
  flashlane paper slacker --quick               every claim with few requests, in about a minute
  flashlane paper slacker --experiment E6,E14 --tables
  flashlane paper slacker --traces ~/msr --out results/slacker
  flashlane paper flin --experiment E8 --jobs 2")]
    Paper(PaperArgs),

    /// Measures on this machine what ways of waiting for I/O cost, beside real threads
    #[command(after_help = "\
Examples:
  flashlane oslab                               forty seconds, no privileges needed
  flashlane oslab --seconds 120 --out results/oslab
  flashlane oslab --device flin-isca18 --threads 2

A simulated SSD runs under the wall clock on one CPU. On another a thread reads and writes, and waits by sleeping, by spinning,
or until it is woken early, beside threads that burn CPU time or do I/O. What the machine does not allow is said.")]
    Oslab(OslabArgs),

    /// Checks a scenario without running it, and prints its device, flows, schedulers and memory
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

/// How ways of waiting are measured.
#[derive(Args, Debug)]
pub struct OslabArgs {
    /// Seconds in all, about; default 40
    #[arg(long, value_name = "N")]
    pub seconds: Option<u32>,

    /// Length of a slot, in which one way of waiting is measured, ms; default 120
    #[arg(long, value_name = "N")]
    pub slot_ms: Option<u32>,

    /// Threads in the background; default 4
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,

    /// Percent of the I/Os that are writes; default 10
    #[arg(long, value_name = "N")]
    pub write_percent: Option<u32>,

    /// The device that is simulated; default cosmos-openssd
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Writes oslab.json, with every slot, and the page oslab.html into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Commands about trace files.
#[derive(Subcommand, Debug)]
pub enum TraceCommand {
    /// Prints what a trace contains: format, requests, sizes, rate, addresses
    #[command(after_help = "\
Examples:
  flashlane trace stat web.csv.gz
  flashlane trace stat disk.blktrace.0 --json
  flashlane trace stat ambiguous.txt --trace-format disksim")]
    Stat {
        /// The trace
        file: PathBuf,
        /// How it is read
        #[command(flatten)]
        reading: Reading,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },

    /// Writes a trace in another format; .gz and .zst compress
    #[command(after_help = "\
Examples:
  flashlane trace convert hm_0.csv hm_0.mqsim.zst --to mqsim
  flashlane trace convert big.spc.gz head.msr --to msr --limit 100000")]
    Convert {
        /// The trace
        input: PathBuf,
        /// The file to write
        output: PathBuf,
        /// The format to write
        #[arg(long, value_name = "FORMAT")]
        to: String,
        /// Overwrites the output if it exists
        #[arg(long)]
        force: bool,
        /// How it is read
        #[command(flatten)]
        reading: Reading,
    },
}

/// How a trace is read when it is not replayed.
#[derive(Args, Debug, Default)]
pub struct Reading {
    /// Format of the trace; by default recognised from its content
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,

    /// Speeds it up by this factor: 50, 0.5 or 3/2
    #[arg(long, value_name = "X")]
    pub speedup: Option<String>,

    /// Number of requests to skip at the beginning
    #[arg(long, value_name = "N")]
    pub offset: Option<u64>,

    /// Largest number of requests to read
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,

    /// Reads only requests of this device, named as in the trace
    #[arg(long, value_name = "NAME")]
    pub only_device: Option<String>,
}

/// What becomes of the results.
#[derive(Args, Debug)]
pub struct Output {
    /// Writes summary.json and one row for each request into this folder, which appears only when it is complete
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Also writes one row for each flash transaction
    #[arg(long, requires = "out")]
    pub transactions: bool,

    /// Writes rows as CSV instead of Parquet
    #[arg(long, requires = "out")]
    pub csv: bool,

    /// Writes a self-contained page with tables and charts
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Overwrites the --report file even if flashlane did not write it
    #[arg(long, requires = "report")]
    pub force: bool,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,

    /// Checks every rule of the device during the run; slower
    #[arg(long)]
    pub audit: bool,

    /// Number of runs at a time; by default one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// What is printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// The comparison as text tables
    Table,
    /// summary.json
    Json,
    /// The form of fio's JSON output, one job for each flow
    FioJson,
}

/// What to run: a scenario, or traces, or a scenario with traces in place of its flows.
#[derive(Args, Debug, Default)]
#[group(id = "what", required = true, multiple = true, args = ["scenario", "trace"])]
pub struct Workload {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: Option<PathBuf>,

    /// A trace to replay; if given several times, each is a flow. Replaces the scenario's flows
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,

    /// Format of the traces; by default recognised from their content
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,

    /// Speeds traces up by this factor: 50, 0.5 or 3/2
    #[arg(long, value_name = "X")]
    pub speedup: Option<String>,

    /// What happens to requests of a trace beyond the flow's part of the drive
    #[arg(long)]
    pub beyond: Option<Beyond>,

    /// Largest number of requests to read from each trace
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,

    /// Priority of the flows, from 0 (lowest) to 7: one for all, or one for each, separated by commas
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    pub priority: Vec<u8>,

    /// Part of the drive that each flow uses: all of it, or an equal slice of its own
    #[arg(long)]
    pub range: Option<RangeWord>,

    /// Device preset; by default the scenario's device, or modern-tlc
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,

    /// Seed of all random numbers
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Answer to the collect question for all schedulers, whatever they say themselves: when garbage collection may run
    #[arg(long, value_name = "ANSWER")]
    pub collect: Option<String>,

    /// Answer to the preempt question for all schedulers: whether the running program or erase may be paused
    #[arg(long, value_name = "ANSWER")]
    pub preempt: Option<String>,

    /// Measures the actual slack of every transaction: how much earlier it ended than its request's last; slower
    #[arg(long)]
    pub slack: bool,

    /// Runs Slacker's estimator beside every scheduler, without effect, and reports its errors; slower
    #[arg(long)]
    pub shadow_estimator: bool,

    /// Scheduler for the runs of each flow alone; by default the one under test
    #[arg(long, value_name = "NAME", conflicts_with = "no_alone")]
    pub alone_scheduler: Option<String>,

    /// Does not run each flow alone, so there is no slowdown and no fairness
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
