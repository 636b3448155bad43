//! The response time of every request of a run, to be compared with that of the same request in another run.
//!
//! Owns eleven bytes per request: in memory for some millions of requests, beyond that in a temporary file, the oldest first, so that
//! a run's memory does not grow with its length. Temporary files have no name and are gone with the process, however it ends.
//!
//! When a request arrived is known exactly of the first 16,384 requests; of later ones, eight at a time share the time of the first of them.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard};

use flashlane_core::{Completion, Op};

use super::sizes::size_class;

/// Entries that are held in memory, or in the file, together.
const CHUNK: usize = 1 << 14;
/// Requests that share an arrival time in every chunk but the first, as a power of two.
const GROUP_BITS: usize = 3;
/// Chunks held in memory: 3.1 million requests, 35 MB.
const IN_MEMORY: usize = 192;

/// Low bits of an entry: the size class plus one, or 0 for a request that was not measured. The next bit says whether it is a
/// write, the bits above hold the response time.
const CLASS_BITS: u32 = 5;

/// Response times of a run's measured requests, by number of the request.
#[derive(Debug)]
pub struct ResponseTimes {
    /// By number; none if it is in the file.
    chunks: Vec<Option<Chunk>>,
    /// Chunks before this one are in the file, at [`place_of`] their number.
    in_file: usize,
    /// Chunks to hold in memory.
    in_memory: usize,
    file: Option<Mutex<File>>,
}

/// Requests with successive numbers: the entry and the flow of each, and when they arrived.
#[derive(Debug)]
struct Chunk {
    entries: Vec<u64>,
    flows: Vec<u16>,
    /// By group: the first arrival of a recorded request, ns; the largest number if there is none.
    arrivals: Vec<u64>,
}

/// How many requests share an arrival time in a chunk, as a power of two.
fn group_bits(number: usize) -> usize {
    if number == 0 { 0 } else { GROUP_BITS }
}

/// Bytes of a chunk in the file: the entries, the flows, the arrivals.
fn bytes_of(number: usize) -> usize {
    10 * CHUNK + 8 * (CHUNK >> group_bits(number))
}

/// Where a chunk begins in the file.
fn place_of(number: usize) -> usize {
    number.checked_sub(1).map_or(0, |before| bytes_of(0) + before * bytes_of(1))
}

/// One request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Response {
    /// Response time.
    pub ns: u64,
    /// Read or write.
    pub op: Op,
    /// Size class ([`size_class`]).
    pub class: usize,
    /// Number of the flow.
    pub flow: usize,
    /// When it arrived, or the first of its group did, ns.
    pub arrival: u64,
}

/// The requests that two runs have measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Both {
    /// How many, by flow.
    pub by_flow: Vec<usize>,
    /// When the first and the last of them arrived, or the first of their groups did, ns.
    pub arrivals: [u64; 2],
}

impl Both {
    /// How many.
    pub fn count(&self) -> usize {
        self.by_flow.iter().sum()
    }
}

/// A temporary file that cannot be written or read.
#[derive(Debug)]
pub struct ResponseError(std::io::Error);

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "temporary file in {}: the response times of a long run cannot be held in it: {}; TMPDIR names another folder",
            std::env::temp_dir().display(),
            self.0
        )
    }
}

impl std::error::Error for ResponseError {}

impl From<std::io::Error> for ResponseError {
    fn from(error: std::io::Error) -> ResponseError {
        ResponseError(error)
    }
}

impl Default for ResponseTimes {
    fn default() -> ResponseTimes {
        ResponseTimes { chunks: Vec::new(), in_file: 0, in_memory: IN_MEMORY, file: None }
    }
}

impl ResponseTimes {
    /// Records a measured read or write. Requests left out (warm-up) and those of other kinds are never recorded and form no pairs.
    ///
    /// # Errors
    /// If a temporary file cannot be written.
    #[inline]
    pub fn record(&mut self, completion: &Completion) -> Result<(), ResponseError> {
        if !completion.op.is_data() {
            return Ok(());
        }
        let response = completion.done.since(completion.arrival).ns();
        let class = size_class(completion.pages) as u64 + 1;
        let entry = response << (CLASS_BITS + 1) | (completion.op.index() as u64) << CLASS_BITS | class;
        let (number, place) = (completion.id.0 as usize / CHUNK, completion.id.0 as usize % CHUNK);
        let recorded = (entry, completion.flow.0, completion.arrival.ns());
        match self.chunks.get_mut(number) {
            Some(Some(chunk)) => chunk.put(number, place, recorded),
            _ => self.record_elsewhere(number, place, recorded)?,
        }
        Ok(())
    }

    /// Records in a chunk that is not there yet or is in the file already.
    #[cold]
    fn record_elsewhere(
        &mut self,
        number: usize,
        place: usize,
        recorded: (u64, u16, u64),
    ) -> Result<(), ResponseError> {
        if number < self.in_file {
            let (entry, flow, arrival) = recorded;
            let mut file = self.locked();
            let start = place_of(number);
            file.seek(SeekFrom::Start((start + 8 * place) as u64))?;
            file.write_all(&entry.to_le_bytes())?;
            file.seek(SeekFrom::Start((start + 8 * CHUNK + 2 * place) as u64))?;
            file.write_all(&flow.to_le_bytes())?;
            let of_group = SeekFrom::Start((start + 10 * CHUNK + 8 * (place >> group_bits(number))) as u64);
            let mut first = [0; 8];
            file.seek(of_group)?;
            file.read_exact(&mut first)?;
            file.seek(of_group)?;
            return Ok(file.write_all(&u64::from_le_bytes(first).min(arrival).to_le_bytes())?);
        }
        while self.chunks.len() <= number {
            if self.chunks.len() - self.in_file >= self.in_memory {
                self.spill()?;
            }
            let arrivals = vec![u64::MAX; CHUNK >> group_bits(self.chunks.len())];
            self.chunks.push(Some(Chunk { entries: vec![0; CHUNK], flows: vec![0; CHUNK], arrivals }));
        }
        self.chunks[number].as_mut().expect("just made").put(number, place, recorded);
        Ok(())
    }

    /// Moves the oldest chunk in memory to the file.
    fn spill(&mut self) -> Result<(), ResponseError> {
        if self.file.is_none() {
            self.file = Some(Mutex::new(tempfile::tempfile()?));
        }
        let Chunk { entries, flows, arrivals } = self.chunks[self.in_file].take().expect("in memory");
        let mut bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        bytes.extend(flows.iter().flat_map(|flow| flow.to_le_bytes()));
        bytes.extend(arrivals.iter().flat_map(|arrival| arrival.to_le_bytes()));
        let mut file = self.locked();
        file.seek(SeekFrom::Start(place_of(self.in_file) as u64))?;
        file.write_all(&bytes)?;
        drop(file);
        self.in_file += 1;
        Ok(())
    }

    fn locked(&self) -> MutexGuard<'_, File> {
        let file = self.file.as_ref().expect("what is not in memory is in a file");
        file.lock().expect("reading and writing do not panic")
    }

    /// A chunk; `read` holds it if it comes from the file.
    fn chunk<'a>(&'a self, number: usize, read: &'a mut Option<Chunk>) -> Result<&'a Chunk, ResponseError> {
        if let Some(chunk) = &self.chunks[number] {
            return Ok(chunk);
        }
        let mut bytes = vec![0; bytes_of(number)];
        let mut file = self.locked();
        file.seek(SeekFrom::Start(place_of(number) as u64))?;
        file.read_exact(&mut bytes)?;
        drop(file);
        let (entries, others) = bytes.split_at(8 * CHUNK);
        let (flows, arrivals) = others.split_at(2 * CHUNK);
        let long = |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let flows = flows.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
        Ok(read.insert(Chunk { entries: long(entries), flows, arrivals: long(arrivals) }))
    }

    /// How many requests both runs have measured, and from when to when they arrived in `one`.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn count_both(one: &ResponseTimes, other: &ResponseTimes) -> Result<Both, ResponseError> {
        let mut both = Both { by_flow: Vec::new(), arrivals: [u64::MAX, 0] };
        ResponseTimes::for_both(one, other, |one, _| {
            if both.by_flow.len() <= one.flow {
                both.by_flow.resize(one.flow + 1, 0);
            }
            both.by_flow[one.flow] += 1;
            both.arrivals = [both.arrivals[0].min(one.arrival), both.arrivals[1].max(one.arrival)];
        })?;
        Ok(both)
    }

    /// Calls `each` with every request that both runs have measured, in order of issue.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn for_both(
        one: &ResponseTimes,
        other: &ResponseTimes,
        mut each: impl FnMut(Response, Response),
    ) -> Result<(), ResponseError> {
        ResponseTimes::chunks_of_both(one, other, |number, one, other| {
            let groups = 1 << group_bits(number);
            let [one, other] = [one, other].map(|chunk| {
                let requests = chunk.entries.chunks(groups).zip(chunk.flows.chunks(groups)).zip(&chunk.arrivals);
                requests.flat_map(|((entries, flows), &arrival)| {
                    entries.iter().zip(flows).map(move |(&entry, &flow)| (entry, flow, arrival))
                })
            });
            for (one, other) in one.zip(other) {
                if measured(one.0) && measured(other.0) {
                    each(response(one), response(other));
                }
            }
        })
    }

    /// Calls `each` with the chunks that both have.
    fn chunks_of_both(
        one: &ResponseTimes,
        other: &ResponseTimes,
        mut each: impl FnMut(usize, &Chunk, &Chunk),
    ) -> Result<(), ResponseError> {
        let (mut of_one, mut of_other) = (None, None);
        for number in 0..one.chunks.len().min(other.chunks.len()) {
            each(number, one.chunk(number, &mut of_one)?, other.chunk(number, &mut of_other)?);
        }
        Ok(())
    }
}

impl Chunk {
    /// Records a request: its entry, its flow, when it arrived.
    #[inline]
    fn put(&mut self, number: usize, place: usize, (entry, flow, arrival): (u64, u16, u64)) {
        (self.entries[place], self.flows[place]) = (entry, flow);
        let first = &mut self.arrivals[place >> group_bits(number)];
        *first = arrival.min(*first);
    }
}

/// Whether an entry is of a request that was measured.
fn measured(entry: u64) -> bool {
    entry & ((1 << CLASS_BITS) - 1) > 0
}

/// The request of an entry, which must have been measured, its flow and its arrival.
fn response((entry, flow, arrival): (u64, u16, u64)) -> Response {
    let class = (entry & ((1 << CLASS_BITS) - 1)) as usize - 1;
    let op = if entry >> CLASS_BITS & 1 == 0 { Op::Read } else { Op::Write };
    Response { ns: entry >> (CLASS_BITS + 1), op, class, flow: flow.into(), arrival }
}

#[cfg(test)]
pub(super) fn completion(id: u64, op: Op, pages: u32, response: u64) -> Completion {
    use flashlane_core::{FlowId, Lpn, RequestId, Time};
    Completion {
        id: RequestId(id),
        flow: FlowId(0),
        op,
        arrival: Time::from_ns(id * 10),
        done: Time::from_ns(id * 10 + response),
        lpn: Lpn(0),
        pages,
        bytes: 1,
        tags: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests that end in any order, some long after those that were issued with them.
    #[test]
    fn what_is_in_the_file_comes_back_as_what_is_in_memory() {
        let requests = 5 * CHUNK as u64 + 77;
        let mut all = ResponseTimes::default();
        let mut few = ResponseTimes { in_memory: 2, ..ResponseTimes::default() };
        let late = |id: u64| id.is_multiple_of(40_000);
        let measured = |id: u64| !id.is_multiple_of(7);
        let order = (0..requests).filter(|&id| !late(id)).chain((0..requests).filter(|&id| late(id)));
        for id in order.filter(|&id| measured(id)) {
            let op = if id % 3 == 0 { Op::Write } else { Op::Read };
            let completion = Completion {
                flow: flashlane_core::FlowId((id % 3) as u16),
                ..completion(id, op, (id % 20) as u32 + 1, id * 1_000)
            };
            all.record(&completion).expect("in memory");
            few.record(&completion).expect("written");
        }
        assert!(all.file.is_none() && few.file.is_some());
        assert_eq!(few.chunks.iter().flatten().count(), 2, "held in memory");
        let mut next = (0..requests).filter(|&id| measured(id));
        let both = ResponseTimes::count_both(&all, &few).expect("read");
        assert_eq!(both.count() as u64, (0..requests).filter(|&id| measured(id)).count() as u64);
        // Of the last group the first that was measured: its own first is a multiple of 7.
        let groups = 1 << GROUP_BITS;
        assert_eq!(both.arrivals, [10, (requests - 1) / groups * groups * 10]);
        ResponseTimes::for_both(&all, &few, |one, other| {
            assert_eq!(one, other);
            let id = one.ns / 1_000;
            let first = if id < CHUNK as u64 { id } else { id / groups * groups };
            assert_eq!(one.arrival, 10 * if measured(first) { first } else { first + 1 });
            assert_eq!(Some(one.ns / 1_000), next.next());
            assert_eq!(one.flow as u64, one.ns / 1_000 % 3);
        })
        .expect("read");
        assert_eq!(next.next(), None);
    }
}
