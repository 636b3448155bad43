//! The response time of every request of a run, to be compared with that of the same request in another run.
//!
//! Owns ten bytes per request: in memory for some millions of requests, beyond that in a temporary file, the oldest first, so that
//! a run's memory does not grow with its length. Temporary files have no name and are gone with the process, however it ends.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard};

use flashlane_core::{Completion, Op};

use super::sizes::size_class;

/// Entries that are held in memory, or in the file, together.
const CHUNK: usize = 1 << 14;
/// Bytes of a chunk in the file: the entries, then the flows.
const CHUNK_BYTES: usize = 10 * CHUNK;
/// Chunks held in memory: 3.1 million requests, 31 MB.
const IN_MEMORY: usize = 192;

/// Low bits of an entry: the size class plus one, or 0 for a request that was not measured. The next bit says whether it is a
/// write, the bits above hold the response time.
const CLASS_BITS: u32 = 5;

/// Response times of a run's measured requests, by number of the request.
#[derive(Debug)]
pub struct ResponseTimes {
    /// By number; none if it is in the file.
    chunks: Vec<Option<Chunk>>,
    /// Chunks before this one are in the file, at their number times [`CHUNK_BYTES`].
    in_file: usize,
    /// Chunks to hold in memory.
    in_memory: usize,
    file: Option<Mutex<File>>,
}

/// Requests with successive numbers: the entry and the flow of each.
#[derive(Debug)]
struct Chunk {
    entries: Vec<u64>,
    flows: Vec<u16>,
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
        let (chunk, place) = (completion.id.0 as usize / CHUNK, completion.id.0 as usize % CHUNK);
        match self.chunks.get_mut(chunk) {
            Some(Some(chunk)) => (chunk.entries[place], chunk.flows[place]) = (entry, completion.flow.0),
            _ => self.record_elsewhere(chunk, place, (entry, completion.flow.0))?,
        }
        Ok(())
    }

    /// Records in a chunk that is not there yet or is in the file already.
    #[cold]
    fn record_elsewhere(
        &mut self,
        number: usize,
        place: usize,
        (entry, flow): (u64, u16),
    ) -> Result<(), ResponseError> {
        if number < self.in_file {
            let mut file = self.locked();
            let start = number * CHUNK_BYTES;
            file.seek(SeekFrom::Start((start + 8 * place) as u64))?;
            file.write_all(&entry.to_le_bytes())?;
            file.seek(SeekFrom::Start((start + 8 * CHUNK + 2 * place) as u64))?;
            return Ok(file.write_all(&flow.to_le_bytes())?);
        }
        while self.chunks.len() <= number {
            if self.chunks.len() - self.in_file >= self.in_memory {
                self.spill()?;
            }
            self.chunks.push(Some(Chunk { entries: vec![0; CHUNK], flows: vec![0; CHUNK] }));
        }
        let chunk = self.chunks[number].as_mut().expect("just made");
        (chunk.entries[place], chunk.flows[place]) = (entry, flow);
        Ok(())
    }

    /// Moves the oldest chunk in memory to the file.
    fn spill(&mut self) -> Result<(), ResponseError> {
        if self.file.is_none() {
            self.file = Some(Mutex::new(tempfile::tempfile()?));
        }
        let Chunk { entries, flows } = self.chunks[self.in_file].take().expect("in memory");
        let mut bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_le_bytes()).collect();
        bytes.extend(flows.iter().flat_map(|flow| flow.to_le_bytes()));
        let mut file = self.locked();
        file.seek(SeekFrom::Start((self.in_file * CHUNK_BYTES) as u64))?;
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
        let mut bytes = vec![0; CHUNK_BYTES];
        let mut file = self.locked();
        file.seek(SeekFrom::Start((number * CHUNK_BYTES) as u64))?;
        file.read_exact(&mut bytes)?;
        drop(file);
        let (entries, flows) = bytes.split_at(8 * CHUNK);
        let entries = entries.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let flows = flows.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
        Ok(read.insert(Chunk { entries, flows }))
    }

    /// Number of requests that both runs have measured.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn count_both(one: &ResponseTimes, other: &ResponseTimes) -> Result<usize, ResponseError> {
        let mut count = 0;
        ResponseTimes::chunks_of_both(one, other, |one, other| {
            let both =
                one.entries.iter().zip(&other.entries).filter(|&(&one, &other)| measured(one) && measured(other));
            count += both.count();
        })?;
        Ok(count)
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
        ResponseTimes::chunks_of_both(one, other, |one, other| {
            for (one, other) in one.requests().zip(other.requests()) {
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
        mut each: impl FnMut(&Chunk, &Chunk),
    ) -> Result<(), ResponseError> {
        let (mut of_one, mut of_other) = (None, None);
        for number in 0..one.chunks.len().min(other.chunks.len()) {
            each(one.chunk(number, &mut of_one)?, other.chunk(number, &mut of_other)?);
        }
        Ok(())
    }
}

impl Chunk {
    /// Entry and flow of each request.
    fn requests(&self) -> impl Iterator<Item = (u64, u16)> {
        self.entries.iter().copied().zip(self.flows.iter().copied())
    }
}

/// Whether an entry is of a request that was measured.
fn measured(entry: u64) -> bool {
    entry & ((1 << CLASS_BITS) - 1) > 0
}

/// The request of an entry, which must have been measured, and its flow.
fn response((entry, flow): (u64, u16)) -> Response {
    let class = (entry & ((1 << CLASS_BITS) - 1)) as usize - 1;
    let op = if entry >> CLASS_BITS & 1 == 0 { Op::Read } else { Op::Write };
    Response { ns: entry >> (CLASS_BITS + 1), op, class, flow: flow.into() }
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
        ResponseTimes::for_both(&all, &few, |one, other| {
            assert_eq!(one, other);
            assert_eq!(Some(one.ns / 1_000), next.next());
            assert_eq!(one.flow as u64, one.ns / 1_000 % 3);
        })
        .expect("read");
        assert_eq!(next.next(), None);
    }
}
