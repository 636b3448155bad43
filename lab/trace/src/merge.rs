//! The per-CPU files of a blktrace as one stream, merged by time; at equal times the lower CPU comes first.

use super::TimeUnit;
use super::action::Action;
use super::blktrace::{CpuFile, Event, device_name};
use super::events::EventCounts;
use super::format::record::RawRecord;
use super::input::Origin;
use flashlane_core::arrival::WorkloadError;

/// All files of a trace.
pub(super) struct Merge {
    files: Vec<(CpuFile, Option<Event>)>,
    device: Option<u32>,
    device_name: Vec<u8>,
}

/// A request of the merged stream, with its file and the number of its record.
pub(super) struct Merged {
    pub raw: RawRecord,
    pub file: usize,
    pub number: u64,
}

impl Merge {
    /// Opens all files at their first request with `action`; times are in `unit`.
    pub fn open(origins: &[Origin], action: Action, unit: TimeUnit) -> Result<Self, WorkloadError> {
        let mut files = Vec::with_capacity(origins.len());
        for origin in origins {
            let mut file = CpuFile::open(origin, action, unit)?;
            let head = file.next()?;
            files.push((file, head));
        }
        Ok(Merge { files, device: None, device_name: Vec::new() })
    }

    /// The next request of all files.
    pub fn next(&mut self) -> Result<Option<Merged>, WorkloadError> {
        let heads = self.files.iter().enumerate();
        let earliest = heads.filter_map(|(at, (_, head))| head.map(|event| (event.raw.time_ns, at, event))).min_by_key(
            // A machine has at most a few hundred CPUs, so a plain minimum is clearer than a heap and not much slower.
            |(time, at, _)| (*time, *at),
        );
        let Some((_, at, event)) = earliest else { return Ok(None) };
        let (file, head) = &mut self.files[at];
        *head = file.next()?;
        if self.device != Some(event.device) {
            self.device = Some(event.device);
            self.device_name = device_name(event.device);
        }
        Ok(Some(Merged { raw: event.raw, file: at, number: event.number }))
    }

    /// `major,minor` of the last request returned.
    pub fn device_name(&self) -> &[u8] {
        &self.device_name
    }

    /// Records read so far in all files, and how many of them are no requests.
    pub fn records(&self) -> (u64, u64) {
        self.files.iter().fold((0, 0), |(n, s), (file, _)| (n + file.number, s + file.skipped))
    }

    /// The place of a request for messages.
    pub fn place(&self, file: usize, number: u64) -> String {
        self.files[file].0.place(number)
    }
}

/// The events of all files.
pub(super) fn event_counts(origins: &[Origin]) -> Result<EventCounts, WorkloadError> {
    let mut counts = EventCounts::default();
    counts.is_whole = true;
    for origin in origins {
        CpuFile::open(origin, Action::Queue, TimeUnit::Ns)?.count(&mut counts);
    }
    Ok(counts)
}
