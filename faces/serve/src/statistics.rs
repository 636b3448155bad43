//! What was served, how long the modelled drive took, and how late the machine answered.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use flashlane_core::Op;
use flashlane_report::metrics::Histogram;

use crate::nbd::Export;
use crate::power_cut::PowerCut;

const OPS: usize = Op::ALL.len();

/// What a server says while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message<'a> {
    /// What it did in the last second, at most once a second.
    LastSecond(&'a str),
    /// Why the modelled drive has stopped: from now on every command fails.
    Fault(&'a str),
}

/// The figures of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// One for each export.
    pub exports: Vec<ExportReport>,
    /// How much later than by the model commands were answered, real ns.
    pub late: Histogram,
    /// Commands that were answered with an error at once: beyond the end, or none that the server has.
    pub refused: u64,
    /// Connections that were closed because the client broke the protocol, by the reason.
    pub broken: BTreeMap<&'static str, u64>,
    /// Connections that were closed at once because there were too many.
    pub turned_away: u64,
    /// Why the modelled drive stopped, if it did.
    pub fault: Option<String>,
    /// Whether the file with the contents could not be read or written.
    pub file_failed: bool,
    /// Whether programs had files of the exports in use when the server ended.
    pub files_in_use: bool,
    /// Lines of the record, or why not all could be written.
    pub recorded: Option<Result<u64, String>>,
    /// What was lost when the power was cut, if it was.
    pub cut: Option<PowerCut>,
    /// Where the drive's state was kept for the next session, or why it was not.
    pub kept: Option<Result<PathBuf, String>>,
}

/// The figures of an export.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ExportReport {
    /// Its name.
    pub name: String,
    /// Commands that the drive was given, by [`Op::index`].
    pub received: [u64; OPS],
    /// Commands that failed: the drive has stopped, or the server ended before they were done.
    pub failed: u64,
    /// Bytes of those that are done, by [`Op::index`].
    pub bytes: [u64; OPS],
    /// How long the drive took for those that are done, simulated ns, by [`Op::index`].
    pub response: [Histogram; OPS],
}

impl ExportReport {
    /// Commands that are done.
    pub fn completed(&self) -> u64 {
        self.response.iter().map(Histogram::count).sum()
    }

    /// The kinds of commands that are to be shown: reads and writes, and the others that there were.
    pub fn kinds(&self) -> impl Iterator<Item = Op> {
        Op::ALL.into_iter().filter(|op| op.is_data() || self.received[op.index()] > 0)
    }
}

/// Percentiles of how late commands were answered, in real time, and in the model's where that is another.
pub fn lateness(late: &Histogram, time_scale: f64) -> String {
    let [median, p99] = [500_000, 990_000].map(|rank| late.percentile(rank).unwrap_or(0) as f64 / 1e3);
    let mut text = format!("p50 {median:.1} us, p99 {p99:.1} us");
    if time_scale != 1.0 {
        text.push_str(&format!(" (model time: {:.1} us, {:.1} us)", median / time_scale, p99 / time_scale));
    }
    text
}

/// Statistics while the server runs.
pub(crate) struct Statistics {
    report: Report,
    /// Of commands since the last line: how many, their bytes, and how late.
    bytes: u64,
    late: Histogram,
    pub(crate) turned_away: u64,
}

impl Statistics {
    pub(crate) fn new(exports: usize) -> Statistics {
        let report = Report {
            exports: vec![ExportReport::default(); exports],
            late: Histogram::new(),
            refused: 0,
            broken: BTreeMap::new(),
            turned_away: 0,
            fault: None,
            file_failed: false,
            files_in_use: false,
            recorded: None,
            kept: None,
            cut: None,
        };
        Statistics { report, bytes: 0, late: Histogram::new(), turned_away: 0 }
    }

    pub(crate) fn received(&mut self, export: usize, op: Op) {
        self.report.exports[export].received[op.index()] += 1;
    }

    pub(crate) fn completed(&mut self, export: usize, op: Op, bytes: u64, response_ns: u64, late: Duration) {
        let export = &mut self.report.exports[export];
        export.response[op.index()].record(response_ns);
        export.bytes[op.index()] += bytes;
        if op.is_data() {
            self.bytes += bytes;
        }
        self.late.record(late.as_nanos() as u64);
    }

    pub(crate) fn failed(&mut self, export: usize) {
        self.report.exports[export].failed += 1;
    }

    pub(crate) fn broke(&mut self, reason: &'static str) {
        *self.report.broken.entry(reason).or_default() += 1;
    }

    pub(crate) fn file_failed(&mut self) {
        self.report.file_failed = true;
    }

    /// A connection is over, of whose commands this many were refused.
    pub(crate) fn closed(&mut self, refused: u64) {
        self.report.refused += refused;
    }

    /// The commands since the last call, in a line; `None` if there were none.
    pub(crate) fn last_second(&mut self, passed: Duration, time_scale: f64) -> Option<String> {
        let late = std::mem::take(&mut self.late);
        let bytes = std::mem::take(&mut self.bytes);
        self.report.late.merge(&late);
        let seconds = passed.as_secs_f64();
        (late.count() > 0).then(|| {
            let (rate, megabytes) = (late.count() as f64 / seconds, bytes as f64 / seconds / 1e6);
            format!("{rate:.0} IOPS, {megabytes:.1} MB/s, late {}", lateness(&late, time_scale))
        })
    }

    /// The figures of the exports by now, and how late commands were answered.
    pub(crate) fn so_far(&self, exports: &[Export]) -> (Vec<ExportReport>, Histogram) {
        let mut late = self.report.late.clone();
        late.merge(&self.late);
        let named =
            |(figures, export): (&ExportReport, &Export)| ExportReport { name: export.name.clone(), ..figures.clone() };
        (self.report.exports.iter().zip(exports).map(named).collect(), late)
    }

    /// All figures; `refused` are those of the connections that are still open.
    pub(crate) fn report(mut self, exports: &[Export], refused: u64, fault: Option<String>) -> Report {
        self.report.late.merge(&self.late);
        for (figures, export) in self.report.exports.iter_mut().zip(exports) {
            figures.name.clone_from(&export.name);
        }
        let refused = self.report.refused + refused;
        Report { refused, fault, turned_away: self.turned_away, ..self.report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_in_real_time_and_in_the_models() {
        let mut late = Histogram::new();
        late.record(20_000);
        assert_eq!(lateness(&late, 1.0), "p50 20.0 us, p99 20.0 us");
        assert_eq!(lateness(&late, 10.0), "p50 20.0 us, p99 20.0 us (model time: 2.0 us, 2.0 us)");
    }
}
