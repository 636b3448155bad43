//! A trace as a flow's requests: options are applied, everything irregular is refused or counted.
//!
//! Promises times that begin at the given start and never decrease, requests of at least one byte (a flush has none) that are inside the
//! drive, and counts that add up: `requests = issued + rejected`. Open loop: completions change nothing. Must never
//! know a format.

use std::path::Path;

use flashlane_core::{Op, Time};

use super::counts::{AdaptedRequest, TraceCounts};
use super::input::{Origin, origins};
use super::jitter::Jitter;
use super::options::{Beyond, LATEST_NS, Sizes, TimeOrder, TraceOptions, Volumes};
use super::ordered::Ordered;
use super::recognition::Recognition;
use super::records::{At, Record, Records};
use super::volumes::starts;
use super::{TimeUnit, error};
use flashlane_core::arrival::{Arrival, Produced, Source, Span, WorkloadError};
use flashlane_outputs::shown::counted;

/// A trace file as a [`Source`].
pub struct TraceSource {
    records: Ordered,
    jitter: Option<Jitter>,
    options: TraceOptions,
    capacity_bytes: u64,
    counts: TraceCounts,
    pass: Pass,
    /// Where the addresses of each device begin, by its index; none: all at 0.
    starts: Vec<u64>,
    loops_left: u32,
    /// Whether times count from the start of the run, and there may be no request.
    is_recording: bool,
    state: State,
    /// The place of the last request in the file.
    at: Option<At>,
}

/// The state of one pass over the trace.
#[derive(Clone, Copy, Default)]
struct Pass {
    /// The time in the run at which it begins.
    start_ns: u64,
    /// The file's time that is there.
    origin_ns: u64,
    /// The time in the run at which its first request arrives.
    first_at_ns: u64,
    /// The file's time of its last request.
    last_ns: u64,
    /// The time in the run at which that request arrives.
    last_at_ns: u64,
    /// Number of requests skipped.
    passed_over: u64,
    /// Number of requests read, those of other volumes too.
    requests: u64,
}

enum State {
    Reading,
    Ended,
    Failed(WorkloadError),
}

impl TraceSource {
    /// Opens the trace at `path` for a drive of `capacity_bytes`.
    ///
    /// `path` is a file (plain or compressed), or for a binary blktrace also the directory of its per-CPU files, their base
    /// name, or `BASE.blktrace.*`.
    pub fn open(path: &Path, options: &TraceOptions, capacity_bytes: u64) -> Result<TraceSource, WorkloadError> {
        TraceSource::of(origins(path)?, options, capacity_bytes)
    }

    /// A trace in memory; messages call it `name`. Never panics, whatever the bytes.
    pub fn from_bytes(
        name: &str,
        bytes: &[u8],
        options: &TraceOptions,
        capacity_bytes: u64,
    ) -> Result<TraceSource, WorkloadError> {
        TraceSource::of(vec![Origin::Bytes(name.to_owned(), bytes.into())], options, capacity_bytes)
    }

    /// Opens `origins`.
    pub(super) fn of(
        origins: Vec<Origin>,
        options: &TraceOptions,
        capacity_bytes: u64,
    ) -> Result<TraceSource, WorkloadError> {
        let starts = match options.volumes {
            Volumes::Together => starts(&origins, options)?,
            Volumes::Overlaid | Volumes::Apart => Vec::new(),
        };
        let records = Records::open(origins, options)?;
        // Requests of a whole second would arrive in one burst.
        let is_recording = records.recognition().format.about().is_recording;
        let coarse = records.recognition().format.about().resolution_ns >= TimeUnit::S.ns();
        let jitter = options.jitter_seed.filter(|_| coarse).map(Jitter::new);
        Ok(TraceSource {
            records: Ordered::new(records, options.order),
            jitter,
            options: options.clone(),
            capacity_bytes,
            counts: TraceCounts::default(),
            pass: Pass { start_ns: options.start.ns(), ..Pass::default() },
            starts,
            loops_left: options.loops - 1,
            is_recording,
            state: State::Reading,
            at: None,
        })
    }

    /// The trace's format and why it was chosen.
    pub fn recognition(&self) -> &Recognition {
        self.records.file().recognition()
    }

    /// The unit in which its times are read.
    pub fn time_unit(&self) -> TimeUnit {
        self.records.file().time_unit()
    }

    /// Counts of what was read so far.
    pub fn counts(&self) -> TraceCounts {
        let counts = self.records.file().counts();
        TraceCounts {
            lines: counts.lines,
            skipped: counts.skipped,
            filtered: counts.filtered + self.counts.filtered,
            stacked: counts.stacked,
            cut_off: counts.cut_off,
            sorted: self.records.sorted(),
            ..self.counts
        }
    }

    /// The share of the trace that was read so far, 0 to 1: of the bytes of its files as they are stored, which are read in
    /// large pieces, or of the requests that the options ask for.
    pub fn share_read(&self) -> f64 {
        let (read, of) = self.records.file().bytes_read();
        let bytes = if of == 0 { 1.0 } else { read as f64 / of as f64 };
        let requests = self.options.limit.map_or(0.0, |limit| self.pass.requests as f64 / limit.max(1) as f64);
        let loops = f64::from(self.options.loops);
        let ended = loops - 1.0 - f64::from(self.loops_left);
        ((ended + bytes.max(requests).min(1.0)) / loops).min(1.0)
    }

    /// The place of the last request in the file.
    #[cold]
    pub(super) fn place(&self) -> String {
        self.at.map_or_else(String::new, |at| self.records.file().place(at))
    }

    /// The recorded time of the first request, in ns, on the file's own time axis; none if there is no request.
    pub fn first_recorded(&mut self) -> Option<u64> {
        // What is wrong with the trace is said where it is replayed.
        let mut request = AdaptedRequest::NONE;
        let _ = self.next_into(&mut request);
        (self.pass.requests > 0).then_some(self.pass.origin_ns)
    }

    /// Whether a request was recorded at this time of the file's, ns, or later.
    pub fn reaches(&mut self, recorded_ns: u64) -> bool {
        let mut request = AdaptedRequest::NONE;
        while matches!(self.next_into(&mut request), Ok(true)) && self.pass.last_ns < recorded_ns {}
        self.pass.requests > 0 && self.pass.last_ns >= recorded_ns
    }

    /// How many volumes the requests read so far are of.
    pub fn volumes(&self) -> u64 {
        if self.options.part.is_some() { 1 } else { self.devices().len() as u64 }
    }

    /// The names of the devices met so far, in the order of [`AdaptedRequest::device`].
    pub(super) fn devices(&self) -> &[Vec<u8>] {
        self.records.file().devices()
    }

    /// The next request with all options applied; `None` at the end. After an error, every call returns that error.
    pub(super) fn next_adapted(&mut self) -> Result<Option<AdaptedRequest>, WorkloadError> {
        let mut request = AdaptedRequest::NONE;
        Ok(self.next_into(&mut request)?.then_some(request))
    }

    /// The same, into `request`; false at the end.
    #[inline]
    fn next_into(&mut self, request: &mut AdaptedRequest) -> Result<bool, WorkloadError> {
        match &self.state {
            State::Reading => {}
            State::Ended => return Ok(false),
            State::Failed(why) => return Err(why.clone()),
        }
        match self.read(request) {
            Ok(true) => Ok(true),
            Ok(false) => {
                self.state = State::Ended;
                Ok(false)
            }
            Err(why) => {
                self.state = State::Failed(why.clone());
                Err(why)
            }
        }
    }

    #[inline]
    fn read(&mut self, request: &mut AdaptedRequest) -> Result<bool, WorkloadError> {
        let mut record = Record::NONE;
        loop {
            if self.options.limit.is_some_and(|limit| self.pass.requests >= limit) {
                if self.again()? {
                    continue;
                }
                return Ok(false);
            }
            let is_there = match &mut self.jitter {
                None => self.records.next(&mut record)?,
                Some(jitter) => jitter.next(&mut self.records, &mut record)?,
            };
            if !is_there {
                if self.again()? {
                    continue;
                }
                return Ok(false);
            }
            if self.pass.passed_over < self.options.offset {
                self.pass.passed_over += 1;
                continue;
            }
            let (at_ns, is_clamped) = self.time(&record)?;
            self.pass.requests += 1;
            if self.options.part.is_some() && record.device != 0 {
                self.counts.filtered += 1;
                continue;
            }
            self.counts.requests += 1;
            self.counts.clamped += u64::from(is_clamped);
            let Record { op, fua, device, length, .. } = record;
            if (length == 0 || length > self.options.max_request_bytes) && self.rejects_size(&record)? {
                continue;
            }
            if let Some(start) = self.starts.get(device as usize)
                && op != Op::Flush
            {
                // Its volume's addresses were found to fit.
                record.offset = record.offset.saturating_add(*start);
            }
            let end = record.offset.checked_add(length);
            let offset = if end.is_some_and(|end| end <= self.capacity_bytes) {
                record.offset
            } else {
                match self.beyond(&record)? {
                    Some(offset) => offset,
                    None => continue,
                }
            };
            self.at = Some(record.at);
            *request = AdaptedRequest { at_ns, offset, length, op, fua, device };
            return Ok(true);
        }
    }

    /// The time in the run at which a request arrives, and whether that is not its own; checks the order.
    #[inline]
    fn time(&mut self, record: &Record) -> Result<(u64, bool), WorkloadError> {
        let pass = &mut self.pass;
        let is_first = pass.requests == 0;
        if is_first {
            // Later loops follow the one before, whatever the file's times.
            let origin = self.options.origin_ns.filter(|_| self.loops_left + 1 == self.options.loops);
            pass.origin_ns = if self.is_recording { 0 } else { origin.unwrap_or(record.time_ns).min(record.time_ns) };
        } else if record.time_ns < pass.last_ns {
            if self.options.order != TimeOrder::Clamp {
                return Err(self.backwards(record));
            }
            return Ok((self.pass.last_at_ns, true));
        }
        let span = self.options.speedup.apply(record.time_ns - pass.origin_ns);
        match span.and_then(|span| span.checked_add(pass.start_ns)) {
            Some(at) if at <= LATEST_NS => {
                if is_first {
                    pass.first_at_ns = at;
                }
                pass.last_ns = record.time_ns;
                pass.last_at_ns = at;
                Ok((at, false))
            }
            _ => {
                let origin = pass.origin_ns;
                let message = format!(
                    "a time {} ns after the first request; legal is up to {LATEST_NS} ns after start, speed-up and loops",
                    record.time_ns - origin
                );
                Err(error(self.records.file().place(record.at), message))
            }
        }
    }

    #[cold]
    fn backwards(&self, record: &Record) -> WorkloadError {
        let back = self.pass.last_ns - record.time_ns;
        let message = format!(
            "the time {} ns goes back by {back} ns; legal are times in ascending order (or clamp: the time of the request before; or sort: by time)",
            record.time_ns
        );
        error(self.records.file().place(record.at), message)
    }

    /// Refuses or rejects an unusual size; returns whether it is rejected.
    #[cold]
    fn rejects_size(&mut self, record: &Record) -> Result<bool, WorkloadError> {
        if self.options.takes(record.op, record.length) {
            return Ok(false);
        }
        if self.options.sizes == Sizes::Reject {
            self.counts.reject(record.op);
            return Ok(true);
        }
        let legal = match record.op.unmaps() {
            true => "1 byte or more".to_owned(),
            false => format!("1 to {} bytes", self.options.max_request_bytes),
        };
        let message = format!("a size of {} bytes; legal is {legal} (or reject: left out and counted)", record.length);
        Err(error(self.records.file().place(record.at), message))
    }

    /// Refuses, rejects or wraps an address.
    #[cold]
    fn beyond(&mut self, record: &Record) -> Result<Option<u64>, WorkloadError> {
        let (offset, length, capacity) = (record.offset, record.length, self.capacity_bytes);
        match self.options.beyond {
            Beyond::Reject => {
                self.counts.reject(record.op);
                Ok(None)
            }
            Beyond::Wrap if length <= capacity => {
                self.counts.wrapped += 1;
                let wrapped = offset % capacity;
                Ok(Some(if wrapped > capacity - length { 0 } else { wrapped }))
            }
            Beyond::Wrap | Beyond::Error => {
                let last = u128::from(offset) + u128::from(length) - 1;
                let wraps = if length <= capacity { "wrap: modulo that, or " } else { "" };
                let message = format!(
                    "bytes {offset} to {last} lie beyond the part of the drive that the flow may use; legal is below {capacity} (or \
                     {wraps}reject: left out and counted)"
                );
                Err(error(self.records.file().place(record.at), message))
            }
        }
    }

    /// Starts the next loop; false if there is none. It begins one mean gap after the last arrival, so that the rate
    /// stays the same.
    #[cold]
    fn again(&mut self) -> Result<bool, WorkloadError> {
        let pass = self.pass;
        if pass.requests == 0 {
            if self.is_recording && pass.passed_over == 0 {
                return Ok(false);
            }
            return Err(match pass.passed_over {
                0 => self.records.file().nothing(),
                n => error(
                    "offset",
                    format!(
                        "`{}` passes over all of its {}; legal is 0 to {}",
                        self.options.offset,
                        counted(n, "request"),
                        n - 1
                    ),
                ),
            });
        }
        if self.loops_left == 0 {
            return Ok(false);
        }
        self.loops_left -= 1;
        let gap = (pass.last_at_ns - pass.first_at_ns).checked_div(pass.requests - 1).unwrap_or(0);
        self.pass = Pass { start_ns: pass.last_at_ns.saturating_add(gap), ..Pass::default() };
        self.records.rewind()?;
        if let Some(jitter) = &mut self.jitter {
            jitter.rewind();
        }
        Ok(true)
    }
}

impl Source for TraceSource {
    #[inline]
    fn next_request(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError> {
        let mut request = AdaptedRequest::NONE;
        if !self.next_into(&mut request)? {
            return Ok(Produced::End);
        }
        let AdaptedRequest { at_ns, op, fua, offset, length, .. } = request;
        *arrival = Arrival { at: Time::from_ns(at_ns), op, fua, extent: Span::Bytes { offset, length } };
        Ok(Produced::Request)
    }

    fn completed(&mut self, _now: Time) {}
}
