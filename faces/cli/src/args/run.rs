//! Arguments of the commands that run a scenario: what to run, and what becomes of the results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flashlane_scenario::{RangeWord, Replay};

use super::key_option::{KeyOption, arguments, number, numbers, off, on, text, texts, word, words};
use super::reading::Reading;

/// What becomes of the results.
#[derive(Args, Debug)]
pub struct Output {
    /// Writes summary.json and one row for each request into this folder, which appears only when it is complete
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Also writes one row for each flash transaction
    #[arg(long, requires = "out")]
    pub transactions: bool,

    /// Writes rows as CSV instead of Parquet, and summary.csv beside summary.json
    #[arg(long, requires = "out")]
    pub csv: bool,

    /// Writes a self-contained page with tables and charts
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Overwrites the --report file even if flashlane did not write it, and the --timeline file
    #[arg(long)]
    pub force: bool,

    /// Writes a timeline that ui.perfetto.dev opens: what every channel, chip and die does, and every request; of several schedulers
    /// a file each, tl-fcfs.json.gz for tl.json.gz. As JSON if the name ends in .json, compressed if it ends in .gz
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,

    /// Part of the run that the timeline shows, from and to: 1.5ms..2ms, 3s.., ..800us
    #[arg(long, value_name = "A..B", requires = "timeline")]
    pub window: Option<String>,

    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,

    /// Prints every table, not only the verdict and the first
    #[arg(long)]
    pub full: bool,

    /// Computes what no scheduler can beat on these requests, and how far each is from it (docs/results/ceiling.md)
    #[arg(long)]
    pub ceiling: bool,

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
    /// The main figures as a Markdown table
    Markdown,
    /// The main figures as CSV, one row for each scheduler, flow and kind of request
    Csv,
}

arguments! {
    /// What of a scenario is changed, whatever becomes of it: the same options in every command that takes one.
    Changes {
        /// Sets a key of the scenario, by its path: device.gc.start_percent=7, flow.reader.priority=3; may be repeated
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,

        /// A device preset, or a device file (./my-drive.toml); by default the scenario's device, or modern-tlc
        #[arg(long, value_name = "DEVICE")]
        device: Option<String> = text("--device", "device.preset"),
    }
}

arguments! {
    /// What to run: a scenario, or traces, or a scenario with traces in place of its flows.
    Workload {
        /// The scenario
        #[arg(value_name = "SCENARIO.toml", required_unless_present = "trace")]
        scenario: Option<PathBuf>,

        /// A trace to replay, - for standard input; if given several times, each is a flow. Replaces the scenario's flows
        #[arg(long, value_name = "FILE")]
        trace: Vec<PathBuf>,

        /// How traces are read
        #[command(flatten)]
        reading: Reading,

        /// Speeds traces up by this factor, 50, 0.5 or 3/2: one for all, or one for each trace, separated by commas
        #[arg(long, value_name = "X,...", value_delimiter = ',')]
        speedup: Vec<String> = texts("--speedup", "flow.trace.speedup"),

        /// When the requests of traces are sent
        #[arg(long, value_parser = words::<Replay>())]
        replay: Option<Replay> = word("--replay", "flow.trace.replay"),

        /// Requests that --replay closed keeps outstanding, 1 to 65536
        #[arg(long, value_name = "N")]
        depth: Option<u32> = number("--depth", "flow.trace.depth"),

        /// What of the scenario is changed
        #[command(flatten)]
        changes: Changes,

        /// Priority of the flows, from 0 (lowest) to 7: one for all, or one for each, separated by commas
        #[arg(long, value_name = "N,...", value_delimiter = ',')]
        priority: Vec<u8> = numbers("--priority", "flow.priority"),

        /// Part of the drive that each flow uses: all of it, or an equal slice of its own; by default what the scenario says, else a slice (flows with
        /// requests written out: all)
        #[arg(long, value_parser = words::<RangeWord>())]
        range: Option<RangeWord> = word("--range", "flow.range"),

        /// Seed of all random numbers
        #[arg(long, value_name = "N")]
        seed: Option<u64> = number("--seed", "seed"),

        /// Keeps the state of a replayed drive in this file, or in a file of this folder named by what determines it: made if it is not there
        #[arg(long, value_name = "FILE")]
        state: Option<PathBuf>,

        /// Answer to the collect question for all schedulers, whatever they say themselves: when garbage collection may run
        #[arg(long, value_name = "ANSWER")]
        collect: Option<String> = text("--collect", "run.hold.collect"),

        /// Answer to the preempt question for all schedulers: whether the running program or erase may be paused
        #[arg(long, value_name = "ANSWER")]
        preempt: Option<String> = text("--preempt", "run.hold.preempt"),

        /// Measures the actual slack of every transaction: how much earlier it ended than its request's last; slower
        #[arg(long)]
        slack: bool = on("--slack", "run.slack"),

        /// Runs Slacker's estimator beside every scheduler, without effect, and reports its errors; slower
        #[arg(long)]
        shadow_estimator: bool = on("--shadow-estimator", "run.shadow_estimator"),

        /// Scheduler for the runs of each flow alone; by default the one under test
        #[arg(long, value_name = "NAME", conflicts_with = "no_alone")]
        alone_scheduler: Option<String> = text("--alone-scheduler", "run.alone_scheduler"),

        /// Does not run each flow alone, so there is no slowdown and no fairness
        #[arg(long)]
        no_alone: bool = off("--no-alone", "run.alone"),
    }
}
