//! The traces of a comparison. A run reads a trace from a source of its own, unless another run has read it to its end and its requests were kept.
//!
//! Owns the kept requests: those of all traces of a comparison take [`KEPT_BYTES`] at the most, and a longer trace is decoded by every run. Promises
//! each run what a [`TraceSource`] of its own would give it: the same requests, counts and errors at the same place.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flashlane_core::arrival::{Arrival, Produced, Source, Span, WorkloadError};
use flashlane_core::choice::Choice;
use flashlane_core::{Op, Time};
use flashlane_report::results::Recorded;
use flashlane_scenario::{FlowPlan, FlowSource};
use flashlane_trace::{Recognition, Sorted, Speedup, TimeUnit, TraceSource, Volumes, rereadable};

/// Bytes of requests that a comparison keeps: about two million.
const KEPT_BYTES: usize = 64 << 20;

/// Requests for which space is asked at a time.
const STEP: usize = 4096;

/// Requests of which the recorded rate is taken at least: fewer may be a burst.
const RATED: usize = 4096;

/// The traces of a comparison, by flow.
#[derive(Debug)]
pub(crate) struct Traces {
    flows: Vec<Arc<Mutex<Slot>>>,
    /// Bytes that may still be kept.
    left: Arc<AtomicUsize>,
}

/// What is kept of a trace.
#[derive(Debug, Default)]
enum Slot {
    /// Nothing; the next run that reads it keeps it.
    #[default]
    Free,
    /// Nothing: a run is keeping it, or it is too long.
    Closed,
    Kept(Arc<Kept>),
}

/// The requests of a trace that was read to its end.
#[derive(Debug)]
struct Kept {
    about: Arc<About>,
    requests: Vec<KeptRequest>,
    /// What the source had counted once so many requests were read: where that changed.
    counted: Vec<(usize, Counted)>,
    /// What it had counted at the end.
    at_end: Counted,
}

#[derive(Clone, Copy, Debug)]
struct KeptRequest {
    at: Time,
    offset: u64,
    length: u64,
    op: Op,
    fua: bool,
}

/// How a trace is read.
#[derive(Debug)]
struct About {
    recognition: Recognition,
    time_unit: TimeUnit,
    speedup: Speedup,
    volumes: Volumes,
}

/// What a source has counted beside requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    rejected: [u64; Op::ALL.len()],
    clamped: u64,
    wrapped: u64,
    cut_off: u64,
    volumes: u64,
    sorted: Sorted,
}

impl Counted {
    fn by(source: &TraceSource) -> Counted {
        let counts = source.counts();
        Counted {
            rejected: counts.rejected_by_kind,
            clamped: counts.clamped,
            wrapped: counts.wrapped,
            cut_off: counts.cut_off,
            volumes: source.volumes(),
            sorted: counts.sorted,
        }
    }
}

impl Traces {
    /// Those of so many flows. Requests are kept only if `several` runs read them.
    pub(crate) fn new(flows: usize, several: bool) -> Traces {
        let bytes = if several { KEPT_BYTES } else { 0 };
        Traces { flows: (0..flows).map(|_| Arc::default()).collect(), left: Arc::new(AtomicUsize::new(bytes)) }
    }

    /// A reader of a flow's trace; `None` if it has none.
    ///
    /// # Errors
    /// A trace that cannot be opened.
    pub(crate) fn open(&self, flow: usize, plan: &FlowPlan) -> Result<Option<TraceReader>, WorkloadError> {
        let shared = &self.flows[flow];
        if let Slot::Kept(kept) = &*lock(shared) {
            return Ok(Some(TraceReader::new(Arc::clone(&kept.about), Requests::Kept(Arc::clone(kept)))));
        }
        let Some(mut reader) = TraceReader::open(plan, flow as u16)? else { return Ok(None) };
        let mut slot = lock(shared);
        if matches!(*slot, Slot::Free) {
            *slot = Slot::Closed;
            reader.keeper = Some(Keeper::new(Arc::clone(shared), Arc::clone(&self.left)));
        }
        Ok(Some(reader))
    }
}

/// An error in how the trace at `path` is to be read, which names the option alone, with the file and the key of the flow; others as they are.
#[cold]
pub(super) fn of_flow(error: WorkloadError, flow: u16, path: &Path) -> WorkloadError {
    let file = path.display().to_string();
    if !flashlane_trace::OPTIONS.contains(&&error.place[..]) || error.place == file {
        return error;
    }
    WorkloadError { place: format!("{file}: flow[{flow}].trace.{}", error.place), ..error }
}

fn lock(slot: &Mutex<Slot>) -> MutexGuard<'_, Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the requests of a trace while a run reads it.
struct Keeper {
    slot: Arc<Mutex<Slot>>,
    left: Arc<AtomicUsize>,
    /// Bytes taken of those.
    taken: usize,
    requests: Vec<KeptRequest>,
    counted: Vec<(usize, Counted)>,
    /// What becomes of the slot.
    then: Slot,
}

impl Keeper {
    fn new(slot: Arc<Mutex<Slot>>, left: Arc<AtomicUsize>) -> Keeper {
        Keeper { slot, left, taken: 0, requests: Vec::new(), counted: Vec::new(), then: Slot::Free }
    }

    /// Keeps a request, after which `counted` stands; false if there is no space for more.
    fn keep(&mut self, request: KeptRequest, counted: Counted) -> bool {
        let bytes = self.requests.len() * size_of::<KeptRequest>() + self.counted.len() * size_of::<(usize, Counted)>();
        if bytes >= self.taken {
            let step = STEP * size_of::<KeptRequest>();
            if self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(step)).is_err() {
                self.then = Slot::Closed;
                return false;
            }
            self.taken += step;
        }
        self.requests.push(request);
        if self.counted.last().is_none_or(|(_, last)| *last != counted) {
            self.counted.push((self.requests.len(), counted));
        }
        true
    }

    /// The trace has ended: later runs read what was kept.
    fn finish(mut self, about: Arc<About>, at_end: Counted) {
        let (requests, counted) = (std::mem::take(&mut self.requests), std::mem::take(&mut self.counted));
        self.taken = 0;
        self.then = Slot::Kept(Arc::new(Kept { about, requests, counted, at_end }));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.left.fetch_add(self.taken, Relaxed);
        *lock(&self.slot) = std::mem::take(&mut self.then);
    }
}

/// A run's place in a trace.
pub(crate) struct TraceReader {
    about: Arc<About>,
    from: Requests,
    keeper: Option<Keeper>,
    /// Requests read so far, their bytes, and when the first and the last one arrive.
    requests: usize,
    bytes: u64,
    first: Time,
    last: Time,
    is_over: bool,
}

enum Requests {
    Decoded(Box<TraceSource>),
    Kept(Arc<Kept>),
}

impl TraceReader {
    /// Opens the trace of a flow, if it has one.
    ///
    /// # Errors
    /// An error in the trace file or in the keys.
    pub(crate) fn open(plan: &FlowPlan, flow: u16) -> Result<Option<TraceReader>, WorkloadError> {
        let FlowSource::Trace(path, trace) = &plan.source else { return Ok(None) };
        let options = trace.options().map_err(|(key, message)| WorkloadError { place: key.into(), message })?;
        rereadable(path)
            .map_err(|message| WorkloadError { place: path.display().to_string(), message: message.into() })?;
        let source =
            TraceSource::open(path, &options, plan.range.length).map_err(|error| of_flow(error, flow, path))?;
        let (recognition, time_unit) = (source.recognition().clone(), source.time_unit());
        let about = About { recognition, time_unit, speedup: options.speedup, volumes: options.volumes };
        Ok(Some(TraceReader::new(Arc::new(about), Requests::Decoded(Box::new(source)))))
    }

    fn new(about: Arc<About>, from: Requests) -> TraceReader {
        let (first, last) = (Time::ZERO, Time::ZERO);
        TraceReader { about, from, keeper: None, requests: 0, bytes: 0, first, last, is_over: false }
    }

    fn counted(&self) -> Counted {
        match &self.from {
            Requests::Decoded(source) => Counted::by(source),
            Requests::Kept(kept) if self.is_over => kept.at_end,
            Requests::Kept(kept) => {
                let passed = kept.counted.partition_point(|(requests, _)| *requests <= self.requests);
                kept.counted[..passed].last().map_or(Counted::default(), |(_, counted)| *counted)
            }
        }
    }

    /// Requests left out so far, by kind.
    pub(crate) fn rejected(&self) -> [u64; Op::ALL.len()] {
        self.counted().rejected
    }

    /// Remarks for the user: the format that was chosen, and the requests that were changed so far.
    pub(crate) fn remarks(&self) -> String {
        let Recognition { format, reason, notes, .. } = &self.about.recognition;
        let mut text = format!("read as {format} ({reason})");
        notes.iter().for_each(|note| text.push_str(&format!("; {note}")));
        let Counted { rejected, clamped, wrapped, cut_off, volumes, sorted } = self.counted();
        for (count, what) in [
            (rejected.iter().sum(), "rejected"),
            (wrapped, "wrapped into the drive"),
            (clamped, "with a time set to their predecessor's"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {count} {what}"));
            }
        }
        if sorted.requests > 0 {
            text.push_str(&format!("; {sorted}"));
        }
        match self.about.volumes {
            _ if volumes < 2 => {}
            Volumes::Together => {
                text.push_str(&format!("; its {volumes} volumes follow each other in one address space"))
            }
            Volumes::Overlaid | Volumes::Apart => text.push_str(&format!(
                "; {volumes} volumes share addresses (volumes = together or apart gives each its own, device picks one)"
            )),
        }
        if cut_off > 0 {
            text.push_str("; its last line is cut off and was left out");
        }
        text
    }

    /// Number of requests of the trace: estimated from how much of the file was read, exact once that is all of it.
    pub(crate) fn expected(&self) -> u64 {
        match &self.from {
            Requests::Decoded(source) => (self.requests as f64 / source.share_read().clamp(1e-6, 1.0)) as u64,
            Requests::Kept(kept) => kept.requests.len() as u64,
        }
    }

    /// The rate of what was read so far as it was recorded. Of a run that ends early more is read for it.
    pub(crate) fn recorded(&mut self) -> Recorded {
        let mut arrival = Arrival::NONE;
        // An error further on is nothing that this run meets.
        while self.requests < RATED && matches!(self.next_request(&mut arrival), Ok(Produced::Request)) {}
        let About { recognition, time_unit, speedup, .. } = &*self.about;
        Recorded {
            format: recognition.format.key().to_owned(),
            time_unit: time_unit.word().to_owned(),
            requests: self.requests as u64,
            bytes: self.bytes,
            span_ns: (self.last - self.first).ns() as f64 * speedup.factor(),
            volumes: Some(self.counted().volumes).filter(|volumes| *volumes > 1),
        }
    }

    #[cold]
    fn end(&mut self) {
        self.is_over = true;
        let counted = self.counted();
        if let Some(keeper) = self.keeper.take() {
            keeper.finish(Arc::clone(&self.about), counted);
        }
    }

    /// Keeps a request that was read, if this run keeps the trace.
    fn keep(&mut self, arrival: &Arrival, offset: u64, length: u64) {
        let counted = self.counted();
        let Arrival { at, op, fua, .. } = *arrival;
        if let Some(keeper) = &mut self.keeper
            && !keeper.keep(KeptRequest { at, offset, length, op, fua }, counted)
        {
            self.keeper = None;
        }
    }
}

impl Source for TraceReader {
    #[inline]
    fn next_request(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError> {
        match &mut self.from {
            Requests::Decoded(source) => {
                if source.next_request(arrival)? != Produced::Request {
                    self.end();
                    return Ok(Produced::End);
                }
            }
            Requests::Kept(kept) => {
                let Some(&KeptRequest { at, offset, length, op, fua }) = kept.requests.get(self.requests) else {
                    self.end();
                    return Ok(Produced::End);
                };
                *arrival = Arrival { at, op, fua, extent: Span::Bytes { offset, length } };
            }
        }
        let Span::Bytes { offset, length } = arrival.extent else { unreachable!("a trace has byte addresses") };
        if self.requests == 0 {
            self.first = arrival.at;
        }
        self.requests += 1;
        self.bytes += if arrival.op.is_data() { length } else { 0 };
        self.last = arrival.at;
        if self.keeper.is_some() {
            self.keep(arrival, offset, length);
        }
        Ok(Produced::Request)
    }

    fn completed(&mut self, _now: Time) {}
}

#[cfg(test)]
#[path = "traces_tests.rs"]
mod tests;
