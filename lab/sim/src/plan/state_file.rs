//! Files that keep the state of a drive that is made by replay, so that it is made once for many processes.
//!
//! A file says what determines its state: the build of Flashlane ([`maker`]) and those parts of the device's configuration that the
//! replay reads. It is followed by the state (postcard), the length of the state, and the BLAKE3 hash of all before: the length, at the end
//! of the file, tells at once whether anything is missing or was added.

use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flashlane_core::Geometry;
use flashlane_ssd::{Config, Replayed, SavedState};
use postcard::de_flavors::io::io::IOReader;
use serde::Serialize;
use serde::de::DeserializeSeed;

use crate::error::RunError;
use crate::maker::maker;
use flashlane_outputs::shown;
use flashlane_outputs::{Existing, Inputs, OutFile};

/// How every such file begins.
const MAGIC: &[u8; 8] = b"FLSTATE2";
/// The most bytes of the text that says what determines a state.
const MAX_ABOUT: u32 = 1 << 16;
/// Bytes behind the state: its length and the hash.
const TAIL: u64 = LENGTH + blake3::OUT_LEN as u64;
const LENGTH: u64 = u64::BITS as u64 / 8;

/// Where states are kept.
#[derive(Clone, Debug)]
pub(crate) struct StateFile {
    /// A file, or a folder in which the file is named by what determines the state.
    path: PathBuf,
}

impl StateFile {
    pub(crate) fn new(path: &Path) -> StateFile {
        StateFile { path: path.into() }
    }

    /// The state of `config`, which `make` makes, from the file if it is there; else it is made and the file written.
    ///
    /// # Errors
    /// A file that is none of these, damaged, or of another drive; one that cannot be read or written.
    pub(crate) fn take(
        &self,
        config: &Config,
        make: impl FnOnce() -> Result<Option<Replayed>, RunError>,
    ) -> Result<Option<Replayed>, RunError> {
        let about = about(config);
        let path = self.file(&about);
        // Before it is opened: opening a named pipe waits for a writer, which may never come.
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(refused(&path, "is no regular file; name a file, or a folder"));
        }
        match File::open(&path) {
            Ok(file) => read(&path, file, &about, config).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let out = OutFile::create(&path, Existing::Keep("is there meanwhile"), &Inputs::default())?;
                let Some(made) = make()? else { return Ok(None) };
                match (Container { magic: MAGIC, about: &about }).write(out, &made) {
                    Ok(()) => Ok(Some(made)),
                    // Another process may have written the same state meanwhile.
                    Err(error) => {
                        let theirs = File::open(&path).ok().and_then(|file| read(&path, file, &about, config).ok());
                        theirs.map(Some).ok_or(error)
                    }
                }
            }
            Err(error) => Err(refused(&path, &error.to_string())),
        }
    }

    fn file(&self, about: &str) -> PathBuf {
        if !self.path.is_dir() {
            return self.path.clone();
        }
        let hash = blake3::hash(about.as_bytes()).to_hex();
        self.path.join(format!("{}.state", &hash[..32]))
    }
}

fn refused(path: &Path, why: &str) -> RunError {
    RunError::Input(format!("--state {}: {why}", shown::path(path)))
}

/// A hash of what determines the state before the first request, besides the build.
pub(crate) fn state_hash(config: &Config) -> String {
    flashlane_scenario::hash_of([of_drive(config).as_bytes()])
}

/// What determines the state, a line each.
pub(crate) fn about(config: &Config) -> String {
    format!(
        "made by: {}
{}",
        maker(),
        of_drive(config)
    )
}

/// What determines the state of a build, a line each.
fn of_drive(config: &Config) -> String {
    let Config { geometry, ftl, mapping, slc, gc, precondition, seed, .. } = config;
    // Which entries of the map memory holds is no part of the state, but how many pages the map has.
    let map = mapping.map_or(String::new(), |mapping| {
        format!(
            "entries_per_page: {}
",
            mapping.entries_per_page
        )
    });
    // Before the run nothing is in the SLC cache, but its static blocks hold no data.
    let static_blocks = match slc.as_ref().map_or(0, |slc| slc.static_blocks) {
        0 => String::new(),
        blocks => format!("blocks always in SLC mode: {blocks}\n"),
    };
    // Not named where rows are pages, so that files from before there were others stay good.
    // Nor are the planes of rows, which matter to reads only.
    let geometry = format!("{:#?}", Geometry { row_planes: 1, ..*geometry });
    let geometry = geometry.replace("    slots: 1,\n", "").replace("    row_planes: 1,\n", "");
    format!(
        "seed: {seed}
{precondition:#?}
{geometry}
{ftl:#?}
{map}{static_blocks}{gc:#?}
"
    )
}

/// A file of a state: what it holds, what determines that, and a hash of all.
pub(crate) struct Container<'a> {
    pub(crate) magic: &'static [u8; 8],
    pub(crate) about: &'a str,
}

/// Why a file does not hold the state that was asked for.
pub(crate) enum Unfit {
    /// It is no such file.
    Foreign,
    /// What was written is not all there.
    Damaged,
    /// It holds the state of another drive or build: the first line in which its description differs, and ours.
    Other(String, String),
    /// The system's error.
    Unreadable(io::Error),
}

impl Container<'_> {
    /// Writes the state.
    pub(crate) fn write(&self, out: OutFile, state: &impl Serialize) -> Result<(), RunError> {
        let (file, pending) = out.parts();
        let mut to = Hashed::new(file);
        let all = |to: &mut Hashed<io::BufWriter<File>>| -> io::Result<()> {
            to.write_all(self.magic)?;
            to.write_all(&(self.about.len() as u32).to_le_bytes())?;
            to.write_all(self.about.as_bytes())?;
            let head = to.count;
            let buffered = io::BufWriter::with_capacity(1 << 18, &mut *to);
            let mut buffered = postcard::to_io(state, buffered).map_err(io::Error::other)?;
            buffered.flush()?;
            drop(buffered);
            let length = to.count - head;
            to.write_all(&length.to_le_bytes())?;
            let hash = to.hasher.finalize();
            to.inner.write_all(hash.as_bytes())
        };
        match all(&mut to) {
            Ok(()) => Ok(pending.finish(to.inner)?),
            // The system's own error, not what was made of it on the way.
            Err(error) => Err(pending.fault(&to.fault.take().unwrap_or(error)).into()),
        }
    }

    /// Reads the state by `seed`, and its hash.
    pub(crate) fn read<T>(
        &self,
        file: File,
        seed: impl for<'de> DeserializeSeed<'de, Value = T>,
    ) -> Result<(T, String), Unfit> {
        let mut from = Hashed::new(file);
        let read = self.whole(&mut from, seed);
        read.map_err(|why| from.fault.take().map_or(why, Unfit::Unreadable))
    }

    fn whole<T>(
        &self,
        from: &mut Hashed<File>,
        seed: impl for<'de> DeserializeSeed<'de, Value = T>,
    ) -> Result<(T, String), Unfit> {
        fn damaged<E>(_: E) -> Unfit {
            Unfit::Damaged
        }
        let mut magic = [0; 8];
        if from.read_exact(&mut magic).is_err() || magic != *self.magic {
            return Err(Unfit::Foreign);
        }
        let mut size = [0; 4];
        from.read_exact(&mut size).map_err(damaged)?;
        let size = u32::from_le_bytes(size);
        if size > MAX_ABOUT {
            return Err(Unfit::Damaged);
        }
        let mut theirs = vec![0; size as usize];
        from.read_exact(&mut theirs).map_err(damaged)?;
        if theirs != self.about.as_bytes() {
            return Err(other_drive(&String::from_utf8_lossy(&theirs), self.about));
        }
        let length = from.length_at_end().map_err(damaged)?;
        let state = {
            let mut scratch = [0; 64];
            let mut reader = BufReader::with_capacity(1 << 18, (&mut *from).take(length));
            let mut deserializer = postcard::Deserializer::from_flavor(IOReader::new(&mut reader, &mut scratch));
            let state = seed.deserialize(&mut deserializer).map_err(damaged)?;
            if !reader.buffer().is_empty() || reader.get_ref().limit() > 0 {
                return Err(Unfit::Damaged);
            }
            state
        };
        let mut again = [0; LENGTH as usize];
        from.read_exact(&mut again).map_err(damaged)?;
        let mut hash = [0; blake3::OUT_LEN];
        from.inner.read_exact(&mut hash).map_err(damaged)?;
        if from.hasher.finalize() != hash {
            return Err(Unfit::Damaged);
        }
        Ok((state, from.hasher.finalize().to_hex()[..32].to_owned()))
    }
}

/// Reads the state of `config`, which `about` describes.
fn read(path: &Path, file: File, about: &str, config: &Config) -> Result<Replayed, RunError> {
    let read = Container { magic: MAGIC, about }.read(file, SavedState(config));
    read.map(|(state, _)| state).map_err(|why| match why {
        Unfit::Foreign => refused(path, "is not a state of Flashlane; name another file, or a folder"),
        Unfit::Damaged => refused(path, "is damaged; delete it to have the state made again"),
        Unfit::Unreadable(fault) => refused(path, &format!("cannot be read: {fault}")),
        Unfit::Other(theirs, ours) => {
            refused(path, &format!("holds another state ({theirs}; here {ours}); name another file, or a folder"))
        }
    })
}

/// The first line in which another drive's description differs.
fn other_drive(theirs: &str, ours: &str) -> Unfit {
    let differing = theirs.lines().zip(ours.lines()).find(|(theirs, ours)| theirs != ours);
    let (theirs, ours) = differing.unwrap_or(("more", "less"));
    let bare = |line: &str| line.trim().trim_end_matches(',').to_owned();
    Unfit::Other(bare(theirs), bare(ours))
}

/// A file; whatever is read or written is hashed and counted.
struct Hashed<F> {
    inner: F,
    hasher: blake3::Hasher,
    count: u64,
    /// The system's first error: postcard keeps none of it.
    fault: Option<io::Error>,
}

impl<F> Hashed<F> {
    fn new(inner: F) -> Hashed<F> {
        Hashed { inner, hasher: blake3::Hasher::new(), count: 0, fault: None }
    }

    /// Hashes the first of `bytes`, as many as the system took or gave.
    fn took(&mut self, bytes: &[u8], result: io::Result<usize>) -> io::Result<usize> {
        match result {
            Ok(count) => {
                self.hasher.update(&bytes[..count]);
                self.count += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.fault.get_or_insert(error);
                Err(kind.into())
            }
        }
    }
}

impl Hashed<File> {
    /// The length of what follows, which the file says at its end, if that is where the file then ends.
    fn length_at_end(&mut self) -> io::Result<u64> {
        let all = self.inner.metadata()?.len();
        let rest = all.checked_sub(self.count + TAIL).ok_or(ErrorKind::UnexpectedEof)?;
        self.inner.seek(SeekFrom::Start(all - TAIL))?;
        let mut length = [0; LENGTH as usize];
        self.inner.read_exact(&mut length)?;
        self.inner.seek(SeekFrom::Start(self.count))?;
        let length = u64::from_le_bytes(length);
        if length == rest { Ok(length) } else { Err(ErrorKind::InvalidData.into()) }
    }
}

impl<F: Write> Write for Hashed<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.took(bytes, result)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<F: Read> Read for Hashed<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(bytes);
        self.took(bytes, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_scenario::Scenario;

    /// Of two processes that make a state at the same time, the second takes the file of the first; what is not that state stays, and is
    /// an error.
    #[test]
    fn a_state_may_be_there_meanwhile() {
        let text = "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 1\nchips_per_channel = 1\npages_per_block = 16\nblocks_per_plane = 24\n\
            [device.ftl]\nover_provisioning_percent = 40.0\n[device.precondition]\nstate = \"replayed\"\n[[flow]]\n[flow.synthetic]\nrate_iops = 1\nrequests = 1\n";
        let config = Scenario::parse("test", text.into()).expect("a scenario").device_config().expect("a drive");
        let made = || Replayed::of(&config).map_err(|error| RunError::Input(error.to_string()));
        let folder = tempfile::tempdir().expect("a folder");
        let file = StateFile::new(&folder.path().join("drive.state"));
        let second = file.take(&config, || {
            file.take(&config, made)?;
            made()
        });
        assert!(second.is_ok_and(|state| state.is_some()));
        let foreign = StateFile::new(&folder.path().join("notes"));
        let refused = foreign.take(&config, || {
            std::fs::write(folder.path().join("notes"), "mine").expect("written");
            made()
        });
        assert!(refused.is_err());
        assert_eq!(std::fs::read(folder.path().join("notes")).expect("there"), b"mine");
    }
}
