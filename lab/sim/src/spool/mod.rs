//! Traces decoded once and read by every run of a comparison.
//!
//! Owns the requests of a flow's trace in compact form ([`packed`]), held in memory or a temporary file ([`store`]). A run that
//! comes to the end of what has been decoded decodes the next block; others read it, and a thread that has nothing to do decodes
//! one ahead. So runs stay independent, a trace is opened and decoded once, and a long one is never held in memory as a whole. The last run to read a
//! trace, if it reads it to the end, takes over its source at the end of what has been decoded: nobody else needs what follows. Promises each run what a
//! [`TraceSource`] of its own would give it: the same requests, counts and errors at the same place.

mod packed;
mod store;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use self::packed::{Changes, Met, Packer, Shape, Unpacker};
pub(super) use self::store::Budget;
use self::store::Store;
use flashlane_core::Op;
use flashlane_core::arrival::{Arrival, Produced, Source, Span, WorkloadError};
use flashlane_core::choice::Choice;
use flashlane_report::results::Recorded;
use flashlane_trace::{Recognition, Speedup, TimeUnit, TraceOptions, TraceSource, Volumes};

/// Bytes of packed requests that a comparison holds in memory: about 6 million requests.
const IN_MEMORY: usize = 64 << 20;

/// The memory that the spools of a comparison share.
pub(super) fn budget() -> Arc<Budget> {
    Budget::new(IN_MEMORY)
}

/// A trace that is decoded once.
pub(super) struct Spool {
    /// Shared with the thread that decodes ahead, which must not count as a reader.
    inner: Arc<Mutex<Inner>>,
    recognition: Recognition,
    time_unit: TimeUnit,
    speedup: Speedup,
    volumes: Volumes,
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spool").field("recognition", &self.recognition).finish_non_exhaustive()
    }
}

struct Inner {
    /// Until a reader takes it over.
    source: Option<Box<TraceSource>>,
    packer: Packer,
    store: Store,
    /// A request that was produced and did not fit into the last block.
    pending: Option<Arrival>,
    /// [`TraceSource::irregular`] of the requests decoded.
    irregular: u64,
    /// Number of requests decoded, and when the first of them arrives, ns.
    requests: u64,
    first_ns: u64,
    /// Whether a thread was asked to decode a block ahead and has not done so.
    is_asked: bool,
    /// How the trace ended, once it has.
    end: Option<Result<Changes, WorkloadError>>,
}

impl Spool {
    /// Opens a trace for a drive of `capacity_bytes`.
    ///
    /// # Errors
    /// As [`TraceSource::open`].
    pub fn open(
        path: &Path,
        options: &TraceOptions,
        capacity_bytes: u64,
        budget: Arc<Budget>,
    ) -> Result<Spool, WorkloadError> {
        let source = TraceSource::open(path, options, capacity_bytes)?;
        let (recognition, time_unit) = (source.recognition().clone(), source.time_unit());
        let (packer, store) = (Packer::new(), Store::new(budget));
        let source = Some(Box::new(source));
        let inner = Inner {
            source,
            packer,
            store,
            pending: None,
            irregular: 0,
            requests: 0,
            first_ns: 0,
            is_asked: false,
            end: None,
        };
        let (speedup, volumes) = (options.speedup, options.volumes);
        Ok(Spool { inner: Arc::new(Mutex::new(inner)), recognition, time_unit, speedup, volumes })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Asks for the next block to be decoded by an idle thread. If there is none, the reader that needs it decodes it.
    fn decode_ahead(&self, inner: &mut Inner) {
        if inner.is_asked || inner.end.is_some() {
            return;
        }
        inner.is_asked = true;
        let shared = Arc::clone(&self.inner);
        rayon::spawn(move || {
            let mut inner = lock(&shared);
            inner.is_asked = false;
            // An error is kept, and met by the readers where it stands.
            let _ = inner.decode();
        });
    }

    /// Last lines of a record that were cut off, and left out.
    fn cut_off(&self) -> u64 {
        self.lock().source.as_ref().map_or(0, |source| source.counts().cut_off)
    }

    /// Number of requests of the trace, estimated from how much of the file they were decoded from; exact once it has ended.
    pub fn expected(&self) -> u64 {
        let inner = self.lock();
        match &inner.source {
            Some(source) if inner.end.is_none() => estimated(inner.requests, source),
            _ => inner.requests,
        }
    }
}

/// Number of requests of a trace of which so many were read.
fn estimated(requests: u64, source: &TraceSource) -> u64 {
    (requests as f64 / source.share_read().clamp(1e-6, 1.0)) as u64
}

/// What the reader of a trace has left out or changed so far.
fn changes(source: &TraceSource) -> Changes {
    let counts = source.counts();
    Changes { rejected: counts.rejected_by_kind, clamped: counts.clamped, wrapped: counts.wrapped }
}

/// What it has met so far.
fn met(source: &TraceSource) -> Met {
    Met { volumes: source.volumes(), sorted: source.counts().sorted }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().expect("decoding a trace does not panic")
}

impl Inner {
    /// Decodes the next block; false if there are no more requests, or none of the spool's.
    fn decode(&mut self) -> Result<bool, WorkloadError> {
        if self.end.is_some() {
            return Ok(false);
        }
        if let Some(pending) = self.pending.take() {
            self.add(&pending);
        }
        loop {
            let Some(source) = &mut self.source else { return Ok(false) };
            let mut arrival = Arrival::NONE;
            match source.next_request(&mut arrival) {
                Ok(Produced::Request) => {}
                Ok(Produced::Await | Produced::End) => {
                    let changes = changes(source);
                    return self.finish(Ok(changes));
                }
                Err(why) => return self.finish(Err(why)),
            }
            if source.irregular() != self.irregular {
                self.irregular = source.irregular();
                self.packer.count(changes(source));
            }
            let Span::Bytes { offset, length } = arrival.extent else { unreachable!("a trace has byte addresses") };
            if !self.packer.fits(offset, length)
                && let Some((bytes, shape)) = self.packer.block(offset, length)
            {
                self.pending = Some(arrival);
                return self.keep(bytes, shape);
            }
            self.add(&arrival);
        }
    }

    fn add(&mut self, arrival: &Arrival) {
        if self.requests == 0 {
            self.first_ns = arrival.at.ns();
        }
        self.packer.push(arrival);
        self.requests += 1;
    }

    /// The trace has ended: stores the last block; false if it has no requests.
    #[cold]
    fn finish(&mut self, end: Result<Changes, WorkloadError>) -> Result<bool, WorkloadError> {
        self.end = Some(end);
        match self.packer.block(0, 0) {
            Some((bytes, shape)) => self.keep(bytes, shape),
            None => Ok(false),
        }
    }

    /// Stores a block; if that fails, all readers fail there.
    fn keep(&mut self, bytes: Vec<u8>, shape: Shape) -> Result<bool, WorkloadError> {
        let met = self.source.as_ref().map_or(shape.met, |source| met(source));
        let kept = self.store.push(bytes, Shape { met, ..shape }).map(|()| true);
        if let Err(why) = &kept {
            self.end = Some(Err(why.clone()));
        }
        kept
    }
}

/// A run's place in a spool.
pub(super) struct SpoolReader {
    spool: Arc<Spool>,
    block: Arc<[u8]>,
    /// Number of the next block.
    next: usize,
    unpacker: Unpacker,
    /// Requests of the blocks read so far, their bytes, when the first and the last one arrive, and what the trace's reader had met by then.
    requests: u64,
    bytes: u64,
    first_ns: u64,
    last_ns: u64,
    met: Met,
    /// Whether it takes over the source if it is the only reader.
    to_the_end: bool,
    own: Option<Own>,
}

/// The source of a spool that its only reader has taken over.
struct Own {
    source: Box<TraceSource>,
    /// A request that was produced before.
    pending: Option<Arrival>,
}

impl SpoolReader {
    /// A reader at the begin. `to_the_end` if it will read the whole trace: one that may stop earlier gives the rate of whole blocks as
    /// recorded.
    pub fn new(spool: Arc<Spool>, to_the_end: bool) -> SpoolReader {
        SpoolReader {
            spool,
            block: Arc::from([]),
            next: 0,
            unpacker: Unpacker::default(),
            requests: 0,
            bytes: 0,
            first_ns: 0,
            last_ns: 0,
            met: Met::default(),
            to_the_end,
            own: None,
        }
    }

    /// What was left out or changed so far.
    fn changes(&self) -> Changes {
        self.own.as_ref().map_or(self.unpacker.changes, |own| changes(&own.source))
    }

    /// What the reader had met by the end of the last block.
    fn met(&self) -> Met {
        self.own.as_ref().map_or(self.met, |own| met(&own.source))
    }

    /// Requests left out so far, by kind.
    pub fn rejected(&self) -> [u64; Op::ALL.len()] {
        self.changes().rejected
    }

    /// Remarks for the user: the format that was chosen, and the requests that were changed so far.
    pub fn remarks(&self) -> String {
        let Recognition { format, reason, notes, .. } = &self.spool.recognition;
        let mut text = format!("read as {format} ({reason})");
        notes.iter().for_each(|note| text.push_str(&format!("; {note}")));
        let Changes { rejected, clamped, wrapped } = self.changes();
        for (count, what) in [
            (rejected.iter().sum(), "rejected"),
            (wrapped, "wrapped into the drive"),
            (clamped, "with a time set to their predecessor's"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {count} {what}"));
            }
        }
        let Met { volumes, sorted } = self.met();
        if sorted.requests > 0 {
            text.push_str(&format!("; {sorted}"));
        }
        match self.spool.volumes {
            _ if volumes < 2 => {}
            Volumes::Together => {
                text.push_str(&format!("; its {volumes} volumes follow each other in one address space"))
            }
            Volumes::Overlaid | Volumes::Apart => text.push_str(&format!(
                "; {volumes} volumes share addresses (volumes = together or apart gives each its own, device picks one)"
            )),
        }
        let own = self.own.as_ref().map(|own| own.source.counts().cut_off);
        if own.unwrap_or_else(|| self.spool.cut_off()) > 0 {
            text.push_str("; its last line is cut off and was left out");
        }
        text
    }

    /// Number of requests of the trace, as far as is known.
    pub fn expected(&self) -> u64 {
        self.own.as_ref().map_or_else(|| self.spool.expected(), |own| estimated(self.requests, &own.source))
    }

    /// The rate of what was read so far as it was recorded: block by block, or of the whole trace.
    pub fn recorded(&self) -> Recorded {
        let Spool { recognition, time_unit, speedup, .. } = &*self.spool;
        Recorded {
            format: recognition.format.key().to_owned(),
            time_unit: time_unit.word().to_owned(),
            requests: self.requests,
            bytes: self.bytes,
            span_ns: (self.last_ns - self.first_ns) as f64 * speedup.factor(),
            volumes: Some(self.met().volumes).filter(|volumes| *volumes > 1),
        }
    }

    /// Goes on to the next block, or takes over the source; false at the end of the trace.
    #[cold]
    fn advance(&mut self) -> Result<bool, WorkloadError> {
        // Nobody else has it, and nobody can get it from this reader.
        let frees = Arc::strong_count(&self.spool) == 1;
        let mut inner = self.spool.lock();
        let is_last = self.next == inner.store.len();
        if is_last
            && frees
            && self.to_the_end
            && inner.end.is_none()
            && let Some(source) = inner.source.take()
        {
            let pending = inner.pending.take();
            self.own = Some(Own { source, pending });
            return Ok(true);
        }
        if is_last && !inner.decode()? {
            self.unpacker.changes = inner.end.clone().expect("nothing to decode means the end")?;
            return Ok(false);
        }
        let (block, shape) = inner.store.get(self.next, frees)?;
        if self.next + 1 == inner.store.len() {
            self.spool.decode_ahead(&mut inner);
        }
        self.first_ns = inner.first_ns;
        drop(inner);
        (self.block, self.next) = (block, self.next + 1);
        self.unpacker.enter(shape);
        self.requests += shape.requests;
        self.bytes += shape.request_bytes;
        (self.last_ns, self.met) = (shape.last_ns, shape.met);
        Ok(true)
    }

    /// The next request of the source that was taken over.
    #[inline]
    fn next_own(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError> {
        let Some(own) = &mut self.own else { unreachable!("it was taken over") };
        match own.pending.take() {
            Some(pending) => *arrival = pending,
            None if own.source.next_request(arrival)? == Produced::Request => {}
            None => return Ok(Produced::End),
        }
        let Span::Bytes { length, .. } = arrival.extent else { unreachable!("a trace has byte addresses") };
        if self.requests == 0 {
            self.first_ns = arrival.at.ns();
        }
        self.requests += 1;
        self.bytes += if arrival.op.is_data() { length } else { 0 };
        self.last_ns = arrival.at.ns();
        Ok(Produced::Request)
    }
}

impl Source for SpoolReader {
    #[inline(always)]
    fn next_request(&mut self, arrival: &mut Arrival) -> Result<Produced, WorkloadError> {
        if self.unpacker.is_at_end() {
            if self.own.is_none() && !self.advance()? {
                return Ok(Produced::End);
            }
            if self.own.is_some() {
                return self.next_own(arrival);
            }
        }
        self.unpacker.next(&self.block, arrival);
        Ok(Produced::Request)
    }

    fn completed(&mut self, _now: flashlane_core::Time) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_trace::{Beyond, Sizes, TimeOrder};

    const CAPACITY: u64 = 1 << 30;

    /// A file of `lines` in the system's folder for temporary files, and the options under which anything goes.
    fn trace(lines: &str) -> (tempfile::NamedTempFile, TraceOptions) {
        let file = tempfile::Builder::new().suffix(".ascii").tempfile().expect("a temporary file");
        std::fs::write(file.path(), lines).expect("written");
        let options = TraceOptions {
            order: TimeOrder::Clamp,
            beyond: Beyond::Reject,
            sizes: Sizes::Reject,
            ..TraceOptions::default()
        };
        (file, options)
    }

    fn spool(file: &tempfile::NamedTempFile, options: &TraceOptions, memory: usize) -> Arc<Spool> {
        Arc::new(Spool::open(file.path(), options, CAPACITY, Budget::new(memory)).expect("a trace"))
    }

    /// Rejected requests so far, by kind.
    type Rejected = [u64; Op::ALL.len()];

    /// What a reader gives, request by request: each with the number of rejected requests so far, and the end.
    fn read(mut reader: SpoolReader) -> (Vec<(Arrival, Rejected)>, Result<Rejected, WorkloadError>, String) {
        let mut found = Vec::new();
        loop {
            let mut arrival = Arrival::NONE;
            match reader.next_request(&mut arrival) {
                Ok(Produced::Request) => found.push((arrival, reader.rejected())),
                Ok(_) => return (found, Ok(reader.rejected()), reader.remarks()),
                Err(why) => return (found, Err(why), reader.remarks()),
            }
        }
    }

    /// What a source of its own gives.
    fn directly(
        file: &tempfile::NamedTempFile,
        options: &TraceOptions,
    ) -> (Vec<(Arrival, Rejected)>, Result<Rejected, WorkloadError>) {
        let mut source = TraceSource::open(file.path(), options, CAPACITY).expect("a trace");
        let mut found = Vec::new();
        loop {
            let mut arrival = Arrival::NONE;
            match source.next_request(&mut arrival) {
                Ok(Produced::Request) => found.push((arrival, source.counts().rejected_by_kind)),
                Ok(_) => return (found, Ok(source.counts().rejected_by_kind)),
                Err(why) => return (found, Err(why)),
            }
        }
    }

    /// Requests of which some lie beyond the drive, some go back in time, and the last is beyond too.
    fn lines(count: u64) -> String {
        (0..count)
            .map(|i| {
                let sector = if i % 97 == 96 || i + 1 == count { 1 << 40 } else { i * 7_919 % 2_000_000 };
                let at = if i % 31 == 30 { i * 1_000 - 20_000 } else { i * 1_000 };
                format!("{at} 0 {sector} {} {}\n", 1 + i % 64, i % 2)
            })
            .collect()
    }

    #[test]
    fn readers_get_what_a_source_of_their_own_gives() {
        let (file, options) = trace(&lines(40_000));
        let expected = directly(&file, &options);
        assert!(expected.1.as_ref().is_ok_and(|rejected| rejected[0] > 200 && rejected[1] > 200), "{:?}", expected.1);
        // In memory, and mostly in a file; one after the other, and at the same time.
        for memory in [usize::MAX, 100_000] {
            let spool = spool(&file, &options, memory);
            let (found, end, remarks) = read(SpoolReader::new(Arc::clone(&spool), false));
            assert!((found, end) == expected);
            assert!(
                remarks.contains("; 413 rejected; ") && remarks.contains("set to their predecessor's"),
                "{remarks}"
            );
            let readers: Vec<_> = (0..4).map(|_| SpoolReader::new(Arc::clone(&spool), false)).collect();
            drop(spool);
            let made: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = readers.into_iter().map(|reader| scope.spawn(|| read(reader))).collect();
                threads.into_iter().map(|thread| thread.join().expect("read")).collect()
            });
            assert!(made.into_iter().all(|(found, end, _)| (found, end) == expected));
        }
    }

    /// 819,267 bytes were read as 819,200, and at 32 MiB as at 0.
    #[test]
    fn odd_lengths_and_every_address_are_read_as_they_are() {
        let lines = |requests: &[(u64, u64)]| -> String {
            requests.iter().zip(1..).map(|((offset, length), at)| format!("{at}.0 0 {offset} {length} 1\n")).collect()
        };
        let odd: &[(u64, u64)] =
            &[(0, 4096), (8192, 819_267), (32 << 20, 4096), (16 << 20, 65_536 * 512), (256 * 512, 1)];
        for requests in [odd, &odd[1..], &[(32 << 20, 512), ((32 << 20) - 512, 512)]] {
            let file = tempfile::Builder::new().suffix(".txt").tempfile().expect("a temporary file");
            std::fs::write(file.path(), lines(requests)).expect("written");
            let options =
                TraceOptions { format: Some("replayer".parse().expect("a format")), ..TraceOptions::default() };
            let spool = Spool::open(file.path(), &options, CAPACITY, Budget::new(usize::MAX)).expect("a trace");
            let (found, end, _) = read(SpoolReader::new(Arc::new(spool), false));
            let extents = found.iter().map(|(arrival, _)| match arrival.extent {
                Span::Bytes { offset, length } => (offset, length),
                Span::Pages(_) => unreachable!("a trace has byte addresses"),
            });
            assert_eq!((extents.collect::<Vec<_>>(), end), (requests.to_vec(), Ok([0; 5])));
        }
    }

    /// At three times the speed the last of three requests arrives at 3 us; it was recorded at 9.
    #[test]
    fn the_recorded_rate_is_that_of_the_file() {
        let (file, options) = trace("0 0 0 8 1\n3000 0 24 16 0\n9000 0 8 8 0\n");
        let options = TraceOptions { speedup: "3".parse().expect("a factor"), ..options };
        let mut reader = SpoolReader::new(spool(&file, &options, usize::MAX), false);
        let mut arrival = Arrival::NONE;
        while reader.next_request(&mut arrival).expect("sound") == Produced::Request {}
        let Recorded { requests, bytes, span_ns, .. } = reader.recorded();
        assert_eq!((arrival.at.ns(), requests, bytes, span_ns), (3_000, 3, 32 * 512, 9_000.0));
    }

    #[test]
    fn the_only_reader_frees_what_it_has_read() {
        let (file, options) = trace(&lines(40_000));
        let expected = directly(&file, &options);
        let spool = spool(&file, &options, 100_000);
        let weak = Arc::downgrade(&spool);
        let reader = SpoolReader::new(spool, false);
        assert_eq!(weak.strong_count(), 1);
        let (found, end, _) = read(reader);
        assert!((found, end) == expected, "a block and a half of memory suffices, without a file");
    }

    /// From the start, and after another reader, which had a look, made the spool decode a block; to the end, and to an error.
    #[test]
    fn the_only_reader_takes_the_source_over() {
        // No thread has nothing to do.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        for text in [lines(40_000), lines(10_000) + "12000000 0 seven 8 1\n"] {
            let (file, options) = trace(&text);
            let expected = directly(&file, &options);
            let reads_after = |looked_at: usize| {
                let spool = spool(&file, &options, usize::MAX);
                let mut look = SpoolReader::new(Arc::clone(&spool), true);
                (0..looked_at).for_each(|_| {
                    look.next_request(&mut Arrival::NONE.clone()).expect("a request");
                });
                drop(look);
                let (weak, inner) = (Arc::downgrade(&spool), Arc::clone(&spool.inner));
                let blocks = lock(&inner).store.len();
                assert_eq!(blocks, usize::from(looked_at > 0));
                let mut reader = SpoolReader::new(spool, true);
                reader.next_request(&mut Arrival::NONE.clone()).expect("a request");
                assert_eq!(weak.strong_count(), 1);
                let (mut found, end, remarks) = read(reader);
                found.insert(0, expected.0[0].clone());
                assert!((&found, &end) == (&expected.0, &expected.1), "{end:?}");
                assert_eq!(lock(&inner).store.len(), blocks, "no request is packed for nobody");
                assert!(!lock(&inner).decode().expect("nothing"), "what a thread was asked for before");
                assert!(end.is_err() || remarks.contains("; 413 rejected; "), "{remarks}");
            };
            pool.install(|| [0, 7_000].into_iter().for_each(reads_after));
        }
    }

    /// What is said of a trace does not depend on who decoded it. Bytes are those that are read and written, not those of trims.
    #[test]
    fn a_source_taken_over_has_the_same_rate_and_number() {
        let iolog = "fio version 2 iolog\nd add\nd open\nd write 0 4096\nd trim 8192 65536\nd sync 0 0\nd read 4096 512\nd close\n";
        let trims = tempfile::Builder::new().suffix(".iolog").tempfile().expect("a temporary file");
        std::fs::write(trims.path(), iolog).expect("written");
        for (file, options) in [trace(&lines(40_000)), (trims, TraceOptions::default())] {
            let [packed, own] = [false, true].map(|to_the_end| {
                let mut reader = SpoolReader::new(spool(&file, &options, usize::MAX), to_the_end);
                while reader.next_request(&mut Arrival::NONE.clone()).expect("sound") == Produced::Request {}
                assert_eq!(reader.own.is_some(), to_the_end);
                let Recorded { requests, bytes, span_ns, .. } = reader.recorded();
                (requests, bytes, span_ns, reader.expected(), reader.rejected(), reader.remarks())
            });
            assert_eq!(packed, own);
            assert!(own.0 > 4 || own.1 == 4096 + 512, "{own:?}");
        }
    }

    /// With a second thread the next block is there before a reader asks for it; with one, only then.
    #[test]
    fn a_thread_with_nothing_to_do_decodes_ahead() {
        let (file, options) = trace(&lines(40_000));
        let expected = directly(&file, &options);
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let spool = spool(&file, &options, usize::MAX);
            let mut reader = SpoolReader::new(Arc::clone(&spool), false);
            let blocks = pool.install(|| {
                reader.next_request(&mut Arrival::NONE.clone()).expect("a request");
                for _ in 0..if threads == 1 { 10 } else { 10_000 } {
                    if spool.lock().store.len() > 1 {
                        break;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                spool.lock().store.len()
            });
            assert_eq!(blocks, threads);
            let (found, end, _) = pool.install(|| read(SpoolReader::new(spool, false)));
            assert!((found, end) == expected);
        }
    }

    #[test]
    fn an_error_comes_where_it_stands_and_again() {
        let (file, options) = trace(&(lines(10_000) + "12000000 0 seven 8 1\n" + &lines(5)));
        let expected = directly(&file, &options);
        let spool = spool(&file, &options, usize::MAX);
        for _ in 0..2 {
            let (found, end, _) = read(SpoolReader::new(Arc::clone(&spool), false));
            assert!((&found, &end) == (&expected.0, &expected.1));
            assert!(end.is_err_and(|why| why.to_string().contains(":10001: ")));
        }
        let mut reader = SpoolReader::new(spool, false);
        while reader.next_request(&mut Arrival::NONE.clone()).is_ok() {}
        assert!(reader.next_request(&mut Arrival::NONE.clone()).is_err(), "and stays");
    }

    #[test]
    fn the_number_of_requests_is_estimated_and_then_known() {
        let (file, options) = trace(&lines(400_000));
        let spool = spool(&file, &options, usize::MAX);
        let mut reader = SpoolReader::new(Arc::clone(&spool), false);
        reader.next_request(&mut Arrival::NONE.clone()).expect("a request");
        let first = spool.expected();
        assert!((1_000..4_000_000).contains(&first), "{first}");
        let (found, ..) = read(SpoolReader::new(Arc::clone(&spool), false));
        assert_eq!(spool.expected(), found.len() as u64);
    }
}
