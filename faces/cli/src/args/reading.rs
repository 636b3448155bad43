//! How traces are read: the same options in every command that reads one.
//!
//! Owns the options that the commands share, so that a message which names one is right in all of them.

use clap::Args;
use flashlane_trace::{Action, Beyond, Sizes, TimeOrder, TimeUnit, Volumes};

use super::key_option::{KeyOption, arguments, number, text, word, words};

arguments! {
    /// How traces are read.
    Reading {
        /// Format of the traces; by default recognised from their content
        #[arg(long, value_name = "FORMAT")]
        trace_format: Option<String> = text("--trace-format", "flow.trace.format"),

        /// Unit of the times in the traces, where they carry no date; by default the format's own
        #[arg(long, value_parser = words::<TimeUnit>())]
        time_unit: Option<TimeUnit> = word("--time-unit", "flow.trace.time_unit"),

        /// Which column of a CSV is what, by name or number: time=ts:us,op=rw,offset=lba:sectors,length=bytes
        #[arg(long, value_name = "COLUMNS")]
        columns: Option<String> = text("--columns", "flow.trace.columns"),

        /// Which events of a block trace are read as requests; by default those queued if it has any, else those issued
        #[arg(long, value_parser = words::<Action>())]
        action: Option<Action> = word("--action", "flow.trace.action"),

        /// Reads only requests of this volume (disk, ASU, device), named as in the trace
        #[arg(long, value_name = "NAME")]
        only_device: Option<String> = text("--only-device", "flow.trace.device"),

        /// What the volumes (disks, ASUs, devices) of a trace share
        #[arg(long, value_parser = words::<Volumes>())]
        volumes: Option<Volumes> = word("--volumes", "flow.trace.volumes"),

        /// Number of requests of each trace to skip at the beginning
        #[arg(long, value_name = "N")]
        offset: Option<u64> = number("--offset", "flow.trace.offset"),

        /// Largest number of requests to read from each trace
        #[arg(long, value_name = "N")]
        limit: Option<u64> = number("--limit", "flow.trace.limit"),

        /// What happens to requests of a trace beyond the part of the drive that it may use
        #[arg(long, value_parser = words::<Beyond>())]
        beyond: Option<Beyond> = word("--beyond", "flow.trace.beyond"),

        /// What happens to times of a trace that go backwards
        #[arg(long, value_parser = words::<TimeOrder>())]
        order: Option<TimeOrder> = word("--order", "flow.trace.order"),

        /// What happens to sizes of zero, or above the largest that is legal
        #[arg(long, value_parser = words::<Sizes>())]
        sizes: Option<Sizes> = word("--sizes", "flow.trace.sizes"),
    }
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
