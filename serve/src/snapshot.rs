//! The figures of a running server at an instant, for whoever shows them.

use std::fmt::Write as _;
use std::time::Duration;

use flashlane_core::Op;
use flashlane_core::board::Service;
use flashlane_core::transaction::FlashOp;
use flashlane_report::metrics::Histogram;
use flashlane_ssd::{Device, Totals};

use crate::statistics::ExportReport;

/// Figures since the start.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Real time since the start.
    pub real: Duration,
    /// Simulated ns since the start.
    pub simulated_ns: u64,
    /// Real seconds that a simulated one takes.
    pub time_scale: f64,
    /// The scheduler that decides.
    pub scheduler: String,
    /// The one that follows once the drive has drained.
    pub next_scheduler: Option<String>,
    /// One for each export.
    pub exports: Vec<ExportReport>,
    /// Their priorities.
    pub priorities: Vec<u8>,
    /// Commands of each that the drive has.
    pub under_way: Vec<u64>,
    /// How much later than by the model commands were answered, real ns.
    pub late: Histogram,
    /// Open connections.
    pub connections: usize,
    /// What each die or chip does, in order.
    pub units: Vec<UnitView>,
    /// Units of a channel.
    pub units_per_channel: usize,
    /// What the drive has done.
    pub drive: Totals,
}

/// What a unit does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitView {
    /// Reads and programs that wait for it.
    pub waiting: [u32; 2],
    /// Transactions of garbage collection that wait for it.
    pub collecting: u32,
    /// Whether it does something.
    pub is_busy: bool,
    /// Whether a program or erase of it is paused.
    pub is_paused: bool,
}

/// What every unit of a device does.
pub(crate) fn units(device: &Device) -> Vec<UnitView> {
    let view = |unit: &flashlane_core::board::Unit| UnitView {
        waiting: [unit.waiting(FlashOp::Read), unit.waiting(FlashOp::Program)],
        collecting: unit.gc.reads + unit.gc.programs + unit.gc.erases,
        is_busy: unit.service == Service::Busy,
        is_paused: unit.paused.lead.is_some(),
    };
    device.board().units.iter().map(view).collect()
}

impl Snapshot {
    /// Programs over those that the host asked for; 1 before the first.
    pub fn write_amplification(&self) -> f64 {
        let (user, all) = (self.drive.user_programs, self.drive.user_programs + self.drive.gc_programs);
        if user == 0 { 1.0 } else { all as f64 / user as f64 }
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut text = format!("scheduler {}", self.scheduler);
        if let Some(next) = &self.next_scheduler {
            let _ = write!(text, ", then {next} once the drive has drained");
        }
        let _ = writeln!(
            text,
            "; {:.1} s, of the model {:.3} s; {} connections",
            self.real.as_secs_f64(),
            self.simulated_ns as f64 / 1e9,
            self.connections
        );
        let _ = writeln!(
            text,
            "{:<16} {:>8} {:<6} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "export", "priority", "", "done", "under way", "MB", "mean us", "p50 us", "p99 us"
        );
        for (number, export) in self.exports.iter().enumerate() {
            for op in [Op::Read, Op::Write] {
                let response = &export.response[op.index()];
                let us = |millionths| response.percentile(millionths).unwrap_or(0) as f64 / 1e3;
                let _ = writeln!(
                    text,
                    "{:<16} {:>8} {:<6} {:>10} {:>10} {:>10.1} {:>10.1} {:>10.1} {:>10.1}",
                    export.name,
                    self.priorities[number],
                    op.name(),
                    response.count(),
                    if op == Op::Read { self.under_way[number].to_string() } else { String::new() },
                    export.bytes[op.index()] as f64 / 1e6,
                    response.mean().unwrap_or(0.0) / 1e3,
                    us(500_000),
                    us(990_000),
                );
            }
        }
        let us = |millionths| self.late.percentile(millionths).unwrap_or(0) as f64 / 1e3;
        let _ = write!(
            text,
            "write amplification {:.2}, {} erases, {} pauses; answered later than by the model: p50 {:.1} us, p99 {:.1} us",
            self.write_amplification(),
            self.drive.erases,
            self.drive.pauses,
            us(500_000),
            us(990_000)
        );
        text
    }
}
