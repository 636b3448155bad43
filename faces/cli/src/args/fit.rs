//! Arguments of `flashlane fit`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::run::{Changes, Workload};
use super::serve::time_scale;

/// What to do: write jobs, run them on a modelled drive, or fit a device to results.
#[derive(Args, Debug)]
#[command(
    group = ArgGroup::new("what").args(["jobs", "write_jobs", "probe", "results"]).required(true).multiple(true),
    group = ArgGroup::new("files").args(["jobs", "write_jobs"]),
    group = ArgGroup::new("outputs").args(["out", "report"]).multiple(true),
    // An option that requires results is accepted with what excludes them, unless it is excluded itself.
    group = ArgGroup::new("prints").args(["jobs", "write_jobs", "probe"]).multiple(true),
    mut_arg("set", |set| set.requires("probe").conflicts_with_all(["jobs", "results"])),
    mut_arg("device", |device| device.requires("probe").conflicts_with_all(["jobs", "results"])),
)]
pub struct FitArgs {
    /// Results of fio (json or json+), or tables with columns rw,bs,depth,iops,mean_us,p50_us,p99_us
    #[arg(value_name = "RESULTS")]
    pub results: Vec<PathBuf>,

    /// Writes the fitted device to this file; without it only the table is printed
    #[arg(short, long, value_name = "DEVICE.toml", requires = "results", conflicts_with = "prints")]
    pub out: Option<PathBuf>,

    /// Writes a page: the table, the values with what is known of each, and a picture; also if no device is written
    #[arg(long, value_name = "FILE.html", requires = "results", conflicts_with = "prints")]
    pub report: Option<PathBuf>,

    /// Overwrites the device's file if it exists, and the --report file even if flashlane did not write it
    #[arg(long, requires = "outputs")]
    pub force: bool,

    /// Preset that has what reads do not tell; by default the one of several that fits best
    #[arg(long, value_name = "NAME", requires = "results", conflicts_with = "prints")]
    pub preset: Option<String>,

    /// Number of runs at a time; by default one for each processor
    #[arg(long = "threads", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub runs: Option<u16>,

    /// Logs of nvme-cli before and after steady writes, with the host's and physical writes: write amplification
    #[arg(
        long,
        value_name = "BEFORE.json,AFTER.json",
        requires = "results",
        conflicts_with = "prints",
        value_delimiter = ',',
        num_args = 1
    )]
    pub smart: Vec<PathBuf>,

    /// The results are of reads of a drive that `flashlane serve` served with this --time-scale
    #[arg(long, value_name = "X", requires = "results", conflicts_with = "prints", value_parser = time_scale, allow_negative_numbers = true)]
    pub time_scale: Option<f64>,

    /// Prints the standard jobs as a job file of fio; it only reads
    #[arg(long, conflicts_with_all = ["probe", "results"])]
    pub jobs: bool,

    /// Prints the jobs that write as a job file of fio; they destroy what is on the drive. With --probe: runs them, too
    #[arg(long, conflicts_with = "results")]
    pub write_jobs: bool,

    /// How much of the drive is read, 32G by default with --jobs and all with --probe; for --write-jobs the size of the drive, 1T by default (1G is 1024 x 1024 x 1024 bytes)
    #[arg(long, value_name = "SIZE", conflicts_with = "results", value_parser = size)]
    pub size: Option<u64>,

    /// How long the --jobs take, minutes
    #[arg(long, value_name = "N", conflicts_with_all = ["write_jobs", "probe", "results"], value_parser = clap::value_parser!(u32).range(1..=600), default_value_t = 10)]
    pub minutes: u32,

    /// fio's engine
    #[arg(long, value_name = "NAME", requires = "files", value_parser = ["io_uring", "libaio"], default_value = "io_uring")]
    pub engine: String,

    /// Prints what fio would say of this scenario's drive under the standard jobs
    #[arg(long, value_name = "SCENARIO.toml", conflicts_with = "results")]
    pub probe: Option<PathBuf>,

    /// What of the probe's scenario is changed
    #[command(flatten)]
    pub changes: Changes,
}

impl FitArgs {
    /// The scenario that is probed and the options that change it, as commands that run one have them.
    pub fn probed(&self) -> Option<Workload> {
        let scenario = Some(self.probe.clone()?);
        Some(Workload { scenario, changes: self.changes.clone(), ..Workload::default() })
    }
}

/// Bytes of `32G`.
fn size(text: &str) -> Result<u64, String> {
    let [least, most] = flashlane_fit::JobFile::SIZES;
    let size = flashlane_fit::bytes(text).filter(|size| (least..=most).contains(size));
    size.ok_or_else(|| "expected 1G to 1024T".into())
}
