//! How traces are read: the same options in every command that reads one.
//!
//! Owns the options that the commands share, so that a message which names one is right in all of them.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use flashlane_core::choice::Choice;
use flashlane_trace::{Action, Beyond, Sizes, TimeOrder, TimeUnit, Volumes};

/// How traces are read.
#[derive(Args, Debug, Default)]
#[group(skip)]
pub struct Reading {
    /// Format of the traces; by default recognised from their content
    #[arg(long, value_name = "FORMAT")]
    pub trace_format: Option<String>,

    /// Unit of the times in the traces, where they carry no date; by default the format's own
    #[arg(long, value_parser = words::<TimeUnit>())]
    pub time_unit: Option<TimeUnit>,

    /// Which column of a CSV is what, by name or number: time=ts:us,op=rw,offset=lba:sectors,length=bytes
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,

    /// Which events of a block trace are read as requests; by default those queued if it has any, else those issued
    #[arg(long, value_parser = words::<Action>())]
    pub action: Option<Action>,

    /// Reads only requests of this volume (disk, ASU, device), named as in the trace
    #[arg(long, value_name = "NAME")]
    pub only_device: Option<String>,

    /// What the volumes (disks, ASUs, devices) of a trace share
    #[arg(long, value_parser = words::<Volumes>())]
    pub volumes: Option<Volumes>,

    /// Number of requests of each trace to skip at the beginning
    #[arg(long, value_name = "N")]
    pub offset: Option<u64>,

    /// Largest number of requests to read from each trace
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,

    /// What happens to requests of a trace beyond the part of the drive that it may use
    #[arg(long, value_parser = words::<Beyond>())]
    pub beyond: Option<Beyond>,

    /// What happens to times of a trace that go backwards
    #[arg(long, value_parser = words::<TimeOrder>())]
    pub order: Option<TimeOrder>,

    /// What happens to sizes of zero, or above the largest that is legal
    #[arg(long, value_parser = words::<Sizes>())]
    pub sizes: Option<Sizes>,
}

/// What only a trace by itself is given: in a run these belong to its flow.
#[derive(Args, Debug, Default)]
#[group(skip)]
pub struct Apart {
    /// Speeds it up by this factor: 50, 0.5 or 3/2
    #[arg(long, value_name = "X")]
    pub speedup: Option<String>,

    /// Bytes of the drive that --beyond judges by; by default every address is on the drive
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    pub drive_bytes: Option<u64>,
}

/// Reads a word of `C`; help shows the list.
pub fn words<C: Choice + Send + Sync>() -> impl TypedValueParser<Value = C> {
    let words = C::LIST.iter().map(|named| PossibleValue::new(named.word).help(named.meaning.trim_end_matches('.')));
    PossibleValuesParser::new(words).try_map(|word| C::of(&word).ok_or("not in the list"))
}
