//! The figures of a running server at an instant, for whoever shows them.

use std::fmt::Write as _;
use std::time::Duration;

use flashlane_core::Op;
use flashlane_core::board::Service;
use flashlane_core::transaction::FlashOp;
use flashlane_report::metrics::Histogram;
use flashlane_ssd::{Device, Totals};

use crate::statistics::{ExportReport, lateness};

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
    /// Why the drive has stopped, if it has.
    pub fault: Option<String>,
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
    /// Write amplification as results count it, to be shown; `-` before the first page is programmed for the host.
    pub(crate) fn write_amplification(&self) -> String {
        self.drive.programs().write_amplification().map_or("-".into(), |amplification| format!("{amplification:.2}"))
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut text = self.fault.as_ref().map_or(String::new(), |fault| format!("{fault}\n"));
        let _ = write!(text, "scheduler {}", self.scheduler);
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
            "{:<16} {:>8} {:<12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
            "export", "priority", "", "done", "under way", "MB", "mean us", "p50 us", "p99 us"
        );
        for (number, export) in self.exports.iter().enumerate() {
            for op in export.kinds() {
                let response = &export.response[op.index()];
                let us = |millionths| response.percentile(millionths).unwrap_or(0) as f64 / 1e3;
                let _ = writeln!(
                    text,
                    "{:<16} {:>8} {:<12} {:>10} {:>10} {:>10.1} {:>10.1} {:>10.1} {:>10.1}",
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
        let _ = write!(
            text,
            "write amplification {}, {} erases, {} pauses; answered later than by the model: {}",
            self.write_amplification(),
            self.drive.erases,
            self.drive.pauses,
            lateness(&self.late, self.time_scale)
        );
        text
    }
}

/// What a server did between two snapshots.
pub(crate) struct Interval<'a> {
    pub(crate) from: &'a Snapshot,
    pub(crate) to: &'a Snapshot,
}

/// Commands of a kind of an export in an interval.
pub(crate) struct Rates {
    /// Per second.
    pub(crate) commands: f64,
    pub(crate) bytes: f64,
    /// Response times, simulated ns.
    pub(crate) response: Histogram,
}

impl Interval<'_> {
    /// Real seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.to.real.saturating_sub(self.from.real).as_secs_f64().max(1e-3)
    }

    pub(crate) fn rates(&self, export: usize, op: Op) -> Rates {
        let [from, to] = [self.from, self.to].map(|snapshot| &snapshot.exports[export]);
        let response = to.response[op.index()].since(&from.response[op.index()]);
        let bytes = (to.bytes[op.index()] - from.bytes[op.index()]) as f64 / self.seconds();
        Rates { commands: response.count() as f64 / self.seconds(), bytes, response }
    }

    /// Bytes per second of all exports.
    pub(crate) fn bytes(&self, op: Op) -> f64 {
        (0..self.to.exports.len()).map(|export| self.rates(export, op).bytes).sum()
    }

    /// How often per second the drive did what a counter counts.
    pub(crate) fn rate(&self, counter: impl Fn(&Totals) -> u64) -> f64 {
        (counter(&self.to.drive) - counter(&self.from.drive)) as f64 / self.seconds()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use flashlane_ssd::SlcTotals;

    use super::*;

    /// Two exports on two channels of two units: three reads of the first are done.
    pub(crate) fn snapshot() -> Snapshot {
        let mut response: [Histogram; 5] = Default::default();
        [90_000, 1_000_000, 1_000_000].iter().for_each(|&ns| response[0].record(ns));
        let first = ExportReport {
            name: "db".into(),
            received: [3, 5, 0, 0, 2],
            bytes: [12_288, 0, 0, 0, 0],
            response,
            ..Default::default()
        };
        let idle = UnitView { waiting: [0, 0], collecting: 0, is_busy: false, is_paused: false };
        Snapshot {
            real: Duration::from_secs(2),
            simulated_ns: 2_000_000_000,
            time_scale: 1.0,
            scheduler: "flin".into(),
            fault: None,
            next_scheduler: None,
            exports: vec![first, ExportReport { name: "backup".into(), ..Default::default() }],
            priorities: vec![1, 0],
            under_way: vec![5, 0],
            late: Histogram::new(),
            connections: 1,
            units: vec![
                UnitView { is_busy: true, waiting: [3, 0], ..idle },
                idle,
                UnitView { is_busy: true, is_paused: true, ..idle },
                UnitView { waiting: [0, 7], collecting: 2, ..idle },
            ],
            units_per_channel: 2,
            drive: Totals {
                user_programs: 3,
                gc_programs: 9,
                mapping_programs: 4,
                padded: Some(1),
                slc: Some(SlcTotals { folded: 7, ..SlcTotals::default() }),
                erases: 4,
                pauses: 6,
                ..Totals::default()
            },
        }
    }

    #[test]
    fn write_amplification_counts_every_page() {
        let all = snapshot();
        assert!(all.table().contains("\nwrite amplification 8.00, 4 erases, 6 pauses; "), "{}", all.table());
        let none = Snapshot { drive: Totals { gc_programs: 5, ..Totals::default() }, ..snapshot() };
        assert!(none.table().contains("\nwrite amplification -, 0 erases"), "{}", none.table());
    }

    #[test]
    fn an_interval_has_what_was_done_in_it() {
        let (from, mut to) = (snapshot(), snapshot());
        to.real += Duration::from_secs(2);
        to.exports[0].response[0].record(70_000);
        to.exports[0].bytes[0] += 8192;
        to.drive.pauses += 3;
        let interval = Interval { from: &from, to: &to };
        let rates = interval.rates(0, Op::Read);
        assert_eq!((rates.commands, rates.bytes, rates.response.count()), (0.5, 4096.0, 1));
        assert!(rates.response.percentile(990_000).is_some_and(|ns| (69_000..71_000).contains(&ns)));
        assert_eq!((interval.bytes(Op::Read), interval.bytes(Op::Write)), (4096.0, 0.0));
        assert_eq!(interval.rate(|drive| drive.pauses), 1.5);
    }
}
