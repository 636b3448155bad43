//! What the drive's bytes are: in memory, or in a file.
//!
//! Promises that a byte never written is zero, that of two operations the one asked for first comes first, and that a write to a file is
//! reported only after the file has it. Keeps what pages held that a power cut may bring back. Must never know when the modelled drive is
//! done.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use flashlane_outputs::shown;
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use rustix::io::Errno;

use crate::Backing;
use crate::chunks::{CHUNK, Chunks};
use crate::power_cut::PageSampler;
use crate::volatile::{DurablePage, Undo, VolatilePage};
use crate::wakeup::Wakeup;

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
    /// With `force` they are there after the machine stops, too. A cut of the modelled drive's power may take the pages `volatile`.
    Write {
        data: Vec<u8>,
        force: bool,
        volatile: Vec<VolatilePage>,
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
    Memory(Store),
    File(Worker),
}

impl Contents {
    /// The bytes of a drive of `bytes` bytes in pages of `page_bytes`; with them their file, if this made it.
    ///
    /// # Errors
    /// A file that cannot be opened or has another size, by its name.
    pub(crate) fn open(place: &Backing, bytes: u64, page_bytes: u32) -> Result<(Contents, NewFile), String> {
        let store = |medium| Store { medium, page_bytes: page_bytes.into(), undo: Undo::default() };
        match place {
            Backing::Memory => Ok((Contents::Memory(store(Medium::Memory(Memory::default()))), NewFile(None))),
            Backing::File(path) => {
                let failed = |why: String| format!("--data {}: {why}", shown::path(path));
                let (file, new) = open(path, bytes).map_err(failed)?;
                let medium = Medium::of(file, path).map_err(|why| failed(why.to_string()))?;
                let worker = Worker::start(store(medium));
                Ok((Contents::File(worker.map_err(|why| format!("cannot start a thread for --data: {why}"))?), new))
            }
        }
    }

    /// Does a job, or has it done; what is done at once is returned.
    pub(crate) fn act(&mut self, job: Job) -> Option<Done> {
        match self {
            Contents::Memory(store) => Some(store.act(job)),
            Contents::File(worker) => {
                worker.send(Task::Do(job));
                None
            }
        }
    }

    /// The modelled flash has got these pages, after all jobs before.
    pub(crate) fn durable(&mut self, pages: Vec<DurablePage>) {
        match self {
            Contents::Memory(store) => store.durable(&pages),
            Contents::File(worker) => worker.send(Task::Durable(pages)),
        }
    }

    /// Jobs that have not begun are not done: who asked for them has been refused.
    pub(crate) fn abandon(&self) {
        if let Contents::File(worker) = self {
            worker.is_abandoned.store(true, Ordering::Relaxed);
        }
    }

    /// The power is cut: all jobs are done; pages that only the buffer had are lost, and this work at these places has landed.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn cut_power(&mut self, sampler: &mut PageSampler, landed: Vec<(u64, Work)>) -> io::Result<()> {
        match self {
            Contents::Memory(store) => store.cut_power(sampler, landed),
            Contents::File(worker) => match worker.end() {
                Some(mut store) => store.cut_power(sampler, landed),
                None => Err(io::Error::other("its thread has ended")),
            },
        }
    }
}

/// A file that this start has made, which is removed unless the start succeeds.
#[derive(Debug)]
pub(crate) struct NewFile(Option<PathBuf>);

impl NewFile {
    /// The file at `path`, which has just been made.
    pub(crate) fn made(path: &Path) -> NewFile {
        NewFile(Some(path.to_owned()))
    }

    /// The start has succeeded.
    pub(crate) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        self.0.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
}

/// Opens the file, or makes it, and keeps other servers from it.
fn open(path: &Path, bytes: u64) -> Result<(File, NewFile), String> {
    let options = OpenOptions::new().read(true).write(true).clone();
    let (opened, new) = match options.clone().create_new(true).open(path) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => (options.clone().open(path), NewFile(None)),
        made => {
            let new = if made.is_ok() { NewFile::made(path) } else { NewFile(None) };
            (made, new)
        }
    };
    let file = opened.map_err(|why| match why.kind() {
        // It is there, and cannot be opened as what it leads to is not.
        io::ErrorKind::NotFound if path.is_symlink() => "is a link to a file that is not there".to_owned(),
        _ => why.to_string(),
    })?;
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
    Ok((file, new))
}

/// Bytes in memory, as far as they have been written.
#[derive(Default, Debug)]
pub(crate) struct Memory {
    chunks: BTreeMap<u64, Box<[u8]>>,
    fresh: Chunks,
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

    fn write(&mut self, offset: u64, bytes: &[u8]) {
        for (number, within, part) in parts(offset, bytes.len()) {
            let chunk = self.chunks.entry(number).or_insert_with(|| self.fresh.take());
            chunk[within..within + part.len()].copy_from_slice(&bytes[part]);
        }
    }

    fn zero(&mut self, offset: u64, length: u64) {
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

fn read(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, offset).map(|()| bytes)
}

/// What the bytes are in.
#[derive(Debug)]
enum Medium {
    Memory(Memory),
    File {
        file: File,
        /// The same file, for what a page held before: read without what is next to it. Reading ahead would put the file into larger pieces
        /// of the page cache, of which each later write walks through one (ext4 of Linux 6.18).
        before: File,
    },
}

impl Medium {
    fn of(file: File, path: &Path) -> io::Result<Medium> {
        let before = File::open(path)?;
        // Without it there are the same bytes, later.
        let _ = fadvise(&before, 0, None, Advice::Random);
        Ok(Medium::File { file, before })
    }

    /// What a page holds before it is written to.
    fn read_before(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        match self {
            Medium::Memory(_) => self.read(offset, length),
            Medium::File { before, .. } => read(before, offset, length),
        }
    }

    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        match self {
            Medium::Memory(memory) => Ok(memory.read(offset, length)),
            Medium::File { file, .. } => read(file, offset, length),
        }
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Medium::Memory(memory) => memory.write(offset, bytes),
            Medium::File { file, .. } => file.write_all_at(bytes, offset)?,
        }
        Ok(())
    }

    fn zero(&mut self, offset: u64, length: u64, keep: bool) -> io::Result<()> {
        match self {
            Medium::Memory(memory) => memory.zero(offset, length),
            Medium::File { file, .. } => zero(file, offset, length, keep)?,
        }
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        match self {
            Medium::Memory(_) => Ok(()),
            Medium::File { file, .. } => file.sync_data(),
        }
    }
}

/// The bytes, and what pages held that a power cut may bring back.
#[derive(Debug)]
pub(crate) struct Store {
    medium: Medium,
    page_bytes: u64,
    undo: Undo,
}

impl Store {
    /// Does a job.
    fn act(&mut self, Job { ticket, offset, work }: Job) -> Done {
        Done { ticket, result: self.work(offset, work) }
    }

    fn work(&mut self, offset: u64, work: Work) -> io::Result<Vec<u8>> {
        let is_forced = match work {
            Work::Read(length) => return self.medium.read(offset, length),
            Work::Write { data, force, volatile } => {
                self.keep(offset..offset + data.len() as u64, &volatile)?;
                self.medium.write(offset, &data)?;
                force
            }
            Work::Zero { length, keep, force } => {
                self.undo.settled(self.pages(offset..offset + length));
                self.medium.zero(offset, length, keep)?;
                force
            }
            Work::Flush => true,
        };
        if is_forced {
            self.medium.flush()?;
        }
        Ok(Vec::new())
    }

    /// Keeps what the pages hold that are to be written to, as far as the flash will not have what is written.
    fn keep(&mut self, range: Range<u64>, volatile: &[VolatilePage]) -> io::Result<()> {
        let pages = self.pages(range);
        if volatile.is_empty() {
            self.undo.settled(pages);
            return Ok(());
        }
        let mut next = pages.start;
        for &written in volatile {
            let page = u64::from(written.page);
            self.undo.settled(next..page);
            next = page + 1;
            let (medium, bytes) = (&self.medium, self.page_bytes);
            self.undo.keep(written, || medium.read_before(page * bytes, bytes as usize))?;
        }
        self.undo.settled(next..pages.end.max(next));
        Ok(())
    }

    fn pages(&self, range: Range<u64>) -> Range<u64> {
        range.start / self.page_bytes..range.end.div_ceil(self.page_bytes)
    }

    fn durable(&mut self, pages: &[DurablePage]) {
        pages.iter().for_each(|&page| self.undo.durable(page));
    }

    fn cut_power(&mut self, sampler: &mut PageSampler, landed: Vec<(u64, Work)>) -> io::Result<()> {
        for (page, bytes) in self.undo.lost(sampler) {
            self.medium.write(u64::from(page) * self.page_bytes, &bytes)?;
        }
        for (offset, work) in landed {
            self.work(offset, work)?;
        }
        self.medium.flush()
    }
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

/// What the thread of a file is to do.
#[derive(Debug)]
enum Task {
    Do(Job),
    Durable(Vec<DurablePage>),
    /// Nothing, for as long as a test holds the other end.
    #[cfg(test)]
    Hold(Receiver<()>),
}

/// A thread that reads and writes a file, one job after the other.
#[derive(Debug)]
pub(crate) struct Worker {
    tasks: Option<Sender<Task>>,
    done: Receiver<Done>,
    wakeup: Wakeup,
    is_abandoned: Arc<AtomicBool>,
    thread: Option<JoinHandle<Store>>,
}

impl Worker {
    fn start(mut store: Store) -> io::Result<Worker> {
        let wakeup = Wakeup::new()?;
        let own = wakeup.clone();
        let (tasks, to_do) = channel();
        let (finished, done) = channel();
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let no_more = is_abandoned.clone();
        let thread = std::thread::Builder::new().name("contents".into()).spawn(move || {
            for task in to_do {
                match task {
                    Task::Durable(pages) => store.durable(&pages),
                    Task::Do(_) if no_more.load(Ordering::Relaxed) => {}
                    #[cfg(test)]
                    Task::Hold(until) => drop(until.recv()),
                    Task::Do(job) => {
                        // At the end of the server the result is not read.
                        let _ = finished.send(store.act(job));
                        own.notify();
                    }
                }
            }
            // What has been written is there after the machine stops, too.
            let _ = store.medium.flush();
            store
        })?;
        Ok(Worker { tasks: Some(tasks), done, wakeup, is_abandoned, thread: Some(thread) })
    }

    fn send(&self, task: Task) {
        // The thread ends only when this sender is gone.
        if let Some(tasks) = &self.tasks {
            let _ = tasks.send(task);
        }
    }

    /// Waits until everything has been done, of what was abandoned the job under way.
    fn end(&mut self) -> Option<Store> {
        self.tasks = None;
        self.thread.take()?.join().ok()
    }

    /// What becomes readable when jobs are done.
    pub(crate) fn wakeup(&self) -> &Wakeup {
        &self.wakeup
    }

    /// The next job that is done, if there is one.
    pub(crate) fn next_done(&self) -> Option<Done> {
        self.done.try_recv().ok()
    }
}

/// Waits until everything has been written.
impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(contents: &mut Contents, offset: u64, length: usize) -> Vec<u8> {
        act(contents, Job { ticket: 7, offset, work: Work::Read(length) })
    }

    fn write(contents: &mut Contents, offset: u64, bytes: &[u8]) {
        act(
            contents,
            Job {
                ticket: 8,
                offset,
                work: Work::Write { data: bytes.to_vec(), force: offset == 512, volatile: Vec::new() },
            },
        );
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
        for place in [Backing::Memory, Backing::File(folder.path().join("drive"))] {
            let (mut contents, new) = Contents::open(&place, size, 4096).expect("contents");
            new.keep();
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
            if let Contents::Memory(Store { medium: Medium::Memory(memory), .. }) = &contents {
                assert_eq!(memory.chunks.keys().copied().collect::<Vec<_>>(), [0, 2], "a whole one is given back");
            }
        }
        let kept = std::fs::read(folder.path().join("drive")).expect("the file");
        assert_eq!((kept.len() as u64, kept[0], kept[kept.len() - 1]), (size, 1, 4));
    }

    /// File systems in memory make holes, and have no zeroes without data: those are written.
    #[test]
    fn zeroes_are_written_where_the_file_system_has_none() {
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return };
        let size = 3 << 20;
        let place = Backing::File(folder.path().join("drive"));
        let (mut contents, _new) = Contents::open(&place, size, 4096).expect("contents");
        let mut plain = vec![7; size as usize];
        write(&mut contents, 0, &plain);
        for (offset, length, keep) in [(500, 1_500_000, true), (2_000_000, 3, true), (2_100_000, 40_000, false)] {
            plain[offset as usize..(offset + length) as usize].fill(0);
            act(&mut contents, Job { ticket: 9, offset, work: Work::Zero { length, keep, force: false } });
        }
        assert!(read(&mut contents, 0, size as usize) == plain);
    }

    /// Jobs that wait behind a slow one when the server refuses them are not done, nor waited for; the slow one is.
    #[test]
    fn what_was_abandoned_is_not_worked_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive");
        let (mut contents, new) = Contents::open(&Backing::File(path.clone()), 8192, 4096).expect("contents");
        new.keep();
        write(&mut contents, 0, &[1; 512]);
        let Contents::File(worker) = &contents else { panic!("a file has a thread") };
        let (release, held) = channel();
        worker.send(Task::Hold(held));
        let work = || Work::Write { data: vec![2; 512], force: false, volatile: Vec::new() };
        for ticket in 0..100 {
            assert!(contents.act(Job { ticket, offset: 0, work: work() }).is_none());
        }
        contents.abandon();
        drop(release);
        let Contents::File(mut worker) = contents else { panic!("a file has a thread") };
        assert!(worker.end().is_some() && worker.next_done().is_none(), "a refused job was done");
        assert_eq!(std::fs::read(&path).expect("the file")[..512], [1; 512]);
    }

    #[test]
    fn a_file_of_another_size_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("other");
        std::fs::write(&path, [1; 4096]).expect("written");
        let place = Backing::File(path.clone());
        let why = Contents::open(&place, 8192, 4096).expect_err("another drive");
        assert!(why.contains("has 4096 bytes, and the drive has 8192"), "{why}");
        assert_eq!(std::fs::read(&path).expect("the file"), [1; 4096], "it is as it was");
        let first = Contents::open(&place, 4096, 4096).expect("its own size");
        let why = Contents::open(&place, 4096, 4096).expect_err("in use");
        assert!(why.contains("is used by another process"), "{why}");
        drop(first);
        Contents::open(&place, 4096, 4096).expect("free again");
        let why = Contents::open(&Backing::File(folder.path().to_owned()), 4096, 4096).expect_err("a folder");
        assert!(why.starts_with("--data "), "{why}");
        assert!(path.exists() && folder.path().exists(), "a start that fails removes nothing of before");
    }

    /// What a link leads to is opened, and not made.
    #[test]
    fn a_link_to_nothing_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (link, aim) = (folder.path().join("link"), folder.path().join("aim"));
        std::os::unix::fs::symlink(&aim, &link).expect("a link");
        let opened = || Contents::open(&Backing::File(link.clone()), 8192, 4096);
        let why = opened().expect_err("nothing there");
        assert!(why.ends_with("link: is a link to a file that is not there"), "{why}");
        assert!(!aim.exists() && link.is_symlink());
        std::fs::write(&aim, []).expect("written");
        let (_, new) = opened().expect("a file");
        new.keep();
        assert_eq!(std::fs::metadata(&aim).expect("there").len(), 8192);
    }

    /// A start that fails later removes the file, if it made it: not one that was there, however short.
    #[test]
    fn a_file_is_removed_by_the_start_that_made_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive");
        let opened = || Contents::open(&Backing::File(path.clone()), 8192, 4096).expect("contents");
        drop(opened());
        assert!(!path.exists());
        std::fs::write(&path, []).expect("written");
        drop(opened());
        assert!(path.exists());
        std::fs::remove_file(&path).expect("removed");
        let (_, new) = opened();
        new.keep();
        assert_eq!(std::fs::metadata(&path).expect("kept").len(), 8192);
        drop(opened());
        assert!(path.exists());
    }
}
