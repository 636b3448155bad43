//! The command line: commands, flags, help with examples.
//!
//! Owns the words only. What flags mean for a scenario is `plan`'s.

mod fit;
mod key_option;
mod paper;
mod reading;
mod recommend;
mod run;
mod serve;
mod sweep;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use flashlane_scenario::ElevatorWord;
use flashlane_sim::processor;

use key_option::words;

pub use fit::FitArgs;
pub use key_option::Value;
pub use paper::PaperArgs;
pub use reading::{Apart, Reading};
pub use recommend::RecommendArgs;
pub use run::{Changes, Format, Output, Workload};
pub use serve::{CtlArgs, CtlCommand, ServeArgs};
pub use sweep::SweepArgs;

/// The version, and the processors that this build runs on.
static LONG_VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{}\nThis build needs {}.", env!("CARGO_PKG_VERSION"), processor::NEEDS));

/// What does a scheduling policy do to my workload on this SSD?
#[derive(Parser, Debug)]
#[command(
    name = "flashlane",
    version,
    long_version = LONG_VERSION.as_str(),
    about,
    after_help = "\
Examples:
  flashlane compare --trace web.csv.gz --device flin-isca18 --schedulers fcfs,read-first,fr-fcfs,sprinkler
  flashlane run mine.toml --scheduler sprinkler --report mine.html
  flashlane attribute mine.toml --from fcfs --to sprinkler
  flashlane recommend mine.toml               which scheduler to take
  flashlane explain mine.toml --worst 5       what the slowest requests went through
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
    #[command(
        override_usage = "flashlane run [OPTIONS] <SCENARIO.toml | --trace FILE>",
        after_help = "\
Examples:
  flashlane run mine.toml --scheduler sprinkler
  flashlane run mine.toml --out results/ --transactions --csv
  flashlane run --trace db.mqsim --scheduler fr-fcfs --format json"
    )]
    Run {
        /// What to run
        #[command(flatten)]
        workload: Workload,
        /// Scheduler to run; by default the scenario's first
        #[arg(long, value_name = "NAME")]
        scheduler: Option<String>,
        /// Number of seeds to run it under, from the scenario's on; by default 1
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
        seeds: Option<u64>,
        /// What becomes of the results
        #[command(flatten)]
        output: Output,
    },

    /// Runs several schedulers on the same requests and compares them with the first
    #[command(
        override_usage = "flashlane compare [OPTIONS] <SCENARIO.toml | --trace FILE>",
        after_help = "\
Examples:
  flashlane compare mine.toml
  flashlane compare mine.toml --schedulers fcfs,sprinkler --out results/ --report results.html
  flashlane compare --trace db.mqsim --device flin-isca18 --schedulers fcfs,read-first,fr-fcfs,sprinkler
  flashlane compare --trace db.mqsim --trace web.mqsim --speedup 10     two tenants, with slowdown and fairness
  flashlane compare mine.toml --block none,mq-deadline --schedulers fcfs,late     each below each of Linux's elevators
  flashlane compare --trace my.csv --columns time=ts:us,op=rw,offset=lba:sectors,length=bytes"
    )]
    Compare {
        /// What to run
        #[command(flatten)]
        workload: Workload,
        /// Schedulers to compare, separated by commas; by default the scenario's
        #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
        schedulers: Vec<String>,
        /// Elevators of the operating system, separated by commas: every scheduler runs below each; where flows have limits, below the first also
        /// without them
        #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = words::<ElevatorWord>())]
        block: Vec<ElevatorWord>,
        /// Scheduler that the others are compared with; by default the first
        #[arg(long, value_name = "NAME")]
        baseline: Option<String>,
        /// Number of seeds to compare under, from the scenario's on: other states of the drive, and other requests of flows that are drawn.
        /// By default 5 where requests times schedulers are at most 1,000,000, else 1; on replayed drives 1
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
        seeds: Option<u64>,
        /// What becomes of the results
        #[command(flatten)]
        output: Output,
    },

    /// Says what each decision in which two schedulers differ contributes to the difference
    #[command(
        override_usage = "flashlane attribute [OPTIONS] <SCENARIO.toml | --trace FILE> --from NAME --to NAME",
        after_help = "\
Examples:
  flashlane attribute mine.toml --from fcfs --to sprinkler
  flashlane attribute mine.toml --from fr-fcfs --to slacker --seeds 10 --report parts.html

Every mix between the two is run: 2^k runs per seed, if they differ in k decisions and parameters. A contribution is the mean of what
a change does over all orders in which the changes can be made (the Shapley value), so contributions add up to the difference."
    )]
    Attribute {
        /// What to run
        #[command(flatten)]
        workload: Workload,
        /// Scheduler at the beginning
        #[arg(long, value_name = "NAME")]
        from: String,
        /// Scheduler at the end
        #[arg(long, value_name = "NAME")]
        to: String,
        /// Number of seeds, from the scenario's on, for the confidence interval
        #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
        seeds: u64,
        /// What becomes of the results
        #[command(flatten)]
        output: Output,
    },

    /// Tells what a request went through: where it waited, for whom, who passed it, what collection it met
    #[command(
        override_usage = "flashlane explain [OPTIONS] <SCENARIO.toml | --trace FILE>",
        after_help = "\
Examples:
  flashlane explain mine.toml --scheduler fcfs --request 1234
  flashlane explain mine.toml --scheduler fcfs --worst 5
  flashlane explain mine.toml --scheduler fcfs --worst 1 --beside sprinkler      why it is faster there

Requests are counted from 0 in the order in which they are issued, as in requests.parquet."
    )]
    Explain {
        /// What to run
        #[command(flatten)]
        workload: Workload,
        /// Scheduler; by default the scenario's first
        #[arg(long, value_name = "NAME")]
        scheduler: Option<String>,
        /// Number of the request
        #[arg(long, value_name = "N", conflicts_with = "worst")]
        request: Option<u64>,
        /// Number of the slowest requests to explain, those of the warm-up among them; by default 1
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
        worst: Option<u16>,
        /// Another scheduler, to be told why the request took another time under it
        #[arg(long, value_name = "NAME")]
        beside: Option<String>,
    },
    /// Makes the runs of a sweep: a scenario whose keys take several values
    #[command(after_help = "\
Examples:
  flashlane sweep rates.toml --csv --report
  flashlane sweep rates.toml --status         which runs are missing
  flashlane sweep rates.toml --summary 0123456789abcdef
  flashlane sweep rates.toml --out /shared/rates --shard 3/8

Runs that are in the store are never made again, so that a sweep that was interrupted goes on where it stopped. Several processes may
work on one store.")]
    Sweep(SweepArgs),

    /// Says which scheduler to take for a workload, what that costs whom, and how far it is from what is possible
    #[command(
        override_usage = "flashlane recommend [OPTIONS] <SCENARIO.toml | --trace FILE>",
        after_help = "\
Examples:
  flashlane recommend mine.toml
  flashlane recommend --trace db.mqsim --trace web.mqsim --device flin-isca18
  flashlane recommend mine.toml --p99 2ms --write-amplification none --fairness 0.6
  flashlane recommend mine.toml --p99 +0% --out runs        stopped and started again, it goes on where it stopped

About a hundred runs: every scheduler and many mixes on a small part of the requests, the best of them on more. What is best there is
judged on requests that were held out: the second half of traces, other seeds of drawn flows. Below 2,000 requests nothing is chosen.
Limits are a value, a change against the scenario's first scheduler, or none."
    )]
    Recommend(RecommendArgs),

    /// Fits a device to what fio measured on a drive, and says how far it is from it
    #[command(
        override_usage = "flashlane fit --jobs > probe.fio\n       flashlane fit [OPTIONS] <RESULTS>... [-o DEVICE.toml]",
        after_help = "\
Examples:
  flashlane fit --jobs > probe.fio            ten minutes of reads; nothing is written
  fio --readonly --output-format=json+ --output=probe.json --filename=/dev/nvme0n1 probe.fio
  flashlane fit probe.json -o my-drive.toml
  flashlane fit --probe mine.toml > probe.json      the same jobs on a modelled drive

Jobs of the standard depths and sizes are fitted, those between judge the device. What cannot be fitted is refused, or said. docs/fit.md
says more."
    )]
    Fit(FitArgs),

    /// Serves the modelled drive as a block device in real time
    #[command(
        override_usage = "flashlane serve [OPTIONS] <--nbd ADDRESS | --fuse FOLDER> <SCENARIO.toml | --trace FILE>",
        after_help = "\
Examples:
  flashlane serve mine.toml --nbd unix:drive.sock
  fio --name=t --ioengine=nbd --uri='nbd+unix:///reader?socket=drive.sock' --rw=randread --bs=4k --iodepth=8 --size=64m
  flashlane serve mine.toml --scheduler flin --nbd tcp:127.0.0.1:10809 --data drive.img
  flashlane serve mine.toml --fuse mnt          then, as root: losetup --find --show --direct-io=on mnt/reader

Each flow of the scenario is an export of its own; where its requests would come from in a run does not matter. docs/serve.md says more."
    )]
    Serve(ServeArgs),

    /// Asks a running server for another scheduler, another priority, or its figures
    #[command(after_help = "\
Examples:
  flashlane serve mine.toml --nbd unix:drive.sock --ctl ctl.sock
  flashlane ctl ctl.sock scheduler flin
  flashlane ctl ctl.sock priority reader 1
  flashlane ctl ctl.sock stats")]
    Ctl(CtlArgs),

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

    /// Checks a scenario without running it, and prints its device, flows, schedulers and memory
    #[command(
        override_usage = "flashlane check [OPTIONS] <SCENARIO.toml | --trace FILE>",
        after_help = "\
Examples:
  flashlane check mine.toml
  flashlane check mine.toml --device modern-tlc --speedup 50
  flashlane check --trace web.csv.gz --trace db.csv.gz --beyond wrap"
    )]
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

    /// Prints a manual page
    #[command(after_help = "\
Examples:
  flashlane man > ~/.local/share/man/man1/flashlane.1
  flashlane man trace stat | man -l -")]
    Man {
        /// The command to print the manual page of; without one, the program's own page
        command: Vec<String>,
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

/// Commands about trace files.
#[derive(Subcommand, Debug)]
pub enum TraceCommand {
    /// Prints what a trace contains: format, requests, sizes, rate, addresses
    #[command(after_help = "\
Examples:
  flashlane trace stat web.csv.gz
  flashlane trace stat disk.blktrace.0 --json
  flashlane trace stat ambiguous.txt --trace-format disksim --time-unit us
  flashlane trace stat my.csv --columns time=ts:us,op=rw,offset=lba:sectors,length=bytes")]
    Stat {
        /// The trace
        file: PathBuf,
        /// How it is read
        #[command(flatten)]
        reading: Reading,
        /// What a run has in its flow
        #[command(flatten)]
        apart: Apart,
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
        /// The file to write; - is standard output
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
        /// What a run has in its flow
        #[command(flatten)]
        apart: Apart,
    },
}
