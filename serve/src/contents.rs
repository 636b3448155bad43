//! What the drive's bytes are: in memory, or in a file.
//!
//! Promises that a byte never written is zero, that of two operations the one asked for first comes first, and that a write to a file is
//! reported only after the file has it. Must never know when the modelled drive is done.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use flashlane_outputs::shown;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Bytes of memory that are taken at once.
const CHUNK: u64 = 64 << 10;

/// Where the bytes are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// In memory, until the server ends.
    Memory,
    /// In this file, which is made if there is none.
    File(PathBuf),
}

/// What is to be done with the bytes, for the holder of `ticket`.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) ticket: u64,
    pub(crate) offset: u64,
    pub(crate) work: Work,
}

/// What is done with bytes.
#[derive(Debug)]
pub(crate) enum Work {
    Read(usize),
    /// With `force` they are there after the machine stops, too.
    Write {
        data: Vec<u8>,
        force: bool,
    },
    /// So many bytes become zeroes; with `keep` a file keeps the space for them.
    Zero {
        length: u64,
        keep: bool,
        force: bool,
    },
    /// All that was written before is there after the machine stops, too.
    Flush,
}

/// What became of a job: the bytes, of a read.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) ticket: u64,
    pub(crate) result: io::Result<Vec<u8>>,
}

/// The bytes of a drive.
#[derive(Debug)]
pub(crate) enum Contents {
    Memory(Memory),
    File(Worker),
}

impl Contents {
    /// The bytes of a drive of `bytes` bytes.
    ///
    /// # Errors
    /// A file that cannot be opened or has another size, by its name.
    pub(crate) fn open(place: &Place, bytes: u64) -> Result<Contents, String> {
        match place {
            Place::Memory => Ok(Contents::Memory(Memory::default())),
            Place::File(path) => {
                let file = open(path, bytes).map_err(|why| format!("--data {}: {why}", shown::path(path)))?;
                let worker = Worker::start(file).map_err(|why| format!("cannot start a thread for --data: {why}"))?;
                Ok(Contents::File(worker))
            }
        }
    }

    /// Does a job, or has it done; what is done at once is returned.
    pub(crate) fn act(&mut self, job: Job) -> Option<Done> {
        match self {
            Contents::Memory(memory) => {
                let result = match job.work {
                    Work::Read(length) => memory.read(job.offset, length),
                    Work::Write { data, .. } => memory.write(job.offset, &data),
                    Work::Zero { length, .. } => memory.zero(job.offset, length),
                    Work::Flush => Vec::new(),
                };
                Some(Done { ticket: job.ticket, result: Ok(result) })
            }
            Contents::File(worker) => {
                worker.send(job);
                None
            }
        }
    }
}

/// Opens the file, or makes it, and keeps other servers from it.
fn open(path: &Path, bytes: u64) -> Result<File, String> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(|why| why.to_string())?;
    file.try_lock().map_err(|_| "is used by another process; each server needs a file of its own".to_owned())?;
    let found = file.metadata().map_err(|why| why.to_string())?;
    if !found.is_file() {
        return Err("is no regular file".to_owned());
    }
    match found.len() {
        0 => file.set_len(bytes).map_err(|why| format!("cannot be made {bytes} bytes long: {why}"))?,
        size if size == bytes => {}
        size => {
            return Err(format!(
                "has {size} bytes, and the drive has {bytes}: it holds another drive, or none; name another file"
            ));
        }
    }
    Ok(file)
}

/// Bytes in memory, as far as they have been written.
#[derive(Default, Debug)]
pub(crate) struct Memory {
    chunks: BTreeMap<u64, Box<[u8]>>,
}

impl Memory {
    fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for (number, within, part) in parts(offset, bytes.len()) {
            if let Some(chunk) = self.chunks.get(&number) {
                let size = part.len();
                bytes[part].copy_from_slice(&chunk[within..within + size]);
            }
        }
        bytes
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Vec<u8> {
        for (number, within, part) in parts(offset, bytes.len()) {
            let chunk = self.chunks.entry(number).or_insert_with(|| vec![0; CHUNK as usize].into_boxed_slice());
            chunk[within..within + part.len()].copy_from_slice(&bytes[part]);
        }
        Vec::new()
    }

    fn zero(&mut self, offset: u64, length: u64) -> Vec<u8> {
        let end = offset + length;
        let mut whole = Vec::new();
        for (&number, chunk) in self.chunks.range_mut(offset / CHUNK..end.div_ceil(CHUNK)) {
            let begin = number * CHUNK;
            let (from, to) = (offset.max(begin) - begin, end.min(begin + CHUNK) - begin);
            chunk[from as usize..to as usize].fill(0);
            if to - from == CHUNK {
                whole.push(number);
            }
        }
        whole.iter().for_each(|number| drop(self.chunks.remove(number)));
        Vec::new()
    }
}

/// Makes bytes of a file zeroes: without data of its own where the file system can do that, else it writes them.
fn zero(file: &File, offset: u64, length: u64, keep: bool) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let how = if keep { FallocateFlags::ZERO_RANGE } else { FallocateFlags::PUNCH_HOLE };
    loop {
        match fallocate(file, how | FallocateFlags::KEEP_SIZE, offset, length) {
            Err(Errno::INTR) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => break,
            done => return Ok(done?),
        }
    }
    let zeroes = vec![0; length.min(1 << 20) as usize];
    (0..length).step_by(zeroes.len()).try_for_each(|at| {
        let part = zeroes.len().min((length - at) as usize);
        file.write_all_at(&zeroes[..part], offset + at)
    })
}

/// Does what a job asks for.
fn act(file: &File, Job { offset, work, .. }: Job) -> io::Result<Vec<u8>> {
    let is_forced = matches!(work, Work::Flush | Work::Write { force: true, .. } | Work::Zero { force: true, .. });
    match work {
        Work::Read(length) => {
            let mut bytes = vec![0; length];
            return file.read_exact_at(&mut bytes, offset).map(|()| bytes);
        }
        Work::Write { data, .. } => file.write_all_at(&data, offset)?,
        Work::Zero { length, keep, .. } => zero(file, offset, length, keep)?,
        Work::Flush => {}
    }
    if is_forced {
        file.sync_data()?;
    }
    Ok(Vec::new())
}

/// The chunks that `length` bytes from `offset` on are in: the number, the first byte in it, and which of the bytes.
fn parts(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        (at < length).then(|| {
            let byte = offset + at as u64;
            let within = (byte % CHUNK) as usize;
            let end = length.min(at + CHUNK as usize - within);
            let part = at..end;
            at = end;
            (byte / CHUNK, within, part)
        })
    })
}

/// A thread that reads and writes a file, one job after the other.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    wakes: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn start(file: File) -> io::Result<Worker> {
        let wakes = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let own = wakes.try_clone()?;
        let (jobs, to_do) = channel::<Job>();
        let (finished, done) = channel();
        let thread = std::thread::Builder::new().name("contents".into()).spawn(move || {
            for job in to_do {
                let ticket = job.ticket;
                let result = act(&file, job);
                if finished.send(Done { ticket, result }).is_err() {
                    return;
                }
                // Full only after 2^64 jobs that nobody has fetched.
                let _ = rustix::io::write(&own, &1_u64.to_ne_bytes());
            }
            // What has been written is there after the machine stops, too.
            let _ = file.sync_data();
        })?;
        Ok(Worker { jobs: Some(jobs), done, wakes, thread: Some(thread) })
    }

    fn send(&self, job: Job) {
        // The thread ends only when this sender is gone.
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }

    /// What becomes readable when jobs are done.
    pub(crate) fn wakes(&self) -> &OwnedFd {
        &self.wakes
    }

    /// The next job that is done, if there is one.
    pub(crate) fn next_done(&self) -> Option<Done> {
        self.done.try_recv().ok()
    }

    /// Forgets that jobs have become done: they are fetched next.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.wakes, &mut [0; 8]);
    }
}

/// Waits until everything has been written.
impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(contents: &mut Contents, offset: u64, length: usize) -> Vec<u8> {
        act(contents, Job { ticket: 7, offset, work: Work::Read(length) })
    }

    fn write(contents: &mut Contents, offset: u64, bytes: &[u8]) {
        act(contents, Job { ticket: 8, offset, work: Work::Write { data: bytes.to_vec(), force: offset == 512 } });
    }

    fn act(contents: &mut Contents, job: Job) -> Vec<u8> {
        let ticket = job.ticket;
        let done = contents.act(job);
        let done = done.unwrap_or_else(|| match contents {
            Contents::File(worker) => worker.done.recv().expect("done"),
            Contents::Memory(_) => panic!("memory is read at once"),
        });
        assert_eq!(done.ticket, ticket);
        done.result.expect("sound")
    }

    /// Both kinds against a vector: writes and zeroes over the edges of chunks, reads of what was never written.
    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let size = 3 * CHUNK;
        for place in [Place::Memory, Place::File(folder.path().join("drive"))] {
            let mut contents = Contents::open(&place, size).expect("contents");
            let mut plain = vec![0; size as usize];
            for (offset, length, byte) in
                [(0, 512, 1), (CHUNK - 512, 1024, 2), (512, 2 * CHUNK, 3), (size - 512, 512, 4)]
            {
                plain[offset as usize..(offset + length) as usize].fill(byte);
                write(&mut contents, offset, &vec![byte; length as usize]);
                assert_eq!(read(&mut contents, 0, size as usize), plain, "{place:?}");
                assert_eq!(read(&mut contents, CHUNK - 512, 1024), plain[CHUNK as usize - 512..][..1024], "{place:?}");
            }
            for (offset, length, keep) in
                [(CHUNK - 1024, 2048, false), (CHUNK + 4000, CHUNK, true), (512, CHUNK * 2 + 7, false)]
            {
                plain[offset as usize..(offset + length) as usize].fill(0);
                act(&mut contents, Job { ticket: 9, offset, work: Work::Zero { length, keep, force: keep } });
                assert_eq!(read(&mut contents, 0, size as usize), plain, "{place:?}");
            }
            if let Contents::Memory(memory) = &contents {
                assert_eq!(memory.chunks.keys().copied().collect::<Vec<_>>(), [0, 2], "a whole one is given back");
            }
        }
        let kept = std::fs::read(folder.path().join("drive")).expect("the file");
        assert_eq!((kept.len() as u64, kept[0], kept[kept.len() - 1]), (size, 1, 4));
    }

    #[test]
    fn a_file_of_another_size_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("other");
        std::fs::write(&path, [1; 4096]).expect("written");
        let place = Place::File(path.clone());
        let why = Contents::open(&place, 8192).expect_err("another drive");
        assert!(why.contains("has 4096 bytes, and the drive has 8192"), "{why}");
        assert_eq!(std::fs::read(&path).expect("the file"), [1; 4096], "it is as it was");
        let first = Contents::open(&place, 4096).expect("its own size");
        let why = Contents::open(&place, 4096).expect_err("in use");
        assert!(why.contains("is used by another process"), "{why}");
        drop(first);
        Contents::open(&place, 4096).expect("free again");
        let why = Contents::open(&Place::File(folder.path().to_owned()), 4096).expect_err("a folder");
        assert!(why.starts_with("--data "), "{why}");
    }
}
