//! The drive as files: a folder with one for each export, over FUSE, on which the kernel's loop devices can be put.
//!
//! A thread of the library receives what the kernel asks for and passes reads, writes, holes and flushes to the thread of the drive, which
//! answers them. Promises that every request is answered once. Must never know the drive or its bytes.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command as Program;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime};

use flashlane_outputs::shown;
use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, Session, TimeOrNow, WriteFlags,
};
use rustix::fs::{FallocateFlags, OFlags};
use rustix::mount::UnmountFlags;

use crate::nbd::{Command, Error, Export, Kind, MIN_BLOCK};
use crate::wakeup::Wakeup;

/// The most bytes of a write, and the most requests that the kernel keeps under way without a program that waits for each.
const MAX_WRITE: u32 = 256 << 10;
const MAX_BACKGROUND: u16 = 256;

/// With either of these flags a program wants what it writes to be durable.
const SYNCHRONOUS: i32 = OFlags::DSYNC.union(OFlags::SYNC).bits() as i32;

/// How long the kernel may cache the attributes of a file: they do not change.
const UNCHANGED: Duration = Duration::from_secs(3600);

/// What the kernel asks of an export.
#[derive(Debug)]
pub(crate) struct Requested {
    pub(crate) export: usize,
    pub(crate) command: Command,
    pub(crate) answer: Answer,
}

/// Where the kernel waits for the end of a command.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It gets so many of the bytes that are read.
    Read { reply: ReplyData, from: usize, bytes: usize },
    /// So many bytes are written.
    Write { reply: ReplyWrite, from: usize, bytes: usize },
    /// It is done.
    Done(ReplyEmpty),
}

impl Answer {
    /// How far in the sectors of the command the first byte is that is asked for.
    pub(crate) fn from(&self) -> usize {
        match self {
            Answer::Read { from, .. } | Answer::Write { from, .. } => *from,
            Answer::Done(_) => 0,
        }
    }

    fn send(self, outcome: Result<Vec<u8>, Error>) {
        let outcome = outcome.map_err(|error| match error {
            Error::Io | Error::Shutdown => Errno::EIO,
            Error::Invalid => Errno::EINVAL,
            Error::NoSpace => Errno::ENOSPC,
        });
        match (self, outcome) {
            (Answer::Read { reply, from, bytes }, Ok(data)) => reply.data(&data[from..from + bytes]),
            (Answer::Write { reply, bytes, .. }, Ok(_)) => reply.written(bytes as u32),
            (Answer::Done(reply), Ok(_)) => reply.ok(),
            (Answer::Read { reply, .. }, Err(error)) => reply.error(error),
            (Answer::Write { reply, .. }, Err(error)) => reply.error(error),
            (Answer::Done(reply), Err(error)) => reply.error(error),
        }
    }
}

/// The mounted folder, as the thread of the drive has it.
pub(crate) struct Files {
    folder: PathBuf,
    session: BackgroundSession,
    requests: Receiver<Requested>,
    wakeup: Wakeup,
    answers: Vec<(Answer, Result<Vec<u8>, Error>)>,
    /// The server ends: requests fail.
    closing: bool,
}

impl Files {
    /// Mounts a folder with a file for each of `exports` at `folder`, which must be empty. What a killed server left mounted there is
    /// unmounted.
    ///
    /// # Errors
    /// A folder that cannot be used, a system that does not mount it, names that files cannot have, in words.
    pub(crate) fn open(folder: &Path, exports: &Arc<[Export]>) -> Result<Files, String> {
        let failed = |why: &str| format!("--fuse {}: {why}", shown::path(folder));
        if let Some(export) = exports.iter().find(|export| !is_file_name(&export.name)) {
            return Err(failed(&format!("a file cannot have the name of the flow {:?}", export.name)));
        }
        if std::fs::metadata(folder)
            .is_err_and(|why| why.raw_os_error() == Some(rustix::io::Errno::NOTCONN.raw_os_error()))
        {
            detach(folder);
        }
        let mut entries = std::fs::read_dir(folder).map_err(|why| failed(&why.to_string()))?;
        if entries.next().is_some() {
            return Err(failed("must be an empty folder: what is in it would be hidden"));
        }
        if !Path::new("/dev/fuse").exists() {
            return Err(failed("this system has no /dev/fuse; containers need that device passed to them"));
        }
        let mounted = mount(folder, exports);
        let (session, requests, wakeup) = mounted.map_err(|why| {
            failed(&format!("cannot be mounted: {why}; root can mount it, others need fusermount3 and /dev/fuse"))
        })?;
        Ok(Files { folder: folder.to_owned(), session, requests, wakeup, answers: Vec::new(), closing: false })
    }

    /// What becomes readable when something is requested.
    pub(crate) fn wakeup(&self) -> &Wakeup {
        &self.wakeup
    }

    /// What has been requested since.
    pub(crate) fn take(&mut self) -> Vec<Requested> {
        self.wakeup.clear();
        let requests = self.requests.try_iter();
        if self.closing {
            self.answers.extend(requests.map(|request| (request.answer, Err(Error::Shutdown))));
            return Vec::new();
        }
        requests.collect()
    }

    /// Takes what became of a command: its bytes, of a read.
    pub(crate) fn answer(&mut self, answer: Answer, outcome: Result<Vec<u8>, Error>) {
        self.answers.push((answer, outcome));
    }

    /// Sends the answers.
    pub(crate) fn send(&mut self) {
        self.answers.drain(..).for_each(|(answer, outcome)| answer.send(outcome));
    }

    /// From now on all that is requested fails.
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// Unmounts the folder; whether no program had it in use, as those that have find it gone.
    pub(crate) fn end(mut self) -> bool {
        self.take();
        self.send();
        // From here on the thread of the library answers by itself: that the server has ended.
        drop(self.requests);
        let unused = self.session.umount_and_join().is_ok();
        if !unused {
            detach(&self.folder);
        }
        unused
    }
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.len() <= 255 && !name.contains(['/', '\0'])
}

/// The sectors that `bytes` bytes from `offset` on are in, as the drive reads and writes whole ones: the first byte of these, their length,
/// and how far in them `offset` is.
fn sectors(offset: u64, bytes: u64) -> (u64, u64, usize) {
    let sector = u64::from(MIN_BLOCK);
    let first = offset / sector * sector;
    let length = (offset + bytes).next_multiple_of(sector) - first;
    (first, length, (offset - first) as usize)
}

/// Unmounts what programs may still have in use.
fn detach(folder: &Path) {
    if rustix::mount::unmount(folder, UnmountFlags::DETACH).is_err() {
        // Only root may do that by itself.
        let _ = Program::new("fusermount3").args(["-u", "-q", "-z", "--"]).arg(folder).output();
    }
}

fn mount(folder: &Path, exports: &Arc<[Export]>) -> io::Result<(BackgroundSession, Receiver<Requested>, Wakeup)> {
    let wakeup = Wakeup::new()?;
    let (send, requests) = channel();
    let shown = Folder {
        exports: Arc::clone(exports),
        send,
        wakeup: wakeup.clone(),
        since: SystemTime::now(),
        owner: (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw()),
    };
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("flashlane".into()), MountOption::Subtype("flashlane".into())];
    let session = Session::new(shown, folder, &config)?.spawn()?;
    Ok((session, requests, wakeup))
}

/// The folder, as the thread of the library shows it to the kernel. Numbers of files: 1 is the folder, 2 the first export.
struct Folder {
    exports: Arc<[Export]>,
    send: Sender<Requested>,
    wakeup: Wakeup,
    since: SystemTime,
    owner: (u32, u32),
}

impl Folder {
    fn export(&self, file: INodeNo) -> Option<(usize, &Export)> {
        let number = usize::try_from(u64::from(file)).ok()?.checked_sub(2)?;
        Some((number, self.exports.get(number)?))
    }

    fn attributes(&self, file: INodeNo) -> Option<FileAttr> {
        let export = self.export(file).map(|(_, export)| export);
        if export.is_none() && file != INodeNo::ROOT {
            return None;
        }
        let size = export.map_or(0, |export| export.bytes);
        let since = self.since;
        Some(FileAttr {
            ino: file,
            size,
            blocks: size / 512,
            atime: since,
            mtime: since,
            ctime: since,
            crtime: since,
            kind: if export.is_some() { FileType::RegularFile } else { FileType::Directory },
            perm: if export.is_some() { 0o600 } else { 0o700 },
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: export.map_or(4096, |export| export.preferred),
            flags: 0,
        })
    }

    fn answer_attributes(&self, file: INodeNo, reply: ReplyAttr) {
        match self.attributes(file) {
            Some(attributes) => reply.attr(&UNCHANGED, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    /// Passes a request to the thread of the drive.
    fn pass(&self, export: usize, (offset, length): (u64, u64), kind: Kind, force: bool, answer: Answer) {
        let command = Command { cookie: 0, offset, length, force, kind };
        match self.send.send(Requested { export, command, answer }) {
            Ok(()) => self.wakeup.notify(),
            Err(unsent) => unsent.0.answer.send(Err(Error::Shutdown)),
        }
    }
}

impl Filesystem for Folder {
    fn init(&mut self, _: &Request, kernel: &mut KernelConfig) -> io::Result<()> {
        // Kernels that take less of these keep to less.
        let _ = kernel.set_max_background(MAX_BACKGROUND);
        let _ = kernel.set_congestion_threshold(MAX_BACKGROUND - 1);
        let _ = kernel.set_max_write(MAX_WRITE);
        let _ = kernel.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_MAX_PAGES);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.exports.iter().position(|export| name == export.name.as_str());
        let file = found.filter(|_| parent == INodeNo::ROOT).map(|number| INodeNo(number as u64 + 2));
        match file.and_then(|file| self.attributes(file)) {
            Some(attributes) => reply.entry(&UNCHANGED, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, file: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        self.answer_attributes(file, reply);
    }

    /// As with a block device, a program that sets the size has set nothing.
    fn setattr(
        &self,
        _: &Request,
        file: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.answer_attributes(file, reply);
    }

    fn readdir(&self, _: &Request, folder: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if folder != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let itself = [".", ".."].map(|name| (INodeNo::ROOT, FileType::Directory, name));
        let files = self.exports.iter().enumerate();
        let files = files.map(|(number, one)| (INodeNo(number as u64 + 2), FileType::RegularFile, one.name.as_str()));
        for (at, (file, kind, name)) in itself.into_iter().chain(files).enumerate().skip(offset as usize) {
            if reply.add(file, at as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    /// The kernel keeps no bytes of its own: every read and write of a program is one of the drive.
    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    /// A program has closed the file, which asks for nothing.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some((number, export)) = self.export(file) else { return reply.error(Errno::EISDIR) };
        let wanted = u64::from(size).min(export.bytes.saturating_sub(offset));
        if wanted == 0 {
            return reply.data(&[]);
        }
        let (first, length, from) = sectors(offset, wanted);
        let answer = Answer::Read { reply, from, bytes: wanted as usize };
        self.pass(number, (first, length), Kind::Read, false, answer);
    }

    fn write(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some((number, export)) = self.export(file) else { return reply.error(Errno::EISDIR) };
        let bytes = data.len();
        if bytes == 0 {
            return reply.written(0);
        }
        if offset.checked_add(bytes as u64).is_none_or(|end| end > export.bytes) {
            return reply.error(Errno::ENOSPC);
        }
        let (first, length, from) = sectors(offset, bytes as u64);
        let force = flags.0 & SYNCHRONOUS != 0;
        self.pass(number, (first, length), Kind::Write(data.to_vec()), force, Answer::Write { reply, from, bytes });
    }

    fn fsync(&self, _: &Request, file: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.export(file) {
            Some((number, _)) => self.pass(number, (0, 0), Kind::Flush, false, Answer::Done(reply)),
            None => reply.error(Errno::EINVAL),
        }
    }

    /// A hole is a trim, and a range of zeroes is write zeroes. All space is there already.
    fn fallocate(
        &self,
        _: &Request,
        file: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let Some((number, export)) = self.export(file) else { return reply.error(Errno::EISDIR) };
        let end = offset.saturating_add(length);
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        if !mode.contains(FallocateFlags::KEEP_SIZE) && end > export.bytes {
            return reply.error(Errno::ENOSPC);
        }
        let kind = match mode - FallocateFlags::KEEP_SIZE {
            FallocateFlags::PUNCH_HOLE => Kind::Trim,
            FallocateFlags::ZERO_RANGE => Kind::WriteZeroes { keep: true },
            other if other.is_empty() => return reply.ok(),
            _ => return reply.error(Errno::EOPNOTSUPP),
        };
        let length = end.min(export.bytes).saturating_sub(offset);
        if length == 0 {
            return reply.ok();
        }
        self.pass(number, (offset, length), kind, false, Answer::Done(reply));
    }

    /// Loop devices take the granularity of their trims from the block size.
    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let page = self.exports.first().map_or(MIN_BLOCK, |export| export.preferred);
        let bytes: u64 = self.exports.iter().map(|export| export.bytes).sum();
        let files = self.exports.len() as u64;
        reply.statfs(bytes / u64::from(page), 0, 0, files, 0, page, 255, page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_sectors_are_read_and_written() {
        assert_eq!(sectors(0, 512), (0, 512, 0));
        assert_eq!(sectors(1536, 4096), (1536, 4096, 0));
        assert_eq!(sectors(511, 2), (0, 1024, 511));
        assert_eq!(sectors(5000, 1), (4608, 512, 392));
    }

    #[test]
    fn names_that_files_cannot_have_are_refused() {
        for name in ["", ".", "..", "a/b", "a\0", &"x".repeat(256)] {
            assert!(!is_file_name(name), "{name}");
        }
        for name in ["reader", "my db", ".hidden", "ä"] {
            assert!(is_file_name(name), "{name}");
        }
    }
}
