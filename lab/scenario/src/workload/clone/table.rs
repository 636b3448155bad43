//! The published tables, as data files that ship inside the program.
//!
//! Promises the rows in the order of the papers, and for a name that no row has, an error with the nearest one.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use flashlane_core::arrival::WorkloadError;

/// The table that a clone's figures come from. Papers disagree about traces of one name, so a name belongs to a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Slacker, ASPLOS 2017, Table 2: 21 traces (model 9.1).
    Slacker,
    /// FLIN, ISCA 2018, Table 2: 20 traces (model 9.2).
    Flin,
    /// SOS, MSST 2013, benchmark characteristics: 5 mixes (model 9.3).
    Sos,
}

/// A trace of Slacker's Table 2. KB are 1,024 bytes.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlackerTrace {
    /// The paper's name; "-p" stands for a leading part of the trace (D-SLK-23).
    pub name: String,
    /// The paper's group.
    pub group: Group,
    /// Writes over all requests; the paper calls it the WR-RD ratio (D-SLK-20).
    pub write_fraction: f64,
    /// Mean size of a read.
    pub read_kb_mean: f64,
    /// Standard deviation of the size of a read.
    pub read_kb_sd: f64,
    /// Mean size of a write.
    pub write_kb_mean: f64,
    /// Standard deviation of the size of a write.
    pub write_kb_sd: f64,
    /// Mean slack of a read under the paper's baseline: a target, not an input.
    pub read_slack_ms_mean: f64,
    /// Standard deviation of that.
    pub read_slack_ms_sd: f64,
    /// Mean slack of a write under the paper's baseline: a target, not an input.
    pub write_slack_ms_mean: f64,
    /// Standard deviation of that.
    pub write_slack_ms_sd: f64,
    /// Calibrated mean time between requests. The paper prints none; empty until a calibration is stored.
    pub mean_gap_us: Option<f64>,
    /// Mean slack under the baseline that the calibration reached at that gap: of reads where the group is read-intensive,
    /// else of writes.
    pub reached_slack_ms: Option<f64>,
}

/// What a clone of Slacker's Table 2 in whole pages has beside the row: its arrivals, and how unevenly it loads the chips. Calibrated, since
/// the paper prints neither (model 9.4).
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlackerBursts {
    /// The name of the row.
    pub name: String,
    /// Mean time between requests with which the chips of Table 1 are busy for 30 % of the time, one page a command.
    pub mean_gap_us: f64,
    /// Mean requests of a burst.
    pub burst_requests: f64,
    /// Zipf exponent of the chips' popularity.
    pub lane_theta: f64,
    /// Mean slack under the baseline that the calibration reached: of reads where the group is read-intensive, else of writes.
    pub reached_slack_ms: f64,
    /// Standard deviation of that.
    pub reached_slack_sd_ms: f64,
}

/// Slacker's groups by share of writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// More than 0.70.
    WriteIntensive,
    /// 0.30 to 0.70.
    Balanced,
    /// Less than 0.30.
    ReadIntensive,
}

impl Group {
    /// Its name in figures and claims.
    pub fn name(self) -> &'static str {
        match self {
            Group::WriteIntensive => "write_intensive",
            Group::Balanced => "balanced",
            Group::ReadIntensive => "read_intensive",
        }
    }
}

/// A trace of FLIN's Table 2. KB are 1,024 bytes.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlinTrace {
    /// The paper's name.
    pub name: String,
    /// Reads over all requests.
    pub read_fraction: f64,
    /// Mean size of a read.
    pub read_kb: f64,
    /// Mean size of a write.
    pub write_kb: f64,
    /// Mean time between reads, as printed (D-FLN-18).
    pub read_gap_ms: f64,
    /// Mean time between writes, as printed (D-FLN-18).
    pub write_gap_ms: f64,
    /// How likely the trace is to disturb others.
    pub interference: Interference,
}

/// FLIN's interference probability of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interference {
    /// Low.
    Low,
    /// High.
    High,
}

/// A benchmark of the SOS slides.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SosBenchmark {
    /// The slides' name.
    pub name: String,
    /// Reads in 100 requests.
    pub read_percent: f64,
    /// Writes in 100 that could move to an idle chip: a target, not an input.
    pub reallocatable_percent: f64,
    /// Writes in 100 that are overwritten while buffered: a target, not an input.
    pub overwrite_percent: f64,
    /// Calibrated mean time between requests. The slides print none; it and the following are empty until a calibration is stored.
    pub mean_gap_us: Option<f64>,
    /// Calibrated mean requests of a burst.
    pub burst_requests: Option<f64>,
    /// Calibrated share of writes that rewrite an earlier one.
    pub rewrite_ratio: Option<f64>,
    /// Calibrated mean requests from a write to its rewrite.
    pub rewrite_distance_requests: Option<f64>,
    /// Re-allocatable writes in 100 that the calibration reached.
    pub reached_reallocatable_percent: Option<f64>,
    /// Overwritten writes in 100 that the calibration reached.
    pub reached_overwrite_percent: Option<f64>,
}

impl SlackerTrace {
    /// All rows.
    pub fn all() -> Vec<SlackerTrace> {
        rows(include_str!("../../../data/slacker-table2.csv"))
    }

    /// The row of that name.
    pub fn named(name: &str) -> Result<SlackerTrace, WorkloadError> {
        find(SlackerTrace::all(), |row| &row.name, name, Table::Slacker)
    }
}

impl SlackerBursts {
    /// All rows, in the order of [`SlackerTrace::all`].
    pub fn all() -> Vec<SlackerBursts> {
        rows(include_str!("../../../data/slacker-whole-pages.csv"))
    }

    /// The row of that name.
    pub fn named(name: &str) -> Result<SlackerBursts, WorkloadError> {
        find(SlackerBursts::all(), |row| &row.name, name, Table::Slacker)
    }
}

impl FlinTrace {
    /// All rows.
    pub fn all() -> Vec<FlinTrace> {
        rows(include_str!("../../../data/flin-table2.csv"))
    }

    /// The row of that name.
    pub fn named(name: &str) -> Result<FlinTrace, WorkloadError> {
        find(FlinTrace::all(), |row| &row.name, name, Table::Flin)
    }

    /// The mean gap of reads and writes together: the rates add (D-FLN-18).
    pub fn mean_gap_ms(&self) -> f64 {
        1.0 / (1.0 / self.read_gap_ms + 1.0 / self.write_gap_ms)
    }
}

impl SosBenchmark {
    /// All rows.
    pub fn all() -> Vec<SosBenchmark> {
        rows(include_str!("../../../data/sos-mixes.csv"))
    }

    /// The row of that name.
    pub fn named(name: &str) -> Result<SosBenchmark, WorkloadError> {
        find(SosBenchmark::all(), |row| &row.name, name, Table::Sos)
    }
}

impl Table {
    /// All tables.
    pub const ALL: [Table; 3] = [Table::Slacker, Table::Flin, Table::Sos];

    /// `slacker`, `flin` or `sos`.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Slacker => "slacker",
            Table::Flin => "flin",
            Table::Sos => "sos",
        }
    }

    /// The names of its rows, in the paper's order.
    pub fn clone_names(self) -> Vec<String> {
        match self {
            Table::Slacker => SlackerTrace::all().into_iter().map(|row| row.name).collect(),
            Table::Flin => FlinTrace::all().into_iter().map(|row| row.name).collect(),
            Table::Sos => SosBenchmark::all().into_iter().map(|row| row.name).collect(),
        }
    }
}

fn rows<R: DeserializeOwned>(table: &str) -> Vec<R> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(table.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().expect("a table that ships with the program is sound")
}

fn find<R>(rows: Vec<R>, name_of: impl Fn(&R) -> &str, name: &str, table: Table) -> Result<R, WorkloadError> {
    let names: Vec<String> = rows.iter().map(|row| name_of(row).to_string()).collect();
    let found = rows.into_iter().find(|row| name_of(row) == name);
    found.ok_or_else(|| unknown(name, &names, table))
}

/// Says which name is nearest, and in which other table a name is known.
fn unknown(name: &str, names: &[String], table: Table) -> WorkloadError {
    let distance = |known: &&String| strsim::damerau_levenshtein(&known.to_lowercase(), &name.to_lowercase());
    let nearest = names.iter().min_by_key(distance).map_or("", String::as_str);
    let elsewhere =
        Table::ALL.into_iter().find(|other| *other != table && other.clone_names().iter().any(|n| n == name));
    let elsewhere = elsewhere.map_or(String::new(), |other| format!("; table \"{}\" has", other.name()));
    let all = names.join(", ");
    let message = format!("table \"{}\" has no {name:?}{elsewhere}; nearest: {nearest:?}; all: {all}", table.name());
    WorkloadError { place: "name".to_string(), message }
}
